"""The teams of a class share its energy by their own lengths, without loss."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of

from pipeline.settings import Deployment, Settings

MODEL = "meta-llama/Llama-3.1-8B"
SETTINGS = Settings(deployments=(Deployment(MODEL, batch=1),))
EXAMPLE = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
ROWS = [
    {**EXAMPLE, "team": "ops"},
    {"team": "web", "query_class": "chat", "input_tokens": 20, "output_tokens": 2_000},
    {"team": None, "query_class": "chat", "input_tokens": 9_000, "output_tokens": 1},
    {"team": "idle", "query_class": "chat", "input_tokens": 0, "output_tokens": 0},
    {"team": "billing", "query_class": "chat", "billed_cost_usd": "1"},
    {"team": "mixed", "query_class": "chat", "input_tokens": 90, "output_tokens": 30},
    {"team": "mixed", "query_class": "chat", "billed_cost_usd": "1"},
    {"team": "lost", **EXAMPLE, "model_name": "acme-1"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, settings=SETTINGS, targets=["int_team_energy"])


def shares(book: Book) -> dict[str | None, dict[str, Any]]:
    return {row["team"]: row for row in rows_of(book, "select * from int_team_energy")}


def test_a_team_takes_what_its_own_requests_take(book: Book) -> None:
    assert shares(book)["ops"]["gpu_energy_j"] == pytest.approx(EXAMPLE_GPU_J)


def test_usage_without_a_team_has_its_own_share(book: Book) -> None:
    [row] = rows_of(book, "select request_count from int_team_energy where team is null")

    assert row["request_count"] == 1


def test_the_shares_add_up_to_the_class(book: Book) -> None:
    [whole] = rows_of(book, "select gpu_energy_j from int_class_energy where query_class = 'chat'")
    parts = [row["gpu_energy_j"] for row in shares(book).values() if row["gpu_energy_j"]]

    assert sum(parts) == pytest.approx(whole["gpu_energy_j"], rel=1e-12)


def test_a_team_whose_requests_had_no_input_took_nothing(book: Book) -> None:
    row = shares(book)["idle"]

    assert (row["gpu_energy_j"], row["unmeasured_request_count"]) == (0, 0)


@pytest.mark.parametrize("team", ["billing", "lost"])
def test_a_team_that_cannot_be_measured_has_an_unknown_energy(book: Book, team: str) -> None:
    row = shares(book)[team]

    assert (row["gpu_energy_j"], row["unmeasured_request_count"]) == (None, 1)


def test_what_can_be_measured_of_a_team_counts_and_the_rest_is_listed(book: Book) -> None:
    row = shares(book)["mixed"]

    assert (row["request_count"], row["unmeasured_request_count"]) == (2, 1)
    assert row["gpu_energy_j"] is not None
