"""A made-up league, shaped like the APIs of sports, charts and prices: listings by period, attributes a call each, pairs."""

from __future__ import annotations

import datetime as dt
import random
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from small import NOW

from kg.domain import Column, Domain, Fetch, Fill, Link, Object, Table
from kg.ledger import call_of
from kg.shapes import objects
from kg.sources.base import Name
from kg.store import Arrival, Store

FIRST, LAST = 2019, 2024  # the years that the API knows


def _table(name: str, key: str, columns: str, **options: Any) -> Table:
    """A table whose columns are written as "name TYPE, ..."."""
    named = [c.split() for c in columns.split(", ")]
    declared = tuple(Column(n, t, n, year_of="day" if n == "year" else "") for n, t in named)
    return Table(name, f"One row per {name}.", tuple(key.split()), declared, **options)


_LINKED = Table(
    "goal",
    "One row per goal.",
    ("game_id", "minute"),
    (
        Column("game_id", "BIGINT", "the game", links=Link("game", "id")),
        Column("minute", "INTEGER", "minute"),
        Column("team", "TEXT", "team"),
    ),
)
PIECES = ("crowd", "rain", "note")
_PIECE_KEY = (("team", "@team"), ("day", "@day"))


def _piece(name: str, *lacks: str) -> Object:
    columns = (*_PIECE_KEY, *((c, "value" if c == name else c) for c in PIECES if c not in lacks))
    return Object(name, ("@team", "@day"), (Fill("mood", columns=columns, lacks=lacks),))


def _mood(name: str, **options: Any) -> Fetch:
    return Fetch(f"mood_{name}", "/mood", name, (("team", "team"), ("day", "day")), fixed=(("what", name),), **options)


LEAGUE = Domain(
    "league",
    "Games that were never played.",
    "league",
    (
        _table("team", "name", "name TEXT, city TEXT"),
        _table("game", "id team", "id BIGINT, day DATE, year INTEGER, team TEXT, other TEXT, points INTEGER", moment="day"),
        _LINKED,
        _table("mood", "team day", "team TEXT, day DATE, crowd INTEGER, rain BOOLEAN, note TEXT"),
        _table("price", "team day", "team TEXT, day DATE, price DOUBLE"),
    ),
    (
        Object("team", ("name",), (Fill("team"),)),
        Object("game", ("id",), (Fill("game"), Fill("goal", each="goals[*]", columns=(("game_id", "^id"),)))),
        _piece("crowd", "rain", "note"),
        _piece("rain", "crowd", "note"),
        _piece("note", "crowd", "rain"),
        Object("price", ("team", "day"), (Fill("price"),)),
    ),
    (
        Fetch("teams", "/teams", "team", (), rows="$[*]"),
        Fetch("games", "/games", "game", (("date", "day"),), "$[*]", periods=("date",), limits=(("date", FIRST, LAST),)),
        Fetch("team_games", "/games", "game", (("date", "day"), ("team", "team")), "$[*]", periods=("date",),
              limits=(("date", FIRST, LAST),)),
        Fetch("game_by_id", "/game", "game", (("ids", "id"),), rows="$[*]", as_text=("ids",), as_list=("ids",)),
        _mood("crowd"),
        _mood("rain"),
        _mood("note"),
        Fetch("price", "/price", "price", (("team", "team"), ("day", "day"))),
    ),
    digest="1",
)  # fmt: skip


@dataclass
class Pitch:
    """What the API knows, and the source that answers for it: `calls` are those made."""

    teams: list[dict[str, Any]] = field(default_factory=list)
    games: list[dict[str, Any]] = field(default_factory=list)  # a row for either team
    moods: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    prices: dict[tuple[str, str], float] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    parallel: int = 1
    name: str = "league"

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        with self._lock:
            self.calls.append((endpoint, dict(args)))
        if endpoint == "/teams":
            assert not args
            return self.teams
        if endpoint == "/games":
            assert FIRST <= int(args["date"][:4]) <= LAST, "the API does not take this year"
            games = [g for g in self.games if g["day"].startswith(args["date"])]
            return [g for g in games if args.get("team", g["team"]) == g["team"]]
        if endpoint == "/game":
            assert isinstance(args["ids"], list), "the API wants a list"
            return [g for g in self.games if str(g["id"]) in args["ids"]]
        key = (args["team"], args["day"])
        if endpoint == "/price":
            return {"team": key[0], "day": key[1], "price": self.prices[key]} if key in self.prices else None
        value = self.moods.get(key, {}).get(args["what"])
        return None if value is None else {"value": value}

    def names(self, table: str) -> Iterable[Name]:
        return ()

    def fingerprint(self) -> str:
        return "1"

    def close(self) -> None:
        pass


def everything(pitch: Pitch) -> Store:
    """A store that holds all that the API knows, a reply at a time."""
    store = Store()
    store.open_domain(LEAGUE, "all")
    asked: dict[str, list[dict[str, Any]]] = {"teams": [{}]}
    asked["games"] = [{"day": str(year)} for year in range(FIRST, LAST + 1)]
    asked |= {f"mood_{w}": [{"team": t, "day": d} for (t, d), m in pitch.moods.items() if w in m] for w in PIECES}
    asked["price"] = [{"team": t, "day": d} for t, d in pitch.prices]
    for fetch in LEAGUE.fetches:
        arrivals = []
        for values in asked.get(fetch.name, ()):
            call = call_of(fetch, LEAGUE.name, values)
            reply = pitch.call(fetch.endpoint, {**dict(fetch.fixed), **dict(call.args)}, timeout=1)
            arrivals.append(Arrival(call, fetch, objects(reply, fetch, LEAGUE, dict(call.args)), False, NOW))
        store.add(LEAGUE, arrivals)
    pitch.calls.clear()
    return store


TEAMS = ["Red", "Blue", "Green"]


def day(r: random.Random) -> str:
    """A day; few, so that they meet."""
    return (dt.date(r.choice([2019, 2020, 2021, 2024]), r.choice([1, 2, 12]), r.choice([1, 2, 28]))).isoformat()


def random_pitch(r: random.Random) -> Pitch:
    teams = r.sample(TEAMS, r.randint(1, 3))
    days = [day(r) for _ in range(6)]
    games = []
    for i in range(1, r.randint(3, 12)):
        one, two = r.choice(TEAMS), r.choice(TEAMS)
        goals = [{"minute": m, "team": one} for m in r.sample(range(90), r.randint(0, 2))]
        games.append(
            {"id": i, "day": r.choice(days), "team": one, "other": two, "points": r.randint(0, 3), "goals": goals}
        )
    moods = {}
    for t in TEAMS:
        for d in days:
            known = {"crowd": r.randint(1, 9), "rain": r.random() < 0.5, "note": r.choice(["loud", "calm"])}
            moods[t, d] = {k: v for k, v in known.items() if r.random() < 0.6}
    prices = {(t, d): float(r.randint(1, 9)) for t in TEAMS for d in days if r.random() < 0.6}
    return Pitch(
        [{"name": t, "city": r.choice(["X", "Y"])} for t in teams], games, moods, prices, parallel=r.choice([1, 3])
    )


SHARED = {
    "team": {"name": "team", "city": "city"},
    "game": {"id": "id", "day": "day", "year": "year", "team": "team", "other": "team", "points": "number"},
    "goal": {"game_id": "id", "minute": "number", "team": "team"},
    "mood": {"team": "team", "day": "day", "crowd": "number", "rain": "flag", "note": "note"},
    "price": {"team": "team", "day": "day", "price": "number"},
}


class LeagueWriter:
    """Writes one random query over the league: one to three tables that share teams, days or games."""

    def __init__(self, r: random.Random):
        self.r, self.days = r, [day(r) for _ in range(4)]

    def query(self) -> str:
        r = self.r
        text, used = self._sources()
        tests = [self._test(*r.choice(used)) for _ in range(r.randint(0, 2))]
        table, alias = used[0]
        tests += [
            self._test(table, alias, column)
            for column, kind in SHARED[table].items()
            if kind in ("team", "day", "id") and r.random() < 0.8
        ]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        shown = [f"{a}.{c}" for t, a in used for c in SHARED[t]]
        picked = r.sample(shown, min(len(shown), r.randint(1, 4)))
        if r.random() < 0.15:
            return f"SELECT {picked[0]} AS v, count(*) AS n FROM {text}{where} GROUP BY {picked[0]}"
        if r.random() < 0.15:
            inner = ", ".join(f"{c} AS c{i}" for i, c in enumerate(shown[:3]))
            return f"WITH w AS (SELECT {inner} FROM {text}{where}) SELECT w.c0 FROM w"
        if tests and r.random() < 0.2:
            # the conditions outside, where they must find their way in
            inner = ", ".join(SHARED[table])
            body = r.choice([f"FROM w {alias}", f"FROM (SELECT {inner} FROM {table}) {alias}"])
            outer = " AND ".join(t for t in tests if not re.search(r"\bt[1-9]\.", t)) or "1 = 1"
            with_ = f"WITH w AS (SELECT {inner} FROM {table}) " if " w " in body else ""
            return f"{with_}SELECT {', '.join(f'{alias}.{c}' for c in SHARED[table])} {body} WHERE {outer}"
        listed = ", ".join(f"{c} AS v{i}" for i, c in enumerate(picked))
        if table != "team" and "day" in SHARED[table] and r.random() < 0.15:
            listed += f", (SELECT max(p.price) FROM price p WHERE p.team = {alias}.team AND p.day = {alias}.day) AS top"
        return f"SELECT {listed} FROM {text}{where}"

    def _sources(self) -> tuple[str, list[tuple[str, str]]]:
        r = self.r
        table = r.choice([*SHARED, "mood", "game"])
        text, used = f"{table} t0", [(table, "t0")]
        for i in range(1, r.choice([1, 1, 2, 2, 3])):
            table, (other, alias) = r.choice(list(SHARED)), r.choice(used)
            links = [
                f"t{i}.{mine} = {alias}.{theirs}"
                for mine, kind in SHARED[table].items()
                for theirs, k in SHARED[other].items()
                if k == kind and kind in ("team", "day", "id")
            ]
            if not links:
                continue
            on = " AND ".join(r.sample(links, min(len(links), r.choice([1, 2, 2]))))
            text += f" {r.choice(['', '', '', 'LEFT ', 'RIGHT ', 'FULL '])}JOIN {table} t{i} ON {on}"
            used.append((table, f"t{i}"))
        return text, used

    def _test(self, table: str, alias: str, column: str = "") -> str:
        r = self.r
        column = column or r.choice(list(SHARED[table]))
        name, kind = f"{alias}.{column}", SHARED[table][column]
        if kind == "day":
            one, two = sorted(r.choice(self.days) for _ in range(2))
            year = int(one[:4])
            return r.choice([
                f"{name} = '{one}'", f"{name} IN ('{one}', '{two}')", f"{name} BETWEEN '{one}' AND '{two}'",
                f"{name} > '{one}' AND {name} < '{two}'", f"{name} >= '{one}'", f"{name} < '{two}'",
                f"year({name}) = {year}", f"year({name}) IN ({year}, {year + 3})", f"year({name}) >= {year}",
                f"({name} = '{one}' OR {name} >= '{two}')", f"NOT {name} = '{one}'", f"'{one}' < {name}",
                f"(year({name}) = {year} OR {name} BETWEEN '{one}' AND '{two}')", f"{name} IS NOT NULL",
            ])  # fmt: skip
        if kind in ("id", "number", "year"):
            low = r.choice([2019, 2020, 2021]) if kind == "year" else r.randint(1, 9)
            return r.choice([f"{name} = {low}", f"{name} BETWEEN {low} AND {low + 2}", f"{name} IN ({low}, {low + 3})",
                             f"({name} = {low} OR {name} = {low + 1})", f"{name} <> {low}"])  # fmt: skip
        if kind == "flag":
            return r.choice([name, f"NOT {name}"])
        values = {"team": TEAMS, "city": ["X", "Y"], "note": ["loud", "calm"]}[kind]
        return r.choice(
            [f"{name} = '{values[0]}'", f"{name} IN ('{values[0]}', '{values[1]}')", f"{name} <> '{values[0]}'"]
        )
