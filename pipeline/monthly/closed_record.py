"""What was written down of a closed month, held against the files that it rests on."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError

_KEYS = ("event", "settings", "input_keys", "bridge", "totals", "manifest_sha256")
_REOPENED = "reopened.json"
_RESTS_ON = ("reference/*", "overlays/*", "*.parquet")


def frozen_files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that an issue rests on, by its path within the folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in _RESTS_ON
        for path in sorted(folder.glob(pattern))
    }


def read_record(folder: Path) -> dict[str, Any]:
    """Return what was written down of an issue.

    Raises:
        BadInputError: Where it is not there or cannot be read, or a file that the issue rests on
            is not as it was.
    """
    path = folder / "record.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in _KEYS if key not in record]
    except (OSError, ValueError, TypeError) as error:
        raise _fault(path, "the record of a closed month", str(error)) from None
    if missing or not isinstance(record, Mapping):
        raise _fault(path, "the record of a closed month", f"one without {', '.join(missing)}")
    found = frozen_files(folder)
    for name, sha256 in record.get("files", {}).items():  # issues of before have no such list
        if found.get(name) != sha256:
            what = "another one" if name in found else "none"
            raise _fault(folder / name, "the file that was frozen", what)
    return dict(record)


def events_of(root: Path) -> list[dict[str, str]]:
    """Return what the folder `closed` of a workspace says became of its months, in order."""
    events = []
    for folder in _issues(root):
        events.append(read_record(folder)["event"])
        reopened = folder / _REOPENED
        if reopened.exists():
            events.append(json.loads(reopened.read_text(encoding="utf-8")))
    return events


def closed_folders(root: Path) -> dict[str, Path]:
    """Return the folder of the issue that holds, of every month that is closed, by its records."""
    last = {folder.parent.name: folder for folder in _issues(root)}
    return {month: at for month, at in last.items() if not (at / _REOPENED).exists()}


def note_reopened(folder: Path, event: Mapping[str, str]) -> None:
    """Write down that an issue does not hold any more, beside it: a warehouse may be lost."""
    text = json.dumps(event, ensure_ascii=False)
    (folder / _REOPENED).write_text(f"{text}\n", encoding="utf-8")


def _issues(root: Path) -> list[Path]:
    """Return the folder of every issue, by month and number."""
    folders = [path.parent for path in root.glob("closed/*/R*/record.json")]
    return sorted(folders, key=lambda each: (each.parent.name, int(each.name[1:])))


def _fault(path: Path, expected: str, found: str) -> BadInputError:
    return BadInputError(
        f"{path}: expected {expected}, found: {found}. Restore the folder from a "
        "backup; without one, load the logs into a new workspace."
    )
