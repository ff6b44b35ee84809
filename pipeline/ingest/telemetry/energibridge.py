"""Logs of EnergiBridge: counters in joules, power in watts or milliwatts, times in milliseconds."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import cell, misfit, names_of, number, problem_of, with_cells
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log

_POWER = re.compile(r"GPU(\d*)_POWER \((m?)Watts\)")
# What is told of a machine without GPU columns: the first that is there, cores never added up.
_PROCESSOR = ("PACKAGE_ENERGY (J)", "CPU_ENERGY (J)")


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log."""
    del columns
    names = names_of(head[0], ",")
    return names[:2] == ["Delta", "Time"]


def read(log: Log) -> Reading:
    """Return the samples of each GPU; of the processor package where the log has no GPU.

    Raises:
        BadInputError: Where neither is there.
    """
    names = names_of(log.head[0], ",")
    rows = with_cells(log.lines.slice(1), ",").with_columns(
        # A row is taken Delta after the Time it shows.
        ((number(cell(1)) + number(cell(0))) * 1_000).round().cast(pl.Int64, strict=False)
        .cast(pl.Datetime("us")).alias("at"),
        misfit(len(names)).alias("torn"),
    )  # fmt: skip
    gpus = [(at, match) for at, name in enumerate(names) if (match := _POWER.fullmatch(name))]
    if gpus:
        parts = [_of_gpu(rows, names, at, match[1], match[2]) for at, match in gpus]
        return Reading(pl.concat(parts), is_utc=True, notes=log.notes)
    counter = next((name for name in _PROCESSOR if name in names), None)
    if counter is None:
        raise log.refusal("a column of a GPU or processor", "neither", "Log with --gpu.")
    note = f"no GPU in this log: {counter} is of the processor, and its samples are named so"
    text = cell(names.index(counter))
    samples = rows.select(
        "source_line",
        pl.lit("processor").alias("gpu"),
        "at",
        number(text).alias("energy_counter_j"),
        pl.coalesce("torn", problem_of("the counter", text, number(text), most=float("inf"))).alias(
            "problem"
        ),
    )
    return Reading(samples, is_utc=True, notes=(*log.notes, note))


def _of_gpu(
    rows: pl.DataFrame, names: list[str], power_at: int, gpu: str, milli: str
) -> pl.DataFrame:
    def told(name: str) -> pl.Expr:
        return cell(names.index(name) if name in names else None)

    power = cell(power_at)
    power_w = number(power) / (1_000 if milli else 1)
    return rows.select(
        "source_line",
        pl.lit(gpu or "0").alias("gpu"),
        "at",
        power_w.alias("power_w"),
        number(told(f"GPU{gpu}_TEMPERATURE")).alias("temperature_c"),
        (number(told(f"GPU{gpu}_USAGE")) / 100).alias("utilisation_frac"),
        pl.coalesce("torn", problem_of("power", power, power_w)).alias("problem"),
    )
