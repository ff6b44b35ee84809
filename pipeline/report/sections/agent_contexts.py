"""How an agent's context grows: when compacting it pays, and how long it may become."""

import polars as pl

from pipeline.report.section import Column, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_KEYS = ("provider", "model_id")
_LOW_HIGH = "low and high: 5 % and 95 % of the joint draws"
_COMPACTION_COLUMNS = (
    c.MODEL,
    c.PROVIDER,
    Column("median_context_tokens", "Median context", "number", "tokens", "Input of a step."),
    Column("median_new_input_tokens", "New in a step", "number", "tokens", "What it adds."),
    Column("median_task_steps", "Steps of a task", "number", meaning="Median."),
    Column("paying_cached_energy_steps", "Energy, cached", "number", "steps", _LOW_HIGH),
    Column("paying_cached_energy_low_steps", "Low", "number", "steps", _LOW_HIGH),
    Column("paying_cached_energy_high_steps", "High", "number", "steps", _LOW_HIGH),
    Column("paying_uncached_energy_steps", "Energy, no cache", "number", "steps", _LOW_HIGH),
    Column("paying_cached_money_steps", "Money, cached", "number", "steps", "At list prices."),
    Column("paying_uncached_money_steps", "Money, no cache", "number", "steps", "At list prices."),
    Column(
        "energy_saving_probability_frac",
        "Pays in energy",
        "frac",
        meaning="Probability that it has paid when half of a median task is over, cached.",
    ),
    Column("energy_verdict", "Verdict", "text", meaning="Within noise below 90 %.", unknown=""),
    Column("cost_saving_probability_frac", "Pays in money", "frac", meaning="So, at list prices."),
    Column("cost_verdict", "Of money", "text", meaning="Within noise below 90 %.", unknown=""),
    Column("assumption", "Assumes", "text", meaning="What the state rests on."),
    Column("reason", "Not enough", "text", meaning="Why nothing is said.", unknown=""),
    c.BATCH,
    c.GRADE,
)
_LIMIT_COLUMNS = (
    c.MODEL,
    c.PROVIDER,
    Column("first_context_tokens", "First context", "number", "tokens", "Median of its tasks."),
    Column("long_context_tokens", "Long context", "number", "tokens", "95 % of steps are shorter."),
    Column("other_task_count", "Other tasks", "count", meaning="Tasks without an agentic step."),
    Column("other_energy_j_per_task", "Energy of one", "j", "J", "GPU energy of another task."),
    Column("other_energy_low_j_per_task", "Low", "j", "J", "Low end (5 %)."),
    Column("other_energy_high_j_per_task", "High", "j", "J", "High end (95 %)."),
    Column("other_list_cost_usd_per_task", "Its list cost", "usd_small", "USD", unknown="unpriced"),
    Column(
        "passing_other_energy_tokens",
        "Passes it in energy at",
        "number",
        "tokens",
        "Context at which an agentic task has taken as much; the first context where at once.",
    ),
    Column("passing_other_energy_low_tokens", "Low", "number", "tokens", "Low end (5 %)."),
    Column("passing_other_energy_high_tokens", "High", "number", "tokens", "High end (95 %)."),
    Column("passing_other_cost_tokens", "In money at", "number", "tokens", "So, at list prices."),
    Column(
        "passing_value_tokens",
        "Passes its value at",
        "number",
        "tokens",
        "Context at which it has cost what it is worth (agentic_task_value_usd).",
        unknown="value not told",
    ),
    Column("first_batch_max", "Requests held, first", "number", meaning="At the first context."),
    Column("long_batch_max", "Requests held, long", "number", meaning="At the long context."),
    Column("reason", "Not enough", "text", meaning="Why nothing is said.", unknown=""),
    c.BATCH,
    c.GRADE,
)


def compaction_table(compaction: pl.DataFrame) -> Table:
    """Return mart_compaction of the month as a table."""
    return Table(
        "compaction",
        "After how many further steps compacting pays",
        _COMPACTION_COLUMNS,
        r.table_rows(compaction.sort([*_KEYS], nulls_last=True), _COMPACTION_COLUMNS),
        note="At the median step. Over the steps of a task money grows with their square, cached "
        "or not; so does energy with a cache. Without one its attention grows with their cube. "
        "Low and high are 5 % and 95 % of the joint draws, in which the kept share is drawn too.",
    )


def limit_table(limits: pl.DataFrame) -> Table:
    """Return mart_agent_limits of the month as a table."""
    return Table(
        "agent_limits",
        "How long a context may grow, and how many the cache then holds",
        _LIMIT_COLUMNS,
        r.table_rows(limits.sort([*_KEYS], nulls_last=True), _LIMIT_COLUMNS),
        note="A task of median steps, cached: it passes another task of the model where it has "
        "taken as much in all. Errors of the law move both alike. Long contexts leave the cache "
        "room for fewer requests at once, so batch-mates are evicted. The value of a task is "
        "told in the settings: agentic_task_value_usd under [assumptions].",
    )
