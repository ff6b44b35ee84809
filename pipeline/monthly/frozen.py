"""Freeze the reference tables of a run, and bring them back: as Parquet files in one folder."""

from pathlib import Path

import duckdb

from pipeline.ingest.columns import literal

_OF_LOGS = ("raw_usage", "raw_inputs", "raw_unknown_columns", "raw_corrections", "raw_reported")


def freeze(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write every reference table, as laid over and as the settings set it."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in reference_tables(con):
        con.execute(f"copy {table} to {literal(str(folder / f'{table}.parquet'))} (format parquet)")


def thaw(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make every reference table from its frozen file.

    Tables of today's program stand there already: one that the issue did not know stays, and so do
    columns that it did not know, empty.
    """
    today = set(reference_tables(con))
    for path in sorted((folder / "reference").glob("raw_*.parquet")):
        frozen = f"from read_parquet({literal(str(path))})"
        if path.stem in today:
            frozen = f"(select * from {path.stem} limit 0) union all by name ({frozen})"
        con.execute(f"create or replace table {path.stem} as {frozen}")


def reference_tables(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the raw tables that no log fills, by name."""
    rows = con.execute(
        "select table_name from duckdb_tables() where starts_with(table_name, 'raw_') "
        "and database_name = current_database() order by 1"
    ).fetchall()
    return [row[0] for row in rows if row[0] not in _OF_LOGS]


def create_corrections(con: duckdb.DuckDBPyConnection) -> None:
    """Create raw_corrections, empty: late usage of closed months, a row for each team and model."""
    con.execute(
        "create or replace table raw_corrections (month varchar, corrected_month varchar, "
        "provider varchar, model_id varchar, team varchar, request_count bigint, "
        "cost_usd decimal(38, 15), facility_energy_kwh double)"
    )
