"""Power logs of HWiNFO64: hundreds of columns, told apart by unit, sensor and place."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import (
    cell,
    names_of,
    readings,
    row_problem,
    separator_of,
    under_heads,
    with_cells,
)
from pipeline.ingest.telemetry.hwinfo_columns import Gpu, gpus_of
from pipeline.ingest.telemetry.table import METRICS, Reading
from pipeline.ingest.telemetry.text import Log, as_utf_8
from pipeline.ingest.telemetry.throttle import named
from pipeline.ingest.telemetry.times import format_of, parsed, time_format

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
    if not names[0] or _UNIT.search(names[0]) or _UNIT.search(names[1]):
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
        rows_duplicate=log.lines.height - body.height - len(heads),
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
    day_time = pl.concat_str([cell(0), cell(1)], separator=" ")
    form, _ = format_of(log, cells, day_time, "13.8.2025 13:58:50.898")
    count = len(names)
    # The last name is empty where rows end in a separator; a spreadsheet leaves that one out.
    usual = cells.select(pl.col("cells").list.len().mode().max()).item()
    fitting = count - 1 if names[-1] == "" and usual == count - 1 else count
    timed = cells.with_columns(parsed(day_time, form).alias("at"))
    return [_of_gpu(timed, gpu, fitting) for gpu in gpus]


def _of_gpu(timed: pl.DataFrame, gpu: Gpu, count: int) -> pl.DataFrame:
    return timed.select(
        "source_line",
        pl.lit(gpu.gpu).alias("gpu"),
        pl.lit(gpu.name, pl.String).alias("gpu_name"),
        "at",
        *readings({metric: gpu.columns.get(metric) for metric in METRICS}),
        named([(word, cell(at).is_in(_YES)) for word, at in gpu.limits]).alias("throttle_reasons"),
        row_problem(count, gpu.columns).alias("problem"),
    )
