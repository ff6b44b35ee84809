"""Logs of Intel Power Gadget: the processor package, by time of day."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import cell, misfit, names_of, number, problem_of, with_cells
from pipeline.ingest.telemetry.table import NO_DATE, Reading
from pipeline.ingest.telemetry.text import Log

_POWER = re.compile(r"Processor Power_(\d+)\(Watt\)")
_TIME = "System Time"
_ELAPSED = "Elapsed Time (sec)"
_PACKAGE_NOTE = (
    "this log tells of the processor package, not of a GPU's board: its samples are named so"
)


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log."""
    del columns
    names = names_of(head[0], ",")
    return _TIME in names and any(_POWER.fullmatch(name) for name in names)


def read(log: Log) -> Reading:
    """Return the samples of each package."""
    names = names_of(log.head[0], ",")
    # The tool ends its own log with sums such as `Total Elapsed Time (sec) = 1.252`.
    lines = log.lines.slice(1).filter(~pl.col("text").str.contains(" = ", literal=True))
    rows = with_cells(lines, ",")
    packages = [match[1] for name in names if (match := _POWER.fullmatch(name))]
    parts = [_of_package(rows, names, package) for package in packages]
    return Reading(pl.concat(parts), notes=(*log.notes, _PACKAGE_NOTE, NO_DATE))


def _of_package(rows: pl.DataFrame, names: list[str], package: str) -> pl.DataFrame:
    def told(name: str) -> pl.Expr:
        return cell(names.index(name) if name in names else None)

    power = told(f"Processor Power_{package}(Watt)")
    return rows.select(
        "source_line",
        pl.lit(f"processor {package}").alias("gpu"),
        _at(told(_TIME), number(told(_ELAPSED))).alias("at"),
        number(power).alias("power_w"),
        number(told(f"Cumulative Processor Energy_{package}(Joules)")).alias("energy_counter_j"),
        number(told(f"Package Power Limit_{package}(Watt)")).alias("power_limit_w"),
        number(told(f"Package Temperature_{package}(C)")).alias("temperature_c"),
        pl.coalesce(misfit(len(names)), problem_of("power", power, number(power))).alias("problem"),
    )


def _at(day_time: pl.Expr, elapsed_s: pl.Expr) -> pl.Expr:
    """Return the first time of day, and from then on what has elapsed: midnight is no jump."""
    text = pl.lit("1970-01-01 ") + day_time.str.replace(r":(\d+)$", ".${1}")
    told = text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    since = pl.duration(microseconds=((elapsed_s - elapsed_s.first()) * 1_000_000).round())
    return pl.coalesce(told.first() + since, told)
