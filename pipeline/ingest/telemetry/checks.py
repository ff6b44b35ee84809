"""What holds for the samples of every form: no reading is taken that cannot be one."""

from pathlib import Path

import polars as pl

from pipeline.errors import BadInputError, IncompleteInputError
from pipeline.ingest.telemetry.table import METRICS, SCHEMA, Reading, TelemetryFile
from pipeline.ingest.telemetry.times import with_utc

_SHOWN = 5  # rejected rows and clock jumps that are told one by one


def checked(
    path: Path, form: str, reading: Reading, zone: str
) -> tuple[pl.DataFrame, TelemetryFile]:
    """Return the samples that hold, and what became of the rows of the file.

    Raises:
        IncompleteInputError: Where the log has a head and no row.
        BadInputError: Where no row can be taken, with the first reason.
    """
    rows, time_notes = with_utc(_complete(reading.rows), zone, reading.is_utc)
    rows = rows.with_columns(_problem(zone).alias("problem"))
    good = rows.filter(pl.col("problem").is_null())
    rejected = _rejected(rows, good, reading)
    accepted_count = _row_count(good)
    rejected_count = len(rejected)
    if not accepted_count and not rejected_count:
        raise IncompleteInputError(f"{path}: expected rows of {form}, found its head alone.")
    if not accepted_count:
        line, reason = rejected[0]
        raise BadInputError(
            f"{path}: expected samples of {form}, found {rejected_count:,} rows of which none can "
            f"be taken; line {line}: {reason}. Mend the log, or log again."
        )
    samples, value_notes = _honest(good)
    notes = (*reading.notes, *time_notes, *value_notes, *_jumps(good))
    account = TelemetryFile(
        path,
        form,
        accepted_count + rejected_count + reading.rows_duplicate,
        accepted_count,
        rejected_count,
        tuple(rejected[:_SHOWN]),
        notes,
        reading.rows_duplicate,
    )
    return samples.with_columns(pl.lit(str(path)).alias("source_file")).select(
        pl.col(name).cast(kind) for name, kind in SCHEMA.items()
    ), account


def _complete(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the columns that a form does not have, as unknown."""
    wanted = {name: kind for name, kind in SCHEMA.items() if name not in ("sampled_at",)}
    spare = {**wanted, "problem": pl.String(), "row_count": pl.Int64()}
    return rows.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in spare.items() if name not in rows.columns
    )


def _problem(zone: str) -> pl.Expr:
    nothing = pl.all_horizontal(pl.col(name).is_null() for name in METRICS)
    return (
        pl.when(pl.col("problem").is_not_null())
        .then("problem")
        .when(pl.col("gpu").is_null())
        .then(pl.lit("no GPU named"))
        .when(pl.col("at").is_null())
        .then(pl.lit("no readable time"))
        .when(pl.col("sampled_at").is_null())
        .then(pl.lit(f"a time that clocks in {zone} skip in spring"))
        .when(nothing)
        .then(pl.lit("nothing measured"))
    )


def _rejected(rows: pl.DataFrame, good: pl.DataFrame, reading: Reading) -> list[tuple[int, str]]:
    """Return each row of which nothing could be taken, with its first reason."""
    bad = (
        rows.filter(pl.col("problem").is_not_null())
        .join(good.select("source_line"), on="source_line", how="anti")
        .unique("source_line", keep="first", maintain_order=True)
        .select("source_line", "problem")
    )
    return sorted([*bad.rows(), *reading.rejected])


def _row_count(good: pl.DataFrame) -> int:
    if good["row_count"].null_count() == good.height:
        return good["source_line"].n_unique()
    return int(good["row_count"].sum())


def _honest(good: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return samples without readings that a dead sensor gave, and notes on what is missing."""
    notes = []
    dead = _all_zero(good, "power_w")
    if dead:
        power = pl.when(~pl.col("gpu").is_in(dead)).then("power_w").alias("power_w")
        good = good.with_columns(power)
        notes.append(
            f"power of GPU {', '.join(dead)} is 0 W in every sample: a sensor that does not work, "
            "so its power is unknown; its other readings hold"
        )
    cold_count = good.filter(pl.col("temperature_c") == 0).height
    if cold_count:
        warm = pl.when(pl.col("temperature_c") != 0).then("temperature_c").alias("temperature_c")
        good = good.with_columns(warm)
        notes.append(f"{cold_count:,} temperatures of exactly 0 °C taken as unknown")
    power_count = good["power_w"].count()
    if not power_count and not good["energy_counter_j"].count():
        told = [name for name in METRICS if good[name].count()]
        notes.append(
            f"no power in this log, so no energy can be told; it still tells {', '.join(told)}"
        )
    elif 0 < power_count < good.height:
        notes.append(
            f"power is missing in {good.height - power_count:,} of {good.height:,} samples"
        )
    return good, notes


def _all_zero(good: pl.DataFrame, metric: str) -> list[str]:
    most = good.group_by("gpu").agg(pl.col(metric).max()).filter(pl.col(metric) == 0)
    names: list[str] = most["gpu"].sort().to_list()
    return names


def _jumps(good: pl.DataFrame) -> list[str]:
    """Mark where the clock of the log jumps back."""
    step = pl.col("sampled_at").diff().over("gpu").dt.total_milliseconds()
    back = good.select("gpu", "source_line", (step / 1000).alias("step_s")).filter(
        pl.col("step_s") < 0
    )
    shown = [
        f"line {row['source_line']} by {-row['step_s']:g} s" for row in back.head(_SHOWN).to_dicts()
    ]
    more = f" and {back.height - _SHOWN:,} times more" if back.height > _SHOWN else ""
    return [f"the clock jumps back: {', '.join(shown)}{more}"] if shown else []
