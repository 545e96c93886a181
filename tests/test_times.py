"""The times that questions name, asked on a Wednesday at noon in Los Angeles: three in the afternoon in New York."""

from __future__ import annotations

import datetime as dt
import time

import pytest

from engine.calendars import last_trading_day, named_day, trading_days
from engine.clock import moment_of
from engine.translate.times import Span, times

NOW = moment_of("03/06/2024, 12:00:00 PT")


def shown(question: str, span: Span) -> str:
    """Return `span` as "preposition[words] first..last grain kind", and what else it says."""
    days = f"{span.first}" if span.first == span.last else f"{span.first or ''}..{span.last or ''}"
    said = f"{question[span.prep_start : span.start].strip()}[{question[span.start : span.end]}]"
    more = [f"{span.at:%H:%M}"] if span.at else []
    more += ["trading"] * span.trading + ["weak"] * span.weak
    more += [f"gap={question[slice(*span.gap)]}"] if span.gap else []
    return " ".join([said, days, span.grain, span.kind, *more])


@pytest.mark.parametrize(
    "question, spans",
    [
        pytest.param("what is on today", ["on[today] 2024-03-06 day on"], id="today"),
        pytest.param("what was yesterday's close", ["[yesterday] 2024-03-05 day on"], id="yesterday with a possessive"),
        pytest.param("who plays tomorrow", ["[tomorrow] 2024-03-07 day on"], id="tomorrow"),
        pytest.param(
            "who won on the day before yesterday",
            ["on[the day before yesterday] 2024-03-04 day on"],
            id="the day before yesterday",
        ),
        pytest.param(
            "who plays the day after tomorrow",
            ["[the day after tomorrow] 2024-03-08 day on"],
            id="the day after tomorrow",
        ),
        pytest.param("what happened 3 days ago", ["[3 days ago] 2024-03-03 day on"], id="days ago"),
        pytest.param(
            "what was it two weeks ago",
            ["[two weeks ago] 2024-02-21 day on", "[two weeks ago] 2024-02-19..2024-02-25 week on"],
            id="a week ago is a day, or its week",
        ),
        pytest.param(
            "what came out 3 months ago",
            ["[3 months ago] 2023-12-01..2023-12-31 month on", "[3 months ago] 2023-12-06 day on"],
            id="months ago are a month first",
        ),
        pytest.param(
            "which film won five years ago",
            ["[five years ago] 2019-01-01..2019-12-31 year on", "[five years ago] 2019-03-06 day on"],
            id="years ago are a year first",
        ),
        pytest.param(
            "what was the price a year ago today",
            ["[a year ago today] 2023-03-06 day on"],
            id="a year ago today is a day",
        ),
        pytest.param(
            "what happened a couple of days ago",
            ["[a couple of days ago] 2024-03-04 day on"],
            id="a couple of days ago",
        ),
        pytest.param("who won last week", ["[last week] 2024-02-26..2024-03-03 week on"], id="last week"),
        pytest.param("what comes out this month", ["[this month] 2024-03-01..2024-03-31 month on"], id="this month"),
        pytest.param("what comes out next month", ["[next month] 2024-04-01..2024-04-30 month on"], id="next month"),
        pytest.param("which film won last year", ["[last year] 2023-01-01..2023-12-31 year on"], id="last year"),
        pytest.param(
            "how much did it earn last quarter", ["[last quarter] 2023-10-01..2023-12-31 quarter on"], id="last quarter"
        ),
        pytest.param(
            "who won the year before last",
            ["[the year before last] 2022-01-01..2022-12-31 year on"],
            id="the year before last",
        ),
        pytest.param(
            "what was sold in the previous month",
            ["in[the previous month] 2024-02-01..2024-02-29 month on"],
            id="the previous month",
        ),
        pytest.param(
            "how did it do over the past year",
            ["over[the past year] 2023-03-06..2024-03-06 year between"],
            id="the past year rolls",
        ),
        pytest.param(
            "how many in the last 12 months",
            ["in[the last 12 months] 2023-03-06..2024-03-06 month between"],
            id="the past 12 months roll",
        ),
        pytest.param(
            "how many over the past few weeks",
            ["over[the past few weeks] 2024-02-14..2024-03-06 week between"],
            id="the past few weeks",
        ),
        pytest.param(
            "how did it do in the last year",
            [
                "in[the last year] 2023-03-06..2024-03-06 year between",
                "in[the last year] 2023-01-01..2023-12-31 year on",
            ],
            id="the last year needs a preposition of length",
        ),
        pytest.param("what was the last year that they won", [], id="the last year that is a superlative"),
        pytest.param(
            "how many so far this year",
            ["[so far this year] 2024-01-01..2024-03-06 year between"],
            id="so far this year",
        ),
        pytest.param(
            "how many this year so far",
            ["[this year so far] 2024-01-01..2024-03-06 year between"],
            id="this year so far",
        ),
        pytest.param(
            "how many this year up to today",
            ["[this year up to today] 2024-01-01..2024-03-06 year between"],
            id="up to today",
        ),
        pytest.param(
            "how many so far in 2024",
            ["[so far in 2024] 2024-01-01..2024-03-06 year between"],
            id="so far in a named year",
        ),
        pytest.param(
            "what is its year to date return", ["[year to date] 2024-01-01..2024-03-06 year between"], id="year to date"
        ),
        pytest.param("who won last weekend", ["[last weekend] 2024-03-02..2024-03-03 day on"], id="last weekend"),
        pytest.param("who won over the weekend", ["over[the weekend] 2024-03-02..2024-03-03 day on"], id="the weekend"),
        pytest.param("who plays this weekend", ["[this weekend] 2024-03-09..2024-03-10 day on"], id="this weekend"),
        pytest.param("who won last friday", ["[last friday] 2024-03-01 day on"], id="last friday"),
        pytest.param(
            "who won last monday",
            ["[last monday] 2024-03-04 day on", "[last monday] 2024-02-26 day on"],
            id="a weekday that is earlier this week or in the last",
        ),
        pytest.param("who won on friday", ["on[friday] 2024-03-01 day on"], id="a weekday of the past"),
        pytest.param("who will play on friday", ["on[friday] 2024-03-08 day on"], id="a weekday of the future"),
        pytest.param(
            "who starred in friday",
            ["in[friday] 2024-03-01 day on weak"],
            id="a weekday with another preposition is weak",
        ),
        pytest.param("who won friday", ["[friday] 2024-03-01 day on weak"], id="a bare weekday is weak"),
        pytest.param(
            "who won on wednesday",
            ["on[wednesday] 2024-02-28 day on", "on[wednesday] 2024-03-06 day on"],
            id="the same weekday as today",
        ),
        pytest.param("who played this monday", ["[this monday] 2024-03-04 day on"], id="this weekday"),
        pytest.param(
            "who plays next friday",
            ["[next friday] 2024-03-15 day on", "[next friday] 2024-03-08 day on"],
            id="next weekday",
        ),
        pytest.param(
            "who won on tuesday last week", ["on[tuesday last week] 2024-02-27 day on"], id="a weekday of last week"
        ),
        pytest.param(
            "who won the other night", ["[the other night] 2024-02-28..2024-03-05 day between"], id="the other night"
        ),
        pytest.param("who won last night", ["[last night] 2024-03-05 day on"], id="last night"),
        pytest.param(
            "what was released on valentine's day 2024",
            ["on[valentine's day 2024] 2024-02-14 day on"],
            id="a named day with its year",
        ),
        pytest.param("who played on christmas day 2023", ["on[christmas day 2023] 2023-12-25 day on"], id="christmas"),
        pytest.param(
            "who performed on new year's eve",
            ["on[new year's eve] 2023-12-31 day on"],
            id="new year's eve is the latest",
        ),
        pytest.param("who was born on july 4th 2009", ["on[july 4th 2009] 2009-07-04 day on"], id="a fixed day"),
        pytest.param(
            "who played on thanksgiving 2023", ["on[thanksgiving 2023] 2023-11-23 day on"], id="thanksgiving moves"
        ),
        pytest.param(
            "what did it sell on black friday 2022",
            ["on[black friday 2022] 2022-11-25 day on"],
            id="a day reckoned from another",
        ),
        pytest.param("what opened on easter 2021", ["on[easter 2021] 2021-04-04 day on"], id="easter moves"),
        pytest.param(
            "who starred in the film groundhog day",
            ["[groundhog day] 2024-02-02 day on weak"],
            id="a bare named day is weak",
        ),
        pytest.param("the close on march 9, 2024", ["on[march 9, 2024] 2024-03-09 day on"], id="month, day and year"),
        pytest.param("the close on 9 march 2024", ["on[9 march 2024] 2024-03-09 day on"], id="day before month"),
        pytest.param(
            "the close on the 9th of march 2024",
            ["on[the 9th of march 2024] 2024-03-09 day on"],
            id="the nth of a month",
        ),
        pytest.param(
            "the close on friday, march 1, 2024",
            ["on[friday, march 1, 2024] 2024-03-01 day on"],
            id="weekday before a date",
        ),
        pytest.param("the close on 3/9/2024", ["on[3/9/2024] 2024-03-09 day on"], id="slashes put the month first"),
        pytest.param(
            "the close on 25/12/2023", ["on[25/12/2023] 2023-12-25 day on"], id="slashes with a day over twelve"
        ),
        pytest.param("the close on 3/3/24", ["on[3/3/24] 2024-03-03 day on"], id="two digits of a year"),
        pytest.param("the close on 9.3.2024", ["on[9.3.2024] 2024-03-09 day on"], id="dots put the day first"),
        pytest.param("the close on 2024-03-09", ["on[2024-03-09] 2024-03-09 day on"], id="iso"),
        pytest.param("the close on feb 8th", ["on[feb 8th] 2024-02-08 day on"], id="without a year, the latest"),
        pytest.param(
            "the close on november 8", ["on[november 8] 2023-11-08 day on"], id="without a year, not after now"
        ),
        pytest.param("what will open on november 8", ["on[november 8] 2024-11-08 day on"], id="without a year, ahead"),
        pytest.param(
            "the close on feb. 8, 2024.", ["on[feb. 8, 2024] 2024-02-08 day on"], id="abbreviated with a point"
        ),
        pytest.param(
            "who was born on february 29", ["on[february 29] 2024-02-29 day on"], id="february 29 without a year"
        ),
        pytest.param("the close on 3/1", ["on[3/1] 2024-03-01 day on"], id="slashes without a year"),
        pytest.param("is it open 24/7 or 3/4", [], id="slashes that are no date"),
        pytest.param(
            "the close on december 15 last year", ["on[december 15 last year] 2023-12-15 day on"], id="last year's day"
        ),
        pytest.param(
            "games between feb 20 and feb 28",
            ["between[feb 20 and feb 28] 2024-02-20..2024-02-28 day between"],
            id="between two days of one year",
        ),
        pytest.param(
            "games from january 31 to february 2, 2024",
            ["from[january 31 to february 2, 2024] 2024-01-31..2024-02-02 day between"],
            id="from one year to the same",
        ),
        pytest.param(
            "games from december 20 to january 5, 2024",
            ["from[december 20 to january 5, 2024] 2023-12-20..2024-01-05 day between"],
            id="the year before at the start",
        ),
        pytest.param(
            "games from december 20, 2022 to january 5",
            ["from[december 20, 2022 to january 5] 2022-12-20..2023-01-05 day between"],
            id="a year for the second",
        ),
        pytest.param(
            "games between february 20 and 28",
            ["between[february 20 and 28] 2024-02-20..2024-02-28 day between"],
            id="days of one month",
        ),
        pytest.param(
            "games between 20 and 28 february 2023",
            ["between[20 and 28 february 2023] 2023-02-20..2023-02-28 day between"],
            id="days before their month",
        ),
        pytest.param(
            "games on feb 20-28, 2023", ["on[feb 20-28, 2023] 2023-02-20..2023-02-28 day between"], id="dashed days"
        ),
        pytest.param(
            "movies between 1990 and 1999",
            ["between[1990 and 1999] 1990-01-01..1999-12-31 year between"],
            id="between years",
        ),
        pytest.param(
            "movies from 2019-2021", ["from[2019-2021] 2019-01-01..2021-12-31 year between"], id="dashed years"
        ),
        pytest.param(
            "movies from 2015 to the present",
            ["from[2015 to the present] 2015-01-01..2024-03-06 year between"],
            id="to the present",
        ),
        pytest.param("movies from 2015 onwards", ["from[2015 onwards] 2015-01-01.. year since"], id="from a year on"),
        pytest.param(
            "the difference between 2019 and 2020",
            ["[2019] 2019-01-01..2019-12-31 year on", "[2020] 2020-01-01..2020-12-31 year on"],
            id="a difference is no range",
        ),
        pytest.param(
            "compare 2019 to 2020",
            ["[2019] 2019-01-01..2019-12-31 year on", "[2020] 2020-01-01..2020-12-31 year on"],
            id="a comparison is no range",
        ),
        pytest.param(
            "films of january 2024", ["of[january 2024] 2024-01-01..2024-01-31 month on"], id="month and year"
        ),
        pytest.param(
            "films of january, 2024", ["of[january, 2024] 2024-01-01..2024-01-31 month on"], id="month with a comma"
        ),
        pytest.param("films in 2024-01", ["in[2024-01] 2024-01-01..2024-01-31 month on"], id="iso month"),
        pytest.param("films in august", ["in[august] 2023-08-01..2023-08-31 month on"], id="month in the past"),
        pytest.param(
            "films in february.", ["in[february] 2024-02-01..2024-02-29 month on"], id="month at the end of a sentence"
        ),
        pytest.param("films last march", ["[last march] 2023-03-01..2023-03-31 month on"], id="last month by name"),
        pytest.param("films this march", ["[this march] 2024-03-01..2024-03-31 month on"], id="this month by name"),
        pytest.param("films in may", ["in[may] 2023-05-01..2023-05-31 month on"], id="may the month"),
        pytest.param("which film may have won", [], id="may the verb"),
        pytest.param(
            "the cast of march of the penguins",
            ["of[march] 2024-03-01..2024-03-31 month on weak"],
            id="march may be a title",
        ),
        pytest.param(
            "sales in the first week of january 2024",
            ["in[the first week of january 2024] 2024-01-01..2024-01-07 week on"],
            id="first week of a month",
        ),
        pytest.param(
            "sales in the last week of january 2024",
            ["in[the last week of january 2024] 2024-01-25..2024-01-31 week on"],
            id="last week of a month",
        ),
        pytest.param(
            "sales in the first three months of 2023",
            ["in[the first three months of 2023] 2023-01-01..2023-03-31 month between"],
            id="first months of a year",
        ),
        pytest.param(
            "the price on the last day of 2023", ["on[the last day of 2023] 2023-12-31 day on"], id="last day of a year"
        ),
        pytest.param(
            "who won on the last friday of march 2023",
            ["on[the last friday of march 2023] 2023-03-31 day on"],
            id="nth weekday of a month",
        ),
        pytest.param(
            "sales in the week of march 4, 2024",
            ["in[the week of march 4, 2024] 2024-03-04..2024-03-10 week on"],
            id="the week of a day",
        ),
        pytest.param(
            "sales on the day after thanksgiving 2022",
            ["on[the day after thanksgiving 2022] 2022-11-25 day on"],
            id="the day after a named day",
        ),
        pytest.param(
            "sales two days before christmas 2023",
            ["[two days before christmas 2023] 2023-12-23 day on"],
            id="days before a named day",
        ),
        pytest.param(
            "who won the year before 2020",
            ["[the year before 2020] 2019-01-01..2019-12-31 year on"],
            id="the year before a year",
        ),
        pytest.param("films in 2022", ["in[2022] 2022-01-01..2022-12-31 year on"], id="year"),
        pytest.param("films in the year 2019", ["in[the year 2019] 2019-01-01..2019-12-31 year on"], id="the year"),
        pytest.param(
            "earnings of calendar 2022", ["of[calendar 2022] 2022-01-01..2022-12-31 year on"], id="calendar year"
        ),
        pytest.param("firms with 2000 employees", [], id="an amount is no year"),
        pytest.param("is it over $1999 now", [], id="a price is no year"),
        pytest.param("is it over 2019.5 now", [], id="a decimal is no year"),
        pytest.param(
            "who directed blade runner 2049", ["[2049] 2049-01-01..2049-12-31 year on weak"], id="a far year is weak"
        ),
        pytest.param("films of the 1990s", ["of[the 1990s] 1990-01-01..1999-12-31 decade on"], id="decade"),
        pytest.param("songs from the 90s", ["from[the 90s] 1990-01-01..1999-12-31 decade on"], id="short decade"),
        pytest.param(
            "songs of the nineties", ["of[the nineties] 1990-01-01..1999-12-31 decade on"], id="decade in words"
        ),
        pytest.param("actors in their 80s", [], id="an age is no decade"),
        pytest.param("earnings in q1 2023", ["in[q1 2023] 2023-01-01..2023-03-31 quarter on"], id="quarter"),
        pytest.param(
            "earnings in 2023 q4", ["in[2023 q4] 2023-10-01..2023-12-31 quarter on"], id="year before quarter"
        ),
        pytest.param(
            "earnings in the second quarter of 2022",
            ["in[the second quarter of 2022] 2022-04-01..2022-06-30 quarter on"],
            id="quarter in words",
        ),
        pytest.param("earnings in q4", ["in[q4] 2023-10-01..2023-12-31 quarter on"], id="latest such quarter"),
        pytest.param(
            "earnings in the first half of 2023",
            ["in[the first half of 2023] 2023-01-01..2023-06-30 month between"],
            id="half a year",
        ),
        pytest.param(
            "who won the 2023-24 season",
            ["[the 2023-24 season] 2023-07-01..2024-06-30 season on"],
            id="season with a dash",
        ),
        pytest.param("who won in 2022/23", ["in[2022/23] 2022-07-01..2023-06-30 season on"], id="season with a slash"),
        pytest.param(
            "who won the 22/23 season", ["[the 22/23 season] 2022-07-01..2023-06-30 season on"], id="short season"
        ),
        pytest.param(
            "who won the 2018-2019 nba season",
            ["[the 2018-2019 nba season] 2018-07-01..2019-06-30 season on gap=nba"],
            id="season with its league between",
        ),
        pytest.param(
            "films of 2022-2023", ["of[2022-2023] 2022-01-01..2023-12-31 year between"], id="two years are a range"
        ),
        pytest.param(
            "who scored in 2011-12",
            ["in[2011-12] 2011-07-01..2012-06-30 season on", "in[2011-12] 2011-12-01..2011-12-31 month on"],
            id="season or month",
        ),
        pytest.param("who leads this season", ["[this season] 2023-07-01..2024-06-30 season on"], id="this season"),
        pytest.param("who won last season", ["[last season] 2022-07-01..2023-06-30 season on"], id="last season"),
        pytest.param(
            "who leads this bundesliga campaign",
            ["[this bundesliga campaign] 2023-07-01..2024-06-30 season on gap=bundesliga"],
            id="a league inside a season",
        ),
        pytest.param("who was in the last season of lost", [], id="the last season of a series"),
        pytest.param("films since 2015", ["since[2015] 2015-01-01.. year since"], id="since"),
        pytest.param(
            "films since the start of 2024",
            ["since[the start of 2024] 2024-01-01.. day since"],
            id="since the start of a year",
        ),
        pytest.param("films after 2010", ["after[2010] 2011-01-01.. year after"], id="after is without it"),
        pytest.param("films before 1990", ["before[1990] ..1989-12-31 year before"], id="before is without it"),
        pytest.param("how many as of april 3, 2021", ["as of[april 3, 2021] ..2021-04-03 day until"], id="as of a day"),
        pytest.param(
            "how many by the end of 2020", ["by[the end of 2020] ..2020-12-31 day until"], id="by the end of a year"
        ),
        pytest.param("how many until march 1, 2024", ["until[march 1, 2024] ..2024-03-01 day until"], id="until a day"),
        pytest.param(
            "volume on the last trading day",
            ["on[the last trading day] 2024-03-05 day on trading"],
            id="last trading day, the bell has not rung",
        ),
        pytest.param(
            "volume on the last trading day of 2023",
            ["on[the last trading day of 2023] 2023-12-29 day on trading"],
            id="last trading day of a year",
        ),
        pytest.param(
            "volume on the last trading day of march 2024",
            ["on[the last trading day of march 2024] 2024-03-28 day on trading"],
            id="last trading day of a month",
        ),
        pytest.param(
            "volume on the first trading day of last week",
            ["on[the first trading day of last week] 2024-02-26 day on trading"],
            id="first trading day of last week",
        ),
        pytest.param(
            "volume on the trading day before february 20, 2024",
            ["on[the trading day before february 20, 2024] 2024-02-16 day on trading"],
            id="trading day before a day",
        ),
        pytest.param(
            "volume on the last trading day before christmas 2023",
            ["on[the last trading day before christmas 2023] 2023-12-22 day on trading"],
            id="last trading day before a day",
        ),
        pytest.param(
            "who won this past week", ["[this past week] 2024-02-28..2024-03-06 week between"], id="this past week"
        ),
        pytest.param(
            "volume on the trading day after christmas 2023",
            ["on[the trading day after christmas 2023] 2023-12-26 day on trading"],
            id="trading day after a holiday",
        ),
        pytest.param(
            "volume in the last 5 trading days",
            ["in[the last 5 trading days] 2024-02-28..2024-03-05 day between trading"],
            id="last trading days",
        ),
        pytest.param(
            "its final close of 2023", ["[final close of 2023] 2023-12-29 day on trading"], id="final close of a year"
        ),
        pytest.param(
            "its price at the close of 2023",
            ["[at the close of 2023] 2023-12-29 day on trading"],
            id="at the close of a year",
        ),
        pytest.param(
            "the close of march 1", ["of[march 1] 2024-03-01 day on weak"], id="the close of a day is a price"
        ),
        pytest.param(
            "price at 10:30 in the morning (et) on march 1",
            ["at[10:30 in the morning (et) on march 1] 2024-03-01 minute on 10:30"],
            id="clock in new york",
        ),
        pytest.param(
            "price at 3pm eastern yesterday",
            ["at[3pm eastern yesterday] 2024-03-05 minute on 15:00"],
            id="clock in words",
        ),
        pytest.param(
            "price on march 1, 2024 at 14:30",
            ["on[march 1, 2024 at 14:30] 2024-03-01 minute on 14:30"],
            id="clock after its day",
        ),
        pytest.param(
            "price on march 1 at 9:45 am pt",
            ["on[march 1 at 9:45 am pt] 2024-03-01 minute on 12:45"],
            id="clock of another zone",
        ),
        pytest.param("price yesterday at noon", ["[yesterday at noon] 2024-03-05 minute on 12:00"], id="noon"),
        pytest.param("did they win 3:1", [], id="a score is no clock"),
        pytest.param(
            "films in 2019 and in 2021",
            ["in[2019] 2019-01-01..2019-12-31 year on", "in[2021] 2021-01-01..2021-12-31 year on"],
            id="two times",
        ),
        pytest.param("who was born on february 30, 2020", [], id="a day that is none"),
        pytest.param("what lived 5000 years ago", [], id="too long ago"),
        pytest.param("who directed the godfather", [], id="no time"),
        pytest.param("what is his latest film", [], id="no time in a superlative"),
        pytest.param(
            "price at the beginning of last year",
            ["at[the beginning of last year] 2023-01-01 day on"],
            id="a start in words",
        ),
        pytest.param("Films In January 2024", ["In[January 2024] 2024-01-01..2024-01-31 month on"], id="capitals"),
        pytest.param("who was born on february 30", [], id="a month without a day like that"),
        pytest.param(
            "films of the first weekend of march 2024",
            ["of[the first weekend of march 2024] 2024-03-02..2024-03-03 day on"],
            id="first weekend of a month",
        ),
        pytest.param(
            "who won over the past two seasons",
            ["over[the past two seasons] 2022-07-01..2024-03-06 season between"],
            id="seasons in a row",
        ),
        pytest.param("midnight in paris", [], id="a clock that needs its preposition"),
        pytest.param(
            "what opens in the next 3 days",
            ["in[the next 3 days] 2024-03-06..2024-03-09 day between"],
            id="the next days",
        ),
        pytest.param("call 555-1234", [], id="a phone number"),
        pytest.param("top 10 films", [], id="a plain number"),
    ],
)
def test_the_times_of_a_question(question: str, spans: list[str]) -> None:
    assert [shown(question, span) for span in times(question, NOW)] == spans


@pytest.mark.parametrize(
    "now, question, days",
    [
        pytest.param(
            "03/10/2024, 12:00:00 PT",
            "last week",
            ["2024-02-26", "2024-03-04"],
            id="on a sunday last week may be the one that ends",
        ),
        pytest.param(
            "03/09/2024, 12:00:00 PT",
            "last friday",
            ["2024-03-08", "2024-03-01"],
            id="on a saturday last friday was yesterday",
        ),
        pytest.param(
            "03/10/2024, 12:00:00 PT", "the weekend", ["2024-03-09"], id="on a sunday the weekend is this one"
        ),
        pytest.param("03/10/2024, 12:00:00 PT", "last weekend", ["2024-03-02"], id="on a sunday last weekend is over"),
        pytest.param("01/01/2024, 12:00:00 PT", "yesterday", ["2023-12-31"], id="over the new year"),
        pytest.param("03/31/2024, 12:00:00 PT", "last month", ["2024-02-01"], id="the 31st has no february"),
        pytest.param("01/15/2024, 12:00:00 PT", "last quarter", ["2023-10-01"], id="the quarter before january"),
        pytest.param("07/01/2024, 12:00:00 PT", "this season", ["2024-07-01"], id="a season begins in july"),
        pytest.param("03/06/2023, 12:00:00 PT", "on february 29", ["2020-02-29"], id="the latest leap year"),
        pytest.param(
            "03/06/2024, 13:30:00 PT", "on the last trading day", ["2024-03-06"], id="the bell has rung in new york"
        ),
        pytest.param(
            "03/11/2024, 06:00:00 PT", "on the previous trading day", ["2024-03-08"], id="before the bell on a monday"
        ),
    ],
)
def test_the_same_words_on_another_day(now: str, question: str, days: list[str]) -> None:
    assert [str(span.first) for span in times(question, moment_of(now))] == days


def test_today_is_that_of_the_zone() -> None:
    late = moment_of("03/06/2024, 23:00:00 PT")
    assert [str(s.first) for s in times("today", late)] == ["2024-03-06"]
    assert [str(s.first) for s in times("today", late, "America/New_York")] == ["2024-03-07"]


def test_a_question_takes_little_time() -> None:
    question = (
        "what was the closing price of apple on the last trading day of january 2024 compared with march 1 a year ago"
    )
    times(question, NOW)
    begun = time.perf_counter()
    for _ in range(20):
        times(question, NOW)
    assert (time.perf_counter() - begun) / 20 < 0.02  # seconds; about 0.0005 on an idle machine


@pytest.mark.parametrize(
    "first, last, days",
    [
        pytest.param("2024-01-13", "2024-01-17", ["2024-01-16", "2024-01-17"], id="martin luther king day"),
        pytest.param(
            "2021-12-31", "2022-01-03", ["2021-12-31", "2022-01-03"], id="a new year on a saturday takes no friday"
        ),
        pytest.param("2012-10-26", "2012-10-31", ["2012-10-26", "2012-10-31"], id="a hurricane"),
        pytest.param("2024-01-02", "2024-01-01", [], id="backwards"),
    ],
)
def test_trading_days(first: str, last: str, days: list[str]) -> None:
    assert [str(d) for d in trading_days(dt.date.fromisoformat(first), dt.date.fromisoformat(last))] == days


@pytest.mark.parametrize(
    "now, day",
    [
        pytest.param("2024-03-08T15:59-05:00", "2024-03-07", id="a minute before the bell"),
        pytest.param("2024-03-08T16:00-05:00", "2024-03-08", id="the bell"),
        pytest.param("2024-03-10T12:00-04:00", "2024-03-08", id="on a sunday"),
        pytest.param("2023-11-24T13:00-05:00", "2023-11-24", id="an early bell"),
        pytest.param("2024-03-09T02:00+00:00", "2024-03-08", id="now of another zone"),
    ],
)
def test_the_last_trading_day(now: str, day: str) -> None:
    assert str(last_trading_day(moment_of(now))) == day


def test_a_day_that_was_not_named_yet() -> None:
    assert named_day("juneteenth", 1950) is None
