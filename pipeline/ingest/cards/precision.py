"""Bytes per weight: the mean over a checkpoint whose parts are kept at different widths."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.ingest.cards.counts import weights
from pipeline.ingest.cards.reader import Card

_PLAIN_BITS = 16  # also of checkpoints in 32 bits, which servers load in 16
# Bits of a weight with its scales: a byte for 32 in mxfp4, a byte for 16 in nvfp4.
_BITS = {
    "fp8": 8.0, "fbgemm_fp8": 8.0, "fp8_pb_wo": 8.0, "fp8_per_channel_per_token": 8.0,
    "mxfp8": 8.25, "int8_sq": 8.0, "w8a16": 8.0, "w8a8_sq_per_channel": 8.0,
    "mxfp4": 4.25, "nvfp4": 4.5, "nvfp4_awq": 4.5, "w4a16_nvfp4": 4.5,
    "w4a16_awq": 4.125, "w4a8_awq": 4.125, "int4_awq": 4.125,
}  # fmt: skip
# How the modules of a part are called.
_PARTS = {
    "experts": re.compile(r"experts(?!_gate)"),
    "plain": re.compile(r"shared_expert|mlp|feed_forward|ffn"),
    "mixing": re.compile(r"attn|attention|mixer|mamba"),
    "embeddings": re.compile(r"lm_head|embed|^head$"),
}
# Module names that take in a whole part; a norm or router inside it does not.
_WHOLE = {
    "experts": re.compile(r"(?<!shared_)experts?$"),
    "plain": re.compile(r"shared_experts?$|mlp$|feed_forward$|mlp.*_proj$"),
    "mixing": re.compile(r"(attn|attention|mamba)$"),
}

Scheme = tuple[float, list[str] | None]  # bits, and the modules at that width; None: all


def bytes_per_weight(card: Card, record: Mapping[str, Any]) -> float:
    """Return the mean over the checkpoint, to three decimals.

    Raises:
        BadInputError: For a quantisation that is not known.
    """
    quant = card.get("quantization_config") or card.get("compression_config")
    dtype = str(card.get("dtype") or card.get("torch_dtype") or "")
    if not isinstance(quant, Mapping):
        return 1.0 if "float8" in dtype else _PLAIN_BITS / 8
    schemes, left = _schemes(card, quant), _left_out(quant, record["layers"])
    bits = {part: _bits_of(part, schemes, left) for part in _PARTS}
    count = weights(record)
    held: dict[str, int] = {part: getattr(count, part) for part in _PARTS}
    return round(sum(bits[part] * held[part] for part in held) / count.total / 8, 3)


def bytes_per_kv_element(card: Card) -> float:
    """Return 1 where the configuration keeps the cache in 8 bits, else 2."""
    quant = card.get("quantization_config")
    if not isinstance(quant, Mapping):
        return 2.0
    told = quant.get("kv_cache_quant_algo") or quant.get("kv_cache_scheme")
    bits = told.get("num_bits") if isinstance(told, Mapping) else told
    return 1.0 if str(bits).upper() in ("8", "FP8", "INT8") else 2.0


def _schemes(card: Card, quant: Mapping[str, Any]) -> list[Scheme]:
    groups = quant.get("config_groups")
    if isinstance(groups, Mapping) and groups:
        return [_group(each) for each in groups.values()]
    listed = quant.get("quantized_layers")
    if isinstance(listed, Mapping) and listed:
        algos = {name: str(each.get("quant_algo")) for name, each in listed.items()}
        return [
            (_known_bits(card, algo, quant), [name for name in algos if algos[name] == algo])
            for algo in sorted(set(algos.values()))
        ]
    return [(_known_bits(card, str(quant.get("quant_algo") or _method(quant)), quant), None)]


def _group(group: Mapping[str, Any]) -> Scheme:
    """Return the scheme of one of compressed-tensors' groups."""
    told = group.get("weights") or {}
    bits, size = float(told.get("num_bits") or _PLAIN_BITS), told.get("group_size") or 0
    scale_bits = 8 if told.get("type") == "float" else 16
    targets = [str(each) for each in group.get("targets") or ()]
    named = [each for each in targets if "." in each or each == "lm_head"]
    return bits + (scale_bits / size if size > 0 else 0), named or None


def _method(quant: Mapping[str, Any]) -> str:
    if quant.get("load_in_4bit"):
        return "bits_4"
    if quant.get("load_in_8bit"):
        return "bits_8"
    method = str(quant.get("quant_method") or "")
    return f"bits_{quant['bits']}" if method not in _BITS and quant.get("bits") else method


def _known_bits(card: Card, name: str, quant: Mapping[str, Any]) -> float:
    """Return the bits of a named method; of gptq, awq and the like with scales and zero points."""
    bits = _BITS.get(name.lower())
    if bits is not None:
        return bits
    told = re.fullmatch(r"bits_(\d+)", name)
    if told is None:
        raise card.refusal(f"its quantisation {name or 'without a name'!r} is not known")
    width, size = int(told[1]), quant.get("group_size") or 0
    return width + (16 + width) / size if isinstance(size, int) and size > 0 else float(width)


def _left_out(quant: Mapping[str, Any], layers: int) -> set[str]:
    """Return the parts that stay at full width in most layers."""
    names = [
        str(name)
        for key in ("modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers")
        for name in quant.get(key) or ()
    ]
    return {part for part, whole in _WHOLE.items() if _takes_in(names, whole, layers)}


def _takes_in(names: Iterable[str], whole: re.Pattern[str], layers: int) -> bool:
    found = [name for name in names if whole.search(re.sub(r"[.*\\]+$", "", name))]
    return any(not re.search(r"\.\d+\.", name) for name in found) or 2 * len(found) >= layers


def _bits_of(part: str, schemes: list[Scheme], left_out: set[str]) -> float:
    for bits, modules in schemes:
        is_named = modules is not None and any(_part_of(name) == part for name in modules)
        if is_named or (modules is None and part != "embeddings" and part not in left_out):
            return bits
    return _PLAIN_BITS


def _part_of(module: str) -> str:
    if "shared_expert" in module:
        return "plain"
    return next((part for part, called in _PARTS.items() if called.search(module)), "")
