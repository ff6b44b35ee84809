"""Put the sections of one month together, in the order a reader wants them."""

from collections.abc import Mapping

import polars as pl

from pipeline.report.section import Report
from pipeline.report.sections import (
    about,
    assumptions,
    carbon,
    checks,
    cost_per_task,
    coverage,
    energy,
    intake,
    reconciliation,
    summary,
    teams,
    trend,
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
            `assumptions`, `assumed` and `checks`.
        month: The month, as YYYY-MM.
        facts: What the report says of the run that made it.
    """
    costs = in_month(frames["mart_cost_per_task"], month)
    costs_before = in_month(frames["mart_cost_per_task"], month_before(month))
    sections = (
        summary.section(costs, costs_before, frames["checks"]),
        cost_per_task.section(costs),
        energy.section(in_month(frames["mart_energy_per_class"], month)),
        carbon.section(costs, frames.get("grid_factors")),
        teams.section(in_month(frames["mart_team_chargeback"], month), costs),
        reconciliation.section(
            in_month(frames["mart_reconciliation"], month),
            in_month(frames["mart_other_charges"], month),
        ),
        trend.section(frames["mart_cost_per_task"], month),
        coverage.section(in_month(frames["mart_coverage"], month)),
        intake.section(frames["mart_intake"]),
        assumptions.section(frames["assumptions"], frames["assumed"]),
        checks.section(frames["checks"]),
    )
    return Report(
        title=f"Joulebook {month_name(month)}",
        month=month,
        is_generated_sample=facts.is_generated_sample,
        method_version=facts.method_version,
        run_id=facts.run_id,
        subtitle="What our LLM use cost in dollars, joules and carbon",
        sections=(*sections, about.section(month, facts, sections)),
    )


def month_name(month: str) -> str:
    """Return a month written YYYY-MM in words."""
    return f"{_MONTH_NAMES[int(month[5:7]) - 1]} {month[:4]}"
