"""Cheaper per token and dearer per task: the split by hand, the thresholds, both orders."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

MINI = {"provider": "openai", "model_name": "gpt-5-mini"}  # 0.25 USD a million in, 2 out
NANO = {"provider": "openai", "model_name": "gpt-5-nano"}  # 0.05 in, 0.4 out
HAIKU = {"provider": "anthropic", "model_name": "claude-haiku-4-5"}  # 1 in, 0.1 cached, 5 out
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}  # 3, 0.3, 15; long 6, 22.5
OPUS = {"provider": "anthropic", "model_name": "claude-opus-4-5"}  # 5 in, 25 out, of any length
LOCAL = {"provider": "vllm", "model_name": "meta-llama/Llama-3.1-8B"}
LENGTHS = {"input_tokens": 900, "cache_read_tokens": 0, "output_tokens": 300}
PARTS = (
    *("list_price", "tier", "cache_price", "cache_share", "input_length", "verbosity"),
    *("reasoning", "failures", "requests"),
)


def times(count: int, row: dict[str, Any], **changes: Any) -> Rows:  # noqa: ANN401 any column
    return [{**row, **changes} for _ in range(count)]


def tries(count: int, row: dict[str, Any]) -> Rows:
    """Return 30 tasks of so many requests, of which the last one did not fail."""
    return [
        {**row, "task_id": f"task-{task}", "status": "failure" if number else "success"}
        for task in range(30)
        for number in range(count)
    ]


THINKING = {**NANO, **LENGTHS, "output_tokens": 3_000, "reasoning_tokens": 2_500}
LONG = {"cache_read_tokens": 0, "input_tokens": 300_000, "output_tokens": 100}
SHORT = {"input_tokens": 10_000, "cache_read_tokens": 0, "output_tokens": 100}
ROWS: Rows = [
    *times(30, THINKING, query_class="reasoning"),
    *times(30, {**MINI, **LENGTHS}, query_class="reasoning"),
    *times(30, {**LOCAL, **LENGTHS}, query_class="reasoning"),
    *times(30, {**HAIKU, **SHORT}, query_class="rag"),
    *times(30, {**SONNET, **SHORT}, query_class="rag", cache_read_tokens=9_000),
    *tries(6, {**NANO, **LENGTHS, "query_class": "agentic"}),
    *tries(1, {**MINI, **LENGTHS, "query_class": "agentic"}),
    *times(30, {**SONNET, **LONG}, query_class="summarization"),
    *times(30, {**OPUS, **LONG}, query_class="summarization"),
    *times(29, THINKING, query_class="chat"),
    *times(30, {**MINI, **LENGTHS}, query_class="chat"),
]


@pytest.fixture(scope="module")
def rows(book_of: Callable[..., Book]) -> Rows:
    book = book_of(ROWS, targets=["mart_price_reversals"])
    return rows_of(book, "select * from mart_price_reversals")


def row_of(rows: Rows, query_class: str, model: str) -> dict[str, Any]:
    [row] = [row for row in rows if (row["query_class"], row["model_id"]) == (query_class, model)]
    return row


def parts_of(row: dict[str, Any]) -> dict[str, float]:
    """Return the parts that are not nothing, in millionths of a dollar per task."""
    parts = {name: row[f"{name}_usd_per_task"] * 1e6 for name in PARTS}
    return {name: round(value, 6) for name, value in parts.items() if abs(value) > 1e-9}


def test_a_model_that_reasons_longer_costs_more_than_its_price_says(rows: Rows) -> None:
    row = row_of(rows, "reasoning", "gpt-5-nano")

    assert (row["is_cheaper_by_list"], row["is_cheaper_at_mix"], row["is_reversal"]) == (True,) * 3
    # 900 · 0.05 + 3,000 · 0.4 = 1,245 against 900 · 0.25 + 300 · 2 = 825
    assert row["list_cost_usd_per_task"] == pytest.approx(1_245e-6)
    assert row["other_list_cost_usd_per_task"] == pytest.approx(825e-6)
    # 900 · (0.05 − 0.25) + 1,650 · (0.4 − 2); (500 − 300) · 1.2; 2,500 · 1.2
    assert parts_of(row) == {"list_price": -2_820, "verbosity": 240, "reasoning": 3_000}
    assert row["cause"] == "more reasoning"
    # 900 · 0.05 + 1,950 · 0.4 = 825; no share of 900 cached tokens saves 420
    assert row["threshold_output_tokens_per_request"] == pytest.approx(1_950)
    assert row["threshold_cache_read_frac"] is None


def test_a_model_without_cached_input_costs_more_than_its_price_says(rows: Rows) -> None:
    row = row_of(rows, "rag", "claude-haiku-4-5")

    # 10,000 · 1 + 100 · 5 = 10,500 against 1,000 · 3 + 9,000 · 0.3 + 100 · 15 = 7,200
    assert row["gap_usd_per_task"] == pytest.approx(3_300e-6)
    # 0.55 · 10,000 · (1 − 3) + 100 · (5 − 15); 0.45 · 10,000 · (0.1 − 0.3);
    # 10,000 · (0.9 · (1 + 3) / 2 − 0.9 · (0.1 + 0.3) / 2)
    assert parts_of(row) == {"list_price": -12_000, "cache_price": -900, "cache_share": 16_200}
    assert row["cause"] == "less from the cache"
    # 3,300 / (10,000 · (1 − 0.1)); an answer of less than nothing
    assert row["threshold_cache_read_frac"] == pytest.approx(0.366667, abs=1e-6)
    assert row["threshold_output_tokens_per_request"] is None


def test_a_model_that_fails_often_costs_more_than_its_price_says(rows: Rows) -> None:
    row = row_of(rows, "agentic", "gpt-5-nano")

    # 6 · (900 · 0.05 + 300 · 0.4) = 990 against 825
    assert row["gap_usd_per_task"] == pytest.approx(165e-6)
    # 3.5 · (900 · −0.2 + 300 · −1.6); 5 · (165 + 825) / 2
    assert parts_of(row) == {"list_price": -2_310, "failures": 2_475}
    assert row["cause"] == "more failed requests"


def test_a_tier_for_long_prompts_turns_list_prices_round(rows: Rows) -> None:
    row = row_of(rows, "summarization", "claude-sonnet-4-5")

    # 300,000 · 6 + 100 · 22.5 against 300,000 · 5 + 100 · 25
    assert row["gap_usd_per_task"] == pytest.approx(299_750e-6)
    # 300,000 · (3 − 5) + 100 · (15 − 25); 300,000 · (6 − 3) + 100 · (22.5 − 15)
    assert parts_of(row) == {"list_price": -601_000, "tier": 900_750}
    assert row["cause"] == "dearer tier"


def test_of_too_few_requests_there_is_no_verdict(rows: Rows) -> None:
    row = row_of(rows, "chat", "gpt-5-nano")

    assert (row["reason"], row["fewest_request_count"]) == ("too few requests", 29)
    assert (row["is_reversal"], row["cause"]) == (None, None)
    assert row["threshold_output_tokens_per_request"] is None


def test_a_model_without_list_price_is_in_no_pair(rows: Rows) -> None:
    assert {row["provider"] for row in rows} == {"openai", "anthropic"}


def test_the_parts_add_up_to_the_difference(rows: Rows) -> None:
    assert len(rows) == 2 * 5
    for row in rows:
        total = sum(row[f"{name}_usd_per_task"] for name in PARTS)
        assert total == pytest.approx(row["gap_usd_per_task"], rel=1e-9, abs=1e-15)


def test_turned_round_a_pair_turns_every_sign(rows: Rows) -> None:
    by_pair = {(row["query_class"], row["model_id"], row["other_model_id"]): row for row in rows}

    for (query_class, one, other), row in by_pair.items():
        back = by_pair[query_class, other, one]
        for name in (*PARTS, "gap"):
            assert back[f"{name}_usd_per_task"] == -row[f"{name}_usd_per_task"], name
        assert not (row["is_reversal"] and back["is_reversal"])
        assert not (row["is_cheaper_by_list"] and back["is_cheaper_by_list"])
