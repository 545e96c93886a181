"""What a question means, before it is a program: sets of rows with conditions, and what is asked of them.

A meaning knows the tables of its domain but no wording; `engine.translate.program` turns it into SQL. The sets are the
unary half of lambda DCS (Liang 2013): conditions, joins in both directions, intersection, superlatives; the asks are
its aggregates and comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Entity:
    """One row that a name in the question was linked to; `shared` when other rows have the same name."""

    key: Any
    text: str
    shared: bool = False


@dataclass(frozen=True)
class Is:
    """The row is one of these; `series` when it is all of them that were meant, not one."""

    entities: tuple[Entity, ...]
    series: bool = False


@dataclass(frozen=True)
class Where:
    """A condition on a column of the set's own table. `op` is a SQL operator, or in, between; says: the text has
    these words; apart: nothing in it matches a regular expression."""

    column: str
    op: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Than:
    """A comparison of two columns of the row: it closed higher than it opened."""

    column: str
    op: str
    other: str


@dataclass(frozen=True)
class To:
    """The row links to a row of `set` (the set's table is the detail table), by `column` if several columns could."""

    set: Set
    column: str = ""


@dataclass(frozen=True)
class Through:
    """A row of `rows`, a detail table, links to this row."""

    rows: Set


@dataclass(frozen=True)
class Same:
    """The column has the value that `column` has in the row of `set` (the year somebody won), or a DATE one of so many
    `days` from that day; or, as `op` says, it comes after or before it."""

    own: str
    set: Set
    column: str
    days: int = 1
    op: str = "="


@dataclass(frozen=True)
class Other:
    """The row is none of these: what somebody else shares with them."""

    entities: tuple[Entity, ...]


Condition = Is | Other | Where | Than | To | Through | Same


@dataclass(frozen=True)
class Top:
    """The first `n` after `skip` by a column of the set's table, or of the detail table `via`; by the length of a text
    if `shortest`: of the parts that contain a name the shortest is the one meant."""

    column: str
    descending: bool
    n: int = 1
    skip: int = 0
    via: str = ""
    shortest: bool = False


@dataclass(frozen=True)
class Set:
    """Rows of `table` that meet all conditions; of these, perhaps, the `top`.

    `entities` are the rows it names, `is_entity` tells whether it is just something that was named (perhaps with a
    year to tell it from its namesakes), `nested` are this set and all sets in its conditions.
    """

    table: str
    conditions: tuple[Condition, ...] = ()
    top: Top | None = None
    entities: tuple[Entity, ...] = field(init=False, repr=False, compare=False)
    is_entity: bool = field(init=False, repr=False, compare=False)
    nested: tuple[Set, ...] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # sets nest and are looked up by the thousand: what is asked of them most is worked out once
        entities = next((c.entities for c in self.conditions if isinstance(c, Is)), ())
        named = bool(entities) and all(
            isinstance(c, Where) or (isinstance(c, Is) and not c.series) for c in self.conditions
        )
        inner = [c.set if isinstance(c, To) else c.rows for c in self.conditions if isinstance(c, (To, Through))]
        put = object.__setattr__  # frozen
        put(self, "entities", entities)
        put(self, "is_entity", named)
        put(self, "nested", (self, *(n for s in inner for n in s.nested)))
        put(self, "_hash", hash((self.table, self.conditions, self.top)))

    def __hash__(self) -> int:
        return self._hash

    def also(self, *more: Condition) -> Set:
        return replace(self, conditions=self.conditions + more)


# -- what is asked ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """The names of the rows (their label), or the values of `column`; of a date only the year, if that is asked;
    of all only the first `n`, if not 0."""

    set: Set
    column: str = ""
    year: bool = False
    n: int = 0


@dataclass(frozen=True)
class Count:
    set: Set


@dataclass(frozen=True)
class Aggregate:
    function: str
    set: Set
    column: str


@dataclass(frozen=True)
class Exists:
    set: Set


@dataclass(frozen=True)
class Which:
    """Of several things, called `names`, the one whose value is the largest (or smallest)."""

    values: tuple[Value, ...]
    names: tuple[str, ...]
    descending: bool


@dataclass(frozen=True)
class Leader:
    """The values of `by` whose rows have the most (or least) of something: their number, or `function` of `column`;
    those of the first place only, all that share it."""

    set: Set
    by: str
    function: str
    column: str
    descending: bool


@dataclass(frozen=True)
class Tally:
    """How many rows have each value of `column`: won, drawn and lost."""

    set: Set
    column: str


@dataclass(frozen=True)
class Compare:
    """Whether the first value is greater than (or less than) the second."""

    first: Value
    second: Value
    greater: bool


@dataclass(frozen=True)
class Calculate:
    """A number made of two values: difference, ratio, percent, change and fall (in percent), years or days between,
    so many times a value, how many whole times a value goes into another.

    `sign` is 1 or -1 where the question takes for granted which is larger, else 0.
    """

    function: str
    first: Value
    second: Value
    sign: int = 0


@dataclass(frozen=True)
class Given:
    """A value that the question itself gives, or the time it was asked."""

    value: str | float


@dataclass(frozen=True)
class Listed:
    """How many things the text in `column` lists, set apart by commas."""

    set: Set
    column: str


@dataclass(frozen=True)
class Excerpt:
    """The part of the text in `column` that a regular expression takes out, its first group."""

    set: Set
    column: str
    pattern: str


@dataclass(frozen=True)
class Scaled:
    """A number in another unit."""

    set: Set
    column: str
    factor: float
    plus: float
    unit: str


Value = Names | Count | Aggregate | Calculate | Given | Listed | Scaled
Meaning = Names | Count | Aggregate | Exists | Which | Leader | Tally | Compare | Calculate | Listed | Excerpt | Scaled
