"""Measure speed and memory, and write BENCHMARKS.md: `make bench`.

Every run is a process of its own, so that its peak memory is its own. The floor is what DuckDB
alone needs to copy the same Parquet file into a database: ratios to it travel between machines,
seconds do not.
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb

from pipeline import warehouse
from pipeline.ingest.load import find_files, load
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings

ROOT = Path(__file__).resolve().parent.parent
JOULEBOOK = str(Path(sys.executable).with_name("joulebook"))

SIZES = (100_000, 1_000_000, 10_000_000)
THREADS, REPEATS = 2, 3
SLOW_S = 60  # a slower run is not repeated

MOST_FLOOR_RATIO = 5.0
MOST_PEAK_GB = 4.0
MOST_GROWTH_RATIO = 11.0
MOST_HELP_S = 0.25
MOST_SAMPLE_S = 15.0
MOST_DECISIONS_S = 20.0

# A month of requests in order of time. Draws are hashes of the row's number, so every run of one
# DuckDB version measures the same rows. Lengths are log-normal, as in real logs; a quarter of the
# requests belong to tasks.
_LOG_SQL = """
    with
    draws as (
        select
            i,
            list_transform(
                [1, 2, 3, 4, 5, 6, 7, 8, 9],
                lambda k: (hash(16 * i + k)::double + 0.5) / 18446744073709551616::double
            ) as draw
        from range($row_count) as numbers (i)
    ),
    requests as (
        select
            i,
            draw,
            (floor(5 * draw[1]) + 1)::integer as model_number,
            least(
                120000, 1 + exp(7 + 1.4 * sqrt(-2 * ln(draw[2])) * cos(2 * pi() * draw[3]))
            )::bigint as input_tokens,
            least(
                16000, 1 + exp(5.3 + 1.1 * sqrt(-2 * ln(draw[4])) * cos(2 * pi() * draw[5]))
            )::bigint as output_tokens
        from draws
    )
    select
        format('req_{:016x}', hash(16 * i)) as request_id,
        '2026-10-01'::timestamp + to_microseconds((i * (31 * 86400e6 / $row_count))::bigint)
            as occurred_at,
        ['openai', 'anthropic', 'google', 'self-hosted', 'self-hosted'][model_number] as provider,
        ['gpt-5-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'meta-llama/Llama-3.1-8B',
            'Qwen/Qwen3-8B'][model_number] as model_name,
        format('team-{:02d}', floor(12 * draw[6])::integer) as team,
        ['chat', 'rag', 'summarization', 'agentic'][floor(8 * draw[7])::integer] as query_class,
        input_tokens,
        (input_tokens * greatest(0, draw[8] - 0.5))::bigint as cache_read_tokens,
        output_tokens,
        case when draw[9] < 0.25 then format('task_{:x}', hash(16 * (i // 16))) end as task_id,
        [true, true, false][floor(32 * draw[9])::integer % 4] as is_solved,
        round(0.3 + output_tokens / 80, 3) as latency_s
    from requests
"""


class Run(NamedTuple):
    """What one process needed."""

    seconds: float
    peak_gb: float


def write_log(path: Path, row_count: int) -> None:
    """Write a log of the general form."""
    with duckdb.connect() as con:
        con.execute(f"copy ({_LOG_SQL}) to '{path}' (format parquet)", {"row_count": row_count})


def run_floor(log: Path, database: Path) -> None:
    """Copy the log into a database, as it stands."""
    with duckdb.connect(str(database)) as con:
        con.execute(f"set threads = {THREADS}")
        con.execute(f"create table t as from '{log}'")
        con.execute("checkpoint")


def run_ours(log: Path, database: Path) -> None:
    """Bring the log to finished, checked marts in a database."""
    settings = Settings()
    con = warehouse.connect(database, settings.memory_limit_gb, THREADS)
    load_reference(con, settings)
    load(con, find_files([Input(str(log))], Path("/")), settings)
    warehouse.build(con)
    warehouse.require(warehouse.run_checks(con))
    con.close()


PARTS: dict[str, Callable[[Path, Path], None]] = {"floor": run_floor, "ours": run_ours}


def measure_here(part: str, log: Path) -> Run:
    """Run one part in this process."""
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        start = time.perf_counter()
        PARTS[part](log, Path(folder) / "bench.duckdb")
        seconds = time.perf_counter() - start
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux
    return Run(seconds, peak_kib * 1024 / 1e9)


def measure_apart(part: str, log: Path) -> Run:
    """Run one part in a process of its own."""
    command = [sys.executable, __file__, part, str(log)]
    return Run(*json.loads(subprocess.check_output(command)))


def best_runs(log: Path) -> dict[str, Run]:
    """Return the fastest run of each part, floor and ours in turn; memory is the worst of them."""
    runs: dict[str, list[Run]] = {part: [] for part in PARTS}
    for _ in range(REPEATS):
        for part, made in runs.items():
            if not made or made[0].seconds < SLOW_S:
                made.append(measure_apart(part, log))
    return {
        part: Run(min(run.seconds for run in made), max(run.peak_gb for run in made))
        for part, made in runs.items()
    }


def decision_lines(log: Path) -> list[str]:
    """Return the table lines of the marts of decisions on a log."""
    command = [sys.executable, str(Path(__file__).with_name("bench_decisions.py")), str(log)]
    run = Run(*json.loads(subprocess.check_output(command)))
    return [
        "| decisions on 60 models, processor time over threads "
        f"| {run.seconds:.1f} s | {_target(run.seconds, MOST_DECISIONS_S, 's')} |",
        "| decisions on 60 models, peak memory "
        f"| {run.peak_gb:.2f} GB | {_target(run.peak_gb, MOST_PEAK_GB, 'GB')} |",
    ]


def command_seconds(repeats: int, *arguments: str) -> float:
    """Return the median time of a command, start to end."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([JOULEBOOK, *arguments], check=True, capture_output=True, cwd=ROOT)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def command_lines(folder: Path) -> list[str]:
    """Return the table lines of what a user waits for at the prompt."""
    estimate = ("estimate", "--model", "Qwen/Qwen3-8B", "--input", "900", "--output", "300")
    sample = ("report", "--config", "data/sample/joulebook.toml", "--out", str(folder / "reports"))
    help_s = command_seconds(5, "--help")
    sample_s = command_seconds(REPEATS, *sample)
    return [
        f"| `joulebook --help` | {help_s:.2f} s | {_target(help_s, MOST_HELP_S, 's')} |",
        f"| `joulebook estimate` | {command_seconds(5, *estimate):.2f} s | |",
        f"| sample report | {sample_s:.1f} s | {_target(sample_s, MOST_SAMPLE_S, 's')} |",
    ]


def size_line(row_count: int, runs: dict[str, Run]) -> str:
    """Return the table line of one size of log."""
    floor, ours = runs["floor"], runs["ours"]
    return (
        f"| {row_count:,} | {floor.seconds:.2f} s | {ours.seconds:.2f} s "
        f"| {ours.seconds / floor.seconds:.1f} × | {row_count / ours.seconds:,.0f} "
        f"| {floor.peak_gb:.2f} GB | {ours.peak_gb:.2f} GB |"
    )


def target_lines(best: dict[int, dict[str, Run]]) -> list[str]:
    """Return the table lines of what the largest log must hold to."""
    small, large = best[SIZES[-2]], best[SIZES[-1]]
    ratio = large["ours"].seconds / large["floor"].seconds
    growth = large["ours"].seconds / small["ours"].seconds
    peak_gb = large["ours"].peak_gb
    return [
        f"| time, to the floor | {ratio:.1f} × | {_target(ratio, MOST_FLOOR_RATIO)} |",
        f"| time, to a tenth of the rows | {growth:.1f} × | {_target(growth, MOST_GROWTH_RATIO)} |",
        f"| peak memory | {peak_gb:.2f} GB | {_target(peak_gb, MOST_PEAK_GB, 'GB')} |",
    ]


def _target(value: float, most: float, unit: str = "×") -> str:
    return f"≤ {most:g} {unit}: {'met' if value <= most else 'missed'}"


def page(best: dict[int, dict[str, Run]], decisions: list[str], commands: list[str]) -> str:
    """Return BENCHMARKS.md."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    newline = "\n"
    return f"""# Benchmarks

Measured on {datetime.now(UTC):%Y-%m-%d} by `make bench`:

- {os.cpu_count()} CPUs, {memory_gb:.0f} GB of memory, {platform.system()} {platform.machine()}
- Python {platform.python_version()}, DuckDB {duckdb.__version__}, {THREADS} threads
- memory limit of the settings: {Settings().memory_limit_gb:g} GB

From a Parquet log of the general form (made by `tests/bench.py`) to finished, checked marts in a
database file. The floor is DuckDB's bare `create table t as from 'log.parquet'` and `checkpoint`.
Every run is a process of its own, floor and ours in turn; time is the best of {REPEATS} runs, peak
memory (`ru_maxrss`) the most of them.

| rows | floor | ours | ratio | rows per second | floor's peak | our peak |
|--:|--:|--:|--:|--:|--:|--:|
{newline.join(size_line(row_count, runs) for row_count, runs in best.items())}

| {SIZES[-1]:,} rows | measured | target |
|---|--:|--:|
{newline.join([*target_lines(best), *decisions])}

| command (median) | measured | target |
|---|--:|--:|
{newline.join(commands)}
"""


def main() -> None:
    """Measure everything, or one part where called for that."""
    if len(sys.argv) == 3:
        print(json.dumps(measure_here(sys.argv[1], Path(sys.argv[2]))))
        return
    best = {}
    with tempfile.TemporaryDirectory(prefix="joulebook-bench-") as folder:
        commands = command_lines(Path(folder))
        for row_count in SIZES:
            log = Path(folder) / "log.parquet"
            write_log(log, row_count)
            best[row_count] = best_runs(log)
            print(size_line(row_count, best[row_count]), flush=True)
        decisions = decision_lines(log)
    (ROOT / "BENCHMARKS.md").write_text(page(best, decisions, commands), encoding="utf-8")


if __name__ == "__main__":
    main()
