"""Prove a report against its manifest: what was written, what it rests on, and that rows add up."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError, WrongUseError
from pipeline.ingest.files import begins_with


def verify(folder: Path, inputs: Path) -> list[dict[str, Any]]:
    """Return a row for each thing looked at: `kind`, `name`, `status` and what was found.

    `status` is `same`, `different`, `missing` or, of inputs, `grown` (it begins with what it was)
    or `not here`.

    Args:
        folder: The folder of one report.
        inputs: Where the names of inputs start.

    Raises:
        WrongUseError: Where there is no manifest that can be read.
    """
    path = folder / "manifest.json"
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        rows = [_file("output", folder, each, "missing") for each in made["outputs"]]
        names = {each["name"] for each in made["outputs"]} | {"manifest.json"}
        rows += [_file("input", inputs, each, "not here") for each in made["inputs"]]
        rows += [_sum(each) for each in made["inputs"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongUseError(
            f"{path}: expected the manifest of a report, found: {error}. Give the folder of one "
            "month, such as reports/2026-10."
        ) from None
    foreign = sorted(
        each.relative_to(folder).as_posix()
        for each in folder.rglob("*")
        if each.is_file() and each.relative_to(folder).as_posix() not in names
    )
    return rows + [
        {"kind": "output", "name": name, "status": "different", "found": "in no manifest"}
        for name in foreign
    ]


def text_of(folder: Path, rows: list[dict[str, Any]]) -> list[str]:
    """Return what was found as lines for people: faults one by one, the rest counted."""
    lines = [
        f"✗ {row['kind']} {row['name']}: {row['status']}, {row['found']}"
        for row in rows
        if row["status"] in ("different", "missing")
    ]
    counted = {
        kind: [row["status"] for row in rows if row["kind"] == kind]
        for kind in ("output", "input", "rows")
    }
    lines.append(
        f"{folder.as_posix()}: {counted['output'].count('same')} of {len(counted['output'])} "
        f"outputs and {counted['input'].count('same')} of {len(counted['input'])} inputs are the "
        f"same, {counted['input'].count('grown')} have grown since and "
        f"{counted['input'].count('not here')} are not here; rows in = rows out in "
        f"{counted['rows'].count('same')} of {len(counted['rows'])} files"
    )
    return lines


def require_sound(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Stop where something differs.

    Raises:
        BadInputError: Naming the first thing that does.
    """
    faults = [row for row in rows if row["status"] in ("different", "missing")]
    if faults:
        first = faults[0]
        raise BadInputError(
            f"{folder}: {len(faults)} of {len(rows)} things differ from its manifest, first "
            f"{first['kind']} {first['name']} ({first['status']})."
        )


def _file(kind: str, root: Path, told: dict[str, Any], if_absent: str) -> dict[str, Any]:
    path = root / told["name"]
    if not path.is_file():
        return {"kind": kind, "name": told["name"], "status": if_absent, "found": "no such file"}
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    status = "same" if sha256 == told["sha256"] else "different"
    if (
        status == "different"
        and kind == "input"
        and begins_with(path, told["size_bytes"], told["sha256"])
    ):
        status = "grown"  # as a log does that is written on
    return {"kind": kind, "name": told["name"], "status": status, "found": f"sha256 {sha256}"}


def _sum(told: dict[str, Any]) -> dict[str, Any]:
    parts = [told[f"rows_{what}"] for what in ("accepted", "rejected", "duplicate")]
    status = "same" if sum(parts) == told["rows_read"] else "different"
    found = f"{told['rows_read']} read, {' + '.join(map(str, parts))} accounted for"
    return {"kind": "rows", "name": told["name"], "status": status, "found": found}
