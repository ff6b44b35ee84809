"""Measure the monthly job over years: `python tests/bench_months.py [ROWS [MONTHS]]`.

Every month holds the same requests under other ids, so whatever a later month takes more than the
first, the number of months is to blame. Seconds are those of the processor, which hold on a busy
machine too; every command is a process of its own, so its peak memory is its own.
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
from bench_logs import write_requests
from bench_page import ROOT

JOULEBOOK = str(Path(sys.executable).with_name("joulebook"))
LAST_MONTH = "2026-10"
SHOWN = (1, 2, 12, 24, 36)
REPEATS = 3

MOST_WALL_S, MOST_PEAK_GB, MOST_GROWTH_RATIO = 60.0, 4.0, 1.2

# The requests of October in another month: each as far into it as it was into October.
_MONTH_SQL = """
    copy (
        select * replace (
            '{month}-' || request_id as request_id,
            '{month}-' || task_id as task_id,
            '{month}-01'::timestamp + to_microseconds(
                (
                    epoch_us(occurred_at) - epoch_us('2026-10-01'::timestamp)
                ) * day(last_day('{month}-01'::date)) // 31
            ) as occurred_at
        )
        from '{log}'
    ) to '{path}' (format parquet)
"""


class Took(NamedTuple):
    """What one command needed."""

    cpu_s: float
    wall_s: float
    peak_gb: float


class Month(NamedTuple):
    """What one month needed, and what the workspace weighed after it."""

    number: int
    load: Took
    report: Took
    warehouse_gb: float


def months_back(count: int) -> str:
    """Return the month so many months before the last."""
    number = int(LAST_MONTH[:4]) * 12 + int(LAST_MONTH[5:]) - 1 - count
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def run(folder: Path, *arguments: str) -> Took:
    """Run a command in a folder.

    Raises:
        SystemExit: Where it fails.
    """
    start = time.perf_counter()
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(arguments, cwd=folder, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(arguments)}: {(folder / 'said.txt').read_text()}")
    peak_gb = used.ru_maxrss * 1024 / 1e9  # KiB on Linux
    return Took(used.ru_utime + used.ru_stime, wall_s, peak_gb)


def best(folder: Path, *arguments: str) -> Took:
    """Return the fastest run of a command, with the most memory that any took."""
    made = [run(folder, *arguments) for _ in range(REPEATS)]
    return Took(
        min(took.cpu_s for took in made),
        min(took.wall_s for took in made),
        max(took.peak_gb for took in made),
    )


def write_month(folder: Path, month: str) -> None:
    """Write the log of a month, in a process of its own: memory of this one is handed on."""
    sql = _MONTH_SQL.format(
        month=month, log=folder / "october.parquet", path=folder / "logs" / f"{month}.parquet"
    )
    run(folder, sys.executable, "-c", f"import duckdb; duckdb.execute({sql!r})")


def measure(folder: Path, row_count: int, month_count: int) -> list[Month]:
    """Load month after month, and report those that are shown."""
    run(folder, JOULEBOOK, "init")
    (folder / "logs").mkdir()
    run(
        folder, sys.executable, __file__, "--write", str(folder / "october.parquet"), str(row_count)
    )
    made = []
    for number in range(1, month_count + 1):
        month = months_back(month_count - number)
        write_month(folder, month)
        log = folder / "logs" / f"{month}.parquet"
        load = run(folder, JOULEBOOK, "ingest", f"logs/{month}.parquet", "--load")
        log.unlink()
        if number in SHOWN or number == month_count:
            report = best(folder, JOULEBOOK, "report", "--month", month)
            weight = (folder / "warehouse.duckdb").stat().st_size / 1e9
            made.append(Month(number, load, report, weight))
            print(line(made[-1], made[0]), flush=True)
    return made


def line(month: Month, first: Month) -> str:
    """Return the table line of a month."""
    return (
        f"| {month.number} | {month.load.cpu_s:.1f} s | {month.report.cpu_s:.1f} s "
        f"| {month.report.cpu_s / first.report.cpu_s:.2f} × | {month.report.wall_s:.1f} s "
        f"| {month.report.peak_gb:.2f} GB | {month.warehouse_gb:.2f} GB |"
    )


def page(made: list[Month], row_count: int) -> str:
    """Return what was measured, with its targets."""
    growth = max(month.report.cpu_s for month in made) / made[0].report.cpu_s
    wall_s = max(month.report.wall_s for month in made)
    peak_gb = max(month.report.peak_gb for month in made)
    lines = "\n".join(line(month, made[0]) for month in made)
    asked = f"{row_count} {made[-1].number}"
    return f"""# Years of months

Measured on {datetime.now(UTC):%Y-%m-%d} by `make bench BENCH_MONTHS='{asked}'`:

- {os.cpu_count()} CPUs, {platform.system()} {platform.machine()}
- Python {platform.python_version()}, DuckDB {duckdb.__version__}

One workspace, {made[-1].number} months, each with the same {row_count:,} requests under other ids;
`joulebook ingest --load` month after month, and the report of those shown (the best
of {REPEATS} runs, each a process of its own). The first month has no month before it to be compared
with, so it reads half of what the others read.

| month | load, CPU | report, CPU | to the first | report, wall | peak memory | warehouse |
|--:|--:|--:|--:|--:|--:|--:|
{lines}

| a month's report | measured | target |
|---|--:|--:|
| CPU time, the most to the first month's | {_target(growth, MOST_GROWTH_RATIO, "×")} |
| wall time | {_target(wall_s, MOST_WALL_S, "s")} |
| peak memory | {_target(peak_gb, MOST_PEAK_GB, "GB")} |
"""


def _target(value: float, most: float, unit: str) -> str:
    return f"{value:.2f} {unit} | ≤ {most:g} {unit}: {'met' if value <= most else 'missed'}"


def main() -> None:
    """Measure, and write the table; or write the log of October where called for that."""
    if sys.argv[1:2] == ["--write"]:
        write_requests(Path(sys.argv[2]), int(sys.argv[3]))
        return
    told = [int(each) for each in sys.argv[1:]]
    row_count, month_count = (*told, *(200_000, 36)[len(told) :])
    with tempfile.TemporaryDirectory(prefix="joulebook-months-") as folder:
        made = measure(Path(folder), row_count, month_count)
    path = ROOT / "docs" / "BENCHMARKS_MONTHS.md"
    path.write_text(page(made, row_count), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
