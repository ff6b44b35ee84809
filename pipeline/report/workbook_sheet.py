"""Write one sheet from the top: lines of text, tables, totals; then its widths, panes and print."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Border, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.table import Table as ExcelTable
from openpyxl.worksheet.table import TableStyleInfo
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.numbers import UNKNOWN, is_number_kind, show
from pipeline.report.palette import ACCENT
from pipeline.report.section import Column, KeyFigure, Kind, Table
from pipeline.report.workbook_cells import FAINT, font, write_text, write_value

_NARROWEST, _WIDEST_OF_MANY, _WIDEST_OF_FEW = 11, 46, 96  # letters
_FEW_COLUMNS, _COLUMNS_ON_SCREEN = 3, 6
_LINE_HEIGHT, _MOST_LINES = 15, 20  # points, lines
_ONE_LINE_HEAD = 12  # letters; longer heads wrap
_INK = "1D2733"
_HEAD_FILL = PatternFill("solid", fgColor="E8F1F5")
_HEAD_EDGE = Border(bottom=Side(style="medium", color=ACCENT.lstrip("#")))
_TOTAL_EDGE = Border(top=Side(style="thin", color=_INK))
_KEY_COLUMNS = (
    Column("figure", "Figure", "text"),
    Column("value", "Value", "number"),
    Column("low", "Low (5 %)", "number"),
    Column("high", "High (95 %)", "number"),
    Column("unit", "Unit", "text"),
    Column("note", "Note", "text"),
)


@dataclass
class SheetWriter:
    """One sheet while it is written: where the next row goes, how much room each text needs."""

    sheet: Worksheet
    next_row: int = 1
    head_rows: list[int] = field(default_factory=list)
    column_count: int = 1
    widths: dict[int, int] = field(default_factory=dict)
    wrapped: list[tuple[int, int, str]] = field(default_factory=list)  # row, column, text

    def line(self, text: str, *, size: int = 11, bold: bool = False, color: str = _INK) -> None:
        """Write one line of text, which may run on over the empty cells to its right."""
        cell = self.sheet.cell(self.next_row, 1)
        write_text(cell, text)
        cell.font = font(size=size, bold=bold, color=color)
        self.next_row += 1

    def skip(self, rows: int = 1) -> None:
        """Leave rows empty."""
        self.next_row += rows

    def key_figures(self, figures: Sequence[KeyFigure]) -> None:
        """Write headline numbers as a table, each with the number format of its own kind."""
        self._heads("key_figures", _KEY_COLUMNS, len(figures))
        for figure in figures:
            values = (figure.label, figure.value, figure.low, figure.high, figure.unit, figure.note)
            kinds: tuple[Kind, ...] = ("text", *[figure.kind] * 3, "text", "text")
            for number, (value, kind) in enumerate(zip(values, kinds, strict=True), 1):
                cell = self.sheet.cell(self.next_row, number)
                write_value(cell, value, kind, "" if number in (3, 4) else UNKNOWN)
                if number < len(values):
                    self._make_room(number, show(value, kind))
            cell.alignment = Alignment(horizontal="left", vertical="top", indent=1)  # runs on
            self.next_row += 1
        self.skip()

    def table(self, table: Table) -> None:
        """Write a table with its caption, total and note."""
        self.line(table.caption, size=12, bold=True)
        if table.rows:
            self._heads(table.name, table.columns, len(table.rows))
        else:
            self.line("No rows.", color=FAINT)
        for row in table.rows:
            for number, (value, column) in enumerate(zip(row, table.columns, strict=True), 1):
                cell = self.sheet.cell(self.next_row, number)
                write_value(cell, value, column.kind, column.unknown)
                self._make_room(number, show(value, column.kind, column.unknown))
            self.next_row += 1
        self._total(table)
        if table.note:
            self.line(table.note, size=9, color=FAINT)
        self.skip()

    def finish(self, footer: str) -> None:
        """Set widths, heights, frozen panes and print, once all rows are written."""
        self._set_sizes()
        is_single = len(self.head_rows) == 1
        frozen = self.head_rows[0] if is_single else 2
        pinned = "B" if self.column_count > _COLUMNS_ON_SCREEN else "A"
        self.sheet.freeze_panes = f"{pinned}{frozen + 1}"
        self.sheet.print_title_rows = f"{frozen}:{frozen}" if is_single else "1:2"
        self.sheet.sheet_view.showGridLines = False
        setup = self.sheet.page_setup
        setup.orientation, setup.paperSize = "landscape", self.sheet.PAPERSIZE_A4
        setup.fitToWidth, setup.fitToHeight = 1, 0
        self.sheet.sheet_properties.pageSetUpPr.fitToPage = True
        self.sheet.page_margins.left = self.sheet.page_margins.right = 0.4
        self.sheet.page_margins.top, self.sheet.page_margins.bottom = 0.5, 0.75
        self.sheet.oddFooter.left.text = footer.replace("&", "&&")
        self.sheet.oddFooter.center.text = "&A"
        self.sheet.oddFooter.right.text = "Page &P of &N"

    def _heads(self, name: str, columns: Sequence[Column], row_count: int) -> None:
        heads = [f"{c.header} ({c.unit})" if c.unit else c.header for c in columns]
        if len({head.lower() for head in heads}) < len(heads) or not all(heads):
            raise ValueError(f"{name}: heads must be there and differ in more than case: {heads}")
        for number, (head, column) in enumerate(zip(heads, columns, strict=True), start=1):
            self._head(number, head, column)
        last = f"{get_column_letter(len(columns))}{self.next_row + row_count}"
        listed = ExcelTable(displayName=f"t_{name}", ref=f"A{self.next_row}:{last}")
        listed.tableStyleInfo = TableStyleInfo(name="TableStyleLight1", showRowStripes=True)
        self.sheet.add_table(listed)
        self.column_count = max(self.column_count, len(columns))
        self.head_rows.append(self.next_row)
        self.next_row += 1

    def _head(self, number: int, head: str, column: Column) -> None:
        cell = self.sheet.cell(self.next_row, number)
        write_text(cell, head)
        cell.font, cell.fill, cell.border = font(bold=True), _HEAD_FILL, _HEAD_EDGE
        is_right = is_number_kind(column.kind)
        cell.alignment = Alignment(
            horizontal="right" if is_right else "left",
            vertical="bottom",
            wrap_text=True,
            indent=0 if is_right or number == 1 else 1,
        )
        longest = len(head) if len(head) <= _ONE_LINE_HEAD else max(map(len, head.split()))
        self.widths[number] = max(self.widths.get(number, _NARROWEST), longest + 4)
        self.wrapped.append((self.next_row, number, head))
        if column.meaning:
            cell.comment = Comment(column.meaning, "Joulebook", height=90, width=260)

    def _total(self, table: Table) -> None:
        if table.total is None or not table.rows:
            return
        for number, (value, column) in enumerate(zip(table.total, table.columns, strict=True), 1):
            cell = self.sheet.cell(self.next_row, number)
            if value is not None:
                kind = "text" if number == 1 else column.kind
                write_value(cell, value, kind)
                self._make_room(number, show(value, kind) + "  ")
            cell.font, cell.border = font(bold=True), _TOTAL_EDGE
        self.next_row += 1

    def _make_room(self, number: int, text: str) -> None:
        longest = max(map(len, text.split("\n")), default=0)
        self.widths[number] = max(self.widths.get(number, _NARROWEST), longest + 3)
        if longest > _WIDEST_OF_MANY or "\n" in text:
            self.wrapped.append((self.next_row, number, text))

    def _set_sizes(self) -> None:
        is_narrow = self.column_count <= _FEW_COLUMNS
        widest = _WIDEST_OF_FEW if is_narrow else _WIDEST_OF_MANY
        for number, width in self.widths.items():
            self.widths[number] = min(width, widest)
            letter = get_column_letter(number)
            self.sheet.column_dimensions[letter].width = self.widths[number]
        lines: dict[int, int] = {}
        for row, number, text in self.wrapped:
            room = self.widths[number] - 1
            needed = sum(len(textwrap.wrap(part, room)) or 1 for part in text.split("\n"))
            lines[row] = min(max(lines.get(row, 1), needed), _MOST_LINES)
        for row, count in lines.items():
            if count > 1:
                self.sheet.row_dimensions[row].height = count * _LINE_HEIGHT
