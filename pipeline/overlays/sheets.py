"""Read the tables of an overlay folder, CSV or workbook, as text cells that know their row.

What cannot be taken as it stands (a formula without a stored value, a row with too many cells) is
refused with file, sheet, row and column.
"""

import csv
import datetime as dt
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError

SUFFIXES = (".csv", ".xlsx")
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")


@dataclass(frozen=True)
class Sheet:
    """One table as it was written: where it stands, its header, and text cells by row number."""

    path: Path
    sheet_name: str  # empty for a CSV
    header: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]

    @property
    def where(self) -> str:
        """Return the file, and the sheet where there are several."""
        return f"{self.path}, sheet '{self.sheet_name}'" if self.sheet_name else str(self.path)

    def fault(self, row: int, column: str, expected: str, found: str, how: str = "") -> str:
        """Return the one line that names a bad cell."""
        hint = f" {how}" if how else ""
        return (
            f"{self.where}, row {row}, column {column}: expected {expected}, found {found!r}.{hint}"
        )


def overlay_files(folder: Path) -> list[Path]:
    """Return the CSV files and workbooks of an overlay folder, by name.

    What a spreadsheet program leaves beside an open workbook (~$name.xlsx) is none.
    """
    return sorted(
        path
        for path in folder.glob("*")
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.name.startswith("~$")
    )


def sheets_of(folder: Path, tables: Sequence[str]) -> dict[str, Sheet]:
    """Return those of the tables that a folder holds, each from one file alone.

    Raises:
        BadInputError: Where a table is there twice, or cannot be read.
    """
    found: dict[str, Sheet] = {}
    for path in overlay_files(folder):
        for table, sheet in sheets_in(path, tables).items():
            if table in found:
                raise BadInputError(
                    f"{sheet.where}: {table} is there already, from {found[table].where}. Keep "
                    "one of the two."
                )
            found[table] = sheet
    return found


def sheets_in(path: Path, tables: Sequence[str]) -> dict[str, Sheet]:
    """Return those of the tables that one file holds."""
    if path.suffix.lower() == ".csv":
        return {path.stem: read_csv(path)} if path.stem in tables else {}
    return read_workbook(path, tables)


def read_csv(path: Path) -> Sheet:
    """Return the rows of a CSV cut by comma or semicolon; lines that begin with # are comments.

    Raises:
        BadInputError: Where it is no UTF-8 text, or a row has more cells than the header.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInputError(
            f"{path}: expected UTF-8 text, found other bytes. Save it as CSV UTF-8."
        ) from None
    first = next((line for line in text.splitlines() if _is_content(line)), "")
    delimiter = ";" if first.count(";") > first.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    lines = [(reader.line_num, cells) for cells in reader if cells and _is_content(cells[0])]
    return _sheet(path, "", [(row, [cell.strip() for cell in cells]) for row, cells in lines])


def read_workbook(path: Path, tables: Sequence[str]) -> dict[str, Sheet]:
    """Return the tables of a workbook by name.

    A workbook named as a table gives the sheet of that name, else its first sheet; any other
    workbook gives every sheet that is named as a table.

    Raises:
        BadInputError: For a file that is no workbook, or a cell that has no value of its own.
    """
    # Here, not above: most commands read overlays, and few overlays are workbooks.
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        formulas = openpyxl.load_workbook(path, read_only=False, data_only=False)
        values = openpyxl.load_workbook(path, read_only=False, data_only=True)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError):
        raise BadInputError(
            f"{path}: expected an Excel workbook (.xlsx), found other bytes. Save it again as "
            ".xlsx, or as CSV."
        ) from None
    names = {name: name for name in formulas.sheetnames if name in tables}
    if path.stem in tables:
        name = path.stem if path.stem in names else formulas.sheetnames[0]
        names = {name: path.stem}
    return {
        table: _sheet(path, name, list(_cells(path, name, formulas[name], values[name])))
        for name, table in names.items()
    }


def _is_content(cell: str) -> bool:
    return not cell.lstrip().startswith("#")


def _sheet(path: Path, name: str, lines: list[tuple[int, list[str]]]) -> Sheet:
    filled = [(row, cells) for row, cells in lines if any(cells)]
    if not filled:
        return Sheet(path, name, (), ())
    (_, header), *body = filled
    while header and not header[-1]:
        header = header[:-1]
    sheet = Sheet(path, name, tuple(header), ())
    if len(set(header)) < len(header) or "" in header:
        twice = {name for name in header if header.count(name) > 1} - {""}
        faults = sorted(twice | ({"no name"} if "" in header else set()))
        raise BadInputError(
            f"{sheet.where}: expected every column named once in the first row, found "
            f"{', '.join(map(repr, faults))} twice or empty."
        )
    rows = []
    for row, cells in body:
        if any(cells[len(header) :]):
            raise BadInputError(
                f"{sheet.where}, row {row}: expected {len(header)} cells, found {len(cells)}. "
                "Quote texts that hold the sign between cells; write a decimal point, not a comma."
            )
        padded = [*cells, *[""] * len(header)][: len(header)]
        rows.append((row, dict(zip(header, padded, strict=True))))
    return Sheet(path, name, tuple(header), tuple(rows))


def _cells(
    path: Path,
    name: str,
    formulas: Any,  # noqa: ANN401  # a worksheet: openpyxl carries no types
    values: Any,  # noqa: ANN401
) -> Iterator[tuple[int, list[str]]]:
    header: list[str] = []
    for written, stored in zip(formulas.iter_rows(), values.iter_rows(), strict=True):
        row = written[0].row
        texts = []
        for cell, result in zip(written, stored, strict=True):
            if cell.data_type == "f" and result.value is None:
                column = header[cell.column - 1] if header else cell.coordinate
                raise BadInputError(
                    Sheet(path, name, (), ()).fault(
                        row,
                        column,
                        "a value",
                        "a formula without a stored value",
                        "Open and save the workbook in a spreadsheet program, or write the value.",
                    )
                )
            texts.append(_text(result.value))
        if texts and not _is_content(texts[0]):
            continue
        header = header or texts
        yield row, texts


def _text(value: object) -> str:
    """Return a cell's value as a CSV would spell it; a day is a date, an error stays its sign."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time()
        return value.date().isoformat() if midnight else value.isoformat(timespec="seconds")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat(timespec="minutes") if isinstance(value, dt.time) else str(value)
    return str(value).strip()


def is_error(text: str) -> bool:
    """Return whether a cell holds what a spreadsheet shows for a failed formula."""
    return text in _ERRORS
