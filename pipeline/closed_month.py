"""What a closed month rests on and what it said, in one folder: `closed/<month>/<issue>`.

`reference` holds every table a run reads beside the logs, `record.json` the settings, the files
that count and the totals, `report` what was issued. The rows of logs stay in the warehouse.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from pipeline import job, manifest, warehouse, workspace_rows
from pipeline.errors import BadInputError, ClosedMonthError
from pipeline.frozen import freeze
from pipeline.ingest.columns import literal
from pipeline.overlay_sheets import overlay_files
from pipeline.reference import load_reference
from pipeline.settings import Deployment, Frozen, Input, Settings
from pipeline.workspace import require_workspace

_COMPARED = ("code", "method_version", "packages", "settings", "overlays", "inputs", "outputs")
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
        "manifest_sha256": hashlib.sha256(issued.read_bytes()).hexdigest(),
    }
    text = manifest.to_json(record)
    (frozen.folder / "record.json").write_text(text, encoding="utf-8", newline="\n")


def thawed(settings: Settings, month: str, issue: str) -> Settings:
    """Return the settings under which an issue was made.

    Raises:
        BadInputError: Where its record cannot be read.
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


def read_record(folder: Path) -> dict[str, Any]:
    """Return what was written down of an issue.

    Raises:
        BadInputError: Where it is not there or cannot be read.
    """
    path = folder / "record.json"
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(
            f"{path}: expected the record of a closed month, found: {error}. Restore the folder "
            "from a backup, or reopen the month."
        ) from None
    return record


def issued_totals(folder: Path) -> Totals:
    """Return the totals that an issue states."""
    said = read_record(folder)["totals"]
    return Totals(**{name: None if said[name] is None else Decimal(said[name]) for name in said})


def reproduce(
    settings: Settings, month: str, issue: str, out: Path, tell: Callable[[str], None]
) -> job.Finished:
    """Build an issue anew from what was frozen, and put it in place if it is the same to the byte.

    Raises:
        ClosedMonthError: Where it is not, with what differs.
    """
    folder = folder_of(settings, month, issue)
    expected = read_record(folder)["manifest_sha256"]

    def approve(con: duckdb.DuckDBPyConnection, report: Path) -> None:
        made = (report / "manifest.json").read_bytes()
        if hashlib.sha256(made).hexdigest() != expected:
            issued = json.loads((folder / "report" / "manifest.json").read_text("utf-8"))
            raise ClosedMonthError(
                f"{month} is closed as {issue}, and a report of today would not be the same: "
                f"{_differences(issued, json.loads(made))}. What was issued stands in "
                f"{folder / 'report'}. `joulebook restate {month}` issues it anew with a bridge; "
                f"`joulebook reopen {month} --reason …` opens it."
            )

    return job.make_report(thawed(settings, month, issue), month, out, tell, approve)


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


def _differences(issued: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    names = [name for name in _COMPARED if issued[name] != made[name]]
    words = [f"{name} ({_first_difference(issued[name], made[name])})" for name in names]
    return "; ".join(words) or "its manifest"


def _first_difference(issued: object, made: object) -> str:
    if isinstance(issued, Mapping) and isinstance(made, Mapping):
        key = next(key for key in (*issued, *made) if issued.get(key) != made.get(key))
        return f"{key} was {issued.get(key)}, is {made.get(key)}"
    if isinstance(issued, Sequence) and isinstance(made, Sequence) and not isinstance(issued, str):
        gone = [each for each in issued if each not in made]
        come = [each for each in made if each not in issued]
        name = (gone or come)[0]
        return str(name.get("name", name) if isinstance(name, Mapping) else name)
    return f"was {issued}, is {made}"


def _text(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")
