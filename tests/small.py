"""A small made-up domain, shaped like the movie domain, and a source that answers its calls from memory."""

from __future__ import annotations

import datetime as dt
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kg.domain import Domain, partition
from kg.graph import Graph, Result
from kg.ledger import call_of
from kg.load import load_domain
from kg.shapes import objects
from kg.sources.base import Name
from kg.store import Arrival, Store
from kg.text import fold

NOW = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
TOP = 3  # a search returns no more
YEARS = range(1990, 2000)

YAML = f"""
domain: cinema
about: Films, parts and awards that do not exist.
source: small
tables:
  film:
    about: One row per film.
    says: [film]
    key: [id]
    label: title
    changes: slow
    columns:
      id:    {{type: BIGINT, about: number}}
      title: {{type: TEXT, about: title, match: name}}
      made:  {{type: DATE, about: first release}}
      year:  {{type: INTEGER, about: year of it, year_of: made}}
      gross: {{type: BIGINT, about: takings, unit: USD, null_when: [0]}}
    via:
      - {{needs: year, through: listed, match: year, take: film_id, gives: id}}
  person:
    about: One row per person.
    says: [person]
    key: [id]
    label: name
    changes: slow
    columns:
      id:   {{type: BIGINT, about: number}}
      name: {{type: TEXT, about: name, match: name}}
      born: {{type: DATE, about: day of birth}}
  part:
    about: One row per actor and film.
    key: [film_id, person_id]
    changes: slow
    columns:
      film_id:   {{type: BIGINT, about: the film, links: film.id}}
      person_id: {{type: BIGINT, about: the actor, links: person.id}}
      name:      {{type: TEXT, about: the actor's name, match: name, links: person.name}}
      role:      {{type: TEXT, about: whom they play, match: contains}}
    via:
      - {{needs: person_id, through: played, match: person_id, take: film_id, gives: film_id}}
  award:
    about: One row per nomination.
    key: [year, category, film]
    columns:
      year:      {{type: INTEGER, about: year of the ceremony}}
      category:  {{type: TEXT, about: category}}
      name:      {{type: TEXT, about: who is named, match: contains}}
      film:      {{type: TEXT, about: title, match: name, links: film.title}}
      won:       {{type: BOOLEAN, about: whether it was won}}
      film_id:   {{type: BIGINT, about: the film, links: film.id}}
      person_id: {{type: BIGINT, about: the person, links: person.id}}
  listed:
    about: Which films came out in a year.
    key: [year, film_id]
    columns:
      year:    {{type: INTEGER, about: year}}
      film_id: {{type: BIGINT, about: the film, links: film.id}}
  played:
    about: In which films a person played.
    key: [person_id, film_id]
    columns:
      person_id: {{type: BIGINT, about: the actor, links: person.id}}
      film_id:   {{type: BIGINT, about: the film, links: film.id}}
objects:
  film:
    key: [id]
    fills:
      film:  {{}}
      part:  {{each: "parts[*]", columns: {{film_id: "^id", person_id: id}}}}
      award: {{each: "awards[*]", columns: {{film_id: "^id"}}, lacks: [person_id]}}
  person:
    key: [id]
    fills:
      person: {{}}
      played: {{each: "played[*]", columns: {{person_id: "^id", film_id: "."}}}}
      award:  {{each: "awards[*]", columns: {{person_id: "^id"}}, lacks: [film_id]}}
  year:
    key: ["@query"]
    fills:
      listed: {{each: "films[*]", columns: {{year: "@query", film_id: "."}}}}
      award:  {{each: "awards[*]", columns: {{year: "@query"}}, lacks: [film_id, person_id]}}
fetches:
  film_by_id:    {{call: POST /film, args: {{id: id}}, gives: film}}
  person_by_id:  {{call: POST /person, args: {{id: id}}, gives: person}}
  year_info:     {{call: POST /year, args: {{query: query}}, gives: year, limits: {{query: [{YEARS[0]}, {YEARS[-1]}]}}, as_text: [query]}}
  film_search:   {{call: POST /films, args: {{query: title}}, gives: film, rows: "$[*]", search: {TOP}}}
  person_search: {{call: POST /people, args: {{query: name}}, gives: person, rows: "$[*]", search: {TOP}}}
"""


def domain_of(yaml: str) -> Domain:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "cinema.yaml"
        path.write_text(yaml, encoding="utf-8")
        return load_domain(path)


CINEMA = domain_of(YAML)


def film(
    id_: int,
    title: str,
    made: str = "",
    gross: int = 0,
    parts: Sequence[tuple[int, str]] = (),
    won: Sequence[tuple[str, bool]] = (),
) -> dict[str, Any]:
    """A film; `parts` are (person, role), `won` are (category, whether it was won)."""
    return {"id": id_, "title": title, "made": made or None, "gross": gross, "_parts": parts, "_won": won}


def person(id_: int, name: str, born: str = "") -> dict[str, Any]:
    return {"id": id_, "name": name, **({"born": born} if born else {})}


@dataclass
class World:
    """What the API knows. Also the source that answers for it: `calls` are those made; `before` may raise or wait."""

    films: dict[int, dict[str, Any]] = field(default_factory=dict)
    people: dict[int, dict[str, Any]] = field(default_factory=dict)
    years: dict[int, dict[str, Any]] = field(default_factory=dict)
    parallel: int = 1
    before: Callable[[str, Mapping[str, Any]], None] = lambda endpoint, args: None
    calls: list[tuple[str, Any]] = field(default_factory=list)
    mark: str = "1"
    name: str = "small"
    odd: dict[tuple[str, Any], Any] = field(default_factory=dict)  # replies that are not as declared

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    @classmethod
    def of(cls, films: Iterable[dict[str, Any]], people: Iterable[dict[str, Any]], **options: Any) -> World:
        """The world of `films` and `people`, told from all three sides without contradiction."""
        world = cls(
            {f["id"]: dict(f) for f in films}, {p["id"]: {**p, "played": [], "awards": []} for p in people}, **options
        )
        world.years = {y: {"films": [], "awards": []} for y in YEARS}
        for f in world.films.values():
            parts, won = f.pop("_parts"), f.pop("_won")
            known = [(world.people[i], role) for i, role in parts if i in world.people]
            f["parts"] = [{"id": p["id"], "name": p["name"], "role": role} for p, role in known]
            for p, _ in known:
                p["played"].append(f["id"])
            year = int(f["made"][:4]) if f["made"] else None
            if year in world.years:
                world.years[year]["films"].append(f["id"])
            names = " and ".join(p["name"] for p, _ in known)
            f["awards"] = [
                {"year": (year or 1989) + 1, "category": c, "name": names, "film": f["title"], "won": w} for c, w in won
            ]
            for a in f["awards"]:
                if a["year"] in world.years:
                    world.years[a["year"]]["awards"].append(a)
                for p, _ in known:
                    p["awards"].append(a)
        return world

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        with self._lock:
            self.calls.append((endpoint, next(iter(args.values()))))
        self.before(endpoint, args)
        asked = next(iter(args.values()))
        if (endpoint, asked) in self.odd:
            return self.odd[endpoint, asked]
        if endpoint == "/film":
            return self.films.get(asked)
        if endpoint == "/person":
            return self.people.get(asked)
        if endpoint == "/year":
            assert isinstance(asked, str), "the API wants years as text"
            assert int(asked) in YEARS, "the API does not take this year"
            return self.years.get(int(asked))
        label, known = ("title", self.films) if endpoint == "/films" else ("name", self.people)
        return sorted(known.values(), key=lambda o: _distance(str(asked), o[label]))[:TOP]

    def names(self, table: str) -> Iterable[Name]:
        return ()

    def fingerprint(self) -> str:
        return self.mark

    def close(self) -> None:
        pass


def _distance(asked: str, name: str) -> tuple[int, int]:
    one, two = fold(asked), fold(name)
    return (0 if one == two else 1, -len(set(one.split()) & set(two.split())))


CAST = [
    person(1, "Ann O'Brien", "1960-01-01"),
    person(2, "Bo Li"),
    person(3, "Zoë Day", "1970-02-03"),
    person(4, "Cy Young"),
]
FILMS = [
    film(10, "Night Train", "1991-03-01", 100, [(1, "Ada"), (2, "The Guard")], [("BEST FILM", True)]),
    film(
        11, "Day Boat", "1993-07-01", 300, [(1, "Captain Ada"), (3, "Eve")], [("BEST FILM", False), ("BEST SONG", True)]
    ),
    film(12, "Pan's Café", "1995-01-01", 0, [(3, "Waiter")]),
    film(13, "Night Train", "1985-05-05", 50, [(2, "Driver")]),
    film(14, "Last Stop", "2005-01-01", 900, [(1, "Ada's Ghost")]),
]


def world(**options: Any) -> World:
    """A few films and people."""
    return World.of(FILMS, CAST, **options)


def ask(graph: Graph, sql: str, *, now: dt.datetime = NOW, seconds: float = 30) -> Result:
    return graph.run(sql, deadline=time.monotonic() + seconds, now=now)


def graph(source: World, *, store: Store | None = None, domain: Domain = CINEMA, **options: Any) -> Graph:
    return Graph(domain, source, store if store is not None else Store(), **options)


def filled(source: World, domain: Domain = CINEMA) -> Store:
    """A store that holds everything the API knows."""
    store = Store()
    store.open_domain(domain, "all")
    for endpoint, name, known in (
        ("/film", "film_by_id", source.films),
        ("/person", "person_by_id", source.people),
        ("/year", "year_info", source.years),
    ):
        fetch = next(f for f in domain.fetches if f.name == name)
        assert fetch.endpoint == endpoint
        arrivals = []
        for key, body in known.items():
            call = call_of(fetch, domain.name, {fetch.args[0][1]: key})
            arrivals.append(Arrival(call, fetch, objects(body, fetch, domain, dict(call.args)), False, NOW))
        store.add(domain, arrivals)
    return store


def stored(store: Store, table: str, obj: str, domain: Domain = CINEMA) -> int:
    """How many rows a partition has."""
    return store.run(f'SELECT count(*) FROM "{domain.name}"."{partition(table, obj)}"').rows[0][0]


def changing(domain: Domain, **how: str) -> Domain:
    """`domain` with other speeds of change: table to speed."""
    tables = tuple(replace(t, changes=how.get(t.name, t.changes)) for t in domain.tables)  # type: ignore[arg-type]
    return replace(domain, tables=tables, digest=domain.digest + str(how))
