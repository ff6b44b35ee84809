"""Bill beside tokens: what usage costs by list price, what was billed, and why they differ."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_COLUMNS = (
    c.PROVIDER,
    c.MODEL,
    Column(
        "computed_cost_usd", "By tokens", "usd", "USD", "Tokens at the list price of their day."
    ),
    Column("compared_cost_usd", "Of it billed", "usd", "USD", "Part of it that a bill covers."),
    Column("billed_cost_usd", "Billed", "usd", "USD", "Money of the bills for these tokens."),
    Column("gap_usd", "Gap", "usd", "USD", "Billed less the part it covers; empty if unknown."),
    Column("gap_cause", "Why", "text", meaning="What the gap most likely comes from."),
    Column("other_charge_usd", "Other charges", "usd", "USD", "Fees, credits and other services."),
    c.UNPRICED,
)
# Each part of the gap: its column, head, and what it says of the money in it.
_PARTS = (
    ("unpriced_usd", "Unpriced usage", "was billed for usage that has no list price"),
    (
        "missing_usage_usd",
        "Missing usage",
        "was billed for days or models of which no usage was read",
    ),
    ("unbilled_usage_usd", "Usage without bill", "is usage on days, or of models, without a bill"),
    ("late_usd", "Late bill", "is usage after the last day that the bill covers"),
    (
        "open_bucket_usd",
        "Open bucket",
        "is what the bill's last day lacks, most likely exported before that day was over",
    ),
    ("credit_usd", "Credits", "was taken off by negative lines of the bill"),
    ("rounding_usd", "Rounding", "is within half a unit of the bill's last digit a line"),
    ("time_zone_usd", "Time zone", "is usage that falls into other days in the bill's own zone"),
    ("rest_usd", "Rest", "is not explained: another tier, discount, price, or count of tokens"),
)
_PART_COLUMNS = (
    c.PROVIDER,
    c.MODEL,
    Column("gap_usd", "Gap", "usd", "USD", "Billed less what the tokens cost at list price."),
    *(
        Column(name, head, "usd", "USD", f"Part of the gap that {meaning}.", "unknown")
        for name, head, meaning in _PARTS
    ),
)
_DAY_COLUMNS = (
    Column("bill_day", "Day", "date", meaning="Day of the bill, in its own zone."),
    c.PROVIDER,
    Column("model_id", "Model", "text", meaning="Empty: the bill tells no models.", unknown="all"),
    Column("computed_cost_usd", "By tokens", "usd", "USD", "Usage of the day at list price."),
    Column("billed_cost_usd", "Billed", "usd", "USD", "Lines of the bill for the day."),
    Column("gap_usd", "Gap", "usd", "USD", "Billed less by tokens; where one is empty, the other."),
    Column("gap_cause", "Why", "text", meaning="What the day's gap is counted as."),
)
_CHARGE_COLUMNS = (
    Column("charge_kind", "Kind", "text", meaning="What the money was for."),
    c.PROVIDER,
    Column(
        "model_id", "Model", "text", meaning="Model of the charge, if it names one.", unknown="–"
    ),
    c.TEAM,
    Column("row_count", "Lines", "count", meaning="Lines of the bill."),
    Column("billed_cost_usd", "Billed", "usd", "USD", "Money of these lines."),
    Column(
        "counted_cost_usd",
        "Beside the usage",
        "usd",
        "USD",
        "Part that no usage of this report already shows; a token bill beside its usage is none.",
    ),
)
_SUMMED = (
    "computed_cost_usd",
    "compared_cost_usd",
    "billed_cost_usd",
    "gap_usd",
    "other_charge_usd",
)


def section(mart: pl.DataFrame, days: pl.DataFrame, charges: pl.DataFrame) -> Section:
    """Return the reconciliation of one month.

    Args:
        mart: mart_reconciliation of the month.
        days: mart_reconciliation_days of the month.
        charges: mart_other_charges of the month.
    """
    ordered = r.sorted_by(mart, "billed_cost_usd", "computed_cost_usd", "provider", "model_id")
    has_bill = mart.get_column("billed_cost_usd").drop_nulls().len() > 0 or charges.height > 0
    return Section(
        name="reconciliation",
        title="Reconciliation",
        sheet="Reconciliation",
        question="Does the bill agree with what the tokens should cost?",
        statements=_statements(mart, charges) if has_bill else (),
        tables=(
            _table(ordered),
            *_part_tables(ordered),
            *_day_tables(days),
            *_charge_tables(charges),
        )
        if has_bill
        else (),
        empty_reason=""
        if has_bill
        else "No bill was read: logs with a cost, or a provider's cost export, would fill this.",
    )


def _statements(mart: pl.DataFrame, charges: pl.DataFrame) -> tuple[str, ...]:
    other = r.known_sum(charges, "counted_cost_usd")
    beside = (
        (f"Charges that are no usage of this report: {show(other, 'usd')} USD, in no cost above.",)
        if other
        else ()
    )
    both = mart.filter(pl.col("gap_usd").is_not_null())
    billed, gap = r.known_sum(both, "billed_cost_usd"), r.known_sum(both, "gap_usd")
    if not both.height:
        return ("No model has both a bill and a list price.", *beside)
    return (
        f"Where both are known, {show(billed, 'usd')} USD were billed, "
        f"{show(gap, 'usd')} USD more than the tokens cost at list price.",
        *_part_statements(both),
        *beside,
    )


def _part_statements(both: pl.DataFrame) -> tuple[str, ...]:
    """Return a sentence for each part of the gaps that is known and not zero."""
    sums = [(head, meaning, r.known_sum(both, name)) for name, head, meaning in _PARTS]
    return tuple(
        f"{head}: {show(part, 'usd')} USD {meaning}." for head, meaning, part in sums if part
    )


def _part_tables(mart: pl.DataFrame) -> tuple[Table, ...]:
    both = mart.filter(pl.col("gap_usd").is_not_null())
    if both.is_empty():
        return ()
    return (
        Table(
            "reconciliation_parts",
            "What each gap is made of",
            _PART_COLUMNS,
            r.table_rows(both, _PART_COLUMNS),
            r.total_row(both, _PART_COLUMNS, ("gap_usd", *(name for name, _, _ in _PARTS))),
            "The parts add up to the gap; a part is unknown where the logs cannot tell it.",
        ),
    )


def _day_tables(days: pl.DataFrame) -> tuple[Table, ...]:
    if days.is_empty():
        return ()
    ordered = days.sort("bill_day", "provider", "model_id", nulls_last=True)
    return (
        Table(
            "reconciliation_days",
            "The bill for tokens beside the usage, day by day",
            _DAY_COLUMNS,
            r.table_rows(ordered, _DAY_COLUMNS),
            r.total_row(ordered, _DAY_COLUMNS, ("computed_cost_usd", "billed_cost_usd", "gap_usd")),
        ),
    )


def _charge_tables(charges: pl.DataFrame) -> tuple[Table, ...]:
    if charges.is_empty():
        return ()
    ordered = r.sorted_by(charges, "billed_cost_usd", "charge_kind", "provider", "model_id", "team")
    return (
        Table(
            "other_charges",
            "Lines of bills that are no request",
            _CHARGE_COLUMNS,
            r.table_rows(ordered, _CHARGE_COLUMNS),
            r.total_row(
                ordered, _CHARGE_COLUMNS, ("row_count", "billed_cost_usd", "counted_cost_usd")
            ),
        ),
    )


def _table(mart: pl.DataFrame) -> Table:
    return Table(
        "reconciliation",
        "List price of the tokens and the bill, by model",
        _COLUMNS,
        r.table_rows(mart, _COLUMNS),
        r.total_row(mart, _COLUMNS, _SUMMED),
        "A gap is shown, never hidden: neither side is changed to fit the other.",
    )
