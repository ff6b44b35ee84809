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
from collections.abc import Callable, Sequence
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

TEXT_ROWS = 1_000_000
MOST_TEXT_RATIO = 2.5  # of a CSV log to DuckDB's bare read of it
MOST_LITELLM_S = 10.0
MOST_LITELLM_GB = 1.0

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


# The same requests as LiteLLM's proxy writes them, about 1 kB each.
_LITELLM_SQL = """
    select
        'chatcmpl-' || request_id as request_id, 'acompletion' as call_type,
        md5(team) || md5(team) as api_key, 0.001 * output_tokens as spend,
        input_tokens + output_tokens as total_tokens, input_tokens as prompt_tokens,
        output_tokens as completion_tokens, strftime(occurred_at, $form) as "startTime",
        strftime(occurred_at + to_milliseconds((latency_s * 1000)::bigint), $form) as "endTime",
        strftime(occurred_at + interval 300 milliseconds, $form) as "completionStartTime",
        model_name as model, 'm-' || model_name as model_id, model_name as model_group,
        provider as custom_llm_provider, 'https://llm.example/v1' as api_base, team as user,
        {
            'user_api_key_alias': team || '-key', 'user_api_key_team_alias': team,
            'additional_usage_values': {
                'prompt_tokens_details': {'cached_tokens': cache_read_tokens},
                'completion_tokens_details': {'reasoning_tokens': 0}
            },
            'usage_object': {
                'prompt_tokens': input_tokens, 'completion_tokens': output_tokens,
                'total_tokens': input_tokens + output_tokens
            }
        } as metadata,
        'False' as cache_hit, 'Cache OFF' as cache_key, ['class:' || query_class] as request_tags,
        'id-' || team as team_id, '' as end_user, null as requester_ip_address,
        '{}'::json as messages, '{}'::json as response, 's-' || request_id as session_id,
        'success' as status
    from $log
"""


class Run(NamedTuple):
    """What one process needed."""

    seconds: float
    peak_gb: float
    cpu_s: float


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


def run_ingest(log: Path, database: Path) -> None:
    """Bring the log into a warehouse, its rows judged, without a report."""
    settings = Settings()
    con = warehouse.connect(database, settings.memory_limit_gb, THREADS)
    load_reference(con, settings)
    load(con, find_files([Input(str(log))], Path("/")), settings)
    con.close()


def run_nothing(log: Path, database: Path) -> None:
    """Do what every ingest does before it reads a log."""
    settings = Settings()
    con = warehouse.connect(database, settings.memory_limit_gb, THREADS)
    load_reference(con, settings)
    con.close()


def write_texts(log: Path, database: Path) -> None:
    """Write the same requests as text, beside the log."""
    narrow = "select occurred_at, model_name, input_tokens, output_tokens from"
    litellm = _LITELLM_SQL.replace("$form", "'%Y-%m-%dT%H:%M:%S.%gZ'").replace("$log", f"'{log}'")
    with duckdb.connect(str(database)) as con:
        con.execute(f"copy (from '{log}') to '{log.with_name('general.csv')}' (header)")
        con.execute(f"copy ({narrow} '{log}') to '{log.with_name('narrow.csv')}' (header)")
        con.execute(f"copy ({litellm}) to '{log.with_name('litellm.jsonl')}' (format json)")


PARTS: dict[str, Callable[[Path, Path], None]] = {
    "floor": run_floor,
    "ours": run_ours,
    "ingest": run_ingest,
    "nothing": run_nothing,
    "texts": write_texts,
}


def measure_here(part: str, log: Path) -> Run:
    """Run one part in this process."""
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        start, start_cpu = time.perf_counter(), time.process_time()
        PARTS[part](log, Path(folder) / "bench.duckdb")
        seconds, cpu_s = time.perf_counter() - start, time.process_time() - start_cpu
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux
    return Run(seconds, peak_kib * 1024 / 1e9, cpu_s)


def measure_apart(part: str, log: Path) -> Run:
    """Run one part in a process of its own."""
    command = [sys.executable, __file__, part, str(log)]
    return Run(*json.loads(subprocess.check_output(command)))


def best_runs(log: Path, parts: Sequence[str] = ("floor", "ours")) -> dict[str, Run]:
    """Return the fastest run of each part, in turn; memory is the worst of them."""
    runs: dict[str, list[Run]] = {part: [] for part in parts}
    for _ in range(REPEATS):
        for part, made in runs.items():
            if not made or made[0].seconds < SLOW_S:
                made.append(measure_apart(part, log))
    return {
        part: Run(
            min(run.seconds for run in made),
            max(run.peak_gb for run in made),
            min(run.cpu_s for run in made),
        )
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


def text_lines(folder: Path) -> list[str]:
    """Return the table lines of text logs: reading them, without what comes before or after."""
    log = folder / "log.parquet"
    write_log(log, TEXT_ROWS)
    measure_apart("texts", log)  # a process hands its peak memory on to those it starts
    lines = []
    for name, title in (("general.csv", "CSV of 12 columns"), ("narrow.csv", "CSV of 4 columns")):
        runs = best_runs(folder / name, ("floor", "nothing", "ingest"))
        cpu_s = runs["ingest"].cpu_s - runs["nothing"].cpu_s
        ratio = cpu_s / runs["floor"].cpu_s
        lines.append(
            f"| {title} | {cpu_s:.1f} s, {ratio:.1f} × | {runs['ingest'].peak_gb:.2f} GB "
            f"| {_target(ratio, MOST_TEXT_RATIO)} |"
        )
    run = best_runs(folder / "litellm.jsonl", ("ingest",))["ingest"]
    lines.append(
        f"| LiteLLM, JSON lines | {run.cpu_s:.1f} s ({run.seconds:.1f} s in all) "
        f"| {run.peak_gb:.2f} GB | {_target(run.seconds, MOST_LITELLM_S, 's')}, "
        f"{_target(run.peak_gb, MOST_LITELLM_GB, 'GB')} |"
    )
    return lines


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


def page(
    best: dict[int, dict[str, Run]],
    decisions: list[str],
    commands: list[str],
    texts: list[str],
) -> str:
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

| {TEXT_ROWS:,} rows of text, read and judged | CPU time, to DuckDB's bare read | peak | target |
|---|--:|--:|--:|
{newline.join(texts)}

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
        texts = text_lines(Path(folder))
        for row_count in SIZES:
            log = Path(folder) / "log.parquet"
            write_log(log, row_count)
            best[row_count] = best_runs(log)
            print(size_line(row_count, best[row_count]), flush=True)
        decisions = decision_lines(log)
    (ROOT / "BENCHMARKS.md").write_text(page(best, decisions, commands, texts), encoding="utf-8")


if __name__ == "__main__":
    main()
