"""What a report takes from power logs: the audit of its runs, and the hours of its own GPUs."""

from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl

from pipeline.audit.answer import Audit, audit, without_energy
from pipeline.audit.hours import energy_by_hour
from pipeline.audit.law import measured_requests
from pipeline.audit.readings import FORMULAS, Reading
from pipeline.audit.rules import rules
from pipeline.audit.runs import RunsFile, read_runs
from pipeline.audit.text import log_lines
from pipeline.errors import WrongUseError
from pipeline.ingest.files import find_files
from pipeline.ingest.telemetry import Telemetry, read_telemetry
from pipeline.measured_tables import put
from pipeline.settings import Input, Settings
from pipeline.validation import validate
from pipeline.validation.naming import Names


def fill_measured_tables(con: duckdb.DuckDBPyConnection, settings: Settings) -> list[str]:
    """Fill the tables of measurements from the logs that the settings name; return notes.

    Raises:
        JoulebookError: Where a file is not there or no power log or runs file.
    """
    notes: list[str] = []
    if settings.telemetry or settings.runs:
        if not (settings.telemetry and settings.runs):
            raise WrongUseError(
                "settings: expected telemetry and runs together: a power log, and what ran when."
            )
        log = _read(settings, settings.telemetry)
        [runs_path, *_] = _paths(settings, settings.runs)
        runs_file = read_runs(runs_path, settings.time_zone)
        notes += _notes(log, runs_file)
        found = audit(log.samples, runs_file, Reading())
        if not found.has_energy:
            notes.append(without_energy(found, log.samples))
        _fill_audit(con, settings, found)
    if settings.fleet_telemetry:
        log = _read(settings, settings.fleet_telemetry)
        notes += _notes(log)
        put(con, "telemetry_hours", energy_by_hour(log.samples, settings.time_zone, rules()))
    return notes


def _paths(settings: Settings, path: str) -> list[Path]:
    return [file.path for file in find_files([Input(path)], settings.folder)]


def _read(settings: Settings, path: str) -> Telemetry:
    return read_telemetry(_paths(settings, path), zone=settings.time_zone)


def _notes(log: Telemetry, runs_file: RunsFile | None = None) -> list[str]:
    said = [f"{file.path.name}: {note}" for file in log.files for note in file.notes]
    said += [
        f"{file.path.name}: {file.rows_rejected} rows left out"
        for file in log.files
        if file.rows_rejected
    ]
    if runs_file is not None and runs_file.set_aside.height:
        said.append(f"{runs_file.path.name}: {runs_file.set_aside.height} runs left out")
    return said


def _fill_audit(con: duckdb.DuckDBPyConnection, settings: Settings, found: Audit) -> None:
    run_set = pl.lit(found.runs_file.path.stem).alias("run_set")
    put(con, "token_linearity", _linearity(found, settings.is_generated_sample))
    put(con, "audit_log", _log(found))
    put(con, "audit_baselines", found.baselines)
    put(con, "audit_effects", found.effects)
    put(con, "audit_fits", found.models.fits)
    put(
        con,
        "audit_budget",
        found.budget.with_columns(run_set).with_row_index("line_number", offset=1),
    )
    put(con, "audit_findings", found.findings.with_columns(pl.col("run_set").fill_null(run_set)))
    # Generated runs are no evidence on a law.
    if not settings.is_generated_sample:
        _add_validation(con, found)


def _linearity(found: Audit, is_generated: bool) -> pl.DataFrame:
    looped = found.looped.group_by("run_set", "model", "category").agg(
        pl.len().cast(pl.Int64).alias("looped_run_count")
    )
    of_set = found.measured.group_by("run_set").agg(
        pl.col("energy_basis").first(),
        pl.col("law_scale_ratio").first(),
        pl.col("coefficient_set_id").first(),
    )
    reading = found.reading
    return (
        found.cells.join(looped, on=["run_set", "model", "category"], how="left")
        .join(of_set, on="run_set", how="left")
        .with_columns(
            pl.col("looped_run_count").fill_null(0),
            pl.lit(found.reference).alias("reference_category"),
            pl.lit(is_generated).alias("is_generated"),
            pl.lit(FORMULAS[reading.formula]).alias("formula"),
            pl.lit(reading.band_frac or rules().band_frac).alias("band_frac"),
            pl.col("mean_tokens").alias("mean_output_tokens"),
            pl.col("p_beyond_holm").alias("beyond_probability_frac"),
            pl.col("p_within_holm").alias("within_probability_frac"),
        )
    )


def _log(found: Audit) -> pl.DataFrame:
    rows = [(found.runs_file.path.stem, n, text) for n, text in enumerate(log_lines(found), 1)]
    return pl.DataFrame(rows, schema=["run_set", "line_number", "text"], orient="row")


def _add_validation(con: duckdb.DuckDBPyConnection, found: Audit) -> None:
    """Judge every law on the measured runs, as on any public set of measurements."""
    measured = [
        replace(row, dataset=f"own runs: {found.runs_file.path.stem}")
        for row in measured_requests(found.measured, found.served, Names())
    ]
    for row in validate.judge(measured):
        con.execute(
            "insert into raw_law_validation by name select "
            + ", ".join(f"${name} as {name}" for name in validate.COLUMNS),
            {name: None if row.get(name) is None else str(row[name]) for name in validate.COLUMNS},
        )
