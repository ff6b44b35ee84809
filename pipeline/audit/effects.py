"""What is tested beside the multipliers: power left after runs, and covariates, as one family.

Holm's correction runs over all of them in a run set, so a clean log raises any of them in at most
as many cases as the family error says.
"""

import polars as pl

from pipeline.audit import statistics
from pipeline.audit.linearity import usable
from pipeline.audit.models import COVARIATES, Models
from pipeline.audit.rules import Rules

RESIDUAL = "residual_power_w"
WORDS = {
    RESIDUAL: "power left after a run",
    "order_number": "place in the order",
    "before_temperature_c": "temperature before the run",
    "log_energy_before": "energy of the run before",
    "idle_before_s": "idle time before",
}


def effects(rows: pl.DataFrame, models: Models, rules: Rules) -> pl.DataFrame:
    """Return every tested effect.

    Args:
        rows: Runs with residual_power_w.
        models: The fits; the covariates of the last form are tested where they can be told apart.
        rules: Confidence.

    Returns:
        run_set, model, effect, estimate (W, or change of ln energy by one unit), low, high, p,
        p_holm.
    """
    covariates = models.coefficients.filter(
        pl.col("form").str.ends_with("category"),
        pl.col("term").is_in(COVARIATES),
        ~pl.col("is_inseparable"),
    ).select(
        *("run_set", "model", pl.col("term").alias("effect"), "estimate", "low", "high", "p"),
    )
    return (
        pl.concat([_residual(rows, rules), covariates])
        .with_columns(statistics.holm("p", ["run_set"]))
        .sort("run_set", "model", "effect")
    )


def _residual(rows: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the mean power left after the runs of each model, and its t interval."""
    means = (
        rows.filter(usable(), pl.col(RESIDUAL).is_not_null())
        .sort("run_set", "model", "started_at", "run_id")
        .group_by("run_set", "model", maintain_order=True)
        .agg(
            pl.lit(RESIDUAL).alias("effect"),
            pl.col(RESIDUAL).mean().alias("estimate"),
            (pl.col(RESIDUAL).std() / pl.len().sqrt()).alias("error"),
            (pl.len() - 1).cast(pl.Float64).alias("freedom"),
        )
    )
    width = statistics.half_width(means["error"], means["freedom"], rules.confidence_frac)
    # No spread at all is no proof of anything but a log of whole watts.
    statistic = means["estimate"] / means["error"].replace(0.0, None)
    return means.with_columns(
        width.alias("width"),
        statistics.two_sided_p(statistic, means["freedom"]).alias("p"),
    ).select(
        *("run_set", "model", "effect", "estimate"),
        (pl.col("estimate") - pl.col("width")).alias("low"),
        (pl.col("estimate") + pl.col("width")).alias("high"),
        "p",
    )
