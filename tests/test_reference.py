"""The hand-kept reference tables: complete, sourced, consistent, and true where they can be."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from itertools import combinations

import pytest

from pipeline.settings import bundled

Row = dict[str, str]

SOURCED = ",source,source_date"
HEADERS = {
    "architectures": "architecture_id,family,layers,hidden,heads,kv_heads,head_dim,ffn,"
    "ffn_matrices,vocab,has_tied_embeddings,attention_kind,attention_layers,dense_layers,"
    "dense_ffn,experts,active_experts,shared_ffn,q_lora_rank,kv_lora_rank,nope_head_dim,"
    "rope_head_dim,v_head_dim,bytes_per_weight,bytes_per_kv_element,context_tokens,"
    "architecture_class,stated_total_params_b,stated_active_params_b,params_note,has_attention_gate,"
    "ssm_layers,ssm_params_per_layer,ssm_state_bytes,licence",
    "architecture_variants": "variant,lever,step,layers,hidden,heads,kv_heads,head_dim,ffn,"
    "ffn_matrices,vocab,q_lora_rank,kv_lora_rank,nope_head_dim,rope_head_dim,v_head_dim,"
    "bytes_per_weight,bytes_per_kv_element,architecture_class,meaning",
    "models": "model_id,developer,is_open,architecture_id,stand_in_tier,context_tokens",
    "model_aliases": "alias,model_id,valid_from,valid_to",
    "stand_ins": "stand_in_tier,architecture_id,bytes_per_weight",
    "providers": "provider,hosting_kind",
    "gpus": "gpu,memory_gb,board_power_w",
    "law_coefficients": "coefficient_set_id,gpu,stack,a_j_per_flop,b_j_per_kv_byte,"
    "c_j_per_weight_byte,s_j_per_layer_step,s_j_per_step,architecture_count,"
    "mape_in_sample_frac,mape_leave_one_architecture_out_frac,input_tokens_low,"
    "input_tokens_high,output_tokens_low,output_tokens_high,batch_low,batch_high,is_default",
    "bias_factors": "architecture_class,coefficient_set_id,bias_factor,bias_low,bias_high",
    "grade_ranges": "evidence_grade,low_ratio,high_ratio,meaning",
    "gpu_aliases": "alias,gpu",
    "rival_coefficients": "law,scope,coefficient,value,unit",
    "law_validation": "dataset,gpu,stack,law,form,subset_kind,subset_value,row_count,mape_frac,"
    "bias_ratio,p90_frac,leave_one_out_mape_frac",
    "audit_rules": "rule,value,unit,meaning",
    "power_rules": "rule,value,unit,meaning",
    "power_policies": "fact,gpu,lever,setting,setting_unit,phase,quantity,value,low,high,unit,"
    "certainty,meaning",
    "power_factors": "gpu,policy,lever,setting,setting_unit,phase,energy_ratio,energy_low_ratio,"
    "energy_high_ratio,throughput_ratio,throughput_low_ratio,throughput_high_ratio,"
    "evidence_grade,meaning",
    "attention_families": "family,kind,layers,hidden,heads,kv_heads,head_dim,ffn,ffn_matrices,"
    "vocab,q_lora_rank,kv_lora_rank,nope_head_dim,rope_head_dim,v_head_dim,"
    "state_params_per_layer,state_bytes_per_layer,bytes_per_weight,bytes_per_kv_element,meaning",
    "power_sensors": "gpu_family,window_s,duty_frac,gain_frac,meaning",
    "linearity_claims": "told_by,model,category,quantity,value,unit,is_reproduced,meaning",
    "anchors": "anchor,publisher,request,energy_wh,boundary,meaning",
    "law_points": "dataset,gpu,stack,architecture_id,bytes_per_weight,gpu_count,batch,"
    "input_tokens,output_tokens,row_count,measured_j,predicted_j,predicted_by",
    "joint_draws": "draw,a_ratio,b_ratio,c_ratio,s_ratio,stack_ratio,dense_ratio,moe_ratio,"
    "mla_ratio,window_ratio,hybrid_ratio,batch_z_score,host_z_score,idle_z_score,pue_z_score,"
    "cached_z_score,small_z_score,middle_z_score,large_z_score",
    "assumptions": "assumption,value,low,high,unit,meaning",
    "grid_factors": "zone,year,basis,method,carbon_gco2e_per_kwh",
    "query_classes": "query_class,meaning,rule_order,rule",
    "config_spellings": "canonical,spelling",
    "config_defaults": "model_type,canonical,value",
    "dispersion_factors": "query_class,input_squared_ratio,input_output_ratio,output_squared_ratio,"
    "mean_output_tokens",
}
KEYS = {
    "architectures": ("architecture_id",),
    "architecture_variants": ("variant",),
    "models": ("model_id",),
    "model_aliases": ("alias", "valid_from"),
    "stand_ins": ("stand_in_tier", "architecture_id"),
    "providers": ("provider",),
    "gpus": ("gpu",),
    "law_coefficients": ("coefficient_set_id",),
    "bias_factors": ("architecture_class", "coefficient_set_id"),
    "grade_ranges": ("evidence_grade",),
    "gpu_aliases": ("alias",),
    "rival_coefficients": ("law", "scope", "coefficient"),
    "law_validation": (
        "dataset",
        "gpu",
        "stack",
        "law",
        "form",
        "subset_kind",
        "subset_value",
    ),
    "audit_rules": ("rule",),
    "power_rules": ("rule",),
    "power_policies": ("fact",),
    "power_factors": ("gpu", "policy", "phase"),
    "attention_families": ("family",),
    "power_sensors": ("gpu_family",),
    "linearity_claims": ("told_by", "model", "category", "quantity"),
    "anchors": ("anchor",),
    "law_points": (
        *("dataset", "gpu", "stack", "architecture_id", "bytes_per_weight", "gpu_count"),
        *("batch", "input_tokens", "output_tokens"),
    ),
    "joint_draws": ("draw",),
    "assumptions": ("assumption",),
    "grid_factors": ("zone", "year", "basis", "method"),
    "query_classes": ("query_class",),
    "config_spellings": ("spelling",),
    "config_defaults": ("model_type", "canonical"),
    "dispersion_factors": ("query_class",),
}
LISTED = {
    ("architectures", "attention_kind"): {"MHA", "GQA", "MQA", "MLA", "none"},
    ("architectures", "architecture_class"): {"dense", "moe", "mla", "window", "hybrid"},
    ("architectures", "ffn_matrices"): {"2", "3"},
    ("architectures", "has_tied_embeddings"): {"true", "false"},
    ("architectures", "has_attention_gate"): {"true", "false"},
    ("architecture_variants", "architecture_class"): {"dense", "mla"},
    ("architecture_variants", "lever"): {"reference", "KV heads", "depth and width", "precision"},
    ("models", "is_open"): {"true", "false"},
    ("models", "stand_in_tier"): {"", "small", "middle", "large"},
    ("stand_ins", "stand_in_tier"): {"small", "middle", "large"},
    ("providers", "hosting_kind"): {"api", "self_hosted", "one_user"},
    ("law_coefficients", "is_default"): {"true", "false"},
    ("bias_factors", "architecture_class"): {"dense", "moe", "mla", "window", "hybrid"},
    ("grade_ranges", "evidence_grade"): {"A", "B", "C", "D", "U"},
    ("linearity_claims", "told_by"): {"first version", "second version", "both versions"},
    ("linearity_claims", "is_reproduced"): {"false"},
    ("power_policies", "certainty"): {"primary", "quoted", "secondary", "unknown"},
    ("power_policies", "lever"): {"none", "cap", "lock", "profile"},
    ("power_policies", "phase"): {"prefill", "decode", "request"},
    ("power_factors", "phase"): {"prefill", "decode"},
    ("attention_families", "kind"): {"heads", "latent", "state"},
    ("anchors", "boundary"): {"facility", "gpu"},
    ("law_validation", "form"): {"published", "refit"},
    ("grid_factors", "basis"): {"life-cycle", "direct"},
    ("grid_factors", "method"): {"location", "market"},
}
QUERY_CLASSES = {
    "chat", "rag", "summarization", "code_completion",
    "reasoning", "agentic", "batch_extraction", "other",
}  # fmt: skip
SURE_FRAC = 0.03  # a computed parameter count this near the stated one confirms the shape
EXPLAINED_TOTAL_FRAC = 0.05  # as far off as a count may be that `params_note` explains:
EXPLAINED_ACTIVE_FRAC = 0.30  # makers leave embeddings out of active counts, and round them


def read(table: str) -> list[Row]:
    with bundled(f"data/reference/{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TABLES = {table: read(table) for table in HEADERS}
ARCHITECTURES = {row["architecture_id"]: row for row in TABLES["architectures"]}
MODELS = {row["model_id"]: row for row in TABLES["models"]}


def repeated(keys: Iterable[object]) -> list[object]:
    return [key for key, count in Counter(keys).items() if count > 1]


# Every table -------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", HEADERS)
def test_the_header_is_as_agreed(table: str) -> None:
    with bundled(f"data/reference/{table}.csv").open(encoding="utf-8") as file:
        assert file.readline().rstrip("\n") == HEADERS[table] + SOURCED


@pytest.mark.parametrize("table", HEADERS)
def test_every_row_names_its_source_and_day(table: str) -> None:
    unsourced = [row for row in TABLES[table] if len(row["source"]) < len("own fit")]
    days = {date.fromisoformat(row["source_date"]) for row in TABLES[table]}

    assert unsourced == []
    assert days <= {date(2026, 11, 30)}


@pytest.mark.parametrize("table", HEADERS)
def test_no_key_is_there_twice(table: str) -> None:
    assert repeated(tuple(row[key] for key in KEYS[table]) for row in TABLES[table]) == []


@pytest.mark.parametrize(("table", "column"), LISTED)
def test_a_column_of_a_listed_few_holds_only_those(table: str, column: str) -> None:
    assert {row[column] for row in TABLES[table]} <= LISTED[table, column]


@pytest.mark.parametrize(
    ("table", "low", "value", "high"),
    [
        ("assumptions", "low", "value", "high"),
        ("bias_factors", "bias_low", "bias_factor", "bias_high"),
        ("law_coefficients", "input_tokens_low", "input_tokens_high", "input_tokens_high"),
        ("law_coefficients", "output_tokens_low", "output_tokens_high", "output_tokens_high"),
        ("law_coefficients", "batch_low", "batch_high", "batch_high"),
    ],
)
def test_a_value_lies_in_its_range(table: str, low: str, value: str, high: str) -> None:
    outside = [
        row
        for row in TABLES[table]
        if not 0 <= float(row[low]) <= float(row[value]) <= float(row[high])
    ]

    assert outside == []


# Architectures -----------------------------------------------------------------------------------


def attention_params(row: Row) -> int:
    d, heads, kv_heads, head_dim, q_rank, kv_rank, nope, rope, v = (
        int(row[name])
        for name in (
            "hidden", "heads", "kv_heads", "head_dim",
            "q_lora_rank", "kv_lora_rank", "nope_head_dim", "rope_head_dim", "v_head_dim",
        )
    )  # fmt: skip
    if row["attention_kind"] == "MLA":
        query = d * q_rank + q_rank * heads * (nope + rope)
        key_value = d * (kv_rank + rope) + kv_rank * heads * (nope + v)
        return query + key_value + heads * v * d
    query_sized = 3 if row["has_attention_gate"] == "true" else 2  # query, output, and a gate
    return query_sized * d * heads * head_dim + 2 * d * kv_heads * head_dim


def params(row: Row, experts: int) -> int:
    """Count weights with so many experts a layer; biases, norms and routers are left out."""
    layers, dense_layers = int(row["layers"]), int(row["dense_layers"])
    d, matrices = int(row["hidden"]), int(row["ffn_matrices"])
    dense = dense_layers * int(row["dense_ffn"])
    sparse = (layers - dense_layers) * (int(row["ffn"]) * experts + int(row["shared_ffn"]))
    embeddings = 1 if row["has_tied_embeddings"] == "true" else 2
    return (
        int(row["attention_layers"]) * attention_params(row)
        + int(row["ssm_layers"]) * int(row["ssm_params_per_layer"])
        + matrices * d * (dense + sparse)
        + embeddings * int(row["vocab"]) * d
    )


def total_off(row: Row) -> float:
    """Return how far the total count lies from the stated one, as a share of it."""
    return abs(params(row, int(row["experts"])) / 1e9 / float(row["stated_total_params_b"]) - 1)


def active_off(row: Row) -> float:
    """Return how far the count active per token lies from the stated one, as a share of it."""
    active = params(row, int(row["active_experts"]))
    return abs(active / 1e9 / float(row["stated_active_params_b"]) - 1)


def is_confirmed(row: Row) -> bool:
    if row["params_note"]:
        return total_off(row) <= EXPLAINED_TOTAL_FRAC and active_off(row) <= EXPLAINED_ACTIVE_FRAC
    return max(total_off(row), active_off(row)) <= SURE_FRAC


def test_llama_3_1_8b_counts_by_hand() -> None:
    attention = 32 * (2 * 4096 * 4096 + 2 * 4096 * 8 * 128)
    ffn = 32 * 3 * 4096 * 14336
    embeddings = 2 * 128256 * 4096

    assert params(ARCHITECTURES["meta-llama/Llama-3.1-8B"], experts=0) == (
        attention + ffn + embeddings
    )


def test_deepseek_v3_counts_by_hand() -> None:
    query = 7168 * 1536 + 1536 * 128 * (128 + 64)
    key_value = 7168 * (512 + 64) + 512 * 128 * (128 + 128)
    attention = 61 * (query + key_value + 128 * 128 * 7168)
    ffn = 3 * 7168 * (3 * 18432 + 58 * (256 * 2048 + 2048))
    embeddings = 2 * 129280 * 7168

    assert params(ARCHITECTURES["deepseek-ai/DeepSeek-V3"], experts=256) == (
        attention + ffn + embeddings
    )


def test_there_are_at_least_sixty_architectures() -> None:
    assert len(ARCHITECTURES) >= 60


@pytest.mark.parametrize("architecture_id", ARCHITECTURES)
def test_the_shape_gives_the_stated_parameter_counts(architecture_id: str) -> None:
    row = ARCHITECTURES[architecture_id]

    assert is_confirmed(row), f"{total_off(row):.1%} and {active_off(row):.1%} off"


@pytest.mark.parametrize("architecture_id", ARCHITECTURES)
def test_a_reason_stands_exactly_where_a_count_differs(architecture_id: str) -> None:
    row = ARCHITECTURES[architecture_id]

    assert bool(row["params_note"]) == (max(total_off(row), active_off(row)) > SURE_FRAC)


@pytest.mark.parametrize(
    "architecture_id", [name for name, row in ARCHITECTURES.items() if row["ffn"] != "0"]
)
def test_a_row_with_a_doubled_ffn_is_caught(architecture_id: str) -> None:
    row = ARCHITECTURES[architecture_id]
    doubled = {name: str(2 * int(row[name])) for name in ("ffn", "dense_ffn")}

    assert not is_confirmed(row | doubled)


def test_a_falcon_with_as_many_kv_heads_as_heads_is_caught() -> None:
    falcon = ARCHITECTURES["tiiuae/falcon-7b"] | {"kv_heads": "71"}

    assert not is_confirmed(falcon)


@pytest.mark.parametrize(
    "architecture_id", [name for name, row in ARCHITECTURES.items() if row["ssm_layers"] == "0"]
)
def test_the_kinds_agree_with_the_numbers(architecture_id: str) -> None:
    row = ARCHITECTURES[architecture_id]
    heads, kv_heads = int(row["heads"]), int(row["kv_heads"])
    by_heads = "MHA" if kv_heads == heads else "MQA" if kv_heads == 1 else "GQA"
    has_latent, has_experts = int(row["kv_lora_rank"]) > 0, int(row["experts"]) > 0

    assert row["attention_kind"] == ("MLA" if has_latent else by_heads)
    assert (row["architecture_class"] == "mla") == has_latent
    assert (row["architecture_class"] == "moe") == (has_experts and not has_latent)
    assert row["attention_layers"] == row["layers"]
    assert (row["ssm_params_per_layer"], row["ssm_state_bytes"]) == ("0", "0")
    if not has_experts:
        assert (row["dense_layers"], row["dense_ffn"]) == (row["layers"], row["ffn"])


@pytest.mark.parametrize(
    "architecture_id", [name for name, row in ARCHITECTURES.items() if row["ssm_layers"] != "0"]
)
def test_a_row_with_layers_that_keep_a_state_is_a_hybrid(architecture_id: str) -> None:
    row = ARCHITECTURES[architecture_id]
    attention, states, layers = (
        int(row[name]) for name in ("attention_layers", "ssm_layers", "layers")
    )

    assert row["architecture_class"] == "hybrid"
    assert (row["attention_kind"] == "none") == (attention == 0)
    assert attention + states <= layers
    assert int(row["dense_layers"]) <= layers
    assert min(int(row["ssm_params_per_layer"]), int(row["ssm_state_bytes"])) > 0


def test_there_are_hybrids_of_three_kinds() -> None:
    hybrids = [row for row in ARCHITECTURES.values() if row["architecture_class"] == "hybrid"]

    assert {row["family"] for row in hybrids} == {
        "Qwen3-Next", "Qwen3.5", "Qwen3.6", "Nemotron-H", "Falcon-Mamba",
    }  # fmt: skip


def test_qwen3_next_counts_by_hand() -> None:
    key, value = 16 * 128, 32 * 128
    delta = 2048 * (2 * key + 2 * value + 2 * 32) + value * 2048  # q, k, v, z, b, a and output
    delta += 4 * (2 * key + value) + 2 * 32 + 128  # convolution, decay and step, norm
    attention = 2048 * (3 * 16 * 256 + 2 * 2 * 256)  # query, gate and output, key and value
    experts = 3 * 2048 * (512 * 512 + 512)
    embeddings = 2 * 151936 * 2048

    assert params(ARCHITECTURES["Qwen/Qwen3-Next-80B-A3B-Instruct"], experts=512) == (
        36 * delta + 12 * attention + 48 * experts + embeddings
    )


def test_falcon_mamba_counts_by_hand() -> None:
    hidden, inner, state, rank, kernel = 4096, 8192, 16, 256, 4
    projections = 3 * hidden * inner + inner * (rank + 2 * state) + rank * inner
    per_channel = kernel + 1 + 1 + state + 1  # convolution and its bias, step, A, D

    assert params(ARCHITECTURES["tiiuae/falcon-mamba-7b"], experts=0) == (
        64 * (projections + inner * per_channel) + 2 * 65024 * hidden
    )


def test_nemotron_3_nano_counts_by_hand() -> None:
    inner, conv = 64 * 64, 64 * 64 + 2 * 8 * 128
    mamba = 2688 * (inner + conv + 64) + inner * 2688 + 4 * conv + inner + 3 * 64
    attention = 2688 * (2 * 32 * 128 + 2 * 2 * 128)
    experts = 2 * 2688 * (128 * 1856 + 3712)

    assert params(ARCHITECTURES["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B"], experts=128) == (
        23 * mamba + 6 * attention + 23 * experts + 2 * 131072 * 2688
    )


def test_mixed_precision_is_the_mean_over_the_checkpoint() -> None:
    row = ARCHITECTURES["openai/gpt-oss-120b"]
    experts = 36 * 128 * 3 * 2880 * 2880
    others = params(row, experts=128) - experts
    size_bytes = experts * 4.25 / 8 + others * 2

    assert float(row["bytes_per_weight"]) == pytest.approx(
        size_bytes / (experts + others), abs=5e-4
    )


# Models, aliases, providers ----------------------------------------------------------------------


def test_a_model_has_a_shape_of_its_own_or_a_tier_of_stand_ins() -> None:
    both_or_neither = [
        row
        for row in MODELS.values()
        if (row["architecture_id"] == "") == (row["stand_in_tier"] == "")
    ]

    assert both_or_neither == []


def test_every_architecture_is_an_open_model_under_its_own_name() -> None:
    own = {row["architecture_id"]: row for row in MODELS.values() if row["architecture_id"]}

    assert own.keys() == ARCHITECTURES.keys()
    assert {(row["model_id"], row["is_open"]) for row in own.values()} == {
        (architecture_id, "true") for architecture_id in ARCHITECTURES
    }


def test_a_model_has_the_context_of_its_architecture() -> None:
    contexts = {name: row["context_tokens"] for name, row in ARCHITECTURES.items()}

    assert {name: MODELS[name]["context_tokens"] for name in contexts} == contexts


def test_model_ids_are_distinct_without_regard_to_case() -> None:
    assert repeated(model_id.lower() for model_id in MODELS) == []


def test_the_maker_of_a_closed_model_is_a_provider() -> None:
    makers = {row["developer"] for row in MODELS.values() if row["is_open"] == "false"}

    assert makers <= {row["provider"] for row in TABLES["providers"]}


def test_every_alias_is_lower_case_and_names_a_model() -> None:
    wrong = [
        row
        for row in TABLES["model_aliases"]
        if row["alias"] != row["alias"].lower().strip() or row["model_id"] not in MODELS
    ]

    assert wrong == []


def test_no_alias_is_the_id_of_a_model() -> None:
    ids = {model_id.lower() for model_id in MODELS}

    assert [row for row in TABLES["model_aliases"] if row["alias"] in ids] == []


def test_an_alias_means_one_model_at_a_time() -> None:
    spans: dict[str, list[tuple[str, str]]] = {}
    for row in TABLES["model_aliases"]:
        span = (row["valid_from"] or "0000-01-01", row["valid_to"] or "9999-12-31")
        spans.setdefault(row["alias"], []).append(span)

    overlapping = {
        alias
        for alias, several in spans.items()
        for first, second in combinations(sorted(several), 2)
        if second[0] < first[1]
    }

    assert overlapping == set()
    assert [span for several in spans.values() for span in several if span[0] >= span[1]] == []


@pytest.mark.parametrize(
    ("alias", "model_id"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-4-sonnet", "claude-sonnet-4"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-5-mini", "gpt-5-mini"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("llama3.1:8b", "meta-llama/Llama-3.1-8B"),
        ("llama-3.3-70b-versatile", "meta-llama/Llama-3.3-70B-Instruct"),
        ("accounts/fireworks/models/deepseek-v3p1", "deepseek-ai/DeepSeek-V3.1"),
    ],
)
def test_names_as_hosts_write_them_are_known(alias: str, model_id: str) -> None:
    assert [row["model_id"] for row in TABLES["model_aliases"] if row["alias"] == alias] == [
        model_id
    ]


def test_deepseek_chat_meant_another_model_each_year() -> None:
    def meant(day: str) -> list[str]:
        return [
            row["model_id"]
            for row in TABLES["model_aliases"]
            if row["alias"] == "deepseek-chat" and row["valid_from"] <= day < row["valid_to"]
        ]

    assert meant("2025-03-01") == ["deepseek-ai/DeepSeek-V3"]
    assert meant("2026-03-01") == ["deepseek-ai/DeepSeek-V3.2"]
    assert meant("2026-08-01") == []


def test_every_tier_has_stand_ins_of_known_shape() -> None:
    tiers = {row["stand_in_tier"] for row in TABLES["stand_ins"]}
    shapes = {row["architecture_id"] for row in TABLES["stand_ins"]}

    assert tiers == {"small", "middle", "large"}
    assert shapes <= ARCHITECTURES.keys()


def test_stand_ins_above_200_billion_weights_are_served_in_8_bits() -> None:
    for row in TABLES["stand_ins"]:
        own = ARCHITECTURES[row["architecture_id"]]
        is_large = float(own["stated_total_params_b"]) > 200

        assert row["bytes_per_weight"] == ("1" if is_large else own["bytes_per_weight"])


# Laws, ranges, factors ---------------------------------------------------------------------------


def test_every_coefficient_set_belongs_to_a_known_gpu() -> None:
    gpus = {row["gpu"] for row in TABLES["gpus"]}

    assert {row["gpu"] for row in TABLES["law_coefficients"]} <= gpus


def test_every_gpu_with_coefficients_has_one_default_set() -> None:
    sets = TABLES["law_coefficients"]
    defaults = [row["gpu"] for row in sets if row["is_default"] == "true"]

    assert sorted(defaults) == sorted({row["gpu"] for row in sets})


def test_the_default_coefficients_are_in_joules() -> None:
    [default] = [
        row for row in TABLES["law_coefficients"] if row["coefficient_set_id"] == "h100-sxm-vllm-1"
    ]

    assert float(default["a_j_per_flop"]) == pytest.approx(1.199 * 1e-12)
    assert float(default["b_j_per_kv_byte"]) == pytest.approx(255.1 * 1e-12)
    assert float(default["c_j_per_weight_byte"]) == pytest.approx(139.4 * 1e-12)
    assert float(default["s_j_per_layer_step"]) == 0.0227
    assert default["is_default"] == "true"


def test_the_prices_of_work_are_of_the_same_order_on_every_gpu() -> None:
    for row in TABLES["law_coefficients"]:
        assert 0.5e-12 < float(row["a_j_per_flop"]) < 5e-12
        assert 50e-12 < float(row["b_j_per_kv_byte"]) < 1000e-12
        assert 50e-12 < float(row["c_j_per_weight_byte"]) < 500e-12
        assert 0 <= float(row["s_j_per_layer_step"]) < 0.1


def test_a_bias_belongs_to_any_set_or_to_a_known_one() -> None:
    known = {row["coefficient_set_id"] for row in TABLES["law_coefficients"]}

    assert {row["coefficient_set_id"] for row in TABLES["bias_factors"]} <= known | {"*"}


def test_every_class_of_architecture_has_a_bias_for_any_set() -> None:
    anywhere = {
        row["architecture_class"]
        for row in TABLES["bias_factors"]
        if row["coefficient_set_id"] == "*"
    }

    assert anywhere == {"dense", "moe", "mla", "window", "hybrid"}


def test_a_worse_grade_has_a_wider_range_and_unknown_has_none() -> None:
    grades = {row["evidence_grade"]: row for row in TABLES["grade_ranges"]}
    ranges = [(float(grades[g]["low_ratio"]), float(grades[g]["high_ratio"])) for g in "ABCD"]

    assert [low for low, _ in ranges] == sorted((low for low, _ in ranges), reverse=True)
    assert [high for _, high in ranges] == sorted(high for _, high in ranges)
    assert all(low < 1 < high for low, high in ranges)
    assert (grades["U"]["low_ratio"], grades["U"]["high_ratio"]) == ("", "")


def test_the_reference_of_the_variants_is_llama_as_the_catalog_has_it() -> None:
    [reference] = [r for r in TABLES["architecture_variants"] if r["lever"] == "reference"]
    llama = ARCHITECTURES["meta-llama/Llama-3.1-8B"]
    shape = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "ffn_matrices", "vocab")

    assert [reference[name] for name in shape] == [llama[name] for name in shape]
    assert (reference["bytes_per_weight"], reference["bytes_per_kv_element"]) == ("2", "2")


def test_a_variant_differs_from_the_reference_by_its_lever_alone() -> None:
    rows = {row["variant"]: row for row in TABLES["architecture_variants"]}
    moved = {
        "KV heads": {
            *("kv_heads", "q_lora_rank", "kv_lora_rank", "nope_head_dim", "rope_head_dim"),
            *("v_head_dim", "architecture_class"),
        },
        "depth and width": {"layers", "hidden", "heads", "ffn"},
        "precision": {"bytes_per_weight", "bytes_per_kv_element"},
    }
    words = {"variant", "lever", "step", "meaning", "source"}

    for row in rows.values():
        if row["lever"] != "reference":
            changed = {name for name in row if row[name] != rows["gqa_8"][name]} - words
            assert changed and changed <= moved[row["lever"]]


def test_the_assumptions_are_those_the_pipeline_asks_for() -> None:
    fixed = {
        "batch_api", "batch_self_hosted", "batch_one_user", "host_ratio", "idle_ratio",
        "pue_ratio", "electricity_usd_per_kwh", "gpu_memory_usable_frac",
        "weights_headroom_frac", "material_energy_frac", "grade_a_half_width_frac",
        "latency_known_frac", "comparison_models_per_size", "comparison_requests_least",
        "input_tokenizer_factor",
        "latency_most_s", "running_requests_most_s",
        "output_most_tokens",
        "shared_input_frac_batch_extraction", "shared_input_frac_rag",
        "shared_input_frac_summarization",
        "cache_life_s", "compaction_kept_frac", "within_noise_probability_frac",
        "anomaly_score", "anomaly_spread_frac", "anomaly_material_frac", "anomaly_most_count",
        "forecast_damping_frac", "agentic_task_value_usd",
    }  # fmt: skip
    cache = {f"cache_read_frac_{query_class}" for query_class in QUERY_CLASSES}

    assert {row["assumption"] for row in TABLES["assumptions"]} == fixed | cache


def test_egrid_factors_are_pounds_per_megawatt_hour_converted() -> None:
    grams_per_pound, kwh_per_mwh = 453.59237, 1000
    direct = [row for row in TABLES["grid_factors"] if row["basis"] == "direct"]

    assert {row["zone"] for row in direct} == {"USA", "US-CAMX", "US-RFCE"}
    for row in direct:
        pounds = re.search(r"([\d.]+) lb CO2e", row["source"])
        assert pounds is not None
        assert float(row["carbon_gco2e_per_kwh"]) == pytest.approx(
            float(pounds[1]) * grams_per_pound / kwh_per_mwh, abs=0.05
        )


def test_the_world_has_a_grid_factor() -> None:
    [world] = [row for row in TABLES["grid_factors"] if row["zone"] == "World"]

    assert (world["year"], world["basis"], world["method"]) == ("2024", "life-cycle", "location")
    assert float(world["carbon_gco2e_per_kwh"]) == 473


def test_there_are_exactly_the_eight_query_classes_in_an_order() -> None:
    in_order = sorted(TABLES["query_classes"], key=lambda row: int(row["rule_order"]))

    assert {row["query_class"] for row in in_order} == QUERY_CLASSES
    assert [int(row["rule_order"]) for row in in_order] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [row["query_class"] for row in in_order][-2:] == ["chat", "other"]


def test_every_query_class_has_dispersion_factors_that_lengths_can_have() -> None:
    rows = TABLES["dispersion_factors"]

    assert {row["query_class"] for row in rows} == QUERY_CLASSES
    for row in rows:
        inputs, both, outputs = (
            float(row[name])
            for name in ("input_squared_ratio", "input_output_ratio", "output_squared_ratio")
        )
        assert min(inputs, outputs) >= 1  # E[x²] ≥ E[x]²
        assert both * both <= inputs * outputs  # E[nm]² ≤ E[n²]·E[m²]
