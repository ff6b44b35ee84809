"""`joulebook audit`: measured power against tokens and law, or a plan of how to measure it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.commands.parts import ColumnsOption, JsonOption, RunsZoneOption, ZoneOption, warn
from pipeline.errors import IncompleteInputError, WrongUseError

if TYPE_CHECKING:
    from pipeline.audit.runs import RunsFile
    from pipeline.ingest.telemetry import Telemetry

# What is imported here `joulebook --help` waits for: everything else where it is used.

EXAMPLES = (
    "Example: joulebook audit --telemetry power.csv --runs runs.csv · joulebook audit --plan "
    "--models Qwen/Qwen3-8B --categories General,Philosophical --out plan.csv"
)


def audit(
    telemetry: Annotated[
        list[Path] | None,
        typer.Option("--telemetry", metavar="FILE", help="Power log; may be repeated."),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            "--runs",
            metavar="FILE",
            help="CSV: run_id, started_at, ended_at, model, category, input_tokens, output_tokens.",
        ),
    ] = None,
    zone: ZoneOption = "UTC",
    runs_zone: RunsZoneOption = "UTC",
    columns: ColumnsOption = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="CATEGORY", help="What multipliers are of; general, else the first."),
    ] = None,
    formula: Annotated[
        str, typer.Option(metavar="NAME", help="of_tokens, of_larger or logarithm.")
    ] = "of_tokens",
    quantity: Annotated[
        str, typer.Option(metavar="NAME", help="energy, net_energy or mean_power.")
    ] = "energy",
    tokens: Annotated[str, typer.Option(metavar="NAME", help="output or all.")] = "output",
    band: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Band of the verdict; 0.15 if not given.")
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="G", help="GPU, such as H200-SXM.")] = None,
    stack: Annotated[str | None, typer.Option(metavar="S", help="Serving stack.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Give an order of runs, as CSV.")] = False,
    models: Annotated[str | None, typer.Option(metavar="M,N,…", help="Models of a plan.")] = None,
    categories: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Categories of a plan.")
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="COUNT", help="Blocks of a model; 5 or more.")
    ] = 5,
    blanks: Annotated[int, typer.Option(metavar="COUNT", help="Blank runs of a block.")] = 1,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Seed of a plan's order.")] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where a plan goes; else it is printed.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Hold measured GPU power against tokens and the law; or plan such a measurement."""
    if plan:
        _plan(names_of(models), names_of(categories), (repeats, blanks, seed), out, as_json)
        return
    if not telemetry or runs is None:
        raise WrongUseError("audit: expected --telemetry FILE and --runs FILE, or --plan.")
    from pipeline import manifest
    from pipeline.audit.answer import audit as answer_of
    from pipeline.audit.answer import without_energy
    from pipeline.audit.law import require_known
    from pipeline.audit.readings import FORMULAS, QUANTITIES, TOKENS, Reading
    from pipeline.audit.runs import read_runs
    from pipeline.audit.text import text_of
    from pipeline.audit.values import as_values
    from pipeline.ingest.telemetry import read_telemetry

    for option, value, known in (
        ("--formula", formula, FORMULAS),
        ("--quantity", quantity, QUANTITIES),
        ("--tokens", tokens, TOKENS),
    ):
        if value not in known:
            raise WrongUseError(f"{option} {value}: expected one of {', '.join(known)}.")
    gpu, stack = require_known(gpu, stack)
    if band is not None and not 0 < band < 1:
        raise WrongUseError(f"--band {band:g}: expected a share between 0 and 1, such as 0.15.")
    log = read_telemetry(telemetry, names_of(columns) if columns else None, zone)
    reading = Reading(formula, quantity, tokens, reference, band)
    runs_file = read_runs(runs, runs_zone)
    tell_log(log)
    tell_runs(runs_file)
    found = answer_of(log.samples, runs_file, reading, gpu, stack)
    print(manifest.to_json(as_values(found)) if as_json else text_of(found), end="")
    if not found.has_energy:
        raise IncompleteInputError(
            f"{without_energy(found, log.samples)} Give --zone or --runs-zone, or the log of these "
            "runs."
        )


def tell_log(log: "Telemetry") -> None:
    """Say which rows of power logs were left out, and what they cannot tell."""
    for file in log.files:
        for note in file.notes:
            warn(f"{file.path}: {note}")
        if file.rows_rejected:
            line, reason = file.rejected[0]
            warn(f"{file.path}: {file.rows_rejected} rows left out, first line {line}: {reason}")


def tell_runs(runs_file: "RunsFile") -> None:
    """Say which runs were left out."""
    for row in runs_file.set_aside.rows(named=True):
        warn(f"{runs_file.path}: line {row['source_line']} left out: {row['reason']}")


def _plan(
    models: list[str],
    categories: list[str],
    counts: tuple[int, int, int],
    out: Path | None,
    as_json: bool,
) -> None:
    from pipeline import manifest
    from pipeline.audit.plan import Plan, as_csv, plan_rows

    rows = plan_rows(Plan(models, categories, *counts))
    text = manifest.to_json(rows) if as_json else as_csv(rows)
    if out is None:
        print(text, end="")
        return
    try:
        with out.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise WrongUseError(f"{out}: stands there already; give another --out.") from None
    except OSError as error:
        raise WrongUseError(f"{out}: cannot be written: {error.strerror}.") from None
    warn(f"{out}: {len(rows)} runs in their order; fill in times and tokens as they run")


def names_of(text: str | None) -> list[str]:
    """Return names told with commas between them."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]
