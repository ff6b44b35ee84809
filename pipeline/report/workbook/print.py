"""How sheets print: landscape, at a size one can read, heads and names repeated on every page."""

import itertools
import math
from collections.abc import Mapping, Sequence

from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.language import Language

_PAGE_LETTERS = 145  # across a landscape page at full size
_SMALLEST_SCALE = 0.5  # of full size: smaller print is not read
_MOST_LETTERS = int(_PAGE_LETTERS / _SMALLEST_SCALE)
_FEWER_LETTERS = int(_PAGE_LETTERS / 0.55)  # where narrower columns allow it
_GOOD_LETTERS = int(_PAGE_LETTERS / 0.8)  # at a size that nobody finds small
NARROWED_LETTERS = 22  # to which wide columns of text may shrink, so that a sheet fits its page …
NARROWEST_LETTERS = 15  # … or, where that is not enough, to this
_WAYS_TO_FIT = (  # letters of a page, and of its columns of text, the best first
    (_FEWER_LETTERS, NARROWED_LETTERS),
    (_MOST_LETTERS, NARROWED_LETTERS),
    (_MOST_LETTERS, NARROWEST_LETTERS),
)
_NONE: Mapping[int, int] = {}
LINES_SHOWN = 40  # of a data sheet, whose rows are for pivots and not for paper


def set_print(sheet: Worksheet, footer: str, widths: Sequence[float], language: Language) -> None:
    """Print landscape, the first column on every page, the period and the run below.

    Args:
        sheet: The sheet.
        footer: What stands below each page.
        widths: Letters of every column that is printed; as many pages side by side as they need.
        language: Language of the footer.
    """
    sheet.sheet_view.showGridLines = False
    setup = sheet.page_setup
    setup.orientation, setup.paperSize = "landscape", sheet.PAPERSIZE_A4
    setup.fitToWidth, setup.fitToHeight = pages_across(widths), 0
    if setup.fitToWidth > 1:
        sheet.print_title_cols = "A:A"
        setup.pageOrder = "overThenDown"  # the pages of a row one after the other
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.page_margins.left = sheet.page_margins.right = 0.4
    sheet.page_margins.top, sheet.page_margins.bottom = 0.5, 0.75
    sheet.oddFooter.left.text = footer.replace("&", "&&")
    sheet.oddFooter.center.text = "&A"
    sheet.oddFooter.right.text = language.text("Page &P of &N")


def print_first_page(
    sheet: Worksheet,
    head_row: int,
    lines: Sequence[int],
    widths: Sequence[float],
    language: Language,
) -> None:
    """Print of a data sheet only what fits on its first page: its sentence, heads, first rows.

    Args:
        sheet: The sheet.
        head_row: Where its heads stand.
        lines: Lines of text of its rows, of as many as may fit.
        widths: Letters of every column.
        language: Language of the footer.
    """
    count, across = 0, 0.0
    while count < len(widths) and (across + widths[count] <= _MOST_LETTERS or not count):
        across += widths[count]
        count += 1
    fitting = sum(total <= LINES_SHOWN for total in itertools.accumulate(lines))
    last_row = head_row + fitting
    sheet.print_area = f"A1:{get_column_letter(count)}{last_row}"
    sheet.page_setup.fitToWidth = sheet.page_setup.fitToHeight = 1
    sheet.print_title_cols = None
    sheet.oddFooter.center.text = language.text("&A: first rows and columns; the sheet holds all")


def print_first_rows(sheet: Worksheet, language: Language) -> None:
    """Say below the page that a sheet of details prints its first rows alone, and cut no more."""
    sheet.row_breaks.brk = []
    sheet.oddFooter.center.text = language.text("&A: first rows; the sheet holds all")


def narrowed(
    widths: Mapping[int, int],
    printed_columns: int,
    needed: Mapping[int, int] = _NONE,
    tightest: Mapping[int, int] = _NONE,
) -> dict[int, int]:
    """Return narrower columns, where those of more than some letters make a sheet fit its page.

    Args:
        widths: Letters of every column.
        printed_columns: How many of them are printed.
        needed: Letters below which a column cannot go.
        tightest: Letters to which columns shrink where nothing else keeps a sheet on one page.
    """
    printed = {n: width for n, width in widths.items() if n <= printed_columns}
    if sum(printed.values()) <= _FEWER_LETTERS:
        return {}
    ways = [
        (most, {n: max(least, needed.get(n, 0)) for n in printed}) for most, least in _WAYS_TO_FIT
    ]
    ways += [(most, {**printed, **tightest}) for most in (_FEWER_LETTERS, _MOST_LETTERS)]
    for most, ends in ways:
        excess = max(sum(printed.values()) - most, 0)
        spare = {n: width - ends[n] for n, width in printed.items()}
        wide = {n: letters for n, letters in spare.items() if letters > 0}
        room = sum(wide.values())
        if excess <= room:
            return {
                n: printed[n] - math.ceil(letters * excess / room) for n, letters in wide.items()
            }
    return {}


def widened(
    widths: Mapping[int, int], wanted: Mapping[int, int], printed_columns: int
) -> dict[int, int]:
    """Return wider columns, where long text was cut back though a page of good size has room."""
    room = _GOOD_LETTERS - sum(width for n, width in widths.items() if n <= printed_columns)
    cut = {n: wanted[n] - width for n, width in widths.items() if wanted[n] > width}
    if room <= 0 or not cut:
        return {}
    share = min(1.0, room / sum(cut.values()))
    return {n: widths[n] + int(more * share) for n, more in cut.items()}


def pages_across(widths: Sequence[float]) -> int:
    """Return how many pages side by side keep print readable, the first column on each of them."""
    if sum(widths) <= _MOST_LETTERS:
        return 1
    first, rest = widths[0], sum(widths[1:])
    return max(2, math.ceil(rest / (_MOST_LETTERS - first)))
