"""The store: rows and ledger agree, whatever happens; and who may use a file."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small import CINEMA, NOW, World, ask, changing, film, graph, stored, world

from kg.domain import Domain
from kg.errors import BadReply, QueryError, StoreError
from kg.ledger import call_of
from kg.shapes import objects
from kg.store import GRACE, MANY, Arrival, Store

FETCH = {f.name: f for f in CINEMA.fetches}
LATER = NOW + dt.timedelta(days=31)


def arrival(fetch: str, asked: Any, reply: Any, at: dt.datetime = NOW, domain: Domain = CINEMA) -> Arrival:
    f = FETCH[fetch]
    call = call_of(f, domain.name, {f.args[0][1]: asked})
    return Arrival(call, f, objects(reply, f, domain, dict(call.args)), False, at)


def told(id_: int, title: str = "Up") -> dict[str, Any]:
    return {"id": id_, "title": title, "parts": [{"id": 1, "name": "Ann", "role": "Ada"}], "awards": []}


@pytest.fixture
def store() -> Iterator[Store]:
    out = Store()
    out.open_domain(CINEMA, "1")
    yield out
    out.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "kgq.duckdb"


def titles(store: Store) -> list[str]:
    return sorted(r[0] for r in store.run('SELECT title FROM "cinema"."film__film"').rows)


def test_rows_say_which_call_brought_them(store: Store) -> None:
    store.add(CINEMA, [arrival("film_by_id", 1, told(1)), arrival("film_by_id", 2, told(2))])
    ids = [r[0] for r in store.run('SELECT _call FROM "cinema"."part__film" ORDER BY film_id').rows]
    assert [str(e.call) for e in store.entries(ids)] == ["film_by_id(id=1)", "film_by_id(id=2)"]
    assert store.entries([99]) == []


def test_an_object_that_comes_again_is_not_stored_twice(store: Store) -> None:
    store.add(CINEMA, [arrival("film_by_id", 1, told(1))])
    store.add(CINEMA, [arrival("film_search", "Up", [told(1), told(2)]), arrival("film_search", "up", [told(2)])])
    assert titles(store) == ["Up", "Up"]
    assert stored(store, "part", "film") == 2


@pytest.mark.parametrize("n", [1, MANY - 1, MANY, 3 * MANY], ids=["one", "few", "many", "more"])
def test_few_and_many_rows_are_stored_alike(store: Store, n: int) -> None:
    """Numbers that grow after a while, and NULLs between: nothing may depend on the first rows."""
    films = [
        {
            "id": i,
            "title": None if i % 7 == 1 else f"Film {i}",
            "made": "2001-02-03" if i % 5 == 2 else None,
            "gross": i**4 if i % 3 else 0,
        }
        for i in range(1, n + 1)
    ]
    store.add(CINEMA, [arrival("film_search", "Film", films)])
    rows = store.run('SELECT id, title, made, year, gross, _call FROM "cinema"."film__film" ORDER BY id').rows
    day = dt.date(2001, 2, 3)
    assert rows == [(f["id"], f["title"], f["made"] and day, f["made"] and 2001, f["gross"] or None, 1) for f in films]
    assert len(store.ledger.objects["cinema", "film"]) == n


def test_an_old_object_is_replaced(store: Store) -> None:
    store.add(CINEMA, [arrival("film_search", "Up", [told(1), told(2)])])
    store.add(CINEMA, [arrival("film_by_id", 1, told(1, "Up Again"), LATER)])
    assert titles(store) == ["Up", "Up Again"]
    assert stored(store, "part", "film") == 2
    assert store.ledger.objects["cinema", "film"][1,].fetched == LATER


def test_a_reply_is_as_old_as_its_oldest_object(store: Store) -> None:
    soon = NOW + dt.timedelta(days=20)
    store.add(CINEMA, [arrival("film_by_id", 1, told(1))])
    store.add(CINEMA, [arrival("film_search", "Up", [told(1), told(2)], soon)])
    search = store.ledger.calls[arrival("film_search", "Up", None).call]
    assert search.expires == NOW + dt.timedelta(days=30)


def test_what_has_long_expired_is_gone(store: Store) -> None:
    store.add(CINEMA, [arrival("film_by_id", 1, told(1, "Old"))])
    store.add(CINEMA, [arrival("film_by_id", 2, told(2, "New"), LATER)])
    expires = NOW + dt.timedelta(days=30)
    store.expire(CINEMA, expires + GRACE / 2)
    assert titles(store) == ["New", "Old"]
    store.expire(CINEMA, expires + GRACE)
    assert titles(store) == ["New"]
    assert stored(store, "part", "film") == 1
    assert len(store.ledger.by_id) == 1


def test_a_bad_object_stores_nothing(store: Store) -> None:
    good, bad = arrival("film_by_id", 1, told(1)), arrival("film_by_id", 2, {"id": 2, "title": []})
    with pytest.raises(BadReply):
        store.add(CINEMA, [good, bad])
    assert titles(store) == []
    assert store.ledger.calls == {}
    store.add(CINEMA, [good])
    assert titles(store) == ["Up"]


def test_ctrl_c_while_storing_stores_nothing(store: Store) -> None:
    class Interrupting(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            if key == "title":
                raise KeyboardInterrupt
            return super().get(key, default)

    a = arrival("film_by_id", 1, told(1))
    bad = replace(a, found=[replace(a.found[0], body=Interrupting(told(1)))])
    with pytest.raises((KeyboardInterrupt, BadReply)):
        store.add(CINEMA, [bad])
    assert titles(store) == []
    assert store.ledger.calls == {}


def test_a_reopened_store_knows_what_it_holds(file: Path) -> None:
    source = world()
    with_file = Store(file)
    g = graph(source, store=with_file)
    sql = "SELECT title, made FROM film WHERE title = 'Night Train' OR year = 1993"
    rows, made = ask(g, sql).rows, len(source.calls)
    ledger = with_file.ledger
    with_file.close()
    again = Store(file)
    assert (again.notice, again.ledger) == ("", ledger)
    assert ask(graph(source, store=again), sql).rows == rows
    assert len(source.calls) == made
    again.add(CINEMA, [arrival("film_by_id", 77, None)])
    assert max(again.ledger.by_id) == max(ledger.by_id) + 1
    again.close()


@pytest.mark.parametrize(
    "domain, mark, kept",
    [
        pytest.param(CINEMA, "1", True, id="the same"),
        pytest.param(CINEMA, None, True, id="the data cannot be asked for their mark"),
        pytest.param(CINEMA, "2", False, id="other data"),
        pytest.param(changing(CINEMA, film="fast"), "1", False, id="another schema"),
        pytest.param(changing(CINEMA, film="fast"), None, False, id="another schema, and no mark"),
    ],
)
def test_only_what_belongs_to_other_data_is_dropped(file: Path, domain: Domain, mark: str | None, kept: bool) -> None:
    music = replace(CINEMA, name="music")
    first = Store(file)
    for d in (CINEMA, music):
        first.open_domain(d, "1")
        first.add(d, [arrival("film_by_id", 1, told(1), domain=d)])
    first.close()
    second = Store(file)
    second.open_domain(music, "1")
    second.open_domain(domain, mark)
    assert stored(second, "film", "film") == int(kept)
    assert len([e for e in second.ledger.by_id.values() if e.call.domain == "cinema"]) == int(kept)
    assert stored(second, "film", "film", music) == 1
    second.close()


def test_data_whose_mark_was_not_known_are_dropped_when_it_is(file: Path) -> None:
    store = Store(file)
    store.open_domain(CINEMA, None)
    store.add(CINEMA, [arrival("film_by_id", 1, told(1))])
    store.open_domain(CINEMA, "1")
    assert titles(store) == []
    store.close()


@pytest.mark.parametrize("name", ["ledger", "main_", "select", "order"])
def test_any_name_will_do_for_a_domain(store: Store, name: str) -> None:
    domain = replace(CINEMA, name=name)
    store.open_domain(domain, "1")
    store.add(domain, [arrival("film_by_id", 1, told(1), domain=domain)])
    assert stored(store, "film", "film", domain) == 1


# -- files ---------------------------------------------------------------------------------------------------------

HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


def test_a_file_that_another_process_holds(file: Path) -> None:
    file.parent.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLD, str(file)], stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        store = Store(file)
        assert store.notice == "The store kgq.duckdb is in use by another process; this one works in memory."
        assert len(ask(graph(world(), store=store), "SELECT title FROM film WHERE id = 10").rows) == 1
        store.close()
        other.communicate("")
    assert Store(file).notice == ""


def test_a_file_that_this_process_holds(file: Path) -> None:
    first, second = Store(file), Store(file)
    assert first.notice == ""
    assert second.notice == "The store kgq.duckdb is in use by another session; this one works in memory."
    first.close()
    second.close()


def test_a_file_that_is_no_store(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("my diary about locks " * 1000)
    with pytest.raises(StoreError, match=r"The store .*kgq\.duckdb cannot be opened: "):
        Store(file)


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "block").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path / "block" / "kgq.duckdb")


KILLED = """
import sys, time
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from small import *
source = World.of([film(i, f"Film {i}", "1993-01-01") for i in range(500)], [])
def slowly(endpoint, args):
    if len(source.calls) % 50 == 0:
        print(len(source.calls), flush=True)
        time.sleep(0.06)
source.before = slowly
ask(graph(source, store=Store(Path(sys.argv[1]))), "SELECT count(*) FROM film WHERE year = 1993")
print("done", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", ["50", "250", "done"])
def test_a_killed_process_loses_at_most_the_calls_in_flight(file: Path, after: str) -> None:
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    with subprocess.Popen([sys.executable, "-c", KILLED, str(file), *paths], stdout=-1, text=True) as other:
        assert other.stdout is not None
        for line in other.stdout:
            if line.strip() == after:
                break
        os.kill(other.pid, signal.SIGKILL)
    store = Store(file)
    source = World.of([film(i, f"Film {i}", "1993-01-01") for i in range(500)], [])
    kept = len(store.ledger.calls)
    assert kept >= (501 if after == "done" else int(after) - 50)
    result = ask(graph(source, store=store), "SELECT count(*) FROM film WHERE year = 1993")
    assert result.rows == [(500,)]
    assert len(source.calls) == 501 - kept
    store.close()


# -- asking ----------------------------------------------------------------------------------------------------------


def test_more_rows_than_wanted_are_cut_off(store: Store) -> None:
    assert store.run("SELECT * FROM range(5)", max_rows=5).cut_off is False
    few = store.run("SELECT * FROM range(1000000000)", max_rows=5)
    assert (len(few.rows), few.cut_off) == (5, True)
    assert store.run("SELECT 1 AS one").columns == ("one",)


def test_a_query_that_takes_too_long_is_stopped(store: Store) -> None:
    started = time.monotonic()
    with pytest.raises(QueryError, match=r"The query took longer than 0\.2 s\."):
        store.run(
            "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range % 7 = b.range % 11",
            timeout=0.2,
        )
    assert time.monotonic() - started < 10
    assert store.run("SELECT 1").rows == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM nothing",
        "SELECT 'x'::INTEGER",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SET threads = 1",
        "COPY (SELECT 1) TO '/tmp/x'",
    ],
)
def test_what_duckdb_refuses_is_a_query_error(store: Store, sql: str) -> None:
    with pytest.raises(QueryError, match="The query failed: "):
        store.run(sql)


def test_threads_may_share_a_store(store: Store) -> None:
    source = world(parallel=2)
    graphs = [graph(source, store=store) for _ in range(4)]
    sql = "SELECT f.title, t.name FROM film f JOIN part t ON t.film_id = f.id WHERE f.year BETWEEN 1990 AND 1999 ORDER BY ALL"
    sql = sql.replace("ALL", "f.title, t.name")
    found: list[Any] = []

    def asked(i: int) -> None:
        for _ in range(5):
            found.append(ask(graphs[i], sql).rows)

    threads = [threading.Thread(target=asked, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 20
    assert all(rows == found[0] for rows in found)
    assert titles(store) == ["Day Boat", "Night Train", "Pan's Café"]
