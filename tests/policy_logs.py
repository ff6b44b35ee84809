"""Generated measuring sessions under policies, many seeds in one log: each seed is a GPU, a model.

Sessions are short so that two hundred of them take seconds.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from pipeline.audit.runs import RunsFile
from pipeline.ingest.telemetry import Telemetry
from pipeline.power.answer import Comparison, compare
from pipeline.power.policies import Policy
from pipeline.sample.telemetry import Plan, planted_telemetry
from pipeline.sample.telemetry_load import Board
from pipeline.sample.telemetry_runs import Category

SHORT = Plan(
    models=("m",),
    categories=(Category("long prompt", 60_000, 500),),  # 3 s of prefill, 5 s of decode
    repeats=5,
    board=Board(load_s=1),
    baseline_s=2,
    rest_s=2,
    step_s=0.1,
    length_spread_frac=0.02,  # mean lengths of sessions then differ by less than what is refused
    tells_phases=True,
)


def session(plan: Plan, seed: int, model: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return samples and runs of one session, on a GPU and of a model called so."""
    samples, runs = planted_telemetry(plan, seed)
    return (
        samples.with_columns(pl.lit(model).alias("gpu")),
        runs.with_columns(
            pl.lit("set").alias("run_set"),
            pl.lit(model).alias("gpu"),
            pl.lit(model).alias("model"),
            (pl.lit(f"{model}-") + pl.col("run_id")).alias("run_id"),
            pl.col("looped").alias("is_looped"),
            pl.lit(False).alias("is_baseline"),
            pl.lit(1.0).alias("batch"),
            ((pl.col("ended_at") - pl.col("started_at")).dt.total_microseconds() / 1e6).alias(
                "duration_s"
            ),
        ),
    )


def policy(
    name: str,
    sessions: Iterable[tuple[pl.DataFrame, pl.DataFrame]],
    clock_mhz: float | None = None,
    limit_w: float | None = None,
) -> Policy:
    """Return a policy of sessions of different GPUs."""
    logs, runs = zip(*sessions, strict=True)
    all_runs = pl.concat(runs)
    return Policy(
        name,
        Telemetry(pl.concat(logs).sort("gpu", "sampled_at", "source_line"), ()),
        RunsFile(Path(f"{name}-runs.csv"), all_runs.height, all_runs, pl.DataFrame()),
        clock_mhz,
        limit_w,
    )


def compared(
    changed: Plan, base: Plan = SHORT, clock_mhz: float | None = None, limit_w: float | None = None
) -> Comparison:
    """Return one session under a changed plan against one under another."""
    policies = (
        policy("none", [session(base, 1, "m")]),
        policy("changed", [session(changed, 2, "m")], clock_mhz, limit_w),
    )
    return compare(policies, policies[0])


def capped(limit_w: float, plan: Plan = SHORT) -> Plan:
    """Return a plan under a cap."""
    return replace(plan, power_cap_w=limit_w)
