"""The inputs beside the assumptions: units, the reader's currency, coefficients and bias factors.

Every number that a formula needs stands here once, in a cell with a name or in a table, so that
formulas carry none. Blue cells may be changed.
"""

import datetime as dt
import math

import polars as pl
from openpyxl.utils import get_column_letter
from openpyxl.workbook import Workbook

from pipeline.laws.facility import J_PER_KWH
from pipeline.report.section import Column, Table, Value
from pipeline.report.workbook.cells import mark_input, write_formula
from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.formulas import LiveTable
from pipeline.report.workbook.names import name_cell
from pipeline.report.workbook.sheet import SheetWriter

_COLUMNS = (
    Column("name", "Name", "text", meaning="Name of the cell in formulas."),
    Column("value", "Value", "number", meaning="Value in use."),
    Column("unit", "Unit", "text", meaning="Unit of the value."),
    Column("meaning", "Meaning", "text", meaning="What the value stands for."),
)
_CURRENCY = "in_currency_per_usd"
_IN_CURRENCY = "cost_in_currency"
_IN_CURRENCY_FORMULA = f"SUMIFS(d_energy[cost_usd],d_energy[month_start],report_month)*{_CURRENCY}"
COEFFICIENTS = ("Coefficients", "What does a unit of work cost in joules, and who says so?")
BIAS = ("Bias_factors", "How far off is the law for each kind of architecture, and each grade?")
_COEFFICIENT_INPUTS = (
    *("a_j_per_flop", "b_j_per_kv_byte", "c_j_per_weight_byte"),
    *("s_j_per_layer_step", "s_j_per_step"),
)

_MEANINGS = {
    "coefficient_set_id": "Set, by GPU and stack.",
    "gpu": "GPU it was measured on.",
    "stack": "Serving software.",
    "memory_gb": "Memory of the GPU.",
    "a_j_per_flop": "Joules of a floating-point operation.",
    "b_j_per_kv_byte": "Joules of a cache byte read.",
    "c_j_per_weight_byte": "Joules of a weight byte read.",
    "s_j_per_layer_step": "Joules of a layer's launch and idle power in a pass.",
    "s_j_per_step": "Joules of a whole pass beside them.",
    "architecture_count": "Models behind the fit.",
    **dict.fromkeys(("input_tokens_low", "input_tokens_high"), "Lengths that were measured."),
    **dict.fromkeys(("output_tokens_low", "output_tokens_high"), "Lengths that were measured."),
    **dict.fromkeys(("batch_low", "batch_high"), "Batches that were measured."),
    "is_default": "Is it the set of models whose GPU nobody tells?",
    "bias_no": "Number by which Data_Work finds the line.",
    "architecture_class": "Kind of model.",
    "bias_factor": "Measured over law.",
    "bias_low": "Its low end.",
    "bias_high": "Its high end.",
    "evidence_grade": "Evidence behind an energy.",
    "low_ratio": "Low end of the method over the value.",
    "high_ratio": "High end of it over the value.",
    "source": "Where the row comes from.",
    "source_date": "Day of the row.",
}


def write_inputs(writer: SheetWriter, book: Workbook, data: BookData) -> None:
    """Write the reader's currency and the units below the assumptions."""
    for name, caption, rows in (
        ("currency", "Currency of the reader", _currency_rows(data)),
        ("units", "Period and units that formulas use", _unit_rows(data.month)),
    ):
        alive = LiveTable(Table(name, caption, _COLUMNS, rows))
        writer.table(alive)
        place = writer.places[name]
        for number, row in enumerate(rows, start=place.head_row + 1):
            cell = writer.sheet.cell(number, 2)
            name_cell(book, str(row[0]), writer.sheet.title, f"$B${number}")
            if str(row[0]).startswith("in_"):
                mark_input(cell)
            elif row[0] == _IN_CURRENCY:
                write_formula(cell, _IN_CURRENCY_FORMULA, row[1], "usd")
                writer.fillings.add_result(writer.sheet.title, cell.coordinate, row[1])


def write_coefficients(writer: SheetWriter, data: BookData) -> None:
    """Write the coefficient sets."""
    _write_frame(writer, data.frame("coefficients"), "coefficient", _COEFFICIENT_INPUTS)


def write_bias(writer: SheetWriter, data: BookData) -> None:
    """Write the bias factors and the ranges of the grades."""
    bias = data.frame("bias_factors").with_row_index("bias_no", offset=1)
    _write_frame(writer, bias, "bias", ("bias_factor",))
    _write_frame(writer, data.frame("grade_ranges"), "grade", ())


def name_assumptions(writer: SheetWriter, book: Workbook, alive: LiveTable) -> None:
    """Give every assumption's value its name."""
    place = writer.places[alive.table.name]
    letter = get_column_letter(place.columns.index("value") + 1)
    for index, name in alive.inputs.items():
        name_cell(book, name, writer.sheet.title, f"${letter}${place.head_row + 1 + index}")


def _currency_rows(data: BookData) -> tuple[tuple[Value, ...], ...]:
    groups = data.frame("groups").filter(
        pl.col("month_start").cast(pl.String) == f"{data.month}-01"
    )
    cost = math.fsum(float(value) for value in groups.get_column("cost_usd").drop_nulls())
    return (
        ("in_currency", "USD", "code", "Currency in which the month is shown below; yours."),
        (_CURRENCY, 1, "per USD", "What one USD is worth in it; yours, with your own source."),
        (_IN_CURRENCY, cost, "in_currency", "Cost of the month in that currency."),
    )


def _unit_rows(month: str) -> tuple[tuple[str | float | dt.date, ...], ...]:
    first_day = dt.date(int(month[:4]), int(month[5:7]), 1)
    return (
        ("report_month", first_day, "day", "First day of the month of this report."),
        ("j_per_kwh", J_PER_KWH, "J/kWh", "Joules of a kilowatt-hour."),
        ("tokens_per_mtok", 1_000_000, "tokens", "Tokens that a list price is for."),
        ("grams_per_kg", 1_000, "g/kg", "Grams of a kilogram."),
        ("usd_decimals", 9, "digits", "Decimals to which the memo line in USD is kept."),
        ("cent_decimals", 2, "digits", "Decimals to which the steps of Bridge in USD are cut."),
        ("step_decimals", 9, "digits", "Decimals to which its steps in kWh and g are cut."),
        ("range_low_frac", 0.05, "share", "Share of the joint draws below the low end of a range."),
        ("range_high_frac", 0.95, "share", "Share of the joint draws below its high end."),
        ("least_change_frac", 1e-9, "share", "Change of a figure that is more than rounding."),
        ("bytes_per_gb", 1_000_000_000, "bytes", "Bytes of a decimal gigabyte."),
        ("wh_per_kwh", 1_000, "Wh/kWh", "Watt-hours of a kilowatt-hour."),
        ("grade_sets", 4, "architectures", "Architectures that a set for grade A rests on."),
        ("grade_domain", 2, "ratio", "How far beyond what was measured grade A reaches."),
        ("grade_bytes", 2, "bytes", "Bytes of a weight below which the grade is C."),
    )


def _write_frame(
    writer: SheetWriter, frame: pl.DataFrame, name: str, inputs: tuple[str, ...]
) -> None:
    """Write reference rows under their own column names, their numbers as inputs."""
    captions = {
        "coefficient": "Coefficients: joules of a unit of work, by GPU and serving stack",
        "grade": "Grades: least range of the method around a value",
        "bias": "Bias factors: measured over law, by kind of architecture",
    }
    columns = tuple(
        Column(
            column,
            column,
            "number" if frame.schema[column].is_numeric() else "text",
            meaning=_MEANINGS[column],
        )
        for column in frame.columns
    )
    writer.table(LiveTable(Table(f"d_{name}", captions[name], columns, tuple(frame.rows()))))
    place = writer.places[f"d_{name}"]
    for column in inputs:
        number = place.columns.index(column) + 1
        for row in range(place.head_row + 1, place.head_row + 1 + place.row_count):
            mark_input(writer.sheet.cell(row, number))
