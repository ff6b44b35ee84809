"""The hours of a class join as the harmonic mean, weighted by the output tokens written in them."""

import json
from typing import Any

import pytest
from conftest import Rows, built, made_from, rows_of

from pipeline.settings import Input, Settings, bundled

KEY = "'2026-10' as month, 'vllm' as provider, 'm' as model_id, 'chat' as query_class"
ENOUGH = "select 'latency_known_frac' as assumption, 0.9::double as value"
Hour = tuple[float | None, float]  # batch, output tokens


def logged(*hours: Hour, source: str = "logged latencies") -> Rows:
    """Return the batch of a class from its hours."""
    rows = " union all ".join(
        f"select {KEY}, '2026-10-05'::timestamp + to_hours({number}) as hour_start_at, "
        f"{tokens}::decimal(38, 6) as output_tokens, "
        f"{'null' if batch is None else repr(source)}::varchar as time_source, "
        f"{'null' if batch is None else batch}::double as batch"
        for number, (batch, tokens) in enumerate(hours)
    )
    return made_from("int_logged_batches", int_hourly_batches=rows, stg_assumptions=ENOUGH)


def only(rows: Rows) -> dict[str, Any]:
    [row] = rows
    return row


def test_hours_join_as_the_mean_that_prices_a_pass() -> None:
    # 600 tokens at 2 take 300 passes of the batch, 400 at 8 take 50: 1,000 tokens in 350
    assert only(logged((2, 600), (8, 400)))["batch"] == pytest.approx(1000 / 350, rel=1e-12)


def test_an_hour_without_output_has_no_weight() -> None:
    row = only(logged((4, 100), (64, 0)))

    assert (row["batch_low"], row["batch"], row["batch_high"]) == (4, 4, 4)


def test_low_and_high_are_what_5_and_95_percent_of_the_tokens_do_not_exceed() -> None:
    row = only(logged((9, 5), (1, 4), (2, 2), (4, 84), (7, 5)))

    # by batch 1 are written 4 of 100 tokens, by 2 six, by 4 ninety, by 7 ninety-five
    assert (row["batch_low"], row["batch_high"]) == (2, 7)


def test_the_mean_lies_in_the_range() -> None:
    row = only(logged((1, 4), (100, 96)))

    # 4 tokens take 4 passes, 96 take 0.96: below the 100 that 95 % of the tokens reach
    assert row["batch"] == pytest.approx(100 / 4.96)
    assert row["batch_low"] == row["batch"]
    assert row["batch_high"] == 100


def test_hours_of_unknown_batch_leave_the_mean_to_the_others() -> None:
    assert only(logged((4, 90), (None, 10)))["batch"] == 4


def test_where_known_hours_hold_too_few_tokens_the_log_tells_no_batch() -> None:
    assert logged((4, 89), (None, 11)) == []


@pytest.mark.parametrize("hours", [[(None, 10)], [(None, 0)], [(4, 0)]])
def test_without_tokens_in_known_hours_there_is_no_batch(hours: list[Hour]) -> None:
    assert logged(*hours) == []


def test_the_source_is_that_of_the_hours() -> None:
    gauge = "running requests gauge"

    assert only(logged((4, 1), (None, 0)))["batch_source"] == "logged latencies"
    assert only(logged((4, 1), source=gauge))["batch_source"] == gauge


@pytest.mark.slow
@pytest.mark.parametrize("month", ["2026-09", "2026-10"])
def test_the_servers_of_the_sample_run_as_many_requests_as_its_maker_says(month: str) -> None:
    folder = bundled("data/sample")
    name = f"gateway-{month}.csv.gz"
    facts = json.loads((folder / "expected.json").read_text("utf-8"))["files"][name]

    book = built([Input(name)], Settings(), folder, ["int_logged_batches"])

    hours = rows_of(
        book,
        "select model_id, sum(output_tokens)::double / sum(output_tokens / batch) as batch "
        "from int_hourly_batches where output_tokens > 0 group by all",
    )
    assert {row["model_id"]: row["batch"] for row in hours} == {
        model: pytest.approx(batch, abs=1e-6) for model, batch in facts["batch_by_model"].items()
    }
    assert facts["batch_by_model"]["openai/gpt-oss-120b"] > 1.5  # the nights are busy
    assert {row["batch_source"] for row in rows_of(book, "select * from int_logged_batches")} == {
        "logged latencies"
    }
