"""What failed and cut-off requests took, by their own tokens and their class's rates."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of

from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
GPT = {"provider": "openai", "model_name": "gpt-5-mini"}
EXAMPLE = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
CUT = {"finish_reason": "length"}
FAILED = {"status": "failure"}
FACILITY = 1.43 * 1.12 * 1.20
ROWS = [
    # of eight requests of one class one failed with the worked example's lengths, two were cut off
    *(EXAMPLE for _ in range(4)),
    {**EXAMPLE, "output_tokens": 2_000},
    {**EXAMPLE, **FAILED},
    {**EXAMPLE, **CUT},
    {**EXAMPLE, "finish_reason": "max_tokens"},
    # failed before any work
    {**FAILED, "query_class": "chat", "input_tokens": 0, "output_tokens": 0},
    # failed and cut off, in another class
    {**EXAMPLE, **FAILED, **CUT, "query_class": "rag"},
    *({**GPT, **EXAMPLE} for _ in range(2)),
    {**GPT, **EXAMPLE, **CUT},
    {**GPT, **EXAMPLE, **CUT, "billed_cost_usd": "0.25"},
    {**EXAMPLE, **FAILED, "model_name": "acme-1"},
    # a model of which nothing is wasted
    {**EXAMPLE, "model_name": "Qwen/Qwen3-8B"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["mart_waste", "int_class_draws"])


def line(book: Book, model: str = LLAMA, kind: str = "failed") -> dict[str, Any]:
    [row] = rows_of(
        book,
        f"select * from mart_waste where model_id = '{model}' and waste_kind = '{kind}'",
    )
    return row


def test_a_failed_request_takes_what_its_own_tokens_take(book: Book) -> None:
    # the worked example twice, in two classes, and one request without work
    row = line(book)

    assert (row["request_count"], row["unmeasured_request_count"]) == (3, 0)
    assert (row["input_tokens"], row["output_tokens"], row["batch"]) == (1_800, 600, 1)
    assert row["gpu_energy_j"] == pytest.approx(2 * EXAMPLE_GPU_J)
    assert row["facility_energy_kwh"] == pytest.approx(2 * EXAMPLE_GPU_J * FACILITY / 3.6e6)
    assert row["carbon_gco2e"] == pytest.approx(473 * row["facility_energy_kwh"])


def test_an_answer_that_was_cut_off_is_waste_of_its_own_kind(book: Book) -> None:
    row = line(book, kind="truncated")

    assert row["request_count"] == 2
    assert row["gpu_energy_j"] == pytest.approx(2 * EXAMPLE_GPU_J)


def test_a_request_both_failed_and_cut_off_counts_once(book: Book) -> None:
    [(count,)] = book.execute("select sum(request_count) from mart_waste").fetchall()

    assert count == 3 + 2 + 2 + 1


def test_shares_are_of_the_whole_month(book: Book) -> None:
    [(requests, energy, cost)] = book.execute(
        "select request_count, gpu_energy_j, cost_usd from mart_month_total "
        "where total_kind = 'month'"
    ).fetchall()

    assert line(book)["energy_frac"] == pytest.approx(2 * EXAMPLE_GPU_J / energy)
    assert line(book)["request_frac"] == 3 / requests == 3 / 16
    row = line(book, "gpt-5-mini", "truncated")
    assert row["cost_frac"] == pytest.approx(float(row["cost_usd"] / cost))


def test_waste_is_billed_where_a_bill_says_so_else_at_list_price(book: Book) -> None:
    row = line(book, "gpt-5-mini", "truncated")
    [(uncached, output)] = book.execute(
        "select distinct uncached_input_usd_per_mtok, output_usd_per_mtok from int_price_bands "
        "inner join int_usage_groups using (price_band_id) "
        "where int_usage_groups.model_id = 'gpt-5-mini'"
    ).fetchall()

    assert row["cost_usd"] == Decimal("0.25") + (900 * uncached + 300 * output) / 1_000_000
    assert row["unpriced_request_count"] == 0


def test_own_servers_have_energy_and_no_price(book: Book) -> None:
    assert (line(book)["cost_usd"], line(book)["unpriced_request_count"]) == (None, 3)


def test_a_model_that_nobody_knows_wastes_an_unknown_amount(book: Book) -> None:
    row = line(book, "acme-1")

    assert (row["request_count"], row["unmeasured_request_count"]) == (1, 1)
    assert (row["gpu_energy_j"], row["energy_frac"], row["evidence_grade"]) == (None, None, "U")


def test_the_range_of_waste_is_its_share_of_every_world(book: Book) -> None:
    # all four requests of gpt-5-mini are alike, half of them are cut off
    row = line(book, "gpt-5-mini", "truncated")
    [(low, middle, high)] = book.execute(
        "select drawn_p05(gpu_energy_j), drawn_p50(gpu_energy_j), drawn_p95(gpu_energy_j) "
        "from int_class_draws where model_id = 'gpt-5-mini'"
    ).fetchall()

    assert [row[f"energy_{end}_j"] for end in ("low", "p50", "high")] == [
        pytest.approx(whole / 2, rel=1e-9) for whole in (low, middle, high)
    ]
    assert row["facility_energy_low_kwh"] < row["facility_energy_p50_kwh"]
    assert row["facility_energy_p50_kwh"] < row["facility_energy_high_kwh"]
    assert (row["evidence_grade"], row["batch"]) == ("D", 64)
    assert row["saving_positive_frac"] == 1  # what was spent was spent in every world
    assert row["assumption"] == "none of these requests had been sent"


def test_a_model_without_waste_has_no_line(book: Book) -> None:
    assert rows_of(book, "select 1 from mart_waste where model_id = 'Qwen/Qwen3-8B'") == []
