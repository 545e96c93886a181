"""Query times, as CRAG writes them and as everybody else does."""

from __future__ import annotations

import pytest

from engine.clock import ClockError, moment_of


@pytest.mark.parametrize(
    "text, moment",
    [
        pytest.param("03/10/2024, 23:19:21 PT", "2024-03-10T23:19:21-07:00", id="CRAG, summer time began that day"),
        pytest.param("01/10/2024, 23:19:21 PT", "2024-01-10T23:19:21-08:00", id="CRAG, winter"),
        pytest.param("2024-03-10T23:19", "2024-03-10T23:19:00+00:00", id="ISO without a zone is UTC"),
        pytest.param("2024-03-10", "2024-03-10T00:00:00+00:00", id="a day"),
        pytest.param("2024-03-10T23:19:21+01:00", "2024-03-10T23:19:21+01:00", id="ISO with a zone"),
    ],
)
def test_a_moment(text: str, moment: str) -> None:
    assert moment_of(text).isoformat() == moment


@pytest.mark.parametrize("text", ["", "yesterday", "13/45/2024, 00:00:00 PT", "03/10/2024"])
def test_what_is_no_time_is_said(text: str) -> None:
    with pytest.raises(ClockError, match=r"is no time|is not a date"):
        moment_of(text)
