"""Credits count in the month's cost and hide in no request; taxes stand apart from both."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, rows_of
from overlay_files import overlay_folder

from pipeline.settings import Settings

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "query_class": "chat"}
ROWS = [
    {**SONNET, "team": "a", "input_tokens": 1_000_000, "output_tokens": 0, "request_count": 10},
    {"charge_kind": "web_search", "provider": "anthropic", "billed_cost_usd": "0.5"},
]
TABLES = {
    "discounts_credits": [
        "2026-10,anthropic,,,volume discount,-0.25",
        "2026-10,Anthropic,claude-sonnet-4-5,a,outage,-0.05",
        "2026-11,gemini,,,next month,-9",
    ],
    "taxes": ["2026-10,anthropic,,0.21,VAT", "2026-10,openai,1.30,,withheld"],
    "contract_rates": ["anthropic,claude-sonnet-4-5,*,,,2026-10-01,2026-11-01,,0.1"],
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", TABLES)
    return book_of(ROWS, settings=Settings(overlay_folder=folder))


def bridge(book: Book) -> dict[str, Any]:
    rows = rows_of(book, "select step_id, cost_usd from mart_cost_bridge where month = '2026-10'")
    return {row["step_id"]: row["cost_usd"] for row in rows}


def test_a_credit_is_in_no_request_and_in_the_months_cost(book: Book) -> None:
    cost = bridge(book)

    # list 3.00, contract −0.30, credits −0.25 − 0.05, web search 0.50
    assert (cost["01"], cost["02"], cost["09"]) == (3, Decimal("-0.3"), Decimal("2.7"))
    assert (cost["12"], cost["13"], cost["14"]) == (
        Decimal("-0.3"),
        Decimal("0.5"),
        Decimal("2.9"),
    )


def test_a_tax_share_is_of_the_providers_cost_and_in_no_total(book: Book) -> None:
    # 0.21 · (2.70 + 0.50 − 0.30) = 0.609, and 1.30 as told
    taxes = rows_of(book, "select * from mart_cost_lines where line_kind = 'tax' order by provider")

    assert [row["cost_usd"] for row in taxes] == [Decimal("0.609"), Decimal("1.3")]
    assert [row["is_in_cost"] for row in taxes] == [False, False]
    assert bridge(book)["15"] == Decimal("1.909")


def test_a_contract_makes_the_cost_effective_and_leaves_the_list_price(book: Book) -> None:
    [row] = rows_of(book, "select * from mart_cost_per_task")

    assert (row["list_cost_usd"], row["contracted_cost_usd"], row["cost_usd"]) == (
        3,
        Decimal("2.7"),
        Decimal("2.7"),
    )
    assert row["cost_source"] == "effective"


def test_lines_of_other_months_stay_there(book: Book) -> None:
    rows = rows_of(book, "select month, description from mart_cost_lines where month <> '2026-10'")

    assert rows == [{"month": "2026-11", "description": "next month"}]


def test_a_provider_may_be_called_by_another_name(book: Book) -> None:
    [row] = rows_of(book, "select provider from mart_cost_lines where month = '2026-11'")

    assert row == {"provider": "google"}
