"""From a configuration as Hugging Face files it to one architecture record of the catalog."""

from collections.abc import Mapping
from typing import Any

from pipeline.ingest.cards.layers import Layers, layers_of
from pipeline.ingest.cards.precision import bytes_per_kv_element, bytes_per_weight
from pipeline.ingest.cards.reader import Card
from pipeline.ingest.cards.state import state_element_bytes, state_layer

Record = dict[str, Any]

# What a row of the catalog cannot say. Reading on would give a number that looks right.
_REFUSED = {
    "block_configs": "every block has sizes of its own (block_configs)",
    "compress_ratios": "its attention is compressed from layer to layer (compress_ratios)",
    "global_head_dim": "its full-attention layers have a head size of their own (global_head_dim)",
    "swa_num_key_value_heads": "its window layers have heads of their own (swa_…)",
    "routed_expert_hidden_size": "its experts work at a width of their own, behind gates that are "
    "not counted (routed_expert_hidden_size)",
    "is_encoder_decoder": "it has an encoder beside its decoder (is_encoder_decoder)",
    "hidden_size_per_layer_input": "it has an embedding for every layer "
    "(hidden_size_per_layer_input)",
    "num_kv_shared_layers": "its layers share caches (num_kv_shared_layers)",
    "cross_attention_layers": "it has cross-attention layers (cross_attention_layers)",
}
_PLAIN_ACTIVATIONS = {"relu2", "xielu"}


def architecture_from_config(config: Mapping[str, Any], model_id: str) -> Record:
    """Return the architecture record that a configuration describes.

    Args:
        config: The parsed config.json; its quantization_config may come from a file beside it.
        model_id: The name that the record gets.

    Raises:
        BadInputError: Where a number is missing, with the spellings tried, or where the record
            cannot say what the configuration does.
    """
    card = Card(config, model_id)
    try:
        return _record(card)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise card.refusal(f"a value is not of the form it has elsewhere ({error})") from error


def _record(card: Card) -> Record:
    _refuse(card)
    layers = layers_of(card)
    record: Record = {
        "architecture_id": card.model_id,
        "family": card.model_type or "unnamed",
        "layers": layers.total,
        "hidden": card.need("hidden"),
        "vocab": card.need("vocab"),
        "has_tied_embeddings": _is_tied(card),
        **_attention(card, layers),
        **_ffn(card, layers),
        **_state(card, layers),
        "bytes_per_kv_element": bytes_per_kv_element(card),
        "context_tokens": card.number("context_tokens") or None,
    }
    record["architecture_class"] = _class(card, record)
    return record | {"bytes_per_weight": bytes_per_weight(card, record)}


def notes_on(config: Mapping[str, Any], model_id: str) -> list[str]:
    """Return what the record of a configuration leaves out or takes for granted."""
    card = Card(config, model_id)
    said = {
        "the file does not say whether embedding and output head are one": (
            card.get("tie_word_embeddings") is None
        ),
        "windows and sparse attention are counted as full attention": has_window(card)
        or bool(card.get("attention_chunk_size") or card.get("index_topk"))
        or isinstance(card.get("sparse_attention_config"), Mapping),
        "only the language model is counted, not what sees or hears": card.is_nested,
        "layers that predict further tokens are not counted": bool(
            card.get("num_nextn_predict_layers") or card.get("num_mtp_modules")
            or card.get("mtp_num_hidden_layers")
        ),
        "a checkpoint of 32 bits is taken as served in 16": "32" in str(
            card.get("torch_dtype") or card.get("dtype") or ""
        ),
        "the name speaks of fewer bits than the file; put hf_quant_config.json beside it": (
            any(word in model_id.lower() for word in ("fp8", "fp4", "int4", "awq", "gptq"))
            and not isinstance(card.get("quantization_config"), Mapping)
        ),
    }  # fmt: skip
    return [note for note, is_so in said.items() if is_so]


def has_window(card: Card) -> bool:
    """Return whether some layers look back over a part of the context only."""
    window = card.number("window")
    if card.get("use_sliding_window") is False or not window:
        return False
    if (card.get("max_window_layers") or 0) >= card.number("layers") > 0:
        return False
    kinds = card.get("layer_types")
    if isinstance(kinds, list) and not {"sliding_attention", "chunked_attention"} & set(kinds):
        return False
    return window < (card.number("context_tokens") or window + 1)


def _refuse(card: Card) -> None:
    for key, reason in _REFUSED.items():
        if card.get(key):
            raise card.refusal(reason)
    if card.model_type.startswith("rwkv"):
        raise card.refusal("a recurrent model of the RWKV kind, whose layers cannot be counted")
    projected = card.get("word_embed_proj_dim")
    if projected and projected != card.need("hidden"):
        raise card.refusal("its embedding has a width of its own (word_embed_proj_dim)")


def _is_tied(card: Card) -> bool:
    for values in (card.outer, card.values):
        if values.get("tie_word_embeddings") is not None:
            return bool(values["tie_word_embeddings"])
    return card.default("has_tied_embeddings") == "true"


def _attention(card: Card, layers: Layers) -> Record:
    nothing = dict.fromkeys(
        ("heads", "kv_heads", "head_dim", "q_lora_rank", "kv_lora_rank", "nope_head_dim",
         "rope_head_dim", "v_head_dim"), 0,
    )  # fmt: skip
    said: Record = {"attention_layers": layers.attention, "has_attention_gate": False, **nothing}
    if layers.attention == 0:
        return {**said, "attention_kind": "none"}
    heads = card.need("heads")
    if card.number("kv_lora_rank"):
        return {**said, **_latent(card, heads)}
    kv_heads, head_dim = _kv_heads(card, heads), _head_dim(card, heads)
    if card.number("v_head_dim") not in (0, head_dim):
        raise card.refusal("keys and values differ in head size (v_head_dim)")
    gate = "attn_output_gate" if card.get("attn_output_gate") is not None else (
        "attention_output_gate"
    )  # fmt: skip
    return {
        **said,
        "attention_kind": "MHA" if kv_heads == heads else "MQA" if kv_heads == 1 else "GQA",
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "has_attention_gate": card.flag(gate, "has_attention_gate"),
    }


def _latent(card: Card, heads: int) -> Record:
    if card.get("mla_use_output_gate"):
        raise card.refusal("its latent attention has an output gate (mla_use_output_gate)")
    widths = {name: card.need(name) for name in ("nope_head_dim", "rope_head_dim", "v_head_dim")}
    return {
        **widths,
        "attention_kind": "MLA",
        "heads": heads,
        "kv_heads": heads,
        "head_dim": widths["nope_head_dim"] + widths["rope_head_dim"],
        "q_lora_rank": card.number("q_lora_rank"),
        "kv_lora_rank": card.number("kv_lora_rank"),
    }


def _kv_heads(card: Card, heads: int) -> int:
    """Return the KV heads; `multi_query` wins over a number, save where Falcon has groups."""
    if not card.get("new_decoder_architecture") and card.flag("multi_query", "multi_query"):
        return 1
    if card.get("multi_query_attention") is False:
        return heads
    kv_heads = card.number("kv_heads") or heads
    if heads % kv_heads:
        raise card.refusal(f"{heads} attention heads cannot share {kv_heads} KV heads")
    return kv_heads


def _head_dim(card: Card, heads: int) -> int:
    head_dim, hidden = card.number("head_dim"), card.need("hidden")
    if head_dim == 0 and hidden % heads:
        raise card.refusal(f"no head size, and hidden size {hidden} is no multiple of {heads}")
    return head_dim or hidden // heads


def _ffn(card: Card, layers: Layers) -> Record:
    matrices = _ffn_matrices(card)
    said: Record = {"ffn_matrices": matrices, "experts": 0, "active_experts": 0, "shared_ffn": 0}
    if layers.sparse == 0:
        width = _dense_width(card) if layers.dense else 0
        return {**said, "ffn": width, "dense_layers": layers.dense, "dense_ffn": width}
    without = layers.total - layers.sparse
    if layers.dense not in (0, without):
        raise card.refusal("layers with experts, with a plain network and with neither are mixed")
    width = card.number("expert_ffn") or card.need("ffn")
    shared = card.number("shared_ffn") or card.number("shared_experts") * width
    dense = (card.number("dense_ffn") or card.need("ffn")) if layers.dense else 0
    return {
        **said,
        **_at_full_width(card, width, shared, matrices),
        "dense_layers": without,
        "dense_ffn": dense,
        "experts": card.number("experts"),
        "active_experts": card.need("active_experts"),
    }


def _at_full_width(card: Card, width: int, shared: int, matrices: int) -> Record:
    """Return expert widths; experts behind a narrow projection as the width of as many weights."""
    latent, hidden = card.number("expert_latent"), card.need("hidden")
    if not latent:
        return {"ffn": width, "shared_ffn": shared}
    if width * latent % hidden or 2 * latent % matrices:
        raise card.refusal("its experts work at a width of their own (moe_latent_size)")
    return {"ffn": width * latent // hidden, "shared_ffn": shared + 2 * latent // matrices}


def _dense_width(card: Card) -> int:
    if card.model_type == "granitemoehybrid":  # without experts, the shared one is the network
        return card.number("shared_ffn") or card.need("ffn")
    if card.number("ffn") == 0 and card.default("ffn_per_hidden"):
        return int(card.default("ffn_per_hidden") or 0) * card.need("hidden")
    width = card.need("ffn")
    return width // 2 if card.model_type == "qwen" else width  # Qwen 1 counts both halves


def _ffn_matrices(card: Card) -> int:
    activation = card.get("mlp_hidden_act") or card.get("hidden_act")
    is_plain = activation in _PLAIN_ACTIVATIONS or card.get("mlp_type") == "default"
    return 2 if is_plain else int(card.default("ffn_matrices") or 3)


def _state(card: Card, layers: Layers) -> Record:
    if layers.state == 0:
        return {"ssm_layers": 0, "ssm_params_per_layer": 0, "ssm_state_bytes": 0}
    layer = state_layer(card)
    return {
        "ssm_layers": layers.state,
        "ssm_params_per_layer": layer.params,
        "ssm_state_bytes": layer.state_bytes(state_element_bytes(card)),
    }


def _class(card: Card, record: Record) -> str:
    plain = "window" if has_window(card) else "dense"
    if record["ssm_layers"]:
        return "hybrid"
    if record["kv_lora_rank"]:
        return "mla"
    return "moe" if record["experts"] else plain
