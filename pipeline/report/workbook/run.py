"""Whether the workbook still says what the run computed: counts of what a reader moved since.

Figures follow every input. Sentences, grades and the draws behind ranges do not: they are the
run's, and each place that shows them says so, live.
"""

from openpyxl.workbook import Workbook

from pipeline.report.section import Column, Table
from pipeline.report.workbook.cells import write_formula
from pipeline.report.workbook.energy import RANGE_WORDS, RUN, range_of
from pipeline.report.workbook.facility import RATIOS
from pipeline.report.workbook.formulas import RUN_VALUE, LiveTable
from pipeline.report.workbook.names import name_cell
from pipeline.report.workbook.sheet import SheetWriter

STATE = "run_state"
AS_BUILT = "✓ As built: no input differs from the run."
NOT_AS_BUILT = (
    "≠ Inputs were moved: figures follow them; sentences, notes and grades are those of the run, "
    "and ranges keep its ratios."
)
_COLUMNS = (
    Column("name", "Name", "text", meaning="Name of the cell in formulas."),
    Column("value", "Value", "number", meaning="What is found now."),
    Column("meaning", "Meaning", "text", meaning="What is counted."),
)
_DIFFERS = f"(t_assumptions[Value]<>t_assumptions[{RUN_VALUE.header}])"
_IS_BUILDING = "+".join(f'(t_assumptions[Assumption]="{name}")' for name in RATIOS)
_ROWS: tuple[tuple[str, str, str | int, str], ...] = (
    ("moved_assumptions", f"SUMPRODUCT({_DIFFERS}*1)", 0, "Assumptions that differ from the run."),
    (
        "moved_buildings",
        f"SUMPRODUCT({_DIFFERS}*({_IS_BUILDING}))",
        0,
        "Those of them that the range of electricity and carbon rests on: host, idle, PUE.",
    ),
    ("moved_energies", "SUM(d_energy[energy_moved])", 0, "Lines whose energy differs."),
    ("moved_costs", "SUM(d_energy[cost_moved])", 0, "Lines whose cost differs."),
    (
        "ranges_of",
        range_of("moved_energies"),
        RUN,
        "Whose draws the ranges rest on.",
    ),
    (
        STATE,
        f'IF(moved_assumptions+moved_energies+moved_costs=0,"{AS_BUILT}","{NOT_AS_BUILT}")',
        AS_BUILT,
        "Said above the sentences of every sheet.",
    ),
)


def write_run_state(writer: SheetWriter, book: Workbook) -> None:
    """Write the counts of what was moved, live, and name their cells."""
    rows = tuple((name, value, meaning) for name, _, value, meaning in _ROWS)
    table = Table("run_state", "Does the workbook still say what the run computed?", _COLUMNS, rows)
    writer.table(LiveTable(table))
    place = writer.places["run_state"]
    for row, (name, english, found, _) in enumerate(_ROWS, start=place.head_row + 1):
        formula, value = english, found
        if isinstance(found, str):
            formula = writer.language.words(english, (*RANGE_WORDS, AS_BUILT, NOT_AS_BUILT))
            value = writer.language.text(found)
        cell = writer.sheet.cell(row, 2)
        write_formula(cell, formula, value, "number" if value == 0 else "text")
        writer.fillings.add_result(writer.sheet.title, cell.coordinate, value)
        name_cell(book, name, writer.sheet.title, f"$B${row}")
