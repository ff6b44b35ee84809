"""The Dictionary sheet: what every column of the marts and of the data sheets means."""

from collections.abc import Sequence

from pipeline.report.section import Value
from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.table import DataColumn, DataTable

_MEANINGS = {
    "table": "Table of the Parquet files, or sheet of this workbook.",
    "column": "Column.",
    "meaning": "What it means.",
    "unit": "Unit of its numbers; the data sheets name theirs at the end of the column.",
    "type": "Type in the Parquet file, or how the cell comes about.",
    "source": "Tables that it is computed from.",
}


def dictionary_table(data: BookData, tables: Sequence[DataTable]) -> DataTable:
    """Return the columns of the marts, then those of the data sheets given."""
    rows: list[tuple[Value, ...]] = []
    if "dictionary" in data.frames:
        rows += data.frame("dictionary").select(list(_MEANINGS)).rows()
    rows += [
        (table.sheet, column.name, column.meaning, "", _how(column), "")
        for table in tables
        for column in table.columns
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(_MEANINGS)
    return DataTable(
        "d_dictionary",
        "Dictionary",
        "What does each column mean, in which unit, and where does it come from?",
        tuple(
            DataColumn(name, "text", meaning, values, unknown="")
            for (name, meaning), values in zip(_MEANINGS.items(), columns, strict=True)
        ),
    )


def _how(column: DataColumn) -> str:
    if column.is_input:
        return "input"
    return "formula" if column.formula else "value"
