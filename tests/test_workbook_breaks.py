"""A printed sheet is cut between tables, and inside long ones; captions keep their heads."""

import io
import itertools

import openpyxl
from hypothesis import given
from hypothesis import strategies as st
from report_frames import report

from pipeline.report import workbook
from pipeline.report.workbook.breaks import breaks


def test_a_caption_moves_to_the_next_page_with_its_table() -> None:
    # 10 points a row, 100 a page: eight lines, then a caption, a head and two rows that stay
    assert breaks([10.0] * 22, {9: 4}, 100, ()) == [9, 17]


def test_repeated_titles_take_their_room_on_later_pages() -> None:
    # 10 rows on the first page, then 2 titles and 8 rows on each
    assert breaks([10.0] * 32, {}, 100, (1, 2)) == [11, 19, 27]


def test_the_last_page_of_a_sheet_holds_six_rows_at_least() -> None:
    assert breaks([10.0] * 21, {}, 100, ()) == [11, 16]  # not 11 and 21
    assert breaks([10.0] * 10, {}, 100, ()) == []
    assert breaks([10.0] * 11, {}, 100, ()) == [6]
    assert breaks([30.0] * 7, {}, 100, ()) == [4, 7]  # no page could hold six of these
    # one row and the last six are 231: five fit the page of 200, none is lost below it
    assert breaks([33.0] * 7, {}, 200, ()) == [7]


def test_a_block_that_fits_no_page_begins_where_it_stands() -> None:
    # twenty rows of ten points fit no page of a hundred, its first three fit the first
    assert breaks([10.0] * 30, {5: 20}, 100, ()) == [11, 21]


@given(
    st.lists(st.floats(5, 40), min_size=1, max_size=120),
    st.sets(st.integers(0, 29).map(lambda n: 4 * n + 1), max_size=8),
)
def test_every_page_holds_what_stands_on_it(heights: list[float], starts: set[int]) -> None:
    blocks = dict.fromkeys(starts, 3)  # at most 120 points, which fit the page of 200

    cuts = [1, *breaks(heights, blocks, 200, ()), len(heights) + 1]

    for first, after in itertools.pairwise(cuts):
        assert sum(heights[first - 1 : after - 1]) <= 200 + 1e-9
    # no cut within two rows below the first of a block
    kept = {start + n for start in starts for n in (1, 2)}
    assert not kept & set(cuts[1:-1])


def test_no_break_of_a_sheet_stands_between_a_caption_and_its_first_row() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook.render(report())))
    cut = {sheet.title: {each.id for each in sheet.row_breaks.brk} for sheet in book}

    heads = [
        (sheet.title, int(table.ref.split(":")[0].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")))
        for sheet in book
        for table in sheet.tables.values()
    ]

    assert len(heads) > 30
    # a break with id n stands below row n: neither below the caption nor below the head
    assert [(name, head) for name, head in heads if {head - 1, head} & cut[name]] == []
    assert sum(map(len, cut.values())) > 5
