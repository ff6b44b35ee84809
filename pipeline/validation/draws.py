"""Joint draws of everything that a total energy is unsure of, for ranges of sums.

`python -m pipeline.draws --measurements FILE` rewrites `data/reference/joint_draws.csv`: 256 rows,
each one possible world, always the same ones. A total is computed once in every world; its range is
what the worlds say. Request errors average out in a sum; what is shared does not, so each row holds
one value of everything shared:

    a_ratio … s_ratio   true over fitted coefficients, drawn together (what one gains, another
                        loses): refits to resampled architectures of the H200 set. The same for
                        every set, since most books rest on one.
    stack_ratio         what a serving stack adds to or takes from all models alike
    dense_ratio …       what one class of architecture adds beyond its bias factor; classes are
                        independent of each other and of the stack
    batch_z_score …     how full servers are, what host, idle capacity and cooling add, how much of
                        an unknown input came from a cache: standard normal. A reference row
                        (value, low, high) becomes, in this world,
                        value · (high / value)^(z / 1.645) for z ≥ 0 and
                        value · (low / value)^(−z / 1.645) below; a batch is at least 1. So a row
                        that the settings fix (low = value = high) stays fixed.
    small_z_score …     how far the closed models of a tier lie from their stand-ins, all of them
                        alike: standard normal, over the range of their grade

Normal columns take 256 equally likely values in shuffled order, so medians are exact and columns
almost uncorrelated.
"""

import argparse
import csv
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from pipeline.reference import reference_rows
from pipeline.settings import bundled
from pipeline.validation.bias import (
    LEVEL,
    class_logs,
    pooled_half_width,
    read_current,
    stack_logs,
    unseen_logs,
)
from pipeline.validation.fit import SEED, resamples, solve
from pipeline.validation.known_data import FITTED_TO
from pipeline.validation.measured_work import terms
from pipeline.validation.measurements import read_measurements

TABLE = "joint_draws"
COUNT = 256
SOURCE_DATE = "2026-11-30"
Z = statistics.NormalDist().inv_cdf(LEVEL)  # 1.645: where low and high of a range stand
COEFFICIENT_RATIOS = ("a_ratio", "b_ratio", "c_ratio", "s_ratio")
ASSUMED = ("batch", "host", "idle", "pue", "cached")
TIERS = ("small", "middle", "large")
CLASSES = ("dense", "moe", "mla", "window", "hybrid")
BOOTSTRAP_SET = "h200-sxm-vllm-1"  # most architectures on one current stack
FEWEST_MEASURED = 5  # architectures of a class, below which its bias range speaks


def joint_draws(path: Path) -> list[dict[str, float]]:
    """Return the worlds, from a file of measurements."""
    rows = read_current(path)
    shuffle = random.Random(SEED)  # noqa: S311  # a fixed seed is the point
    columns = {
        "stack_ratio": _ratios(stack_sigma(list(stack_logs(rows).values())), shuffle),
        **{
            f"{each}_ratio": _ratios(sigma, shuffle)
            for each, sigma in class_sigmas(class_logs(rows), unseen_logs(path)).items()
        },
        **{f"{each}_z_score": _scores(shuffle) for each in (*ASSUMED, *TIERS)},
    }
    return [
        {"draw": number, **dict(zip(COEFFICIENT_RATIOS, together, strict=True))}
        | {name: values[number - 1] for name, values in columns.items()}
        for number, together in enumerate(_coefficient_ratios(path), start=1)
    ]


def stack_sigma(logs: Sequence[float]) -> float:
    """Return the spread of stacks and data sets around the law, widened for how few there are."""
    square = statistics.fmean(each * each for each in logs)
    return math.sqrt(square) * float(stdtrit(len(logs), LEVEL)) / Z


def class_sigmas(
    logs: dict[tuple[str, str], list[float]], unseen: dict[str, list[float]]
) -> dict[str, float]:
    """Return the spread of architectures within each class, as a standard deviation of the log.

    Dense: architectures that the fit had not seen. Others: architectures around the mean of their
    class on each set; where fewer than five were measured, the width of the class's bias row.
    """
    sigmas = {"dense": pooled_half_width(unseen.values()) / Z}
    for each in CLASSES[1:]:
        lots = [lot for (name, _), lot in logs.items() if name == each and len(lot) > 1]
        is_measured = sum(map(len, lots)) >= FEWEST_MEASURED
        sigmas[each] = (pooled_half_width(lots) if is_measured else _half_range(each)) / Z
    return sigmas


def _half_range(architecture_class: str) -> float:
    [row] = [
        row
        for row in reference_rows("bias_factors")
        if (row["architecture_class"], row["coefficient_set_id"]) == (architecture_class, "*")
    ]
    return math.log(float(row["bias_high"]) / float(row["bias_low"])) / 2


def _coefficient_ratios(path: Path) -> list[list[float]]:
    rows = read_measurements(path, FITTED_TO[BOOTSTRAP_SET]).rows
    energies_j = np.array([row.energy_j for row in rows])
    features = np.array([terms(row)[: len(COEFFICIENT_RATIOS)] for row in rows])
    fitted = solve(features, energies_j)
    samples = resamples([row.shape.body_id for row in rows], COUNT)
    return [(solve(features[each], energies_j[each]) / fitted).tolist() for each in samples]


def _scores(shuffle: random.Random) -> list[float]:
    normal = statistics.NormalDist()
    scores = [normal.inv_cdf((place + 0.5) / COUNT) for place in range(COUNT)]
    shuffle.shuffle(scores)
    return scores


def _ratios(sigma: float, shuffle: random.Random) -> list[float]:
    return [math.exp(sigma * score) for score in _scores(shuffle)]


def main() -> None:
    """Rewrite the joint draws from a file of measurements."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--measurements", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=bundled("data/reference"))
    told = parser.parse_args()
    worlds = joint_draws(told.measurements)
    with (told.folder / f"{TABLE}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*worlds[0], "source", "source_date"])
        for world in worlds:
            numbers = [f"{value:.5g}" for value in world.values()]
            writer.writerow([*numbers, f"pipeline.draws, seed {SEED}", SOURCE_DATE])


if __name__ == "__main__":
    main()
