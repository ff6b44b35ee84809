"""What reasoning takes, and which budget of it gives most accuracy per joule."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_KEYS = ("provider", "model_id", "query_class")
_SUPPLY = (
    "quality.csv in the overlay folder (model, query_class, budget, accuracy_frac, chance_frac, "
    "output_tokens, source, source_date; value_usd of a right answer where it has one) would add "
    "what accuracy takes at each budget."
)
_SHARE_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("output_tokens", "Output", "tokens", meaning="All tokens written, reasoning included."),
    Column("reasoning_frac", "Reasoning", "frac", meaning="Share of the output spent thinking."),
    Column(
        "reasoning_kwh",
        "Electricity for it",
        "kwh",
        "kWh",
        meaning="That share of the KV-cache and next-token energy, as if all output took alike.",
    ),
    c.BATCH,
    c.GRADE,
)
_BUDGET_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("budget", "Budget", "id", meaning="As quality.csv calls it; shorter answers first."),
    Column("mean_output_tokens", "Output", "number", "tokens", "Mean tokens of an answer."),
    Column("accuracy_frac", "Accuracy", "frac", meaning="Share of right answers."),
    Column("gpu_energy_j", "GPU energy", "j", "J", "Of one answer at this budget."),
    Column("energy_low_j", "Low", "j", "J", "Low end (5 %) of it."),
    Column("energy_high_j", "High", "j", "J", "High end (95 %) of it."),
    Column("accuracy_frac_per_j", "Accuracy per J", "number", "1/J", "Accuracy over energy."),
    Column("above_chance_frac_per_j", "Above chance per J", "number", "1/J", "Chance taken off."),
    Column("energy_j_per_correct_answer", "Per right answer", "j", "J", "Energy over accuracy."),
    Column(
        "cost_usd_per_correct_answer",
        "Cost of it",
        "usd_small",
        "USD",
        "At list prices; on own servers what its joules would have paid of the GPU bill.",
    ),
    Column(
        "energy_j_per_extra_correct_answer",
        "Per right answer more",
        "j",
        "J",
        "Energy that the shorter budget does not take, over the accuracy that it does not reach.",
    ),
    Column("cost_usd_per_extra_correct_answer", "Cost of one more", "usd_small", "USD", "So."),
    Column("net_value_usd", "Net value", "usd_small", "USD", "Accuracy × value_usd, less cost."),
    Column(
        "saving_j_per_correct_answer",
        "Saves a right answer",
        "j",
        "J",
        "Against the largest budget, if the accuracy of the file holds.",
    ),
    Column(
        "saving_positive_frac",
        "Draws that save",
        "frac",
        meaning="Share of the joint draws in which it saves; below 90% it is within noise.",
    ),
    Column("most_net", "Most net value", "text", meaning="The budget of largest net value."),
    Column("verdict", "Verdict", "text", meaning="Best by accuracy per J; by it above chance."),
    Column("growth", "Growth", "text", meaning="Where energy grows faster than length."),
    Column("source", "Source", "text", meaning="Who measured the accuracy."),
    c.BATCH,
    c.GRADE,
)


def section(budgets: pl.DataFrame, costs: pl.DataFrame, energy: pl.DataFrame) -> Section:
    """Return what reasoning took in a month, and what its budgets are worth.

    Args:
        budgets: mart_reasoning_budget.
        costs: mart_cost_per_task of the month.
        energy: mart_energy_per_class of the month.
    """
    shares = _shares(costs, energy)
    tables = (
        *((_budget_table(budgets),) if budgets.height else ()),
        *((_share_table(shares),) if shares.height else ()),
    )
    return Section(
        name="reasoning",
        title="Reasoning budgets",
        sheet="Reasoning",
        question="What does reasoning take, and which budget gives most accuracy per joule?",
        statements=(*_best(budgets), *_said(shares, has_budgets=budgets.height > 0)),
        tables=tables,
        empty_reason=""
        if tables
        else f"No log of this month tells reasoning tokens (reasoning_tokens), and {_SUPPLY}",
    )


def _shares(costs: pl.DataFrame, energy: pl.DataFrame) -> pl.DataFrame:
    terms = energy.select(*_KEYS, "kv_cache_frac", "next_token_frac")
    written = costs.filter(pl.col("reasoning_tokens") > 0).join(
        terms, on=_KEYS, how="left", nulls_equal=True
    )
    with_shares = written.with_columns(
        r.ratio("reasoning_tokens", "output_tokens").alias("reasoning_frac")
    ).with_columns(
        (
            pl.col("facility_energy_kwh").cast(pl.Float64)
            * (
                pl.col("kv_cache_frac").cast(pl.Float64)
                + pl.col("next_token_frac").cast(pl.Float64)
            )
            * pl.col("reasoning_frac")
        ).alias("reasoning_kwh")
    )
    return r.sorted_by(with_shares, "reasoning_kwh", *_KEYS)


def _share_table(shares: pl.DataFrame) -> Table:
    return Table(
        "reasoning",
        "Energy by reasoning share",
        _SHARE_COLUMNS,
        r.table_rows(shares, _SHARE_COLUMNS),
        note="Largest energy first; lines without reasoning tokens in the log are left out.",
    )


def _budget_table(budgets: pl.DataFrame) -> Table:
    shown = budgets.with_columns(
        pl.when(pl.col("reason").is_not_null())
        .then(pl.col("reason"))
        .when(pl.col("is_best") & pl.col("is_best_above_chance"))
        .then(pl.lit("best"))
        .when("is_best")
        .then(pl.lit("best, chance included"))
        .when("is_best_above_chance")
        .then(pl.lit("best above chance"))
        .otherwise(pl.lit(""))
        .alias("verdict"),
        pl.when("is_energy_faster_than_length")
        .then(pl.lit("energy faster than length"))
        .otherwise(pl.lit(""))
        .alias("growth"),
        pl.when("is_best_net_value").then(pl.lit("yes")).otherwise(pl.lit("")).alias("most_net"),
    ).sort([*_KEYS, "mean_output_tokens", "budget"], nulls_last=True)
    return Table(
        "reasoning_budgets",
        "What accuracy takes at each budget",
        _BUDGET_COLUMNS,
        r.table_rows(shown, _BUDGET_COLUMNS),
        note="At rates, batch and list prices of the model in the logs. Budgets of one model err "
        "alike, so their ranks are surer than their joules.",
        sheet="Reasoning_budgets",
    )


def _best(budgets: pl.DataFrame) -> tuple[str, ...]:
    best = budgets.filter(pl.col("is_best_above_chance")).sort(_KEYS, nulls_last=True)
    found = []
    for row in best.head(3).rows(named=True):
        edge = (
            "; it is the first or last told, so one beyond it may be better still"
            if row["is_edge"]
            else ""
        )
        found.append(
            f"{show(row['model_id'], 'text')}, {show(row['query_class'], 'text')}: most accuracy "
            f"above chance per joule at budget {show(row['budget'], 'text')} "
            f"({show(row['energy_j_per_correct_answer'], 'j')} J a right answer), "
            f"{show(_lead_frac(budgets, row), 'frac', 'an unknown share')} ahead of the "
            f"next{edge}."
        )
    unbilled = budgets.filter(pl.col("cost_reason") == "no GPU bill").height
    if unbilled:
        found.append(
            f"{unbilled} budgets of own servers have no cost: the month has no GPU bill of theirs "
            "(hosting_costs)."
        )
    if budgets.height and best.is_empty():
        found.append("Not enough is told for a best budget; the table says what is missing.")
    return tuple(found)


def _lead_frac(budgets: pl.DataFrame, best: Mapping[str, Any]) -> float | None:
    """Return how far the best budget of a line lies above its next one, None where it is alone."""
    others = budgets.filter(
        pl.all_horizontal(pl.col(key).eq_missing(best[key]) for key in _KEYS),
        pl.col("budget") != best["budget"],
        pl.col("above_chance_frac_per_j") > 0,
    ).get_column("above_chance_frac_per_j")
    return best["above_chance_frac_per_j"] / others.max() - 1 if others.len() else None


def _said(shares: pl.DataFrame, *, has_budgets: bool) -> tuple[str, ...]:
    found = []
    if shares.height:
        thought, written = (
            r.known_sum(shares, name) for name in ("reasoning_tokens", "output_tokens")
        )
        energy = r.known_sum(shares, "reasoning_kwh")
        known = f" and took about {show(energy, 'kwh')} kWh" if energy is not None else ""
        found.append(
            f"Where logs tell it, reasoning is {show(r.share(thought, written), 'frac')} of the "
            f"output{known}."
        )
        if not has_budgets:
            found.append(f"What it was worth is not known: {_SUPPLY}")
    return tuple(found)
