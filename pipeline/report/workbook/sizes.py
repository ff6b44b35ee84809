"""How wide the columns of a sheet are and how high its rows, from all that stands in them."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from openpyxl.styles import Alignment
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.numbers import is_number_kind
from pipeline.report.section import Kind
from pipeline.report.workbook.letters import digits_wide, line_count, widest_line, widest_word
from pipeline.report.workbook.print import (
    NARROWED_LETTERS,
    narrowed,
    widened,
)

NARROWEST = 11  # digits, as all widths here
_WIDEST_OF_MANY, _WIDEST_OF_FEW = 36, 96
_FEW_COLUMNS = 3
_ONE_LINE_HEAD = 12  # letters; longer heads wrap
_GAP, _ARROW = 2, 4  # beside a text, and beside a head's last word, where a filter opens
_TIGHT_GAP, _TIGHT_ARROW = 1, 3  # where a sheet would not fit its page otherwise
_LINES_OF_TIGHT, _TIGHT_SENTENCE = 2, 16  # of a name or a word there; letters of a longer text
_LINE_HEIGHT, _MOST_LINES = 15, 20  # points, lines


@cache
def two_lines_wide(text: str) -> int:
    """Return the letters in which a text takes two lines, at most those that a sentence gets."""
    for width in range(widest_word(text) + _TIGHT_GAP, _TIGHT_SENTENCE):
        if line_count(text, width - 1) <= _LINES_OF_TIGHT:
            return width
    return _TIGHT_SENTENCE


@dataclass
class Sizes:
    """What the cells of one sheet need, column by column, while it is written."""

    widths: dict[int, int] = field(default_factory=dict)
    wrapped: list[tuple[int, int, str]] = field(default_factory=list)  # row, column, text
    number_rows: Counter[int] = field(default_factory=Counter)  # by column, of all tables
    text_rows: Counter[int] = field(default_factory=Counter)
    number_widths: Counter[int] = field(default_factory=Counter)  # that numbers need, and no less
    tightest: Counter[int] = field(default_factory=Counter)  # that numbers and words of heads need
    last_columns: dict[int, int] = field(default_factory=dict)  # of each row, beside it nothing

    def add_head(self, row: int, number: int, head: str) -> None:
        """Make room for a head, whose words may stand below each other."""
        words = (head,) if len(head) <= _ONE_LINE_HEAD else head.split()
        needed = max(max(map(widest_line, words)) + _GAP, widest_line(words[-1]) + _ARROW)
        self.widths[number] = max(self.widths.get(number, NARROWEST), needed)
        last = head.split()[-1]
        tightest = max(widest_word(head) + _TIGHT_GAP, widest_line(last) + _TIGHT_ARROW)
        self.tightest[number] = max(self.tightest[number], tightest)
        self.wrapped.append((row, number, head))

    def add(self, row: int, number: int, text: str, kind: Kind) -> None:
        """Make room for the text of a cell."""
        needed = widest_line(text) + _GAP
        if is_number_kind(kind):
            self.number_rows[number] += 1
            is_number = any(map(str.isdigit, text))  # else a word where there is none
            least = needed if is_number else widest_word(text) + _GAP
            self.number_widths[number] = max(self.number_widths[number], least)
            tightest = widest_line(text) + _TIGHT_GAP if is_number else two_lines_wide(text)
        else:
            self.text_rows[number] += 1
            tightest = two_lines_wide(text) + (number > 1)
            needed += 1  # text stands off the number before it
        self.widths[number] = max(self.widths.get(number, NARROWEST), needed)
        self.tightest[number] = max(self.tightest[number], tightest)
        if needed > self.tightest[number] or "\n" in text:
            self.wrapped.append((row, number, text))

    def set(self, sheet: Worksheet, column_count: int, printed_columns: int) -> None:
        """Set the widths of all columns and the heights of the rows whose text wraps."""
        self._set_widths(sheet, column_count, printed_columns)
        lines: dict[int, int] = {}
        for row, number, text in self.wrapped:
            if not self._let_run_on(sheet, row, number, text, printed_columns):
                needed = line_count(text, self.widths[number] - 1)
                lines[row] = min(max(lines.get(row, 1), needed), _MOST_LINES)
        for row, count in lines.items():
            if count > 1:
                sheet.row_dimensions[row].height = count * _LINE_HEIGHT

    def _set_widths(self, sheet: Worksheet, column_count: int, printed_columns: int) -> None:
        widest = _WIDEST_OF_FEW if column_count <= _FEW_COLUMNS else _WIDEST_OF_MANY
        wanted, wanted_by_text = dict(self.widths), dict(self.widths)
        for number, width in self.widths.items():
            is_of_numbers = self.number_rows[number] > self.text_rows[number]
            most = NARROWED_LETTERS if is_of_numbers else widest
            self.widths[number] = min(width, max(most, self.number_widths[number]))
            if is_of_numbers:
                wanted_by_text[number] = self.widths[number]
        for each in (wanted_by_text, wanted):  # room to spare is for columns of text first
            self.widths |= widened(self.widths, each, printed_columns)
        self.widths |= narrowed(self.widths, printed_columns, self.number_widths, self.tightest)
        for number, width in self.widths.items():
            sheet.column_dimensions[get_column_letter(number)].width = width

    def _let_run_on(
        self, sheet: Worksheet, row: int, number: int, text: str, printed_columns: int
    ) -> bool:
        """Let a text end its row over the empty cells beside it; say whether it fits there."""
        if self.last_columns.get(row) != number or number >= printed_columns or "\n" in text:
            return False
        room = sum(self.widths.get(n, 0) for n in range(number, printed_columns + 1))
        if digits_wide(text) > room - 1:
            return False
        cell = sheet.cell(row, number)
        cell.alignment = Alignment("left", "top", indent=cell.alignment.indent)
        return True
