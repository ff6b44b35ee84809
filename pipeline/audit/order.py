"""In which order things ran, and whether that order can be told from what was asked.

The published A/B design runs one short kind once and the other four times, then the reverse: the
order and the dose change together, so neither can be blamed. It is read like any other, and said.
"""

import polars as pl

from pipeline.audit.rules import Rules


def blocks(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each block of runs of a model, in its order.

    Args:
        rows: Runs with residual_power_w; those without a block are no part.

    Returns:
        run_set, model, block, first_category, run_count, category_counts, output_tokens, energy_j,
        residual_power_w (after its last run).
    """
    asked = rows.filter(~pl.col("is_baseline"), pl.col("block").is_not_null()).sort(
        "run_set", "model", "block", "started_at", "run_id"
    )
    counts = (
        asked.group_by("run_set", "model", "block", "category")
        .len()
        .sort("category")
        .group_by("run_set", "model", "block", maintain_order=True)
        .agg(pl.format("{} × {}", "len", "category").str.join(", ").alias("category_counts"))
    )
    return (
        asked.group_by("run_set", "model", "block", maintain_order=True)
        .agg(
            pl.col("category").first().alias("first_category"),
            pl.len().cast(pl.Int64).alias("run_count"),
            pl.col("output_tokens").sum(),
            pl.when(pl.col("energy_j").is_not_null().all())
            .then(pl.col("energy_j").sum())
            .alias("energy_j"),
            pl.col("residual_power_w").last(),
        )
        .join(counts, on=["run_set", "model", "block"])
        .sort("run_set", "model", "block")
    )


def confounded(rows: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the models whose blocks change order and dose together: run_set, model, correlation.

    For every category and block: its share of the block's runs (dose) and its mean place within it
    (order), each less the category's mean over blocks. Where both vary and correlate by more than
    the rule, they cannot be told apart. A category that always has its own place is not told from
    order either; its correlation is 1.
    """
    key = ["run_set", "model", "block"]
    asked = rows.filter(~pl.col("is_baseline"), pl.col("block").is_not_null()).sort(
        *key, "started_at", "run_id"
    )
    placed_runs = asked.with_columns(
        (pl.int_range(pl.len()).over(key) / (pl.len().over(key) - 1).clip(1)).alias("place"),
        pl.len().over(key).alias("block_size"),
    )
    cell = [*key, "category"]
    by_cell = (
        placed_runs.group_by(cell)
        .agg(
            (pl.len() / pl.col("block_size").first()).alias("dose"),
            pl.col("place").mean().alias("place"),
        )
        .sort(cell)
    )
    over = ["run_set", "model", "category"]
    moved = by_cell.with_columns(
        (pl.col("dose") - pl.col("dose").mean().over(over)).alias("dose_moved"),
        (pl.col("place") - pl.col("place").mean().over(over)).alias("place_moved"),
    )
    return (
        moved.group_by("run_set", "model", maintain_order=True)
        .agg(
            pl.col("block").n_unique().alias("block_count"),
            pl.corr("dose_moved", "place_moved").abs().fill_nan(None).alias("_moved"),
            (pl.col("place_moved").abs().max() < 1e-9).alias("is_fixed"),
            pl.col("category").n_unique().alias("category_count"),
        )
        .filter(pl.col("block_count") > 1, pl.col("category_count") > 1)
        .with_columns(
            pl.when("is_fixed").then(1.0).otherwise("_moved").alias("order_dose_correlation"),
        )
        .filter(pl.col("order_dose_correlation") >= rules.order_dose_correlation)
        .select("run_set", "model", "order_dose_correlation", "is_fixed")
        .sort("run_set", "model")
    )


def chance_of_agreement(agreeing: int) -> tuple[float, float]:
    """Return the chance that so many models go one named way, and that they go one way at all."""
    return 0.5**agreeing, min(1.0, 2 * 0.5**agreeing)
