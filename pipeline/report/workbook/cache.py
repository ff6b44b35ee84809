"""Give a saved workbook what the library cannot: results of formulas, fixed times, chart texts.

The library stores a formula without its result, so previews, pandas, Power Query and a read-only
viewer show nothing. Here every formula's empty result is filled with the value that the pipeline
computed for that very cell; nothing is calculated. Rows of data sheets are written in the same
pass. A formula without a value is an error, so none can stay blank.
"""

import datetime as dt
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from openpyxl.utils import get_column_letter

from pipeline.report.section import Value
from pipeline.report.workbook.rows import row_xml, value_xml
from pipeline.report.workbook.table import HEAD_ROW, DataTable

_CORE = "docProps/core.xml"
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")
_CHART_NAME = re.compile(r'(<(?:xdr:)?cNvPr [^>]*?name=")Chart (\d+)"')
_FORMULA = re.compile(r'<c r="([A-Z]+\d+)"([^>]*)><f>([^<]*)</f><v ?/?>(?:</v>)?</c>')
_DIMENSION = re.compile(r'<dimension ref="[^"]*" ?/>')
_TYPE = re.compile(r' t="\w+"')
_END_OF_ROWS = "</sheetData>"


@dataclass(frozen=True)
class SheetRows:
    """A data table with the numbers of its cell formats."""

    table: DataTable
    styles: Mapping[str, int]  # by column
    quoted: int  # of text that begins as a formula does
    wrapped: Mapping[str, int] = field(default_factory=dict)  # by column that wraps: its letters


@dataclass
class Fillings:
    """What is put into a saved workbook, by the name of the sheet it belongs to."""

    results: dict[str, dict[str, Value]] = field(default_factory=dict)  # sheet → cell → value
    rows: dict[str, SheetRows] = field(default_factory=dict)
    chart_texts: dict[str, list[str]] = field(default_factory=dict)  # in the order they were added

    def add_result(self, sheet: str, cell: str, value: Value) -> None:
        """Note the value that the pipeline computed for a formula's cell."""
        self.results.setdefault(sheet, {})[cell] = value


def filled_workbook(
    workbook: bytes, sheets: Sequence[str], fillings: Fillings, instant: dt.datetime
) -> bytes:
    """Return a saved workbook with results, rows, described charts and fixed times.

    Args:
        workbook: The bytes as the library saved them.
        sheets: The names of its sheets in order.
        fillings: What goes into which sheet.
        instant: The moment that stands for every time in the file, without a zone.
    """
    members = {f"xl/worksheets/sheet{n}.xml": name for n, name in enumerate(sheets, start=1)}
    texts = _texts_by_drawing(sheets, fillings.chart_texts)
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook)) as saved,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as made,
    ):
        for name in saved.namelist():
            content = saved.read(name)
            with made.open(_member(name, instant), "w", force_zip64=True) as out:
                if name in members:
                    for piece in _sheet_pieces(content.decode(), members[name], fillings):
                        out.write(piece.encode())
                else:
                    out.write(_mended(name, content, instant, texts))
    return buffer.getvalue()


def _mended(
    name: str, content: bytes, instant: dt.datetime, texts: Mapping[str, Sequence[str]]
) -> bytes:
    if name == _CORE:
        stamp = instant.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
        return _MODIFIED.sub(rb"\g<1>" + stamp + rb"\g<2>", content)
    if name in texts:
        return _described(content.decode(), texts[name]).encode()
    return content


def _sheet_pieces(xml: str, sheet: str, fillings: Fillings) -> Iterator[str]:
    xml = _with_results(xml, sheet, fillings.results.get(sheet, {}))
    if sheet not in fillings.rows:
        yield xml
        return
    rows = fillings.rows[sheet]
    last = _last_cell(rows.table)
    xml = _DIMENSION.sub(f'<dimension ref="A1:{last}" />', xml)
    before, end, after = xml.partition(_END_OF_ROWS)
    yield before
    yield from row_xml(rows.table, rows.styles, rows.quoted, rows.wrapped)
    yield end + after


def _with_results(xml: str, sheet: str, results: Mapping[str, Value]) -> str:
    def fill(match: re.Match[str]) -> str:
        cell, attributes, formula = match.groups()
        if results.get(cell) is None:
            raise ValueError(f"{sheet}!{cell}: a formula without its value: {formula}")
        kind, shown = value_xml(results[cell], "")
        typed = "" if kind == "n" else ' t="str"'
        plain = _TYPE.sub("", attributes)
        return f'<c r="{cell}"{plain}{typed}><f>{formula}</f><v>{shown}</v></c>'

    return _FORMULA.sub(fill, xml)


def _last_cell(table: DataTable) -> str:
    return f"{get_column_letter(len(table.columns))}{HEAD_ROW + table.row_count}"


def _texts_by_drawing(
    sheets: Sequence[str], chart_texts: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Name each sheet's drawing as the library does: numbered over the sheets that have charts."""
    with_charts = [sheet for sheet in sheets if chart_texts.get(sheet)]
    return {
        f"xl/drawings/drawing{number}.xml": chart_texts[sheet]
        for number, sheet in enumerate(with_charts, start=1)
    }


def _member(name: str, instant: dt.datetime) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, instant.timetuple()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = 3
    member.external_attr = 0o644 << 16
    return member


def _described(drawing: str, texts: Sequence[str]) -> str:
    """Give every chart of a drawing, numbered from 1 in it, its text."""

    def describe(match: re.Match[str]) -> str:
        number = int(match[2])
        return f'{match[1]}Chart {number}" descr={quoteattr(texts[number - 1])}'

    return _CHART_NAME.sub(describe, drawing)
