"""Bills beside tokens: each cause of a gap by its smallest case."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, rows_of

Build = Callable[..., duckdb.DuckDBPyConnection]
Write = Callable[..., Path]

# gpt-5-mini: 400,000 · 0.25 + 100,000 · 2.00 = 300,000 millionths = 0.30 USD
USED: dict[str, object] = {
    "provider": "openai",
    "model_name": "gpt-5-mini",
    "input_tokens": 400_000,
    "output_tokens": 100_000,
}
CHARGE: dict[str, object] = {
    "provider": "openai",
    "model_name": "gpt-5-mini",
    "output_tokens": None,
}
BILL = {**CHARGE, "charge_kind": "billed_tokens"}


def reconciled(build: Build, path: Path) -> dict[str, object]:
    """Return the one row of the mart."""
    (row,) = rows_of(build(path), "select * from mart_reconciliation where model_id = 'gpt-5-mini'")
    return row


@pytest.mark.parametrize(
    ("rows", "billed", "gap", "cause"),
    [
        ([USED], None, None, "no bill"),
        ([{**USED, "billed_cost_usd": "0.3"}], "0.3", "0", "equal"),
        ([{**USED, "billed_cost_usd": "0.3"}, USED], "0.3", "0",
         "equal where billed; the rest has no bill"),
        ([{**USED, "billed_cost_usd": "0.305"}], "0.305", "0.005", "rounding"),
        ([{**USED, "billed_cost_usd": "0.24"}], "0.24", "-0.06",
         "billed less: discount, free tokens or late bill"),
        ([USED, {**BILL, "billed_cost_usd": "0.5"}], "0.5", "0.2",
         "billed more: missing usage, other tier or price"),
        ([{**BILL, "billed_cost_usd": "0.5"}], "0.5", None, "bill without usage"),
        ([{**CHARGE, "charge_kind": "credit", "billed_cost_usd": "-5"}], None, None,
         "other charges only"),
        ([{**USED, "service_tier": "scale", "billed_cost_usd": "0.3"}], "0.3", None,
         "usage without list price"),
    ],
)  # fmt: skip
def test_a_gap_is_shown_with_its_cause(
    build: Build, log: Write, rows: Rows, billed: str | None, gap: str | None, cause: str
) -> None:
    row = reconciled(build, log(rows))

    assert row["gap_cause"] == cause
    assert row["billed_cost_usd"] == (None if billed is None else Decimal(billed))
    assert row["gap_usd"] == (None if gap is None else Decimal(gap))


def test_a_token_bill_counts_only_where_no_usage_shows_its_tokens(build: Build, log: Write) -> None:
    bill = {**BILL, "billed_cost_usd": "0.5"}
    alone = build(log([bill], "alone.jsonl"))
    beside = build(log([bill, USED], "beside.jsonl"))

    counted = "select counted_cost_usd as usd from mart_other_charges"
    assert rows_of(alone, counted) == [{"usd": Decimal("0.5")}]
    assert rows_of(beside, counted) == [{"usd": Decimal(0)}]


def test_a_credit_stops_nothing_and_is_no_request(build: Build, log: Write) -> None:
    credit = {**CHARGE, "charge_kind": "credit", "billed_cost_usd": "-5"}
    con = build(log([credit, USED]))

    assert rows_of(con, "select request_count, cost_usd from mart_cost_per_task") == [
        {"request_count": 1, "cost_usd": Decimal("0.3")}
    ]
    assert rows_of(con, "select charge_kind, counted_cost_usd as usd from mart_other_charges") == [
        {"charge_kind": "credit", "usd": Decimal(-5)}
    ]
