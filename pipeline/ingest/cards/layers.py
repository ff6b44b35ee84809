"""What each layer of a model is: attention or a state, experts or a plain feed-forward network."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pipeline.ingest.cards.reader import Card

_ATTENTION = {
    "attention",
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "deepseek_sparse_attention",
}
_STATE = {"mamba", "mamba2", "linear_attention"}
_MOST_LAYERS = 10_000
_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}
_STATE_ONLY = {"mamba", "mamba2", "falcon_mamba"}
_BOTH_IN_EACH_LAYER = {"falcon_h1"}


@dataclass(frozen=True)
class Layers:
    """How many layers there are of each kind; a layer may be of several."""

    total: int
    attention: int  # keep a cache of every position
    state: int  # keep a state of one size
    sparse: int  # have experts
    dense: int  # have a plain feed-forward network


def layers_of(card: Card) -> Layers:
    """Return the layers of a model by kind.

    Raises:
        BadInputError: For kinds of layer that a row of the catalog cannot say.
    """
    if card.number("layers") > _MOST_LAYERS:
        raise card.refusal(f"{card.number('layers')} layers; expected {_MOST_LAYERS} at most")
    kinds = _kinds(card)
    if kinds is None:
        total = card.need("layers")
        state, attention = _alike(card, total)
    else:
        total = len(kinds)
        state = sum(kind in _STATE for kind in kinds)
        attention = sum(kind in _ATTENTION for kind in kinds)
    if kinds is not None and {"mlp", "moe"} & set(kinds):
        return Layers(total, attention, state, kinds.count("moe"), kinds.count("mlp"))
    if card.model_type in _STATE_ONLY:
        return Layers(total, attention, state, 0, 0)
    sparse = len(_sparse(card, total)) if card.number("experts") > 1 else 0
    return Layers(total, attention, state, sparse, total - sparse)


def _alike(card: Card, total: int) -> tuple[int, int]:
    """Return the state and the attention layers where all layers are alike."""
    if card.model_type in _STATE_ONLY:
        return total, 0
    return (total, total) if card.model_type in _BOTH_IN_EACH_LAYER else (0, total)


def _kinds(card: Card) -> list[str] | None:
    """Return the kind of every layer, None where all are alike."""
    kinds = _listed_kinds(card)
    if kinds is None:
        return _kinds_by_rule(card)
    unknown = sorted(set(kinds) - _ATTENTION - _STATE - {"mlp", "moe"})
    if unknown:
        raise card.refusal(f"layers of the kind {', '.join(unknown)} cannot be counted")
    told = card.number("layers")
    if told and told != len(kinds) and "moe" not in kinds and "mlp" not in kinds:
        raise card.refusal(f"{told} layers, but kinds for {len(kinds)}")
    return kinds


def _listed_kinds(card: Card) -> list[str] | None:
    pattern = card.get("hybrid_override_pattern")
    if isinstance(pattern, str) and pattern:
        return [_LETTERS.get(letter, letter) for letter in pattern if letter != "|"]
    for key in ("layers_block_type", "layer_types"):
        kinds = card.get(key)
        if isinstance(kinds, list) and kinds:
            return [str(kind) for kind in kinds]
    flags = card.get("attn_type_list")
    if isinstance(flags, list) and flags:
        return ["attention" if flag == 1 else "linear_attention" for flag in flags]
    return None


def _kinds_by_rule(card: Card) -> list[str] | None:
    """Return the kinds where the file gives a period or a list of the attention layers."""
    linear = card.get("linear_attn_config")
    if isinstance(linear, dict):
        # this list counts from 1
        return _kinds_at(card, {each - 1 for each in linear.get("full_attn_layers") or ()})
    if isinstance(card.get("attn_layer_indices"), list):
        return _kinds_at(card, card.get("attn_layer_indices"))
    if card.get("attn_layer_period") or card.model_type == "jamba":
        period, offset = _int(card.get("attn_layer_period"), 8), card.get("attn_layer_offset")
        return _kinds_at(card, range(_int(offset, 4), card.need("layers"), period))
    interval = card.number("attention_interval")
    if interval > 1:
        return _kinds_at(card, range(interval - 1, card.need("layers"), interval))
    return None


def _kinds_at(card: Card, attention: Iterable[int]) -> list[str]:
    where = set(attention)
    return ["attention" if i in where else "linear_attention" for i in range(card.need("layers"))]


def _sparse(card: Card, total: int) -> set[int]:
    """Return the layers that have experts, counted from 0."""
    listed = _listed_sparse(card)
    if listed is not None:
        return listed
    first = card.number("first_dense_layers") or _int(card.get("moe_layer_start_index"), 0)
    last = _int(card.get("moe_layer_end_index"), -1)
    step = max(
        _int(card.get("decoder_sparse_step"), 1),
        _int(card.get("interleave_moe_layer_step"), 1),
        _int(card.get("moe_layer_interval"), 1),
    )
    where = set(range(first, min(last + 1, total) if last >= 0 else total))
    if step > 1:
        where &= set(range(step - 1, total, step))
    frequency = _int(card.get("moe_layer_freq"), 1)
    if frequency > 1:
        where &= set(range(0, total, frequency))
    if card.get("expert_layer_period"):
        offset = _int(card.get("expert_layer_offset"), 0)
        where &= set(range(offset, total, card.get("expert_layer_period")))
    return where - set(card.get("mlp_only_layers") or ())


def _listed_sparse(card: Card) -> set[int] | None:
    """Return the layers with experts where the file lists them."""
    kinds = card.get("mlp_layer_types")
    if isinstance(kinds, list):
        return {i for i, kind in enumerate(kinds) if kind == "sparse"}
    flags = card.get("moe_layer_freq")
    if isinstance(flags, list):
        return {i for i, flag in enumerate(flags) if flag}
    listed = card.get("moe_layers")
    if isinstance(listed, list) and listed:
        return set(listed)
    text = card.get("moe_layers_enum")
    if isinstance(text, str) and text:
        return {int(each) for each in text.split(",")}
    return None


def _int(value: Any, default: int) -> int:  # noqa: ANN401  # JSON may be anything
    return value if isinstance(value, int) and not isinstance(value, bool) else default
