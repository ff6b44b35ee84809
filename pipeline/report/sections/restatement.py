"""Why this issue of a closed month differs from the one before it, by cause."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table, Value

_MEANINGS = {
    "late usage": "Rows that were loaded, or replaced, after the issue before.",
    "price": "Prices, contracts, credits, commitments, bills of GPUs and rates of currencies.",
    "factor": "Assumptions, the grid, GPUs and how models are served.",
    "method": "The law, its coefficients and the program itself.",
    "mapping": "What names mean, and whose usage it is.",
}
_COLUMNS = (
    Column("cause", "Cause", "text", meaning="What was moved to what holds now."),
    Column("cost_usd", "Cost", "usd_small", "USD", "What that added to the cost of the month."),
    Column("facility_energy_kwh", "Electricity", "kwh", "kWh", "What it added to electricity."),
    Column("carbon_gco2e", "Carbon", "gco2e", "g CO₂e", "What it added to carbon."),
    Column("meaning", "What it covers", "text", meaning="What counts as this cause."),
)
_MEASURES = ("cost_usd", "facility_energy_kwh", "carbon_gco2e")


def section(issue: str, bridge: Sequence[Mapping[str, str]]) -> Section:
    """Return the bridge from the issue before.

    Args:
        issue: This issue, R1 or later.
        bridge: A line for each cause, its figures as exact decimal texts.
    """
    rows: list[tuple[Value, ...]] = [
        (step["cause"], *(Decimal(step[name]) for name in _MEASURES), _MEANINGS[step["cause"]])
        for step in bridge
    ]
    sums = [sum((Decimal(step[name]) for step in bridge), Decimal(0)) for name in _MEASURES]
    return Section(
        name="restatement",
        title="Restatement",
        sheet="Changes",
        question="Why does this issue of the month differ from the one before?",
        statements=(
            f"{issue} moves the cost of the month by {show(sums[0], 'usd')} USD, its electricity "
            f"by {show(sums[1], 'kwh')} kWh and its carbon by {show(sums[2], 'gco2e')} g CO2e.",
        ),
        tables=(
            Table(
                "restatement",
                "What moved the month since the issue before",
                _COLUMNS,
                (*rows, ("together", *sums, "The sum of the lines above.")),
                note="One cause after the other is moved, in this order, and the month built after "
                "each; so the lines add up exactly.",
            ),
        ),
    )
