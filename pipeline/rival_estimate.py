"""One request by the law of others, beside all that our own estimate says of it.

Laws that the month is compared by answer from the same SQL; the rest from their functions, with
the constants of the reference tables. None of them has a range, a grade or terms, so those are
null. Where a method knows no facility, our chain of host, idle capacity and cooling carries on.
"""

import statistics
from collections.abc import Mapping
from typing import Any

import duckdb

from pipeline.errors import WrongUseError
from pipeline.law_words import all_words
from pipeline.laws.facility import J_PER_KWH
from pipeline.reference import reference_rows
from pipeline.shapes import Shape, shape_of
from pipeline.validation.measured_work import Measurement
from pipeline.validation.published_laws import published

_COMPARED = ("ecologits_0_8", "ecologits_0_9", "linear", "parameters_tokens")
_FITTED = ("linear", "parameters_tokens")  # to the rows of a coefficient set
_UNKNOWN = (
    *("prefill_energy_j", "kv_cache_energy_j", "next_token_energy_j", "bias_factor"),
    *("energy_low_j", "energy_high_j", "optimum_output_tokens", "evidence_grade"),
)


def require_law(name: str) -> None:
    """Refuse a law that there is not, or that has no constants to answer with.

    Raises:
        WrongUseError: With the list of those that answer.
    """
    answering = ", ".join(answering_laws())
    if name not in {each["law"] for each in all_words()}:
        raise WrongUseError(f"--law {name}: not known; expected one of {answering}.")
    if name not in answering_laws():
        raise WrongUseError(
            f"--law {name}: has no constants of its own, so it cannot answer for a model nobody "
            f"measured; expected one of {answering}."
        )


def answering_laws() -> tuple[str, ...]:
    """Return the laws that answer from tokens, model and batch, ours first."""
    own = {each.law for each in published()} | set(_FITTED)
    return tuple(each["law"] for each in all_words() if each["law"] in own)


def by_rival(con: duckdb.DuckDBPyConnection, law: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an estimate with the energy of another law in place of ours.

    Args:
        con: Warehouse of the one request, with int_deployments and int_rival_energy built.
        law: One of `answering_laws`.
        answer: Our own estimate, `facility_energy_kwh` and all.

    Raises:
        WrongUseError: Where the law has constants for some models, and not for this one.
    """
    facility_j = None
    if law in _COMPARED:
        gpu_j, facility_j = _by_table(con, law, answer)
    else:
        gpu_j = _by_function(con, law, answer)
    chain_kwh_per_j = answer["facility_energy_kwh"] / answer["gpu_energy_j"]
    kwh = gpu_j * chain_kwh_per_j if facility_j is None else facility_j / J_PER_KWH
    scale = kwh / answer["facility_energy_kwh"]
    words = next(each for each in all_words() if each["law"] == law)
    return {
        **answer,
        **dict.fromkeys(_UNKNOWN),
        "law": law,
        "coefficient_set_id": answer["coefficient_set_id"] if law in _FITTED else None,
        "energy_j": gpu_j,
        "gpu_energy_j": gpu_j,
        "facility_energy_kwh": kwh,
        "energy_cost_usd": f"{float(answer['energy_cost_usd']) * scale:.9f}",
        "carbon_gco2e": answer["carbon_gco2e"] * scale,
        "law_title": words["title"],
        "law_constants": _constants_of(law, answer["coefficient_set_id"]),
        "law_source": words["source"],
        "law_domain": words["domain"],
        "law_ignores": words["ignores"],
    }


def text_of(answer: Mapping[str, Any]) -> str:
    """Return an answer by another law as lines for people."""
    facility_wh = answer["facility_energy_kwh"] * 1_000
    return (
        f"{answer['model_id']} by {answer['law']}: {answer['law_title']}\n"
        f"  GPU energy   {answer['gpu_energy_j']:14.4g} J, no range: its authors give none here\n"
        f"  facility     {facility_wh:14.4g} Wh, {answer['carbon_gco2e']:.4g} g CO2e\n"
        f"  constants: {answer['law_constants']}\n"
        f"  source: {answer['law_source']}\n"
        f"  domain: {answer['law_domain']}\n"
        f"  ignores: {answer['law_ignores']}\n"
    )


def _constants_of(law: str, coefficient_set_id: str) -> str:
    """Return in words where the constants of an answer come from, and what was done with them."""
    if law in _FITTED:
        return f"fitted by us to the rows of {coefficient_set_id}, output divided by the batch"
    if law in _COMPARED:
        return "published, with its own count of GPUs, server and PUE"
    return next(each.note for each in published() if each.law == law)


def _by_table(
    con: duckdb.DuckDBPyConnection, law: str, answer: Mapping[str, Any]
) -> tuple[float, float | None]:
    rows = con.execute(
        "select gpu_energy_j, facility_energy_j from int_rival_energy where law = $law",
        {"law": law},
    ).fetchall()
    if not rows:
        raise WrongUseError(
            f"--law {law}: has no constants for the coefficient set "
            f"{answer['coefficient_set_id']}; expected one of {', '.join(sorted(_fitted_sets()))}, "
            "chosen by --gpu and --stack."
        )
    return rows[0][0], rows[0][1]


def _fitted_sets() -> set[str]:
    return {row["scope"] for row in reference_rows("rival_coefficients") if row["law"] in _FITTED}


def _by_function(con: duckdb.DuckDBPyConnection, law: str, answer: Mapping[str, Any]) -> float:
    predict_j = next(each.predict_j for each in published() if each.law == law)
    energies_j = [predict_j(row) for row in _asked(con, answer)]
    known = [each for each in energies_j if each is not None]
    if len(known) < len(energies_j):
        scopes = {row["scope"] for row in reference_rows("rival_coefficients") if row["law"] == law}
        raise WrongUseError(
            f"--law {law}: has constants for {', '.join(sorted(scopes - {'*'}))} alone, "
            f"not for {answer['model_id']}."
        )
    if min(known) <= 0:
        return statistics.fmean(known)  # no geometric mean; this law gives energies below 0
    return statistics.geometric_mean(known)


def _asked(con: duckdb.DuckDBPyConnection, answer: Mapping[str, Any]) -> list[Measurement]:
    """Return the request as configurations to predict: one, or one for each stand-in."""
    deployed = con.execute(
        "select architecture_id, bytes_per_weight, gpu_count, gpu, stack from int_deployments "
        "order by architecture_id"
    ).fetchall()
    return [
        Measurement(
            source_line=0,
            dataset="estimate",
            gpu=gpu,
            stack=stack,
            task="",
            shape=(shape := _shape(con, architecture_id)),
            architecture_class=shape.architecture_class,
            bytes_per_weight=bytes_per_weight,
            input_tokens=answer["input_tokens"],
            output_tokens=answer["output_tokens"],
            batch=answer["effective_batch"],
            gpu_count=gpu_count,
            phase="total",
            has_kv_cache=True,
            time_s=0,
            energy_j=0,
        )
        for architecture_id, bytes_per_weight, gpu_count, gpu, stack in deployed
    ]


def _shape(con: duckdb.DuckDBPyConnection, architecture_id: str) -> Shape:
    found = con.execute(
        "from raw_architectures where architecture_id = $id", {"id": architecture_id}
    )
    names = [column[0] for column in found.description or ()]
    return shape_of(dict(zip(names, found.fetchall()[0], strict=True)))
