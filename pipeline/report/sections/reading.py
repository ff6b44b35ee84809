"""How sections read a mart: unknown stays unknown, sums are exact, the order of rows is total."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Value

GRAMS_PER_KG = 1_000
BARS_SHOWN = 12  # more do not read on one screen
GRADES = ("A", "B", "C", "D", "U")
MATERIAL_ENERGY_FRAC = 0.05  # a grade that carries less of the energy does not name the total

ADDS_NOT = re.compile(r"task_count$|_(low|high)_")  # columns of which a sum means nothing

Number = int | float | Decimal
Row = tuple[Value, ...]


def in_month(frame: pl.DataFrame, month: str) -> pl.DataFrame:
    """Return the rows of one month, written YYYY-MM or as its first day."""
    return frame.filter(pl.col("month").cast(pl.String).str.slice(0, 7) == month)


def month_before(month: str) -> str:
    """Return the calendar month before one written YYYY-MM."""
    year, number = int(month[:4]), int(month[5:7])
    return f"{year - 1:04d}-12" if number == 1 else f"{year:04d}-{number - 1:02d}"


def known_sum(frame: pl.DataFrame, name: str) -> Number | None:
    """Return the exact sum of a column's known values, None where not one is known."""
    values = frame.get_column(name).drop_nulls().to_list()
    if not values:
        return None
    if any(isinstance(value, float) for value in values):
        return math.fsum(values) if all(map(math.isfinite, values)) else math.nan
    with localcontext() as context:
        context.prec = 76
        total: int | Decimal = sum(values)
        return total


def count_sum(frame: pl.DataFrame, name: str) -> int:
    """Return the sum of a column of counts, where no rows are no requests."""
    return int(known_sum(frame, name) or 0)


def share(part: Number | None, whole: Number | None) -> float | None:
    """Return part over whole, None where either is unknown or the whole is nothing."""
    if part is None or whole is None or whole == 0:
        return None
    return float(part) / float(whole)


def sorted_by(frame: pl.DataFrame, largest: str, *ties: str) -> pl.DataFrame:
    """Sort by one column, largest first and unknown last; name columns break every tie."""
    descending = [True] + [False] * len(ties)
    return frame.sort([largest, *ties], descending=descending, nulls_last=True)


def table_rows(frame: pl.DataFrame, columns: Sequence[Column]) -> tuple[Row, ...]:
    """Return a frame's rows in the order of a table's columns."""
    return tuple(frame.select([column.name for column in columns]).rows())


def total_row(
    frame: pl.DataFrame,
    columns: Sequence[Column],
    summed: Iterable[str],
    known: Mapping[str, Value] | None = None,
) -> Row:
    """Return a total line: the exact sums of the named columns, nothing under the others.

    Args:
        frame: The rows above the line.
        columns: The columns of the table.
        summed: Columns that add up.
        known: What does not add up, by column: a task in two rows is one task, and the ends of
            ranges of rows that err together in part are not those of their sum.
    """
    names, totals = set(summed), known or {}
    return (
        "Total",
        *(
            totals[c.name]
            if c.name in totals
            else known_sum(frame, c.name)
            if c.name in names
            else None
            for c in columns[1:]
        ),
    )


def not_additive(totals: pl.DataFrame, kind: str = "month", of: str = "all") -> dict[str, Any]:
    """Return what does not add up of one row of mart_month_total: tasks and ends of ranges."""
    return {name: value for name, value in total(totals, kind, of).items() if ADDS_NOT.search(name)}


def total(totals: pl.DataFrame, kind: str = "month", of: str = "all") -> dict[str, Any]:
    """Return one row of one month of mart_month_total, without values where it has none."""
    rows = totals.filter(pl.col("total_kind") == kind, pl.col("total_of") == of)
    return rows.row(0, named=True) if rows.height else dict.fromkeys(totals.columns)


def ratio(part: str, whole: str) -> pl.Expr:
    """Divide two columns as floats, null where the divisor is zero."""
    divisor = pl.col(whole).cast(pl.Float64)
    return pl.when(divisor != 0).then(pl.col(part).cast(pl.Float64) / divisor)


def task_ends() -> tuple[pl.Expr, pl.Expr]:
    """Return low and high of the GPU energy per task: those of the line, over its tasks."""
    tasks = ratio("gpu_energy_j", "energy_j_per_task")
    low, high = (
        (pl.col(f"energy_{end}_j") / tasks).alias(f"{end}_j_per_task") for end in ("low", "high")
    )
    return low, high


def scaled(name: str, divisor: int) -> pl.Expr:
    """Express a column in a larger unit.

    The divisor is a column too, since a division by a constant is turned into a product with its
    rounded inverse: 1.8 MJ would be 0.49999999999999994 kWh.
    """
    return pl.col(name).cast(pl.Float64) / pl.repeat(float(divisor), pl.len())


def overall_grade(frame: pl.DataFrame, energy: str) -> str | None:
    """Return the worst grade that carries a material share of the energy, None without rows."""
    if frame.is_empty():
        return None
    weights = dict.fromkeys(GRADES, 0.0)
    for grade, value in frame.select("evidence_grade", energy).rows():
        if grade in weights and value is not None:
            weights[grade] += float(value)
    total = math.fsum(weights.values())
    material = [
        g for g, value in weights.items() if total and value >= MATERIAL_ENERGY_FRAC * total
    ]
    return material[-1] if material else "U"


def spread_text(frame: pl.DataFrame, name: str) -> str | None:
    """Return the smallest and largest of a column as text, one number where they agree."""
    values = sorted(set(frame.get_column(name).drop_nulls().to_list()))
    if not values:
        return None
    ends = [f"{float(value):.4g}" for value in (values[0], values[-1])]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} – {ends[1]}"


def words(frame: pl.DataFrame, name: str) -> str:
    """Return the distinct known words of a column, in order, joined by commas."""
    return ", ".join(sorted(set(frame.get_column(name).drop_nulls().to_list())))


def figure_title(subject: str, shown: pl.DataFrame, mart: pl.DataFrame) -> str:
    """Return a figure's title, which says how many lines it shows where it leaves some out."""
    return f"{subject}, the {shown.height} largest" if shown.height < mart.height else subject


def line_labels(mart: pl.DataFrame) -> tuple[str, ...]:
    """Return one label per line of a mart: the model and the class."""
    labels = tuple(
        f"{show(model, 'text', 'unmapped')} · {show(query_class, 'text')}"
        for model, query_class in mart.select("model_id", "query_class").rows()
    )
    return told_apart(labels, mart.get_column("provider").to_list())


def told_apart(labels: Sequence[str], providers: Sequence[str | None]) -> tuple[str, ...]:
    """Return labels with their provider where one stands more than once: two hosts of a model."""
    return tuple(
        f"{label} at {show(provider, 'text')}" if labels.count(label) > 1 else label
        for label, provider in zip(labels, providers, strict=True)
    )
