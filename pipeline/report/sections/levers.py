"""What one lever of an architecture does to the energy of a request, by the same law."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_LEVERS = ("reference", "KV heads", "depth and width", "precision")
_COLUMNS = (
    Column("variant", "Variant", "text", meaning="Its name in architecture_variants.csv."),
    Column("lever", "Lever", "text", meaning="What alone differs from the reference."),
    Column("meaning", "What it is", "text", meaning="The variant in words."),
    Column("batch", "Batch asked", "number", meaning="Requests to serve together."),
    Column("served_batch", "Served", "number", meaning="As many of them as the cache holds."),
    Column("batch_max", "Batch cap", "number", meaning="Batch at which the KV cache is full."),
    Column("body_params", "Weights", "count", meaning="Without embedding and head."),
    Column("kv_bytes_per_position", "Cache a token", "number", "bytes", "Keys and values."),
    Column("energy_j_per_request", "GPU energy per request", "j", "J", "By the law alone."),
    Column("energy_low_j_per_request", "Low", "j", "J", "Low end (5 %) of it."),
    Column("energy_high_j_per_request", "High", "j", "J", "High end (95 %) of it."),
    Column("energy_j_per_output_token", "Per output token", "j", "J", "The same."),
    Column("saving_frac", "Saves", "frac", meaning="Against the reference at the batch asked."),
    Column("saving_low_frac", "Low", "frac", meaning="Low end (5 %) of the saving."),
    Column("saving_p50_frac", "Middle", "frac", meaning="Median of the joint draws."),
    Column("saving_high_frac", "High", "frac", meaning="High end (95 %) of the saving."),
    Column(
        "saving_positive_frac",
        "Sure",
        "frac",
        meaning="Share of the joint draws in which it saves; below 90% it is within noise.",
    ),
    c.GRADE,
    c.COEFFICIENTS,
    Column("reason", "Why none", "text", meaning="Why there is no energy.", unknown=""),
)


def section(levers: pl.DataFrame) -> Section:
    """Return what levers of an architecture do at the lengths of one month.

    Args:
        levers: mart_architecture_levers of the month.
    """
    return Section(
        name="levers",
        title="Architecture levers",
        sheet="Architecture",
        question="What would another attention, shape or precision of a model change?",
        statements=(_lengths(levers),) if levers.height else (),
        tables=(_table(levers),) if levers.height else (),
        empty_reason=""
        if levers.height
        else "No class has an energy: logs of models in the catalog would fill this.",
    )


def _table(levers: pl.DataFrame) -> Table:
    order = pl.col("lever").replace_strict(
        {lever: place for place, lever in enumerate(_LEVERS)}, default=len(_LEVERS)
    )
    shown = levers.sort("batch", order, "step_count", "variant", nulls_last=True)
    return Table(
        "architecture_levers",
        "One lever at a time, against the shape of Llama-3.1-8B on one H100",
        _COLUMNS,
        r.table_rows(shown, _COLUMNS),
        note="By the law without bias factors, with coefficients fitted to two dense 16-bit "
        "models: carried to shapes and precisions that nobody measured, so grade C. Quality of "
        "answers is not asked here. At a batch that its cache does not hold a variant is served at "
        "the largest that fits.",
    )


def _lengths(levers: pl.DataFrame) -> str:
    query_class, n, k, m = levers.select(
        "query_class", "mean_input_tokens", "mean_cached_tokens", "mean_output_tokens"
    ).row(0)
    return (
        f"At the mean request of the class with most GPU energy, {show(query_class, 'text')}: "
        f"{show(n, 'number')} input tokens, {show(k, 'number')} of them cached, "
        f"{show(m, 'number')} output tokens."
    )
