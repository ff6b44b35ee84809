"""What comes next and what stood out: the next month, budgets, and days that left their pattern."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_FORECAST_COLUMNS = (
    Column("forecast_month", "Month", "id", meaning="The month after this one."),
    Column("measure", "Of", "text", meaning="Cost of usage, or electricity."),
    Column("cost_usd", "Cost", "usd", "USD", "Usage only, no other charges.", unknown=""),
    Column("cost_low_usd", "Cost, low", "usd", "USD", "Low end (5 %).", unknown=""),
    Column("cost_high_usd", "Cost, high", "usd", "USD", "High end (95 %).", unknown=""),
    Column("facility_energy_kwh", "Electricity", "kwh", "kWh", "At the facility.", unknown=""),
    Column("facility_energy_low_kwh", "Electricity, low", "kwh", "kWh", "5 %.", unknown=""),
    Column("facility_energy_high_kwh", "Electricity, high", "kwh", "kWh", "95 %.", unknown=""),
    Column(
        "damped_change_ratio",
        "Change taken",
        "ratio",
        meaning="Per day against this month: the last change, damped.",
    ),
    Column("week_count", "Weeks", "count", meaning="Whole weeks that tell the range."),
    Column("reason", "Not enough", "text", meaning="Why nothing is said.", unknown=""),
    c.GRADE,
    c.BATCH,
)
_BUDGET_COLUMNS = (
    Column("team", "Team", "text", meaning="Whose budget.", unknown="whole month"),
    Column("budget_usd", "Budget", "usd", "USD", "From budgets.csv."),
    Column("used_usd", "Used", "usd", "USD", "Cost of usage so far."),
    Column("used_frac", "Used share", "frac", meaning="Used over budget."),
    Column("projected_usd", "Projected end", "usd", "USD", "At what a day took so far."),
    Column("projected_frac", "Projected share", "frac", meaning="Projected end over budget."),
    Column("last_on", "Up to", "date", meaning="Last day with usage."),
    Column("reason", "Not enough", "text", meaning="Why nothing is said.", unknown=""),
)
_ANOMALY_COLUMNS = (
    Column("day_on", "Day", "date", meaning="In the zone that cuts months."),
    Column("subject", "Team or model", "text", meaning="Whose pattern.", unknown="no team"),
    Column("moved", "What moved", "text", meaning="The factor furthest from its own median."),
    Column("cost_usd", "Cost", "usd", "USD", "Of that day.", unknown="unpriced"),
    Column("expected_cost_usd", "Usual cost", "usd", "USD", "Median of its days.", unknown=""),
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    Column("expected_energy_kwh", "Usual", "kwh", "kWh", "Median, where unpriced.", unknown=""),
    Column("month_frac", "Of the month", "frac", meaning="By how much it differs, of the month."),
    Column(
        "score_ratio", "Distance (deviations)", "number", meaning="In scaled median deviations."
    ),
    Column("requests_ratio", "Requests, × usual", "ratio", meaning="Over their median."),
    Column(
        "request_tokens_ratio", "Tokens a request, × usual", "ratio", meaning="Over their median."
    ),
    Column(
        "price_ratio",
        "Price a token, × usual",
        "ratio",
        meaning="Over its median; or energy a token.",
    ),
    Column("pattern_day_count", "Days compared", "count", meaning="Days before it, of its kind."),
    c.GRADE,
    c.BATCH,
)


def section(forecast: pl.DataFrame, budget: pl.DataFrame, anomalies: pl.DataFrame) -> Section:
    """Return the outlook of one month.

    Args:
        forecast: mart_forecast of the month.
        budget: mart_budget of the month.
        anomalies: mart_anomalies of the month.
    """
    tables = (
        *((_forecast_table(forecast),) if forecast.height else ()),
        *((_budget_table(budget),) if budget.height else ()),
        *((_anomaly_table(anomalies),) if anomalies.height else ()),
    )
    return Section(
        name="outlook",
        title="Outlook",
        sheet="Outlook",
        question="What will next month take, how do budgets stand, and which days stood out?",
        statements=(*_expected(forecast), *_budgets(budget), *_stood_out(anomalies, forecast)),
        tables=tables,
        empty_reason=""
        if tables
        else "No usage of this month has a day: logs of requests or of day buckets would fill "
        "this, and budgets.csv (month, team, usd) in the overlay folder its budgets.",
    )


def _forecast_table(forecast: pl.DataFrame) -> Table:
    return Table(
        "forecast",
        "Next month, at this month's volume per day and mix",
        _FORECAST_COLUMNS,
        r.table_rows(forecast.sort("measure"), _FORECAST_COLUMNS),
        note="Per day of this month, times half of the last change on a log scale "
        "(forecast_damping_frac), times the days of the next. Range: scatter of whole weeks of the "
        "last 8, as if the month were one of them; for electricity its own range on top.",
    )


def _budget_table(budget: pl.DataFrame) -> Table:
    ordered = r.sorted_by(budget, "projected_frac", "team")
    return Table("budgets", "Budgets", _BUDGET_COLUMNS, r.table_rows(ordered, _BUDGET_COLUMNS))


def _anomaly_table(anomalies: pl.DataFrame) -> Table:
    keys = ["day_on", "subject_kind", "subject"]
    return Table(
        "anomalies",
        "Days that left their own pattern",
        _ANOMALY_COLUMNS,
        r.table_rows(anomalies.sort(keys, nulls_last=True), _ANOMALY_COLUMNS),
        note="Median and median deviation of the days of the 8 weeks before: of the same weekday, "
        "or of working or weekend days; at most a handful, the largest.",
    )


def _expected(forecast: pl.DataFrame) -> tuple[str, ...]:
    found = []
    for row in forecast.sort("measure").rows(named=True):
        name, unit, kind = (
            ("cost", "USD", "usd") if row["measure"] == "cost" else ("electricity", "kWh", "kwh")
        )
        value, low, high = (
            (row["cost_usd"], row["cost_low_usd"], row["cost_high_usd"])
            if kind == "usd"
            else (
                row["facility_energy_kwh"],
                row["facility_energy_low_kwh"],
                row["facility_energy_high_kwh"],
            )
        )
        if value is None:
            found.append(f"No forecast of {name}: {show(row['reason'], 'text')}.")
        else:
            shown = [show(each, "usd" if kind == "usd" else "kwh") for each in (value, low, high)]
            found.append(
                f"{row['forecast_month']}: {name} of {shown[0]} {unit} ({shown[1]} to {shown[2]})."
            )
    return tuple(found)


def _budgets(budget: pl.DataFrame) -> tuple[str, ...]:
    if budget.is_empty():
        return ("No budget is told: budgets.csv (month, team, usd) in the overlay folder would.",)
    over = budget.filter(pl.col("projected_frac").cast(pl.Float64) > 1)
    return (f"{over.height} of {budget.height} budgets end above what they allow.",)


def _stood_out(anomalies: pl.DataFrame, forecast: pl.DataFrame) -> tuple[str, ...]:
    if anomalies.is_empty():
        return ("No day left its own pattern by more than the threshold.",) * (forecast.height > 0)
    return tuple(
        f"{show(row['day_on'], 'date')}: {show(row['subject'], 'text', 'no team')} left its "
        f"pattern, mostly in {row['moved']}."
        for row in anomalies.sort("day_on", "subject", nulls_last=True).rows(named=True)
    )
