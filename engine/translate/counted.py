"""Numbers that stand for something by their place: "number 7", "top ten", "the 53rd Grammys"."""

from __future__ import annotations

from collections.abc import Iterator

from .lexicon import Lexicon, Token, tokens
from .question import Moment, Placed

HOLE = "{}"


def placed(text: str, words: list[Token], lexicon: Lexicon) -> Iterator[Placed]:
    """Yield what the idioms of a domain make of the numbers in a question."""
    spelt, ordinals = lexicon.generic["numbers"], lexicon.generic["ordinals"]
    for i, word in enumerate(words):
        number = int(word.text) if word.text.isdigit() and len(word.text) < 4 else spelt.get(word.text)
        digits = word.text.rstrip("stndrh")
        nth = int(digits) if digits.isdigit() and digits != word.text else ordinals.get(word.text)
        for place in lexicon.places.values():
            value = nth if place.ordinal else number
            mask = max((_around(i, phrase, text, words) for phrase in place.says), key=int.bit_count, default=0)
            if value and mask:
                yield Placed(mask, place.table, place.column, place.op, value)


def ceremonies(text: str, words: list[Token], lexicon: Lexicon) -> Iterator[Moment]:
    """Yield the years of what is counted by the year: "the 53rd Grammys"."""
    spelt = lexicon.generic["ordinals"]
    for i, word in enumerate(words):
        digits = word.text.rstrip("stndrh")
        value = int(digits) if digits.isdigit() and digits != word.text else spelt.get(word.text)
        for event in lexicon.events.values() if value else ():
            mask = max((_around(i, phrase, text, words) for phrase in event.says), key=int.bit_count, default=0)
            if mask and not (value == event.known and _until(mask, words)):
                yield Moment(mask, "=", (event.first + value - 1,))


def all_told(text: str, words: list[Token], lexicon: Lexicon) -> int:
    """The words that ask for all that the data tell of: "up to the 62nd Grammys (2019)"."""
    told = 0
    for event in lexicon.events.values():
        for i, word in enumerate(words):
            if word.text.rstrip("stndrh") == str(event.known):
                mask = max((_around(i, phrase, text, words) for phrase in event.says), key=int.bit_count, default=0)
                told |= mask | _until(mask, words) if mask and _until(mask, words) else 0
        year = str(event.first + event.known - 1)
        told |= sum(1 << i for i, w in enumerate(words) if w.text == year and (told >> i - 1 & 1 if i else 0))
    return told


def _until(mask: int, words: list[Token]) -> int:
    """The words before a span that end a time with it."""
    i = (mask & -mask).bit_length() - 2
    if i >= 0 and words[i].text == "the":
        i -= 1
    for phrase in ("up to and including", "up until", "up to", "through", "until", "till", "as of", "by"):
        said = phrase.split()
        if i + 1 >= len(said) and [w.text for w in words[i + 1 - len(said) : i + 1]] == said:
            first = i + 1 - len(said)
            return (mask & -mask) - (1 << first)
    return 0


def _around(i: int, phrase: str, text: str, words: list[Token]) -> int:
    """The words of a phrase whose hole is the word at `i`; 0 if it does not stand there."""
    before, after = ([t.stem for t in tokens(part)] for part in phrase.split(HOLE))
    if phrase.startswith("#"):
        return 1 << i if text[: words[i].start].endswith("#") else 0
    first, end = i - len(before), i + 1 + len(after)
    if first < 0 or [w.stem for w in words[first:i]] != before or [w.stem for w in words[i + 1 : end]] != after:
        return 0
    return ((1 << end) - 1) >> first << first
