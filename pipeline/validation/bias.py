"""What classes of architecture add to the law, and how far one architecture strays from its class.

`python -m pipeline.bias --measurements FILE` prints rows for `data/reference/bias_factors.csv`: the
value is the geometric mean of measured over predicted, one vote an architecture and precision; the
range is a t prediction interval for one more architecture. It judges a coefficient set by rows of
its own GPU and software, current versions only, without the outdated or the cacheless.

For dense models these votes include rows that a set was fitted to, where law and measurement agree
by construction. So it prints, too, what rows say that a set has never seen, and how far the prompt
lengths that had to be assumed for them move the answer.
"""

import argparse
import math
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from pipeline.law_list import coefficient_set
from pipeline.validation.fit import leave_one_out
from pipeline.validation.known_data import ASSUMED_INPUT_TOKENS, FITTED_TO, OUTDATED, is_sound
from pipeline.validation.measured_work import Measurement, energy_j, terms
from pipeline.validation.measurements import Subset, read_measurements

LEVEL = 0.95  # each end of a range
PROMPT_RATIOS = (0.5, 1.0, 1.5)  # of the prompt lengths that are assumed
FITTED_TERMS = 4

Key = tuple[str, str]  # architecture class, coefficient set
Logs = dict[tuple[str, float], list[float]]  # architecture and precision → log residuals


def read_current(path: Path) -> list[Measurement]:
    """Return the sound rows of current software with a KV cache."""
    reading = read_measurements(path, Subset(), None, ASSUMED_INPUT_TOKENS)
    return [
        row
        for row in reading.rows
        if is_sound(row) and row.has_kv_cache and row.dataset not in OUTDATED
    ]


def class_logs(rows: Iterable[Measurement]) -> dict[Key, list[float]]:
    """Return, by class and set, one log of measured over predicted for each architecture.

    Weights below 16 bits count where the software serves them as such; kernels that unpack them
    for every product (bitsandbytes) are another matter.
    """
    found: dict[Key, Logs] = {}
    for row in rows:
        set_id, prices = coefficient_set(row.gpu, row.stack)
        if set_id not in FITTED_TO or not _is_home(row, set_id):
            continue
        if row.bytes_per_weight < 2 and not row.stack.lower().startswith("vllm"):
            continue
        logs = found.setdefault((row.architecture_class, set_id), {})
        member = (row.shape.architecture_id, row.bytes_per_weight)
        logs.setdefault(member, []).append(math.log(row.energy_j / energy_j(row, prices)))
    return {key: [statistics.fmean(each) for each in logs.values()] for key, logs in found.items()}


def stack_logs(rows: Iterable[Measurement]) -> dict[tuple[str, str, str], float]:
    """Return the mean log of measured over predicted of dense models, by data set, GPU and stack.

    Only where the GPU has a set of its own that was not fitted to these rows.
    """
    found: dict[tuple[str, str, str], Logs] = {}
    for row in rows:
        set_id, prices = coefficient_set(row.gpu, row.stack)
        home = FITTED_TO[set_id]
        is_own_gpu = row.gpu == home.gpu
        if not row.is_plain or not is_own_gpu or _is_fitted(row, set_id):
            continue
        logs = found.setdefault((row.dataset, row.gpu, row.stack), {})
        member = (row.shape.architecture_id, row.bytes_per_weight)
        logs.setdefault(member, []).append(math.log(row.energy_j / energy_j(row, prices)))
    return {
        key: statistics.fmean(statistics.fmean(each) for each in logs.values())
        for key, logs in found.items()
    }


def never_seen_logs(path: Path, set_id: str, prompt_ratio: float = 1) -> list[float]:
    """Return one log of measured over predicted for each dense model that a set has never seen.

    Args:
        path: File of measurements.
        set_id: Coefficient set; rows are of its GPU and software, in 16 bits.
        prompt_ratio: What assumed prompt lengths are multiplied by.
    """
    assumed = {key: tokens * prompt_ratio for key, tokens in ASSUMED_INPUT_TOKENS.items()}
    reading = read_measurements(path, Subset(gpu=FITTED_TO[set_id].gpu), None, assumed)
    logs: dict[str, list[float]] = {}
    for row in reading.rows:
        own, prices = coefficient_set(row.gpu, row.stack)
        is_current = is_sound(row) and row.has_kv_cache and row.dataset not in OUTDATED
        is_unseen = row.is_plain and own == set_id and not _is_fitted(row, set_id)
        if is_current and is_unseen and _is_home(row, set_id):
            architecture = logs.setdefault(row.shape.architecture_id, [])
            architecture.append(math.log(row.energy_j / energy_j(row, prices)))
    return [statistics.fmean(each) for each in logs.values()]


def unseen_logs(path: Path) -> dict[str, list[float]]:
    """Return, for each set of three architectures or more, the mean log residual of each unseen."""
    found = {}
    for set_id, subset in FITTED_TO.items():
        rows = read_measurements(path, subset).rows
        groups = [row.shape.body_id for row in rows]
        energies_j = np.array([row.energy_j for row in rows])
        features = np.array([terms(row)[:FITTED_TERMS] for row in rows])
        unseen_j = leave_one_out(features, energies_j, groups)
        if unseen_j is not None:
            logs = np.log(energies_j / unseen_j)
            found[set_id] = [
                float(np.mean(logs[[each == group for each in groups]]))
                for group in dict.fromkeys(groups)
            ]
    return found


def half_width(logs: Sequence[float], degrees: int | None = None, sd: float | None = None) -> float:
    """Return the half-width of a t prediction interval for one more of `logs`.

    Args:
        logs: Log residuals, one an architecture.
        degrees: Degrees of freedom behind `sd`, where it is pooled over several lots.
        sd: Standard deviation of a log residual; that of `logs` if not given.
    """
    spread = statistics.stdev(logs) if sd is None else sd
    freedom = len(logs) - 1 if degrees is None else degrees
    return float(stdtrit(freedom, LEVEL)) * spread * math.sqrt(1 + 1 / len(logs))


def pooled_half_width(lots: Iterable[Sequence[float]]) -> float:
    """Return the half-width for one more architecture of any lot, their spreads pooled."""
    kept = [lot for lot in lots if len(lot) > 1]
    degrees = sum(len(lot) - 1 for lot in kept)
    squares = sum(statistics.variance(lot) * (len(lot) - 1) for lot in kept)
    everything = [each for lot in kept for each in lot]
    return half_width(everything, degrees, math.sqrt(squares / degrees))


def _is_home(row: Measurement, set_id: str) -> bool:
    """Return whether a row is of the GPU and software that a set was fitted to."""
    home = FITTED_TO[set_id]
    software = (home.stack or "").lower().split()[0]
    return row.gpu == home.gpu and row.stack.lower().startswith(software)


def _is_fitted(row: Measurement, set_id: str) -> bool:
    home = FITTED_TO[set_id]
    return (row.dataset, row.gpu, row.stack) == (home.dataset, home.gpu, home.stack)


def main() -> None:
    """Print what the measurements say of bias factors and of grade A's range."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--measurements", type=Path, required=True)
    path = parser.parse_args().measurements
    rows = read_current(path)
    print("architecture_class,coefficient_set_id,bias_factor,bias_low,bias_high,architectures")
    for (architecture_class, set_id), logs in sorted(class_logs(rows).items()):
        value = math.exp(statistics.fmean(logs))
        width = math.exp(half_width(logs)) if len(logs) > 1 else math.nan
        print(
            f"{architecture_class},{set_id},{value:.2f},{value / width:.2f},{value * width:.2f},"
            f"{len(logs)}"
        )
    for (dataset, gpu, stack), mean in sorted(stack_logs(rows).items()):
        print(f"dense models of {dataset} on {gpu}, {stack}: {math.exp(mean):.2f} times the law")
    for set_id in ("h100-sxm-vllm-1", "b200-vllm-1"):
        for ratio in PROMPT_RATIOS:
            logs = never_seen_logs(path, set_id, ratio)
            value, width = math.exp(statistics.fmean(logs)), math.exp(half_width(logs))
            print(
                f"{set_id}, dense models it has never seen, prompts {ratio:g} times those assumed: "
                f"{value:.2f} ({value / width:.2f} to {value * width:.2f}), {len(logs)} models"
            )
    unseen = unseen_logs(path)
    for set_id, logs in unseen.items():
        width = half_width(logs)
        print(f"{set_id}: an unseen architecture within a factor {math.exp(width):.3f}")
    print(f"all of them pooled: within a factor {math.exp(pooled_half_width(unseen.values())):.3f}")


if __name__ == "__main__":
    main()
