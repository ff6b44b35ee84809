"""Where a printed sheet is cut: never between a caption and its table's head, never in a chart.

Programs break pages where paper ends. All breaks are set here, a little early, so that none is left
to them; a program that ignores them breaks as before.
"""

from collections.abc import Mapping, Sequence

from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.worksheet import Worksheet

USUAL_HEIGHT = 15.0  # points of a row
_PAGE_WIDTH, _PAGE_HEIGHT = 784.0, 505.0  # points of a landscape A4 page within its margins
_POINTS_PER_LETTER, _POINTS_PER_COLUMN = 5.25, 3.75
LEAST_KEPT = 3  # rows of a block that no page could hold: caption, head and a row
_LAST_KEPT = 6  # rows at the end of a sheet: a last page of one row looks like a mistake
_SURE = 0.97  # of a page: programs measure rows a little differently


def set_breaks(
    sheet: Worksheet,
    last_row: int,
    blocks: Mapping[int, int],
    titles: Sequence[int],
    widths: Sequence[float],
) -> list[int]:
    """Set the heights of printed rows that have none, and the breaks between them.

    Returns the first row of every page.

    Args:
        sheet: The sheet, with the heights of its rows and its pages across.
        last_row: The last row that is printed.
        blocks: The first row of each table or chart, and how many rows stay together from there.
        titles: Rows that are repeated on every page.
        widths: Letters of every column that is printed.
    """
    heights = []
    for row in range(1, last_row + 1):
        shown = sheet.row_dimensions[row]
        shown.height = shown.height or USUAL_HEIGHT  # said, or each program takes its own
        heights.append(shown.height)
    room = _PAGE_HEIGHT / _scale(widths, sheet.page_setup.fitToWidth or 1) * _SURE
    cut = breaks(heights, blocks, room, titles)
    for row in cut:
        sheet.row_breaks.append(Break(id=row - 1))  # a break stands below its row
    return [1, *cut]


def breaks(
    heights: Sequence[float], blocks: Mapping[int, int], room: float, titles: Sequence[int]
) -> list[int]:
    """Return the rows that begin a page, but for the first.

    Args:
        heights: Points of every row, from row 1.
        blocks: The first row of each block, and how many rows stay together from there.
        room: Points of a page.
        titles: Rows that stand on every later page too.
    """
    repeated = sum(heights[row - 1] for row in titles)
    last = heights[-_LAST_KEPT:]
    # Room for one row more, since no page ends below a single row that is no higher than the next.
    if len(heights) > _LAST_KEPT and sum(last) + last[0] <= room - repeated:
        blocks = {len(heights) - _LAST_KEPT + 1: _LAST_KEPT, **blocks}
    found, used, kept_until = [], 0.0, 0
    for row, height in enumerate(heights, start=1):
        is_kept = row < kept_until
        if row in blocks and not is_kept:
            kept, needed = _kept(heights[row - 1 :], blocks[row], room - repeated)
            kept_until = max(kept_until, row + kept)
        else:
            needed = height
        starts_lower = used > repeated + height
        if used + needed > room and not is_kept and starts_lower:
            found.append(row)
            used = repeated
        used += height
    return found


def _kept(heights: Sequence[float], wanted: int, room: float) -> tuple[int, float]:
    """Return how many rows stay together, and their points: fewer where a page has not the room."""
    needed = sum(heights[:wanted])
    if needed > room and wanted > LEAST_KEPT:
        wanted = LEAST_KEPT
    return wanted, sum(heights[:wanted])


def _scale(widths: Sequence[float], pages_across: int) -> float:
    """Return the share of full size at which columns fit, the first repeated on each page."""
    points = [width * _POINTS_PER_LETTER + _POINTS_PER_COLUMN for width in widths]
    whole = sum(points) + (pages_across - 1) * points[0]
    return min(1.0, _PAGE_WIDTH * pages_across / whole)
