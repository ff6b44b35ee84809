"""Does a stored coefficient set still say what the rows say that it was fitted to?"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pipeline.reference import reference_rows
from pipeline.validation.fit import FEWEST_ARCHITECTURES, fit, mape_frac
from pipeline.validation.known_data import FITTED_TO
from pipeline.validation.measured_work import Measurement, energy_j
from pipeline.validation.measurements import coefficients_of, is_of

ROUNDING_FRAC = 5e-4  # errors are stored to four digits, coefficients too


def coefficient_faults(row: Mapping[str, str], rows: Sequence[Measurement]) -> list[str]:
    """Return what is wrong with a row of the coefficients table, judged by its own measurements.

    Args:
        row: Row of `data/reference/law_coefficients.csv`.
        rows: The measurements that it was fitted to.
    """
    prices, set_id = coefficients_of(row), row["coefficient_set_id"]
    measured_j = np.array([each.energy_j for each in rows])
    found = mape_frac(np.array([energy_j(each, prices) for each in rows]), measured_j)
    stated = float(row["mape_in_sample_frac"])
    faults = []
    if abs(found - stated) > ROUNDING_FRAC:
        faults.append(f"{set_id}: error {found:.2%} on its own rows, {stated:.2%} is stated")
    if len({each.shape.body_id for each in rows}) < FEWEST_ARCHITECTURES:
        return faults
    form = "step" if prices.s_j_per_step else "layer"
    for name, (low, high) in fit(rows, form).intervals.items():
        value = getattr(prices, name)
        if not low <= value <= high:
            faults.append(f"{set_id}: {name} {value:.4g} is outside {low:.4g} to {high:.4g}")
    return faults


def all_coefficient_faults(rows: Iterable[Measurement]) -> list[str]:
    """Return the faults of every stored set whose own rows are among the measurements."""
    kept, faults = list(rows), []
    for row in reference_rows("law_coefficients"):
        subset = FITTED_TO.get(row["coefficient_set_id"])
        most = float(row["batch_high"]) + 0.5
        own = [each for each in kept if subset and is_of(each, subset) and each.batch < most]
        if own:
            faults += coefficient_faults(row, own)
    return faults
