"""Measure speed and memory; write BENCHMARKS.md and the figures of docs/SIZING.md: `make bench`.

BENCH_ROWS is the largest log, 10,000,000 if not given; logs of a tenth of it and so on down to
100,000 rows come before. With 100,000,000 that log is the last that is measured, after a first
BENCHMARKS.md is written. What is smaller than 10,000,000 tries the script out and writes
`bench-trial.md`.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import bench_logs
import bench_peers
from bench_page import ROOT, Table, judged, page, sizing, write_whole
from bench_parts import Run

MOST_ROWS = int(os.environ.get("BENCH_ROWS", 10_000_000))
FULL_ROWS = 10_000_000
SIZES = sorted(
    {rows for rows in (100_000, 1_000_000, 10_000_000) if rows < MOST_ROWS}
    | {MOST_ROWS // 10, MOST_ROWS}
)
FORM_ROWS = min(MOST_ROWS, 1_000_000)
REPEATS, SLOW_S = 3, 30  # a slower run is not repeated
BYTES_PER_ROW = 400  # on disk: log, database, what is spilt

MOST_FLOOR_RATIO, MOST_TEXT_RATIO, MOST_GROWTH_RATIO = 4.0, 2.5, 11.0
MOST_PEAK_GB = 4.0
MOST_LITELLM_S, MOST_LITELLM_GB = 10.0, 1.0
MOST_HELP_S, MOST_SAMPLE_S, MOST_DECISIONS_S = 0.25, 15.0, 20.0
LEAST_ECOLOGITS_RATIO = 500.0
PEER_ROWS = 1_000_000


def say(text: str) -> None:
    """Tell how far the measuring is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def measured(part: str, log: Path, script: str = "bench_parts.py") -> Run:
    """Run one part in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name(script)), part, str(log)]
    run = Run(**json.loads(subprocess.check_output(command).splitlines()[-1]))
    say(f"  {part} of {log.name}: {run.seconds:.2f} s, {run.peak_gb:.2f} GB")
    return run


def best(log: Path, parts: Sequence[str]) -> dict[str, Run]:
    """Return the fastest run of each part, taken in turn; memory is the worst of them."""
    runs: dict[str, list[Run]] = {part: [] for part in parts}
    for _ in range(REPEATS):
        for part, made in runs.items():
            if not made or made[0].seconds < SLOW_S:
                made.append(measured(part, log))
    fastest = {part: min(made, key=lambda run: run.seconds) for part, made in runs.items()}
    return {
        part: Run(run.seconds, max(each.peak_gb for each in runs[part]), run.stages)
        for part, run in fastest.items()
    }


def command_table(folder: Path) -> Table:
    """Measure what a user waits for at the prompt."""
    say("commands")
    estimate = ("estimate", "--model", "Qwen/Qwen3-8B", "--input", "900", "--output", "300")
    sample = ("report", "--config", "data/sample/joulebook.toml", "--out", str(folder / "reports"))
    help_s, sample_s = command_seconds(5, "--help"), command_seconds(REPEATS, *sample)
    rows = [
        ("`joulebook --help`", f"{help_s:.2f} s", judged(help_s, MOST_HELP_S, "s")),
        ("`joulebook estimate`", f"{command_seconds(5, *estimate):.2f} s", ""),
        ("report of the sample", f"{sample_s:.1f} s", judged(sample_s, MOST_SAMPLE_S, "s")),
    ]
    return Table("Commands", "Start to end, median.", ("command", "time", "target"), rows)


def command_seconds(repeats: int, *arguments: str) -> float:
    """Return the median time of a command."""
    program, seconds = str(Path(sys.executable).with_name("joulebook")), []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([program, *arguments], check=True, capture_output=True, cwd=ROOT)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def form_table(folder: Path) -> Table:
    """Measure the reading of each main form."""
    say(f"forms, {FORM_ROWS:,} rows")
    requests = folder / "requests.parquet"
    bench_logs.write_requests(requests, FORM_ROWS)
    rows = [_form_row(requests, "general form, Parquet")]
    for name, (title, _) in bench_logs.FORMS.items():
        log = bench_logs.write_form(requests, name)
        rows.append(_form_row(log, title))
        log.unlink()
    requests.unlink()
    return Table(
        f"Reading {FORM_ROWS:,} rows of each main form",
        "From file to judged rows in a database file, with the 0.3 s or so in which a job starts.",
        ("form", "size", "time", "rows per second", "peak", "target"),
        rows,
    )


def _form_row(log: Path, title: str) -> tuple[str, ...]:
    run = best(log, ["ingest"])["ingest"]
    target = ""
    if log.name.startswith("litellm"):
        target = judged(run.seconds, MOST_LITELLM_S, "s")
        target += ", " + judged(run.peak_gb, MOST_LITELLM_GB, "GB")
    return (
        title,
        f"{log.stat().st_size / 1e6:,.0f} MB",
        f"{run.seconds:.2f} s",
        f"{FORM_ROWS / run.seconds:,.0f}",
        f"{run.peak_gb:.2f} GB",
        target,
    )


def size_table(runs: dict[int, dict[str, Run]]) -> Table:
    """Return the table of floor and build by rows."""
    rows: list[tuple[str, ...]] = []
    before: Run | None = None
    for row_count, made in runs.items():
        floor, build = made["floor"], made["build"]
        ratio = build.seconds / floor.seconds
        tenth = row_count // 10 in runs
        growth = build.seconds / before.seconds if before and tenth else None
        rows.append(
            (
                f"{row_count:,}",
                f"{floor.seconds:.2f} s",
                f"{build.seconds:.2f} s",
                f"{build.stages['ingest']:.2f} + {build.stages['build']:.2f} s",
                f"{ratio:.1f} ×"
                + (f" ({judged(ratio, MOST_FLOOR_RATIO)})" if row_count == FULL_ROWS else ""),
                f"{row_count / build.seconds:,.0f}",
                "" if growth is None else f"{growth:.1f} × ({judged(growth, MOST_GROWTH_RATIO)})",
                f"{floor.peak_gb:.2f} GB",
                f"{build.peak_gb:.2f} GB ({judged(build.peak_gb, MOST_PEAK_GB, 'GB')})",
            )
        )
        before = build
    return Table(
        "From a Parquet log to checked marts",
        "The floor is DuckDB's bare `create table t as from 'log.parquet'` into a file, with "
        "`checkpoint`. Ours reads and judges every row, builds all models and proves every check.",
        (
            "rows", "floor", "ours", "ingest + build", "to the floor", "rows per second",
            "to a tenth of the rows", "floor's peak", "our peak",
        ),
        rows,
    )  # fmt: skip


def text_table(requests: Path, row_count: int) -> Table:
    """Measure floor and build of text logs."""
    rows = []
    for name in ("general.csv", "general.jsonl"):
        log = bench_logs.write_form(requests, name)
        runs = best(log, ["floor", "build"])
        log.unlink()
        floor, build = runs["floor"], runs["build"]
        ratio = build.seconds / floor.seconds
        rows.append(
            (
                bench_logs.FORMS[name][0],
                f"{floor.seconds:.2f} s",
                f"{build.seconds:.2f} s",
                f"{ratio:.1f} ×",
                f"{build.peak_gb:.2f} GB",
                judged(ratio, MOST_TEXT_RATIO),
            )
        )
    return Table(
        f"From {row_count:,} rows of text to checked marts",
        "The floor is the same bare read, of text.",
        ("form", "floor", "ours", "to the floor", "our peak", "target"),
        rows,
    )


def report_table(runs: dict[int, Run], decisions: Run | None, rows_decided: int) -> Table:
    """Return the table of whole reports by rows, and of the marts of decisions."""
    rows = [
        (
            f"{row_count:,}",
            *(f"{run.stages[stage]:.2f} s" for stage in ("ingest", "build", "workbook", "page")),
            f"{run.seconds:.2f} s",
            f"{run.peak_gb:.2f} GB ({judged(run.peak_gb, MOST_PEAK_GB, 'GB')})",
        )
        for row_count, run in runs.items()
    ]
    text = "`joulebook report`, measured once. Build holds checks and the data files too."
    if decisions is not None:
        text += (
            f" The marts of decisions alone (`tests/bench_decisions.py`), on {rows_decided:,} rows "
            f"of 60 models: {decisions.seconds:.1f} s of processor time over threads "
            f"({judged(decisions.seconds, MOST_DECISIONS_S, 's')}), {decisions.peak_gb:.2f} GB "
            f"({judged(decisions.peak_gb, MOST_PEAK_GB, 'GB')})."
        )
    head = ("rows", "ingest", "build", "workbook", "page", "in all", "peak")
    return Table("Whole reports", text, head, rows)


def peer_table(requests: Path, runs: dict[int, dict[str, Run]]) -> Table:
    """Measure others' ways on rows that were measured before, beside ours."""
    say("peers")
    row_count = max(rows for rows in runs if rows <= PEER_ROWS)
    bench_logs.write_requests(requests, row_count)
    rows = []
    for count in sorted({row_count, max(runs)}):
        build = runs[count]["build"]
        build_us = build.stages["build"] / count * 1e6
        ours_us = build.seconds / count * 1e6
        rows.append((f"ours, {count:,} rows from file to checked marts", _us(ours_us), "cost, "
                     f"energy, ranges, checks; {_us(build_us)} after ingest"))  # fmt: skip
    energy_us = bench_peers.ecologits_us(requests)
    told = str(energy_us)
    if isinstance(energy_us, float):
        ratio = energy_us / build_us
        verdict = "met" if ratio >= LEAST_ECOLOGITS_RATIO else "missed"
        told = (
            f"{energy_us / ours_us:,.0f} × ours from file, {ratio:,.0f} × after ingest "
            f"(≥ {LEAST_ECOLOGITS_RATIO:g} ×: {verdict}); energy and carbon"
        )
    shown = _us(energy_us) if isinstance(energy_us, float) else "not measured"
    rows.append((f"{bench_peers.ECOLOGITS}, `llm_impacts` per request", shown, told))
    priced_us = measured("genai_prices", requests).stages["per_call"] * 1e6
    told = f"{priced_us / build_us:,.0f} × ours after ingest; cost"
    rows.append(("genai-prices, `calc_price` per request", _us(priced_us), told))
    for part, title in (("polars", "a plain polars pipeline"), ("pandas", "pandas + openpyxl")):
        run = best(requests, [part])[part]
        rows.append(
            (
                f"{title}, {row_count:,} rows",
                _us(run.seconds / row_count * 1e6),
                f"cost, and energy by one factor; {run.peak_gb:.2f} GB",
            )
        )
    return Table(
        "Others on the same rows",
        f"Per request: {bench_peers.CALLS:,} of the rows, of models that both know, already in "
        "memory. In bulk (`tests/bench_peers.py`): sums by day, team, model and class, without "
        "duplicates, ranges, grades or checks.",
        ("way", "time per row", "to ours, and what it gives"),
        rows,
    )


def _us(microseconds: float) -> str:
    return f"{microseconds:,.2f} µs"


def spark_table(folder: Path) -> Table:
    """Measure Spark on this machine beside DuckDB."""
    rows = []
    for row_count in [each for each in SIZES if each <= 1_000_000][-2:]:
        log = folder / "log.parquet"
        bench_logs.write_requests(log, row_count)
        here, there = measured("build", log), measured("spark", log)
        ratio = there.stages["build"] / here.stages["build"]
        rows.append(
            (
                f"{row_count:,}",
                f"{here.stages['build']:.2f} s",
                f"{there.stages['build']:.1f} s",
                f"{ratio:.0f} ×",
                f"{there.stages['start']:.1f} s",
            )
        )
    return Table(
        "Spark beside DuckDB",
        "All models built from the same loaded rows, each once: `local[2]` with 4 GB, else the "
        "settings of `--engine spark`, Parquet written and read for every model. Same ingest.",
        ("rows", "DuckDB", "Spark", "Spark to DuckDB", "start of Spark"),
        rows,
    )


def has_room(folder: Path, row_count: int) -> bool:
    """Say whether the disk holds a run of so many rows."""
    return shutil.disk_usage(folder).free > BYTES_PER_ROW * row_count


def write_pages(tables: Sequence[Table], runs: dict[int, dict[str, Run]]) -> None:
    """Write BENCHMARKS.md and the figures of the sizing page, or of a trial the first alone."""
    given = os.environ.get("BENCH_ROWS")
    command = f"BENCH_ROWS={given} make bench" if given else "make bench"
    is_full = FULL_ROWS in runs
    target = ROOT / ("BENCHMARKS.md" if is_full else "bench-trial.md")
    write_whole(target, page(tables, command))
    if is_full:
        builds = {
            rows: (made["build"].seconds, made["build"].peak_gb) for rows, made in runs.items()
        }
        path = ROOT / "docs" / "SIZING.md"
        write_whole(path, sizing(path.read_text(encoding="utf-8"), builds))
    say(f"wrote {target.name}")


def main() -> None:
    """Measure everything, the largest log last."""
    runs: dict[int, dict[str, Run]] = {}
    reports: dict[int, Run] = {}
    with tempfile.TemporaryDirectory(prefix="joulebook-bench-") as name:
        folder = Path(name)
        log = folder / "log.parquet"
        before = [command_table(folder), form_table(folder)]
        usual = [rows for rows in SIZES if rows <= FULL_ROWS]
        for row_count in usual:
            say(f"{row_count:,} rows")
            bench_logs.write_requests(log, row_count)
            runs[row_count] = best(log, ["floor", "build"])
            reports[row_count] = measured("report", log)
        decisions = measured("decisions", log, "bench_decisions.py")
        texts = text_table(log, usual[-1])
        peers = peer_table(log, runs)
        spark = spark_table(folder)

        def tables() -> list[Table]:
            whole = report_table(reports, decisions, usual[-1])
            return [size_table(runs), texts, whole, before[1], peers, spark, before[0]]

        write_pages(tables(), runs)
        for row_count in SIZES[len(usual) :]:
            say(f"{row_count:,} rows")
            if not has_room(folder, row_count):
                say(f"  left out: needs {BYTES_PER_ROW * row_count / 1e9:.0f} GB of disk")
                continue
            bench_logs.write_requests(log, row_count)
            runs[row_count] = best(log, ["floor", "build"])
            write_pages(tables(), runs)


if __name__ == "__main__":
    main()
