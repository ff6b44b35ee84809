"""A whole report in another language: its sections, their tables and figures, its calculator."""

from dataclasses import replace
from typing import Any, TypeVar

from pipeline.report.calculator import Calculator
from pipeline.report.language import ENGLISH, Language
from pipeline.report.section import (
    Bars,
    Dots,
    Figure,
    Finding,
    KeyFigure,
    Lines,
    Points,
    Report,
    Section,
    Steps,
    Table,
)

FigureT = TypeVar("FigureT", bound=Figure)

# Lines named after caps and locks; bars named after methods or settings, none after logs.
FIGURES_OF_SETTINGS = ("power_over_time", "power_front_prefill", "power_front_decode")
FIGURES_OF_METHODS = ("methods", "chat_requests", "power_savings")


def translated(report: Report, language: Language) -> Report:
    """Return a report that is said in a language; names from logs stay what they are."""
    if language == ENGLISH:
        return report
    return replace(
        report,
        title=language.text(report.title),
        subtitle=language.text(report.subtitle),
        sections=tuple(_section(each, language) for each in report.sections),
        calculator=report.calculator and _calculator(report.calculator, language),
    )


def said_figure(figure: FigureT, language: Language) -> FigureT:
    """Return a figure in a language; its lines keep the names of models and classes."""
    if language == ENGLISH:
        return figure
    text = language.text
    said = replace(
        figure,
        title=text(figure.title),
        unit=text(figure.unit),
        source=text(figure.source),
        alt=text(figure.alt),
    )
    if isinstance(said, Lines):
        said = replace(said, over=text(said.over), mark_label=text(said.mark_label))
        is_named_by_us = said.name in FIGURES_OF_SETTINGS
        return replace(said, series=_series(said, language)) if is_named_by_us else said
    if isinstance(said, Steps):
        return replace(said, labels=tuple(map(text, said.labels)))
    series = _series(said, language)
    if isinstance(said, Points):
        return replace(said, x_label=text(said.x_label), y_label=text(said.y_label), series=series)
    if isinstance(said, Bars) and said.name in FIGURES_OF_METHODS:
        return replace(said, labels=tuple(map(text, said.labels)), series=series)
    return replace(said, series=series)


def _series(figure: Bars | Dots | Lines | Points, language: Language) -> Any:  # noqa: ANN401 of its kind
    return tuple((language.text(name), values) for name, values in figure.series)


def _section(section: Section, language: Language) -> Section:
    text = language.text
    return replace(
        section,
        title=text(section.title),
        question=text(section.question),
        statements=tuple(map(text, section.statements)),
        key_figures=tuple(_key_figure(figure, language) for figure in section.key_figures),
        findings=tuple(_finding(finding, language) for finding in section.findings),
        tables=tuple(said_table(table, language) for table in section.tables),
        figures=tuple(said_figure(figure, language) for figure in section.figures),
        empty_reason=text(section.empty_reason),
    )


def _key_figure(figure: KeyFigure, language: Language) -> KeyFigure:
    text = language.text
    return replace(figure, label=text(figure.label), unit=text(figure.unit), note=text(figure.note))


def _finding(finding: Finding, language: Language) -> Finding:
    savings = tuple(_key_figure(saving, language) for saving in finding.savings)
    basis, title = language.text(finding.basis), language.text(finding.title)
    return replace(finding, title=title, savings=savings, basis=basis)


def said_table(table: Table, language: Language) -> Table:
    """Return a table in a language; of its cells only those that hold words of ours change."""
    text, cell = language.text, language.cell
    columns = tuple(
        replace(
            column,
            header=text(column.header),
            unit=text(column.unit),
            meaning=text(column.meaning),
            unknown=text(column.unknown),
        )
        for column in table.columns
    )
    rows = tuple(tuple(map(cell, row, table.columns)) for row in table.rows)
    total = table.total and (text(str(table.total[0])), *table.total[1:])
    return replace(
        table,
        caption=text(table.caption),
        columns=columns,
        rows=rows,
        total=total,
        note=text(table.note),
    )


def _calculator(calculator: Calculator, language: Language) -> Calculator:
    inputs = tuple(
        replace(each, label=language.text(each.label), unit=language.text(each.unit))
        for each in calculator.inputs
    )
    return replace(calculator, inputs=inputs)
