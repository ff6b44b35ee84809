"""Models that are cheaper per token and dearer per task, why, and where they would swap."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

ROWS_SHOWN = 30

_KEYS = ("query_class", "provider", "model_id", "other_provider", "other_model_id")
_WHY = {
    "list_price": ("List price", "Lower price of input and output."),
    "tier": ("Tier", "Service tiers and prices of long prompts."),
    "cache_price": ("Cache price", "Prices of reading from and writing to the cache."),
    "cache_share": ("Cached share", "Shares of the input in and out of the cache."),
    "input_length": ("Input length", "Input tokens a request."),
    "verbosity": ("Answers", "Output tokens a request without reasoning."),
    "reasoning": ("Reasoning", "Reasoning tokens a request, as far as the log tells them."),
    "failures": ("Failures", "Failed requests a task."),
    "requests": ("Requests", "Other requests a task."),
}
_COLUMNS = (
    Column("model_id", "Cheaper per token", "text", meaning="Lower price, higher cost per task."),
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("other_model_id", "Cheaper per task", "text", meaning="The model it is held against."),
    Column("other_provider", "Its provider", "text", meaning="Who served the other model."),
    Column(
        "by_list",
        "By list prices",
        "text",
        meaning="Yes: input and output prices are both no higher; else only at the mix of tokens "
        "of the class.",
    ),
    Column("list_cost_usd_per_task", "List cost per task", "usd_small", "USD"),
    Column("other_list_cost_usd_per_task", "Of the other", "usd_small", "USD"),
    Column(
        "gap_usd_per_task", "Dearer by", "usd_small", "USD", "The sum of the parts that follow."
    ),
    *(
        Column(f"{name}_usd_per_task", head, "usd_small", "USD", f"{what} Part of the difference.")
        for name, (head, what) in _WHY.items()
    ),
    Column("cause", "Cause", "text", meaning="The largest part against the lower price."),
    Column("output_tokens_per_request", "Output per request", "number", "tokens"),
    Column(
        "threshold_output_tokens_per_request",
        "Even at",
        "number",
        "tokens",
        meaning="Output a request at which both would cost the same per task.",
        unknown="no length",
    ),
    Column("cache_read_frac", "Input from cache", "frac", meaning="Share of the input."),
    Column(
        "threshold_cache_read_frac",
        "Even at share",
        "frac",
        meaning="Cached share of the input at which both would cost the same per task.",
        unknown="no share",
    ),
)


def section(mart: pl.DataFrame) -> Section:
    """Return the price reversals of one month.

    Args:
        mart: mart_price_reversals of the month.
    """
    found = r.sorted_by(
        mart.filter(pl.col("is_reversal").cast(pl.Boolean)), "gap_usd_per_task", *_KEYS
    )
    judged = mart.filter(pl.col("reason").is_null()).height // 2  # each pair stands there twice
    return Section(
        name="price_reversals",
        title="Price reversals",
        sheet="Price_reversals",
        question="Which model is cheaper per token and yet dearer per task, and why?",
        statements=_statements(found, judged, mart.height // 2),
        tables=(_table(found),) if found.height else (),
        empty_reason="" if judged else _empty(mart),
    )


def _empty(mart: pl.DataFrame) -> str:
    few = "Each needs 30 requests in the class. " if mart.height else ""
    return (
        f"No two models with list prices share a class of work. {few}Logs in which several models "
        "serve one class would fill this."
    )


def _table(found: pl.DataFrame) -> Table:
    shown = found.with_columns(
        pl.when("is_cheaper_by_list").then(pl.lit("yes")).otherwise(pl.lit("")).alias("by_list")
    ).head(ROWS_SHOWN)
    return Table(
        "price_reversals",
        "Cheaper per token, dearer per task",
        _COLUMNS,
        r.table_rows(shown, _COLUMNS),
        note=f"{shown.height} of {found.height} pairs, largest difference first, all at list "
        "price. Requests of two models in a class are not the same ones: longer input may be "
        "harder work.",
    )


def _statements(found: pl.DataFrame, judged: int, pairs: int) -> tuple[str, ...]:
    if not judged:
        return ()
    said = [
        f"Of {pairs} pairs of models that served the same class, {judged} have enough requests; in "
        f"{found.height} of them the one that is cheaper per token is dearer per task."
    ]
    if found.height:
        row = found.row(0, named=True)
        said.append(
            f"Largest: {show(row['query_class'], 'text')} on {show(row['model_id'], 'text')} costs "
            f"{show(row['list_cost_usd_per_task'], 'usd_small')} USD per task, on "
            f"{show(row['other_model_id'], 'text')} "
            f"{show(row['other_list_cost_usd_per_task'], 'usd_small')} USD: "
            f"{show(row['cause'], 'text')}."
        )
    return tuple(said)
