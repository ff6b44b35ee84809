"""A folder of normalised usage: what many machines ingested, for one book to read.

    DIR/_inputs/<key>.parquet                   one row a log file: what was read, what was assumed
    DIR/month=2026-10/source=general/*.parquet  its rows, every row that was read, faults too

Every Parquet file says its schema version. An input counts its rows in each partition, so a part
that is missing, or there twice, is found before any figure is made of it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from pipeline.errors import BadInputError, WrongUseError
from pipeline.ingest import contract
from pipeline.ingest.columns import literal
from pipeline.ingest.tables import STORED, make_room

if TYPE_CHECKING:
    from pipeline.ingest.files import LogFile

SCHEMA_VERSION = "1"
VERSION_KEY, ZONE_KEY, REPLACES_KEY = (
    "joulebook_schema_version",
    "joulebook_time_zone",
    "joulebook_replaces",
)
INPUTS = "_inputs"  # readers of partitioned Parquet pass over such a name
NO_MONTH = "unknown"  # of rows set aside whose time cannot be read

_TYPES = {
    "input_key": "varchar",
    "row_number": "bigint",  # of its input: several rows may come from one line
    "source_line": "bigint",
    **STORED,
    "month": "varchar",
    "reject_reasons": "varchar",
    "identities_checked": "utinyint",
}
COLUMNS = tuple(_TYPES)

_AGAIN = "Ingest its log into the folder again, or bring the part back."


@dataclass(frozen=True)
class Restored:
    """A log file as it was ingested."""

    input_id: int
    shown: str
    source_format: str
    sha256: str


def is_usage_folder(path: Path) -> bool:
    """Say whether `ingest --to` made a folder."""
    return (path / INPUTS).is_dir() and any((path / INPUTS).glob("*.parquet"))


def parts_of(con: duckdb.DuckDBPyConnection, partition: Path) -> list[Path]:
    """Return the files that hold the rows of one partition, without those merged into another."""
    files = sorted(path for path in partition.glob("*.parquet") if not path.name.startswith("."))
    replaced = {
        name for said in _metadata(con, files).values() for name in said[REPLACES_KEY].split(",")
    }
    return [path for path in files if path.name not in replaced]


def require_schema(con: duckdb.DuckDBPyConnection, files: Iterable[Path], zone: str) -> None:
    """Refuse files of another schema version, another time zone or other columns.

    Raises:
        BadInputError: Naming the first such file, what was expected and what was found.
    """
    listed = list(files)
    for path, said in _metadata(con, listed).items():
        if said[VERSION_KEY] != SCHEMA_VERSION:
            raise BadInputError(
                f"{path}: expected normalised usage of schema version {SCHEMA_VERSION}, found "
                f"{said[VERSION_KEY] or 'none'}. Ingest the logs again with this version."
            )
        if said[ZONE_KEY] != zone:
            raise BadInputError(
                f"{path}: its months are cut in {said[ZONE_KEY]}, those of the settings in "
                f"{zone}. Set time_zone, or ingest the logs again under these settings."
            )
    for path in listed:
        if path.parent.name != INPUTS:
            _require_columns(con, path)


def restore(
    con: duckdb.DuckDBPyConnection, file: "LogFile", zone: str, first_id: int
) -> list[Restored]:
    """Put the inputs and rows of a usage folder into the raw tables, as their logs would have been.

    Rows that repeat others are not marked yet: that is told over all inputs of a book.

    Raises:
        WrongUseError: Where something is to be assumed: that was settled when the logs were read.
        BadInputError: For parts of another schema, missing, or there twice.
    """
    if file.assume:
        raise WrongUseError(
            f"{file.shown}: is normalised usage, for which nothing can be assumed any more. Give "
            "--assume to `joulebook ingest --to`."
        )
    inputs = sorted((file.path / INPUTS).glob("*.parquet"))
    parts = [
        part
        for partition in sorted(file.path.glob("month=*/source=*"))
        for part in parts_of(con, partition)
    ]
    require_schema(con, (*inputs, *parts), zone)
    con.execute(
        "create or replace temp table restored_inputs as "
        "select ($first_id + row_number() over (order by source_file, content_sha256) - 1)"
        f"::integer as input_id, * from {_read(inputs)}",
        {"first_id": first_id},
    )
    _require_complete(con, file.shown, parts)
    if parts:
        _insert_rows(con, parts)
    restored = _insert_inputs(con)
    con.execute("drop table restored_inputs")
    return restored


def _insert_rows(con: duckdb.DuckDBPyConnection, parts: Iterable[Path]) -> None:
    source = _read(parts)
    counts = ", ".join(f"count({name})" for name in contract.RARE)
    filled = con.execute(f"select {counts} from {source}").fetchall()[0]
    empty = {name for name, count in zip(contract.RARE, filled, strict=True) if not count}
    make_room(con, set(contract.RARE) - empty)
    kept = ", ".join(
        f"parts.{name}" for name in COLUMNS if name not in (*empty, "input_key", "row_number")
    )
    con.execute(
        f"insert into raw_usage by name select input_id, {kept}, false as is_duplicate "
        f"from {source} as parts inner join restored_inputs using (input_key) "
        "order by input_id, parts.row_number"
    )


def _insert_inputs(con: duckdb.DuckDBPyConnection) -> list[Restored]:
    con.execute(
        "insert into raw_inputs by name select * exclude (input_key, row_counts, unknown_columns) "
        "from restored_inputs order by input_id"
    )
    rows = con.execute(
        "select input_id, source_file, source_format, content_sha256, unknown_columns "
        "from restored_inputs order by input_id"
    ).fetchall()
    for input_id, *_, unknown in rows:
        for column in json.loads(unknown):
            con.execute(
                "insert into raw_unknown_columns values (?, ?, ?, ?, ?)", [input_id, *column]
            )
    return [Restored(*row[:4]) for row in rows]


def _require_complete(con: duckdb.DuckDBPyConnection, shown: str, parts: list[Path]) -> None:
    """Hold the rows that are there against those that each input had."""
    found: dict[tuple[str, str], int] = {}
    if parts:
        found = {
            (key, month): count
            for key, month, count in con.execute(
                f"select input_key, coalesce(month, '{NO_MONTH}'), count(*) from {_read(parts)} "
                "group by all"
            ).fetchall()
        }
    rows = con.execute(
        "select input_key, source_file, source_format, row_counts from restored_inputs "
        "order by input_id"
    ).fetchall()
    for key, source_file, form, told in rows:
        counts: Mapping[str, int] = json.loads(told)
        for month, expected in counts.items():
            count = found.pop((key, month), 0)
            if count != expected:
                raise BadInputError(
                    f"{shown}/month={month}/source={form}: expected {expected:,} rows of "
                    f"{source_file}, found {count:,}. {_AGAIN}"
                )
    if found:
        (key, month), count = min(found.items())
        raise BadInputError(
            f"{shown}/month={month}: holds {count:,} rows of an input that is not in "
            f"{INPUTS}/ ({key}): it is being written now, or its ingest was cut short. {_AGAIN}"
        )


def _require_columns(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    held = {
        row[0]: row[1].lower().replace(",", ", ")
        for row in con.execute(f"describe select * from {_read([path])}").fetchall()
    }
    wanted = {name: kind.replace(",", ", ").replace(",  ", ", ") for name, kind in _TYPES.items()}
    for name in (*wanted, *held):
        if held.get(name) != wanted.get(name):
            raise BadInputError(
                f"{path}: expected column {name} to be {wanted.get(name, 'absent')}, found "
                f"{held.get(name, 'none')}: not written by `joulebook ingest --to`, or changed "
                "since. Ingest its logs again."
            )


def _metadata(con: duckdb.DuckDBPyConnection, files: list[Path]) -> dict[Path, dict[str, str]]:
    """Return what each file says of itself, '' for what it does not say."""
    said = {path: dict.fromkeys((VERSION_KEY, ZONE_KEY, REPLACES_KEY), "") for path in files}
    if files:
        try:
            rows = con.execute(
                "select file_name, decode(key), decode(value) from "
                f"parquet_kv_metadata([{', '.join(literal(str(path)) for path in files)}])"
            ).fetchall()
        except duckdb.Error as error:
            raise BadInputError(
                f"{files[0].parent}: a part cannot be read: {str(error).splitlines()[0]}. {_AGAIN}"
            ) from None
        for name, key, value in rows:
            if key in said[Path(name)]:
                said[Path(name)][key] = value
    return said


def _read(files: Iterable[Path]) -> str:
    listed = ", ".join(literal(str(path)) for path in files)
    return f"read_parquet([{listed}], hive_partitioning = false)"
