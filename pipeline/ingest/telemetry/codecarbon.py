"""CodeCarbon's emissions.csv: a row a tracked span, with energy in kWh; its GPU part alone."""

import polars as pl

from pipeline.ingest.telemetry.cells import cell, misfit, names_of, number, problem_of, with_cells
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log
from pipeline.ingest.telemetry.times import format_of, parsed
from pipeline.ingest.telemetry.windows import samples_of
from pipeline.laws.facility import J_PER_KWH

_SIGNATURE = {"timestamp", "project_name", "duration", "emissions", "energy_consumed"}
_SAME_START_S = 2.0  # a tracker tells its sums again and again: its start stays, but for rounding


def recognises(head: list[str], columns: tuple[str, ...] | None) -> bool:
    """Say whether the first lines are such a file."""
    del columns
    return set(names_of(head[0], ",")) >= _SIGNATURE


def read(log: Log) -> Reading:
    """Return two samples for each span that had a GPU.

    Raises:
        BadInputError: Where the file does not tell the GPU's energy apart, or no time.
    """
    names = names_of(log.head[0], ",")
    cells = with_cells(log.lines.slice(1), ",")
    if "gpu_energy" not in names:
        raise log.refusal(
            "a column gpu_energy", f"the whole machine alone ({_whole(cells, names)})",
            "Track with a newer version of CodeCarbon.",
        )  # fmt: skip

    def told(name: str) -> pl.Expr:
        return cell(names.index(name) if name in names else None)

    time_form, is_utc = format_of(log, cells, told("timestamp"), "2024-05-31T10:39:13")
    energy = told("gpu_energy")
    energy_j = number(energy) * J_PER_KWH
    count = number(told("gpu_count"))
    rows = cells.select(
        "source_line",
        pl.when(count > 1).then(pl.format("sum of {}", count.cast(pl.Int64))).otherwise(pl.lit("0"))
        .alias("gpu"),
        told("gpu_model").alias("gpu_name"),
        parsed(told("timestamp"), time_form).alias("ended_at"),
        number(told("duration")).alias("duration_s"),
        energy_j.alias("told_j"),
        told("tracking_mode").alias("mode"),
        pl.when(misfit(len(names)).is_not_null()).then(misfit(len(names)))
        .when(energy.is_null()).then(pl.lit("no gpu_energy"))
        .when((energy_j == 0) & (count.fill_null(0) == 0))
        .then(pl.lit("no GPU tracked: gpu_count is empty and gpu_energy 0"))
        .otherwise(problem_of("gpu_energy", energy, energy_j, most=float("inf")))
        .alias("problem"),
    )  # fmt: skip
    modes = rows["mode"].drop_nulls().value_counts().sort("mode").rows()
    notes = list(log.notes)
    if len(modes) > 1:
        words = ", ".join(f"{count} in mode {mode}" for mode, count in modes)
        notes.append(f"{words}: their processor and memory parts differ in scope and are not read")
    samples = samples_of(_spans(rows).drop("mode"))
    return Reading(samples, is_utc=is_utc, notes=tuple(notes))


def _spans(rows: pl.DataFrame) -> pl.DataFrame:
    """Return spans that do not count twice: of a tracker's growing sums, what each row adds."""
    span = pl.duration(microseconds=(pl.col("duration_s") * 1_000_000).round())
    began = rows.with_columns((pl.col("ended_at") - span).alias("began_at"))
    moved_s = pl.col("began_at").diff().dt.total_microseconds().abs() / 1e6
    is_new = (moved_s > _SAME_START_S) | (pl.col("duration_s").diff() < 0)
    tracked = began.with_columns(is_new.fill_null(value=True).cum_sum().alias("tracker"))
    last_j = pl.col("told_j").shift().over("tracker")
    last_at = pl.col("ended_at").shift().over("tracker")
    added = tracked.with_columns(
        pl.coalesce(last_at, "began_at").alias("started_at"),
        (pl.col("told_j") - last_j.fill_null(0)).alias("energy_j"),
    )
    shrank = pl.when(pl.col("energy_j") < 0).then(pl.lit("the tracker's energy shrank"))
    return added.with_columns(pl.coalesce("problem", shrank).alias("problem")).drop(
        "began_at", "tracker", "told_j", "duration_s"
    )


def _whole(cells: pl.DataFrame, names: list[str]) -> str:
    kwh = cells.select(number(cell(names.index("energy_consumed"))).sum()).item()
    return f"energy_consumed {kwh:.6f} kWh in {cells.height:,} rows"
