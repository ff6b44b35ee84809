"""Render a report as one page that needs no network: styles, script and figures lie inside it.

The policy in the page's head allows nothing but the one style, the one script (each by its hash)
and the figures, so that text from a log can do nothing even where escaping should fail.
"""

import base64
import hashlib
from decimal import Decimal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.report import figures, line_figures
from pipeline.report.numbers import is_finite, is_number_kind, show, show_range
from pipeline.report.section import Bars, Column, Lines, Report, Value
from pipeline.settings import bundled

LONG_TABLE_ROWS = 30  # longer ones scroll in a box of their own
MOST_TABLE_ROWS = 200  # the rest stands in the workbook
WIDE_TABLE_COLUMNS = 16  # wider ones are printed smaller
_SHORT_TEXT = 24  # such names stay on one line


def render(report: Report) -> str:
    """Return the page of a report as HTML text."""
    templates = bundled("templates")
    style = (templates / "style.css").read_text(encoding="utf-8")
    script = (templates / "table.js").read_text(encoding="utf-8")
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
    }
    environment.globals |= {
        "show_range": show_range,
        "long_table_rows": LONG_TABLE_ROWS,
        "most_table_rows": MOST_TABLE_ROWS,
        "wide_table_columns": WIDE_TABLE_COLUMNS,
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
    """Return the class names of a cell."""
    names = [head_class(column)]
    if value is None or (isinstance(value, (float, Decimal)) and not is_finite(value)):
        names.append("unknown")
    if names[0] != "number" and len(show(value, column.kind, column.unknown)) <= _SHORT_TEXT:
        names.append("short")
    if column.kind == "status" and value == "fail":
        names.append("failed")
    return " ".join(name for name in names if name)


def head_class(column: Column) -> str:
    """Return the class name of a column's head: numbers stand on the right."""
    if is_number_kind(column.kind):
        return "number"
    return "id" if column.kind == "id" else ""


def figure_source(figure: Bars | Lines, layout: figures.Layout) -> str:
    """Return a figure as the data address of an image."""
    if isinstance(figure, Lines):
        svg = line_figures.draw(figure, layout)
    else:
        svg = figures.draw(figure, layout)
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
