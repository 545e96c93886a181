"""The pages say what is so: generated parts, examples, links. `make docs` writes the generated parts anew."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from engine.answers import Reason
from kg.dialect import parse, to_calls, to_sql
from kg.errors import QueryError
from kg.load import BUILT_IN, load_domain

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
if not DOCS.is_dir():
    pytest.skip("the pages are not in the source distribution", allow_module_level=True)

MOVIE = load_domain(BUILT_IN / "movie.yaml")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks/README.md", *sorted(DOCS.glob("*.md"))]
_FENCE = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.S | re.M)
_LINK = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)")
_ROW = re.compile(r"^\| `(?P<calls>.+?)` \| `(?P<sql>.+)` \|$", re.M)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = generator()


def blocks(kind: str) -> list[object]:
    """Every fenced block of a kind, by page and number."""
    found = []
    for page in PAGES:
        texts = [m["text"] for m in _FENCE.finditer(page.read_text()) if m["kind"] == kind]
        found += [pytest.param(page, t, id=f"{named(page)}-{i}") for i, t in enumerate(texts, 1)]
    return found


@pytest.mark.parametrize("page, shown", blocks("console"))
def test_commands_print_what_the_page_shows(page: Path, shown: str) -> None:
    block = f"```console\n{shown}```"
    assert GENERATE.masked(block) == GENERATE.masked(GENERATE.regenerated(block))


@pytest.mark.parametrize("name", sorted(GENERATE.PARTS))
def test_generated_parts_are_those_of_the_program(name: str) -> None:
    pattern = re.compile(rf"<!-- generated: {name} -->\n(.*?)<!-- end -->", re.S)
    (shown,) = [m[1] for page in PAGES for m in pattern.finditer(page.read_text())]
    assert shown == GENERATE.PARTS[name](), "`make docs` writes it anew"


def test_an_outdated_page_is_noticed(tmp_path: Path) -> None:
    page = "<!-- generated: settings -->\n| old |\n<!-- end -->\n```console\n$ kgq --version\nkgq 0.0\n```\n"
    new = GENERATE.regenerated(page)
    assert "| old |" not in new
    assert "KG_BASE_DIRECTORY" in new
    assert "kgq 0.0\n" not in new


@pytest.mark.parametrize("page", [p for p in PAGES if "```pycon" in p.read_text()], ids=named)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.session._default", None)
    (tmp_path / "library.yaml").write_text(GENERATE.example())
    text = "\n".join(m["text"] for m in _FENCE.finditer(page.read_text()) if m["kind"] == "pycon")
    test = doctest.DocTestParser().get_doctest(text, {"schemas": tmp_path}, page.name, str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert result.attempted
    assert not result.failed, "".join(said)


@pytest.mark.parametrize("row", _ROW.findall((DOCS / "dialect.md").read_text()), ids=lambda row: row[0])
def test_both_spellings_of_a_pair_mean_the_same(row: tuple[str, str]) -> None:
    calls, sql = row
    tree = parse(calls, MOVIE)
    assert to_sql(tree) == sql
    assert parse(sql, MOVIE) == tree
    assert parse(to_calls(tree, MOVIE), MOVIE) == tree


def test_the_readme_speaks_of_every_reason() -> None:
    text = (ROOT / "README.md").read_text()
    assert [r for r in get_args(Reason) if r and f"`{r}`" not in text] == []


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for link in (m["to"] for m in _LINK.finditer(text)):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), f"{link} leads out of the repository"
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_name_no_place_of_one_machine(page: Path) -> None:
    text = re.sub(r"'/etc/passwd'", "", page.read_text())
    assert not re.findall(r"(?:^|[\s(`\"'=])/(?:home|root|work|tmp|usr|etc|Users)/", text)


def test_the_readme_begins_with_the_two_commands() -> None:
    commands = [
        line.split("#")[0].strip() for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("    ")
    ]
    assert commands[:2] == ['make ask Q="who directed titanic?"', "make test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M)
    assert {"ask", "test", "docs"} <= set(targets)


def test_the_sample_has_as_much_as_the_readme_says() -> None:
    def rows(file: str) -> int:
        return len(json.loads((ROOT / "kg/sample" / file).read_text()))

    games = rows("sports/nba_game.json") + rows("sports/soccer_team_match_stats.json") // 2  # told from both sides
    entries = len((ROOT / "kg/sample/open/kg.0.jsonl").read_text().splitlines())
    films, artists = rows("movie/movie_db.json"), rows("music/artist_dict_simplified.json")
    companies = rows("finance/finance_info.json")
    said = f"{films} films, {artists} artists, {companies} companies, {games} games and {entries} entries"
    assert f"The sample has {said}" in (ROOT / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("program", ["docs/generate.py", "benchmarks/__main__.py", "benchmarks/question.py"])
def test_the_scripts_say_how_they_are_used(program: str) -> None:
    done = subprocess.run(
        [sys.executable, program, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage:" in done.stdout


@pytest.mark.parametrize("row", ["| `get_film(1)` | |", "| `get_movie(` | |"], ids=["no such table", "half a call"])
def test_a_pair_that_is_no_program_is_an_error(row: str) -> None:
    with pytest.raises(QueryError):
        GENERATE.regenerated(f"| calls | SQL |\n| --- | --- |\n{row}\n")
