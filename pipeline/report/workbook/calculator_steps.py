"""The steps of the Calculator: what each of its cells computes, as a formula and as a value.

A step that is a law is printed from it and computed by it, so formula and stored result have one
source; the others are look-ups, minima and means.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.dialects import excel_formula
from pipeline.laws import work
from pipeline.report.section import Kind

Values = dict[str, Any]  # what is known so far: of the request and, in a column, of a stand-in


@dataclass(frozen=True)
class Step:
    """One line of the working: `{name}` in its formula is the cell of another step."""

    name: str
    label: str
    unit: str
    formula: str
    value: Callable[[Values], Any]
    kind: Kind = "number"


def law_step(
    name: str, label: str, unit: str, law: Callable[..., Any], arguments: Mapping[str, str]
) -> Step:
    """Return a step that is a law: printed for the cell, called for the value.

    Args:
        name: Name of the step.
        label: What a reader sees.
        unit: Unit of the value.
        law: The law.
        arguments: For each of its arguments a step's name or a whole number as text.
    """
    cells = {arg: text if text.isdigit() else f"{{{text}}}" for arg, text in arguments.items()}

    def value(known: Values) -> Any:  # noqa: ANN401  # a number of any type
        told = {arg: int(t) if t.isdigit() else known[t] for arg, t in arguments.items()}
        return law(**told)

    return Step(name, label, unit, excel_formula(law, cells), value)


def _request_law(name: str, label: str, law: Callable[..., Any]) -> Step:
    """Return a token moment of one request, whose lengths scatter around nothing."""
    told = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cached_tokens": "cached_in_work",
    }
    names = inspect.signature(law).parameters
    return law_step(name, label, "tokens", law, {arg: told.get(arg, "1") for arg in names})


def _of_row(name: str) -> Callable[[Values], Any]:
    return lambda known: known["row"][name]


def _of_set(name: str) -> Callable[[Values], Any]:
    return lambda known: known["set"][name]


def _looked_up(table: str, row: str, names: Mapping[str, tuple[str, str]]) -> tuple[Step, ...]:
    return tuple(
        Step(
            name,
            label,
            unit,
            f"INDEX({table}[{name}],{{{row}}})",
            _of_row(name),
            "text" if name in ("architecture_id", "architecture_class") else "number",
        )
        for name, (label, unit) in names.items()
    )


REQUEST_STEPS = (
    Step(
        "model_row",
        "Row of the model in Catalog",
        "",
        "MATCH(in_calc_model,d_model[model_id],0)",
        lambda known: known["model_row"],
    ),
    Step(
        "architecture_count",
        "Architectures behind it",
        "",
        "INDEX(d_model[architecture_count],{model_row})",
        lambda known: len(known["rows"]),
    ),
    Step(
        "first_architecture_no",
        "First of them in Data_Architectures",
        "",
        "INDEX(d_model[first_architecture_no],{model_row})",
        lambda known: known["rows"][0]["architecture_no"],
    ),
    Step(
        "catalog_no",
        "Number of the model in the catalog",
        "",
        "INDEX(d_model[catalog_no],{model_row})",
        lambda known: known["rows"][0]["catalog_no"],
    ),
    Step(
        "set_row",
        "Row of the coefficient set",
        "",
        "MATCH(in_calc_set,d_coefficient[coefficient_set_id],0)",
        lambda known: known["set_row"],
    ),
    *(
        Step(
            name,
            label,
            unit,
            f"INDEX(d_coefficient[{name}],{{set_row}})",
            _of_set(name),
        )
        for name, label, unit in (
            ("a_j_per_flop", "a", "J/FLOP"),
            ("b_j_per_kv_byte", "b", "J/byte"),
            ("c_j_per_weight_byte", "c", "J/byte"),
            ("s_j_per_layer_step", "s by layer", "J/layer-step"),
            ("s_j_per_step", "s by step", "J/step"),
            ("memory_gb", "Memory of the GPU", "GB"),
        )
    ),
    Step("input_tokens", "Input", "tokens", "in_calc_input_tokens", lambda known: known["input"]),
    Step(
        "output_tokens", "Output", "tokens", "in_calc_output_tokens", lambda known: known["output"]
    ),
    Step(
        "cached_in_work",
        "Cached, at most all but one",
        "tokens",
        "MAX(MIN(in_calc_cached_tokens,in_calc_input_tokens-1),0)",
        lambda known: max(min(known["cached"], known["input"] - 1), 0),
    ),
    _request_law("prefilled_tokens", "Prefilled tokens", work.prefilled_tokens),
    _request_law("prefill_pairs", "Pairs of the prefill", work.prefill_pairs),
    _request_law("decode_pairs", "Pairs while writing", work.decode_pairs),
    _request_law("cache_positions", "Cache positions read", work.cache_positions),
    _request_law("decode_steps", "Decode passes", work.decode_steps),
    Step(
        "context_tokens",
        "Input and output",
        "tokens",
        "{input_tokens}+{output_tokens}",
        lambda known: known["input_tokens"] + known["output_tokens"],
    ),
)
_BIAS_OWN = (
    "(d_bias[architecture_class]={architecture_class})*(d_bias[coefficient_set_id]=in_calc_set)"
)
_BIAS_ANY = '(d_bias[architecture_class]={architecture_class})*(d_bias[coefficient_set_id]="*")'


def _bias_formula(name: str) -> str:
    column = f"d_bias[{name}]"
    return (
        f"IF(SUMPRODUCT({_BIAS_OWN})>0,SUMPRODUCT({_BIAS_OWN}*{column}),"
        f"IF(SUMPRODUCT({_BIAS_ANY})>0,SUMPRODUCT({_BIAS_ANY}*{column}),1))"
    )


def _bias_end(which: str) -> Step:
    return Step(
        f"bias_{which}_ratio",
        f"Bias factor, {which} ÷ value",
        "ratio",
        f"{_bias_formula(f'bias_{which}')}/{{bias_factor}}",
        lambda known: (
            known["bias"](known["architecture_class"])[f"bias_{which}"] / known["bias_factor"]
        ),
    )


SHAPE_STEPS = (
    *_looked_up(
        "d_architecture",
        "architecture_row",
        {
            "architecture_id": ("Architecture", ""),
            "architecture_class": ("Kind", ""),
            "bytes_per_weight": ("Bytes of a weight", "bytes"),
            "layers": ("Layers", ""),
            "experts": ("Experts of a layer", ""),
            "active_experts": ("Experts of a token", ""),
            "body_params": ("Active weights of the layers", "weights"),
            "head_params": ("Weights of the head", "weights"),
            "fixed_params": ("Weights every pass reads", "weights"),
            "expert_params": ("Weights of one expert", "weights"),
            "held_weight_bytes": ("Bytes of all weights", "bytes"),
            "attention_flop_per_pair": ("Attention of a pair", "FLOP"),
            "kv_bytes_per_position": ("Cache of a position", "bytes"),
            "state_bytes": ("State of a request", "bytes"),
        },
    ),
    Step(
        "bias_factor",
        "Bias factor",
        "ratio",
        _bias_formula("bias_factor"),
        lambda known: known["bias"](known["architecture_class"])["bias_factor"],
    ),
    _bias_end("low"),
    _bias_end("high"),
    Step(
        "gpu_count",
        "GPUs",
        "",
        "2^MAX(-INT(-LOG({held_weight_bytes}*(1+in_weights_headroom_frac)"
        "/({memory_gb}*bytes_per_gb),2)),0)",
        lambda known: (
            2
            ** max(
                math.ceil(
                    math.log2(
                        known["held_weight_bytes"]
                        * (1 + known["assumed"]["weights_headroom_frac"])
                        / (known["memory_gb"] * 10**9)
                    )
                ),
                0,
            )
        ),
    ),
    Step(
        "batch_max",
        "Batch that the cache leaves room for",
        "requests",
        excel_formula(
            work.batch_max,
            {
                "usable_frac": "in_gpu_memory_usable_frac",
                "gpu_memory_gb": "{memory_gb}",
                "kv_bytes": "{kv_bytes_per_position}",
            },
            {10**9: "bytes_per_gb"},
        ),
        lambda known: work.batch_max(
            known["assumed"]["gpu_memory_usable_frac"],
            known["gpu_count"],
            known["memory_gb"],
            known["held_weight_bytes"],
            known["kv_bytes_per_position"],
            known["context_tokens"],
            known["state_bytes"],
        ),
    ),
)
