"""What a closed month rests on and what it said, in one folder: `closed/<month>/<issue>`.

`reference` holds every table a run reads beside the logs, `record.json` the settings, the files
that count and the totals, `report` what was issued. The rows of logs stay in the warehouse.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from pipeline import job, manifest, warehouse
from pipeline.ingest.columns import literal
from pipeline.ingest.files import begins_with
from pipeline.monthly import workspace_rows
from pipeline.monthly.closed_record import frozen_files, read_record
from pipeline.monthly.frozen import freeze
from pipeline.monthly.workspace import require_workspace
from pipeline.overlays.sheets import overlay_files
from pipeline.reference import load_reference
from pipeline.settings import Deployment, Frozen, Input, Settings

TARGETS = ("mart_cost_bridge", "mart_month_total", "int_group_costs", "int_group_energy")


@dataclass(frozen=True)
class Totals:
    """A month in three figures; None where nothing is known."""

    cost_usd: Decimal | None
    facility_energy_kwh: Decimal | None
    carbon_gco2e: Decimal | None


MEASURES = tuple(Totals.__dataclass_fields__)


def folder_of(settings: Settings, month: str, issue: str) -> Path:
    """Return where an issue of a month stands."""
    return settings.folder / "closed" / month / issue


def frozen_of(settings: Settings) -> Frozen:
    """Return what the settings of a closed month rest on."""
    if settings.frozen is None:
        raise ValueError("settings of a closed month name what is frozen")
    return settings.frozen


def freeze_month(settings: Settings, month: str, issue: str, folder: Path) -> Settings:
    """Write what a month rests on today into a folder; return the settings that read it there."""
    con = warehouse.connect(None, settings.memory_limit_gb)
    try:
        load_reference(con, settings)
        freeze(con, folder / "reference")
        keys = workspace_rows.chosen_keys(con, require_workspace(settings), month, None)
        path = literal(str(folder / "corrections.parquet"))
        con.execute(f"copy (from raw_corrections order by all) to {path} (format parquet)")
    finally:
        con.close()
    overlays = folder / "overlays"
    overlays.mkdir()
    for file in overlay_files(settings.overlay_folder):
        shutil.copyfile(file, overlays / file.name)
    return replace(settings, overlay_folder=overlays, frozen=Frozen(folder, issue, keys))


def write_record(settings: Settings, month: str, event: Mapping[str, str], totals: Totals) -> None:
    """Write down what was issued, beside the report that stands in the folder already."""
    frozen = frozen_of(settings)
    issued = frozen.folder / "report" / "manifest.json"
    record = {
        "event": event,
        "settings": manifest.shown_settings(settings),
        "input_keys": frozen.input_keys,
        "bridge": frozen.bridge,
        "totals": {name: _text(getattr(totals, name)) for name in MEASURES},
        "files": frozen_files(frozen.folder),
        "manifest_sha256": hashlib.sha256(issued.read_bytes()).hexdigest(),
    }
    text = manifest.to_json(record)
    (frozen.folder / "record.json").write_text(text, encoding="utf-8", newline="\n")


def thawed(settings: Settings, month: str, issue: str) -> Settings:
    """Return the settings under which an issue was made.

    Raises:
        BadInputError: Where its record cannot be read, or what was frozen is not as it was.
    """
    folder = folder_of(settings, month, issue)
    record = read_record(folder)
    said = dict(record["settings"])
    said["inputs"] = tuple(Input(**each) for each in said["inputs"])
    said["deployments"] = tuple(Deployment(**each) for each in said["deployments"])
    return Settings(
        **said,
        folder=settings.folder,
        warehouse=settings.warehouse,
        overlay_folder=folder / "overlays",
        frozen=Frozen(folder, issue, tuple(record["input_keys"]), tuple(record["bridge"])),
    )


def missing_inputs(con: duckdb.DuckDBPyConnection, frozen: Frozen) -> list[dict[str, Any]]:
    """Return what its manifest says of the files that an issue rests on and a warehouse lacks."""
    rows = con.execute(
        "select unnest($keys::varchar[]) except select input_key from raw_inputs",
        {"keys": list(frozen.input_keys)},
    ).fetchall()
    missing = {row[0] for row in rows}
    issued = frozen.folder / "report" / "manifest.json"
    told = json.loads(issued.read_text(encoding="utf-8"))["inputs"]  # in the order of the keys
    return [each for key, each in zip(frozen.input_keys, told, strict=True) if key in missing]


def lost_inputs(con: duckdb.DuckDBPyConnection, settings: Settings, frozen: Frozen) -> list[str]:
    """Return the names of those files whose rows a warehouse lacks.

    A log that has grown since holds the rows of what it was, so it is none of them.
    """
    live = {
        row[0]
        for row in con.execute(
            "select source_file from raw_inputs where replaced_by is null"
        ).fetchall()
    }
    return [
        each["name"]
        for each in missing_inputs(con, frozen)
        if each["name"] not in live
        or not begins_with(settings.folder / each["name"], each["size_bytes"], each["sha256"])
    ]


def issued_totals(folder: Path) -> Totals:
    """Return the totals that an issue states."""
    said = read_record(folder)["totals"]
    return Totals(**{name: None if said[name] is None else Decimal(said[name]) for name in said})


def build_totals(
    settings: Settings, month: str, read: Callable[[duckdb.DuckDBPyConnection, str], Any]
) -> Any:  # noqa: ANN401  # whatever is read
    """Build what the totals of a month rest on, and return what is read of it."""
    with tempfile.TemporaryDirectory(dir=settings.folder, prefix=".building-") as aside:
        con = warehouse.connect(Path(aside) / "warehouse.duckdb", settings.memory_limit_gb)
        try:
            job.load_month(con, settings, lambda text: None, month)
            warehouse.build(con, TARGETS)
            return read(con, month)
        finally:
            con.close()


def totals_of(con: duckdb.DuckDBPyConnection, month: str) -> Totals:
    """Return the totals of a month from its built warehouse."""
    cost = con.execute(
        "select cost_usd from mart_cost_bridge where month = $month and step_id = '14'",
        {"month": month},
    ).fetchall()
    rest = con.execute(
        "select facility_energy_kwh::decimal(38, 9), carbon_gco2e::decimal(38, 9) "
        "from mart_month_total where month = $month and total_kind = 'month'",
        {"month": month},
    ).fetchall()
    return Totals(cost[0][0] if cost else None, *(rest[0] if rest else (None, None)))


def _text(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")
