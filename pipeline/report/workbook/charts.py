"""Which charts a sheet shows, and where their numbers come from.

A chart's numbers are formulas over the cells of the table that it shows, so it moves with the
inputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from openpyxl.chart._chart import ChartBase
from openpyxl.utils import get_column_letter

from pipeline.report.numbers import show
from pipeline.report.section import Bars, Figure, Kind, Lines, Report, Section, Steps, Table
from pipeline.report.translation import FigureT, said_figure
from pipeline.report.workbook.cache import Fillings
from pipeline.report.workbook.cells import write_formula
from pipeline.report.workbook.chart_kinds import (
    CHART_WIDTH_CM,
    bar_chart,
    is_waterfall,
    line_chart,
    waterfall_chart,
    waterfall_table,
)
from pipeline.report.workbook.frontier import Frontier, frontier_chart, frontier_of
from pipeline.report.workbook.layout import Place
from pipeline.report.workbook.rows import filled
from pipeline.report.workbook.sheet import SheetWriter

MOST_CHARTS = 2
MOST_BARS = 12
CHART_ROWS = 22  # of the sheet, which a chart covers
_MOST_ROWS_PRINTED = 40  # of the numbers of a figure

_CM_PER_LETTER, _OTHER_LETTERS = 0.18, 8  # rather too little: a gap, and no overlap
_OVERVIEW = "summary"  # shows the charts of other sections, not its own
_OVERVIEW_FIGURES = ("cost_by_cell", "energy_by_term")
# chart → (table it follows, what each of its columns is there)
_SOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "cost_by_cell": ("cost_per_task", {"Cost": "{cost_usd}"}),
    "energy_by_term": (
        "energy_law",
        {
            "Prefill": "{prefill_energy_j}*{bias_factor}/j_per_kwh",
            "KV cache": "{kv_cache_energy_j}*{bias_factor}/j_per_kwh",
            "Next token": "{next_token_energy_j}*{bias_factor}/j_per_kwh",
            "Low (5 %)": "{energy_low_j}/j_per_kwh",
            "High (95 %)": "{energy_high_j}/j_per_kwh",
        },
    ),
    "task_costs": ("cost_per_task", {"Cost per task": "{cost_usd_per_task}"}),
    "trend_cost_usd": ("months", {"Cost": "{cost_usd}"}),
    "trend_facility_energy_kwh": ("months", {"Electricity": "{facility_energy_kwh}"}),
    "energy_shares": (
        "energy_per_class",
        {
            "Prefill": "{prefill_frac}",
            "KV cache": "{kv_cache_frac}",
            "Next token": "{next_token_frac}",
        },
    ),
}


@dataclass
class SheetCharts:
    """The charts of one sheet: bars in a room above the tables, all numbers below them.

    Written before the sheet is finished, and parted after it.
    """

    writer: SheetWriter
    figures: tuple[Bars, ...]
    below: tuple[Lines | Steps, ...]  # with their charts under their numbers
    uncharted: tuple[Figure, ...]  # their numbers stand in the sheet without a chart
    sections: tuple[Section, ...]
    frontier: Frontier | None = None  # of cost and quality, below all else
    row: int = 0
    rows: dict[str, int] = field(default_factory=dict)  # of charts whose numbers stand apart
    placed: list[tuple[Bars, int]] = field(default_factory=list)  # with the row of the heads
    beside: list[ChartBase] = field(default_factory=list)  # charts of bars, side by side

    def leave_room(self) -> None:
        """Keep rows free for the charts."""
        self.row = self.writer.next_row
        if self.figures:
            self._skip_chart()

    def write(self) -> None:
        """Write each chart's numbers here and put the charts side by side into their room."""
        for figure in self.uncharted:
            if not _is_long(figure):
                self.writer.table(self._said(figure).as_table())
        for bars in self.figures:
            head_row = self.writer.next_row + 1
            self.writer.table(bars.as_table())
            self.placed.append((bars, head_row))
            said = self._said(bars)
            chart = bar_chart(said, self.writer.sheet, head_row, self.writer.language)
            self._add(chart, f"A{self.row}", said.alt)
            self.beside.append(chart)
        for figure in self.below:
            self._write_below(figure)
        if self.frontier:
            head_row = self.writer.next_row + 1
            self.writer.table(self.frontier.table)
            chart = frontier_chart(self.frontier, self.writer.sheet, head_row, self.writer.language)
            self._add(
                chart, f"A{self.writer.next_row}", self.writer.language.text(self.frontier.alt)
            )
            self._skip_chart()

    def write_long(self) -> None:
        """Write numbers that run over pages below all else: charts show them, paper does not."""
        long = [figure for figure in (*self.uncharted, *self.below) if _is_long(figure)]
        if long:
            self.writer.end_print()
        for figure in long:
            said, head_row = self._said(figure), self.writer.next_row + 1
            self.writer.table(_with_gaps(said.as_table()))
            if isinstance(said, Lines):
                chart = line_chart(said, self.writer.sheet, head_row)
                self._add(chart, f"A{self.rows[said.name]}", said.alt)

    def part(self) -> None:
        """Put the charts of bars beside each other, once the widths of all columns are final."""
        column = 1
        for chart in self.beside:
            chart.anchor = f"{get_column_letter(column)}{self.row}"
            covered = 0.0
            while covered < CHART_WIDTH_CM + 0.2:
                covered += self.writer.sizes.widths.get(column, _OTHER_LETTERS) * _CM_PER_LETTER
                column += 1

    def _write_below(self, figure: Lines | Steps) -> None:
        if _is_long(figure):
            self.rows[figure.name] = self.writer.next_row
            self._skip_chart()
            return
        head_row = self.writer.next_row + 1
        if isinstance(figure, Lines):
            self.writer.table(_with_gaps(self._said(figure).as_table()))
            chart: ChartBase = line_chart(self._said(figure), self.writer.sheet, head_row)
        else:
            self.writer.table(waterfall_table(self._said(figure)))
            chart = waterfall_chart(
                self._said(figure), self.writer.sheet, head_row, self.writer.language
            )
        self._add(chart, f"A{self.writer.next_row}", self._said(figure).alt)
        self._skip_chart()

    def _skip_chart(self) -> None:
        """Leave the rows that a chart covers, which no page parts."""
        self.writer.keep(CHART_ROWS)
        self.writer.skip(CHART_ROWS)

    def _said(self, figure: FigureT) -> FigureT:
        return said_figure(figure, self.writer.language)

    def _add(self, chart: ChartBase, cell: str, alt: str) -> None:
        self.writer.sheet.add_chart(chart, cell)
        self.writer.fillings.chart_texts.setdefault(self.writer.sheet.title, []).append(alt)

    def link(self, places: Mapping[str, Place], fillings: Fillings) -> None:
        """Let each chart's numbers follow the cells of the table that it shows."""
        if "d_energy" not in places:
            return
        tables = {table.name: table for section in self.sections for table in section.tables}
        for bars, head_row in self.placed:
            source, formulas = _SOURCES.get(bars.name, ("", {}))
            if source in places and source in tables:
                self._link_one(bars, head_row, places[source], tables[source], formulas, fillings)

    def _link_one(
        self,
        bars: Bars,
        head_row: int,
        place: Place,
        table: Table,
        formulas: Mapping[str, str],
        fillings: Fillings,
    ) -> None:
        shown = bars.as_table()
        lines = _lines_of(table, bars)
        letters = {name: get_column_letter(n) for n, name in enumerate(place.columns, start=1)}
        for index, (row, line) in enumerate(zip(shown.rows, lines, strict=True)):
            if line is None:
                continue
            at = place.head_row + 1 + line
            cells = {name: f"{place.sheet}!${letter}${at}" for name, letter in letters.items()}
            for number, column in enumerate(shown.columns, start=1):
                value = row[number - 1]
                if column.header in formulas and isinstance(value, float):
                    cell = self.writer.sheet.cell(head_row + 1 + index, number)
                    formula = filled(formulas[column.header], cells)
                    write_formula(cell, formula, value, column.kind)
                    fillings.add_result(self.writer.sheet.title, cell.coordinate, value)


def charts_of(writer: SheetWriter, report: Report, section: Section) -> SheetCharts:
    """Return the charts of a section's sheet."""
    figures = tuple(figure for figure in section.figures if isinstance(figure, Bars))
    if section.name == _OVERVIEW:
        everywhere = {
            figure.name: figure
            for each in report.sections
            for figure in each.figures
            if isinstance(figure, Bars)
        }
        figures = (
            *figures,
            *(everywhere[name] for name in _OVERVIEW_FIGURES if name in everywhere),
        )
    elif section.name == "cost_per_task":
        figures = _from_table(section, "cost_per_task", "task_costs", "Cost of one task")
    elif section.name == "energy":
        figures = _from_table(section, "energy_per_class", "energy_shares", "Shares of the energy")
    elif section.name == "trend":
        figures = (
            *_from_table(section, "months", "trend_cost_usd", "Cost by month"),
            *_from_table(section, "months", "trend_facility_energy_kwh", "Electricity by month"),
        )
    shown = figures[:MOST_CHARTS]
    below = tuple(
        figure
        for figure in section.figures
        if isinstance(figure, Lines) or (isinstance(figure, Steps) and is_waterfall(figure))
    )
    charted = {figure.name for figure in (*shown, *below)} | set(_OVERVIEW_FIGURES)
    rest = tuple(figure for figure in section.figures if figure.name not in charted)
    return SheetCharts(writer, shown, below, rest, report.sections, frontier_of(section))


def _is_long(figure: Figure) -> bool:
    return len(figure.as_table().rows) > _MOST_ROWS_PRINTED


def _with_gaps(table: Table) -> Table:
    """Leave cells without a value empty: a chart takes a word for a zero."""
    return replace(table, columns=tuple(replace(column, unknown="") for column in table.columns))


def _from_table(section: Section, source: str, name: str, title: str) -> tuple[Bars, ...]:
    """Return bars of some columns of a table, one a line, as far as its values are known."""
    table = next((table for table in section.tables if table.name == source), None)
    if table is None:
        return ()
    places = {column.name: n for n, column in enumerate(table.columns)}
    wanted = {head: form.strip("{}") for head, form in _SOURCES[name][1].items()}
    keys = {"month"} if "month" in places else {"model_id", "query_class"}
    if not set(wanted.values()) | keys <= set(places):
        return ()
    columns = [places[column] for column in wanted.values()]
    rows = [row for row in table.rows if all(row[n] is not None for n in columns)][:MOST_BARS]
    if not rows:
        return ()
    unit = table.columns[columns[0]].unit or "share"
    kind: Kind = table.columns[columns[0]].kind
    labels = tuple(_label(table, row) for row in rows)
    first = show(rows[0][columns[0]], kind)
    return (
        Bars(
            name=name,
            title=f"{title}, first {len(rows)} lines" if len(rows) < len(table.rows) else title,
            unit=unit,
            source=f"Source: {source}",
            alt=f"Bar chart of {title.lower()}, one bar a line of the table {source}, in {unit}. "
            f"The first bar is {labels[0]}, {next(iter(wanted)).lower()} {first}.",
            labels=labels,
            kind=kind,
            series=tuple(
                (head, tuple(_as_float(row[n]) for row in rows))
                for head, n in zip(wanted, columns, strict=True)
            ),
        ),
    )


def _as_float(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]


def _label(table: Table, row: tuple[object, ...]) -> str:
    names = [column.name for column in table.columns]
    if names[0] == "month":
        return str(row[0])[:7]
    model, query_class = (row[names.index(name)] for name in ("model_id", "query_class"))
    return f"{show(model, 'text', 'unmapped')} · {show(query_class, 'text')}"  # type: ignore[arg-type]


def _lines_of(table: Table, bars: Bars) -> list[int | None]:
    """Return for each bar the line of the table with its label, each line once, in order."""
    labels = [_label(table, row) for row in table.rows]
    lines: list[int | None] = []
    for label in bars.labels:
        free = (n for n, each in enumerate(labels) if each == label and n not in lines)
        lines.append(next(free, None))
    return lines
