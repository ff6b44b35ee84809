"""The whole of an audit: samples and runs in, every table of its report out."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.audit import (
    baselines,
    clocks,
    energy,
    findings,
    linearity,
    models,
    order,
    quality,
    readings,
)
from pipeline.audit.effects import effects
from pipeline.audit.law import Served, served_by, with_law
from pipeline.audit.readings import Reading
from pipeline.audit.rules import rules as audit_rules
from pipeline.audit.rules import sensor_of
from pipeline.audit.runs import RunsFile
from pipeline.audit.tracks import tracks_of
from pipeline.audit.uncertainty import budget
from pipeline.reference import reference_rows
from pipeline.validation.naming import Names


@dataclass(frozen=True)
class Audit:
    """Every table of an audit; the modules of `pipeline.audit` say their columns."""

    runs_file: RunsFile
    reading: Reading
    reference: str
    served: Served
    quality: pl.DataFrame
    gaps: pl.DataFrame
    clocks: clocks.Clocks
    window_seen_s: float | None
    window_s: float
    measured: pl.DataFrame  # runs with energy, power around them, and the law
    baselines: pl.DataFrame
    cells: pl.DataFrame
    by_model: pl.DataFrame
    models: models.Models
    effects: pl.DataFrame
    blocks: pl.DataFrame
    confounded: pl.DataFrame
    budget: pl.DataFrame
    findings: pl.DataFrame

    @property
    def has_energy(self) -> bool:
        """Return whether the log tells the energy of any run."""
        return self.measured.get_column("energy_j").count() > 0

    @property
    def looped(self) -> pl.DataFrame:
        """Return the runs that never ended by themselves: their length is not theirs."""
        return self.measured.filter("is_looped")


def audit(
    samples: pl.DataFrame,
    runs_file: RunsFile,
    reading: Reading,
    gpu: str | None = None,
    stack: str | None = None,
) -> Audit:
    """Judge runs by a power log.

    Args:
        samples: As `pipeline.ingest.telemetry` reads them.
        runs_file: As `pipeline.audit.runs` reads it.
        reading: How tokens, energy and divergence are read.
        gpu: GPU of the runs where it is told, else the log's.
        stack: Serving stack where it is told, else the default one.
    """
    rules, names, runs = audit_rules(), Names(), runs_file.runs
    tracks = tracks_of(samples, rules)
    seen = quality.log_quality(samples, tracks)
    name = next(iter(seen.get_column("gpu_name").drop_nulls().to_list()), None)
    served = served_by(names, gpu or name, stack)
    measured = energy.energy_by_run(samples, tracks, runs, rules)
    around = baselines.power_around(samples, tracks, runs, rules)
    levels = baselines.baselines(samples, measured, around, rules)
    rows = with_law(_net(measured.join(around, on=["run_set", "run_id"]), levels), served, names)
    window_seen_s = quality.averaging_window_s(samples, measured, around, rules)
    window_s = quality.sensor_window_s(seen, window_seen_s)
    reference = readings.reference_category(runs, reading.reference)
    cells = linearity.cells(rows, reading, reference, rules)
    fitted = models.fit_models(rows, rules)
    tested = effects(rows, fitted, rules)
    found_clocks = clocks.compare_clocks(samples, tracks, runs, rules)
    mixed = order.confounded(rows, rules)
    has_temperature = bool(seen.get_column("has_temperature").any())
    loaded = levels.filter(pl.col("baseline") == "model loaded")
    return Audit(
        runs_file=runs_file,
        reading=reading,
        reference=reference,
        served=served,
        quality=seen,
        gaps=quality.gaps(tracks),
        clocks=found_clocks,
        window_seen_s=window_seen_s,
        window_s=window_s,
        measured=rows,
        baselines=levels,
        cells=cells,
        by_model=linearity.by_model(cells),
        models=fitted,
        effects=tested,
        blocks=order.blocks(rows),
        confounded=mixed,
        budget=budget(
            rows,
            loaded.row(0, named=True) if loaded.height else None,
            sensor_of(name),
            window_s,
            float(seen.get_column("usual_step_s").drop_nulls().mean() or 0.0),  # type: ignore[arg-type]
            rules,
        ),
        findings=pl.concat(
            [
                findings.log_findings(seen, rows, found_clocks, mixed, window_s, rules),
                findings.tested_findings(cells, tested, has_temperature, rules),
            ]
        ),
    )


def without_energy(found: Audit, samples: pl.DataFrame) -> str:
    """Return in one line what a log that tells the energy of no run holds, and what the runs do."""
    runs = found.runs_file.runs
    reasons = found.measured.get_column("energy_reason").drop_nulls().mode().sort().to_list()
    log_at = samples.get_column("sampled_at")
    ends = (log_at.min(), log_at.max(), runs["started_at"].min(), runs["ended_at"].max())
    first, last, began, ended = map(str, ends)
    times = f"the log lasts from {first} to {last} UTC, the runs from {began} to {ended} UTC"
    return (
        f"{found.runs_file.path}: expected runs within the power log, found the energy of none of "
        f"{runs.height} ({', '.join(reasons)}): {times}. Is a time zone wrong?"
    )


def _net(rows: pl.DataFrame, levels: pl.DataFrame) -> pl.DataFrame:
    """Return runs with net_energy_j, what they took above the model-loaded baseline."""
    loaded = levels.filter(pl.col("baseline") == "model loaded").select(
        "run_set", pl.col("power_w").alias("_loaded_w")
    )
    return (
        rows.join(loaded, on="run_set", how="left")
        .with_columns(
            (pl.col("energy_j") - pl.col("_loaded_w") * pl.col("duration_s")).alias("net_energy_j")
        )
        .drop("_loaded_w")
    )


def claims() -> list[dict[str, Any]]:
    """Return the figures of the source document, in both quoted versions, not reproduced."""
    return [
        {**row, "value": float(row["value"]), "is_reproduced": row["is_reproduced"] == "true"}
        for row in reference_rows("linearity_claims")
    ]
