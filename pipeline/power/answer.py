"""The whole of a comparison of policies: power logs in, verdicts, effects and factors out."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.audit.rules import rules as audit_rules
from pipeline.errors import IncompleteInputError
from pipeline.power import bound, effects, front, phases, readings, workload
from pipeline.power.effects import NAMED
from pipeline.power.policies import Policy
from pipeline.power.rules import power_rules
from pipeline.validation.naming import Names


@dataclass(frozen=True)
class Comparison:
    """Every table of a comparison; the modules of `pipeline.power` say their columns.

    `cells`: a policy, configuration and phase a row, with draw, clock, limit, energy per token,
    throughput, verdict on the cap. `throttle`: seconds that the log's own reasons held.
    """

    policies: tuple[Policy, ...]
    baseline: str
    readings: pl.DataFrame
    cells: pl.DataFrame
    effects: pl.DataFrame
    classes: pl.DataFrame
    throttle: pl.DataFrame


def compare(policies: Sequence[Policy], baseline: Policy) -> Comparison:
    """Hold policies against a baseline.

    Args:
        policies: As `read_policies` gives them, the baseline among them.
        baseline: What the others are held against.

    Raises:
        IncompleteInputError: Where nothing ran under a policy.
    """
    audit, rules = audit_rules(), power_rules()
    read, throttle = [], []
    for policy in policies:
        if policy.runs_file is None:
            cut = phases.phases_without_runs(policy.samples, audit, rules)
        else:
            cut = phases.phases_of_runs(policy.samples, policy.runs_file.runs, rules)
        if cut.is_empty():
            raise IncompleteInputError(
                f"{policy.name}: expected times at work, found none: no run that ended by itself, "
                "and without runs no utilisation or power above idle."
            )
        named = [
            pl.lit(policy.name).alias("policy"),
            pl.lit(policy.asked_clock_mhz, pl.Float64).alias("asked_clock_mhz"),
            pl.lit(policy.asked_limit_w, pl.Float64).alias("asked_limit_w"),
        ]
        found = readings.phase_readings(policy.samples, cut, audit, rules)
        read.append(found.with_columns(named))
        throttle.append(
            readings.throttle_seconds(policy.samples, cut, rules).with_columns(named[0])
        )
    all_readings = bound.with_run_verdict(
        bound.with_reference_clock(pl.concat(read, how="diagonal_relaxed"), baseline.name), rules
    )
    refused = workload.refusals(all_readings, baseline.name, rules)
    cells = front.with_front(
        cells_of(all_readings).join(refused, on=["policy", *NAMED], how="left", nulls_equal=True)
    )
    return Comparison(
        policies=tuple(policies),
        baseline=baseline.name,
        readings=all_readings,
        cells=cells.sort("policy", *NAMED),
        effects=effects.effects(all_readings, refused, baseline.name, audit, rules),
        classes=front.clock_classes(cells, baseline.name, rules),
        throttle=pl.concat(throttle),
    )


def cells_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each policy, configuration and phase once, with its medians, means and verdict."""
    rules = power_rules()
    medians = ("draw_w", "clock_mhz", "limit_w", "reference_clock_mhz")
    has_energy = pl.col("energy_j").is_not_null()
    duration_s = pl.col("duration_s").filter(has_energy).sum()
    grouped = (
        rows.sort("policy", *NAMED, "started_at", "run_id")
        .group_by("policy", *NAMED, maintain_order=True)
        .agg(
            pl.col("asked_clock_mhz", "asked_limit_w", "phase_basis").first(),
            pl.col("gpu_name").drop_nulls().unique().sort().str.join(", ").alias("gpu_name"),
            pl.len().cast(pl.Int64).alias("run_count"),
            pl.col("duration_s").sum(),
            pl.col("tokens").sum(),
            pl.col("tokens").null_count().alias("_unknown"),
            pl.when(duration_s > 0)
            .then(pl.col("energy_j").sum() / duration_s)
            .alias("mean_power_w"),
            *(pl.col(name).median().alias(name) for name in medians),
            *(
                pl.col(name).log().mean().exp().alias(name)
                for name in ("energy_j_per_token", "tokens_per_s")
            ),
            pl.col("firmware_s").sum(),
            (pl.col("firmware_s") > 0).sum().cast(pl.Int64).alias("firmware_run_count"),
            pl.col("else_held_s").sum(),
            (pl.col("run_verdict") == bound.BOUND).mean().alias("bound_run_frac"),
            bound.verdict(rules),
        )
    )
    is_held = (pl.col("clock_mhz") / pl.col("asked_clock_mhz") - 1).abs() <= rules.clock_held_frac
    return grouped.with_columns(
        bound.reason(rules),
        is_held.alias("is_clock_held"),
        pl.when(pl.col("_unknown") == 0).then("tokens").alias("tokens"),
    ).drop("_unknown")


def label(policy: Policy) -> str:
    """Return what a policy sets, as `power_factors.csv` words it; its name where that is silent."""
    set_ = [
        words
        for words, asked in (
            (f"cap at {policy.asked_limit_w or 0:g} W", policy.asked_limit_w),
            (f"lock at {policy.asked_clock_mhz or 0:g} MHz", policy.asked_clock_mhz),
        )
        if asked is not None
    ]
    return " and ".join(set_) or policy.name


def factors(found: Comparison, gpu: str | None = None) -> pl.DataFrame:
    """Return what each policy multiplies energy and throughput of a phase by, as measured.

    Over several configurations: the geometric mean, and the widest ends. Of a log without a GPU's
    name, or of mixed ones, nothing can be carried anywhere: no row.

    Returns:
        gpu, policy, lever, setting, setting_unit, phase, energy_ratio, energy_low_ratio,
        energy_high_ratio, throughput_ratio and its ends, bound_verdict, run_count, meaning.
    """
    names = Names()
    told = pl.DataFrame(
        [
            {
                "policy": policy.name,
                "label": label(policy),
                "lever": policy.lever,
                "setting": policy.asked_clock_mhz or policy.asked_limit_w,
                "setting_unit": "MHz" if policy.asked_clock_mhz else "W",
            }
            for policy in found.policies
            if policy.name != found.baseline
        ],
        schema={
            **{"policy": pl.String, "label": pl.String, "lever": pl.String},
            **{"setting": pl.Float64, "setting_unit": pl.String},
        },
    )
    claimed = found.effects.filter(
        pl.col("reason").is_null(), pl.col("phase").is_in([phases.PREFILL, phases.DECODE])
    )
    parts = {}
    for metric, name in (("energy_j_per_token", "energy"), ("tokens_per_s", "throughput")):
        parts[name] = (
            claimed.filter(pl.col("metric") == metric)
            .group_by("policy", "phase")
            .agg(
                pl.col("ratio").log().mean().exp().alias(f"{name}_ratio"),
                pl.col("low_ratio").min().alias(f"{name}_low_ratio"),
                pl.col("high_ratio").max().alias(f"{name}_high_ratio"),
                pl.col("run_count").sum().alias(f"{name}_run_count"),
            )
        )
    kinds = found.cells.group_by("policy", "phase").agg(
        pl.col("gpu_name").unique().sort().str.join(", "),
        pl.col("bound_verdict").unique().sort().str.join(", "),
    )
    joined = (
        parts["energy"]
        .join(parts["throughput"], on=["policy", "phase"], how="inner")
        .join(kinds, on=["policy", "phase"], how="left")
        .join(told, on="policy", how="inner")
    )
    gpus = {
        name: gpu or names.gpu(name) for name in joined.get_column("gpu_name").unique().to_list()
    }
    is_one = (pl.col("gpu_name") != "") & ~pl.col("gpu_name").str.contains(", ", literal=True)
    return (
        joined.filter(is_one | pl.lit(gpu is not None))
        .with_columns(
            pl.col("gpu_name").replace_strict(gpus, default=None, return_dtype=pl.String)
            .alias("gpu"),
            pl.col("energy_run_count").alias("run_count"),
        )
        .drop("policy")
        .rename({"label": "policy"})
        .select(
            *("gpu", "policy", "lever", "setting", "setting_unit", "phase"),
            *("energy_ratio", "energy_low_ratio", "energy_high_ratio"),
            *("throughput_ratio", "throughput_low_ratio", "throughput_high_ratio"),
            *("bound_verdict", "run_count"),
        )
        .sort("gpu", "policy", "phase")
    )  # fmt: skip
