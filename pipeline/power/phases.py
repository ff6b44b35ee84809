"""Cut what ran into phases: reading the prompt (prefill) and writing the answer (decode).

A runs file tells phases by category or by its tokens; else the power tells them: prefill draws more
and comes first. What no way tells apart stays one phase. Without runs, a busy time is a run whose
tokens nobody knows.
"""

import polars as pl

from pipeline.audit.rules import Rules
from pipeline.audit.tracks import seconds
from pipeline.power.rules import PowerRules

PREFILL, DECODE, WHOLE = "prefill", "decode", "whole"
CONFIGURATION = ("gpu_name", "model", "workload", "batch")
COLUMNS = (
    *("run_set", "run_id", "gpu", "started_at", "ended_at", "duration_s", "model", "workload"),
    *("batch", "phase", "phase_basis", "input_tokens", "cached_tokens", "output_tokens"),
)


def phases_of_runs(samples: pl.DataFrame, runs: pl.DataFrame, rules: PowerRules) -> pl.DataFrame:
    """Return the runs in phases.

    Args:
        samples: As `pipeline.ingest.telemetry` reads them.
        runs: As `pipeline.audit.runs` reads them; looped runs, idle and blank ones are left out.
        rules: How much more prefill must draw to be told by power.

    Returns:
        COLUMNS; phase_basis is what told the phase: category, tokens, power, or nothing.
    """
    word = pl.col("category").str.to_lowercase()
    is_named = word.is_in([PREFILL, DECODE])
    told = (
        runs.filter(~pl.col("is_baseline"), ~pl.col("is_looped").fill_null(False))
        .with_columns(
            pl.when(is_named).then(pl.lit("")).otherwise("category").alias("workload"),
            pl.when(is_named)
            .then(word)
            .when((pl.col("output_tokens") > 0) & (pl.col("cached_tokens") >= _input()))
            .then(pl.lit(DECODE))
            .otherwise(pl.lit(WHOLE))
            .alias("phase"),
        )
        .with_columns(
            pl.when(is_named)
            .then(pl.lit("category"))
            .when(pl.col("phase") == DECODE)
            .then(pl.lit("tokens"))
            .otherwise(pl.lit("nothing"))
            .alias("phase_basis")
        )
        .select(COLUMNS)
    )
    return _cut_by_power(samples, told, rules).sort("run_set", "started_at", "run_id")


def phases_without_runs(samples: pl.DataFrame, audit: Rules, rules: PowerRules) -> pl.DataFrame:
    """Return the busy times of a log in phases; their tokens are unknown.

    Busy: a utilisation above the rule, or where the log tells none, a power above idle.
    """
    idle_w = pl.col("power_w").quantile(audit.bare_idle_quantile_frac).over("gpu")
    is_busy = pl.coalesce(
        pl.col("utilisation_frac") > rules.busy_utilisation_frac,
        pl.col("power_w") > audit.idle_level_ratio * idle_w,
    ).fill_null(False)
    spells = (
        samples.sort("gpu", "sampled_at")
        .with_columns(is_busy.alias("_is_busy"))
        .with_columns(pl.col("_is_busy").rle_id().over("gpu").alias("_spell"))
        .filter("_is_busy")
        .group_by("gpu", "_spell", maintain_order=True)
        .agg(
            pl.col("sampled_at").min().alias("started_at"),
            pl.col("sampled_at").max().alias("ended_at"),
        )
        .filter(pl.col("ended_at") > pl.col("started_at"))
    )
    runs = spells.with_columns(
        pl.lit("log").alias("run_set"),
        pl.format("{}-{}", "gpu", "_spell").alias("run_id"),
        seconds(pl.col("ended_at") - pl.col("started_at")).alias("duration_s"),
        pl.lit("").alias("model"),
        pl.lit("").alias("workload"),
        pl.lit(1.0).alias("batch"),
        pl.lit(WHOLE).alias("phase"),
        pl.lit("nothing").alias("phase_basis"),
        *(
            pl.lit(None, pl.Int64).alias(name)
            for name in ("input_tokens", "cached_tokens", "output_tokens")
        ),
    ).select(COLUMNS)
    return _cut_by_power(samples, runs, rules).sort("run_set", "started_at", "run_id")


def _input() -> pl.Expr:
    """Return the input tokens, or 1 where there are none: no input is no cached input."""
    return pl.max_horizontal("input_tokens", pl.lit(1))


def _cut_by_power(samples: pl.DataFrame, runs: pl.DataFrame, rules: PowerRules) -> pl.DataFrame:
    """Return runs with those that nothing told cut in two where their power steps down for good."""
    whole = runs.filter(pl.col("phase") == WHOLE)
    cuts = _steps_down(readings_within(samples.drop_nulls("power_w"), whole), rules)
    if cuts.is_empty():
        return runs
    cut = whole.join(cuts, on=["run_set", "run_id"], how="inner").with_columns(
        pl.lit("power").alias("phase_basis")
    )
    parts = pl.concat(
        [
            cut.with_columns(
                pl.lit(PREFILL).alias("phase"),
                pl.col("decode_at").alias("ended_at"),
                pl.when(pl.col("output_tokens").is_not_null())
                .then(pl.lit(0, pl.Int64))
                .alias("output_tokens"),
            ),
            cut.with_columns(
                pl.lit(DECODE).alias("phase"),
                pl.col("decode_at").alias("started_at"),
                pl.col("input_tokens").alias("cached_tokens"),
            ),
        ]
    ).with_columns(
        (pl.col("run_id") + "-" + pl.col("phase")).alias("run_id"),
        seconds(pl.col("ended_at") - pl.col("started_at")).alias("duration_s"),
    )
    kept = runs.join(cuts, on=["run_set", "run_id"], how="anti")
    return pl.concat([kept, parts.select(COLUMNS)])


def _steps_down(readings: pl.DataFrame, rules: PowerRules) -> pl.DataFrame:
    """Return run_set, run_id, decode_at: the first reading below the middle of high and low power.

    Low is the median of the second half of a run, high the highest of the first half. A run whose
    steps are too long, or either of whose parts has too few readings, is not cut.
    """
    run = ["run_set", "run_id"]
    middle_at = pl.col("sampled_at").median().over(run)
    levels = readings.with_columns(
        pl.col("power_w").filter(pl.col("sampled_at") >= middle_at).median().over(run).alias("low"),
        pl.col("power_w").filter(pl.col("sampled_at") < middle_at).max().over(run).alias("high"),
    ).filter(pl.col("high") > pl.col("low") * (1 + rules.phase_contrast_frac))
    is_low = pl.col("power_w") < (pl.col("low") + pl.col("high")) / 2
    cuts = levels.with_columns(
        pl.col("sampled_at").filter(is_low).min().over(run).alias("decode_at")
    )
    is_high = pl.col("sampled_at") < pl.col("decode_at")
    return (
        cuts.group_by(run, maintain_order=True)
        .agg(
            pl.col("decode_at").first(),
            pl.min_horizontal(is_high.sum(), (~is_high).sum()).alias("count"),
            seconds(pl.col("sampled_at").diff()).median().alias("step_s"),
        )
        .filter(
            pl.col("count") >= rules.readings_least, pl.col("step_s") <= rules.phase_step_most_s
        )
        .drop("count", "step_s")
    )


def readings_within(samples: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """Return the readings that lie in a run of their GPU, or of any where the run names none.

    Columns of the samples, and run_set, run_id, started_at, ended_at, duration_s of the run.
    """
    spans = runs.select("run_set", "run_id", "gpu", "started_at", "ended_at", "duration_s")
    gpus = samples.select(pl.col("gpu").unique()).sort("gpu")
    placed = pl.concat(
        [
            spans.filter(pl.col("gpu").is_not_null()),
            spans.filter(pl.col("gpu").is_null()).drop("gpu").join(gpus, how="cross")
            .select(spans.columns),
        ]
    )  # fmt: skip
    return (
        samples.sort("sampled_at")
        .join_asof(
            placed.sort("started_at"),
            left_on="sampled_at",
            right_on="started_at",
            by="gpu",
            strategy="backward",
            coalesce=False,
            check_sortedness=False,
        )
        .filter(pl.col("sampled_at") < pl.col("ended_at"))
        .sort("run_set", "run_id", "gpu", "sampled_at")
    )
