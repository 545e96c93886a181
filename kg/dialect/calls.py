"""The call spelling as a syntax tree: `get_movie("titanic")[release_date]` read by recursive descent.

After the regularised API of paper 002 (section 3.2, appendix C.3). Knows the names of a domain's tables, for
`get_movie_oscar_award` can only be cut where names end; knows nothing of SQL. A quote within a text is doubled.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kg.domain import Domain
from kg.errors import QueryError

AGGREGATES = ("len", "avg", "sum", "min", "max", "median")
COMPARISONS = {"eq": "=", "neq": "<>", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
CONDITIONS = (*COMPARISONS, "like", "between", "in", "any", "not")
FUNCTIONS = (
    *("years_between", "days_between", "percent", "coalesce", "abs", "round", "floor", "ceil", "greatest", "least"),
    *("year", "month", "day", "lower", "upper", "length"),
)
MAX_DEPTH = 40


@dataclass(frozen=True)
class Literal:
    """A constant. `kind` is text, number or word (TRUE, FALSE, NONE); `text` is as written, without quotes."""

    kind: str
    text: str

    @property
    def is_none(self) -> bool:
        return self.kind == "word" and self.text == "NONE"


@dataclass(frozen=True)
class Name:
    """A column, with its table if that was written."""

    column: str
    table: str = ""


@dataclass(frozen=True)
class Star:
    """The values of an earlier line, counted from 0."""

    line: int


@dataclass(frozen=True)
class Op:
    """An arithmetic operator or comparison between two values."""

    sign: str
    left: Value
    right: Value


@dataclass(frozen=True)
class Neg:
    value: Value


@dataclass(frozen=True)
class Func:
    name: str
    args: tuple[Value, ...]


@dataclass(frozen=True)
class Test:
    """A condition on one value: `op` is a key of COMPARISONS, like, between or in."""

    op: str
    left: Value
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Group:
    """`all` of the conditions hold, `any` of them does, or (`not`) the one does not."""

    how: str
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Get:
    """Rows of tables joined: `args` belong to the entity tables among them, in order."""

    tables: tuple[str, ...]
    args: tuple[Value, ...] = ()
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Before:
    """The rows of an earlier line, further restricted by `where`."""

    line: int
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Rows:
    """A call with its suffixes. `take` is (offset, limit), a limit of None being no limit.

    `keys` are pairs of value and whether it goes down.
    """

    source: Get | Before | Rows
    every: bool = False
    keys: tuple[tuple[Value, bool], ...] = ()
    show: tuple[Value, ...] = ()
    aggregate: str = ""
    take: tuple[int, int | None] | None = None


Value = Literal | Name | Star | Op | Neg | Func | Rows
Condition = Test | Group

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\s*)*(?:
      (?P<text>"(?:[^"]|"")*"|'(?:[^']|'')*') |
      (?P<number>(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z_])) |
      (?P<name>[A-Za-z_]\w*) |
      (?P<sign><>|!=|<=|>=|==|[-+*/()\[\],.:=<>]) |
      (?P<end>\Z) | (?P<bad>.))""",
    re.X | re.S,
)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence that suggests the closest known name, or nothing."""
    close = difflib.get_close_matches(word.lower(), sorted(set(known)), n=1, cutoff=0.5)
    return f"Did you mean {close[0]}?" if close else ""


def listed(names: Iterable[str], most: int = 40) -> str:
    """The names, comma-separated; a long list is cut."""
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def parse_line(text: str, domain: Domain, line: int) -> Value:
    """Return the syntax tree of one line in the call spelling. Raises QueryError saying what was expected.

    `line` counts from 0; `*` stands for the line before it.
    """
    parser = _Parser(text, domain, line)
    if parser.word() and not parser.peek("(", ahead=1) and parser.word().lower() != "all":
        start = " ".join(text.split())[:30]
        raise QueryError(
            f"{start!r} is neither a call nor a SELECT.", hint=f"Calls are {listed(parser.calls())}(...) and sort(...)."
        )
    value = parser.comparison()
    parser.expect_end()
    return value


class _Parser:
    def __init__(self, text: str, domain: Domain, line: int):
        self.text, self.domain, self.line, self.depth = text, domain, line, 0
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while not self.tokens or self.tokens[-1][0] != "end":
            match = _TOKEN.match(text, position)
            assert match is not None
            assert match.lastgroup is not None
            kind, at, position = match.lastgroup, match.start(match.lastgroup), match.end()
            if kind == "bad":
                if text[at] in "'\"":
                    raise QueryError(f"A text that starts with {text[at]} is not closed.", hint=_QUOTES)
                raise self.error(f"{text[at]!r} has no meaning here", at)
            self.tokens.append((kind, match[kind], at))
        self.position = 0

    def error(self, what: str, at: int | None = None, hint: str = "") -> QueryError:
        at = self.tokens[self.position][2] if at is None else at
        near = " ".join(self.text[at:].split())[:30]
        return QueryError(f"{what}{f', near {near!r}' if near else ', at the end'}.", hint=hint)

    # -- tokens

    def peek(self, *signs: str, ahead: int = 0) -> bool:
        kind, text, _ = self.tokens[min(self.position + ahead, len(self.tokens) - 1)]
        return kind == "sign" and text in signs

    def take(self, *signs: str) -> str:
        """The next token if it is one of `signs`, else nothing."""
        if self.peek(*signs):
            self.position += 1
            return self.tokens[self.position - 1][1]
        return ""

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            raise self.error(f"Expected {sign!r}")

    def expect_end(self) -> None:
        if self.tokens[self.position][0] != "end":
            raise self.error("Nothing was expected after the call", hint="One call a line.")

    def word(self, ahead: int = 0) -> str:
        kind, text, _ = self.tokens[min(self.position + ahead, len(self.tokens) - 1)]
        return text if kind == "name" else ""

    def whole(self) -> int | None:
        kind, text, _ = self.tokens[self.position]
        if kind != "number":
            return None
        if not text.isdigit() or len(text) > 9:
            raise self.error("A slice takes whole numbers")
        self.position += 1
        return int(text)

    # -- values

    def comparison(self) -> Value:
        left = self.sum()
        if sign := self.take("=", "==", "<>", "!=", "<=", ">=", "<", ">"):
            return Op({"==": "=", "!=": "<>"}.get(sign, sign), left, self.sum())
        return left

    def sum(self) -> Value:
        value = self.product()
        while sign := self.take("+", "-"):
            value = Op(sign, value, self.product())
        return value

    def product(self) -> Value:
        value = self.unary()
        while sign := self.take("*", "/"):
            value = Op(sign, value, self.unary())
        return value

    def unary(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise QueryError("The program is nested too deeply.", hint="Use several lines; * is the line before.")
        value = self.primary()
        self.depth -= 1
        return value

    def primary(self) -> Value:
        kind, text, _ = self.tokens[self.position]
        if self.take("-"):
            value = self.unary()
            if isinstance(value, Literal) and value.kind == "number" and not value.text.startswith("-"):
                return replace(value, text=f"-{value.text}")
            return Neg(value)
        if self.take("("):
            value = self.comparison()
            self.expect(")")
            return value
        if self.take("*"):
            return self.star()
        if kind in ("text", "number"):
            self.position += 1
            if kind == "text":
                return Literal("text", text[1:-1].replace(text[0] * 2, text[0]))
            return Literal("number", text.replace("_", ""))
        if kind == "name":
            return self.named(text)
        raise self.error("Expected a value")

    def star(self) -> Star:
        if self.line == 0:
            raise QueryError("* stands for the line before, and this is the first line.")
        return Star(self.line - 1)

    def named(self, text: str) -> Value:
        lower = text.lower()
        called = self.peek("(", ahead=1)
        if lower == "all" and (self.word(1) or self.peek("(", ahead=1)):
            self.position += 1
            rows = self.primary()
            if not isinstance(rows, Rows):
                raise self.error("ALL belongs before get_ or sort")
            return replace(rows, every=True)
        if lower.startswith("get_") and called:
            return self.suffixes(Rows(self.get(lower)))
        if lower == "sort" and called:
            return self.suffixes(self.sort())
        if called:
            return self.function(lower)
        if lower in ("none", "null"):
            self.position += 1
            return Literal("word", "NONE")
        if lower in ("true", "false"):
            self.position += 1
            return Literal("word", lower.upper())
        return self.name()

    def name(self) -> Name:
        first = self.word()
        if not first:
            raise self.error("Expected the name of a column")
        self.position += 1
        if self.take("."):
            column = self.word()
            if not column:
                raise self.error("Expected a column after the dot")
            self.position += 1
            return Name(column.lower(), first.lower())
        return Name(first.lower())

    def function(self, name: str) -> Value:
        if name in CONDITIONS:
            raise self.error(
                f"{name}(...) is a condition and has no value", hint="Conditions stand within get_ or sort."
            )
        if name != "count" and name not in AGGREGATES and name not in FUNCTIONS:
            known = (*AGGREGATES, *FUNCTIONS)
            raise QueryError(
                f"There is no function {name}.",
                hint=did_you_mean(name, (*known, "sort", *self.calls())) or f"There are: {listed(known)}.",
            )
        self.position += 2
        args = [self.comparison()]
        while self.take(","):
            args.append(self.comparison())
        self.expect(")")
        if name == "count" or name in AGGREGATES:
            rows = args[0]
            if len(args) != 1 or not isinstance(rows, Rows) or rows.aggregate:
                raise QueryError(
                    f"{name}(...) takes the rows of one call.",
                    hint=f"Write {name}(get_...(...)[column]), or get_...(...)[{name}(column)].",
                )
            return self.suffixes(replace(rows, aggregate="len" if name == "count" else name))
        return Func(name, tuple(args))

    # -- calls

    def calls(self) -> list[str]:
        return [f"get_{t.name}" for t in self.domain.tables]

    def get(self, name: str) -> Get:
        tables = split_tables(name.removeprefix("get_"), self.domain)
        self.position += 1
        self.expect("(")
        args: list[Value] = []
        where: list[Condition] = []
        entities = [t for t in tables if self.domain.table(t).is_entity]
        while not self.peek(")"):
            if self.at_condition():
                where.append(self.condition())
            elif where:
                raise self.error("A name was not expected after a condition")
            else:
                args.append(self.argument(name, entities, len(args)))
            if not self.take(","):
                break
        self.expect(")")
        return Get(tables, tuple(args), tuple(where))

    def argument(self, name: str, entities: list[str], place: int) -> Value:
        starts = self.position
        value = self.star() if self.take("*") else self.sum()
        if place >= len(entities):
            self.position = starts
            takes = f"{listed(entities)}, in this order" if entities else "conditions only"
            raise self.error(f"{name} takes {takes}", hint="A condition is eq(column, value), ge(...), like(...), ...")
        if isinstance(value, Name):
            raise QueryError(
                f"{value.column} is not in quotes, so {name} does not know which {entities[place]} is meant.",
                hint=f'Write "{value.column}", a number, NONE for any, or * for the line before.',
            )
        if not (isinstance(value, Literal | Star) and (not isinstance(value, Literal) or _binds(value))):
            raise QueryError(f"{name} takes a text, a number, NONE or * as {entities[place]}.")
        return value

    def sort(self) -> Rows:
        self.position += 1
        self.expect("(")
        where: tuple[Condition, ...] = ()
        source: Before | Rows
        if self.word().lower() in ("none", "null") and self.peek(",", ")", ahead=1):
            self.position += 1
            source = self.before()
        elif self.at_condition():
            where = (self.condition(),)
            source = self.before(where)
        elif self.take("*"):
            source = self.before()
        elif re.match(r"(get_|all$|sort$)", self.word().lower()):
            inner = self.primary()
            if not isinstance(inner, Rows):
                raise self.error("sort takes the rows of a call")
            source = inner
        else:
            raise self.error("sort takes NONE or a condition first", hint="For example sort(NONE, -release_date).")
        keys: list[tuple[Value, bool]] = []
        while self.take(","):
            down = bool(self.take("-"))
            keys.append((self.sum(), down))
        self.expect(")")
        return Rows(source, keys=tuple(keys))

    def before(self, where: tuple[Condition, ...] = ()) -> Before:
        if self.line == 0:
            raise QueryError("sort works on the line before, and this is the first line.")
        return Before(self.line - 1, where)

    # -- conditions

    def at_condition(self) -> bool:
        return self.peek("[") or (self.word().lower() in CONDITIONS and self.peek("(", ahead=1))

    def condition(self) -> Condition:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise QueryError("The program is nested too deeply.", hint="Use several lines; * is the line before.")
        found = self.one_condition()
        self.depth -= 1
        return found

    def one_condition(self) -> Condition:
        if self.take("["):
            return self.conditions("all", "]")
        op = self.word().lower()
        if op not in CONDITIONS:
            raise QueryError(
                f"{op or self.tokens[self.position][1] or 'nothing'} is not a condition.",
                hint=f"Conditions are {listed(CONDITIONS)}.",
            )
        self.position += 1
        self.expect("(")
        if op == "any":
            return self.conditions("any", ")")
        if op == "not":
            group = self.conditions("not", ")")
            if len(group.conditions) != 1:
                raise QueryError(
                    "not(...) takes one condition.", hint="not([eq(...), eq(...)]) denies several together."
                )
            return group
        left = self.sum()
        self.expect(",")
        values = self.values() if op == "in" else self.plain_values(op)
        self.expect(")")
        return Test(op, left, values)

    def conditions(self, how: str, closing: str) -> Group:
        found: list[Condition] = []
        while not self.peek(closing):
            found.append(self.condition())
            if not self.take(","):
                break
        self.expect(closing)
        if not found:
            raise self.error(f"{how} needs a condition")
        return Group(how, tuple(found))

    def plain_values(self, op: str) -> tuple[Value, ...]:
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        if len(values) != (2 if op == "between" else 1):
            takes = "a column and two values" if op == "between" else "a column and a value"
            raise QueryError(f"{op}(...) takes {takes}.")
        return tuple(values)

    def values(self) -> tuple[Value, ...]:
        if not self.take("["):
            value = self.sum()
            if not isinstance(value, Star | Rows):
                raise QueryError(
                    "in(...) takes a column and a list.", hint='For example in(job, ["Director"]), or in(id, *).'
                )
            return (value,)
        values = [self.sum()]
        while self.take(","):
            values.append(self.sum())
        self.expect("]")
        return tuple(values)

    # -- suffixes

    def suffixes(self, rows: Rows) -> Rows:
        while self.take("["):
            rows = self.suffix(rows)
        return rows

    def suffix(self, rows: Rows) -> Rows:
        if (start := self.whole()) is not None or self.peek(":"):
            if rows.take is not None or rows.aggregate:
                raise self.error("These rows cannot be cut again")
            take: tuple[int, int | None] = (start or 0, 1)
            if self.take(":"):
                end = self.whole()
                take = (start or 0, None if end is None else max(end - (start or 0), 0))
            self.expect("]")
            return replace(rows, take=take)
        show: list[Value] = []
        while True:
            word = self.word().lower()
            kind, text, _ = self.tokens[self.position]
            bare = text[1:-1].lower() if kind == "text" else word
            if (
                self.peek("]", ahead=1)
                and not show
                and (bare in ("len", "count") or (rows.show and bare in AGGREGATES))
            ):
                self.position += 2
                return self.aggregated(rows, "len" if bare == "count" else bare)
            if word in ("count", *AGGREGATES) and self.peek("(", ahead=1):
                self.position += 1
                self.expect("(")
                value = self.shown()
                self.expect(")")
                self.expect("]")
                return self.aggregated(replace(rows, show=(value,)), "len" if word == "count" else word)
            show.append(self.shown())
            if not self.take(","):
                break
        self.expect("]")
        if rows.show or rows.aggregate:
            raise self.error("The columns were already chosen", hint="Name them together, as in [title, revenue].")
        return replace(rows, show=tuple(show))

    def aggregated(self, rows: Rows, aggregate: str) -> Rows:
        if rows.aggregate:
            raise self.error("These rows were already aggregated")
        return replace(rows, aggregate=aggregate)

    def shown(self) -> Value:
        kind, text, _ = self.tokens[self.position]
        if kind == "text":
            self.position += 1
            table, _, column = text[1:-1].lower().rpartition(".")
            return Name(column, table)
        return self.sum()


_QUOTES = 'Double a quote within a text, or use the other kind: \'say "hi"\', "it\'s".'


def _binds(value: Literal) -> bool:
    return value.kind != "word" or value.is_none


def split_tables(name: str, domain: Domain) -> tuple[str, ...]:
    """Return the tables whose names, joined by _, are `name`; the longest first name wins.

    Raises QueryError naming the tables there are.
    """
    found = _split(name, sorted((t.name for t in domain.tables), key=lambda t: (-len(t), t)))
    if found is None:
        known = [t.name for t in domain.tables]
        hint = f"Tables: {listed(known)}. {did_you_mean(name, known)}".strip()
        raise QueryError(f"get_{name} names no table of {domain.name}.", hint=hint)
    if len(set(found)) < len(found):
        raise QueryError(f"get_{name} names a table twice.")
    return found


def _split(name: str, tables: list[str]) -> tuple[str, ...] | None:
    if name in tables:
        return (name,)
    for table in tables:
        if name.startswith(f"{table}_"):
            rest = _split(name[len(table) + 1 :], tables)
            if rest is not None:
                return (table, *rest)
    return None
