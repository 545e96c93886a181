"""Text to words that compare equal when people mean the same: case, accents, apostrophes, numbers, "&".

Both the stored names and the questions go through `words`, so whatever it does to one it does to the other.
It knows English function words and nothing about any domain.

>>> [w.form for w in words("Amélie & the A-Team: Vol. II")]
['amelie', 'and', 'the', 'a', 'team', '2']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

ARTICLES = frozenset(("the", "a", "an"))

_FREQUENT = """
    a about above according across after again against age ago ah all almost alone along already also although
    always am among amount an and another any anyone anything apart are around as ask at average away back bad be
    became because become been before began begin behind being below best better between big bigger billion bit born
    both bought bring build built but buy by call called came can case cause certain change choose chose close come
    comes compared complete cost costs could count country course cut date day days dead did die died difference
    different do does doing dollar dollars done down during each earlier early earn earned either else end enough
    entire even ever every everyone everything exact exactly example fact fall family far feature fell few fewer
    fifth find first five following for found four fourth from full gave get gets getting give given go goes going
    gone good got great greater greatest group had half hand happen happened hard has have having he head held help
    her here herself high higher highest him himself his hit hits hold home house how however hundred i if important
    in include included including inside instead into is it its itself job join joined just keep kind knew know
    known large larger largest last late later latest least leave left less let life like line list little live
    lived long longer longest look lose lost lot love low lower lowest made main make makes making man many married
    marry matter may maybe me mean meet men met might million mine money month months more most mostly move moved
    much must my myself name named names need never new newest next nice night no none nor not nothing now number
    numbers of off often oh ok okay old older oldest on once one ones only open or order original other our out
    outside over own paid part pay people per percent perhaps person place play played please point put question
    quite ran rather ready real really recent recently right rise room run runs said same saw say second see seem
    seen sell send sent set seven several shall she short shorter shortest should show side since single six small
    smaller smallest so sold some someone something soon spend spent start started state still stop such sure take
    taken tell ten than thank thanks that the their them then there these they thing things think third this those
    though thought thousand three through time times to today together told tomorrow too took top total toward try
    turn turned two type under until up upon us use used very via want was watch way we week weeks well went were
    what whatever when where whether which while who whoever whole whom whose why will with within without woman
    women won word work worked world worse worst worth would write year years yes yesterday yet you young younger
    youngest your
    """
_FUNCTION = """
    a about after against all an and any are as at be been before but by can could did do does for from had has have
    he her him his how i if in into is it its may me might more most must my no nor not of off on or our out over
    she should so some than that the their them then there these they this those to too under until up us was we
    were what when where which while who whom whose why will with within without would you your
    """

# The most frequent words of English, with the words questions are made of. A name that consists of nothing
# else ("it", "up", "the best") is far more often just a word.
FREQUENT = frozenset(_FREQUENT.split())

# Words that glue a name together but say nothing by themselves.
FUNCTION = frozenset(_FUNCTION.split())

# One, two; II, III. "i" is a pronoun and "x" a letter, but both sides are mapped alike, so only "i" would hurt.
_ROMAN = "ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
_CARDINAL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_NUMERALS = {word: str(n) for line, low in ((_CARDINAL, 0), (_ROMAN, 2)) for n, word in enumerate(line.split(), low)}
# "Vol. 2", "part ii", "episode four": the number alone is compared, because people leave these words out.
_BEFORE_NUMBER = frozenset(("vol", "volume", "part", "pt", "episode", "chapter"))
_ARTICLE_BEHIND = re.compile(r",\s*(?:the|an?)\s*$", re.IGNORECASE)
_APOSTROPHES = "'\u2019\u2018`\u00b4\u02bc"
_LETTER = r"[^\W\d_]"
_ALNUM = r"(?:[^\W_]|[\u0300-\u036f])"
_WORD = re.compile(
    rf"(?<![^\W_]){_LETTER}(?:\.{_LETTER})+(?![^\W_])\.?"  # E.T., J.K.
    rf"|{_ALNUM}+(?:[{_APOSTROPHES}]{_ALNUM}+)*"
    r"|&"
)
_NO_DECOMPOSITION = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)
_POSSESSIVE = tuple(f"{a}s" for a in _APOSTROPHES)


class Word(NamedTuple):
    """One word. `form` is what is compared, `raw` the same before numerals were unified.

    `bare` and `bare_end` leave a possessive 's off; without one they equal `form` and `end`.
    """

    start: int
    end: int
    form: str
    raw: str
    bare: str
    bare_end: int


def words(text: str, limit: int = 0) -> list[Word]:
    """Return the words of `text`, at most `limit` if it is not 0, with their offsets."""
    out: list[Word] = []
    for match in _WORD.finditer(text):
        shown = match.group()
        raw = fold(shown)
        if not raw:
            continue
        start, end = match.span()
        form = bare = _NUMERALS.get(raw, raw)
        bare_end = end
        if shown[-1:] in "sS" and shown[-2:].lower() in _POSSESSIVE and len(shown) > 2:
            bare, bare_end = fold(shown[:-2]) or form, end - 2
            bare = _NUMERALS.get(bare, bare)
        if out and out[-1].raw in _BEFORE_NUMBER and form.isdecimal() and len(form) <= 3:
            before = out.pop()
            start, raw = before.start, f"{before.raw} {raw}"
        out.append(Word(start, end, form, raw, bare, bare_end))
        if len(out) == limit:
            break
    return out


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """Return `word` in lower case without accents and punctuation; "&" is "and".

    >>> fold("Wall·É"), fold("O'Brien"), fold("&")
    ('walle', 'obrien', 'and')
    """
    if word == "&":
        return "and"
    if word.isascii():
        low = word.lower()
        return low if low.isalnum() else "".join(c for c in low if c.isalnum())
    low = unicodedata.normalize("NFKD", word.casefold().translate(_NO_DECOMPOSITION)).casefold()
    return "".join(c for c in low if c.isalnum())


def without_article(forms: list[str]) -> list[str]:
    """Return `forms` without a leading "the", "a" or "an"; never empty.

    >>> without_article(["the", "matrix"]), without_article(["the"])
    (['matrix'], ['the'])
    """
    return forms[1:] if len(forms) > 1 and forms[0] in ARTICLES else forms


def spelling(name: str) -> list[str]:
    """Return the forms by which a stored name is compared: without an article in front, or behind a comma.

    >>> spelling("The Matrix"), spelling("Matrix, The")
    (['matrix'], ['matrix'])
    """
    forms = [w.form for w in words(name)]
    if len(forms) > 1 and _ARTICLE_BEHIND.search(name):
        del forms[-1]
    return without_article(forms)


class Vocabulary:
    """Words that are also there in their other forms.

    >>> said = Vocabulary(["director", "win", "box office"])
    >>> "directed" in said, "winner" in said, "offices" in said, "boxer" in said
    (True, True, True, False)
    """

    def __init__(self, phrases: Iterable[str]):
        forms = {w.form for phrase in phrases for w in words(phrase)}
        self._forms = forms | {f + e for f in forms for e in ("s", "es", "ed", "ing") if len(f) > 2}
        self._forms |= {f + "d" for f in forms if f[-1] == "e"}  # of "for" there is no "ford"
        self._forms |= {f + f[-1] + e for f in forms for e in ("ed", "ing", "er")}
        self._stems = {stem for f in forms if (stem := _stem(f))}

    def __contains__(self, form: str) -> bool:
        return form in self._forms or _stem(form) in self._stems


_ENDING = re.compile(r"(?:at(?:e|es|ed|ing|ion|ions)|ions?|ings?|[oe]rs?|ees?|i?ed|i?es|s|e|y)$")


def _stem(form: str) -> str:
    """Return `form` without its ending, or nothing where less than four letters would tell too little."""
    stem = _ENDING.sub("", form)
    return stem if len(stem) >= 4 else ""
