"""What several commands share: options, the settings they mean, notes and progress."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.errors import WrongUseError

if TYPE_CHECKING:
    from pipeline.job import Finished
    from pipeline.settings import Settings

UsageOption = Annotated[
    list[str] | None,
    typer.Option("--usage", metavar="PATH", help="Log file, folder or glob; may be repeated."),
]
AssumeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assume",
        metavar="KEY=VALUE,…",
        help="What the logs do not say: model, provider, class, team, start, batch, gpu, stack.",
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings (joulebook.toml).")
]
ZoneOption = Annotated[
    str, typer.Option("--zone", metavar="ZONE", help="Zone of times in logs without one.")
]
RunsZoneOption = Annotated[
    str, typer.Option("--runs-zone", metavar="ZONE", help="Zone of runs that name none.")
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Columns of a log without heads, as nvidia-smi has."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON value on standard output.")]


def settings_of(
    config: Path | None,
    usage: list[str] | None,
    assume: list[str] | None,
    *,
    sample: bool = True,
    makes_overlays: bool = False,
) -> "Settings":
    """Return the settings that a command runs under.

    A settings file named wins; else, where no logs are named, `joulebook.toml` here; else the
    bundled sample, or nothing for commands that read no logs.
    """
    from pipeline.settings import Input, Settings, bundled, parse_assume, read_settings

    told = {key: value for text in assume or [] for key, value in parse_assume(text).items()}
    here = Path("joulebook.toml")
    if config is not None:
        settings = read_settings(config, makes_overlays=makes_overlays)
    elif usage:
        settings = Settings()
    elif here.is_file():
        settings = read_settings(here, makes_overlays=makes_overlays)
    elif sample:
        settings = read_settings(bundled("data/sample/joulebook.toml"))
    else:
        settings = Settings()
    if usage:
        return replace(
            settings,
            folder=Path(),
            warehouse=None,
            inputs=tuple(Input(path, told) for path in usage),
        )
    return replace(
        settings,
        inputs=tuple(Input(each.path, {**each.assume, **told}) for each in settings.inputs),
    )


def workspace_settings(
    config: Path | None, paths: list[str] | None, assume: list[str] | None
) -> "Settings":
    """Return the settings of the workspace here, or of `config`, with the inputs that are named.

    Raises:
        WrongUseError: Where there is no workspace, or nothing to load.
    """
    from pipeline.settings import Input, parse_assume

    settings = settings_of(config or Path("joulebook.toml"), None, assume)
    if paths:
        told = {key: value for text in assume or [] for key, value in parse_assume(text).items()}
        inputs = tuple(Input(_from_folder(path, settings.folder), told) for path in paths)
        settings = replace(settings, inputs=inputs)
    if not settings.inputs:
        raise WrongUseError("ingest: expected PATH …, or [[inputs]] in the settings, found none.")
    return settings


def _from_folder(path: str, folder: Path) -> str:
    """Return a path of the command line as seen from a workspace, where reports show it."""
    whole, root = Path(path).absolute(), folder.absolute()
    if root == Path.cwd():
        return path
    return str(whole.relative_to(root) if whole.is_relative_to(root) else whole)


def say_made(made: "Finished", *, as_json: bool) -> None:
    """Say what a report left out, what stands out in it, and where it is."""
    from pipeline import manifest
    from pipeline.job import left_out, text_of
    from pipeline.limits import unresolved_notes

    for text in (*left_out(made), *unresolved_notes(made.marts["mart_unresolved_models"])):
        warn(text)
    for check in made.warnings:
        claim = check.name.replace("_", " ")
        warn(f"{check.violation_count} rows go against '{claim}': {check.meaning}")
    if as_json:
        answer = {"month": made.month, "out_dir": made.out_dir.as_posix(), "marts": made.marts}
        print(manifest.to_json(answer), end="")
    else:
        print(text_of(made))


def require_month(month: str | None) -> None:
    """Refuse what is no month.

    Raises:
        WrongUseError: Where it is not written YYYY-MM.
    """
    if month is not None and not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
        raise WrongUseError(f"--month {month}: expected YYYY-MM, such as 2026-10.")


def tell(text: str) -> None:
    """Show notes always, and progress where somebody looks on."""
    if text.startswith("note: "):
        warn(text.removeprefix("note: "))
    elif sys.stderr.isatty():
        print(f"\r\033[K{text} …", end="", file=sys.stderr, flush=True)


def warn(text: str) -> None:
    """Show a note on standard error."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(f"joulebook: note: {inert(text)}", file=sys.stderr)


def inert(text: str) -> str:
    """Return a text without signs that steer a terminal or turn text round: names are of logs."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "\ufffd", text)
