"""Power logs of HWiNFO64: hundreds of columns, told apart by unit, sensor and place."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import (
    cell,
    names_of,
    number,
    problem_of,
    separator_of,
    under_heads,
    with_cells,
)
from pipeline.ingest.telemetry.hwinfo_columns import Gpu, gpus_of
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log, as_utf_8
from pipeline.ingest.telemetry.throttle import named
from pipeline.ingest.telemetry.times import parsed, time_format

_UNIT = re.compile(r"\[[^\]]*\]$")
_FEWEST_UNITS = 2
# 是 read byte by byte out of GBK is ÊÇ.
_YES = ("Yes", "Ja", "Oui", "Sí", "是", "ÊÇ", "Да", "1")


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log: units in the head, day and time apart."""
    del columns
    separator = separator_of(head[0])
    names = names_of(head[0], separator)
    if len(names) < 3 or sum(_UNIT.search(name) is not None for name in names) < _FEWEST_UNITS:
        return False
    if _UNIT.search(names[0]) or _UNIT.search(names[1]):
        return False
    rows = (line.split(separator) for line in head[1:] if not line.startswith(names[0]))
    times = [time_format(" ".join(row[:2])) for row in rows if len(row) > 2]
    return any(times) or (not times and names[:2] == ["Date", "Time"])


def read(log: Log) -> Reading:
    """Return the samples of each GPU.

    Raises:
        BadInputError: Where no column tells of a GPU.
    """
    separator = separator_of(log.head[0])
    first = names_of(log.head[0], separator)[0]
    is_head = pl.col("text").str.strip_prefix('"').str.starts_with(first)
    lines, heads = under_heads(log.lines, is_head)
    is_sensors = pl.col("text").str.starts_with(separator * 2)
    sensors = {row["head"]: row["text"] for row in lines.filter(is_sensors).to_dicts()}
    body = lines.filter(~is_sensors)
    parts, notes = [], list(log.notes)
    for head in heads:
        rows = body.filter(pl.col("head") == head)
        if rows.is_empty() and len(heads) > 1:
            continue
        names = names_of(as_utf_8(head), separator)
        gpus, told = gpus_of(names, _sensor_names(sensors.get(head), separator, len(names)))
        if not gpus:
            raise log.refusal("a column of a GPU", _without_gpu(names), "Log the GPU's sensors.")
        notes += told
        parts += _samples(log, rows, names, gpus, separator)
    return Reading(
        pl.concat(parts).sort("source_line", maintain_order=True),
        rows_duplicate=log.lines.height - body.height - 1,
        notes=tuple(dict.fromkeys(notes)),
    )


def _sensor_names(line: str | None, separator: str, count: int) -> list[str] | None:
    """Return the sensor of each column; names are not quoted, so a comma in one shifts the rest.

    A name never begins with a blank: a field that does goes on with the name before it.
    """
    if line is None:
        return None
    fields: list[str] = []
    for field in as_utf_8(line).split(separator):
        if field.startswith(" ") and fields:
            fields[-1] += separator + field
        else:
            fields.append(field)
    return fields if len(fields) == count else None


def _without_gpu(names: list[str]) -> str:
    powers = [name for name in names if name.endswith("[W]")]
    return f"power of other parts alone ({', '.join(powers[:6])})" if powers else "none"


def _samples(
    log: Log, rows: pl.DataFrame, names: list[str], gpus: tuple[Gpu, ...], separator: str
) -> list[pl.DataFrame]:
    cells = with_cells(rows.select("source_line", "text"), separator)
    form = _time_form(log, cells)
    day_time = pl.concat_str([cell(0), cell(1)], separator=" ")
    count = len(names)
    # The last name is empty where rows end in a separator; some writers leave that one out.
    fits = pl.col("cells").list.len().is_in([count, count - 1 if names[-1] == "" else count])
    wide = cells.select(
        "source_line",
        "cells",
        parsed(day_time, form).alias("at"),
        pl.when(~fits)
        .then(pl.format("{} fields where the head has {}", pl.col("cells").list.len(), count))
        .alias("problem"),
    )
    return [_of_gpu(wide, gpu) for gpu in gpus]


def _time_form(log: Log, cells: pl.DataFrame) -> str:
    texts = cells.head(50).select(pl.concat_str([cell(0), cell(1)], separator=" ").alias("at"))
    for text in texts["at"]:
        form = time_format(text)
        if form:
            return form[0]
    if cells.is_empty():
        return "%d.%m.%Y %H:%M:%S%.f"
    raise log.refusal(
        "a day such as 13.8.2025 and a time such as 13:58:50.898",
        repr(texts["at"][0]),
        "Log again.",
    )


def _of_gpu(wide: pl.DataFrame, gpu: Gpu) -> pl.DataFrame:
    texts = {metric: cell(at) for metric, at in gpu.columns.items()}
    values = {
        metric: number(text) / (100 if metric == "utilisation_frac" else 1)
        for metric, text in texts.items()
    }
    problem = pl.col("problem")
    if "power_w" in texts:
        power = problem_of("power", texts["power_w"], values["power_w"])
        problem = pl.coalesce(problem, power)
    return wide.select(
        "source_line",
        pl.lit(gpu.gpu).alias("gpu"),
        pl.lit(gpu.name, pl.String).alias("gpu_name"),
        "at",
        *(
            values.get(metric, pl.lit(None, pl.Float64)).alias(metric)
            for metric in ("power_w", "sm_clock_mhz", "memory_clock_mhz", "power_limit_w",
                           "temperature_c", "utilisation_frac")
        ),
        named([(word, cell(at).is_in(_YES)) for word, at in gpu.limits]).alias("throttle_reasons"),
        problem.alias("problem"),
    )  # fmt: skip
