"""Tables in files: declared in YAML, read in place, cast as declared."""

import sqlite3
import textwrap
from pathlib import Path

import duckdb
import pytest

from engine.session import Session
from engine.settings import Settings
from kg.errors import DomainError, QueryError, SourceError, StoreError
from kg.load import load_domain

NOW = "2024-03-01"
YAML = """
    domain: shop
    about: What a shop sold.
    source: {source}
    tables:
      sale:
        about: One row per sale.
        says: [sale]
        {origin}
        key: [item, day]
        columns:
          item:  {{type: TEXT, about: what was sold, from: Item Name, links: item.name}}
          day:   {{type: DATE, about: when}}
          year:  {{type: INTEGER, about: the year of day, year_of: day}}
          price: {{type: DOUBLE, about: the price, null_when: [-1.0]}}
          many:  {{type: INTEGER, about: how many, from: count}}
      item:
        about: One row per thing that was sold.
        says: [item, thing]
        asks: [what]
        key: [name]
        label: name
        lists: [sale.item]
        columns:
          name: {{type: TEXT, about: its name, says: [name]}}
"""
ROWS = [("Apple", "2024-01-05", "1.5", "3"), ("Pear", "soon", "-1", "two"), ("Apple", "2023-02-01", "2", "1")]
HEAD = ("Item Name", "day", "price", "count")
READ = [("Apple", "2023-02-01", 2023, 2.0, 1), ("Apple", "2024-01-05", 2024, 1.5, 3), ("Pear", None, None, None, None)]


def write_csv(path: Path, rows=ROWS) -> None:
    path.write_text("\n".join(",".join(r) for r in [HEAD, *rows]), encoding="utf-8")


def write_json(path: Path) -> None:
    records = duckdb.sql(f"SELECT {_list(ROWS)} AS rows").fetchall()[0][0]
    path.write_text(str([dict(zip(HEAD, r, strict=True)) for r in records]).replace("'", '"'), encoding="utf-8")


def write_lines(path: Path) -> None:
    lines = [str(dict(zip(HEAD, r, strict=True))).replace("'", '"') for r in ROWS]
    path.write_text("\n".join(lines), encoding="utf-8")


def write_parquet(path: Path) -> None:
    duckdb.sql(f"COPY ({_select()}) TO '{path}' (FORMAT parquet)")


def write_duckdb(path: Path) -> None:
    with duckdb.connect(str(path)) as con:
        con.execute(f"CREATE TABLE sold AS {_select()}")


def write_sqlite(path: Path) -> None:
    con = sqlite3.connect(path)
    con.execute('CREATE TABLE sold ("Item Name" TEXT, day TEXT, price REAL, count)')
    con.executemany("INSERT INTO sold VALUES (?, ?, ?, ?)", ROWS)
    con.commit()
    con.close()


def _list(rows) -> str:
    return "[" + ", ".join("[" + ", ".join(f"'{v}'" for v in r) + "]" for r in rows) + "]"


def _select() -> str:
    columns = ", ".join(f'"{c}"' for c in HEAD)
    return f"SELECT * FROM (VALUES {', '.join(str(r) for r in ROWS)}) t({columns})"


def declare(directory: Path, source: str, origin: str = "") -> Path:
    file = directory / "shop.yaml"
    text = textwrap.dedent(YAML.format(source=source, origin="ORIGIN"))
    file.write_text(text.replace("ORIGIN", origin or "changes: static"), encoding="utf-8")
    return file


@pytest.fixture
def open_shop(tmp_path, request):
    """A session over a domain with the source and the origin given."""

    def open_(source: str, origin: str = "", store: Path | None = None) -> Session:
        declare(tmp_path, source, origin)
        session = Session(Settings(schemas=tmp_path, cache=tmp_path / "cache", encoder=False, store=store))
        request.addfinalizer(session.close)
        return session

    return open_


def rows_of(session: Session, program: str = "SELECT * FROM sale ORDER BY item, day") -> list[tuple]:
    return [tuple(str(v) if hasattr(v, "isoformat") else v for v in r) for r in session.run(program, "shop").rows]


@pytest.mark.parametrize(
    "name, write, source, origin",
    [
        pytest.param("sold.csv", write_csv, "{file: sold.csv}", "", id="csv"),
        pytest.param("sold.json", write_json, "{file: sold.json}", "", id="an array of JSON"),
        pytest.param("sold.jsonl", write_lines, "{file: sold.jsonl}", "", id="lines of JSON"),
        pytest.param("sold.parquet", write_parquet, "{file: sold.parquet}", "", id="parquet"),
        pytest.param("shop.duckdb", write_duckdb, "{file: shop.duckdb}", "from: sold", id="a table of DuckDB"),
        pytest.param("shop.db", write_sqlite, "{file: shop.db}", "from: sold", id="a table of SQLite"),
        pytest.param("sold.csv", write_csv, "{directory: .}", "from: sold.csv", id="a file of a directory"),
        pytest.param("sale.csv", write_csv, "{directory: .}", "", id="a file with the table's name"),
    ],
)
def test_rows_come_as_declared(open_shop, tmp_path, name, write, source, origin):
    write(tmp_path / name)
    session = open_shop(source, origin)
    assert rows_of(session) == READ
    assert rows_of(session, "SELECT name FROM item ORDER BY name") == [("Apple",), ("Pear",)]


def test_a_question_is_answered_from_a_file(open_shop, tmp_path):
    write_csv(tmp_path / "sold.csv")
    session = open_shop("{file: sold.csv}")
    answer = session.answer("how many sales of pear are there?", query_time=NOW, domain="shop")
    assert (answer.text, answer.calls) == ("1", 0)


def test_an_answer_names_the_file(open_shop, tmp_path):
    write_csv(tmp_path / "sold.csv")
    answer = open_shop("{file: sold.csv}").answer("how many sales of pear are there?", query_time=NOW, domain="shop")
    assert [(e.endpoint, e.args) for e in answer.evidence[0]] == [("sold.csv", "sale")]
    assert "from sold.csv sale" in answer.why()


def test_one_domain_without_its_file_does_not_silence_the_others(open_shop):
    assert open_shop("{file: gone.csv}").answer("who directed titanic?", query_time=NOW).text == "James Cameron"


def test_a_path_may_name_an_environment_variable(open_shop, tmp_path, monkeypatch):
    write_csv(tmp_path / "sold.csv")
    monkeypatch.setenv("SHOP_DATA", str(tmp_path))
    assert rows_of(open_shop('{file: "${SHOP_DATA}/sold.csv"}')) == READ


def test_a_changed_file_is_read_again(open_shop, tmp_path):
    write_csv(tmp_path / "sold.csv")
    session = open_shop("{file: sold.csv}")
    assert len(rows_of(session)) == 3
    write_csv(tmp_path / "sold.csv", [*ROWS, ("Fig", "2024-02-02", "9", "9")])
    assert len(rows_of(session)) == 4
    assert session.answer("how many sales of fig are there?", query_time=NOW, domain="shop").text == "1"


def test_a_changed_database_is_attached_again(open_shop, tmp_path):
    write_duckdb(tmp_path / "shop.duckdb")
    session = open_shop("{file: shop.duckdb}", "from: sold")
    assert len(rows_of(session)) == 3
    other = tmp_path / "other.duckdb"
    write_duckdb(other)
    with duckdb.connect(str(other)) as con:
        con.execute("DELETE FROM sold WHERE day = 'soon'")
    other.replace(tmp_path / "shop.duckdb")
    assert len(rows_of(session)) == 2


@pytest.mark.parametrize("name, write, origin", [("sold.csv", write_csv, ""), ("s.duckdb", write_duckdb, "from: sold")])
def test_a_store_in_a_file_holds_them_too(open_shop, tmp_path, name, write, origin):
    write(tmp_path / name)
    for _ in range(2):
        session = open_shop(f"{{file: {name}}}", origin, store=tmp_path / "kept" / "store.duckdb")
        assert session.store.notice == ""
        assert rows_of(session) == READ
        session.close()


@pytest.mark.parametrize(
    "name, text, source, origin, said",
    [
        pytest.param("", "", "{file: sold.csv}", "", "sold.csv: the file cannot be read: No such file", id="missing"),
        pytest.param("sold.csv", "Item Name,day,price\n", "{file: sold.csv}", "", "no column 'count'", id="column"),
        pytest.param("s.duckdb", "no database", "{file: s.duckdb}", "", "s.duckdb: the file cannot", id="no database"),
        pytest.param("s.db", "SQLite format 3\0" + "x" * 99, "{file: s.db}", "", "s.db: the file cannot", id="damaged"),
        pytest.param("sold.json", '[{"day": ', "{file: sold.json}", "", "sold.json: the file cannot", id="no JSON"),
        pytest.param("s.xls", "", "{directory: .}", "from: s.xls", "'.xls' is no kind of table file", id="no table"),
        pytest.param("a.csv", "", "{directory: .}", "", "no file for the table sale", id="no file of that name"),
        pytest.param("", "", '{file: "${SHOP_UNSET}/a.csv"}', "", "variable SHOP_UNSET is not set", id="unset"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(open_shop, tmp_path, name, text, source, origin, said):
    if name:
        (tmp_path / name).write_text(text, encoding="utf-8")
    session = open_shop(source, origin)
    with pytest.raises((SourceError, StoreError), match=said):
        rows_of(session)
    answer = session.answer("how many sales of fig are there?", query_time=NOW, domain="shop")
    assert answer.reason == "call_failed"
    assert said in answer.detail


def test_a_table_that_is_not_in_the_database_is_said(open_shop, tmp_path):
    write_duckdb(tmp_path / "shop.duckdb")
    with pytest.raises(SourceError, match="there is no table 'sale'"):
        rows_of(open_shop("{file: shop.duckdb}"))


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("SELECT * FROM read_csv('sold.csv')", id="a file function"),
        pytest.param("SELECT * FROM 'sold.csv'", id="a file as a table"),
        pytest.param("ATTACH 'sold.csv' AS s", id="a statement"),
    ],
)
def test_programs_reach_no_file(open_shop, tmp_path, program):
    write_csv(tmp_path / "sold.csv")
    session = open_shop("{file: sold.csv}")
    with pytest.raises(QueryError):
        session.run(program, "shop")


def test_the_store_opens_no_other_file(open_shop, tmp_path):
    write_csv(tmp_path / "sold.csv")
    write_csv(tmp_path / "secret.csv")
    session = open_shop("{file: sold.csv}")
    with pytest.raises(QueryError, match="Cannot access file"):
        session.store.run(f"SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")


@pytest.mark.parametrize(
    "old, new, said",
    [
        pytest.param("source: {file: a.csv}", "source: {file: a, directory: b}", "source must be a name", id="two"),
        pytest.param("source: {file: a.csv}", "source: crag", "lists: the source is no file", id="no files"),
        pytest.param("changes: static", "from: ../a.csv", "is outside the source", id="path upwards"),
        pytest.param("sale.item", "sale.itm", "'itm' is not a column of sale. Did you mean 'item'", id="column"),
        pytest.param("sale.item", "sales.item", "'sales' is not a table. Did you mean 'sale'", id="table"),
        pytest.param("sale.item", "item.name", "are listed themselves", id="a list of itself"),
        pytest.param("lists: [sale.item]", "lists: [sale.item]\n    from: a", "has one column", id="list and file"),
    ],
)
def test_mistakes_in_the_domain_file_are_said(tmp_path, old, new, said):
    file = declare(tmp_path, "{file: a.csv}")
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(DomainError, match=said.replace(".", r"\.")):
        load_domain(file)
