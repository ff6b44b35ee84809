"""Did the cap bind: from the draw against the limit, and the clock against the baseline's.

A cap that binds holds the draw at the limit by lowering the clock, so both must show. The driver's
word for a cap proves neither: on one B200 it stood at half the limit.
"""

import polars as pl

from pipeline.power.phases import CONFIGURATION
from pipeline.power.rules import PowerRules

BOUND, NOT_BOUND, UNDETERMINED = "bound", "not bound", "undetermined"
KEYS = [*CONFIGURATION, "phase"]


def with_reference_clock(readings: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Return readings of all policies with reference_clock_mhz: the baseline's, or the asked one.

    Where a policy asks for a lower clock than the baseline held, that clock is no sign of a cap.
    """
    of_baseline = (
        readings.filter(pl.col("policy") == baseline)
        .group_by(KEYS)
        .agg(pl.col("clock_mhz").median().alias("_baseline_clock_mhz"))
    )
    return (
        readings.join(of_baseline, on=KEYS, how="left", nulls_equal=True)
        .with_columns(
            pl.when(pl.col("_baseline_clock_mhz").is_not_null())
            .then(pl.min_horizontal("_baseline_clock_mhz", "asked_clock_mhz"))
            .alias("reference_clock_mhz")
        )
        .drop("_baseline_clock_mhz")
    )


def with_run_verdict(readings: pl.DataFrame, rules: PowerRules) -> pl.DataFrame:
    """Return readings with run_verdict: bound, not bound or undetermined, run by run."""
    draw, limit = pl.col("draw_w"), pl.col("limit_w")
    is_near = draw >= (1 - rules.bind_margin_frac) * limit
    is_above = draw > (1 + rules.bind_margin_frac) * limit
    is_lower = pl.col("clock_mhz") < (1 - rules.clock_drop_frac) * pl.col("reference_clock_mhz")
    return readings.with_columns(
        pl.when(draw.is_null() | limit.is_null() | pl.col("clock_mhz").is_null())
        .then(pl.lit(UNDETERMINED))
        .when(~is_near)
        .then(pl.lit(NOT_BOUND))
        .when(~is_above & is_lower.fill_null(False))
        .then(pl.lit(BOUND))
        .otherwise(pl.lit(UNDETERMINED))
        .alias("run_verdict")
    )


def verdict(rules: PowerRules) -> pl.Expr:
    """Return the verdict of a group of runs: what nearly all of them say, else undetermined."""
    shares = {
        word: (pl.col("run_verdict") == word).mean() >= rules.agreement_frac
        for word in (BOUND, NOT_BOUND)
    }
    return (
        pl.when(shares[BOUND])
        .then(pl.lit(BOUND))
        .when(shares[NOT_BOUND])
        .then(pl.lit(NOT_BOUND))
        .otherwise(pl.lit(UNDETERMINED))
        .alias("bound_verdict")
    )


def reason(rules: PowerRules) -> pl.Expr:
    """Return why a configuration got its verdict, in words; over columns of its medians."""
    draw, limit = pl.col("draw_w"), pl.col("limit_w")
    clock, reference = pl.col("clock_mhz"), pl.col("reference_clock_mhz")
    is_near = draw >= (1 - rules.bind_margin_frac) * limit
    shown = pl.format(
        "draws {} W of {} W at {} MHz", draw.round(0).cast(pl.Int64),
        limit.round(0).cast(pl.Int64), clock.round(0).cast(pl.Int64),
    )  # fmt: skip
    held = pl.format("{} MHz", reference.round(0).cast(pl.Int64))
    return (
        pl.when(limit.is_null())
        .then(pl.lit("the log has no limit: nothing to hold the draw against"))
        .when(clock.is_null())
        .then(pl.lit("the log has no SM clock: a low draw could be a cap or little work"))
        .when(draw.is_null())
        .then(pl.lit("too few readings of power"))
        .when(pl.col("bound_verdict") == BOUND)
        .then(shown + pl.lit(", below ") + held)
        .when(pl.col("bound_verdict") == NOT_BOUND)
        .then(shown)
        .when((pl.col("bound_run_frac") > 0) & (pl.col("bound_run_frac") < rules.agreement_frac))
        .then(shown + pl.lit("; some runs reach the limit, others do not"))
        .when(draw > (1 + rules.bind_margin_frac) * limit)
        .then(shown + pl.lit("; more than its limit, which was not enforced or is not of this GPU"))
        .when(is_near & reference.is_null())
        .then(shown + pl.lit("; near the limit, and no baseline tells the clock without it"))
        .when(is_near)
        .then(shown + pl.lit("; near the limit, but the clock is not lower than without it"))
        .otherwise(shown + pl.lit("; the runs do not agree"))
        .alias("bound_reason")
    )
