"""The /finance endpoints over finance/: companies by name, and by ticker their prices, dividends and facts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kg.crag_api.companies import NO_VALUE, Companies
from kg.crag_api.endpoints import Endpoint, Param
from kg.crag_api.files import Once
from kg.crag_api.keyed import Keyed
from kg.errors import SourceError
from kg.link.companies import first_words, is_share, short_names

_TICKER = {"query": Param(str, "META")}


class Finance:
    """The finance endpoints over the data directory `base`; nothing is read before the first call."""

    files: tuple[str, ...] = (
        "finance/company_name.dict",
        "finance/finance_price.sqlite",
        "finance/finance_detailed_price.sqlite",
        "finance/finance_dividend.sqlite",
        "finance/finance_marketcap.sqlite",
        "finance/finance_info.sqlite",
    )

    def __init__(self, base: Path):
        names, *tables = (base / name for name in self.files)
        self._prices, self._minutes, self._dividends, self._caps, self._info = (Keyed(path) for path in tables)
        self._companies = Once(lambda: Companies(names, lambda name, ticker: -self._fame(name, ticker)))
        self._known = Once(self._read_known)
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "/finance/get_company_name",
                "The company names that match best, at most 10, best first.",
                lambda query: self._companies().search(query),
                {"query": Param(str, "Apple")},
            ),
            Endpoint(
                "/finance/get_ticker_by_name",
                "The ticker of the company of exactly this name, or null.",
                self._ticker,
                {"query": Param(str, "Meta Platforms Inc. Class A Common Stock")},
            ),
            Endpoint(
                "/finance/get_price_history",
                "The prices and volumes of a ticker, day by day, or null.",
                lambda query: self._prices.get(query),
                _TICKER,
            ),
            Endpoint(
                "/finance/get_detailed_price_history",
                "The prices and volumes of a ticker, minute by minute, of the last five days, or null.",
                lambda query: self._minutes.get(query),
                _TICKER,
            ),
            Endpoint(
                "/finance/get_dividends_history",
                "The dividends of a ticker, by date, or null.",
                lambda query: self._dividends.get(query),
                _TICKER,
            ),
            Endpoint(
                "/finance/get_market_capitalization",
                "The market capitalization of a ticker, or null.",
                lambda query: self._caps.get(query),
                _TICKER,
            ),
            Endpoint(
                "/finance/get_eps",
                "The expected earnings per share of a ticker, or null.",
                lambda query: self._fact(query, "forwardEps"),
                _TICKER,
            ),
            Endpoint(
                "/finance/get_pe_ratio",
                "The expected price-to-earnings ratio of a ticker, or null.",
                lambda query: self._fact(query, "forwardPE"),
                _TICKER,
            ),
            Endpoint(
                "/finance/get_info",
                "What is known about the company of a ticker, or null.",
                lambda query: self._info.get(query),
                _TICKER,
            ),
        )

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, ticker, weight) for table company: the stored name, shorter ones, and the ticker."""
        if table == "company":
            shares = []
            for name, ticker in self._companies().listed():
                weight = self._fame(name, ticker)
                short = short_names(name)
                shares += [(text, ticker, weight) for text in short[-1:]]
                for text in dict.fromkeys((name, *short, ticker)):
                    yield text, ticker, weight
            yield from first_words(shares)

    def _ticker(self, query: str) -> str | None:
        ticker = self._companies().ticker(query)
        if ticker in NO_VALUE:  # the original reads NaN there and fails to say it in JSON, which users see as a 500
            raise SourceError(
                f"the ticker of {query!r:.60} reads {ticker!r}, which means that there is none.",
                endpoint="/finance/get_ticker_by_name",
                status=500,
            )
        return ticker

    def _fact(self, ticker: str, name: str) -> Any:
        record = self._info.get(ticker)
        return record.get(name) if isinstance(record, dict) else None

    def _fame(self, name: str, ticker: str) -> float:
        # A thousand-dollar company stands for one whose worth is not known; its warrants are known even less.
        worth, priced = self._known()
        value = worth.get(ticker)
        size = math.log10(value) if isinstance(value, (int, float)) and value > 1000 else 3.0
        return size + (ticker in priced) - 2 * (not is_share(name))

    def _read_known(self) -> tuple[dict[str, Any], frozenset[str]]:
        # What tells how well known a company is. A directory may lack these files; names are found without them.
        worth = dict(self._caps.items()) if self._caps.exists() else {}
        return worth, frozenset(self._prices.keys() if self._prices.exists() else ())
