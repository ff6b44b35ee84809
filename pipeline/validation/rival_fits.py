"""Constants of the rules of thumb, fitted to the very rows that each coefficient set rests on.

`python -m pipeline.rival_fits --measurements FILE` rewrites those rows of
`data/reference/rival_coefficients.csv` whose scope is a coefficient set: joules per token, and
joules per parameter and output token, each with the output shared by the batch. So a month can be
computed by them beside our law, all from the same measurements.
"""

import argparse
import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pipeline.laws import rivals
from pipeline.reference import reference_rows
from pipeline.settings import bundled
from pipeline.validation.fit import Array, mape_frac, solve
from pipeline.validation.known_data import FITTED_TO
from pipeline.validation.measured_work import Measurement
from pipeline.validation.measurements import read_measurements

TABLE = "rival_coefficients"
SOURCE_DATE = "2026-11-30"
LINEAR = ("input_j_per_token", "output_j_per_token")
PARAMETERS = ("j_per_param_token",)


def fitted_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table for every coefficient set, from a file of measurements."""
    found = []
    for set_id, subset in FITTED_TO.items():
        rows = read_measurements(path, subset).rows
        found += _rows("linear", LINEAR, set_id, rows, _linear_terms)
        found += _rows("parameters_tokens", PARAMETERS, set_id, rows, _parameter_terms)
    return found


def _rows(
    law: str,
    names: Sequence[str],
    set_id: str,
    rows: Sequence[Measurement],
    terms: Callable[[Measurement], list[float]],
) -> list[dict[str, str]]:
    features: Array = np.array([terms(row) for row in rows])
    energies_j = np.array([row.energy_j for row in rows])
    values = solve(features, energies_j)
    error = mape_frac(features @ values, energies_j)
    unit = {"linear": "J/token", "parameters_tokens": "J/(parameter*token)"}[law]
    source = (
        f"fitted by us to the rows of {set_id}, output shared by the batch; "
        f"mean error there {error:.1%}"
    )
    return [
        {
            "law": law,
            "scope": set_id,
            "coefficient": name,
            "value": f"{value:.4g}",
            "unit": unit,
            "source": source,
            "source_date": SOURCE_DATE,
        }
        for name, value in zip(names, values, strict=True)
    ]


def _linear_terms(row: Measurement) -> list[float]:
    shared = row.output_tokens / row.batch
    ones = ((1, 0), (0, 1))
    return [float(rivals.linear_j(x, y, row.input_tokens, shared)) for x, y in ones]


def _parameter_terms(row: Measurement) -> list[float]:
    shared = row.output_tokens / row.batch
    return [float(rivals.parameters_tokens_j(1, row.shape.active_params, shared))]


def main() -> None:
    """Rewrite the fitted rows of the rivals' constants from a file of measurements."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--measurements", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=bundled("data/reference"))
    told = parser.parse_args()
    kept = [row for row in reference_rows(TABLE) if row["scope"] not in FITTED_TO]
    with (told.folder / f"{TABLE}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(kept[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *fitted_rows(told.measurements)])


if __name__ == "__main__":
    main()
