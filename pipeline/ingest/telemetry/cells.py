"""Lines of a table as cells, and cells as numbers."""

import csv
import io
from collections.abc import Mapping

import polars as pl

SEPARATORS = (",", ";", "\t")
# How loggers say that they do not know; `[N/A]` and its like begin with a bracket.
_MISSING = ("", "-", "N/A", "n/a", "Not Supported", "Unknown Error")
_UNITS = " \t%WwMmHhZzCus°℃"
_MOST_W = 100_000  # above any board: a reading of another unit


def separator_of(head: str) -> str:
    """Return what separates the names of a head."""
    return max(SEPARATORS, key=head.count)


def names_of(head: str, separator: str) -> list[str]:
    """Return the names of a head, without blanks around them."""
    try:
        names = next(csv.reader(io.StringIO(head), delimiter=separator))
    except csv.Error:  # a carriage return within, or a line far too long: no head of ours
        names = head.split(separator)
    return [name.strip() for name in names]


def with_cells(lines: pl.DataFrame, separator: str) -> pl.DataFrame:
    """Add `cells`: the fields of each line, as text with the blanks they have."""
    text = pl.col("text")
    if not lines["text"].str.contains('"', literal=True).any():
        return lines.with_columns(text.str.split(separator).alias("cells"))
    sign = "\\t" if separator == "\t" else separator
    field = f'{sign}(?:"(?:[^"]|"")*"|[^{sign}]*)'
    bare = pl.element().str.slice(1).str.strip_prefix('"').str.strip_suffix('"')
    return lines.with_columns(
        (pl.lit(separator) + text).str.extract_all(field).list.eval(bare).alias("cells")
    )


def cell(index: int | None) -> pl.Expr:
    """Return one cell as text; null where the column or the cell is not there or not known."""
    if index is None:
        return pl.lit(None, pl.String)
    text = pl.col("cells").list.get(index, null_on_oob=True).str.strip_chars()
    is_missing = text.is_in(_MISSING) | text.str.starts_with("[")
    return pl.when(~is_missing).then(text)


def number(text: pl.Expr) -> pl.Expr:
    """Return a cell as a number; a unit behind it is left out, a decimal comma is a point."""
    bare = text.str.strip_chars(_UNITS).str.replace(",", ".", literal=True)
    return bare.cast(pl.Float64, strict=False)


def problem_of(name: str, text: pl.Expr, value: pl.Expr, most: float = _MOST_W) -> pl.Expr:
    """Return why a cell that must be a number of at least 0 is none; null where it is one."""
    shown = text.str.slice(0, 20)
    return (
        pl.when(text.is_not_null() & (value.is_null() | ~value.is_finite()))
        .then(pl.format("{} is no number: {}", pl.lit(name), shown))
        .when(value < 0)
        .then(pl.format("{} is below 0: {}", pl.lit(name), shown))
        .when(value > most)
        .then(pl.format("{} is beyond belief: {}", pl.lit(name), shown))
    )


def readings(places: Mapping[str, int | None]) -> list[pl.Expr]:
    """Return each metric as a number, by the place of its cell; percents become fractions."""
    return [
        (number(cell(at)) / (100 if metric.endswith("_frac") else 1)).alias(metric)
        for metric, at in places.items()
    ]


def row_problem(count: int, places: Mapping[str, int | None]) -> pl.Expr:
    """Return why a row cannot be taken: torn, or with a power that is none; else null."""
    power = cell(places.get("power_w"))
    return pl.coalesce(misfit(count), problem_of("power", power, number(power)))


def misfit(count: int) -> pl.Expr:
    """Return what a row with another number of cells has; null where it has `count`."""
    size = pl.col("cells").list.len()
    return pl.when(size != count).then(
        pl.format("{} fields where the head has {}", size, pl.lit(count))
    )


def under_heads(lines: pl.DataFrame, is_head: pl.Expr) -> tuple[pl.DataFrame, list[str]]:
    """Return the lines that are no head, each with the `head` it stands under, and all heads.

    A log that goes on after a new start tells its head again, perhaps with other columns.
    """
    marked = lines.with_columns(is_head.alias("is_head")).with_columns(
        pl.when("is_head").then("text").forward_fill().alias("head")
    )
    heads: list[str] = marked.filter("is_head")["head"].unique(maintain_order=True).to_list()
    return marked.filter(~pl.col("is_head")).drop("is_head"), heads
