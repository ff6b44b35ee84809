"""What a report takes from the power logs of policies."""

from pathlib import Path

import duckdb
import polars as pl

from pipeline.audit.tracks import seconds
from pipeline.ingest.files import find_files
from pipeline.measured_tables import put
from pipeline.power.answer import Comparison, compare, factors, label
from pipeline.power.commands import commands
from pipeline.power.policies import RUNS_ENDING, Policy, baseline_of, read_policies
from pipeline.power.rules import power_rules
from pipeline.settings import Input, Settings


def policy_paths(settings: Settings) -> list[Path]:
    """Return the power logs of policies that the settings name, one a policy; none if they do not.

    Raises:
        JoulebookError: Where they name files that are not there.
    """
    if settings.power_policies is None:
        return []
    files = find_files([Input(settings.power_policies)], settings.folder)
    return [file.path for file in files if not file.path.name.endswith(RUNS_ENDING)]


def fill_power_tables(con: duckdb.DuckDBPyConnection, settings: Settings) -> list[str]:
    """Fill the tables of policies from the power logs that the settings name; return notes.

    Raises:
        JoulebookError: Where a file is not there or no power log or runs file.
    """
    paths = policy_paths(settings)
    if not paths:
        return []
    zone = settings.time_zone
    policies = read_policies(paths, zone=zone, runs_zone=zone)
    found = compare(policies, baseline_of(policies))
    measured = factors(found).with_columns(
        pl.lit(settings.is_generated_sample).alias("is_generated")
    )
    is_baseline = (pl.col("policy") == found.baseline).alias("is_baseline")
    put(con, "measured_factors", measured)
    put(con, "policy_cells", _named(found, found.cells.with_columns(is_baseline)))
    put(con, "policy_effects", _named(found, found.effects))
    put(con, "policy_classes", _named(found, found.classes))
    put(con, "policy_traces", _named(found, traces(found)))
    put(con, "policy_commands", _commands(found))
    notes = [
        f"{file.path.name}: {note}"
        for policy in policies
        for file in policy.telemetry.files
        for note in file.notes
    ]
    return notes + [
        f"{policy.name}: no runs file: tokens are unknown, phases told by power alone"
        for policy in policies
        if policy.runs_file is None
    ]


def traces(found: Comparison) -> pl.DataFrame:
    """Return power over time of one GPU of each policy, in spans of one length for all.

    Columns: policy, since_s, power_w, limit_w. A span's power is the mean of its readings, since
    single ones would hide what lies between.
    """
    timed = [_timed(policy) for policy in found.policies]
    longest_s = max((float(frame["at_s"].max() or 0.0) for frame in timed), default=0.0)  # type: ignore[arg-type]
    span_s = max(longest_s / power_rules().trace_points_most, 0.001)
    spans = [
        frame.group_by((pl.col("at_s") / span_s).floor().alias("span"), maintain_order=True)
        .agg(
            pl.col("policy").first(),
            pl.col("power_w").mean(),
            pl.col("power_limit_w").median().alias("limit_w"),
        )
        .with_columns((pl.col("span") * span_s).round(3).alias("since_s"))
        for frame in timed
    ]
    return pl.concat(spans)


def _timed(policy: Policy) -> pl.DataFrame:
    """Return the readings of the first GPU of a policy's log, and the seconds since it began."""
    samples = policy.samples.drop_nulls("power_w").filter(pl.col("gpu") == pl.col("gpu").min())
    since_s = seconds(pl.col("sampled_at") - pl.col("sampled_at").min())
    return samples.sort("sampled_at").with_columns(
        since_s.alias("at_s"), pl.lit(policy.name).alias("policy")
    )


def _named(found: Comparison, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with what each policy sets in place of the name of its file."""
    labels = {policy.name: label(policy) for policy in found.policies}
    labels[found.baseline] = "no setting"
    if len(set(labels.values())) < len(labels):
        return frame
    return frame.with_columns(pl.col("policy").replace(labels))


def _commands(found: Comparison) -> pl.DataFrame:
    rows = [(label(policy), do, undo) for policy in found.policies for do, undo in commands(policy)]
    schema = dict.fromkeys(("policy", "apply_command", "undo_command"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row").with_row_index("line_number", offset=1)
