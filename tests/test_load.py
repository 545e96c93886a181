"""Reading domain files: what a good one becomes, and what is said about a wrong one."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.domain import Column, Domain, Fetch, Fill, Link, Object, Role, Value, Via
from kg.errors import DomainError
from kg.load import BUILT_IN, json_schema, load_domain, load_domains

# Complete, and with every key the format has; the line numbers below count from 1.
ZOO = """\
domain: zoo
about: Animals and their keepers.
source: zoo-api
tables:
  animal:
    about: One row per animal.
    says: [animal, beast]
    asks: [which]
    key: [id]
    label: name
    rank: -weight
    changes: slow
    columns:
      id: {type: BIGINT, about: number}
      name: {type: TEXT, about: given name, match: name}
      born: {type: DATE, about: day of birth, asks: [when ... born], least: [oldest]}
      born_year: {type: INTEGER, about: year of born, year_of: born}
      weight: {type: DOUBLE, about: weight, unit: kg, null_when: [0], most: [heaviest]}
      order: {type: TEXT, about: the order, values: {Carnivora: [carnivore], "no": [none]}}
      tame: {type: BOOLEAN, about: whether it is, values: {true: [tame], any: [beast]}}
    via:
      - {needs: born_year, through: births, match: year, take: animal_id, gives: id}
  keeper:
    about: One row per keeper.
    key: [id]
    label: name
    columns:
      id: {type: BIGINT, about: number}
      name: {type: TEXT, about: name}
  cast:
    about: Who keeps whom.
    key: [animal_id, keeper_id]
    assume: {post: head}
    columns:
      animal_id: {type: BIGINT, about: the animal, links: animal.id}
      keeper_id: {type: BIGINT, about: the keeper, links: {to: keeper.id, where: keeper.id > cast.animal_id}}
      post: {type: TEXT, about: the post}
    roles:
      - {of: animal, to: keeper, where: {post: head}, noun: [head keeper], verb: [keep], back: [kept by]}
  births:
    about: Animals by year of birth.
    key: [year, animal_id]
    columns:
      year: {type: INTEGER, about: year}
      animal_id: {type: BIGINT, about: the animal, links: animal.id}
objects:
  animal:
    key: [id]
    fills:
      animal: {}
      cast: {each: "keepers[*]", columns: {animal_id: "^id", keeper_id: id}}
  keeper:
    key: [id]
    fills:
      keeper: {lacks: [name]}
  year:
    key: ["@year"]
    fills:
      births: {each: "ids[*]", columns: {year: "@year", animal_id: "."}}
fetches:
  animal_by_id: {call: "GET /animals/{id}", args: {id: id}, gives: animal}
  animal_search: {call: POST /animals, args: {query: name}, gives: animal, rows: "$[*]", search: 10}
  keeper_by_id: {call: POST /keeper, args: {query: id}, gives: keeper}
  by_year: {call: POST /births, args: {year: year}, gives: year, limits: {year: [1900, 2024]}}
"""


def load(tmp_path: Path, text: str, name: str = "zoo.yaml") -> Domain:
    file = tmp_path / name
    file.write_text(text)
    return load_domain(file)


def problems(tmp_path: Path, text: str | bytes) -> list[str]:
    """What is said about `text`, each as `line: sentence`."""
    file = tmp_path / "zoo.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DomainError) as e:
        load_domain(file)
    assert all(p.startswith(f"{file}:") for p in e.value.problems)
    return [p.removeprefix(f"{file}:") for p in e.value.problems]


def changed(*changes: tuple[str, str]) -> str:
    text = ZOO
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} must be there once"
        text = text.replace(old, new)
    return text


def test_a_file_becomes_a_domain(tmp_path):
    zoo = load(tmp_path, ZOO)
    assert (zoo.name, zoo.source, [t.name for t in zoo.tables]) == (
        "zoo",
        "zoo-api",
        ["animal", "keeper", "cast", "births"],
    )
    animal, cast = zoo.table("animal"), zoo.table("cast")
    assert (animal.key, animal.label, animal.rank, animal.changes, animal.says) == (
        ("id",), "name", "-weight", "slow", ("animal", "beast"),
    )  # fmt: skip
    assert animal.column("weight") == Column(
        "weight", "DOUBLE", "weight", unit="kg", most=("heaviest",), null_when=(0.0,)
    )
    assert animal.column("born_year").year_of == "born"
    assert animal.column("order").values == (Value("Carnivora", ("carnivore",)), Value("no", ("none",)))
    assert animal.column("tame").values == (Value(True, ("tame",)), Value(None, ("beast",)))
    assert animal.via == (Via("born_year", "births", "year", "animal_id", "id"),)
    assert cast.column("animal_id").links == Link("animal", "id")
    assert cast.column("keeper_id").links == Link("keeper", "id", "keeper.id > cast.animal_id")
    assert cast.assume == (("post", "head"),)
    assert cast.roles == (
        Role("animal", "keeper", (("post", "head"),), noun=("head keeper",), verb=("keep",), back=("kept by",)),
    )
    assert zoo.objects[0] == Object(
        "animal", ("id",), (Fill("animal"), Fill("cast", "keepers[*]", (("animal_id", "^id"), ("keeper_id", "id")))),
    )  # fmt: skip
    assert zoo.objects[1].fills == (Fill("keeper", lacks=("name",)),)
    assert zoo.fetches[0] == Fetch("animal_by_id", "/animals/{id}", "animal", (("id", "id"),), method="GET")
    assert (zoo.fetches[1].rows, zoo.fetches[1].search) == ("$[*]", 10)
    assert zoo.fetches[3].limits == (("year", 1900, 2024),)


def test_every_mistake_is_reported_at_once_with_its_line(tmp_path):
    text = changed(
        ("source: zoo-api", "sorce: zoo-api"),
        ("    label: name\n    rank: -weight", "    label: nmae\n    rank: -wieght"),
        ("type: DATE,", "type: DAT,"),
        ("null_when: [0]", "null_when: [none]"),
        ('"no": [none]', "no: [none]"),
        ("through: births", "through: birth"),
        ("{post: head}, noun", "{job: head}, noun"),
        ("links: {to: keeper.id, where: keeper.id > cast.animal_id}", "links: {to: keper.id}"),
        ("      year: {type: INTEGER, about: year}", "      year: {type: INTEGER, about: year}\n      Month: {type: INTEGER, about: month}"),
        ('each: "keepers[*]", columns: {animal_id: "^id"', 'each: "keepers[*]", columns: {animal: "^id"'),
        ("args: {id: id}, gives: animal}", "args: {id: nmae}, gives: animal}"),
        ("{query: name}, gives: animal,", "{query: nom}, gives: animal,"),
    )  # fmt: skip
    assert problems(tmp_path, text) == [
        "1: the domain needs the key 'source'.",
        "3: a domain has no key 'sorce'. Did you mean 'source'?",
        "10: tables.animal.label: 'nmae' is not a column of animal. Did you mean 'name'?",
        "11: tables.animal.rank: 'wieght' is not a column of animal. Did you mean 'weight'?",
        "16: tables.animal.columns.born.type: 'DAT' is not known. Did you mean 'DATE'?",
        "18: tables.animal.columns.weight.null_when: `none` is not a number (like 1.5 or 1.0e+9, without quotes).",
        "19: tables.animal.columns.order.values: YAML reads `no` as true or false; put it in quotes.",
        "22: tables.animal.via[0].through: 'birth' is not a table. Did you mean 'births'?",
        "36: tables.cast.columns.keeper_id.links: 'keper' is not a table. Did you mean 'keeper'?",
        "39: tables.cast.roles[0].where: 'job' is not a column of cast. There is: animal_id, keeper_id, post.",
        "45: tables.births.columns.Month: 'Month' is not a lower-case SQL name (letters, digits, single underscores).",
        "52: objects.animal.fills.cast.columns: 'animal' is not a column of cast. Did you mean 'animal_id'?",
        "62: fetches.animal_by_id.args.id: 'nmae' is not a field of animal's key or a column that it fills. Did you mean 'name'?",
        "63: fetches.animal_search.args.query: 'nom' is not a column of animal. Did you mean 'name'?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "old, new, said",
    [
        # YAML itself
        pytest.param("asks: [which]", "asks: [which", "9: this is not YAML: while parsing a flow sequence", id="an open bracket"),
        pytest.param("asks: [which]", "\tasks: [which]", "8: this is not YAML", id="a tab as indentation"),
        pytest.param("    label: name\n    rank: -weight", "    label: name\n    label: id", "11: the key 'label' is here twice; the first is in line 10.", id="a key twice"),
        pytest.param("says: [animal, beast]", "says: &a [animal]", "7: anchors and aliases ('a') are not allowed; write it out.", id="an anchor"),
        pytest.param("says: [animal, beast]", "says: *a", "7: anchors and aliases ('a') are not allowed; write it out.", id="an alias"),
        pytest.param("says: [animal, beast]", "says: [!!str animal]", "7: tags ('tag:yaml.org,2002:str') are not allowed.", id="a tag"),
        pytest.param("says: [animal, beast]", "<<: {about: x}", "7: tables.animal has no key '<<'.", id="a merge key"),
        pytest.param("fetches:", "---\nfetches:", "60: a second document starts here; a file holds one.", id="two documents"),
        pytest.param("says: [animal, beast]", "? [animal]\n    : beast", "7: a key must be a plain word.", id="a list as key"),
        pytest.param("says: [animal, beast]", f"says: {'[' * 50}{']' * 50}", "7: this is nested more than 16 deep.", id="nesting"),
        # what YAML makes of plain words
        pytest.param("[animal, beast]", "[animal, yes]", "7: tables.animal.says[1]: YAML reads `yes` as true or false; put it in quotes.", id="yes is a flag"),
        pytest.param("about: given name", "about: 1:30", "15: tables.animal.columns.name.about: YAML reads `1:30` as a number; put it in quotes.", id="1:30 is 90"),
        pytest.param("[animal, beast]", "[animal, 2001]", "7: tables.animal.says[1]: YAML reads `2001` as a number; put it in quotes.", id="a number as phrase"),
        pytest.param("about: day of birth", "about: 2001-01-01", "16: tables.animal.columns.born.about: YAML reads `2001-01-01` as a date; put it in quotes.", id="a date as text"),
        pytest.param("null_when: [0]", "null_when: [012]", "18: tables.animal.columns.weight.null_when: `012` is not a number", id="012 is 10"),
        pytest.param("search: 10", "search: 0x10", "62: fetches.animal_search.search: `0x10` is not a whole number", id="hexadecimal"),
        pytest.param("values: {true:", "values: {yes:", "20: tables.animal.columns.tame.values: `yes` is not true or false (without quotes).", id="yes for a flag"),
        pytest.param('"no": [none]', "id: 7", "19: tables.animal.columns.order.values.id must be a list in [brackets], not a single value.", id="phrases not in a list"),
        # shape
        pytest.param("    says: [animal, beast]", "    sayz: [animal, beast]", "7: tables.animal has no key 'sayz'. Did you mean 'says'?", id="unknown key of a table"),
        pytest.param("unit: kg", "units: kg", "18: tables.animal.columns.weight has no key 'units'. Did you mean 'unit'?", id="unknown key of a column"),
        pytest.param("  keeper:\n    about: One row per keeper.\n    key: [id]\n", "  keeper:\n    about: One row per keeper.\n", "23: tables.keeper needs the key 'key'.", id="key missing"),
        pytest.param("{type: TEXT, about: the post}", "{type: TEXT}", "37: tables.cast.columns.post needs the key 'about'.", id="about missing"),
        pytest.param("about: given name", "about: ''", "15: tables.animal.columns.name.about is empty.", id="about empty"),
        pytest.param("[carnivore]", "[]", "19: tables.animal.columns.order.values.Carnivora must have something in it; leave the key out otherwise.", id="no phrase"),
        pytest.param("[carnivore]", "['']", "19: tables.animal.columns.order.values.Carnivora[0] is empty.", id="empty phrase"),
        pytest.param("[animal, beast]", "[animal, animal]", "7: tables.animal.says has 'animal' twice.", id="a phrase twice"),
        pytest.param("says: [animal, beast]", "says: animal", "7: tables.animal.says must be a list in [brackets], not a single value.", id="a list is wanted"),
        pytest.param("about: One row per animal.", "about: [x]", "6: tables.animal.about must be a text, not a list.", id="a text is wanted"),
        pytest.param("objects:\n", "objects: none\nthings:\n", "46: objects must be a mapping, not a single value.", id="a mapping is wanted"),
        pytest.param("changes: slow", "changes: slowly", "12: tables.animal.changes: 'slowly' is not known. Did you mean 'slow'?", id="unknown choice"),
        pytest.param("match: name}", "match: named}", "15: tables.animal.columns.name.match: 'named' is not known. Did you mean 'name'?", id="unknown match"),
        pytest.param("type: DOUBLE", "type: FLOAT", "18: tables.animal.columns.weight.type: 'FLOAT' is not known. There is: TEXT, INTEGER,", id="unknown type"),
        pytest.param("  births:\n", "  births__all:\n", "40: tables.births__all: 'births__all' is not a lower-case SQL name", id="two underscores"),
        pytest.param("domain: zoo", "domain: my zoo", "1: domain: 'my zoo' is not a lower-case SQL name", id="domain name"),
        pytest.param("call: POST /keeper", "call: PUT /keeper", "63: fetches.keeper_by_id.call: 'PUT /keeper' is not GET or POST and a /path.", id="another method"),
        pytest.param("search: 10", "search: 0", "62: fetches.animal_search.search: 0 is less than 1.", id="a search of nothing"),
        pytest.param("[1900, 2024]", "[1900]", "64: fetches.by_year.limits.year must have 2 items.", id="half a range"),
        # references
        pytest.param("key: [animal_id, keeper_id]", "key: [animal_id, kepeer_id]", "32: tables.cast.key: 'kepeer_id' is not a column of cast. Did you mean 'keeper_id'?", id="key"),
        pytest.param("year_of: born}", "year_of: brn}", "17: tables.animal.columns.born_year.year_of: 'brn' is not a column of animal. Did you mean 'born'?", id="year_of"),
        pytest.param("year_of: born}", "year_of: name}", "17: tables.animal.columns.born_year.year_of: name is not a DATE or TIMESTAMP.", id="year of a text"),
        pytest.param("{type: BIGINT, about: the keeper, links: {to: keeper.id,", "{type: BIGINT, about: the keeper, links: {to: keeper.ids,", "36: tables.cast.columns.keeper_id.links: 'ids' is not a column of keeper. Did you mean 'id'?", id="link to no column"),
        pytest.param("links: {to: keeper.id,", "links: {to: keeper.name,", "36: tables.cast.columns.keeper_id.links: keeper_id is BIGINT, but keeper.name is TEXT.", id="link to another type"),
        pytest.param("where: keeper.id > cast.animal_id", "where: keeper.id > >", "36: tables.cast.columns.keeper_id.links.where: this is not an SQL condition:", id="where is no SQL"),
        pytest.param("where: keeper.id > cast.animal_id", "where: keeper.id > cast.x", "36: tables.cast.columns.keeper_id.links.where: 'x' is not a column of cast.", id="where names no column"),
        pytest.param("where: keeper.id > cast.animal_id", "where: id > 3", "36: tables.cast.columns.keeper_id.links.where: write 'id' as cast.id or keeper.id.", id="where without table"),
        pytest.param("where: keeper.id > cast.animal_id", "where: keeper.id IN (SELECT 1)", "36: tables.cast.columns.keeper_id.links.where: only the columns of cast and keeper can be compared; no SELECT.", id="where with SELECT"),
        pytest.param("{post: head}\n    columns", "{post: 1}\n    columns", "33: tables.cast.assume.post: YAML reads `1` as a number; put it in quotes.", id="assumed value of another type"),
        pytest.param("assume: {post: head}", "assume: {job: head}", "33: tables.cast.assume: 'job' is not a column of cast.", id="assumed column"),
        pytest.param("to: keeper, where", "to: keepers, where", "39: tables.cast.roles[0].to: 'keepers' is not a table. Did you mean 'keeper'?", id="role of no table"),
        pytest.param("to: keeper, where", "to: births, where", "39: tables.cast.roles[0].to: no column of cast links to births.", id="role of a table that is not linked"),
        pytest.param(", noun: [head keeper], verb: [keep], back: [kept by]", "", "39: tables.cast.roles[0] needs words: noun, verb or back.", id="role without words"),
        pytest.param("match: year, take", "match: yer, take", "22: tables.animal.via[0].match: 'yer' is not a column of births. Did you mean 'year'?", id="via"),
        pytest.param("label: name\n    rank: -weight", "label: weight\n    rank: -weight", "10: tables.animal.label: weight is DOUBLE; rows are called by a TEXT.", id="a number as label"),
        pytest.param("about: weight, unit", "about: weight, match: contains, unit", "18: tables.animal.columns.weight.match: only a TEXT is compared by contains.", id="match of a number"),
        # objects and fetches
        pytest.param("      cast: {each", "      cats: {each", "51: objects.animal.fills: 'cats' is not a table. Did you mean 'cast'?", id="fill of no table"),
        pytest.param("lacks: [name]", "lacks: [nam]", "55: objects.keeper.fills.keeper.lacks: 'nam' is not a column of keeper. Did you mean 'name'?", id="lacks no column"),
        pytest.param("lacks: [name]", "lacks: [name], columns: {name: n}", "55: objects.keeper.fills.keeper: name is both filled and lacking.", id="filled and lacking"),
        pytest.param('columns: {animal_id: "^id", keeper_id: id}', "columns: {keeper_id: id}", '51: objects.animal.fills.cast puts the key id in no column. Add one under columns, as in {animal_id: "^id"}.', id="an unplaced key"),
        pytest.param('columns: {year: "@year",', 'columns: {year: "@yaer",', "59: objects.year.fills.births.columns.year: 'yaer' is not an argument of a call that gives year. Did you mean 'year'?", id="no such argument"),
        pytest.param("lacks: [name]", "each: 'a..b'", "55: objects.keeper.fills.keeper.each: 'a..b' is not where rows are", id="not a path"),
        pytest.param("gives: keeper}", "gives: keper}", "63: fetches.keeper_by_id.gives: 'keper' is not an object. Did you mean 'keeper'?", id="fetch gives nothing"),
        pytest.param("args: {query: id}", "args: {query: name}", "63: fetches.keeper_by_id.args.query: 'name' is not a field of keeper's key or a column that it fills. There is: id.", id="an input that is lacking"),
        pytest.param("/animals/{id}", "/animals/{ident}", "61: fetches.animal_by_id.call: 'ident' is not an argument of animal_by_id.", id="no argument for the path"),
        pytest.param("limits: {year:", "limits: {years:", "64: fetches.by_year.limits: 'years' is not an argument of by_year. Did you mean 'year'?", id="limit of no argument"),
        pytest.param("[1900, 2024]", "[2024, 1900]", "64: fetches.by_year.limits.year: 2024 is more than 1900.", id="range upside down"),
        pytest.param("gives: year, limits", "gives: animal, limits", "56: no fetch gives the object year.", id="an object that never comes"),
        pytest.param("limits: {year: [1900, 2024]}", "limits: {year: [1900, 2024]}, fixed: {year: 1}", "64: fetches.by_year.fixed: year is also among args.", id="an argument twice"),
        pytest.param("search: 10", "search: 10, limits: {query: [1, 2]}", "62: fetches.animal_search.limits.query: name is TEXT; limits are of numbers, and of periods.", id="limits of a text"),
        pytest.param("args: {query: name}, gives: animal", "args: {}, gives: animal", "62: fetches.animal_search: a search needs an argument.", id="a search for nothing"),
        pytest.param("limits: {year: [1900, 2024]}", "periods: [year]", "64: fetches.by_year.periods: year is INTEGER, not a DATE.", id="a period of a number"),
        pytest.param("limits: {year: [1900, 2024]}", "periods: [yaer]", "64: fetches.by_year.periods: 'yaer' is not an argument of by_year. Did you mean 'year'?", id="a period of no argument"),
        pytest.param("limits: {year: [1900, 2024]}", "as_list: [yaer]", "64: fetches.by_year.as_list: 'yaer' is not an argument of by_year. Did you mean 'year'?", id="a list of no argument"),
        pytest.param("limits: {year: [1900, 2024]}", "fixed: {kind: [1]}", "64: fetches.by_year.fixed.kind must be a single value, not a list.", id="a list that is fixed"),
        pytest.param("limits: {year: [1900, 2024]}", "shape: pairs", "64: fetches.by_year.shape: 'pairs' is not known. There is: entries, columns, parallel, tuple, value.", id="unknown shape"),
        pytest.param("limits: {year: [1900, 2024]}", "shape: tuple", "64: fetches.by_year: the shape tuple needs names, those of its fields in order.", id="a tuple without names"),
        pytest.param('each: "ids[*]",', 'each: ids, shape: entries, names: [a],', "59: objects.year.fills.births.names: the shape entries has names of its own; only parallel and tuple are given some.", id="names of entries"),
        pytest.param('each: "ids[*]",', 'each: "ids[*]", names: [a],', "59: objects.year.fills.births.names: without a shape there are names of its own;", id="names of nothing"),
        pytest.param('each: "ids[*]", columns: {year: "@year", animal_id: "."}', 'each: ids, shape: parallel, names: [a, b], columns: {year: "@year", animal_id: c}', "59: objects.year.fills.births.columns.animal_id: 'c' is not a field of the row. There is: a, b.", id="no such name"),
        pytest.param('each: "ids[*]", columns: {year: "@year", animal_id: "."}', 'each: ids, shape: parallel, names: [a, b], columns: {year: "@year", animal_id: "."}', '59: objects.year.fills.births.columns.animal_id: a row of the shape parallel has fields, and is no value (".").', id="a row that is no value"),
        pytest.param('animal_id: "."}', 'animal_id: numbr(.)}', "59: objects.year.fills.births.columns.animal_id: 'numbr' is not a function. Did you mean 'number'?", id="unknown function"),
        pytest.param('animal_id: "."}', 'animal_id: number(year(.)}', "59: objects.year.fills.births.columns.animal_id: the brackets of 'number(year(.)' do not match.", id="brackets"),
        pytest.param('animal_id: "."}', 'animal_id: previous(^id)}', "59: objects.year.fills.births.columns.animal_id: previous() is of a field of rows, and an object has but one row here.", id="the object before"),
        pytest.param("lacks: [name]", "lacks: [name], columns: {id: previous(id)}", "55: objects.keeper.fills.keeper.columns.id: previous() is of a field of rows,", id="the row before the only one"),
        pytest.param("changes: slow", "changes: slow\n    moment: bron", "13: tables.animal.moment: 'bron' is not a column of animal. Did you mean 'born'?", id="no such moment"),
        pytest.param("changes: slow", "changes: slow\n    moment: name", "13: tables.animal.moment: name is TEXT, not a DATE or TIMESTAMP.", id="a moment that is a text"),
        pytest.param("changes: slow", "changes: slow\n    text: born", "13: tables.animal.text: born is DATE, not a TEXT.", id="sentences that are a date"),
        pytest.param("changes: slow", "changes: slow\n    properties: name", "13: tables.animal: properties goes with value, which is missing.", id="properties without values"),
        pytest.param("{lacks: [name]}", "[{}, {lacks: [name]}]", "55: objects.keeper.fills.keeper[1]: the fills of keeper must put the key in the same columns, and lack the same ones.", id="two fills that differ"),
        pytest.param("{lacks: [name]}", "[{}, {colums: {}}]", "55: objects.keeper.fills.keeper[1] has no key 'colums'. Did you mean 'columns'?", id="a mistake in the second fill"),
        pytest.param("  keeper:\n    key: [id]\n    fills", '  keeper:\n    key: [id, "."]\n    fills', '53: objects.keeper.key: a bare value (".") has no field id.', id="a bare value with fields"),
        pytest.param("  keeper:\n    key: [id]\n    fills", '  keeper:\n    key: ["."]\n    fills', '55: objects.keeper.fills.keeper puts the key . in no column. Add one under columns, as in {keeper: "."}.', id="an unplaced bare value"),
        pytest.param("gives: keeper}", "gives: keeper, shape: tuple, names: [nr, name]}", "53: objects.keeper.key: 'id' is not a field of keeper. There is: nr, name.", id="a key that is not among the names"),
        pytest.param("  by_year: {", "  by_day: {call: GET /b, args: {day: animal_id}, gives: year}\n  by_year: {", "57: objects.year.key: 'year' is not an argument of by_day, which gives year too.", id="an argument that one call lacks"),
        pytest.param("args: {id: id}, gives: animal}", "args: {id: keeper_id, name: weight}, gives: animal}", "61: fetches.animal_by_id.args: no table that animal fills has keeper_id and weight.", id="inputs of two tables"),
        pytest.param("  births:\n    about: Animals by year of birth.\n", "  births:\n    about: Animals by year of birth.\n    roles: [{of: animal, to: births, noun: [birth]}]\n", "42: tables.births.roles[0].to: no column of births links to births. A role belongs to the table that links the two.", id="a role of the table itself"),
        pytest.param("      keeper: {lacks: [name]}", "      animal: {}", "23: no object fills the table keeper.", id="a table that stays empty"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_the_way_out(tmp_path, old, new, said):
    found = problems(tmp_path, changed((old, new)))
    assert [p for p in found if p.startswith(said)], found


@pytest.mark.parametrize(
    "source, said",
    [
        pytest.param(b"", "1: the file must be a mapping, not a single value.", id="empty"),
        pytest.param(b"- a\n", "1: the file must be a mapping, not a list.", id="a list"),
        pytest.param(b"domain: zoo\nabout: \xff\n", "2: this is not UTF-8 text.", id="not UTF-8"),
        pytest.param(
            b"domain: zoo\nabout: \x07\n", "2: this is not YAML: control characters are not allowed.", id="a bell"
        ),
        pytest.param(b"#" * 1_000_001, "1: the file has 1,000,001 bytes; 1,000,000 are allowed.", id="too long"),
        pytest.param(b"[" * 200_000, "1: this is nested more than 16 deep.", id="what crashes PyYAML's composer"),
    ],
)
def test_what_is_no_domain_file_at_all(tmp_path, source, said):
    assert problems(tmp_path, source)[0] == said


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_a_domain_or_a_domain_error(data, tmp_path_factory):
    lines = ZOO.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in "ab")
        text = data.draw(st.text(alphabet="[]{}:,-&*!|>'\"@^$ \n\tano01", max_size=4))
        cut = data.draw(st.integers(0, len(lines[at])))
        lines[at] = data.draw(
            st.sampled_from([lines[at][:cut] + text + lines[at][cut:], lines[at][:cut], lines[other]])
        )
    file = tmp_path_factory.mktemp("damaged") / "zoo.yaml"
    file.write_text("\n".join(lines))
    try:
        domain = load_domain(file)
    except DomainError as e:
        assert all(p.startswith(f"{file}:") for p in e.problems)  # noqa: PT017 - either outcome is right
    else:
        assert domain.accesses.keys() == domain.by_name.keys()


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DomainError, match=r"gone\.yaml:0: the file cannot be read: No such file or directory\."):
        load_domain(tmp_path / "gone.yaml")


SHAPED = (
    ("changes: slow", "changes: slow\n    moment: born"),
    ("{lacks: [name]}", "[{shape: tuple, names: [id], columns: {id: ^id}}, {columns: {id: id}, lacks: [name]}]"),
    (
        "search: 10}",
        "search: 10}\n  all: {call: GET /all, args: {}, gives: animal, fixed: {top: 5, sort: name, all: true, far: 1.5}}",
    ),
    ("limits: {year: [1900, 2024]}", "as_list: [year]"),
    ("args: {query: id}, gives: keeper", "args: {query: id}, gives: keeper, rows: $.data, shape: entries"),
)


def test_shapes_and_calls_become_values(tmp_path):
    zoo = load(tmp_path, changed(*SHAPED))
    assert zoo.table("animal").moment == "born"
    one, two = zoo.objects[1].fills
    assert one == Fill("keeper", columns=(("id", "^id"),), lacks=("name",), shape="tuple", names=("id",))
    assert two == Fill("keeper", columns=(("id", "id"),), lacks=("name",))
    assert zoo.objects[1].tables == ("keeper",)
    calls = {f.name: f for f in zoo.fetches}
    assert calls["all"].fixed == (("top", 5), ("sort", "name"), ("all", True), ("far", 1.5))
    assert calls["by_year"].as_list == ("year",)
    assert (calls["keeper_by_id"].rows, calls["keeper_by_id"].shape) == ("$.data", "entries")
    assert [(a.fetch.name, a.needs) for a in zoo.accesses["keeper"]] == [("keeper_by_id", ("id",))]
    assert ("all", ()) in [(a.fetch.name, a.needs) for a in zoo.accesses["cast"]]


def test_a_table_that_no_call_reaches_is_reported(tmp_path):
    text = changed(
        ("args: {id: id}, gives: animal", "args: {id: tame}, gives: animal"),
        ("GET /animals/{id}", "GET /animals"),
        ('  animal_search: {call: POST /animals, args: {query: name}, gives: animal, rows: "$[*]", search: 10}\n', ""),
    )
    assert problems(tmp_path, text) == ["30: no call has all its inputs in the table cast."]


def test_a_listing_is_of_the_tables_that_have_its_column(tmp_path):
    text = changed(
        ("search: 10}", "search: 10}\n  born_on: {call: GET /born, args: {day: born}, gives: animal, periods: [day]}")
    )
    zoo = load(tmp_path, text)
    assert ("born_on", ("born",)) in [(a.fetch.name, a.needs) for a in zoo.accesses["animal"]]
    assert "born_on" not in [a.fetch.name for a in zoo.accesses["cast"]]


@pytest.mark.parametrize(
    "text, same",
    [
        pytest.param("# a comment\n" + ZOO, True, id="comments do not count"),
        pytest.param(ZOO.replace(" {type", "   {type").replace("slow\n", "'slow'\n\n"), True, id="nor does layout"),
        pytest.param(changed(("label: name\n    rank: -weight", "rank: -weight\n    label: name")), True, id="nor the order of keys"),
        pytest.param(changed(("[animal, beast]", "[animal, creature]")), False, id="words count"),
        pytest.param(changed(("search: 10", "search: 20")), False, id="so do calls"),
    ],
)  # fmt: skip
def test_the_digest_is_of_the_meaning(tmp_path, text, same):
    assert (load(tmp_path, ZOO).digest == load(tmp_path, text, "other.yaml").digest) is same


def test_tables_of_a_domain_without_calls_need_no_filling(tmp_path):
    assert load(tmp_path, ZOO[: ZOO.index("objects:")]).accesses["animal"] == ()


@pytest.mark.parametrize(
    "files, said",
    [
        pytest.param({}, "there is no domain file (*.yaml) in this directory.", id="nothing found"),
        pytest.param({"a.yaml": ZOO, "b.yaml": ZOO}, "the domain 'zoo' is already declared in", id="a name twice"),
        pytest.param({"a.yaml": "x: 1", "b.yaml": ZOO}, "a domain has no key 'x'.", id="one of two is wrong"),
    ],
)
def test_a_domain_never_vanishes_quietly(tmp_path, files, said):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DomainError) as e:
        load_domains([tmp_path])
    assert said in str(e.value)
    if len(files) > 1:
        assert "a.yaml" in str(e.value)


def test_no_directory_at_all_is_an_error():
    with pytest.raises(DomainError, match="no directory"):
        load_domains([])


def test_the_built_in_domains_load():
    assert "movie" in load_domains([BUILT_IN])


@pytest.mark.parametrize(
    "table, ways",
    [
        ("movie", [("movie_by_id", ("id",), ()), ("movie_search", ("title",), ())]),
        ("person", [("person_by_id", ("id",), ()), ("person_search", ("name",), ())]),
        ("cast", [("movie_by_id", ("movie_id",), ())]),
        ("crew", [("movie_by_id", ("movie_id",), ())]),
        ("genre", [("movie_by_id", ("movie_id",), ())]),
        ("oscar_award", [("movie_by_id", ("movie_id",), ("person_id",)), ("person_by_id", ("person_id",), ("movie_id",)),
                         ("year_info", ("year_ceremony",), ("movie_id", "person_id"))]),
        ("released", [("year_info", ("year",), ())]),
        ("acted", [("person_by_id", ("person_id",), ())]),
        ("directed", [("person_by_id", ("person_id",), ())]),
    ],
)  # fmt: skip
def test_the_inputs_each_table_of_movie_can_be_asked_with(table, ways):
    movie = load_domain(BUILT_IN / "movie.yaml")
    assert [(a.fetch.name, a.needs, a.lacks) for a in movie.accesses[table]] == ways


def test_the_checked_in_json_schema_is_what_the_loader_reads():
    written = json.loads((BUILT_IN / "domain.schema.json").read_text())
    assert written == json_schema(), "run `make schema`"
    jsonschema.Draft202012Validator.check_schema(written)


def as_json(text: str) -> object:
    return json.loads(json.dumps(yaml.safe_load(text), default=str))  # keys such as 1 and true become texts


@pytest.mark.parametrize("file", sorted(BUILT_IN.glob("*.yaml")), ids=lambda f: f.stem)
def test_editors_accept_the_built_in_domains(file):
    jsonschema.validate(as_json(file.read_text()), json_schema())


@pytest.mark.parametrize(
    "old, new",
    [
        pytest.param("source: zoo-api", "sorce: zoo-api", id="unknown key"),
        pytest.param("type: DATE", "type: DAY", id="unknown type"),
        pytest.param("key: [animal_id, keeper_id]", "key: animal_id", id="not a list"),
        pytest.param("{type: TEXT, about: the post}", "{type: TEXT}", id="missing key"),
        pytest.param("  births:\n", "  Births:\n", id="capital letter"),
        pytest.param("[1900, 2024]", "[1900]", id="half a range"),
    ],
)
def test_editors_see_what_the_loader_refuses(old, new):
    jsonschema.validate(as_json(ZOO), json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_json(changed((old, new))), json_schema())
