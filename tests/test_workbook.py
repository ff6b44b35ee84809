"""The workbook holds values, one Excel table a table, and the same bytes for the same report."""

import datetime as dt
import functools
import io
import math
import re
import subprocess
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from need import need_program
from openpyxl.utils import get_column_letter, range_boundaries
from report_frames import HOSTILE, hostile_report, report

from pipeline.report import workbook
from pipeline.report.language import ENGLISH
from pipeline.report.numbers import clean_text
from pipeline.report.section import Bars, Column, Kind, Lines, Report, Section, Steps, Table, Value
from pipeline.report.workbook.chart_kinds import bar_chart, is_waterfall
from pipeline.report.workbook.letters import line_count
from pipeline.report.workbook.print import narrowed, pages_across
from pipeline.report.workbook.sheet import may_add
from pipeline.report.workbook.sizes import Sizes, two_lines_wide

_SHEETS = [
    *("About", "Summary", "Findings", "Assumptions", "Cost_per_task", "Usage", "Energy"),
    "Energy_law",
    *("Carbon", "Models", "Teams", "Reconciliation", "Bridge", "Trend", "Costs", "Batch"),
    *(
        "Cost_per_kwh",
        "Energy_by_batch",
        "Models_compared",
        "Price_reversals",
        "Lengths",
        "Waste",
        "Agents",
    ),
    *("Agents_by_cache", "Reasoning", "Reasoning_budgets", "Outlook", "Coverage"),
    *(
        "Measured_power",
        "Power_policy",
        "Power_measured",
        "Power_papers",
        "Law_validation",
        "Law_errors",
        "Other_methods",
        "Other_methods_lines",
        "Architecture",
    ),
    *("Checks", "Intake", "Method", "Method_numbers"),
]


@functools.cache
def _rendered(made: Report) -> bytes:
    return workbook.render(made)


def _book(made: Report) -> Any:  # noqa: ANN401 the library has no types
    return openpyxl.load_workbook(io.BytesIO(_rendered(made)))


def _parts(made: Report) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(_rendered(made))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _of(*values: Value, kind: Kind = "text") -> Report:
    columns = (Column("name", "Name", "text"), Column("value", "Value", kind))
    table = Table("t", "T", columns, tuple((f"row {n}", value) for n, value in enumerate(values)))
    section = Section("s", "S", "S", "What?", tables=(table,))
    return Report("T", "2026-06", False, "1", "run", sections=(section,))


def _values(made: Report) -> list[Any]:
    sheet = _book(made)["S"]
    first, last = sheet.tables["t_t"].ref.split(":")
    return [cell for (cell,) in sheet[f"B{int(first[1:]) + 1}:{last}"]]


def _row(sheet: Any, first: str) -> dict[str, Any]:  # noqa: ANN401 the library has no types
    """Return the cells of the row that begins with a text, by the heads above it."""
    number = next(cell.row for cell in sheet["A"] if cell.value == first)
    heads = next(r for r in reversed(range(1, number)) if sheet.cell(r, 2).font.bold)
    return {
        sheet.cell(heads, c).value: sheet.cell(number, c) for c in range(1, sheet.max_column + 1)
    }


def test_the_workbook_has_the_same_bytes_twice() -> None:
    assert workbook.render(report()) == workbook.render(report())


def test_every_time_in_the_file_is_the_end_of_the_month() -> None:
    with zipfile.ZipFile(io.BytesIO(_rendered(report()))) as archive:
        stamps = {member.date_time for member in archive.infolist()}
        core = archive.read("docProps/core.xml").decode()

    assert stamps == {(2026, 6, 30, 23, 59, 58)}
    assert re.findall(r">([^<>]*)</dcterms:", core) == ["2026-06-30T23:59:58Z"] * 2


def test_the_properties_name_the_maker_and_the_run() -> None:
    properties = _book(report()).properties

    assert (properties.creator, properties.lastModifiedBy) == ("Joulebook", "Joulebook")
    assert properties.title == "Joulebook June 2026"
    assert properties.keywords == "run 0f3a, method 1"


def test_the_sheets_are_those_of_the_report_and_open_on_the_summary() -> None:
    book = _book(report())

    assert book.sheetnames == _SHEETS
    assert max(map(len, book.sheetnames)) <= 31
    assert book.active.title == "Summary"
    assert [s.title for s in book if s.sheet_view.tabSelected] == ["Summary"]


def test_every_sheet_begins_with_the_question_it_answers() -> None:
    book = _book(report())

    for section in report().sections:
        assert book[section.sheet]["A2"].value == section.question


@pytest.mark.parametrize("sheet", ["Cost_per_task", "Usage", "Teams"])
def test_the_shown_total_ties_to_the_mart_to_the_cent(sheet: str) -> None:
    total = _row(_book(report())[sheet], "Total")["Cost (USD)"]

    assert round(Decimal(str(total.value)), 6) == Decimal("1.504999")
    assert total.number_format == "#,##0.00"


def test_estimates_carry_four_significant_figures() -> None:
    row = _row(_book(report())["Cost_per_task"], "gpt-5")

    assert row["Electricity (kWh)"].number_format == "#,##0.000"  # 2.000
    assert row["Cost per task (USD)"].number_format == "#,##0.0000"  # 0.1005
    assert row["Cost per task (USD)"].value == 0.1005


def test_unknown_is_a_word_and_never_zero() -> None:
    row = _row(_book(report())["Cost_per_task"], "mystery")

    assert row["Cost (USD)"].value == "unpriced"
    assert row["Electricity (kWh)"].value == "unmeasured"
    assert row["Batch"].value == "unmeasured"
    assert row["Provider"].value == "not stated"


def test_no_formula_is_in_the_workbook_whatever_a_log_says() -> None:
    sheets = [text for name, text in _parts(hostile_report()).items() if "worksheets/sheet" in name]

    assert len(sheets) == len(_SHEETS)
    assert not [text for text in sheets if "<f>" in text or "<f " in text or 't="e"' in text]


def test_hostile_text_stays_the_text_it_was() -> None:
    cells = _values(_of(*HOSTILE))

    assert [cell.value for cell in cells] == [clean_text(text) for text in HOSTILE]
    assert {cell.data_type for cell in cells} == {"s"}


def test_text_that_begins_a_formula_stays_text_when_a_reader_edits_it() -> None:
    cells = _values(_of("=1+1", "+1", "-1", "@a", "\t=1", "plain"))

    assert [bool(cell.quotePrefix) for cell in cells] == [True] * 5 + [False]


def test_text_longer_than_a_cell_ends_in_an_ellipsis() -> None:
    (cell,) = _values(_of("x" * 40_000))

    assert len(cell.value) == 32_767
    assert cell.value.endswith("x… [cut: 40,000 letters]")


def test_an_identifier_stays_text() -> None:
    cells = _values(_of("007", "12345678901234567890", kind="id"))

    assert [cell.value for cell in cells] == ["007", "12345678901234567890"]


def test_a_whole_number_too_large_for_a_spreadsheet_keeps_its_digits_as_text() -> None:
    cells = _values(_of(2**53, 2**53 + 1, kind="count"))

    assert [cell.value for cell in cells] == [9_007_199_254_740_992, "9007199254740993"]


def test_not_a_number_becomes_words() -> None:
    cells = _values(_of(float("nan"), float("inf"), Decimal("NaN"), kind="j"))

    assert [cell.value for cell in cells] == ["not a number"] * 3


def test_a_time_without_a_zone_stays_what_it_was() -> None:
    (cell,) = _values(_of(dt.datetime(2026, 6, 30, 1, 30), kind="datetime"))

    assert (cell.value, cell.number_format) == (
        dt.datetime(2026, 6, 30, 1, 30),
        "yyyy-mm-dd hh:mm",
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cost_usd_per_task", "no task"),
        ("cost_usd_per_solved_task", "none solved"),
        ("facility_energy_low_kwh", "unmeasured"),
        ("billed_cost_usd", "unpriced"),
        ("reasoning_tokens", "not in log"),
        ("anything", "none"),
    ],
)
def test_a_cell_without_a_value_says_why(name: str, reason: str) -> None:
    columns = (Column("name", "Name", "text"), Column(name, "Value", "number"))
    table = Table("t", "T", columns, (("row", None),))
    section = Section("s", "S", "S", "What?", tables=(table,))

    sheet = _book(Report("T", "2026-06", False, "1", "run", sections=(section,)))["S"]

    assert _row(sheet, "row")["Value"].value == reason


def test_a_time_with_a_zone_becomes_utc() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    moment = dt.datetime(2026, 6, 30, 1, 30, tzinfo=zone)

    cells = _values(_of(moment, dt.date(2026, 6, 1), kind="datetime"))

    assert cells[0].value == dt.datetime(2026, 6, 29, 23, 30)
    assert [cell.number_format for cell in cells] == ["yyyy-mm-dd hh:mm", "yyyy-mm-dd"]


def test_every_table_is_an_excel_table_under_its_own_heads() -> None:
    book = _book(report())
    names = [table.displayName for sheet in book for table in sheet.tables.values()]
    tables = [f"t_{t.name}" for s in report().sections for t in s.tables]
    drawn_here = ("task_costs", "energy_shares", "trend_cost_usd", "trend_facility_energy_kwh")
    shown = [figure.name for section in report().sections for figure in section.figures]
    figures = [f"t_figure_{name}" for name in (*drawn_here, *shown)]

    assert sorted(names) == sorted([*tables, *figures, "t_key_figures", "t_cost_quality"])
    for sheet in book:
        for table in sheet.tables.values():
            heads = [cell.value for cell in sheet[table.ref][0]]
            assert heads == [column.name for column in table.tableColumns]
            assert all(heads)
            assert len({head.lower() for head in heads}) == len(heads)


def test_heads_that_differ_in_case_alone_are_refused() -> None:
    columns = (Column("a", "Cost", "usd"), Column("b", "cost", "usd"))
    section = Section("s", "S", "S", "?", tables=(Table("t", "T", columns, ((1, 2),)),))

    with pytest.raises(ValueError, match="t: heads must be there and differ"):
        workbook.render(Report("T", "2026-06", False, "1", "run", sections=(section,)))


def test_a_head_explains_its_column() -> None:
    head = next(c for c in _book(report())["Teams"]["A"] if c.value == "Team")

    assert head.comment.text == (
        "Team of the request; requests without one are kept on a line of their own."
    )


def test_heads_stay_in_sight_on_screen_and_on_every_printed_page() -> None:
    sheet = _book(report())["Teams"]
    head = next(c.row for c in sheet["A"] if c.value == "Team")

    assert sheet.freeze_panes == f"B{head + 1}"
    assert sheet.print_title_rows == f"${head}:${head}"


def test_every_sheet_prints_landscape_with_the_period_below() -> None:
    for sheet in _book(report()):
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.page_setup.fitToHeight == 0
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.oddFooter.left.text == "Joulebook 2026-06, method 1, run 0f3a"
        assert sheet.oddFooter.right.text == "Page &P of &N"


def test_no_sheet_prints_below_half_its_size() -> None:
    # A landscape page holds 145 letters at full size, 290 at 50 %; further pages repeat column A.
    for sheet in _book(report()):
        area = sheet.print_area.rpartition("!")[2].replace("$", "") or sheet.dimensions
        last = range_boundaries(area)[2]
        widths = [sheet.column_dimensions[get_column_letter(n)].width for n in range(1, last + 1)]
        pages = sheet.page_setup.fitToWidth
        repeated = widths[:3] if sheet.title == "Prices" else widths[:1]
        across = sum(widths) + (pages - 1) * sum(repeated)

        assert across / pages <= 290, sheet.title
        titles = "$A:$C" if sheet.title == "Prices" else "$A:$A"
        assert pages == 1 or sheet.print_title_cols == titles


def test_columns_of_text_shrink_before_a_sheet_takes_two_pages() -> None:
    # 100 + 60 + 122 letters are 19 more than 263: what is above 22 gives up 19 of 78 + 38 + 100
    assert narrowed({1: 100, 2: 60, 3: 122, 4: 500}, 3) == {1: 93, 2: 56, 3: 113}
    assert narrowed({1: 100, 2: 60}, 2) == {}  # fits
    assert narrowed({1: 22, 2: 22, 3: 300}, 3) == {3: 219}
    assert narrowed({1: 100, 2: 60, 3: 122}, 3, {3: 120}) == {1: 87, 2: 53, 3: 121}  # numbers
    # 20 columns of 14 are 280: no text to narrow, and at half its size the page holds 290
    assert narrowed(dict.fromkeys(range(1, 21), 14), 20) == {}
    # 18 of 16 and one of 20 are 308: 22 letters do not help, 15 do
    assert narrowed(dict.fromkeys(range(1, 19), 16) | {19: 20}, 19) == {
        **dict.fromkeys(range(1, 19), 15),
        19: 16,
    }
    assert narrowed(dict.fromkeys(range(1, 30), 20), 29) == {}  # numbers alone: two pages
    # … unless their numbers need less: 29 of 10 are the 290 letters of a page, 29 of 9 fewer
    twenty = dict.fromkeys(range(1, 30), 20)
    assert narrowed(twenty, 29, {}, dict.fromkeys(twenty, 9)) == dict.fromkeys(twenty, 9)
    assert narrowed(twenty, 29, {}, dict.fromkeys(twenty, 10)) == dict.fromkeys(twenty, 10)
    assert narrowed(twenty, 29, {}, dict.fromkeys(twenty, 11)) == {}
    assert pages_across([20] * 29) == 3  # 28 × 20 beside 20 repeated: 560 / 270


def test_a_tight_column_gives_a_name_two_lines_and_a_sentence_sixteen_letters() -> None:
    # "of " is 2.24 digits wide, "stand-" 5.29, "ins" 2.37: "of stand-" needs 8 and one beside it
    assert two_lines_wide("of stand-ins") == 9
    assert two_lines_wide("12") == 3
    assert two_lines_wide("shorter than the least: no reason to write more") == 16


def test_a_text_at_the_end_of_its_row_runs_on_where_it_fits() -> None:
    sheet = openpyxl.Workbook().active
    sizes = Sizes()
    for row, columns in ((1, 4), (2, 2), (3, 2)):
        sizes.last_columns[row] = columns
    for number in range(1, 5):
        sizes.add(1, number, "x" * 27, "text")  # 30 digits wide: four of them are a page's 120
    sizes.add(2, 2, "x" * 80, "text")  # beside it stand two empty columns
    sizes.add(3, 2, "x" * 200, "text")

    sizes.set(sheet, 4, 4)

    assert not sheet["B2"].alignment.wrap_text
    assert sheet.row_dimensions[2].height is None
    assert sheet.row_dimensions[3].height == 15 * math.ceil(200 / (sizes.widths[2] - 1))


def test_numbers_set_the_width_of_their_column_and_text_among_them_wraps() -> None:
    sheet = openpyxl.Workbook().active
    sizes = Sizes()
    for row in (1, 2):
        sizes.add(row, 1, "x" * 30, "text")
        sizes.add(row, 2, "12,345", "number")
    sizes.add(3, 2, "meta-llama/Llama-3.1-8B at novita", "text")
    sizes.add(3, 3, "1" * 40, "number")
    for number in range(4, 9):
        sizes.add(1, number, "x" * 30, "text")  # so that no page has room to spare

    sizes.set(sheet, 8, 8)

    assert sizes.widths[2] == 22
    assert sheet.row_dimensions[3].height == 30  # the name takes two lines
    assert sizes.widths[3] == 42  # no number is cut


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("xxxx xxxx", 10, 1),
        ("xxxx xxxx", 8, 2),  # between words
        ("xxxx-xxxx", 8, 2),  # behind a hyphen
        ("x" * 20, 8, 3),  # a word longer than a line is cut anywhere
        ("iiii" * 4, 9, 1),  # narrow letters
        ("mmmm", 6, 2),  # wide ones
        ("x\nx", 8, 2),
        ("", 8, 1),
    ],
)
def test_a_text_takes_as_many_lines_as_its_letters_need(text: str, room: float, lines: int) -> None:
    assert line_count(text, room) == lines


def test_no_cells_are_merged_and_nothing_is_linked() -> None:
    assert not [sheet for sheet in _book(report()) if sheet.merged_cells.ranges]
    assert not [name for name in _parts(report()) if "externalLink" in name]


def test_the_charts_have_titles_axes_and_a_text_for_those_who_do_not_see_them() -> None:
    parts = _parts(report())
    count = sum(name.startswith("xl/charts/chart") for name in parts)
    charts = [parts[f"xl/charts/chart{number}.xml"] for number in range(1, count + 1)]
    drawings = [text for name, text in parts.items() if name.startswith("xl/drawings/drawing")]
    axes = (
        *(("Summary", "Model · class", "USD"), ("Summary", "Model · class", "kWh")),
        *(("Cost_per_task", "Model · class", "USD"), ("Energy", "Model · class", "share")),
        ("Models", "Cost per task · model", "J"),
        *(("Bridge", "Step", "USD"), ("Trend", "Month", "USD"), ("Trend", "Month", "kWh")),
        *(("Batch", "Batch", "J"), ("Reasoning", "USD an answer, list price", "Accuracy")),
        ("Power_policy", "Setting, phase", "times"),
        ("Power_policy", "Seconds since the log began", "W"),
        ("Power_policy", "Tokens a second", "J per token"),
        ("Other_methods", "Method", "kWh"),
        ("Other_methods", "Request", "Wh"),
    )

    kinds = 'descr="(?:Bar chart|Stacked bar chart|Line chart|Scatter chart|Waterfall) '
    assert sum(len(re.findall(kinds, drawing)) for drawing in drawings) == len(axes)
    for chart, (sheet, across, unit) in zip(charts, axes, strict=True):
        assert f"<a:t>{unit}</a:t>" in chart
        assert f"<a:t>{across}</a:t>" in chart
        assert f"'{sheet}'!" in chart


def test_charts_that_stand_side_by_side_do_not_overlap() -> None:
    compared = 0
    for sheet in _book(report()):
        ends: dict[int, float] = {}  # row → where the chart before ends, in pixels
        for chart in sheet._charts:
            start = chart.anchor._from
            letters = [
                sheet.column_dimensions[get_column_letter(n)].width for n in range(1, start.col + 1)
            ]
            left = sum(7 * width + 5 for width in letters)  # 7 pixels a letter, 5 of margin
            compared += start.row in ends
            assert left >= ends.get(start.row, 0), sheet.title
            ends[start.row] = left + chart.anchor.ext.width / 9_525  # units of a pixel

    assert compared == 3  # Summary, Trend and Other_methods


def test_a_figure_of_lines_has_a_chart_on_its_own_sheet() -> None:
    parts = _parts(report())
    (chart,) = [
        text
        for name, text in parts.items()
        if name.startswith("xl/charts/chart") and "scatterChart" in text and "'Batch'!" in text
    ]
    sheet = _book(report())["Batch"]
    head = next(row for row in sheet.iter_rows() if str(row[1].value).startswith("1. llama"))

    assert sum(text.count('descr="Line chart of') for text in parts.values()) == 3
    assert "<a:t>Batch</a:t>" in chart
    assert re.findall('dispBlanksAs val="(.*?)"', chart) == ["span"]  # a gap breaks no line
    assert chart.count("<c:ser>") + chart.count("<ser>") == 1
    assert f"'Batch'!$A${head[0].row + 1}:$A${head[0].row + 3}" in chart
    assert [tuple(c.value for c in row[:2]) for row in sheet.iter_rows(head[0].row + 1, None)][
        :3
    ] == [(1, 1000), (2, 600), (4, 300)]


def test_numbers_that_run_over_pages_stand_below_all_else_and_off_paper() -> None:
    made = report()
    points = tuple((float(n), 100.0 + n) for n in range(60))
    line = Lines("power", "Power", "W", "Seconds", "s", "Line chart", (("a", points),))
    sections = [
        replace(each, figures=(line,)) if each.name == "measured_power" else each
        for each in made.sections
    ]
    sheet = _book(replace(made, sections=tuple(sections)))["Measured_power"]
    head = next(row[0].row for row in sheet.iter_rows() if row[0].value == "Seconds")
    chart = next(iter(sheet._charts))

    printed = range_boundaries(sheet.print_area.rpartition("!")[2].replace("$", ""))[3]
    assert chart.anchor._from.row < printed < head < sheet.max_row - 59
    assert not [each for each in sheet.row_breaks.brk if each.id >= printed]


def test_a_long_table_of_details_prints_its_first_page_and_says_so() -> None:
    made = report()
    sections = []
    for section in made.sections:
        long = [
            replace(table, rows=table.rows * (200 // len(table.rows) + 1))
            if table.name == "law_errors"
            else table
            for table in section.tables
        ]
        sections.append(replace(section, tables=tuple(long)))
    sheet = _book(replace(made, sections=tuple(sections)))["Law_errors"]

    printed = range_boundaries(sheet.print_area.rpartition("!")[2].replace("$", ""))[3]
    assert 10 < printed < 100 < sheet.max_row
    assert sheet.oddFooter.center.text == "&A: first rows; the sheet holds all"


def test_a_share_above_one_is_not_cut_by_its_axis() -> None:
    def axis_end(*values: float) -> Any:  # noqa: ANN401 the library has no types
        bars = Bars("b", "B", "times", "s", "a", ("one", "two"), (("v", values),), kind="frac")
        sheet = openpyxl.Workbook().active
        return bar_chart(bars, sheet, 1, ENGLISH).y_axis.scaling.max

    assert axis_end(0.5, 1.0) == 1
    assert axis_end(0.9, 1.02) is None


def test_a_bridge_is_a_waterfall_whose_lowest_bars_have_no_colour() -> None:
    sheet = _book(report())["Bridge"]
    head = next(row for row in sheet.iter_rows() if row[2].value == "Hidden below the bar (USD)")
    numbers = [[cell.value for cell in row[1:6]] for row in sheet.iter_rows(head[0].row + 1)][:8]
    (chart,) = [
        text
        for name, text in _parts(report()).items()
        if name.startswith("xl/charts/chart") and "'Bridge'!" in text
    ]

    # 1.20 + 0.50 + 0.10 − 0.40 + 0.15 − 0.05 = 1.50: value, hidden, whole, rise, fall
    assert numbers == [
        [1.2, 0, 1.2, 0, 0],
        [0.5, 1.2, 0, 0.5, 0],
        [0.1, pytest.approx(1.7), 0, 0.1, 0],
        [-0.4, pytest.approx(1.4), 0, 0, 0.4],
        [0, pytest.approx(1.4), 0, 0, 0],
        [0.15, pytest.approx(1.4), 0, 0.15, 0],
        [-0.05, pytest.approx(1.5), 0, 0, 0.05],
        [1.5, 0, 1.5, 0, 0],
    ]
    assert f"'Bridge'!$C${head[0].row + 1}:$C${head[0].row + 8}" in chart
    assert chart.count("<ser>") == 4
    assert chart.count("<a:noFill />") >= 1
    assert "<a:noFill />" in chart[: chart.index("'Bridge'!$D$")]


def test_a_waterfall_below_zero_is_told_in_numbers_alone() -> None:
    steps = Steps("s", "S", "USD", "", "", ("a", "b", "c"), (1.0, -1.5, -0.5), "usd")

    assert not is_waterfall(steps)


@pytest.mark.parametrize("name", ["task_count", "solved_task_count", "facility_energy_low_kwh"])
def test_tasks_and_ends_of_ranges_are_never_summed_up(name: str) -> None:
    assert not may_add(name)
    assert may_add("cost_usd")
    assert may_add("request_count")


def test_a_month_without_rows_still_makes_a_workbook() -> None:
    empty = Section("teams", "Teams", "Teams", "Who?", empty_reason="No request.")

    sheet = _book(Report("T", "2026-06", False, "1", "run", sections=(empty,)))["Teams"]

    assert [cell.value for cell in sheet["A"]][:4] == [
        "Teams, 2026-06",
        "Who?",
        None,
        "No request.",
    ]


def test_a_table_without_rows_says_so() -> None:
    table = Table("t", "Nothing", (Column("a", "A", "text"),), ())
    section = Section("s", "S", "S", "?", tables=(table,))

    sheet = _book(Report("T", "2026-06", False, "1", "run", sections=(section,)))["S"]

    assert "No rows." in [cell.value for cell in sheet["A"]]
    assert not sheet.tables


@pytest.mark.slow
def test_an_office_program_prints_the_workbook_without_error_cells(tmp_path: Path) -> None:
    soffice, pdftotext = need_program("soffice"), need_program("pdftotext")
    (tmp_path / "book.xlsx").write_bytes(workbook.render(report()))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"

    convert = [soffice, "--headless", profile, "--convert-to", "pdf", "--outdir", str(tmp_path)]
    subprocess.run([*convert, str(tmp_path / "book.xlsx")], check=True, timeout=180)
    read = [pdftotext, "-layout", str(tmp_path / "book.pdf"), "-"]
    text = subprocess.run(read, capture_output=True, text=True, check=True, timeout=60).stdout

    assert "Cost per task, 2026-06" in text
    assert not re.findall(r"Err:\d+|#(?:REF!|NAME\?|VALUE!|DIV/0!|N/A|NUM!)|###", text)
