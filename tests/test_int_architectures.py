"""The parts of an architecture, counted by hand: weights, cache, and state."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, rows_of

from pipeline import warehouse
from pipeline.settings import Deployment, Settings

QWEN = "Qwen/Qwen3-Next-80B-A3B-Instruct"
NANO = "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B"
MAMBA = "tiiuae/falcon-mamba-7b"
LLAMA = "meta-llama/Llama-3.1-8B"
# Qwen3-Next: 36 gated delta layers of 16 key and 32 value heads of 128, 12 of attention.
DELTA = 2048 * (2 * 2048 + 2 * 4096 + 2 * 32) + 4096 * 2048 + 4 * 8192 + 2 * 32 + 128
DELTA_STATE = 32 * 128 * 128 * 2 + 8192 * 3 * 2
GATED = 2048 * (3 * 16 * 256 + 2 * 2 * 256)


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    rows = [
        {"model_name": name, "input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
        for name in (QWEN, NANO, MAMBA, LLAMA)
    ]
    told = tuple(Deployment(name, batch=64) for name in (QWEN, NANO, MAMBA, LLAMA))
    return book_of(rows, settings=Settings(deployments=told), targets=["int_class_energy"])


def row_of(book: Book, table: str, model_id: str) -> dict[str, Any]:
    key = "model_id" if table in ("int_deployments", "int_batches") else "architecture_id"
    rows = [row for row in rows_of(book, f"select * from {table}") if row[key] == model_id]
    [row] = [row for row in rows if row.get("batch", 64) == 64]  # work is sized at others too
    return row


def test_a_gated_hybrid_counts_both_kinds_of_layer(book: Book) -> None:
    row = row_of(book, "int_architectures", QWEN)

    assert row["mixing_params"] == 12 * GATED + 36 * DELTA
    assert row["active_ffn_params"] == 48 * 3 * 2048 * (10 * 512 + 512)
    assert row["held_ffn_params"] == 48 * 3 * 2048 * (512 * 512 + 512)
    assert row["state_bytes"] == 36 * DELTA_STATE


def test_only_attention_layers_hold_a_cache(book: Book) -> None:
    qwen, nano = (row_of(book, "int_architectures", name) for name in (QWEN, NANO))

    assert qwen["kv_bytes_per_position"] == 2 * 2 * 12 * 2 * 256
    assert qwen["attention_flop_per_pair"] == 4 * 12 * 16 * 256
    assert nano["kv_bytes_per_position"] == 2 * 2 * 6 * 2 * 128


def test_of_a_pattern_only_some_layers_have_experts(book: Book) -> None:
    row = row_of(book, "int_architectures", NANO)

    assert row["held_ffn_params"] == 23 * 2 * 2688 * (128 * 1856 + 3712)
    assert row["active_ffn_params"] == 23 * 2 * 2688 * (6 * 1856 + 3712)


def test_a_plain_model_has_no_state(book: Book) -> None:
    row = row_of(book, "int_architectures", LLAMA)

    assert row["state_bytes"] == 0
    assert row["mixing_params"] == 32 * (2 * 4096 * 4096 + 2 * 4096 * 8 * 128)


def test_latent_attention_with_a_whole_query_counts_it(book_of: Callable[..., Book]) -> None:
    deepseek = "deepseek-ai/DeepSeek-V3"
    book = book_of([{"model_name": deepseek, "input_tokens": 9, "output_tokens": 3}], targets=[])
    book.execute("update raw_architectures set q_lora_rank = '0'")
    warehouse.build(book, ["int_architectures"])
    row = row_of(book, "int_architectures", deepseek)
    low_rank = 7168 * 1536 + 1536 * 128 * 192

    assert row["mixing_params"] == 61 * (187_105_280 - low_rank + 7168 * 128 * 192)


def test_a_pass_runs_through_both_kinds_of_layer(book: Book) -> None:
    work = row_of(book, "int_model_work", QWEN)
    parts = row_of(book, "int_architectures", QWEN)

    assert work["body_params"] == parts["mixing_params"] + parts["active_ffn_params"]
    assert work["state_bytes"] == parts["state_bytes"]


def test_the_state_takes_room_beside_the_cache(book: Book) -> None:
    # 0.9 · 80 GB less 2 bytes · 7.272 billion weights, and 1,200 positions that take none
    held = row_of(book, "int_deployments", MAMBA)["held_weight_bytes"]
    state = 64 * 8192 * (16 + 3) * 2

    assert held == 2 * (64 * 105_308_160 + 2 * 65_024 * 4096)
    assert row_of(book, "int_batches", MAMBA)["batch_max"] == (72_000_000_000 - held) // state


def test_a_state_is_read_and_written_on_every_pass(book: Book) -> None:
    mamba, qwen = (row_of(book, "int_class_work", name) for name in (MAMBA, QWEN))
    positions = 900 * 300 + 300 * 299 // 2

    assert mamba["kv_read_bytes"] == 2 * 64 * 8192 * (16 + 3) * 2 * 300
    assert qwen["kv_read_bytes"] == 24_576 * positions + 2 * 36 * DELTA_STATE * 300


def test_without_a_growing_cache_no_answer_is_too_long(book: Book) -> None:
    assert row_of(book, "int_class_work", MAMBA)["optimum_output_tokens"] is None
    assert row_of(book, "int_class_work", QWEN)["optimum_output_tokens"] > 300


def test_rates_of_a_hybrid_add_up_to_its_energy(book: Book) -> None:
    rates = {
        row["model_id"]: row
        for row in rows_of(
            book,
            """
            select
                model_id, gpu_energy_j, evidence_grade,
                moments.prefilled_tokens * energy_j_per_prefilled_token
                + (moments.prefill_pairs + moments.decode_pairs) * energy_j_per_pair
                + moments.prompts * energy_j_per_prompt
                + moments.cache_positions * energy_j_per_cache_position
                + moments.decode_steps * energy_j_per_decode_step
                + moments.passes * energy_j_per_pass as by_rates
            from int_class_energy inner join int_class_moments as moments using (model_id)
            """,
        )
    }

    for name in (QWEN, NANO, MAMBA):
        assert rates[name]["by_rates"] == pytest.approx(rates[name]["gpu_energy_j"])
        assert rates[name]["evidence_grade"] == "C"
    work = row_of(book, "int_class_work", QWEN)
    assert rates[QWEN]["by_rates"] == pytest.approx(
        1.6 * (work["prefill_energy_j"] + work["kv_cache_energy_j"] + work["next_token_energy_j"])
    )
