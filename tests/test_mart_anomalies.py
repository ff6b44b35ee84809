"""Days that left their own pattern, by hand: what is usual, how far off, and what moved."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline.settings import Settings

pytestmark = pytest.mark.slow

ODD_DAY = dt.date(2026, 10, 14)  # a Wednesday


def working_days(first: dt.date, last: dt.date) -> list[dt.date]:
    days = [first + dt.timedelta(days=n) for n in range((last - first).days + 1)]
    return [day for day in days if day.isoweekday() <= 5]


def usage(team: str, day: dt.date, cost: str = "1", tokens: int = 1_000, times: int = 1) -> Rows:
    """Return requests of one day: each of so many tokens, at so many dollars, half of them in."""
    return [
        {
            **{"team": team, "model_name": f"model of {team}", "billed_cost_usd": cost},
            **{"input_tokens": tokens // 2, "output_tokens": tokens // 2},
            **{"occurred_at": f"{day}T10:00:00Z"},
        }
        for _ in range(times)
    ]


def log() -> Rows:
    """Return teams of a dollar a day from 7 September on, until the odd day or after it."""
    rows: Rows = []
    for day in working_days(dt.date(2026, 9, 7), dt.date(2026, 10, 16)):
        is_odd = day == ODD_DAY
        rows += usage("steady", day)
        rows += usage("busy", day, times=10 if is_odd else 1)
        rows += usage("long", day, cost="9", tokens=9_000) if is_odd else usage("long", day)
        rows += usage("dear", day, cost="8" if is_odd else "1")
    for day in working_days(dt.date(2026, 8, 17), dt.date(2026, 10, 16)):
        rows += usage("wednesdays", day, cost="3" if day.isoweekday() == 3 else "1")
    for day in working_days(dt.date(2026, 10, 12), dt.date(2026, 10, 14)):
        rows += usage("new", day, cost="50" if day == ODD_DAY else "1")
    rows += usage("small", ODD_DAY, cost="0.5")
    for day in working_days(dt.date(2026, 9, 7), dt.date(2026, 10, 13)):
        rows += usage("small", day, cost="0.1")
    return rows


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(log(), targets=["mart_anomalies"])


@pytest.fixture(scope="module")
def october(book_of: Callable[..., Book]) -> dict[str, Any]:
    """Return October's days by team, were more than a handful told."""
    told = book_of(
        log(), settings=Settings(assumptions={"anomaly_most_count": 50}), targets=["mart_anomalies"]
    )
    rows = rows_of(
        told,
        "select * from mart_anomalies where month = '2026-10' and subject_kind = 'team'",
    )
    assert {row["day_on"] for row in rows} == {ODD_DAY}
    return {row["subject"]: row for row in rows}


def test_only_what_left_its_own_pattern_is_told(october: dict[str, Any]) -> None:
    # steady and wednesdays did what they do, new has no pattern yet, small moves under 1 % of the
    # month: 40 cents of 141.40 USD
    assert set(october) == {"busy", "long", "dear"}


def test_the_pattern_is_the_median_of_its_working_days(october: dict[str, Any]) -> None:
    row = october["busy"]

    # 18 working days from 7 to 30 September, 9 of October: 5 Wednesdays are too few
    assert (row["pattern_day_count"], row["is_by_weekday"]) == (27, False)
    assert (row["cost_usd"], row["expected_cost_usd"]) == (Decimal(10), Decimal(1))
    # 10 less 1, over the floor of a tenth of 1, since days were alike
    assert row["score_ratio"] == pytest.approx(90)


@pytest.mark.parametrize(
    ("team", "moved", "ratios"),
    [
        ("busy", "requests", (10, 1, 1)),
        ("long", "tokens per request", (1, 9, 1)),
        ("dear", "price per token", (1, 1, 8)),
    ],
)
def test_what_moved_is_the_factor_furthest_from_its_median(
    october: dict[str, Any], team: str, moved: str, ratios: tuple[int, ...]
) -> None:
    row = october[team]

    assert row["moved"] == moved
    names = ("requests_ratio", "request_tokens_ratio", "price_ratio")
    assert tuple(row[name] for name in names) == pytest.approx(ratios)


def test_at_most_a_handful_is_told_the_largest_first(book: Book) -> None:
    rows = rows_of(book, "select * from mart_anomalies where month = '2026-10'")

    # three teams and their three models left their pattern; the dear one moved 7, the least
    found = sorted((row["subject_kind"], row["subject"]) for row in rows)
    assert len(found) == 5
    assert [name for _, name in found].count("dear") + [name for _, name in found].count(
        "model of dear"
    ) == 1


def test_a_day_is_one_of_the_zone_that_cuts_months(book_of: Callable[..., Book]) -> None:
    rows = usage("a", dt.date(2026, 10, 5)) + [
        row | {"occurred_at": "2026-10-06T02:00:00Z"} for row in usage("a", dt.date(2026, 10, 6))
    ]
    told = book_of(rows, settings=Settings(time_zone="America/New_York"), targets=["int_days"])

    [day] = rows_of(told, "select day_on, request_count from int_days")
    assert (day["day_on"], day["request_count"]) == (dt.date(2026, 10, 5), 2)


def test_a_day_has_its_share_of_its_class_in_every_world(book_of: Callable[..., Book]) -> None:
    llama = {"model_name": "meta-llama/Llama-3.1-8B", "query_class": "chat", "team": "own"}
    rows = [
        row | llama | {"billed_cost_usd": None}
        for day in working_days(dt.date(2026, 9, 7), ODD_DAY)
        for row in usage("own", day, times=10 if day == ODD_DAY else 1)
    ]
    told = book_of(rows, assumes=[{"batch": "8"}], targets=["mart_anomalies"])

    [day] = rows_of(told, "select * from mart_anomalies where subject = 'own'")
    [cell] = rows_of(told, "select * from int_class_energy where month = '2026-10'")
    # 9 of October before it of one request, and the odd day itself of 10
    part = 10 / 19
    for name in ("facility_energy_kwh", "facility_energy_low_kwh", "facility_energy_high_kwh"):
        assert float(day[name]) == pytest.approx(part * cell[name])
    basis = ("evidence_grade", "coefficient_set_id", "batch")
    assert tuple(day[name] for name in basis) == ("B", "h100-sxm-vllm-1", 8)


def test_days_add_up_to_the_month(book_of: Callable[..., Book]) -> None:
    paid = {"provider": "openai", "model_name": "gpt-5-mini", "input_tokens": 900}
    rows = [
        paid | {"output_tokens": 300 * day, "occurred_at": f"2026-10-0{day}T10:00:00Z"}
        for day in range(1, 6)
    ]
    told = book_of(rows, targets=["int_days", "mart_month_total"])

    days = rows_of(
        told, "select sum(cost_usd) as usd, sum(facility_energy_kwh)::double as kwh from int_days"
    )
    [total] = rows_of(told, "select * from mart_month_total where total_kind = 'month'")
    assert days[0]["usd"] == total["cost_usd"]
    assert days[0]["kwh"] == pytest.approx(total["facility_energy_kwh"])
