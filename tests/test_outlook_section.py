"""The outlook says what next month takes, how budgets stand, and which days stood out."""

from report_frames import (
    anomaly_mart,
    budget_lines,
    column_of,
    forecast_mart,
    report,
    section_of,
    table_of,
)


def test_the_forecast_stands_with_its_range() -> None:
    said = section_of(report(), "outlook").statements

    assert said[0] == "2026-07: cost of 1.50 USD (1.00 to 2.00)."
    assert said[1].startswith("2026-07: electricity of 3")


def test_a_forecast_that_is_not_enough_says_why() -> None:
    why = "not enough: fewer than 3 whole weeks of days"
    book = report(mart_forecast=forecast_mart(cost_usd=None, facility_energy_kwh=None, reason=why))

    assert section_of(book, "outlook").statements[0] == f"No forecast of cost: {why}."


def test_budgets_that_end_above_are_counted_and_stand_first() -> None:
    book = report(mart_budget=budget_lines({}, {"team": None, "projected_frac": 1.5}))

    assert "1 of 2 budgets end above what they allow." in section_of(book, "outlook").statements
    assert column_of(table_of(book, "budgets"), "team") == [None, "support"]


def test_without_budgets_the_file_that_would_tell_them_is_named() -> None:
    book = report(mart_budget=budget_lines({}).clear())

    assert "budgets.csv" in " ".join(section_of(book, "outlook").statements)


def test_a_day_that_left_its_pattern_is_named_with_what_moved() -> None:
    said = section_of(report(), "outlook").statements

    assert said[-1] == "2026-06-09: support left its pattern, mostly in requests."


def test_a_month_without_such_days_says_so() -> None:
    book = report(mart_anomalies=anomaly_mart({}).clear())

    assert section_of(book, "outlook").statements[-1].startswith("No day left its own pattern")


def test_without_days_the_section_says_what_would_fill_it() -> None:
    book = report(
        mart_forecast=forecast_mart().clear(),
        mart_budget=budget_lines({}).clear(),
        mart_anomalies=anomaly_mart({}).clear(),
    )

    outlook = section_of(book, "outlook")
    assert outlook.tables == ()
    assert "day buckets" in outlook.empty_reason
