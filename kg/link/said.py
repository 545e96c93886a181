"""Names that the domain's file tells: what people call the rows of a table, beside the names that its source has.

They stand under `names:`. Where a source lists its names they add to those ("the lakers"); where it does
not, they are known without a search, and so are the rows of a table that no search finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kg.domain import Table
from kg.link.index import Known

SHARE = 0.95  # of the weight of the name in the source


def said_names(table: Table) -> Iterator[Known]:
    """Yield the names in the file of `table`, each value itself first; of two, the earlier value is better known."""
    for place, value in enumerate(table.names):
        for text in dict.fromkeys((str(value.value), *value.says)):
            yield Known(text, table.name, value.value, float(len(table.names) - place))


def with_said(table: Table, listed: Iterable[Known]) -> Iterator[Known]:
    """Yield the names that a source has listed, and what the file calls the rows that are among them."""
    weights: dict[object, float] = {}
    texts: set[tuple[str, object]] = set()
    for name in listed:
        weights[name.key] = max(name.weight, weights.get(name.key, name.weight))
        texts.add((name.text, name.key))
        yield name
    for said in said_names(table):
        if said.key in weights and (said.text, said.key) not in texts:
            yield Known(said.text, table.name, said.key, SHARE * weights[said.key])
