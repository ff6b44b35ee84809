"""Find the files behind the paths, folders and globs that a user gives."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import WrongUseError
from pipeline.ingest.usage_folder import INPUTS, is_usage_folder
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


def begins_with(path: Path, size: int, sha256: str) -> bool:
    """Say whether a file is there and its first bytes, so many, have this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.sha256(file.read(size)).hexdigest() == sha256


def _expand(each: Input, folder: Path) -> list[LogFile]:
    root = folder / each.path
    # A name may hold these signs, such as the "usage[1].csv" of a browser: what is there wins.
    if any(sign in each.path for sign in "*?[") and not root.exists():
        base = Path(each.path).anchor or folder
        pattern = each.path.removeprefix(Path(each.path).anchor)
        found = sorted(path for path in Path(base).glob(pattern) if path.is_file())
        named = False
    elif is_usage_folder(root):
        found, named = [root], True  # is read as one
    elif root.is_dir():
        found, named = sorted(path for path in root.rglob("*") if path.is_file()), False
    elif root.is_file():
        found, named = [root], True
    else:
        raise WrongUseError(f"{each.path}: no such file or folder. Check the path.")
    if not found:
        raise WrongUseError(f"{each.path}: no file there. Check the path or pattern.")
    for path in found:
        if path.parent.name == INPUTS and not is_usage_folder(root):
            raise WrongUseError(
                f"{each.path}: holds the normalised usage {path.parent.parent}; give it by its "
                "own name, and the logs by theirs."
            )
    return [LogFile(path, _shown(path, folder), each.assume, named) for path in found]


def _shown(path: Path, folder: Path) -> str:
    """Return the path as the user wrote it, or relative to the settings file."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
