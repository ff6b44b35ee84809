"""Build every model on Spark, and lay the tables before DuckDB as if it had built them.

The raw tables go out as Parquet, each model comes back as Parquet: so no plan grows with the
models before it, and a machine that is lost costs the model in hand. The reports read what came
back on one machine.
"""

import functools
from collections.abc import Callable
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


Tell = Callable[[str], None]


def builder_at(master: str) -> Callable[[duckdb.DuckDBPyConnection, Path, Tell], None]:
    """Return what builds the models of a warehouse at a Spark master.

    Raises:
        WrongUseError: Where there is no Spark.
    """
    return functools.partial(build, open_session(master))


def build(
    session: "SparkSession", con: duckdb.DuckDBPyConnection, folder: Path, tell: Tell
) -> None:
    """Build all models on Spark from the raw tables of a warehouse, into a new folder.

    Raises:
        JoulebookError: Where Spark cannot build a model.
        WrongUseError: Where this machine does not see what Spark wrote.
        BadInputError: Where a model breaks its grain.
    """
    _send_raw_tables(con, session, folder / "raw")
    for model in warehouse.ordered_models():
        tell(f"building {model.name} on Spark")
        build_one(session, model, folder)
        if model.is_view:
            con.execute(f"create or replace view {model.name} as\n{model.sql}")
        else:
            take_back(con, model, folder / model.name)


def _send_raw_tables(con: duckdb.DuckDBPyConnection, session: "SparkSession", folder: Path) -> None:
    folder.mkdir(parents=True)
    names = con.execute(
        "select table_name from information_schema.tables where table_name like 'raw\\_%' "
        "escape '\\' order by 1"
    ).fetchall()
    for (name,) in names:
        path = folder / name
        con.execute(
            f"copy (from {name}) to {literal(str(path))} "
            f"(format parquet, file_size_bytes '{_PART_SIZE}')"
        )
        session.read.parquet(str(path)).createOrReplaceTempView(name)


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
