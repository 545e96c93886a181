"""How long a question takes, and how long `kgq ask` takes from a cold start.

    python -m benchmarks.question
    python -m benchmarks.question --base ../shared/cragkg --questions ../shared/bench/kgqa_dev.jsonl --domain movie

Questions are asked twice in one session: the first time it makes its calls, the second time it has all rows. This is
done without and with the sentence encoder. A questions file has one JSON object with a `query` a line, as `kgq eval`
reads it; without one the questions below are asked, whose names are all in the bundled sample.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.evaluate import Question, read_questions
from engine.session import Session
from engine.settings import VARIABLES, Settings
from engine.translate import encoder

QUESTIONS = (
    "who directed titanic?",
    "when was the matrix released?",
    "how long is pulp fiction?",
    "what was the budget of avatar?",
    "how much did inception make?",
    "who wrote the screenplay for forrest gump?",
    "who composed the music for gladiator?",
    "what is the original language of parasite?",
    "when was kate winslet born?",
    "who played jack in titanic?",
    "which movies did christopher nolan direct?",
    "which actors are in gladiator?",
    "how many oscars did titanic win?",
    "how many movies did steven spielberg direct?",
    "who won best actor in 2016?",
    "which movie won best picture in 1998?",
    "which movie directed by christopher nolan made the most money?",
    "what is the longest movie directed by martin scorsese?",
    "which is longer, titanic or avatar?",
    "who is older, brad pitt or leonardo dicaprio?",
    "how much more did avatar make than titanic?",
    "did tom hanks act in forrest gump?",
    "how old was kate winslet when titanic came out?",
    "when was the director of titanic born?",
    "which movies did tom hanks and steven spielberg make together?",
    "what is the average revenue of the movies of james cameron?",
    "when did steven spielberg's titanic come out?",
    "which movie won best picture in 2025?",
    "who directed zorblax?",
    "why is titanic so long?",
)
RUNS = 3  # of a process; the median counts
CHILD = "from engine.cli import main; main()"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, help="data directory in CRAG's layout; the bundled sample if not given")
    parser.add_argument("--questions", type=Path, help=".jsonl or .jsonl.bz2")
    parser.add_argument("--domain", default="", help="only the questions that the file says are of this domain")
    args = parser.parse_args(argv)
    questions = list(QUESTIONS)
    if args.questions:
        found = [q for q in read_questions(args.questions) if isinstance(q, Question)]
        questions = [q.query for q in found if not args.domain or q.domain == args.domain]
    print(f"{len(questions)} questions over {args.base or 'the bundled sample'}")
    with tempfile.TemporaryDirectory() as cache:
        settings = Settings(base=args.base, cache=Path(cache))
        cold_start(settings)
        without = asked(questions, replace(settings, encoder=False))
        if encoder.installed():
            using = asked(questions, settings)
            print(f"{'with : without, second time':34} {using / without:9.2f} : 1")


def cold_start(settings: Settings) -> None:
    """Print how long `kgq ask` takes as a process, next to a Python that does nothing."""
    env = {k: v for k, v in os.environ.items() if k not in VARIABLES.values()}
    env["KGQ_CACHE_DIR"] = str(settings.cache)
    if settings.base:
        env["KG_BASE_DIRECTORY"] = str(settings.base)
    nothing = process([sys.executable, "-c", "pass"], env)
    ask = [sys.executable, "-c", CHILD, "ask", QUESTIONS[0]]
    first = once(ask, env)  # builds the index of names and keeps it
    again = process(ask, env)
    print(f"{'python -c pass':34} {1000 * nothing:9.0f} ms")
    print(f"{'kgq ask, first time ever':34} {1000 * first:9.0f} ms  {first / nothing:5.1f} x")
    print(f"{f'kgq ask, median of {RUNS}':34} {1000 * again:9.0f} ms  {again / nothing:5.1f} x")


def process(command: list[str], env: dict[str, str]) -> float:
    return statistics.median(once(command, env) for _ in range(RUNS))


def once(command: list[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=env, check=True, capture_output=True)
    return time.perf_counter() - start


def asked(questions: list[str], settings: Settings) -> float:
    """Ask all questions twice; print and return the median seconds of the second time."""
    name = "with encoder" if settings.encoder else "without encoder"
    with Session(settings) as session:
        start = time.perf_counter()
        for domain in session.domains:
            session.translator(domain)
        print(f"{f'{name}, indexes of names':34} {1000 * (time.perf_counter() - start):9.0f} ms")
        for when in ("first time", "second time"):
            seconds, known = [], 0
            for question in questions:
                start = time.perf_counter()
                known += session.answer(question).known
                seconds.append(time.perf_counter() - start)
            seconds.sort()
            p95 = seconds[-(-len(seconds) * 95 // 100) - 1]  # nearest rank
            median = statistics.median(seconds)
            shown = f"median {1000 * median:7.1f} ms, p95 {1000 * p95:7.1f} ms"
            print(f"{f'{name}, {when}':34} {shown}, {known} of {len(questions)} answered")
    return median


if __name__ == "__main__":
    main()
