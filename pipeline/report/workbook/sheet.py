"""Write one sheet from the top: lines of text, tables, totals; then its widths, panes and print."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from openpyxl.cell import Cell
from openpyxl.formatting.rule import FormulaRule
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.language import ENGLISH, Language
from pipeline.report.numbers import UNKNOWN, show_in_sheet
from pipeline.report.section import Column, KeyFigure, Kind, Table, Value
from pipeline.report.workbook.breaks import set_breaks
from pipeline.report.workbook.cache import Fillings
from pipeline.report.workbook.cells import mark_input, write_formula, write_text, write_value
from pipeline.report.workbook.energy import RUN
from pipeline.report.workbook.formulas import RANGE_OF, LiveTable, is_helper, key_formula, ratio_of
from pipeline.report.workbook.heads import add_table, dress_head
from pipeline.report.workbook.layout import Place
from pipeline.report.workbook.looks import FAILED, FAINT, INK, Look, put_on
from pipeline.report.workbook.print import print_first_rows, set_print
from pipeline.report.workbook.reasons import reason_of
from pipeline.report.workbook.rows import filled
from pipeline.report.workbook.sizes import NARROWEST, Sizes

_LINE_LETTERS = 155  # of a sentence in one row, at the usual size
_COLUMNS_ON_SCREEN = 6
_MOST_PAGES_OF_DETAIL = 3  # one below the other
_NOTE_SIZE = 9  # points
_USUAL_SIZE, _LINE_OF_SIZE = 11, 1.35  # points; height of a line over the size of its letters
_CAPTION_AND_HEAD = 2  # rows, which stay on one page with …
_SHORT_TABLE, _ROWS_BELOW_HEAD = 15, 4  # … all rows of a short table, the first of a long one
_KEY_COLUMNS = (
    Column("figure", "Figure", "text"),
    Column("value", "Value", "number"),
    Column("low", "Low (5 %)", "number"),
    Column("high", "High (95 %)", "number"),
    Column("unit", "Unit", "text"),
    Column("note", "Note", "text"),
)
_HEADS_IN_FORMULAS = ("assumptions", "all_checks")  # tables whose heads formulas name
_RATIO_COLUMNS = (
    Column("low_ratio", "Low ÷ value", "ratio", meaning="As the run found it."),
    Column("high_ratio", "High ÷ value", "ratio", meaning="As the run found it."),
)


@dataclass
class SheetWriter:
    """One sheet while it is written: where the next row goes, how much room each text needs."""

    sheet: Worksheet
    fillings: Fillings = field(default_factory=Fillings)
    places: dict[str, Place] = field(default_factory=dict)  # of every table, by its name
    next_row: int = 1
    head_rows: list[int] = field(default_factory=list)
    column_count: int = 1
    sizes: Sizes = field(default_factory=Sizes)
    printed_columns: int = 1
    printed_rows: int = 0  # 0: all
    blocks: dict[int, int] = field(default_factory=dict)  # first row → rows that stay together
    language: Language = ENGLISH

    def line(self, text: str, *, size: int = 11, bold: bool = False, color: str = INK) -> None:
        """Write text that runs on over the empty cells to its right, a row for each line of it."""
        look = Look(size=size, is_bold=bold, color=color)
        for part in self._parts(text, size):
            write_text(self.sheet.cell(self.next_row, 1), part, look)
            if size > _USUAL_SIZE:
                self.sheet.row_dimensions[self.next_row].height = size * _LINE_OF_SIZE
            self.next_row += 1

    def _parts(self, text: str, size: int) -> Sequence[str]:
        """Return the rows of a text in the language."""
        said, room = self.language.text(text), _LINE_LETTERS * _USUAL_SIZE // size
        return textwrap.wrap(said, room) if len(said) > room else (said,)

    def keep(self, rows: int) -> None:
        """Let the next rows stay on one page."""
        self.blocks[self.next_row] = max(rows, self.blocks.get(self.next_row, 0))

    def live_line(self, formula: str, words: str) -> None:
        """Write one line that a formula gives, bold and red where it begins with ≠."""
        cell = self.sheet.cell(self.next_row, 1)
        write_formula(cell, formula, words, "text")
        put_on(cell, Look(color=FAINT))
        self.fillings.add_result(self.sheet.title, cell.coordinate, words)
        moved = FormulaRule([f'LEFT({cell.coordinate},1)="≠"'], font=Font(bold=True, color=FAILED))
        self.sheet.conditional_formatting.add(cell.coordinate, moved)
        self.next_row += 1

    def skip(self, rows: int = 1) -> None:
        """Leave rows empty."""
        self.next_row += rows

    def key_figures(self, figures: Sequence[KeyFigure], *, is_live: bool = False) -> None:
        """Write headline numbers as a table, each with the number format of its own kind."""
        helpers = (RANGE_OF, *_RATIO_COLUMNS) if is_live else ()
        columns = (*_KEY_COLUMNS[:-1], *helpers, _KEY_COLUMNS[-1])
        self.keep(1 + len(figures))
        self._heads("key_figures", columns, len(figures))
        for figure in figures:
            values: dict[str, Value] = {
                "figure": self.language.text(figure.label),
                "value": figure.value,
                "low": figure.low,
                "high": figure.high,
                "unit": self.language.text(figure.unit),
                "note": self.language.text(figure.note),
                "range_of": None if figure.high is None else self.language.text(RUN),
                "low_ratio": ratio_of(figure.low, figure.value),
                "high_ratio": ratio_of(figure.high, figure.value),
            }
            ends = {"low": "{value}*{low_ratio}", "high": "{value}*{high_ratio}"}
            live = {"value": key_formula(figure), "range_of": "ranges_of"} | ends
            formulas = live if is_live else {}
            row = tuple(
                Column(c.name, c.header, figure.kind if c.name in ("value", *ends) else c.kind)
                for c in columns
            )
            empty = dict.fromkeys(("low", "high", "range_of", "low_ratio", "high_ratio"), "")
            self._row(row, [values[c.name] for c in columns], formulas, unknown=empty)
            note = self.sheet.cell(self.next_row - 1, len(columns))
            put_on(note, Look(horizontal="left", vertical="top", indent=1))  # runs on
        self.skip()

    def table(self, table: Table | LiveTable) -> None:
        """Write a table with its caption, total and note; a live one with its formulas."""
        alive = table if isinstance(table, LiveTable) else LiveTable(table, is_live=False)
        table = alive.table
        is_short = len(table.rows) <= _SHORT_TABLE
        note = self._parts(table.note, _NOTE_SIZE) if table.note else ()
        whole = len(table.rows) + (table.total is not None) + len(note)
        self.keep(_CAPTION_AND_HEAD + (whole if is_short else _ROWS_BELOW_HEAD))
        self.line(table.caption, size=12, bold=True)
        if table.rows:
            self._heads(table.name, table.columns, len(table.rows), table.unprinted_count)
        else:
            self.line("No rows.", color=FAINT)
        total_row = self.next_row + len(table.rows)
        totals = {f"total_{c.name}": f"{letter}${total_row}" for c, letter in _lettered(table)}
        for number, row in enumerate(table.rows):
            self._row(table.columns, row, alive.formulas, totals)
            if number in alive.inputs:
                self._mark_inputs(table, self.next_row - 1)
        last = self.next_row - 1
        self._total(table, alive)
        if table.note:
            self.line(table.note, size=_NOTE_SIZE, color=FAINT)
        if table.rows:
            self.blocks.setdefault(last, self.next_row - last)  # the last row, its total, its note
        self.skip()

    def plain_head(self, number: int, head: str, *, is_right: bool) -> None:
        """Write one head of lines that are no Excel table."""
        cell = self.sheet.cell(self.next_row, number)
        write_text(cell, self.language.text(head))
        dress_head(cell, "number" if is_right else "text", "")

    def end_print(self) -> None:
        """Leave what is written from here on off the paper."""
        self.printed_rows = self.printed_rows or self.next_row - 1

    def finish(self, footer: str, *, is_detail: bool = False) -> None:
        """Set widths, heights, frozen panes and print, once all rows are written.

        Args:
            footer: What stands below each page.
            is_detail: The sheet has one table of details; of a long one the first page is printed.
        """
        self.sizes.set(self.sheet, self.column_count, self.printed_columns)
        printed_rows = self.printed_rows or self.next_row - 1
        is_single = len(self.head_rows) == 1
        frozen = self.head_rows[0] if is_single else 2
        pinned = "B" if self.column_count > _COLUMNS_ON_SCREEN else "A"
        self.sheet.freeze_panes = f"{pinned}{frozen + 1}"
        self.sheet.print_title_rows = f"{frozen}:{frozen}" if is_single else "1:2"
        numbers = range(1, self.printed_columns + 1)
        widths = [self.sizes.widths.get(n, NARROWEST) for n in numbers]
        set_print(self.sheet, footer, widths, self.language)
        titles = (frozen,) if is_single else (1, 2)
        pages = set_breaks(self.sheet, printed_rows - 1, self.blocks, titles, widths)
        if is_detail and len(pages) > _MOST_PAGES_OF_DETAIL:
            printed_rows = pages[1] - 1
            print_first_rows(self.sheet, self.language)
        if self.printed_columns < self.column_count or printed_rows < self.next_row - 1:
            last = get_column_letter(self.printed_columns)
            self.sheet.print_area = f"A1:{last}{printed_rows}"

    def _row(
        self,
        columns: Sequence[Column],
        values: Sequence[Value],
        formulas: Mapping[str, str],
        more_cells: Mapping[str, str] | None = None,
        unknown: Mapping[str, str] | None = None,
    ) -> None:
        row = self.next_row
        cells = {c.name: f"${get_column_letter(n)}{row}" for n, c in enumerate(columns, 1)}
        cells |= dict(more_cells or {})
        for number, (value, column) in enumerate(zip(values, columns, strict=True), 1):
            cell = self.sheet.cell(row, number)
            word = (unknown or {}).get(column.name, self.language.text(reason_of(column)))
            formula = formulas.get(column.name, "")
            said = self._said(value, column, formula)
            self._write(cell, said, column.kind, word, filled(formula, cells) if formula else "")
            if is_helper(column.name):
                grey = Look(cell.number_format, color=FAINT, horizontal="right", vertical="top")
                put_on(cell, grey)
            if number < len(columns) or column.name != "note":
                self.sizes.add(row, number, show_in_sheet(said, column.kind, word), column.kind)
        self.sizes.last_columns[row] = len(columns)
        self.next_row += 1

    def _said(self, value: Value, column: Column, formula: str) -> Value:
        """Return a value in the language; the words that a formula gives are all ours."""
        if formula:
            return self.language.text(value) if isinstance(value, str) else value
        return self.language.cell(value, column)

    def _write(
        self,
        cell: Cell,
        value: Value,
        kind: Kind,
        unknown: str,
        formula: str,
        *,
        is_total: bool = False,
    ) -> None:
        write_value(cell, value, kind, unknown, is_total=is_total)
        if kind == "status":
            cell.value = self.language.show(value, kind, unknown)
        is_known = value is not None and (kind == "text" or cell.data_type == "n")
        if formula and is_known:
            write_formula(cell, formula, value, kind, is_total=is_total)
            self.fillings.add_result(self.sheet.title, cell.coordinate, value)

    def _mark_inputs(self, table: Table, row: int) -> None:
        names = [column.name for column in table.columns]
        low, value, high = (names.index(name) + 1 for name in ("low", "value", "high"))
        mark_input(
            self.sheet.cell(row, value),
            self.sheet.cell(row, low),
            self.sheet.cell(row, high),
            self.language,
        )

    def _heads(
        self, name: str, columns: Sequence[Column], row_count: int, unprinted_count: int = 0
    ) -> None:
        is_kept = name.startswith("d_") or name in _HEADS_IN_FORMULAS
        said = [c.header if is_kept else self.language.text(c.header) for c in columns]
        units = (f" ({self.language.text(c.unit)})" if c.unit else "" for c in columns)
        heads = [head + unit for head, unit in zip(said, units, strict=True)]
        if len({head.lower() for head in heads}) < len(heads) or not all(heads):
            raise ValueError(f"{name}: heads must be there and differ in more than case: {heads}")
        for number, (head, column) in enumerate(zip(heads, columns, strict=True), start=1):
            self._head(number, head, column)
        listed = name if name.startswith("d_") else f"t_{name}"
        add_table(self.sheet, listed, self.next_row, heads, row_count)
        names = tuple(column.name for column in columns)
        self.places[name] = Place(self.sheet.title, self.next_row, names, row_count)
        self.column_count = max(self.column_count, len(columns))
        printed = sum(not is_helper(column.name) for column in columns) - unprinted_count
        self.printed_columns = max(self.printed_columns, printed)
        self.head_rows.append(self.next_row)
        self.next_row += 1

    def _head(self, number: int, head: str, column: Column) -> None:
        cell = self.sheet.cell(self.next_row, number)
        write_text(cell, head)
        dress_head(cell, column.kind, self.language.text(column.meaning))
        self.sizes.add_head(self.next_row, number, head)

    def _total(self, table: Table, alive: LiveTable) -> None:
        if table.total is None or not table.rows:
            return
        row, first = self.next_row, self.next_row - len(table.rows)
        cells = {c.name: f"{letter}{row}" for c, letter in _lettered(table)}
        for number, (total, column) in enumerate(zip(table.total, table.columns, strict=True), 1):
            is_word = number == 1 or column.name in alive.total_formulas
            value = self._said(total, column, "words" if is_word else "")
            cell = self.sheet.cell(row, number)
            if value is None:
                put_on(cell, Look(is_bold=True, edge="total"))
            else:
                kind = "text" if number == 1 else column.kind
                formula = alive.total_formulas.get(column.name, "")
                rows_above = [line[number - 1] for line in table.rows]
                if alive.is_live and may_add(column.name) and is_sum(value, rows_above):
                    letter = get_column_letter(number)
                    formula = f"SUM({letter}{first}:{letter}{row - 1})"
                formula = filled(formula, cells) if formula else ""
                self._write(cell, value, kind, UNKNOWN, formula, is_total=True)
                self.sizes.add(row, number, show_in_sheet(value, kind) + "  ", kind)
        self.next_row += 1


def may_add(name: str) -> bool:
    """Return whether a column's rows may be added: tasks overlap, and ends of ranges are drawn."""
    return not (name.endswith("task_count") or "_low_" in name or "_high_" in name)


def is_sum(total: Value, values: Sequence[Value]) -> bool:
    """Return whether a total is what its rows add up to."""
    numbers = [
        float(value)
        for value in values
        if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    ]
    if not numbers or isinstance(total, (str, bool)) or total is None:
        return False
    return math.isclose(math.fsum(numbers), float(total), rel_tol=1e-12, abs_tol=1e-12)  # type: ignore[arg-type]


def _lettered(table: Table) -> list[tuple[Column, str]]:
    return [(column, get_column_letter(n)) for n, column in enumerate(table.columns, start=1)]
