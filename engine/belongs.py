"""Which domain a table or a program belongs to, where nobody says: the one whose tables are named."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kg.check import check
from kg.dialect import parse
from kg.dialect.calls import did_you_mean, split_tables
from kg.domain import Domain
from kg.errors import DomainError, QueryError

_SOURCE = re.compile(r"\b(?:from|join)\s+\"?(\w+)\b(?!\s*\()|\b(get_\w+)\s*\(", re.I)


def domain_named(name: str, domains: Mapping[str, Domain]) -> Domain:
    """Return the domain of this name. Raises DomainError naming those there are."""
    if name not in domains:
        raise DomainError([f"There is no domain '{name}'. There are: {', '.join(domains)}."])
    return domains[name]


def domain_with(table: str, domains: Mapping[str, Domain]) -> Domain:
    """Return the domain that has `table`. Raises QueryError if none has, or several."""
    found = [d for d in domains.values() if table in d.by_name]
    if not found:
        raise _in_none(table, domains)
    if len(found) > 1:
        raise _in_several(table, [d.name for d in found])
    return found[0]


def domain_of(program: str, domains: Mapping[str, Domain]) -> str:
    """Return the name of the domain whose tables a program names, in either spelling; the first if it names none.

    Raises QueryError for tables that no domain has, that several have, or that are not all of one domain.
    """
    if len(domains) == 1:
        return next(iter(domains))
    words = set(re.findall(r"\w+", program.lower()))
    hits = {name: sum(_has(word, d) for word in words) for name, d in domains.items()}
    likely = [name for name, number in hits.items() if number]
    if len(likely) == 1:
        return likely[0]
    sources = [(m[1] or m[2]).lower() for m in _SOURCE.finditer(program)]
    if not likely:
        if sources:
            raise _in_none(sources[0], domains)
        return next(iter(domains))
    # a column or a text may be called like a table of another domain
    fitting = [name for name in likely if _fits(program, domains[name])]
    if len(fitting) > 1:
        shared = [s for s in sources if all(_has(s, domains[name]) for name in fitting)]
        raise _in_several(", ".join(dict.fromkeys(shared)) or "This", fitting)
    if fitting:
        return fitting[0]
    homes = {s: [name for name in likely if _has(s, domains[name])] for s in sources}
    if not set(likely).intersection(*(names for names in homes.values() if names)):
        apart = ", ".join(f"{s} ({' or '.join(names)})" for s, names in homes.items() if names)
        raise QueryError(f"A program reads the tables of one domain, and these are of several: {apart}.")
    return max(likely, key=lambda name: (sum(name in names for names in homes.values()), hits[name]))


def _has(word: str, domain: Domain) -> bool:
    """Whether a word is a table of the domain, or a call of tables of it."""
    if word in domain.by_name:
        return True
    try:
        return word.startswith("get_") and bool(split_tables(word.removeprefix("get_"), domain))
    except QueryError:
        return False


def _fits(program: str, domain: Domain) -> bool:
    try:
        check(parse(program, domain), domain)
    except QueryError:
        return False
    return True


def _in_none(table: str, domains: Mapping[str, Domain]) -> QueryError:
    known = [t for d in domains.values() for t in d.by_name]
    closest = did_you_mean(table.removeprefix("get_"), known)
    said = f"{table} names no table." if table.startswith("get_") else f"There is no table '{table}'."
    listing = f"There are: {', '.join(known)}." if len(domains) == 1 else "`kgq schema` lists them."
    return QueryError(said, hint=closest or listing)


def _in_several(table: str, names: list[str]) -> QueryError:
    return QueryError(f"{table} is in several domains: {', '.join(names)}.", hint="Say which one is meant.")
