"""Prometheus text of the DCGM exporter: one line a metric and GPU, millijoules in the counter."""

import re

import polars as pl

from pipeline.ingest.prometheus import comment_time
from pipeline.ingest.telemetry.cells import problem_of
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log
from pipeline.ingest.telemetry.throttle import EVENT_BITS, of_bits

_STEM = "DCGM_FI_DEV_"
# The metric, and what its numbers are divided by to be in our unit.
_METRICS = {
    "POWER_USAGE": ("power_w", 1),
    "TOTAL_ENERGY_CONSUMPTION": ("energy_counter_j", 1_000),
    "SM_CLOCK": ("sm_clock_mhz", 1),
    "MEM_CLOCK": ("memory_clock_mhz", 1),
    "POWER_MGMT_LIMIT": ("power_limit_w", 1),
    "GPU_TEMP": ("temperature_c", 1),
    "GPU_UTIL": ("utilisation_frac", 100),
    "CLOCKS_EVENT_REASONS": ("reasons", 1),
    "CLOCK_THROTTLE_REASONS": ("reasons", 1),
}
_LINE = (
    r"^\s*DCGM_FI_DEV_(?P<metric>\w+)\s*(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)"
    r"(?:\s+(?P<stamp>\d{12,}))?\s*$"
)
# dcgm_structs.h: what stands for "blank" begins at these numbers, as int32, double and int64.
_BLANKS = ((2_147_483_632, 2_147_483_647), (140_737_488_355_328, 140_737_488_355_343),
           (9_223_372_036_854_775_000, 9_223_372_036_854_775_807))  # fmt: skip


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such text."""
    del columns
    return any(re.match(r"\s*(# (HELP|TYPE) )?DCGM_FI_DEV_", line) for line in head)


def read(log: Log) -> Reading:
    """Return a sample for each GPU and scrape.

    Raises:
        BadInputError: Where the text tells no time, or no power, energy or clock.
    """
    lines = _timed(log.lines).filter(pl.col("text").str.strip_chars_start().str.starts_with(_STEM))
    fields = lines.with_columns(pl.col("text").str.extract_groups(_LINE).alias("f")).unnest("f")
    wanted = fields.filter(pl.col("metric").is_in(list(_METRICS)) | pl.col("metric").is_null())
    if wanted["metric"].count() == 0:
        raise log.refusal("power, energy or clocks of a GPU", "other metrics alone", "Export them.")
    readings = _readings(wanted)
    if readings["at"].count() == 0:
        raise log.refusal(
            "the time of each scrape",
            f"none; the text says {_as_it_stands(readings)}",
            "Write the time of the scrape before it as a comment, such as "
            "`# 2026-10-01T12:00:00Z`, or export with timestamps.",
        )
    bad = readings.filter(pl.col("problem").is_not_null())
    good = readings.filter(pl.col("problem").is_null())
    once = good.unique(["at", "gpu", "name"], keep="first", maintain_order=True)
    return Reading(
        _samples(once),
        is_utc=True,
        rows_duplicate=good.height - once.height,
        rejected=tuple(bad.select("source_line", "problem").rows()),
        notes=_notes(log, good, lines.height - wanted.height, good.height - once.height),
    )


def _timed(lines: pl.DataFrame) -> pl.DataFrame:
    """Add the time that the last comment told, in milliseconds."""
    comments = lines.filter(
        pl.col("text").str.contains(r"^\s*#") & ~pl.col("text").str.contains(r"^\s*# (HELP|TYPE) ")
    )
    times = [(row["source_line"], comment_time(row["text"])) for row in comments.to_dicts()]
    told = pl.DataFrame(
        [(line, round(at * 1_000)) for line, at in times if at is not None],
        schema={"source_line": pl.Int64, "told_ms": pl.Int64},
        orient="row",
    )
    return lines.join(told, on="source_line", how="left", maintain_order="left").with_columns(
        pl.col("told_ms").forward_fill()
    )


def _readings(wanted: pl.DataFrame) -> pl.DataFrame:
    metric = pl.col("metric")
    scale = metric.replace_strict(
        {name: 1 / by for name, (_, by) in _METRICS.items()}, default=None
    )
    value = pl.col("value").cast(pl.Float64, strict=False)
    is_blank = pl.any_horizontal(value.is_between(low, high) for low, high in _BLANKS)
    label = {
        name: pl.col("labels").str.extract(rf'(?:^|,){name}="((?:[^"\\]|\\.)*)"')
        for name in ("gpu", "UUID", "modelName", "GPU_I_ID")
    }
    rows = wanted.select(
        "source_line",
        metric.replace_strict({name: to for name, (to, _) in _METRICS.items()}, default=None).alias(
            "name"
        ),
        label["gpu"].alias("number"),
        label["UUID"].alias("uuid"),
        label["modelName"].alias("gpu_name"),
        label["GPU_I_ID"].is_not_null().alias("is_slice"),
        pl.coalesce(pl.col("stamp").cast(pl.Int64, strict=False), "told_ms")
        .cast(pl.Datetime("ms"))
        .cast(pl.Datetime("us"))
        .alias("at"),
        is_blank.fill_null(value=False).alias("is_blank"),
        pl.when(~is_blank).then(value * scale).alias("reading"),
        pl.when(metric.is_null())
        .then(pl.lit("no metric with a value"))
        .when(pl.coalesce(label["gpu"], label["UUID"]).is_null())
        .then(pl.lit("no label that tells the GPU"))
        .when(~is_blank | value.is_null())
        .then(problem_of("the value", pl.col("value"), value * scale, most=float("inf")))
        .alias("problem"),
    )
    # The same number stands for two boards where the text is of two hosts.
    is_clear = rows.group_by("number").agg(pl.col("uuid").n_unique())["uuid"].max() == 1
    gpu = pl.coalesce("number", "uuid") if is_clear else pl.coalesce("uuid", "number")
    return rows.with_columns(gpu.alias("gpu"))


def _samples(once: pl.DataFrame) -> pl.DataFrame:
    names = sorted({name for name, _ in _METRICS.values()})
    return (
        once.group_by("at", "gpu", maintain_order=True)
        .agg(
            pl.col("source_line").min(),
            pl.len().cast(pl.Int64).alias("row_count"),
            pl.col("gpu_name").drop_nulls().first(),
            *(
                pl.col("reading").filter(pl.col("name") == name).first().alias(name)
                for name in names
            ),
        )
        .with_columns(of_bits(pl.col("reasons"), EVENT_BITS).alias("throttle_reasons"))
        .drop("reasons")
    )


def _as_it_stands(readings: pl.DataFrame) -> str:
    """Say what can be told without a time: each GPU's power and counter."""
    good = readings.filter(pl.col("problem").is_null() & pl.col("reading").is_not_null())
    units = {"power_w": "W", "energy_counter_j": "J"}
    told = [
        f"GPU {row['gpu']} {row['reading']:,.3f} {units[row['name']]}"
        for row in good.filter(pl.col("name").is_in(list(units))).head(6).to_dicts()
    ]
    return ", ".join(told) or "no power and no energy"


def _notes(log: Log, good: pl.DataFrame, other_count: int, copy_count: int) -> tuple[str, ...]:
    notes = list(log.notes)
    if other_count:
        notes.append(f"{other_count:,} lines of other metrics are not read")
    if blank_count := int(good["is_blank"].sum()):
        notes.append(f"{blank_count:,} blank values taken as unknown")
    if copy_count:
        notes.append(
            f"{copy_count:,} lines tell a board again, as for each of its MIG slices: counted once"
        )
    return tuple(notes)
