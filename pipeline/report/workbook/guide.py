"""What the About sheet says of the workbook itself: its other sheets, its colours, its limits."""

from collections.abc import Iterable

from pipeline.report.section import Column, Table
from pipeline.report.workbook.calculator import QUESTION, TITLE
from pipeline.report.workbook.inputs import BIAS, COEFFICIENTS
from pipeline.report.workbook.table import DataTable

_TEXT = Column("text", "Text", "text", meaning="The line.")
_COLOURS = (
    ("Blue on yellow", "An input: change it, and money, energy and carbon follow."),
    ("Black", "A value, or a formula over its own sheet."),
    ("Green", "A formula over other sheets."),
    ("Grey", "Unknown, a note, or a number that only serves formulas."),
    (
        "12.35k, 4.530M",
        "An estimate of 10,000 or more, in thousands (k), millions (M), billions (G): it shows "
        "four figures, its cell holds them all. Counts and money to the cent show every digit.",
    ),
    ("✓ ! ✗ ≠", "A check holds, is told, fails, or says that an input was moved."),
)
_LIMITS = (
    (
        "Ranges",
        "Low and high keep their ratio to the value, as the run found it, and 'Range of' beside "
        "them says how far that holds. Tariff, grid and prices leave it right. PUE, host and "
        "idle scale every draw ('run, scaled'); the run's doubt of them stays in, so a run that "
        "is told them gives narrower ranges. Batch and coefficients change the draws "
        "themselves: ≠, a new run draws them again. Calculator draws its ranges anew at every "
        "change.",
    ),
    (
        "Told costs",
        "Bills, shares of commitments and GPU bills follow no price; they are inputs on Data_Cost. "
        "The electricity that a GPU bill leaves out follows tariff, PUE, host, idle and batch.",
    ),
    (
        "Sentences",
        "Sentences, notes and grades are those of the run; the line above them turns to ≠ once an "
        "input differs.",
    ),
    (
        "Requests",
        "The requests themselves are in data/requests.parquet beside this workbook, without "
        "users and texts.",
    ),
    ("Order", "Tables may be sorted and filtered: formulas find their lines by number."),
    (
        "Sources",
        "Titles, notes and names of sources, models and settings stay in the language of the "
        "source, which mostly is English.",
    ),
)


def guide(tables: Iterable[DataTable]) -> tuple[Table, ...]:
    """Return the tables that explain the workbook."""
    sheets = (
        COEFFICIENTS,
        BIAS,
        (TITLE, QUESTION),
        *((table.sheet, table.question) for table in tables),
        ("Dictionary", "What does each column mean, in which unit, and where does it come from?"),
    )
    return (
        _table("workbook_sheets", "Inputs and data of this workbook", "Sheet", sheets),
        _table("workbook_colours", "How to read the cells", "Look", _COLOURS),
        _table("workbook_limits", "What moves with the inputs, and what does not", "Part", _LIMITS),
    )


def _table(name: str, caption: str, head: str, rows: tuple[tuple[str, str], ...]) -> Table:
    first = Column(head.lower(), head, "text", meaning="What the line is about.")
    return Table(name, caption, (first, _TEXT), rows)
