"""Laws with constants of their own, asked for the energy of a measured configuration.

A form that knows no batch is divided by it, since the measured energy is that of one request among
many. Measurements are of GPU boards: server and facility factors of a law are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from pipeline.law_list import bias_factor, coefficient_set, constants
from pipeline.laws import rivals
from pipeline.reference import reference_rows
from pipeline.validation.measured_work import Measurement, energy_j
from pipeline.validation.naming import Names

H100_BOARD_W = 700  # what Epoch AI's share of a server becomes where only boards are measured

# A law's energy at so many output tokens; None for a model that it has no constants for.
Law = Callable[[Measurement, float], float | None]


@dataclass(frozen=True)
class Published:
    """A law with its own constants."""

    law: str
    predict_j: Callable[[Measurement], float | None]
    note: str


def published() -> tuple[Published, ...]:
    """Return our law with its stored coefficients, and the rivals that come with constants."""
    divided = "published constants, divided by the batch"
    boards = f"published constants, with boards of {H100_BOARD_W} W and no PUE"
    return (
        Published("simple", _simple_j, "stored coefficients"),
        Published("simple_with_bias", _biased_j, "stored coefficients and bias factors"),
        Published("linear_interaction", _alone(_interaction_j), divided),
        Published("ecologits_0_8", _alone(_ecologits_0_8_j), divided),
        Published("ecologits_0_9", _measured(_ecologits_0_9_j), "published constants"),
        Published("epoch_ai", _measured(_epoch_ai_j), boards),
        Published("vartziotis", _alone(_vartziotis_j), divided),
        Published("simple_reading_a", _measured(_reading_a_j), "orders of magnitude by us"),
    )


def _measured(law: Law) -> Callable[[Measurement], float | None]:
    """Return a law's energy in the passes that were measured."""

    def predict(row: Measurement) -> float | None:
        first, whole = law(row, 1), law(row, row.output_tokens)
        if first is None or whole is None:
            return None
        return {"prefill": first, "decode": whole - first}.get(row.phase, whole)

    return predict


def _alone(law: Law) -> Callable[[Measurement], float | None]:
    """Return the same of a law that serves one request alone: divided by the batch."""

    def predict(row: Measurement) -> float | None:
        found = _measured(law)(row)
        return None if found is None else found / row.batch

    return predict


def _simple_j(row: Measurement) -> float:
    return energy_j(row, coefficient_set(row.gpu, row.stack)[1])


def _biased_j(row: Measurement) -> float:
    set_id, prices = coefficient_set(row.gpu, row.stack)
    return energy_j(row, prices) * bias_factor(row.architecture_class, set_id)


@cache
def _interaction_models() -> dict[tuple[int, ...], str]:
    """Return the models with constants of the interaction law, by shape."""
    names, found = Names(), {}
    for row in reference_rows("rival_coefficients"):
        shape = names.shape(row["scope"])
        if row["law"] == "linear_interaction" and shape:
            found[*shape.body_id, shape.head_params] = row["scope"]
    return found


def _interaction_j(row: Measurement, output_tokens: float) -> float | None:
    scope = _interaction_models().get((*row.shape.body_id, row.shape.head_params))
    if scope is None:
        return None
    prices = constants("linear_interaction", scope)
    return float(
        rivals.linear_interaction_j(
            **prices, input_tokens=row.input_tokens, output_tokens=output_tokens
        )
    )


def _ecologits_0_8_j(row: Measurement, output_tokens: float) -> float:
    return float(
        rivals.ecologits_0_8_j(
            **constants("ecologits_0_8"),
            active_params=row.shape.active_params,
            output_tokens=output_tokens,
            gpu_count=row.gpu_count,
        )
    )


def _ecologits_0_9_j(row: Measurement, output_tokens: float) -> float:
    return float(
        rivals.ecologits_0_9_j(
            **constants("ecologits_0_9"),
            active_params=row.shape.active_params,
            output_tokens=output_tokens,
            batch=row.batch,
            gpu_count=row.gpu_count,
        )
    )


def _epoch_ai_j(row: Measurement, output_tokens: float) -> float:
    boards = {"gpu_power_w": H100_BOARD_W, "pue_ratio": 1}
    return float(
        rivals.epoch_ai_j(
            **(constants("epoch_ai") | boards),
            active_params=row.shape.active_params,
            output_tokens=output_tokens,
        )
    )


def _vartziotis_j(row: Measurement, output_tokens: float) -> float:
    return float(
        rivals.vartziotis_j(
            **constants("vartziotis"),
            params=row.shape.active_params,
            layers=row.shape.layers,
            hidden=row.shape.hidden,
            input_tokens=row.input_tokens,
            output_tokens=output_tokens,
        )
    )


def _reading_a_j(row: Measurement, output_tokens: float) -> float:
    return float(
        rivals.simple_reading_a_j(
            **constants("simple_reading_a"),
            layers=row.shape.layers,
            query_width=row.shape.query_width,
            kv_width=row.shape.kv_width,
            body_params=row.shape.body_params,
            head_params=row.shape.head_params,
            input_tokens=row.input_tokens,
            output_tokens=output_tokens,
            batch=row.batch,
        )
    )
