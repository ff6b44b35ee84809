"""Which models the user holds to answer a class of work equally well: `equal_quality`."""

from collections.abc import Iterable
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError, WrongUseError
from pipeline.overlays.mapping_files import MappingRow, read_mapping
from pipeline.overlays.model_names import require_model

TABLE = "equal_quality"
REQUIRED = ("query_class", "model")
COLUMNS = (*REQUIRED, "source")


def load_equal_quality(
    con: duckdb.DuckDBPyConnection, folder: Path, query_classes: Iterable[str]
) -> None:
    """Create raw_equal_quality from the overlay folder's file, empty where there is none.

    All models named for a class form one set: within it, and only there, a saving by the choice of
    a model is stated. Several names of one model are one row. `source` may say who holds them so.

    Raises:
        BadInputError: Where a row names no class or model that is known.
    """
    con.execute(
        "create or replace table raw_equal_quality "
        "(query_class varchar, model_id varchar, source varchar)"
    )
    known = tuple(query_classes)
    rows = read_mapping(folder, TABLE, COLUMNS, required=REQUIRED)
    told = {(_class(row, known), _model(con, row)): row.cells["source"] for row in reversed(rows)}
    for (query_class, model_id), source in sorted(told.items()):
        con.execute(
            "insert into raw_equal_quality values ($query_class, $model_id, $source)",
            {"query_class": query_class, "model_id": model_id, "source": source},
        )


def _class(row: MappingRow, known: tuple[str, ...]) -> str:
    named = (row.cells["query_class"] or "").lower()
    if named not in known:
        raise row.fault("query_class", f"one of {', '.join(known)}")
    return named


def _model(con: duckdb.DuckDBPyConnection, row: MappingRow) -> str:
    if row.cells["model"] is None:
        raise row.fault("model", "an id or alias of the catalog")
    try:
        return require_model(con, row.cells["model"])
    except WrongUseError as error:
        raise BadInputError(f"{row.where}: row {row.line}, column model: {error}") from None
