"""After how many steps compaction pays, at the median step of a month: by hand, step by step."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline.laws import work

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "query_class": "agentic"}
OWN = {"provider": "vllm", "query_class": "agentic"}
LENGTHS = {"output_tokens": 100, "cache_read_tokens": 0, "task_id": "t"}
GROWING = [  # contexts of the steps that follow another: 1,500, 2,000 and 2,500, each 500 more
    {"occurred_at": f"2026-10-05T10:0{minute}:00Z", "input_tokens": 1_000 + 500 * minute}
    for minute in range(4)
]
ROWS: Rows = [
    *({**LENGTHS, **SONNET, **step} for step in GROWING),
    *({**LENGTHS, **OWN, **step} for step in GROWING),
    *({**LENGTHS, **OWN, **step, "model_name": "acme-1"} for step in GROWING),
    {**LENGTHS, **OWN, "model_name": "Qwen/Qwen3-8B", "task_id": "u", "input_tokens": 700},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, targets=["mart_compaction"])


def line(book: Book, model_id: str) -> Any:  # noqa: ANN401
    [row] = rows_of(book, f"select * from mart_compaction where model_id = '{model_id}'")
    return row


def test_the_median_step_is_that_of_steps_that_follow_another(book: Book) -> None:
    row = line(book, "claude-sonnet-4-5")

    assert (row["followed_step_count"], row["median_task_steps"]) == (3, 4)
    assert row["median_context_tokens"] == 2_000
    assert (row["median_new_input_tokens"], row["median_output_tokens"]) == (500, 100)
    assert row["kept_tokens"] == 200  # a tenth


def test_money_pays_after_what_the_request_more_costs_over_what_a_step_saves(book: Book) -> None:
    row = line(book, "claude-sonnet-4-5")

    # USD a million: input 3, read 0.3, write 3.75, output 15. Cached: the request reads 2,000 and
    # writes 200, which the next step writes to the cache instead of reading them there
    once = 2_000 * 0.3 + 200 * 15 + 200 * (3.75 - 0.3)
    assert row["paying_cached_money_steps"] == pytest.approx(once / (1_800 * 0.3))  # 7.94
    # not cached: 2,000 at 3 and 200 at 15, over 1,800 at 3
    assert row["paying_uncached_money_steps"] == pytest.approx(9_000 / 5_400)


def test_the_money_of_steps_one_by_one_crosses_at_the_horizon(book: Book) -> None:
    def spent(context: int, steps: int, at_first: float) -> float:
        # each step adds 500 that it writes to the cache; the context is read from it
        later = sum((context + 500 * (t - 1)) * 0.3 + 500 * 3.75 for t in range(2, steps + 1))
        return context * at_first + 500 * 3.75 + later

    compacting = 2_000 * 0.3 + 200 * 15
    steps = math.ceil(line(book, "claude-sonnet-4-5")["paying_cached_money_steps"])

    assert compacting + spent(200, steps, 3.75) <= spent(2_000, steps, 0.3)
    assert compacting + spent(200, steps - 1, 3.75) > spent(2_000, steps - 1, 0.3)


# Llama-3.1-8B, batch 8: joules of a token in prefill, a pair, a prompt, a position, a step, a pass
A = 1.199e-12
TOKEN_J, PAIR_J, PROMPT_J = A * 2 * 6_979_321_856, A * 524_288, A * 2 * 525_336_576
POSITION_J, STEP_J = 2.551e-10 * 131_072, A * 2 * 7_504_658_432
PASS_J = (1.394e-10 * 15_009_316_864 + 0.0227 * 32) / 8


def request_j(n: float, k: float, m: float) -> float:
    """Return the law's energy of one request; the bias of 1.15 would cancel."""
    return float(
        TOKEN_J * (n - k)
        + PAIR_J * (work.prefill_pairs(n, k, 1, 1) + work.decode_pairs(n, m, 1, 1, 1))
        + PROMPT_J
        + POSITION_J * work.cache_positions(n, m, 1, 1, 1)
        + STEP_J * (m - 1)
        + PASS_J * m
    )


def steps_until_paid(is_cached: bool, kept: int = 200) -> int:
    """Return the first step after which compaction has taken less energy, step by step."""
    before, after, step = 0.0, request_j(2_000, 1_999 if is_cached else 0, kept), 0
    while step == 0 or after > before:
        step += 1
        grown, known = 500 * step, 500 * (step - 1)
        before += request_j(2_000 + grown, 2_000 + known if is_cached else 0, 100)
        read = kept + known if is_cached and step > 1 else 0
        after += request_j(kept + grown, read, 100)
    return step


def test_energy_of_steps_one_by_one_crosses_at_the_horizon(book: Book) -> None:
    row = line(book, "meta-llama/Llama-3.1-8B")

    assert row["batch"] == 8
    assert math.ceil(row["paying_cached_energy_steps"]) == steps_until_paid(is_cached=True)
    assert math.ceil(row["paying_uncached_energy_steps"]) == steps_until_paid(is_cached=False)


def test_a_shorter_summary_pays_sooner_and_a_longer_one_later(book: Book) -> None:
    row = line(book, "claude-sonnet-4-5")

    # kept 100 and 600 of 2,000, at 15 + 3.75 − 0.3 USD a million
    assert row["paying_cached_money_low_steps"] == pytest.approx(
        (600 + 100 * 18.45) / (1_900 * 0.3)
    )
    assert row["paying_cached_money_high_steps"] == pytest.approx(
        (600 + 600 * 18.45) / (1_400 * 0.3)
    )


def test_models_without_price_or_energy_or_followed_steps_say_so(book: Book) -> None:
    assert line(book, "meta-llama/Llama-3.1-8B")["reason"] == "no list price"
    alone = line(book, "Qwen/Qwen3-8B")
    assert alone["reason"] == "no step follows another of its task with a longer context"
    assert (alone["paying_cached_energy_steps"], alone["paying_cached_money_steps"]) == (None, None)
    unknown = line(book, "acme-1")
    assert unknown["evidence_grade"] == "U"
    assert (unknown["energy_saving_probability_frac"], unknown["energy_verdict"]) == (None, None)
    assert (unknown["cost_saving_probability_frac"], unknown["cost_verdict"]) == (None, None)


def test_the_probability_is_that_of_having_paid_before_the_task_ends(book: Book) -> None:
    row = line(book, "claude-sonnet-4-5")

    # two of the four steps are left. In money a summary of 100, 200 and 600 tokens pays after 4.28,
    # 7.94 and 27.8 steps, whatever the draw; in energy after at least the 5 % of the draws
    assert (row["cost_saving_probability_frac"], row["cost_verdict"]) == (0, "takes more")
    low = row["paying_cached_energy_low_steps"]
    assert low < row["paying_cached_energy_steps"] < row["paying_cached_energy_high_steps"]
    assert (row["energy_saving_probability_frac"] <= 0.05) is (low >= 2)


def test_energy_ranges_hold_the_doubt_of_coefficients_beside_that_of_the_summary(
    book: Book,
) -> None:
    row = line(book, "meta-llama/Llama-3.1-8B")
    # what a summary of 100 and one of 600 tokens take at the coefficients as they are
    ends = [steps_until_paid(is_cached=True, kept=kept) for kept in (100, 600)]

    assert row["paying_cached_energy_low_steps"] < ends[0]
    assert row["paying_cached_energy_high_steps"] > ends[1] - 1
