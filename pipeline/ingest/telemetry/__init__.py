"""Power logs of GPUs, whatever tool wrote them, as one long table of samples."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.ingest.telemetry.checks import checked
from pipeline.ingest.telemetry.forms import form_of
from pipeline.ingest.telemetry.table import SCHEMA, Telemetry, TelemetryFile
from pipeline.ingest.telemetry.text import read_log
from pipeline.ingest.telemetry.times import require_zone

__all__ = ["SCHEMA", "Telemetry", "TelemetryFile", "read_telemetry"]


def read_telemetry(
    paths: Sequence[Path], columns: Sequence[str] | None = None, zone: str = "UTC"
) -> Telemetry:
    """Return the samples of some power logs, and what became of their rows.

    Args:
        paths: The logs, of any form we know; each is known by its content.
        columns: The names of the columns of logs without a head, as `--query-gpu` had them.
        zone: The zone of times that do not tell theirs.

    Raises:
        WrongUseError: For a file or zone that is not there.
        IncompleteInputError: For an empty file, or one without a row.
        BadInputError: For a file of no known form, or one of which nothing can be taken.
    """
    require_zone(zone)
    frames, files = [], []
    for path in paths:
        log = read_log(path, tuple(columns) if columns is not None else None)
        form = form_of(log)
        samples, file = checked(path, form.title, form.read(log), zone)
        frames.append(samples)
        files.append(file)
    joined = pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)
    return Telemetry(
        joined.sort("gpu", "sampled_at", "source_line", maintain_order=True), tuple(files)
    )
