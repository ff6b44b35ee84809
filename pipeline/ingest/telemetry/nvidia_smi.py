"""Power logs of `nvidia-smi --query-gpu=… --format=csv`, with or without head and units."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import (
    cell,
    names_of,
    number,
    readings,
    row_problem,
    with_cells,
)
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log
from pipeline.ingest.telemetry.throttle import EVENT_BITS, named, of_bits
from pipeline.ingest.telemetry.times import format_of, parsed

_TIME = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}")
# Where several columns tell the same thing, the first that is there is taken.
_COLUMNS = {
    "gpu": ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial"),
    "gpu_name": ("name", "gpu_name"),
    "power_w": ("power.draw", "power.draw.average", "power.draw.instant"),
    "sm_clock_mhz": ("clocks.sm", "clocks.gr"),
    "memory_clock_mhz": ("clocks.mem",),
    "power_limit_w": ("enforced.power.limit", "power.limit"),
    "temperature_c": ("temperature.gpu",),
    "utilisation_frac": ("utilization.gpu",),
}
_RENAMED = {
    "clocks.current.sm": "clocks.sm",
    "clocks.current.graphics": "clocks.gr",
    "clocks.current.memory": "clocks.mem",
}
_REASONS = "clocks_event_reasons."
_COUNTERS = "clocks_event_reasons_counters."
_SAME_INSTANT = 0.1  # of a usual step: rows nearer to each other are of different GPUs


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log."""
    names = set(_query_names(head[0]))
    known = {name for choice in _COLUMNS.values() for name in choice}
    if "timestamp" in names and any("." in name for name in names & known):
        return True
    if names & {"power.draw", "power.draw.average", "power.draw.instant"}:
        return True
    return _is_row(head[0]) or (columns is not None and len(columns) == len(names_of(head[0], ",")))


def read(log: Log) -> Reading:
    """Return the samples of each GPU.

    Raises:
        BadInputError: Where columns are not named, or there is no time among them.
    """
    head = log.head[0]
    has_head = not _is_row(head) and bool(set(_query_names(head)) & {*_known(), "timestamp"})
    if not has_head and log.columns is None:
        raise log.refusal(
            "a head that names the columns",
            "rows of nvidia-smi without one",
            "Name the columns in the order of --query-gpu, or log with a head.",
        )
    names = _query_names(head if has_head else ",".join(log.columns or ()))
    if "timestamp" not in names:
        raise log.refusal(
            "a column timestamp", f"columns {', '.join(names[:12])}", "Add it to --query-gpu."
        )
    is_head = pl.col("text") == head if has_head else pl.lit(value=False)
    body = with_cells(log.lines.filter(~is_head), ",")
    heads_again = log.lines.height - body.height - has_head
    notes = (
        ["the given columns are not used: the log has a head"] if has_head and log.columns else []
    )
    moment = cell(names.index("timestamp"))
    time_form, is_utc = format_of(log, body, moment, "2025/04/16 19:53:18.720")
    rows = _rows(body, names, time_form)
    if not _index(names, "gpu"):
        rows, note = _with_gpu_by_order(rows)
        notes += note
    return Reading(rows, is_utc=is_utc, rows_duplicate=heads_again, notes=(*log.notes, *notes))


def _known() -> set[str]:
    return {name for choice in _COLUMNS.values() for name in choice}


def _is_row(line: str) -> bool:
    return any(_TIME.fullmatch(text.strip()) for text in line.split(","))


def _query_names(head: str) -> list[str]:
    """Return the names as a query says them: without units, by their newest spelling."""
    names = [re.sub(r"\s*\[[^]]*\]$", "", name).lower() for name in names_of(head, ",")]
    return [
        _RENAMED.get(name, name).replace("clocks_throttle_reasons.", _REASONS) for name in names
    ]


def _index(names: list[str], metric: str) -> list[int]:
    return [names.index(name) for name in _COLUMNS[metric] if name in names]


def _rows(body: pl.DataFrame, names: list[str], time_form: str) -> pl.DataFrame:
    time_at = names.index("timestamp")
    places = {metric: next(iter(_index(names, metric)), None) for metric in _COLUMNS}
    gpu, gpu_name = (cell(places.pop(name)) for name in ("gpu", "gpu_name"))
    return body.select(
        "source_line",
        gpu.alias("gpu"),
        gpu_name.alias("gpu_name"),
        parsed(cell(time_at), time_form).alias("at"),
        *readings(places),
        _reasons(names, gpu).alias("throttle_reasons"),
        row_problem(len(names), places).alias("problem"),
    )


def _reasons(names: list[str], gpu: pl.Expr) -> pl.Expr:
    """Return the reasons that hold: from a mask of bits, or from one column each.

    A counter of microseconds tells that its reason held where it has grown since the row before.
    """
    if f"{_REASONS}active" in names:
        digits = cell(names.index(f"{_REASONS}active")).str.to_lowercase().str.strip_prefix("0x")
        return of_bits(digits.str.to_integer(base=16, strict=False), EVENT_BITS)
    told = [
        (name.removeprefix(_REASONS), cell(at))
        for at, name in enumerate(names)
        if name.startswith(_REASONS) and name != f"{_REASONS}supported"
    ]
    counted = [
        (name.removeprefix(_COUNTERS), number(cell(at)).diff().over(gpu) > 0)
        for at, name in enumerate(names)
        if name.startswith(_COUNTERS) and _index(names, "gpu")
    ]
    return named([(word, text == "Active") for word, text in told] or counted)


def _with_gpu_by_order(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Name GPUs by their place among the rows of one instant: no column tells them apart."""
    step = pl.col("at").diff().dt.total_microseconds()
    usual = rows.select(step.quantile(0.95)).item()
    if not usual:
        return rows.with_columns(pl.lit("0").alias("gpu")), []
    is_new = (step > usual * _SAME_INSTANT) | (step < 0)
    instants = rows.with_columns(
        is_new.fill_null(value=False).cast(pl.Int64).cum_sum().alias("instant")
    )
    place = pl.int_range(pl.len()).over("instant")
    instants = instants.with_columns(place.alias("place"), pl.len().over("instant").alias("size"))
    size = int(instants.select(pl.col("size").mode().max()).item())
    if size == 1:
        return rows.with_columns(pl.lit("0").alias("gpu")), []
    wrong = pl.format("no GPU index, and {} rows where the log has {} at a time", "size", size)
    told = instants.with_columns(
        pl.col("place").cast(pl.String).alias("gpu"),
        pl.when((pl.col("size") != size) & pl.col("problem").is_null())
        .then(wrong)
        .otherwise("problem")
        .alias("problem"),
    )
    note = (
        f"no GPU index: {size} rows at each instant, taken as GPU 0 to {size - 1} in the order of "
        "the log; add index or uuid to --query-gpu"
    )
    return told.drop("instant", "place", "size"), [note]
