"""The bundled companies: the files agree, every day is one on which New York traded, and the made-up two say so."""

from __future__ import annotations

import csv
import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import kg

FINANCE = Path(kg.__file__).parent / "sample" / "finance"
MADE_UP = ("EXBK", "FICR")
FIRST, LAST = date(2023, 3, 1), date(2024, 2, 28)
CLOSED = {  # https://www.nyse.com/markets/hours-calendars
    date.fromisoformat(day)
    for day in (
        *("2023-04-07", "2023-05-29", "2023-06-19", "2023-07-04", "2023-09-04", "2023-11-23", "2023-12-25"),
        *("2024-01-01", "2024-01-15", "2024-02-19"),
    )
}
KEY = "%Y-%m-%d %H:%M:%S EST"


def read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FINANCE / f"finance_{name}.json").read_text(encoding="utf-8"))
    return loaded


INFO, CAPS, DIVIDENDS = read("info"), read("marketcap"), read("dividend")
PRICES, BARS = read("price"), read("detailed_price")
with (FINANCE / "company_name.dict").open(encoding="utf-8", newline="") as listing:
    NAMES = {row["Symbol"]: row["Name"] for row in csv.DictReader(listing)}


def trades(day: date) -> bool:
    return day.weekday() < 5 and day not in CLOSED


def day_of(key: str) -> date:
    day = date.fromisoformat(key[:10])
    assert key == day.strftime(KEY), key
    return day


def test_every_company_has_a_name_a_record_and_a_value():
    assert len(NAMES) >= 40
    assert set(NAMES) == set(INFO) == set(CAPS)
    assert set(PRICES) | set(DIVIDENDS) | set(BARS) <= set(NAMES)
    assert {t: i["symbol"] for t, i in INFO.items()} == {t: t for t in INFO}
    assert {t: i["marketCap"] for t, i in INFO.items()} == CAPS
    assert len(set(NAMES.values())) == len(NAMES)


def test_a_record_leaves_out_what_is_not_known():
    assert [t for t, i in INFO.items() if None in i.values()] == []


@pytest.mark.parametrize(
    "field",
    [
        "shortName",
        "sector",
        "industry",
        "city",
        "state",
        "country",
        "website",
        "longBusinessSummary",
        "companyOfficers",
    ],
)
def test_every_record_says_its(field):
    assert [t for t, i in INFO.items() if not i.get(field)] == []


def test_officers_have_a_name_a_title_and_a_plausible_age():
    officers = [o for i in INFO.values() for o in i["companyOfficers"]]
    assert [o for o in officers if not re.match(r"(Mr|Ms|Dr)\. \S+ ", o["name"]) or not o["title"]] == []
    assert [o for o in officers if not 1925 <= o.get("yearBorn", 1960) <= 1995] == []


def test_the_listing_names_the_company_of_the_record():
    first_word = {t: re.sub(r"^the ", "", i["longName"].lower()).split()[0].strip(",") for t, i in INFO.items()}
    assert {t: word for t, word in first_word.items() if not NAMES[t].lower().startswith(word)} == {}


def test_ratios_follow_from_the_price():
    computed = [
        (t, i["currentPrice"] / i[eps], i[pe])
        for t, i in INFO.items()
        for eps, pe in (("trailingEps", "trailingPE"), ("forwardEps", "forwardPE"))
        if pe in i
    ]
    assert [c for c in computed if c[1] != pytest.approx(c[2], abs=0.01)] == []
    assert len(computed) >= 10


@pytest.mark.parametrize("ticker", sorted(PRICES))
def test_prices_are_of_trading_days_in_order(ticker):
    days = [day_of(key) for key in PRICES[ticker]]
    assert days == sorted(days)
    assert [d for d in days if not trades(d) or not FIRST <= d <= LAST] == []
    assert [row for row in PRICES[ticker].values() if not row["Close"] > 0] == []


def test_the_current_price_is_the_last_close():
    last = {t: rows[LAST.strftime(KEY)]["Close"] for t, rows in PRICES.items() if LAST.strftime(KEY) in rows}
    assert {t: i["currentPrice"] for t, i in INFO.items() if "currentPrice" in i} == last


def test_dividends_are_positive_in_order_and_of_trading_days():
    assert [t for t, paid in DIVIDENDS.items() if list(paid) != sorted(paid)] == []
    assert [a for paid in DIVIDENDS.values() for a in paid.values() if not 0 < a <= 15] == []
    ex_dates = {day_of(key) for paid in DIVIDENDS.values() for key in paid}
    assert [d for d in ex_dates if not trades(d)] == []
    last = {t: list(paid.values())[-1] for t, paid in DIVIDENDS.items() if paid}
    assert {t: INFO[t]["lastDividendValue"] for t in last} == last


@pytest.mark.parametrize("ticker", MADE_UP)
def test_a_made_up_company_says_so(ticker):
    assert re.match("Example|Fictional", NAMES[ticker])
    assert "fictional" in INFO[ticker]["longBusinessSummary"]
    assert INFO[ticker]["website"].endswith(".example")


def test_only_made_up_companies_have_whole_days():
    whole = {t for t, rows in PRICES.items() if any(row["Open"] is not None for row in rows.values())}
    assert whole == set(MADE_UP) == set(BARS)


@pytest.mark.parametrize("ticker", MADE_UP)
def test_a_made_up_company_has_a_price_on_each_trading_day_of_a_year(ticker):
    every_day = [FIRST + timedelta(n) for n in range((LAST - FIRST).days + 1)]
    assert [day_of(key) for key in PRICES[ticker]] == [d for d in every_day if trades(d)]


@pytest.mark.parametrize("ticker", MADE_UP)
@pytest.mark.parametrize("of", [pytest.param(PRICES, id="days"), pytest.param(BARS, id="bars")])
def test_no_price_is_outside_the_high_and_the_low(of, ticker):
    rows = of[ticker]
    assert [
        k for k, r in rows.items() if not 0 < r["Low"] <= min(r["Open"], r["Close"]) <= max(r["Open"], r["Close"])
    ] == []
    assert [k for k, r in rows.items() if r["High"] < max(r["Open"], r["Close"]) or r["Volume"] <= 0] == []


@pytest.mark.parametrize("ticker", MADE_UP)
@pytest.mark.parametrize("day", ["2024-02-22", "2024-02-23", "2024-02-26", "2024-02-27", "2024-02-28"])
def test_five_minute_bars_add_up_to_their_day(ticker, day):
    minutes = range(9 * 60 + 30, 16 * 60, 5)
    keys = [f"{day} {m // 60:02}:{m % 60:02}:00 EST" for m in minutes]
    assert [key for key in BARS[ticker] if key.startswith(day)] == keys
    bars = [BARS[ticker][key] for key in keys]
    assert PRICES[ticker][f"{day} 00:00:00 EST"] == {
        "Open": bars[0]["Open"],
        "High": max(bar["High"] for bar in bars),
        "Low": min(bar["Low"] for bar in bars),
        "Close": bars[-1]["Close"],
        "Volume": sum(bar["Volume"] for bar in bars),
    }


@pytest.mark.parametrize("ticker", MADE_UP)
def test_there_are_bars_of_five_days(ticker):
    assert len({key[:10] for key in BARS[ticker]}) == 5


@pytest.mark.parametrize(
    "ticker, field, value",
    [
        pytest.param("AAPL", "city", "Cupertino", id="a city"),
        pytest.param("MSFT", "fullTimeEmployees", 221_000, id="employees"),
        pytest.param("NVDA", "sector", "Technology", id="a sector"),
        pytest.param("JPM", "industry", "Banks - Diversified", id="an industry"),
        pytest.param("BA", "trailingEps", -3.67, id="a loss"),
    ],
)
def test_a_fact_of_a_company(ticker, field, value):
    assert INFO[ticker][field] == value


@pytest.mark.parametrize(
    "ticker, day, close",
    [
        pytest.param("AAPL", "2023-06-30", 193.97, id="the first close above three trillion dollars"),
        pytest.param("NVDA", "2023-05-25", 379.80, id="the day after a forecast"),
        pytest.param("META", "2024-02-02", 474.99, id="the day after the first dividend was announced"),
    ],
)
def test_a_close(ticker, day, close):
    assert PRICES[ticker][f"{day} 00:00:00 EST"]["Close"] == close


@pytest.mark.parametrize(
    "ticker, day, amount",
    [
        pytest.param("AAPL", "2023-11-10", 0.24, id="a quarter"),
        pytest.param("META", "2024-02-21", 0.5, id="the first one"),
        pytest.param("COST", "2023-12-27", 15.0, id="a special one"),
        pytest.param("TSLA", "2023-11-10", None, id="of a company that pays none"),
    ],
)
def test_a_dividend(ticker, day, amount):
    assert DIVIDENDS[ticker].get(f"{day} 00:00:00 EST") == amount
