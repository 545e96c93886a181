"""How names are compared: one folding, in Python and as a DuckDB macro, so that both sides always agree."""

from __future__ import annotations

import re
import unicodedata

# Apostrophes and dots vanish ("Pan's" = "pans", "E.T." = "et"); any other punctuation parts words.
FOLD_SQL = (
    "CREATE OR REPLACE MACRO kg_fold(x) AS trim(regexp_replace(regexp_replace(replace(lower(strip_accents(x)), "
    "'&', ' and '), '[''’`.]', '', 'g'), '[^\\pL\\pN]+', ' ', 'g'))"
)
_DROPPED = re.compile(r"['’`.]")
_PARTING = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Return `text` in lower case, without accents and punctuation.

    >>> fold("Amélie & Pan's  Labyrinth: E.T.")
    'amelie and pans labyrinth et'
    """
    plain = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    plain = unicodedata.normalize("NFC", plain).lower().replace("&", " and ")
    return _PARTING.sub(" ", _DROPPED.sub("", plain)).strip()
