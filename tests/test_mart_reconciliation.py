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


@pytest.mark.slow
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
        ([{**BILL, "billed_cost_usd": "0.5"}], "0.5", "0.5", "bill without usage"),
        ([{**CHARGE, "charge_kind": "credit", "billed_cost_usd": "-5"}], None, None,
         "other charges only"),
        ([{**USED, "service_tier": "scale", "billed_cost_usd": "0.3"}], "0.3", "0.3",
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


@pytest.mark.slow
def test_a_token_bill_counts_only_where_no_usage_shows_its_tokens(build: Build, log: Write) -> None:
    bill = {**BILL, "billed_cost_usd": "0.5"}
    alone = build(log([bill], "alone.jsonl"))
    beside = build(log([bill, USED], "beside.jsonl"))

    counted = "select counted_cost_usd as usd from mart_other_charges"
    assert rows_of(alone, counted) == [{"usd": Decimal("0.5")}]
    assert rows_of(beside, counted) == [{"usd": Decimal(0)}]


@pytest.mark.slow
def test_a_credit_stops_nothing_and_is_no_request(build: Build, log: Write) -> None:
    credit = {**CHARGE, "charge_kind": "credit", "billed_cost_usd": "-5"}
    con = build(log([credit, USED]))

    assert rows_of(con, "select request_count, cost_usd from mart_cost_per_task") == [
        {"request_count": 1, "cost_usd": Decimal("0.3")}
    ]
    assert rows_of(con, "select charge_kind, counted_cost_usd as usd from mart_other_charges") == [
        {"charge_kind": "credit", "usd": Decimal(-5)}
    ]


PARTS = (
    "unpriced_usd",
    "missing_usage_usd",
    "unbilled_usage_usd",
    "late_usd",
    "open_bucket_usd",
    "credit_usd",
    "rounding_usd",
    "time_zone_usd",
    "rest_usd",
)


def day(row: dict[str, object], number: int, **changes: object) -> dict[str, object]:
    """Return a row at noon of a day of October."""
    return {**row, "occurred_at": f"2026-10-{number:02d}T12:00:00Z", **changes}


def bill(number: int, usd: str, **changes: object) -> dict[str, object]:
    """Return a bill's line for a day of October."""
    end = f"2026-10-{number + 1:02d}T00:00:00Z"
    at = f"2026-10-{number:02d}T00:00:00Z"
    return {**BILL, "occurred_at": at, "bucket_end_at": end, "billed_cost_usd": usd, **changes}


def parts(row: dict[str, object]) -> dict[str, Decimal]:
    """Return the parts of a gap that are not zero, and hold that they add up to it."""
    known = {name: value for name in PARTS if isinstance(value := row[name], Decimal)}
    assert sum(known.values()) == row["gap_usd"]
    return {name: value for name, value in known.items() if value}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # a day billed 0.5 of which no usage is there
        ([day(USED, 1), bill(1, "0.3"), bill(2, "0.5")], {"missing_usage_usd": "0.5"}),
        # usage of 0.30 on the 2nd; the bill has lines for the 1st and 3rd
        ([day(USED, 1), day(USED, 2), day(USED, 3), bill(1, "0.3"), bill(3, "0.3")],
         {"unbilled_usage_usd": "-0.3"}),
        # usage of 0.30 on the 2nd, and a bill that ends with the 1st
        ([day(USED, 1), day(USED, 2), bill(1, "0.3")], {"late_usd": "-0.3"}),
        # 0.30 of each day; the 1st is billed in full, of the 2nd 0.20 had run up at the export
        ([day(USED, 1), day(USED, 2), bill(1, "0.3"), bill(2, "0.2")],
         {"open_bucket_usd": "-0.1"}),
        # so ends a bucket early at noon: 0.30 − 0.25, whatever the days before say
        ([day(USED, 1), day(USED, 2), bill(1, "0.2"),
          bill(2, "0.25", bucket_end_at="2026-10-02T12:00:00Z")],
         {"open_bucket_usd": "-0.05", "rest_usd": "-0.1"}),
        # a discount of every day, 0.30 − 0.25, is no open bucket; nor is a day billed for more
        ([day(USED, 1), day(USED, 2), bill(1, "0.25"), bill(2, "0.25")], {"rest_usd": "-0.1"}),
        ([day(USED, 1), day(USED, 2), bill(1, "0.3"), bill(2, "0.4")], {"rest_usd": "0.1"}),
        # a bill of days without an end tells no bucket
        ([day(USED, 1), day(USED, 2), bill(1, "0.3", bucket_end_at=None),
          bill(2, "0.2", bucket_end_at=None)], {"rest_usd": "-0.1"}),
        ([day(USED, 1), bill(1, "0.3"), bill(1, "-0.2")], {"credit_usd": "-0.2"}),
        # 401,000 · 0.25 + 100,000 · 2 = 0.30025, billed in cents: off by 0.00025 ≤ 0.005
        ([day(USED, 1, input_tokens=401_000), bill(1, "0.30"), day(USED, 2), bill(2, "0.35"),
          day(USED, 3, output_tokens=5_000), bill(3, "0.11")],
         {"rounding_usd": "-0.00025", "rest_usd": "0.05"}),
        ([day(USED, 1, service_tier="scale"), bill(1, "0.7")], {"unpriced_usd": "0.7"}),
        ([day(USED, 1), bill(1, "0.25")], {"rest_usd": "-0.05"}),
        ([day(USED, 1), bill(1, "0.3")], {}),
    ],
)  # fmt: skip
def test_each_part_of_a_gap_is_counted_where_it_arises(
    build: Build, log: Write, rows: Rows, expected: dict[str, str]
) -> None:
    row = reconciled(build, log(rows))

    assert parts(row) == {name: Decimal(usd) for name, usd in expected.items()}


@pytest.mark.slow
def test_a_bill_that_goes_on_next_month_leaves_no_day_open_or_late(
    build: Build, log: Write
) -> None:
    # October ends with 0.1 too little on the 30th and no line for the 31st, and November goes on
    after = {**bill(30, "0.3"), "occurred_at": "2026-11-01T00:00:00Z",
             "bucket_end_at": "2026-11-02T00:00:00Z"}  # fmt: skip
    usage = [day(USED, 1), day(USED, 30), day(USED, 31)]
    con = build(log([*usage, bill(1, "0.3"), bill(30, "0.2"), after]))

    (row,) = rows_of(con, "select * from mart_reconciliation where month = '2026-10'")

    assert parts(row) == {"rest_usd": Decimal("-0.1"), "unbilled_usage_usd": Decimal("-0.3")}


@pytest.mark.slow
def test_a_bill_in_another_zone_moves_the_hours_at_its_edges(build: Build, log: Write) -> None:
    # The bill's days begin at 22:00 UTC. Each day has 0.30 at noon; 0.30 more of 30 September,
    # 23:00 UTC, are billed as the bill's 1 October: 0.60 of which October's own usage shows 0.30.
    edge = {**USED, "occurred_at": "2026-09-30T23:00:00Z"}
    rows = [edge, day(USED, 1), day(USED, 2), bill(1, "0.6"), bill(2, "0.3")]

    con = build(log(rows))
    (row,) = rows_of(con, "select * from mart_reconciliation where month = '2026-10'")

    assert row["gap_usd"] == Decimal("0.3")
    assert parts(row) == {"time_zone_usd": Decimal("0.3")}
    assert row["gap_cause"] == "time zone of the bill"
    days = rows_of(con, "select gap_cause from mart_reconciliation_days where month = '2026-10'")
    assert [each["gap_cause"] for each in days] == ["equal", "equal"]


@pytest.mark.slow
def test_usage_in_buckets_cannot_be_moved_so_its_time_zone_part_is_unknown(
    build: Build, log: Write
) -> None:
    used = day(USED, 1, bucket_end_at="2026-10-02T00:00:00Z", request_count=3)

    row = reconciled(build, log([used, bill(1, "0.4")]))

    assert row["time_zone_usd"] is None
    assert parts(row) == {"rest_usd": Decimal("0.1")}


@pytest.mark.slow
def test_a_model_that_no_line_of_its_providers_bill_names_is_usage_without_bill(
    build: Build, log: Write
) -> None:
    # gpt-5: 400,000 · 1.25 + 100,000 · 10 = 1.50
    other = day(USED, 1, model_name="gpt-5")
    con = build(log([day(USED, 1), other, bill(1, "0.3")]))

    rows = rows_of(con, "select * from mart_reconciliation order by model_id")

    assert [(row["model_id"], row["billed_cost_usd"], row["gap_usd"]) for row in rows] == [
        ("gpt-5", 0, Decimal("-1.5")),
        ("gpt-5-mini", Decimal("0.3"), 0),
    ]
    assert parts(rows[0]) == {"unbilled_usage_usd": Decimal("-1.5")}


@pytest.mark.slow
def test_a_bill_that_names_no_model_is_held_against_all_models_at_once(
    build: Build, log: Write
) -> None:
    # The structure of a real week: equal days, days that differ both ways, a billed day without
    # usage. 1 Oct: 0.30 and 1.50; 2 Oct: 0.30; 3 Oct: nothing; 4 Oct: 1.50.
    usage = [day(USED, 1), day(USED, 1, model_name="gpt-5"), day(USED, 2),
             day(USED, 4, model_name="gpt-5")]  # fmt: skip
    lines = [bill(n, usd, model_name=None) for n, usd in ((1, "2.0"), (2, "0.3"), (3, "0.5"),
                                                          (4, "1.1"))]  # fmt: skip
    con = build(log([*usage, *lines]))

    whole, *models = rows_of(con, "select * from mart_reconciliation order by model_id nulls first")

    assert whole["model_id"] is None
    assert (whole["compared_cost_usd"], whole["billed_cost_usd"], whole["gap_usd"]) == (
        Decimal("3.6"),
        Decimal("3.9"),
        Decimal("0.3"),
    )
    # 0.5 missing; 2.0 − 1.8 = 0.2 unexplained; 1.1 − 1.5 = −0.4 on the bill's last day
    assert parts(whole) == {
        "missing_usage_usd": Decimal("0.5"),
        "open_bucket_usd": Decimal("-0.4"),
        "rest_usd": Decimal("0.2"),
    }
    assert {row["gap_cause"] for row in models} == {"in the bill of all models"}
    assert sum(row["computed_cost_usd"] for row in models) == Decimal("3.6")
    days = rows_of(con, "select gap_cause from mart_reconciliation_days order by bill_day")
    assert [each["gap_cause"] for each in days] == [
        "rest",
        "equal",
        "missing usage",
        "open bucket",
    ]


def test_a_real_week_is_2_04584_by_its_tokens_and_2_98595_billed_with_three_equal_days(
    build: Build, samples: Path
) -> None:
    con = build(
        samples / "logs" / "openai_completions_usage_2025-10-05_2025-10-12.csv",
        samples / "logs" / "openai_cost_2025-10-05_2025-10-13.csv",
    )

    (row,) = rows_of(con, "select * from mart_reconciliation where gap_usd is not null")
    days = rows_of(con, "select * from mart_reconciliation_days order by bill_day")

    assert round(row["compared_cost_usd"], 5) == Decimal("2.04584")
    assert round(row["billed_cost_usd"], 5) == Decimal("2.98595")
    # 8 October was billed 0.5455665 and its usage bucket is empty
    assert parts(row) == {
        "missing_usage_usd": Decimal("0.5455665"),
        "rest_usd": Decimal("0.648614") - Decimal("0.2540715"),
    }
    assert [(each["bill_day"].day, each["gap_usd"], each["gap_cause"]) for each in days] == [
        (5, Decimal("0.648614"), "rest"),  # 0.895874 − 0.24726
        (6, Decimal("-0.2540715"), "rest"),  # 0.56177125 − 0.81584275
        (7, 0, "equal"),
        (8, Decimal("0.5455665"), "missing usage"),
        (10, 0, "equal"),
        (11, 0, "equal"),
    ]
