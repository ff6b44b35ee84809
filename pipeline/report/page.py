"""Render a report as one page that needs no network: styles, script and figures lie inside it.

The policy in the page's head allows nothing but the one style, the one script (each by its hash)
and the figures, so that text from a log can do nothing even where escaping should fail.
"""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline.dialects import javascript_functions
from pipeline.laws import facility, ranges, simple, work
from pipeline.report import figures, line_figures, marks, waterfall
from pipeline.report.language import ENGLISH, Language
from pipeline.report.numbers import is_finite, is_number_kind, show
from pipeline.report.page_words import SCRIPT_WORDS, WORDS
from pipeline.report.palette import SERIES_DARK, SERIES_LIGHT
from pipeline.report.section import Bars, Column, Figure, Lines, Report, Steps, Table, Value
from pipeline.report.sections.reading import Row
from pipeline.report.translation import said_table, translated
from pipeline.settings import bundled

LONG_TABLE_ROWS = 30  # longer ones scroll in a box of their own
MOST_TABLE_ROWS = 600  # the rest stands in the workbook; the script shows pages of 200
MOST_ROWS_OF_A_SHEET = 6  # of a table that has a sheet of its own there, or stands behind a figure
MOST_ROWS_OF_A_DETAIL = 5  # of these, which few read to their end; the workbook holds them whole
DETAILS = frozenset(
    {
        *("architecture_levers", "attention_families", "concurrency", "implied_batch"),
        *("items_per_call", "law_duels", "linearity_claims", "model_front", "policy_facts"),
        *("sweet_spot", "carbon"),
    }
)
# Sections on the method rather than the month: their figures are drawn once, for all screens.
SMALL_FIGURES = frozenset({"comparison", "law_validation", "measured_power", "power_policy"})
WIDE_TABLE_COLUMNS = 16  # wider ones are printed smaller
CALCULATOR_AFTER = "energy"  # the section that it stands behind
GLOSSARY_TABLES = 2  # a column of so many tables is explained once, at the end
_PLAIN_IN_ADDRESS = "/:=,;()!*'-._~@$[]{}|+?"  # needs no escape in an image's address
# What a class of a table says of the column of its number: texts, short ones, long ones, names.
_COLUMN_RULES = (
    ("t", ".t{0} :is(th,td):nth-child({0})", "text-align:left;white-space:normal"),
    ("s", ".s{0} tbody :is(th,td):nth-child({0})", "white-space:nowrap"),
    ("w", ".w{0} :is(th,td):nth-child({0})", "min-width:11rem"),
    ("i", ".i{0} td:nth-child({0})", "font:.8rem var(--mono);max-width:none"),
)
_SHORT_TEXT = 40  # columns of such names stay on one line


def render(report: Report, language: Language = ENGLISH) -> str:
    """Return the page of a report in a language as HTML text."""
    report = translated(report, language)
    templates = bundled("templates")
    style = _style(templates, report)
    script = _script(templates)
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "show": language.show,
        "figure_source": partial(figure_source, language=language),
        "number": lambda value: f"{value:g}",
        "packed_json": packed_json,
        "compressed_json": compressed_json,
    }
    environment.globals |= {
        "show_range": language.show_range,
        "long_table_rows": LONG_TABLE_ROWS,
        "most_rows": most_rows,
        "small_figures": SMALL_FIGURES,
        "own_meanings": own_meanings,
        "table_class": table_class,
        "numbers_behind": lambda figure: said_table(figure.as_table(), language),
        "table_row": partial(table_row, shown=language.show),
        "calculator_after": CALCULATOR_AFTER,
        "words": _said(WORDS, language),
        "workbook": f"joulebook-{report.month}.xlsx",
    }
    return environment.get_template("page.html.j2").render(
        report=report,
        language=language.code,
        glossary=glossary(report),
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        script_words={"marks": asdict(language.marks)} | _said(SCRIPT_WORDS, language),
        policy=content_security_policy(style, script),
    )


def content_security_policy(style: str, script: str) -> str:
    """Return the policy that admits these two texts and inline images alone."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def table_row(row: Row, columns: Sequence[Column], shown: Callable[..., str]) -> Markup:
    """Return one row of a table; what is alike in a column is said once, by the table's class.

    Ends of cells and rows may be left out in HTML; they would be a tenth of the page.
    """
    cells = []
    for number, (value, column) in enumerate(zip(row, columns, strict=True)):
        text = escape(shown(value, column.kind, column.unknown))
        tag = "td" if number else "th"
        cells.append(f"<{tag}{'' if number else ' scope=row'}{_mark(value, column)}>{text}")
    return Markup(f"<tr>{''.join(cells)}")  # noqa: S704 every text in it is escaped


def _mark(value: Value, column: Column) -> str:
    """Return the class attribute of a cell that differs from others: unknown, or a failed check."""
    if value is None or (isinstance(value, (float, Decimal)) and not is_finite(value)):
        return " class=u"
    return " class=f" if column.kind == "status" and value == "fail" else ""


def table_class(table: Table) -> str:
    """Return a table's classes, which say what its columns are, as the rules above.

    The column's number ends each class: t2 s2. Columns without one are numbers.
    """
    names = ["sortable"] + (["wide"] if len(table.columns) > WIDE_TABLE_COLUMNS else [])
    for number, column in enumerate(table.columns, start=1):
        if is_number_kind(column.kind):
            continue
        names.append(f"t{number}")
        rows = table.rows[: most_rows(table)]
        texts = (show(row[number - 1], column.kind, column.unknown) for row in rows)
        is_short = all(len(text) <= _SHORT_TEXT for text in texts)
        names.append(f"{'i' if column.kind == 'id' else 's' if is_short else 'w'}{number}")
    return " ".join(names)


def glossary(report: Report) -> dict[str, str]:
    """Return what columns of several tables mean, by their head; the commonest of its meanings.

    A head that means something else in a table, or nothing that is told, is left to the tables.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for table in (table for section in report.sections for table in section.tables):
        counts.update({(column.header, column.meaning) for column in table.columns})
    common = {
        header: meaning
        for (header, meaning), tables in reversed(counts.most_common())
        if meaning and tables >= GLOSSARY_TABLES
    }
    untold = {header for header, meaning in counts if not meaning}
    return {header: common[header] for header in sorted(common.keys() - untold)}


def own_meanings(table: Table, common: Mapping[str, str]) -> list[Column]:
    """Return the columns of a table whose meaning stands nowhere else."""
    return [
        column
        for column in table.columns
        if column.meaning and common.get(column.header) != column.meaning
    ]


def most_rows(table: Table) -> int:
    """Return how many rows of a table the page shows."""
    if table.sheet or table.name.startswith("figure_"):
        return MOST_ROWS_OF_A_SHEET
    return MOST_ROWS_OF_A_DETAIL if table.name in DETAILS else MOST_TABLE_ROWS


def figure_source(figure: Figure, layout: figures.Layout, language: Language = ENGLISH) -> Markup:
    """Return a figure as the data address of an image."""
    if isinstance(figure, Bars):
        svg = figures.draw(figure, layout, language)
    elif isinstance(figure, Lines):
        svg = line_figures.draw(figure, layout, language)
    elif isinstance(figure, Steps):
        svg = waterfall.draw(figure, layout, language)
    else:
        svg = marks.draw(figure, layout, language)
    svg = re.sub(r"<title>.*?</desc>", "", svg, flags=re.DOTALL)  # the alt text says it
    address = quote(svg, safe=_PLAIN_IN_ADDRESS)
    return Markup(f"data:image/svg+xml,{address}")  # noqa: S704 no sign of markup is left in it


def packed_json(value: object) -> Markup:
    """Return a value as JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 no sign of markup is left in it


def compressed_json(value: object) -> str:
    """Return a value as JSON, compressed: a third of its size, with the same bytes every time."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()


def _style(templates: Path, report: Report) -> str:
    """Return the one style of the page: colours of series as variables, columns by their number."""
    light, dark = (
        ";".join(f"--series{number}:{colour}" for number, colour in enumerate(colours, start=1))
        for colours in (SERIES_LIGHT, SERIES_DARK)
    )
    schemes = f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    classes = {name for table in _tables(report) for name in table_class(table).split()}
    columns = "".join(
        f"{','.join(place.format(number) for number in numbers)}{{{rule}}}"
        for kind, place, rule in _COLUMN_RULES
        if (numbers := sorted(int(n[1:]) for n in classes if re.fullmatch(rf"{kind}\d+", n)))
    )
    return schemes + _lean((templates / "style.css").read_text(encoding="utf-8")) + columns


def _said(words: Mapping[str, str], language: Language) -> dict[str, str]:
    return {name: language.text(english) for name, english in words.items()}


def _tables(report: Report) -> list[Table]:
    """Return every table of the page, those behind figures too."""
    return [
        table
        for section in report.sections
        for table in (*section.tables, *(figure.as_table() for figure in section.figures))
    ]


def _script(templates: Path) -> str:
    """Return the one script of the page: tables, the laws, the calculator."""
    laws = javascript_functions(
        (*work.LAWS, *work.EXACT_LAWS, *simple.LAWS, *facility.LAWS, *ranges.LAWS)
    )
    table, calculator = (
        _lean((templates / name).read_text(encoding="utf-8"))
        for name in ("table.js", "calculator.js")
    )
    return "\n".join((table, laws, calculator))


def _lean(text: str) -> str:
    """Return a script or a style without indents, empty lines and lines that only comment."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
