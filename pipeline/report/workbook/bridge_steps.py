"""The Bridge sheet's own formulas: each step as the difference of two sums of Data_Bridge.

A step is cut once, as the mart cuts it, so that steps add up to the last digit. No cell refers to
the row above it, so the table may be sorted.
"""

from collections.abc import Mapping
from dataclasses import replace

from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.section import Column, Kind, Table
from pipeline.report.sections.bridge import STEPS, TABLE
from pipeline.report.workbook.cache import Fillings
from pipeline.report.workbook.cells import write_formula
from pipeline.report.workbook.energy import RUN
from pipeline.report.workbook.facility import CARBON_PER_KWH
from pipeline.report.workbook.formulas import RANGE_OF, LiveTable, ratio_of
from pipeline.report.workbook.layout import Place

CELLS = "d_bridge"
METHOD = "method"
FIGURE = "figure_cost_bridge"
_AFTER = {  # step → column of Data_Bridge that sums up to what the month is after it
    **{"before": "before_", "mix": "at_mix_", "model": "at_model_"},
    **{"length": "at_length_", "price": "", "": ""},
}
_ORDER = [step for step, _, _ in STEPS[:-1] if step != METHOD]
_METHOD_ROW = [step for step, _, _ in STEPS].index(METHOD)
_MEASURES = {  # measure → what its ends are called, and its head
    "facility_energy_kwh": (
        ("facility_energy_low_kwh", "facility_energy_high_kwh"),
        "Electricity",
    ),
    "carbon_kgco2e": (("carbon_low_kgco2e", "carbon_high_kgco2e"), "Carbon"),
}


def live_bridge(table: Table) -> LiveTable:
    """Let the ranges of each step follow the month's whole, and say whose draws they rest on.

    What only scales (PUE, host, idle, grid) scales every draw of every step alike.
    """
    names = [column.name for column in table.columns]
    columns, formulas = [*table.columns, RANGE_OF], {RANGE_OF.name: "ranges_of"}
    rows = [[*row, RUN] for row in table.rows]
    for measure, (ends, head) in _MEASURES.items():
        whole = table.rows[-1][names.index(measure)]
        month = step_formula("", measure, issued="")
        for name, end in zip(ends, ("low", "high"), strict=True):
            ratio = f"{measure}_{end}_ratio"
            columns.append(
                Column(
                    ratio,
                    f"{head}, {end} ÷ month",
                    "ratio",
                    meaning=f"The end over the month's {head.lower()}, as the run found it.",
                )
            )
            for row in rows:
                row.append(ratio_of(row[names.index(name)], whole))
            if whole:
                formulas[name] = f"{{{ratio}}}*{month}"
    return LiveTable(replace(table, columns=tuple(columns), rows=tuple(map(tuple, rows))), formulas)


def write_steps(sheet: Worksheet, table: Table, place: Place, fillings: Fillings) -> None:
    """Write the formula of every step into the table that stands there with its values."""
    names = [column.name for column in table.columns]
    kinds: dict[str, Kind] = {column.name: column.kind for column in table.columns}
    for number, (step, _, _) in enumerate(STEPS):
        for name in ("cost_usd", *_MEASURES):
            value = table.rows[number][names.index(name)]
            if value is None:
                continue
            first = place.head_row + 1
            cell = sheet.cell(first + number, names.index(name) + 1)
            is_issued = bool(table.rows[_METHOD_ROW][names.index(name)])
            if step == (_ORDER[0] if is_issued else METHOD):
                continue  # what a report said, and nothing, are no formulas
            formula = step_formula(step, name, f"${cell.column_letter}${first}")
            write_formula(cell, formula, value, kinds[name])
            fillings.add_result(sheet.title, cell.coordinate, value)


def step_formula(step: str, name: str, issued: str) -> str:
    """Return what a step adds to a measure, or what a whole month is.

    Args:
        step: The step.
        name: The column of the measure.
        issued: The cell of what the report of the month before said, which another method made.
    """
    if name == "carbon_kgco2e":
        grams = _difference(
            step, "facility_energy", "kwh", f"{issued}*grams_per_kg", f"*{CARBON_PER_KWH}"
        )
        return f"({grams})/grams_per_kg"
    stem, _, unit = name.rpartition("_")
    return _difference(step, stem, unit, issued)


def write_waterfall(
    sheet: Worksheet, places: Mapping[str, Place], values: tuple[float, ...], fillings: Fillings
) -> None:
    """Let the numbers of the waterfall follow the costs of the steps."""
    steps, figure = places[TABLE], places[FIGURE]
    cost = get_column_letter(steps.columns.index("cost_usd") + 1)
    first, last = figure.head_row + 1, figure.head_row + len(values)
    reached = 0.0
    for number, value in enumerate(values):
        row = first + number
        is_whole = row in (first, last)
        so_far = f"SUM($B${first}:$B{row - 1})"
        hidden = 0.0 if is_whole else min(reached, reached + value)
        reached = value if is_whole else reached + value
        cells: tuple[tuple[str, float], ...] = ((f"${cost}${steps.head_row + 1 + number}", value),)
        if is_whole:
            cells += (("0", 0.0), (f"$B{row}", value), ("0", 0.0), ("0", 0.0))
        else:
            cells += (
                (f"MIN({so_far},{so_far}+$B{row})", hidden),
                ("0", 0.0),
                (f"MAX($B{row},0)", max(value, 0.0)),
                (f"MAX(-$B{row},0)", max(-value, 0.0)),
            )
        for column, (formula, found) in enumerate(cells, start=2):
            if formula != "0":
                cell = sheet.cell(row, column)
                write_formula(cell, formula, found, "usd")
                fillings.add_result(sheet.title, cell.coordinate, found)


def _difference(step: str, stem: str, unit: str, issued: str, times: str = "") -> str:
    if step == METHOD:
        now = _cut(_after(_ORDER[0], stem, unit) + times, unit)
        return f"ROUND({now}-{issued},{_digits(unit)})"
    after = _cut(_after(step, stem, unit) + times, unit)
    if step in ("before", ""):
        return after
    earlier = _ORDER[_ORDER.index(step) - 1]
    before = _cut(_after(earlier, stem, unit) + times, unit)
    return f"ROUND({after}-{before},{_digits(unit)})"


def _after(step: str, stem: str, unit: str) -> str:
    if step == "volume":
        counted = "priced" if stem == "cost" else "measured"
        now, then = (f"SUM({CELLS}[{counted}_request_{when}count])" for when in ("", "before_"))
        return f"{now}/{then}*SUM({CELLS}[{stem}_before_{unit}])"
    return f"SUM({CELLS}[{stem}_{_AFTER[step]}{unit}])"


def _cut(formula: str, unit: str) -> str:
    return f"ROUND({formula},{_digits(unit)})"


def _digits(unit: str) -> str:
    return "cent_decimals" if unit == "usd" else "step_decimals"
