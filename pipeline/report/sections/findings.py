"""What matters most this month: the three largest savings that are more than noise."""

from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Finding, KeyFigure, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

MOST_FINDINGS = 3
ROWS_SHOWN = 30

_PROPOSALS = {
    "not_fully_cached": "Let every agent step of {model} find its context in the cache",
    "unread_cache_writes": "Write no cache of {model} that no step reads back",
    "failed_requests": "Avoid the requests to {model} that failed",
    "more_items_per_call": "Put more items of {query_class} into a call of {model}",
    "equal_model": "Serve {query_class} with {model}, held to be of equal quality",
    "few_served_together": "Serve at least twice as many requests of {model} together",
}
_SECTIONS = {
    "mart_agentic": "agents",
    "mart_waste": "waste",
    "mart_items_per_call": "decisions",
    "mart_model_comparison": "model_comparison",
    "mart_concurrency": "concurrency",
}
_UNPRINTED = (  # the proposal names the model
    c.MODEL,
    Column("source_mart", "Rows behind it", "id", meaning="The mart that it comes from."),
)
_COLUMNS = (
    Column("proposal", "Proposal", "text", meaning="What would save; proposals overlap."),
    Column("finding_rank", "Rank", "count", meaning="By money saved, then by electricity."),
    c.PROVIDER,
    Column("query_class", "Class", "text", meaning="Kind of work; empty: all.", unknown="all"),
    Column("request_count", "Requests", "count", meaning="Rows of the month behind it."),
    Column("cost_saving_low_usd", "Saves, low", "usd", "USD", "5 %; exact money has no range."),
    Column("cost_saving_p50_usd", "Saves, cost", "usd", "USD", "At list price; 50 %."),
    Column("cost_saving_high_usd", "Saves, high", "usd", "USD", "95 %; exact money has no range."),
    Column(
        "cost_saving_probability_frac", "Probability, cost", "frac", meaning="Of saving any money."
    ),
    Column("facility_energy_saving_low_kwh", "Saves, low", "kwh", "kWh", "5 % of the joint draws."),
    Column("facility_energy_saving_p50_kwh", "Saves, middle", "kwh", "kWh", "Middle draw."),
    Column(
        "facility_energy_saving_high_kwh", "Saves, high", "kwh", "kWh", "95 % of the joint draws."
    ),
    Column(
        "energy_saving_probability_frac",
        "Probability, electricity",
        "frac",
        meaning="Of saving any energy.",
    ),
    Column("carbon_saving_kgco2e", "Saves, carbon", "kgco2e", "kg CO₂e", "Middle electricity."),
    Column(
        "verdict",
        "Verdict",
        "text",
        meaning="Within noise: below the assumed probability. Money decides where it is known.",
    ),
    Column("assumption", "Assumes", "text", meaning="What the saving rests on."),
    c.BATCH,
    c.GRADE,
    *_UNPRINTED,
)


def section(findings: pl.DataFrame) -> Section:
    """Return the findings of one month.

    Args:
        findings: mart_findings of the month.
    """
    ranked = findings.filter(pl.col("finding_rank").is_not_null()).sort("finding_rank")
    return Section(
        name="findings",
        title="What matters most",
        sheet="Findings",
        question="Which changes would save most, and how sure is that?",
        statements=_statements(findings, ranked) if findings.height else (),
        findings=tuple(_finding(row) for row in ranked.head(MOST_FINDINGS).iter_rows(named=True)),
        tables=(_table(findings),) if findings.height else (),
        empty_reason=""
        if findings.height
        else "Nothing of the month can be weighed: agents' tasks with cached tokens, status of "
        "requests, latencies of own servers or models told to be of equal quality would fill this.",
    )


def _statements(findings: pl.DataFrame, ranked: pl.DataFrame) -> tuple[str, ...]:
    shown, others = min(ranked.height, MOST_FINDINGS), findings.height - ranked.height
    first = (
        f"{ranked.height} of {findings.height} proposals save with the assumed probability; "
        f"the {shown} largest stand first, by money."
        if shown
        else f"None of {findings.height} proposals saves with the assumed probability."
    )
    told = (first, "Proposals overlap: their savings do not add up." if findings.height > 1 else "")
    unsure = f"{others} cost more or are within noise; the table has them." if others else ""
    return tuple(filter(None, (*told, unsure)))


def _finding(row: dict[str, Any]) -> Finding:
    requests = show(row["request_count"], "count", "an unknown number of")
    return Finding(
        title=_proposal(row),
        savings=tuple(each for each in (_money(row), _energy(row)) if each is not None),
        basis=f"Grade {row['evidence_grade']}, batch {show(row['batch'], 'number', 'unknown')}; "
        f"{requests} requests behind it. Assumes: {show(row['assumption'], 'text')}.",
        section_name=_SECTIONS[row["source_mart"]],
    )


def _money(row: dict[str, Any]) -> KeyFigure | None:
    low, middle, high = (row[f"cost_saving_{end}_usd"] for end in ("low", "p50", "high"))
    if middle is None:
        return None
    chance = show(row["cost_saving_probability_frac"], "frac")
    if low == high:
        return KeyFigure("Money", middle, "usd", "USD", note="exact at these prices and lengths")
    return KeyFigure("Money", middle, "usd", "USD", low, high, f"probability {chance}")


def _energy(row: dict[str, Any]) -> KeyFigure | None:
    low, middle, high = (row[f"facility_energy_saving_{end}_kwh"] for end in ("low", "p50", "high"))
    if middle is None:
        return None
    chance = show(row["energy_saving_probability_frac"], "frac", "unknown")
    return KeyFigure("Electricity", middle, "kwh", "kWh", low, high, f"probability {chance}")


def _proposal(row: dict[str, Any]) -> str:
    return _PROPOSALS[row["finding_kind"]].format(
        model=show(row["model_id"], "text", c.MODEL.unknown),
        query_class=show(row["query_class"], "text"),
    )


def _table(findings: pl.DataFrame) -> Table:
    ordered = findings.with_columns(
        pl.Series(
            "proposal", [_proposal(row) for row in findings.iter_rows(named=True)], pl.String
        ),
        r.scaled("carbon_saving_p50_gco2e", r.GRAMS_PER_KG).alias("carbon_saving_kgco2e"),
        pl.when(pl.col("finding_rank").is_not_null())
        .then(pl.lit("saves"))
        .when(pl.col("cost_saving_p50_usd") < 0)
        .then(pl.lit("costs more"))
        .otherwise(pl.lit("within noise"))
        .alias("verdict"),
    ).sort(
        ["finding_rank", "facility_energy_saving_p50_kwh", "proposal", "provider"],
        descending=[False, True, False, False],
        nulls_last=True,
    )
    left_out = max(ordered.height - ROWS_SHOWN, 0)
    return Table(
        "findings",
        "Every proposal that the month lets us weigh",
        _COLUMNS,
        r.table_rows(ordered.head(ROWS_SHOWN), _COLUMNS),
        unprinted_count=len(_UNPRINTED),
        note="Largest money first, then electricity; within noise last"
        + (f"; {left_out} more lines in mart_findings" if left_out else "")
        + ". Cut-off answers, shorter answers and compaction are not weighed here: what they would "
        "save is not known.",
    )
