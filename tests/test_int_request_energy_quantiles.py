"""The median and the 90th percentile are those of single requests."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of

from pipeline.settings import Deployment, Settings

MODEL = "meta-llama/Llama-3.1-8B"
SETTINGS = Settings(deployments=(Deployment(MODEL, batch=1),))
EXAMPLE = {"input_tokens": 900, "output_tokens": 300}
# 300 and 600 output tokens beside it, all in one class
ROWS = [
    {**EXAMPLE, "query_class": "chat"},
    {**EXAMPLE, "query_class": "rag"},
    {"input_tokens": 900, "output_tokens": 1, "query_class": "rag"},
    {"input_tokens": 900, "output_tokens": 900, "query_class": "rag"},
    {**EXAMPLE, "query_class": "reasoning"},
    {"input_tokens": 0, "output_tokens": 0, "query_class": "reasoning"},
    {**EXAMPLE, "query_class": "summarization"},
    {
        "input_tokens": 9_000_000,
        "output_tokens": 9_000,
        "request_count": 9_000,
        "query_class": "summarization",
    },
    {"input_tokens": 900, "output_tokens": 300, "request_count": 2, "query_class": "other"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, settings=SETTINGS, targets=["int_request_energy_quantiles"])


def quantiles(book: Book, query_class: str) -> list[dict[str, Any]]:
    return rows_of(
        book, f"select * from int_request_energy_quantiles where query_class = '{query_class}'"
    )


def test_of_one_request_every_quantile_is_its_energy(book: Book) -> None:
    [row] = quantiles(book, "chat")

    assert (row["request_energy_p50_j"], row["request_energy_p90_j"]) == (
        pytest.approx(EXAMPLE_GPU_J),
        pytest.approx(EXAMPLE_GPU_J),
    )


def test_of_three_requests_the_median_is_the_middle_one(book: Book) -> None:
    [row] = quantiles(book, "rag")

    assert row["request_energy_p50_j"] == pytest.approx(EXAMPLE_GPU_J)


@pytest.mark.parametrize(
    "query_class",
    [
        pytest.param("reasoning", id="requests without work"),
        pytest.param("summarization", id="buckets"),
    ],
)
def test_what_is_no_single_request_with_work_stays_out(book: Book, query_class: str) -> None:
    [row] = quantiles(book, query_class)

    assert row["request_energy_p50_j"] == pytest.approx(EXAMPLE_GPU_J)


def test_a_class_of_buckets_alone_has_no_quantiles(book: Book) -> None:
    assert quantiles(book, "other") == []


def test_the_quantiles_of_answers_are_those_of_single_requests(book: Book) -> None:
    # 1, 300 and 900 tokens: a tenth of the way from the first to the last is 1 + 0.2 · 299
    [row] = quantiles(book, "rag")

    assert row["output_p10_tokens"] == pytest.approx(60.8)
    assert (row["output_p50_tokens"], row["output_p90_tokens"]) == (300, 780)
