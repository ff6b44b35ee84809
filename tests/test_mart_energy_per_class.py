"""The energy of a class, where it goes, and per output token."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, EXAMPLE_LAW_J, Book, rows_of

from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
EXAMPLE = {"input_tokens": 900, "cache_read_tokens": 0, "output_tokens": 300}
ROWS = [
    {**EXAMPLE, "query_class": "chat"},
    {**EXAMPLE, "query_class": "chat", "output_tokens": None, "billed_cost_usd": "1"},
    {**EXAMPLE, "query_class": "rag", "cache_read_tokens": 900},
    {**EXAMPLE, "query_class": "chat", "model_name": "acme-1"},
    {"query_class": "other", "input_tokens": 0, "output_tokens": 0},
    {"query_class": "reasoning", "input_tokens": 500_000, "output_tokens": 1},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["mart_energy_per_class"])


def cell(book: Book, query_class: str, model_id: str = LLAMA) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from mart_energy_per_class")
        if (row["model_id"], row["query_class"]) == (model_id, query_class)
    ]
    return row


def test_the_shares_of_the_worked_example_are_as_by_hand(book: Book) -> None:
    row = cell(book, "chat")

    # 15.318907 + 10.724827 + 850.990486 = 877.034220 J
    assert row["prefill_frac"] == pytest.approx(15.318907 / EXAMPLE_LAW_J)
    assert row["kv_cache_frac"] == pytest.approx(10.724827 / EXAMPLE_LAW_J)
    assert row["next_token_frac"] == pytest.approx(850.990486 / EXAMPLE_LAW_J)


def test_the_joules_per_output_token_are_those_of_the_value(book: Book) -> None:
    assert cell(book, "chat")["energy_j_per_output_token"] == pytest.approx(EXAMPLE_GPU_J / 300)


def test_the_range_lies_around_the_value(book: Book) -> None:
    row = cell(book, "chat")

    # grade B, 0.74 to 1.35
    assert row["energy_low_j"] == pytest.approx(0.74 * row["gpu_energy_j"], rel=0.03)
    assert row["energy_high_j"] == pytest.approx(1.35 * row["gpu_energy_j"], rel=0.03)


def test_the_batch_stands_beside_the_figure(book: Book) -> None:
    row = cell(book, "chat")

    assert (row["batch"], row["batch_source"], row["batch_max"]) == (1, "told", 355)


def test_a_row_without_lengths_is_counted_but_not_measured(book: Book) -> None:
    row = cell(book, "chat")

    assert (row["request_count"], row["unmeasured_request_count"]) == (2, 1)
    assert (row["input_tokens"], row["output_tokens"]) == (900, 300)


def test_cached_tokens_are_those_that_were_not_prefilled(book: Book) -> None:
    # the last token of a wholly cached prompt is prefilled
    assert cell(book, "rag")["cache_read_tokens"] == 899


def test_of_no_energy_nothing_has_a_share(book: Book) -> None:
    row = cell(book, "other")

    assert (row["energy_j"], row["prefill_frac"], row["energy_j_per_output_token"]) == (
        0,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("query_class", "model_id"),
    [
        pytest.param("chat", "acme-1", id="an unknown model"),
        pytest.param("reasoning", LLAMA, id="a request that does not fit its GPUs"),
    ],
)
def test_what_is_unknown_has_grade_u_and_is_counted(
    book: Book, query_class: str, model_id: str
) -> None:
    row = cell(book, query_class, model_id)

    assert (row["evidence_grade"], row["gpu_energy_j"], row["energy_low_j"]) == ("U", None, None)
    assert row["unmeasured_request_count"] == 1
