"""What pandas' `DataFrame.to_json(date_format="iso")` says, without pandas: the sports results are made of it.

CRAG's server decodes that text before it answers, so these functions return the decoded object.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

_PLAIN = range(10**16 - 1)  # whole parts that are written out; larger numbers get an exponent


def by_column(index: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Any]]:
    """Return {column: {index: value}}; the values of a column are parallel to `index`."""
    return {name: dict(zip(index, _written(values), strict=True)) for name, values in columns.items()}


def _written(values: Sequence[Any]) -> Sequence[Any]:
    fractions = {value for value in values if type(value) is float}  # few: points, percentages
    if not fractions:
        return values
    written = {value: decimal(value) for value in fractions}
    return [written[value] if type(value) is float else value for value in values]


def as_read_from_sql(values: Sequence[Any]) -> Sequence[Any]:
    """Return a column as `pandas.read_sql` reads it: whole numbers are floats where some are fractions or null."""
    kinds = set(map(type, values))
    if int in kinds and len(kinds) > 1 and kinds <= {int, float, type(None)}:
        return [None if v is None else float(v) for v in values]
    return values


def decimal(value: float) -> float | None:
    """Return `value` to 10 decimals, None for NaN and infinity.

    The digits are those of pandas' encoder (ultrajsonenc.c, Buffer_AppendDoubleUnchecked), which multiplies before
    it rounds, and so differs from round() in the last digit of some numbers.

    >>> decimal(0.123456789012), decimal(12.5), decimal(float("nan"))
    (0.123456789, 12.5, None)
    """
    if not math.isfinite(value):
        return None
    whole = int(abs(value))
    if whole not in _PLAIN or 0 < abs(value) < 1e-15:
        return float(f"{value:.10g}")
    if round(value, 10) == value:
        return value
    scaled = (abs(value) - whole) * 1e10
    part = int(scaled)
    rest = scaled - part
    if rest > 0.5 or (rest == 0.5 and (part == 0 or part % 2)):
        part += 1
    if part >= 10**10:
        whole, part = whole + 1, 0
    return math.copysign(float(f"{whole}.{part:010d}"), value)
