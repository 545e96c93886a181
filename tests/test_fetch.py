"""Filling: which calls leave, what is kept of them, and what stops them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from small import NOW, World, ask, film, graph, person, stored, world

from kg.errors import BadReply, BudgetExceeded, DeadlineExceeded, SourceError
from kg.fetch import BATCH

MANY = "SELECT count(*) FROM film WHERE year = 1993"


def many(n: int, **options: Any) -> World:
    """A year with `n` films, numbered from 0."""
    return World.of([film(i, f"Film {i}", "1993-01-01") for i in range(n)], [], **options)


def test_a_repeated_question_makes_no_call() -> None:
    source = world()
    g = graph(source)
    sql = "SELECT title FROM film WHERE title = 'Night Train' OR year BETWEEN 1993 AND 1995 OR id IN (14, 99)"
    first, made = ask(g, sql), len(source.calls)
    assert made > 0
    again = ask(g, sql)
    assert len(source.calls) == made
    assert again.rows == first.rows
    assert (again.filled.made, again.filled.covered) == ([], len(first.filled.made) + first.filled.covered)


def test_an_object_that_a_search_brought_is_not_called_for() -> None:
    source = world()
    g = graph(source)
    ask(g, "SELECT title FROM film WHERE title = 'Night Train'")
    ask(g, "SELECT t.role FROM part t WHERE t.film_id IN (10, 13)")
    assert source.calls == [("/films", "Night Train")]


def test_a_limit_poisons_nothing() -> None:
    source = world()
    g = graph(source)
    assert len(ask(g, "SELECT title FROM film WHERE year > 1990 AND year < 1996 LIMIT 1").rows) == 1
    assert ask(g, "SELECT count(*) FROM film WHERE year > 1990 AND year < 1996").rows == [(3,)]


@pytest.mark.parametrize(
    "sql", ["SELECT title FROM film WHERE id IN (1, 2, 3)", "SELECT title FROM film WHERE id BETWEEN 1 AND 3"]
)
def test_the_budget_is_held_before_the_first_call_too_many(sql: str) -> None:
    source = world()
    with pytest.raises(BudgetExceeded) as e:
        ask(graph(source, max_calls=2), sql)
    assert (e.value.needed, e.value.allowed, source.calls) == (3, 2, [])
    assert str(e.value).startswith("This needs 3 calls for film, and 2 are allowed for one question.")


def test_the_budget_counts_all_steps_and_what_was_made_stays() -> None:
    source = many(30)
    g = graph(source, max_calls=30)
    with pytest.raises(BudgetExceeded, match="This needs 31 calls for film, and 30 are allowed"):
        ask(g, MANY)
    assert source.calls == [("/year", "1993")]
    assert ask(g, MANY).rows == [(30,)]


def test_inputs_that_multiply_are_refused_before_they_are_written_out() -> None:
    with pytest.raises(BudgetExceeded, match="This needs 100,000 calls"):
        ask(graph(world(), max_calls=5), "SELECT title FROM film WHERE id BETWEEN 1 AND 100000")


def test_arguments_are_text_where_the_api_wants_it() -> None:
    source = world()
    result = ask(graph(source), "SELECT film_id FROM listed WHERE year = 1993")
    assert source.calls == [("/year", "1993")]
    assert result.filled.made[0].args == (("query", 1993),)


def test_looked_up_values_outside_the_limits_are_a_gap_and_no_call() -> None:
    source = world()
    result = ask(
        graph(source), "SELECT f.title, l.film_id FROM film f JOIN listed l ON l.year = f.year WHERE f.id IN (11, 14)"
    )
    assert [c for c in source.calls if c[0] == "/year"] == [("/year", "1993")]
    assert not result.complete
    assert [str(g) for g in result.gaps] == ["listed: year_info does not reach every value asked for"]


def test_looked_up_values_within_the_limits_are_no_gap() -> None:
    assert ask(
        graph(world()), "SELECT f.title, l.film_id FROM film f JOIN listed l ON l.year = f.year WHERE f.id = 11"
    ).complete


def test_a_clipped_range_is_a_gap() -> None:
    result = ask(graph(world()), "SELECT title FROM film WHERE made >= DATE '1995-01-01'")
    assert (result.rows, result.complete) == ([("Pan's Café",)], False)


# -- searches that are cut off -------------------------------------------------------------------------------------


def crowd(names: list[str]) -> World:
    return World.of([film(i, n) for i, n in enumerate(names)], [])


@pytest.mark.parametrize(
    "names, rows, complete",
    [
        pytest.param(["Up", "Down"], 1, True, id="all came"),
        pytest.param(["Up", "Down", "Left", "Right"], 1, True, id="went on to others: all that match came"),
        pytest.param(["Up", "up!", "UP", "Up"], 3, False, id="all that came match: there may be more"),
        pytest.param(["Down", "Left", "Right", "Round"], 0, False, id="none that came match: nothing is proven"),
        pytest.param(["Down"], 0, True, id="nothing is there"),
    ],
)
def test_a_search_that_was_cut_off(names: list[str], rows: int, complete: bool) -> None:
    result = ask(graph(crowd(names)), "SELECT title FROM film WHERE title = 'Up'")
    assert (len(result.rows), result.complete) == (rows, complete)


def test_a_cut_off_search_is_remembered_as_one() -> None:
    source = crowd(["Up", "up!", "UP", "Up"])
    g = graph(source)
    ask(g, "SELECT title FROM film WHERE title = 'Up'")
    again = ask(g, "SELECT count(*) FROM film WHERE title = 'Up'")
    assert (len(source.calls), again.complete) == (1, False)
    assert str(again.gaps[0]) == """film: the search for {"query":"Up"} was cut off at 3"""


# -- failures --------------------------------------------------------------------------------------------------------


def failing(at: Any, error: Callable[[], BaseException]) -> Any:
    def before(endpoint: str, args: Mapping[str, Any]) -> None:
        if at in args.values():
            raise error()

    return before


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize(
    "error",
    [
        pytest.param(lambda: SourceError("it is down", endpoint="/film", status=503), id="an error"),
        pytest.param(KeyboardInterrupt, id="ctrl-c"),
    ],
)
def test_what_came_before_a_failure_is_kept(parallel: int, error: Callable[[], BaseException]) -> None:
    source = many(40, parallel=parallel)
    source.before = failing(20, error)
    g = graph(source)
    with pytest.raises(type(error())):
        ask(g, MANY)
    kept = stored(g.store, "film", "film")
    answered = len({a for e, a in source.calls if e == "/film"} - {20})
    assert kept == answered >= 20 - parallel
    source.before = lambda endpoint, args: None
    source.calls.clear()
    assert ask(g, MANY).rows == [(40,)]
    assert len(source.calls) == 40 - kept


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_bad_reply_costs_only_itself(parallel: int) -> None:
    source = many(40, parallel=parallel)
    source.odd["/film", 20] = {"id": 20, "title": ["Film"]}
    g = graph(source)
    with pytest.raises(BadReply, match=r"\(at \$\.title\)"):
        ask(g, MANY)
    answered = {a for e, a in source.calls if e == "/film"} - {20}
    assert stored(g.store, "film", "film") == len(answered) >= 20
    assert g.store.run('SELECT count(*) FROM "cinema"."film__film" WHERE id = 20').rows == [(0,)]


def test_replies_of_a_slow_source_are_stored_as_they_come() -> None:
    source = many(4)
    seen: list[int] = []
    g = graph(source)

    def before(endpoint: str, args: Mapping[str, Any]) -> None:
        time.sleep(0.06)
        if endpoint == "/film":
            seen.append(stored(g.store, "film", "film"))

    source.before = before
    ask(g, MANY)
    assert seen == [0, 1, 2, 3]


def test_calls_run_in_parallel_where_the_source_likes_it() -> None:
    together = threading.Barrier(5, timeout=10)

    def before(endpoint: str, args: Mapping[str, Any]) -> None:
        if endpoint == "/film":
            together.wait()

    source = many(20, parallel=5, before=before)
    assert ask(graph(source), MANY).rows == [(20,)]


def test_more_calls_than_one_batch() -> None:
    source = many(BATCH + 10)
    assert ask(graph(source), MANY).rows == [(BATCH + 10,)]


@pytest.mark.parametrize("parallel", [1, 4])
def test_the_deadline_is_for_the_whole_question(parallel: int) -> None:
    def before(endpoint: str, args: Mapping[str, Any]) -> None:
        if args.get("id") in range(50, 50 + parallel):  # by then something has been stored, on a busy machine too
            time.sleep(2)

    source = many(100, parallel=parallel, before=before)
    g = graph(source)
    with pytest.raises(DeadlineExceeded, match="the time for this question is up"):
        ask(g, MANY, seconds=2)
    assert 0 < stored(g.store, "film", "film") < 100


def test_a_call_is_told_how_much_time_is_left() -> None:
    left: list[float] = []

    class Timed(World):
        def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
            left.append(timeout)
            return super().call(endpoint, args, timeout=timeout)

    ask(graph(Timed.of([film(1, "Up")], [])), "SELECT title FROM film WHERE id = 1", seconds=60)
    assert 30 < left[0] <= 60


# -- names from outside ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["O'Brien", "'; DROP TABLE film; --", 'a "quoted" name', "back\\slash", "100%", "naïve_", "two\nlines"]
)
def test_a_name_is_never_more_than_a_name(name: str) -> None:
    source = World.of([film(1, name, parts=[(1, name)])], [person(1, name)])
    g = graph(source)
    quoted = name.replace("'", "''")
    assert ask(g, f"SELECT title FROM film WHERE title = '{quoted}'").rows == [(name,)]
    result = ask(g, f"SELECT x.name FROM film f JOIN person x ON x.name = f.title WHERE f.title = '{quoted}'")
    assert result.rows == [(name,)]
    assert set(source.calls) == {("/films", name), ("/people", name)}
    assert stored(g.store, "film", "film") == 1


def test_moments_are_told_by_the_caller() -> None:
    g = graph(world())
    ask(g, "SELECT title FROM film WHERE id = 10")
    assert [e.fetched for e in g.store.ledger.by_id.values()] == [NOW]
