"""Next month and the end of budgets, by hand from a dollar a day, two, and three."""

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline import warehouse
from pipeline.errors import BadInputError
from pipeline.reference import load_reference
from pipeline.settings import Settings

BUDGETS = """month,team,usd
2026-10,,100
2026-11,Search,60
2026-11,sales,60
2026-12,,10
"""
FIRST_DAY, LAST_DAY = dt.date(2026, 9, 1), dt.date(2026, 11, 10)


def log() -> Rows:
    """Return one request a day: 1 USD each in September, 2 in October, 3 up to 10 November."""
    days = [FIRST_DAY + dt.timedelta(days=n) for n in range((LAST_DAY - FIRST_DAY).days + 1)]
    return [
        {
            **{"input_tokens": 900, "output_tokens": 300, "team": "search"},
            **{"occurred_at": f"{day}T10:00:00Z", "billed_cost_usd": str(day.month - 8)},
        }
        for day in days
    ]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = tmp_path_factory.mktemp("overlays")
    (folder / "budgets.csv").write_text(BUDGETS, encoding="utf-8")
    return book_of(
        log(),
        settings=Settings(overlay_folder=folder),
        targets=["mart_forecast", "mart_budget"],
    )


def forecast(book: Book, month: str, measure: str) -> Any:  # noqa: ANN401
    [row] = rows_of(
        book, f"select * from mart_forecast where month = '{month}' and measure = '{measure}'"
    )
    return row


def test_half_of_a_doubling_goes_on_into_the_days_of_the_next_month(book: Book) -> None:
    row = forecast(book, "2026-10", "cost")

    # 2 USD a day after 1: √2 of it, 30 days: 84.85
    assert (row["forecast_month"], row["day_count"]) == ("2026-11", 31)
    assert row["damped_change_ratio"] == pytest.approx(math.sqrt(2))
    assert float(row["cost_usd"]) == pytest.approx(2 * math.sqrt(2) * 30)


def test_the_range_is_the_scatter_of_the_last_eight_weeks(book: Book) -> None:
    row = forecast(book, "2026-10", "cost")

    # weeks back from 31 October, USD a day: 2, 2, 2, 2, (4 · 1 + 3 · 2) / 7, 1, 1, 1. Their median
    # is (2 + 10/7) / 2 = 12/7; five lie 2/7 from it, three 5/7: the median deviation is 2/7
    half = 1.645 * 1.4826 * 2 / 7 * 30  # 20.90
    assert row["week_count"] == 8
    assert float(row["cost_low_usd"]) == pytest.approx(2 * math.sqrt(2) * 30 - half)
    assert float(row["cost_high_usd"]) == pytest.approx(2 * math.sqrt(2) * 30 + half)


def test_a_first_month_has_no_change_to_go_on(book: Book) -> None:
    row = forecast(book, "2026-09", "cost")

    assert (row["has_month_before"], row["damped_change_ratio"]) == (False, 1)
    assert float(row["cost_usd"]) == pytest.approx(31)  # a dollar a day, 31 days of October


def test_energy_of_like_days_goes_on_within_its_own_range(book: Book) -> None:
    row = forecast(book, "2026-10", "energy")
    [total] = rows_of(
        book,
        "select * from mart_month_total where month = '2026-10' and total_kind = 'month'",
    )

    # days are alike, so weeks do not scatter and the range is that of the energy alone
    assert row["facility_energy_kwh"] == pytest.approx(total["facility_energy_kwh"] / 31 * 30)
    for end in ("low", "high"):
        assert row[f"facility_energy_{end}_kwh"] == pytest.approx(
            total[f"facility_energy_{end}_kwh"] / 31 * 30
        )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, "not enough: fewer than 3 whole weeks of days"),
        (
            {"bucket_end_at": "2026-10-12T00:00:00Z", "request_count": 9},
            "not enough: buckets longer than a day tell no day",
        ),
    ],
)
def test_too_few_days_or_too_long_buckets_are_not_enough(
    book_of: Callable[..., Book], change: dict[str, Any], reason: str
) -> None:
    rows: Rows = [
        {"input_tokens": 900, "output_tokens": 300, "billed_cost_usd": "1"},
        {"input_tokens": 900, "output_tokens": 300, "billed_cost_usd": "1", **change},
    ]
    row = forecast(book_of(rows, targets=["mart_forecast"]), "2026-10", "cost")

    assert row["reason"] == reason
    assert [row[name] for name in ("cost_usd", "cost_low_usd", "cost_high_usd")] == [None] * 3


# Budgets --------------------------------------------------------------------------------------


def budget(book: Book, month: str, team: str | None) -> Any:  # noqa: ANN401
    rows = rows_of(book, f"select * from mart_budget where month = '{month}'")
    [row] = [row for row in rows if row["team"] == team]
    return row


def test_a_finished_month_ends_at_what_is_used(book: Book) -> None:
    row = budget(book, "2026-10", None)

    assert (row["used_usd"], row["projected_usd"]) == (Decimal(62), Decimal(62))
    assert row["used_frac"] == pytest.approx(0.62)


def test_a_month_under_way_ends_at_what_a_day_took(book: Book) -> None:
    row = budget(book, "2026-11", "Search")  # the log writes it small

    # 10 days at 3 USD; at that pace 90 USD after 30, of a budget of 60
    assert (row["used_usd"], row["projected_usd"]) == (Decimal(30), Decimal(90))
    assert (row["used_frac"], row["projected_frac"]) == (pytest.approx(0.5), pytest.approx(1.5))
    assert row["last_on"] == LAST_DAY


def test_budgets_of_nothing_logged_say_so(book: Book) -> None:
    sales, december = budget(book, "2026-11", "sales"), budget(book, "2026-12", None)

    assert sales["reason"] == "no usage of known cost of this team in this month"
    assert december["reason"] == "no usage logged in this month"
    assert (sales["used_usd"], december["projected_usd"]) == (None, None)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("October,,100", "row 2, column month: expected a month such as 2026-10, found 'October'"),
        ("2026-13,,100", "found '2026-13'"),
        ("2026-10,,much", "column usd: expected an amount such as 2500.00, found 'much'"),
        ("2026-10,,-5", "column usd: expected an amount above 0, such as 2500.00, found '-5'"),
        ("2026-10,a,1\n2026-10,A,2", "rows 2 and 3: expected one budget for 2026-10 and team 'A'"),
        ("2026-10,,1\n2026-10,,2", "expected one budget for 2026-10 and the whole month"),
    ],
)
def test_a_bad_budget_gives_one_line_that_names_it(tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "budgets.csv").write_text(f"month,team,usd\n{rows}\n", encoding="utf-8")

    with warehouse.connect(None, 1, threads=1) as con, pytest.raises(BadInputError) as raised:
        load_reference(con, Settings(overlay_folder=tmp_path))
    assert said in str(raised.value)
