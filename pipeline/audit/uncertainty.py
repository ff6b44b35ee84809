"""The uncertainty budget of an audit, in the manner of the GUM (JCGM 100:2008).

Each line is a standard uncertainty relative to the energy of the median run, of type A (from
repeats) or B (from what is known of the instrument), and what is left of it in a ratio of two
runs. What differs from run to run is already in the spread of repeats, so it is not added again
where there are repeats. Repeatability (same log) stands apart from reproducibility (another block).
"""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.audit.linearity import CELL, usable
from pipeline.audit.rules import Rules, Sensor

COVERAGE_FACTOR = 2
_SCHEMA = {
    "component": pl.String, "kind": pl.String, "standard_frac": pl.Float64,
    "ratio_frac": pl.Float64, "is_in_repeats": pl.Boolean, "meaning": pl.String,
}  # fmt: skip


def budget(
    rows: pl.DataFrame, loaded: Mapping[str, Any] | None, sensor: Sensor, window_s: float,
    step_s: float, rules: Rules,
) -> pl.DataFrame:  # fmt: skip
    """Return the budget: component, kind, standard_frac, ratio_frac, is_in_repeats, meaning.

    Args:
        rows: Runs with energy, power before them and the spread of their readings.
        loaded: The model-loaded baseline, None where there is none.
        sensor: How the power was read.
        window_s: Averaging window, as the log shows it or the sensor is said to have.
        step_s: Usual time between two readings.
        rules: Standard uncertainty of the clocks.
    """
    used = rows.filter(usable())
    if used.is_empty():
        return pl.DataFrame([], schema=_SCHEMA)
    energy_j, duration_s = _median(used, "energy_j"), _median(used, "duration_s")
    above_w = energy_j / duration_s - (_median(used, "before_power_w") or 0.0)
    spread_w = _median(used, "power_spread_w")
    readings = max(duration_s / window_s, 1.0)
    edge = abs(above_w) / energy_j
    parts: list[tuple[str, str, float | None, float | None, bool, str]] = [
        ("sensor gain", "B", sensor.gain_frac, 0.0, False,
         "one gain for all runs of a sensor, so it cancels in ratios"),
        ("duty cycle", "B",
         spread_w / (energy_j / duration_s) * math.sqrt((1 - sensor.duty_frac) / readings),
         None, True, f"the sensor sees {sensor.duty_frac:.0%} of the time"),
        ("averaging", "B", edge * window_s / 2 / math.sqrt(3), None, True,
         f"readings lag by up to half of {window_s:.3g} s, at both ends of a run"),
        ("edges", "B", edge * step_s / 3, edge * step_s / 3, False,
         f"power is drawn straight between readings {step_s:.3g} s apart, so a run loses a third "
         "of a step at its ends; not corrected"),
        ("clock synchronisation", "B", edge * rules.clock_sync_s, None, True,
         f"start and end are known to {rules.clock_sync_s:g} s"),
        ("integration", "B", _integration(used), None, True,
         "energy counter against trapezoid; unknown without a counter"),
        ("baseline", "B", _baseline(loaded, duration_s, energy_j), None, False,
         "of energy above the model-loaded baseline alone; not in the sums below"),
    ]  # fmt: skip
    lines = [
        (*part[:3], _two(part[2]) if part[3] is None else part[3], *part[4:]) for part in parts
    ]
    repeated = repeatability_frac(used)
    lines.append(
        ("repeatability", "A", repeated, _two(repeated), True,
         "standard deviation of ln(energy per token) over repeats of a cell, same log")
    )  # fmt: skip
    return pl.DataFrame([*lines, *_sums(lines, repeated), _reproducibility(used)], schema=_SCHEMA,
                        orient="row")  # fmt: skip


def repeatability_frac(used: pl.DataFrame) -> float | None:
    """Return the pooled standard deviation of ln(energy per output token) within cells."""
    cells = (
        _per_token(used)
        .group_by(CELL)
        .agg(
            ((pl.col("y") - pl.col("y").mean()) ** 2).sum().alias("squares"),
            pl.len().alias("count"),
        )
        .sort(CELL)
    )
    freedom = int(cells.select((pl.col("count") - 1).sum()).item())
    return math.sqrt(cells.get_column("squares").sum() / freedom) if freedom > 0 else None


def _per_token(used: pl.DataFrame) -> pl.DataFrame:
    return used.filter(pl.col("output_tokens") > 0).with_columns(
        (pl.col("energy_j") / pl.col("output_tokens")).log().alias("y")
    )


def _reproducibility(used: pl.DataFrame) -> tuple[str, str, float | None, float | None, bool, str]:
    """Return the spread between blocks beyond that within them; unknown without blocks."""
    blocked = _per_token(used.filter(pl.col("block").is_not_null())).with_columns(
        (pl.col("y") - pl.col("y").mean().over(CELL)).alias("y")
    )
    key = ["run_set", "model", "block"]
    blocks = (
        blocked.group_by(key)
        .agg(
            pl.col("y").mean().alias("mean"),
            pl.col("y").var().alias("variance"),
            pl.len().alias("n"),
        )
        .sort(key)
    )
    found = None
    if blocks.height > 1 and blocks.get_column("variance").null_count() == 0:
        between = blocks.get_column("mean").var()
        within = blocks.select((pl.col("variance") / pl.col("n")).mean()).item()
        if isinstance(between, int | float):
            found = math.sqrt(max(float(between) - float(within), 0.0))
    return (
        "reproducibility", "A", found, _two(found), False,
        "between blocks of this log, beyond repeatability; another day, machine or meter is not "
        "known from one log; not in the sums",
    )  # fmt: skip


def _sums(
    lines: list[tuple[str, str, float | None, float | None, bool, str]], repeated: float | None
) -> list[tuple[str, str, float | None, float | None, bool, str]]:
    counted = [
        line
        for line in lines
        if line[0] != "baseline" and (repeated is None or line[1] == "A" or not line[4])
    ]
    combined = [math.sqrt(math.fsum((line[at] or 0.0) ** 2 for line in counted)) for at in (2, 3)]  # type: ignore[operator]
    words = "repeats and what they cannot show" if repeated else "all of type B; no repeats"
    return [
        ("combined", "A and B", combined[0], combined[1], False,
         f"root of the sum of squares: {words}"),
        ("expanded", "A and B", COVERAGE_FACTOR * combined[0], COVERAGE_FACTOR * combined[1], False,
         f"combined × {COVERAGE_FACTOR}, about 95 %"),
    ]  # fmt: skip


def _integration(used: pl.DataFrame) -> float | None:
    value = used.select(pl.col("difference_frac").abs().median()).item()
    return None if value is None else float(value) / math.sqrt(3)


def _baseline(loaded: Mapping[str, Any] | None, duration_s: float, energy_j: float) -> float | None:
    if loaded is None or loaded["spread_w"] is None:
        return None
    error_w = loaded["spread_w"] / math.sqrt(loaded["time_count"])
    return float(error_w * duration_s / energy_j)


def _two(value: float | None) -> float | None:
    """Return what is left of an uncertainty in the ratio of two runs that err independently."""
    return None if value is None else math.sqrt(2) * value


def _median(used: pl.DataFrame, name: str) -> float:
    value = used.get_column(name).median()
    return float(value) if isinstance(value, int | float) else 0.0
