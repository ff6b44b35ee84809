"""`joulebook power`: what power caps and clock locks do, from logs of one's own or of others."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.commands.audit import names_of, tell_log, tell_runs
from pipeline.commands.parts import (
    ColumnsOption,
    ConfigOption,
    JsonOption,
    RunsZoneOption,
    ZoneOption,
    settings_of,
    warn,
)

# What is imported here `joulebook --help` waits for: everything else where it is used.

EXAMPLES = (
    "Example: joulebook power --telemetry none.csv --telemetry cap-400w.csv --telemetry "
    "lock-1590mhz.csv · each is a policy; its runs stand beside it as none-runs.csv, or in --runs"
)


def power(
    telemetry: Annotated[
        list[Path] | None,
        typer.Option(
            "--telemetry", metavar="PATH", help="Power log, or folder of logs, of one policy."
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--runs", metavar="FILE", help="Runs of each policy, in the same order."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Policy that others are held against.")
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="G", help="GPU, such as H200-SXM.")] = None,
    zone: ZoneOption = "UTC",
    runs_zone: RunsZoneOption = "UTC",
    columns: ColumnsOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what caps and clock locks do; without logs, what the settings' logs and papers say."""
    from pipeline import manifest
    from pipeline.audit.law import require_known
    from pipeline.power.answer import compare
    from pipeline.power.fill import policy_paths
    from pipeline.power.policies import baseline_of, read_policies
    from pipeline.power.text import facts_text, text_of
    from pipeline.power.values import as_values

    gpu, _ = require_known(gpu, None)
    paths = telemetry or []
    if not paths:
        settings = settings_of(config, None, None)
        paths = policy_paths(settings)
        if paths and settings.is_generated_sample:
            warn("the power logs are of the bundled sample, whose data are generated, not measured")
    found = None
    if paths:
        policies = read_policies(
            paths, runs or [], names_of(columns) if columns else None, zone, runs_zone
        )
        for policy in policies:
            tell_log(policy.telemetry)
            if policy.runs_file is None:
                warn(f"{policy.name}: no runs file: tokens are unknown, phases told by power alone")
            else:
                tell_runs(policy.runs_file)
        found = compare(policies, baseline_of(policies, baseline))
    if as_json:
        print(manifest.to_json(as_values(found, gpu)), end="")
        return
    print(text_of(found) if found else "", end="")
    if not telemetry:
        print(facts_text(), end="")
