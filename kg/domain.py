"""What a domain is, once its YAML file has been read: frozen values, and the access patterns they imply.

A *table* is what people ask about. A *fetch* is a call that can be made when its inputs are known. A reply
consists of *objects*; an object fills one or several tables (a movie object fills movie, cast, crew, ...).
From these three follow the *accesses* of a table: the columns of which some must be bound before its rows
can be had, and the fetch that then brings them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Scalar = str | int | float | bool
Changes = Literal["static", "slow", "fast", "real-time"]
Match = Literal["exact", "name", "contains"]

Shape = Literal["", "entries", "columns", "parallel", "tuple", "value"]

Place = Literal["path", "query", "header", "body"]

CHANGES: tuple[Changes, ...] = ("static", "slow", "fast", "real-time")
PLACES: tuple[Place, ...] = ("path", "query", "header", "body")
SHAPES: tuple[Shape, ...] = ("entries", "columns", "parallel", "tuple", "value")
TYPES = ("TEXT", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP")


@dataclass(frozen=True)
class Value:
    """A stored value and the words people use for it; `value` is None for words that mean "any value"."""

    value: Scalar | None
    says: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """A column that holds the values of another table's column; `where` narrows the join (SQL)."""

    table: str
    column: str
    where: str = ""


@dataclass(frozen=True)
class Column:
    """One column. `says` are nouns, `asks` question openings, `most`/`least` superlatives and comparatives;
    "..." in a phrase stands for a gap.

    `match` tells how a text is compared: exactly, as a name (case, accents and punctuation ignored), or
    by containing it. `year_of` names the date column whose year this is; `of` one or two columns it is made of, and
    `codes` what their values stand for (`kg.shapes.made`). `origin` is its name in a file, if another. `range`: the
    least and the greatest number it has, or year of a DATE; all can be asked for where a question names none.
    `short` says how people shorten it: as they do the name of a company ("Inc." goes).
    `beside` names the column that is shown with it: a result with the score.
    `adds`: a sum over rows is what people mean without saying so (goals of a season, but not prices of a week).
    """

    name: str
    type: str
    about: str
    unit: str = ""
    says: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    least: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    null_when: tuple[Scalar, ...] = ()
    links: Link | None = None
    match: Match = "exact"
    year_of: str = ""
    of: str = ""
    codes: tuple[tuple[Scalar, Scalar], ...] = ()
    origin: str = ""
    range: tuple[int, ...] = ()
    adds: bool = False
    beside: str = ""
    short: Literal["", "company"] = ""

    def __deepcopy__(self, memo: object) -> Column:
        return self  # frozen; sqlglot copies what hangs on a tree

    @property
    def numeric(self) -> bool:
        return self.type in ("INTEGER", "BIGINT", "DOUBLE")


@dataclass(frozen=True)
class Role:
    """What the `to` entity is to the `of` entity in a table that links the two.

    `noun`: the {noun} of {of}. `verb`: {to} {verb} {of}. `back`: {of} {back} {to}. `where` fixes columns.
    """

    of: str
    to: str
    where: tuple[tuple[str, Scalar], ...] = ()
    noun: tuple[str, ...] = ()
    verb: tuple[str, ...] = ()
    back: tuple[str, ...] = ()


@dataclass(frozen=True)
class Via:
    """Rows of a table reached over a helper: `needs` is looked up as `through.match`, and each
    `through.take` found is then bound to `gives`. Holds only for rows that satisfy `only`."""

    needs: str
    through: str
    match: str
    take: str
    gives: str
    only: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True)
class Table:
    """One table. An entity table has a `label`, the column people call its rows by, and `rank`, the
    column (with - for descending) that says which row is meant when a label is shared. `assume` holds
    where a question says nothing of a column; `asks` are the question words that ask for such a row. `moment` is the
    column that dates the rows of a series (prices, games): where a question names no time, the latest one is meant;
    with `every` the rows of it are so many days apart, and a day between belongs to those that come next.
    `in_place`: its rows come from a file and are stored under the table's own name; no call brings them. `origin` is
    the file, or the table of a database, that they come from, if it has another name; `lists` are the columns
    ("table.column") whose distinct values are the rows of a table that nobody stored. Where `properties` and `value`
    are set, a row says of a thing that the property named in the one column has what is in the other (an infobox).
    `text` is the column that holds some sentences about the thing. `names` are what people call rows, by their key: of
    two with the same name, the earlier one is better known."""

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    label: str = ""
    names: tuple[Value, ...] = ()
    rank: str = ""
    says: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    changes: Changes = "static"
    moment: str = ""
    every: int = 0
    properties: str = ""
    value: str = ""
    text: str = ""
    assume: tuple[tuple[str, Scalar], ...] = ()
    roles: tuple[Role, ...] = ()
    via: tuple[Via, ...] = ()
    in_place: bool = False
    origin: str = ""
    lists: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, Column]:
        return {c.name: c for c in self.columns}

    def column(self, name: str) -> Column:
        return self.by_name[name]

    @property
    def is_entity(self) -> bool:
        return bool(self.label)


@dataclass(frozen=True)
class Fill:
    """How an object fills a table. `each` is the path of its rows within the object ("$" is the object
    itself). `columns` are pairs of column and path: within the row, "^x" field x of the object, "@x"
    the call's argument x, "=x" the text x, "." the row itself (a list of scalars), or a function of `kg.shapes.derive`
    over such a path ("previous(Close)"). A field whose name is no word is written ["like this"]. A column not named has
    its own name as path. `lacks` are columns that this object cannot fill.

    `shape` names how what is at `each` becomes rows, if it is not a list of objects:
    entries: an object whose keys are data: {k: {..}} or {k: v} has rows with the fields `key`, and those of the
    value or `value`. columns: pandas' column-oriented JSON, {column: {index: v}} or {column: [v]}, perhaps as text;
    rows have `index` too, and `index_0`, `index_1`... where that is the text of a tuple. parallel: lists that belong
    together, [[..], [..]], whose fields are `names`. tuple: one list whose places are `names`. value: a bare value;
    the field `value`. What no field of the last three fills is lacking, and so it is where the object is a bare value.
    """

    table: str
    each: str = "$"
    columns: tuple[tuple[str, str], ...] = ()
    lacks: tuple[str, ...] = ()
    shape: Shape = ""
    names: tuple[str, ...] = ()

    @property
    def is_object(self) -> bool:
        """Whether an object is a row, and its fields are the row's."""
        return self.each == "$" and self.shape in ("", "value")


@dataclass(frozen=True)
class Object:
    """What a reply consists of. `key` are the fields (or "@argument", or "." for a bare value) that identify it;
    no fields if there is but one such object. An object may fill a table twice (a game, for either team)."""

    name: str
    key: tuple[str, ...]
    fills: tuple[Fill, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables it fills, each once."""
        return tuple(dict.fromkeys(f.table for f in self.fills))

    def is_row_of(self, table: str) -> bool:
        """Whether an object is one row of `table`, and no more."""
        return [f.is_object for f in self.fills if f.table == table] == [True]

    def key_columns(self, table: str) -> tuple[str, ...]:
        """The columns of `table` that hold the object's key, in the key's order."""
        fill = next(f for f in self.fills if f.table == table)
        own = {path: column for column, path in fill.columns}
        out = []
        for field in self.key:
            if field.startswith("@"):
                out.append(own[field])
            elif fill.is_object:
                out.append(next((c for c, path in fill.columns if path == field), field))
            else:
                out.append(own["^" + field])
        return tuple(out)


@dataclass(frozen=True)
class ApiKey:
    """Where a secret comes from, the environment variable `env`, and where it goes: a header or a query argument."""

    env: str
    header: str = ""
    query: str = ""
    prefix: str = ""


@dataclass(frozen=True)
class Api:
    """An HTTP API of the user's own. `rate` is calls per second and host (0: as many as you like), `allow` the other
    hosts that a link or a redirect may lead to, `max_reply` the bytes a reply may have once unpacked. `plain_http`
    allows http:// to other machines than this one."""

    url: str
    key: ApiKey | None = None
    headers: tuple[tuple[str, str], ...] = ()
    rate: float = 0.0
    parallel: int = 4
    allow: tuple[str, ...] = ()
    max_reply: int = 50_000_000
    plain_http: bool = False


@dataclass(frozen=True)
class Pages:
    """How a reply that comes in pages goes on; of `page`, `offset`, `cursor` and `next` one is set. The first two are
    arguments that count pages and rows from `first`, `cursor` is one that takes what is at the path `begins` in the
    page before, `next` the path of a link ("link": the header of RFC 8288). `size` is the argument for the rows of a
    page, and how many; `total` the path of the number of all rows; `items` that of the list; `max` the most pages."""

    items: str
    page: str = ""
    offset: str = ""
    cursor: str = ""
    next: str = ""
    begins: str = ""
    first: int = 0
    size: tuple[str, int] | None = None
    total: str = ""
    max: int = 1000


@dataclass(frozen=True)
class Fetch:
    """A call that can be made. `args` are pairs of argument and input; an input is a field of the object's
    key, or a column of the tables it fills: the reply is complete for the rows that have the inputs' values, unless
    it is a search, whose inputs are columns of the object's own table.

    `rows` is where the objects are in the reply and `shape` what they are there (as in `Fill`), `search` the length at
    which a search is cut off (0: not a search), `limits` the inclusive range an argument may have, `as_text` the
    arguments that the API wants as text although they are numbers, `as_list` those it wants as a list (of one), `fixed`
    arguments that are always the same. An argument among `periods` takes a year, a month or a day ("2024", "2024-03",
    "2024-03-09") of a DATE; its limits are years.

    Of an `Api` only: `places` says where arguments go that are neither named in the path nor go where those of the
    method do (GET: query, POST: body), `not_found` which statuses mean that there is nothing.
    """

    name: str
    endpoint: str
    gives: str
    args: tuple[tuple[str, str], ...]
    rows: str = "$"
    shape: Shape = ""
    names: tuple[str, ...] = ()
    search: int = 0
    method: str = "POST"
    fixed: tuple[tuple[str, Scalar], ...] = ()
    periods: tuple[str, ...] = ()
    limits: tuple[tuple[str, int, int], ...] = ()
    as_text: tuple[str, ...] = ()
    as_list: tuple[str, ...] = ()
    places: tuple[tuple[str, Place], ...] = ()
    pages: Pages | None = None
    not_found: tuple[int, ...] = ()


@dataclass(frozen=True)
class Access:
    """A way to get rows of `table`: bind `needs` (columns, parallel to the arguments of `fetch`).

    Rows land in the partition of the fetch's object, which has the columns of the table but `lacks`.
    """

    table: str
    needs: tuple[str, ...]
    fetch: Fetch
    lacks: tuple[str, ...] = ()

    @property
    def partition(self) -> str:
        return partition(self.table, self.fetch.gives)


def partition(table: str, obj: str) -> str:
    """The name of the stored table that holds the rows of `table` that came in objects `obj`."""
    return f"{table}__{obj}"


@dataclass(frozen=True)
class Files:
    """The source of a domain whose tables are there already: in `file`, a database or a single table, or in the files
    of `directory`. A relative path starts at `home`, where the domain's file is; ${NAME} in it is taken from the
    environment when the files are first read."""

    file: str = ""
    directory: str = ""
    home: str = ""


@dataclass(frozen=True)
class Domain:
    """A domain: its tables, the calls that fill them, and the source that answers the calls.

    `digest` changes whenever the file's meaning does.
    """

    name: str
    about: str
    source: str | Api | Files
    tables: tuple[Table, ...]
    objects: tuple[Object, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    digest: str = ""

    @cached_property
    def by_name(self) -> dict[str, Table]:
        return {t.name: t for t in self.tables}

    def table(self, name: str) -> Table:
        return self.by_name[name]

    @cached_property
    def object_by_name(self) -> dict[str, Object]:
        return {o.name: o for o in self.objects}

    @cached_property
    def key_fields(self) -> dict[str, tuple[tuple[str, Column], ...]]:
        """Object to the fields (or "@argument") of its key, each with a column that holds it."""
        out = {}
        for obj in self.objects:
            table = self.table(obj.fills[0].table)
            columns = (table.column(c) for c in obj.key_columns(table.name))
            out[obj.name] = tuple(zip(obj.key, columns, strict=True))
        return out

    @cached_property
    def broader(self) -> dict[str, tuple[Fetch, ...]]:
        """Fetch to those that bring the same objects for fewer of its inputs: with the same values, all it brings."""
        complete = [f for f in self.fetches if not f.search]
        inputs = {f.name: {source for _, source in f.args} for f in complete}
        return {
            f.name: tuple(b for b in complete if b.gives == f.gives and inputs[b.name] < inputs[f.name])
            for f in complete
        }

    @cached_property
    def entities(self) -> tuple[Table, ...]:
        return tuple(t for t in self.tables if t.is_entity)

    def is_asked_by_day(self, table: Table) -> bool:
        """Whether the rows of a day come only to those who ask for that day."""
        dated = [a for a in self.accesses[table.name] if table.moment and table.moment not in a.lacks]
        return bool(dated) and all(
            any(
                need == table.moment and arg not in a.fetch.periods
                for need, (arg, _) in zip(a.needs, a.fetch.args, strict=True)
            )
            for a in dated
        )

    @cached_property
    def accesses(self) -> dict[str, tuple[Access, ...]]:
        """Table to its accesses: complete ones first, then searches, each in the file's order."""
        found: dict[str, list[Access]] = {t.name: [] for t in self.tables}
        for fetch in self.fetches:
            obj = self.object_by_name[fetch.gives]
            for fill in obj.fills:
                if fetch.search:
                    # a search binds a column of the object's own table; its children are reached by joins
                    if not fill.is_object:
                        continue
                    needs = tuple(source for _, source in fetch.args)
                else:
                    fields = (k.removeprefix("@") for k in obj.key)
                    column_of = dict(zip(fields, obj.key_columns(fill.table), strict=True))
                    needs = tuple(column_of.get(source, source) for _, source in fetch.args)
                access = Access(fill.table, needs, fetch, fill.lacks)
                filled = self.table(fill.table).by_name.keys() - set(fill.lacks)
                if filled.issuperset(needs) and access not in found[fill.table]:
                    found[fill.table].append(access)
        return {name: tuple(sorted(ways, key=lambda a: bool(a.fetch.search))) for name, ways in found.items()}
