"""docs/own-api.md is true: its domain file, unchanged but for the address, answers questions over a real API."""

from __future__ import annotations

import datetime as dt
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from library_api import KEY, Faults, make_app, running

from engine.answers import IDK
from engine.cli import app
from engine.session import Session
from engine.settings import Settings
from kg.errors import BadReply, SourceError
from kg.load import load_domain

DOCS = Path(__file__).resolve().parents[1] / "docs"
if not DOCS.is_dir():
    pytest.skip("the pages are not in the source distribution", allow_module_level=True)

NOW = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
PAGE = (DOCS / "own-api.md").read_text(encoding="utf-8")
YAML = (DOCS / "examples" / "api" / "library.yaml").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\| ([^|]+\?) \| ([^|]+) \|$", PAGE, re.M)


@pytest.fixture(scope="module")
def faults() -> Faults:
    return Faults()


@pytest.fixture(scope="module")
def url(faults: Faults) -> Iterator[str]:
    with running(make_app(faults)) as address:
        yield address


@pytest.fixture
def schemas(url: str, faults: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the file of the docs; only the address is another. The API has no faults."""
    faults.__init__()  # type: ignore[misc]
    monkeypatch.setenv("LIBRARY_KEY", KEY)
    directory = tmp_path / "schemas"
    directory.mkdir()
    (directory / "library.yaml").write_text(YAML.replace("https://library.example.com", url), encoding="utf-8")
    return directory


@pytest.fixture
def session(schemas: Path, tmp_path: Path) -> Iterator[Session]:
    settings = Settings(schemas=schemas, cache=tmp_path / "cache", store=tmp_path / "store.duckdb")
    with Session(settings, clock=lambda: NOW) as s:
        yield s


def ask(session: Session, question: str) -> Any:
    return session.answer(question, domain="library")


def kgq(*args: str) -> Result:
    return CliRunner().invoke(app, list(args), catch_exceptions=False)


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_file_is_short() -> None:
    assert len([line for line in YAML.splitlines() if line.strip() and not line.lstrip().startswith("#")]) < 40


@pytest.mark.parametrize("question, answer", QUESTIONS, ids=[q for q, _ in QUESTIONS])
def test_questions_are_answered_as_the_page_says(session: Session, question: str, answer: str) -> None:
    assert ask(session, question).text == answer


def test_the_page_has_questions_of_all_kinds() -> None:
    assert len(QUESTIONS) > 10


def test_an_answer_needs_few_calls_and_asked_again_none(session: Session, faults: Faults) -> None:
    assert ask(session, "how many books did jane austen write?").text == "6"
    assert faults.seen == [
        "/v1/authors?q=jane+austen+write",
        "/v1/books?q=jane+austen+write",
        "/v1/authors?q=jane+austen",
        "/v1/books?q=jane+austen",
        "/v1/authors/1/books?per_page=5&page=1",
        "/v1/authors/1/books?per_page=5&page=2",
    ]
    assert ask(session, "how many books did jane austen write?").text == "6"
    assert len(faults.seen) == 6


def test_the_probe_says_what_the_page_shows(schemas: Path) -> None:
    (shown,) = re.findall(r"--probe --with .*\n((?:.+\n)+)```", PAGE)
    said = kgq(
        "domain",
        "lint",
        str(schemas / "library.yaml"),
        "--probe",
        "--with",
        "q=emma",
        "--with",
        "search_author.q=austen",
    )
    assert said.stdout == shown
    assert said.exit_code == 0


def test_the_draft_answers_before_anybody_edits_it(
    url: str, faults: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRARY_KEY", KEY)
    (tmp_path / "schemas").mkdir()
    file = tmp_path / "schemas" / "library.yaml"
    made = kgq("domain", "new", "--openapi", f"{url}/openapi.json", "--name", "library", "--out", str(file))
    assert (made.exit_code, made.stdout) == (0, "")
    assert kgq("domain", "lint", str(file)).stdout == "library: 3 tables, 5 calls. No mistakes.\n"
    with Session(Settings(schemas=tmp_path / "schemas", cache=tmp_path / "cache"), clock=lambda: NOW) as s:
        for question, answer in [
            ("who is the author of emma?", "Jane Austen"),
            ("when was frankenstein published?", "1818-01-01"),
            ("what is the language of the trial?", "German"),
        ]:
            assert ask(s, question).text == answer


def test_a_whole_list_can_be_counted(url: str, faults: Faults, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRARY_KEY", KEY)
    text = kgq("domain", "new", "--openapi", f"{url}/openapi.json", "--name", "library").stdout
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "library.yaml").write_text(text.replace("# every_", "every_"))
    with Session(Settings(schemas=tmp_path / "schemas", cache=tmp_path / "cache"), clock=lambda: NOW) as s:
        assert s.run("SELECT count(*), max(pages) FROM book", "library").rows == [(16, 1225)]


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "busy, broken", [pytest.param(2, 0, id="429"), pytest.param(0, 2, id="503"), pytest.param(1, 1, id="both")]
)
def test_faults_that_pass_are_not_noticed(session: Session, faults: Faults, busy: int, broken: int) -> None:
    faults.busy, faults.broken = busy, broken
    assert ask(session, "who wrote emma?").text == "Jane Austen"


def test_a_fault_that_stays_is_a_reason(session: Session, faults: Faults) -> None:
    faults.broken = 1000
    answer = ask(session, "who wrote emma?")
    assert (answer.text, answer.reason) == (IDK, "call_failed")
    assert re.fullmatch(r"/v1/\w+: the server at http://127\.0\.0\.1:\d+ answered 503 \(try later\)\.", answer.detail)


@pytest.mark.parametrize(
    "renamed, given, said",
    [
        pytest.param({"pages": "page_count"}, ("q=emma",), "search_book(q='emma'): 1 object; book: no value came in pages (rows: 1).", id="a column has another name"),
        pytest.param({"items": "results"}, ("q=emma",), "search_book(q='emma'): 0 objects; the reply has no 'items', but results, total (at $.items)", id="a list has another name"),
        pytest.param({}, ("q=zzz",), "search_book(q='zzz'): 0 objects; nothing came: no object is in the reply.", id="nothing found"),
        pytest.param({}, (), "search_book(): 0 objects; not called: no example of q is known; give one by --with q=VALUE.", id="no example"),
    ],
)  # fmt: skip
def test_the_probe_says_what_does_not_match(
    schemas: Path, faults: Faults, renamed: dict[str, str], given: tuple[str, ...], said: str
) -> None:
    faults.renamed = renamed
    options = [part for g in given for part in ("--with", g)]
    found = kgq("domain", "lint", str(schemas / "library.yaml"), "--probe", *options)
    assert found.exit_code == 1
    assert said in found.stdout.splitlines()


@pytest.mark.parametrize(
    "old, new, said",
    [
        pytest.param("items", "results", r"the reply has no 'items', but results, total \(at \$\.items\)", id="the list has another name"),
        pytest.param("book_id", "id", r"the key 'book_id' is missing \(at \$\.items\[\*\]\.book_id\)", id="the key has another name"),
    ],
)  # fmt: skip
def test_an_api_that_changes_its_shape_loses_nothing_that_is_stored(
    session: Session, faults: Faults, old: str, new: str, said: str
) -> None:
    assert ask(session, "how many books did jane austen write?").text == "6"
    program = "SELECT count(*) FROM book WHERE {}"
    listed = "book_id IN (SELECT book_id FROM wrote WHERE author_id = 1)"
    before = session.run(program.format(listed), "library").rows
    faults.renamed = {old: new}
    with pytest.raises(BadReply, match=said) as caught:
        session.run("SELECT count(*) FROM wrote WHERE author_id = 2", "library")
    assert caught.value.path in ("$.items", "$.items[*].book_id")
    answer = ask(session, "which is the longest book by leo tolstoy?")
    assert (answer.text, answer.reason) == (IDK, "call_failed")
    faults.seen.clear()
    assert session.run(program.format(listed), "library").rows == before == [(6,)]
    assert ask(session, "how many books did jane austen write?").text == "6"
    assert faults.seen == []
    faults.renamed = {}
    assert ask(session, "which is the longest book by leo tolstoy?").text == "War and Peace", (
        "nothing wrong was believed"
    )


# -- the key -----------------------------------------------------------------------------------------------------------


def test_the_key_is_in_nothing_that_is_written(
    schemas: Path, tmp_path: Path, home: Path, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = Settings(schemas=schemas, cache=tmp_path / "cache", store=tmp_path / "store.duckdb")
    said = []
    with Session(settings, clock=lambda: NOW) as s:
        faults.busy = 1
        for question, _ in QUESTIONS:
            answer = ask(s, question)
            said += [answer.why(), repr(answer)]
        faults.broken = 1000
        said.append(repr(ask(s, "when was orlando published in german?")))
    written = {p: p.read_bytes() for d in (tmp_path, home) for p in d.rglob("*") if p.is_file()}
    assert any(p.name == "store.duckdb" for p in written)
    assert [str(p) for p, content in written.items() if KEY.encode() in content] == []
    assert KEY not in "".join(said)
    assert KEY not in caplog.text
    assert "127.0.0.1" in caplog.text


def test_a_key_that_the_api_refuses_is_not_in_the_answer(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIBRARY_KEY", "a-wrong-secret")
    answer = ask(session, "who wrote emma?")
    assert answer.reason == "call_failed"
    assert answer.detail.endswith("answered 403 (the key (key) is not known).")
    assert "a-wrong-secret" not in answer.why()


def test_a_key_that_is_not_set_is_named(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIBRARY_KEY")
    answer = ask(session, "who wrote emma?")
    assert answer.reason == "call_failed"
    assert "LIBRARY_KEY is not set in the environment" in answer.detail


# -- beside other domains ----------------------------------------------------------------------------------------------


def test_a_domain_whose_api_is_away_does_not_silence_another(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIBRARY_KEY")
    assert session.answer("who directed titanic?").text == "James Cameron"
    assert session.answer("who wrote gulliver's zzyzx?").reason == "call_failed"


def test_a_question_finds_its_domain(session: Session) -> None:
    answer = session.answer("which is the longest book by leo tolstoy?")
    assert (answer.domain, answer.text) == ("library", "War and Peace")


def test_the_loaded_file_says_where_the_key_is_but_not_what_it_is(schemas: Path) -> None:
    assert KEY not in repr(load_domain(schemas / "library.yaml"))


def test_a_source_error_has_the_endpoint_as_the_file_writes_it(session: Session, faults: Faults) -> None:
    faults.broken = 1000
    with pytest.raises(SourceError) as caught:
        session.run("SELECT * FROM book WHERE book_id = 101", "library")
    assert (caught.value.endpoint, caught.value.status) == ("/v1/books/{book_id}", 503)
