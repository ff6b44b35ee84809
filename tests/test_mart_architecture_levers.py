"""What changing one thing of an architecture does to a request's energy, by the same law."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import EXAMPLE_LAW_J, Book, rows_of

from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
EXAMPLE = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
ROWS = [EXAMPLE, EXAMPLE, {**EXAMPLE, "query_class": "rag", "input_tokens": 100}]
# passes of 300 tokens share weights and launches: 2.8187 J each
SHARED_J = 300 * (1.394e-10 * 15_009_316_864 + 0.0227 * 32)


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["mart_architecture_levers"])


def line(book: Book, variant: str, batch: int = 1) -> dict[str, Any]:
    [row] = rows_of(
        book,
        f"select * from mart_architecture_levers where variant = '{variant}' and batch = {batch}",
    )
    return row


def test_the_reference_is_the_worked_example_at_the_lengths_of_the_largest_class(
    book: Book,
) -> None:
    row = line(book, "gqa_8")

    lengths = ("mean_input_tokens", "mean_cached_tokens", "mean_output_tokens")
    assert (row["query_class"], *(row[name] for name in lengths)) == ("chat", 900, 0, 300)
    assert row["energy_j_per_request"] == pytest.approx(EXAMPLE_LAW_J)
    assert row["energy_j_per_output_token"] == pytest.approx(EXAMPLE_LAW_J / 300)
    assert (row["saving_frac"], row["saving_positive_frac"]) == (0, None)
    assert row["body_params"] == 6_979_321_856


@pytest.mark.parametrize("batch", [8, 64])
def test_a_batch_shares_weights_and_launches(book: Book, batch: int) -> None:
    assert line(book, "gqa_8", batch)["energy_j_per_request"] == pytest.approx(
        EXAMPLE_LAW_J - SHARED_J * (1 - 1 / batch)
    )


@pytest.mark.parametrize(
    ("variant", "kv_bytes"),
    [
        ("mha", 2 * 2 * 32 * 32 * 128),
        ("gqa_8", 2 * 2 * 32 * 8 * 128),
        ("gqa_4", 2 * 2 * 32 * 4 * 128),
        ("mqa", 2 * 2 * 32 * 1 * 128),
        ("mla", 2 * 32 * (512 + 64)),
        ("cache_8_bit", 2 * 32 * 8 * 128),
        ("deep", 2 * 2 * 56 * 8 * 128),
        ("wide", 2 * 2 * 21 * 8 * 128),
    ],
)
def test_the_cache_of_a_variant_is_as_wide_as_its_heads(
    book: Book, variant: str, kv_bytes: int
) -> None:
    assert line(book, variant)["kv_bytes_per_position"] == kv_bytes


def test_weights_of_eight_bits_save_half_of_what_reading_them_takes(book: Book) -> None:
    # the launches stay: 300 · 1.394e-10 · 15,009,316,864 / 2 of 877.034 J
    saved = 300 * 1.394e-10 * 15_009_316_864 / 2

    assert line(book, "weights_8_bit")["saving_frac"] == pytest.approx(saved / EXAMPLE_LAW_J)


def test_full_heads_cost_the_wider_cache_and_the_wider_projections(book: Book) -> None:
    # 24 KV heads more: 2 · 4096 · 24 · 128 · 32 weights more, 393,216 bytes more a position
    weights = 2 * 4_096 * 24 * 128 * 32
    positions = 900 * 300 + 300 * 299 // 2
    more_j = (
        1.199e-12 * 2 * weights * (900 + 299)
        + 2.551e-10 * 393_216 * positions
        + 1.394e-10 * 2 * weights * 300
    )

    row = line(book, "mha")
    assert row["energy_j_per_request"] == pytest.approx(EXAMPLE_LAW_J + more_j)
    assert row["saving_frac"] == pytest.approx(-more_j / EXAMPLE_LAW_J)
    assert row["saving_positive_frac"] == 0


def test_deep_and_wide_have_as_many_weights(book: Book) -> None:
    # L · (2·d·h·128 + 2·d·8·128 + 3·d·f)
    deep = 56 * (2 * 3_072 * 3_072 + 2 * 3_072 * 1_024 + 3 * 3_072 * 10_752)
    wide = 21 * (2 * 5_120 * 5_120 + 2 * 5_120 * 1_024 + 3 * 5_120 * 17_920)

    assert (line(book, "deep")["body_params"], line(book, "wide")["body_params"]) == (deep, wide)
    assert deep == pytest.approx(6_979_321_856, rel=0.004)
    assert wide == pytest.approx(6_979_321_856, rel=0.02)


def test_a_saving_has_a_range_and_that_of_latent_attention_is_the_widest(book: Book) -> None:
    rows = [line(book, name, 64) for name in ("mha", "gqa_4", "mqa", "all_8_bit", "mla")]
    widths = [row["saving_high_frac"] - row["saving_low_frac"] for row in rows]

    assert all(r["saving_low_frac"] <= r["saving_frac"] <= r["saving_high_frac"] for r in rows)
    assert [row["saving_positive_frac"] for row in rows[:4]] == [0, 1, 1, 1]
    assert max(widths) == widths[-1] > 5 * widths[1]
    assert {row["evidence_grade"] for row in rows} == {"C"}


def test_what_the_cache_does_not_hold_is_served_in_a_smaller_batch_or_not_at_all(
    book_of: Callable[..., Book],
) -> None:
    long = {"input_tokens": 100_000, "output_tokens": 100, "query_class": "chat"}
    book = book_of([long], targets=["mart_architecture_levers"])

    # 0.9 · 80e9 − 2 · (6,979,321,856 + 2 · 525,336,576) = 55,940,009,984 bytes;
    # a request takes 131,072 · 100,100 = 13,120,307,200, with full heads 52,481,228,800
    row = line(book, "gqa_8", 64)
    assert (row["batch_max"], row["served_batch"], row["reason"]) == (4, 4, None)
    wide = line(book, "mha", 64)
    # weights grow by 2 · 805,306,368 bytes: 54,329,397,248 hold one
    assert (wide["batch_max"], wide["served_batch"]) == (1, 1)


def test_a_month_without_energy_has_no_levers(book_of: Callable[..., Book]) -> None:
    unknown = {**EXAMPLE, "model_name": "acme-1"}

    assert (
        rows_of(
            book_of([unknown], targets=["mart_architecture_levers"]),
            "select 1 from mart_architecture_levers",
        )
        == []
    )
