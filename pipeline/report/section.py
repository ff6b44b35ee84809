"""What a report says, as data: the values that sections hand to the workbook and the page.

A section holds raw values and the kind of each column. Rounding, units in heads and colours are
the renderers' business, so that both reports show one number in one way.
"""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pipeline.report.calculator import Calculator

_LONGEST_HEAD = 200  # a spreadsheet takes 255 letters, the unit included

Value = str | int | float | bool | Decimal | dt.date | dt.datetime | None

Kind = Literal[
    "text",  # names, sentences
    "id",  # identifiers: never a number, even where it looks like one
    "count",  # whole numbers
    "tokens",  # whole numbers of tokens
    "usd",  # money that must tie to the cent
    "usd_small",  # money per task or per token: four significant figures
    "j",  # joules
    "wh",  # watt-hours
    "kwh",  # kilowatt-hours
    "gco2e",  # grams of CO2 equivalent
    "kgco2e",  # kilograms of CO2 equivalent
    "frac",  # a share from 0 to 1, shown as a percentage
    "ratio",  # a quotient of like quantities
    "number",  # any other measured number: four significant figures
    "grade",  # A, B, C, D or U
    "status",  # pass, warn or fail
    "datetime",
    "date",
    "month",  # the first day of a month, shown as 2026-10
]


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str  # the mart's own column name
    header: str  # what a reader sees, without the unit
    kind: Kind
    unit: str = ""  # shown in the head, such as "USD" or "kWh"
    meaning: str = ""  # one sentence for the tooltip, the header comment and the dictionary
    unknown: str = "–"  # what a reader sees where the value is null, such as "unpriced"


@dataclass(frozen=True)
class Table:
    """Rows of raw values under typed columns; the first column names the row."""

    name: str  # unique, snake_case: the Excel table and the anchor of the page
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: tuple[Value, ...] | None = None  # one value per column, None where a sum is meaningless
    note: str = ""
    sheet: str = ""  # a sheet of its own, for a table too wide to share its section's
    unprinted_count: int = 0  # last columns that a sheet keeps off paper


@dataclass(frozen=True)
class Bars:
    """Horizontal stacked bars, at most seven series, each with an optional low–high whisker."""

    name: str
    title: str
    unit: str
    source: str  # one line under the figure: where the numbers come from
    alt: str  # what a reader who cannot see it must know
    labels: tuple[str, ...]  # one per bar
    series: tuple[tuple[str, tuple[float | None, ...]], ...]  # (series name, a value per bar)
    lows: tuple[float | None, ...] = ()
    highs: tuple[float | None, ...] = ()
    log_scale: bool = False
    kind: Kind = "number"  # how the values are shown, the same as in the table behind them

    def as_table(self) -> Table:
        """Return the numbers of the figure, which stand behind it in both reports."""
        ends = (("Low (5 %)", self.lows), ("High (95 %)", self.highs))
        return _series_table(self, (*self.series, *(each for each in ends if each[1])))


@dataclass(frozen=True)
class Dots:
    """One mark for each series on every line, on a logarithmic axis: values that do not add up."""

    name: str
    title: str
    unit: str
    source: str
    alt: str
    labels: tuple[str, ...]  # one per line
    series: tuple[tuple[str, tuple[float | None, ...]], ...]  # (series name, a value per line)
    kind: Kind = "number"

    def as_table(self) -> Table:
        """Return the numbers of the figure."""
        return _series_table(self, self.series)


@dataclass(frozen=True)
class Points:
    """Pairs of like quantities on two logarithmic axes, the line of equality, a band around it."""

    name: str
    title: str
    unit: str
    source: str
    alt: str
    x_label: str
    y_label: str
    series: tuple[tuple[str, tuple[tuple[str, float, float], ...]], ...]  # (name, (label, x, y))
    band_frac: float  # how far the band reaches above and below the line
    kind: Kind = "number"

    def as_table(self) -> Table:
        """Return the numbers of the figure, a line for every point."""
        columns = (
            Column("label", "Point", "text"),
            Column("series", "Kind", "text"),
            Column("x", self.x_label, self.kind, self.unit),
            Column("y", self.y_label, self.kind, self.unit),
        )
        rows = tuple((label, name, x, y) for name, points in self.series for label, x, y in points)
        return Table(f"figure_{self.name}", _numbers_of(self.title), columns, rows)


def _numbers_of(title: str) -> str:
    return f"Numbers of the figure: {title}"


def _series_table(
    figure: Bars | Dots, series: tuple[tuple[str, tuple[float | None, ...]], ...]
) -> Table:
    columns = [
        Column(f"series_{number}", name, figure.kind, figure.unit)
        for number, (name, _) in enumerate(series)
    ]
    rows = zip(figure.labels, *(values for _, values in series), strict=True)
    label = Column("label", "Line", "text")
    return Table(f"figure_{figure.name}", _numbers_of(figure.title), (label, *columns), tuple(rows))


@dataclass(frozen=True)
class Lines:
    """At most seven lines over one number, one point of each marked; axes logarithmic or not."""

    name: str
    title: str
    unit: str  # of the values
    over: str  # what the lines run over, such as "Batch"
    source: str
    alt: str
    series: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]  # (name, its points by place)
    marks: tuple[tuple[float, float] | None, ...] = ()  # the marked point of each series
    mark_label: str = ""  # what the marked points are
    kind: Kind = "number"  # how the values are shown
    is_linear: bool = False

    def as_table(self) -> Table:
        """Return the numbers of the figure: a row for every place, a column for every line."""
        columns = [
            Column(f"series_{number}", _head(number, name), self.kind, self.unit)
            for number, (name, _) in enumerate(self.series)
        ]
        lines = [dict(points) for _, points in self.series]
        places = sorted({place for line in lines for place in line})
        rows = tuple((place, *(line.get(place) for line in lines)) for place in places)
        over = Column("place", self.over, "number")
        caption = f"Numbers of the figure: {self.title}"
        return Table(f"figure_{self.name}", caption, (over, *columns), rows)


@dataclass(frozen=True)
class Steps:
    """A waterfall: a first value, what changes it in turn, and the last value."""

    name: str
    title: str
    unit: str
    source: str
    alt: str
    labels: tuple[str, ...]
    values: tuple[float, ...]  # the first and the last are whole, those between are changes
    kind: Kind = "number"

    def as_table(self) -> Table:
        """Return the numbers of the figure."""
        columns = (
            Column("label", "Step", "text"),
            Column("value", "Value or change", self.kind, self.unit),
        )
        rows = tuple(zip(self.labels, self.values, strict=True))
        return Table(f"figure_{self.name}", _numbers_of(self.title), columns, rows)


Figure = Bars | Dots | Points | Lines | Steps


def _head(number: int, name: str) -> str:
    """Return a line's name as the head of a column: numbered, of one line, not too long."""
    return f"{number + 1}. {' '.join(name.split())[:_LONGEST_HEAD]}"


@dataclass(frozen=True)
class KeyFigure:
    """One headline number with its range, in the order a tired reader wants it."""

    label: str
    value: Value
    kind: Kind
    unit: str
    low: Value = None
    high: Value = None
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """One proposal with what it would save; the workbook has it in its section's table."""

    title: str  # what to do
    savings: tuple[KeyFigure, ...]  # money first
    basis: str  # grade, batch, rows behind it, assumption
    section_name: str  # the section that shows those rows


@dataclass(frozen=True)
class Section:
    """One question, its answer in words, and the tables and figures behind it."""

    name: str  # snake_case; the anchor of the page
    title: str  # what a reader sees
    sheet: str  # the workbook's sheet, at most 31 characters
    question: str  # one sentence on what this section answers
    statements: tuple[str, ...] = ()  # the answer, one sentence each
    key_figures: tuple[KeyFigure, ...] = ()
    findings: tuple[Finding, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    empty_reason: str = ""  # which input would fill it, where there is nothing to show


@dataclass(frozen=True)
class Report:
    """Everything both renderers need."""

    title: str
    month: str
    is_generated_sample: bool
    method_version: str
    run_id: str
    subtitle: str = ""
    sections: tuple[Section, ...] = field(default=())
    calculator: Calculator | None = None
