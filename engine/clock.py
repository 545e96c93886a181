"""When a question was asked. Nothing below the session looks at a clock of its own."""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo

from kg.errors import KgError

# CRAG writes "03/10/2024, 23:19:21 PT"
_CRAG = re.compile(r"(\d{2})/(\d{2})/(\d{4}), (\d{2}):(\d{2}):(\d{2}) PT")


class ClockError(KgError):
    """A query time that cannot be read."""


def moment_of(text: str | dt.datetime) -> dt.datetime:
    """Return the moment `text` names, in CRAG's format or ISO; without a zone it is UTC. Raises ClockError.

    >>> moment_of("03/10/2024, 23:19:21 PT").isoformat()
    '2024-03-10T23:19:21-07:00'
    """
    if isinstance(text, dt.datetime):
        return text if text.tzinfo else text.replace(tzinfo=dt.UTC)
    if m := _CRAG.fullmatch(text.strip()):
        month, day, year, hour, minute, second = map(int, m.groups())
        try:
            return dt.datetime(year, month, day, hour, minute, second, tzinfo=ZoneInfo("America/Los_Angeles"))
        except ValueError as e:
            raise ClockError(f"'{text}' is not a date.") from e
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError as e:
        raise ClockError(f"'{text}' is no time; write 2024-03-10T23:19 or 03/10/2024, 23:19:21 PT.") from e
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
