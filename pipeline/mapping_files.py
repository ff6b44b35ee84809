"""Read a mapping file of the overlay folder: every fault names its row and column.

A mapping is CSV with a head, cut by commas or semicolons. A cell left empty says nothing.
"""

import csv
import datetime as dt
import io
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import BadInputError

PERIOD = ("valid_from", "valid_to")
FIRST_DAY, DAY_AFTER_LAST = dt.date(1900, 1, 1), dt.date(9999, 1, 1)


@dataclass(frozen=True)
class MappingRow:
    """One row of a mapping file: its line, and its cells by column, None where one is empty."""

    path: Path
    line: int
    cells: dict[str, str | None]

    def fault(self, column: str, expected: str) -> BadInputError:
        """Return the error that a cell is not as expected."""
        found = self.cells[column]
        return BadInputError(
            f"{self.path}: row {self.line}, column {column}: expected {expected}, found "
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


def read_mapping(path: Path, columns: Sequence[str], required: Collection[str]) -> list[MappingRow]:
    """Return the rows of a mapping file; rows without any cell filled are passed over.

    Args:
        path: The file.
        columns: Every column it may have.
        required: Those that it must have.

    Raises:
        BadInputError: Where it is no CSV in UTF-8, a column is missing, twice there or not known,
            or a row has more cells than the head.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInputError(f"{path}: expected CSV in UTF-8, found other bytes.") from None
    head = text.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if ";" in head and "," not in head else ","
    )
    try:
        names = [name.strip() for name in next(reader, [])]
        _require_columns(path, names, columns, required)
        lines = [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        raise BadInputError(
            f"{path}: row {reader.line_num}: expected CSV, found {error}."
        ) from None
    return [_row(path, line, names, cells, columns) for line, cells in lines]


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
                    f"{row.path}: rows {other.line} and {row.line} match the same and share days; "
                    "expected one row for each, or periods that do not overlap."
                )
        others.append((start, end, row))


def _require_columns(
    path: Path, found: Sequence[str], columns: Sequence[str], required: Collection[str]
) -> None:
    faults = {
        "missing": [name for name in columns if name in required and name not in found],
        "not known": [name for name in found if name not in columns],
        "twice": sorted({name for name in found if found.count(name) > 1}),
    }
    if any(faults.values()):
        said = "; ".join(
            f"{fault}: {', '.join(map(repr, names))}" for fault, names in faults.items() if names
        )
        raise BadInputError(
            f"{path}: row 1: expected columns out of {', '.join(columns)}; found {said}."
        )


def _row(
    path: Path, line: int, names: Sequence[str], cells: Sequence[str], columns: Sequence[str]
) -> MappingRow:
    if len(cells) > len(names):
        raise BadInputError(
            f"{path}: row {line}: expected {len(names)} cells as in the head, found {len(cells)}. "
            "Put quotes around a cell that holds the separator."
        )
    filled = {name: cell.strip() or None for name, cell in zip(names, cells, strict=False)}
    return MappingRow(path, line, {name: filled.get(name) for name in columns})
