"""Which names a question mentions, and what else they might mean."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.errors import StoreError
from kg.link import Known, Linker
from kg.link.words import words

COMMON = ["movie", "film", "actor", "director", "best picture", "budget", "album", "revenue"]
NAMES = [
    Known("The Lord of the Rings: The Return of the King", "movie", 1, 1118.0),
    Known("The Return of the King", "movie", 2, 0.0),
    Known("The Silence of the Lambs", "movie", 3, 272.0),
    Known("Kill Bill: Vol. 1", "movie", 4, 180.0),
    Known("Kill Bill: Vol. 2", "movie", 5, 152.0),
    Known("Pan's Labyrinth", "movie", 6, 83.0),
    Known("Haywire", "movie", 7, 33.0),
    Known("The Shining", "movie", 8, 44.0),
    Known("Amélie", "movie", 9, 173.0),
    Known("Inglourious Basterds", "movie", 10, 319.0),
    Known("Avatar", "movie", 11, 2787.0),
    Known("2001: A Space Odyssey", "movie", 12, 68.0),
    Known("1917", "movie", 13, 384.0),
    Known("Blade Runner 2049", "movie", 14, 259.0),
    Known("It", "movie", 15, 700.0),
    Known("Her", "movie", 16, 47.0),
    Known("Up", "movie", 17, 735.0),
    Known("Brave", "movie", 18, 538.0),
    Known("Frozen", "movie", 19, 1274.0),
    Known("Frozen", "movie", 20, 3.0),
    Known("Movie Movie", "movie", 21, 1.0),
    Known("WALL·E", "movie", 22, 521.0),
    Known("Ocean's Eleven", "movie", 23, 450.0),
    Known("Fast & Furious", "movie", 24, 360.0),
    Known("The Godfather: Part II", "movie", 25, 47.0),
    Known("E.T. the Extra-Terrestrial", "movie", 26, 792.0),
    Known("Wolfwalkers", "movie", 27, 0.0),
    Known("Titanic", "movie", 28, 2187.0),
    Known("Indiana Jones and the Temple of Doom", "movie", 29, 333.0),
    Known("Matrix, The", "movie", 30, 463.0),
    Known("Make Way for Tomorrow", "movie", 31, 1.0),
    Known("Leonardo DiCaprio", "person", 101, 40.0),
    Known("Quentin Tarantino", "person", 102, 30.0),
    Known("Steven Soderbergh", "person", 103, 50.0),
    Known("Stanley Kubrick", "person", 104, 16.0),
    Known("Vivian Kubrick", "person", 105, 2.0),
    Known("Arnold Schwarzenegger", "person", 106, 45.0),
    Known("Samuel L. Jackson", "person", 107, 90.0),
    Known("Gary Oldman", "person", 108, 60.0),
    Known("Gary Cooper", "person", 109, 70.0),
    Known("Titanic", "person", 110, 1.0),
    Known("Ron Howard", "person", 111, 30.0),
    Known("Byron Howard", "person", 112, 6.0),
    Known("Conan O'Brien", "person", 113, 5.0),
    Known("Beyoncé", "artist", "beyonce", 32.0),
    Known("The Kroger Co.", "company", "KR", 5.0),
    Known("Pool Corporation", "company", "POOL", 4.0),
    Known("Los Angeles Lakers", "team", (1, "LAL"), 17.0),
    Known("Côte d'Ivoire", "country", "CI", 1.0),
]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker(NAMES, common=COMMON)


def top(linker: Linker, question: str) -> list[tuple[str, str, str]]:
    """What `best` makes of a question: the words, and table and name of the first candidate."""
    return [(m.text, m.candidates[0].table, m.candidates[0].text) for m in linker.best(question)]


@pytest.mark.parametrize(
    "question, expected",
    [
        pytest.param("who directed pan's labyrinth", [("pan's labyrinth", "movie", "Pan's Labyrinth")], id="spelled out"),
        pytest.param("who directed pans labyrinth", [("pans labyrinth", "movie", "Pan's Labyrinth")], id="the apostrophe is left out"),
        pytest.param("soderbergh's haywire", [("soderbergh", "person", "Steven Soderbergh"), ("haywire", "movie", "Haywire")], id="a surname in the possessive"),
        pytest.param("who shot kubrick\u2019s the shining?", [("kubrick", "person", "Stanley Kubrick"), ("the shining", "movie", "The Shining")], id="curly apostrophe; the article is the title's"),
        pytest.param("wolfwalkers' budget", [("wolfwalkers", "movie", "Wolfwalkers")], id="possessive of a plural"),
        pytest.param("budget of wolfwalkers's", [("wolfwalkers", "movie", "Wolfwalkers")], id="an 's that is not the name's"),
        pytest.param("age of tarantino?", [("tarantino", "person", "Quentin Tarantino")], id="surname"),
        pytest.param("leo dicaprio age", [("leo dicaprio", "person", "Leonardo DiCaprio")], id="short first name"),
        pytest.param("leonardo di caprio age", [("leonardo di caprio", "person", "Leonardo DiCaprio")], id="a name torn apart"),
        pytest.param("films with samuel jackson", [("samuel jackson", "person", "Samuel L. Jackson")], id="no initial"),
        pytest.param("conan o brien", [("conan o brien", "person", "Conan O'Brien")], id="a blank for the apostrophe"),
        pytest.param("how old is arnold schwarzeneger", [("arnold schwarzeneger", "person", "Arnold Schwarzenegger")], id="typo"),
        pytest.param("schwarzeneger movies", [("schwarzeneger", "person", "Arnold Schwarzenegger")], id="typo in a surname"),
        pytest.param("cast of inglorious basterds", [("inglorious basterds", "movie", "Inglourious Basterds")], id="typo in a title"),
        pytest.param("what did silence of the lambs earn", [("silence of the lambs", "movie", "The Silence of the Lambs")], id="the article is left out"),
        pytest.param("the silence of the lamb", [("silence of the lamb", "movie", "The Silence of the Lambs")], id="singular for plural"),
        pytest.param("budget of the matrix", [("matrix", "movie", "Matrix, The")], id="stored with the article behind"),
        pytest.param("the temple of doom budget", [("temple of doom", "movie", "Indiana Jones and the Temple of Doom")], id="what follows 'and the'"),
        pytest.param("kill bill 1 vs kill bill volume two", [("kill bill 1", "movie", "Kill Bill: Vol. 1"), ("kill bill volume two", "movie", "Kill Bill: Vol. 2")], id="numbers"),
        pytest.param("the godfather 2", [("the godfather 2", "movie", "The Godfather: Part II")], id="roman numeral"),
        pytest.param("oceans 11", [("oceans 11", "movie", "Ocean's Eleven")], id="a digit for the word"),
        pytest.param("fast and furious", [("fast and furious", "movie", "Fast & Furious")], id="and for &"),
        pytest.param("amelie", [("amelie", "movie", "Amélie")], id="accents"),
        pytest.param("wall e", [("wall e", "movie", "WALL·E")], id="punctuation"),
        pytest.param("when was et the extra terrestrial made", [("et the extra terrestrial", "movie", "E.T. the Extra-Terrestrial")], id="acronym"),
        pytest.param("avatar (2009)", [("avatar", "movie", "Avatar")], id="a year in brackets is not the name's"),
        pytest.param("haywire, the 2011 movie", [("haywire", "movie", "Haywire")], id="a year behind is not the name's"),
        pytest.param("2001: a space odyssey (1968)", [("2001: a space odyssey", "movie", "2001: A Space Odyssey")], id="a year that is the name's"),
        pytest.param("blade runner 2049", [("blade runner 2049", "movie", "Blade Runner 2049")], id="a year at the end of a name"),
        pytest.param("1917 (2019) budget", [("1917", "movie", "1917")], id="a name that is a year"),
        pytest.param("films released in 1917", [], id="just a year"),
        pytest.param("which of brave, frozen is better", [("brave", "movie", "Brave"), ("frozen", "movie", "Frozen")], id="ordinary words are still found"),
        pytest.param("did he direct it before her first movie came up", [], id="function words alone are no names"),
        pytest.param('who directed "up"?', [("up", "movie", "Up")], id="quoted"),
        pytest.param("it (2017) budget", [("it", "movie", "It")], id="before a year"),
        pytest.param("who starred in her?", [("her", "movie", "Her")], id="at the end, where a title would be"),
        pytest.param("who acted in make way for tomorrow", [("make way for tomorrow", "movie", "Make Way for Tomorrow")], id="many frequent words in a row"),
        pytest.param("movies directed by ron howard", [("ron howard", "person", "Ron Howard")], id="'by' is not the name's"),
        pytest.param("hay, wire", [], id="a comma parts words"),
        pytest.param("kroger revenue", [("kroger", "company", "The Kroger Co.")], id="company"),
        pytest.param("when do the lakers play", [("lakers", "team", "Los Angeles Lakers")], id="team"),
        pytest.param("beyonce albums", [("beyonce", "artist", "Beyoncé")], id="artist"),
        pytest.param("capital of cote d'ivoire", [("cote d'ivoire", "country", "Côte d'Ivoire")], id="country"),
        pytest.param("which actor won best picture", [], id="words of the schema alone are no names"),
        pytest.param("", [], id="empty"),
    ],
)  # fmt: skip
def test_the_names_people_mean(linker: Linker, question: str, expected: list[tuple[str, str, str]]) -> None:
    assert top(linker, question) == expected


def test_a_mention_keeps_its_other_meanings(linker: Linker) -> None:
    (mention,) = linker.best("what about titanic")
    assert {c.table for c in mention.candidates} == {"movie", "person"}
    assert [c.key for c in mention.of("person")] == [110]


def test_a_subtitle_is_an_alternative_to_the_film_of_that_name(linker: Linker) -> None:
    (mention,) = linker.best("awards of return of the king")
    assert {c.key for c in mention.candidates} >= {1, 2}


def test_the_better_known_of_two_comes_first(linker: Linker) -> None:
    assert [c.key for c in linker.best("frozen")[0].candidates][:2] == [19, 20]
    assert [c.key for c in linker.best("kubrick")[0].candidates] == [104, 105]


def test_a_full_name_leaves_no_room_for_namesakes(linker: Linker) -> None:
    assert {c.text for m in linker.find("gary oldman") for c in m.candidates} == {"Gary Oldman"}


@pytest.mark.parametrize("question", ["it is what he gave her", "what came up"])
def test_frequent_words_score_low(linker: Linker, question: str) -> None:
    assert all(m.score <= 0.3 for m in linker.find(question))


def test_a_part_scores_below_the_whole_and_a_typo_below_both(linker: Linker) -> None:
    whole, part, typo = (
        linker.best(q)[0].candidates[0] for q in ("arnold schwarzenegger", "schwarzenegger", "schwarzeneger")
    )
    assert [whole.how, part.how, typo.how] == ["exact", "token", "fuzzy"]
    assert whole.score > part.score > typo.score


def test_what_most_names_end_in_does_not_count() -> None:
    shares = [Known(f"{w} Corporation Common Stock", "company", w, 1.0) for w in map("Firm{}".format, range(40))]
    linker = Linker([*shares, Known("Nvidia Corporation Common Stock", "company", "NVDA", 2.0)])
    assert [(m.text, m.score > 0.7) for m in linker.best("nvidia dividend")] == [("nvidia", True)]


def test_common_words_of_one_schema_are_names_in_another() -> None:
    names = [Known("Album", "song", 1, 1.0)]
    assert Linker(names).best("album length")
    assert not Linker(names, common=["album"]).best("album length")


@pytest.mark.parametrize(
    "name, table, key",
    [
        pytest.param("The Shining", None, 8, id="as stored"),
        pytest.param("the shinning", "movie", 8, id="typo"),
        pytest.param("it", None, 15, id="a frequent word by itself is a name"),
        pytest.param("Titanic", "person", 110, id="of one table only"),
        pytest.param("arnold schwarzenegger jr", None, 106, id="more words than the name"),
        pytest.param("lal", "team", None, id="nothing like it"),
        pytest.param("?!", None, None, id="no words"),
    ],
)
def test_lookup(linker: Linker, name: str, table: str | None, key: object) -> None:
    found = linker.lookup(name, table)
    assert (found[0].key if found else None) == key
    assert table is None or all(c.table == table for c in found)


@pytest.mark.parametrize(
    "prefix, expected",
    [
        pytest.param("kill", ["Kill Bill: Vol. 1", "Kill Bill: Vol. 2"], id="the better known first"),
        pytest.param("the sil", ["The Silence of the Lambs"], id="with an article"),
        pytest.param("sil", ["The Silence of the Lambs"], id="without it"),
        pytest.param("soder", ["Steven Soderbergh"], id="a later word"),
        pytest.param("AMÉ", ["Amélie"], id="case and accents"),
        pytest.param("zz", [], id="nothing"),
        pytest.param("", [], id="empty"),
    ],
)
def test_complete(linker: Linker, prefix: str, expected: list[str]) -> None:
    assert linker.complete(prefix, 2) == expected


def test_the_cache_gives_the_same_answers(linker: Linker, tmp_path: Path) -> None:
    linker.save(tmp_path / "names", "v1")
    again = Linker.load(tmp_path / "names", "v1", common=COMMON)
    assert again is not None
    for question in ("leo dicaprio in titanic", "when do the lakers play", "arnold schwarzeneger"):
        assert again.find(question) == linker.find(question)
    assert again.complete("kill", 5) == linker.complete("kill", 5)
    assert [p.name for p in tmp_path.iterdir()] == ["names"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda b: b"", id="empty"),
        pytest.param(lambda b: b[: len(b) // 2], id="cut off"),
        pytest.param(lambda b: b[:-9] + b"\xff" + b[-8:], id="a byte changed"),
        pytest.param(lambda b: b"[]\n" + b, id="another head"),
        pytest.param(lambda b: b"\x80\x04." + b, id="no JSON"),
    ],
)
def test_a_damaged_cache_is_rebuilt(tmp_path: Path, damage) -> None:
    path = tmp_path / "names"
    Linker(NAMES[:3]).save(path, "v1")
    path.write_bytes(damage(path.read_bytes()))
    assert Linker.load(path, "v1") is None
    assert len(Linker.cached(path, "v1", lambda: NAMES)) == len(NAMES)
    assert Linker.load(path, "v1") is not None


def test_a_cache_of_other_data_is_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "deeper" / "names"
    assert len(Linker.cached(path, "v1", lambda: NAMES[:3])) == 3
    assert len(Linker.cached(path, "v1", lambda: NAMES)) == 3
    assert len(Linker.cached(path, "v2", lambda: NAMES)) == len(NAMES)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "names"
    with pytest.raises(StoreError, match="cannot be written"):
        Linker(NAMES).save(path, "v1")
    assert len(Linker.cached(path, "v1", lambda: NAMES)) == len(NAMES)


def test_an_empty_catalogue_finds_nothing(tmp_path: Path) -> None:
    empty = Linker([])
    assert (empty.find("the shining"), empty.lookup("x"), empty.complete("x", 3)) == ((), (), [])
    empty.save(tmp_path / "names", "v1")
    assert Linker.load(tmp_path / "names", "v1") is not None


spoken = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1, max_size=30).filter(
    lambda t: 0 < len(words(t)) <= 20
)


@given(names=st.lists(spoken, min_size=1, max_size=8), pick=st.data())
@settings(max_examples=150, deadline=None)
def test_a_name_typed_as_stored_is_found(names: list[str], pick: st.DataObject) -> None:
    name = pick.draw(st.sampled_from(names))
    linker = Linker([Known(n, "thing", i) for i, n in enumerate(names)])
    found = linker.find(f"xqz wvk {name} kjq")
    assert any(c.text == name and c.how == "exact" for m in found for c in m.candidates)


text_near_names = st.lists(
    st.one_of(st.text(max_size=12), st.sampled_from([w for n in NAMES for w in n.text.split()] + ["'s", "(1999)", '"', "part", "2"]))
).map(" ".join)  # fmt: skip


@given(question=st.one_of(st.text(), text_near_names))
@settings(max_examples=300, deadline=None)
def test_any_text_can_be_asked(linker: Linker, question: str) -> None:
    found = linker.find(question)
    best = linker.best(question)
    linker.lookup(question)
    linker.complete(question, 3)
    for mention in found:
        assert question[mention.start : mention.end] == mention.text != ""
        assert list(mention.candidates) == sorted(mention.candidates, key=lambda c: -c.score)
        assert all(0 < c.score <= 1 for c in mention.candidates)
    assert all(a.end <= b.start for a, b in pairwise(best))


def test_a_flood_of_words_is_cut_off(linker: Linker) -> None:
    question = "who directed the shining " * 400 + "haywire"
    assert linker.find(question)
    assert "haywire" not in [m.text for m in linker.find(question)]


@pytest.mark.parametrize(
    "question, found",
    [
        pytest.param("how long did Up run there", ["Up"], id="a frequent word with its capital"),
        pytest.param("how long did up run there", [], id="the same without"),
        pytest.param("HOW LONG DID UP RUN", [], id="everything in capitals"),
        pytest.param("How Long Did Up Run", [], id="a capital on each word"),
        pytest.param("It did run how long there", [], id="the first word has one anyway"),
    ],
)
def test_capitals_tell_a_name(linker, question, found):
    assert [m.candidates[0].text for m in linker.best(question)] == found
