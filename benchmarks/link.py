"""How fast names are found in questions: `python benchmarks/link.py [--names N] [--file FILE] [--questions FILE]`.

Without files the names are made up: half persons, half titles, of syllables, with weights that fall off as fame does.
A names file has one `[text, table, key, weight]` a line, a questions file one question a line.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kg.link import Known, Linker

T = TypeVar("T")
OPENINGS = (
    "who directed {}",
    "when was {} released",
    "how old is {}?",
    "what did {} earn and who is in {}",
    "{}'s age",
)


def made_up(count: int, seed: int = 1) -> list[Known]:
    """Return `count` names that share words about as much as real ones do."""
    rng = random.Random(seed)
    syllables = [c + v for c in "b ch d f g h k l m n p r s st t v w z".split() for v in "aeiou"]  # noqa: SIM905
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) + rng.choice("nrstl") for _ in range(count // 2)]
    often = vocabulary[: max(1, count // 100)]

    def word() -> str:
        return rng.choice(often if rng.random() < 0.5 else vocabulary).capitalize()

    names = []
    for i in range(count):
        weight = 1e6 / (1 + rng.expovariate(1.0) * count)
        if i % 2:
            names.append(Known(f"{word()} {word()}", "person", i, weight))
        else:
            title = (
                " of the ".join([word(), word()]) if rng.random() < 0.3 else " ".join(word() for _ in range(i % 5 + 1))
            )
            names.append(Known("The " + title if rng.random() < 0.3 else title, "title", i, weight))
    return names


def misspelled(name: str, rng: random.Random) -> str:
    at = rng.randrange(len(name))
    return name[:at] + name[at + 1 :]


def made_up_questions(names: list[Known], count: int = 300, seed: int = 2) -> list[str]:
    """Return questions with whole names, last words of names, and misspelled names, a third each."""
    rng = random.Random(seed)
    out = []
    for i in range(count):
        said = [rng.choice(names).text.lower() for _ in range(2)]
        if i % 3 == 1:
            said = [s.split()[-1] for s in said]
        elif i % 3 == 2:
            said = [misspelled(s, rng) for s in said]
        out.append(rng.choice(OPENINGS).format(*said))
    return out


def timed(what: str, run: Callable[[], T]) -> T:
    start = time.perf_counter()
    result = run()
    print(f"{what:32} {1000 * (time.perf_counter() - start):9.1f} ms")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=100_000, help="how many names to make up")
    parser.add_argument("--file", type=Path, help="names to use instead")
    parser.add_argument("--questions", type=Path, help="questions to ask instead of made-up ones")
    args = parser.parse_args()
    if args.file:
        names = [Known(*json.loads(line)) for line in args.file.read_text().splitlines()]
    else:
        names = made_up(args.names)
    questions = args.questions.read_text().splitlines() if args.questions else made_up_questions(names)
    print(f"{len(names):,} names, {len(questions):,} questions")
    few = timed("build, 60 names", lambda: Linker(names[:60]))
    timed("first question, 60 names", lambda: few.best(questions[0]))
    linker = timed("build", lambda: Linker(names))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "names"
        timed("save", lambda: linker.save(path, "benchmark"))
        print(f"{'size':32} {path.stat().st_size / 1e6:9.1f} MB")
        loaded = timed("load", lambda: Linker.load(path, "benchmark"))
    assert loaded is not None
    timed("first misspelling", lambda: loaded.find(misspelled(names[0].text, random.Random(3))))
    seconds = []
    for question in questions:
        start = time.perf_counter()
        loaded.best(question)
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    print(f"{'a question, median':32} {1000 * statistics.median(seconds):9.2f} ms")
    print(f"{'a question, 95 %':32} {1000 * seconds[int(0.95 * len(seconds))]:9.2f} ms")
    timed("10,000 characters", lambda: loaded.best((" ".join(questions) * 10)[:10_000]))
    timed("lookup of a misspelled name", lambda: loaded.lookup(misspelled(names[1].text, random.Random(4))))
    timed("complete one letter", lambda: loaded.complete("s", 10))


if __name__ == "__main__":
    main()
