"""Named functions that a domain file applies to what is at a path: `price_before: previous(Close)`.

Texts of encyclopedias and infoboxes hold numbers, days and markup in many spellings; these find the one that is meant,
or say None. None of them looks at the clock or the locale, as the parsers of `dateutil` and `dateparser` do for what a
text does not say. A function takes the values of a column, and how many of them each object has.
"""

from __future__ import annotations

import datetime as dt
import html
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

Counts = Sequence[int] | None  # rows of each object; None if each object is one row
Function = Callable[[list[Any], Counts], list[Any]]

MAX_CHARACTERS = 10_000  # of a text that is searched; what comes after is left out
_MAX_DIGITS = 40
_MAX_DEPTH = 40  # of templates within templates

_SCALES = {
    "hundred": 2, "thousand": 3, "lakh": 5, "million": 6, "mn": 6, "crore": 7, "billion": 9, "bn": 9, "trillion": 12,
    "tn": 12,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)])[-\N{MINUS SIGN}\N{EN DASH}])?"
    r"(?P<digits>(?:\d{1,3}(?:[, \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}]\d{3})+(?!\d)|\d+)(?:\.\d+)?"
    r"|(?<!\d)\.\d+)"
    r"(?P<power>[eE][+-]?\d{1,3}(?!\w))?"
    rf"(?:[\s\N{{NO-BREAK SPACE}}-]?(?P<scale>{'|'.join(_SCALES)})\b)?",
    re.IGNORECASE,
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = r"(?P<{}>jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|" + "|".join(_MONTHS) + r")\.?"
_DAY = re.compile(
    r"(?<!\d)(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)(?!\d)"
    # the arguments of {{birth date and age|df=yes|1879|3|14}}
    r"|\|\s*(?P<y2>\d{3,4})\s*\|\s*(?P<m2>\d{1,2})\s*\|\s*(?P<d2>\d{1,2})\b"
    rf"|(?<!\d)(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('m3')},?\s+(?P<y3>\d{{3,4}})\b(?!\s*BC)"
    rf"|\b{_MONTH.format('m4')}\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{{3,4}})\b(?!\s*BC)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,])(?:1\d|20)\d\d(?!\d|[.,]\d)")

_MARKED = re.compile(r"[<\[{&\n]|''|  ")
# Every repetition is bounded or stops at the next bracket: texts come from anyone, and must not take long to read.
_DROPPED = re.compile(
    r"<!--.{0,2000}?-->|<(?:ref|gallery|math)\b[^<>]*/>|<(ref|gallery|math)\b[^<>]*>.{0,2000}?</\1\s{0,9}>"
    r"|\[\[(?:File|Image|Category):[^\[\]]*\]\]",
    re.S | re.I,
)
_BREAK = re.compile(r",?<br\b[^<>]*>|(?:\A|\n)[ \t]{0,20}[*#:]{1,20}", re.I)
_BREAK_IN = re.compile(r"<br\b[^<>]*>\s?(?=\()", re.I)  # before a remark in brackets
_TAG = re.compile(r"</?[a-z][^<>]*>", re.I)
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_EXTERNAL = re.compile(r"\[https?://[^\s\[\]]+\s?([^\[\]]*)\]")
_ARGUMENT_NAME = re.compile(r"\s*(?!\d+\s*=)[\w-]+\s*=")
_ARGUMENT_NUMBER = re.compile(r"\s*\d+\s*=")
# Templates that are notes to the text, and not part of it; lists; those whose first argument is a code.
_NOTES = re.compile(r"(?:sfn|efn|refn?|cite\b.*|citation.*|notetag|flagicon|clear|coord|#tag:\s*ref)", re.I)
_LISTS = re.compile(
    r"(?:(?:plain|unbulleted |flat|bulleted |h)list|ublist|ubl|ubt|hlist|br separated entries|collapsible list)", re.I
)
_CODED = re.compile(r"(?:lang|native name|transl.*)", re.I)


def number(value: Any) -> float | int | None:
    """Return the first number in `value`.

    >>> [number(t) for t in ("1,234.5 km²", "US$1.2 billion", "\N{MINUS SIGN}38.8 °C", "about 3 million", "none")]
    [1234.5, 1200000000, -38.8, 3000000, None]
    """
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    for m in _NUMBER.finditer(_text(value)):
        digits, scale = re.sub(r"[^\d.]", "", m["digits"]), m["scale"]
        if len(digits) > _MAX_DIGITS:
            continue
        exact = Decimal(digits + (m["power"] or ""))
        if scale:
            exact = exact.scaleb(_SCALES[scale.lower()])
        exact = -exact if m["sign"] else exact
        if exact == exact.to_integral_value() and abs(exact) < 2**63:
            return int(exact)
        return float(exact) if math.isfinite(float(exact)) else None
    return None


def day(value: Any) -> str | None:
    """Return the first day in `value`, in ISO's spelling. A year alone is none, nor is 3/4/1999, which is two.

    >>> [day(t) for t in ("March 14, 1879 (aged 76)", "{{Birth date|1879|3|14}}", "14th of Mar. 1879", "1879")]
    ['1879-03-14', '1879-03-14', '1879-03-14', None]
    """
    for m in _DAY.finditer(_text(value)):
        y, mon, d = next((m[f"y{i}"], m[f"m{i}"], m[f"d{i}"]) for i in "1234" if m[f"y{i}"])
        month = (
            int(mon) if mon.isdigit() else 1 + next(i for i, name in enumerate(_MONTHS) if name[:3] == mon[:3].lower())
        )
        try:
            return dt.date(int(y), month, int(d)).isoformat()
        except ValueError:
            continue
    return None


def year(value: Any) -> int | None:
    """Return the first year from 1000 to 2099 in `value`.

    >>> [year(t) for t in ("born c. 1450", "1998\N{EN DASH}99", "1,998 people", "570 BC", "in 2001.")]
    [1450, 1998, None, None, 2001]
    """
    m = _YEAR.search(_text(value))
    return int(m[0]) if m else None


def plain(value: Any) -> str | None:
    """Return the text of `value` without wiki markup.

    Of templates their unnamed arguments stay, days in ISO's spelling; of links what is shown. Breaks and items of lists
    become commas. Notes are left out. After https://www.mediawiki.org/wiki/Wikitext.

    >>> plain("[[Tyler, Texas|Tyler]]<br/>[[Texas]]<ref name='a'/> {{small|(U.S.)}}")
    'Tyler, Texas (U.S.)'
    >>> plain("{{birth date and age|df=y|1982|12|15}} in {{plainlist|\\n* [[Rome]]\\n* ''Ostia''}}")
    '1982-12-15 in Rome, Ostia'
    """
    text = _text(value)
    if not _MARKED.search(text):
        return text.strip() or None
    text = _DROPPED.sub("", text)
    text = _BREAK.sub(", ", _BREAK_IN.sub(" ", text))
    text = _TAG.sub("", text)
    for _ in range(_MAX_DEPTH):
        shown = _TEMPLATE.sub(_shown, _LINK.sub(r"\1", text))
        if shown == text:
            break
        text = shown
    text = _EXTERNAL.sub(r"\1", text)
    text = html.unescape(re.sub(r"'{2,}|\{\{|\}\}|\[\[|\]\]", "", text))
    text = re.sub(r"\s+", " ", text).replace(" ,", ",")
    return re.sub(r"(?:, ?)+", lambda m: ", " if len(m[0]) > 1 else m[0], text).strip(" ,") or None


def _shown(m: re.Match[str]) -> str:
    """What a template shows."""
    name, *args = m[1].split("|")
    name = name.strip()
    if _NOTES.fullmatch(name):
        return ""
    args = [_ARGUMENT_NUMBER.sub("", a).strip(" \n,") for a in args if not _ARGUMENT_NAME.match(a)]
    if len(args) >= 3 and all(a.isascii() and a.isdigit() for a in args[:3]) and 3 <= len(args[0]) <= 4:
        return f"{int(args[0]):04}-{int(args[1]):02}-{int(args[2]):02}"
    if _CODED.fullmatch(name):
        args = args[1:] if len(args) > 1 else args
    return (", " if _LISTS.fullmatch(name) else " ").join(filter(None, args))


def _text(value: Any) -> str:
    return str(value)[:MAX_CHARACTERS]


def _each(function: Callable[[Any], Any]) -> Function:
    """`function` of every value by itself."""
    return lambda cells, counts: [None if v is None else function(v) for v in cells]


def previous(cells: list[Any], counts: Counts) -> list[Any]:
    """The value of the row before, in the object's order; None for its first row.

    >>> previous([1, 2, 3, 4], [3, 1])
    [None, 1, 2, None]
    """
    if counts is None:
        return [None] * len(cells)
    before = [None, *cells[:-1]] if cells else []
    at = 0
    for n in counts:
        if n:
            before[at] = None
        at += n
    return before


def count(cells: list[Any], counts: Counts) -> list[Any]:
    """How many items a list has, or fields an object; None for anything else.

    >>> count([["a", "b"], [], None, "a, b"], None)
    [2, 0, None, None]
    """
    return [len(v) if type(v) in (list, dict) else None for v in cells]


# name -> function; those of OF_ROWS are about an object's rows, those of LISTS take what is no bare value
_GUESTS = re.compile(r"\s+(?:featuring|feat\.?|ft\.?|with|starring)\s.*", re.IGNORECASE | re.DOTALL)


def lead(value: Any) -> str | None:
    """Return who leads a credit, without the guests.

    >>> [lead(t) for t in ("Shakira Featuring Wyclef Jean", "Simon & Garfunkel", None)]
    ['Shakira', 'Simon & Garfunkel', None]
    """
    return None if value is None else _GUESTS.sub("", str(value)[:MAX_CHARACTERS]).strip()


FUNCTIONS: dict[str, Function] = {
    "lead": _each(lead),
    "previous": previous,
    "number": _each(number),
    "day": _each(day),
    "year": _each(year),
    "plain": _each(plain),
    "count": count,
}
OF_ROWS = frozenset({"previous"})
LISTS = frozenset({"count"})
