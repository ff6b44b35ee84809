"""Model cards: every maker's spelling gives the same few numbers, or a stated reason to refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import BadInputError
from pipeline.ingest.cards import Record, architecture_from_config, notes_on, weights

Config = dict[str, Any]

LLAMA: Config = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
MIXTRAL = LLAMA | {
    "model_type": "mixtral",
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
DEEPSEEK: Config = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,  # says nothing of a latent cache
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
    "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
NANO: Config = {
    "model_type": "nemotron_h",
    "hidden_size": 2688,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "num_attention_heads": 32,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "mlp_hidden_act": "relu2",
    "intermediate_size": 1856,
    "moe_intermediate_size": 1856,
    "moe_shared_expert_intermediate_size": 3712,
    "n_routed_experts": 128,
    "num_experts_per_tok": 6,
    "mamba_num_heads": 64,
    "mamba_head_dim": 64,
    "n_groups": 8,
    "ssm_state_size": 128,
    "conv_kernel": 4,
    "mamba_ssm_cache_dtype": "float32",
    "time_step_limit": [0.0, float("inf")],
    "vocab_size": 131072,
    "tie_word_embeddings": False,
}
QWEN_3_5: Config = {
    "model_type": "qwen3_5_text",
    "num_hidden_layers": 8,
    "hidden_size": 4096,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "intermediate_size": 12288,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "mamba_ssm_dtype": "float32",
    "vocab_size": 1000,
    "tie_word_embeddings": True,
}
DELTA_PARAMS = 4096 * (2 * 2048 + 2 * 4096 + 2 * 32) + 4096 * 4096 + 4 * 8192 + 2 * 32 + 128


def read(config: Config) -> Record:
    return architecture_from_config(config, "acme/model")


def total(config: Config) -> int:
    return weights(read(config)).total


def few(record: Record, *names: str) -> tuple[Any, ...]:
    return tuple(record[name] for name in names)


# Spellings ---------------------------------------------------------------------------------------


def test_a_llama_is_read_whole() -> None:
    record = read(LLAMA)

    assert record == {
        "architecture_id": "acme/model",
        "family": "llama",
        "layers": 32,
        "hidden": 4096,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "ffn": 14336,
        "ffn_matrices": 3,
        "vocab": 128256,
        "has_tied_embeddings": False,
        "attention_kind": "GQA",
        "attention_layers": 32,
        "dense_layers": 32,
        "dense_ffn": 14336,
        "experts": 0,
        "active_experts": 0,
        "shared_ffn": 0,
        "q_lora_rank": 0,
        "kv_lora_rank": 0,
        "nope_head_dim": 0,
        "rope_head_dim": 0,
        "v_head_dim": 0,
        "bytes_per_weight": 2.0,
        "bytes_per_kv_element": 2.0,
        "context_tokens": 131072,
        "architecture_class": "dense",
        "has_attention_gate": False,
        "ssm_layers": 0,
        "ssm_params_per_layer": 0,
        "ssm_state_bytes": 0,
    }
    assert weights(record).total == 8_029_995_008  # the worked example, and a second embedding


SMALL = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 4, "head_dim": 16, "ffn": 256}


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        pytest.param(
            {"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 100},
            SMALL | {"ffn_matrices": 2, "has_tied_embeddings": True, "attention_kind": "MHA"},
            id="gpt2: no width is four times the hidden size",
        ),
        pytest.param(
            {"model_type": "gptj", "n_layer": 2, "n_embd": 64, "n_head": 4, "n_inner": None,
             "n_positions": 2048, "vocab_size": 100},
            SMALL | {"ffn_matrices": 2, "has_tied_embeddings": False, "context_tokens": 2048},
            id="gptj: n_inner null",
        ),
        pytest.param(
            {"model_type": "gpt_bigcode", "n_layer": 2, "n_embd": 64, "n_head": 4, "n_inner": 256,
             "multi_query": True, "vocab_size": 100},
            SMALL | {"kv_heads": 1, "attention_kind": "MQA", "ffn_matrices": 2},
            id="gpt_bigcode: multi_query",
        ),
        pytest.param(
            {"model_type": "chatglm", "num_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
             "kv_channels": 16, "multi_query_attention": True, "multi_query_group_num": 2,
             "ffn_hidden_size": 256, "padded_vocab_size": 128, "seq_length": 8192},
            SMALL | {"kv_heads": 2, "attention_kind": "GQA", "ffn_matrices": 3, "vocab": 128,
                     "context_tokens": 8192},
            id="chatglm: groups, padded vocabulary",
        ),
        pytest.param(
            {"model_type": "falcon", "num_hidden_layers": 2, "hidden_size": 64,
             "num_attention_heads": 4, "num_kv_heads": 4, "multi_query": True, "vocab_size": 100},
            SMALL | {"kv_heads": 1, "ffn_matrices": 2, "has_tied_embeddings": True},
            id="falcon: multi_query wins over a number",
        ),
        pytest.param(
            {"model_type": "falcon", "num_hidden_layers": 2, "hidden_size": 64,
             "num_attention_heads": 4, "num_kv_heads": 2, "new_decoder_architecture": True,
             "vocab_size": 100},
            SMALL | {"kv_heads": 2},
            id="falcon: groups",
        ),
        pytest.param(
            {"model_type": "phi-msft", "n_layer": 2, "n_embd": 64, "n_head": 4, "n_head_kv": None,
             "n_inner": None, "vocab_size": 100},
            SMALL | {"ffn_matrices": 2},
            id="phi: nulls",
        ),
        pytest.param(
            {"model_type": "opt", "num_hidden_layers": 2, "hidden_size": 64, "ffn_dim": 256,
             "num_attention_heads": 4, "word_embed_proj_dim": 64, "vocab_size": 100},
            SMALL | {"ffn_matrices": 2, "has_tied_embeddings": True},
            id="opt: ffn_dim",
        ),
        pytest.param(
            {"model_type": "mpt", "n_layers": 2, "d_model": 64, "n_heads": 4, "vocab_size": 100,
             "attn_config": {"attn_impl": "torch"}, "max_seq_len": 2048},
            SMALL | {"ffn_matrices": 2, "context_tokens": 2048},
            id="mpt: d_model",
        ),
        pytest.param(
            {"model_type": "dbrx", "n_layers": 2, "d_model": 64, "n_heads": 4, "vocab_size": 100,
             "attn_config": {"kv_n_heads": 2},
             "ffn_config": {"ffn_hidden_size": 256, "moe_num_experts": 16, "moe_top_k": 4}},
            SMALL | {"kv_heads": 2, "experts": 16, "active_experts": 4, "dense_layers": 0},
            id="dbrx: parts of its own",
        ),
        pytest.param(
            {"model_type": "qwen", "num_hidden_layers": 2, "hidden_size": 64, "kv_channels": 16,
             "num_attention_heads": 4, "intermediate_size": 512, "vocab_size": 100},
            SMALL | {"ffn_matrices": 3},
            id="qwen 1: the width counts both halves",
        ),
        pytest.param(
            {"model_type": "starcoder2", "num_hidden_layers": 2, "hidden_size": 64,
             "num_attention_heads": 4, "intermediate_size": 256, "mlp_type": "default",
             "sliding_window": 4096, "max_position_embeddings": 16384, "vocab_size": 100},
            SMALL | {"ffn_matrices": 2, "architecture_class": "window"},
            id="starcoder2: plain network, window",
        ),
        pytest.param(
            {"model_type": "nemotron", "num_hidden_layers": 2, "hidden_size": 64,
             "num_attention_heads": 4, "intermediate_size": 256, "hidden_act": "relu2",
             "vocab_size": 100},
            SMALL | {"ffn_matrices": 2},
            id="nemotron: relu2 has no gate",
        ),
        pytest.param(
            {"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64,
             "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256,
             "vocab_size": 100},
            SMALL | {"kv_heads": 2, "head_dim": 128},
            id="qwen3: a head size of its own",
        ),
        pytest.param(
            {"model_type": "gemma", "num_hidden_layers": 2, "hidden_size": 64,
             "num_attention_heads": 4, "num_key_value_heads": 1, "intermediate_size": 256,
             "vocab_size": 100},
            SMALL | {"kv_heads": 1, "head_dim": 256, "has_tied_embeddings": True},
            id="gemma: head size and tied embedding by default",
        ),
    ],
)  # fmt: skip
def test_a_spelling_is_understood(config: Config, wanted: Record) -> None:
    record = read(config)

    assert {name: record[name] for name in wanted} == wanted


def test_absent_kv_heads_are_as_many_as_heads() -> None:
    assert read(LLAMA | {"num_key_value_heads": None})["kv_heads"] == 32


@pytest.mark.parametrize("key", ["text_config", "llm_config", "language_config"])
def test_the_language_model_of_several_parts_is_read(key: str) -> None:
    whole = {"model_type": "seeing", key: LLAMA, "vision_config": {"hidden_size": 1152}}

    assert read(whole) == read(LLAMA)


def test_a_language_model_may_lie_inside_the_thinker() -> None:
    thinker = {"model_type": "omni_thinker", "text_config": LLAMA}

    assert read({"model_type": "omni", "thinker_config": thinker}) == read(LLAMA)


def test_the_whole_file_decides_on_the_tied_embedding() -> None:
    part = {name: value for name, value in LLAMA.items() if name != "tie_word_embeddings"}

    assert read({"text_config": part, "tie_word_embeddings": True})["has_tied_embeddings"]
    assert not read({"text_config": part})["has_tied_embeddings"]  # as a Llama does by default


def test_a_nested_part_may_leave_its_sizes_to_its_class() -> None:
    part = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
            "num_hidden_layers": 34}  # fmt: skip
    record = read({"model_type": "gemma3", "text_config": part})

    assert few(record, "heads", "kv_heads", "head_dim", "vocab", "has_tied_embeddings") == (
        8, 4, 256, 262_208, True,
    )  # fmt: skip
    assert weights(record).total == (
        34 * (2560 * 256 * (2 * 8 + 2 * 4) + 3 * 2560 * 10240) + 262_208 * 2560
    )


# Experts -----------------------------------------------------------------------------------------


def test_the_width_of_experts_may_be_the_width() -> None:
    record = read(MIXTRAL)

    assert few(record, "ffn", "experts", "active_experts", "dense_layers") == (14336, 8, 2, 0)
    assert record["architecture_class"] == "moe"
    assert weights(record).total == 46_701_477_888
    attention, expert = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024), 32 * 3 * 4096 * 14336
    assert weights(record).active == attention + 2 * expert + 2 * 32000 * 4096


def test_a_width_of_experts_beside_the_width_wins() -> None:
    record = read(MIXTRAL | {"moe_intermediate_size": 768, "num_experts_per_tok": 1})

    assert few(record, "ffn", "dense_ffn", "active_experts") == (768, 0, 1)


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"first_k_dense_replace": 2}, id="the first two"),
        pytest.param({"mlp_only_layers": [5, 9]}, id="a list"),
        pytest.param({"moe_layer_freq": [0, 0] + [1] * 30}, id="flags"),
        pytest.param({"mlp_layer_types": ["dense"] * 2 + ["sparse"] * 30}, id="words"),
        pytest.param({"moe_layers": list(range(30))}, id="a list of those with experts"),
        pytest.param({"moe_layers_enum": ",".join(map(str, range(2, 32)))}, id="a text"),
        pytest.param({"moe_layer_start_index": 2, "moe_layer_end_index": 31}, id="a span"),
    ],
)
def test_two_of_32_layers_are_dense(rule: Config) -> None:
    record = read(MIXTRAL | {"moe_intermediate_size": 768} | rule)

    assert few(record, "dense_layers", "dense_ffn", "ffn") == (2, 14336, 768)


@pytest.mark.parametrize(
    "rule",
    [
        {"decoder_sparse_step": 2},
        {"interleave_moe_layer_step": 2},
        {"moe_layer_freq": 2},
        {"expert_layer_period": 2, "expert_layer_offset": 1},
    ],
)
def test_every_second_layer_has_experts(rule: Config) -> None:
    assert read(MIXTRAL | rule)["dense_layers"] == 16


def test_llama_4_has_dense_layers_of_another_width_and_a_shared_expert() -> None:
    config = MIXTRAL | {
        "model_type": "llama4_text",
        "interleave_moe_layer_step": 2,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
    }

    assert few(read(config), "ffn", "dense_ffn", "shared_ffn") == (8192, 16384, 8192)


@pytest.mark.parametrize(
    ("told", "shared_ffn"),
    [
        ({"shared_expert_intermediate_size": 5632}, 5632),
        ({"n_shared_experts": 2, "moe_intermediate_size": 1408}, 2816),
        ({"num_shared_experts": 1, "moe_intermediate_size": 1024}, 1024),
        ({"share_expert_dim": 1280, "n_shared_experts": 1}, 1280),
        ({"shared_intermediate_size": 0}, 0),
        ({"n_shared_experts": None}, 0),
    ],
)
def test_shared_experts_are_one_width(told: Config, shared_ffn: int) -> None:
    assert read(MIXTRAL | told)["shared_ffn"] == shared_ffn


@pytest.mark.parametrize(
    "key",
    ["num_experts_per_token", "experts_per_token", "top_k_experts", "moe_topk", "moe_k"],
)
def test_active_experts_have_many_names(key: str) -> None:
    config = {name: value for name, value in MIXTRAL.items() if name != "num_experts_per_tok"}

    assert read(config | {key: 4})["active_experts"] == 4


def test_one_value_for_every_layer_is_one_value() -> None:
    assert read(MIXTRAL | {"num_experts_per_tok": [2] * 32})["active_experts"] == 2


# Latent attention --------------------------------------------------------------------------------


def test_latent_attention_has_its_own_widths() -> None:
    record = read(DEEPSEEK)

    assert few(record, "attention_kind", "architecture_class") == ("MLA", "mla")
    assert few(
        record, "q_lora_rank", "kv_lora_rank", "nope_head_dim", "rope_head_dim", "v_head_dim"
    ) == (1536, 512, 128, 64, 128)
    assert few(record, "head_dim", "dense_layers", "dense_ffn", "shared_ffn") == (
        192, 3, 18432, 2048,
    )  # fmt: skip
    attention = 61 * 187_105_280
    networks = 3 * 7168 * (3 * 18432 + 58 * 257 * 2048)
    assert weights(record).total == attention + networks + 2 * 129_280 * 7168


def test_a_query_without_a_low_rank_is_counted_whole() -> None:
    less = DEEPSEEK | {"q_lora_rank": None}
    low, whole = 7168 * 1536 + 1536 * 128 * 192, 7168 * 128 * 192

    assert total(less) - total(DEEPSEEK) == 61 * (whole - low)


# Hybrids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({}, id="every fourth by default"),
        pytest.param({"full_attention_interval": 4}, id="an interval"),
        pytest.param(
            {"layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 2}, id="words"
        ),
    ],
)
def test_two_of_eight_layers_hold_a_cache(rule: Config) -> None:
    record = read(QWEN_3_5 | rule)

    assert few(record, "layers", "attention_layers", "ssm_layers") == (8, 2, 6)
    assert few(record, "has_attention_gate", "architecture_class") == (True, "hybrid")
    assert record["ssm_params_per_layer"] == DELTA_PARAMS
    assert record["ssm_state_bytes"] == 32 * 128 * 128 * 4 + 8192 * 3 * 2
    attention = 4096 * (3 * 16 * 256 + 2 * 4 * 256)
    assert weights(record).total == (
        6 * DELTA_PARAMS + 2 * attention + 8 * 3 * 4096 * 12288 + 1000 * 4096
    )


def test_a_pattern_of_letters_has_one_part_a_layer() -> None:
    record = read(NANO)
    conv = 4096 + 2 * 8 * 128
    mamba = 2688 * (4096 + conv + 64) + 4096 * 2688 + 4 * conv + 4096 + 3 * 64
    attention = 2688 * (2 * 32 * 128 + 2 * 2 * 128)

    assert few(record, "layers", "attention_layers", "ssm_layers") == (52, 6, 23)
    assert few(record, "dense_layers", "dense_ffn", "ffn_matrices") == (29, 0, 2)
    assert record["ssm_state_bytes"] == 64 * 64 * 128 * 4 + conv * 3 * 2
    assert weights(record).total == (
        23 * mamba + 6 * attention + 23 * 2 * 2688 * (128 * 1856 + 3712) + 2 * 131_072 * 2688
    )


def test_a_pattern_may_be_spelt_out() -> None:
    words = {"M": "mamba", "E": "moe", "*": "attention"}
    pattern = NANO["hybrid_override_pattern"]
    config = {name: value for name, value in NANO.items() if name != "hybrid_override_pattern"}

    assert read(config | {"layers_block_type": [words[letter] for letter in pattern]}) == read(NANO)


def test_plain_networks_among_state_layers() -> None:
    record = read(NANO | {"hybrid_override_pattern": "M-M*-", "n_routed_experts": None})

    assert few(record, "layers", "attention_layers", "ssm_layers") == (5, 1, 2)
    assert few(record, "dense_layers", "dense_ffn", "experts") == (2, 1856, 0)
    assert weights(record).plain == 2 * 2 * 2688 * 1856


def test_experts_at_a_narrow_width_count_as_many_weights() -> None:
    narrow = read(NANO | {"moe_latent_size": 1344})
    projections = 2 * 2688 * 1344

    assert few(narrow, "ffn", "shared_ffn") == (928, 3712 + 1344)
    assert weights(narrow).experts == 23 * 128 * 2 * 1344 * 1856
    assert weights(narrow).plain - weights(read(NANO)).plain == 23 * projections


def test_a_model_of_state_layers_only_has_no_attention() -> None:
    config = {
        "model_type": "falcon_mamba",
        "num_hidden_layers": 64,
        "hidden_size": 4096,
        "intermediate_size": 8192,
        "state_size": 16,
        "time_step_rank": 256,
        "conv_kernel": 4,
        "vocab_size": 65024,
        "tie_word_embeddings": False,
    }
    record = read(config)

    assert few(record, "attention_kind", "attention_layers", "ssm_layers", "ffn") == (
        "none", 0, 64, 0,
    )  # fmt: skip
    assert record["ssm_state_bytes"] == 8192 * (16 + 3) * 2
    assert round(weights(record).total / 1e9, 3) == 7.272


def test_kimis_list_counts_layers_from_one() -> None:
    linear = {
        "full_attn_layers": [4, 8],
        "kda_layers": [1, 2, 3, 5, 6, 7],
        "head_dim": 128,
        "num_heads": 32,
        "short_conv_kernel_size": 4,
    }
    record = read(DEEPSEEK | {"num_hidden_layers": 8, "linear_attn_config": linear})
    inner, gates = 32 * 128, 2 * (7168 * 128 + 128 * 4096) + 7168 * 32

    assert few(record, "attention_layers", "ssm_layers", "architecture_class") == (2, 6, "hybrid")
    assert record["ssm_params_per_layer"] == (
        4 * 7168 * inner + gates + 3 * inner * 4 + inner + 32 + 128
    )


def test_jambas_attention_comes_once_a_period() -> None:
    config = MIXTRAL | {
        "model_type": "jamba",
        "attn_layer_period": 8,
        "attn_layer_offset": 4,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "mamba_d_state": 16,
        "mamba_d_conv": 4,
        "mamba_expand": 2,
        "mamba_dt_rank": 256,
    }

    assert few(read(config), "attention_layers", "ssm_layers", "dense_layers") == (4, 28, 16)


def test_lightning_attention_is_told_by_flags() -> None:
    config = MIXTRAL | {"model_type": "minimax_text_01", "attn_type_list": [0] * 28 + [1] * 4}

    assert few(read(config), "attention_layers", "ssm_layers") == (4, 28)
    assert read(config)["ssm_params_per_layer"] == 5 * 4096 * 4096 + 4096


def test_a_layer_may_have_attention_and_a_state() -> None:
    config = LLAMA | {
        "model_type": "falcon_h1",
        "mamba_n_heads": 24,
        "mamba_d_head": 64,
        "mamba_d_state": 128,
        "mamba_n_groups": 1,
        "mamba_d_conv": 4,
    }

    assert few(read(config), "attention_layers", "ssm_layers", "layers") == (32, 32, 32)


# Windows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"sliding_window": 4096}, "window"),
        ({"sliding_window": None}, "dense"),
        ({"sliding_window": 4096, "use_sliding_window": False}, "dense"),
        ({"sliding_window": 262_144}, "dense"),  # longer than the context
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 32}, "dense"),
        ({"sliding_window": 4096, "layer_types": ["full_attention"] * 32}, "dense"),
        ({"sliding_window": 4096, "layer_types": ["sliding_attention"] * 32}, "window"),
    ],
)
def test_a_window_counts_where_it_is_used(told: Config, kind: str) -> None:
    assert read(LLAMA | told)["architecture_class"] == kind


# Precision ---------------------------------------------------------------------------------------


def mean_bits(config: Config, **bits: float) -> float:
    """Return bytes per weight by hand: 16 bits, save for the parts told."""
    parts = weights(read(config))
    names = ("mixing", "plain", "experts", "embeddings")
    held: dict[str, int] = {name: getattr(parts, name) for name in names}
    return sum(bits.get(name, 16) * held[name] for name in names) / parts.total / 8


@pytest.mark.parametrize(
    ("told", "bits"),
    [
        pytest.param({}, {}, id="bf16"),
        pytest.param({"torch_dtype": "float32"}, {}, id="32 bits are served in 16"),
        pytest.param(
            {"quantization_config": {"quant_method": "fp8"}},
            {"mixing": 8, "plain": 8, "experts": 8},
            id="fp8",
        ),
        pytest.param(
            {"quantization_config": {"quant_method": "fp8", "modules_to_not_convert": [
                "lm_head", *(f"model.layers.{i}.mlp.gate" for i in range(32)),
                *(f"model.layers.{i}.self_attn.q_norm" for i in range(32))]}},
            {"mixing": 8, "plain": 8, "experts": 8},
            id="norms and routers left out",
        ),
        pytest.param(
            {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": [
                "model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"]}},
            {"experts": 4.25, "plain": 4.25},
            id="mxfp4 save attention",
        ),
        pytest.param(
            {"quantization_config": {"quant_algo": "NVFP4", "exclude_modules": [
                "lm_head", *(f"model.layers.{i}.self_attn*" for i in range(32))]}},
            {"experts": 4.5, "plain": 4.5},
            id="nvfp4 save attention, layer by layer",
        ),
        pytest.param(
            {"quantization_config": {"quant_algo": "NVFP4", "ignore": ["model.layers.0*",
                "model.layers.0.self_attn*"]}},
            {"experts": 4.5, "plain": 4.5, "mixing": 4.5},
            id="one layer left out is few",
        ),
        pytest.param(
            {"quantization_config": {"quant_method": "compressed-tensors", "config_groups": {
                "group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int",
                    "group_size": 32}}}, "ignore": ["lm_head", "re:.*self_attn.*",
                    "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|down)_proj.*"]}},
            {"experts": 4.5},
            id="int4 experts with a 16-bit scale for 32",
        ),
        pytest.param(
            {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}},
            {"experts": 4.15625, "plain": 4.15625, "mixing": 4.15625},
            id="gptq with scales and zero points",
        ),
        pytest.param(
            {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
            {"experts": 8, "plain": 8, "mixing": 8},
            id="bitsandbytes",
        ),
        pytest.param(
            {"quantization_config": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {
                "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
                "model.layers.0.mlp.experts.0.up_proj": {"quant_algo": "NVFP4"}}}},
            {"experts": 4.5, "mixing": 8},
            id="mixed, module by module",
        ),
    ],
)  # fmt: skip
def test_bytes_per_weight_are_the_mean_over_the_checkpoint(
    told: Config, bits: dict[str, float]
) -> None:
    config = MIXTRAL | {"shared_expert_intermediate_size": 14336} | told

    assert read(config)["bytes_per_weight"] == pytest.approx(mean_bits(config, **bits), abs=5e-4)


@pytest.mark.parametrize(
    ("told", "bytes_per_element"),
    [
        ({}, 2),
        ({"quantization_config": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}, 1),
        ({"quantization_config": {"quant_algo": "FP8", "kv_cache_scheme": {"num_bits": 8}}}, 1),
        ({"quantization_config": {"quant_algo": "FP8", "kv_cache_scheme": None}}, 2),
    ],
)
def test_a_cache_may_be_kept_in_8_bits(told: Config, bytes_per_element: int) -> None:
    assert read(LLAMA | told)["bytes_per_kv_element"] == bytes_per_element


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"num_hidden_layers": None}, "no number of layers found; tried num_hidden_layers, n_lay"),
        ({"hidden_size": None}, "no hidden size found; tried hidden_size, n_embd"),
        ({"num_attention_heads": None}, "no number of attention heads found; tried num_attention"),
        ({"intermediate_size": None}, "no width of the feed-forward network found; tried interme"),
        ({"vocab_size": None}, "no size of the vocabulary found; tried padded_vocab_size, vocab_"),
        ({"num_local_experts": 8}, "no number of experts active per token found; tried num_exper"),
        ({"hidden_size": "4096"}, "hidden_size = '4096'; expected a whole number"),
        ({"hidden_size": 4096.5}, "hidden_size = 4096.5; expected a whole number"),
        ({"hidden_size": float("nan")}, "hidden_size = nan; expected a whole number"),
        ({"num_hidden_layers": -1}, "num_hidden_layers = -1; expected a whole number"),
        ({"hidden_size": True}, "hidden_size = True; expected a whole number"),
        ({"intermediate_size": [1, 2]}, "intermediate_size differs from layer to layer"),
        ({"num_attention_heads": 33}, "33 attention heads cannot share 8 KV heads"),
        ({"num_attention_heads": 24, "head_dim": None}, "no head size, and hidden size 4096"),
        ({"v_head_dim": 64}, "keys and values differ in head size"),
        ({"block_configs": [{}]}, "every block has sizes of its own"),
        ({"compress_ratios": [4]}, "its attention is compressed from layer to layer"),
        ({"global_head_dim": 512}, "full-attention layers have a head size of their own"),
        ({"is_encoder_decoder": True}, "it has an encoder beside its decoder"),
        ({"word_embed_proj_dim": 512}, "its embedding has a width of its own"),
        ({"model_type": "rwkv5"}, "a recurrent model of the RWKV kind"),
        ({"layer_types": ["recurrent"] * 32}, "layers of the kind recurrent cannot be counted"),
        ({"layer_types": ["full_attention"] * 31}, "32 layers, but kinds for 31"),
        ({"layer_types": ["linear_attention"] * 32}, "of a kind that cannot be counted"),
        ({"quantization_config": {"quant_method": "quip"}}, "its quantisation 'quip' is not known"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(changes: Config, reason: str) -> None:
    with pytest.raises(BadInputError) as refused:
        read(LLAMA | changes)

    assert str(refused.value).startswith("acme/model: ")
    assert reason in str(refused.value)


def test_narrow_experts_of_a_fraction_are_refused() -> None:
    with pytest.raises(BadInputError, match="work at a width of their own"):
        read(MIXTRAL | {"moe_latent_size": 1023})


KEYS = sorted(
    {*LLAMA, *DEEPSEEK, *NANO, *QWEN_3_5}
    | {"layer_types", "layers_block_type", "attn_type_list", "attn_layer_period", "attn_config"}
    | {"attn_layer_indices", "moe_layer_freq", "moe_layers", "moe_layers_enum", "mlp_only_layers"}
    | {"mlp_layer_types", "expert_layer_period", "linear_attn_config", "text_config", "dtype"}
    | {"sliding_window", "max_window_layers", "time_step_rank", "word_embed_proj_dim"}
)
ODD: list[Any] = [
    None, True, 0, 1, -1, 1.5, float("nan"), float("inf"), 1e300, 10**30, "", "x", "4",
    [], [1, "a"], [None], [[]], [10**9], {}, {"a": 1}, {"quant_method": 3}, {"config_groups": 1},
    {"bits": "x"}, {"full_attn_layers": 3}, {"head_dim": "x"}, {"quantized_layers": {"a": 1}},
]  # fmt: skip


@pytest.mark.parametrize("config", [LLAMA, MIXTRAL, DEEPSEEK, NANO, QWEN_3_5])
def test_any_value_makes_a_record_or_a_refusal(config: Config) -> None:
    for changed in (config | {key: value} for key in KEYS for value in ODD):
        try:
            record = read(changed)
        except BadInputError as refused:
            assert str(refused).startswith("acme/model: ")
        else:
            assert weights(record).total > 0
            assert all(notes_on(changed, "acme/model"))


def test_an_empty_configuration_is_refused() -> None:
    with pytest.raises(BadInputError, match="no number of layers"):
        read({})


# Notes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"tie_word_embeddings": None}, "does not say whether embedding and output head are one"),
        ({"sliding_window": 4096}, "windows and sparse attention are counted as full"),
        ({"index_topk": 2048}, "windows and sparse attention are counted as full"),
        ({"num_nextn_predict_layers": 1}, "layers that predict further tokens are not counted"),
        ({"torch_dtype": "float32"}, "a checkpoint of 32 bits is taken as served in 16"),
    ],
)
def test_what_a_row_leaves_out_is_said(changes: Config, note: str) -> None:
    [said] = notes_on(LLAMA | changes, "acme/model")

    assert note in said


def test_a_name_that_speaks_of_4_bits_makes_one_look() -> None:
    [said] = notes_on(LLAMA, "acme/model-NVFP4")

    assert "hf_quant_config.json" in said


def test_of_a_plain_model_there_is_nothing_to_say() -> None:
    assert notes_on(LLAMA, "acme/model") == []


# Real files --------------------------------------------------------------------------------------

# File, published billions in all, class, bytes per weight.
PUBLISHED = [
    ("MiniMaxAI--MiniMax-M2.5", 229, "moe", 1.005),
    ("Qwen--Qwen3-30B-A3B-FP8", 30.5, "moe", 1.02),
    ("Qwen--Qwen3-30B-A3B", 30.5, "moe", 2),
    ("Qwen--Qwen3-8B", 8.19, "dense", 2),
    ("Qwen--Qwen3-VL-8B-Instruct", 8.19, "dense", 2),
    ("Qwen--Qwen3.5-35B-A3B", 35, "hybrid", 2),
    ("deepseek-ai--DeepSeek-V3", 671, "mla", 1.003),
    ("meta-llama--Llama-4-Scout-17B-16E-Instruct", 109, "moe", 2),
    ("meta-llama--Meta-Llama-3.1-8B", 8.03, "dense", 2),
    ("mistralai--Mixtral-8x7B-v0.1", 46.7, "moe", 2),
    ("moonshotai--Kimi-K2-Instruct", 1026, "mla", 1.002),
    ("nvidia--DeepSeek-V3.1-NVFP4", 671, "mla", 2),  # its precision is in another file
    ("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 31.6, "hybrid", 2),
    ("openai--gpt-oss-120b", 117, "moe", 0.558),
]
UNREADABLE = {
    "deepseek-ai--DeepSeek-V4-Flash": "compress_ratios",
    "nvidia--Llama-3_3-Nemotron-Super-49B-v1": "block_configs",
}
# Preset, published billions in all (their makers' cards).
PRESETS = {
    "gpt2": 0.124,
    "gpt_bigcode": 1.137,
    "gpt_j": 6.05,
    "phi-1_5": 1.42,
    "phi-2": 2.78,
    "phi-3_5": 3.82,
    "qwen": 1.84,
    "qwen2moe": 14.3,
    "chatglm": 6.24,
    "baichuan": 7.51,
    "internlm2": 7.74,
    "starcoder2": 7.17,
    "stablelm": 2.80,
    "orion": 14.5,
    "gemma2_2b": 2.61,
    "gemma3_1b_it": 1.0,
    "llama3_2_1b": 1.236,
    "minicpm-moe-8x2b": 13.6,
    "deepseek_v2_lite": 15.7,
    "olmo2_7b": 7.30,
}


def real(samples: Path, name: str) -> Config:
    text = (samples / f"configs/{name}.config.json").read_text(encoding="utf-8")
    config: Config = json.loads(text)
    return config


@pytest.mark.parametrize(("name", "published_b", "kind", "bytes_per_weight"), PUBLISHED)
def test_a_real_file_gives_the_published_count(
    samples: Path, name: str, published_b: float, kind: str, bytes_per_weight: float
) -> None:
    record = read(real(samples, name))

    assert weights(record).total / 1e9 == pytest.approx(published_b, rel=0.03)
    assert few(record, "architecture_class", "bytes_per_weight") == (kind, bytes_per_weight)


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_real_file_that_a_row_cannot_say_is_refused(samples: Path, name: str) -> None:
    with pytest.raises(BadInputError, match=UNREADABLE[name]):
        read(real(samples, name))


def test_every_real_file_is_among_these(samples: Path) -> None:
    names = {path.name.removesuffix(".config.json") for path in samples.glob("configs/*.config.*")}

    assert names == {name for name, *_ in PUBLISHED} | UNREADABLE.keys()


def test_every_preset_gives_its_published_count_or_is_refused(samples: Path) -> None:
    path = samples / "configs/mlc_llm_presets_21_families.json"
    presets = json.loads(path.read_text(encoding="utf-8"))
    found = {name: total(presets[name]) / 1e9 for name in presets if name != "rwkv5_3b"}

    assert found == pytest.approx(PRESETS, rel=0.03)
    with pytest.raises(BadInputError, match="RWKV"):
        read(presets["rwkv5_3b"])
