"""What every power log becomes: one long table of samples, and an account of each file."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

AT = pl.Datetime("us", "UTC")
METRICS = (
    "power_w",
    "energy_counter_j",
    "sm_clock_mhz",
    "memory_clock_mhz",
    "power_limit_w",
    "temperature_c",
    "utilisation_frac",
)
NO_DATE = (
    "this log tells no date: its samples stand on 1970-01-01, so spans and energy hold, but no run "
    "with a date lies within it"
)
SCHEMA = pl.Schema(
    {
        "gpu": pl.String(),
        "gpu_name": pl.String(),
        "sampled_at": AT,
        **dict.fromkeys(METRICS, pl.Float64()),
        "throttle_reasons": pl.String(),
        "source_file": pl.String(),
        "source_line": pl.Int64(),
    }
)


@dataclass(frozen=True)
class TelemetryFile:
    """What became of the rows of one file.

    A row is a record of the log: a line, or a block where the form writes blocks. One row may
    hold samples of several GPUs, and a row that tells of a span of time gives two samples.
    `rows_read` = accepted + rejected + duplicate; heads and trailers told again are duplicates.
    """

    path: Path
    form: str
    rows_read: int
    rows_accepted: int
    rows_rejected: int
    rejected: tuple[tuple[int, str], ...]  # the first few: line and reason
    notes: tuple[str, ...]
    rows_duplicate: int = 0


@dataclass(frozen=True)
class Telemetry:
    """All samples of some files, sorted by gpu, sampled_at, source_line, and their account.

    Columns as in SCHEMA. `energy_counter_j` only grows until the device restarts it; null is
    unknown and never 0. `throttle_reasons` are the log's own words with `;` between them, "" where
    it says that none holds, null where it says nothing.
    """

    samples: pl.DataFrame
    files: tuple[TelemetryFile, ...]


@dataclass(frozen=True)
class Reading:
    """What a form read, before the checks that hold for every form.

    `rows` has source_line, gpu, at (a time without zone in the log's own zone, or in UTC), any of
    the columns of SCHEMA, and where there is one a `problem`: why the row cannot be taken.
    `row_count`, where given, is how many rows of the log stand behind a sample.
    """

    rows: pl.DataFrame
    is_utc: bool = False
    rows_duplicate: int = 0
    rejected: tuple[tuple[int, str], ...] = ()  # rows that never became samples
    notes: tuple[str, ...] = ()
