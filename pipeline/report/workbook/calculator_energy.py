"""The steps of the Calculator from work to joules, and the means over a model's stand-ins."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from pipeline.dialects import excel_formula
from pipeline.laws import simple, work
from pipeline.report.workbook.calculator_steps import Step, Values, law_step
from pipeline.report.workbook.work import NEXT_TOKEN, TERMS, WEIGHT_BYTES

BATCH_STEP = Step(
    "batch",
    "Batch in use",
    "requests",
    'IF(MIN({all_batch_max})<1,"does not fit",MIN(in_calc_batch,{all_batch_max}))',
    lambda known: min(known["batch_wanted"], *known["all_batch_max"]),
)


def _weight_bytes(known: Values) -> Any:  # noqa: ANN401
    touched = (
        work.experts_touched(known["experts"], known["active_experts"], known["batch"])
        if known["experts"]
        else 0
    )
    params = known["fixed_params"] + known["expert_params"] * touched
    return work.weight_bytes(known["bytes_per_weight"], params)


_P = {"body_params": "body_params", "head_params": "head_params"}
_Q = {"attention_flop_per_pair": "attention_flop_per_pair"}
LAW_STEPS = (
    Step("weight_bytes", "Weight bytes of a pass", "bytes", WEIGHT_BYTES, _weight_bytes),
    law_step(
        "prefill_flop",
        "Operations of the prompt",
        "FLOP",
        work.prefill_flop,
        {**_P, **_Q, "prefilled": "prefilled_tokens", "pairs": "prefill_pairs", "prompts": "1"},
    ),
    law_step(
        "decode_flop",
        "Operations of new tokens",
        "FLOP",
        work.decode_flop,
        {**_P, "steps": "decode_steps"},
    ),
    law_step(
        "decode_attention_flop",
        "Operations of attending",
        "FLOP",
        work.decode_attention_flop,
        {**_Q, "pairs": "decode_pairs"},
    ),
    Step(
        "kv_read_bytes",
        "Cache bytes read, state moved",
        "bytes",
        excel_formula(
            work.kv_read_bytes,
            {"kv_bytes": "{kv_bytes_per_position}", "positions": "{cache_positions}"},
        )
        + "+"
        + excel_formula(work.state_moved_bytes, {"passes": "{output_tokens}"}),
        lambda known: (
            work.kv_read_bytes(known["kv_bytes_per_position"], known["cache_positions"])
            + work.state_moved_bytes(known["state_bytes"], known["output_tokens"])
        ),
    ),
    law_step(
        "layer_steps",
        "Layer steps",
        "steps",
        work.layer_steps,
        {"layers": "layers", "passes": "output_tokens", "gpu_count": "gpu_count"},
    ),
    law_step(
        "prefill_energy_j",
        "Prefill",
        "J",
        simple.prefill_energy_j,
        {"a_j_per_flop": "a_j_per_flop", "prefill_flop": "prefill_flop"},
    ),
    law_step(
        "kv_cache_energy_j",
        "KV cache",
        "J",
        simple.kv_cache_energy_j,
        {
            name: name
            for name in (
                *("a_j_per_flop", "b_j_per_kv_byte"),
                *("kv_read_bytes", "decode_attention_flop"),
            )
        },
    ),
    Step(
        "next_token_energy_j",
        "Next token",
        "J",
        NEXT_TOKEN.replace("{passes}", "{output_tokens}"),
        lambda known: simple.next_token_energy_j(
            known["a_j_per_flop"],
            known["c_j_per_weight_byte"],
            known["s_j_per_layer_step"],
            known["s_j_per_step"],
            known["decode_flop"],
            known["weight_bytes"] * known["output_tokens"],
            known["layer_steps"],
            known["output_tokens"] * known["gpu_count"],
            known["batch"],
        ),
    ),
    Step(
        "energy_j",
        "Law in all",
        "J",
        "{prefill_energy_j}+{kv_cache_energy_j}+{next_token_energy_j}",
        lambda known: (
            known["prefill_energy_j"] + known["kv_cache_energy_j"] + known["next_token_energy_j"]
        ),
    ),
    Step(
        "gpu_energy_j",
        "GPU energy: law × bias",
        "J",
        "{energy_j}*{bias_factor}",
        lambda known: known["energy_j"] * known["bias_factor"],
    ),
    Step(
        "optimum_output_tokens",
        "Best output length of each",
        "tokens",
        "IF({kv_bytes_per_position}>0,"
        + excel_formula(simple.optimum_output_tokens, {"cached_tokens": "{cached_in_work}"})
        + ',"")',
        lambda known: (
            simple.optimum_output_tokens(
                known["a_j_per_flop"],
                known["b_j_per_kv_byte"],
                known["body_params"],
                known["attention_flop_per_pair"],
                known["kv_bytes_per_position"],
                known["input_tokens"],
                known["cached_in_work"],
            )
            if known["kv_bytes_per_position"] > 0
            else ""
        ),
    ),
)


def mean_step(name: str, label: str, unit: str) -> Step:
    """Return the geometric mean of a step over the stand-ins, 0 where one is 0."""
    return Step(
        f"mean_{name}",
        label,
        unit,
        f"IFERROR(GEOMEAN({{all_{name}}}),0)",
        lambda known: geometric_mean(known[f"all_{name}"]),
    )


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of numbers, 0 where one of them is 0."""
    if min(values) <= 0:
        return 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


_ALL_TERMS = "+".join(f"{{mean_{name}}}" for name in TERMS)


def _scaled(name: str) -> Callable[[Values], Any]:
    return lambda known: (
        known[f"mean_{name}"]
        * known["mean_energy_j"]
        / sum(known[f"mean_{term}"] for term in TERMS)
    )


MEAN_STEPS = (
    *(
        mean_step(name, f"{label}, mean", "J")
        for name, label in zip(
            (*TERMS, "energy_j", "gpu_energy_j"),
            ("Prefill", "KV cache", "Next token", "Law in all", "GPU energy"),
            strict=True,
        )
    ),
    *(
        Step(
            f"scaled_{name}",
            f"{label}, scaled to the mean",
            "J",
            f"{{mean_{name}}}*{{mean_energy_j}}/({_ALL_TERMS})",
            _scaled(name),
        )
        for name, label in zip(TERMS, ("Prefill", "KV cache", "Next token"), strict=True)
    ),
)
