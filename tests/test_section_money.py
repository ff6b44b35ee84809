"""The bridge from list price to cost adds up as it is shown, to the cent."""

from decimal import ROUND_HALF_UP, Decimal

import polars as pl
import pytest
from report_frames import (
    column_of,
    cost_bridge_mart,
    lines_mart,
    report,
    section_of,
    table_of,
    unpriced_mart,
)


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def test_the_steps_as_shown_add_up_to_the_totals_as_shown() -> None:
    table = table_of(report(), "cost_bridge")

    reached = Decimal(0)
    for step, total in zip(
        column_of(table, "step_usd")[:-1], column_of(table, "total_usd")[:-1], strict=True
    ):
        reached += step or 0
        if total is not None:
            assert cents(total) == reached
    # 1.005 − 0.1005 + 0.0957 + 0.499999 + 0.25 − 5 + 0.003
    assert reached == cents(Decimal("-3.246801"))


def test_a_step_is_at_most_a_cent_from_its_exact_amount() -> None:
    steps = column_of(table_of(report(), "cost_bridge"), "step_usd")

    # 1.005 and 0.1005: the sum after the second is 0.9045
    assert steps[:2] == [Decimal("1.01"), Decimal("-0.11")]


def test_a_step_of_which_the_month_has_none_is_left_out() -> None:
    names = column_of(table_of(report(), "cost_bridge"), "step_name")

    assert [name for name in names if name in ("Step 04", "Step 08", "Step 10")] == []
    assert names[0] == "Step 01"


def test_the_section_says_what_the_month_cost_and_what_stands_apart() -> None:
    section = section_of(report(), "money")

    assert section.statements == (
        "The month cost −3.25 USD.",
        # −3.25 − 1.50
        "Its requests cost 1.50 USD; idle GPUs, credits and other lines that no request carries "
        "add −4.75 USD.",
        "Taxes of 0.21 USD stand apart.",
        "GPUs stood idle for 0.25 USD.",
    )


def test_own_servers_without_a_bill_are_named_with_what_to_add() -> None:
    unpriced = unpriced_mart().with_columns(pl.lit("no GPU bill").alias("unpriced_reason"))
    section = section_of(report(mart_unpriced_usage=unpriced), "money")

    assert section.statements[-1] == (
        "Own servers answered 4 requests without a GPU bill: hosting_costs would give them a cost."
    )


@pytest.mark.parametrize("name", ["cost_lines", "converted_bills", "unpriced_usage"])
def test_a_table_without_rows_is_left_out(name: str) -> None:
    assert any(table.name == name for table in section_of(report(), "money").tables)
    empty = report(
        mart_cost_lines=lines_mart().clear(),
        mart_converted_bills=pl.DataFrame({"month": []}, schema={"month": pl.String}),
        mart_unpriced_usage=unpriced_mart().clear(),
    )

    assert [table.name for table in section_of(empty, "money").tables] == ["cost_bridge"]


def test_a_month_without_requests_has_no_bridge() -> None:
    section = section_of(report(mart_cost_bridge=cost_bridge_mart().clear()), "money")

    assert (section.tables, section.empty_reason != "") == ((), True)
