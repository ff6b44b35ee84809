"""The same requests by the laws of others, like with like, from hand-worked figures."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of

from pipeline.law_words import all_words
from pipeline.reference import reference_rows

Row = dict[str, Any]

# Llama-3.1-8B, 900 tokens in and 300 out: body, head and an embedding of its own.
PARAMS_B = (6_979_321_856 + 2 * 525_336_576) / 1e9
BATCH = 8  # assumed of own servers
REQUEST = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
KWH_J = 3_600_000


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(
        [
            {**REQUEST, "provider": "vllm"},
            {**REQUEST, "provider": "openai", "model_name": "gpt-4o"},
            {**REQUEST, "provider": "vllm", "model_name": "acme-1"},
            {**REQUEST, "provider": "vllm", "model_name": "Qwen/Qwen2-72B"},
        ]
    )


def lines(book: Book, model: str) -> dict[str, Row]:
    rows = rows_of(book, "select * from mart_method_comparison")
    return {row["law"]: row for row in rows if row["model_id"] == model}


def test_ecologits_0_8_by_hand(book: Book) -> None:
    row = lines(book, "meta-llama/Llama-3.1-8B")["ecologits_0_8"]

    # 4-bit weights with a fifth beside them, 4.8 GB, fit one GPU of 80 GB
    gpu_j = 300 * (8.91e-8 * PARAMS_B + 1.43e-6) * KWH_J
    server_j = 300 * (8.02e-4 * PARAMS_B + 2.23e-2) * 1_000 / 8
    assert gpu_j == pytest.approx(2317.11, abs=0.01)
    assert row["gpu_energy_j"] == pytest.approx(gpu_j, rel=1e-12)
    assert row["facility_energy_kwh"] == pytest.approx(1.2 * (gpu_j + server_j) / KWH_J, rel=1e-12)


def test_ecologits_0_9_by_hand(book: Book) -> None:
    row = lines(book, "meta-llama/Llama-3.1-8B")["ecologits_0_9"]

    # 16-bit weights, 19.3 GB: one GPU; its batch is always 64, whatever ours is
    wh = 1.1665273170451914e-6 * math.exp(-0.011205921025579175 * 64) * PARAMS_B
    gpu_j = 300 * (wh + 4.052928146734005e-5) * 3_600
    token_s = 6.785088e-4 * PARAMS_B + 3.119310e-4 * 64 + 1.947372e-2
    server_j = 300 * token_s * 1_200 / 8 / 64
    assert gpu_j == pytest.approx(48.71, abs=0.01)
    assert row["gpu_energy_j"] == pytest.approx(gpu_j, rel=1e-12)
    assert row["facility_energy_kwh"] == pytest.approx(1.2 * (gpu_j + server_j) / KWH_J, rel=1e-12)


def test_a_large_model_fills_so_many_gpus(book: Book) -> None:
    rows = lines(book, "Qwen/Qwen2-72B")
    [params] = book.execute(
        "select mixing_params + held_ffn_params + 2 * head_params from int_architectures "
        "where architecture_id = 'Qwen/Qwen2-72B'"
    ).fetchall()[0]

    # 72.7 B: 43.6 GB in 4 bits, one GPU; 174.5 GB in 16 bits, three, rounded up to four
    assert 1.2 * params / 2 / 1e9 == pytest.approx(43.6, abs=0.1)
    assert math.ceil(1.2 * params * 2 / 80e9) == 3
    old = 300 * (8.91e-8 * params / 1e9 + 1.43e-6) * KWH_J
    wh = 1.1665273170451914e-6 * math.exp(-0.011205921025579175 * 64) * params / 1e9
    new = 4 * 300 * (wh + 4.052928146734005e-5) * 3_600
    assert rows["ecologits_0_8"]["gpu_energy_j"] == pytest.approx(old, rel=1e-12)
    assert rows["ecologits_0_9"]["gpu_energy_j"] == pytest.approx(new, rel=1e-12)


def test_the_rules_of_thumb_share_the_output_by_our_batch(book: Book) -> None:
    rows = lines(book, "meta-llama/Llama-3.1-8B")
    fitted = {
        (row["law"], row["coefficient"]): float(row["value"])
        for row in reference_rows("rival_coefficients")
        if row["scope"] == "h100-sxm-vllm-1"
    }
    per_input, per_output = (
        fitted["linear", f"{each}_j_per_token"] for each in ("input", "output")
    )
    per_param = fitted["parameters_tokens", "j_per_param_token"]

    linear_j = per_input * 900 + per_output * 300 / BATCH
    assert rows["linear"]["gpu_energy_j"] == pytest.approx(linear_j, rel=1e-12)
    assert rows["parameters_tokens"]["gpu_energy_j"] == pytest.approx(
        per_param * PARAMS_B * 1e9 * 300 / BATCH, rel=1e-12
    )


def test_a_rival_without_a_facility_gets_our_chain(book: Book) -> None:
    row = lines(book, "meta-llama/Llama-3.1-8B")["linear"]

    assert row["facility_energy_kwh"] == pytest.approx(
        row["gpu_energy_j"] * 1.43 * 1.12 * 1.20 / KWH_J
    )
    assert row["facility_energy_ratio"] == pytest.approx(row["gpu_energy_ratio"])


def test_our_own_line_is_the_one_of_the_energies(book: Book) -> None:
    ours = rows_of(book, "select * from mart_method_comparison where law = 'simple'")
    energies = {
        (row["provider"], row["model_id"]): row
        for row in rows_of(book, "select * from mart_energy_per_class where gpu_energy_j > 0")
    }

    assert len(ours) == len(energies) == 3  # the model that nobody knows is not compared
    for row in ours:
        energy = energies[row["provider"], row["model_id"]]
        assert row["gpu_energy_j"] == row["own_gpu_energy_j"] == energy["gpu_energy_j"]
        assert row["facility_energy_kwh"] == energy["facility_energy_kwh"]
        assert (row["gpu_energy_ratio"], row["is_inside_range"]) == (1, True)
        assert (row["request_count"], row["batch"]) == (1, energy["batch"])


def test_a_ratio_is_the_rival_over_ours_and_its_place_in_our_range_is_told(book: Book) -> None:
    for row in rows_of(book, "select * from mart_method_comparison"):
        ratio = row["gpu_energy_j"] / row["own_gpu_energy_j"]
        assert row["gpu_energy_ratio"] == pytest.approx(ratio, rel=1e-12)
        assert row["is_inside_range"] == (
            row["own_energy_low_j"] <= row["gpu_energy_j"] <= row["own_energy_high_j"]
        )
    llama = lines(book, "meta-llama/Llama-3.1-8B")
    assert llama["ecologits_0_8"]["gpu_energy_j"] > EXAMPLE_GPU_J  # even alone it takes less
    assert llama["ecologits_0_8"]["is_inside_range"] is False


def test_a_closed_model_is_the_geometric_mean_of_its_stand_ins(book: Book) -> None:
    row = lines(book, "gpt-4o")["ecologits_0_8"]
    each = book.execute("""
        select mixing_params + active_ffn_params
            + head_params * case when has_tied_embeddings then 1 else 2 end,
            mixing_params + held_ffn_params
            + head_params * case when has_tied_embeddings then 1 else 2 end
        from int_architectures
        inner join stg_architectures using (architecture_id)
        inner join stg_stand_ins using (architecture_id)
        where stand_in_tier = 'middle'
    """).fetchall()

    energies_j = [
        300 * (8.91e-8 * active / 1e9 + 1.43e-6) * KWH_J * math.ceil(1.2 * held / 2 / 80e9)
        for active, held in each
    ]
    assert len(energies_j) == 2
    assert row["gpu_energy_j"] == pytest.approx(math.prod(energies_j) ** (1 / 2), rel=1e-9)


def test_every_law_in_the_table_says_where_it_holds(book: Book) -> None:
    words = {each["law"]: each for each in all_words()}

    for row in rows_of(book, "select distinct law, domain, ignores from mart_method_comparison"):
        assert row["domain"] == words[row["law"]]["domain"]
        assert row["ignores"] == words[row["law"]]["ignores"]
