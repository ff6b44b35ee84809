"""Logs that tell the energy of spans of time, as two samples each: the span's start and its end.

Between the two the power is the span's mean; the counter grows within spans alone. What lies
within a span that is counted already is refused: its energy would count twice.
"""

import polars as pl

_CLOCK_S = 2.0  # stamps of whole seconds may let spans that follow each other seem to overlap


def samples_of(spans: pl.DataFrame) -> pl.DataFrame:
    """Return two samples for each span.

    Args:
        spans: source_line, gpu, started_at, ended_at, energy_j, problem, and columns to keep.
    """
    follows = spans.sort("gpu", "started_at", "source_line", maintain_order=True)
    before = pl.col("ended_at").cum_max().shift().over("gpu")
    overlap_s = (before - pl.col("started_at")).dt.total_microseconds() / 1e6
    told = follows.with_columns(before.alias("before"), overlap_s.alias("overlap_s")).with_columns(
        pl.coalesce(
            "problem",
            pl.when(pl.col("overlap_s") > _CLOCK_S).then(
                pl.lit("lies within a span whose energy is counted already")
            ),
        ).alias("problem"),
        pl.max_horizontal("started_at", "before").alias("started_at"),
    )
    counted = told.with_columns(
        pl.when(pl.col("problem").is_null())
        .then("energy_j")
        .otherwise(0.0)
        .cum_sum()
        .over("gpu")
        .alias("after_j")
    )
    span_s = (pl.col("ended_at") - pl.col("started_at")).dt.total_microseconds() / 1e6
    mean_w = pl.when(span_s > 0).then(pl.col("energy_j") / span_s).alias("power_w")
    start = counted.with_columns(
        mean_w,
        pl.col("started_at").alias("at"),
        (pl.col("after_j") - pl.col("energy_j")).alias("energy_counter_j"),
    )
    end = counted.with_columns(
        mean_w, pl.col("ended_at").alias("at"), pl.col("after_j").alias("energy_counter_j")
    )
    dropped = ("before", "overlap_s", "after_j", "energy_j", "started_at", "ended_at")
    return pl.concat([start, end]).drop(dropped).sort("source_line", maintain_order=True)
