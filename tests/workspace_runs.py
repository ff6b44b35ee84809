"""Run joulebook in the folder of a workspace, and look at what it left there."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from pipeline.cli import app


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(folder: Path, *words: str) -> Ran:
    """Run joulebook in a folder, in this process."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, list(words))
    error = result.exception
    code = getattr(error, "exit_code", result.exit_code)
    if error and not hasattr(error, "exit_code") and not isinstance(error, SystemExit):
        raise error
    return Ran(code, result.stdout, f"{result.stderr}{error or ''}")


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
