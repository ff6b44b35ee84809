"""A workspace: a settings file, an overlay folder, and one warehouse file that keeps the raw rows.

The warehouse holds what logs said and what became of the months, never a figure: figures are built
anew from it, so that a mended law or price needs no loading.
"""

import datetime as dt
import getpass
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipeline.errors import WrongUseError
from pipeline.ingest.tables import STORED
from pipeline.monthly.closed_record import closed_folders, events_of
from pipeline.monthly.workspace_faults import damaged, lost, reading
from pipeline.settings import WAREHOUSE, Settings, bundled

SCHEMA_VERSION = 2  # since 2 amounts in other currencies are kept as billed

SETTINGS = "joulebook.toml"
_EXAMPLES = "overlays"

_RECORD = ", ".join(f"{name} {kind}" for name, kind in STORED.items())
_SCHEMA = f"""
    create table workspace (
        schema_version integer, time_zone varchar, salt_sha256 varchar
    );
    create table raw_inputs (
        file_id bigint primary key, input_key varchar, replaced_by bigint, source_file varchar,
        source_format varchar, content_sha256 varchar, unpacked_sha256 varchar, size_bytes bigint,
        row_count bigint, assumed_model varchar, assumed_provider varchar, assumed_class varchar,
        assumed_team varchar, assumed_start varchar, assumed_batch varchar, assumed_gpu varchar,
        assumed_stack varchar, filled_columns varchar[], loaded_at timestamp, loaded_by varchar,
        is_as_billed boolean
    );
    create table raw_usage (
        file_id bigint, source_line bigint, {_RECORD},
        month varchar, book_month varchar, reject_reasons varchar, identities_checked utinyint
    );
    create table raw_unknown_columns (
        file_id bigint, column_name varchar, filled_row_count bigint, number_row_count bigint,
        is_token_like boolean
    );
    create table month_events (
        event_id bigint, month varchar, event varchar, issue varchar, happened_at timestamp,
        done_by varchar, reason varchar, run_id varchar
    );
    create table corrections (
        month varchar, corrected_month varchar, provider varchar, model_id varchar, team varchar,
        request_count bigint, cost_usd decimal(38, 15), facility_energy_kwh double
    );
"""


def init(folder: Path) -> list[Path]:
    """Write the settings file and the overlay templates of a new workspace; return the files.

    Raises:
        WrongUseError: Where there is a settings file already.
    """
    settings = folder / SETTINGS
    if settings.exists():
        raise WrongUseError(f"{settings}: stands there already, so this is a workspace. Edit it.")
    files = {settings: (bundled("templates/workspace") / SETTINGS).read_text(encoding="utf-8")}
    for template in sorted(bundled(f"templates/{_EXAMPLES}").glob("*.csv")):
        header = template.read_text(encoding="utf-8").splitlines()[0]
        files[folder / _EXAMPLES / template.name] = f"{header}\n"
    new = [path for path in files if not path.exists()]
    try:
        (folder / _EXAMPLES).mkdir(parents=True, exist_ok=True)
        for path in reversed(new):  # the settings file last: it makes a folder a workspace
            path.write_text(files[path], encoding="utf-8", newline="\n")
    except OSError as error:
        raise WrongUseError(f"{folder}: cannot be written: {error.strerror}.") from None
    return new


def require_workspace(settings: Settings) -> Path:
    """Return the warehouse of the settings' folder.

    Raises:
        WrongUseError: Where nothing was loaded yet.
    """
    if settings.warehouse is None:
        raise WrongUseError(
            f"{settings.folder / WAREHOUSE}: no such warehouse. Begin with `joulebook init` and "
            "`joulebook ingest PATH … --load`."
        )
    return settings.warehouse


@contextmanager
def opened(
    path: Path, settings: Settings, *, creates: bool = False
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a warehouse to read and write; where it may be created, it is.

    Raises:
        WrongUseError: Where a newer program made it, or its months are cut in another zone.
        LostWarehouseError: Where it is not there.
        DamagedWarehouseError: Where it cannot be read.
    """
    if not path.exists() and not creates:
        raise lost(path)
    try:
        con = duckdb.connect(str(path), config={"memory_limit": f"{settings.memory_limit_gb:g}GB"})
        con.execute("set TimeZone = 'UTC'")
        con.execute("set enable_progress_bar = false")
        if not con.execute("from duckdb_tables()").fetchall() and creates:
            _create(con, path, settings)
        found = con.execute("select schema_version, time_zone from workspace").fetchall()
    except duckdb.Error as error:
        raise damaged(path, error) from None
    try:
        _require_known(path, found, settings)
        if found[0][0] < SCHEMA_VERSION:
            _upgrade(con)
        with reading(path):
            yield con
    finally:
        con.close()


def done_by() -> str:
    """Return who runs this, as user@host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def utc_now() -> dt.datetime:
    """Return the time, which stands in the warehouse and in the run logs, never in a report."""
    return dt.datetime.now(dt.UTC).replace(tzinfo=None, microsecond=0)


def note_event(
    con: duckdb.DuckDBPyConnection, month: str, event: str, issue: str, reason: str, run_id: str
) -> dict[str, str]:
    """Write down what became of a month, by whom and when; return the row."""
    row = {
        "month": month,
        "event": event,
        "issue": issue,
        "happened_at": utc_now().isoformat(),
        "done_by": done_by(),
        "reason": reason,
        "run_id": run_id,
    }
    _insert_event(con, row)
    return row


def _insert_event(con: duckdb.DuckDBPyConnection, row: dict[str, str]) -> None:
    con.execute(
        "insert into month_events select (select coalesce(max(event_id), 0) + 1 from month_events),"
        " $month, $event, $issue, $happened_at::timestamp, $done_by, $reason, $run_id",
        row,
    )


def _create(con: duckdb.DuckDBPyConnection, path: Path, settings: Settings) -> None:
    """Make the tables; months that were closed before the warehouse was lost are closed still."""
    con.execute("begin")
    con.execute(_SCHEMA)
    con.execute("insert into workspace values (?, ?, null)", [SCHEMA_VERSION, settings.time_zone])
    for event in events_of(path.parent):
        _insert_event(con, event)
    for month, folder in closed_folders(path.parent).items():
        con.execute(  # what it carries of months before is in no other place
            "insert into corrections by name from read_parquet($path) where month = $month",
            {"path": str(folder / "corrections.parquet"), "month": month},
        )
    con.execute("commit")


def _upgrade(con: duckdb.DuckDBPyConnection) -> None:
    """Make a warehouse of version 1 one of today: its bills were converted as they were loaded."""
    con.execute("begin")
    con.execute("alter table raw_inputs add column if not exists is_as_billed boolean")
    con.execute("alter table workspace add column if not exists salt_sha256 varchar")
    con.execute("update workspace set schema_version = $version", {"version": SCHEMA_VERSION})
    con.execute("commit")


def _require_known(path: Path, found: list[tuple[int, str]], settings: Settings) -> None:
    version, time_zone = found[0]
    if version > SCHEMA_VERSION:
        raise WrongUseError(
            f"{path}: made by a newer joulebook (warehouse version {version}; this one knows "
            f"{SCHEMA_VERSION}). Update joulebook."
        )
    if time_zone != settings.time_zone:
        raise WrongUseError(
            f"{path}: its months are cut in {time_zone}, the settings say {settings.time_zone}. "
            "Set time_zone back, or load the logs into a new workspace."
        )
