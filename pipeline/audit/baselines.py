"""What the GPU draws without a request: bare, with a model loaded, and after a run.

What is left after a run is residual power. Heat it is called only where a temperature stands beside
it.
"""

import polars as pl

from pipeline.audit.energy import placed
from pipeline.audit.rules import Rules
from pipeline.audit.runs import BLANK, IDLE
from pipeline.audit.tracks import SECOND_US, Tracks, integrals_between

_KEYS = ("run_set", "run_id", "gpu")


def power_around(
    samples: pl.DataFrame, tracks: Tracks, runs: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Return for each run and side (before, after) the mean power and temperature of a quiet time.

    The quiet time between two runs, from `settle_s` after the one to `guard_s` before the other, is
    cut in halves: the first is after the one, for at most `after_run_s`, the second before the
    other, for at most `before_run_s`. So what a run leaves is not its own baseline. Sums over
    its GPUs; null where the time is shorter than `baseline_least_s` or not in the log.

    Returns:
        run_set, run_id, before_power_w, after_power_w, residual_power_w, before_temperature_c,
        after_temperature_c.
    """
    on_gpus = placed(samples, runs).with_columns(pl.col("placed_gpu").alias("gpu"))
    windows = _windows(_within_log(samples, on_gpus), rules)
    found = windows.select(*_KEYS, "side")
    for value, line in (("power_w", tracks.power), ("temperature_c", tracks.temperature)):
        means = integrals_between(line, windows)
        found = found.join(
            means.select(*_KEYS, "side", (pl.col("integral") / pl.col("window_s")).alias(value)),
            on=[*_KEYS, "side"],
            how="left",
        )
    sides = found.sort(*_KEYS).group_by("run_set", "run_id", "side", maintain_order=True)
    summed = sides.agg(
        pl.when(pl.col("power_w").is_not_null().all()).then(pl.col("power_w").sum()).alias("w"),
        pl.col("temperature_c").mean().alias("c"),
    )
    before, after = (
        summed.filter(pl.col("side") == side).select(
            "run_set",
            "run_id",
            pl.col("w").alias(f"{side}_power_w"),
            pl.col("c").alias(f"{side}_temperature_c"),
        )
        for side in ("before", "after")
    )
    return (
        runs.select("run_set", "run_id")
        .join(before, on=["run_set", "run_id"], how="left")
        .join(after, on=["run_set", "run_id"], how="left")
        .with_columns(
            (pl.col("after_power_w") - pl.col("before_power_w")).alias("residual_power_w")
        )
    )


def _within_log(samples: pl.DataFrame, on_gpus: pl.DataFrame) -> pl.DataFrame:
    """Return runs with the first and last instant of their GPU's log."""
    ends = samples.group_by("gpu").agg(
        pl.col("sampled_at").min().alias("log_first_at"),
        pl.col("sampled_at").max().alias("log_last_at"),
    )
    return on_gpus.join(ends, on="gpu", how="left")


def _windows(on_gpus: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    group = ["run_set", "gpu"]
    ordered = on_gpus.sort("run_set", "gpu", "started_at", "run_id").with_columns(
        pl.col("ended_at").cum_max().shift(1).over(group).alias("ended_before"),
        pl.col("started_at").shift(-1).over(group).alias("starts_next"),
    )
    # The last moments before a run may hold its beginning, where the clocks differ.
    settle, before, after, guard = (
        pl.duration(microseconds=round(each * SECOND_US))
        for each in (rules.settle_s, rules.before_run_s, rules.after_run_s, rules.guard_s)
    )
    quiet_opens, quiet_closes = pl.col("ended_at") + settle, pl.col("started_at") - guard
    opened_before = pl.col("ended_before") + settle
    closes_next = pl.col("starts_next") - guard
    sides = (
        ordered.select(
            *_KEYS,
            pl.lit("before").alias("side"),
            pl.max_horizontal(
                quiet_closes - before,
                opened_before + (quiet_closes - opened_before) / 2,
                "log_first_at",
            ).alias("first_at"),
            quiet_closes.alias("last_at"),
        ),
        ordered.select(
            *_KEYS,
            pl.lit("after").alias("side"),
            quiet_opens.alias("first_at"),
            pl.min_horizontal(
                quiet_opens + after,
                quiet_opens + (closes_next - quiet_opens) / 2,
                "log_last_at",
            ).alias("last_at"),
        ),
    )
    least = pl.duration(microseconds=round(rules.baseline_least_s * SECOND_US))
    return pl.concat(sides).filter(pl.col("last_at") - pl.col("first_at") >= least)


def baselines(
    samples: pl.DataFrame, measured: pl.DataFrame, around: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Return the three baselines of each run set.

    Args:
        samples: The log.
        measured: Runs with their energy.
        around: What `power_around` says of them.
        rules: Which quantile of the log counts as its lowest level.

    Returns:
        run_set, baseline (bare idle, model loaded, after a run), power_w, spread_w (standard
        deviation over its times), time_count, basis (where it was read).
    """
    rows = measured.join(around, on=["run_set", "run_id"], how="left")
    asked = rows.filter(~pl.col("is_baseline"))
    parts = [
        _of_marked(rows, IDLE, "bare idle", "rows of category idle"),
        _lowest_level(samples, rows, rules),
        _of_marked(rows, BLANK, "model loaded", "rows of category blank"),
        _mean(asked, "before_power_w", "model loaded", "quiet time before runs"),
        _mean(asked, "after_power_w", "after a run", "time after runs"),
    ]
    return (
        pl.concat(parts)
        .filter(pl.col("power_w").is_not_null())
        .unique(["run_set", "baseline"], keep="first", maintain_order=True)
    )


def _of_marked(rows: pl.DataFrame, category: str, baseline: str, basis: str) -> pl.DataFrame:
    return _mean(rows.filter(pl.col("category") == category), "mean_power_w", baseline, basis)


def _mean(rows: pl.DataFrame, value: str, baseline: str, basis: str) -> pl.DataFrame:
    return (
        rows.sort("run_set", "run_id")
        .group_by("run_set", maintain_order=True)
        .agg(
            pl.lit(baseline).alias("baseline"),
            pl.col(value).mean().alias("power_w"),
            pl.col(value).std().alias("spread_w"),
            pl.col(value).is_not_null().sum().cast(pl.Int64).alias("time_count"),
            pl.lit(basis).alias("basis"),
        )
    )


def _lowest_level(samples: pl.DataFrame, rows: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the lowest level of the log: whether a model was loaded then nobody says."""
    gpus = placed(samples, rows).select("run_set", pl.col("placed_gpu").alias("gpu")).unique()
    levels = samples.group_by("gpu").agg(
        pl.col("power_w").quantile(rules.bare_idle_quantile_frac, "linear").alias("power_w")
    )
    return (
        gpus.join(levels, on="gpu", how="left")
        .sort("run_set", "gpu")
        .group_by("run_set", maintain_order=True)
        .agg(
            pl.lit("bare idle").alias("baseline"),
            pl.when(pl.col("power_w").is_not_null().all())
            .then(pl.col("power_w").sum())
            .alias("power_w"),
            pl.lit(None, pl.Float64).alias("spread_w"),
            pl.lit(1, pl.Int64).alias("time_count"),
            pl.lit(
                f"lowest {rules.bare_idle_quantile_frac:.0%} of the log; "
                "a model may have been loaded"
            ).alias("basis"),
        )
    )
