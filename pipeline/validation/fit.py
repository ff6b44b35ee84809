"""Coefficients of the law from measurements, and how far they can be trusted.

Non-negative least squares on relative error: every row weighs the same, whatever its joules. Two
architectures that differ in vocabulary or fine-tuning alone count as one, or leaving one out would
prove nothing.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls
from scipy.special import stdtrit

from pipeline.errors import BadInputError, WrongUseError
from pipeline.validation.measured_work import Coefficients, Measurement, terms

Array = npt.NDArray[np.float64]

# Launch and idle power of a step, per layer or per pass; `both` has five coefficients.
FORMS = {
    "layer": ("a_j_per_flop", "b_j_per_kv_byte", "c_j_per_weight_byte", "s_j_per_layer_step"),
    "step": ("a_j_per_flop", "b_j_per_kv_byte", "c_j_per_weight_byte", "s_j_per_step"),
    "both": Coefficients._fields,
}
PICKED_FROM = ("layer", "step")
SEED = 20261130
RESAMPLES = 1000
HIGH = 0.95  # intervals are 5 to 95 %
FEWEST_ARCHITECTURES = 3  # for leaving one out, and for intervals
# Belsley, Kuh and Welsch 1980: columns that share most of their variance at such an index cannot
# be told apart.
MOST_CONDITION = 30
SHARED_VARIANCE_FRAC = 0.5


@dataclass(frozen=True)
class FormErrors:
    """Mean absolute relative errors of one form of the step cost."""

    form: str
    mape_in_sample_frac: float
    mape_leave_one_architecture_out_frac: float | None


@dataclass(frozen=True)
class Fit:
    """What a set of measurements says of the coefficients."""

    form: str
    coefficients: Coefficients
    intervals: dict[str, tuple[float, float]]  # 5 to 95 %; empty below three architectures
    unidentified: dict[str, str]  # coefficient → why these rows do not fix it
    forms: tuple[FormErrors, ...]
    condition_index: float
    row_count: int
    architectures: tuple[str, ...]

    @property
    def errors(self) -> FormErrors:
        """Return the errors of the picked form."""
        return next(each for each in self.forms if each.form == self.form)


def fit(rows: Sequence[Measurement], form: str | None = None) -> Fit:
    """Fit the law; without `form`, the step cost that predicts unseen architectures better.

    Raises:
        BadInputError: Where the rows are fewer than the coefficients, or of one architecture.
    """
    groups = [row.shape.body_id for row in rows]
    _require_enough(rows, groups, form or PICKED_FROM[0])
    features = np.array([terms(row) for row in rows], dtype=np.float64)
    energies_j = np.array([row.energy_j for row in rows], dtype=np.float64)
    compared = tuple(_form_errors(name, features, energies_j, groups) for name in FORMS)
    picked = form or _best([each for each in compared if each.form in PICKED_FROM])
    used = features[:, _columns(picked)]
    values = dict(zip(FORMS[picked], solve(used, energies_j), strict=True))
    intervals = _intervals(FORMS[picked], used, energies_j, groups)
    index, shared = _condition(FORMS[picked], used, energies_j)
    return Fit(
        form=picked,
        coefficients=Coefficients(*(float(values.get(n, 0)) for n in Coefficients._fields)),
        intervals=intervals,
        unidentified=_unidentified(values, intervals, index, shared, len(set(groups))),
        forms=compared,
        condition_index=index,
        row_count=len(rows),
        architectures=_first_of_each(rows),
    )


def require_form(form: str | None) -> None:
    """Refuse a form of the step cost that there is not.

    Raises:
        WrongUseError: For an unknown form.
    """
    if form is not None and form not in FORMS:
        raise WrongUseError(f"--form {form}: not known; expected one of {', '.join(FORMS)}.")


def solve(features: Array, energies_j: Array, *, is_signed: bool = False) -> Array:
    """Return the coefficients of least relative error, none below 0 unless signed."""
    relative = features / energies_j[:, None]
    scale = np.abs(relative).max(axis=0)
    scale[scale == 0] = 1
    ones = np.ones(len(energies_j))
    if is_signed:
        found = np.linalg.lstsq(relative / scale, ones, rcond=None)[0]
    else:
        found = np.asarray(nnls(relative / scale, ones)[0], dtype=np.float64)
    return np.asarray(found / scale, dtype=np.float64)


def leave_one_out(
    features: Array, energies_j: Array, groups: Sequence[object], *, is_signed: bool = False
) -> Array | None:
    """Return each row's energy as predicted without its group; None below three groups."""
    if len(set(groups)) < FEWEST_ARCHITECTURES:
        return None
    predicted_j = np.empty_like(energies_j)
    for left_out in dict.fromkeys(groups):
        is_out = np.array([group == left_out for group in groups])
        values = solve(features[~is_out], energies_j[~is_out], is_signed=is_signed)
        predicted_j[is_out] = features[is_out] @ values
    return predicted_j


def resamples(groups: Sequence[object], count: int, seed: int = SEED) -> list[Array]:
    """Return row numbers of bootstrap samples, drawn by group; one group alone is drawn again."""
    members: dict[object, list[int]] = {group: [] for group in groups}
    for number, group in enumerate(groups):
        members[group].append(number)
    draw = random.Random(seed)  # noqa: S311  # a fixed seed is the point
    samples: list[Array] = []
    while len(samples) < count:
        drawn = draw.choices(range(len(members)), k=len(members))
        if len(set(drawn)) > 1:
            rows = list(members.values())
            samples.append(np.concatenate([np.array(rows[each]) for each in drawn]))
    return samples


def mape_frac(predicted_j: Array, energies_j: Array) -> float:
    """Return the mean absolute relative error."""
    return float(np.mean(np.abs(predicted_j / energies_j - 1)))


def _columns(form: str) -> list[int]:
    return [Coefficients._fields.index(name) for name in FORMS[form]]


def _form_errors(
    form: str, features: Array, energies_j: Array, groups: Sequence[object]
) -> FormErrors:
    used = features[:, _columns(form)]
    unseen_j = leave_one_out(used, energies_j, groups)
    return FormErrors(
        form,
        mape_frac(used @ solve(used, energies_j), energies_j),
        None if unseen_j is None else mape_frac(unseen_j, energies_j),
    )


def _best(compared: Sequence[FormErrors]) -> str:
    """Return the form of least error on unseen architectures, else on the rows; first of equals."""

    def error(each: FormErrors) -> float:
        unseen = each.mape_leave_one_architecture_out_frac
        return round(each.mape_in_sample_frac if unseen is None else unseen, 9)

    return min(compared, key=error).form


def _intervals(
    names: Sequence[str], features: Array, energies_j: Array, groups: Sequence[object]
) -> dict[str, tuple[float, float]]:
    if len(set(groups)) < FEWEST_ARCHITECTURES:
        return {}
    found = [solve(features[rows], energies_j[rows]) for rows in resamples(groups, RESAMPLES)]
    level = _expanded_level(len(set(groups)))
    low, high = np.quantile(np.array(found), (1 - level, level), axis=0)
    return {name: (float(low[i]), float(high[i])) for i, name in enumerate(names)}


def _expanded_level(group_count: int) -> float:
    """Return the percentile to take so that few groups still cover what they should.

    Plain percentiles of 4 to 10 groups are too narrow; Hesterberg 2015 ("What teachers should know
    about the bootstrap") moves them out to where a t interval would stand.
    """
    away = float(stdtrit(group_count - 1, HIGH)) * (group_count / (group_count - 1)) ** 0.5
    return NormalDist().cdf(away)


def _condition(
    names: Sequence[str], features: Array, energies_j: Array
) -> tuple[float, tuple[str, ...]]:
    """Return the largest condition index, and the coefficients that move together at it."""
    relative = features / energies_j[:, None]
    norms = np.linalg.norm(relative, axis=0)
    _, singular, directions = np.linalg.svd(relative / np.where(norms, norms, 1))
    singular = np.maximum(singular, singular[0] * 1e-12)
    variance = (directions / singular[:, None]) ** 2
    shares = (variance / variance.sum(axis=0))[-1]
    index = float(singular[0] / singular[-1])
    together = tuple(
        name
        for name, share in zip(names, shares, strict=True)
        if index > MOST_CONDITION and share > SHARED_VARIANCE_FRAC
    )
    return index, together


def _unidentified(
    values: dict[str, float],
    intervals: dict[str, tuple[float, float]],
    index: float,
    together: Sequence[str],
    architecture_count: int,
) -> dict[str, str]:
    """Return why a coefficient is not fixed by the rows, for each that is not."""
    reasons = {}
    for name, value in values.items():
        if value == 0:
            reasons[name] = "fitted at 0: the rows show none of it"
        elif name in together:
            others = ", ".join(each for each in together if each != name) or "the others"
            reasons[name] = f"moves together with {others} (condition index {index:.0f})"
        elif not intervals:
            reasons[name] = (
                f"{architecture_count} architectures give no interval; "
                f"{FEWEST_ARCHITECTURES} are needed"
            )
        elif intervals[name][0] <= value * 1e-6:
            reasons[name] = "its interval touches 0"
    return reasons


def _first_of_each(rows: Sequence[Measurement]) -> tuple[str, ...]:
    first: dict[object, str] = {}
    for row in rows:
        first.setdefault(row.shape.body_id, row.shape.architecture_id)
    return tuple(sorted(first.values()))


def _require_enough(rows: Sequence[Measurement], groups: Sequence[object], form: str) -> None:
    needed = len(FORMS[form])
    if len(rows) < needed:
        raise BadInputError(
            f"{len(rows)} rows are too few for {needed} coefficients. {_still_known(rows)}"
        )
    if len(set(groups)) == 1:
        raise BadInputError(
            f"all {len(rows)} rows are of one architecture ({rows[0].shape.architecture_id}), so "
            "weights and steps (c and s) cannot be told apart; measure a second one of another "
            f"size. {_still_known(rows)}"
        )


def _still_known(rows: Sequence[Measurement]) -> str:
    """Return what few rows still say: joules per output token at their batches."""
    each = sorted(row.energy_j / row.output_tokens for row in rows)
    batches = sorted({row.batch for row in rows})
    return (
        f"What can still be said: {each[0]:.3g} to {each[-1]:.3g} J per output token at batch "
        f"{batches[0]:g} to {batches[-1]:g}."
    )
