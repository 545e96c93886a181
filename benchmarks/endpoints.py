"""How long each endpoint of CRAG's API takes in process, how soon a domain first answers, and how much memory it takes.

    python -m benchmarks.endpoints
    python -m benchmarks.endpoints --base ../shared/cragkg

Each domain is first asked in a process of its own. The calls of an endpoint are different ones, asked once each after
the first answer, so no reply is a repeated one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from kg.crag_api import CragApi
from kg.errors import SourceError
from kg.sources.crag import SAMPLE

TITLES = ["titanic", "the matrix", "lord of the rings", "star wars", "love", "new york", "the godfather", "gladiator"]
PEOPLE = ["jackson", "tom hanks", "john", "kate winslet", "steven spielberg", "lee", "maria garcia", "james cameron"]
COMPANIES = ["apple", "microsoft", "bank of america", "inc", "meta platforms", "coca cola", "first trust", "energy"]
TICKERS = ["AAPL", "MSFT", "META", "KO", "NVDA", "AMZN", "TSLA", "GOOG"]
ARTISTS = ["Adele", "Taylor Swift", "BTS", "Madonna", "Elvis Presley", "U2", "Drake", "One Direction"]
SONGS = ["Hello", "Blinding Lights", "Shape Of You", "Rolling In The Deep", "Flowers", "Circles", "Halo", "Stay"]
YEARS = [1990, 1998, 2001, 2005, 2010, 2015, 2017, 2019]
NBA = ["Chicago Bulls", "Los Angeles Lakers", "Miami Heat", "Boston Celtics", "Utah Jazz", "Denver Nuggets"]
SOCCER = ["Everton", "Liverpool", "Real Madrid", "Bayern Munich", "Inter", "Lyon", "Arsenal", "Betis"]
IDS = {"/movie/get_movie_info_by_id": [597, 603, 120, 11], "/movie/get_person_info_by_id": [31, 204, 488, 2710]}


def queries(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"query": value} for value in values]


def calls(path: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return (what is measured, arguments of its calls) for an endpoint; most have one line, some several."""
    _, domain, name = path.split("/", 2)
    if path in IDS:
        return [("", queries(IDS[path]))]
    if name == "nba/get_games_on_date":
        return [
            ("team, month", [{"date": f"{2005 + i}-12", "team_name": team} for i, team in enumerate(NBA)]),
            ("team, year", [{"date": f"{2005 + i}", "team_name": team} for i, team in enumerate(NBA)]),
            ("year", [{"date": f"{year}"} for year in range(2005, 2011)]),
        ]
    if name == "nba/get_play_by_play_data_by_game_ids":
        games = [f"00218000{i:02}" for i in range(1, 30)]
        return [
            ("1 game", [{"game_ids": [game]} for game in games[:8]]),
            ("2 games", [{"game_ids": games[i : i + 2]} for i in range(10, 26, 2)]),
        ]
    if name == "soccer/get_games_on_date":
        return [
            ("team, month", [{"date": f"2023-{i + 1:02}", "team_name": team} for i, team in enumerate(SOCCER)]),
            ("team, year", [{"date": "2022", "team_name": team} for team in SOCCER]),
            ("year", [{"date": year} for year in ("2021", "2022", "2023")]),
        ]
    if name == "get_billboard_rank_date":
        dated = [{"rank": rank, "date": f"2023-{rank:02}-04"} for rank in (2, 3, 11)]
        return [("one week", dated), ("all weeks", [{"rank": rank} for rank in range(1, 9)])]
    if name == "get_billboard_attributes":
        return [("", [{"date": "2020-02-15", "attribute": "rank", "song_name": song} for song in SONGS])]
    if name.startswith("grammy_get_best_"):
        return [("", queries(YEARS))]
    if name == "get_year_info":
        return [("", queries([str(year) for year in range(1992, 2000)]))]
    if name == "grammy_get_all_awarded_artists":
        return [("", [{}] * 8)]
    if domain == "open":
        return [("", queries(["Albert Einstein", "Titanic (1997 film)", "Hydrogen", "france", "the film", "Iron"]))]
    if domain == "finance":
        return [("", queries(COMPANIES if name in ("get_company_name", "get_ticker_by_name") else TICKERS))]
    if domain == "movie":
        return [("", queries(PEOPLE if "person" in name else TITLES))]
    return [("", queries(SONGS if "song" in name else ARTISTS))]


def seconds(api: CragApi, path: str, args: dict[str, Any]) -> float:
    start = time.perf_counter()
    try:
        api.call(path, args)
    except SourceError as e:
        print(f"{path} {args}: {e}", file=sys.stderr)
    return time.perf_counter() - start


def first_answer(base: Path, domain: str) -> None:
    api = CragApi(base)
    for path in api.endpoints:
        if path.startswith(f"/{domain}/"):
            print(f"{path:52} first answer {seconds(api, path, calls(path)[0][1][0]):8.3f} s")


def memory() -> str:
    status = Path("/proc/self/status")  # Linux only
    if not status.exists():
        return "unknown"
    kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return f"{int(kilobytes) / 1024:.0f} MB"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, default=SAMPLE, help="data directory; the bundled sample if not given")
    parser.add_argument("--first", metavar="DOMAIN", help="only how soon this domain answers: its calls, in turn")
    args = parser.parse_args(argv)
    if args.first:
        first_answer(args.base, args.first)
        return 0
    api = CragApi(args.base)
    for domain in sorted({path.split("/")[1] for path in api.endpoints}):
        command = [sys.executable, "-m", "benchmarks.endpoints", "--base", str(args.base), "--first", domain]
        print(f"-- {domain}, from nothing", flush=True)
        subprocess.run(command, check=True)
    print(f"-- all in one process, {memory()} before; median of the calls after the first")
    for path in sorted(api.endpoints):
        for what, wanted in calls(path):
            seconds(api, path, wanted[0])
            took = [seconds(api, path, one) for one in wanted[1:]]
            print(f"{path:52} {what:12} {1000 * median(took):9.3f} ms")
    print(f"-- resident with all loaded: {memory()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
