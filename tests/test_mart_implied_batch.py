"""The batch that list prices imply, by hand for one dense model; a reason where there is none."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import DENSE_BIAS, Book, Rows, rows_of

from pipeline import warehouse

PRICED = "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo"  # at together; of 8 billion weights
CLOSED = {"provider": "openai", "model_name": "gpt-5-mini"}
EXAMPLE = {
    "provider": "together",
    "model_name": PRICED,
    "input_tokens": 900,
    "output_tokens": 300,
    "query_class": "chat",
}
BATCH_JOB = {"is_batch": True, "occurred_at": "2026-10-20T00:00:00Z"}  # has a price from then on
ROWS: Rows = [
    EXAMPLE,
    {**EXAMPLE, "query_class": "rag", "output_tokens": 0},
    {**EXAMPLE, "query_class": "other", "input_tokens": 0, "output_tokens": 0},
    {**EXAMPLE, "query_class": "reasoning", "input_tokens": 9_000_000},
    {**EXAMPLE, "provider": "vllm", "model_name": "meta-llama/Llama-3.1-8B"},
    {**EXAMPLE, "model_name": "acme-1"},
    {**EXAMPLE, **CLOSED},
    {**EXAMPLE, **CLOSED, "query_class": "summarization", **BATCH_JOB},
    {**EXAMPLE, **CLOSED, "query_class": "summarization", "output_tokens": 900},
]
# 1.199e-12 J/FLOP, 2.551e-10 J a byte of cache, 1.394e-10 J a byte of weights, 0.0227 J a layer
PAIR_J = 1.199e-12 * 524_288
POSITION_J = 2.551e-10 * 131_072
INPUT_J = 1.199e-12 * 2 * 6_979_321_856 + PAIR_J * (900 + 300) + POSITION_J * 300
OUTPUT_J = 1.199e-12 * 2 * 7_504_658_432 + (PAIR_J + POSITION_J) * (900 + 300)
SHARED_J = 1.394e-10 * 15_009_316_864 + 0.0227 * 32


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, targets=["mart_implied_batch"])


def rows_at(book: Book, input_usd: str, output_usd: str) -> dict[tuple[str, str, str], Any]:
    """Return the mart by provider, model and class, were these the prices of a million tokens."""
    book.execute("begin")
    book.execute(
        "update int_price_bands set uncached_input_usd_per_mtok = $input, "
        "output_usd_per_mtok = $output where price_model = $model",
        {"input": Decimal(input_usd), "output": Decimal(output_usd), "model": PRICED},
    )
    rows = rows_of(book, f"select * from ({warehouse.models()['mart_implied_batch'].sql})")
    book.execute("rollback")
    return {(row["provider"], row["model_id"], row["query_class"]): row for row in rows}


def dense(book: Book, input_usd: str, output_usd: str, query_class: str = "chat") -> Any:  # noqa: ANN401
    return rows_at(book, input_usd, output_usd)["together", "meta-llama/Llama-3.1-8B", query_class]


def test_prices_of_four_to_one_imply_the_batch_of_four_to_one_energies(book: Book) -> None:
    row = dense(book, "0.10", "0.40")

    assert (row["price_ratio"], row["reason"]) == (pytest.approx(4), None)
    assert row["input_token_energy_j"] == pytest.approx(DENSE_BIAS * INPUT_J)
    assert row["output_token_energy_j"] == pytest.approx(DENSE_BIAS * OUTPUT_J)
    assert row["shared_pass_energy_j"] == pytest.approx(DENSE_BIAS * SHARED_J)
    # 2.81870 / (4 · 0.0275217 − 0.0588743) = 55.04
    assert row["implied_batch"] == pytest.approx(SHARED_J / (4 * INPUT_J - OUTPUT_J))
    assert round(row["implied_batch"], 2) == 55.04


def test_the_range_is_that_of_coefficients_alone(book: Book) -> None:
    # Bias, stack and architecture move both energies alike and fall out of their ratio, so in each
    # world the batch is shared / (4 · input − output) with that world's a, b, c and s.
    row = dense(book, "0.10", "0.40")
    ratios = rows_of(book, "select a_ratio, b_ratio, c_ratio, s_ratio from int_draws")
    fewest_runs = []
    for each in ratios:
        a, b, c, s = each.values()
        read = a * 1.199e-12 * 2 * 6_979_321_856 + a * PAIR_J * 1_200 + b * POSITION_J * 300
        written = a * 1.199e-12 * 2 * 7_504_658_432 + (a * PAIR_J + b * POSITION_J) * 1_200
        shared = c * 1.394e-10 * 15_009_316_864 + s * 0.0227 * 32
        fewest_runs.append((4 * read - written) / shared)
    fewest_runs.sort()  # 256 worlds: 5 % is at place 12.75, 95 % at 242.25
    fewest = fewest_runs[12] + 0.75 * (fewest_runs[13] - fewest_runs[12])
    most = fewest_runs[242] + 0.25 * (fewest_runs[243] - fewest_runs[242])

    assert row["implied_batch_low"] == pytest.approx(1 / most)
    assert row["implied_batch_high"] == (pytest.approx(1 / fewest) if fewest > 0 else None)
    assert row["input_token_energy_low_j"] < DENSE_BIAS * INPUT_J < row["input_token_energy_high_j"]


def test_the_batch_of_the_report_stands_beside_it(book: Book) -> None:
    row = dense(book, "0.10", "0.40")

    assert (row["batch"], row["batch_source"], row["batch_max"]) == (64, "assumed for api", 355)


def test_output_at_the_price_of_input_implies_no_batch(book: Book) -> None:
    row = dense(book, "0.18", "0.18")

    assert row["implied_batch"] is None
    assert row["reason"] == "no batch is large enough for so low a price of output"


def test_output_priced_above_a_request_alone_implies_no_batch(book: Book) -> None:
    alone = (OUTPUT_J + SHARED_J) / INPUT_J  # 104.6
    at, above = (dense(book, "0.1", f"{0.1 * alone * f:.9f}") for f in (0.9999, 1.0001))

    assert at["implied_batch"] == pytest.approx(1, rel=2e-4)
    assert (above["implied_batch"], above["reason"]) == (
        None,
        "output is priced above a request served alone",
    )


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (("vllm", "meta-llama/Llama-3.1-8B", "chat"), "no list price"),
        (("together", "acme-1", "chat"), "model unknown"),
        (("together", "meta-llama/Llama-3.1-8B", "rag"), "no output"),
        (("together", "meta-llama/Llama-3.1-8B", "reasoning"), "request does not fit its GPUs"),
    ],
)
def test_where_something_is_unknown_the_reason_is_said(
    book: Book, key: tuple[str, str, str], reason: str
) -> None:
    row = rows_at(book, "0.10", "0.40")[key]

    assert (row["implied_batch"], row["reason"]) == (None, reason)


def test_free_input_has_no_ratio(book: Book) -> None:
    assert dense(book, "0", "0.40")["reason"] == "input is free"


def test_requests_without_work_imply_nothing(book: Book) -> None:
    keys = rows_at(book, "0.10", "0.40")

    assert ("together", "meta-llama/Llama-3.1-8B", "other") not in keys


def test_a_closed_model_takes_the_geometric_means_of_its_stand_ins(book: Book) -> None:
    row = rows_at(book, "0.10", "0.40")["openai", "gpt-5-mini", "chat"]
    stand_ins = rows_of(
        book,
        "select bias_factor * (energy_j_per_prefilled_token + 1200 * energy_j_per_pair "
        "+ 300 * energy_j_per_cache_position) as input_j from int_class_work inner join "
        "int_architecture_energy using (month, provider, model_id, query_class, architecture_id) "
        "where model_id = 'gpt-5-mini' and query_class = 'chat'",
    )

    assert len(stand_ins) == 3
    mean = math.prod(each["input_j"] for each in stand_ins) ** (1 / 3)
    assert row["input_token_energy_j"] == pytest.approx(mean, rel=1e-12)


def test_prices_of_several_tiers_are_weighted_by_the_output_they_priced(book: Book) -> None:
    row = rows_at(book, "0.10", "0.40")["openai", "gpt-5-mini", "summarization"]
    bands = {
        each["service_tier"]: each
        for each in rows_of(
            book,
            "select distinct int_usage_groups.service_tier, output_usd_per_mtok, "
            "uncached_input_usd_per_mtok "
            "from int_price_bands inner join int_usage_groups using (price_band_id) "
            "where int_usage_groups.model_id = 'gpt-5-mini'",
        )
    }

    batch, standard = bands["batch"], bands["standard"]
    assert batch["output_usd_per_mtok"] < standard["output_usd_per_mtok"]
    for name in ("output_usd_per_mtok", "uncached_input_usd_per_mtok"):  # 300 and 900 tokens
        assert row[name] == (batch[name] + 3 * standard[name]) / 4
