"""Find the files behind the paths, folders and globs that a user gives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import WrongUseError
from pipeline.settings import Input


@dataclass(frozen=True)
class LogFile:
    """One file to read: its path, the name that reports show, and what to assume."""

    path: Path
    shown: str
    assume: Mapping[str, str]
    is_named: bool  # by the user, not met in a folder or glob


def find_files(inputs: Iterable[Input], folder: Path) -> list[LogFile]:
    """Return the files behind paths, folders and globs, sorted within each input.

    Raises:
        WrongUseError: Where a path leads to nothing.
    """
    return [file for each in inputs for file in _expand(each, folder)]


def _expand(each: Input, folder: Path) -> list[LogFile]:
    root = folder / each.path
    # A name may hold these signs, such as the "usage[1].csv" of a browser: what is there wins.
    if any(sign in each.path for sign in "*?[") and not root.exists():
        base = Path(each.path).anchor or folder
        pattern = each.path.removeprefix(Path(each.path).anchor)
        found = sorted(path for path in Path(base).glob(pattern) if path.is_file())
        named = False
    elif root.is_dir():
        found, named = sorted(path for path in root.rglob("*") if path.is_file()), False
    elif root.is_file():
        found, named = [root], True
    else:
        raise WrongUseError(f"{each.path}: no such file or folder. Check the path.")
    if not found:
        raise WrongUseError(f"{each.path}: no file there. Check the path or pattern.")
    return [LogFile(path, _shown(path, folder), each.assume, named) for path in found]


def _shown(path: Path, folder: Path) -> str:
    """Return the path as the user wrote it, or relative to the settings file."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
