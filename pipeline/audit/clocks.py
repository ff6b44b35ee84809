"""Do the clocks of runs and log agree? A wrong time zone, an offset, a drift: told, never applied.

Runs draw more than the time around them. So the shift of the runs at which they stand out most is
the one at which the clocks agree.
"""

import datetime as dt
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import stdtr

from pipeline.audit.energy import placed
from pipeline.audit.rules import Rules
from pipeline.audit.tracks import SECOND_US, Tracks, integrals_between

_HOUR_S = 3600
_FEWEST_RUNS = 5  # for a slope and its error


@dataclass(frozen=True)
class Clocks:
    """How the clocks of runs and log stand to each other; seconds, log minus runs."""

    zone_shift_s: float | None  # what to add to the times of the runs; None where nothing is better
    inside_frac: float  # share of the runs that lie in the log as told
    offset_s: float | None  # median over runs; None where no run stands out
    drift_s_per_hour: float | None
    drift_p: float | None
    is_drifting: bool


def compare_clocks(
    samples: pl.DataFrame, tracks: Tracks, runs: pl.DataFrame, rules: Rules
) -> Clocks:
    """Return what the shape of the power says of the clocks."""
    on_gpus = placed(samples, runs.filter(~pl.col("is_baseline")))
    line = tracks.power
    if line.is_empty() or on_gpus.is_empty():
        return Clocks(None, 0.0, None, None, None, False)
    zone_shift_s, inside = _zone_shift(line, on_gpus, rules)
    offsets = _offsets(line, on_gpus, rules)
    drift, p = _slope(offsets)
    hours = _hours(offsets)
    return Clocks(
        zone_shift_s,
        inside,
        _median(offsets.get_column("offset_s")),
        drift,
        p,
        drift is not None
        and p is not None
        and abs(drift) * hours > rules.clock_alarm_s
        and p < rules.family_error_frac / 10,
    )


def _shifted(line: pl.DataFrame, on_gpus: pl.DataFrame, shifts_s: list[float]) -> pl.DataFrame:
    """Return each run's mean power as if it had been at other times: run_set, run_id, shift_s."""
    shifts = pl.DataFrame({"shift_s": shifts_s}, schema={"shift_s": pl.Float64})
    moved = pl.duration(microseconds=(pl.col("shift_s") * SECOND_US).round())
    windows = on_gpus.join(shifts, how="cross").select(
        "run_set",
        "run_id",
        pl.col("placed_gpu").alias("gpu"),
        "shift_s",
        "duration_s",
        pl.col("started_at").alias("told_at"),
        (pl.col("started_at") + moved).alias("first_at"),
        (pl.col("ended_at") + moved).alias("last_at"),
    )
    return integrals_between(line, windows).with_columns(
        (pl.col("integral") / pl.col("window_s")).alias("power_w")
    )


def _zone_shift(
    line: pl.DataFrame, on_gpus: pl.DataFrame, rules: Rules
) -> tuple[float | None, float]:
    steps = round(rules.zone_most_s / rules.zone_step_s)
    shifts = [each * rules.zone_step_s for each in range(-steps, steps + 1)]
    ends = line.group_by("gpu").agg(
        (pl.col("integral").max() / pl.col("step_s").sum()).alias("usual_w")
    )
    by_shift = (
        _shifted(line, on_gpus, shifts)
        .join(ends, on="gpu", how="left")
        .sort("shift_s", "run_set", "run_id", "gpu")
        .group_by("shift_s", maintain_order=True)
        .agg(
            pl.col("power_w").is_not_null().mean().alias("inside_frac"),
            (pl.col("power_w") - pl.col("usual_w")).mean().alias("contrast_w"),
        )
    )
    told = by_shift.filter(pl.col("shift_s") == 0).row(0, named=True)
    inside = float(told["inside_frac"])
    # The smallest shift of equal ones.
    best = (
        by_shift.filter(pl.col("inside_frac") >= rules.zone_inside_frac, pl.col("contrast_w") > 0)
        .with_columns(pl.col("shift_s").abs().alias("size_s"))
        .sort(["contrast_w", "size_s", "shift_s"], descending=[True, False, False])
        .head(1)
    )
    if best.is_empty() or best.item(0, "shift_s") == 0:
        return None, inside
    is_lost = inside < rules.zone_inside_frac
    here = max(float(told["contrast_w"] or 0), 0)
    is_clearer = float(best.item(0, "contrast_w")) > rules.zone_contrast_ratio * here
    return (float(best.item(0, "shift_s")) if is_lost or is_clearer else None), inside


def _offsets(line: pl.DataFrame, on_gpus: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return by how much each run must move to draw most: run_id, told_at, offset_s.

    Between plain steps of the search the middle of all best shifts counts; runs whose best shift is
    an end of the search, or that hardly stand out from its ends, say nothing.
    """
    steps = round(rules.clock_most_s / rules.clock_step_s)
    shifts = [each * rules.clock_step_s for each in range(-steps, steps + 1)]
    by_run = (
        _shifted(line, on_gpus, shifts)
        .sort("run_set", "run_id", "shift_s", "gpu")
        .group_by("run_set", "run_id", "told_at", "shift_s", "duration_s", maintain_order=True)
        .agg(pl.col("power_w").sum(), pl.col("power_w").is_not_null().all().alias("is_known"))
        .filter(pl.col("is_known").all().over("run_set", "run_id"))
        .filter(pl.col("duration_s") > 2 * rules.clock_most_s)
    )
    key = ["run_set", "run_id"]
    most, least = pl.col("power_w").max().over(key), pl.col("power_w").min().over(key)
    near = (most - pl.col("power_w")) <= 0.02 * (most - least)
    return (
        by_run.filter((most - least) > 0.05 * most)
        .filter(near)
        .group_by("run_set", "run_id", "told_at")
        .agg(
            ((pl.col("shift_s").min() + pl.col("shift_s").max()) / 2).alias("offset_s"),
            (pl.col("shift_s").abs().max() < rules.clock_most_s).alias("is_inside"),
        )
        .filter("is_inside")
        .sort("told_at", "run_set", "run_id")
    )


def _median(series: pl.Series) -> float | None:
    value = series.median()
    return float(value) if isinstance(value, int | float) else None


def _hours(offsets: pl.DataFrame) -> float:
    if offsets.is_empty():
        return 0.0
    told = offsets.get_column("told_at").to_list()
    span: dt.timedelta = told[-1] - told[0]
    return span.total_seconds() / _HOUR_S


def _slope(offsets: pl.DataFrame) -> tuple[float | None, float | None]:
    """Return by how many seconds an hour the offset grows, and the chance of that without drift."""
    if offsets.height < _FEWEST_RUNS or _hours(offsets) == 0:
        return None, None
    first = offsets.get_column("told_at").min()
    hours = (
        offsets.select((pl.col("told_at") - pl.lit(first)).dt.total_microseconds())
        .to_series()
        .to_numpy()
        / SECOND_US
        / _HOUR_S
    )
    offset = offsets.get_column("offset_s").to_numpy()
    centred = hours - hours.mean()
    squares = float(centred @ centred)
    slope = float(centred @ offset) / squares
    freedom = len(offset) - 2
    residuals = offset - offset.mean() - slope * centred
    error = float(np.sqrt(residuals @ residuals / freedom / squares))
    if error == 0:
        return slope, 0.0 if slope else 1.0
    return slope, 2 * float(stdtr(freedom, -abs(slope) / error))
