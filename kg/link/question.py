"""A question as the entity linker sees it: its words, which of them may be names, and what has been found so far.

"It", "Up", "Her" and "The Best" are names too. Whether one is meant can only be told from what stands around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kg.link.words import ARTICLES, FREQUENT, FUNCTION, Vocabulary, words

How = Literal["exact", "token", "fuzzy"]

_MAX_WORDS = 200  # what follows is not looked at
_UNLIKELY = 0.3  # a span of mere words is no more plausible than this
_MERE = FREQUENT | FUNCTION
BEFORE_TITLE = frozenset(
    ("in", "of", "from", "for", "by", "about", "wrote", "made", "called", "titled", "entitled", "starring")
)
_YEAR_AFTER = re.compile(r"\s*(?:\((?:19|20)\d\d\b|,\s+(?:the|a)\s+(?:19|20)\d\d\b)")
PAUSE = re.compile(r"\s*(?:[,?!.;:]|$)")
_OPEN, _CLOSE = "\"'\u201c\u2018\xab", "\"'\u201d\u2019\xbb"


@dataclass(frozen=True)
class Span:
    """Words `first` to `last` of a question, inclusive; `bare` if the last one's possessive 's is left off."""

    first: int
    last: int
    bare: bool = False


@dataclass(frozen=True)
class Hit:
    """How well a span matches a name, 0..1."""

    score: float
    how: How


class Question:
    """A question on its way through the passes: its words, and the best hit per span and name (a number).

    `telling` says of each word whether it may stand for a name by itself, `schema` whether it is one of `common`;
    `respelled` maps a word of the question to words of the index it may be a misspelling of, with their likeness.
    """

    def __init__(self, text: str, common: Vocabulary):
        self.text = text
        self.words = words(text, _MAX_WORDS)
        self.schema = [w.form in common or w.bare in common for w in self.words]
        self.telling = [
            not (schema or w.form.isdecimal() or {w.form, w.bare} & _MERE)
            for w, schema in zip(self.words, self.schema, strict=True)
        ]
        self.respelled: dict[int, dict[int, float]] = {}
        self.hits: dict[Span, dict[int, Hit]] = {}

    def hit(self, span: Span, name: int, score: float, how: How) -> None:
        """Note that `span` may mean `name`; the better of two hits is kept, and one spelled out beats a part."""
        at = self.hits.setdefault(span, {})
        old = at.get(name)
        if old is None or (old.score < score and old.how != "exact"):
            at[name] = Hit(score, how)

    def extent(self, span: Span) -> tuple[int, int]:
        """Return the offsets of `span` in the text."""
        last = self.words[span.last]
        return self.words[span.first].start, last.bare_end if span.bare else last.end

    def is_cased(self, span: Span, stored: str) -> bool:
        """Whether a span is written as the name is stored, capitals and all, in a question that is not all in capitals:
        then hardly the mere words are meant."""
        start, end = self.extent(span)
        if self.text[start:end] != stored or not any(c.isupper() for c in stored[0 if start else 1 :]):
            return False
        others = [w for i, w in enumerate(self.words) if i and not span.first <= i <= span.last]
        return any(self.text[w.start : w.end].islower() and len(w.form) > 2 for w in others)

    def plausibility(self, span: Span) -> float:
        """How likely words spelled like a name are meant as one, 0..1."""
        inside = range(span.first, span.last + 1)
        length = len(inside) - (self.words[span.first].form in ARTICLES and len(inside) > 1)
        start, end = self.extent(span)
        after = self.text[end:]
        quoted = start > 0 and self.text[start - 1] in _OPEN and after[:1] in _CLOSE and after != ""
        if any(self.telling[i] for i in inside):
            if length > 1:
                return 1.0
            return 0.95 if quoted or self._after_title_word(span) else 0.85
        if quoted or length == len(self.words):
            return 0.9
        if _YEAR_AFTER.match(after):
            return 0.75
        forms = [self.words[i].form for i in inside]
        weighty = sum(form not in FUNCTION for form in forms)  # "make way for tomorrow" rather than "of the"
        if length > 4:
            return 0.7
        if any(self.schema[i] for i in inside) or all(form.isdecimal() for form in forms):
            return _UNLIKELY if weighty > 1 else 0.2
        if self._after_title_word(span) and (weighty > 1 or PAUSE.match(after)):
            return 0.55
        if weighty > 1:
            return 0.5 if length > 2 else 0.4
        return _UNLIKELY if length > 1 else 0.2

    def _after_title_word(self, span: Span) -> bool:
        if span.first == 0:
            return False
        before = self.words[span.first - 1]
        verb = len(before.form) > 4 and before.form.endswith("ed")
        possessive = before.bare_end != before.end
        return verb or possessive or before.form in BEFORE_TITLE or self.schema[span.first - 1]  # "the film up"
