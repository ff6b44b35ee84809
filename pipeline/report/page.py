"""Render a report as one page that needs no network: styles, script and figures lie inside it.

The policy in the page's head allows nothing but the one style, the one script (each by its hash)
and the figures, so that text from a log can do nothing even where escaping should fail.
"""

import base64
import hashlib
import json
from decimal import Decimal
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.dialects import javascript_functions
from pipeline.laws import facility, simple, work
from pipeline.report import figures, line_figures, marks, waterfall
from pipeline.report.numbers import is_finite, is_number_kind, show, show_range
from pipeline.report.palette import SERIES_DARK, SERIES_LIGHT
from pipeline.report.section import Bars, Column, Figure, Lines, Report, Steps, Table, Value
from pipeline.settings import bundled

LONG_TABLE_ROWS = 30  # longer ones scroll in a box of their own
MOST_TABLE_ROWS = 50  # the rest stands in the workbook
MOST_ROWS_OF_A_SHEET = 20  # of a table that has a sheet of its own there, or stands behind a figure
WIDE_TABLE_COLUMNS = 16  # wider ones are printed smaller
CALCULATOR_AFTER = "energy"  # the section that it stands behind
_SHORT_TEXT = 24  # such names stay on one line


def render(report: Report) -> str:
    """Return the page of a report as HTML text."""
    templates = bundled("templates")
    style = _style(templates)
    script = _script(templates)
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "show": show,
        "cell_class": cell_class,
        "head_class": head_class,
        "figure_source": figure_source,
        "number": lambda value: f"{value:g}",
        "packed_json": packed_json,
    }
    environment.globals |= {
        "show_range": show_range,
        "long_table_rows": LONG_TABLE_ROWS,
        "most_rows": most_rows,
        "wide_table_columns": WIDE_TABLE_COLUMNS,
        "calculator_after": CALCULATOR_AFTER,
    }
    return environment.get_template("page.html.j2").render(
        report=report,
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        policy=content_security_policy(style, script),
    )


def content_security_policy(style: str, script: str) -> str:
    """Return the policy that admits these two texts and inline images alone."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def cell_class(value: Value, column: Column) -> str:
    """Return the class names of a cell; a plain number has none, for most cells are numbers."""
    is_number = is_number_kind(column.kind)
    names = [] if is_number else ["text", "id"] if column.kind == "id" else ["text"]
    if value is None or (isinstance(value, (float, Decimal)) and not is_finite(value)):
        names.append("unknown")
    if not is_number and len(show(value, column.kind, column.unknown)) <= _SHORT_TEXT:
        names.append("short")
    if column.kind == "status" and value == "fail":
        names.append("failed")
    return " ".join(names)


def most_rows(table: Table) -> int:
    """Return how many rows of a table the page shows."""
    is_apart = table.sheet or table.name.startswith("figure_")
    return MOST_ROWS_OF_A_SHEET if is_apart else MOST_TABLE_ROWS


def head_class(column: Column) -> str:
    """Return the class name of a column's head: numbers stand on the right."""
    if is_number_kind(column.kind):
        return "number"
    return "id" if column.kind == "id" else ""


def figure_source(figure: Figure, layout: figures.Layout) -> str:
    """Return a figure as the data address of an image."""
    if isinstance(figure, Bars):
        svg = figures.draw(figure, layout)
    elif isinstance(figure, Lines):
        svg = line_figures.draw(figure, layout)
    elif isinstance(figure, Steps):
        svg = waterfall.draw(figure, layout)
    else:
        svg = marks.draw(figure, layout)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def packed_json(value: object) -> Markup:
    """Return a value as JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 no sign of markup is left in it


def _style(templates: Path) -> str:
    """Return the one style of the page, with the colours of series as variables."""
    light, dark = (
        ";".join(f"--series{number}:{colour}" for number, colour in enumerate(colours, start=1))
        for colours in (SERIES_LIGHT, SERIES_DARK)
    )
    schemes = f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    return schemes + (templates / "style.css").read_text(encoding="utf-8")


def _script(templates: Path) -> str:
    """Return the one script of the page: tables, the laws, the calculator."""
    laws = javascript_functions((*work.LAWS, *work.EXACT_LAWS, *simple.LAWS, *facility.LAWS))
    files = [
        (templates / name).read_text(encoding="utf-8") for name in ("table.js", "calculator.js")
    ]
    return "\n".join((files[0], laws, files[1]))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
