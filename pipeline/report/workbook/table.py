"""A data table of the workbook, as data: typed columns of values, some of them with a formula.

Every formula travels with the value that the pipeline computed for its cell. `{name}` in a formula
is the cell of that column in the same row; a sheet's own writer fills it in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from pipeline.report.section import Kind, Value


@dataclass(frozen=True)
class DataColumn:
    """One column of a data table; its name is the head, unit last."""

    name: str
    kind: Kind
    meaning: str
    values: Sequence[Value]
    formula: str = ""  # of every cell whose value is known, unless `live` says otherwise
    live: Callable[[int], bool] | None = None  # by row, from 0: does the formula stand there?
    unknown: str = "unknown"  # what stands where there is no value
    is_input: bool = False  # blue: a reader may change it
    number_format: str = ""


@dataclass(frozen=True)
class DataTable:
    """One table on a sheet of its own: a sentence in the first row, heads in the second."""

    name: str  # of the Excel table
    sheet: str
    question: str
    columns: tuple[DataColumn, ...]
    note: str = ""
    names: tuple[str, ...] = field(default=())  # columns that say in words what a row is

    @property
    def row_count(self) -> int:
        """Return how many rows the table has."""
        return len(self.columns[0].values) if self.columns else 0


HEAD_ROW = 2  # of every data sheet; data begin in the next


def fact_column(
    frame: pl.DataFrame,
    name: str,
    meaning: str,
    unknown: str = "unmeasured",
    *,
    is_input: bool = False,
) -> DataColumn:
    """Return a column of facts of a frame, its kind read from its type."""
    kind_of = frame.schema[name]
    kind: Kind = "text"
    if kind_of in (pl.Date, pl.Datetime):
        kind = "date"
    elif kind_of.is_integer():
        kind = "count"
    elif kind_of.is_numeric():
        kind = "number"
    return DataColumn(
        name,
        kind,
        meaning,
        frame.get_column(name).to_list(),
        unknown=unknown,
        is_input=is_input,
        number_format=number_format(name) if kind == "number" else "",
    )


def number_format(name: str) -> str:
    """Return how numbers of a column of a data sheet are shown, by the unit in its name."""
    per = name.partition("_per_")[0]
    if per.endswith("_usd"):
        return "#,##0.00####"
    if name.endswith("_frac"):
        return "0.0%"
    if name.endswith("_moved"):
        return "0"
    if name.endswith("_count"):
        return "#,##0.00"
    if name.endswith(("_ratio", "_factor", "_low", "_high")) or name.startswith("batch"):
        return "#,##0.000"
    return "0.000E+00"  # an estimate: four figures, whatever its size
