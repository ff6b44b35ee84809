"""Render a report as a workbook: one sheet a section, live over data sheets, the same bytes twice.

Without data the sheets hold values; with data their figures are formulas over the data sheets,
the prices and the assumptions, each stored with the value that the pipeline computed.
"""

import calendar
import datetime as dt
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.language import ENGLISH, Language
from pipeline.report.palette import ACCENT
from pipeline.report.section import Report, Section, Steps, Table
from pipeline.report.sections.bridge import TABLE as BRIDGE
from pipeline.report.workbook.bridge import STEPS_OF_RUN, bridge_tables
from pipeline.report.workbook.bridge_steps import CELLS, live_bridge, write_steps, write_waterfall
from pipeline.report.workbook.cache import Fillings, filled_workbook
from pipeline.report.workbook.calculator import QUESTION, write_calculator
from pipeline.report.workbook.charts import SheetCharts, charts_of
from pipeline.report.workbook.checks import Sources, repeat_overall, write_checks
from pipeline.report.workbook.data import (
    BookData,
    Numbers,
    cost_table,
    numbers_of,
    price_table,
    usage_table,
)
from pipeline.report.workbook.data_sheets import add_data_sheet
from pipeline.report.workbook.dictionary import dictionary_table
from pipeline.report.workbook.energy import energy_table
from pipeline.report.workbook.formulas import live
from pipeline.report.workbook.guide import guide
from pipeline.report.workbook.inputs import (
    BIAS,
    COEFFICIENTS,
    name_assumptions,
    write_bias,
    write_coefficients,
    write_inputs,
)
from pipeline.report.workbook.layout import Place
from pipeline.report.workbook.looks import FAINT
from pipeline.report.workbook.models import architecture_table, list_price_table, model_table
from pipeline.report.workbook.run import AS_BUILT, STATE, write_run_state
from pipeline.report.workbook.sheet import SheetWriter
from pipeline.report.workbook.table import DataTable
from pipeline.report.workbook.work import work_table

SAMPLE_LINE = "Generated sample data: no real usage stands behind these figures."
FIRST_SECTION = "about"  # explains the workbook
_CHECKS = "checks"  # written last, since it refers to the others
OPENED_SECTION = "summary"  # the one printed page a manager sees
# Sheets in the order of a reader: what is said, what it rests on, what it is summed from.
_ORDER = (
    *("About", "Summary", "Findings", "Assumptions", "Prices", "Coefficients", "Bias_factors"),
    *(
        "Cost_per_task",
        "Usage",
        "Energy",
        "Energy_law",
        "Carbon",
        "Carbon_grids",
        "Models",
        "Teams",
        "Reconciliation",
    ),
    *("Bridge", "Trend", "*", "Calculator", "Catalog", "Checks", "Intake"),
    *("Method", "Method_numbers", "Dictionary"),
)


@dataclass
class _Build:
    """A workbook in the making."""

    report: Report
    data: BookData | None
    numbers: Numbers | None
    language: Language = ENGLISH
    book: Workbook = field(default_factory=Workbook)
    fillings: Fillings = field(default_factory=Fillings)
    places: dict[str, Place] = field(default_factory=dict)
    tables: dict[str, DataTable] = field(default_factory=dict)

    @property
    def footer(self) -> str:
        report = self.report
        return self.language.text(
            f"Joulebook {report.month}, method {report.method_version}, run {report.run_id}"
        )


def render(report: Report, data: BookData | None = None, language: Language = ENGLISH) -> bytes:
    """Return the workbook of a report, the same bytes for the same report, data and language.

    Names of sheets and of data columns stay English, since formulas refer to them.
    """
    build = _built(report, data, language)
    buffer = io.BytesIO()
    build.book.save(buffer)
    return filled_workbook(
        buffer.getvalue(), build.book.sheetnames, build.fillings, month_end(report.month)
    )


def data_places(report: Report, data: BookData | None = None) -> dict[str, Place]:
    """Return where each table of the workbook stands, by the table's name."""
    return _built(report, data).places


def month_end(month: str) -> dt.datetime:
    """Return the last even second of a month, which is what an archive can store."""
    year, number = int(month[:4]), int(month[5:7])
    last_day = calendar.monthrange(year, number)[1]
    return dt.datetime(year, number, last_day, 23, 59, 58)


def _built(report: Report, data: BookData | None, language: Language = ENGLISH) -> _Build:
    build = _Build(report, data, numbers_of(data) if data else None, language)
    build.book.remove(build.book.active)
    if data and build.numbers:
        _write_data(build, data, build.numbers)
        for (sheet, question), write in ((COEFFICIENTS, write_coefficients), (BIAS, write_bias)):
            writer = _opened(build, sheet, sheet.replace("_", " "), question)
            write(writer, data)
            writer.finish(build.footer)
    sections = sorted(report.sections, key=lambda section: section.name == _CHECKS)
    charts = [_write_section(build, section) for section in sections]
    if data:
        writer = _opened(build, "Calculator", "Calculator", QUESTION)
        _write_data_sheet(build, write_calculator(writer, data))
        writer.finish(build.footer)
    for sheet_charts in charts:
        sheet_charts.link(build.places, build.fillings)
    _link_bridge(build)
    _order(build.book)
    _describe(build)
    return build


def _write_data(build: _Build, data: BookData, numbers: Numbers) -> None:
    tables = (
        price_table(data),
        model_table(data),
        energy_table(data, numbers, build.language),
        cost_table(data, numbers),
        work_table(data, numbers),
        usage_table(data, numbers),
        architecture_table(data),
        list_price_table(data),
        *bridge_tables(data, numbers),
    )
    build.tables = {table.name: table for table in tables}
    for table in (*tables, dictionary_table(data, tables)):
        _write_data_sheet(build, table)


def _write_data_sheet(build: _Build, table: DataTable) -> None:
    sheet = build.book.create_sheet(table.sheet)
    build.places[table.name] = add_data_sheet(
        sheet, table, build.fillings, build.footer, build.language
    )


def _order(book: Workbook) -> None:
    """Put the sheets into the reader's order; those it does not name stand where its star is."""
    made = {sheet.title: number for number, sheet in enumerate(book.worksheets)}
    star = _ORDER.index("*")

    def place(sheet: Worksheet) -> tuple[int, int]:
        if sheet.title.startswith("Data_"):
            return len(_ORDER), made[sheet.title]
        known = _ORDER.index(sheet.title) if sheet.title in _ORDER else star
        return known, made[sheet.title]

    book._sheets.sort(key=place)  # the library moves sheets by offsets only


def _describe(build: _Build) -> None:
    report, book = build.report, build.book
    properties = book.properties
    properties.title = build.language.text(report.title)
    properties.subject = build.language.text(report.subtitle)
    properties.language = build.language.code
    properties.creator = properties.lastModifiedBy = "Joulebook"
    properties.keywords = f"run {report.run_id}, method {report.method_version}"
    properties.created = properties.modified = month_end(report.month)
    sheets = {section.name: section.sheet for section in report.sections}
    if OPENED_SECTION in sheets:
        book.active = book.sheetnames.index(sheets[OPENED_SECTION])
        book.active.sheet_view.tabSelected = True


def _write_section(build: _Build, section: Section) -> SheetCharts:
    writer = _opened(build, section.sheet, section.title, section.question)
    if build.data and section.statements and section.name != FIRST_SECTION:
        writer.live_line(STATE, build.language.text(AS_BUILT))
    for sentence in filter(None, (*section.statements, section.empty_reason)):
        writer.line(sentence)
    writer.skip()
    if section.key_figures:
        writer.key_figures(section.key_figures, is_live=build.data is not None)
    charts = charts_of(writer, build.report, section)
    charts.leave_room()
    for table in (table for table in section.tables if not table.sheet):
        _write_table(build, writer, table)
    charts.write()
    _write_more(build, writer, section)
    charts.write_long()
    writer.finish(build.footer)
    charts.part()
    for sheet in dict.fromkeys(table.sheet for table in section.tables if table.sheet):
        apart = _opened(build, sheet, section.title, section.question)
        tables = [table for table in section.tables if table.sheet == sheet]
        for table in tables:
            _write_table(build, apart, table)
        apart.finish(build.footer, is_detail=len(tables) == 1)
    return charts


def _write_more(build: _Build, writer: SheetWriter, section: Section) -> None:
    """Write what only a live workbook has to say, below what the section says."""
    if build.data is None:
        return
    if section.name == "assumptions":
        write_inputs(writer, build.book, build.data)
        write_run_state(writer, build.book)
    elif section.name == "bridge" and section.tables and CELLS not in build.tables:
        writer.line(STEPS_OF_RUN)
    elif section.name == _CHECKS:
        _write_checks(build, writer, build.data)
    elif section.name == FIRST_SECTION:
        for table in guide(build.tables.values()):
            writer.table(table)


def _write_checks(build: _Build, writer: SheetWriter, data: BookData) -> None:
    """Write all checks, and their overall result into the free row of the first two sheets."""
    words = write_checks(writer, Sources(build.report, data, build.places, build.tables))
    free_row = 4 if build.report.is_generated_sample else 3
    for section in build.report.sections:
        if section.name in (FIRST_SECTION, OPENED_SECTION):
            repeat_overall(build.book[section.sheet], build.fillings, free_row, words)


def _write_table(build: _Build, writer: SheetWriter, table: Table) -> None:
    energy = build.tables.get("d_energy")
    alive = (
        live_bridge(table)
        if table.name == BRIDGE and CELLS in build.tables
        else live(table, build.numbers, build.report.month, energy)
    )
    writer.table(alive)
    if alive.inputs:
        name_assumptions(writer, build.book, alive)


def _link_bridge(build: _Build) -> None:
    """Let the steps between two months, and their waterfall, follow the cells of both months."""
    if CELLS not in build.tables or BRIDGE not in build.places:
        return
    section = next(each for each in build.report.sections if each.name == "bridge")
    sheet = build.book[section.sheet]
    write_steps(sheet, section.tables[0], build.places[BRIDGE], build.fillings)
    for figure in section.figures:
        if isinstance(figure, Steps) and f"figure_{figure.name}" in build.places:
            write_waterfall(sheet, build.places, figure.values, build.fillings)


def _opened(build: _Build, sheet: str, title: str, question: str) -> SheetWriter:
    report = build.report
    language = build.language
    writer = SheetWriter(
        build.book.create_sheet(sheet), build.fillings, build.places, language=language
    )
    writer.line(
        f"{language.text(title)}, {report.month}", size=16, bold=True, color=ACCENT.lstrip("#")
    )
    writer.line(question, color=FAINT)
    if report.is_generated_sample:
        writer.line(SAMPLE_LINE, bold=True)
    writer.skip()
    return writer


__all__: Sequence[str] = ("data_places", "month_end", "render")
