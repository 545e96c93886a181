"""Answering a file: what is written, what is skipped, and what a stop in the middle leaves."""

from __future__ import annotations

import bz2
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from engine.evaluate import Evaluation, Prediction, Problem, read_questions, summary
from engine.interrupt import ctrl_c
from engine.session import Session
from kg.sources import SAMPLE, CragSource, Name

TITANIC = {
    "interaction_id": "a",
    "query": "who directed titanic?",
    "query_time": "03/10/2024, 23:19:21 PT",
    "domain": "movie",
}
UNKNOWN = {"interaction_id": "b", "query": "zzz qqq xxx?", "domain": "open", "search_results": [{"page": "..."}]}
AVATAR = {"interaction_id": "c", "query": "who directed avatar?", "query_time": "2024-03-10T12:00", "domain": "movie"}


class Stopping:
    """The sample, until Ctrl-C is pressed during a call; `stop` is the number of that call among those about films."""

    name, parallel = "sample", 1

    def __init__(self, stop: int, error: type[BaseException] = KeyboardInterrupt):
        self.sample, self.left, self.error = CragSource(SAMPLE), stop, error

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        self.left -= endpoint.startswith("/movie/")
        if self.left == 0:
            raise self.error
        return self.sample.call(endpoint, args, timeout=timeout)

    def names(self, table: str) -> Iterable[Name]:
        return self.sample.names(table)

    def fingerprint(self) -> str:
        return self.sample.fingerprint()

    def close(self) -> None:
        self.sample.close()


@pytest.fixture
def session() -> Iterator[Session]:
    with Session() as s:
        yield s


def written(path: Path, *questions: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(q) + "\n" for q in questions))
    return path


def predicted(out: Path) -> dict[str, str]:
    return {p["interaction_id"]: p["prediction"] for p in map(json.loads, out.read_text().splitlines())}


def kgq_eval(file: Path, out: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["eval", str(file), "--out", str(out), *options], catch_exceptions=False)


ALL = {"a": "James Cameron", "b": "i don't know", "c": "James Cameron"}
ALL_OF_MOVIE = {"a": "James Cameron", "c": "James Cameron"}


@pytest.mark.parametrize(
    "options, expected",
    [
        pytest.param([], ALL, id="all"),
        pytest.param(["--workers", "3"], ALL, id="several at a time"),
        pytest.param(["--limit", "1"], {"a": "James Cameron"}, id="the first"),
        pytest.param(["--domain", "open"], {"b": "i don't know"}, id="of one domain"),
        pytest.param(["--domain", "movie", "--limit", "2"], {"a": "James Cameron", "c": "James Cameron"}, id="the limit counts what is left"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True], ids=["jsonl", "bz2"])
def test_a_line_comes_out_for_each_question(
    options: list[str], expected: dict[str, str], packed: bool, tmp_path: Path
) -> None:
    file = written(tmp_path / "q.jsonl", TITANIC, UNKNOWN, AVATAR)
    if packed:
        packed_file = tmp_path / "q.jsonl.bz2"
        packed_file.write_bytes(bz2.compress(file.read_bytes()))
        file = packed_file
    out = tmp_path / "p.jsonl"
    result = kgq_eval(file, out, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    assert predicted(out) == expected
    assert result.stdout.startswith(f"{len(expected)} question")


def test_a_line_has_the_fields_a_scorer_reads(tmp_path: Path) -> None:
    out = tmp_path / "p.jsonl"
    kgq_eval(written(tmp_path / "q.jsonl", TITANIC), out)
    line = json.loads(out.read_text())
    assert list(line) == ["interaction_id", "prediction", "source", "program", "seconds"]
    assert line["source"] == "kg"
    assert "get_" in line["program"]
    assert 0 < line["seconds"] < 30


@pytest.mark.parametrize(
    "line, said",
    [
        pytest.param(b"{", "it is not JSON", id="torn"),
        pytest.param(b"[" * 100_000, "it is not JSON", id="nested without end"),
        pytest.param(b"\xff\xfe", "it is not JSON", id="not UTF-8"),
        pytest.param(b"[1]", "it is not an object", id="a list"),
        pytest.param(b'{"query": "who?"}', "it has no interaction_id", id="no id"),
        pytest.param(b'{"interaction_id": 7, "query": "who?"}', "it has no interaction_id", id="an id that is no text"),
        pytest.param(b'{"interaction_id": "x", "query": " "}', "it has no query", id="an empty question"),
        pytest.param(b'{"interaction_id": "x", "query": "who?", "query_time": "soon"}', "'soon' is no time", id="no time"),
        pytest.param(b'{"interaction_id": "x", "query": "who?", "query_time": 5}', "query_time is not a text", id="a number as time"),
        pytest.param(json.dumps(TITANIC).encode(), "interaction_id 'a' was there before", id="an id that was there"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_reported_and_skipped(line: bytes, said: str, tmp_path: Path) -> None:
    file, out = tmp_path / "q.jsonl", tmp_path / "p.jsonl"
    file.write_bytes(json.dumps(TITANIC).encode() + b"\n\n" + line + b"\n" + json.dumps(AVATAR).encode())
    result = kgq_eval(file, out)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"q.jsonl, line 3: {said}")
    assert predicted(out) == ALL_OF_MOVIE


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param("", id="stopped between lines"),
        pytest.param('{"interaction_id": "b", "predi', id="torn"),
        pytest.param("{", id="torn at once"),
        pytest.param('{"interaction_id": "b", "prediction": "x", "source": "kg", "program": "", "seconds": 1}', id="torn before the end of the line"),
    ],
)  # fmt: skip
def test_a_second_run_goes_on_where_the_first_stopped(tail: str, tmp_path: Path) -> None:
    file, out = written(tmp_path / "q.jsonl", TITANIC, UNKNOWN), tmp_path / "p.jsonl"
    kept = '{"interaction_id": "a", "prediction": "from before", "source": "kg", "program": "", "seconds": 1}\n'
    out.write_text(kept + tail)
    result = kgq_eval(file, out)
    assert result.exit_code == 0
    assert predicted(out) == {"a": "from before", "b": "i don't know"}
    assert result.stdout.strip().endswith("(1 from before)")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(json.dumps(TITANIC) + "\n", id="the questions themselves"),
        pytest.param("# Read me", id="one line of something else"),
        pytest.param('{"interaction_id": "a", "prediction": 5, "source": "kg", "program": "", "seconds": 1}\n', id="a prediction that is no text"),
    ],
)  # fmt: skip
def test_a_file_of_something_else_is_not_touched(content: str, tmp_path: Path) -> None:
    file, out = written(tmp_path / "q.jsonl", TITANIC), tmp_path / "precious"
    out.write_text(content)
    result = kgq_eval(file, out)
    assert result.exit_code == 1
    assert "precious:1 is not a prediction" in result.stderr
    assert out.read_text() == content


@pytest.mark.parametrize(
    "name, content, said",
    [
        pytest.param("q.jsonl.bz2", b"not packed", "q.jsonl.bz2 cannot be read", id="not bz2"),
        pytest.param("q.jsonl.bz2", bz2.compress(b"{}" * 10_000)[:-8], "q.jsonl.bz2 cannot be read", id="cut off"),
    ],
)
def test_an_unreadable_file_is_a_sentence(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    result = kgq_eval(tmp_path / name, tmp_path / "p.jsonl")
    assert result.exit_code == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    result = kgq_eval(written(tmp_path / "q.jsonl", TITANIC), tmp_path / "no" / "p.jsonl")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_ctrl_c_leaves_what_was_answered(tmp_path: Path) -> None:
    file, out = written(tmp_path / "q.jsonl", TITANIC, AVATAR), tmp_path / "p.jsonl"
    with Session(source=Stopping(2)) as stopped, Evaluation(stopped, out) as run, pytest.raises(KeyboardInterrupt):
        list(run.run(read_questions(file)))
    assert predicted(out) == {"a": "James Cameron"}
    with Session() as session, Evaluation(session, out) as run:
        assert len(list(run.run(read_questions(file)))) == 1
    assert predicted(out) == ALL_OF_MOVIE


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_stops_the_command_and_says_how_to_go_on(workers: str, tmp_path: Path) -> None:
    file, out = tmp_path / "q.jsonl", tmp_path / "p.jsonl"
    written(file, *({**TITANIC, "interaction_id": str(i)} for i in range(20_000)))
    command = [sys.executable, "-m", "engine.cli", "eval", str(file), "--out", str(out), "--workers", workers]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        limit = time.monotonic() + 30
        while not (out.exists() and out.stat().st_size) and time.monotonic() < limit:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=30)
    assert (running.returncode, stderr) == (130, "Stopped. The same command goes on from here.\n")
    assert 0 < len(predicted(out)) < 20_000
    assert stdout.startswith(f"{len(predicted(out))} question")


def test_ctrl_c_stops_a_query_at_once(session: Session) -> None:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ctrl_c(session.store):
        session.store.run("SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b", timeout=20)
    assert time.monotonic() - started < 5
    assert session.store.run("SELECT 1").rows == [(1,)]


def test_a_bug_costs_one_question_which_is_asked_again_next_time(tmp_path: Path) -> None:
    file, out = written(tmp_path / "q.jsonl", TITANIC, AVATAR), tmp_path / "p.jsonl"
    with Session(source=Stopping(1, ZeroDivisionError)) as session, Evaluation(session, out) as run:
        first, second = run.run(read_questions(file))
    assert isinstance(first, Problem)
    assert str(first).startswith("line 1: a bug of kgq: ZeroDivisionError")
    assert isinstance(second, Prediction)
    assert predicted(out) == {"c": "James Cameron"}


@pytest.mark.parametrize(
    "texts, seconds, said",
    [
        pytest.param([], [], "0 questions: 0 answered, 0 i don't know, 0 invalid question", id="nothing"),
        pytest.param(["x", "i don't know", "invalid question", "y"], [4, 1, 2, 3], "4 questions: 2 answered, 1 i don't know, 1 invalid question; median 2.50 s, p95 4.00 s", id="each kind"),
        pytest.param(["x"] * 100, list(range(1, 101)), "100 questions: 100 answered, 0 i don't know, 0 invalid question; median 50.50 s, p95 95.00 s", id="p95"),
    ],
)  # fmt: skip
def test_the_summary_counts(texts: list[str], seconds: list[float], said: str) -> None:
    assert (
        summary([Prediction(str(i), t, "kg", "", s) for i, (t, s) in enumerate(zip(texts, seconds, strict=True))])
        == said
    )
