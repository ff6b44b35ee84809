"""What agents take: energy and cost of their tasks, what caching saves, when compacting pays."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import agent_contexts
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_KEYS = ("provider", "model_id")
_ORDER = {"uncached": 0, "as_cached": 1, "fully_cached": 2}
STATE_WORDS = {"uncached": "no cache", "as_cached": "as logged", "fully_cached": "fully cached"}
_STEPS = Column(
    "request_count", "Steps", "count", meaning="All requests of agentic tasks, failed ones too."
)
_ENERGY_PER_TASK = Column(
    "energy_j_per_task", "GPU energy per task", "j", "J", "Of all steps of a task."
)
_COST_PER_TASK = Column(
    "list_cost_usd_per_task",
    "List cost per task",
    "usd_small",
    "USD",
    meaning="Tokens of all steps at list price.",
    unknown="unpriced",
)
_SHARES = (
    Column("prefill_frac", "Prefill", "frac", meaning="Share of the GPU energy for reading input."),
    Column("kv_cache_frac", "KV cache", "frac", meaning="Share for reading the context anew."),
    Column("next_token_frac", "Next token", "frac", meaning="Share for passes through weights."),
)
_MODEL_COLUMNS = (
    c.MODEL,
    c.PROVIDER,
    c.TASKS,
    _STEPS,
    _ENERGY_PER_TASK,
    c.TASK_LOW,
    c.TASK_HIGH,
    *_SHARES,
    _COST_PER_TASK,
    Column(
        "cached_saved_kwh",
        "Saved by caching",
        "kwh",
        "kWh",
        "Electricity, against no cache at all.",
    ),
    Column("left_kwh", "Left to save", "kwh", "kWh", "Electricity, were each task fully cached."),
    Column("cached_saved_usd", "Saved by caching", "usd", "USD", "At list, against no cache."),
    Column(
        "left_usd",
        "Left to save, cost",
        "usd",
        "USD",
        "At list; below zero where writing every new token would cost more than it saves.",
    ),
    Column(
        "unread_cache_write_tokens",
        "Written, never read",
        "tokens",
        meaning="Cache writes that no later step of the task reads back.",
    ),
    Column("unread_cache_write_usd", "Paid for it", "usd", "USD", "At list, above plain input."),
    c.BATCH,
    c.GRADE,
)
_STATE_COLUMNS = (
    c.MODEL,
    c.PROVIDER,
    Column("state", "Cache", "text", meaning="No cache, as logged, or all but new tokens cached."),
    Column("cache_read_tokens", "Read from cache", "tokens", meaning="Input found in the cache."),
    _ENERGY_PER_TASK,
    c.TASK_LOW,
    c.TASK_HIGH,
    *_SHARES,
    c.FACILITY,
    _COST_PER_TASK,
    Column("list_cost_usd", "List cost", "usd", "USD", "Of all steps.", unknown="unpriced"),
    Column(
        "hosting_cost_usd",
        "Of the GPU bill",
        "usd",
        "USD",
        meaning="Part of the GPU bill of own servers; a cache does not move it.",
        unknown="",
    ),
    Column("saved_facility_energy_kwh", "Saves", "kwh", "kWh", "Against the state above it."),
    Column("saved_facility_energy_low_kwh", "Saves, low", "kwh", "kWh", "5 % of the draws."),
    Column("saved_facility_energy_p50_kwh", "Saves, middle", "kwh", "kWh", "50 % of the draws."),
    Column("saved_facility_energy_high_kwh", "Saves, high", "kwh", "kWh", "95 % of the draws."),
    Column(
        "saving_probability_frac", "Probability", "frac", meaning="That it saves any energy at all."
    ),
    Column("noise", "Verdict", "text", meaning="Within noise: below the assumed probability."),
    Column("saved_list_cost_usd", "Saves, cost", "usd", "USD", "At list, against the state above."),
    Column("assumption", "Assumes", "text", meaning="What the state rests on."),
    Column("reason", "Not enough", "text", meaning="Why nothing is said.", unknown=""),
    c.BATCH,
    c.GRADE,
    Column("method_version", "Method", "text", meaning="Version of the law."),
)


def section(agentic: pl.DataFrame, compaction: pl.DataFrame, limits: pl.DataFrame) -> Section:
    """Return what the agents of one month took.

    Args:
        agentic: mart_agentic of the month.
        compaction: mart_compaction of the month.
        limits: mart_agent_limits of the month.
    """
    models = _models(agentic)
    return Section(
        name="agents",
        title="Agents and caching",
        sheet="Agents",
        question="What does an agentic task take, what does its cache save, when to compact?",
        statements=_statements(models, agentic, compaction) if models.height else (),
        tables=(
            _model_table(models),
            agent_contexts.compaction_table(compaction),
            agent_contexts.limit_table(limits),
            _state_table(agentic),
        )
        if models.height
        else (),
        empty_reason=""
        if models.height
        else "No agentic task: logs of agents with task_id and cache_read_tokens would fill this, "
        "or an attribution that gives their keys the class agentic.",
    )


def _models(agentic: pl.DataFrame) -> pl.DataFrame:
    """Return one row a model: as logged, with what caching saved and has left to save."""
    full = agentic.filter(pl.col("cache_state") == "fully_cached").select(
        *_KEYS,
        pl.col("saved_facility_energy_kwh").alias("left_kwh"),
        pl.col("saved_list_cost_usd").alias("left_usd"),
    )
    logged = agentic.filter(pl.col("cache_state") == "as_cached").with_columns(
        pl.col("saved_facility_energy_kwh").alias("cached_saved_kwh"),
        pl.col("saved_list_cost_usd").alias("cached_saved_usd"),
        *r.task_ends(),
    )
    joined = logged.join(full, on=_KEYS, how="left", nulls_equal=True)
    return r.sorted_by(joined, "gpu_energy_j", *_KEYS)


def _model_table(models: pl.DataFrame) -> Table:
    return Table(
        "agents",
        "Agentic tasks as logged",
        _MODEL_COLUMNS,
        r.table_rows(models, _MODEL_COLUMNS),
        note="Largest energy first. A task with a step of class agentic counts with all its steps. "
        "Caching removes prefill; the KV share stays.",
    )


def _state_table(agentic: pl.DataFrame) -> Table:
    shown = agentic.with_columns(
        pl.col("cache_state").replace_strict(STATE_WORDS, default=None).alias("state"),
        pl.col("cache_state").replace_strict(_ORDER, default=3).alias("state_order"),
        pl.when(pl.col("is_within_noise"))
        .then(pl.lit("within noise"))
        .when(pl.col("saving_probability_frac").is_not_null())
        .then(pl.lit("saves"))
        .otherwise(pl.lit(""))
        .alias("noise"),
        *r.task_ends(),
    ).sort([*_KEYS, "state_order"], nulls_last=True)
    return Table(
        "agents_by_cache",
        "The same without a cache, as logged and fully cached",
        _STATE_COLUMNS,
        r.table_rows(shown, _STATE_COLUMNS),
        note="Each line saves on the one above it. No cache is one that nobody pays to write.",
        sheet="Agents_by_cache",
    )


def _statements(
    models: pl.DataFrame, agentic: pl.DataFrame, compaction: pl.DataFrame
) -> tuple[str, ...]:
    top = models.row(0, named=True)
    name = show(top["model_id"], "text", "unmapped")
    found = []
    if top["energy_j_per_task"] is not None:
        found.append(
            f"A task of {name} takes {show(top['energy_j_per_task'], 'j')} J of GPU energy "
            f"(prefill {show(top['prefill_frac'], 'frac')}, KV cache "
            f"{show(top['kv_cache_frac'], 'frac')}, next token "
            f"{show(top['next_token_frac'], 'frac')}; batch {show(top['batch'], 'number')}, grade "
            f"{show(top['evidence_grade'], 'text')})."
        )
    saved, left = (r.known_sum(models, column) for column in ("cached_saved_kwh", "left_kwh"))
    usd, left_usd = (r.known_sum(models, column) for column in ("cached_saved_usd", "left_usd"))
    if saved is not None:
        money = f" and {show(usd, 'usd')} USD at list price" if usd is not None else ""
        found.append(f"Caching as logged saves {show(saved, 'kwh')} kWh{money}.")
    if left is not None:
        money = f" and {show(left_usd, 'usd')} USD at list price" if left_usd is not None else ""
        found.append(f"Fully cached tasks would save {show(left, 'kwh')} kWh{money} more.")
    unread = r.known_sum(models, "unread_cache_write_tokens")
    if unread:
        paid = r.known_sum(models, "unread_cache_write_usd")
        money = f"; above plain input they cost {show(paid, 'usd')} USD" if paid is not None else ""
        found.append(f"{show(unread, 'tokens')} tokens were cached and never read back{money}.")
    unsure = agentic.filter(pl.col("saved_facility_energy_kwh") > 0, pl.col("is_within_noise"))
    if unsure.height:
        found.append(f"{unsure.height} of these savings are within noise.")
    paying = compaction.filter(pl.col("model_id").eq_missing(pl.lit(top["model_id"])))
    if paying.height and (steps := paying.row(0, named=True))["paying_cached_energy_steps"]:
        found.append(
            f"Compacting the median context of {name} "
            f"({show(steps['median_context_tokens'], 'number')} tokens) pays in energy after "
            f"{show(steps['paying_cached_energy_steps'], 'number')} further steps with a cache, "
            f"{show(steps['paying_uncached_energy_steps'], 'number')} without; by the end of a "
            f"task that is half done: {show(steps['energy_verdict'], 'text', 'unknown')}."
        )
    return tuple(found)
