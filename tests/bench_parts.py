"""What is measured: each part of the job, and others' ways to do some of it, on one log.

Run as `bench_parts.py PART LOG` it does one part in a process of its own, so that the peak of
memory is that part's, and prints what it took.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import bench_peers
import duckdb

from pipeline import warehouse
from pipeline.ingest.load import find_files, load
from pipeline.job import make_report
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings

THREADS = 2
# What a report tells when it comes to the next part of its work → that part.
STAGES = {
    "reading ": "ingest",
    "computing energy and cost": "build",
    "writing the workbook": "workbook",
    "writing the page": "page",
}


@dataclass(frozen=True)
class Run:
    """What one process needed; `stages` are seconds of what it is made up of."""

    seconds: float
    peak_gb: float
    stages: Mapping[str, float] = field(default_factory=dict)


def settings_of(log: Path) -> Settings:
    """Return the settings of a report on one log."""
    return Settings(inputs=(Input(str(log)),))


def run_floor(log: Path, folder: Path) -> None:
    """Copy the log into a database, as it stands."""
    with duckdb.connect(str(folder / "bench.duckdb")) as con:
        con.execute(f"set threads = {THREADS}")
        con.execute(f"create table t as from '{log}'")
        con.execute("checkpoint")


def run_build(log: Path, folder: Path) -> dict[str, float]:
    """Bring the log to finished, checked marts in a database."""
    start = time.perf_counter()
    con = loaded(log, folder)
    ingested = time.perf_counter()
    warehouse.build(con)
    warehouse.require(warehouse.run_checks(con))
    con.close()
    return {"ingest": ingested - start, "build": time.perf_counter() - ingested}


def run_ingest(log: Path, folder: Path) -> None:
    """Bring the log into a warehouse, its rows judged."""
    loaded(log, folder).close()


def loaded(log: Path, folder: Path) -> duckdb.DuckDBPyConnection:
    """Return a warehouse with the reference tables and a log, no model built."""
    settings = settings_of(log)
    con = warehouse.connect(folder / "bench.duckdb", settings.memory_limit_gb, THREADS)
    load_reference(con, settings)
    load(con, find_files(settings.inputs, Path("/")), settings)
    return con


def run_report(log: Path, folder: Path) -> dict[str, float]:
    """Make the whole report, and time its stages by what it tells."""
    marks: list[tuple[str, float]] = []

    def tell(text: str) -> None:
        stage = next((name for start, name in STAGES.items() if text.startswith(start)), None)
        if stage is not None:
            marks.append((stage, time.perf_counter()))

    make_report(settings_of(log), None, folder / "reports", tell)
    marks.append(("", time.perf_counter()))
    return {name: marks[place + 1][1] - at for place, (name, at) in enumerate(marks[:-1])}


def run_spark(log: Path, folder: Path) -> dict[str, float]:
    """Build the models on Spark on this machine, with the settings that users get."""
    from pipeline.spark.build import build
    from pipeline.spark.session import open_session

    start = time.perf_counter()
    session = open_session(f"local[{THREADS}]", {"spark.driver.memory": "4g"})
    started = time.perf_counter()
    con = loaded(log, folder)
    ingested = time.perf_counter()
    build(session, con, folder / "models", lambda text: None)
    built = time.perf_counter()
    warehouse.require(warehouse.run_checks(con))
    session.stop()
    return {"start": started - start, "ingest": ingested - started, "build": built - ingested}


PARTS: dict[str, Callable[[Path, Path], Mapping[str, float] | None]] = {
    "floor": run_floor,
    "build": run_build,
    "ingest": run_ingest,
    "report": run_report,
    "spark": run_spark,
    "genai_prices": bench_peers.run_genai_prices,
    "polars": bench_peers.run_polars,
    "pandas": bench_peers.run_pandas,
}


def measure(part: str, log: Path) -> Run:
    """Run one part in this process."""
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        start = time.perf_counter()
        stages = PARTS[part](log, Path(folder))
        seconds = time.perf_counter() - start
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux
    return Run(seconds, peak_kib * 1024 / 1e9, stages or {})


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], Path(sys.argv[2])))))
