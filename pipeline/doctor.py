"""Is this machine fit for the job? Versions, bundled files, reference tables, memory limit."""

import importlib.metadata
import platform
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import duckdb

from pipeline import __version__, warehouse
from pipeline.errors import JoulebookError
from pipeline.overlays.sheets import overlay_files
from pipeline.reference import TABLES, load_reference
from pipeline.settings import PLACES, Settings, bundled

_PACKAGES = (
    *("duckdb", "polars", "pyarrow", "jinja2", "openpyxl", "matplotlib", "scipy", "sympy", "typer"),
)


def examine(settings: Settings) -> list[dict[str, Any]]:
    """Return what was looked at, each with `name`, `is_ok` and `found`."""
    rows = [
        {"name": "joulebook", "is_ok": True, "found": __version__},
        {
            "name": "python",
            "is_ok": sys.version_info >= (3, 11),
            "found": f"{platform.python_version()} (3.11 or newer is needed)",
        },
        *(_package(name) for name in _PACKAGES),
        _folder("sql"),
        _folder("templates"),
        _folder("data/sample"),
        _reference(settings),
    ]
    return [*rows, *_settings(settings)]


def _package(name: str) -> dict[str, Any]:
    try:
        return {"name": name, "is_ok": True, "found": importlib.metadata.version(name)}
    except importlib.metadata.PackageNotFoundError:
        return {"name": name, "is_ok": False, "found": "not installed; run `make report` again"}


def _folder(name: str) -> dict[str, Any]:
    count = sum(path.is_file() for path in bundled(name).rglob("*"))
    return {"name": f"bundled {name}", "is_ok": count > 0, "found": f"{count} files"}


def _reference(settings: Settings) -> dict[str, Any]:
    try:
        con = warehouse.connect(None, settings.memory_limit_gb, threads=1)
        load_reference(con, settings)
        counts = [
            con.execute(f"select count(*) from raw_{table}").fetchall()[0][0] for table in TABLES
        ]
    except (duckdb.Error, JoulebookError) as error:
        return {"name": "reference tables", "is_ok": False, "found": str(error).splitlines()[0]}
    return {
        "name": "reference tables",
        "is_ok": all(counts),
        "found": f"{len(TABLES)} tables, {sum(counts)} rows",
    }


def _settings(settings: Settings) -> list[dict[str, Any]]:
    return [
        {"name": f"setting {each.name}", "is_ok": True, "found": _shown(settings, each.name)}
        for each in fields(settings)
        if each.name not in PLACES
    ]


def _shown(settings: Settings, name: str) -> str:
    value = getattr(settings, name)
    if name == "overlay_folder":
        return f"{value.as_posix()}, {len(overlay_files(value))} files"
    if isinstance(value, tuple | Mapping):
        return f"{len(value)} given"
    return "not given" if value in (None, "") else str(value)
