"""A model runs on the GPUs that hold it, with what the settings, an input or the default says."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline.settings import Deployment, Settings

# Weights counted by hand, an untied embedding beside the head included:
# Llama-3.1-8B  32 · (2·4,096² + 2·4,096·1,024 + 3·4,096·14,336) + 2 · 128,256·4,096
LLAMA_8B = 6_979_321_856 + 2 * 525_336_576
# Llama-3.3-70B 80 · (2·8,192² + 2·8,192·1,024 + 3·8,192·28,672) + 2 · 128,256·8,192
LLAMA_70B = 68_451_041_280 + 2 * 1_050_673_152
# DeepSeek-V3   61 · 187,105,280 of attention, 3 dense layers of 3·7,168·18,432, 58 layers of
# 3·7,168·2,048·(256 + 1 shared), 2 · 129,280·7,168
DEEPSEEK_V3 = 11_413_422_080 + 1_189_085_184 + 656_463_101_952 + 2 * 926_679_040
# Llama-3.2-1B ties its embedding to its head: one of 128,256·2,048
LLAMA_1B = 16 * (2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 8192) + 262_668_288

TOLD = (
    Deployment("meta-llama/Llama-3.1-70B", gpu="H200-SXM"),
    Deployment("meta-llama/Llama-2-7b-hf", gpu_count=3),
    Deployment("meta-llama/Llama-2-13b-hf", gpu="b200", batch=32),
    Deployment("meta-llama/Meta-Llama-3-8B", stack="tensorrt-llm"),
    Deployment("Qwen/Qwen2.5-7B", gpu="L40S"),
    Deployment("meta-llama/Llama-3.2-3B", gpu="L4"),
)


def of(*names: str) -> Rows:
    return [{"model_name": name, "input_tokens": 9, "output_tokens": 3} for name in names]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(
        of(
            "meta-llama/Llama-3.1-8B",
            "meta-llama/Llama-3.3-70B-Instruct",
            "deepseek-ai/DeepSeek-V3",
            "meta-llama/Llama-3.2-1B",
            "claude-haiku-4-5",
            "acme-1",
            *(each.model for each in TOLD if each.model != "meta-llama/Llama-2-13b-hf"),
        ),
        of("meta-llama/Llama-2-13b-hf", "mistralai/Mistral-7B-v0.1"),
        of("Qwen/Qwen3-8B"),
        assumes=[
            {},
            {"gpu": "H200-SXM", "stack": "vLLM", "batch": "4"},
            {"stack": "TensorRT-LLM"},
        ],
        settings=Settings(deployments=TOLD),
        targets=["int_deployments"],
    )


def deployed(book: Book, model_id: str) -> dict[str, Any]:
    [row] = [
        row for row in rows_of(book, "select * from int_deployments") if row["model_id"] == model_id
    ]
    return row


@pytest.mark.parametrize(
    ("model_id", "weight_bytes"),
    [
        pytest.param("meta-llama/Llama-3.1-8B", 2 * LLAMA_8B, id="dense, 16 bits"),
        pytest.param("deepseek-ai/DeepSeek-V3", DEEPSEEK_V3, id="every expert, 8 bits"),
        pytest.param("meta-llama/Llama-3.2-1B", 2 * LLAMA_1B, id="a tied embedding once"),
    ],
)
def test_a_deployment_holds_all_weights(book: Book, model_id: str, weight_bytes: int) -> None:
    assert deployed(book, model_id)["held_weight_bytes"] == weight_bytes


@pytest.mark.parametrize(
    ("model_id", "needed", "gpu_count"),
    [
        # 1.2 · 16.06 GB / 80 GB = 0.24
        pytest.param("meta-llama/Llama-3.1-8B", 1.2 * 2 * LLAMA_8B / 80e9, 1, id="8B"),
        # 1.2 · 141.10 GB / 80 GB = 2.12
        pytest.param("meta-llama/Llama-3.3-70B-Instruct", 1.2 * 2 * LLAMA_70B / 80e9, 4, id="70B"),
        # 1.2 · 141.10 GB / 141 GB = 1.20
        pytest.param("meta-llama/Llama-3.1-70B", 1.2 * 2 * LLAMA_70B / 141e9, 2, id="70B, H200"),
        # 1.2 · 670.92 GB / 80 GB = 10.06
        pytest.param("deepseek-ai/DeepSeek-V3", 1.2 * DEEPSEEK_V3 / 80e9, 16, id="671B, 8 bits"),
    ],
)
def test_gpus_are_the_least_power_of_two_that_holds_the_weights_and_a_fifth(
    book: Book, model_id: str, needed: float, gpu_count: int
) -> None:
    assert 2 ** max(math.ceil(math.log2(needed)), 0) == gpu_count
    assert deployed(book, model_id)["gpu_count"] == gpu_count


def test_a_told_number_of_gpus_wins(book: Book) -> None:
    assert deployed(book, "meta-llama/Llama-2-7b-hf")["gpu_count"] == 3


def test_without_a_word_a_model_runs_on_the_default_gpu_and_stack(book: Book) -> None:
    row = deployed(book, "meta-llama/Llama-3.1-8B")

    assert (row["gpu"], row["stack"], row["coefficient_set_id"], row["is_own_set"]) == (
        "H100-SXM",
        "vLLM",
        "h100-sxm-vllm-1",
        True,
    )


def test_an_inputs_word_wins_over_the_default(book: Book) -> None:
    row = deployed(book, "mistralai/Mistral-7B-v0.1")

    assert (row["gpu"], row["coefficient_set_id"], row["told_batch"]) == (
        "H200-SXM",
        "h200-sxm-vllm-1",
        4,
    )


def test_the_settings_word_wins_over_an_inputs(book: Book) -> None:
    row = deployed(book, "meta-llama/Llama-2-13b-hf")

    assert (row["gpu"], row["coefficient_set_id"], row["told_batch"]) == ("B200", "b200-vllm-1", 32)


@pytest.mark.parametrize("model_id", ["meta-llama/Meta-Llama-3-8B", "Qwen/Qwen3-8B"])
def test_a_told_stack_picks_its_coefficients_on_the_default_gpu(book: Book, model_id: str) -> None:
    assert deployed(book, model_id)["coefficient_set_id"] == "h100-sxm-trtllm-1"


def test_a_gpu_without_coefficients_borrows_the_default_set(book: Book) -> None:
    row = deployed(book, "Qwen/Qwen2.5-7B")

    assert (row["gpu"], row["coefficient_set_id"], row["is_own_set"]) == (
        "L40S",
        "h100-sxm-vllm-1",
        False,
    )


def test_a_gpu_that_borrows_coefficients_keeps_its_own_memory(book: Book) -> None:
    assert deployed(book, "meta-llama/Llama-3.2-3B")["gpu_memory_gb"] == 24


def test_a_closed_model_has_a_row_for_each_stand_in_at_its_precision(book: Book) -> None:
    rows = rows_of(
        book,
        "select architecture_id, bytes_per_weight, stand_in_tier from int_deployments "
        "where model_id = 'claude-haiku-4-5' order by architecture_id",
    )

    assert [tuple(row.values()) for row in rows] == [
        ("Qwen/Qwen3-30B-A3B", 2, "small"),
        ("meta-llama/Llama-3.1-8B", 2, "small"),
        ("openai/gpt-oss-120b", 0.558, "small"),
    ]


def test_an_unknown_model_runs_nowhere(book: Book) -> None:
    assert rows_of(book, "select gpu from int_deployments where model_id = 'acme-1'") == []


def test_positions_of_latent_attention_hold_576_values_a_layer(book: Book) -> None:
    # 2 bytes · 61 layers · (512 + 64)
    assert deployed(book, "deepseek-ai/DeepSeek-V3")["kv_bytes_per_position"] == 70_272
