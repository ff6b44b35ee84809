"""The cost–quality frontier: what an answer costs against how often it is right, by class of work.

Accuracies of one class come from one test and may be compared; those of different classes may not.
So each class has its own frontier: answers that no other one of the class beats in both.
"""

from dataclasses import dataclass

from openpyxl.chart import Reference, ScatterChart, Series
from openpyxl.worksheet.worksheet import Worksheet

from pipeline.report.language import Language
from pipeline.report.numbers import show
from pipeline.report.palette import SERIES_LIGHT
from pipeline.report.section import Column, Section, Table
from pipeline.report.workbook.chart_kinds import dress_scatter

_SOURCE = "reasoning_budgets"  # the table that has costs beside accuracies
_NEEDED = ("model_id", "query_class", "provider", "budget", "accuracy_frac")
_COST = "cost_usd_per_correct_answer"
_MOST_CLASSES = len(SERIES_LIGHT) - 1
_COLUMNS = (
    Column("label", "Answer", "text", meaning="Model, provider and budget."),
    Column("query_class", "Class of work", "text", meaning="Accuracies compare within one class."),
    Column("cost_usd", "List cost of an answer", "usd_small", "USD"),
    Column("accuracy_frac", "Accuracy", "frac", meaning="Share of right answers."),
    Column("front", "Frontier", "text", meaning="Yes: none of the class is cheaper and as right."),
)


@dataclass(frozen=True)
class Frontier:
    """Answers with cost and accuracy: first the frontier of each class by cost, then the rest."""

    table: Table
    classes: tuple[tuple[str, int], ...]  # with the number of rows of each frontier, in order
    alt: str

    @property
    def beaten_count(self) -> int:
        """Return how many rows are on no frontier, which stand last."""
        return len(self.table.rows) - sum(count for _, count in self.classes)


def frontier_of(section: Section) -> Frontier | None:
    """Return the frontier of a section's costs and accuracies, None where there are none."""
    table = next((table for table in section.tables if table.name == _SOURCE), None)
    if table is None:
        return None
    names = [column.name for column in table.columns]
    points = []
    for row in table.rows:
        model, query_class, provider, budget, accuracy = (row[names.index(n)] for n in _NEEDED)
        per_right = row[names.index(_COST)]
        if per_right is None or not accuracy:
            continue
        label = f"{show(model, 'text')} · {show(provider, 'text')} · {show(budget, 'text')}"
        cost = float(per_right) * float(accuracy)  # type: ignore[arg-type]
        points.append((label, show(query_class, "text"), cost, float(accuracy)))  # type: ignore[arg-type]
    if not points:
        return None
    fronts = {p for p in points if not any(_beats(other, p) for other in points)}
    sizes = {name: sum(p[1] == name for p in points) for name in sorted({p[1] for p in points})}
    shown = sorted(sizes, key=lambda name: (-sizes[name], name))[:_MOST_CLASSES]
    ordered = [
        p for name in shown for p in sorted(fronts, key=lambda p: (p[2], p[0])) if p[1] == name
    ]
    rest = [p for p in sorted(points, key=lambda p: (p[1], p[2], p[0])) if p not in ordered]
    rows = tuple((*p, "yes" if p in fronts else "no") for p in (*ordered, *rest))
    counts = tuple((name, sum(p[1] == name for p in ordered)) for name in shown)
    cheapest = ordered[0]
    return Frontier(
        Table("cost_quality", "Cost and quality of an answer", _COLUMNS, rows),
        counts,
        "Scatter chart of accuracy over the list cost of an answer, a line along the frontier of "
        f"each class of work. Cheapest on that of {cheapest[1]}: {cheapest[0]}, "
        f"{show(cheapest[2], 'usd_small')} USD, {show(cheapest[3], 'frac')} right.",
    )


def frontier_chart(
    frontier: Frontier, sheet: Worksheet, head_row: int, language: Language
) -> ScatterChart:
    """Return the chart of the rows below a head row: a line a class, and what is beaten as dots."""
    chart = ScatterChart()
    chart.style, chart.scatterStyle = 13, "lineMarker"
    first = head_row + 1
    groups = [(language.text(f"Frontier: {name}"), count) for name, count in frontier.classes]
    for number, (name, count) in enumerate(
        [*groups, (language.text("Beaten"), frontier.beaten_count)]
    ):
        if not count:
            continue
        costs = Reference(sheet, min_col=3, min_row=first, max_row=first + count - 1)
        accuracies = Reference(sheet, min_col=4, min_row=first, max_row=first + count - 1)
        series = Series(accuracies, costs, title=name)
        colour = SERIES_LIGHT[number if number < len(groups) else -2].lstrip("#")
        is_front = number < len(groups)
        series.marker.symbol, series.marker.size = ("circle", 7) if is_front else ("x", 6)
        series.marker.graphicalProperties.solidFill = colour
        series.marker.graphicalProperties.line.solidFill = colour
        if is_front:
            series.graphicalProperties.line.solidFill = colour
        else:
            series.graphicalProperties.line.noFill = True  # what is beaten lies on no line
        series.smooth = False
        chart.series.append(series)
        first += count
    titles = ("Cost and quality of an answer", "USD an answer, list price", "Accuracy")
    dress_scatter(chart, *map(language.text, titles))
    chart.x_axis.scaling.logBase = 10
    chart.y_axis.scaling.min, chart.y_axis.scaling.max = 0, 1
    chart.y_axis.number_format = "0%"
    return chart


def _beats(one: tuple[str, str, float, float], other: tuple[str, str, float, float]) -> bool:
    """Return whether an answer of the same class is no dearer, no less right, and better in one."""
    is_alike = one[1] == other[1] and one[2] <= other[2] and one[3] >= other[3]
    return is_alike and one[2:] != other[2:]
