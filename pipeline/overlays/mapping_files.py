"""Read a mapping file of the overlay folder: every fault names its row and column.

A cell left empty says nothing.
"""

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import BadInputError
from pipeline.overlays.sheets import Sheet, sheets_of

PERIOD = ("valid_from", "valid_to")
FIRST_DAY, DAY_AFTER_LAST = dt.date(1900, 1, 1), dt.date(9999, 1, 1)


@dataclass(frozen=True)
class MappingRow:
    """One row of a mapping: its file and line, and its cells by column, None where one is empty."""

    where: str
    line: int
    cells: dict[str, str | None]

    def fault(self, column: str, expected: str) -> BadInputError:
        """Return the error that a cell is not as expected."""
        found = self.cells[column]
        return BadInputError(
            f"{self.where}: row {self.line}, column {column}: expected {expected}, found "
            f"{'nothing' if found is None else repr(found)}."
        )

    def day(self, column: str) -> dt.date | None:
        """Return a cell as a day, None where it is empty.

        Raises:
            BadInputError: Where it is no day written YYYY-MM-DD.
        """
        text = self.cells[column]
        try:
            return None if text is None else dt.date.fromisoformat(text)
        except ValueError:
            raise self.fault(column, "a day such as 2026-10-01") from None

    def period(self) -> dict[str, str | None]:
        """Return its first day and the first day after it, as ISO text, None where left open."""
        days = {column: self.day(column) for column in PERIOD}
        return {column: day.isoformat() if day else None for column, day in days.items()}


def read_mapping(
    folder: Path, table: str, columns: Sequence[str], required: Collection[str]
) -> list[MappingRow]:
    """Return the rows of a mapping in an overlay folder, none where there is no such mapping.

    Args:
        folder: The overlay folder: CSV files, and workbooks with a sheet a table.
        table: Name of the mapping.
        columns: Every column it may have.
        required: Those that it must have.

    Raises:
        BadInputError: Where it is no CSV in UTF-8 or workbook, is there twice, a column is missing
            or not known, or a row has more cells than the head.
    """
    sheet = sheets_of(folder, (table,)).get(table)
    if sheet is None:
        return []
    _require_columns(sheet, columns, required)
    return [_row(sheet.where, line, cells, columns) for line, cells in sheet.rows]


def require_one_meaning(rows: Iterable[MappingRow], key: Callable[[MappingRow], object]) -> None:
    """Refuse two rows of the same key whose periods share a day.

    Raises:
        BadInputError: Naming both rows, or a row whose period is empty.
    """
    seen: dict[object, list[tuple[dt.date, dt.date, MappingRow]]] = {}
    for row in rows:
        start = row.day("valid_from") or FIRST_DAY
        end = row.day("valid_to") or DAY_AFTER_LAST
        if end <= start:
            raise row.fault("valid_to", "a day after valid_from (the first that no longer counts)")
        others = seen.setdefault(key(row), [])
        for other_start, other_end, other in others:
            if start < other_end and other_start < end:
                raise BadInputError(
                    f"{row.where}: rows {other.line} and {row.line} match the same and share days; "
                    "expected one row for each, or periods that do not overlap."
                )
        others.append((start, end, row))


def _require_columns(sheet: Sheet, columns: Sequence[str], required: Collection[str]) -> None:
    faults = {
        "missing": [name for name in columns if name in required and name not in sheet.header],
        "not known": [name for name in sheet.header if name not in columns],
    }
    if any(faults.values()):
        said = "; ".join(
            f"{fault}: {', '.join(map(repr, names))}" for fault, names in faults.items() if names
        )
        raise BadInputError(
            f"{sheet.where}: row 1: expected columns out of {', '.join(columns)}; found {said}."
        )


def _row(where: str, line: int, cells: dict[str, str], columns: Sequence[str]) -> MappingRow:
    return MappingRow(where, line, {name: cells.get(name) or None for name in columns})
