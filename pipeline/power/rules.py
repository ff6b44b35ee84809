"""The numbers by which policies are judged, from `power_rules.csv`."""

from dataclasses import dataclass
from functools import cache

from pipeline.reference import reference_rows


@dataclass(frozen=True)
class PowerRules:
    """Every rule of the table by its name; seconds, shares and counts."""

    bind_margin_frac: float
    clock_drop_frac: float
    clock_held_frac: float
    agreement_frac: float
    firmware_drop_frac: float
    firmware_most_s: float
    equivalence_margin_frac: float
    free_loss_frac: float
    workload_frac: float
    phase_contrast_frac: float
    phase_step_most_s: float
    readings_least: float
    busy_utilisation_frac: float
    clocks_lowered_frac: float
    flat_elasticity: float
    proportional_elasticity: float
    trace_points_most: float


@cache
def power_rules() -> PowerRules:
    """Return the rules of the reference table."""
    return PowerRules(**{row["rule"]: float(row["value"]) for row in reference_rows("power_rules")})
