"""Which table, row and column a cell of the workbook shows, and what each anchor of the page is.

Read back from what the layout wrote: every table of a report stands under its name as an Excel
table, its total below it. So a sheet may be laid out anew without a word here.
"""

import io
from dataclasses import dataclass

import openpyxl
from openpyxl.utils import get_column_letter, range_boundaries

from pipeline.report.section import Column, Report, Section, Table

_TABLE_PREFIX = "t_"
KEY_FIGURES = "key_figures"
_KEY_COLUMNS = (
    Column("figure", "Figure", "text"),
    Column("value", "Value", "number"),
    Column("low", "Low (5 %)", "number"),
    Column("high", "High (95 %)", "number"),
    Column("unit", "Unit", "text"),
    Column("note", "Note", "text"),
)


@dataclass(frozen=True)
class Place:
    """A cell of a table: row 0 is the head, 1 the first row, the one after the last its total."""

    table: str
    row: int
    column: int  # from 0


def tables_of(report: Report) -> dict[str, Table]:
    """Return every table of a report under its name, those behind figures and figures included."""
    found: dict[str, Table] = {}
    for section in report.sections:
        tables = [*section.tables, *(bars.as_table() for bars in section.figures)]
        found |= {table.name: table for table in tables}
        if section.key_figures:
            found[KEY_FIGURES] = _key_table(section)
    return found


def places_of(workbook: bytes, report: Report) -> dict[str, dict[str, Place]]:
    """Return the place behind every table cell, by sheet and cell, such as `Energy` and `F7`."""
    tables = tables_of(report)
    places: dict[str, dict[str, Place]] = {}
    for sheet in openpyxl.load_workbook(io.BytesIO(workbook)):
        cells = places.setdefault(sheet.title, {})
        for shown, area in sheet.tables.items():
            table = tables.get(shown.removeprefix(_TABLE_PREFIX))
            if table is None:
                continue
            left, top, right, bottom = range_boundaries(area)
            last = bottom + (1 if table.total is not None and table.rows else 0)
            cells |= {
                f"{get_column_letter(column)}{row}": Place(table.name, row - top, column - left)
                for row in range(top, last + 1)
                for column in range(left, right + 1)
            }
    return places


def anchors_of(report: Report) -> dict[str, str]:
    """Return the table behind every anchor that the page prints for a table or a figure."""
    anchors: dict[str, str] = {}
    for section in report.sections:
        for table in section.tables:
            anchors[f"table-{table.name}"] = table.name
        for bars in section.figures:
            name = bars.as_table().name
            anchors |= {f"figure-{bars.name}": name, f"table-{name}": name}
    return anchors


def _key_table(section: Section) -> Table:
    rows = tuple(
        (each.label, each.value, each.low, each.high, each.unit, each.note)
        for each in section.key_figures
    )
    return Table(KEY_FIGURES, "Key figures", _KEY_COLUMNS, rows)
