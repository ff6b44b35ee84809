"""Integrals of what a log samples: the trapezoid between readings, its edges interpolated.

A track is a running integral over the readings of each GPU, so the integral between two instants is
a difference of two look-ups, whatever lies between. Repeated values stay in: a log that polls
faster than its sensor only writes a line in more pieces. Readings of one GPU at one instant count
as their mean.
"""

from dataclasses import dataclass

import polars as pl

from pipeline.audit.rules import Rules

SECOND_US = 1_000_000


@dataclass(frozen=True)
class Tracks:
    """The running integrals of a log, made once."""

    power: pl.DataFrame
    temperature: pl.DataFrame
    ticks: pl.DataFrame  # of ones, over the readings of power, or all where there is no power


def tracks_of(samples: pl.DataFrame, rules: Rules) -> Tracks:
    """Return the tracks of a log."""
    has_power = pl.col("power_w").is_not_null()
    timed = samples.filter(has_power | ~has_power.any().over("gpu"))
    return Tracks(
        track(samples, "power_w", rules),
        track(samples, "temperature_c", rules),
        track(timed.with_columns(pl.lit(1.0).alias("tick")), "tick", rules),
    )


def seconds(span: pl.Expr) -> pl.Expr:
    """Return a duration in seconds."""
    return span.dt.total_microseconds() / SECOND_US


def track(samples: pl.DataFrame, value: str, rules: Rules) -> pl.DataFrame:
    """Return the running integral of a column over time, in its unit times seconds.

    Columns: gpu, sampled_at, value, step_s (to the next reading), next_value, integral, gap_s (the
    running sum of gaps), is_gap. Readings without a value are left out.
    """
    readings = (
        samples.filter(pl.col(value).is_not_null())
        .group_by("gpu", "sampled_at")
        .agg(pl.col(value).mean().alias("value"))
        .sort("gpu", "sampled_at")
        .with_columns(
            pl.col("value").shift(-1).over("gpu").alias("next_value"),
            seconds(pl.col("sampled_at").shift(-1).over("gpu") - pl.col("sampled_at")).alias(
                "step_s"
            ),
        )
    )
    usual_s = pl.col("step_s").median().over("gpu")
    area = (pl.col("value") + pl.col("next_value")) / 2 * pl.col("step_s")
    return (
        readings.with_columns(
            (
                (pl.col("step_s") > rules.gap_intervals * usual_s)
                & (pl.col("step_s") > rules.gap_least_s)
            )
            .fill_null(False)
            .alias("is_gap"),
        )
        .with_columns(
            _running(area).alias("integral"),
            _running(pl.when("is_gap").then("step_s").otherwise(0.0)).alias("gap_s"),
        )
        .sort("sampled_at", "gpu")
    )


def _running(amount: pl.Expr) -> pl.Expr:
    """Return the sum of an amount of each step over the steps before a reading."""
    return amount.fill_null(0.0).cum_sum().shift(1, fill_value=0.0).over("gpu")


def integrals_at(line: pl.DataFrame, instants: pl.DataFrame) -> pl.DataFrame:
    """Return instants (gpu, instant, …) with integral and gap_s up to each; null outside the log.

    Within a step the value is taken to run straight from reading to reading.
    """
    since_s = seconds(pl.col("instant") - pl.col("sampled_at"))
    slope = (pl.col("next_value") - pl.col("value")) / pl.col("step_s")
    grown = pl.col("value") * since_s + slope * since_s * since_s / 2
    is_reading = since_s == 0
    return (
        instants.sort("instant")
        .join_asof(
            line,
            left_on="instant",
            right_on="sampled_at",
            by="gpu",
            strategy="backward",
            coalesce=False,
            check_sortedness=False,
        )
        .with_columns(
            pl.when(is_reading)
            .then("integral")
            .otherwise(pl.col("integral") + grown)
            .alias("integral"),
            pl.when(pl.col("step_s").is_null() & ~is_reading)
            .then(None)
            .otherwise(pl.col("gap_s") + pl.when("is_gap").then(since_s).otherwise(0.0))
            .alias("gap_s"),
        )
        .drop("sampled_at", "value", "next_value", "step_s", "is_gap")
    )


def integrals_between(line: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Return windows (gpu, first_at, last_at, …) with the integral over each, and its gaps.

    Adds integral, gap_s and window_s; integral is null where a window leaves the log or is empty.
    """
    ends = windows.with_row_index("_window")
    found = ends
    for name in ("first_at", "last_at"):
        instants = ends.select("_window", "gpu", pl.col(name).alias("instant"))
        at_end = integrals_at(line, instants).select(
            "_window",
            pl.col("integral").alias(f"_integral_{name}"),
            pl.col("gap_s").alias(f"_gap_{name}"),
        )
        found = found.join(at_end, on="_window", how="left")
    return (
        found.sort("_window")
        .with_columns(
            seconds(pl.col("last_at") - pl.col("first_at")).alias("window_s"),
            (pl.col("_integral_last_at") - pl.col("_integral_first_at")).alias("integral"),
            (pl.col("_gap_last_at") - pl.col("_gap_first_at")).alias("gap_s"),
        )
        .select(*windows.columns, "window_s", "integral", "gap_s")
    )
