"""What tests share: warehouses, small logs, and the real samples where there are any."""

import contextlib
import fcntl
import gc
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest
from book_on_demand import BookOnDemand
from typer.testing import CliRunner

from pipeline import warehouse
from pipeline.cli import app
from pipeline.ingest.load import create_tables, find_files, load
from pipeline.reference import checked_inputs, load_reference
from pipeline.settings import Input, Settings

Rows = list[dict[str, Any]]
Book = duckdb.DuckDBPyConnection  # a warehouse whose models are built, at the latest when asked for

# The worked example, Llama-3.1-8B with 900 tokens in and 300 out, default coefficients, batch 1:
# 15.318907 + 10.724827 + 850.990486 J by the law, times the measured bias of dense models.
EXAMPLE_LAW_J = 877.034220
DENSE_BIAS = 1.15
EXAMPLE_GPU_J = DENSE_BIAS * EXAMPLE_LAW_J


# Files that take longest, begun first: else one process would work on while all others wait. A file
# is of one process (`--dist loadfile`), so what its tests share is made once.
LONGEST = (
    *("test_spark", "test_months", "test_workbook_recalculated", "test_closed_report", "test_cli"),
    *("test_spark_connect", "test_page_browser", "test_workbook_money", "test_explain_cli"),
    *("test_explain_cell", "test_workbook_data", "test_workspace", "test_add_model", "test_wheel"),
)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays to the end: thousands of tests and all modules."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


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


@pytest.fixture(scope="session")
def empty_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse file with laws and reference tables and no usage, made once."""
    path = tmp_path_factory.mktemp("warehouse") / "empty.duckdb"
    connection = warehouse.connect(path, 1, threads=1)
    load_reference(connection, Settings())
    create_tables(connection)
    connection.close()
    return path


@pytest.fixture
def con(empty_book: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse of one's own with reference tables and no usage."""
    with copied(empty_book) as connection:
        yield connection


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as JSON lines of the general form; return the file."""

    def write(rows: Rows, name: str = "usage.jsonl") -> Path:
        return write_log(tmp_path / name, rows)

    return write


@pytest.fixture
def build(empty_book: Path) -> Iterator[Callable[..., duckdb.DuckDBPyConnection]]:
    """Load files and return the warehouse, whose models are built when asked for."""
    opened: list[duckdb.DuckDBPyConnection] = []

    def run(
        *paths: Path, settings: Settings | None = None, assume: dict[str, str] | None = None
    ) -> duckdb.DuckDBPyConnection:
        inputs = [Input(str(path), assume or {}) for path in paths]
        opened.append(built(inputs, settings or Settings(), empty_book=empty_book))
        return opened[-1]

    yield run
    for connection in opened:
        connection.close()


@pytest.fixture
def estimates_share_reference(empty_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each estimate begin from a copy of the bundled reference tables, not load them anew."""
    monkeypatch.setattr(warehouse, "connect", lambda *told, threads: copied(empty_book))
    monkeypatch.setattr("pipeline.estimate.load_reference", lambda con, settings: None)


@pytest.fixture(scope="module")
def book_of(
    tmp_path_factory: pytest.TempPathFactory, empty_book: Path
) -> Iterator[Callable[..., Book]]:
    """Load rows of the general form and build models, once for all tests of a module.

    Named targets are built at once, else each model when asked for. Each list of rows is a file of
    its own, with what `assumes` says of it.
    """
    opened: list[Book] = []

    def run(
        *logs: Rows,
        assumes: Iterable[dict[str, str]] = (),
        settings: Settings | None = None,
        targets: Iterable[str] | None = None,
    ) -> Book:
        folder = tmp_path_factory.mktemp("logs")
        paths = [
            write_log(folder / f"usage-{number}.jsonl", rows)
            for number, rows in enumerate(logs, start=1)
        ]
        told = [*assumes, *({} for _ in paths)]
        inputs = [Input(path.name, assume) for path, assume in zip(paths, told, strict=False)]
        opened.append(built(inputs, settings or Settings(), folder, targets, empty_book))
        return opened[-1]

    yield run
    for connection in opened:
        connection.close()


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `joulebook report --json` makes and prints in an empty folder, to be read only.

    The answer stands in `answer.json`, the report in `reports`. Made once for all worker processes.
    """

    def make(folder: Path) -> None:
        with contextlib.chdir(folder):
            ran = CliRunner().invoke(app, ["report", "--json"], catch_exceptions=False)
        assert ran.exit_code == 0, ran.stderr
        (folder / "answer.json").write_text(ran.stdout, encoding="utf-8")

    return made_once(tmp_path_factory, "sample-report", make)


def made_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """Return a folder of this name that is filled once for all worker processes of a run."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, aside = root / name, root / f"{name}.part"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            make(aside)
            aside.rename(folder)
    return folder


def write_log(path: Path, rows: Rows) -> Path:
    """Write rows as JSON lines of the general form, by default of Llama-3.1-8B in October."""
    defaults = {"occurred_at": "2026-10-05T10:00:00Z", "model_name": "meta-llama/Llama-3.1-8B"}
    path.write_text(
        "".join(json.dumps({**defaults, **row}) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def built(
    inputs: Iterable[Input],
    settings: Settings,
    folder: Path = Path("/"),
    targets: Iterable[str] | None = None,
    empty_book: Path | None = None,
) -> Book:
    """Return a warehouse with the inputs loaded, its target models built or all on demand.

    Where the settings say nothing, the reference tables are copied from an empty book.
    """
    if empty_book and settings == Settings():
        connection = copied(empty_book)
    else:
        connection = warehouse.connect(None, 1, threads=1)
        load_reference(connection, settings)
    load(connection, find_files(checked_inputs(connection, inputs), folder), settings)
    if targets is None:
        return cast("Book", BookOnDemand(connection))
    warehouse.build(connection, targets)
    return connection


def copied(book: Path) -> duckdb.DuckDBPyConnection:
    """Return a warehouse in memory with the tables and macros of one in a file."""
    # One thread, as a report of few rows has: a second one only waits, and costs a fifth more.
    connection = duckdb.connect(config={"threads": 1, "memory_limit": "1GB"})
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set enable_progress_bar = false")
    connection.execute(f"attach '{book}' as book (read_only)")
    connection.execute("copy from database book to memory")
    connection.execute("detach book")
    return connection


def made_from(model: str, **tables: str) -> Rows:
    """Build one SQL model from tables given as queries, and return its rows."""
    with warehouse.connect(None, 1, threads=1) as connection:
        for name, sql in tables.items():
            connection.execute(f"create table {name} as {sql}")
        return rows_of(connection, f"select * from ({warehouse.models()[model].sql}\n)")


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str) -> Rows:
    """Return a query's rows as dictionaries."""
    result = connection.execute(sql)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
