"""What an audit found, one sentence each: what the log cannot bear, and what was measured.

A finding of kind `log` follows from the files as they are; one of kind `test` may be chance, and
its family error says how often.
"""

import polars as pl

from pipeline.audit.clocks import Clocks
from pipeline.audit.effects import RESIDUAL, WORDS
from pipeline.audit.linearity import BEYOND
from pipeline.audit.rules import Rules

SCHEMA = {"run_set": pl.String, "kind": pl.String, "subject": pl.String, "text": pl.String}
_Row = tuple[str | None, str, str, str]


def tested_findings(
    cells: pl.DataFrame, effects: pl.DataFrame, has_temperature: bool, rules: Rules
) -> pl.DataFrame:
    """Return the findings that a test made: run_set, kind, subject, text."""
    beyond = cells.filter(pl.col("verdict") == BEYOND)
    rows: list[_Row] = [
        (
            row["run_set"],
            "test",
            f"{row['model']}, {row['category']}",
            f"energy {row['energy_multiplier_ratio']:.3g} times the reference for "
            f"{row['token_multiplier_ratio']:.3g} times the tokens: "
            f"{row['excess_frac']:+.1%} ({row['excess_low_frac']:+.1%} to "
            f"{row['excess_high_frac']:+.1%})",
        )
        for row in beyond.rows(named=True)
    ]
    clear = effects.filter(pl.col("p_holm") < rules.family_error_frac)
    for row in clear.rows(named=True):
        unit = "W" if row["effect"] == RESIDUAL else "in ln energy per unit"
        words = WORDS[row["effect"]]
        if row["effect"] == RESIDUAL and not has_temperature:
            words += " (the log has no temperature, so it is not called heat)"
        rows.append(
            (
                row["run_set"],
                "test",
                row["model"],
                f"{words}: {row['estimate']:+.3g} ({row['low']:+.3g} to {row['high']:+.3g}) {unit}",
            )
        )
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def log_findings(
    quality: pl.DataFrame,
    measured: pl.DataFrame,
    clocks: Clocks,
    confounded: pl.DataFrame,
    window_s: float,
    rules: Rules,
) -> pl.DataFrame:
    """Return the findings that follow from log and runs as they are."""
    rows = [*_of_log(quality), *_of_clocks(clocks), *_of_runs(measured, quality, window_s, rules)]
    for row in confounded.rows(named=True):
        rows.append(
            (
                row["run_set"],
                "log",
                row["model"],
                "order and dose of its blocks change together "
                f"(correlation {row['order_dose_correlation']:.2f}), so an effect of order cannot "
                "be told from one of how much was asked; `joulebook audit --plan` gives an order "
                "that can",
            )
        )
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _of_log(quality: pl.DataFrame) -> list[_Row]:
    rows: list[_Row] = []
    for row in quality.rows(named=True):
        said = {
            "no power in this log; what else it reads can still be told"
            + (", energy by its counter too" if row["has_counter"] else ""): not row["has_power"],
            f"{row['gap_count']} gaps, {row['gap_s']:.4g} s in all": row["gap_count"] > 0,
            f"{row['backward_count']} lines whose clock is behind the line before": row[
                "backward_count"
            ]
            > 0,
            f"{row['shared_instant_count']} readings share an instant with another: several GPUs "
            "without an index? Their mean is taken": row["shared_instant_count"]
            > row["sample_count"] / 10,
        }
        rows += [(None, "log", f"GPU {row['gpu']}", text) for text, holds in said.items() if holds]
    return rows


def _of_clocks(clocks: Clocks) -> list[_Row]:
    rows: list[_Row] = []
    if clocks.zone_shift_s is not None:
        rows.append(
            (
                None,
                "log",
                "time zone",
                f"runs stand out most when moved by {clocks.zone_shift_s / 3600:+g} h; proposed, "
                "not applied: give --runs-zone or --zone if that is the zone",
            )
        )
    if clocks.is_drifting and clocks.drift_s_per_hour is not None:
        rows.append(
            (
                None,
                "log",
                "clocks",
                f"the clock of the log gains {clocks.drift_s_per_hour:+.3g} s an hour on that of "
                "the runs; not corrected",
            )
        )
    return rows


def _of_runs(
    measured: pl.DataFrame, quality: pl.DataFrame, window_s: float, rules: Rules
) -> list[_Row]:
    rows: list[_Row] = []
    reasons = (
        measured.filter(pl.col("energy_reason").is_not_null())
        .sort("run_set", "energy_reason", "started_at", "run_id")
        .group_by("run_set", "energy_reason", maintain_order=True)
        .agg(pl.len().alias("count"), pl.col("run_id").first())
    )
    for row in reasons.rows(named=True):
        rows.append(
            (
                row["run_set"],
                "log",
                "runs",
                f"{row['count']} without an energy, the first {row['run_id']}: "
                f"{row['energy_reason']}",
            )
        )
    short = measured.filter(pl.col("duration_s") < rules.shortest_run_windows * window_s)
    for row in short.group_by("run_set").len().sort("run_set").rows(named=True):
        rows.append(
            (
                row["run_set"],
                "log",
                "runs",
                f"{row['len']} shorter than {rules.shortest_run_windows:g} averaging windows of "
                f"{window_s:.3g} s: their edges weigh too much",
            )
        )
    if quality.height > 1 and measured.get_column("gpu").null_count() == measured.height:
        rows.append(
            (
                None,
                "log",
                "GPU",
                f"no run names its GPU and the log has {quality.height}: energies are sums over "
                "all of them, idle ones included; a column gpu would tell",
            )
        )
    return rows
