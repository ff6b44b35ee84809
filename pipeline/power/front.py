"""Which settings are worth a thought, and how a phase follows the clock.

A setting is on the front where no other one of its configuration takes less energy a token at the
same throughput or more. The class of a phase is by our own rule: the elasticity of its throughput
to the clock, between the baseline and the lowest clock measured.
"""

import polars as pl

from pipeline.power.effects import NAMED
from pipeline.power.rules import PowerRules

FLAT, BETWEEN, PROPORTIONAL = "flat", "between", "proportional"


def with_front(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with is_on_front; null where energy per token or throughput is unknown."""
    points = cells.select("policy", *NAMED, "energy_j_per_token", "tokens_per_s").drop_nulls(
        ["energy_j_per_token", "tokens_per_s"]
    )
    pairs = points.join(points, on=NAMED, suffix="_other", nulls_equal=True).filter(
        pl.col("policy") != pl.col("policy_other")
    )
    is_no_worse = (pl.col("energy_j_per_token_other") <= pl.col("energy_j_per_token")) & (
        pl.col("tokens_per_s_other") >= pl.col("tokens_per_s")
    )
    is_better = (pl.col("energy_j_per_token_other") < pl.col("energy_j_per_token")) | (
        pl.col("tokens_per_s_other") > pl.col("tokens_per_s")
    )
    beaten = pairs.filter(is_no_worse & is_better).select("policy", *NAMED).unique()
    known = pl.col("energy_j_per_token").is_not_null() & pl.col("tokens_per_s").is_not_null()
    return (
        cells.join(
            beaten.with_columns(pl.lit(True).alias("_is_beaten")),
            on=["policy", *NAMED],
            how="left",
            nulls_equal=True,
        )
        .with_columns(pl.when(known).then(pl.col("_is_beaten").is_null()).alias("is_on_front"))
        .drop("_is_beaten")
    )


def clock_classes(cells: pl.DataFrame, baseline: str, rules: PowerRules) -> pl.DataFrame:
    """Return how each phase of a configuration follows the clock.

    Returns:
        NAMED, policy (with the lowest clock), clock_ratio, throughput_ratio, elasticity,
        clock_class: flat, between, proportional; null where no policy lowers the clock enough.
    """
    base = cells.filter(pl.col("policy") == baseline).select(
        *NAMED,
        pl.col("clock_mhz").alias("_clock_mhz"),
        pl.col("tokens_per_s").alias("_tokens_per_s"),
    )
    ratios = (
        cells.filter(pl.col("policy") != baseline, pl.col("refusal").is_null())
        .join(base, on=NAMED, how="inner", nulls_equal=True)
        .with_columns(
            (pl.col("clock_mhz") / pl.col("_clock_mhz")).alias("clock_ratio"),
            (pl.col("tokens_per_s") / pl.col("_tokens_per_s")).alias("throughput_ratio"),
        )
        .filter(pl.col("clock_ratio") <= 1 - rules.clocks_lowered_frac)
        .sort(*NAMED, "clock_ratio", "policy")
        .group_by(NAMED, maintain_order=True)
        .agg(pl.col("policy", "clock_ratio", "throughput_ratio").first())
        .with_columns(
            (pl.col("throughput_ratio").log() / pl.col("clock_ratio").log()).alias("elasticity")
        )
    )
    return (
        base.select(NAMED)
        .join(ratios, on=NAMED, how="left", nulls_equal=True)
        .with_columns(
            pl.when(pl.col("elasticity") < rules.flat_elasticity)
            .then(pl.lit(FLAT))
            .when(pl.col("elasticity") > rules.proportional_elasticity)
            .then(pl.lit(PROPORTIONAL))
            .when(pl.col("elasticity").is_not_null())
            .then(pl.lit(BETWEEN))
            .alias("clock_class")
        )
        .sort(NAMED)
    )
