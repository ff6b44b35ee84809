"""At which context an agentic task has taken as much as other work, step by step."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest
from conftest import DENSE_BIAS, Book, Rows, rows_of

from pipeline.laws import agents, work
from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
OWN = {"provider": "vllm", "model_name": LLAMA}
# a task of four steps: 1,000 tokens of context, 500 more in each step, 100 written
TASK: Rows = [
    {
        **{"occurred_at": f"2026-10-05T10:0{minute}:00Z", "query_class": "agentic"},
        **{"task_id": "t", "input_tokens": 1_000 + 500 * minute, "output_tokens": 100},
        "cache_read_tokens": 0,
    }
    for minute in range(4)
]
LONG = {"query_class": "chat", "input_tokens": 4_000, "output_tokens": 600, "cache_read_tokens": 0}
ROWS: Rows = [
    *({**SONNET, **step} for step in TASK),
    {**SONNET, **LONG},
    {**SONNET, **LONG, "task_id": "u"},
    *({**OWN, **step} for step in TASK),
    {**OWN, **LONG},
    *({**step, "provider": "vllm", "model_name": "Qwen/Qwen3-8B"} for step in TASK),
    {**TASK[0], "provider": "vllm", "model_name": "Qwen/Qwen3-32B", "task_id": "single"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(
        deployments=(Deployment(LLAMA, batch=8),), assumptions={"agentic_task_value_usd": 0.05}
    )
    return book_of(ROWS, settings=settings, targets=["mart_agent_limits"])


def line(book: Book, model_id: str) -> Any:  # noqa: ANN401
    [row] = rows_of(book, f"select * from mart_agent_limits where model_id = '{model_id}'")
    return row


def step_usd(step: int) -> float:
    """Return the dollars of a step: read at 0.3, written at 3.75, output at 15 a million."""
    read = 500 + 500 * (step - 1) if step > 1 else 0
    return (read * 0.3 + (1_000 + 500 * (step - 1) - read) * 3.75 + 100 * 15) / 1e6


def spent_at(context: float, of_step: Callable[[int], float]) -> tuple[float, float]:
    """Return what the steps up to a context took, and those and the next one."""
    whole = int((context - 1_000) / 500 + 1e-9) + 1
    return sum(map(of_step, range(1, whole + 1))), sum(map(of_step, range(1, whole + 2)))


def test_a_task_passes_its_value_where_its_steps_have_cost_as_much(book: Book) -> None:
    before, after = spent_at(line(book, "claude-sonnet-4-5")["passing_value_tokens"], step_usd)

    assert before <= 0.05 <= after


def test_a_task_passes_other_work_where_its_steps_have_cost_as_much(book: Book) -> None:
    row = line(book, "claude-sonnet-4-5")

    # 4,000 in at 3 and 600 out at 15 USD a million, two tasks of it
    assert row["other_task_count"] == 2
    assert row["other_list_cost_usd_per_task"] == pytest.approx(0.021)
    before, after = spent_at(row["passing_other_cost_tokens"], step_usd)
    assert before <= 0.021 <= after


# Llama-3.1-8B, batch 8
A = 1.199e-12
PASS_J = (1.394e-10 * 15_009_316_864 + 0.0227 * 32) / 8


def request_j(n: float, k: float, m: float) -> float:
    return DENSE_BIAS * float(
        A * (2 * 6_979_321_856 * (n - k) + 2 * 525_336_576 + 2 * 7_504_658_432 * (m - 1))
        + A * 524_288 * (work.prefill_pairs(n, k, 1, 1) + work.decode_pairs(n, m, 1, 1, 1))
        + 2.551e-10 * 131_072 * work.cache_positions(n, m, 1, 1, 1)
        + PASS_J * m
    )


def test_in_energy_it_is_the_law_step_by_step(book: Book) -> None:
    row = line(book, LLAMA)

    def step_j(step: int) -> float:
        known = 500 * step if step > 1 else 0
        return request_j(1_000 + 500 * (step - 1), known, 100)

    assert row["other_energy_j_per_task"] == pytest.approx(request_j(4_000, 0, 600), rel=1e-9)
    before, after = spent_at(row["passing_other_energy_tokens"], step_j)
    assert before <= row["other_energy_j_per_task"] <= after
    assert (row["reason"], row["passing_other_cost_tokens"]) == ("no list price", None)


def test_that_length_has_the_range_of_both_sides_in_every_world(book: Book) -> None:
    row = line(book, LLAMA)
    [value] = rows_of(
        book, f"select sum(gpu_energy_j) as j from int_class_energy where model_id = '{LLAMA}'"
    )
    drawn = rows_of(
        book,
        "select rates.*, whole.j as whole_j from int_rate_draws as rates inner join (select draw, "
        f"sum(gpu_energy_j) as j from int_class_draws where model_id = '{LLAMA}' group by draw) "
        f"as whole using (draw) where model_id = '{LLAMA}' and query_class = 'agentic'",
    )

    lengths = []
    for rates in drawn:  # a first context of 1,000, of it 500 new; 100 written in each step
        pair, position = rates["energy_j_per_pair"], rates["energy_j_per_cache_position"]
        step_j = (
            rates["energy_j_per_prefilled_token"] * 500
            + pair * (work.prefill_pairs(1_000, 500, 1, 1) + work.decode_pairs(1_000, 100, 1, 1, 1))
            + rates["energy_j_per_prompt"]
            + position * work.cache_positions(1_000, 100, 1, 1, 1)
            + rates["energy_j_per_decode_step"] * 99
            + rates["energy_j_per_pass"] * 100
        )
        # each step more reads 500 positions in 100 passes and attends to them from 500 + 99 tokens
        growth_j = 500 * (position * 100 + pair * 599)
        start_j = rates["energy_j_per_prefilled_token"] * 500
        start_j += pair * work.prefill_pairs(500, 0, 1, 1)
        other_j = row["other_energy_j_per_task"] * rates["whole_j"] / value["j"]
        steps = agents.growing_paying_steps(max(other_j - start_j, 0), step_j - growth_j, growth_j)
        lengths.append(1_000 + 500 * max(steps - 1, 0))

    low, high = statistics.quantiles(lengths, n=20, method="inclusive")[::18]
    assert row["passing_other_energy_low_tokens"] == pytest.approx(low, rel=1e-9)
    assert row["passing_other_energy_high_tokens"] == pytest.approx(high, rel=1e-9)
    assert low < row["passing_other_energy_tokens"] < high
    # what a lack of knowledge does to both sides falls out: the length is surer than the energy
    energy = row["other_energy_high_j_per_task"] / row["other_energy_low_j_per_task"]
    assert high / low < energy


def test_long_contexts_leave_room_for_fewer(book: Book) -> None:
    row = line(book, LLAMA)

    # 0.9 · 80 GB less 16.06 GB of weights, over 131,072 bytes a position; 95 % of the contexts of
    # 1,500, 2,000 and 2,500 tokens are below 2,450
    free = 0.9 * 80e9 - 2 * 8_029_995_008
    assert row["first_batch_max"] == free // (131_072 * 1_100)
    assert row["long_batch_max"] == free // (131_072 * 2_550)


@pytest.mark.parametrize(
    ("model_id", "reason"),
    [
        ("Qwen/Qwen3-8B", "not enough: the model has no other work"),
        (
            "Qwen/Qwen3-32B",
            "not enough: no step follows another of its task with a longer context",
        ),
    ],
)
def test_what_is_not_enough_says_why(book: Book, model_id: str, reason: str) -> None:
    row = line(book, model_id)

    assert row["reason"] == reason
    assert (row["passing_other_energy_tokens"], row["passing_other_cost_tokens"]) == (None, None)


def test_the_energy_of_other_work_has_the_range_of_the_models_month(book: Book) -> None:
    row = line(book, LLAMA)
    [total] = rows_of(
        book, f"select sum(gpu_energy_j) as j from int_class_energy where model_id = '{LLAMA}'"
    )
    [ends] = rows_of(
        book,
        f"""
        select drawn_p05(j) as low, drawn_p95(j) as high from (
            select draw, sum(gpu_energy_j::decimal(38, 15))::double as j from int_class_draws
            where model_id = '{LLAMA}' group by draw
        )
    """,
    )

    value = row["other_energy_j_per_task"]
    assert row["other_energy_low_j_per_task"] == pytest.approx(value * ends["low"] / total["j"])
    assert row["other_energy_high_j_per_task"] == pytest.approx(value * ends["high"] / total["j"])
