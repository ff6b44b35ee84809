"""What one lever of an architecture does to the energy of a request, by the same law."""

from typing import Any

import polars as pl

from pipeline.report.numbers import show, show_range
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

_FAMILIES = (
    Column("family", "Attention", "text", meaning="Kind of attention in the reference shape."),
    Column("input_tokens", "Input", "tokens", "tokens", "Tokens of input, none of them cached."),
    Column("batch", "Batch", "number", meaning="Requests served together."),
    Column("prefill_ratio", "Prefill", "ratio", meaning="Energy of prefill over that of GQA."),
    Column("energy_ratio", "Request", "ratio", meaning="Energy of a request with 1,000 output "
           "tokens over that of GQA."),
    Column("energy_low_ratio", "Low", "ratio", meaning="Low end (5 %) of that ratio."),
    Column("energy_high_ratio", "High", "ratio", meaning="High end (95 %) of that ratio."),
    Column("crossing_output_tokens", "Crosses at", "number", "output tokens", "Output length at "
           "which its request takes as much energy as that of GQA.", unknown="never"),
    Column("crossing_meaning", "What then", "text", meaning="Which of the two takes less, and "
           "from where on."),
    Column("crossing_batch", "Crosses at batch", "number", meaning="Batch at which both take as "
           "much, at 1,000 output tokens.", unknown="none"),
    Column("batch_max", "Batch cap", "number", meaning="Batch at which the KV cache is full."),
    c.GRADE,
    c.COEFFICIENTS,
)  # fmt: skip


def section(levers: pl.DataFrame, families: pl.DataFrame) -> Section:
    """Return what levers of an architecture do at the lengths of one month.

    Args:
        levers: mart_architecture_levers of the month.
        families: mart_attention_families.
    """
    return Section(
        name="levers",
        title="Architecture levers",
        sheet="Architecture",
        question="What would another attention, shape or precision of a model change?",
        statements=(_lengths(levers), *_family_statements(families)) if levers.height else (),
        tables=(_table(levers), _family_table(families)) if levers.height else (),
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


def _family_table(families: pl.DataFrame) -> Table:
    return Table(
        "attention_families",
        "Kinds of attention against GQA, on one H200",
        _FAMILIES,
        r.table_rows(families.sort("input_tokens", "batch", "family"), _FAMILIES),
        note="Llama-3.1-8B with another attention in every layer, by the law without bias factors: "
        "no such models are known to us, so grade C, and the ranges are wide because a kind of "
        "attention may err on its own. Arithmetic on a state is not counted, its bytes are. Where "
        "the cache of one of the two does not hold a batch there is no crossing to state.",
    )


def _family_statements(families: pl.DataFrame) -> tuple[str, ...]:
    """Return the largest saving and the largest excess of a request, among batches that fit."""
    fitting = families.filter(pl.col("batch") <= pl.col("batch_max")).sort(
        "energy_ratio", "family", "input_tokens", "batch"
    )
    held = fitting.filter(~pl.col("crossing_meaning").str.contains("does not hold"))
    if held.is_empty():
        return ()
    least, most = held.row(0, named=True), held.row(held.height - 1, named=True)
    return (
        "Newer kinds of attention read prompts dearly and write answers cheaply: whether a request "
        f"gains depends on its length and batch. {_family_words(least)}; {_family_words(most)} "
        "(1,000 output tokens, grade C).",
    )


def _family_words(row: dict[str, Any]) -> str:
    ends = show_range(row["energy_low_ratio"], row["energy_high_ratio"], "ratio")
    return (
        f"{show(row['family'], 'text')} takes {show(row['energy_ratio'], 'ratio')} times the "
        f"energy of GQA ({ends}) at "
        f"{show(row['input_tokens'], 'tokens')} input tokens and batch "
        f"{show(row['batch'], 'number')}"
    )
