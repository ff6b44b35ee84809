"""`joulebook law`: the laws, their coefficients from measurements, and their errors."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.commands.parts import inert

if TYPE_CHECKING:
    from pipeline.validation.measurements import Reading

# What is imported here `joulebook --help` waits for: everything else where it is used.

law_app = typer.Typer(
    help="The energy laws: what they are, how wrong they are, and fits of your own.",
    no_args_is_help=True,
)

MeasurementsOption = Annotated[
    Path | None,
    typer.Option("--measurements", metavar="FILE", help="CSV of measured energies, .gz or plain."),
]
ModelsOption = Annotated[
    Path | None,
    typer.Option(
        "--models",
        metavar="FILE",
        help="CSV of shapes that the catalog has not; model_configs.csv beside the measurements.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON value on standard output.")]


@law_app.command("list", epilog="Example: joulebook law list --json")
def list_laws(as_json: JsonOption = False) -> None:
    """List the law and its rivals: source, constants, domain, what each ignores."""
    from pipeline.law_list import described

    laws = described()
    if as_json:
        _print_json(laws)
        return
    for each in laws:
        print(f"{each['law']}: {each['title']}")
        for name in ("source", "domain", "ignores"):
            print(f"  {name}: {each[name]}")


@law_app.command(
    "fit", epilog="Example: joulebook law fit --measurements runs.csv --gpu H200-SXM --dense"
)
def fit_law(
    measurements: Annotated[
        Path,
        typer.Option(
            "--measurements",
            metavar="FILE",
            help="CSV with model, gpu, n_in, n_out, batch, energy_j_req (J per request) and, "
            "if need be, dataset, stack, n_gpus, quant, phase, kv_cache.",
        ),
    ],
    gpu: Annotated[str | None, typer.Option(metavar="G", help="Only rows of this GPU.")] = None,
    stack: Annotated[str | None, typer.Option(metavar="S", help="Only of this stack.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="D", help="Only of this data set.")] = None,
    dense: Annotated[bool, typer.Option("--dense", help="Only dense models in 16 bits.")] = False,
    form: Annotated[
        str | None,
        typer.Option(metavar="F", help="Step cost: layer, step or both; the better if not given."),
    ] = None,
    models: ModelsOption = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Settings whose overlay folder names models of your own; joulebook.toml here.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit the law's coefficients to measured energies, with intervals and a row to paste."""
    from pipeline.validation import fit_answer
    from pipeline.validation.fit import fit, require_form
    from pipeline.validation.measurements import Subset, read_measurements

    require_form(form)
    reading = read_measurements(
        measurements,
        Subset(dataset, gpu, stack, dense),
        models,
        overlay_folder=_overlay_folder(config),
    )
    _tell_left_out(reading)
    found = fit_answer.answer(reading, fit(reading.rows, form))
    for note in found["notes"]:
        _note(note)
    if as_json:
        _print_json(found)
    else:
        print(fit_answer.as_text(found), end="")


@law_app.command(
    "validate", epilog="Example: joulebook law validate --measurements runs.csv --json"
)
def validate_laws(
    measurements: MeasurementsOption = None,
    models: ModelsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show every law's error on every data set; with --measurements, on yours."""
    from pipeline.validation import validate

    if measurements is None:
        rows = validate.stored_rows()
    else:
        from pipeline.validation.coefficient_faults import all_coefficient_faults

        reading = validate.judged_reading(measurements, models)
        _tell_left_out(reading)
        for fault in all_coefficient_faults(reading.rows):
            _note(f"stored coefficients disagree with their rows: {fault}")
        rows = validate.judge(reading.rows)
    if as_json:
        _print_json(rows)
    else:
        print(validate.as_text(rows), end="")


def _overlay_folder(config: Path | None) -> Path | None:
    from pipeline.settings import read_settings

    here = Path("joulebook.toml")
    path = here if config is None and here.is_file() else config
    return None if path is None else read_settings(path).overlay_folder


def _tell_left_out(reading: "Reading") -> None:
    for rule, count in sorted(reading.left_out.items()):
        _note(f"{count} × left out: {rule}")
    if reading.unknown_models:
        names = ", ".join(sorted(reading.unknown_models))
        _note(f"not in the catalog (give their shapes with --models FILE): {names}")


def _note(text: str) -> None:
    print(f"joulebook: note: {inert(text)}", file=sys.stderr)


def _print_json(value: Any) -> None:  # noqa: ANN401  # JSON may be anything
    from pipeline import manifest

    print(manifest.to_json(value), end="")
