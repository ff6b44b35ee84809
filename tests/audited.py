"""Power logs and runs made by hand, from which the tests of the audit start."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import polars as pl

from pipeline.audit.answer import Audit, audit
from pipeline.audit.readings import Reading
from pipeline.audit.rules import rules
from pipeline.audit.runs import RunsFile, read_runs
from pipeline.audit.tracks import tracks_of
from pipeline.ingest.telemetry import SCHEMA
from pipeline.sample.telemetry import Plan, planted_telemetry

START = dt.datetime(2026, 10, 5, 9, 0, tzinfo=dt.UTC)
RULES = rules()
RUN_HEAD = "run_id,started_at,ended_at,model,category,input_tokens,output_tokens"


def at(second: float) -> dt.datetime:
    return START + dt.timedelta(seconds=second)


def log(
    seconds: Sequence[float],
    power_w: Callable[[float], float | None],
    gpu: str = "0",
    counter_j: Callable[[float], float | None] = lambda _: None,
) -> pl.DataFrame:
    """Return the samples of one GPU at these seconds."""
    rows = [
        {
            **dict.fromkeys(SCHEMA),
            "gpu": gpu,
            "sampled_at": at(second),
            "power_w": power_w(second),
            "energy_counter_j": counter_j(second),
            "source_file": "made",
            "source_line": line,
        }
        for line, second in enumerate(seconds, start=2)
    ]
    return pl.DataFrame(rows, schema=dict(SCHEMA))


def runs_file(folder: Path, *lines: str, head: str = RUN_HEAD) -> RunsFile:
    """Return a runs file of these lines; `{3.5}` in one is the instant 3.5 s after the start."""
    path = folder / "runs.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return read_runs(path)


def run_line(name: str, start: float, end: float, *cells: object) -> str:
    """Return a line of a runs file; model m, category general, 10 in, 100 out if not told."""
    told = cells or ("m", "general", 10, 100)
    return ",".join([name, at(start).isoformat(), at(end).isoformat(), *map(str, told)])


def measured(samples: pl.DataFrame, file: RunsFile) -> dict[str, dict[str, object]]:
    """Return each run with its energy, by its name."""
    from pipeline.audit.energy import energy_by_run

    found = energy_by_run(samples, tracks_of(samples, RULES), file.runs, RULES)
    return {str(row["run_id"]): row for row in found.rows(named=True)}


def sessions(plan: Plan, seeds: Iterable[int]) -> tuple[pl.DataFrame, RunsFile]:
    """Return generated sessions side by side: each is a run set on a GPU of its own."""
    samples, runs = [], []
    for seed in seeds:
        log_of_seed, runs_of_seed = planted_telemetry(plan, seed)
        name = pl.lit(f"{seed:03}")
        samples.append(log_of_seed.with_columns(name.alias("gpu")))
        runs.append(runs_of_seed.with_columns(name.alias("run_set"), name.alias("gpu")))
    joined = pl.concat(runs)
    typed = joined.with_row_index("source_line", offset=2).with_columns(
        pl.col("block").cast(pl.String),
        pl.col("looped").alias("is_looped"),
        pl.lit(False).alias("is_baseline"),
        pl.lit(1.0).alias("batch"),
        pl.lit(None, pl.String).alias("precision"),
        ((pl.col("ended_at") - pl.col("started_at")).dt.total_microseconds() / 1e6).alias(
            "duration_s"
        ),
    )
    none = pl.DataFrame(schema={"source_line": pl.Int64, "run_id": pl.String, "reason": pl.String})
    return pl.concat(samples), RunsFile(Path("generated.csv"), joined.height, typed, none)


def audited(plan: Plan, seed: int = 1, reading: Reading | None = None) -> Audit:
    """Return the audit of one generated session."""
    samples, file = sessions(plan, [seed])
    return audit(samples, file, reading or Reading())
