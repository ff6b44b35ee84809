"""What a log can bear: its steps, gaps, repeats, the sensor's averaging, clocks that jump back."""

import polars as pl

from pipeline.audit.energy import placed
from pipeline.audit.rules import Rules, sensor_of
from pipeline.audit.tracks import SECOND_US, Tracks, seconds

_LOW, _HIGH = 0.1, 0.9  # of a step of the power: a moving mean takes 0.8 of its window for it


def log_quality(samples: pl.DataFrame, tracks: Tracks) -> pl.DataFrame:
    """Return what each GPU's log is like.

    Returns:
        gpu, gpu_name, sample_count, known_power_count, first_at, last_at, usual_step_s,
        update_step_s (between changes of the power), repeated_frac, gap_count, gap_s,
        shared_instant_count (readings at an instant that has another), backward_count (lines whose
        clock is behind the line before), has_power, has_counter, has_temperature.
    """
    by_gpu = samples.sort("gpu", "sampled_at").group_by("gpu", maintain_order=True)
    found = by_gpu.agg(
        pl.col("gpu_name").drop_nulls().first(),
        pl.len().cast(pl.Int64).alias("sample_count"),
        pl.col("power_w").is_not_null().sum().cast(pl.Int64).alias("known_power_count"),
        pl.col("sampled_at").min().alias("first_at"),
        pl.col("sampled_at").max().alias("last_at"),
        (pl.col("power_w").diff() == 0).mean().alias("repeated_frac"),
        (pl.len() - pl.col("sampled_at").n_unique()).cast(pl.Int64).alias("shared_instant_count"),
        *(
            pl.col(name).is_not_null().any().alias(f"has_{word}")
            for name, word in (
                ("power_w", "power"),
                ("energy_counter_j", "counter"),
                ("temperature_c", "temperature"),
            )
        ),
    )
    return (
        found.join(_steps(tracks), on="gpu", how="left")
        .join(_updates(samples), on="gpu", how="left")
        .join(_backward(samples), on="gpu", how="left")
        .with_columns(
            pl.col("gap_count", "backward_count").fill_null(0), pl.col("gap_s").fill_null(0.0)
        )
        .sort("gpu")
    )


def gaps(tracks: Tracks) -> pl.DataFrame:
    """Return the gaps of a log: gpu, began_at, gap_s."""
    return (
        tracks.ticks.filter("is_gap")
        .select("gpu", pl.col("sampled_at").alias("began_at"), pl.col("step_s").alias("gap_s"))
        .sort("gpu", "began_at")
    )


def _steps(tracks: Tracks) -> pl.DataFrame:
    return tracks.ticks.group_by("gpu").agg(
        pl.col("step_s").median().alias("usual_step_s"),
        pl.col("is_gap").sum().cast(pl.Int64).alias("gap_count"),
        pl.when("is_gap").then("step_s").otherwise(0.0).sum().alias("gap_s"),
    )


def _updates(samples: pl.DataFrame) -> pl.DataFrame:
    changed = (
        samples.filter(pl.col("power_w").is_not_null())
        .sort("gpu", "sampled_at")
        .filter((pl.col("power_w").diff() != 0).over("gpu").fill_null(True))
    )
    return changed.group_by("gpu").agg(
        seconds(pl.col("sampled_at").diff()).median().alias("update_step_s")
    )


def _backward(samples: pl.DataFrame) -> pl.DataFrame:
    """Return how often the clock of a file is behind that of the line before."""
    return (
        samples.sort("gpu", "source_file", "source_line")
        .group_by("gpu")
        .agg(
            (pl.col("sampled_at").diff().over("source_file") < pl.duration(seconds=0))
            .sum()
            .cast(pl.Int64)
            .alias("backward_count")
        )
    )


def averaging_window_s(
    samples: pl.DataFrame, measured: pl.DataFrame, around: pl.DataFrame, rules: Rules
) -> float | None:
    """Return over how long the sensor averages, from how fast power rises at the start of runs.

    The median, over runs, of the time from a tenth to nine tenths of the rise, over 0.8: that is
    the window of a moving mean. None where no run rises from a quiet time before it. What is
    shorter than a step of the log cannot be seen.
    """
    levels = measured.join(around, on=["run_set", "run_id"]).filter(
        pl.col("energy_j").is_not_null(), pl.col("mean_power_w") > 2 * pl.col("before_power_w")
    )
    runs = placed(samples, levels).filter(pl.col("placed_gpu").n_unique().over("run_id") == 1)
    reach = pl.duration(microseconds=round(rules.clock_most_s * SECOND_US))
    rises = (
        samples.filter(pl.col("power_w").is_not_null())
        .select(pl.col("gpu").alias("placed_gpu"), "sampled_at", "power_w")
        .sort("sampled_at")
        .join_asof(
            runs.select(
                *("placed_gpu", "run_set", "run_id", "before_power_w", "mean_power_w"),
                (pl.col("started_at") - reach / 4).alias("opens_at"),
                (pl.col("started_at") + reach).alias("closes_at"),
            ).sort("opens_at"),
            left_on="sampled_at",
            right_on="opens_at",
            by="placed_gpu",
            strategy="backward",
            check_sortedness=False,
        )
        .filter(pl.col("sampled_at") <= pl.col("closes_at"))
        .with_columns(
            (
                (pl.col("power_w") - pl.col("before_power_w"))
                / (pl.col("mean_power_w") - pl.col("before_power_w"))
            ).alias("risen")
        )
        .sort("run_set", "run_id", "sampled_at")
    )
    crossed = rises.group_by("run_set", "run_id").agg(_crossed(_LOW), _crossed(_HIGH))
    spans = crossed.select(
        seconds(pl.col(f"at_{_HIGH}") - pl.col(f"at_{_LOW}")).alias("rise_s")
    ).get_column("rise_s")
    middle = spans.drop_nulls().median()
    return float(middle) / (_HIGH - _LOW) if isinstance(middle, int | float) else None


def _crossed(level: float) -> pl.Expr:
    """Return when the rise first passes a level, between the two readings around it."""
    risen, before = pl.col("risen"), pl.col("risen").shift(1)
    back = (
        (risen - level)
        / (risen - before)
        * (pl.col("sampled_at") - pl.col("sampled_at").shift(1)).dt.total_microseconds()
    )
    at = pl.col("sampled_at") - pl.duration(microseconds=back.fill_nan(0).fill_null(0).round())
    return at.filter(risen >= level).first().alias(f"at_{level}")


def sensor_window_s(quality: pl.DataFrame, seen_s: float | None) -> float:
    """Return the time within which a log cannot tell runs apart: sensor, step, or what was seen."""
    names = quality.get_column("gpu_name").to_list() or [None]
    step = quality.get_column("usual_step_s").max()
    step_s = float(step) if isinstance(step, int | float) else 0.0
    return max(*(sensor_of(name).window_s for name in names), step_s, seen_s or 0.0)
