"""A Spark Connect server gives the tables of DuckDB, where one key holds nearly all rows too.

It is reached over gRPC: no JVM of this process, and Spark's adaptive execution as users have it.
"""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from need import need_package, need_program
from source_rows import lines

from pipeline import warehouse
from pipeline.ingest.load import find_files, load
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# Names, prices, tasks, laws and DECIMAL work; all models stand in the test of both engines.
ROWS = {"int_tasks": 21, "int_class_work": 4}  # the one task and the rare; a model's stand-ins
TARGETS = tuple(ROWS)
WAIT_S = 120


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Connect server of our own."""
    need_package("grpc")
    need_program("java")
    import pyspark

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", SERVER]
    command += [part for each in settings.items() for part in ("--conf", "=".join(each))]
    log = tmp_path_factory.mktemp("connect") / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            cwd=log.parent,
            env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
        )
    try:
        _wait_for(port, server, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if server.poll() is not None or time.monotonic() > until:
                pytest.fail(f"no Connect server: {log.read_text('utf-8')[-2000:]}")
            time.sleep(0.2)
        else:
            return


def skewed_rows() -> list[dict[str, object]]:
    """Return requests of which 99 of 100 have one model, user, team and task."""
    rows: list[dict[str, object]] = []
    for number in range(2_000):
        is_rare = number % 100 == 0
        rows.append(
            {
                "request_id": f"r{number}",
                "occurred_at": f"2026-10-{1 + number % 28:02d}T{number % 24:02d}:00:00Z",
                "model_name": "gpt-5-mini" if is_rare else "Qwen/Qwen3-8B",
                "team": f"team-{number}" if is_rare else "search",
                "user_id": f"user-{number}" if is_rare else "robot",
                "task_id": f"task-{number}" if is_rare else "crawl",
                "query_class": "chat" if is_rare else "batch_extraction",
                "input_tokens": 100 + number,
                "output_tokens": 1 + number % 700,
            }
        )
    return rows


def loaded(log: Path) -> duckdb.DuckDBPyConnection:
    """Return a warehouse with a log, no model built."""
    settings = Settings(inputs=(Input(str(log)),))
    con = warehouse.connect(None, 1, threads=2)
    load_reference(con, settings)
    load(con, find_files(settings.inputs, settings.folder), settings)
    return con


@pytest.mark.slow
def test_a_connect_server_gives_the_tables_of_duckdb(master: str, tmp_path: Path) -> None:
    from pipeline.spark.build import build
    from pipeline.spark.session import open_session

    log = lines(tmp_path / "log.jsonl", skewed_rows())
    session = open_session(master)
    with loaded(log) as here, loaded(log) as there:
        try:
            build(session, there, tmp_path / "models", lambda text: None, TARGETS)
        finally:
            session.stop()
        warehouse.build(here, TARGETS)

        for name in TARGETS:
            keys = ", ".join(warehouse.models()[name].grain)
            ours, theirs = (
                con.execute(f"from {name} order by {keys}").fetchall() for con in (here, there)
            )
            assert len(ours) == ROWS[name]
            assert theirs == ours
