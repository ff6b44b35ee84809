"""The table of all checks: expected, actual, difference, tolerance and what that means, in words.

The pipeline's claims stand there as it found them. Where a figure can be reached by two ways
through the workbook, both are formulas, so a check stays true when inputs move. What was issued
beside the workbook (focus.csv, Parquet) does not move: there the check says that inputs did.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.language import ENGLISH, Language
from pipeline.report.section import Column, Kind, Report, Table, Value
from pipeline.report.sections.bridge import TABLE as BRIDGE
from pipeline.report.workbook.bridge_steps import CELLS
from pipeline.report.workbook.cache import Fillings
from pipeline.report.workbook.cells import write_formula, write_value
from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.energy import INPUTS_MOVED
from pipeline.report.workbook.formulas import LiveTable
from pipeline.report.workbook.layout import Place
from pipeline.report.workbook.looks import Look, put_on
from pipeline.report.workbook.sheet import SheetWriter
from pipeline.report.workbook.table import DataTable

NAME = "checks_overall"
_CENT_HALF = 0.005  # USD: what rounds to the same cent
_SMALLEST = 1e-9  # of a figure: what sums of floating-point numbers may differ by
_TIED_TABLES = (
    *("summary_by_class", "summary_by_model", "team_chargeback", "cost_per_task"),
    *("usage_and_cost", "energy_per_class", "carbon"),
)
_COLUMNS = (
    Column("claim", "Claim", "text", meaning="What must hold."),
    Column("severity", "Severity", "text", meaning="error, warn, or issue for files beside."),
    Column("status", "Status", "text", meaning="✓ holds, ✗ does not, ! is told, ≠ inputs moved."),
    Column("difference", "Difference", "number", meaning="Actual less expected."),
    Column("basis", "What is compared", "text", meaning="Where the two numbers come from."),
    Column("expected", "Expected", "number", meaning="By one way."),
    Column("actual", "Actual", "number", meaning="By the other way."),
    Column("tolerance", "Tolerance", "number", meaning="Difference that is none."),
)
_EXPECTED, _ACTUAL = 6, 7  # columns of the sheet
_BASIS = {
    "error": "two sums of this workbook",
    "issue": "a file beside this workbook, and Summary",
}
_FAILED = "✗ {failed} of {all} checks do not hold, see Checks"
_PASSED = "✓ All {all} checks hold, {warned} with a warning"
_DIFFERENCE = "IF(ABS({actual}-{expected})<={tolerance},0,{actual}-{expected})"
_STATUS = (
    'IF(ABS({difference})<={tolerance},"✓",'
    f'IF({{severity}}="warn","!",IF({{severity}}="issue","{INPUTS_MOVED}","✗")))'
)


@dataclass(frozen=True)
class _Way:
    """One way to a figure: where it stands or how it is summed, and what that gives."""

    formula: str  # '' for a number that a file beside the workbook holds
    value: float


@dataclass(frozen=True)
class _Tie:
    """A figure reached by two ways."""

    claim: str
    expected: _Way
    actual: _Way
    tolerance: float
    severity: str = "error"

    @property
    def row(self) -> tuple[Value, ...]:
        expected, actual = self.expected.value, self.actual.value
        holds = abs(actual - expected) <= self.tolerance
        difference = 0.0 if holds else actual - expected
        status = "✓" if holds else INPUTS_MOVED if self.severity == "issue" else "✗"
        basis = _BASIS[self.severity]
        return (
            *(self.claim, self.severity, status, difference, basis),
            *(expected, actual, self.tolerance),
        )


@dataclass(frozen=True)
class Sources:
    """Where the ways of the checks lead: the report, its places, the data tables."""

    report: Report
    data: BookData
    places: Mapping[str, Place]
    tables: Mapping[str, DataTable]

    def figure(self, label: str) -> _Way | None:
        """Return a headline number."""
        for section in self.report.sections:
            for number, figure in enumerate(section.key_figures, start=1):
                if figure.label == label and _is_number(figure.value):
                    place = self.places["key_figures"]
                    cell = f"{place.sheet}!$B${place.head_row + number}"
                    return _Way(cell, float(figure.value))  # type: ignore[arg-type]
        return None

    def total(self, name: str, column: str) -> _Way | None:
        """Return the total of a column of a section's table."""
        table, place = _table(self.report, name), self.places.get(name)
        if table is None or place is None or table.total is None or column not in place.columns:
            return None
        number = place.columns.index(column)
        if number >= len(table.total) or not _is_number(table.total[number]):
            return None
        letter = get_column_letter(number + 1)
        cell = f"{place.sheet}!${letter}${place.head_row + place.row_count + 1}"
        return _Way(cell, float(table.total[number]))  # type: ignore[arg-type]

    def steps(self, column: str) -> tuple[_Way, _Way] | None:
        """Return this month on the bridge, and the sum of the lines before it."""
        table, place = _table(self.report, BRIDGE), self.places.get(BRIDGE)
        if table is None or place is None or CELLS not in self.tables:
            return None
        number = place.columns.index(column)
        values = [row[number] for row in table.rows]
        if not all(map(_is_number, values)):
            return None
        letter, first = get_column_letter(number + 1), place.head_row + 1
        last = place.head_row + place.row_count
        *parts, whole = (float(value) for value in values)  # type: ignore[arg-type]
        return (
            _Way(f"{place.sheet}!${letter}${last}", whole),
            _Way(f"SUM({place.sheet}!${letter}${first}:${letter}${last - 1})", math.fsum(parts)),
        )

    def data_sum(self, name: str, column: str) -> _Way | None:
        """Return the month's sum of a column of a data sheet."""
        columns = {each.name: each for each in self.tables[name].columns}
        if column not in columns:
            return None
        month = self.data.month
        pairs = zip(columns["month_start"].values, columns[column].values, strict=True)
        known = [
            float(value)  # type: ignore[arg-type]
            for start, value in pairs
            if _is_number(value) and str(start)[:7] == month
        ]
        formula = f"SUMIFS({name}[{column}],{name}[month_start],report_month)"
        return _Way(formula, math.fsum(known))


def write_checks(writer: SheetWriter, sources: Sources) -> str:
    """Write the table of all checks; return its overall result in words."""
    ties = [
        *_sheet_ties(sources),
        *_bridge_ties(sources),
        *_data_ties(sources),
        *_issued_ties(sources),
    ]
    rows = (*(tie.row for tie in ties), *_claims(sources.report))
    status = writer.language.words(_STATUS, (INPUTS_MOVED, "warn", "issue"))
    table = Table(
        "all_checks",
        "All checks: expected, actual and difference",
        _COLUMNS,
        rows,
        note="Live, but for the claims of the run. ≠ says that an input was moved since the files "
        "beside this workbook were written.",
    )
    writer.table(LiveTable(table, {"difference": _DIFFERENCE, "status": status}))
    place = writer.places["all_checks"]
    for row, tie in enumerate(ties, start=place.head_row + 1):
        kind: Kind = "usd" if "USD" in tie.claim else "number"
        for column, way in ((_EXPECTED, tie.expected), (_ACTUAL, tie.actual)):
            cell = writer.sheet.cell(row, column)
            write_value(cell, way.value, kind)
            if way.formula:
                write_formula(cell, way.formula, way.value, kind)
                writer.fillings.add_result(writer.sheet.title, cell.coordinate, way.value)
    return _write_overall(writer, rows)


def repeat_overall(sheet: Worksheet, fillings: Fillings, row: int, words: str) -> None:
    """Repeat the overall result in a free row of another sheet."""
    cell = sheet.cell(row, 1)
    write_formula(cell, NAME, words, "text")
    put_on(cell, Look(is_bold=True))
    fillings.add_result(sheet.title, cell.coordinate, words)


def overall_words(rows: Sequence[Sequence[Value]], language: Language = ENGLISH) -> str:
    """Return the overall result of checks, each with its status third."""
    failed, warned = (sum(row[2] == mark for row in rows) for mark in "✗!")
    counts = {"all": len(rows), "failed": failed, "warned": warned}
    return language.text(_FAILED if failed else _PASSED).format_map(counts)


def _write_overall(writer: SheetWriter, rows: Sequence[Sequence[Value]]) -> str:
    language = writer.language
    words = overall_words(rows, language)
    status = "t_all_checks[Status]"
    counts = {
        "all": f"ROWS({status})",
        "failed": f'COUNTIF({status},"✗")',
        "warned": f'COUNTIF({status},"!")',
    }
    said = {name: f'"&{count}&"' for name, count in counts.items()}
    failing, passing = (language.text(each).format_map(said) for each in (_FAILED, _PASSED))
    formula = f'IF({counts["failed"]}>0,"{failing}","{passing}")'
    cell = writer.sheet.cell(writer.next_row, 1)
    write_formula(cell, formula, words, "text")
    put_on(cell, Look(is_bold=True))
    writer.fillings.add_result(writer.sheet.title, cell.coordinate, words)
    writer.sheet.parent.defined_names[NAME] = DefinedName(
        NAME, attr_text=f"{writer.sheet.title}!$A${cell.row}"
    )
    writer.skip(2)
    return words


def _claims(report: Report) -> list[tuple[Value, ...]]:
    """Return the pipeline's claims: so many rows against it, none expected."""
    found = _table(report, "checks")
    if found is None:
        return []
    names = [column.name for column in found.columns]
    claim, severity, status, count = (
        names.index(name) for name in ("check_name", "severity", "status", "violation_count")
    )
    marks = {"pass": "✓", "warn": "!", "fail": "✗"}
    return [
        (
            _sentence(str(row[claim])),
            row[severity],
            marks[str(row[status])],
            row[count],
            "rows of the run that go against it",
            0,
            row[count],
            0,
        )
        for row in found.rows
    ]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _sheet_ties(sources: Sources) -> list[_Tie]:
    """Return where one sheet must say what another says."""
    figures = {
        "cost_usd": ("Cost", "USD", _CENT_HALF),
        "facility_energy_kwh": ("Electricity", "kWh", 0.0),
        "carbon_kgco2e": ("Carbon", "kg CO₂e", 0.0),
        "request_count": ("Requests", "requests", 0.0),
    }
    ties = []
    for name in _TIED_TABLES:
        for column, (label, unit, tolerance) in figures.items():
            expected, actual = sources.figure(label), sources.total(name, column)
            if expected and actual:
                claim = f"{name.replace('_', ' ').capitalize()} = Summary, {unit}"
                ties.append(_Tie(claim, expected, actual, _slack(tolerance, expected.value)))
    return ties


def _slack(tolerance: float, value: float) -> float:
    """Return the tolerance of a tie, at the least what a number of its size is rounded by."""
    return max(tolerance, abs(value) * _SMALLEST)


def _bridge_ties(sources: Sources) -> list[_Tie]:
    """Return where the steps between two months must add up, and begin and end as they should."""
    ties = []
    for column, label, unit, least in (
        ("cost_usd", "Cost", "USD", _CENT_HALF),
        ("facility_energy_kwh", "Electricity", "kWh", _SMALLEST),
        ("carbon_kgco2e", "Carbon", "kg CO₂e", _SMALLEST),
    ):
        ways, figure = sources.steps(column), sources.figure(label)
        if ways is None or figure is None:
            continue
        whole, parts = ways
        slack = _slack(least, figure.value)
        ties.append(_Tie(f"Steps of Bridge = this month, {unit}", whole, parts, slack))
        ties.append(_Tie(f"Bridge = Summary, {unit}", figure, whole, slack))
    return ties


def _data_ties(sources: Sources) -> list[_Tie]:
    """Return where the data sheets must hold what the figures and one another hold."""
    wanted = (
        ("d_energy", "d_cost", "cost_usd", "USD", _CENT_HALF),
        ("d_energy", "d_cost", "request_count", "requests", 0.0),
        ("d_cost", "d_usage", "request_count", "requests", 0.0),
        ("d_cost", "d_usage", "input_tokens", "input tokens", 0.0),
        ("d_cost", "d_usage", "output_tokens", "output tokens", 0.0),
        ("d_cost", "d_usage", "list_cost_usd", "USD at list price", _CENT_HALF),
        ("d_energy", "d_cost", "gpu_energy_j", "J of GPUs", 0.0),
        ("d_energy", "d_usage", "gpu_energy_j", "J of GPUs", 0.0),
    )
    ties = []
    for one, other, column, unit, tolerance in wanted:
        expected, actual = sources.data_sum(one, column), sources.data_sum(other, column)
        if expected and actual:
            claim = f"{sources.tables[other].sheet} = {sources.tables[one].sheet}, {unit}"
            ties.append(_Tie(claim, expected, actual, _slack(tolerance, expected.value)))
    return ties


def _issued_ties(sources: Sources) -> list[_Tie]:
    """Return where the files beside the workbook must hold its cost, to the cent."""
    cost = sources.figure("Cost")
    if cost is None:
        return []
    return [
        _Tie(f"Summary = {name}, USD", _Way("", float(value)), cost, _CENT_HALF, "issue")
        for name, value in sorted(sources.data.issued_usd.items())
    ]


def _table(report: Report, name: str) -> Table | None:
    tables = (table for section in report.sections for table in section.tables)
    return next((table for table in tables if table.name == name), None)


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
