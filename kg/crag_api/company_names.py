"""What people call companies, beside what stands in the data: nicknames, and the first word of a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# Names in common use that cannot be made from the official one.
NICKNAMES: dict[str, tuple[str, ...]] = {
    "AAL": ("American Airlines",),
    "ABBV": ("AbbVie",),
    "ADBE": ("Adobe",),
    "AXP": ("Amex", "American Express"),
    "BAC": ("BofA", "Bank of America"),
    "BRK-B": ("Berkshire", "Berkshire Hathaway Class B", "Berkshire B"),
    "BRK-A": ("Berkshire Hathaway Class A", "Berkshire A"),
    "C": ("Citi", "Citigroup", "Citibank"),
    "CRM": ("Salesforce",),
    "CVX": ("Chevron",),
    "DIS": ("Disney",),
    "GE": ("General Electric",),
    "GM": ("General Motors",),
    "GOOGL": ("Google", "Alphabet"),
    "GS": ("Goldman", "Goldman Sachs"),
    "HPQ": ("HP", "Hewlett Packard"),
    "IBM": ("Big Blue",),
    "JNJ": ("J&J", "Johnson and Johnson"),
    "JPM": ("JPMorgan", "JP Morgan", "JPMorgan Chase", "Chase"),
    "K": ("Kellogg", "Kellogg's"),
    "KO": ("Coke", "Coca-Cola", "Coca Cola"),
    "LLY": ("Lilly", "Eli Lilly"),
    "MCD": ("McDonald's", "McDonalds"),
    "META": ("Facebook", "Meta", "Meta Platforms"),
    "MMM": ("3M",),
    "MSFT": ("Microsoft",),
    "PEP": ("Pepsi", "PepsiCo"),
    "PG": ("P&G", "Procter and Gamble", "Procter"),
    "PM": ("Philip Morris",),
    "SMCI": ("Super Micro", "Supermicro"),
    "T": ("AT&T",),
    "UAL": ("United", "United Airlines"),
    "UPS": ("United Parcel Service",),
    "VZ": ("Verizon",),
    "WBD": ("Warner Bros", "Warner Brothers Discovery"),
    "WFC": ("Wells", "Wells Fargo"),
    "WMT": ("Walmart",),
    "XOM": ("Exxon", "ExxonMobil"),
}
BY_A_WORD = 0.5  # how much less a name weighs that is only its first word
AHEAD = 0.6  # how much more (of a weight that is a logarithm) the one must weigh whom a shared word means
_FEW, _SHORTEST, _KNOWN = 8, 4, 9.0
_WORD = re.compile(r"[^\W\d_][\w'&-]+")


def spoken_names(shares: Iterable[tuple[str, str, float]]) -> Iterator[tuple[str, str, float]]:
    """Yield (name, ticker, weight): nicknames of the companies in `shares`, and first words that mean one of them.

    `shares` are (short name, ticker, weight). A word means the company that is much better known than all others
    whose names begin with it, if these are few: "mondelez", "delta", but not "american".
    """
    holders: dict[str, dict[str, float]] = {}
    weights: dict[str, float] = {}
    for name, ticker, weight in shares:
        weights[ticker] = max(weight, weights.get(ticker, weight))
        for word in _WORD.findall(name)[:1]:
            holders.setdefault(word, {})[ticker] = weight
    for ticker, names in NICKNAMES.items():
        if ticker in weights:
            for name in names:
                yield name, ticker, weights[ticker]
    for word, held in holders.items():
        best, *rest = sorted(held.items(), key=lambda h: -h[1])
        alone = not rest or best[1] >= rest[0][1] + AHEAD
        if alone and len(held) <= _FEW and len(word) >= _SHORTEST and best[1] >= _KNOWN and word[0].isupper():
            yield word, best[0], best[1] - BY_A_WORD
