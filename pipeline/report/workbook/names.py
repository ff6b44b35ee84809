"""Names of cells: inputs, units and counts that formulas refer to."""

from openpyxl.workbook import Workbook
from openpyxl.workbook.defined_name import DefinedName


def name_cell(book: Workbook, name: str, sheet: str, cell: str) -> None:
    """Give a cell such as `$B$7` of a sheet a name in the whole workbook."""
    book.defined_names[name] = DefinedName(name, attr_text=f"{sheet}!{cell}")
