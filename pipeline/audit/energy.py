"""Energy of each run by two ways: the trapezoid over power readings, and the energy counter.

The two come from the same sensor, so their difference says how well the log samples it, not how
right it is. A counter that restarts goes on from its new value; the step in which it did takes the
trapezoid's energy, or what the counter had reached, where there is no power.
"""

import polars as pl

from pipeline.audit.rules import Rules
from pipeline.audit.tracks import Tracks, integrals_between, seconds

TRAPEZOID, COUNTER = "trapezoid", "counter"


def placed(samples: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Return runs with the GPUs of the log that each ran on: its own, or all where it names none.

    A run of a GPU that is not in the log keeps its name and finds no readings. Adds placed_gpu.
    """
    gpus = samples.select(pl.col("gpu").unique()).sort("gpu")
    named = runs.filter(pl.col("gpu").is_not_null()).with_columns(pl.col("gpu").alias("placed_gpu"))
    unnamed = runs.filter(pl.col("gpu").is_null()).join(
        gpus.rename({"gpu": "placed_gpu"}), how="cross"
    )
    return pl.concat([named, unnamed]).sort("run_set", "run_id", "placed_gpu")


def energy_by_run(
    samples: pl.DataFrame, tracks: Tracks, runs: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Return each run with its energy.

    Args:
        samples: As `pipeline.ingest.telemetry` reads them.
        tracks: Their running integrals.
        runs: As `pipeline.audit.runs` reads them.
        rules: Which steps are gaps, and how much of a run may lie in them.

    Returns:
        The runs with trapezoid_j, counter_j, difference_frac (counter over trapezoid, less 1),
        energy_basis (counter where it knows every run that the trapezoid knows), energy_j,
        mean_power_w, peak_power_w, power_spread_w, reading_count, covered_frac,
        counter_reset_count, energy_reason (why energy_j is null).
    """
    if runs.is_empty():
        return runs
    on_gpus = placed(samples, runs)
    windows = on_gpus.select(
        "run_set",
        "run_id",
        pl.col("placed_gpu").alias("gpu"),
        pl.col("started_at").alias("first_at"),
        pl.col("ended_at").alias("last_at"),
    )
    power = integrals_between(tracks.power, windows)
    counter = integrals_between(_counter_track(samples, tracks), windows)
    by_run = (
        power.rename({"integral": "trapezoid_j"})
        .join(
            counter.select(
                "run_set",
                "run_id",
                "gpu",
                pl.col("integral").alias("counter_j"),
                pl.col("gap_s").alias("counter_reset_count"),
            ),
            on=["run_set", "run_id", "gpu"],
            how="left",
        )
        .sort("run_set", "run_id", "gpu")
        .group_by("run_set", "run_id", maintain_order=True)
        .agg(
            *(_sum_if_all_known(name) for name in ("trapezoid_j", "counter_j")),
            (1 - pl.col("gap_s").max() / pl.col("window_s").first()).alias("covered_frac"),
            pl.col("counter_reset_count").sum().round(0).cast(pl.Int64),
        )
    )
    found = (
        runs.join(by_run, on=["run_set", "run_id"], how="left")
        .join(_readings(samples, on_gpus), on=["run_set", "run_id"], how="left")
        .join(_overlapping(on_gpus), on=["run_set", "run_id"], how="left")
        .join(_spans(samples, on_gpus), on=["run_set", "run_id"], how="left")
    )
    return _chosen(found, rules).sort("run_set", "started_at", "run_id")


def _sum_if_all_known(name: str) -> pl.Expr:
    known = pl.col(name).is_not_null().all()
    return pl.when(known).then(pl.col(name).sum()).alias(name)


def _counter_track(samples: pl.DataFrame, tracks: Tracks) -> pl.DataFrame:
    """Return the counter's running energy in the form of a track; its "gaps" count restarts."""
    power = tracks.power.select("gpu", "sampled_at", pl.col("integral").alias("trapezoid_j"))
    readings = (
        samples.filter(pl.col("energy_counter_j").is_not_null())
        .group_by("gpu", "sampled_at")
        .agg(pl.col("energy_counter_j").max().alias("counter_j"))
        .join(power, on=["gpu", "sampled_at"], how="left")
        .sort("gpu", "sampled_at")
    )
    grown = pl.col("counter_j").diff().over("gpu")
    by_power = pl.col("trapezoid_j").diff().over("gpu")
    step_j = (
        pl.when(grown < 0).then(pl.coalesce(by_power, "counter_j")).otherwise(grown).fill_null(0.0)
    )
    counted = readings.with_columns(
        step_j.cum_sum().over("gpu").alias("integral"),
        (grown < 0).fill_null(False).cast(pl.Float64).cum_sum().over("gpu").alias("gap_s"),
        seconds(pl.col("sampled_at").shift(-1) - pl.col("sampled_at")).over("gpu").alias("step_s"),
    )
    # Within a step the energy runs straight, so its rate is the track's value at both ends.
    rate = (pl.col("integral").shift(-1) - pl.col("integral")).over("gpu") / pl.col("step_s")
    return counted.select(
        "gpu",
        "sampled_at",
        rate.alias("value"),
        rate.alias("next_value"),
        "step_s",
        pl.lit(False).alias("is_gap"),
        "integral",
        "gap_s",
    ).sort("sampled_at", "gpu")


def _readings(samples: pl.DataFrame, on_gpus: pl.DataFrame) -> pl.DataFrame:
    """Return the readings within each run: highest and spread over its GPUs, fewest of one."""
    readings = samples.filter(pl.col("power_w").is_not_null()).select(
        pl.col("gpu").alias("placed_gpu"), "sampled_at", "power_w"
    )
    spans = on_gpus.select("run_set", "run_id", "placed_gpu", "started_at", "ended_at")
    return (
        readings.sort("sampled_at")
        .join_asof(
            spans.sort("started_at"),
            left_on="sampled_at",
            right_on="started_at",
            by="placed_gpu",
            strategy="backward",
            check_sortedness=False,
        )
        .filter(pl.col("sampled_at") <= pl.col("ended_at"))
        .group_by("run_set", "run_id", "placed_gpu")
        .agg(
            pl.col("power_w").max().alias("peak_power_w"),
            pl.col("power_w").std().alias("power_spread_w"),
            pl.len().cast(pl.Int64).alias("reading_count"),
        )
        .sort("run_set", "run_id", "placed_gpu")
        .group_by("run_set", "run_id", maintain_order=True)
        .agg(
            pl.col("peak_power_w").sum(),
            ((pl.col("power_spread_w") ** 2).sum().sqrt()).alias("power_spread_w"),
            pl.col("reading_count").min(),
        )
    )


def _overlapping(on_gpus: pl.DataFrame) -> pl.DataFrame:
    """Return which runs share time with another one of their GPU."""
    group = ["run_set", "placed_gpu"]
    ended_before = pl.col("ended_at").cum_max().shift(1).over(group)
    starts_next = pl.col("started_at").shift(-1).over(group)
    return (
        on_gpus.sort(*group, "started_at", "ended_at", "run_id")
        .with_columns(
            ((pl.col("started_at") < ended_before) | (pl.col("ended_at") > starts_next))
            .fill_null(False)
            .alias("is_overlapping")
        )
        .group_by("run_set", "run_id")
        .agg(pl.col("is_overlapping").any())
    )


def _spans(samples: pl.DataFrame, on_gpus: pl.DataFrame) -> pl.DataFrame:
    """Return the first and last instant that the log holds of all GPUs of a run."""
    ends = samples.group_by(pl.col("gpu").alias("placed_gpu")).agg(
        pl.col("sampled_at").min().alias("log_first_at"),
        pl.col("sampled_at").max().alias("log_last_at"),
    )
    return (
        on_gpus.join(ends, on="placed_gpu", how="left")
        .group_by("run_set", "run_id")
        .agg(
            pl.col("log_first_at").max(),
            pl.col("log_last_at").min(),
            pl.col("log_first_at").is_null().any().alias("is_of_unknown_gpu"),
        )
    )


def _chosen(found: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Choose one way for all runs, since ratios of two ways would compare sensors too."""
    reason = _reason(rules)
    has_counter = pl.col("counter_j").is_not_null().sum().over("run_set")
    has_trapezoid = pl.col("trapezoid_j").is_not_null().sum().over("run_set")
    is_counter = (has_counter > 0) & (has_counter >= has_trapezoid)
    energy_j = pl.when(is_counter).then("counter_j").otherwise("trapezoid_j")
    return (
        found.with_columns(
            pl.when(is_counter)
            .then(pl.lit(COUNTER))
            .otherwise(pl.lit(TRAPEZOID))
            .alias("energy_basis"),
            energy_j.alias("_energy_j"),
            (pl.col("counter_j") / pl.col("trapezoid_j") - 1).alias("difference_frac"),
        )
        .with_columns(reason.alias("energy_reason"))
        .with_columns(
            pl.when(pl.col("energy_reason").is_null()).then("_energy_j").alias("energy_j"),
            pl.col("covered_frac").fill_null(0.0),
        )
        .with_columns((pl.col("energy_j") / pl.col("duration_s")).alias("mean_power_w"))
        .drop(
            *("_energy_j", "is_overlapping", "log_first_at", "log_last_at", "is_of_unknown_gpu"),
        )
    )


def _reason(rules: Rules) -> pl.Expr:
    first_at, last_at = pl.col("log_first_at"), pl.col("log_last_at")
    faults = (
        (pl.col("is_overlapping"), "overlaps another run on its GPU"),
        (pl.col("is_of_unknown_gpu"), "its GPU is not in the log"),
        (
            (pl.col("ended_at") <= first_at) | (pl.col("started_at") >= last_at),
            "lies outside the log",
        ),
        (pl.col("started_at") < first_at, "begins before the log"),
        (pl.col("ended_at") > last_at, "ends after the log"),
        (pl.col("_energy_j").is_null(), "no power and no energy counter in the log at its time"),
        (pl.col("covered_frac") < rules.covered_frac, "too much of it lies in gaps of the log"),
        (pl.col("_energy_j") <= 0, "the log says no power at all during it"),
    )
    return pl.coalesce(*(pl.when(fault).then(pl.lit(words)) for fault, words in faults))
