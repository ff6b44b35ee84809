"""The small print of measured power: log, baselines, fits, budget, findings, others' claims."""

from collections.abc import Mapping

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Table
from pipeline.report.sections import reading as r

_EFFECTS = {
    "residual_power_w": "power left after a run, W",
    "order_number": "place in the order",
    "before_temperature_c": "temperature before the run, °C",
    "log_energy_before": "energy of the run before, ln J",
    "idle_before_s": "idle time before, s",
}
_TEXT = Column("text", "Text", "text", meaning="What was seen.")
_MODEL = Column("model", "Model", "text", meaning="Model as the runs name it.")
_LOG = (Column("line_number", "Line", "count", meaning="Number of the line."), _TEXT)
_FINDINGS = (
    Column("finding_of", "Of", "text", meaning="What the finding is about."),
    Column("kind", "Kind", "text", meaning="log: follows from the files; test: may be chance."),
    _TEXT,
)
_BASELINES = (
    Column("baseline", "Baseline", "text", meaning="State of the GPU without a request."),
    Column("power_w", "Power", "number", "W", "Mean power in that state."),
    Column("spread_w", "Spread", "number", "W", "Standard deviation over its times."),
    Column("time_count", "Times", "count", meaning="Times that it was read from."),
    Column("basis", "Read from", "text", meaning="Where in the log it was read."),
)
_EFFECT_COLUMNS = (
    _MODEL,
    Column("effect", "Effect", "text", meaning="What was tested beside the multipliers."),
    Column("estimate", "Estimate", "number", meaning="Watts, or change of ln energy by one unit."),
    Column("low", "Low", "number", meaning="Low end of its 95 % interval."),
    Column("high", "High", "number", meaning="High end of its 95 % interval."),
    Column("p_holm", "p, Holm", "number", meaning="Chance of as much without an effect."),
)
_FITS = (
    _MODEL,
    Column("form", "Energy ~", "text", meaning="What the energy of a run is modelled by."),
    Column("row_count", "Runs", "count", meaning="Runs in the fit."),
    Column("residual_frac", "Spread", "frac", meaning="Standard deviation of ln energy."),
    Column("left_out_frac", "Left out", "frac", meaning="Error of a run it has not seen."),
    Column("r_squared_frac", "R²", "number", meaning="Share of the variance that it accounts for."),
)
_BUDGET = (
    Column("component", "Component", "text", meaning="Source of uncertainty."),
    Column("kind", "Type", "text", meaning="A: from repeats; B: from what is known of the sensor."),
    Column("standard_frac", "Of one run", "frac", meaning="Standard uncertainty of one run."),
    Column("ratio_frac", "Of a ratio", "frac", meaning="What is left in a ratio of two runs."),
    Column("is_in_repeats", "In repeats", "text", meaning="Already in the spread of repeats?"),
    Column("meaning", "Meaning", "text", meaning="Where it comes from."),
)
_CLAIMS = (
    Column("model", "Model", "text", meaning="Model of the claim."),
    Column("category", "Category", "text", meaning="Kind of prompt, or order of the session."),
    Column("quantity", "Quantity", "text", meaning="What is claimed."),
    Column("value", "Value", "number", meaning="As told."),
    Column("unit", "Unit", "text", meaning="Unit of the value."),
    Column("told_by", "Told by", "text", meaning="Which of the two versions on the web."),
    Column("is_reproduced", "Reproduced", "text", meaning="Did anybody repeat it?"),
    Column("note", "Note", "text", meaning="What is open about it."),
    Column("source", "Source", "text", meaning="Where the row comes from."),
)


def tables(frames: Mapping[str, pl.DataFrame]) -> tuple[Table, ...]:
    """Return the tables of one audit."""
    effects = frames["audit_effects"].with_columns(pl.col("effect").replace(_EFFECTS))
    budget = frames["audit_budget"].with_columns(
        pl.when("is_in_repeats").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("is_in_repeats")
    )
    return (
        _table("measured_log", "The log and the runs", _LOG, frames["audit_log"]),
        _table("measured_findings", "Findings", _FINDINGS,
               frames["audit_findings"].rename({"subject": "finding_of"})),
        _table("measured_baselines", "Power without a request", _BASELINES,
               frames["audit_baselines"]),
        _table("measured_fits", "Models of the energy of a run", _FITS, frames["audit_fits"],
               "Covariates in each: place in the order, temperature and idle time before, energy "
               "of the run before. ln energy; the law's form judges shape alone."),
        _table("measured_effects", "What else may have moved the energy", _EFFECT_COLUMNS, effects,
               "One family of tests (Holm). A covariate that moves with others is not tested. "
               "Power that is left after a run is called heat only where a temperature says so."),
        _table("measured_budget", "Uncertainty budget (GUM)", _BUDGET, budget,
               "Relative to the energy of the median run. Expanded: two standard uncertainties."),
    )  # fmt: skip


def claims_table(claims: pl.DataFrame) -> Table:
    """Return the figures of the experiment that started this, in both versions, as text rows."""
    typed = claims.with_columns(
        pl.col("value").cast(pl.Float64),
        pl.lit("no").alias("is_reproduced"),
        pl.col("meaning").alias("note"),
    ).sort("told_by", "quantity", "model", "category")
    return _table(
        "linearity_claims",
        "What a public experiment claimed, not reproduced here",
        _CLAIMS,
        typed,
        "A hobbyist's experiment on one RTX 4070 Ti SUPER. Its figures go round in two versions "
        "that disagree on Mistral and DeepSeek; its formula of divergence is not given.",
    )


def uncertainty_statements(budget: pl.DataFrame) -> tuple[str, ...]:
    """Return how sure a joule and a ratio are."""
    expanded = budget.filter(pl.col("component") == "expanded")
    if expanded.is_empty():
        return ()
    row = expanded.row(0, named=True)
    return (
        f"One run's energy is known to ±{show(row['standard_frac'], 'frac')}, the ratio of two to "
        f"±{show(row['ratio_frac'], 'frac')} (two standard uncertainties): the sensor's gain is "
        "the same in both and cancels.",
    )


def finding_statements(findings: pl.DataFrame) -> tuple[str, ...]:
    """Return the findings on the log in one sentence."""
    of_log = findings.filter(pl.col("kind") == "log").sort("subject", "text")
    if of_log.is_empty():
        return ("The log raises no objection: no gaps, steady clocks, runs long enough.",)
    said = [
        f"{show(subject, 'text')}: {show(text, 'text')}"
        for subject, text in of_log.select("subject", "text").head(3).rows()
    ]
    return (f"What the log cannot bear: {'; '.join(said)}.",)


def _table(
    name: str, caption: str, columns: tuple[Column, ...], frame: pl.DataFrame, note: str = ""
) -> Table:
    return Table(name, caption, columns, r.table_rows(frame, columns), note=note)
