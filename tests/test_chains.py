"""Chains of roles: who did what with whom, two and three steps away, in the order of the words."""

from pathlib import Path

import pytest

from engine.session import Session
from engine.settings import Settings

NOW = "2024-03-01"
YAML = """
domain: theatre
about: Plays and people.
source: {directory: .}
tables:
  play:
    about: One row per play.
    says: [play, piece]
    asks: [which, what]
    key: [title]
    label: title
    lists: [staged.play]
    columns:
      title: {type: TEXT, about: the title}
  person:
    about: One row per person.
    says: [person, people]
    asks: [who, whom]
    key: [name]
    label: name
    lists: [wrote.person, staged.person, sang.person]
    columns:
      name: {type: TEXT, about: the name}
  season:
    about: One row per season.
    says: [season]
    asks: [when]
    key: [season]
    label: season
    lists: [opened.season]
    columns:
      season: {type: TEXT, about: the season}
  wrote:
    about: One row per play and writer.
    key: [play, person]
    columns:
      play:   {type: TEXT, about: the play, links: play.title}
      person: {type: TEXT, about: the writer, links: person.name}
    roles: [{of: play, to: person, noun: [writer, author], verb: [write]}]
  staged:
    about: One row per play and director.
    key: [play, person]
    columns:
      play:   {type: TEXT, about: the play, links: play.title}
      person: {type: TEXT, about: the director, links: person.name}
    roles: [{of: play, to: person, noun: [director], verb: [direct, stage], back: [by]}]
  sang:
    about: One row per play and singer.
    key: [play, person]
    columns:
      play:   {type: TEXT, about: the play, links: play.title}
      person: {type: TEXT, about: the singer, links: person.name}
    roles: [{of: play, to: person, noun: [singer, star], verb: [sing, star, appear], back: [starring]}]
  opened:
    about: One row per play and season.
    key: [play, season]
    columns:
      play:   {type: TEXT, about: the play, links: play.title}
      season: {type: TEXT, about: the season, links: season.season}
    roles: [{of: play, to: season, noun: [season, opening], verb: [open]}]
"""
TABLES = {
    "wrote": "play,person\nThe Blue Hour,Nora Quill\nSalt,Nora Quill\nSalt,Otto Penn\nHow to Leave,Ida Reed\n",
    "staged": "play,person\nThe Blue Hour,Max Stein\nSalt,Lea Brandt\nHow to Leave,Max Stein\nEmber,Lea Brandt\n",
    "sang": "play,person\nThe Blue Hour,Tara Vale\nSalt,Tara Vale\nSalt,Udo Wirth\nHow to Leave,Udo Wirth\nEmber,Vera Zorn\n",
    "opened": "play,season\nThe Blue Hour,spring\nSalt,winter\nHow to Leave,autumn\nEmber,summer\n",
}


@pytest.fixture(scope="module")
def theatre(tmp_path_factory):
    directory: Path = tmp_path_factory.mktemp("theatre")
    (directory / "theatre.yaml").write_text(YAML, encoding="utf-8")
    for name, rows in TABLES.items():
        (directory / f"{name}.csv").write_text(rows, encoding="utf-8")
    with Session(Settings(schemas=directory, cache=directory / "cache", encoder=False)) as session:
        yield session


@pytest.mark.parametrize(
    "question, answer",
    [
        pytest.param("who directed the plays written by Nora Quill", "Lea Brandt, Max Stein", id="two steps"),
        pytest.param(
            "the plays written by Otto Penn were directed by whom", "Lea Brandt", id="the question at the end"
        ),
        pytest.param("the plays directed by Max Stein starred who", "Tara Vale, Udo Wirth", id="an active verb"),
        pytest.param("who are the singers in Nora Quill written plays", "Tara Vale, Udo Wirth", id="a compound"),
        pytest.param("when did the plays written by Nora Quill open", "spring, winter", id="when"),
        pytest.param("the plays starring Udo Wirth opened in which seasons", "autumn, winter", id="in which"),
        pytest.param("which plays share a singer with Salt", "How to Leave, The Blue Hour", id="not the thing itself"),
        pytest.param("which plays have the same director as Ember", "Salt", id="the same"),
        pytest.param("the director of Salt also directed which plays", "Ember", id="also"),
        pytest.param("what other plays did the director of Salt direct", "Ember", id="other"),
        pytest.param("who co-wrote plays with Nora Quill", "Otto Penn", id="co-"),
        pytest.param("who sang together with Tara Vale", "Udo Wirth", id="together with"),
        pytest.param("who are co-stars of Udo Wirth", "Tara Vale", id="co-stars"),
        pytest.param("who sang in plays directed by the director of The Blue Hour", "Udo Wirth", id="three steps"),
        pytest.param("who directed plays for the writer of The Blue Hour", "Lea Brandt", id="for the writer"),
        pytest.param("who directed the plays whose singers also sang in Ember", "i don't know", id="nobody"),
        pytest.param("who directed the plays whose singers also sang in The Blue Hour", "Lea Brandt", id="whose"),
        pytest.param("when did the plays open whose writers also wrote The Blue Hour", "winter", id="whose, later"),
        pytest.param(
            "who wrote plays that share singers with the play How to Leave", "Nora Quill, Otto Penn", id="share"
        ),
        pytest.param(
            "who sang in the plays directed by The Blue Hour director", "Udo Wirth", id="a noun before a noun"
        ),
        pytest.param("plays by the writer of The Blue Hour", "Salt", id="by someone in another role"),
        pytest.param("how many plays did the director of Salt direct", "2", id="counted: the thing itself is one"),
        pytest.param("name two plays directed by Max Stein", "How to Leave, The Blue Hour", id="so many of them"),
        pytest.param("name one play directed by the director of The Blue Hour", "How to Leave", id="one of a chain"),
        pytest.param("who wrote How to Leave", "Ida Reed", id="the words of a name ask for nothing"),
    ],
)
def test_chains_are_followed(theatre, question, answer):
    assert theatre.answer(question, query_time=NOW, domain="theatre").text == answer
