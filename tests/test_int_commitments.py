"""A commitment is paid used or not: used goes by tokens, unused is a line of its own."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, rows_of
from overlay_files import overlay_folder

from pipeline.settings import Settings

GPT = {"provider": "openai", "model_name": "gpt-4o", "query_class": "chat"}
ROWS = [
    {**GPT, "team": "a", "input_tokens": 200, "output_tokens": 100},
    {**GPT, "team": "b", "input_tokens": 500, "output_tokens": 100},
    {**GPT, "team": "c", "input_tokens": 999, "output_tokens": 1, "billed_cost_usd": "5"},
]
COMMITTED = {
    "commitments": [
        "2026-10,openai,gpt-4o,744,15,900.00,0.5",
        "2026-10,openai,gpt-5,744,15,70.00,",
        "2026-10,openai,o3,744,1,80.00,0.9",
    ]
}
TOLD_NOTHING = {"provider": "openai", "model_name": "gpt-5", "query_class": "chat"}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", COMMITTED)
    rows = [*ROWS, {**TOLD_NOTHING, "team": "d", "input_tokens": 9, "output_tokens": 9}]
    return book_of(rows, settings=Settings(overlay_folder=folder))


def team(book: Book, name: str) -> dict[str, Any]:
    [row] = rows_of(book, f"select * from mart_team_chargeback where team = '{name}'")
    return row


def line(book: Book, model: str) -> dict[str, Any]:
    [row] = rows_of(book, f"select * from mart_cost_lines where model_id = '{model}'")
    return row


def test_the_used_part_goes_by_tokens(book: Book) -> None:
    # half of 900 USD by 300 : 600 tokens
    assert team(book, "a")["effective_cost_usd"] == 150
    assert team(book, "b")["effective_cost_usd"] == 300


def test_a_covered_request_costs_its_share_and_not_the_list_price(book: Book) -> None:
    row = team(book, "a")

    # gpt-4o at 2.50 and 10: 200 · 2.5 + 100 · 10 = 1,500 dollars per million
    assert (row["cost_usd"], row["list_cost_usd"]) == (150, Decimal("0.0015"))


def test_a_request_with_a_bill_of_its_own_is_not_covered(book: Book) -> None:
    assert team(book, "c")["cost_usd"] == 5


def test_the_unused_part_is_a_line_of_its_own(book: Book) -> None:
    row = line(book, "gpt-4o")

    assert (row["line_kind"], row["cost_usd"]) == ("committed, unused", 450)
    assert row["description"] == "share of use as told"


def test_where_nobody_tells_the_use_all_counts_as_used_and_is_said_so(book: Book) -> None:
    assert team(book, "d")["cost_usd"] == 70
    assert (line(book, "gpt-5")["cost_usd"], line(book, "gpt-5")["description"]) == (
        0,
        "share of use not told: all counts as used",
    )


def test_a_commitment_that_covers_no_request_is_unused_in_whole(book: Book) -> None:
    assert line(book, "o3")["cost_usd"] == 80


def test_the_steps_lead_from_list_price_to_cost(book: Book) -> None:
    steps = rows_of(book, "select step_id, cost_usd from mart_cost_bridge")
    cost = {row["step_id"]: row["cost_usd"] for row in steps}

    # commitments 150 + 300 + 70; the bill 5 stands for 999 · 2.5 + 1 · 10 = 2,507.5 per million
    assert cost["05"] == 520 + Decimal("0.0025075")
    assert cost["06"] == 5 - Decimal("0.0025075")
    assert cost["09"] == 525
    assert cost["10"] == 450 + 80
    assert cost["14"] == 1055


def test_the_cost_source_of_a_share_is_effective(book: Book) -> None:
    rows = rows_of(book, "select team, cost_source from int_group_costs order by 1")

    assert [row["cost_source"] for row in rows] == ["effective", "effective", "billed", "effective"]
