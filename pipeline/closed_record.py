"""What was written down of a closed month, held against the files that it rests on."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError

_KEYS = ("event", "settings", "input_keys", "bridge", "totals", "manifest_sha256")
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


def _fault(path: Path, expected: str, found: str) -> BadInputError:
    return BadInputError(
        f"{path}: expected {expected}, found: {found}. Restore the folder from a "
        "backup; without one, load the logs into a new workspace."
    )
