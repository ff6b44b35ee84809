"""What turns joules of GPU boards into electricity, money and carbon, as the formulas say it."""

from collections.abc import Mapping

from pipeline.dialects import excel_formula
from pipeline.laws import facility

UNIT_NAMES = {facility.J_PER_KWH: "j_per_kwh"}
RATIOS = ("host_ratio", "idle_ratio", "pue_ratio")  # assumptions whose product is the facility's
FACILITY_RATIO = f"({'*'.join(f'in_{name}' for name in RATIOS)})"
CARBON_PER_KWH = "in_carbon_gco2e_per_kwh"
TARIFF = "in_electricity_usd_per_kwh"
FACILITY_FORMULA = excel_formula(
    facility.facility_energy_kwh, {"facility_ratio": FACILITY_RATIO}, UNIT_NAMES
)


def facility_kwh(gpu_energy_j: float, assumed: Mapping[str, float]) -> float:
    """Return the electricity of a joule of GPU boards, under assumptions by name."""
    ratio = 1.0
    for name in RATIOS:
        ratio *= assumed[name]
    return float(facility.facility_energy_kwh(gpu_energy_j, ratio))
