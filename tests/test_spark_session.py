"""Without Spark, `--engine spark` says in one line what is missing, and makes nothing."""

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import duckdb
import pytest
from typer.testing import CliRunner

from pipeline import warehouse
from pipeline.cli import app
from pipeline.errors import JoulebookError, WrongUseError
from pipeline.spark import build
from pipeline.spark.session import first_line, open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is there, as far as an import can tell."""
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["pyspark.sql"], "SparkSession", object, raising=False)


def test_no_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("pyspark", "pyspark.sql"):  # the second may be there from a test before
        monkeypatch.setitem(sys.modules, name, None)
    out = tmp_path / "reports"
    ran = CliRunner().invoke(app, ["report", "--engine", "spark", "--out", str(out)])
    assert isinstance(ran.exception, WrongUseError)
    assert "found no pyspark. Run pip install 'joulebook[spark]'" in str(ran.exception)
    assert not out.exists()


@pytest.mark.usefixtures("pyspark")
def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(WrongUseError, match="expected Java 17 or later, found none"):
        open_session("local[2]")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # names a folder without Java
    with pytest.raises(WrongUseError, match="expected Java 17 or later, found none"):
        open_session("spark://127.0.0.1:1")


@pytest.mark.usefixtures("pyspark")
@pytest.mark.parametrize("master", ["sc://127.0.0.1:1", "sc://no-such-host.invalid"])
def test_nobody_answers(master: str) -> None:
    with pytest.raises(WrongUseError, match="expected Spark to answer there, found: "):
        open_session(master)


def test_a_model_that_spark_cannot_build_is_named(tmp_path: Path) -> None:
    class Refusing:
        def sql(self, query: str) -> None:
            raise RuntimeError("\n[OUT_OF_MEMORY] no room\n\tat somewhere")

    model, refusing = warehouse.models()["int_tasks"], cast("SparkSession", Refusing())
    with pytest.raises(JoulebookError, match=r"could not build int_tasks: \[OUT_OF_MEMORY\] no r"):
        build.build_one(refusing, model, tmp_path)
    assert first_line(ValueError("")) == "ValueError"


def test_what_a_cluster_wrote_where_this_machine_does_not_look(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    model = warehouse.models()["int_tasks"]
    with pytest.raises(WrongUseError, match="storage that every machine of the cluster sees"):
        build.take_back(con, model, tmp_path / "int_tasks")
