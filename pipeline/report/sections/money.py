"""From the list price to what the month cost: contract, commitments, bills, GPU bills, credits."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

COST_OF_REQUESTS, COST_OF_MONTH = "09", "14"  # the steps that are totals of the month
_TAXES = "15"  # the step that stands apart

_BRIDGE_COLUMNS = (
    Column("step_name", "Line", "text", meaning="What moves the cost; totals sum the steps above."),
    Column("step_usd", "Step", "usd", "USD", "What the line adds or takes off.", unknown=""),
    Column("total_usd", "Total so far", "usd", "USD", "Sum of the steps up to here.", unknown=""),
)
_LINE_COLUMNS = (
    Column("line_kind", "Line", "text", meaning="Kind of money that no single request carries."),
    c.PROVIDER,
    Column("model_id", "Model", "text", meaning="Model of the line, if it names one."),
    Column("team", "Team", "text", meaning="Team of the line, if it names one."),
    Column("description", "Description", "text", meaning="What the company's table says of it."),
    Column("cost_usd", "Amount", "usd", "USD", "Amount; credits are below zero."),
    Column("is_in_cost", "In the cost", "text", meaning="Taxes stand apart from every cost."),
)
_RATE_COLUMNS = (
    Column("currency", "Currency", "text", meaning="Currency the bill was written in."),
    Column("rate_usd_per_unit", "Rate", "number", "USD", "Dollars for one unit, this month."),
    Column("rate_source", "Source of the rate", "text", meaning="As the company's table says."),
    Column("row_count", "Rows", "count", meaning="Rows of logs and bills so converted."),
    Column("billed_cost_usd", "Billed", "usd", "USD", "Their money in dollars."),
)
_UNPRICED_COLUMNS = (
    c.MODEL,
    c.PROVIDER,
    Column("service_tier", "Service tier", "text", meaning="Tier that the log names."),
    c.REQUESTS,
    Column("unpriced_reason", "Why", "text", meaning="Why no cost is known."),
    Column("what_to_add", "What would price it", "text", meaning="A row or log to add."),
)


def section(
    bridge: pl.DataFrame, lines: pl.DataFrame, rates: pl.DataFrame, unpriced: pl.DataFrame
) -> Section:
    """Return the way from list price to cost of one month.

    Args:
        bridge: mart_cost_bridge of the month.
        lines: mart_cost_lines of the month.
        rates: mart_converted_bills of the month.
        unpriced: mart_unpriced_usage of the month.
    """
    is_empty = bridge.is_empty()
    return Section(
        name="money",
        title="From list to cost",
        sheet="Costs",
        question="How does the list price become what the month cost?",
        statements=() if is_empty else _statements(bridge, lines, unpriced),
        tables=()
        if is_empty
        else (
            _bridge_table(bridge),
            *_line_tables(lines),
            *_rate_tables(rates),
            *_unpriced_tables(unpriced),
        ),
        empty_reason="No accepted request falls in this month." if is_empty else "",
    )


def _bridge_table(bridge: pl.DataFrame) -> Table:
    return Table(
        "cost_bridge",
        "From the list price of the tokens to the cost of the month",
        _BRIDGE_COLUMNS,
        tuple(_bridge_rows(bridge.sort("step_id"))),
        note="Every total is the exact sum, rounded to the cent; a step is what lies between two "
        "rounded sums, so that the steps add up as shown. Taxes are in no cost.",
    )


def _bridge_rows(bridge: pl.DataFrame) -> Iterator[r.Row]:
    """Give each step as the cents between the rounded sums before and after it.

    Steps of which the month has none are left out.
    """
    reached = Decimal(0)
    for step_id, name, is_total, cost in bridge.select(
        "step_id", "step_name", "is_total", "cost_usd"
    ).rows():
        if is_total or step_id == _TAXES:
            if cost is not None:
                yield (name, None, cost) if is_total else (name, cost, None)
            continue
        if cost is None:
            continue
        step = _cents(reached + cost) - _cents(reached)
        reached += cost
        yield (name, step, None)


def _rest(requests: Decimal | None, month: Decimal | None) -> str:
    """Return what lies between two sums as they are shown."""
    return show(_cents(month or Decimal(0)) - _cents(requests or Decimal(0)), "usd")


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def _line_tables(lines: pl.DataFrame) -> tuple[Table, ...]:
    if lines.is_empty():
        return ()
    ordered = lines.sort(
        "line_kind", "provider", "model_id", "team", "description", nulls_last=True
    )
    in_cost = ordered.filter(pl.col("is_in_cost"))
    return (
        Table(
            "cost_lines",
            "Credits, idle GPUs, unused commitments, taxes",
            _LINE_COLUMNS,
            r.table_rows(ordered, _LINE_COLUMNS),
            note=f"In the cost of the month: {show(r.known_sum(in_cost, 'cost_usd'), 'usd')} USD.",
        ),
    )


def _rate_tables(rates: pl.DataFrame) -> tuple[Table, ...]:
    if rates.is_empty():
        return ()
    return (
        Table(
            "converted_bills",
            "Bills in other currencies and their rate",
            _RATE_COLUMNS,
            r.table_rows(rates.sort("currency"), _RATE_COLUMNS),
        ),
    )


def _unpriced_tables(unpriced: pl.DataFrame) -> tuple[Table, ...]:
    if unpriced.is_empty():
        return ()
    ordered = r.sorted_by(unpriced, "request_count", "model_id", "provider", "service_tier")
    return (
        Table(
            "unpriced_usage",
            "Usage without a cost, and what would give it one",
            _UNPRICED_COLUMNS,
            r.table_rows(ordered, _UNPRICED_COLUMNS),
        ),
    )


def _statements(
    bridge: pl.DataFrame, lines: pl.DataFrame, unpriced: pl.DataFrame
) -> tuple[str, ...]:
    amounts = dict(bridge.select("step_id", "cost_usd").rows())
    requests, month, tax = (amounts.get(step) for step in (COST_OF_REQUESTS, COST_OF_MONTH, _TAXES))
    sentences = [f"The month cost {show(month, 'usd', 'an unknown amount of')} USD."]
    if requests != month:
        sentences.append(
            f"Its requests cost {show(requests, 'usd', 'nothing known,')} USD; idle GPUs, credits "
            f"and other lines that no request carries add {_rest(requests, month)} USD."
        )
    if tax:
        sentences.append(f"Taxes of {show(tax, 'usd')} USD stand apart.")
    idle = lines.filter(pl.col("line_kind") == "idle GPUs", pl.col("cost_usd") > 0)
    if idle.height:
        sentences.append(f"GPUs stood idle for {show(r.known_sum(idle, 'cost_usd'), 'usd')} USD.")
    bills = unpriced.filter(pl.col("unpriced_reason") == "no GPU bill")
    if bills.height:
        sentences.append(
            f"Own servers answered {r.count_sum(bills, 'request_count'):,} requests without a GPU "
            "bill: hosting_costs would give them a cost."
        )
    return tuple(sentences)
