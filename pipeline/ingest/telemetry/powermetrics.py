"""Text of macOS powermetrics: a block a sample, whole seconds in its stamp, milliwatts in it."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import problem_of
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log

_STAMP = (
    r"^\*\*\* Sampled system activity \(\w{3} (?P<at>\w{3} +\d+ \d\d:\d\d:\d\d \d{4} [+-]\d{4})\) "
    r"\((?P<elapsed>[\d.]+)ms elapsed\)"
)
_START = "*** Sampled system activity ("
_PAUSE_S = 1.5  # a stamp is cut to whole seconds: a longer step apart is a pause of the logger


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such text."""
    del columns
    return any(line.startswith(_START) for line in head)


def read(log: Log) -> Reading:
    """Return a sample for each block: the mean of its span, told at its end.

    The counter is the sum of power times the span each block says it took.

    Raises:
        BadInputError: Where no block tells of a GPU.
    """
    text = pl.col("text")
    lines = log.lines.with_columns(text.str.starts_with(_START).cum_sum().alias("block"))
    blocks = (
        lines.filter(pl.col("block") > 0)
        .group_by("block", maintain_order=True)
        .agg(
            pl.col("source_line").first(),
            text.first().str.extract_groups(_STAMP).alias("stamp"),
            _first(r"^GPU Power: (\S+) mW").alias("power_text"),
            _first(r"^GPU (?:HW )?active frequency: ([\d.]+) MHz").alias("clock_text"),
            _first(r"^GPU (?:HW )?active residency: +([\d.]+)%").alias("busy_text"),
        )
        .unnest("stamp")
    )
    if blocks["power_text"].count() == 0:
        powers = [line for line in log.head if re.search(r"power.*: *[\d.]+ *m?W", line, re.I)]
        found = f"only {powers[0][:60]!r} and its like" if powers else "none"
        raise log.refusal("a line `GPU Power`", found, "Log with --samplers gpu_power.")
    power_w = pl.col("power_text").cast(pl.Float64, strict=False) / 1_000
    elapsed_s = pl.col("elapsed").cast(pl.Float64, strict=False) / 1_000
    rows = blocks.with_columns(
        power_w.alias("power_w"),
        elapsed_s.alias("elapsed_s"),
        problem_of("GPU power", pl.col("power_text"), power_w).alias("problem"),
    )
    samples = rows.select(
        "source_line",
        pl.lit("0").alias("gpu"),
        _at(rows).alias("at"),
        "power_w",
        (pl.col("power_w").clip(lower_bound=0) * pl.col("elapsed_s"))
        .cum_sum()
        .alias("energy_counter_j"),
        pl.col("clock_text").cast(pl.Float64, strict=False).alias("sm_clock_mhz"),
        (pl.col("busy_text").cast(pl.Float64, strict=False) / 100).alias("utilisation_frac"),
        "problem",
    )
    return Reading(samples, is_utc=True, notes=log.notes)


def _first(pattern: str) -> pl.Expr:
    return pl.col("text").str.extract(pattern).drop_nulls().first()


def _at(rows: pl.DataFrame) -> pl.Series:
    """Return the end of each block: the first stamp and what elapsed since, anew after a pause."""
    stamp = (
        pl.col("at")
        .str.replace_all(r" +", " ")
        .str.to_datetime("%b %d %H:%M:%S %Y %z", time_unit="us", strict=False)
    )
    stamped = rows.select(
        stamp.dt.convert_time_zone("UTC").dt.replace_time_zone(None).alias("stamp"),
        pl.col("elapsed_s").cum_sum().alias("since_s"),
    )
    drift_s = pl.col("stamp").dt.epoch("us") / 1_000_000 - pl.col("since_s")
    is_pause = (drift_s.diff().abs() > _PAUSE_S).fill_null(value=False)
    spans = stamped.with_columns(is_pause.cum_sum().alias("span"))
    since_s = pl.col("since_s") - pl.col("since_s").first().over("span")
    moved = pl.duration(microseconds=(since_s * 1_000_000).round())
    return spans.select((pl.col("stamp").first().over("span") + moved).alias("at"))["at"]
