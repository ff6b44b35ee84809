"""Which model for which work: the month's requests of each class on every model compared."""

from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Bars, Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

ROWS_SHOWN = 30

_KEYS = ("query_class", "provider", "model_id")
_TASK_COST = Column(
    "cost_usd_per_task",
    "Cost per task",
    "usd_small",
    "USD",
    meaning="By contract where one holds, else at the list price of the month's end, another "
    "provider's cache starting empty; on own servers their part of the GPU bill.",
    unknown="unknown",
)
_TASK_ENERGY = Column(
    "energy_j_per_task",
    "GPU energy per task",
    "j",
    "J",
    meaning="Law times bias factor at the batch of the line.",
    unknown="unknown",
)
_USED = Column("served", "Served", "count", meaning="Requests of the class that it served itself.")
_FRONT = Column(
    "front",
    "Front",
    "text",
    meaning="Yes: no other model compared costs and takes as little or less.",
)
_REASON = Column("reason", "Why not", "text", meaning="Why a figure is missing.", unknown="")
_BEST_COLUMNS = (
    c.QUERY_CLASS,
    c.REQUESTS,
    Column("compared_count", "Models compared", "count", meaning="With cost and energy."),
    Column("cheapest", "Cheapest", "text", meaning="Least cost of the class.", unknown="none"),
    Column("cheapest_usd_per_task", "Its cost per task", "usd_small", "USD"),
    Column("leanest", "Least energy", "text", meaning="Priced or not.", unknown="none"),
    Column("leanest_j_per_task", "Its GPU energy per task", "j", "J"),
    c.TASK_LOW,
    c.TASK_HIGH,
    c.GRADE,
    c.BATCH,
    Column("front_count", "On the front", "count", meaning="Models that no other one beats."),
)
_LEANEST = ("low_j_per_task", "high_j_per_task", "evidence_grade", "batch")
_SHORT_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    _USED,
    _FRONT,
    _TASK_COST,
    _TASK_ENERGY,
    c.TASK_LOW,
    c.TASK_HIGH,
    c.GRADE,
    c.BATCH,
    Column(
        "verbosity_ratio",
        "Answer length",
        "ratio",
        meaning="Output tokens of the class on this model over those that were logged.",
    ),
)
_ALL_COLUMNS = (
    *_SHORT_COLUMNS,
    Column("verbosity_source", "Length from", "text", meaning="The log, or assumed alike."),
    Column("batch_source", "Batch from", "text", meaning="The log, told, or assumed."),
    Column("cost_source", "Cost by", "text", meaning="contracted, list, or hosting: a GPU bill."),
    Column(
        "cost_low_usd_per_task",
        "Cost per task, low",
        "usd_small",
        "USD",
        meaning="Low end (5 %): on own servers a joule's price and others' joules are unsure.",
    ),
    Column(
        "cost_high_usd_per_task",
        "Cost per task, high",
        "usd_small",
        "USD",
        meaning="High end (95 %); prices of tokens are exact.",
    ),
    c.LIST_COST,
    Column(
        "hosting_cost_usd",
        "Of the GPU bill",
        "usd",
        "USD",
        meaning="Own servers: what its requests paid, and for others' what a joule of them paid.",
        unknown="no GPU bill",
    ),
    Column(
        "cached_list_cost_usd",
        "List cost, cached as now",
        "usd",
        "USD",
        meaning="Were as much input cached at this provider as now.",
        unknown="no list price",
    ),
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    Column("carbon_kgco2e", "Carbon", "kgco2e", "kg CO₂e", meaning="Electricity × grid factor."),
    Column(
        "cost_usd_per_solved_task",
        "Cost per solved task",
        "usd_small",
        "USD",
        meaning="By the share of its own tasks in the class that it solved, where known.",
    ),
    c.COEFFICIENTS,
    _REASON,
)
_SAVING_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column(
        "equal_request_count",
        "Requests",
        "count",
        meaning="Requests of the class that models of the set served; all others stay.",
    ),
    Column("cost_saving_usd", "Cost saved", "usd", "USD", meaning="Against them as they are."),
    Column("cost_saving_source", "Priced by", "text", meaning="contracted: a contract; or list."),
    Column(
        "cost_saving_positive_frac",
        "Draws that cost less",
        "frac",
        meaning="Share of the joint draws in which it costs less; prices are exact.",
    ),
    Column("facility_energy_saving_p50_kwh", "Electricity saved", "kwh", "kWh", "Middle draw."),
    Column("facility_energy_saving_low_kwh", "Low", "kwh", "kWh", "5 % of the joint draws."),
    Column("facility_energy_saving_high_kwh", "High", "kwh", "kWh", "95 % of the joint draws."),
    Column(
        "energy_saving_positive_frac",
        "Draws that save",
        "frac",
        meaning="Share of the joint draws in which it takes less electricity.",
    ),
    Column("energy_saving_verdict", "Verdict", "text", meaning="Needs 90 % of the draws."),
    Column(
        "equal_quality_source",
        "Equal by",
        "text",
        meaning="Who says that the models of the set answer the class equally well.",
        unknown="equal_quality.csv",
    ),
    c.GRADE,
    c.BATCH,
    _REASON,
)


def section(mart: pl.DataFrame) -> Section:
    """Return the models of one month beside each other.

    Args:
        mart: mart_model_comparison of the month.
    """
    compared = _prepared(mart)
    short = compared.filter((pl.col("own_request_count") > 0) | pl.col("is_on_front"))
    saving = compared.filter(
        pl.col("cost_saving_usd").is_not_null()
        | pl.col("facility_energy_saving_p50_kwh").is_not_null()
    )
    tables = (_best_table(compared), _short_table(short), _all_table(compared))
    return Section(
        name="model_comparison",
        title="Models",
        sheet="Models",
        question="What would each class of work have cost and taken on another model?",
        statements=_statements(mart, saving),
        tables=(*tables[:1], *_saving_tables(saving), *tables[1:]) if mart.height else (),
        figures=_figures(short),
        empty_reason=""
        if mart.height
        else "No request had work to do on a model of the catalog: logs with tokens would fill "
        "this.",
    )


def _prepared(mart: pl.DataFrame) -> pl.DataFrame:
    return mart.with_columns(
        pl.col("own_request_count").alias("served"),
        pl.when("is_on_front").then(pl.lit("yes")).otherwise(pl.lit("")).alias("front"),
        *r.task_ends(),
        r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e"),
    ).sort(["query_class", "cost_usd", "provider", "model_id"], nulls_last=True)


def _best_table(compared: pl.DataFrame) -> Table:
    rows = []
    for (name,), group in compared.sort("query_class").group_by("query_class", maintain_order=True):
        cheapest = _first(group, "cost_usd")
        leanest = _first(group, "gpu_energy_j")
        known = group.filter(
            pl.col("cost_usd").is_not_null() & pl.col("gpu_energy_j").is_not_null()
        )
        rows.append(
            (
                *(name, group.get_column("request_count")[0], known.height),
                *(_label(cheapest), cheapest.get("cost_usd_per_task")),
                *(_label(leanest), leanest.get("energy_j_per_task")),
                *(leanest.get(name) for name in _LEANEST),
                group.get_column("is_on_front").sum(),
            )
        )
    return Table(
        "model_choice",
        "Cheapest and leanest model of each class, whatever its answers are worth",
        _BEST_COLUMNS,
        tuple(rows),
        note="Models are those of the month, and of each maker and size the one that most "
        "providers sell. Quality is not compared: equal_quality.csv of the overlay folder says "
        "which models answer a class equally well, and only then a saving is stated.",
    )


def _first(group: pl.DataFrame, name: str) -> dict[str, Any]:
    known = group.filter(pl.col(name).is_not_null()).sort([name, "provider", "model_id"])
    return known.row(0, named=True) if known.height else {}


def _label(row: dict[str, Any]) -> str | None:
    return f"{row['model_id']} at {row['provider']}" if row else None


def _short_table(short: pl.DataFrame) -> Table:
    shown = r.sorted_by(short, "own_request_count", *_KEYS).head(ROWS_SHOWN)
    return Table(
        "model_front",
        "All requests of the class on the models that served it, and on the front",
        _SHORT_COLUMNS,
        r.table_rows(shown, _SHORT_COLUMNS),
        note=f"{shown.height} of {short.height} lines, most requests served first. Energy keeps "
        "what is cached now. Long prompts are priced by the mean prompt of the class. Own "
        "servers cost what their GPU bill gives, as long as the work fits the hours billed. "
        "Where the log holds too few answers of a model, it is taken to answer at the same length; "
        "all tokenizers are taken to be alike.",
    )


def _all_table(compared: pl.DataFrame) -> Table:
    return Table(
        "model_comparison",
        "Every model compared, cheapest first",
        _ALL_COLUMNS,
        r.table_rows(compared, _ALL_COLUMNS),
        note="List cost is that of all requests of the class. A model replayed on what it served "
        "alone gives the month's own figures.",
        sheet="Models_compared",
    )


def _saving_tables(saving: pl.DataFrame) -> tuple[Table, ...]:
    if saving.is_empty():
        return ()
    shown = r.sorted_by(saving, "cost_saving_usd", *_KEYS).head(ROWS_SHOWN)
    return (
        Table(
            "model_savings",
            "What moving requests between models told to be of equal quality would save",
            _SAVING_COLUMNS,
            r.table_rows(shown, _SAVING_COLUMNS),
            note="Assumes equal quality as told in equal_quality.csv, answer lengths and "
            "tokenizers as in the comparison, an empty cache at another provider for the cost and "
            "the present one for the electricity. Minus: it would cost or take more.",
        ),
    )


def _statements(mart: pl.DataFrame, saving: pl.DataFrame) -> tuple[str, ...]:
    if mart.is_empty():
        return ()
    classes = mart.get_column("query_class").n_unique()
    most = max(mart.group_by("query_class").len().get_column("len").to_list())
    found = [f"Each of {classes} classes of work is replayed on up to {most} models."]
    if saving.is_empty():
        found.append(
            "No saving by the choice of a model is stated: nobody said which models answer a class "
            "equally well."
        )
    else:
        best = r.sorted_by(saving, "cost_saving_usd", *_KEYS).row(0, named=True)
        if (best["cost_saving_usd"] or 0) > 0:
            source = best["equal_quality_source"]
            told_by = f" ({show(source, 'text')})" if source else ""
            found.append(
                f"Largest saving among models told to be equal{told_by}: {best['query_class']} on "
                f"{_label(best)} would have cost {show(best['cost_saving_usd'], 'usd')} USD less "
                f"at list price; for the electricity: {best['energy_saving_verdict'] or 'unknown'}."
                if best["cost_saving_source"] != "contracted"
                else f"Largest saving among models told to be equal{told_by}: "
                f"{best['query_class']} on {_label(best)} would have cost "
                f"{show(best['cost_saving_usd'], 'usd')} USD less by the company's contracts; for "
                f"the electricity: {best['energy_saving_verdict'] or 'unknown'}."
            )
    return tuple(found)


def _figures(short: pl.DataFrame) -> tuple[Bars, ...]:
    """Draw the class that takes most: energy per task, with the cost per task in the label."""
    known = short.filter(pl.col("energy_j_per_task").is_not_null())
    if known.is_empty():
        return ()
    largest = r.sorted_by(known, "gpu_energy_j", *_KEYS).get_column("query_class")[0]
    lines = known.filter(pl.col("query_class").eq_missing(pl.lit(largest)))
    shown = lines.sort(["energy_j_per_task", "provider", "model_id"]).head(r.BARS_SHOWN)
    names = r.told_apart(
        shown.get_column("model_id").to_list(), shown.get_column("provider").to_list()
    )
    labels = tuple(
        f"{_price(price)} · {name}"
        for price, name in zip(shown.get_column("cost_usd_per_task"), names, strict=True)
    )
    values = tuple(shown.get_column("energy_j_per_task").to_list())
    name = show(largest, "text")
    return (
        Bars(
            name="models_energy",
            title=f"Energy and cost per task of {name}, least energy first",
            unit="J",
            source="Source: mart_model_comparison; USD per task before the name",
            alt=f"Bar chart of GPU energy per task of {name}. Least: {labels[0]} with "
            f"{show(values[0], 'j')} J.",
            labels=labels,
            series=(("GPU energy per task", values),),
            lows=tuple(shown.get_column("low_j_per_task").to_list()),
            highs=tuple(shown.get_column("high_j_per_task").to_list()),
            kind="j",
        ),
    )


def _price(usd: float | None) -> str:
    return "no price" if usd is None else f"{show(usd, 'usd_small')} USD"
