"""What each GPU drew in each hour, and how much of it while nothing ran."""

import polars as pl

from pipeline.audit.rules import Rules
from pipeline.audit.tracks import track


def energy_by_hour(samples: pl.DataFrame, zone: str, rules: Rules) -> pl.DataFrame:
    """Return what each GPU drew in each hour, the idle part of it, and the seconds that tell it.

    Columns: month (of `zone`), gpu, gpu_name, hour_start_at (UTC), energy_j, idle_energy_j,
    covered_s.

    A step between two readings belongs to the hour in which it begins; gaps are left out. Idle is a
    step that begins with no utilisation, or, where the log tells none, with a power near the lowest
    level of its GPU.
    """
    steps = track(samples, "power_w", rules).filter(
        ~pl.col("is_gap"), pl.col("next_value").is_not_null()
    )
    told = (
        samples.group_by("gpu", "sampled_at")
        .agg(pl.col("utilisation_frac").max())
        .join(_names_and_levels(samples, rules), on="gpu")
    )
    is_idle = pl.coalesce(
        pl.col("utilisation_frac") == 0,
        pl.col("value") <= rules.idle_level_ratio * pl.col("lowest_w"),
    )
    step_j = (pl.col("value") + pl.col("next_value")) / 2 * pl.col("step_s")
    return (
        steps.join(told, on=["gpu", "sampled_at"])
        .with_columns(
            pl.col("sampled_at").dt.truncate("1h").alias("hour_at"),
            step_j.alias("step_j"),
            pl.when(is_idle).then(step_j).otherwise(0.0).alias("idle_j"),
        )
        .sort("gpu", "sampled_at")
        .group_by("gpu", "gpu_name", "hour_at", maintain_order=True)
        .agg(
            pl.col("step_j").sum().alias("energy_j"),
            pl.col("idle_j").sum().alias("idle_energy_j"),
            pl.col("step_s").sum().alias("covered_s"),
        )
        .with_columns(
            pl.col("hour_at").dt.convert_time_zone(zone).dt.strftime("%Y-%m").alias("month"),
            pl.col("hour_at").dt.replace_time_zone(None).alias("hour_start_at"),
        )
        .drop("hour_at")
    )


def _names_and_levels(samples: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    return samples.group_by("gpu").agg(
        pl.col("gpu_name").drop_nulls().first(),
        pl.col("power_w").quantile(rules.bare_idle_quantile_frac, "linear").alias("lowest_w"),
    )
