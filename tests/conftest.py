"""What tests share: warehouses, small logs, and the real samples where there are any."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline import warehouse
from pipeline.ingest.load import create_tables, find_files, load
from pipeline.reference import checked_inputs, load_reference
from pipeline.settings import Input, Settings

Rows = list[dict[str, Any]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the golden reports")


@pytest.fixture
def samples() -> Path:
    """The folder of real logs, named by JOULEBOOK_SAMPLES."""
    folder = os.environ.get("JOULEBOOK_SAMPLES")
    if folder and Path(folder).is_dir():
        return Path(folder)
    if os.environ.get("JOULEBOOK_REQUIRE_ALL") == "1":
        pytest.fail("JOULEBOOK_SAMPLES names no folder, and everything is required")
    pytest.skip("needs real logs: set JOULEBOOK_SAMPLES to their folder")


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse with reference tables and no usage."""
    connection = warehouse.connect(None, 1, threads=2)
    load_reference(connection, Settings())
    create_tables(connection)
    yield connection
    connection.close()


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSON lines of the general form; return the file."""

    def write(rows: Rows, name: str = "usage.jsonl") -> Path:
        path = tmp_path / name
        defaults = {"occurred_at": "2026-10-05T10:00:00Z", "model_name": "meta-llama/Llama-3.1-8B"}
        path.write_text(
            "".join(json.dumps({**defaults, **row}) + "\n" for row in rows), encoding="utf-8"
        )
        return path

    return write


@pytest.fixture
def build() -> Iterator[Callable[..., duckdb.DuckDBPyConnection]]:
    """Load files, build every model, and return the warehouse."""
    opened: list[duckdb.DuckDBPyConnection] = []

    def run(
        *paths: Path, settings: Settings | None = None, assume: dict[str, str] | None = None
    ) -> duckdb.DuckDBPyConnection:
        used = settings or Settings()
        connection = warehouse.connect(None, 1, threads=2)
        opened.append(connection)
        load_reference(connection, used)
        inputs = checked_inputs(connection, [Input(str(path), assume or {}) for path in paths])
        load(connection, find_files(inputs, Path("/")), used)
        warehouse.build(connection)
        return connection

    yield run
    for connection in opened:
        connection.close()


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str) -> Rows:
    """Return a query's rows as dictionaries."""
    result = connection.execute(sql)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
