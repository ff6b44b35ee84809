"""Logs of `nvidia-smi dmon`: fixed fields, names and units in comment lines, whole watts."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import cell, number, readings, row_problem, under_heads
from pipeline.ingest.telemetry.table import NO_DATE, Reading
from pipeline.ingest.telemetry.text import Log
from pipeline.ingest.telemetry.throttle import named
from pipeline.ingest.telemetry.times import format_of, parsed

_HEAD = r"(?i)^\s*#\s*(date[\s,]+)?(time[\s,]+)?gpu[\s,]"
_COLUMNS = {
    "power_w": "pwr",
    "sm_clock_mhz": "pclk",
    "memory_clock_mhz": "mclk",
    "temperature_c": "gtemp",
    "utilisation_frac": "sm",
}
_VIOLATIONS = {"pviol": "power", "tviol": "thermal"}  # share of time, and yes or no


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log."""
    del columns
    return any(re.search(_HEAD, line) for line in head)


def read(log: Log) -> Reading:
    """Return the samples of each GPU.

    Raises:
        BadInputError: Where rows tell no time.
    """
    lines, heads = under_heads(log.lines, pl.col("text").str.contains(_HEAD))
    body = lines.filter(~pl.col("text").str.strip_chars_start().str.starts_with("#"))
    early = body.filter(pl.col("head").is_null())["source_line"].to_list()
    bare = pl.col("text").str.strip_chars().str.replace_all(r"[\s,]+", " ")
    cells = body.with_columns(bare.str.split(" ").alias("cells"))
    names_by_head = {head: _names(head) for head in heads}
    if not any("time" in names for names in names_by_head.values()):
        raise log.refusal(
            "a time in each row", _without_time(cells, names_by_head), "Log with `dmon -o DT`."
        )
    parts = [
        _samples(log, cells.filter(pl.col("head") == head), names)
        for head, names in names_by_head.items()
    ]
    has_date = all("date" in names for names in names_by_head.values())
    return Reading(
        pl.concat(parts).sort("source_line", maintain_order=True),
        rejected=tuple((line, "stands before the head that names its columns") for line in early),
        notes=log.notes if has_date else (*log.notes, NO_DATE),
    )


def _names(head: str) -> list[str]:
    return re.sub(r"[\s,]+", " ", head.strip().lstrip("#").strip()).lower().split(" ")


def _place(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None


def _without_time(cells: pl.DataFrame, names_by_head: dict[str, list[str]]) -> str:
    """Say what can be told without a time: the mean power of each GPU."""
    names = next(iter(names_by_head.values()))
    means = (
        cells.select(
            cell(_place(names, "gpu")).alias("gpu"),
            number(cell(_place(names, "pwr"))).alias("power_w"),
        )
        .drop_nulls()
        .group_by("gpu")
        .agg(pl.len(), pl.col("power_w").mean())
        .sort("gpu")
    )
    told = [f"GPU {gpu} {mean:.0f} W on average of {count:,}" for gpu, count, mean in means.rows()]
    return "none" + (f" ({', '.join(told[:8])})" if told else "")


def _samples(log: Log, cells: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    places = {metric: _place(names, name) for metric, name in _COLUMNS.items()}
    day = cell(_place(names, "date")) if "date" in names else pl.lit("19700101")
    moment = pl.concat_str([day, cell(_place(names, "time"))], separator=" ")
    time_form, _ = format_of(log, cells, moment, "20261005 09:00:00")
    held = [
        (word, number(cell(_place(names, name))) > 0)
        for name, word in _VIOLATIONS.items()
        if name in names
    ]
    return cells.select(
        "source_line",
        cell(_place(names, "gpu")).alias("gpu"),
        parsed(moment, time_form).alias("at"),
        *readings(places),
        named(held).alias("throttle_reasons"),
        row_problem(len(names), places).alias("problem"),
    )
