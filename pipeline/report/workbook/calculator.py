"""The Calculator: one request of any model of the catalog, answered by formulas.

Inputs on top, then the answer, then every step of the working, one column a stand-in. What an
input may be is a list or a rule of the cell; a request that does not fit its GPUs is told so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from pipeline.report.section import Kind, Value
from pipeline.report.workbook.calculator_answer import (
    ANSWERS,
    GRADE_STEP,
    LAST_STEPS,
    answer_end,
    answer_formula,
    fitting,
)
from pipeline.report.workbook.calculator_draws import OWN_STEPS, PART_STEPS, draw_all, draw_table
from pipeline.report.workbook.calculator_energy import BATCH_STEP, LAW_STEPS, MEAN_STEPS
from pipeline.report.workbook.calculator_start import STAND_INS, first_request
from pipeline.report.workbook.calculator_steps import REQUEST_STEPS, SHAPE_STEPS, Step, Values
from pipeline.report.workbook.cells import mark_input, write_formula, write_value
from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.looks import FAINT, Look, put_on
from pipeline.report.workbook.models import numbered_models
from pipeline.report.workbook.rows import filled
from pipeline.report.workbook.sheet import SheetWriter
from pipeline.report.workbook.table import DataTable

TITLE = "Calculator"
QUESTION = (
    "What does one request take in energy, money and carbon, and which answer length is cheapest?"
)
_FIRST_COLUMN = 2  # of the values
_UNIT_COLUMN = _FIRST_COLUMN + STAND_INS
_RANGE_NOTE = (
    "Low and high are those of the joint draws on Data_Draws (5 % and 95 %), as `joulebook "
    "estimate` gives them."
)
_LINES_BETWEEN = 8  # captions, heads and empty lines above the working
# What formulas of the answer and of the working say in place of a number.
WORDS_OF_FORMULAS = ("does not fit", "no list price", "the longer the better")
_HEADS = ("Quantity", "Value", "Low (5 %)", "High (95 %)", "Unit")
_WORK_HEADS = ("Step", "Architecture 1", "Architecture 2", "Architecture 3", "Unit")


@dataclass
class _Working:
    """The rows of the sheet, planned before they are written, and what is known of each step."""

    rows: dict[str, int] = field(default_factory=dict)
    by_stand_in: set[str] = field(default_factory=set)
    known: Values = field(default_factory=dict)
    columns: list[Values] = field(default_factory=list)  # of each stand-in there is

    def cells(self, column: int) -> dict[str, str]:
        """Return the cell of every step as a formula in a column sees it."""
        first, last = get_column_letter(_FIRST_COLUMN), get_column_letter(_UNIT_COLUMN - 1)
        cells = {}
        for name, row in self.rows.items():
            letter = get_column_letter(column) if name in self.by_stand_in else first
            cells[name] = f"${letter}${row}"
            cells[f"all_{name}"] = f"${first}${row}:${last}${row}"
        return cells

    def cells_from_afar(self, sheet: str) -> dict[str, str]:
        """Return the cell of every step as another sheet sees it, a stand-in's as `name_1`."""
        cells = {}
        for name, row in self.rows.items():
            if name in self.by_stand_in:
                for slot in range(STAND_INS):
                    letter = get_column_letter(_FIRST_COLUMN + slot)
                    cells[f"{name}_{slot + 1}"] = f"{sheet}!${letter}${row}"
            else:
                cells[name] = f"{sheet}!${get_column_letter(_FIRST_COLUMN)}${row}"
        return cells


def write_calculator(writer: SheetWriter, data: BookData) -> DataTable:
    """Write inputs, answer and working below the title; return the draws behind the range."""
    working = _planned(data, writer.next_row)
    _write_inputs(writer, data, working)
    _write_answer(writer, working)
    _write_working(writer, working)
    writer.column_count = writer.printed_columns = _UNIT_COLUMN
    writer.sizes.widths |= {1: 40, 2: 30, 3: 30, 4: 30, 5: 14}
    return draw_table(data, working.known, working.cells_from_afar(TITLE), STAND_INS)


def _planned(data: BookData, first_row: int) -> _Working:
    """Compute every step and give every line its row."""
    working = _Working(known=first_request(data))
    row = first_row + len(_INPUTS) + len(ANSWERS) + _LINES_BETWEEN
    working.rows["slot"] = row
    for name in ("architecture_no", "architecture_row"):
        row += 1
        working.rows[name] = row
    for step in _WORK_STEPS:
        row += 1
        working.rows[step.name] = row
    per_stand_in = (*SHAPE_STEPS, *ENERGY_STEPS)
    working.by_stand_in = {
        *("slot", "architecture_no", "architecture_row"),
        *(step.name for step in per_stand_in),
    }
    _compute(working)
    return working


def _compute(working: _Working) -> None:
    known = working.known
    _run(REQUEST_STEPS, known)
    working.columns = [{**known, "row": row} for row in known["rows"]]
    for column in working.columns:
        _run(SHAPE_STEPS, column)
    _collect(working)
    _run((BATCH_STEP,), known)
    for column in working.columns:
        column["batch"] = known["batch"]
        _run(ENERGY_STEPS, column)
    _collect(working)
    _run((*MEAN_STEPS, *_GRADED_STEPS), known)
    known["columns"] = working.columns
    known["drawn"] = draw_all(known)
    _run(LAST_STEPS, known)


def _run(steps: Sequence[Step], known: Values) -> None:
    for step in steps:
        known[step.name] = step.value(known)


def _collect(working: _Working) -> None:
    """Let the request's steps see what all stand-ins have."""
    for step in (*SHAPE_STEPS, *ENERGY_STEPS):
        found = [column[step.name] for column in working.columns if step.name in column]
        if found:
            working.known[f"all_{step.name}"] = found
            working.known[step.name] = found[0]


ENERGY_STEPS = (*LAW_STEPS, *PART_STEPS)
_GRADED_STEPS = (GRADE_STEP, *OWN_STEPS)
_WORK_STEPS = (
    *(*REQUEST_STEPS, *SHAPE_STEPS, BATCH_STEP, *ENERGY_STEPS),
    *(*MEAN_STEPS, *_GRADED_STEPS, *LAST_STEPS),
)
# These have no value where the request does not fit.
_FITTING_STEPS = (
    *(*MEAN_STEPS, *_GRADED_STEPS),
    *(step for step in LAST_STEPS if step.unit in ("J", "ratio", "")),
)
_INPUTS: tuple[tuple[str, str, str, str], ...] = (
    ("calc_model", "Model", "", "Any of the catalog; choose from the list."),
    ("calc_set", "Coefficient set", "", "GPU and serving stack; choose from the list."),
    ("calc_input_tokens", "Input", "tokens", "All of it, cached tokens included."),
    ("calc_cached_tokens", "Cached", "tokens", "Part of the input that a prefix cache holds."),
    ("calc_output_tokens", "Output", "tokens", "Reasoning included."),
    ("calc_batch", "Batch", "requests", "Requests served together; the cache may allow fewer."),
)


def _write_inputs(writer: SheetWriter, data: BookData, working: _Working) -> None:
    known, text = working.known, writer.language.text
    values: dict[str, Value] = {
        "calc_model": known["model_id"],
        "calc_set": known["set"]["coefficient_set_id"],
        "calc_input_tokens": known["input"],
        "calc_cached_tokens": known["cached"],
        "calc_output_tokens": known["output"],
        "calc_batch": known["batch_wanted"],
    }
    _heads(writer, ("Your request", "Value", "Unit", "Note"))
    rows = {}
    for name, label, unit, note in _INPUTS:
        row = rows[name] = writer.next_row
        value = values[name]
        kind: Kind = "text" if isinstance(value, str) else "count"
        for number, (told, shown) in enumerate(
            ((text(label), "text"), (value, kind), (text(unit), "text"), (text(note), "text")),
            start=1,
        ):
            write_value(writer.sheet.cell(row, number), told, shown, "")
        put_on(writer.sheet.cell(row, 4), Look(color=FAINT, vertical="top", indent=1))  # runs on
        mark_input(writer.sheet.cell(row, 2))
        book = writer.sheet.parent
        book.defined_names[f"in_{name}"] = DefinedName(
            f"in_{name}", attr_text=f"{writer.sheet.title}!$B${row}"
        )
        writer.next_row += 1
    _restrict(writer, data, rows)
    writer.skip()


def _restrict(writer: SheetWriter, data: BookData, rows: dict[str, int]) -> None:
    """Say what each input may be."""
    models = numbered_models(data).get_column("catalog_no").n_unique()
    sets = writer.places["d_coefficient"]
    first = sets.head_row + 1
    lists = {
        "calc_model": f"Catalog!$A$3:$A${2 + models}",
        "calc_set": f"{sets.sheet}!$A${first}:$A${first + sets.row_count - 1}",
    }
    for name, row in rows.items():
        if name in lists:
            rule = DataValidation(type="list", formula1=lists[name], showErrorMessage=True)
            rule.error = writer.language.text("Choose one from the list.")
        else:
            most = "$B$" + str(rows["calc_input_tokens"])
            least = "0" if name in ("calc_cached_tokens", "calc_output_tokens") else "1"
            is_capped = name == "calc_cached_tokens"
            rule = DataValidation(
                type="decimal" if name == "calc_batch" else "whole",
                operator="between" if is_capped else "greaterThanOrEqual",
                formula1=least,
                formula2=most if is_capped else None,
                showErrorMessage=True,
            )
            error = f"Expected {least} or more" + (", at most the input." if is_capped else ".")
            rule.error = writer.language.text(error)
        rule.errorTitle = writer.language.text("Not possible")
        rule.add(f"B{row}")
        writer.sheet.add_data_validation(rule)


def _write_answer(writer: SheetWriter, working: _Working) -> None:
    writer.line("The answer", size=12, bold=True)
    _heads(writer, _HEADS)
    cells, text = working.cells(_FIRST_COLUMN), writer.language.text
    known = working.known
    for answer in ANSWERS:
        row = writer.next_row
        write_value(writer.sheet.cell(row, 1), text(answer.label), "text")
        write_value(writer.sheet.cell(row, _UNIT_COLUMN), text(answer.unit), "text", "")
        columns = [("", answer.value(known))]
        if answer.has_range:
            columns += [(which, answer_end(answer, which, known)) for which in ("low", "high")]
        for column, (which, value) in enumerate(columns, start=_FIRST_COLUMN):
            _put(writer, row, column, answer_formula(answer, which), cells, value, answer.kind)
        writer.next_row += 1
    writer.line(_RANGE_NOTE, size=9, color=FAINT)
    writer.skip()


def _write_working(writer: SheetWriter, working: _Working) -> None:
    writer.line("The working", size=12, bold=True)
    _heads(writer, _WORK_HEADS)
    first = Step("slot", "Column", "", "", lambda known: 0)
    number = Step(
        "architecture_no",
        "Line of Data_Architectures",
        "",
        'IF({slot}>{architecture_count},"",{first_architecture_no}+{slot}-1)',
        lambda known: known["row"]["architecture_no"],
    )
    row_of = Step(
        "architecture_row",
        "Its row there",
        "",
        "MATCH({architecture_no},d_architecture[architecture_no],0)",
        lambda known: known["row"]["architecture_no"],
    )
    if writer.next_row != working.rows[first.name]:
        raise ValueError(f"Calculator: the working begins in row {writer.next_row}, not as planned")
    text = writer.language.text
    for step in (first, number, row_of, *_WORK_STEPS):
        row = writer.next_row
        write_value(writer.sheet.cell(row, 1), text(step.label), "text")
        write_value(writer.sheet.cell(row, _UNIT_COLUMN), text(step.unit), "text", "")
        if step.name in working.by_stand_in:
            _write_stand_ins(writer, working, step, row)
        else:
            cells = working.cells(_FIRST_COLUMN)
            known = working.known[step.name]
            formula = fitting(step.formula) if step in _FITTING_STEPS else step.formula
            _put(writer, row, _FIRST_COLUMN, formula, cells, known, step.kind)
        writer.next_row += 1


def _write_stand_ins(writer: SheetWriter, working: _Working, step: Step, row: int) -> None:
    for slot in range(STAND_INS):
        column = _FIRST_COLUMN + slot
        if step.name == "slot":
            write_value(writer.sheet.cell(row, column), slot + 1, "count")
            continue
        is_there = slot < len(working.columns)
        value = step.value(working.columns[slot]) if is_there else ""
        formula = step.formula
        if step in ENERGY_STEPS:
            formula = f'IF(OR({{architecture_no}}="",NOT(ISNUMBER({{batch}}))),"",{formula})'
        elif step.name != "architecture_no":
            formula = f'IF({{architecture_no}}="","",{formula})'
        _put(writer, row, column, formula, working.cells(column), value, step.kind)


def _put(
    writer: SheetWriter,
    row: int,
    column: int,
    formula: str,
    cells: dict[str, str],
    value: Value,
    kind: Kind,
) -> None:
    for words in WORDS_OF_FORMULAS:
        formula = formula.replace(f'"{words}"', f'"{writer.language.text(words)}"')
        value = writer.language.text(words) if value == words else value
    cell = writer.sheet.cell(row, column)
    write_value(cell, value, kind, "")
    write_formula(cell, filled(formula, cells), value, kind)
    writer.fillings.add_result(writer.sheet.title, cell.coordinate, value)


def _heads(writer: SheetWriter, heads: Sequence[str]) -> None:
    for number, head in enumerate(heads, start=1):
        is_right = 1 < number < _UNIT_COLUMN and head not in ("Unit", "Note")
        writer.plain_head(number, head, is_right=is_right)
    writer.next_row += 1
