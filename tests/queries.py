"""Random worlds and random queries over the small domain, for what must hold of all of them."""

from __future__ import annotations

import random

from small import World, film, person

NAMES = ["Ann O'Brien", "Bo Li", "Zoë Day", "zoe day", "Cy Young", "Dee", "Ed Lee Ray"]
TITLES = ["Night Train", "night train!", "Day Boat", "Pan's Café", "Last Stop", "Up", "It's On"]
ROLES = ["Ada", "The Guard", "Captain Ada", "Eve"]
CATEGORIES = ["BEST FILM", "BEST SONG"]

# table -> its columns by kind
COLUMNS = {
    "film": {"id": "film", "title": "title", "made": "date", "year": "year", "gross": "gross"},
    "person": {"id": "person", "name": "name", "born": "date"},
    "part": {"film_id": "film", "person_id": "person", "name": "name", "role": "role"},
    "award": {
        "year": "year",
        "category": "category",
        "film": "title",
        "won": "flag",
        "film_id": "film",
        "person_id": "person",
    },
    "listed": {"year": "year", "film_id": "film"},
    "played": {"person_id": "person", "film_id": "film"},
}


def random_world(r: random.Random) -> World:
    people = [person(i, r.choice(NAMES), _date(r)) for i in range(1, r.randint(2, 6))]
    films = []
    for i in range(10, 10 + r.randint(1, 7)):
        parts = [(p["id"], r.choice(ROLES)) for p in r.sample(people, r.randint(0, len(people)))]
        won = [(c, r.random() < 0.5) for c in CATEGORIES if r.random() < 0.4]
        films.append(film(i, r.choice(TITLES), _date(r), r.choice([0, 50, 100]), parts, won))
    return World.of(films, people, parallel=r.choice([1, 3]))


def _date(r: random.Random) -> str:
    return f"{r.randint(1987, 2002)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}" if r.random() < 0.85 else ""


class Writer:
    """Writes one random query. Most are bound somewhere; whether well enough is for the planner to say."""

    def __init__(self, r: random.Random):
        self.r, self.count = r, 0

    def query(self) -> str:
        kind = self.r.random()
        if kind < 0.12:
            operator = self.r.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
            column = self.r.choice(["film", "person", "title"])
            return f"{self.one(column)} {operator} {self.one(column)}"
        if kind < 0.22:
            inner = self.one("film")
            return f"WITH c AS ({inner}) SELECT f.title, f.year FROM c JOIN film f ON f.id = c.v"
        if kind < 0.28:
            return (
                "SELECT f.title, c.n FROM film f JOIN (SELECT film_id, count(*) AS n FROM part GROUP BY film_id) c "
                f"ON c.film_id = f.id WHERE {self.condition('film', 'f', 1)}"
            )
        return self.select()

    def alias(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def sources(self) -> tuple[str, list[tuple[str, str]]]:
        """A FROM clause of one to four tables that are linked, and (table, alias) of each."""
        used = [(self.r.choice(list(COLUMNS)), self.alias())]
        text = f"{used[0][0]} {used[0][1]}"
        for _ in range(self.r.choice([0, 0, 1, 1, 2, 3])):
            table, alias = self.r.choice(list(COLUMNS)), self.alias()
            links = [
                f"{alias}.{mine} = {other}.{theirs}"
                for t, other in used
                for mine, kind in COLUMNS[table].items()
                for theirs, k in COLUMNS[t].items()
                if k == kind and kind in ("film", "person", "title", "name", "year")
            ]
            if not links:
                continue
            on = self.r.choice(links)
            if self.r.random() < 0.2:
                on += f" AND {self.condition(table, alias, 0)}"
            side = self.r.choice(["", "", "", "LEFT ", "RIGHT ", "FULL "])
            text += f" {side}JOIN {table} {alias} ON {on}"
            used.append((table, alias))
        return text, used

    def where(self, used: list[tuple[str, str]]) -> str:
        parts = [self.condition(*self.r.choice(used), 2) for _ in range(self.r.choice([0, 1, 1, 2]))]
        if not parts or self.r.random() < 0.8:
            parts.append(self.bound(*self.r.choice(used)))
        return " AND ".join(parts)

    def bound(self, table: str, alias: str) -> str:
        """A condition that binds an input of `table`."""
        column, sort = self.r.choice(
            [c for c in COLUMNS[table].items() if c[1] in ("film", "person", "title", "name", "year")]
        )
        one, two = (self.r.choice(self.values(sort)) for _ in range(2))
        column = f"{alias}.{column}"
        return self.r.choice(
            [f"{column} = {one}", f"{column} IN ({one}, {two})", f"({column} = {one} OR {two} = {column})"]
        )

    def one(self, kind: str) -> str:
        """A query of one column `v` of a kind."""
        text, used = self.sources()
        fitting = [(a, c) for t, a in used for c, k in COLUMNS[t].items() if k == kind]
        if not fitting:
            return self.one(kind)
        alias, column = self.r.choice(fitting)
        return f"SELECT {self.r.choice(['', 'DISTINCT '])}{alias}.{column} AS v FROM {text} WHERE {self.where(used)}"

    def select(self) -> str:
        text, used = self.sources()
        where = self.where(used)
        shown = [f"{a}.{c}" for t, a in used for c in COLUMNS[t]]
        columns = self.r.sample(shown, min(len(shown), self.r.randint(1, 4)))
        kind = self.r.random()
        if kind < 0.15:
            return f"SELECT count(*) AS n FROM {text} WHERE {where}"
        if kind < 0.25:
            return f"SELECT {columns[0]} AS v, count(*) AS n FROM {text} WHERE {where} GROUP BY {columns[0]}"
        listed = ", ".join(f"{c} AS v{i}" for i, c in enumerate(columns))
        if kind < 0.4:
            order = ", ".join(f"v{i} NULLS LAST" for i in range(len(columns)))
            return f"SELECT {listed} FROM {text} WHERE {where} ORDER BY {order} LIMIT {self.r.randint(1, 3)}"
        if kind < 0.5:
            table, alias = self.r.choice(used)
            link = next(c for c, k in COLUMNS[table].items() if k in ("film", "person"))
            other = "part" if COLUMNS[table][link] == "film" else "played"
            key = "film_id" if other == "part" else "person_id"
            listed += f", (SELECT count(*) FROM {other} s WHERE s.{key} = {alias}.{link}) AS n"
        return f"SELECT {listed} FROM {text} WHERE {where}"

    def condition(self, table: str, alias: str, depth: int) -> str:
        r, kind = self.r, self.r.random()
        if depth and kind < 0.12:
            return "(" + " OR ".join(self.condition(table, alias, depth - 1) for _ in range(r.randint(2, 3))) + ")"
        if depth and kind < 0.17:
            return f"NOT ({self.condition(table, alias, depth - 1)})"
        column, sort = r.choice([c for c in COLUMNS[table].items() if c[1] != "role"])
        if depth and kind < 0.3 and sort in ("film", "person", "title"):
            return f"{alias}.{column} {r.choice(['', '', 'NOT '])}IN ({self.one(sort)})"
        if depth and kind < 0.34 and sort in ("film", "person"):
            return f"{alias}.{column} = (SELECT max(q.v) FROM ({self.one(sort)}) q)"
        if depth and kind < 0.4 and sort in ("film", "person"):
            other = r.choice([t for t, cs in COLUMNS.items() if sort in cs.values()])
            inner = self.alias()
            key = next(c for c, k in COLUMNS[other].items() if k == sort)
            also = f" AND {self.condition(other, inner, depth - 1)}" if r.random() < 0.5 else ""
            return f"{r.choice(['', 'NOT '])}EXISTS (SELECT 1 AS x FROM {other} {inner} WHERE {inner}.{key} = {alias}.{column}{also})"
        return self.plain(f"{alias}.{column}", sort)

    def plain(self, column: str, sort: str) -> str:
        r = self.r
        if sort == "flag":
            return r.choice([column, f"{column} = FALSE", f"NOT {column}"])
        if sort == "date":
            day = f"DATE '{r.randint(1988, 2001)}-06-01'"
            return r.choice([f"{column} >= {day}", f"{column} < {day}", f"year({column}) = {r.randint(1990, 1999)}",
                             f"{column} BETWEEN DATE '1991-01-01' AND DATE '1994-12-31'", f"{column} IS NULL",
                             f"extract(year FROM {column}) IN (1992, 1993, 1994)"])  # fmt: skip
        if sort == "gross":
            return f"{column} {r.choice(['>', '<=', '='])} 50"
        values = self.values(sort)
        one, two = r.choice(values), r.choice(values)
        forms = [
            f"{column} = {one}",
            f"{column} = {one}",
            f"{one} = {column}",
            f"{column} IN ({one}, {two})",
            f"{column} <> {one}",
        ]
        if sort in ("film", "person", "year"):
            forms += [
                f"{column} BETWEEN {min(one, two)} AND {max(one, two)}",
                f"CAST({column} AS VARCHAR) = '{one}'",
                f"{column} > {one}",
            ]
        if sort in ("title", "name"):
            forms += [f"lower({column}) = lower({one})", f"{column} LIKE '%a%'"]
        return r.choice(forms)

    def values(self, sort: str) -> list[str]:
        if sort == "film":
            return [str(i) for i in range(9, 18)]
        if sort == "person":
            return [str(i) for i in range(7)]
        if sort == "year":
            return [str(i) for i in range(1989, 2002)]
        words = {"title": TITLES, "name": NAMES, "category": CATEGORIES}[sort]
        return ["'" + w.replace("'", "''") + "'" for w in words]
