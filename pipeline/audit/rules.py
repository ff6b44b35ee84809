"""The numbers by which an audit judges, from `audit_rules.csv` and `power_sensors.csv`."""

from dataclasses import dataclass
from functools import cache

from pipeline.reference import reference_rows


@dataclass(frozen=True)
class Rules:
    """Every rule of the table by its name; seconds, shares and counts."""

    band_frac: float
    confidence_frac: float
    family_error_frac: float
    shortest_run_windows: float
    covered_frac: float
    gap_intervals: float
    gap_least_s: float
    settle_s: float
    guard_s: float
    before_run_s: float
    after_run_s: float
    baseline_least_s: float
    bare_idle_quantile_frac: float
    collinear_vif: float
    order_dose_correlation: float
    zone_step_s: float
    zone_most_s: float
    zone_contrast_ratio: float
    zone_inside_frac: float
    clock_most_s: float
    clock_step_s: float
    clock_alarm_s: float
    clock_sync_s: float
    plan_repeats_least: float
    idle_level_ratio: float
    fleet_drift_frac: float


@dataclass(frozen=True)
class Sensor:
    """How the power sensor of a family of GPUs works."""

    window_s: float  # a reading is the mean of so long
    duty_frac: float  # share of the time that it sees
    gain_frac: float  # standard uncertainty of its gain
    meaning: str


@cache
def rules() -> Rules:
    """Return the rules of the reference table."""
    return Rules(**{row["rule"]: float(row["value"]) for row in reference_rows("audit_rules")})


def sensor_of(gpu_name: str | None) -> Sensor:
    """Return the sensor of a GPU by its family, that of all others where the name tells none."""
    rows = {row["gpu_family"]: row for row in reference_rows("power_sensors")}
    name = (gpu_name or "").upper()
    family = next((each for each in rows if each != "*" and each in name), "*")
    row = rows[family]
    return Sensor(
        float(row["window_s"]), float(row["duty_frac"]), float(row["gain_frac"]), row["meaning"]
    )
