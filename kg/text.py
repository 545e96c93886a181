"""How names are compared: one folding, in Python and as a DuckDB macro, so that both sides always agree."""

from __future__ import annotations

import re
import unicodedata

# Apostrophes and dots vanish ("Pan's" = "pans", "E.T." = "et"); any other punctuation parts words.
_APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"
FOLD_SQL = (
    "CREATE OR REPLACE MACRO kg_fold(x) AS trim(regexp_replace(regexp_replace(replace(lower(strip_accents(x)), "
    f"'&', ' and '), '[''{_APOSTROPHE}`.]', '', 'g'), '[^\\pL\\pN]+', ' ', 'g'))"
)
_DROPPED = re.compile(f"['{_APOSTROPHE}`.]")
_PARTING = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Return `text` in lower case, without accents and punctuation.

    >>> fold("Amélie & Pan's  Labyrinth: E.T.")
    'amelie and pans labyrinth et'
    """
    if text.isascii():
        text = text.lower()
    else:
        plain = (c for c in unicodedata.normalize("NFD", text) if not unicodedata.category(c).startswith("M"))
        # a letter at a time: str.lower would write a Greek sigma at the end of a word in another way
        text = "".join(c.lower() for c in unicodedata.normalize("NFC", "".join(plain)))
    return _PARTING.sub(" ", _DROPPED.sub("", text.replace("&", " and "))).strip()
