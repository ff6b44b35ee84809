"""Build every model on Spark, and lay the tables before DuckDB as if it had built them.

The raw tables go out as Parquet, each model comes back as Parquet: so no plan grows with the
models before it, and a machine that is lost costs the model in hand. The reports read what came
back on one machine.
"""

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from pipeline import warehouse
from pipeline.errors import JoulebookError, WrongUseError
from pipeline.ingest.columns import literal
from pipeline.spark.session import first_line, open_session
from pipeline.spark.transpile import spark_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PART_SIZE = "128MB"
_AT_ONCE = 4  # models; a cluster shares its cores among them


Tell = Callable[[str], None]


def builder_at(master: str) -> Callable[[duckdb.DuckDBPyConnection, Path, Tell], None]:
    """Return what builds the models of a warehouse at a Spark master.

    Raises:
        WrongUseError: Where there is no Spark.
    """
    return functools.partial(build, open_session(master))


def build(
    session: "SparkSession",
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    tell: Tell,
    targets: Iterable[str] | None = None,
) -> None:
    """Build models on Spark from the raw tables of a warehouse, into a new folder.

    The targets and all they rest on, or all models where none are named; those whose parents stand
    are built side by side, so that the planning of one does not keep the cluster waiting.

    Raises:
        JoulebookError: Where Spark cannot build a model.
        WrongUseError: Where this machine does not see what Spark wrote.
        BadInputError: Where a model breaks its grain.
    """
    models = warehouse.models()
    order = warehouse.build_order(targets)
    order.prepare()
    running: dict[Future[None], warehouse.Model] = {}
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        raw = _write_raw_tables(con, folder / "raw")
        list(pool.map(functools.partial(_read_raw_table, session), raw))
        while order.is_active():
            for model in map(models.__getitem__, order.get_ready()):
                running[pool.submit(build_one, session, model, folder)] = model
            for made in wait(running, return_when=FIRST_COMPLETED).done:
                made.result()
                model = running.pop(made)
                tell(f"built {model.name} on Spark")
                _show_here(con, model, folder)
                order.done(model.name)
    finally:
        pool.shutdown(cancel_futures=True)


def _write_raw_tables(con: duckdb.DuckDBPyConnection, folder: Path) -> list[Path]:
    folder.mkdir(parents=True)
    names = con.execute(
        "select table_name from information_schema.tables where table_name like 'raw\\_%' "
        "escape '\\' and table_catalog = current_database() order by 1"
    ).fetchall()
    paths = [folder / name for (name,) in names]
    for path in paths:
        con.execute(
            f"copy (from {path.name}) to {literal(str(path))} "
            f"(format parquet, file_size_bytes '{_PART_SIZE}')"
        )
    return paths


def _read_raw_table(session: "SparkSession", path: Path) -> None:
    session.read.parquet(str(path)).createOrReplaceTempView(path.name)


def build_one(session: "SparkSession", model: warehouse.Model, folder: Path) -> None:
    """Build one model after its parents: a view, or a folder of Parquet named as the model.

    Raises:
        JoulebookError: Where Spark cannot.
    """
    try:
        rows = session.sql(spark_sql(model.sql))
        if not model.is_view:
            path = str(folder / model.name)
            rows.write.parquet(path)
            rows = session.read.schema(rows.schema).parquet(path)
        rows.createOrReplaceTempView(model.name)
    except Exception as error:  # of the JVM or of gRPC
        raise JoulebookError(f"Spark could not build {model.name}: {first_line(error)}") from error


def _show_here(con: duckdb.DuckDBPyConnection, model: warehouse.Model, folder: Path) -> None:
    if model.is_view:
        con.execute(f"create or replace view {model.name} as\n{model.sql}")
    else:
        take_back(con, model, folder / model.name)


def take_back(con: duckdb.DuckDBPyConnection, model: warehouse.Model, path: Path) -> None:
    """Lay what Spark wrote of a model before DuckDB.

    Raises:
        WrongUseError: Where this machine finds nothing there.
        BadInputError: Where the model breaks its grain.
    """
    if not any(path.glob("*.parquet")):
        raise WrongUseError(
            f"{path}: Spark wrote {model.name}, and this machine finds nothing there. Give an "
            "--out on storage that every machine of the cluster sees under the same path."
        )
    parts = literal(f"{path}/*.parquet")
    con.execute(f"create or replace view {model.name} as from read_parquet({parts})")
    warehouse.require_grain(con, model)
