"""A made-up league, shaped like the APIs of sports, charts and prices: listings by period, attributes a call each, pairs."""

from __future__ import annotations

import datetime as dt
import random
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
_PIECE_KEY = (("team", "@team"), ("day", "@day"))


def _piece(name: str, *lacks: str) -> Object:
    columns = (*_PIECE_KEY, *((c, "value" if c == name else c) for c in ("crowd", "rain", "note") if c not in lacks))
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
    fetches = {f.name: f for f in LEAGUE.fetches}
    asked: list[tuple[str, dict[str, Any]]] = [("teams", {})]
    asked += [("games", {"day": str(year)}) for year in range(FIRST, LAST + 1)]
    asked += [("game_by_id", {"id": g["id"]}) for g in pitch.games]
    asked += [(f"mood_{what}", {"team": t, "day": d}) for (t, d), mood in pitch.moods.items() for what in mood]
    asked += [("price", {"team": t, "day": d}) for t, d in pitch.prices]
    for name, values in asked:
        fetch = fetches[name]
        call = call_of(fetch, LEAGUE.name, values)
        sent = {a: [str(v)] if a in fetch.as_list else v for a, v in call.args}
        reply = pitch.call(fetch.endpoint, {**dict(fetch.fixed), **sent}, timeout=1)
        store.add(LEAGUE, [Arrival(call, fetch, objects(reply, fetch, LEAGUE, dict(call.args)), False, NOW)])
    pitch.calls.clear()
    return store


TEAMS = ["Red", "Blue", "Green"]


def day(r: random.Random) -> str:
    """A day; few, so that they meet."""
    return (dt.date(r.choice([2018, 2020, 2021, 2024]), r.choice([1, 2, 12]), r.choice([1, 2, 28]))).isoformat()


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
