"""What one task of each class costs with each model, in dollars, joules and carbon."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Bars, Column, Section, Table, Value
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_TASK_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    c.TASKS,
    c.COST,
    Column(
        "cost_usd_per_task",
        "Cost per task",
        "usd_small",
        "USD",
        meaning="Cost of the line over its tasks; failed tries stay in the cost.",
        unknown="unpriced",
    ),
    Column(
        "cost_usd_per_solved_task",
        "Cost per solved task",
        "usd_small",
        "USD",
        meaning="Cost of the line over its solved tasks; unknown where no outcome is logged.",
    ),
    Column(
        "energy_j_per_task",
        "GPU energy per task",
        "j",
        "J",
        meaning="Energy of the GPU boards over the tasks, bias of the law corrected.",
        unknown="unmeasured",
    ),
    Column(
        "energy_j_per_solved_task",
        "GPU energy per solved task",
        "j",
        "J",
        meaning="Energy of the GPU boards over the solved tasks.",
    ),
    Column(
        "carbon_gco2e_per_task",
        "Carbon per task",
        "gco2e",
        "g CO₂e",
        meaning="Carbon of the facility's electricity over the tasks.",
        unknown="unmeasured",
    ),
    c.BATCH,
    c.GRADE,
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
)
_USE_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("hosting_kind", "Hosting", "text", meaning="api, self_hosted or one_user."),
    c.REQUESTS,
    Column(
        "failed_request_count",
        "Failed requests",
        "count",
        meaning="Requests that ended in an error; what they used stays in the sums.",
    ),
    c.SOLVED,
    Column(
        "unknown_outcome_task_count",
        "Tasks of unknown outcome",
        "count",
        meaning="Tasks the log does not mark as solved or not.",
    ),
    Column("uncached_input_tokens", "Uncached input", "tokens", "tokens", "Input tokens computed."),
    Column("cache_read_tokens", "Cache reads", "tokens", "tokens", "Input tokens from the cache."),
    Column("cache_write_tokens", "Cache writes", "tokens", "tokens", "Input tokens stored in it."),
    Column("cached_frac", "Cached share", "frac", meaning="Cache reads over all input tokens."),
    Column("output_tokens", "Output", "tokens", "tokens", "Output tokens, reasoning included."),
    Column("reasoning_tokens", "Reasoning", "tokens", "tokens", "Output tokens spent thinking."),
    c.COST,
    Column("cost_source", "Cost source", "text", meaning="Which of the costs the cost is."),
    c.LIST_COST,
    c.CONTRACTED_COST,
    c.EFFECTIVE_COST,
    c.BILLED_COST,
    c.HOSTING_COST,
    c.HOSTING_ENERGY_COST,
    c.ENERGY_COST,
    c.UNPRICED,
    c.NO_GPU_BILL,
    c.UNMEASURED,
)
_TASK_SUMS = ("cost_usd", "facility_energy_kwh")
_USE_SUMS = (
    "request_count",
    "failed_request_count",
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "list_cost_usd",
    "contracted_cost_usd",
    "effective_cost_usd",
    "billed_cost_usd",
    "hosting_cost_usd",
    "hosting_energy_cost_usd",
    "energy_cost_usd",
    "unpriced_request_count",
    "no_gpu_bill_request_count",
    "unmeasured_request_count",
)
_INPUT_TOKENS = (
    pl.col("uncached_input_tokens").fill_null(0)
    + pl.col("cache_read_tokens")
    + pl.col("cache_write_tokens").fill_null(0)
)
_HAS_TOKENS = _INPUT_TOKENS.fill_null(0) + pl.col("output_tokens").fill_null(0) > 0


def section(mart: pl.DataFrame, totals: pl.DataFrame) -> Section:
    """Return cost per task from one month of mart_cost_per_task and of mart_month_total."""
    ordered = r.sorted_by(mart, "cost_usd", "provider", "model_id", "query_class")
    is_empty = ordered.is_empty()
    known = r.not_additive(totals)
    return Section(
        name="cost_per_task",
        title="Cost per task",
        sheet="Cost_per_task",
        question="What does one task of each class cost with each model?",
        statements=_statements(ordered),
        tables=() if is_empty else (_task_table(ordered, known), _use_table(ordered, known)),
        figures=_figures(ordered),
        empty_reason="No accepted request falls in this month." if is_empty else "",
    )


def _task_table(mart: pl.DataFrame, known: dict[str, Value]) -> Table:
    return Table(
        "cost_per_task",
        "Cost, energy and carbon of one task, by model and class",
        _TASK_COLUMNS,
        r.table_rows(mart, _TASK_COLUMNS),
        r.total_row(mart, _TASK_COLUMNS, _TASK_SUMS, known),
        "Most expensive line first. Failed tries stay in the sums; only tasks divide. A task of "
        "several lines counts once in the total. Money and energy stand side by side and are not "
        "added.",
    )


def _use_table(mart: pl.DataFrame, known: dict[str, Value]) -> Table:
    counted = mart.with_columns(_INPUT_TOKENS.alias("input_tokens")).with_columns(
        r.ratio("cache_read_tokens", "input_tokens").alias("cached_frac"),
    )
    return Table(
        "usage_and_cost",
        "Requests, tokens and costs behind each line",
        _USE_COLUMNS,
        r.table_rows(counted, _USE_COLUMNS),
        r.total_row(counted, _USE_COLUMNS, _USE_SUMS, known),
        f"Unpriced requests: {r.count_sum(mart, 'unpriced_request_count'):,}; "
        f"unmeasured: {r.count_sum(mart, 'unmeasured_request_count'):,}.",
        sheet="Usage",
    )


def _statements(mart: pl.DataFrame) -> tuple[str, ...]:
    sentences = []
    for query_class in sorted(set(mart.get_column("query_class").drop_nulls().to_list())):
        cells = mart.filter(
            pl.col("query_class") == query_class,
            pl.col("cost_usd_per_task").is_not_null(),
            _HAS_TOKENS,  # refused requests cost nothing and are no cheap way to do a task
        )
        if cells.height > 1:
            sentences.append(_spread(query_class, cells))
    return tuple(sentences)


def _spread(query_class: str, cells: pl.DataFrame) -> str:
    by_price = cells.sort("cost_usd_per_task", "model_id", "provider", nulls_last=True)
    ends = (by_price.row(0, named=True), by_price.row(-1, named=True))
    low, high = (
        f"{show(row['cost_usd_per_task'], 'usd_small')} USD "
        f"({show(row['model_id'], 'text', c.MODEL.unknown)} at {show(row['provider'], 'text')})"
        for row in ends
    )
    return f"{show(query_class, 'text')}: from {low} to {high} a task."


def _figures(mart: pl.DataFrame) -> tuple[Bars, ...]:
    priced = mart.filter(pl.col("cost_usd") > 0).head(r.BARS_SHOWN)
    if priced.is_empty():
        return ()
    labels = r.line_labels(priced)
    costs = tuple(float(value) for value in priced.get_column("cost_usd").to_list())
    return (
        Bars(
            name="cost_by_cell",
            title=r.figure_title("Cost by model and class", priced, mart),
            unit="USD",
            source="Source: mart_cost_per_task, cost_usd",
            alt=(
                f"Bar chart of cost by model and class. The longest bar is {labels[0]} with "
                f"{show(priced['cost_usd'][0], 'usd')} USD."
            ),
            labels=labels,
            kind="usd",
            series=(("Cost", costs),),
        ),
    )
