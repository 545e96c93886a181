"""The REPL: what a line shows, what goes on in the next line, what Tab offers, and that nothing ends the loop."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from engine.repl import COMMANDS, Repl, goes_on, is_program
from engine.session import Session
from engine.settings import Settings
from engine.terminal import Completions, run
from kg.sources import SAMPLE, CragSource, Name

QUESTION = "who directed titanic?"
CALLS = 'get_movie("titanic")[title, revenue]'


class Failing:
    """The sample, whose next call fails with `error`, once."""

    name, parallel = "sample", 1

    def __init__(self) -> None:
        self.sample = CragSource(SAMPLE)
        self.error: list[BaseException] = []

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        if self.error:
            raise self.error.pop()
        return self.sample.call(endpoint, args, timeout=timeout)

    def names(self, table: str) -> Iterable[Name]:
        return self.sample.names(table)

    def fingerprint(self) -> str:
        return self.sample.fingerprint()

    def close(self) -> None:
        self.sample.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(Settings(cache=tmp_path_factory.mktemp("cache"))) as session:
        yield session


def told(repl: Repl, *lines: str) -> str:
    """What `repl` shows after `lines`, all of which it goes on from."""
    for line in lines:
        assert repl.handle(line)
    assert isinstance(repl.console.file, io.StringIO)
    return repl.console.file.getvalue()


@pytest.fixture
def repl(shared: Session) -> Iterator[Repl]:
    before = shared.settings
    yield Repl(shared, Console(file=io.StringIO(), width=160))
    shared.settings = before


@pytest.mark.parametrize(
    "lines, shown",
    [
        pytest.param([QUESTION], r"^James Cameron\n.*get_.*\nSELECT .*\n\d+ calls?, \d\.\d\d s\n$", id="a question: answer, program, SQL, calls, time"),
        pytest.param(["zzz qqq xxx?"], r"^i don't know\n\w+: .*\n0 calls", id="not known: the reason"),
        pytest.param([CALLS], r"^title +revenue\n─+\nTitanic +\d{10}\n1 row\n\d+ calls?, ", id="calls"),
        pytest.param(["select title from movie where id = 597;"], r"Titanic", id="SQL with a semicolon"),
        pytest.param(['get_movie("titanic")[', "title]"], r"^title *\n─+\nTitanic", id="an open bracket goes on"),
        pytest.param(["SELECT title FROM movie \\", "WHERE id = 597"], r"Titanic", id="a backslash goes on"),
        pytest.param(['\\sql get_movie("titanic")[', "title]"], r"^SELECT\n +movie.title", id="the program of a command goes on"),
        pytest.param(['get_movie("titanic"', ""], r"^(?!.*Traceback).+\n$", id="an empty line ends it"),
        pytest.param(["SELECT COUNT(*) > 9 AS n FROM movie WHERE release_year > 2000"], r"The result may be incomplete\.", id="incomplete"),
        pytest.param(["\\set rows 1", "SELECT title FROM movie WHERE release_year = 1997"], r"1 row\nOnly the first 1 row came; .set rows N shows more\.", id="cut off"),
        pytest.param(["\\set timing off", CALLS], r"1 row\n$", id="timing off"),
        pytest.param([CALLS, "\\sql"], r"\nSELECT\n  movie.title", id="SQL of the last program"),
        pytest.param([QUESTION, "\\sql"], r"\nSELECT DISTINCT\n  crew.name|\nSELECT\n  crew.name", id="SQL of the last answer"),
        pytest.param(["\\sql " + CALLS], r"^SELECT\n  movie.title,\n  movie.revenue\n(.+\n)*\nget_movie\(", id="SQL of a program"),
        pytest.param(["\\plan " + CALLS], r"^1\. movie <- POST /movie/get_movie_info .*\nTo make: \d calls?\.\n$", id="plan"),
        pytest.param([QUESTION, "\\why"], r"asked .*\nprogram .*\nsql .*\nrow +James Cameron\n +from POST /movie/", id="why an answer"),
        pytest.param([CALLS, "\\why"], r"\nTitanic \| \d+\n    from movie_\w+\(query=.*\)\n$", id="why a row"),
        pytest.param([QUESTION, "\\rows"], r"James Cameron *\n1 of 1 row\n$", id="rows of an answer"),
        pytest.param(["SELECT title FROM movie WHERE release_year = 1997", "\\rows 2"], r"\n2 of \d+ rows\n$", id="some rows of a program"),
        pytest.param(["\\schema"], r"(?s)^finance\n.*company .*\nmovie\n.*movie .*person .*directed .*\nsports\n", id="tables"),
        pytest.param(["\\d crew"], r"(?s)job +TEXT.*looked up by\n  movie_id: ", id="columns"),
        pytest.param(["\\domain"], r"(?s)^\* finance: .*\n\* movie: .*\n\* sports: ", id="domains"),
        pytest.param(["\\domain movie", "\\domain"], r"(?s)^  finance: .*\n\* movie: .*\n  sports: ", id="change domain"),
        pytest.param(["\\domain movie", "\\domain all", "\\domain"], r"(?s)^\* finance: .*\n\* movie: ", id="all domains again"),
        pytest.param(["\\domain finance", QUESTION], r"^i don't know\n", id="only the domain that was chosen answers"),
        pytest.param(["\\domain movie", "\\schema"], r"^movie\ntable +about.*\n", id="the tables of the domain that was chosen"),
        pytest.param(["\\d company"], r"(?s)^One row per listed company.*looked up by\n", id="columns of a table of another domain"),
        pytest.param(["SELECT market_cap FROM company WHERE ticker = 'AAPL'", "\\why"], r"\n    from ", id="a program in the domain of its tables"),
        pytest.param(["\\set query_time 03/10/2024, 23:19:21 PT", "\\set query_time"], r"^2024-03-10T23:19:21-07:00\n$", id="query time"),
        pytest.param(["\\set query_time 2024-03-10", "\\set query_time now", "\\set query_time"], r"^now\n$", id="query time again now"),
        pytest.param(["\\set seconds 5", "\\set"], r"seconds +5\.0 ", id="a setting of the session"),
        pytest.param(["\\help"], r"\\sql \[program\]", id="help"),
        pytest.param(["help"], r"\\sql \[program\]", id="help without a backslash"),
        pytest.param(["", "   "], r"^$", id="nothing"),
    ],
)  # fmt: skip
def test_what_a_line_shows(lines: list[str], shown: str, repl: Repl) -> None:
    text = told(repl, *lines)
    assert re.search(shown, text), text


@pytest.mark.parametrize(
    "line, said",
    [
        pytest.param("SELECT nme FROM movie WHERE id = 1", "nme", id="an unknown column"),
        pytest.param("get_film('x')", "get_film", id="an unknown call"),
        pytest.param("SELECT x FROM movies", "There is no table 'movies'. Did you mean movie?", id="a table no domain has"),
        pytest.param("SELECT title FROM movie", "can only be looked up by", id="a missing input"),
        pytest.param("\\foo", "There is no command \\foo.", id="an unknown command"),
        pytest.param("\\d", "Say which table. \\schema lists them.", id="no table"),
        pytest.param("\\d film", "There is no table 'film'.", id="an unknown table"),
        pytest.param("\\domain opera", "There is no domain 'opera'.", id="an unknown domain"),
        pytest.param("\\sql", "There is no program yet.", id="no program yet"),
        pytest.param("\\why", "There is no answer yet.", id="no answer yet"),
        pytest.param("\\rows", "There is no answer yet.", id="no rows yet"),
        pytest.param("\\set colour red", "There is no setting 'colour' here.", id="an unknown setting"),
        pytest.param("\\set seconds soon", "seconds takes a number, not 'soon'.", id="not a number"),
        pytest.param("\\set seconds -1", "seconds must not be negative", id="negative"),
        pytest.param("\\set seconds nan", "seconds must not be negative or endless", id="not a finite number"),
        pytest.param("\\set timing maybe", "timing is on or off", id="neither on nor off"),
        pytest.param("\\set query_time soon", "'soon' is no time", id="an unreadable time"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(line: str, said: str, repl: Repl) -> None:
    text = told(repl, line)
    assert said in text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("line", ["\\q", "exit", "quit"])
def test_only_leaving_ends_the_loop(line: str, repl: Repl) -> None:
    assert not repl.handle(line)


@pytest.mark.parametrize(
    "text, program",
    [
        pytest.param("SELECT 1", True, id="select"),
        pytest.param("  (select 1) UNION (select 2)", True, id="in brackets"),
        pytest.param("WITH a AS (SELECT 1) SELECT * FROM a", True, id="with"),
        pytest.param("from movie select title", True, id="from first"),
        pytest.param('ALL get_movie("x")', True, id="all"),
        pytest.param("get_movie_person_cast (1)", True, id="a call"),
        pytest.param("sort(NONE, -year)", True, id="sort"),
        pytest.param('avg(get_movie("x")[revenue])', True, id="a function"),
        pytest.param("with whom did al pacino play in heat?", False, id="a question that starts with with"),
        pytest.param("from which country is amelie?", False, id="a question that starts with from"),
        pytest.param("all movies of kurosawa", False, id="a question that starts with all"),
        pytest.param("sort the movies of kurosawa", False, id="a question that starts with sort"),
        pytest.param("get me a movie", False, id="a question that starts with get"),
        pytest.param("min or max: which was first?", False, id="a question that starts with min"),
    ],
)
def test_a_program_is_told_from_a_question(text: str, program: bool) -> None:
    assert is_program(text) is program


@pytest.mark.parametrize(
    "text, more",
    [
        pytest.param("get_movie(", True, id="open"),
        pytest.param("get_movie('x')[title", True, id="an open bracket"),
        pytest.param("get_movie('(')", False, id="a bracket in a text"),
        pytest.param('get_movie("it""s (")', False, id="a bracket behind a doubled quote"),
        pytest.param("get_movie('x') \\ ", True, id="a backslash"),
        pytest.param("get_movie('x'))", False, id="one too many"),
    ],
)
def test_an_unfinished_program_goes_on(text: str, more: bool) -> None:
    assert goes_on(text) is more


def test_a_question_with_an_open_bracket_does_not_go_on(repl: Repl) -> None:
    assert told(repl, "who directed titanic (1997")
    assert repl.pending == []


def test_a_cancelled_line_is_forgotten(repl: Repl) -> None:
    repl.handle("get_movie(")
    repl.cancel()
    assert "Titanic" in told(repl, CALLS)


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[tuple[Failing, Repl]]:
    source = Failing()
    settings = Settings(cache=tmp_path / "cache", store=tmp_path / "store.duckdb")
    with Session(settings, source=source) as session:
        yield source, Repl(session, Console(file=io.StringIO(), width=160))


@pytest.mark.parametrize("line", [QUESTION, CALLS], ids=["question", "program"])
def test_ctrl_c_cancels_what_runs_and_leaves_the_store_intact(line: str, failing: tuple[Failing, Repl]) -> None:
    source, repl = failing
    source.error = [KeyboardInterrupt()]
    assert told(repl, line) == "Cancelled.\n"
    assert re.search(r"James Cameron|Titanic", told(repl, line))
    told(repl, "\\set timing on", line)
    assert "0 calls" in told(repl, line)


@pytest.mark.parametrize(
    "lines, shown, hidden",
    [
        pytest.param([CALLS], ["ZeroDivisionError: seven", "bug of kgq", "\\set traceback on"], "Traceback", id="a sentence"),
        pytest.param(["\\set traceback on", CALLS], ["Traceback", "ZeroDivisionError: seven"], "traceback on shows", id="with a traceback if wanted"),
    ],
)  # fmt: skip
def test_a_bug_does_not_end_the_loop(
    lines: list[str], shown: list[str], hidden: str, failing: tuple[Failing, Repl]
) -> None:
    source, repl = failing
    source.error = [ZeroDivisionError("seven")]
    text = told(repl, *lines)
    assert all(s in text for s in shown)
    assert hidden not in text
    assert "Titanic" in told(repl, CALLS)


def test_a_greeting_says_that_the_store_is_in_use(tmp_path: Path) -> None:
    store = tmp_path / "busy.duckdb"
    hold = f"import duckdb, sys; c = duckdb.connect({str(store)!r}); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with Session(Settings(cache=tmp_path, store=store)) as session:
            repl = Repl(session, Console(file=io.StringIO(), width=160))
            repl.greet()
            assert "The store busy.duckdb is in use by another process" in told(repl, CALLS)


# -- the terminal --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, offered",
    [
        pytest.param("\\s", {"\\sql": "\\sql", "\\set": "\\set"}, id="commands"),
        pytest.param("\\d cre", {"crew": "\\d crew"}, id="tables"),
        pytest.param("\\domain m", {"movie": "\\domain movie", "music": "\\domain music"}, id="domains"),
        pytest.param("\\domain a", {"all": "\\domain all"}, id="all domains"),
        pytest.param("\\d comp", {"company": "\\d company"}, id="tables of another domain"),
        pytest.param("SELECT tick", {"ticker": "SELECT ticker"}, id="columns of another domain"),
        pytest.param("what is the price of appl", {"Apple Inc.": "what is the price of Apple Inc."}, id="a name of another domain"),
        pytest.param("\\set query", {"query_time": "\\set query_time"}, id="settings"),
        pytest.param("SELECT tit", {"title": "SELECT title"}, id="columns"),
        pytest.param("SELECT movie.rev", {"revenue": "SELECT movie.revenue"}, id="columns of a table"),
        pytest.param("SELECT title FROM mov", {"movie": "SELECT title FROM movie"}, id="tables in a program"),
        pytest.param("get_mov", {"get_movie(": "get_movie("}, id="calls"),
        pytest.param('get_movie("titan', {"Titanic": 'get_movie("Titanic"'}, id="names within quotes"),
        pytest.param("SELECT id FROM movie WHERE title = 'schindler", {"Schindler's List": "SELECT id FROM movie WHERE title = 'Schindler''s List'"}, id="a quote in a name is doubled"),
        pytest.param("\\sql get_movie('titan", {"Titanic": "\\sql get_movie('Titanic'"}, id="the program of a command"),
        pytest.param("who directed titan", {"Titanic": "who directed Titanic"}, id="a name in a question"),
        pytest.param("who is james came", {"James Cameron": "who is James Cameron"}, id="a name of two words"),
    ],
)  # fmt: skip
def test_tab_offers_what_fits(text: str, offered: dict[str, str], repl: Repl) -> None:
    found = {}
    for c in Completions(repl).get_completions(Document(text), CompleteEvent()):
        found[c.display_text] = text[: len(text) + c.start_position] + c.text
    assert offered.items() <= found.items()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing typed"),
        pytest.param("who directed t", id="one letter"),
        pytest.param("SELECT film.t", id="no such table"),
        pytest.param("SELECT title ", id="behind a space"),
        pytest.param("\\foo x", id="an unknown command"),
        pytest.param("zzzz qqqq", id="no such name"),
    ],
)
def test_tab_offers_nothing_where_nothing_fits(text: str, repl: Repl) -> None:
    assert list(Completions(repl).get_completions(Document(text), CompleteEvent())) == []


@pytest.mark.parametrize(
    "keys, shown",
    [
        pytest.param(f"{QUESTION}\n\\q\n", "James Cameron", id="a question, then leave"),
        pytest.param(f"{CALLS}\n\x04", "Titanic", id="Ctrl-D leaves"),
        pytest.param(f"get_movie(\n\x03{CALLS}\n\x04", "Titanic", id="Ctrl-C clears the line and the program"),
        pytest.param('get_movie(\n"titanic"\n)[title]\n\x04', "Titanic", id="over several lines"),
    ],
)
def test_the_loop_reads_from_a_terminal(keys: str, shown: str, shared: Session) -> None:
    out = io.StringIO()
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(keys)
        run(shared, console=Console(file=out, width=160))
    assert shown in out.getvalue()
    assert keys.split("\n")[0] in (shared.settings.cache / "history").read_text()


def test_lines_from_a_pipe_need_no_terminal() -> None:
    command = [sys.executable, "-m", "engine.cli", "repl"]
    done = subprocess.run(command, input=f"{CALLS}\n\\why\n", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "from movie_search(query='titanic')" in done.stdout


def test_a_home_that_cannot_be_written_is_no_obstacle(shared: Session, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    before, shared.settings = shared.settings, replace(shared.settings, cache=tmp_path / "file" / "cache")
    try:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text(f"{CALLS}\n\x04")
            out = io.StringIO()
            run(shared, console=Console(file=out, width=160))
        assert "Titanic" in out.getvalue()
    finally:
        shared.settings = before


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_the_help_exists(command: str, repl: Repl) -> None:
    repl.handle(command)
    assert isinstance(repl.console.file, io.StringIO)
    assert "There is no command" not in repl.console.file.getvalue()
