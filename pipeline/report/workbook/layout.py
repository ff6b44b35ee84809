"""Where the tables of a workbook stand, so that a cell can be traced to a row and a column."""

from collections.abc import Mapping
from dataclasses import dataclass

from openpyxl.utils import coordinate_to_tuple


@dataclass(frozen=True)
class Place:
    """One table on a sheet: its heads, the names of its columns from A on, its rows below."""

    sheet: str
    head_row: int
    columns: tuple[str, ...]
    row_count: int


@dataclass(frozen=True)
class TablePoint:
    """A cell as a table's row, from 0, and column; `row` is the row count for a total."""

    table: str
    row: int
    column: str


def point_at(places: Mapping[str, Place], sheet: str, cell: str) -> TablePoint | None:
    """Return what stands in a cell such as `F12`, None where no table is."""
    row, column = coordinate_to_tuple(cell)
    for name, place in places.items():
        index = row - place.head_row - 1
        if place.sheet == sheet and 0 <= index <= place.row_count and column <= len(place.columns):
            return TablePoint(name, index, place.columns[column - 1])
    return None
