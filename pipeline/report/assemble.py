"""Put the sections of one month together, in the order a reader wants them."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from pipeline.report.calculator import calculator
from pipeline.report.section import Report, Section, Table
from pipeline.report.sections import (
    about,
    agents,
    assumptions,
    bridge,
    carbon,
    checks,
    comparison,
    concurrency,
    cost_per_task,
    coverage,
    decisions,
    energy,
    findings,
    intake,
    law_validation,
    levers,
    measured_power,
    method,
    model_comparison,
    money,
    outlook,
    power_policy,
    price_reversals,
    reasoning,
    reconciliation,
    restatement,
    summary,
    teams,
    trend,
    waste,
)
from pipeline.report.sections.about import InputFile, ReportFacts
from pipeline.report.sections.reading import in_month, month_before

_MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
__all__ = ["InputFile", "ReportFacts", "build_report"]


def build_report(frames: Mapping[str, pl.DataFrame], month: str, facts: ReportFacts) -> Report:
    """Return the report of one month.

    Args:
        frames: The marts with all their months, under their table names, and the frames
            `assumptions`, `assumed`, `region_multipliers` and `checks`.
        month: The month, as YYYY-MM.
        facts: What the report says of the run that made it.
    """
    costs = in_month(frames["mart_cost_per_task"], month)
    costs_before = in_month(frames["mart_cost_per_task"], month_before(month))
    totals = in_month(frames["mart_month_total"], month)
    totals_before = in_month(frames["mart_month_total"], month_before(month))
    sections: tuple[Section, ...] = (
        summary.section(
            costs,
            costs_before,
            totals,
            totals_before,
            frames["checks"],
            in_month(frames["mart_cost_bridge"], month),
        ),
        bridge.section(in_month(frames["mart_month_bridge"], month), facts.issued_before),
        findings.section(in_month(frames["mart_findings"], month)),
        cost_per_task.section(costs, totals),
        money.section(
            *(
                in_month(frames[f"mart_{name}"], month)
                for name in ("cost_bridge", "cost_lines", "converted_bills", "unpriced_usage")
            )
        ),
        energy.section(in_month(frames["mart_energy_per_class"], month), totals),
        carbon.section(costs, frames.get("grid_factors")),
        concurrency.section(
            in_month(frames["mart_concurrency"], month),
            in_month(frames["mart_implied_batch"], month),
        ),
        model_comparison.section(in_month(frames["mart_model_comparison"], month)),
        price_reversals.section(in_month(frames["mart_price_reversals"], month)),
        decisions.section(
            in_month(frames["mart_sweet_spot"], month),
            in_month(frames["mart_items_per_call"], month),
        ),
        waste.section(in_month(frames["mart_waste"], month)),
        agents.section(
            in_month(frames["mart_agentic"], month),
            in_month(frames["mart_compaction"], month),
            in_month(frames["mart_agent_limits"], month),
        ),
        reasoning.section(
            frames["mart_reasoning_budget"],
            costs,
            in_month(frames["mart_energy_per_class"], month),
        ),
        teams.section(
            in_month(frames["mart_team_chargeback"], month),
            in_month(frames["mart_project_chargeback"], month),
            costs,
            totals,
        ),
        outlook.section(
            in_month(frames["mart_forecast"], month),
            in_month(frames["mart_budget"], month),
            in_month(frames["mart_anomalies"], month),
        ),
        reconciliation.section(
            in_month(frames["mart_reconciliation"], month),
            in_month(frames["mart_reconciliation_days"], month),
            in_month(frames["mart_other_charges"], month),
        ),
        trend.section(frames["mart_cost_per_task"], frames["mart_month_total"], month),
        coverage.section(
            in_month(frames["mart_coverage"], month),
            in_month(frames["mart_unresolved_models"], month),
        ),
        intake.section(frames["mart_intake"], frames["unknown_columns"]),
        measured_power.section(
            frames["mart_token_linearity"],
            in_month(frames["mart_measured_hours"], month),
            frames,
        ),
        power_policy.section(in_month(frames["mart_power_policy"], month), frames),
        law_validation.section(frames["mart_law_validation"], frames["law_points"]),
        comparison.section(in_month(frames["mart_method_comparison"], month), frames["anchors"]),
        method.section(in_month(frames["mart_energy_per_class"], month), frames),
        levers.section(
            in_month(frames["mart_architecture_levers"], month), frames["mart_attention_families"]
        ),
        assumptions.section(frames["assumptions"], frames["assumed"], frames["region_multipliers"]),
        checks.section(frames["checks"]),
    )
    if facts.bridge:
        sections = (*sections[:1], restatement.section(facts.issue, facts.bridge), *sections[1:])
    dated = tuple(_with_method(each, facts.method_version) for each in sections)
    return Report(
        title=f"Joulebook {month_name(month)}",
        month=month,
        is_generated_sample=facts.is_generated_sample,
        method_version=facts.method_version,
        run_id=facts.run_id,
        subtitle="What our LLM use cost in dollars, joules and carbon",
        sections=(*dated, about.section(month, facts, dated)),
        calculator=calculator(facts.calculator, in_month(frames["mart_energy_per_class"], month)),
    )


def _with_method(section: Section, method_version: str) -> Section:
    """Return a section whose figures and estimates name the method, so that a copy still does."""
    figures = (
        replace(figure, source=f"{figure.source}; method {method_version}")
        for figure in section.figures
    )
    tables = (
        replace(table, note=f"{table.note} Method {method_version}.".lstrip())
        if _is_undated(table)
        else table
        for table in section.tables
    )
    return replace(section, figures=tuple(figures), tables=tuple(tables))


def _is_undated(table: Table) -> bool:
    names = {column.name for column in table.columns}
    return "evidence_grade" in names and "method_version" not in names


def month_name(month: str) -> str:
    """Return a month written YYYY-MM in words."""
    return f"{_MONTH_NAMES[int(month[5:7]) - 1]} {month[:4]}"
