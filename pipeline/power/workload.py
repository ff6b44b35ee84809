"""May policies be compared: the same GPU, the same kinds of run, about the same tokens."""

import polars as pl

from pipeline.power.bound import KEYS
from pipeline.power.rules import PowerRules

_TOKENS = ("input_tokens", "output_tokens")


def refusals(readings: pl.DataFrame, baseline: str, rules: PowerRules) -> pl.DataFrame:
    """Return why a policy cannot be held against the baseline: policy, KEYS, refusal (or null).

    One row for each policy but the baseline and each configuration and phase that either has.
    """
    named = [name for name in KEYS if name != "gpu_name"]
    means = readings.group_by("policy", *named).agg(
        *(pl.col(name).mean().alias(name) for name in _TOKENS),
        pl.col("gpu_name").unique().sort().str.join(", ").alias("gpus"),
        pl.col("gpu_name").n_unique().alias("gpu_count"),
    )
    base = means.filter(pl.col("policy") == baseline).drop("policy")
    policies = readings.filter(pl.col("policy") != baseline).select(pl.col("policy").unique())
    asked = policies.join(means.select(named).unique(), how="cross")
    found = asked.join(means, on=["policy", *named], how="left", nulls_equal=True).join(
        base, on=named, how="left", suffix="_of_baseline", nulls_equal=True
    )
    differing = [
        pl.when(
            (pl.col(name) - pl.col(f"{name}_of_baseline")).abs()
            > rules.workload_frac * pl.col(f"{name}_of_baseline")
        ).then(
            pl.format(
                "other work: {} {} a run against {} under the baseline, and energy per token "
                "moves with length",
                pl.col(name).round(0).cast(pl.Int64),
                pl.lit(name.replace("_", " ")),
                pl.col(f"{name}_of_baseline").round(0).cast(pl.Int64),
            )
        )
        for name in _TOKENS
    ]
    refusal = pl.coalesce(
        pl.when(pl.col("gpu_count").is_null()).then(pl.lit("not run under this policy")),
        pl.when(pl.col("gpu_count_of_baseline").is_null()).then(
            pl.lit("not run under the baseline")
        ),
        pl.when((pl.col("gpu_count") > 1) | (pl.col("gpu_count_of_baseline") > 1)).then(
            pl.lit("kinds of GPU are mixed in one log, and no column gpu of the runs tells them")
        ),
        pl.when(pl.col("gpus") != pl.col("gpus_of_baseline")).then(
            pl.format("other GPU: {} against {}", "gpus", "gpus_of_baseline")
        ),
        *differing,
    )
    return found.select("policy", *named, refusal.alias("refusal")).sort("policy", *named)
