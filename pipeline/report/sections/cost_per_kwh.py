"""What a kilowatt-hour was sold for: where bill and physics part, and which lines can be ranked."""

import polars as pl

from pipeline.report.section import Column, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_KEYS = ("provider", "model_id", "query_class")
_COLUMNS = (
    Column("group", "Group", "count", meaning="Lines of one group all overlap: not ranked."),
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("cost_usd_per_kwh", "USD per kWh", "usd", "USD/kWh", "Cost over electricity."),
    Column("cost_low_usd_per_kwh", "Low", "usd", "USD/kWh", "At the high end of electricity."),
    Column("cost_high_usd_per_kwh", "High", "usd", "USD/kWh", "At the low end of electricity."),
    Column("surely_cheaper_count", "Surely cheaper", "count", meaning="Lines wholly below it."),
    Column("surely_dearer_count", "Surely dearer", "count", meaning="Lines wholly above it."),
    c.BATCH,
    Column("implied_batch", "Batch implied by prices", "number", meaning="See the table before."),
)


def grouped(implied: pl.DataFrame) -> pl.DataFrame:
    """Return the lines with a cost per kWh, grouped so that all of a group overlap each other.

    From the cheapest low end on, a line opens a new group where it begins above the least high end
    of the group before it.
    """
    known = implied.filter(pl.col("cost_usd_per_kwh").is_not_null()).sort(
        ["cost_low_usd_per_kwh", *_KEYS]
    )
    groups: list[int] = []
    least_high = float("-inf")
    for low, high in known.select("cost_low_usd_per_kwh", "cost_high_usd_per_kwh").rows():
        is_new = low > least_high
        groups.append((groups[-1] if groups else 0) + is_new)
        least_high = high if is_new else min(least_high, high)
    return known.with_columns(pl.Series("group", groups, dtype=pl.Int64))


def table(parted: pl.DataFrame) -> Table:
    """Return the lines by group, cheapest first."""
    return Table(
        "cost_per_kwh",
        "What a kilowatt-hour of each line was sold for",
        _COLUMNS,
        r.table_rows(parted.sort(["group", "cost_usd_per_kwh", *_KEYS]), _COLUMNS),
        note="Cost of usage over electricity of the whole facility, of requests that have both. "
        "Lines of one group all overlap each other and are not ranked; of two groups only lines "
        "whose ranges do not overlap are. Own servers: their used part of the GPU bill.",
        sheet="Cost_per_kwh",
    )


def statements(parted: pl.DataFrame) -> tuple[str, ...]:
    """Say from what to what a kilowatt-hour was sold, and how much of that can be ranked."""
    if parted.is_empty():
        return ()
    ranked = int(parted.get_column("surely_cheaper_count").sum())
    pairs = parted.height * (parted.height - 1) // 2
    return (
        "Usage cost "
        f"{r.spread_text(parted, 'cost_usd_per_kwh')} USD per kWh of electricity behind it; "
        f"ranges rank {ranked:,} of {pairs:,} pairs of lines, all others overlap.",
    )
