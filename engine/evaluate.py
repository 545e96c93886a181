"""Answering a file of questions in CRAG's format, so that a run can be killed at any moment and taken up again.

Predictions are appended a line at a time, each written at once. A run that starts over an existing file goes on
where it stopped. What is not a question is reported by its line number and skipped, never guessed at.
"""

from __future__ import annotations

import bz2
import datetime as dt
import json
import os
import statistics
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from kg.errors import KgError

from .answers import IDK, INVALID
from .clock import ClockError, moment_of
from .interrupt import ctrl_c
from .session import Session


class EvaluationError(KgError):
    """A file of questions or predictions cannot be used."""


@dataclass(frozen=True)
class Question:
    """A question of the file; `line` counts from 1. The domain is the file's word, not shown to the session."""

    line: int
    id: str
    query: str
    query_time: dt.datetime | None
    domain: str


@dataclass(frozen=True)
class Problem:
    """A line that was skipped, or a question that could not be answered, and why."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True)
class Prediction:
    """A line of the file that comes out."""

    interaction_id: str
    prediction: str
    source: str
    program: str
    seconds: float


def read_questions(path: Path) -> Iterator[Question | Problem]:
    """Yield the questions of a .jsonl or .jsonl.bz2 file, a Problem for a line that is none. Skips blank lines.

    Raises EvaluationError if the file cannot be read.
    """
    seen: set[str] = set()
    try:
        with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                found = _question(number, line)
                if isinstance(found, Question):
                    if found.id in seen:
                        found = Problem(number, f"interaction_id '{found.id}' was there before.")
                    else:
                        seen.add(found.id)
                yield found
    except (OSError, EOFError) as e:
        raise EvaluationError(f"{path.name} cannot be read: {e}.") from e


def _question(number: int, line: bytes) -> Question | Problem:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return Problem(number, "it is not JSON.")
    if not isinstance(data, dict):
        return Problem(number, "it is not an object.")
    for name in ("interaction_id", "query"):
        if not isinstance(data.get(name), str) or not data[name].strip():
            return Problem(number, f"it has no {name}.")
    asked = data.get("query_time")
    if asked is not None and not isinstance(asked, str):
        return Problem(number, "query_time is not a text.")
    try:
        moment = moment_of(asked) if asked is not None else None
    except ClockError as e:
        return Problem(number, str(e))
    domain = data.get("domain")
    return Question(number, data["interaction_id"], data["query"], moment, domain if isinstance(domain, str) else "")


class Evaluation:
    """Answers questions into the file `out`; `predictions` are all it holds, from before and from now.

    Raises EvaluationError if `out` cannot be written, or holds something else than predictions. `kept` is how many
    were there before.
    """

    def __init__(self, session: Session, out: Path):
        self.session = session
        self.predictions = _resumed(out)
        self.kept = len(self.predictions)
        try:
            # unbuffered: a prediction reaches the file in one write, or not at all
            self._file = out.open("ab", buffering=0)
        except OSError as e:
            raise EvaluationError(f"{out} cannot be written: {e.strerror}.") from e

    def __enter__(self) -> Evaluation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def run(
        self, questions: Iterable[Question | Problem], *, domain: str = "", limit: int | None = None, workers: int = 1
    ) -> Iterator[Prediction | Problem]:
        """Answer the first `limit` questions (those of `domain`, if given) that are not answered yet.

        Yields each prediction when it has been written, and each problem. With one worker predictions are in the
        questions' order.
        """
        problems: deque[Problem] = deque()
        todo = self._todo(questions, domain, limit, problems)
        for found in self._asked(todo, workers):
            while problems:
                yield problems.popleft()
            if isinstance(found, Prediction):
                self._write(found)
            yield found
        yield from problems

    def _todo(
        self, questions: Iterable[Question | Problem], domain: str, limit: int | None, problems: deque[Problem]
    ) -> Iterator[Question]:
        done = {p.interaction_id for p in self.predictions}
        taken = 0
        for q in questions:
            if isinstance(q, Problem):
                problems.append(q)
                continue
            if domain and q.domain != domain:
                continue
            if limit is not None and taken >= limit:
                return
            taken += 1
            if q.id not in done:
                yield q

    def _asked(self, todo: Iterator[Question], workers: int) -> Iterator[Prediction | Problem]:
        if workers == 1:  # in this thread, so that Ctrl-C stops a question that is under way
            yield from map(self._ask, todo)
            return
        running: set[Future[Prediction | Problem]] = set()
        pool = ThreadPoolExecutor(workers)
        try:
            for q in todo:
                running.add(pool.submit(self._ask, q))
                if len(running) > workers:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (f.result() for f in done)
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (f.result() for f in done)
        finally:
            pool.shutdown(cancel_futures=True)

    def _ask(self, q: Question) -> Prediction | Problem:
        started = time.perf_counter()
        try:
            with ctrl_c(self.session.store):
                answer = self.session.answer(q.query, query_time=q.query_time)
        except KgError as e:
            return Problem(q.line, str(e))
        except Exception as e:  # noqa: BLE001 - one question's bug must not cost the thousands after it
            return Problem(q.line, f"a bug of kgq: {type(e).__name__}: {e}")
        return Prediction(q.id, answer.text, answer.source, answer.program, round(time.perf_counter() - started, 4))

    def _write(self, p: Prediction) -> None:
        # ASCII escapes also carry the halves of surrogate pairs that real files contain
        self._file.write(json.dumps(asdict(p)).encode("ascii") + b"\n")
        self.predictions.append(p)


def summary(predictions: list[Prediction]) -> str:
    """Return how many questions were answered how, and how long one took.

    >>> summary([Prediction("1", "i don't know", "none", "", 0.5), Prediction("2", "James Cameron", "kg", "", 0.1)])
    "2 questions: 1 answered, 1 i don't know, 0 invalid question; median 0.30 s, p95 0.50 s"
    """
    unknown = sum(p.prediction == IDK for p in predictions)
    invalid = sum(p.prediction == INVALID for p in predictions)
    counts = f"{len(predictions) - unknown - invalid} answered, {unknown} {IDK}, {invalid} {INVALID}"
    text = f"{len(predictions)} question{'s' * (len(predictions) != 1)}: {counts}"
    if predictions:
        seconds = sorted(p.seconds for p in predictions)
        p95 = seconds[-(-len(seconds) * 95 // 100) - 1]  # nearest rank
        text += f"; median {statistics.median(seconds):.2f} s, p95 {p95:.2f} s"
    return text


def _resumed(out: Path) -> list[Prediction]:
    """The predictions in `out`. A torn last line is cut off; a file that holds anything else is left as it is."""
    try:
        data = out.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as e:
        raise EvaluationError(f"{out} cannot be read: {e.strerror}.") from e
    *whole, last = data.split(b"\n")
    found = []
    for number, line in enumerate(whole, 1):
        if not line.strip():
            continue
        prediction = _prediction(line)
        if prediction is None:
            raise EvaluationError(f"{out}:{number} is not a prediction. Give another file, or remove this one.")
        found.append(prediction)
    if last:
        start = b'{"interaction_id"'
        if not last.startswith(start[: len(last)]):
            raise EvaluationError(f"{out}:{len(whole) + 1} is not a prediction. Give another file, or remove this one.")
        os.truncate(out, len(data) - len(last))
    return found


def _prediction(line: bytes) -> Prediction | None:
    kinds: dict[str, type | tuple[type, ...]] = {
        "interaction_id": str,
        "prediction": str,
        "source": str,
        "program": str,
        "seconds": (int, float),
    }
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not all(isinstance(data.get(k), kind) for k, kind in kinds.items()):
        return None
    return Prediction(**{k: data[k] for k in kinds})
