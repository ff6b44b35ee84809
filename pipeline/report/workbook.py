"""Render a report as a workbook: one sheet a section, one Excel table a table, values as values."""

import calendar
import datetime as dt
import io
from collections.abc import Sequence

from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from pipeline.report.palette import ACCENT
from pipeline.report.section import Bars, Lines, Report, Section
from pipeline.report.workbook_bytes import fixed_bytes
from pipeline.report.workbook_cells import FAINT
from pipeline.report.workbook_charts import (
    CHART_ROWS,
    CHART_WIDTH_CM,
    Placed,
    bar_chart,
    line_chart,
)
from pipeline.report.workbook_sheet import SheetWriter

SAMPLE_LINE = "Generated sample data: no real usage stands behind these figures."
MOST_CHARTS = 2
FIRST_SECTION = "about"  # explains the workbook
CHART_SECTION = "summary"  # the one printed page a manager sees

_CM_PER_LETTER = 0.2


def render(report: Report) -> bytes:
    """Return the workbook of a report, the same bytes for the same report."""
    book = Workbook()
    book.remove(book.active)
    charts = _charts(report)
    for section in sorted(report.sections, key=lambda section: section.name != FIRST_SECTION):
        is_chart_section = section.name == CHART_SECTION
        _write_section(book, report, section, charts if is_chart_section else [])
    _describe(book, report)
    buffer = io.BytesIO()
    book.save(buffer)
    alts = [[bars.alt for bars in charts]]
    alts += [[lines.alt for lines in _lines(section)] for section in report.sections]
    texts = {
        f"xl/drawings/drawing{number}.xml": shown
        for number, shown in enumerate((shown for shown in alts if shown), start=1)
    }
    return fixed_bytes(buffer.getvalue(), month_end(report.month), texts)


def _charts(report: Report) -> list[Bars]:
    """Return the figures that become charts; the numbers of the others stand in their sections."""
    figures = [figure for section in report.sections for figure in section.figures]
    return [figure for figure in figures if isinstance(figure, Bars)][:MOST_CHARTS]


def _lines(section: Section) -> list[Lines]:
    return [figure for figure in section.figures if isinstance(figure, Lines)]


def month_end(month: str) -> dt.datetime:
    """Return the last even second of a month, which is what an archive can store."""
    year, number = int(month[:4]), int(month[5:7])
    last_day = calendar.monthrange(year, number)[1]
    return dt.datetime(year, number, last_day, 23, 59, 58)


def _describe(book: Workbook, report: Report) -> None:
    properties = book.properties
    properties.title = report.title
    properties.subject = report.subtitle
    properties.creator = properties.lastModifiedBy = "Joulebook"
    properties.keywords = f"run {report.run_id}, method {report.method_version}"
    properties.created = properties.modified = month_end(report.month)
    sheets = {section.name: section.sheet for section in report.sections}
    if CHART_SECTION in sheets:
        book.active = book.sheetnames.index(sheets[CHART_SECTION])
        book.active.sheet_view.tabSelected = True


def _write_section(
    book: Workbook, report: Report, section: Section, charts: Sequence[Bars]
) -> None:
    writer = _opened(book, report, section.sheet, section.title, section.question)
    for sentence in section.statements:
        writer.line(sentence)
    if section.empty_reason:
        writer.line(section.empty_reason)
    writer.skip()
    if section.key_figures:
        writer.key_figures(section.key_figures)
    chart_row = writer.next_row
    writer.skip(CHART_ROWS if charts else 0)
    for table in section.tables:
        if not table.sheet:
            writer.table(table)
    _write_uncharted(writer, report, section)
    _write_charts(writer, charts, chart_row)
    _write_lines(writer, _lines(section))
    writer.finish(_footer(report))
    for table in section.tables:
        if table.sheet:
            apart = _opened(book, report, table.sheet, section.title, section.question)
            apart.table(table)
            apart.finish(_footer(report))


def _write_uncharted(writer: SheetWriter, report: Report, section: Section) -> None:
    charted = {bars.name for bars in _charts(report)} | {lines.name for lines in _lines(section)}
    for figure in section.figures:
        if figure.name not in charted:
            writer.table(figure.as_table())


def _opened(book: Workbook, report: Report, sheet: str, title: str, question: str) -> SheetWriter:
    writer = SheetWriter(book.create_sheet(sheet))
    writer.line(f"{title}, {report.month}", size=16, bold=True, color=ACCENT.lstrip("#"))
    writer.line(question, color=FAINT)
    if report.is_generated_sample:
        writer.line(SAMPLE_LINE, bold=True)
    writer.skip()
    return writer


def _footer(report: Report) -> str:
    return f"Joulebook {report.month}, method {report.method_version}, run {report.run_id}"


def _write_charts(writer: SheetWriter, charts: Sequence[Bars], row: int) -> None:
    """Write each chart's numbers below the tables and put the charts side by side above them."""
    column = 1
    for bars in charts:
        placed = Placed(bars, writer.sheet, writer.next_row + 1)
        writer.table(bars.as_table())
        writer.sheet.add_chart(bar_chart(placed), f"{get_column_letter(column)}{row}")
        covered = 0.0
        while covered < CHART_WIDTH_CM + 0.2:
            covered += writer.widths.get(column, 9) * _CM_PER_LETTER
            column += 1


def _write_lines(writer: SheetWriter, figures: Sequence[Lines]) -> None:
    """Write the numbers of each figure of lines and its chart below them."""
    for lines in figures:
        head_row = writer.next_row + 1
        writer.table(lines.as_table())
        writer.sheet.add_chart(line_chart(lines, writer.sheet, head_row), f"A{writer.next_row}")
        writer.skip(CHART_ROWS)
