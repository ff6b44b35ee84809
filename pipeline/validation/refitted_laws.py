"""Laws whose constants are fitted to the very rows they are judged on, one set for all models.

A law without a batch is divided by it, either as a whole or only what a batch shares, the output
tokens; it gets the way that predicts better. Each law is linear in its constants, so its terms are
the law itself with one constant at 1 and the others at 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.laws import rivals
from pipeline.validation.fit import FORMS, PICKED_FROM, Array
from pipeline.validation.measured_work import Coefficients, Measurement, terms

# What each constant prices in the measured passes.
Terms = Callable[[Measurement], Array]
TermsAt = Callable[[Measurement, float], Array]  # at so many output tokens


@dataclass(frozen=True)
class Refitted:
    """A law to fit: its variants, of which the better is taken."""

    law: str
    variants: Mapping[str, Terms]
    is_signed: bool = False  # constants below 0 are allowed, as the sources have them
    is_per_model: bool = False  # one set of constants for each architecture


def refitted() -> tuple[Refitted, ...]:
    """Return our law and its rivals, to be fitted."""
    whole = "divided by the batch"
    return (
        Refitted("simple", {f"step cost per {form}": _simple(form) for form in PICKED_FROM}),
        Refitted("linear", _both_ways(rivals.linear_j, 2, shared=1), is_signed=True),
        Refitted(
            "linear_interaction",
            _both_ways(rivals.linear_interaction_j, 3, shared=1),
            is_signed=True,
        ),
        Refitted("parameters_output_tokens", {whole: _measured(_output_tokens)}),
        Refitted("parameters_all_tokens", {whole: _measured(_all_tokens)}),
        Refitted("ecologits_batch", {"weights and step shared": _measured(_ecologits_batch)}),
        Refitted("closed_form", _both_ways(rivals.closed_form_j, 4, shared=3), is_per_model=True),
        Refitted("simple_reading_a", {"next token divided by the batch": _measured(_reading_a)}),
    )


def _simple(form: str) -> Terms:
    places = [Coefficients._fields.index(name) for name in FORMS[form]]
    return lambda row: np.array(terms(row))[places]


def _measured(law: TermsAt) -> Terms:
    """Return a law's terms in the passes that were measured."""

    def found(row: Measurement) -> Array:
        if row.phase == "prefill":
            return law(row, 1)
        if row.phase == "decode":
            return law(row, row.output_tokens) - law(row, 1)
        return law(row, row.output_tokens)

    return found


def _both_ways(law: Callable[..., Any], count: int, shared: int) -> dict[str, Terms]:
    """Return a law of lengths divided by the batch as a whole, and in its shared term alone."""

    def whole(row: Measurement, output_tokens: float) -> Array:
        return _units(law, count, row.input_tokens, output_tokens) / row.batch

    def partly(row: Measurement, output_tokens: float) -> Array:
        found = _units(law, count, row.input_tokens, output_tokens)
        found[shared] /= row.batch
        return found

    return {
        "divided by the batch": _measured(whole),
        "output tokens divided by the batch": _measured(partly),
    }


def _output_tokens(row: Measurement, output_tokens: float) -> Array:
    params = row.shape.active_params
    return _units(rivals.parameters_tokens_j, 1, params, output_tokens) / row.batch


def _all_tokens(row: Measurement, output_tokens: float) -> Array:
    params, tokens = row.shape.active_params, row.input_tokens + output_tokens
    return _units(rivals.parameters_tokens_j, 1, params, tokens) / row.batch


def _ecologits_batch(row: Measurement, output_tokens: float) -> Array:
    return _units(rivals.ecologits_batch_j, 3, row.shape.active_params, output_tokens, row.batch)


def _reading_a(row: Measurement, output_tokens: float) -> Array:
    shape = row.shape
    return _units(
        rivals.simple_reading_a_j,
        4,
        shape.layers,
        shape.query_width,
        shape.kv_width,
        shape.body_params,
        shape.head_params,
        row.input_tokens,
        output_tokens,
        row.batch,
    )


def _units(law: Callable[..., Any], count: int, *given: float) -> Array:
    """Return a law's value with each of its first arguments at 1 and the others at 0."""
    return np.array([float(law(*one, *given)) for one in np.eye(count)])
