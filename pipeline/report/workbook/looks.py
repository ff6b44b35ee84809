"""How cells look: each look is made once a workbook and then copied, since making one is slow."""

from copy import copy
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side
from openpyxl.workbook import Workbook

from pipeline.report.palette import ACCENT

INK = "1D2733"
FAINT = "56626E"
FAILED = "A4262C"
INPUT_INK, INPUT_FILL = "0000FF", "FFF8E1"
LINKED_INK = "1B6B3A"  # computed from another sheet
HEAD_FILL = "E8F1F5"


@dataclass(frozen=True)
class Look:
    """Everything that a cell's format is made of, in one typeface."""

    number_format: str = "General"
    size: int = 11
    is_bold: bool = False
    color: str = INK
    fill: str = ""
    horizontal: str | None = None
    vertical: str | None = None
    is_wrapped: bool = False
    indent: int = 0
    is_quoted: bool = False  # it stays text when a reader edits the cell
    is_unlocked: bool = False
    edge: str = ""  # "head" for a line below, "total" for a line above


_MADE: WeakKeyDictionary[Workbook, dict[Look, Any]] = WeakKeyDictionary()


def put_on(cell: Cell, look: Look) -> None:
    """Give a cell a look."""
    made = _MADE.setdefault(cell.parent.parent, {})
    if look not in made:
        _make(cell, look)
        made[look] = copy(cell._style)  # the library has no other way
    cell._style = copy(made[look])


def _make(cell: Cell, look: Look) -> None:
    cell.number_format = look.number_format
    cell.font = Font(name="Calibri", size=look.size, bold=look.is_bold, color=look.color)
    cell.alignment = Alignment(
        horizontal=look.horizontal,
        vertical=look.vertical,
        wrap_text=look.is_wrapped or None,
        indent=look.indent,
    )
    if look.fill:
        cell.fill = PatternFill("solid", fgColor=look.fill)
    if look.edge == "head":
        cell.border = Border(bottom=Side(style="medium", color=ACCENT.lstrip("#")))
    elif look.edge == "total":
        cell.border = Border(top=Side(style="thin", color=INK))
    if look.is_unlocked:
        cell.protection = Protection(locked=False)
    cell.quotePrefix = look.is_quoted
