"""The heads of a table: how they look, what their comments say, and the Excel table below them."""

from collections.abc import Sequence

from openpyxl.cell import Cell
from openpyxl.comments import Comment
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.table import Table as ExcelTable
from openpyxl.worksheet.table import TableStyleInfo
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.numbers import is_number_kind
from pipeline.report.section import Kind
from pipeline.report.workbook.looks import HEAD_FILL, Look, put_on


def dress_head(cell: Cell, kind: Kind, meaning: str) -> None:
    """Give a head its look and, as a comment, what its column means."""
    is_right = is_number_kind(kind)
    look = Look(
        is_bold=True,
        fill=HEAD_FILL,
        edge="head",
        horizontal="right" if is_right else "left",
        vertical="bottom",
        is_wrapped=True,
        indent=0 if is_right or cell.column == 1 else 1,
    )
    put_on(cell, look)
    if meaning:
        cell.comment = Comment(meaning, "Joulebook", height=90, width=260)


def add_table(sheet: Worksheet, name: str, head_row: int, heads: Sequence[str], rows: int) -> None:
    """Make rows that stand below heads one Excel table."""
    last = f"{get_column_letter(len(heads))}{head_row + max(rows, 1)}"
    listed = ExcelTable(displayName=name, ref=f"A{head_row}:{last}")
    listed._initialise_columns()  # else the library makes a cell of every row
    for column, head in zip(listed.tableColumns, heads, strict=True):
        column.name = head
    listed.tableStyleInfo = TableStyleInfo(name="TableStyleLight1", showRowStripes=True)
    sheet.add_table(listed)
