"""The names of a catalogue, indexed by spelling and by word, in a form that loads in a few hundredths of a second.

Names are numbered by how well known they are within their table, so every posting list is sorted by fame and
"the best known few" is a slice. Lists of numbers are flat arrays, and the cache file is these arrays and one JSON
block behind a checksum: no pickle, and no library whose import a short command would feel.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kg.errors import StoreError
from kg.link.words import FUNCTION, spelling

_FORMAT = 1
_HALF_KNOWN = 0.75  # share of two- and three-word names that makes a table one of people, teams, ...


@dataclass(frozen=True)
class Known:
    """One name in the catalogue; of two names the one with the larger `weight` is better known."""

    text: str
    table: str
    key: Any
    weight: float = 0.0


class Rows:
    """A list of lists of numbers, flat: row i is `flat[ends[i - 1] : ends[i]]`."""

    def __init__(self, ends: array[int], flat: array[int]):
        self.ends, self.flat = ends, flat

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Rows:
        ends, flat = array("i", [0]), array("i")
        for row in rows:
            flat.extend(row)
            ends.append(len(flat))
        return cls(ends, flat)

    def __getitem__(self, i: int) -> array[int]:
        return self.flat[self.ends[i] : self.ends[i + 1]]

    def size(self, i: int) -> int:
        return self.ends[i + 1] - self.ends[i]


class Index:
    """Names by number. `keys` and `vocab` are sorted; `by_key`, `by_word` and `spelled` are parallel to
    `keys`, `vocab` and the names.

    A key is the name's words run together without a leading article, so that "Spider-Man", "spiderman" and
    "spider man" share one.
    """

    def __init__(
        self,
        texts: list[str],
        ids: list[Any],
        tables: list[str],
        table_of: array[int],
        weights: array[float],
        fame: array[float],
        keys: list[str],
        by_key: Rows,
        vocab: list[str],
        by_word: Rows,
        spelled: Rows,
        people: list[bool],
    ):
        self.texts, self.ids, self.tables, self.table_of = texts, ids, tables, table_of
        self.weights, self.fame = weights, fame  # fame: share of the table's names that are less known
        self.keys, self.by_key = keys, by_key
        self.vocab, self.by_word, self.spelled = vocab, by_word, spelled
        self.people = people  # by table: are its names first name and last name, so that the last one will do
        self.key_number = dict(zip(keys, range(len(keys)), strict=True))
        self.word_number = dict(zip(vocab, range(len(vocab)), strict=True))
        self._many = max(20, 0.03 * len(texts))
        self.longest = max((spelled.size(i) for i in range(len(texts))), default=0)

    def __len__(self) -> int:
        return len(self.texts)

    def table(self, name: int) -> str:
        return self.tables[self.table_of[name]]

    def rarity(self, word: int) -> float:
        """How much a word of `vocab` tells: its inverse document frequency, squared; at least 0.01."""
        return max(0.1, math.log((1 + len(self.texts)) / (1 + self.by_word.size(word)))) ** 2

    def core(self, spelled: Sequence[int]) -> int:
        """Return how many words of a name are left without what very many names end in ("Inc.", "Common Stock")."""
        end = len(spelled)
        while end > 1 and (self.by_word.size(spelled[end - 1]) > self._many or self.vocab[spelled[end - 1]] == "the"):
            end -= 1
        return end

    @cached_property
    def _backwards(self) -> list[tuple[str, int]]:
        return sorted((word[::-1], i) for i, word in enumerate(self.vocab))

    def alike(self, form: str) -> list[int]:
        """Return the words of `vocab` that begin or end with the same three letters as `form`, of about its length.

        Someone who mistypes a word rarely does so at both ends, so this is the neighbourhood worth comparing.
        """
        head, tail = form[:3], form[:-4:-1]
        low, high = bisect_left(self.vocab, head), bisect_left(self.vocab, head + "\U0010ffff")
        near = set(range(low, high))
        low, high = bisect_left(self._backwards, (tail,)), bisect_left(self._backwards, (tail + "\U0010ffff",))
        near.update(i for _, i in self._backwards[low:high])
        return [i for i in near if abs(len(self.vocab[i]) - len(form)) <= 2]

    def starting(self, key: str) -> list[int]:
        """Return the names whose key starts with `key`, best known first."""
        low, high = bisect_left(self.keys, key), bisect_left(self.keys, key + "\U0010ffff")
        return sorted({name for i in range(low, high) for name in self.by_key[i]})

    def with_word_starting(self, prefix: str, n: int) -> list[int]:
        """Return the `n` best known names of which a word starts with `prefix`, best known first."""
        low, high = bisect_left(self.vocab, prefix), bisect_left(self.vocab, prefix + "\U0010ffff")
        return heapq.nsmallest(n, {name for i in range(low, high) for name in self.by_word[i][:n]})


def build(names: Iterable[Known]) -> Index:
    """Return the index of `names`. A name without a letter or digit cannot be typed, and is left out."""
    spelled = [(n, forms) for n in names if (forms := spelling(n.text))]
    fame = _fame([n for n, _ in spelled])
    order = sorted(range(len(spelled)), key=lambda i: (-fame[i], -_finite(spelled[i][0].weight), spelled[i][0].text))
    tables = sorted({n.table for n, _ in spelled})
    table_number = {t: i for i, t in enumerate(tables)}
    of_table: dict[str, list[list[str]]] = {t: [] for t in tables}
    for n, forms in spelled:
        of_table[n.table].append(forms)
    by_key: dict[str, list[int]] = {}
    by_word: dict[str, list[int]] = {}
    for name, i in enumerate(order):
        forms = spelled[i][1]
        by_key.setdefault("".join(forms), []).append(name)
        for form in set(forms):
            by_word.setdefault(form, []).append(name)
    keys, vocab = sorted(by_key), sorted(by_word)
    word_number = {w: i for i, w in enumerate(vocab)}
    return Index(
        # a half of a surrogate pair cannot be stored or asked for; where rows are stored it becomes "?" too
        texts=[spelled[i][0].text.encode(errors="replace").decode() for i in order],
        ids=[spelled[i][0].key for i in order],
        tables=tables,
        table_of=array("i", [table_number[spelled[i][0].table] for i in order]),
        weights=array("d", [_finite(spelled[i][0].weight) for i in order]),
        fame=array("d", [fame[i] for i in order]),
        keys=keys,
        by_key=Rows.of(by_key[k] for k in keys),
        vocab=vocab,
        by_word=Rows.of(by_word[w] for w in vocab),
        spelled=Rows.of([word_number[f] for f in spelled[i][1]] for i in order),
        people=[_of_people(of_table[t]) for t in tables],
    )


def _finite(weight: float) -> float:
    return float(weight) if math.isfinite(weight) else 0.0


def _fame(names: list[Known]) -> list[float]:
    """Return for each name the share of its table's names that are less known; half of the equally known count.

    Weights of different tables (money, counts) cannot be compared; these can.
    """
    of_table: dict[str, list[float]] = {}
    for n in names:
        of_table.setdefault(n.table, []).append(_finite(n.weight))
    for values in of_table.values():
        values.sort()
    fame = []
    for n in names:
        values, weight = of_table[n.table], _finite(n.weight)
        fame.append((bisect_left(values, weight) + bisect_right(values, weight)) / (2 * len(values)))
    return fame


def _of_people(names: list[list[str]]) -> bool:
    short = sum(len(forms) in (2, 3) and not FUNCTION.intersection(forms) for forms in names)
    return short >= _HALF_KNOWN * len(names)


def save(index: Index, path: Path, fingerprint: str) -> None:
    """Write `index` to `path` in one step. Keys must be JSON scalars or tuples of them; StoreError if it fails."""
    arrays: list[array[Any]] = [index.table_of, index.weights, index.fame]
    for rows in (index.by_key, index.by_word, index.spelled):
        arrays += [rows.ends, rows.flat]
    try:
        text = json.dumps([index.texts, index.ids, index.tables, index.keys, index.vocab, index.people]).encode()
        body = b"".join([text, *(a.tobytes() for a in arrays)])
        head = {
            "format": _FORMAT,
            "fingerprint": fingerprint,
            "order": sys.byteorder,
            "sum": zlib.crc32(body),
            "text": len(text),
            "arrays": [(a.typecode, a.itemsize, len(a)) for a in arrays],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_bytes(json.dumps(head).encode() + b"\n" + body)
        part.replace(path)
    except (OSError, TypeError, ValueError) as e:
        raise StoreError(f"The name index cannot be written to {path}: {e}") from e


def load(path: Path, fingerprint: str) -> Index | None:
    """Return the index saved at `path`, or None if it is not there, damaged, or of another fingerprint."""
    try:
        first, _, body = path.read_bytes().partition(b"\n")
        head = json.loads(first)
        wanted = (_FORMAT, fingerprint, sys.byteorder, zlib.crc32(body))
        if (head["format"], head["fingerprint"], head["order"], head["sum"]) != wanted:
            return None
        texts, ids, tables, keys, vocab, people = json.loads(body[: head["text"]])
        arrays, at = [], head["text"]
        for code, size, count in head["arrays"]:
            values: array[Any] = array(code)
            if values.itemsize != size:
                return None
            values.frombytes(body[at : at + size * count])
            at += size * count
            arrays.append(values)
        table_of, weights, fame, *rows = arrays
        by_key, by_word, spelled = (Rows(rows[i], rows[i + 1]) for i in (0, 2, 4))
        return Index(
            texts,
            [_key(k) for k in ids],
            tables,
            table_of,
            weights,
            fame,
            keys,
            by_key,
            vocab,
            by_word,
            spelled,
            people,
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _key(key: Any) -> Hashable:
    # JSON has no tuples, and a list cannot be a key
    return tuple(_key(k) for k in key) if isinstance(key, list) else key
