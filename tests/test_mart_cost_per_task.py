"""Failed tries are paid for by the solved task, and what is unknown stays unknown."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of

from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
TRY = {**SONNET, "query_class": "agentic", "input_tokens": 1_000, "output_tokens": 100}
EXAMPLE = {"input_tokens": 900, "output_tokens": 300}
ROWS = [
    {**TRY, "task_id": "t", "is_solved": False, "status": "failure"},
    {**TRY, "task_id": "t", "is_solved": False},
    {**TRY, "task_id": "t", "is_solved": True},
    {**SONNET, "query_class": "chat", "input_tokens": 1_000, "output_tokens": 100},
    {
        **SONNET,
        "query_class": "rag",
        "input_tokens": 1_000,
        "output_tokens": 100,
        "reasoning_tokens": 40,
        "billed_cost_usd": "0.001",
    },
    {
        **SONNET,
        "query_class": "rag",
        "uncached_input_tokens": 1_000,
        "cache_read_tokens": 300,
        "cache_write_5m_tokens": 20,
        "cache_write_1h_tokens": 1,
        "output_tokens": 0,
    },
    {**EXAMPLE, "query_class": "chat"},
    {**EXAMPLE, "query_class": "chat", "model_name": "acme-1"},
    {"query_class": "chat", "billed_cost_usd": "1"},
    {"query_class": "other", "input_tokens": 0, "output_tokens": 0, "status": "failure"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["mart_cost_per_task"])


def cell(book: Book, model_id: str, query_class: str) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from mart_cost_per_task")
        if (row["model_id"], row["query_class"]) == (model_id, query_class)
    ]
    return row


def test_failed_tries_are_paid_for_by_the_solved_task(book: Book) -> None:
    row = cell(book, "claude-sonnet-4-5", "agentic")

    # three tries of 1,000 · 3 + 100 · 15 dollars per million
    assert row["cost_usd"] == Decimal("0.0135")
    assert (row["cost_usd_per_task"], row["cost_usd_per_solved_task"]) == (0.0135, 0.0135)


def test_failed_tries_take_energy_for_the_solved_task(book: Book) -> None:
    row = cell(book, "claude-sonnet-4-5", "agentic")

    assert row["energy_j_per_solved_task"] == row["gpu_energy_j"]


def test_a_failed_request_is_counted_among_the_requests(book: Book) -> None:
    row = cell(book, "claude-sonnet-4-5", "agentic")

    assert (row["request_count"], row["failed_request_count"]) == (3, 1)


def test_without_a_solved_task_the_cost_of_one_is_unknown(book: Book) -> None:
    row = cell(book, "claude-sonnet-4-5", "chat")

    assert row["cost_usd_per_task"] == 0.0045
    assert (row["cost_usd_per_solved_task"], row["energy_j_per_solved_task"]) == (None, None)
    assert (row["solved_task_count"], row["unknown_outcome_task_count"]) == (0, 1)


def test_a_cell_of_bills_and_list_prices_says_so(book: Book) -> None:
    row = cell(book, "claude-sonnet-4-5", "rag")

    # 0.001 billed + (1,000 · 3 + 300 · 0.30 + 20 · 3.75 + 1 · 6) / 10⁶
    assert row["cost_usd"] == Decimal("0.001") + Decimal("0.003171")
    assert (row["cost_source"], row["billed_cost_usd"]) == ("billed and list", Decimal("0.001"))


def test_tokens_of_each_kind_are_summed(book: Book) -> None:
    row = cell(book, "claude-sonnet-4-5", "rag")

    assert row["uncached_input_tokens"] == 1_000 + 1_000
    assert (row["cache_read_tokens"], row["cache_write_tokens"]) == (300, 20 + 1)
    assert (row["output_tokens"], row["reasoning_tokens"]) == (100, 40)


def test_energy_becomes_electricity_and_carbon(book: Book) -> None:
    row = cell(book, LLAMA, "chat")

    # host 1.43 · idle 1.12 · PUE 1.20 over 3,600,000 J/kWh; 473 g/kWh; 0.10 USD/kWh
    electricity_kwh = EXAMPLE_GPU_J * 1.43 * 1.12 * 1.20 / 3_600_000
    assert row["gpu_energy_j"] == pytest.approx(EXAMPLE_GPU_J)
    assert row["facility_energy_kwh"] == pytest.approx(electricity_kwh)
    assert row["carbon_gco2e"] == pytest.approx(473 * electricity_kwh)
    assert row["energy_cost_usd"] == round(Decimal(0.10 * electricity_kwh), 9)


def test_a_bill_without_lengths_is_a_task_whose_energy_is_not_in_the_sum(book: Book) -> None:
    row = cell(book, LLAMA, "chat")

    assert (row["request_count"], row["unmeasured_request_count"]) == (2, 1)


def test_an_own_server_without_its_bill_has_no_cost_and_is_counted(book: Book) -> None:
    row = cell(book, "acme-1", "chat")

    assert (row["cost_usd"], row["cost_source"]) == (None, None)
    assert (row["unpriced_request_count"], row["no_gpu_bill_request_count"]) == (0, 1)


def test_an_unknown_model_has_grade_u_and_no_energy(book: Book) -> None:
    row = cell(book, "acme-1", "chat")

    assert (row["evidence_grade"], row["gpu_energy_j"], row["carbon_gco2e"]) == ("U", None, None)
    assert row["unmeasured_request_count"] == 1


def test_requests_without_input_took_no_energy_and_are_measured(book: Book) -> None:
    row = cell(book, LLAMA, "other")

    assert (row["gpu_energy_j"], row["unmeasured_request_count"]) == (0, 0)
    assert (row["request_count"], row["failed_request_count"]) == (1, 1)
