"""What a policy changes against the baseline: ratios of geometric means with Welch intervals.

"No effect" is never the want of a difference: it needs the equivalence test (two one-sided t tests)
to reject every effect as large as the margin, which is printed with it.
"""

import math

import polars as pl

from pipeline.audit.rules import Rules
from pipeline.audit.statistics import half_width, p_above
from pipeline.power.rules import PowerRules

METRICS = ("energy_j_per_token", "tokens_per_s")
NONE, LOWER, HIGHER, UNDECIDED, NO_CLAIM = "no effect", "lower", "higher", "undecided", "no claim"
SINGLE_RUN = "a single run tells no spread: no claim"
NO_TOKENS = "no tokens are known: no claim on energy per token or throughput"
NAMED = ["model", "workload", "batch", "phase"]


def effects(
    readings: pl.DataFrame, refused: pl.DataFrame, baseline: str, audit: Rules, rules: PowerRules
) -> pl.DataFrame:
    """Return the effect of every policy on energy per token and throughput.

    Args:
        readings: Phases of runs of all policies; runs without energy or tokens do not count. Where
            both sides have two or more runs without a moment of the firmware's, only those do;
            else the intervals widen by all that such moments can have done: their share of time.
        refused: As `workload.refusals` gives it.
        baseline: The policy that others are held against.
        audit: Confidence of the intervals.
        rules: Margin of the equivalence test.

    Returns:
        policy, model, workload, batch, phase, metric, run_count, baseline_run_count,
        is_free_of_firmware, ratio, low_ratio, high_ratio (confidence interval), margin_frac,
        p_equivalent (the larger of the two tests), verdict, reason.
    """
    long = readings.unpivot(
        on=METRICS,
        index=["policy", *NAMED, "run_id", "firmware_s", "duration_s"],
        variable_name="metric",
        value_name="value",
    ).with_columns(
        pl.when(pl.col("value") > 0).then(pl.col("value").log()).alias("log_value"),
        (pl.col("firmware_s") / pl.col("duration_s")).fill_null(0.0).alias("firmware_frac"),
    )
    keys = [*NAMED, "metric"]
    sides = (
        long.sort("policy", *keys, "run_id")
        .group_by("policy", *keys, maintain_order=True)
        .agg(_moments("all", pl.lit(True)) + _moments("free", pl.col("firmware_frac") == 0))
    )
    base = sides.filter(pl.col("policy") == baseline).drop("policy")
    asked = refused.join(pl.DataFrame({"metric": METRICS}), how="cross")
    joined = asked.join(sides, on=["policy", *keys], how="left", nulls_equal=True).join(
        base, on=keys, how="left", suffix="_of_baseline", nulls_equal=True
    )
    is_free = (pl.col("free_count") >= 2) & (pl.col("free_count_of_baseline") >= 2)
    chosen = joined.with_columns(
        is_free.fill_null(False).alias("is_free_of_firmware")
    ).with_columns(
        pl.when("is_free_of_firmware")
        .then(f"free_{part}{side}")
        .otherwise(f"all_{part}{side}")
        .alias(f"{part}{side}")
        for part in ("count", "mean", "variance", "firmware")
        for side in ("", "_of_baseline")
    )
    return _judged(_welch(chosen), audit, rules).sort("policy", *keys)


def _moments(name: str, chosen: pl.Expr) -> list[pl.Expr]:
    value = pl.col("log_value").filter(chosen).drop_nulls()
    return [
        value.len().cast(pl.Float64).alias(f"{name}_count"),
        value.mean().alias(f"{name}_mean"),
        value.var().alias(f"{name}_variance"),
        pl.col("firmware_frac").filter(chosen).mean().alias(f"{name}_firmware"),
    ]


def _welch(sides: pl.DataFrame) -> pl.DataFrame:
    """Add difference, error and freedom of the logarithms.

    Source: Welch 1947, with the degrees of freedom of Satterthwaite; runs that are all alike to the
    last digit on both sides have those of Student's test.
    """
    own = pl.col("variance") / pl.col("count")
    other = pl.col("variance_of_baseline") / pl.col("count_of_baseline")
    total = own + other
    freedom = total**2 / (
        own**2 / (pl.col("count") - 1) + other**2 / (pl.col("count_of_baseline") - 1)
    )
    pooled = pl.col("count") + pl.col("count_of_baseline") - 2
    enough = (pl.col("count") >= 2) & (pl.col("count_of_baseline") >= 2)
    return sides.with_columns(
        (pl.col("mean") - pl.col("mean_of_baseline")).alias("difference"),
        (pl.col("firmware") + pl.col("firmware_of_baseline")).alias("firmware_frac"),
        pl.when(enough).then(total.sqrt()).alias("error"),
        pl.when(enough).then(pl.when(total > 0).then(freedom).otherwise(pooled)).alias("freedom"),
    )


def _judged(sides: pl.DataFrame, audit: Rules, rules: PowerRules) -> pl.DataFrame:
    margin = math.log1p(rules.equivalence_margin_frac)
    low_margin = math.log1p(-rules.equivalence_margin_frac)
    width = half_width(sides["error"], sides["freedom"], audit.confidence_frac)
    above = sides["difference"] - sides["firmware_frac"] - low_margin
    below = margin - sides["difference"] - sides["firmware_frac"]
    above_low = p_above(above / sides["error"], sides["freedom"])
    below_high = p_above(below / sides["error"], sides["freedom"])
    stated = sides.with_columns(
        (width + sides["firmware_frac"]).alias("width"),
        above_low.alias("_p_low"),
        below_high.alias("_p_high"),
    ).with_columns(
        pl.col("difference").exp().alias("ratio"),
        (pl.col("difference") - pl.col("width")).exp().alias("low_ratio"),
        (pl.col("difference") + pl.col("width")).exp().alias("high_ratio"),
        pl.max_horizontal("_p_low", "_p_high").alias("p_equivalent"),
        pl.lit(rules.equivalence_margin_frac).alias("margin_frac"),
    )
    known = (pl.col("count") > 0) & (pl.col("count_of_baseline") > 0)
    reason = pl.coalesce(
        "refusal",
        pl.when(~known.fill_null(False)).then(pl.lit(NO_TOKENS)),
        pl.when(pl.col("error").is_null()).then(pl.lit(SINGLE_RUN)),
    )
    is_equivalent = pl.col("p_equivalent") < 1 - audit.confidence_frac
    verdict = (
        pl.when(pl.col("reason").is_not_null())
        .then(pl.lit(NO_CLAIM))
        .when(is_equivalent)
        .then(pl.lit(NONE))
        .when(pl.col("high_ratio") < 1)
        .then(pl.lit(LOWER))
        .when(pl.col("low_ratio") > 1)
        .then(pl.lit(HIGHER))
        .otherwise(pl.lit(UNDECIDED))
    )
    claimed = pl.col("reason").is_null()
    return (
        stated.with_columns(reason.alias("reason"))
        .with_columns(
            verdict.alias("verdict"),
            *(
                pl.when(claimed).then(name).alias(name)
                for name in ("ratio", "low_ratio", "high_ratio", "p_equivalent")
            ),
            pl.col("count").fill_null(0).cast(pl.Int64).alias("run_count"),
            pl.col("count_of_baseline").fill_null(0).cast(pl.Int64).alias("baseline_run_count"),
        )
        .select(
            *("policy", *NAMED, "metric", "run_count", "baseline_run_count"),
            *("is_free_of_firmware", "ratio", "low_ratio", "high_ratio", "margin_frac"),
            *("p_equivalent", "verdict", "reason"),
        )
    )
