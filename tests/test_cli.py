"""The command line, read as a user would: stdout, stderr and the exit code."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from engine.settings import VARIABLES

DIRECTOR = 'get_movie_person_crew("titanic", NONE, eq(job, "Director"))[name]'


def kgq(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, list(args), input=stdin, catch_exceptions=False)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A data directory with a film whose title is neither plain text nor polite."""
    movie = {
        "id": 1,
        "title": "[red]Od\x1b[31md\u202e\x07[/red]",
        "release_date": "1999-01-02",
        "revenue": 5,
        "rating": 7.5,
    }
    (tmp_path / "movie").mkdir()
    files: dict[str, Any] = {"movie_db": {"odd": movie}, "person_db": {}, "year_db": {"1999": {"movie_list": [1]}}}
    for name, data in files.items():
        (tmp_path / "movie" / f"{name}.json").write_text(json.dumps(data))
    return tmp_path


@pytest.mark.parametrize(
    "args, stdout, stderr",
    [
        pytest.param(["ask", "who directed titanic?"], r"James Cameron\n", r"", id="the answer alone"),
        pytest.param(["ask", "who", "directed", "titanic?"], r"James Cameron\n", r"", id="a question without quotes"),
        pytest.param(["ask", "--", "who directed titanic?"], r"James Cameron\n", r"", id="after a double dash"),
        pytest.param(["ask", "--domain", "movie", "who directed titanic?"], r"James Cameron\n", r"", id="domain"),
        pytest.param(["ask", "--query-time", "03/10/2024, 23:19:21 PT", "who directed titanic?"], r"James Cameron\n", r"", id="CRAG's time"),
        pytest.param(["ask", "--why", "who directed titanic?"], r"(?s)James Cameron\n.*sql +SELECT.*get_movie_info.*", r"", id="why"),
        pytest.param(["ask", "zzz qqq xxx?"], r"i don't know\n", r"\w+: .+\n", id="not known: the reason is not an answer"),
        pytest.param(["ask", ""], r"i don't know\n", r".+ empty\n", id="an empty question"),
        pytest.param(["sql", DIRECTOR], r"name *\n─+\nJames Cameron *\n", r"", id="calls"),
        pytest.param(["sql", "SELECT COUNT(*) AS n FROM movie WHERE id = 597"], r"n *\n─+\n1 *\n", r"", id="SQL"),
        pytest.param(["sql", "--csv", "SELECT title, budget, NULL AS x FROM movie WHERE id = 597"], r"title,budget,x\nTitanic,200000000,\n", r"", id="CSV"),
        pytest.param(["sql", "SELECT title FROM movie WHERE id = 0"], r"title *\n─+\n", r"", id="no rows"),
        pytest.param(["sql", "--csv", "--max-rows", "2", "SELECT title FROM movie WHERE release_year = 1997"], r"title\n.+\n.+\n", r"Only the first 2 rows came; --max-rows N shows more.\n", id="cut off"),
        pytest.param(["sql", "--csv", "SELECT COUNT(*) > 9 AS n FROM movie WHERE release_year > 2000"], r"n\nTrue\n", r"The result may be incomplete. .+\n", id="years the API does not have"),
        pytest.param(["explain", DIRECTOR], r"(?s)SELECT\n.*\n\nget_.*\n\n1\. .*\nTo make: .*calls?\.\n", r"", id="explain"),
        pytest.param(["schema"], r"(?s)finance: .*\ncompany .*\n\nmovie: Films.*\nperson .*\ndirected .*\n\nsports: .*", r"", id="tables"),
        pytest.param(["schema", "--domain", "movie"], r"movie: Films.*\n\ntable +about(?s:.*)\ndirected .*(?s:.*)", r"", id="tables of one domain"),
        pytest.param(["schema", "--grammar", "--domain", "movie"], r"(?s).*::=.*", r"", id="the grammar of a domain"),
        pytest.param(["schema", "crew"], r"(?s)crew: .*\njob +TEXT.*looked up by\n  movie_id: POST /movie/.*\n  person_id: through .*", r"", id="columns"),
        pytest.param(["schema", "movie"], r"(?s).*budget +BIGINT +USD .*title: POST /movie/get_movie_info \(search, at most 10\)\n.*", r"", id="units and searches"),
        pytest.param(["--version"], r"kgq \d+\.\d+\.\d+\n", r"", id="version"),
        pytest.param([], r"(?s)Usage: .*ask .*repl .*", r"", id="help without a command"),
    ],
)  # fmt: skip
def test_what_is_printed(args: list[str], stdout: str, stderr: str) -> None:
    result = kgq(*args)
    assert result.exit_code == 0
    assert re.fullmatch(stdout, result.stdout), result.stdout
    assert re.fullmatch(stderr, result.stderr), result.stderr


@pytest.mark.parametrize(
    "args, code, said",
    [
        pytest.param(["sql", "SELECT nme FROM movie WHERE id = 1"], 1, "nme", id="an unknown column"),
        pytest.param(["sql", "DROP TABLE movie"], 1, "DROP is not allowed", id="a program that writes"),
        pytest.param(["sql", "SELECT title FROM movie"], 1, "can only be looked up by", id="a missing input"),
        pytest.param(["sql", "get_movie("], 1, ".", id="half a program"),
        pytest.param(["sql", ""], 1, "empty", id="no program"),
        pytest.param(["explain", "get_film(1)"], 1, "get_film", id="explain takes only programs"),
        pytest.param(["schema", "film"], 1, "There is no table 'film'", id="an unknown table"),
        pytest.param(["schema", "--domain", "opera"], 1, "There is no domain 'opera'", id="an unknown domain"),
        pytest.param(["ask", "--domain", "opera", "who?"], 1, "There is no domain 'opera'", id="ask about an unknown domain"),
        pytest.param(["ask", "--query-time", "soon", "who?"], 1, "'soon' is no time", id="an unreadable time"),
        pytest.param(["--server", "nonsense", "sql", DIRECTOR], 1, "nonsense", id="an address that is none"),
        pytest.param(["--base", "/nowhere/at/all", "serve-api"], 1, "There is no directory", id="a directory that is not there"),
        pytest.param(["schema", "--grammar"], 1, "Give --domain: finance, movie,", id="a grammar of no domain"),
        pytest.param(["sql", "SELECT movie.title FROM movie JOIN company ON true"], 1, "these are of several: movie (movie), company (finance)", id="tables of two domains"),
        pytest.param(["sql", "--json", "--csv", "x"], 2, "not both", id="two formats"),
        pytest.param(["--base", "x", "--server", "y", "settings"], 2, "not both", id="two sources"),
        pytest.param(["sql", "--max-rows", "0", "x"], 2, "max-rows", id="no rows wanted"),
        pytest.param(["eval", "nothing.jsonl", "--out", "x"], 2, "nothing.jsonl", id="a file that is not there"),
    ],
)  # fmt: skip
def test_a_mistake_is_a_sentence_on_stderr(args: list[str], code: int, said: str) -> None:
    result = kgq(*args)
    assert result.exit_code == code
    assert result.stdout == ""
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    if code == 1:
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "args, said",
    [
        pytest.param({"KGQ_SECONDS": "soon"}, "KGQ_SECONDS must be a number", id="not a number"),
        pytest.param({"KGQ_ENCODER": "maybe"}, "KGQ_ENCODER must be yes or no", id="not yes or no"),
    ],
)
def test_a_bad_setting_names_its_variable(args: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in args.items():
        monkeypatch.setenv(name, value)
    result = kgq("ask", "who directed titanic?")
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr


def test_a_program_can_come_from_stdin() -> None:
    result = kgq("sql", "--csv", "-", stdin='get_movie(\n"titanic"\n)[title]\n')
    assert result.stdout == "title\nTitanic\n"


def test_json_of_an_answer_has_everything_it_rests_on() -> None:
    answer = json.loads(kgq("ask", "--json", "who directed titanic?").stdout)
    assert (answer["text"], answer["source"], answer["rows"], answer["reason"]) == (
        "James Cameron",
        "kg",
        [["James Cameron"]],
        "",
    )
    assert answer["evidence"][0][0]["endpoint"].startswith("POST /movie/")
    assert "SELECT" in answer["sql"]


def test_json_of_rows_says_whether_they_are_all() -> None:
    found = json.loads(kgq("sql", "--json", "SELECT release_date, rating, NULL AS x FROM movie WHERE id = 597").stdout)
    assert found["columns"] == ["release_date", "rating", "x"]
    assert found["rows"] == [["1997-12-19", 7.9, None]]
    assert (found["complete"], found["cut_off"], found["gaps"]) == (True, False, [])


@pytest.mark.parametrize("options", [[], ["--csv"], ["--json"]], ids=["table", "csv", "json"])
def test_what_an_api_says_is_neither_markup_nor_steers_the_terminal(options: list[str], odd: Path) -> None:
    result = kgq("--base", str(odd), "sql", *options, 'SELECT title, title AS "[b]x\x1b[2J" FROM movie WHERE id = 1')
    assert result.exit_code == 0
    assert "[red]Od" in result.stdout
    assert "[/red]" in result.stdout
    assert "[b]x" in result.stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", result.stdout)


def test_options_win_over_the_environment(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_SERVER", "http://127.0.0.1:9")
    monkeypatch.setenv("KG_BASE_DIRECTORY", "/nowhere")
    result = kgq("--base", str(odd), "sql", "--csv", "SELECT rating FROM movie WHERE id = 1")
    assert (result.stdout, result.stderr) == ("rating\n7.5\n", "")


def test_settings_are_all_listed_with_their_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQ_SECONDS", "7")
    shown = kgq("--server", "http://localhost:1", "settings").stdout
    for variable in VARIABLES.values():
        assert variable in shown
    assert re.search(r"KGQ_SECONDS +7", shown)
    assert re.search(r"CRAG_SERVER +http://localhost:1 ", shown)
    assert re.search(r"KG_BASE_DIRECTORY +not set", shown)


def test_a_store_is_kept_between_commands(tmp_path: Path) -> None:
    program = ["--store", str(tmp_path / "kept.duckdb"), "sql", "--json", DIRECTOR]
    first, second = (json.loads(kgq(*program).stdout) for _ in range(2))
    assert first["calls"] > 0
    assert (second["calls"], second["rows"]) == (0, first["rows"])


def test_a_store_in_use_is_said_and_the_answer_comes_all_the_same(tmp_path: Path) -> None:
    store = tmp_path / "busy.duckdb"
    hold = f"import duckdb, sys; c = duckdb.connect({str(store)!r}); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        result = kgq("--store", str(store), "ask", "who directed titanic?")
    assert result.stdout == "James Cameron\n"
    assert result.stderr == "The store busy.duckdb is in use by another process; this one works in memory.\n"


def test_a_question_from_the_shell_is_answered_at_once_and_without_torch(home: Path) -> None:
    code = (
        "import sys; from engine.cli import main; sys.argv = ['kgq', 'ask', 'who directed titanic?']\n"
        "try: main()\n"
        "finally: print(*sorted({'torch', 'sentence_transformers', 'prompt_toolkit', 'fastapi'} & set(sys.modules)))"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    seconds = time.monotonic() - started
    assert (done.returncode, done.stdout, done.stderr) == (0, "James Cameron\n\n", "")
    assert seconds < 5  # measured: 0.8 s, most of it imports


def test_an_ascii_terminal_does_not_end_a_program() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "engine.cli", "sql", "SELECT 'Amélie' AS title FROM movie WHERE id = 597"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Am?lie" in done.stdout


def test_the_sample_is_served_as_an_api() -> None:
    pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "engine.cli", "serve-api", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            reply = _when_up(f"http://127.0.0.1:{port}/movie/get_movie_info_by_id", {"query": 597})
        finally:
            server.terminate()
    assert reply["result"]["title"] == "Titanic"


def _when_up(url: str, body: dict[str, Any]) -> Any:
    limit = time.monotonic() + 20
    while True:
        try:
            return httpx.post(url, json=body, timeout=5).json()
        except httpx.ConnectError:
            assert time.monotonic() < limit, "the server did not start"
            time.sleep(0.1)
