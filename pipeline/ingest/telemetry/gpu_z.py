"""Sensor logs of GPU-Z: padded cells, `-` for what is missing, one card a log."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import (
    cell,
    names_of,
    number,
    readings,
    row_problem,
    under_heads,
    with_cells,
)
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log, as_utf_8
from pipeline.ingest.telemetry.throttle import POLICY_BITS, of_bits
from pipeline.ingest.telemetry.times import format_of, parsed

_UNIT = re.compile(r"\[[^\]]*\]$")
_COLUMNS = {
    "power_w": ("Board Power Draw [W]", "GPU Power [W]", "Power Consumption (W) [W]",
                "GPU Chip Power Draw [W]", "GPU only Power Draw [W]"),
    "sm_clock_mhz": ("GPU Clock [MHz]", "GPU Core Clock [MHz]"),
    "memory_clock_mhz": ("Memory Clock [MHz]", "GPU Memory Clock [MHz]"),
    "power_limit_w": ("Power Limit [W]",),
    "temperature_c": ("GPU Temperature [°C]",),
    "utilisation_frac": ("GPU Load [%]",),
}  # fmt: skip
_PERFCAP = "PerfCap Reason []"


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log; its head may come late."""
    del columns
    return any(_is_head(line) for line in head)


def read(log: Log) -> Reading:
    """Return the samples of the one card."""
    first = next(line for line in log.head if _is_head(line))
    name = names_of(first, ",")[0]
    is_head = pl.col("text").str.strip_chars().str.starts_with(name)
    body, heads = under_heads(log.lines, is_head)
    early = body.filter(pl.col("head").is_null())["source_line"].to_list()
    parts = [_samples(log, body.filter(pl.col("head") == head), head) for head in heads]
    return Reading(
        pl.concat(parts).sort("source_line", maintain_order=True),
        rows_duplicate=log.lines.height - body.height - len(heads),
        rejected=tuple((line, "stands before the head that names its columns") for line in early),
        notes=log.notes,
    )


def _is_head(line: str) -> bool:
    names = names_of(line, ",")
    units = [_UNIT.search(name) is not None for name in names if name]
    has_gpu = any(name.startswith(("GPU ", "Board Power")) for name in names)
    return len(units) > 1 and bool(names[0]) and not units[0] and all(units[1:]) and has_gpu


def _samples(log: Log, rows: pl.DataFrame, head: str) -> pl.DataFrame:
    names = names_of(as_utf_8(head), ",")
    places = {
        metric: next((names.index(name) for name in choice if name in names), None)
        for metric, choice in _COLUMNS.items()
    }
    cells = with_cells(rows, ",")
    time_form, _ = format_of(log, cells, cell(0), "2024-04-11 14:43:16")
    return cells.select(
        "source_line",
        pl.lit("0").alias("gpu"),
        parsed(cell(0), time_form).alias("at"),
        *readings(places),
        of_bits(
            number(cell(names.index(_PERFCAP) if _PERFCAP in names else None)), POLICY_BITS
        ).alias("throttle_reasons"),
        row_problem(len(names), places).alias("problem"),
    )
