"""Load log files into a workspace: what is new of them, in one transaction, or nothing at all."""

import datetime as dt
import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from pipeline import publish, warehouse
from pipeline.errors import BadInputError, WrongUseError
from pipeline.ingest import fx
from pipeline.ingest.columns import literal
from pipeline.ingest.files import LogFile, begins_with, find_files
from pipeline.ingest.load import Intake, load
from pipeline.ingest.summary import entries_of
from pipeline.ingest.tables import STORED
from pipeline.monthly import workspace
from pipeline.monthly.user_ids import HASHED_SQL, salt_of
from pipeline.reference import checked_inputs, load_reference
from pipeline.settings import ASSUME_KEYS, WAREHOUSE, Settings

FUTURE_RULE = "time_in_the_future"
# Logs without a zone may be ahead of UTC by up to 14 hours.
_AHEAD = dt.timedelta(days=1)


@dataclass(frozen=True)
class Loaded:
    """What became of the files: an entry each, and the months that have new rows."""

    entries: list[dict[str, Any]]
    months: tuple[str, ...]


def load_files(settings: Settings, tell: Callable[[str], None]) -> Loaded:
    """Add the inputs of the settings to the workspace of their folder.

    A file whose content is there already is passed over; a file that has grown, or of which
    other things are assumed now, takes the place of what it was.

    Raises:
        JoulebookError: Where a file is bad; nothing is loaded then.
    """
    try:
        return _load_files(settings, tell)
    except (OSError, duckdb.Error) as error:
        why = publish.disk_fault(error)
        if why is None:
            raise
        raise WrongUseError(
            f"{settings.folder}: nothing was loaded, since it cannot be written: {why}. Make room."
        ) from None


def _load_files(settings: Settings, tell: Callable[[str], None]) -> Loaded:
    path = settings.folder / WAREHOUSE
    with (
        workspace.opened(path, settings, creates=True) as book,
        tempfile.TemporaryDirectory(dir=settings.folder, prefix=".building-") as aside,
    ):
        con = warehouse.connect(Path(aside) / "load.duckdb", settings.memory_limit_gb)
        try:
            load_reference(con, settings)
            files = find_files(checked_inputs(con, settings.inputs), settings.folder)
            for file in files:
                if file.path.is_dir():
                    raise WrongUseError(
                        f"{file.shown}: is normalised usage; a workspace is loaded from the logs "
                        f"themselves. Give those, or run joulebook report --usage {file.shown}."
                    )
            keys = {file.path: _key(file) for file in files}
            known = _known_keys(book)
            new = [file for file in files if keys[file.path] not in known]
            with fx.amounts_as_billed(con):
                intakes = load(con, new, settings, tell)
            _set_future_aside(con, settings, workspace.utc_now() + _AHEAD)
            entries = _entries(con, intakes)
            months = _store(con, book, settings, list(zip(new, intakes, strict=True)), keys)
        finally:
            con.close()
    shown = [{**entry, "state": "loaded"} for entry in entries]
    shown += [{"path": file.shown, "state": "already loaded"} for file in files if file not in new]
    return Loaded(shown, months)


def _entries(con: duckdb.DuckDBPyConnection, intakes: list[Intake]) -> list[dict[str, Any]]:
    """Return what to tell of the files, in dollars of today's rates; the rows stay as billed."""
    con.execute("begin")
    if "billed_currency" in _stored(con):
        fx.convert(con, [each.input_id for each in intakes if each.input_id is not None])
    entries = entries_of(con, intakes)
    con.execute("rollback")
    return entries


def _key(file: LogFile) -> str:
    """Return what makes two intakes the same: the bytes, and what is assumed of them."""
    with file.path.open("rb") as source:
        sha256 = hashlib.file_digest(source, "sha256").hexdigest()
    said = json.dumps([sha256, sorted(file.assume.items())])
    return hashlib.sha256(said.encode()).hexdigest()


def _known_keys(book: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the keys of files whose rows count, or count as the beginning of a longer file."""
    rows = book.execute("""
        select files.input_key
        from raw_inputs as files left join raw_inputs as later on files.replaced_by = later.file_id
        where later.file_id is null or files.unpacked_sha256 <> later.unpacked_sha256
    """).fetchall()
    return {row[0] for row in rows}


def _set_future_aside(
    con: duckdb.DuckDBPyConnection, settings: Settings, latest: dt.datetime
) -> None:
    """Set aside rows of days that have not come: their clock is wrong, and so is their month."""
    con.execute(
        f"update raw_usage set reject_reasons = '{FUTURE_RULE}', month = null "
        "where reject_reasons is null and occurred_at > $latest",
        {"latest": latest},
    )
    rows = con.execute(
        "select source_file, count(*) as bad_count, min(source_line), max(row_count) "
        "from raw_usage inner join raw_inputs using (input_id) where reject_reasons = $rule "
        "group by source_file order by source_file",
        {"rule": FUTURE_RULE},
    ).fetchall()
    for shown, count, line, row_count in rows:
        if count >= settings.max_bad_rows and count > settings.max_bad_frac * row_count:
            raise BadInputError(
                f"{shown}: expected times up to {latest:%Y-%m-%d %H:%M} UTC, found {count} later "
                f"ones (first at line {line}). Was its clock wrong, or its time zone?"
            )


def _store(
    con: duckdb.DuckDBPyConnection,
    book: duckdb.DuckDBPyConnection,
    settings: Settings,
    files: list[tuple[LogFile, Intake]],
    keys: dict[Path, str],
) -> tuple[str, ...]:
    """Move what was read into the warehouse, and return the months that changed."""
    contents = {intake.sha256: (file, intake) for file, intake in reversed(files)}
    read = [contents[sha256] for sha256 in reversed(contents) if sha256]
    if not read:
        return ()
    filled = [name for name in STORED if name in _stored(con)]
    next_id = book.execute("select coalesce(max(file_id), 0) + 1 from raw_inputs").fetchall()[0][0]
    book.execute(f"attach {literal(_closed_copy(con))} as loaded (read_only)")
    book.execute("begin")
    months = set()
    for file_id, (file, intake) in enumerate(read, start=next_id):
        months |= _retire(book, file, intake, file_id)
        _insert_file(book, file, intake, keys[file.path], file_id, filled)
        _insert_rows(book, intake, file_id, filled, settings)
    months |= {
        row[0]
        for row in book.execute(
            "select distinct book_month from raw_usage where file_id >= $first", {"first": next_id}
        ).fetchall()
    }
    book.execute("commit")
    book.execute("checkpoint")
    return tuple(sorted(month for month in months if month))


def _closed_copy(con: duckdb.DuckDBPyConnection) -> str:
    """Close what was read, so that the warehouse may attach it; return its path."""
    path = con.execute("select path from duckdb_databases() where not internal").fetchall()[0][0]
    con.close()
    return str(path)


def _stored(con: duckdb.DuckDBPyConnection) -> set[str]:
    rows = con.execute(
        "select column_name from information_schema.columns "
        "where table_name = 'raw_usage' and is_generated <> 'ALWAYS'"
    ).fetchall()
    return {row[0] for row in rows}


def _retire(
    book: duckdb.DuckDBPyConnection, file: LogFile, intake: Intake, file_id: int
) -> set[str]:
    """Let a file take the place of those that it tells anew or goes on from; return their months.

    Their rows stay: closed months may rest on them.
    """
    live = book.execute(
        "select file_id, source_file, content_sha256, unpacked_sha256, size_bytes "
        "from raw_inputs where replaced_by is null"
    ).fetchall()
    old = [
        old_id
        for old_id, shown, sha256, unpacked, size in live
        if unpacked == intake.sha256
        or (shown == file.shown and begins_with(file.path, size, sha256))
    ]
    values = {"ids": old, "by": file_id}
    book.execute(
        "update raw_inputs set replaced_by = $by where file_id in (select unnest($ids::bigint[]))",
        values,
    )
    rows = book.execute(
        "select distinct book_month from raw_usage "
        "where file_id in (select unnest($ids::bigint[]))",
        {"ids": old},
    ).fetchall()
    return {row[0] for row in rows}


def _insert_file(
    book: duckdb.DuckDBPyConnection,
    file: LogFile,
    intake: Intake,
    key: str,
    file_id: int,
    filled: list[str],
) -> None:
    assumed = ", ".join(f"assumed_{name}" for name in ASSUME_KEYS)
    book.execute(
        f"""
        insert into raw_inputs by name
        select $file_id as file_id, $key as input_key, source_file, source_format,
            content_sha256, $unpacked as unpacked_sha256, size_bytes, row_count, {assumed},
            $filled as filled_columns, $now as loaded_at, $by as loaded_by,
            true as is_as_billed
        from loaded.raw_inputs where input_id = $input_id
        """,
        {
            "file_id": file_id,
            "key": key,
            "unpacked": intake.sha256,
            "filled": filled,
            "now": workspace.utc_now(),
            "by": workspace.done_by(),
            "input_id": intake.input_id,
        },
    )
    book.execute(
        "insert into raw_unknown_columns select $file_id, column_name, filled_row_count, "
        "number_row_count, is_token_like from loaded.raw_unknown_columns "
        "where input_id = $input_id",
        {"file_id": file_id, "input_id": intake.input_id},
    )


def _insert_rows(
    book: duckdb.DuckDBPyConnection,
    intake: Intake,
    file_id: int,
    filled: list[str],
    settings: Settings,
) -> None:
    """Copy the rows of a file; what has no month goes with the last month of its file."""
    is_hashed = settings.hash_user_ids and "user_id" in filled
    columns = ", ".join(
        f"{HASHED_SQL} as user_id" if is_hashed and name == "user_id" else name for name in filled
    )
    values: dict[str, Any] = {"file_id": file_id, "input_id": intake.input_id}
    if is_hashed:
        values["salt"] = salt_of(book, settings.folder)
    book.execute(
        f"""
        insert into raw_usage by name
        select $file_id as file_id, source_line, {columns}, month,
            coalesce(
                month, max(month) filter (where reject_reasons is null) over (), max(month) over ()
            ) as book_month,
            reject_reasons, identities_checked
        from loaded.raw_usage where input_id = $input_id
        order by book_month, source_line
        """,
        values,
    )
