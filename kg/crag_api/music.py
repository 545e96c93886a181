"""The /music endpoints over music/: artists, songs, the Billboard Hot 100 and the Grammy awards.

Artists and songs are known by their exact names. Each file is read when it is first needed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kg.crag_api.endpoints import Endpoint, Param
from kg.crag_api.files import Once
from kg.crag_api.grammys import Grammys
from kg.crag_api.hot100 import Places, Ranks
from kg.crag_api.keyed import read_dict
from kg.crag_api.quick_bm25 import QuickBM25

_ARTIST = {"query": Param(str, "Adele")}
_SONG = {"query": Param(str, "Smooth")}
_YEAR = {"query": Param(int, 1998)}

# What joins the names in a chart's credit: "Santana Featuring Rob Thomas"
_JOINT = re.compile(r" (?:featuring|feat\.|with|and|&|x|\+|/) |, ", re.IGNORECASE)

Record = dict[str, Any]


class Music:
    """The music endpoints over the data directory `base`; nothing is read before the first call."""

    files: tuple[str, ...] = (
        "music/artist_dict_simplified.pickle",
        "music/artist_work_dict.pickle",
        "music/grammy_df.pickle",
        "music/rank_dict_hot100.pickle",
        "music/song_dict_hot100.pickle",
        "music/song_dict_simplified.pickle",
    )

    def __init__(self, base: Path):
        artists, works, grammys, ranks, places, songs = (base / name for name in self.files)
        self._artists = Once(lambda: read_dict(artists))
        self._songs = Once(lambda: read_dict(songs))
        self._works = Once(lambda: read_dict(works))
        self._grammys = Once(lambda: Grammys(grammys))
        self._ranks = Once(lambda: Ranks(ranks))
        self._places = Once(lambda: Places(places))
        self._artist_index = Once(lambda: QuickBM25(self._artists()))
        self._song_index = Once(lambda: QuickBM25(self._songs()))
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "/music/search_artist_entity_by_name",
                "The artists whose names match best, at most 10, best first; common words are not looked for.",
                lambda query: self._artist_index().search(query),
                {"query": Param(str, "lady gaga")},
            ),
            Endpoint(
                "/music/search_song_entity_by_name",
                "The songs whose titles match best, at most 10, best first; common words are not looked for.",
                lambda query: self._song_index().search(query),
                {"query": Param(str, "I can feel IT")},
            ),
            Endpoint(
                "/music/get_billboard_rank_date",
                "The songs and their artists, as two lists, at a rank of the Hot 100: of one week, or of all.",
                lambda rank, date: self._ranks().at(rank, date),
                {"rank": Param(int, 1), "date": Param(str | None, "2024-02-24")},
            ),
            Endpoint(
                "/music/get_billboard_attributes",
                "The rank, rank_last_week, top_position or weeks_in_chart of a song in a week's Hot 100, or null.",
                lambda date, attribute, song_name: self._places().value(song_name, date, attribute),
                {
                    "date": Param(str, "2024-02-24"),
                    "attribute": Param(str, "weeks_in_chart"),
                    "song_name": Param(str, "Texas Hold 'Em"),
                },
            ),
            Endpoint(
                "/music/grammy_get_best_artist_by_year",
                "The Best New Artist of a year; the years are 1957 to 2019.",
                lambda query: self._grammys().best("Best New Artist", query),
                _YEAR,
            ),
            Endpoint(
                "/music/grammy_get_best_song_by_year",
                "The Song Of The Year of a year; the years are 1957 to 2019.",
                lambda query: self._grammys().best("Song Of The Year", query),
                _YEAR,
            ),
            Endpoint(
                "/music/grammy_get_best_album_by_year",
                "The Album Of The Year of a year; the years are 1957 to 2019.",
                lambda query: self._grammys().best("Album Of The Year", query),
                _YEAR,
            ),
            Endpoint(
                "/music/grammy_get_award_count_by_artist",
                "How often the awards name the artist: as nominee, as artist, and among those who worked on it.",
                lambda query: self._grammys().count(query),
                _ARTIST,
            ),
            Endpoint(
                "/music/grammy_get_award_count_by_song",
                "How many awards have the song as nominee.",
                lambda query: self._grammys().count_of_nominee(query),
                _SONG,
            ),
            Endpoint(
                "/music/grammy_get_award_date_by_artist",
                "The years of the awards that name the artist.",
                lambda query: self._grammys().years(query),
                _ARTIST,
            ),
            Endpoint(
                "/music/grammy_get_all_awarded_artists",
                "Every Best New Artist.",
                lambda: self._grammys().nominees("Best New Artist"),
            ),
            Endpoint(
                "/music/get_artist_birth_place",
                "The country an artist comes from, by its two letters, or null.",
                lambda query: _field(self._artists(), query, "country"),
                _ARTIST,
            ),
            Endpoint(
                "/music/get_artist_birth_date",
                "The date an artist was born or a band was formed, or null.",
                lambda query: _field(self._artists(), query, "birth_date"),
                _ARTIST,
            ),
            Endpoint(
                "/music/get_members",
                "The members of a band, or null.",
                self._members,
                {"query": Param(str, "Maroon 5")},
            ),
            Endpoint(
                "/music/get_lifespan",
                "When an artist was born and died, or a band began and ended.",
                self._lifespan,
                _ARTIST,
            ),
            Endpoint(
                "/music/get_song_author",
                "The author of a song, or null.",
                lambda query: _field(self._songs(), query, "author"),
                _SONG,
            ),
            Endpoint(
                "/music/get_song_release_country",
                "The country a song was released in, by its two letters, or null.",
                lambda query: _field(self._songs(), query, "country"),
                _SONG,
            ),
            Endpoint(
                "/music/get_song_release_date",
                "The date a song was released, or null.",
                lambda query: _field(self._songs(), query, "date"),
                _SONG,
            ),
            Endpoint(
                "/music/get_artist_all_works",
                "The titles of an artist's works, or null.",
                lambda query: self._works().get(query),
                _ARTIST,
            ),
        )

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, the same name as key, weight) of the rows of artist or song, nothing for another table."""
        if table == "artist":
            yield from self._artist_names()
        elif table == "song":
            yield from self._song_names()

    def _members(self, query: str) -> list[str] | None:
        members = _record(self._artists(), query).get("members")
        # the original makes a set; any order will do, and this one is the same each time
        return list(dict.fromkeys(members)) if isinstance(members, (list, tuple)) else None

    def _lifespan(self, query: str) -> list[str | None]:
        artist = _record(self._artists(), query)
        return [artist["birth_date"], artist["end_date"]] if {"birth_date", "end_date"} <= artist.keys() else [None] * 2

    def _artist_names(self) -> Iterator[tuple[str, str, float]]:
        # A week in the chart is what a work or a tenth of a Grammy is: all are signs that people know the name.
        known = self._artists()
        weeks: Counter[str] = Counter()
        for credit, n in self._ranks().weeks_of_artists().items():
            for name in {credit, *_JOINT.split(credit)}:
                weeks[name] += n
        works, awards = self._works(), self._grammys().named()
        for name in dict.fromkeys([*known, *works]):
            facts = sum(bool(value) for value in _record(known, name).values())
            signs = weeks[name] + _length(works.get(name)) + 10 * awards[name] + facts / 4
            yield name, name, math.log10(1 + signs)

    def _song_names(self) -> Iterator[tuple[str, str, float]]:
        weeks, awards = self._places().weeks(), self._grammys().named()
        for title in dict.fromkeys([*self._songs(), *weeks]):
            yield title, title, math.log10(1 + weeks.get(title, 0) + 10 * awards[title])


def _record(records: dict[str, Any], name: str) -> Record:
    record = records.get(name)
    return record if isinstance(record, dict) else {}


def _field(records: dict[str, Any], name: str, field: str) -> Any:
    # The original answers null for every empty value.
    return _record(records, name).get(field) or None


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0
