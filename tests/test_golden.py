"""What a user reads: questions to the bundled sample and their answers, one file a domain.

Each is asked twice: of all domains, and of the one whose file it is in. An entry with only a `query_time` says when
those behind it are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine import Session
from engine.settings import Settings
from kg.load import BUILT_IN

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.yaml"))
FIELDS = {"question", "answer", "reason"}
ASKED = "2024-03-11T12:00"


def load(path: Path) -> list[dict[str, str]]:
    """The entries of a file. A case that would test nothing is an error."""
    entries: list[dict[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8")) or []
    questions = [c["question"] for c in entries if "question" in c]
    assert questions, f"{path.name} has no cases"
    assert (BUILT_IN / path.name).exists(), f"{path.name} is no domain's"
    for case in entries:
        if set(case) == {"query_time"}:
            continue
        assert set(case) <= FIELDS, f"{path.name}: {case} has an unknown field"
        assert all(case.get(f) for f in ("question", "answer")), f"{path.name}: {case} expects nothing"
        assert questions.count(case["question"]) == 1, f"{path.name}: {case['question']} stands twice"
    return entries


def cases() -> Iterator[Any]:
    for path in FILES:
        asked = ASKED
        for entry in load(path):
            asked = entry.get("query_time", asked)
            if "question" in entry:
                for domain in ("", path.stem):
                    yield pytest.param(
                        entry, asked, domain, id=f"{path.stem}-{'told' if domain else 'all'}-{entry['question']}"
                    )


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(Settings(cache=tmp_path_factory.mktemp("cache"))) as s:
        yield s


def got(session: Session, question: str, asked: str, domain: str = "") -> dict[str, Any]:
    answer = session.answer(question, query_time=asked, domain=domain)
    return {"question": question, "answer": answer.text} | ({"reason": answer.reason} if answer.reason else {})


@pytest.mark.parametrize("case, asked, domain", list(cases()))
def test_the_answer_is_the_one_people_expect(case: dict[str, str], asked: str, domain: str, session: Session) -> None:
    answered = got(session, case["question"], asked, domain)
    if not domain and "reason" in case and "reason" in answered:
        answered["reason"] = case["reason"]  # of a question that no domain knows, another may say why
    assert answered == case


def test_update_golden(request: pytest.FixtureRequest, session: Session) -> None:
    if not request.config.getoption("--update-golden"):
        pytest.skip("only with --update-golden")
    for path in FILES:
        head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        asked, said = ASKED, []
        for entry in load(path):
            asked = entry.get("query_time", asked)
            said.append(got(session, entry["question"], asked) if "question" in entry else entry)
        lines = [
            yaml.safe_dump(c, allow_unicode=True, sort_keys=False, width=1000, default_flow_style=True) for c in said
        ]
        path.write_text("\n".join([*head, "", *(f"- {line.strip()}" for line in lines)]) + "\n", encoding="utf-8")


def test_a_question_again_makes_no_call(session: Session) -> None:
    question = "who directed the best picture winner of 2020?"
    session.answer(question, query_time=ASKED)
    again = session.answer(question, query_time=ASKED)
    assert again.calls == 0
    assert again.text == "Bong Joon-ho"


def test_why_leads_from_the_answer_to_the_requests(session: Session) -> None:
    why = session.answer("who directed titanic?", query_time=ASKED).why()
    for part in ("James Cameron", "get_", "SELECT", "POST /movie/get_movie_info_by_id"):
        assert part in why


def test_a_notebook_shows_an_answer_and_escapes_what_came_from_outside(session: Session) -> None:
    assert "James Cameron" in session.answer("who directed titanic?", query_time=ASKED)._repr_html_()
    assert "<i>" not in session.answer("who directed <i>zorblax</i>?", query_time=ASKED)._repr_html_()
