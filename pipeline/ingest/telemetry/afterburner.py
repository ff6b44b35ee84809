"""Hardware monitoring logs of MSI Afterburner (.hml): records by number, sessions one by one."""

import re

import polars as pl

from pipeline.ingest.telemetry.cells import cell, number, readings, row_problem, with_cells
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log
from pipeline.ingest.telemetry.throttle import named
from pipeline.ingest.telemetry.times import parsed

_FIRST = re.compile(r"00, *\d\d-\d\d-\d{4} .*Hardware monitoring log")
_FIELDS_BEFORE = 2  # the number of the record, and its time
_COLUMNS = {  # name in lower case without "GPU1", and unit
    "power_w": (("power", "W"),),
    "sm_clock_mhz": (("core clock", "MHz"),),
    "memory_clock_mhz": (("memory clock", "MHz"),),
    "temperature_c": (("temperature", "C"), ("gpu temperature", "C")),
    "utilisation_frac": (("usage", "%"), ("gpu usage", "%")),
}
_LIMITS = {"power limit": "power", "temp limit": "thermal", "voltage limit": "reliability_voltage",
           "no load limit": "utilization"}  # fmt: skip
_GPU = re.compile(r"(?:GPU(\d+) )?(.*)")


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a log."""
    del columns
    return any(_FIRST.match(line) for line in head)


def read(log: Log) -> Reading:
    """Return the samples of all sessions; each names its own columns."""
    kind = pl.col("text").str.slice(0, 2)
    lines = log.lines.with_columns(
        kind.alias("kind"), (kind == "00").cast(pl.Int32).cum_sum().alias("session")
    )
    parts, rejected, known = [], [], ("00", "01", "02", "03", "80")
    for _, session in lines.group_by("session", maintain_order=True):
        names, units, card = _head_of(session)
        rows = with_cells(session.filter(pl.col("kind") == "80"), ",")
        if not names:
            rejected += [(line, "no names of columns before it") for line in rows["source_line"]]
            continue
        parts += _samples(rows, names, units, card)
        odd = session.filter(~pl.col("kind").is_in(known))["source_line"]
        rejected += [(line, "a record of an unknown kind") for line in odd]
    if not parts:
        raise log.refusal("a session that names its columns", "none", "Log again.")
    return Reading(
        pl.concat(parts).sort("source_line", maintain_order=True),
        rejected=tuple(rejected),
        notes=log.notes,
    )


def _head_of(session: pl.DataFrame) -> tuple[list[str], list[str], str | None]:
    """Return names and units of the columns, and the card."""
    texts: dict[str, list[list[str]]] = {}
    for row in session.filter(pl.col("kind").is_in(["01", "02", "03"])).to_dicts():
        fields = [field.strip() for field in row["text"].split(",")]
        texts.setdefault(row["kind"], []).append(fields[_FIELDS_BEFORE:])
    names = texts.get("02", [[]])[0]
    units = [line[1].lstrip("°Â") if len(line) > 1 else "" for line in texts.get("03", [])]
    units += [""] * (len(names) - len(units))
    cards = texts.get("01", [])
    return names, units, ", ".join(cards[0]) if cards else None


def _samples(
    rows: pl.DataFrame, names: list[str], units: list[str], card: str | None
) -> list[pl.DataFrame]:
    places: dict[str, dict[str, int]] = {}
    limits: dict[str, list[tuple[str, int]]] = {}
    for at, (name, unit) in enumerate(zip(names, units, strict=False)):
        match = _GPU.fullmatch(name)
        gpu, bare = (match[1] or "0", match[2].lower()) if match else ("0", "")
        for metric, choice in _COLUMNS.items():
            if (bare, unit) in choice:
                places.setdefault(gpu, {})[metric] = at + _FIELDS_BEFORE
        if bare in _LIMITS:
            limits.setdefault(gpu, []).append((_LIMITS[bare], at + _FIELDS_BEFORE))
    count = len(names) + _FIELDS_BEFORE
    return [
        _of_gpu(rows, gpu, card, columns, limits.get(gpu, []), count)
        for gpu, columns in (places or {"0": {}}).items()
    ]


def _of_gpu(
    rows: pl.DataFrame,
    gpu: str,
    card: str | None,
    columns: dict[str, int],
    limits: list[tuple[str, int]],
    count: int,
) -> pl.DataFrame:
    return rows.select(
        "source_line",
        pl.lit(gpu).alias("gpu"),
        pl.lit(card, pl.String).alias("gpu_name"),
        parsed(cell(1), "%d-%m-%Y %H:%M:%S%.f").alias("at"),
        *readings({metric: columns.get(metric) for metric in _COLUMNS}),
        named([(word, number(cell(at)) > 0) for word, at in limits]).alias("throttle_reasons"),
        row_problem(count, columns).alias("problem"),
    )
