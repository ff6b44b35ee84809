"""The commands, thin: options in, one call, words or JSON out, an exit code."""

import gc
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.commands.audit import EXAMPLES as AUDIT_EXAMPLES
from pipeline.commands.audit import audit
from pipeline.commands.explain import EXAMPLES, explain
from pipeline.commands.law import law_app
from pipeline.commands.parts import (
    AssumeOption,
    ConfigOption,
    JsonOption,
    UsageOption,
    inert,
    require_month,
    say_made,
    settings_of,
    tell,
    warn,
    workspace_settings,
)
from pipeline.commands.power import EXAMPLES as POWER_EXAMPLES
from pipeline.commands.power import power
from pipeline.commands.workspace import register
from pipeline.errors import JoulebookError, WrongUseError

if TYPE_CHECKING:
    from pipeline.settings import Settings

# Everything else is imported where it is used: `--help` must not wait for DuckDB.

app = typer.Typer(
    help="What LLM usage costs in dollars, joules and carbon, from the logs you have.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(law_app, name="law")
app.command(epilog=EXAMPLES)(explain)
app.command(epilog=AUDIT_EXAMPLES)(audit)
app.command(epilog=POWER_EXAMPLES)(power)
register(app)


def main() -> None:
    """Run a command; a fault that the user can mend is one line and its exit code."""
    gc.set_threshold(100_000)  # a command is short: to look for garbage takes 7 % of a small report
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")  # whatever the console says
    try:
        app()
    except JoulebookError as error:
        print(f"joulebook: {inert(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)


@app.command(epilog="Example: joulebook report --usage logs/ --month 2026-10 --out reports")
def report(
    month: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM", help="Month; the last in the logs if not given."),
    ] = None,
    usage: UsageOption = None,
    assume: AssumeOption = None,
    config: ConfigOption = None,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="duckdb or spark.")] = "duckdb",
    spark_master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="local[*], spark://…, yarn or sc://… of --engine spark."),
    ] = None,
    lang: Annotated[
        str | None, typer.Option(metavar="LANG", help="en or es; else as the settings say.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where reports stand.")] = Path(
        "reports"
    ),
    as_json: JsonOption = False,
) -> None:
    """Build the monthly workbook and page; without logs, of the bundled sample."""
    from pipeline.engines import builder_of
    from pipeline.job import make_report
    from pipeline.monthly import months
    from pipeline.monthly.workspace_run import logged_run
    from pipeline.settings import require_language

    require_month(month)
    settings = settings_of(config, usage, assume)
    if lang is not None:
        require_language("--lang", lang)
        settings = replace(settings, lang=lang)
    if settings.is_generated_sample:
        warn("the logs are the bundled sample, whose data are generated, not real")
    build = builder_of(engine, spark_master, is_workspace=settings.warehouse is not None)
    if settings.warehouse is None:
        say_made(make_report(settings, month, out, tell, build=build), as_json=as_json)
        return
    with logged_run(settings, "report", month, tell, calls=True) as run:
        made = months.report(settings, month, out, tell)
        run.take(made)
        say_made(made, as_json=as_json)


@app.command(
    epilog="Example: joulebook ingest logs/*.jsonl.gz --json · "
    "joulebook ingest --config joulebook.toml --to usage"
)
def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH…]", help="Files, folders or globs; those of the settings."),
    ] = None,
    load: Annotated[
        bool,
        typer.Option("--load", help="Add them, else the inputs of the settings, to the workspace."),
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Add the usage, normalised, to this folder."),
    ] = None,
    assume: AssumeOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is in some log files: form, rows, reasons, tokens, models; or load them."""
    from pipeline import manifest
    from pipeline.ingest.summary import summarise, text_of

    if load and to is not None:
        raise WrongUseError("ingest: expected --load or --to, found both.")
    if load:
        entries = _load(workspace_settings(config, paths, assume))
    elif not paths and to is None:
        raise WrongUseError("ingest: expected PATH …, found none.")
    else:
        entries = summarise(settings_of(config, paths, assume, sample=False), tell, to)
    if as_json:
        print(manifest.to_json(entries), end="")
        return
    for entry in entries:
        print(text_of(entry))


def _load(settings: "Settings") -> list[dict[str, Any]]:
    from pipeline.monthly.corrections import settle_closed
    from pipeline.monthly.workspace_load import load_files
    from pipeline.monthly.workspace_run import logged_run
    from pipeline.settings import WAREHOUSE

    with logged_run(settings, "ingest", None, tell, calls=False) as run:
        loaded = load_files(settings, tell)
        settings = replace(settings, warehouse=settings.folder / WAREHOUSE)  # it is there now
        new = sum(entry["state"] == "loaded" for entry in loaded.entries)
        run.summary = f"{new} of {len(loaded.entries)} files loaded"
        for note in settle_closed(settings, loaded.months):
            warn(note)
    return loaded.entries


@app.command(epilog="Example: joulebook estimate --model Qwen/Qwen3-8B --input 900 --output 300")
def estimate(
    model: Annotated[str, typer.Option(metavar="M", help="Model id or alias.")],
    input_tokens: Annotated[int, typer.Option("--input", metavar="N", help="Input tokens in all.")],
    output_tokens: Annotated[int, typer.Option("--output", metavar="M", help="Output tokens.")],
    cached_tokens: Annotated[
        int, typer.Option("--cached", metavar="K", help="Input tokens read from a prefix cache.")
    ] = 0,
    batch: Annotated[
        float | None, typer.Option(metavar="B", help="Requests served together; 1 if not given.")
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="G", help="GPU, such as H200-SXM.")] = None,
    stack: Annotated[str | None, typer.Option(metavar="S", help="Serving stack.")] = None,
    gpus: Annotated[int | None, typer.Option(metavar="COUNT", help="GPUs of one replica.")] = None,
    law: Annotated[str, typer.Option(metavar="NAME", help="simple, or a law of `law list`.")] = (
        "simple"
    ),
    arch: Annotated[
        str | None,
        typer.Option(metavar="K=V,…", help="What if: layers, hidden, heads, kv_heads, …"),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate energy, cost and carbon of one request, without logs."""
    from pipeline import manifest
    from pipeline.estimate import Question, text_of
    from pipeline.estimate import estimate as answer_of

    question = Question(
        model=model,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_tokens=cached_tokens,
        batch=1.0 if batch is None else batch,
        gpu=gpu,
        stack=stack,
        gpu_count=gpus,
        law=law,
        architecture=_pairs("--arch", arch),
    )
    answer = answer_of(settings_of(config, None, None, sample=False), question)
    if batch is None:
        warn("batch 1 is assumed (--batch not given); batch moves energy by 10 to 100 times")
    if not answer.pop("is_own_set") and answer["coefficient_set_id"]:
        warn(
            f"{answer['gpu']} has no coefficients of its own; those of "
            f"{answer['coefficient_set_id']} are borrowed, which was measured to be 20 to 26 % off"
        )
    if answer["effective_batch"] < answer["batch"]:
        warn(
            f"batch {answer['effective_batch']:g} is computed: no more requests of this length "
            "fit beside the weights"
        )
    if answer.pop("is_beyond_context"):
        warn("the request is longer than the model's stated context")
    print(manifest.to_json(answer) if as_json else text_of(answer), end="")


@app.command(
    epilog="Example: joulebook models --prices gpt-5-mini · "
    "joulebook models --add config.json --id acme/chat-8b --params-b 8.03"
)
def models(
    prices: Annotated[
        str | None, typer.Option(metavar="M", help="Show the dated list prices of a model.")
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add the model of this config.json to your overlay."),
    ] = None,
    model_id: Annotated[
        str | None, typer.Option("--id", metavar="NAME", help="The id it gets; with --add.")
    ] = None,
    params_b: Annotated[
        float | None,
        typer.Option(metavar="B", help="All its parameters in billions, as published; with --add."),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the catalog, show the list prices of one model, or add a model of your own."""
    from pipeline import catalog, manifest

    settings = settings_of(config, None, None, sample=False, makes_overlays=add is not None)
    if add or model_id or params_b is not None:
        if add is None or model_id is None or prices:
            raise WrongUseError("models: expected --add FILE and --id NAME together, and no more.")
        _add_model(settings, add, model_id, params_b, as_json)
        return
    rows = catalog.price_rows(settings, prices) if prices else catalog.model_rows(settings)
    if as_json:
        print(manifest.to_json(rows), end="")
    elif prices:
        for row in rows:
            print(catalog.price_line(row))
    else:
        for row in rows:
            basis = row["architecture_id"] and row["architecture_class"]
            print(f"{row['model_id']}  {basis or 'stand-ins: ' + row['stand_in_tier']}")


def _add_model(
    settings: "Settings", file: Path, model_id: str, params_b: float | None, as_json: bool
) -> None:
    from pipeline import manifest
    from pipeline.add_model import add_model, summary

    answer = add_model(settings, file, model_id, params_b)
    for note in answer["notes"]:
        warn(note)
    if answer["is_replacement"]:
        warn(f"{answer['model_id']} was in the catalog; the row of your overlay takes its place")
    print(manifest.to_json(answer) if as_json else summary(answer), end="")


@app.command(epilog="Example: joulebook doctor --config joulebook.toml")
def doctor(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Check versions, bundled files, reference tables and settings."""
    from pipeline import manifest
    from pipeline.doctor import examine

    rows = examine(settings_of(config, None, None))
    if as_json:
        print(manifest.to_json(rows), end="")
    else:
        for row in rows:
            print(f"{'✓' if row['is_ok'] else '✗'} {row['name']}: {row['found']}")
    if not all(row["is_ok"] for row in rows):
        raise JoulebookError("something above is not as it should be")


def _pairs(option: str, text: str | None) -> dict[str, str]:
    pairs = [part.partition("=") for part in (text or "").split(",") if part.strip()]
    for key, sign, value in pairs:
        if not sign or not value.strip():
            raise WrongUseError(f"{option} {key}: expected key=value.")
    return {key.strip(): value.strip() for key, _, value in pairs}
