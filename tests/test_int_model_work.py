"""One pass of an architecture takes so many weights, FLOP and bytes, counted by hand."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from conftest import Book, rows_of

from pipeline.settings import Deployment, Settings

QWEN = "Qwen/Qwen3-30B-A3B"
QWEN_ALONE = "Qwen/Qwen3-Coder-30B-A3B-Instruct"  # of the same shape
# Qwen3-30B-A3B: 48 layers, hidden 2,048, 32 query and 4 KV heads of 128, 128 experts of 768.
QWEN_ATTENTION = 48 * (2 * 2048 * 32 * 128 + 2 * 2048 * 4 * 128)
QWEN_EXPERT = 48 * 3 * 2048 * 768  # one expert of every layer
QWEN_HEAD = 151_936 * 2048


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    names = ("meta-llama/Llama-3.1-8B", QWEN, QWEN_ALONE, "deepseek-ai/DeepSeek-V3", "acme-1")
    rows = [{"model_name": name, "input_tokens": 90, "output_tokens": 30} for name in names]
    told = (Deployment(QWEN, batch=64), Deployment(QWEN_ALONE, batch=1))
    return book_of(rows, settings=Settings(deployments=told), targets=["int_model_work"])


def size(book: Book, architecture_id: str, batch: int) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from int_model_work")
        if (row["architecture_id"], row["batch"]) == (architecture_id, batch)
    ]
    return row


def test_a_dense_model_counts_as_the_worked_example(book: Book) -> None:
    row = size(book, "meta-llama/Llama-3.1-8B", 8)

    assert row["body_params"] == 6_979_321_856
    assert row["head_params"] == 525_336_576
    assert row["attention_flop_per_pair"] == 524_288  # 4 · 32 · 32 · 128
    assert row["kv_bytes_per_position"] == 131_072  # 2 · 2 bytes · 32 · 8 · 128
    assert row["weight_bytes"] == 2 * (6_979_321_856 + 525_336_576)


def test_every_rung_of_the_ladder_is_sized(book: Book) -> None:
    rows = rows_of(
        book,
        "select batch from int_model_work where architecture_id = 'meta-llama/Llama-3.1-8B' "
        "order by batch",
    )

    assert [row["batch"] for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128, 256]


def test_a_dense_model_reads_the_same_weights_at_any_batch(book: Book) -> None:
    model = "meta-llama/Llama-3.1-8B"

    assert size(book, model, 1)["weight_bytes"] == size(book, model, 64)["weight_bytes"]


@pytest.mark.parametrize(("architecture_id", "batch"), [(QWEN_ALONE, 1), (QWEN, 64)])
def test_a_token_runs_through_its_eight_experts_at_any_batch(
    book: Book, architecture_id: str, batch: int
) -> None:
    assert size(book, architecture_id, batch)["body_params"] == QWEN_ATTENTION + 8 * QWEN_EXPERT


def test_a_token_alone_reads_eight_experts(book: Book) -> None:
    # 2 bytes · (905,969,664 + 1,811,939,328 + 311,164,928)
    assert size(book, QWEN_ALONE, 1)["weight_bytes"] == 6_058_147_840


def test_64_tokens_read_nearly_all_128_experts(book: Book) -> None:
    touched = 128 * (1 - Fraction(120, 128) ** 64)  # 125.94
    weights = QWEN_ATTENTION + touched * QWEN_EXPERT + QWEN_HEAD

    assert round(float(touched), 2) == 125.94
    assert size(book, QWEN, 64)["weight_bytes"] == round(2 * weights)


def test_latent_attention_has_its_own_widths(book: Book) -> None:
    row = size(book, "deepseek-ai/DeepSeek-V3", 8)

    assert row["kv_bytes_per_position"] == 70_272  # 2 bytes · 61 · (512 + 64)
    assert row["attention_flop_per_pair"] == 16_990_208  # 2 · 61 · 128 · (2 · 512 + 64)
    # 61 · 187,105,280 of attention, 3 dense layers, 58 layers of 8 experts and a shared one
    assert row["body_params"] == (
        61 * 187_105_280 + 3 * 3 * 7168 * 18_432 + 58 * 3 * 7168 * 2048 * (8 + 1)
    )


def test_an_unknown_model_has_no_size(book: Book) -> None:
    rows = rows_of(book, "select distinct architecture_id from int_model_work")

    assert {row["architecture_id"] for row in rows} == {
        "meta-llama/Llama-3.1-8B",
        "deepseek-ai/DeepSeek-V3",
        QWEN,
        QWEN_ALONE,
    }
