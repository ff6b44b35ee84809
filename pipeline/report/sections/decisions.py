"""What the law says about lengths: where an output token takes least, and what lies elsewhere."""

import polars as pl

from pipeline.report.numbers import show, show_range
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

ROWS_SHOWN = 30
SURE_FRAC = 0.9  # of the worlds, below which a difference is within noise

_KEYS = ("provider", "model_id", "query_class")
_SURE = Column(
    "positive_frac",
    "Sure",
    "frac",
    meaning="Share of the joint draws in which it is more than nothing; below 90% it is noise.",
)
_VERDICT = Column("verdict", "Reading", "text", meaning="What the numbers allow to say.")
_SPOT_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("energy_j_per_task", "GPU energy per task", "j", "J", "What a shorter answer lowers."),
    c.TASK_LOW,
    c.TASK_HIGH,
    c.BATCH,
    c.GRADE,
    Column("mean_input_tokens", "Mean input", "number", "tokens", "Cached tokens included."),
    Column("mean_output_tokens", "Mean output", "number", "tokens", "Reasoning included."),
    Column("output_p10_tokens", "Output, 10 %", "number", "tokens", "Of single requests."),
    Column("output_p50_tokens", "Output, median", "number", "tokens", "Of single requests."),
    Column("output_p90_tokens", "Output, 90 %", "number", "tokens", "Of single requests."),
    Column(
        "optimum_output_tokens",
        "Least per token at",
        "number",
        "tokens",
        "Answer length of least energy per output token at this input and batch.",
    ),
    Column("energy_j_per_output_token_at_mean", "Per token at the mean", "j", "J", "GPU energy."),
    Column("energy_j_per_output_token_at_optimum", "At the least", "j", "J", "GPU energy."),
    Column(
        "penalty_frac",
        "Above the least",
        "frac",
        meaning="What an output token takes at the mean length more than at the least.",
    ),
    Column("penalty_low_frac", "Low", "frac", meaning="Low end (5 %) of it."),
    Column("penalty_p50_frac", "Middle", "frac", meaning="Median of its joint draws."),
    Column("penalty_high_frac", "High", "frac", meaning="High end (95 %) of it."),
    _SURE,
    _VERDICT,
)
_ITEM_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("request_count", "Requests", "count", meaning="Each taken to hold one item."),
    c.BATCH,
    Column("evidence_grade", "Grade", "grade", meaning="C at best: what is shared is assumed."),
    Column("shared_input_frac", "Shared input", "frac", meaning="Assumed share of the input."),
    Column("shared_input_tokens", "Shared", "number", "tokens", "Or what was cached, if more."),
    Column("item_input_tokens", "An item adds", "number", "tokens", "Its own input."),
    Column("item_output_tokens", "and writes", "number", "tokens", "Its own output."),
    Column("best_items", "Items of least energy", "count", meaning="Per call, in whole items."),
    Column("energy_j_per_single_item", "Alone in a call", "j", "J", "GPU energy of an item."),
    Column("energy_j_per_item", "At the best", "j", "J", "GPU energy of an item."),
    Column("saving_j_per_item", "Saves", "j", "J", "GPU energy of an item."),
    Column("saving_low_j_per_item", "Low", "j", "J", "Low end (5 %) of the saving."),
    Column("saving_p50_j_per_item", "Middle", "j", "J", "Median of the joint draws."),
    Column("saving_high_j_per_item", "High", "j", "J", "High end (95 %) of the saving."),
    _SURE,
    Column("saving_usd_per_item", "Saves in money", "usd_small", "USD", "At list prices."),
    Column("saving_low_usd_per_item", "Money, low", "usd_small", "USD", "Low end (5 %)."),
    Column("saving_high_usd_per_item", "Money, high", "usd_small", "USD", "High end (95 %)."),
    Column("cost_items", "Cost falls up to", "count", "items", "Per call."),
    Column(
        "cost_items_saving_usd_per_item",
        "Money saved there",
        "usd_small",
        "USD",
        "Of an item, in a call of so many.",
    ),
    Column("cost_items_limit", "because of", "text", meaning="The limit that comes first."),
    _VERDICT,
)


def section(spots: pl.DataFrame, items: pl.DataFrame) -> Section:
    """Return what the law says about the lengths of one month.

    Args:
        spots: mart_sweet_spot of the month.
        items: mart_items_per_call of the month.
    """
    told = r.sorted_by(spots.filter(pl.col("reason").is_null()), "gpu_energy_j", *_KEYS)
    shared = r.sorted_by(items.filter(pl.col("reason").is_null()), "gpu_energy_j", *_KEYS)
    return Section(
        name="decisions",
        title="Lengths",
        sheet="Lengths",
        question="How long are answers, how many items does a call hold, and what takes least?",
        statements=(
            *(_spot_statements(told, spots.height) if told.height else ()),
            *(_item_statements(shared) if shared.height else ()),
        ),
        tables=(
            *((_spot_table(told),) if told.height else ()),
            *((_item_table(shared),) if shared.height else ()),
        ),
        empty_reason=""
        if told.height
        else "No line has two requests with output and an energy: logs of single requests of "
        "models in the catalog would fill this.",
    )


def _spot_table(told: pl.DataFrame) -> Table:
    shown = told.head(ROWS_SHOWN).with_columns(
        *r.task_ends(),
        pl.col("penalty_positive_frac").alias("positive_frac"),
        pl.when(pl.col("penalty_positive_frac") < SURE_FRAC)
        .then(pl.lit("within noise"))
        .when(pl.col("mean_against_optimum") == "longer")
        .then(pl.lit("longer than the least: shorter takes less, per token and per task"))
        .otherwise(pl.lit("shorter than the least: no reason to write more, a task takes less"))
        .alias("verdict"),
    )
    left_out = told.height - shown.height
    return Table(
        "sweet_spot",
        "Where the answers lie, and where an output token takes least energy",
        _SPOT_COLUMNS,
        r.table_rows(shown, _SPOT_COLUMNS),
        note="Largest energy first"
        + (f"; {left_out} more lines in mart_sweet_spot" if left_out else "")
        + ". At the batch in force and the line's mean input and cached share. A shorter answer "
        "takes less energy on either side of the least. Rests on mart_sweet_spot.",
    )


def _item_table(shared: pl.DataFrame) -> Table:
    shown = shared.head(ROWS_SHOWN).with_columns(
        pl.col("saving_positive_frac").alias("positive_frac"),
        pl.when(pl.col("best_items") == 1)
        .then(pl.lit("one item a call takes least"))
        .when(pl.col("saving_positive_frac") < SURE_FRAC)
        .then(pl.lit("within noise"))
        .otherwise(pl.lit("several items a call take less"))
        .alias("verdict"),
    )
    left_out = shared.height - shown.height
    return Table(
        "items_per_call",
        "Items per call of least energy, where calls share a part of their input",
        _ITEM_COLUMNS,
        r.table_rows(shown, _ITEM_COLUMNS),
        note="Largest energy first"
        + (f"; {left_out} more lines in mart_items_per_call" if left_out else "")
        + ". Logs do not say what calls share: the share is the assumption shared_input_frac_ of "
        "the class, which the settings may fix, and three draws of sixteen take each of its ends. "
        "Whether answers stay as good with several items in a call is not asked here.",
    )


def _item_statements(shared: pl.DataFrame) -> tuple[str, ...]:
    sure = shared.filter(pl.col("best_items") > 1, pl.col("saving_positive_frac") >= SURE_FRAC)
    alone = shared.filter(pl.col("best_items") == 1)
    noise = shared.height - sure.height - alone.height
    return (
        f"Of {shared.height} lines that share a part of their input, several items a call take "
        f"less energy on {sure.height}, one item takes least on {alone.height}, and on {noise} the "
        "saving is within noise.",
    )


def _spot_statements(told: pl.DataFrame, lines: int) -> tuple[str, ...]:
    longer = told.filter(
        pl.col("mean_against_optimum") == "longer", pl.col("penalty_positive_frac") >= SURE_FRAC
    )
    energy = r.share(r.known_sum(longer, "gpu_energy_j") or 0, r.known_sum(told, "gpu_energy_j"))
    first = told.head(1)
    label = r.line_labels(first)[0]
    mean, best, penalty, low, high = first.select(
        "mean_output_tokens",
        "optimum_output_tokens",
        "penalty_frac",
        "penalty_low_frac",
        "penalty_high_frac",
    ).row(0)
    return (
        f"Answers are longer than the length of least energy per token on {longer.height} of "
        f"{told.height} lines, with {show(energy, 'frac')} of their GPU energy: there shorter "
        "answers take less per token and per task. On the others they take less per task alone.",
        f"Largest: {label}, {show(mean, 'number')} output tokens a request where the least is at "
        f"{show(best, 'number')}; a token takes {show(penalty, 'frac')} "
        f"({show_range(low, high, 'frac')}) more than there.",
        *(
            (f"Not enough to say on {lines - told.height} of {lines} lines.",)
            if lines > told.height
            else ()
        ),
    )
