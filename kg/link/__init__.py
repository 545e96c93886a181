"""Which stored names a question mentions. Pure: no model, no network, nothing known about any domain.

Three passes over the words of the question: names spelled out, parts of names ("tarantino", "return of the king",
"leo dicaprio"), and misspelled ones. Every mention keeps its alternatives, of all tables, because only the caller knows
which type fits. No pass ever looks at all names: each starts from a dictionary or from the names that share a word.

>>> linker = Linker([Known("The Godfather", "movie", 238, 2.5), Known("Al Pacino", "person", 1158, 60.0)])
>>> [(m.text, m.candidates[0].text) for m in linker.best("what did pacino earn for the godfather?")]
[('pacino', 'Al Pacino'), ('the godfather', 'The Godfather')]
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from kg.errors import StoreError
from kg.link import index as link_index
from kg.link.index import Index, Known
from kg.link.question import Hit, How, Question, Span
from kg.link.words import ARTICLES, FUNCTION, Vocabulary, spelling, without_article, words

__all__ = ["Candidate", "Finder", "Known", "Linker", "Mention"]

_MAX_SPAN = 32  # words in a name
_FEW = 12  # best known names looked at for one word
_PER_TABLE = 6  # candidates of one table kept in a mention
_MAX_RESPELLED = 8  # words of a question that are tried as misspellings
_MIN_FUZZY = 5  # letters
KNOWN = 0.35  # how much likelier common words are a name if it is the best known of all
_LIKELY = 0.45  # what `best` asks of a mention
_LOW = 0.35  # parts of names below this are not reported
_APART = re.compile(r"[,;:?!()]")
_SEGMENT = re.compile(r"\s*[:/(\[\])\u2013\u2014]\s*|\s+-\s+|,?\s+and\s+(?=the\s)", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """What a span may mean. `text` is the stored name, `score` in 0..1 how well the span matches it."""

    table: str
    key: Any
    text: str
    score: float
    weight: float
    how: How


@dataclass(frozen=True)
class Mention:
    """The words `text` at `start:end` of the question, and what they may mean: best first, then better known."""

    start: int
    end: int
    text: str
    candidates: tuple[Candidate, ...]

    @property
    def score(self) -> float:
        return self.candidates[0].score

    def of(self, table: str) -> tuple[Candidate, ...]:
        """The candidates of one table, best first."""
        return tuple(c for c in self.candidates if c.table == table)


class Finder(Protocol):
    """Finds names: in an index of all of them (`Linker`), or by searching an API (`kg.link.search`)."""

    @property
    def searches(self) -> bool:
        """Whether finding a name may take calls."""

    def find(self, question: str) -> tuple[Mention, ...]:
        """Return all plausible mentions, in the order of the question; they may overlap."""

    def lookup(self, name: str, table: str | None = None) -> tuple[Candidate, ...]:
        """Return what `name` by itself may mean, best first."""

    def complete(self, prefix: str, n: int) -> list[str]:
        """Return up to `n` names that start with `prefix`."""


class Linker:
    """Finds `names` in questions. `common` are the words of the schema ("movie", "actor"): alone, they name nothing."""

    searches = False

    def __init__(self, names: Iterable[Known], *, common: Collection[str] = ()):
        self._index = link_index.build(names)
        self._common = Vocabulary(common)

    @classmethod
    def _of(cls, index: Index, common: Collection[str]) -> Linker:
        linker = cls.__new__(cls)
        linker._index, linker._common = index, Vocabulary(common)
        return linker

    def __len__(self) -> int:
        return len(self._index)

    # -- the cache ---------------------------------------------------------------------------------------------------

    def save(self, path: Path | str, fingerprint: str) -> None:
        """Write the index to `path`. `fingerprint` names the state of the data; keys must be JSON scalars or tuples."""
        link_index.save(self._index, Path(path), fingerprint)

    @classmethod
    def load(cls, path: Path | str, fingerprint: str, *, common: Collection[str] = ()) -> Linker | None:
        """Return the linker saved at `path`, or None if there is none, it is damaged, or of another fingerprint."""
        index = link_index.load(Path(path), fingerprint)
        return None if index is None else cls._of(index, common)

    @classmethod
    def cached(
        cls, path: Path | str, fingerprint: str, names: Callable[[], Iterable[Known]], *, common: Collection[str] = ()
    ) -> Linker:
        """Return the linker saved at `path`; failing that, one of `names()`, saved there for the next time."""
        if (linker := cls.load(path, fingerprint, common=common)) is not None:
            return linker
        linker = cls(names(), common=common)
        with suppress(StoreError):  # a cache that cannot be written costs time, nothing else
            linker.save(path, fingerprint)
        return linker

    # -- questions ---------------------------------------------------------------------------------------------------

    def find(self, question: str) -> tuple[Mention, ...]:
        """Return all plausible mentions, in the order of the question, longer ones first; they may overlap.

        A mention scores at most 0.3 where it is only a frequent word or one of `common`, unless it is quoted or
        stands where a title would. Words after the first 200 are not looked at.
        """
        asked = Question(question, self._common)
        self._spelled_out(asked, _FEW)
        self._parts(asked, _FEW)
        if self._respell(asked):
            self._parts(asked, _FEW)
        return tuple(self._mentions(asked))

    def best(self, question: str) -> tuple[Mention, ...]:
        """Return the mentions that together explain most of the question without overlapping; long ones preferred."""
        mentions = sorted((m for m in self.find(question) if m.score >= _LIKELY), key=lambda m: m.end)
        ends = [0] + [m.end for m in mentions]
        worth = [0.0]  # of the first i mentions
        taken: list[int] = [-1]  # for mention i - 1: how many mentions go before it, or -1 if it is left out
        for i, m in enumerate(mentions):
            before = bisect_right(ends, m.start, 0, i + 1) - 1
            with_it = worth[before] + _worth(m)
            worth.append(max(worth[i], with_it))
            taken.append(before if with_it > worth[i] else -1)
        out: list[Mention] = []
        i = len(mentions)
        while i:
            if taken[i] >= 0:
                out.append(mentions[i - 1])
                i = taken[i]
            else:
                i -= 1
        return tuple(reversed(out))

    def lookup(self, name: str, table: str | None = None) -> tuple[Candidate, ...]:
        """Return what `name` by itself may mean, best first, at most 20; of one `table` if it is given."""
        asked = Question(name, Vocabulary(()))
        asked.telling = [True] * len(asked.words)
        self._spelled_out(asked, 100)
        self._parts(asked, 100)
        if self._respell(asked):
            self._parts(asked, 100)
        best: dict[int, Hit] = {}
        letters = sum(len(w.form) for w in asked.words)
        for span, hits in asked.hits.items():
            share = sum(len(w.form) for w in asked.words[span.first : span.last + 1]) / letters
            if span == Span(1, len(asked.words) - 1) and asked.words[0].form in ARTICLES:
                share = 1.0
            for number, hit in hits.items():
                if hit.score * share >= _LOW and (number not in best or best[number].score < hit.score * share):
                    best[number] = Hit(hit.score * share, "token" if share < 1 and hit.how == "exact" else hit.how)
        return self._candidates(
            {n: h for n, h in best.items() if table is None or self._index.table(n) == table}, limit=20
        )

    def complete(self, prefix: str, n: int) -> list[str]:
        """Return up to `n` names that start with `prefix`, or have a word that does, the best known first."""
        forms = [w.raw for w in words(prefix)]
        if not forms or n <= 0:
            return []
        numbers = heapq.nsmallest(2 * n, self._index.starting("".join(without_article(forms))))
        if len(forms) == 1 and len(numbers) < n:
            numbers += self._index.with_word_starting(forms[0], 2 * n)
        return list(islice(dict.fromkeys(self._index.texts[i] for i in numbers), n))

    # -- the three passes --------------------------------------------------------------------------------------------

    def _spelled_out(self, asked: Question, few: int) -> None:
        index, all_words = self._index, asked.words
        longest = min(index.longest + 1, _MAX_SPAN)
        for first in range(len(all_words)):
            article = all_words[first].form in ARTICLES
            key = rest = ""  # with and without a leading article
            for last in range(first, min(first + longest, len(all_words))):
                word = all_words[last]
                for bare in (False, True) if word.bare_end != word.end else (False,):
                    ending = word.bare if bare else word.form
                    span = Span(first, last, bare)
                    self._take_key(asked, key + ending, span, few)
                    if article and last > first:
                        self._take_key(asked, rest + ending, span, few, article=True)
                key += word.form
                if last > first:
                    rest += word.form

    def _take_key(self, asked: Question, key: str, span: Span, few: int, article: bool = False) -> None:
        index = self._index
        number = index.key_number.get(key)
        if number is None:
            return
        said = [w.raw for w in asked.words[span.first : span.last + 1]]
        forms = [w.form for w in asked.words[span.first : span.last + 1]]
        if span.bare:
            said[-1] = forms[-1] = asked.words[span.last].bare
        plausible = asked.plausibility(span)
        wordy = 0.3 <= plausible < 0.75  # several common words: "best buy" is meant if it is well known
        for name in index.by_key[number][: 2 * few]:
            stored = words(index.texts[name])
            if article and stored[0].form not in ARTICLES:
                continue  # "the shining" is a mention of "Shining" too, but then without its "the"
            how: How = "exact"
            if said == [w.raw for w in stored]:
                start, end = asked.extent(span)
                score = 1.0 if index.texts[name].casefold() == asked.text[start:end].casefold() else 0.99
                if asked.is_cased(span, index.texts[name]):
                    asked.hit(span, name, 0.98 + 0.02 * index.fame[name], "exact")
                    continue
            elif without_article(forms) == spelling(index.texts[name]):
                score = 0.97
            elif len(key) >= 4 and not key.isdecimal() and not _APART.search(asked.text, *asked.extent(span)):
                # "by ron howard" is not Byron Howard
                torn = {forms[0], forms[-1]} & FUNCTION - {w.form for w in stored}
                score, how = 0.6 if torn else 0.93, "fuzzy"
            else:
                continue
            known = plausible + KNOWN * index.fame[name] if wordy else plausible
            asked.hit(span, name, score * known * (0.9 + 0.1 * index.fame[name]), how)

    def _parts(self, asked: Question, few: int) -> None:
        """Find names of which some words are there: those that share a rare word, or two not so rare ones."""
        index = self._index
        before = -1, [-1]
        for at, telling in enumerate(asked.telling):
            if not telling:
                continue
            here = self._readings(asked, at)
            for number in here:
                for name in index.by_word[number][:few]:
                    self._align(asked, at, number, name)
            if before[0] >= 0 and not any(asked.telling[before[0] + 1 : at]) and at - before[0] <= 4:
                for one in before[1]:
                    for two in here:
                        if index.by_word.size(one) > few and index.by_word.size(two) > few:
                            both = set(index.by_word[one]).intersection(index.by_word[two])
                            for name in heapq.nsmallest(few, both):
                                self._align(asked, at, two, name)
            if here:
                before = at, here

    def _readings(self, asked: Question, at: int) -> list[int]:
        """The words of the vocabulary that word `at` of the question may be: itself, without 's, respelled."""
        word, found = asked.words[at], []
        for form in (word.form,) if word.form == word.bare else (word.form, word.bare):
            if (number := self._index.word_number.get(form)) is not None:
                found.append(number)
        return found + [n for n in asked.respelled.get(at, ()) if n not in found]

    def _align(self, asked: Question, at: int, number: int, name: int) -> None:
        """Report the longest run of words around `at` that the question shares with `name`."""
        index = self._index
        spelled = index.spelled[name]
        place = spelled.index(number)
        alike = {at: self._alike(asked, at, number, ending=True)}
        first, low = self._extend(asked, at, spelled, place, -1, alike)
        last, high = self._extend(asked, at, spelled, place, +1, alike)
        # a run does not begin or end with an "of" or "the" from the middle of a name
        while first < at and low > 0 and index.vocab[spelled[low]] in FUNCTION:
            first, low = first + 1, low + 1
        while last > at and high < len(spelled) - 1 and index.vocab[spelled[high]] in FUNCTION:
            last, high = last - 1, high - 1
        nickname = 1.0
        if low == 1 and high == len(spelled) - 1 and first > 0 and asked.telling[first - 1]:
            said, full = asked.words[first - 1].form, index.vocab[spelled[0]]
            if said == full[:1] or (len(said) >= 3 and (full.startswith(said) or said.startswith(full))):
                first, low, nickname = first - 1, 0, 0.92
        end = asked.words[last]
        span = Span(first, last, end.bare_end != end.end and index.vocab[spelled[high]] != end.form)
        if nickname == 1 and min(alike.values()) == 1 and last - first == high - low == len(spelled) - 1:
            return  # spelled out: that pass has seen it
        score, how = self._part_score(asked, span, name, low, high, alike)
        if score * nickname >= _LOW:
            asked.hit(span, name, score * nickname, how)

    def _extend(
        self, asked: Question, at: int, spelled: Sequence[int], place: int, step: int, alike: dict[int, float]
    ) -> tuple[int, int]:
        """Return how far the question goes along with a name from word `at`; `alike` is filled on the way."""
        index = self._index
        while 0 <= at + step < len(asked.words) and 0 <= place + step < len(spelled):
            if step > 0 and asked.words[at].bare != asked.words[at].form != index.vocab[spelled[place]]:
                break  # a possessive 's ends a name
            over = step
            like = self._alike(asked, at + step, spelled[place + step], ending=step > 0)
            if not like and 0 <= place + 2 * step < len(spelled) and len(index.vocab[spelled[place + step]]) == 1:
                over = 2 * step  # "samuel jackson" is Samuel L. Jackson
                like = self._alike(asked, at + step, spelled[place + over], ending=step > 0)
            if not like:
                break
            at, place = at + step, place + over
            alike[at] = like
        return at, place

    def _alike(self, asked: Question, at: int, number: int, ending: bool) -> float:
        """How like word `at` of the question a word of the vocabulary is: 1 the same, 0 another.

        `ending`: the word may end the name, so that a possessive 's can be left off.
        """
        word, stored = asked.words[at], self._index.vocab[number]
        if stored == word.form or (ending and stored == word.bare):
            return 1.0
        if (ending or word.form == word.bare) and number in asked.respelled.get(at, {}):
            return asked.respelled[at][number]
        short, long = sorted((stored, word.form), key=len)
        return 1 - 1 / len(long) if len(short) >= 4 and long == short + "s" else 0.0

    def _part_score(
        self, asked: Question, span: Span, name: int, low: int, high: int, alike: dict[int, float]
    ) -> tuple[float, How]:
        """How well words `low` to `high` of `name` stand for it, when they are what the question says."""
        index = self._index
        spelled = index.spelled[name]
        inside = range(span.first, span.last + 1)
        telling = sum(asked.telling[i] for i in inside)
        rarity = [index.rarity(n) for n in spelled]
        covered = sum(rarity[low : high + 1]) / sum(rarity)
        starts, ends = low == 0, high >= index.core(spelled) - 1
        if starts and ends:
            score = (0.9 if len(inside) > 1 else 0.8) - (0.04 if high < len(spelled) - 1 else 0)
        elif self._is_segment(name, low, high):
            long = sum(asked.words[i].form not in FUNCTION for i in inside) > 1
            score = 0.8 + 0.08 * index.fame[name] if long or covered > 0.5 else 0.6
        elif telling > 1:
            score = 0.45 + 0.4 * covered - (0 if starts or ends else 0.1)
        elif index.people[index.table_of[name]] and (starts or ends):
            share = self._share(spelled[high if ends else low], name)
            score = (0.55 if ends else 0.35) + 0.2 * share + 0.1 * index.fame[name]
        elif (starts or ends) and (covered >= 0.4 or index.by_word.size(spelled[low]) <= 3):
            score = 0.3 + 0.35 * covered
        else:
            score = 0.0
        lengths = {i: len(asked.words[i].form) for i in inside}
        similar = sum(length * alike.get(i, 1.0) for i, length in lengths.items()) / sum(lengths.values())
        if similar == 1:
            return score, "token"
        # a short word by itself is one letter away from too many names
        enough = telling > 1 or sum(lengths.values()) >= (6 if starts and ends else 7)
        return score * similar**2 if enough else 0.0, "fuzzy"

    def _is_segment(self, name: int, low: int, high: int) -> bool:
        """Whether words `low` to `high` are what stands before or after a colon, dash or "and the" of the name."""
        at = 0
        for part in _SEGMENT.split(self._index.texts[name]):
            forms = [w.form for w in words(part)]
            if at == 0:
                forms = without_article(forms)
            skip = 1 if forms and forms[0] in ARTICLES else 0
            if forms and at + len(forms) - 1 == high and low in (at, at + skip):
                return True
            at += len(forms)
        return False

    def _share(self, word: int, name: int) -> float:
        """The part of all fame under `word`, among the best known names of the same table, that is `name`'s."""
        index = self._index
        rivals = [n for n in index.by_word[word][:_FEW] if index.table_of[n] == index.table_of[name]]
        total = sum(index.weights[n] for n in rivals)
        return index.weights[name] / total if total > 0 and name in rivals else 1 / (1 + len(rivals))

    def _respell(self, asked: Question) -> bool:
        """Look for other spellings of the words no name explains yet; whether there are any."""
        known = {
            i
            for span, hits in asked.hits.items()
            if max(h.score for h in hits.values()) >= 0.6
            for i in range(span.first, span.last + 1)
        }
        left = [
            i
            for i, w in enumerate(asked.words)
            if asked.telling[i] and i not in known and len(w.bare) >= _MIN_FUZZY and w.bare.isalpha()
        ]
        if not left:
            return False
        # here, because a question whose names are all well spelled does not need its 25 ms
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        index = self._index
        for at in sorted(left, key=lambda i: (asked.words[i].bare in index.word_number, -len(asked.words[i].bare), i))[
            :_MAX_RESPELLED
        ]:
            form = asked.words[at].bare
            near = {n: index.vocab[n] for n in index.alike(form)}
            cutoff = 1 if len(form) < 8 else 2
            found = process.extract(form, near, scorer=OSA.distance, score_cutoff=cutoff, limit=5)
            respelled = {n: 1 - distance / len(form) for _, distance, n in found if distance}
            if respelled:
                asked.respelled[at] = respelled
        return bool(asked.respelled)

    # -- results -----------------------------------------------------------------------------------------------------

    def _mentions(self, asked: Question) -> Iterator[Mention]:
        certain = [
            span
            for span, hits in asked.hits.items()
            if span.last > span.first and any(h.how == "exact" and h.score >= 0.85 for h in hits.values())
        ]
        spans = sorted(asked.hits.items(), key=lambda item: (item[0].first, -item[0].last, item[0].bare))
        for span, hits in spans:
            # "gary" of "gary oldman" is not all the other Garys
            if any(c.first <= span.first and span.last <= c.last and c != span for c in certain):
                hits = {n: h for n, h in hits.items() if h.how == "exact"}
            if not hits:
                continue
            start, end = asked.extent(span)
            yield Mention(start, end, asked.text[start:end], self._candidates(hits))

    def _candidates(self, hits: dict[int, Hit], limit: int = 0) -> tuple[Candidate, ...]:
        """The best hits, each entity once, and no more than a few of one table unless `limit` says how many in all."""
        index = self._index
        out: list[Candidate] = []
        seen: set[tuple[int, Any]] = set()
        per_table: dict[int, int] = {}
        for name in sorted(hits, key=lambda n: (-hits[n].score, n)):
            table, hit = index.table_of[name], hits[name]
            count = per_table.get(table, 0)
            if (table, index.ids[name]) in seen or (count >= _PER_TABLE and not limit):
                continue
            seen.add((table, index.ids[name]))
            per_table[table] = count + 1
            score = round(min(1.0, hit.score), 4)
            out.append(
                Candidate(index.table(name), index.ids[name], index.texts[name], score, index.weights[name], hit.how)
            )
        return tuple(out[:limit] if limit else out)


def _worth(mention: Mention) -> float:
    # the exponent makes one name of two words worth more than two names of one
    count = sum(0.3 if w.form in FUNCTION else 1.0 for w in words(mention.text))
    return float(mention.score * count**1.2)
