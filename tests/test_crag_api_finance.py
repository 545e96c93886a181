"""CRAG's finance endpoints: what they answer from SqliteDict files and from JSON, and how companies are named."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kg.crag_api import CragApi
from kg.errors import SourceError
from kg.link.companies import short_names

COMPANIES = """\
Symbol,Name,Country
AAPL,Apple Inc. Common Stock,United States
APLE,Apple Hospitality REIT Inc. Common Shares,United States
AAPLW,Apple Inc. Warrants,United States
GOOG,Alphabet Inc. Class C Capital Stock,United States
GOOGL,Alphabet Inc. Class A Common Stock,United States
AVB,"AvalonBay Communities, Inc. Common Stock",United States
AVBX,AvalonBay Communities Inc. Common Stock,United States
NA,Nano Labs Ltd Class A Ordinary Shares,China
XYZ,,Nowhere
OLD,Twice Corp.,Nowhere
NEW,Twice Corp.,Nowhere
BIG,Zeta One Holdings,Nowhere
SML,Alpha One Holdings,Nowhere
"""
DAY = "2024-02-28 00:00:00 EST"
PRICE = {"AAPL": {DAY: {"Open": 182.5, "Close": 181.4, "Volume": 48953900}}, "BIG": {DAY: {"Open": float("nan")}}}
INFO = {
    "AAPL": {"city": "Cupertino", "forwardEps": 7.5, "forwardPE": None, "companyOfficers": [{"name": "Tim"}]},
    "BIG": {"sector": "None", "beta": float("inf"), "pair": (1, 2)},
}
TABLES: dict[str, dict[str, Any]] = {
    "price": PRICE,
    "detailed_price": {"AAPL": {"2024-02-28 09:30:00 EST": {"Open": 182.5}}},
    "dividend": {"AAPL": {"2024-02-09 00:00:00 EST": 0.24}, "SML": {}},
    "marketcap": {"AAPL": 2.8e12, "GOOG": 1.8e12, "GOOGL": 1.7e12, "BIG": 9e9, "SML": None},
    "info": INFO,
}


def write_sqlite(path: Path, table: dict[str, Any]) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute('CREATE TABLE "unnamed" (key TEXT PRIMARY KEY, value BLOB)')
        db.executemany("INSERT INTO unnamed VALUES (?, ?)", [(k, pickle.dumps(v)) for k, v in table.items()])


def write_json(path: Path, table: dict[str, Any]) -> None:
    path.with_suffix(".json").write_text(json.dumps(table), encoding="utf-8")


@pytest.fixture(params=[write_sqlite, write_json], ids=["sqlite", "json"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data directory with a handful of companies, in each of the two formats."""
    (tmp_path / "finance").mkdir()
    (tmp_path / "finance/company_name.dict").write_text(COMPANIES, encoding="utf-8")
    for name, table in TABLES.items():
        request.param(tmp_path / f"finance/finance_{name}.sqlite", table)
    return tmp_path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The same in CRAG's own format only."""
    (tmp_path / "finance").mkdir()
    (tmp_path / "finance/company_name.dict").write_text(COMPANIES, encoding="utf-8")
    for name, table in TABLES.items():
        write_sqlite(tmp_path / f"finance/finance_{name}.sqlite", table)
    return tmp_path


def ask(base: Path, endpoint: str, query: str) -> Any:
    return CragApi(base).call(f"/finance/{endpoint}", {"query": query})


@pytest.mark.parametrize(
    "endpoint, query, wanted",
    [
        pytest.param("get_company_name", "apple", ["Apple Inc. Warrants", "Apple Inc. Common Stock",
                     "Apple Hospitality REIT Inc. Common Shares"], id="shorter names first"),
        pytest.param("get_company_name", "one holdings", ["Zeta One Holdings", "Alpha One Holdings"],
                     id="equal scores: worth more first"),
        pytest.param("get_company_name", "AvalonBay", ["AvalonBay Communities, Inc. Common Stock",
                     "AvalonBay Communities Inc. Common Stock"] * 2, id="names alike are each found for both"),
        pytest.param("get_company_name", "zzz", [], id="nothing like it"),
        pytest.param("get_company_name", "", [], id="no words"),
        pytest.param("get_ticker_by_name", "Apple Inc. Common Stock", "AAPL", id="a ticker"),
        pytest.param("get_ticker_by_name", "AvalonBay Communities, Inc. Common Stock", "AVB", id="a name in quotes"),
        pytest.param("get_ticker_by_name", "Twice Corp.", "NEW", id="the later of two rows"),
        pytest.param("get_ticker_by_name", "apple inc. common stock", None, id="names are exact"),
        pytest.param("get_ticker_by_name", "", None, id="a row without a name is none"),
        pytest.param("get_price_history", "AAPL", PRICE["AAPL"], id="prices"),
        pytest.param("get_price_history", "BIG", {DAY: {"Open": None}}, id="NaN is null"),
        pytest.param("get_price_history", "aapl", None, id="tickers are exact"),
        pytest.param("get_price_history", "", None, id="no ticker"),
        pytest.param("get_price_history", "\ud800", None, id="half a surrogate pair"),
        pytest.param("get_detailed_price_history", "AAPL", TABLES["detailed_price"]["AAPL"], id="minutes"),
        pytest.param("get_dividends_history", "AAPL", {"2024-02-09 00:00:00 EST": 0.24}, id="dividends"),
        pytest.param("get_dividends_history", "SML", {}, id="a company without dividends"),
        pytest.param("get_market_capitalization", "AAPL", 2.8e12, id="worth"),
        pytest.param("get_market_capitalization", "SML", None, id="worth not known"),
        pytest.param("get_eps", "AAPL", 7.5, id="earnings"),
        pytest.param("get_eps", "BIG", None, id="earnings not known"),
        pytest.param("get_pe_ratio", "AAPL", None, id="a null ratio"),
        pytest.param("get_pe_ratio", "GOOG", None, id="a company without a record"),
        pytest.param("get_info", "AAPL", INFO["AAPL"], id="facts"),
        pytest.param("get_info", "BIG", {"sector": "None", "beta": None, "pair": [1, 2]}, id="facts as JSON has them"),
    ],
)  # fmt: skip
def test_answers(base: Path, endpoint: str, query: str, wanted: Any) -> None:
    assert ask(base, endpoint, query) == wanted


def test_a_ticker_that_reads_as_no_value_fails_as_in_the_original(base: Path) -> None:
    with pytest.raises(SourceError, match="reads 'NA'") as caught:
        ask(base, "get_ticker_by_name", "Nano Labs Ltd Class A Ordinary Shares")
    assert caught.value.status == 500


def test_names(base: Path) -> None:
    names = list(CragApi(base).names("company"))
    by_name: dict[str, list[str]] = {}
    for name, ticker, _ in names:
        by_name.setdefault(name, []).append(ticker)
    assert set(by_name["Apple"]) == set(by_name["Apple Inc."]) == set(by_name["AAPL"]) == {"AAPL"}
    assert by_name["Alphabet"] == ["GOOG", "GOOGL"]
    assert by_name["NA"] == by_name["Nano Labs"] == ["NA"]
    assert [name for name, ticker, _ in names if ticker == "AAPLW"] == ["Apple Inc. Warrants", "AAPLW"]
    weights = {ticker: weight for _, ticker, weight in names}
    assert sorted(weights, key=weights.__getitem__, reverse=True)[:4] == ["AAPL", "GOOG", "GOOGL", "BIG"]
    assert min(weights, key=weights.__getitem__) == "AAPLW"
    assert list(CragApi(base).names("movies")) == []


@pytest.mark.parametrize(
    "name, wanted",
    [
        pytest.param("Microsoft Corporation Common Stock", ["Microsoft Corporation", "Microsoft"], id="a corporation"),
        pytest.param("Coca-Cola Company (The) Common Stock",
                     ["The Coca-Cola Company", "Coca-Cola Company", "Coca-Cola"], id="an article"),
        pytest.param("Merck & Company Inc. Common Stock (new)", ["Merck & Company Inc.", "Merck & Company", "Merck"],
                     id="and company"),
        pytest.param("Amazon.com Inc. Common Stock", ["Amazon.com Inc.", "Amazon.com", "Amazon"], id="an address"),
        pytest.param("UnitedHealth Group Incorporated Common Stock (DE)",
                     ["UnitedHealth Group Incorporated", "UnitedHealth Group", "UnitedHealth"], id="a group"),
        pytest.param("Accenture plc Class A Ordinary Shares (Ireland)", ["Accenture plc", "Accenture"], id="a class"),
        pytest.param("ASML Holding N.V. New York Registry Shares", ["ASML Holding N.V.", "ASML Holding", "ASML"],
                     id="a registry"),
        pytest.param("Cemex S.A.B. de C.V. Sponsored ADR", ["Cemex S.A.B. de C.V.", "Cemex"], id="a receipt"),
        pytest.param("Visa Inc.", ["Visa"], id="no security"),
        pytest.param("GE Aerospace Common Stock", ["GE Aerospace"], id="no legal form"),
        pytest.param("Common Stock", [], id="nothing but a security"),
        pytest.param("Unit Corporation Common Stock", ["Unit Corporation", "Unit"], id="a name that is also a security"),
        pytest.param("Titan Acquisition Corp. Warrants", [], id="warrants"),
        pytest.param("Titan Acquisition Corp. Units", [], id="units"),
        pytest.param("AGNC Investment Corp. Depositary Shares each representing 6.50% Preferred Stock", [], id="preferred"),
        pytest.param("BRC Group Holdings Inc. 6.00% Senior Notes Due 2028", [], id="notes"),
    ],
)  # fmt: skip
def test_short_names(name: str, wanted: list[str]) -> None:
    assert short_names(name) == wanted


def test_nothing_is_written_beside_the_files(files: Path) -> None:
    with closing(sqlite3.connect(files / "finance/finance_price.sqlite")) as db:
        db.execute("PRAGMA journal_mode = WAL")
    before = {path.name: path.stat().st_mtime_ns for path in (files / "finance").iterdir()}
    api = CragApi(files)
    for endpoint in api.endpoints:
        if endpoint.startswith("/finance/"):
            api.call(endpoint, {"query": "AAPL"})
    assert {path.name: path.stat().st_mtime_ns for path in (files / "finance").iterdir()} == before


def test_nothing_is_read_before_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "finance").mkdir()
    write_json(tmp_path / "finance/finance_info.sqlite", INFO)
    assert ask(tmp_path, "get_eps", "AAPL") == 7.5


def test_threads_share_the_files(files: Path) -> None:
    api, found = CragApi(files), []

    def work() -> None:
        for _ in range(30):
            for ticker in ("AAPL", "BIG", "x"):
                found.append(api.call("/finance/get_dividends_history", {"query": ticker}) is not None)
                api.call("/finance/get_company_name", {"query": "apple"})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.count(True) == 4 * 30
    assert len(found) == 4 * 90


class Calls:
    """Its pickle runs a command."""

    def __reduce__(self) -> Any:
        return os.system, ("exit 1",)


def shared() -> Any:
    value: Any = [0] * 10
    for _ in range(12):
        value = [value] * 10
    return value


def cycle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value, sentence",
    [
        pytest.param(Calls(), f"asks for {os.name}.system", id="a command"),
        pytest.param(shared(), "too deep or too large", id="a list ten billion times"),
        pytest.param({"a": cycle()}, "too deep or too large", id="a list in itself"),
        pytest.param({"a": {1, 2}}, "holds a set", id="a set"),
        pytest.param({b"a": 1}, "bytes for a key", id="bytes for a key"),
    ],
)
def test_hostile_values(files: Path, value: Any, sentence: str) -> None:
    path = files / "finance/finance_info.sqlite"
    path.unlink()
    write_sqlite(path, {"AAPL": value, "BIG": {"forwardEps": 1.5}})
    with pytest.raises(SourceError, match=sentence) as caught:
        ask(files, "get_info", "AAPL")
    assert "finance_info.sqlite, at 'AAPL'," in str(caught.value)
    assert caught.value.status == 500
    assert ask(files, "get_eps", "BIG") == 1.5


def corrupt(path: Path) -> None:
    path.write_bytes(b"not a database" * 100)


def other_table(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE other (key TEXT)")


def a_text(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE unnamed SET value = 'text'")


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        pytest.param(Path.unlink, "no such file", id="missing"),
        pytest.param(corrupt, "not a usable SqliteDict file", id="not a database"),
        pytest.param(other_table, "not a usable SqliteDict file", id="another table"),
        pytest.param(a_text, "does not hold a pickle", id="a text"),
    ],
)
def test_unusable_files(files: Path, spoil: Callable[[Path], None], sentence: str) -> None:
    spoil(files / "finance/finance_info.sqlite")
    with pytest.raises(SourceError, match=sentence) as caught:
        ask(files, "get_info", "AAPL")
    assert "finance_info.sqlite" in str(caught.value)


@pytest.mark.parametrize(
    "content, sentence",
    [
        pytest.param(b"Ticker,Name\nA,B\n", "no column Symbol", id="another column"),
        pytest.param(b"Symbol,Name\nA,\xff\n", "not a CSV file in UTF-8", id="not UTF-8"),
        pytest.param(b"", "no column", id="empty"),
    ],
)
def test_unusable_names(files: Path, content: bytes, sentence: str) -> None:
    (files / "finance/company_name.dict").write_bytes(content)
    with pytest.raises(SourceError, match=sentence):
        list(CragApi(files).names("company"))


def test_the_fingerprint_sees_either_format(files: Path) -> None:
    seen = {CragApi(files).fingerprint()}
    (files / "finance/finance_info.sqlite").unlink()
    seen.add(CragApi(files).fingerprint())
    write_json(files / "finance/finance_info.sqlite", INFO)
    seen.add(CragApi(files).fingerprint())
    write_json(files / "finance/finance_info.sqlite", {})
    seen.add(CragApi(files).fingerprint())
    assert len(seen) == 4
