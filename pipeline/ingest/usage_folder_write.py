"""Write loaded usage into a folder of normalised usage, and merge its small parts."""

import hashlib
import json
import os
from pathlib import Path

import duckdb

from pipeline.errors import WrongUseError
from pipeline.ingest.columns import literal
from pipeline.ingest.usage_folder import (
    COLUMNS,
    INPUTS,
    NO_MONTH,
    REPLACES_KEY,
    SCHEMA_VERSION,
    VERSION_KEY,
    ZONE_KEY,
    parts_of,
    require_schema,
)

SMALL_BYTES = 64_000_000
MOST_SMALL_PARTS = 16  # of one partition, before they are merged
_LOCK = ".merging"


def write(con: duckdb.DuckDBPyConnection, folder: Path, zone: str) -> list[str]:
    """Add every loaded input to a usage folder, rows set aside too; return notes.

    A part has a name of its own, so that several machines may write at once. The row of an input
    is written last: until it stands, a reader takes the input for unfinished.

    Raises:
        WrongUseError: Where the folder cannot be written.
        BadInputError: Where it holds parts of another schema or time zone.
    """
    try:
        (folder / INPUTS).mkdir(parents=True, exist_ok=True)
        require_schema(con, sorted((folder / INPUTS).glob("*.parquet")), zone)
        notes: list[str] = []
        for input_id, shown, form, sha256 in con.execute(
            "select input_id, source_file, source_format, content_sha256 from raw_inputs "
            "order by input_id"
        ).fetchall():
            key = hashlib.sha256(f"{shown}\0{sha256}".encode()).hexdigest()[:16]
            if (folder / INPUTS / f"{key}.parquet").exists():
                notes.append(f"{shown}: stands in {folder} already, nothing is written for it")
                continue
            _write_input(con, folder, zone, (input_id, key, form))
        for partition in sorted(folder.glob("month=*/source=*")):
            notes += merge_small_parts(con, partition, zone)
    except OSError as error:
        raise WrongUseError(
            f"{folder}: cannot be written: {error.strerror or error}. Give another --to."
        ) from None
    return notes


def merge_small_parts(con: duckdb.DuckDBPyConnection, partition: Path, zone: str) -> list[str]:
    """Make one file of the small files of a partition, where they are many; return notes.

    The new file names those that it replaces, and readers pass these over: wherever a merge is cut
    short, every row stands there once. One merge runs at a time.
    """
    small = [each for each in parts_of(con, partition) if each.stat().st_size < SMALL_BYTES]
    if len(small) <= MOST_SMALL_PARTS:
        return []
    lock = partition / _LOCK
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        return [
            f"{partition}: its small parts are not merged: another process is at it, or one was "
            f"cut short ({lock} is there; remove it if no process runs)"
        ]
    try:
        names = ",".join(each.name for each in small)
        merged = partition / f"merged-{hashlib.sha256(names.encode()).hexdigest()[:16]}.parquet"
        listed = ", ".join(literal(str(each)) for each in small)
        _copy(
            con,
            f"from read_parquet([{listed}], hive_partitioning = false) "
            "order by input_key, row_number",
            merged,
            {ZONE_KEY: zone, REPLACES_KEY: names},
        )
        for each in small:
            each.unlink()
    finally:
        lock.unlink()
    return []


def _write_input(
    con: duckdb.DuckDBPyConnection, folder: Path, zone: str, what: tuple[int, str, str]
) -> None:
    input_id, key, form = what
    counts = dict(
        con.execute(
            f"select coalesce(month, '{NO_MONTH}'), count(*) from raw_usage "
            "where input_id = $id group by all order by 1",
            {"id": input_id},
        ).fetchall()
    )
    stored = ", ".join(name for name in COLUMNS if name not in ("input_key", "row_number"))
    for month in counts:
        partition = folder / f"month={month}" / f"source={form}"
        partition.mkdir(parents=True, exist_ok=True)
        _copy(
            con,
            f"select * from (select {literal(key)} as input_key, "
            f"row_number() over (order by rowid) as row_number, {stored} from raw_usage "
            f"where input_id = {input_id:d}) where coalesce(month, '{NO_MONTH}') = "
            f"{literal(month)} order by row_number",
            partition / f"{key}.parquet",
            {ZONE_KEY: zone},
        )
    unknown = con.execute(
        "select column_name, filled_row_count, number_row_count, is_token_like "
        "from raw_unknown_columns where input_id = $id order by all",
        {"id": input_id},
    ).fetchall()
    _copy(
        con,
        f"select {literal(key)} as input_key, * exclude (input_id), "
        f"{literal(json.dumps(counts))} as row_counts, "
        f"{literal(json.dumps(unknown))} as unknown_columns "
        f"from raw_inputs where input_id = {input_id:d}",
        folder / INPUTS / f"{key}.parquet",
        {ZONE_KEY: zone},
    )


def _copy(con: duckdb.DuckDBPyConnection, sql: str, path: Path, said: dict[str, str]) -> None:
    """Write a query to a Parquet file that is there whole or not at all."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    noted = ", ".join(
        f"{name}: {literal(value)}" for name, value in {VERSION_KEY: SCHEMA_VERSION, **said}.items()
    )
    try:
        con.execute(
            f"copy ({sql}) to {literal(str(aside))} (format parquet, kv_metadata {{{noted}}})"
        )
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)
