"""How each kind of chart is drawn natively from the numbers below a head row of a sheet.

Series differ in lightness as well as in hue and are named in a legend.
"""

import math

from openpyxl.chart import BarChart, Reference, ScatterChart, Series
from openpyxl.chart.legend import LegendEntry
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

from pipeline.report.language import Language
from pipeline.report.palette import SERIES_LIGHT
from pipeline.report.section import Bars, Column, Lines, Steps, Table
from pipeline.report.waterfall import spans

CHART_WIDTH_CM = 17.0
UPRIGHT = "trend_"  # months stand side by side

_CHART_HEIGHT_CM = 10.8
_LINES_WIDTH_CM = 26.0  # names of lines stand beside them
_TITLE_SIZE, _LABEL_SIZE = 1200, 800  # hundredths of a point
_GROUPED = "[>=1000]#,##0;General"  # a thousand has its mark, a thousandth its digits
_ACROSS = {  # what a bar of a figure is
    "methods": "Method",
    "chat_requests": "Request",
    "power_savings": "Setting, phase",
    "models_energy": "Cost per task · model",
}


def bar_chart(bars: Bars, sheet: Worksheet, head_row: int, language: Language) -> BarChart:
    """Return horizontal stacked bars with a title, axis titles and the palette of the page."""
    last = head_row + len(bars.labels)
    chart = BarChart()
    chart.grouping, chart.overlap, chart.gapWidth = "stacked", 100, 55
    chart.type = "col" if bars.name.startswith(UPRIGHT) else "bar"
    data = Reference(sheet, min_col=2, max_col=1 + len(bars.series), min_row=head_row, max_row=last)
    chart.add_data(data, titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=head_row + 1, max_row=last))
    for series, colour in zip(chart.series, SERIES_LIGHT, strict=False):
        series.graphicalProperties.solidFill = colour.lstrip("#")
        series.graphicalProperties.line.noFill = True
    _dress(chart, bars, language)
    return chart


def line_chart(lines: Lines, sheet: Worksheet, head_row: int) -> ScatterChart:
    """Return lines over a number from the numbers below a head row."""
    chart = ScatterChart()
    chart.style, chart.scatterStyle = 13, "lineMarker"
    last = head_row + len(lines.as_table().rows)
    places = Reference(sheet, min_col=1, min_row=head_row + 1, max_row=last)
    for number, colour in zip(range(len(lines.series)), SERIES_LIGHT, strict=False):
        values = Reference(sheet, min_col=2 + number, min_row=head_row, max_row=last)
        series = Series(values, places, title_from_data=True)
        series.graphicalProperties.line.solidFill = colour.lstrip("#")
        is_marked = not lines.is_linear or any(mark is not None for mark in lines.marks)
        series.marker.symbol, series.smooth = "circle" if is_marked else "none", False
        chart.series.append(series)
    dress_scatter(chart, lines.title, lines.over, lines.unit)
    if not lines.is_linear:
        chart.x_axis.scaling.logBase, chart.y_axis.scaling.logBase = 2, 10
    chart.display_blanks = "span"  # a batch that one line alone is asked at breaks no other
    return chart


def dress_scatter(chart: ScatterChart, title: str, across: str, unit: str) -> None:
    """Give a chart of points its title, the titles of its axes, its size and a legend beside it."""
    chart.title = _title(title, _TITLE_SIZE)
    chart.x_axis.title = _title(across, _LABEL_SIZE)
    chart.y_axis.title = _title(unit, _LABEL_SIZE)
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.x_axis.number_format = chart.y_axis.number_format = _GROUPED
    chart.x_axis.majorGridlines.spPr = chart.y_axis.majorGridlines.spPr = _faint()
    chart.width, chart.height = _LINES_WIDTH_CM, _CHART_HEIGHT_CM
    chart.legend.position = "r"


def is_waterfall(steps: Steps) -> bool:
    """Return whether no bar of a waterfall falls below zero, where no hidden bar could hold it."""
    return all(end >= 0 for span in spans(steps.values) for end in span)


def waterfall_table(steps: Steps) -> Table:
    """Return the numbers of a waterfall: each value or change, and where its bar stands."""
    last = len(steps.values) - 1
    rows = []
    for number, (value, (start, end)) in enumerate(
        zip(steps.values, spans(steps.values), strict=True)
    ):
        change = 0.0 if number in (0, last) else value
        rows.append(
            (
                *(steps.labels[number], value, min(start, end)),
                *(value - change, max(change, 0.0), max(-change, 0.0)),
            )
        )
    columns = (
        *steps.as_table().columns,
        *(
            Column(name, head, steps.kind, steps.unit)
            for name, head in zip(
                ("hidden", "whole", "rise", "fall"),
                ("Hidden below the bar", "Whole", "Rise", "Fall"),
                strict=True,
            )
        ),
    )
    shown = steps.as_table()
    return Table(shown.name, shown.caption, columns, tuple(rows))


def waterfall_chart(steps: Steps, sheet: Worksheet, head_row: int, language: Language) -> BarChart:
    """Return a waterfall of upright stacked bars, the lowest of each without a colour."""
    last = head_row + len(steps.labels)
    chart = BarChart()
    chart.type, chart.grouping, chart.overlap, chart.gapWidth = "col", "stacked", 100, 40
    data = Reference(sheet, min_col=3, max_col=6, min_row=head_row, max_row=last)
    chart.add_data(data, titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=head_row + 1, max_row=last))
    hidden, *shown = chart.series
    hidden.graphicalProperties.noFill = True
    hidden.graphicalProperties.line.noFill = True
    for series, colour in zip(shown, SERIES_LIGHT, strict=False):
        series.graphicalProperties.solidFill = colour.lstrip("#")
        series.graphicalProperties.line.noFill = True
    chart.title = _title(steps.title, _TITLE_SIZE)
    chart.x_axis.title = _title(language.text("Step"), _LABEL_SIZE)
    chart.y_axis.title = _title(steps.unit, _LABEL_SIZE)
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.y_axis.number_format = _GROUPED
    chart.y_axis.majorGridlines.spPr = _faint()
    chart.legend.position = "b"
    chart.legend.legendEntry = [LegendEntry(idx=0, delete=True)]
    chart.width, chart.height = _LINES_WIDTH_CM, _CHART_HEIGHT_CM
    return chart


def _dress(chart: BarChart, bars: Bars, language: Language) -> None:
    chart.title = _title(bars.title, _TITLE_SIZE)
    is_upright = bars.name.startswith(UPRIGHT)
    across = "Month" if is_upright else _ACROSS.get(bars.name, "Model · class")
    chart.x_axis.title = _title(language.text(across), _LABEL_SIZE)
    chart.y_axis.title = _title(bars.unit, _LABEL_SIZE)
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.x_axis.tickLblSkip = 1
    if not is_upright:
        chart.x_axis.scaling.orientation = "maxMin"  # the first row on top
        chart.y_axis.crosses = "max"  # and the value axis still below
    chart.y_axis.number_format = "0%" if bars.kind == "frac" else _GROUPED
    if bars.kind == "frac":
        wholes = [
            sum(filter(None, values)) for values in zip(*(v for _, v in bars.series), strict=True)
        ]
        is_share = all(whole <= 1 or math.isclose(whole, 1) for whole in wholes)
        chart.y_axis.scaling.min, chart.y_axis.scaling.max = 0, 1 if is_share else None
    if bars.log_scale:
        chart.y_axis.scaling.logBase = 10
    chart.y_axis.majorGridlines.spPr = _faint()
    for axis in (chart.x_axis, chart.y_axis):
        end = CharacterProperties(sz=_LABEL_SIZE)
        axis.txPr = RichText(p=[Paragraph(pPr=_sized(_LABEL_SIZE), endParaRPr=end)])
    chart.width, chart.height = CHART_WIDTH_CM, _CHART_HEIGHT_CM
    if len(bars.series) > 1:
        chart.legend.position = "b"
    else:
        chart.legend = None


def _faint() -> GraphicalProperties:
    return GraphicalProperties(ln=LineProperties(solidFill="DFE4E8"))


def _sized(size: int) -> ParagraphProperties:
    return ParagraphProperties(defRPr=CharacterProperties(sz=size, b=size >= _TITLE_SIZE))


def _title(text: str, size: int) -> Title:
    run = RegularTextRun(t=text, rPr=CharacterProperties(sz=size, b=size >= _TITLE_SIZE))
    return Title(tx=Text(rich=RichText(p=[Paragraph(pPr=_sized(size), r=[run])])), overlay=False)
