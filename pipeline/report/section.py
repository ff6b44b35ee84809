"""What a report says, as data: the values that sections hand to the workbook and the page.

A section holds raw values and the kind of each column. Rounding, units in heads and colours are
the renderers' business, so that both reports show one number in one way.
"""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

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
        named = [*self.series, ("Low (5 %)", self.lows), ("High (95 %)", self.highs)]
        shown = [(name, values) for name, values in named if values]
        columns = [
            Column(f"series_{number}", name, self.kind, self.unit)
            for number, (name, _) in enumerate(shown)
        ]
        rows = zip(self.labels, *(values for _, values in shown), strict=True)
        label = Column("label", "Line", "text")
        caption = f"Numbers of the figure: {self.title}"
        return Table(f"figure_{self.name}", caption, (label, *columns), tuple(rows))


@dataclass(frozen=True)
class Lines:
    """At most seven lines over one number, both axes logarithmic; one point of each is marked."""

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
class Section:
    """One question, its answer in words, and the tables and figures behind it."""

    name: str  # snake_case; the anchor of the page
    title: str  # what a reader sees
    sheet: str  # the workbook's sheet, at most 31 characters
    question: str  # one sentence on what this section answers
    statements: tuple[str, ...] = ()  # the answer, one sentence each
    key_figures: tuple[KeyFigure, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Bars, ...] = ()
    line_figures: tuple[Lines, ...] = ()
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
