"""Put finished folders in place by one rename, and replace nothing that is not ours."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipeline.errors import WrongUseError
from pipeline.settings import Settings

ASIDE = ".building-"  # begins the name of a folder that is being built
_OLD = ".old-"


def make_folder(out: Path) -> None:
    """Make the folder of all reports.

    Raises:
        WrongUseError: Where it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUseError(
            f"{out}: cannot be made: {error.strerror}. Give another --out."
        ) from None


def clear_killed(out: Path) -> None:
    """Clear away what a killed run left, and put back a report that it was about to replace."""
    for left in out.glob(f"{ASIDE}*"):
        shutil.rmtree(left, ignore_errors=True)
    for old in out.glob(f"{_OLD}*"):
        target = old.with_name(old.name.removeprefix(_OLD))
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(target)


@contextmanager
def building(out: Path, *, clears: bool) -> Iterator[Path]:
    """Give a folder aside in the folder of all reports, gone at the end; make that one if need be.

    Where it `clears`, what killed runs left goes first: only while a lock keeps other runs away.

    Raises:
        WrongUseError: Where the disk does not take what is written.
    """
    make_folder(out)
    try:
        if clears:
            clear_killed(out)
        with tempfile.TemporaryDirectory(dir=out, prefix=ASIDE) as aside:
            yield Path(aside)
    except (OSError, duckdb.Error) as error:
        why = disk_fault(error)
        if why is None:
            raise
        raise WrongUseError(
            f"{out}: the report cannot be written: {why}. Give another --out, or make room."
        ) from None


def disk_fault(error: OSError | duckdb.Error) -> str | None:
    """Return what a disk had against a file, None where an error is of another kind."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error).splitlines()[0]
    is_of_disk = isinstance(error, duckdb.IOException) or "Could not write" in text
    return text if is_of_disk else None


def require_replaceable(target: Path, settings: Settings) -> None:
    """Refuse to replace what no report of ours made, or a real report by the sample's.

    Raises:
        WrongUseError: Naming what stands there.
    """
    if not target.exists() and not target.is_symlink():
        return
    manifest_path = target / "manifest.json"
    try:
        made = json.loads(manifest_path.read_text(encoding="utf-8"))
        names = {each["name"] for each in made["outputs"]} | {"manifest.json"}
        is_sample = bool(made["is_generated_sample"])
    except (OSError, ValueError, KeyError, TypeError):
        raise WrongUseError(
            f"{target}: stands there already and is no report, so it is not replaced. Give "
            "another --out, or move it away."
        ) from None
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    if foreign := sorted(files - names):
        raise WrongUseError(
            f"{target}: holds {foreign[0]}, which no report made, so it is not replaced. Give "
            "another --out, or move that file away."
        )
    if settings.is_generated_sample and not is_sample:
        raise WrongUseError(
            f"{target}: holds a report of real usage; the sample's does not replace it. Give "
            "another --out."
        )


def put_in_place(folder: Path, target: Path) -> None:
    """Put a finished folder in its place; the old one stays whole until the new one is there."""
    old = target.with_name(f"{_OLD}{target.name}")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    folder.rename(target)
    shutil.rmtree(old, ignore_errors=True)
