"""Measured beside predicted energy of a request: means of like measurements, for one figure.

`python -m pipeline.law_points --measurements FILE` rewrites `data/reference/law_points.csv`. A
point is the geometric mean over the measurements of one architecture on one GPU and stack at like
lengths and batch. Only GPUs with coefficients of their own and current software are there; data
sets without a licence are left out, since single values of theirs may not be passed on. What
predicts a point:

    stored      the coefficients and bias factor that reports use; they never saw these rows
    left_out    the coefficient set fitted again without the point's architecture
    fitted      the coefficients alone, fitted to these very rows: no test
"""

import argparse
import csv
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.law_list import bias_factor, coefficient_set
from pipeline.settings import bundled
from pipeline.validation.fit import leave_one_out
from pipeline.validation.known_data import FITTED_TO
from pipeline.validation.measured_work import Measurement, energy_j, terms
from pipeline.validation.measurements import is_of, read_measurements
from pipeline.validation.validate import judged_reading

TABLE = "law_points"
SOURCE_DATE = "2026-11-30"
REPOSITORIES = {
    "argonne": "argonne-lcf/LLM-Inference-Bench (BSD-3-Clause)",
    "cregg_energybench": "danielcregg/llm-energy-framework, prior_work (MIT)",
    "ecocompute": "hongping-zh/ecocompute-dynamic-eval (MIT)",
    "joulebench": "danielcregg/llm-energy-framework, results (MIT)",
    "mlenergy_v3": "ml-energy/leaderboard (Apache-2.0)",
}
FITTED_TERMS = 4
LIKE_BATCH, LIKE_LENGTH = 4, 8  # a cell's batches and lengths lie within about such a factor
COLUMNS = (
    *("dataset", "gpu", "stack", "architecture_id", "bytes_per_weight", "gpu_count"),
    *("batch", "input_tokens", "output_tokens", "row_count", "measured_j", "predicted_j"),
    *("predicted_by", "source", "source_date"),
)

Cell = tuple[str, str, str, str, float, int, int, int, int]
Predicted = tuple[float, str]  # joules, and what says so


def points(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table, from a file of measurements."""
    unseen_j = _unseen_j(path)
    cells: dict[Cell, list[tuple[Measurement, Predicted]]] = {}
    for row in judged_reading(path).rows:
        if _is_shown(row):
            cells.setdefault(_cell(row), []).append((row, _predicted(row, unseen_j)))
    return [_point(members) for _, members in sorted(cells.items())]


def _is_shown(row: Measurement) -> bool:
    set_id, _ = coefficient_set(row.gpu, row.stack)
    return (
        row.phase == "total"
        and row.has_kv_cache
        and row.dataset in REPOSITORIES
        and set_id in FITTED_TO
        and FITTED_TO[set_id].gpu == row.gpu
    )


def _cell(row: Measurement) -> Cell:
    return (
        row.dataset,
        row.gpu,
        row.stack,
        row.shape.architecture_id,
        row.bytes_per_weight,
        row.gpu_count,
        round(math.log(row.batch, LIKE_BATCH)),
        round(math.log(row.input_tokens, LIKE_LENGTH)),
        round(math.log(row.output_tokens, LIKE_LENGTH)),
    )


def _predicted(row: Measurement, unseen_j: dict[int, float]) -> Predicted:
    set_id, prices = coefficient_set(row.gpu, row.stack)
    if row.source_line in unseen_j:
        return unseen_j[row.source_line], "left_out"
    if is_of(row, FITTED_TO[set_id]):
        return energy_j(row, prices), "fitted"
    return energy_j(row, prices) * bias_factor(row.architecture_class, set_id), "stored"


def _unseen_j(path: Path) -> dict[int, float]:
    """Return the energies of rows that sets were fitted to, each without its architecture."""
    found: dict[int, float] = {}
    for subset in FITTED_TO.values():
        rows = read_measurements(path, subset).rows
        features = np.array([terms(row)[:FITTED_TERMS] for row in rows])
        energies_j = np.array([row.energy_j for row in rows])
        unseen = leave_one_out(features, energies_j, [row.shape.body_id for row in rows])
        if unseen is not None:
            lines = [row.source_line for row in rows]
            found.update(zip(lines, map(float, unseen), strict=True))
    return found


def _point(members: Sequence[tuple[Measurement, Predicted]]) -> dict[str, str]:
    rows = [row for row, _ in members]
    first, count = rows[0], len(rows)
    (predicted_by,) = {by for _, (_, by) in members}
    return {
        "dataset": first.dataset,
        "gpu": first.gpu,
        "stack": first.stack,
        "architecture_id": first.shape.architecture_id,
        "bytes_per_weight": f"{first.bytes_per_weight:g}",
        "gpu_count": f"{first.gpu_count}",
        "batch": _mean([row.batch for row in rows]),
        "input_tokens": _mean([row.input_tokens for row in rows]),
        "output_tokens": _mean([row.output_tokens for row in rows]),
        "row_count": f"{count}",
        "measured_j": _mean([row.energy_j for row in rows]),
        "predicted_j": _mean([joules for _, (joules, _) in members]),
        "predicted_by": predicted_by,
        "source": f"{REPOSITORIES[first.dataset]}, geometric means by us",
        "source_date": SOURCE_DATE,
    }


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.geometric_mean(values):.4g}"


def main() -> None:
    """Rewrite the points from a file of measurements."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--measurements", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=bundled("data/reference"))
    told = parser.parse_args()
    rows = points(told.measurements)
    with (told.folder / f"{TABLE}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
