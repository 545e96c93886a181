"""How many of MetaQA's questions are answered, without training and without being told what they are about.

    python -m benchmarks.metaqa --data ../shared/bench/metaqa

DIR has `metaqa.duckdb` and `questions_dev.jsonl` (one object a line: question, gold, hop). The domain is
docs/examples/metaqa.yaml. An answer is the list of its rows, in their order; Hits@1 counts the questions whose first
one is right, F1 compares the lists as sets. "I don't know" is wrong in both. MetaQA never counts the thing a question
is about among its answers (who wrote the films that X directed: not X), so a row that repeats a name in the question
is left out, unless there is no other. `--half` takes the first or the second half of the questions of each number of
hops: the first may be looked at, the second is for the number.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"


@dataclass(frozen=True)
class Asked:
    """A question, what it should have been answered, what it was, and the seconds that took."""

    question: dict[str, Any]
    found: list[str]
    text: str
    seconds: float

    @property
    def hit(self) -> bool:
        return bool(self.found) and self.found[0] in self.question["gold"]

    @property
    def f1(self) -> float:
        gold, found = set(self.question["gold"]), set(self.found)
        both = len(gold & found)
        return 2 * both / (len(gold) + len(found)) if both else 0.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="directory with metaqa.duckdb and questions_dev.jsonl")
    parser.add_argument("--hop", type=int, choices=(1, 2, 3), help="only questions of so many hops")
    parser.add_argument("--half", choices=("first", "second"), help="only this half of them")
    parser.add_argument("--wrong", action="store_true", help="list the questions that are not answered right")
    args = parser.parse_args(argv)
    if args.data is None:
        print("No data: name their directory with --data.")
        return 0
    hops = [args.hop] if args.hop else [1, 2, 3]
    lines = (args.data / "questions_dev.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    chosen = {h: _half([q for q in questions if q["hop"] == h], args.half) for h in hops}
    print("hops  questions  Hits@1     F1   answered  median ms  p95 ms")
    for hop, asked in ask(chosen, args.data).items():
        times = sorted(1000 * a.seconds for a in asked)
        print(
            f"{hop:4} {len(asked):10} {_mean([a.hit for a in asked]):7.1%} {_mean([a.f1 for a in asked]):6.1%} "
            f"{_mean([bool(a.found) for a in asked]):10.1%} {statistics.median(times):10.1f} "
            f"{times[-(-len(times) * 95 // 100) - 1]:7.1f}"
        )
        for a in asked if args.wrong else ():
            if not a.hit:
                print(f"      {a.question['qtype']} | {a.question['question']} | {a.text[:100]}", file=sys.stderr)
    return 0


def ask(chosen: dict[int, list[dict[str, Any]]], data: Path) -> dict[int, list[Asked]]:
    """Return what each question was answered, by number of hops."""
    os.environ["METAQA"] = str(data.resolve())
    from engine.session import Session
    from engine.settings import Settings

    with tempfile.TemporaryDirectory() as cache, Session(Settings(schemas=EXAMPLES, cache=Path(cache))) as session:
        session.translator("metaqa")
        return {hop: [_asked(q, session) for q in questions] for hop, questions in chosen.items()}


def _asked(question: dict[str, Any], session: Any) -> Asked:
    started = time.perf_counter()
    answer = session.answer(question["question"], domain="metaqa", query_time="03/01/2024, 12:00:00 PT")
    seconds = time.perf_counter() - started
    found = [str(row[0]) for row in answer.rows] if answer.known else []
    padded = f" {question['question']} "
    found = [name for name in found if f" {name} " not in padded] or found
    return Asked(question, found, answer.text, seconds)


def _half(questions: list[dict[str, Any]], half: str | None) -> list[dict[str, Any]]:
    middle = len(questions) // 2
    return questions if half is None else questions[:middle] if half == "first" else questions[middle:]


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


if __name__ == "__main__":
    sys.exit(main())
