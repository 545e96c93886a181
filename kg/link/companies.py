"""What people call a company for short: without "Inc." and "Common Stock", or by its first word alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

BY_A_WORD = 0.5  # how much less a name weighs that is only its first word
AHEAD = 0.6  # how much more (of a weight that is a logarithm) the one must weigh whom a shared word means
KNOWN = 9.0  # what a company weighs, at least, whom a word can mean
_FEW, _SHORTEST = 8, 4
_WORD = re.compile(r"[^\W\d_][\w'&-]+")

# Where the name of the company ends and that of its security begins.
_SHARE = re.compile(
    r"""[\s,(-]+(?:(?:new|sponsored|unsponsored|registered|non-voting|voting|subordinate|restricted|multiple)\s+)*(?:
        (?:class|series)\s+[a-z0-9](?:-\d)?\b
      | common\s+(?:stock|shares?|units?|equity)\b | ordinary\s+shares?\b | capital\s+stock\b
      | american\s+deposit[ao]ry\b | ad[rs]s?\b | new\s+york\s+registry\b
      | (?:voting\s+|registered\s+)?shares?\b | (?:common\s+)?shares?\s+of\s+beneficial\b | beneficial\s+interest\b
      | (?:common\s+)?units?\s+(?:representing\s+)?(?:of\s+)?(?:limited|beneficial)\b | limited\s+partner
    ).*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# Securities beside the shares; their names stay whole, as the short name means the shares.
_OTHER = re.compile(
    r"\b(?:warrants?|rights?|notes?|debentures?|bonds?|preferred|preference|depositary|perpetual|trust\s+units)\b"
    r"|\bunits?(?=$|[,(]|\s+each|\s+consisting)|\d%",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*\([^()]*\)?\s*$")
_THE = re.compile(r"\s*\(the\)", re.IGNORECASE)
_LEGAL = re.compile(
    r"""[\s,]+(?:(?:&|and)\s+(?:co(?:mpany)?|sons)
      | inc | incorporated | corp | corporation | co | company | ltd | limited | plc | p\.l\.c | llc | l\.l\.c
      | lp | l\.p | llp | nv | n\.v | sa | s\.a | s\.a\.b\.?\s+de\s+c\.v | s\.p\.a | spa | ag | se | as | a/s | asa | ab
      | oyj | bv | b\.v | kgaa )\.?$""",
    re.IGNORECASE | re.VERBOSE,
)
_PARENT = re.compile(r"\s+(?:holdings?|group)$|\.com$", re.IGNORECASE)


def is_share(name: str) -> bool:
    """Return whether a stored name is of a company's shares, not of warrants, notes or preferred stock."""
    share, other = _SHARE.search(name), _OTHER.search(name)
    return other is None or (share is not None and share.start() < other.start())


def short_names(name: str) -> list[str]:
    """Return what people call the company of a stored name, longest first; nothing for what are not its shares.

    >>> short_names("Apple Inc. Common Stock")
    ['Apple Inc.', 'Apple']
    >>> short_names("Home Depot Inc. (The) Common Stock")
    ['The Home Depot Inc.', 'Home Depot Inc.', 'Home Depot']
    >>> short_names("Apple Inc. 4.5% Notes due 2029")
    []
    """
    if not is_share(name):
        return []
    company = _SHARE.sub("", name)
    article = _THE.search(company) is not None
    company = _REMARK.sub("", _THE.sub("", company)).strip(" ,-")
    found = [f"The {company}", company] if article else [company]
    for ending in (_LEGAL, _PARENT):
        while (shorter := ending.sub("", found[-1]).rstrip(" ,&")) != found[-1]:
            found.append(shorter)
    return [text for text in found if len(text) > 1 and text != name]


def first_words(shares: Iterable[tuple[str, str, float]]) -> Iterator[tuple[str, str, float]]:
    """Yield (word, ticker, weight): first words of names that mean one of the companies in `shares`.

    `shares` are (short name, ticker, weight). A word means the company that is much better known than all others
    whose names begin with it, if these are few: "mondelez", "delta", but not "american".
    """
    holders: dict[str, dict[str, float]] = {}
    for name, ticker, weight in shares:
        for word in _WORD.findall(name)[:1]:
            holders.setdefault(word, {})[ticker] = weight
    for word, held in holders.items():
        best, *rest = sorted(held.items(), key=lambda h: -h[1])
        alone = not rest or best[1] >= rest[0][1] + AHEAD
        if alone and len(held) <= _FEW and len(word) >= _SHORTEST and best[1] >= KNOWN and word[0].isupper():
            yield word, best[0], best[1] - BY_A_WORD
