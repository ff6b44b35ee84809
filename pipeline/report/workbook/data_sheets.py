"""Put data tables into the workbook: heads and look here, rows by the fast writer after saving."""

from collections.abc import Mapping

from openpyxl.cell import Cell
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.language import Language
from pipeline.report.numbers import is_number_kind, show
from pipeline.report.section import Kind
from pipeline.report.workbook.cache import Fillings, SheetRows
from pipeline.report.workbook.cells import write_text
from pipeline.report.workbook.heads import add_table, dress_head
from pipeline.report.workbook.layout import Place
from pipeline.report.workbook.letters import widest_line
from pipeline.report.workbook.looks import FAINT, INK, INPUT_FILL, INPUT_INK, Look, put_on
from pipeline.report.workbook.print import LINES_SHOWN, print_first_page, set_print
from pipeline.report.workbook.rows import lines_of_row
from pipeline.report.workbook.table import HEAD_ROW, DataColumn, DataTable

_NARROWEST, _WIDEST, _WIDEST_SENTENCE = 9, 42, 64  # letters
_ROWS_MEASURED = 200
_PRINTED_WHOLE = ("Prices",)  # of the others, which are looked up and pivoted, the first page
_NAMING = "A:C"  # number, provider and model of a price, on each page that it takes
_FORMATS: dict[Kind, str] = {
    "count": "#,##0",
    "tokens": "#,##0",
    "usd": "#,##0.00####",
    "j": "0.000E+00",  # four figures, whatever the size
    "date": "yyyy-mm-dd",
    "datetime": "yyyy-mm-dd hh:mm",
    "text": "@",
    "id": "@",
}


def add_data_sheet(
    sheet: Worksheet, table: DataTable, fillings: Fillings, footer: str, language: Language
) -> Place:
    """Write a data table's sentence and heads, and leave its rows to be filled in.

    Heads stay the English names that formulas use; what they mean is said in the language.
    """
    said = (language.text(table.question.strip()), language.text(table.note))
    question = " ".join(filter(None, said))
    write_text(sheet.cell(1, 1), question, Look(color=FAINT))
    longest = {column.name: _longest(column) for column in table.columns}
    widths = [_width(column, longest[column.name]) for column in table.columns]
    for number, column in enumerate(table.columns, start=1):
        head = sheet.cell(HEAD_ROW, number)
        write_text(head, column.name)
        dress_head(head, column.kind, language.text(column.meaning))
        sheet.column_dimensions[get_column_letter(number)].width = widths[number - 1]
        if column.is_input and table.row_count:
            _validate(sheet, table, number, language)
    add_table(sheet, table.name, HEAD_ROW, [c.name for c in table.columns], table.row_count)
    wrapped = {
        column.name: width - 2
        for column, width in zip(table.columns, widths, strict=True)
        if _is_wrapped(column, longest[column.name])
    }
    fillings.rows[sheet.title] = SheetRows(
        table,
        {
            column.name: _style_number(
                sheet, _look(column, is_first=number == 0, is_wrapped=column.name in wrapped)
            )
            for number, column in enumerate(table.columns)
        },
        _style_number(sheet, Look("@", horizontal="left", is_quoted=True)),
        wrapped,
    )
    sheet.freeze_panes = f"A{HEAD_ROW + 1}"
    sheet.print_title_rows = f"{HEAD_ROW}:{HEAD_ROW}"
    set_print(sheet, footer, widths, language)
    if sheet.title in _PRINTED_WHOLE:
        sheet.print_title_cols = _NAMING
    else:
        print_first_page(sheet, HEAD_ROW, _lines(table, wrapped), widths, language)
    names = tuple(column.name for column in table.columns)
    return Place(sheet.title, HEAD_ROW, names, table.row_count)


def _style_number(sheet: Worksheet, look: Look) -> int:
    """Return the number of a cell format, made on a cell that is no part of the sheet."""
    cell = Cell(sheet, row=1, column=1)
    put_on(cell, look)
    return int(cell.style_id)


def _lines(table: DataTable, wrapped: Mapping[str, int]) -> list[int]:
    """Return the lines of text of the first rows."""
    return [lines_of_row(table, row, wrapped) for row in range(min(table.row_count, LINES_SHOWN))]


def _look(column: DataColumn, *, is_first: bool, is_wrapped: bool) -> Look:
    is_right = is_number_kind(column.kind)
    return Look(
        number_format=column.number_format or _FORMATS.get(column.kind, "General"),
        color=INPUT_INK if column.is_input else INK,
        fill=INPUT_FILL if column.is_input else "",
        horizontal="right" if is_right else "left",
        indent=0 if is_right or is_first else 1,  # off the number to its left
        is_unlocked=column.is_input,
        is_wrapped=is_wrapped,
        vertical="top",
    )


def _longest(column: DataColumn) -> int:
    shown = (show(value, column.kind) for value in set(column.values[:_ROWS_MEASURED]))
    return max(map(widest_line, shown), default=0)


def _width(column: DataColumn, longest: int) -> int:
    needed = max(longest + 3, widest_line(column.name) + 4, _NARROWEST)
    return min(needed, _WIDEST_SENTENCE if column.kind == "text" else _WIDEST)


def _is_wrapped(column: DataColumn, longest: int) -> bool:
    return column.kind == "text" and longest > _WIDEST_SENTENCE


def _validate(sheet: Worksheet, table: DataTable, number: int, language: Language) -> None:
    letter = get_column_letter(number)
    rule = DataValidation(
        type="decimal",
        operator="greaterThanOrEqual",
        formula1="0",
        errorTitle=language.text("Not a number"),
        error=language.text("Expected a number of 0 or more."),
        showErrorMessage=True,
    )
    rule.add(f"{letter}{HEAD_ROW + 1}:{letter}{HEAD_ROW + table.row_count}")
    sheet.add_data_validation(rule)
