"""What answers were worth: `quality.csv`, accuracy measured at several budgets of reasoning."""

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError, WrongUseError
from pipeline.overlays.mapping_files import MappingRow, read_mapping
from pipeline.overlays.model_names import require_model

TABLE = "quality"
REQUIRED = (
    *("model", "query_class", "budget", "accuracy_frac", "chance_frac", "output_tokens"),
    *("source", "source_date"),
)
COLUMNS = (*REQUIRED, "input_tokens", "value_usd")
_MOST_USD = 1e6  # no right answer is worth more
_MOST_TOKENS = 1e8  # more is no length of a request
_ROW = "(model_id varchar, query_class varchar, budget varchar, accuracy_frac double, "
_ROW += "chance_frac double, input_tokens double, output_tokens double, value_usd double, "
_ROW += "source varchar, source_date date)"


def load_quality(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create raw_quality from the overlay folder's file, empty where there is none.

    Raises:
        BadInputError: Where a cell is not readable, an accuracy lies outside of chance and 1, a
            budget stands there twice, or a larger budget writes less.
    """
    con.execute(f"create or replace table raw_quality {_ROW}")
    rows = read_mapping(folder, TABLE, COLUMNS, required=REQUIRED)
    if not rows:
        return
    found = con.execute("select query_class from raw_query_classes order by 1").fetchall()
    classes = [str(each) for (each,) in found]
    read = [(row, _read(con, row, classes)) for row in rows]
    _require_order(read)
    for _, told in read:
        con.execute(
            "insert into raw_quality by name select "
            + ", ".join(f"${name} as {name}" for name in told),
            told,
        )


def _read(
    con: duckdb.DuckDBPyConnection, row: MappingRow, classes: Sequence[str]
) -> dict[str, object]:
    for name in REQUIRED:
        if row.cells[name] is None:
            raise row.fault(name, "a value")
    try:
        model_id = require_model(con, row.cells["model"] or "")
    except WrongUseError:
        raise row.fault("model", "a model of the catalog (`joulebook models` lists it)") from None
    query_class = (row.cells["query_class"] or "").lower()
    if query_class not in classes:
        raise row.fault("query_class", f"one of {', '.join(classes)}")
    chance = _number(row, "chance_frac", 0, 1, "a share from 0 to 1")
    accuracy = _number(
        row, "accuracy_frac", chance, 1, f"a share from chance_frac ({chance:g}) to 1"
    )
    tokens = {
        name: _number(row, name, 1, _MOST_TOKENS, "a mean number of tokens, 1 or more")
        for name in ("output_tokens", "input_tokens")
        if row.cells[name] is not None
    }
    value = (
        None
        if row.cells["value_usd"] is None
        else _number(row, "value_usd", 0, _MOST_USD, "what a right answer is worth, in USD")
    )
    return {
        **{"model_id": model_id, "query_class": query_class, "budget": row.cells["budget"]},
        **{"accuracy_frac": accuracy, "chance_frac": chance, "input_tokens": None, **tokens},
        **{
            "value_usd": value,
            "source": row.cells["source"],
            "source_date": row.day("source_date"),
        },
    }


def _number(row: MappingRow, column: str, least: float, most: float, expected: str) -> float:
    try:
        value = float(row.cells[column] or "")
    except ValueError:
        raise row.fault(column, expected) from None
    if not least <= value <= most:
        raise row.fault(column, expected)
    return value


def _require_order(read: Sequence[tuple[MappingRow, dict[str, object]]]) -> None:
    """Refuse a budget told twice, and numbered budgets of which a larger one writes less."""

    def line(each: tuple[MappingRow, dict[str, object]]) -> tuple[str, str]:
        return str(each[1]["model_id"]), str(each[1]["query_class"])

    for _, group in groupby(sorted(read, key=line), key=line):
        rows = [row for row, _ in group]
        seen: dict[str, int] = {}
        for row in rows:
            budget = (row.cells["budget"] or "").lower()
            if budget in seen:
                raise BadInputError(
                    f"{row.where}: rows {seen[budget]} and {row.line}: expected one row for a "
                    f"budget of a model and class, found {row.cells['budget']!r} twice."
                )
            seen[budget] = row.line
        sizes = ((_size(row.cells["budget"] or ""), row) for row in rows)
        numbered = sorted(
            ((size, row) for size, row in sizes if size is not None), key=lambda each: each[0]
        )
        for (_, smaller), (_, larger) in pairwise(numbered):
            if float(larger.cells["output_tokens"] or 0) < float(
                smaller.cells["output_tokens"] or 0
            ):
                raise larger.fault(
                    "output_tokens",
                    f"no fewer than the {smaller.cells['output_tokens']} of the smaller budget "
                    f"{smaller.cells['budget']} in row {smaller.line}",
                )


def _size(budget: str) -> float | None:
    try:
        size = float(budget)
    except ValueError:
        return None
    return size if math.isfinite(size) else None
