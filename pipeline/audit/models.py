"""Three models of the energy of a run, each with what else may have moved it.

    ln energy = a + b·ln tokens            + covariates
    ln energy = a + b·ln law               + covariates
    ln energy = a + b·ln law + category    + covariates     (ln tokens where no law says anything)

Covariates: the run's place in the order, temperature before it, energy of the run before, idle time
before. What moves together cannot be told apart, so each has its variance inflation factor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtr, stdtrit

from pipeline.audit.linearity import usable
from pipeline.audit.rules import Rules
from pipeline.audit.statistics import Array
from pipeline.audit.tracks import seconds

COVARIATES = ("order_number", "before_temperature_c", "log_energy_before", "idle_before_s")
FORMS = ("tokens", "law", "law and category", "tokens and category")
_COEFFICIENTS = {
    "run_set": pl.String, "model": pl.String, "form": pl.String, "term": pl.String,
    "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64, "p": pl.Float64,
    "vif_ratio": pl.Float64,
}  # fmt: skip
_FITS = {
    "run_set": pl.String, "model": pl.String, "form": pl.String, "row_count": pl.Int64,
    "freedom": pl.Int64, "r_squared_frac": pl.Float64, "residual_frac": pl.Float64,
    "left_out_frac": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Models:
    """All fits of an audit.

    `fits`: run_set, model, form, row_count, freedom, r_squared_frac, residual_frac (standard
    deviation of ln energy), left_out_frac (the same, each run predicted without itself).
    `coefficients`: run_set, model, form, term, estimate, low, high, p, vif_ratio, is_inseparable.
    """

    fits: pl.DataFrame
    coefficients: pl.DataFrame


def with_covariates(rows: pl.DataFrame) -> pl.DataFrame:
    """Return runs with order_number, log_energy_before and idle_before_s, as they ran."""
    ordered = rows.sort("run_set", "started_at", "run_id")
    before = pl.col("ended_at").cum_max().shift(1).over("run_set")
    return ordered.with_columns(
        pl.int_range(1, pl.len() + 1).over("run_set").cast(pl.Float64).alias("order_number"),
        pl.col("energy_j").log().shift(1).over("run_set").alias("log_energy_before"),
        seconds(pl.col("started_at") - before).alias("idle_before_s"),
    )


def fit_models(rows: pl.DataFrame, rules: Rules) -> Models:
    """Fit every form to the runs of every model.

    Args:
        rows: Runs with energy_j, law_j and before_temperature_c.
        rules: Confidence, and which variance inflation is too much.
    """
    told = with_covariates(rows).filter(usable())
    fits: list[tuple[object, ...]] = []
    coefficients: list[tuple[object, ...]] = []
    for (run_set, model), group in sorted(told.group_by("run_set", "model"), key=_key):
        # The first run of a log has none before it; the others count.
        used = group.sort("started_at", "run_id").filter(pl.col("log_energy_before").is_not_null())
        for form in _forms(used):
            found = _fit(used, form, rules.confidence_frac)
            if found is not None:
                fits.append((run_set, model, form, *found[0]))
                coefficients += [(run_set, model, form, *each) for each in found[1]]
    return Models(
        pl.DataFrame(fits, schema=_FITS, orient="row"),
        pl.DataFrame(coefficients, schema=_COEFFICIENTS, orient="row").with_columns(
            (pl.col("vif_ratio").is_null() | (pl.col("vif_ratio") > rules.collinear_vif)).alias(
                "is_inseparable"
            )
        ),
    )


def _key(each: tuple[tuple[object, ...], pl.DataFrame]) -> tuple[str, ...]:
    return tuple(map(str, each[0]))


def _forms(used: pl.DataFrame) -> tuple[str, ...]:
    has_law = used.height > 0 and used.get_column("law_j").null_count() == 0
    return ("tokens", "law", "law and category") if has_law else ("tokens", "tokens and category")


def _fit(
    used: pl.DataFrame, form: str, confidence: float
) -> tuple[tuple[object, ...], list[tuple[object, ...]]] | None:
    """Return what a form says, None where the runs are no more than its terms."""
    size = "law_j" if form.startswith("law") else "output_tokens"
    names, columns = [f"ln {'law' if size == 'law_j' else 'tokens'}"], [_log(used, size)]
    if form.endswith("category"):
        categories = used.get_column("category").unique().sort().to_list()
        names += [f"category {each}" for each in categories[1:]]
        columns += [_indicator(used, each) for each in categories[1:]]
    for covariate in COVARIATES:
        series = used.get_column(covariate)
        if series.null_count() == 0 and series.n_unique() > 1:
            names.append(covariate)
            columns.append(series.cast(pl.Float64).to_numpy())
    design = np.column_stack([np.ones(used.height), *columns])
    freedom = used.height - design.shape[1]
    if freedom < 1:
        return None
    return _least_squares(names, design, _log(used, "energy_j"), freedom, confidence)


def _log(used: pl.DataFrame, name: str) -> Array:
    return used.get_column(name).cast(pl.Float64).log().to_numpy()


def _indicator(used: pl.DataFrame, category: str) -> Array:
    return (used.get_column("category") == category).cast(pl.Float64).to_numpy()


def _least_squares(
    names: Sequence[str], design: Array, log_energy: Array, freedom: int, confidence: float
) -> tuple[tuple[object, ...], list[tuple[object, ...]]]:
    inflation = _inflation(design[:, 1:])
    inverse = np.linalg.pinv(design.T @ design)
    values = inverse @ design.T @ log_energy
    residuals = log_energy - design @ values
    variance = float(residuals @ residuals) / freedom
    spread = float(((log_energy - log_energy.mean()) ** 2).sum())
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    left_out = residuals / np.maximum(1 - leverage, 1e-12)
    errors = np.sqrt(np.maximum(np.diag(inverse) * variance, 0))
    width = float(stdtrit(freedom, (1 + confidence) / 2)) * errors
    fit = (
        len(log_energy),
        freedom,
        1 - float(residuals @ residuals) / spread if spread else None,
        variance**0.5,
        float(np.sqrt(np.mean(left_out**2))),
    )
    terms: list[tuple[object, ...]] = []
    for place, name in enumerate(names, start=1):
        if not np.isfinite(inflation[place - 1]):
            terms.append((name, None, None, None, None, None))
            continue
        value, error = float(values[place]), float(errors[place])
        p = 2 * float(stdtr(freedom, -abs(value / error))) if error else None
        terms.append(
            (name, value, value - width[place], value + width[place], p, inflation[place - 1])
        )
    return fit, terms


def _inflation(columns: Array) -> Array:
    """Return each column's variance inflation factor; infinite where the others make it up."""
    centred = columns - columns.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    if not scale.all():
        return np.where(scale > 0, 1.0, np.inf)
    unit = centred / scale
    found = np.full(columns.shape[1], np.inf)
    for place in range(columns.shape[1]):
        others = np.delete(unit, place, axis=1)
        made_up = others @ np.linalg.lstsq(others, unit[:, place], rcond=None)[0]
        rest = float(((unit[:, place] - made_up) ** 2).sum())
        if rest > 1e-10:
            found[place] = 1 / rest
    return found
