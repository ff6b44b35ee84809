"""Logs of Zeus: a row a measuring window, a column of joules for each GPU."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import cell, misfit, names_of, number, problem_of, with_cells
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log
from pipeline.ingest.telemetry.windows import samples_of

_ENERGY = re.compile(r"gpu(\d+)_energy")
_YEAR_2000_S = 946_684_800


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log."""
    del columns
    names = names_of(head[0], ",")
    return {"start_time", "window_name", "elapsed_time"} <= set(names)


def read(log: Log) -> Reading:
    """Return two samples for each window and GPU.

    Raises:
        BadInputError: Where no column tells a GPU's energy.
    """
    names = names_of(log.head[0], ",")
    gpus = [(at, match[1]) for at, name in enumerate(names) if (match := _ENERGY.fullmatch(name))]
    if not gpus:
        raise log.refusal("columns such as gpu0_energy", "none", "Measure with a GPU.")
    cells = with_cells(log.lines.slice(1), ",")
    start_s = number(cell(names.index("start_time")))
    span_s = number(cell(names.index("elapsed_time")))
    parts = []
    for at, gpu in gpus:
        energy = cell(at)
        parts.append(
            cells.select(
                "source_line",
                pl.lit(gpu).alias("gpu"),
                _moment(start_s).alias("started_at"),
                _moment(start_s + span_s).alias("ended_at"),
                number(energy).alias("energy_j"),
                pl.when(misfit(len(names)).is_not_null())
                .then(misfit(len(names)))
                .when(number(energy) == 0)
                .then(pl.lit("0 J: a window shorter than the counter's step, so unknown"))
                .otherwise(problem_of("energy", energy, number(energy), most=float("inf")))
                .alias("problem"),
            )
        )
    notes = list(log.notes)
    if (cells.select(start_s.max()).item() or 0) < _YEAR_2000_S:
        notes.append(
            "start_time counts from a start of the machine, not from 1970: spans and energy hold, "
            "the dates do not"
        )
    return Reading(samples_of(pl.concat(parts)), is_utc=True, notes=tuple(notes))


def _moment(seconds: pl.Expr) -> pl.Expr:
    return (seconds * 1_000_000).round().cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
