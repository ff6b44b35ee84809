"""The engines that build the models: DuckDB in this process, or Spark."""

from pipeline.errors import WrongUseError
from pipeline.job import Build, build_here


def builder_of(engine: str, spark_master: str | None, *, is_workspace: bool = False) -> Build:
    """Return what builds the models on an engine; Spark runs on this machine unless told where.

    Raises:
        WrongUseError: For another engine, a master without Spark, where there is no Spark, and for
            Spark in a workspace, whose closed months stay the same to the byte.
    """
    if engine not in ("duckdb", "spark"):
        raise WrongUseError(f"--engine {engine}: expected duckdb or spark.")
    if engine == "spark" and is_workspace:
        raise WrongUseError(
            "--engine spark: a workspace is built with duckdb, so that closed months stay the same "
            "to the byte. Give --usage."
        )
    if engine == "spark":
        return _on_spark(spark_master or "local[*]")
    if spark_master is not None:
        raise WrongUseError(f"--spark-master {spark_master}: expected --engine spark beside it.")
    return build_here


def _on_spark(master: str) -> Build:
    try:
        from pipeline.spark.build import builder_at

        return builder_at(master)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise WrongUseError(
            f"--engine spark: expected the packages of the extra, found no {package}. "
            "Run pip install 'joulebook[spark]'."
        ) from None
