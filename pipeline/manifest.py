"""What a report rests on and what it is made of, so that anyone can prove both.

Deterministic: no clock, no machine, no path but the names that the user gave.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from pipeline import __version__
from pipeline.ingest.files import find_files
from pipeline.laws.simple import METHOD_VERSION
from pipeline.overlays.overlay import fingerprints
from pipeline.settings import PLACES, Input, Settings, bundled
from pipeline.warehouse import CheckResult

_PACKAGES = ("duckdb", "jinja2", "matplotlib", "openpyxl", "polars", "sympy")
_CODE = (
    ("sql", "*.sql"),
    ("templates", "*"),
    ("data/reference", "*.csv"),
)


def run_id(con: duckdb.DuckDBPyConnection, settings: Settings, month: str) -> str:
    """Return the hash of inputs, settings and code that names a run, 16 hex digits."""
    inputs = con.execute(
        "select source_file, content_sha256 from raw_inputs order by input_id"
    ).fetchall()
    overlays = fingerprints(settings.overlay_folder)
    parts = [
        month,
        issue(settings),
        inputs,
        shown_settings(settings),
        overlays,
        measured_files(settings),
        code_sha256(),
    ]
    said = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def issue(settings: Settings) -> str:
    """Return which issue of a month is made: R0, R1 … of a closed one, '' outside a workspace."""
    if settings.frozen is not None:
        return settings.frozen.issue
    return "preliminary" if settings.warehouse is not None else ""


def code_sha256() -> str:
    """Return one hash over all that decides a figure: code, SQL, templates, reference tables."""
    package = Path(__file__).parent
    files = [
        ("pipeline/" + path.relative_to(package).as_posix(), path)
        for path in sorted(package.rglob("*.py"))
    ]
    for folder, pattern in _CODE:
        root = bundled(folder)
        files += [
            (f"{folder}/{path.relative_to(root).as_posix()}", path)
            for path in sorted(root.rglob(pattern))
            if path.is_file()
        ]
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(f"{name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def made_with() -> dict[str, Any]:
    """Return what of the program decides a figure: method, code and packages."""
    return {
        "method_version": METHOD_VERSION,
        "code": {"version": __version__, "sha256": code_sha256()},
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
    }


def manifest(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    month: str,
    run_id: str,
    checks: Iterable[CheckResult],
    folder: Path,
) -> dict[str, Any]:
    """Return the manifest of a report whose files already stand in `folder`."""
    return {
        "run_id": run_id,
        "month": month,
        "issue": issue(settings),
        "is_generated_sample": settings.is_generated_sample,
        **made_with(),
        "settings": shown_settings(settings),
        "overlays": fingerprints(settings.overlay_folder),
        "measured": measured_files(settings),
        "inputs": _inputs(con),
        "checks": [
            {
                "name": check.name,
                "severity": check.severity,
                "status": check.status,
                "violation_count": check.violation_count,
            }
            for check in checks
        ],
        "outputs": _outputs(folder),
    }


def to_json(value: object) -> str:
    """Return a value as JSON text, money as decimal strings, times as ISO."""
    return json.dumps(value, indent=2, sort_keys=False, default=_plain, ensure_ascii=False) + "\n"


def _plain(value: object) -> str:
    return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)


def shown_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that decide a figure, by name."""
    said = asdict(settings)
    for name in (*PLACES, "overlay_folder", "on_success", "on_failure"):  # decide no figure
        del said[name]
    if settings.issued_before:
        said["issued_before"] = dict(settings.issued_before)
    return {key: said[key] for key in sorted(said)}


def measured_files(settings: Settings) -> list[dict[str, str]]:
    """Return name and hash of the power logs and runs that the settings name."""
    told = (
        *(settings.telemetry, settings.runs),
        *(settings.fleet_telemetry, settings.power_policies),
    )
    files = find_files([Input(path) for path in told if path], settings.folder)
    return [
        {"name": file.shown, "sha256": hashlib.sha256(file.path.read_bytes()).hexdigest()}
        for file in files
    ]


def _inputs(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    rows = con.execute("""
        select
            source_file, source_format, content_sha256, size_bytes, row_count,
            count(*) filter (where reject_reasons is null and not is_duplicate) as accepted,
            count(*) filter (where reject_reasons is not null) as rejected,
            count(*) filter (where is_duplicate) as duplicate,
            first_at, last_at
        from raw_inputs left join raw_usage using (input_id)
        group by
            raw_inputs.input_id, source_file, source_format, content_sha256, size_bytes, row_count,
            first_at, last_at
        order by raw_inputs.input_id
    """)
    names = (
        "name",
        "format",
        "sha256",
        "size_bytes",
        "rows_read",
        "rows_accepted",
        "rows_rejected",
        "rows_duplicate",
        "first_at",
        "last_at",
    )
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def _outputs(folder: Path) -> list[dict[str, Any]]:
    return [
        {
            "name": path.relative_to(folder).as_posix(),
            "size_bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
