"""Columns made of others of their row, from a reply and from a file."""

from __future__ import annotations

import contextlib
import textwrap
import time
from pathlib import Path

import pytest

from engine.clock import moment_of
from kg.domain import Domain
from kg.errors import DomainError
from kg.graph import Graph
from kg.load import load_domain
from kg.sources import FileSource
from kg.store import Store

COLUMNS = """
            id: {type: BIGINT, about: number}
            result: {type: TEXT, about: how it ended}
            own: {type: INTEGER, about: goals}
            other: {type: INTEGER, about: goals of the others}
            margin: {type: INTEGER, about: own less other, of: own - other}
            total: {type: INTEGER, about: both, of: own + other}
            score: {type: TEXT, about: both as it is written, of: own - other}
            worth: {type: INTEGER, about: points, of: result, codes: {W: 3, D: 1, L: 0}}
"""
TABLES = """
    domain: league
    about: games
    source: SOURCE
    tables:
      game:
        about: One row per game.
        says: [game]
        key: [id]
        columns:"""

CALLS = """
    objects:
      game: {key: [id], fills: {game: {}}}
    fetches:
      games: {call: POST /games, args: {result: result}, rows: "$[*]", gives: game}
"""
ROWS = [(1, "W", 3, 1), (2, "D", 0, 0), (3, "L", 1, 4), (4, "W", None, 2), (5, "A", 2, 2)]
MADE = [(2, 4, "3-1", 3), (0, 0, "0-0", 1), (-3, 5, "1-4", 0), (None, None, None, 3), (0, 4, "2-2", None)]
ASKED = "SELECT margin, total, score, worth FROM game WHERE result IN ('W', 'D', 'L', 'A') ORDER BY id"


class Games:
    """A source whose replies are the rows with a result."""

    parallel = 1

    def call(self, endpoint, args, *, timeout):
        names = ("id", "result", "own", "other")
        return [dict(zip(names, r, strict=True)) for r in ROWS if r[1] == args["result"]]

    def fingerprint(self):
        return "games"

    def names(self, table):
        return iter(())

    def close(self):
        pass


def load(tmp_path: Path, text: str) -> Domain:
    path = tmp_path / "league.yaml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return load_domain(path)


def rows(domain: Domain, source) -> list[tuple]:
    deadline = time.monotonic() + 10
    with contextlib.closing(Store(None, [domain])) as store:
        return Graph(domain, source, store).run(ASKED, deadline=deadline, now=moment_of("2024-03-01T12:00")).rows


def test_of_a_reply(tmp_path):
    domain = load(tmp_path, TABLES.replace("SOURCE", "league-api") + COLUMNS + CALLS)
    assert rows(domain, Games()) == MADE


def test_of_a_file(tmp_path):
    text = "\n".join(
        ",".join("" if v is None else str(v) for v in r) for r in [("id", "result", "own", "other"), *ROWS]
    )
    (tmp_path / "game.csv").write_text(text, encoding="utf-8")
    domain = load(tmp_path, TABLES.replace("SOURCE", "{directory: .}") + COLUMNS)
    assert rows(domain, FileSource(domain)) == MADE


@pytest.mark.parametrize(
    "old, new, said",
    [
        pytest.param("of: own - other}", "of: own - others}", "of: 'others' is not a column of game", id="unknown"),
        pytest.param("of: own - other}", "of: own - total}", "of: total must stand above margin", id="below"),
        pytest.param("of: own - other}", "of: own - result}", "of: result is no number", id="text"),
        pytest.param("of: own - other}", "of: own * other}", "'own * other' is not a column, or two", id="times"),
        pytest.param("of: result, codes", "of: own - other, codes", "these are for a column", id="codes of two"),
        pytest.param("{W: 3, D", "{W: three, D", "worth.codes", id="a code that does not fit"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, said):
    text = TABLES.replace("SOURCE", "league-api") + COLUMNS + CALLS
    assert old in text
    with pytest.raises(DomainError, match=said.replace("*", r"\*")):
        load(tmp_path, text.replace(old, new, 1))
