"""Columns of the marts of measured power: those a reader sees, and those that only files hold."""

from pipeline.report.section import Column
from pipeline.report.sections import columns as c

LINEARITY = (
    Column("model", "Model", "text", meaning="Model as the runs name it."),
    Column("category", "Category", "text", meaning="Kind of prompt, as the runs name it."),
    Column("run_count", "Runs", "count", meaning="Runs of the category with an energy."),
    Column("looped_run_count", "Looped", "count", meaning="Runs that never ended, left out."),
    Column("token_multiplier_ratio", "Tokens", "ratio", meaning="Output tokens over those of the "
           "reference category, geometric means."),
    Column("energy_multiplier_ratio", "Energy", "ratio", meaning="Joules of a run over those of "
           "the reference category, geometric means."),
    Column("divergence_frac", "Divergence", "frac", meaning="By the formula of the row."),
    Column("divergence_low_frac", "Low", "frac", meaning="Low end of its 95 % interval."),
    Column("divergence_high_frac", "High", "frac", meaning="High end of its 95 % interval."),
    Column("verdict", "Verdict", "text", meaning="Against the band, after Holm's correction.",
           unknown="no repeats"),
    Column("mean_power_w", "Mean power", "number", "W", "Mean watts of the runs: no energy."),
    Column("law_multiplier_ratio", "By the law", "ratio", meaning="Energy over that of the "
           "reference category, by the law.", unknown="no such model"),
    Column("explained_frac", "Explained", "frac", meaning="Share of the divergence that the law "
           "explains.", unknown="nothing to explain"),
    Column("remaining_frac", "Remains", "frac", meaning="Measured energy over the law's, less 1."),
    Column("remaining_low_frac", "Remains, low", "frac", meaning="Low end of its 95 % interval."),
    Column("remaining_high_frac", "Remains, high", "frac", meaning="High end of it."),
)  # fmt: skip
HOURS = (
    Column("hour_start_at", "Hour", "datetime", meaning="Begin of the hour, UTC."),
    Column("gpu", "GPU", "text", meaning="GPU as its power log names it."),
    Column("covered_s", "Covered", "number", "s", "Seconds that the log tells."),
    Column("measured_energy_kwh", "Measured", "kwh", "kWh", "What the GPU drew."),
    Column("idle_energy_kwh", "Idle", "kwh", "kWh", "What it drew while nothing ran."),
    Column("law_energy_kwh", "By the law", "kwh", "kWh", "Law × bias of the requests logged then."),
    Column("law_energy_low_kwh", "Low", "kwh", "kWh", "Low end (5 %) of the law's part."),
    Column("law_energy_high_kwh", "High", "kwh", "kWh", "High end (95 %) of it."),
    Column("unexplained_energy_kwh", "Unexplained", "kwh", "kWh", "Neither idle nor law."),
    Column("idle_frac", "Idle share", "frac", meaning="Idle over measured."),
    Column("unexplained_frac", "Unexplained share", "frac", meaning="Unexplained over measured."),
    c.BATCH,
    c.GRADE,
)
IN_FILES_ONLY = tuple(
    Column(name, name, "text", meaning=meaning)
    for name, meaning in (
        ("run_set", "Name of the runs file."),
        ("reference_category", "Category that multipliers are of."),
        ("is_generated", "Was the power log made up, not measured?"),
        ("formula", "Formula of the divergence."),
        ("mean_energy_j", "Geometric mean of the energy of a run."),
        ("band_frac", "Divergence that still counts as linear."),
        ("gpu_name", "Name of the GPU, as its power log has it."),
        ("is_drifting", "Is the drift larger than the rule?"),
    )
)
