"""What was assumed: every value that came from no log, with its range and its source."""

import polars as pl

from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_COLUMNS = (
    Column("assumption", "Assumption", "text", meaning="Name of the assumption."),
    Column("value", "Value", "number", meaning="Value in use."),
    Column("low", "Low", "number", meaning="Low end of its range."),
    Column("high", "High", "number", meaning="High end of its range."),
    Column("unit", "Unit", "text", meaning="Unit of the value."),
    Column("meaning", "Meaning", "text", meaning="What the value stands for."),
    Column("source", "Source", "text", meaning="Where the value comes from."),
    Column("source_date", "Source date", "text", meaning="Date of the source."),
)
_ASSUMED_COLUMNS = (
    Column("source_file", "File", "text", meaning="Input that left the fact out."),
    Column("assumption", "Filled in", "text", meaning="Fact that was filled in."),
    Column("value", "Value", "text", meaning="What the user stated."),
)
_MULTIPLIER_COLUMNS = (
    c.PROVIDER,
    c.MODEL,
    Column("region", "Region", "text", meaning="Region in which requests of this model ran."),
    Column("multiplier_ratio", "Times", "number", meaning="What the list price is multiplied by."),
    Column("source", "Source", "text", meaning="Who says so, and how sure that is."),
    Column("source_date", "Source date", "text", meaning="Date of the source."),
)


def section(assumptions: pl.DataFrame, assumed: pl.DataFrame, multipliers: pl.DataFrame) -> Section:
    """Return the assumptions of the run.

    Args:
        assumptions: Reference rows: value, range, unit, meaning and source.
        assumed: What a user filled in for an input that did not say it.
        multipliers: Price multipliers of the regions in which requests ran.
    """
    tables = []
    if assumed.height:
        tables.append(_assumed_table(assumed))
    if assumptions.height:
        ordered = assumptions.sort("assumption")
        caption = "Assumptions behind the figures"
        rows = r.table_rows(ordered, _COLUMNS)
        tables.append(Table("assumptions", caption, _COLUMNS, rows))
    if multipliers.height:
        caption = "List prices of regions, as multiples of the price without one"
        rows = r.table_rows(multipliers, _MULTIPLIER_COLUMNS)
        tables.append(Table("region_multipliers", caption, _MULTIPLIER_COLUMNS, rows))
    return Section(
        name="assumptions",
        title="Assumptions",
        sheet="Assumptions",
        question="Which values come from no log, how far may they be off, and who says so?",
        statements=(_statement(assumed),),
        tables=tuple(tables),
        empty_reason="" if tables else "No assumption is in use.",
    )


def _assumed_table(assumed: pl.DataFrame) -> Table:
    as_text = assumed.with_columns(pl.col("value").cast(pl.String))
    ordered = as_text.sort("source_file", "assumption", "value", nulls_last=True)
    caption = "Stated by the user for inputs that do not say it"
    return Table("assumed", caption, _ASSUMED_COLUMNS, r.table_rows(ordered, _ASSUMED_COLUMNS))


def _statement(assumed: pl.DataFrame) -> str:
    if assumed.is_empty():
        return "Nothing was filled in by hand."
    files = assumed.get_column("source_file").n_unique()
    return f"Facts filled in by hand: {assumed.height:,}; inputs concerned: {files:,}."
