"""What one architecture works with: weights, pairs, cache and state, each law written out."""

from dataclasses import dataclass
from typing import Any

from pipeline.explain.lines import Fact, Line, step
from pipeline.explain.warehouse_rows import Row
from pipeline.explain.written import Term, Written, as_number, number, unless
from pipeline.laws import work
from pipeline.laws.work import Number

_SYMBOLS = (
    ("layers", "layers", "L"),
    ("attention_layers", "layers with attention", "La"),
    ("hidden", "hidden", "d"),
    ("heads", "heads", "h"),
    ("kv_heads", "KV heads", "g"),
    ("head_dim", "head size", "dh"),
    ("ffn", "FFN", "f"),
    ("ffn_matrices", "FFN matrices", "μ"),
    ("dense_layers", "dense layers", "Ld"),
    ("dense_ffn", "dense FFN", "fd"),
    ("experts", "experts", "E"),
    ("active_experts", "of them active", "e"),
    ("shared_ffn", "shared FFN", "fs"),
    ("q_lora_rank", "query rank", "rq"),
    ("kv_lora_rank", "KV rank", "rk"),
    ("nope_head_dim", "head size without position", "dn"),
    ("rope_head_dim", "head size with position", "dr"),
    ("v_head_dim", "value head size", "dv"),
    ("ssm_layers", "layers with a state", "Ls"),
    ("ssm_params_per_layer", "weights of such a layer", "ps"),
    ("ssm_state_bytes", "bytes of its state", "zs"),
    ("vocab", "vocabulary", "V"),
)


@dataclass(frozen=True)
class Sizes:
    """The numbers that turn tokens into work, under their short names, and how they came about."""

    layers: Term
    body_params: Term
    head_params: Term
    flop_per_pair: Term
    kv_bytes: Term
    state_bytes: Term
    weight_bytes: Term
    lines: tuple[Line, ...]


def sizes_of(shape: Row, bytes_per_weight: float, batch: float) -> Sizes:
    """Return what an architecture works with at a batch.

    Args:
        shape: Its row of stg_architectures.
        bytes_per_weight: Bytes of a weight as it is served.
        batch: Requests served together, on which the experts touched depend.
    """
    of = {name: unless(0, _symbol(shape, name, sign), shape[name]) for name, _, sign in _SYMBOLS}
    mixing = _mixing(of, shape)
    body = mixing + _ffn(of, of["active_experts"])
    lines: list[Line] = [
        Fact("architecture_id", "architecture", shape["architecture_id"]),
        Fact("shape", "shape", _shape_text(shape)),
        step("body_params", "P, weights that a token passes", body, "weights"),
    ]
    head = work.head_params(of["vocab"], of["hidden"])
    lines.append(step("head_params", "Ph, weights of the head", head, "weights"))
    pair, position = _attention(of, shape)
    element = shape["bytes_per_kv_element"]
    lines.append(Fact("bytes_per_kv_element", "x, bytes a cache element", element))
    lines.append(step("attention_flop_per_pair", "Q, FLOP a pair of tokens", pair, "FLOP"))
    lines.append(step("kv_bytes_per_position", "KV, cache bytes a position", position, "bytes"))
    state = work.state_bytes(of["ssm_layers"], of["ssm_state_bytes"])
    if shape["ssm_layers"]:
        lines.append(step("state_bytes", "Z, bytes of the states of a request", state, "bytes"))
    named_head = number("Ph", as_number(head))
    in_weights = number("P", as_number(body))
    if shape["experts"]:
        touched = work.experts_touched(of["experts"], of["active_experts"], number("B", batch))
        lines.append(step("experts_touched", "X, experts touched in a layer", touched, ""))
        ffn = _ffn(of, _in_full("X", as_number(touched)))
        lines.append(step("mixing_params", "M, weights outside the FFN", mixing, "weights"))
        in_weights = number("M", as_number(mixing)) + ffn
    read = work.weight_bytes(number("w", bytes_per_weight), in_weights + named_head)
    lines.append(step("weight_bytes", "W, weight bytes read in a pass", read, "bytes"))
    return Sizes(
        layers=number("L", shape["layers"]),
        body_params=number("P", as_number(body)),
        head_params=named_head,
        flop_per_pair=unless(0, "Q", as_number(pair)),
        kv_bytes=unless(0, "KV", as_number(position)),
        state_bytes=unless(0, "Z", as_number(state)),
        weight_bytes=number("W", as_number(read)),
        lines=tuple(lines),
    )


def _in_full(symbol: str, value: float) -> Written:
    """Return a number with every digit it has: whole bytes follow from it."""
    return Written(value, symbol, repr(value))


def _symbol(shape: Row, name: str, symbol: str) -> str:
    """Return the sign of a number; layers or widths that are all of their kind share one."""
    same = {"attention_layers": ("layers", "L"), "dense_layers": ("layers", "L")}
    same["dense_ffn"] = ("ffn", "f")
    other, shared = same.get(name, (name, symbol))
    return shared if shape[name] == shape[other] else symbol


def _mixing(of: dict[str, Any], shape: Row) -> Number:
    """Return the weights outside the FFN: attention of its kind, its gate, layers with a state."""
    query: Any = 0
    layers, hidden, heads = of["attention_layers"], of["hidden"], of["heads"]
    if shape["kv_lora_rank"] > 0:
        projection = work.latent_attention_params(
            layers, hidden, heads, of["q_lora_rank"], of["kv_lora_rank"],
            of["nope_head_dim"], of["rope_head_dim"], of["v_head_dim"],
        )  # fmt: skip
        if shape["q_lora_rank"] == 0:
            query = work.latent_query_params(
                layers, hidden, heads, of["nope_head_dim"], of["rope_head_dim"]
            )
    else:
        projection = work.attention_params(layers, hidden, heads, of["kv_heads"], of["head_dim"])
        if shape["has_attention_gate"]:
            query = work.attention_gate_params(layers, hidden, heads, of["head_dim"])
    state = work.state_layer_params(of["ssm_layers"], of["ssm_params_per_layer"])
    return projection + query + state


def _ffn(of: dict[str, Any], experts_used: Term) -> Number:
    return work.ffn_params(
        of["layers"], of["dense_layers"], of["hidden"], of["ffn_matrices"], of["dense_ffn"],
        of["ffn"], experts_used, of["shared_ffn"],
    )  # fmt: skip


def _attention(of: dict[str, Any], shape: Row) -> tuple[Any, Any]:
    """Return the FLOP of a pair and the cache bytes of a position."""
    layers, heads = of["attention_layers"], of["heads"]
    element = number("x", shape["bytes_per_kv_element"])
    if shape["kv_lora_rank"] > 0:
        rank, rope = of["kv_lora_rank"], of["rope_head_dim"]
        return (
            work.latent_attention_flop_per_pair(layers, heads, rank, rope),
            work.latent_kv_bytes_per_position(element, layers, rank, rope),
        )
    return (
        work.attention_flop_per_pair(layers, heads, of["head_dim"]),
        work.kv_bytes_per_position(element, layers, of["kv_heads"], of["head_dim"]),
    )


def _shape_text(shape: Row) -> str:
    """Return the shape in words: what there is, under the signs that the formulas use."""
    said = [
        f"{words} {sign} {shape[name]:,}"
        for name, words, sign in _SYMBOLS
        if shape[name] and _symbol(shape, name, sign) == sign
    ]
    return " · ".join([f"attention {shape['attention_kind']}", *said])
