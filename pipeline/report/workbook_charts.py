"""Native charts of the workbook, drawn from the numbers that stand in its sheets."""

from dataclasses import dataclass

from openpyxl.chart import BarChart, Reference, ScatterChart, Series
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.text import RichText, Text
from openpyxl.chart.title import Title
from openpyxl.drawing.line import LineProperties
from openpyxl.drawing.text import (
    CharacterProperties,
    Paragraph,
    ParagraphProperties,
    RegularTextRun,
)
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.palette import SERIES_LIGHT
from pipeline.report.section import Bars, Lines

CHART_WIDTH_CM = 17.0
CHART_ROWS = 22  # of the sheet, which a chart covers

_CHART_HEIGHT_CM = 10.8
_LINES_WIDTH_CM = 26.0  # names of lines stand beside them
_TITLE_SIZE, _LABEL_SIZE = 1200, 800  # hundredths of a point


@dataclass(frozen=True)
class Placed:
    """Where the numbers of a figure stand."""

    bars: Bars
    sheet: Worksheet
    head_row: int


def bar_chart(placed: Placed) -> BarChart:
    """Return horizontal stacked bars with a title, axis titles and the palette of the page."""
    first, last = placed.head_row, placed.head_row + len(placed.bars.labels)
    chart = BarChart()
    chart.type, chart.grouping, chart.overlap, chart.gapWidth = "bar", "stacked", 100, 55
    data = Reference(
        placed.sheet, min_col=2, max_col=1 + len(placed.bars.series), min_row=first, max_row=last
    )
    chart.add_data(data, titles_from_data=True)
    chart.set_categories(Reference(placed.sheet, min_col=1, min_row=first + 1, max_row=last))
    for series, colour in zip(chart.series, SERIES_LIGHT, strict=False):
        series.graphicalProperties.solidFill = colour.lstrip("#")
        series.graphicalProperties.line.noFill = True
    _dress(chart, placed.bars)
    return chart


def line_chart(lines: Lines, sheet: Worksheet, head_row: int) -> ScatterChart:
    """Return lines over a number, both axes logarithmic, from the numbers below a head row."""
    chart = ScatterChart()
    chart.style, chart.scatterStyle = 13, "lineMarker"
    last = head_row + len(lines.as_table().rows)
    places = Reference(sheet, min_col=1, min_row=head_row + 1, max_row=last)
    for number, colour in zip(range(len(lines.series)), SERIES_LIGHT, strict=False):
        values = Reference(sheet, min_col=2 + number, min_row=head_row, max_row=last)
        series = Series(values, places, title_from_data=True)
        series.graphicalProperties.line.solidFill = colour.lstrip("#")
        series.marker.symbol, series.smooth = "circle", False
        chart.series.append(series)
    chart.title = _title(lines.title, _TITLE_SIZE)
    chart.x_axis.title = _title(lines.over, _LABEL_SIZE)
    chart.y_axis.title = _title(lines.unit, _LABEL_SIZE)
    chart.x_axis.scaling.logBase, chart.y_axis.scaling.logBase = 2, 10
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.x_axis.number_format = chart.y_axis.number_format = "General"
    chart.dispBlanksAs = "span"  # a batch that one line alone is asked at breaks no other
    chart.width, chart.height = _LINES_WIDTH_CM, _CHART_HEIGHT_CM
    chart.legend.position = "r"
    return chart


def _dress(chart: BarChart, bars: Bars) -> None:
    chart.title = _title(bars.title, _TITLE_SIZE)
    chart.x_axis.title = _title("Model · class", _LABEL_SIZE)
    chart.y_axis.title = _title(bars.unit, _LABEL_SIZE)
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.x_axis.scaling.orientation = "maxMin"  # the first row on top
    chart.x_axis.tickLblSkip = 1
    chart.y_axis.crosses = "max"  # and the value axis still below
    chart.y_axis.number_format = "General"
    faint = LineProperties(solidFill="DFE4E8")
    chart.y_axis.majorGridlines.spPr = GraphicalProperties(ln=faint)
    for axis in (chart.x_axis, chart.y_axis):
        end = CharacterProperties(sz=_LABEL_SIZE)
        axis.txPr = RichText(p=[Paragraph(pPr=_sized(_LABEL_SIZE), endParaRPr=end)])
    chart.width, chart.height = CHART_WIDTH_CM, _CHART_HEIGHT_CM
    if len(bars.series) > 1:
        chart.legend.position = "b"
    else:
        chart.legend = None


def _sized(size: int) -> ParagraphProperties:
    return ParagraphProperties(defRPr=CharacterProperties(sz=size, b=size >= _TITLE_SIZE))


def _title(text: str, size: int) -> Title:
    run = RegularTextRun(t=text, rPr=CharacterProperties(sz=size, b=size >= _TITLE_SIZE))
    return Title(tx=Text(rich=RichText(p=[Paragraph(pPr=_sized(size), r=[run])])), overlay=False)
