"""Open a Spark session that counts as DuckDB does, or say in one line why there is none."""

import logging
import os
import shutil
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pipeline.errors import WrongUseError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REACH_S = 5
_PORTS = {"spark": 7077, "sc": 15002}

# A sum or quotient that does not fit must stop the run, never turn null; DECIMAL keeps its scale;
# times are UTC and carry no zone.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
}
_START_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def open_session(master: str, more: dict[str, str] | None = None) -> "SparkSession":
    """Return a session at a master (`local[*]`, `spark://…`, `yarn`) or Connect server (`sc://…`).

    Args:
        master: Where Spark runs.
        more: Settings of Spark beside ours.

    Raises:
        ModuleNotFoundError: Where pyspark is not installed.
        WrongUseError: Where Java is missing, or nothing answers there.
    """
    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").disabled = True  # our own line says what failed
    is_connect = master.startswith("sc://")
    if not is_connect and not _has_java():
        raise WrongUseError(
            "--engine spark: expected Java 17 or later, found none. Install a Java runtime (such "
            "as default-jre-headless), or give a Connect server: --spark-master sc://HOST."
        )
    _require_answer(master)
    builder: Any = SparkSession.builder
    builder = builder.remote(master) if is_connect else builder.master(master)
    settings = {**SETTINGS, **(more or {})}
    if not is_connect:
        settings |= {**_START_SETTINGS, **(more or {})}
        builder = builder.appName("joulebook")
    try:
        for name, value in settings.items():
            builder = builder.config(name, value)
        session: SparkSession = builder.getOrCreate()
        session.sql("select 1").collect()
    except Exception as error:  # of the JVM, of gRPC, of the configuration: all mean the same
        raise WrongUseError(
            f"--spark-master {master}: Spark does not start there: {first_line(error)}"
        ) from None
    return session


def first_line(error: Exception) -> str:
    """Return what an error of Spark says first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return bool(shutil.which(f"{home}/bin/java" if home else "java"))


def _require_answer(master: str) -> None:
    """Ask the port first: Spark itself would try for minutes."""
    parts = urlsplit(master)
    if parts.scheme not in _PORTS or "," in parts.netloc:
        return
    try:
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        socket.create_connection((host, port), _REACH_S).close()
    except (OSError, ValueError) as error:
        raise WrongUseError(
            f"--spark-master {master}: expected Spark to answer there, found: {error}. Check the "
            "address, or leave the option out to run on this machine."
        ) from None
