"""Write the rows of a data sheet as XML, fast and in little memory, formulas with their results.

The library would hold every cell as an object; a sheet of a hundred thousand rows is text that is
the same in every row but for numbers, so it is written as text. Values become numbers only where
they are numbers: no text from a log can be anything but text.
"""

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from xml.sax.saxutils import escape

from openpyxl.utils import get_column_letter

from pipeline.report.numbers import FORMULA_STARTS, NOT_A_NUMBER, clean_text, is_finite
from pipeline.report.section import Value
from pipeline.report.workbook.letters import line_count
from pipeline.report.workbook.table import HEAD_ROW, DataColumn, DataTable

_PLACE = re.compile(r"\{(\w+)\}")
_EPOCH = dt.datetime(1899, 12, 30)
_MOST_DIGITS = 2**53
_ROWS_AT_ONCE = 2_000
_LINE_POINTS = 15
_NAMES_KEPT = 4_096  # cells of text of a column, to be written again
_NONE: Mapping[str, int] = {}


def row_xml(
    table: DataTable, styles: Mapping[str, int], quoted: int, wrapped: Mapping[str, int] = _NONE
) -> Iterator[str]:
    """Yield the rows of a table as pieces of sheet XML, from the row below the heads.

    Args:
        table: The table.
        styles: For every column the number of its cell format in the workbook.
        quoted: The format of text that begins as a formula does, so that it stays text when a
            reader edits its cell.
        wrapped: For every column whose text wraps, the digits that fit into a line of it.
    """
    writers = [
        _cells_writer(table, column, get_column_letter(number), styles[column.name], quoted)
        for number, column in enumerate(table.columns, start=1)
    ]
    for start in range(0, table.row_count, _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, table.row_count)
        places = [str(index + HEAD_ROW + 1) for index in range(start, stop)]
        columns = [
            write(column.values[start:stop], start, places)
            for write, column in zip(writers, table.columns, strict=True)
        ]
        rows = []
        for index, row, cells in zip(
            range(start, stop), places, zip(*columns, strict=True), strict=True
        ):
            lines = lines_of_row(table, index, wrapped)
            height = f' ht="{_LINE_POINTS * lines}" customHeight="1"' if lines > 1 else ""
            rows.append(f'<row r="{row}"{height}>{"".join(cells)}</row>')
        yield "".join(rows)


def lines_of_row(table: DataTable, index: int, wrapped: Mapping[str, int]) -> int:
    """Return the lines of text of a row, which no program works out."""
    if not wrapped:
        return 1
    texts = {c.name: str(c.values[index] or "") for c in table.columns if c.name in wrapped}
    return max((line_count(text, wrapped[name]) for name, text in texts.items()), default=1)


def value_xml(value: Value, unknown: str) -> tuple[str, str]:
    """Return a cell's type and its value as XML text: ("n", "1.5") or ("str", "chat")."""
    if isinstance(value, bool):
        return "str", "yes" if value else "no"
    if isinstance(value, (int, float, Decimal)):
        return ("n", _number(value)) if is_finite(value) else ("str", NOT_A_NUMBER)
    if value is None:
        return "str", escape(unknown)
    if isinstance(value, dt.date):
        return "n", _serial(value)
    return "str", escape(clean_text(value))


def filled(template: str, cells: dict[str, str]) -> str:
    """Return a formula with its placeholders replaced by cells."""
    return _PLACE.sub(lambda match: cells[match[1]], template)


def _cells_writer(
    table: DataTable, column: DataColumn, letter: str, style: int, quoted: int
) -> Callable[[Sequence[Value], int, Sequence[str]], list[str]]:
    """Return what writes the cells of a column from some row on: their values and row numbers."""
    pieces = _formula_pieces(table, column)
    is_text = column.kind in ("text", "id")
    head, number_tail = f'<c r="{letter}', f'" s="{style}"><v>'

    def stored(value: Value) -> str:
        """Return a cell after its row number: a number, or text that nothing runs."""
        kind, shown = value_xml(value, column.unknown)
        if kind == "n" and not is_text:
            return f"{number_tail}{shown}</v></c>"
        text_style = quoted if shown.startswith(FORMULA_STARTS) else style
        return f'" s="{text_style}" t="inlineStr"><is><t xml:space="preserve">{shown}</t></is></c>'

    stored_text = functools.lru_cache(_NAMES_KEPT)(stored)  # names stand in row after row

    def plain(value: Value, row: str) -> str:
        if type(value) is str or value is None:
            return f"{head}{row}{stored_text(value)}"
        return f"{head}{row}{stored(value)}"

    def live(value: Value, row: str) -> str:
        kind, shown = value_xml(value, column.unknown)
        typed = "" if kind == "n" else ' t="str"'
        return f'{head}{row}" s="{style}"{typed}><f>{row.join(pieces)}</f><v>{shown}</v></c>'

    def write(values: Sequence[Value], start: int, rows: Sequence[str]) -> list[str]:
        if not pieces:
            return [plain(value, row) for value, row in zip(values, rows, strict=True)]
        return [
            live(value, row)
            if value is not None and (column.live is None or column.live(index))
            else plain(value, row)
            for index, (value, row) in enumerate(zip(values, rows, strict=True), start)
        ]

    return write


def _formula_pieces(table: DataTable, column: DataColumn) -> list[str]:
    """Cut a formula where the row number goes, so that a row is one join."""
    if not column.formula:
        return []
    letters = {
        each.name: "$" + get_column_letter(number)
        for number, each in enumerate(table.columns, start=1)
    }
    text = _PLACE.sub(lambda match: f"{letters[match[1]]}\x00", column.formula)
    return [escape(piece) for piece in text.split("\x00")]


def _number(value: float | Decimal) -> str:
    if isinstance(value, int) and abs(value) <= _MOST_DIGITS:
        return str(value)
    return repr(float(value))


def _serial(value: dt.date) -> str:
    """Return the day number of a spreadsheet; times with a zone become UTC."""
    if not isinstance(value, dt.datetime):
        return str((value - _EPOCH.date()).days)
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return repr((value - _EPOCH) / dt.timedelta(days=1))
