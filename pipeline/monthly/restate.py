"""Why an issue of a month differs from the one before: one frozen input moved at a time.

The order is part of the method, since a price on more usage is more money: today's code first,
then late usage, prices, factors, tables of the method, mapping. Each cause is the difference of two
whole builds, so causes add up exactly; what the code moves is told under method.
"""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from pipeline.monthly.closed_month import (
    MEASURES,
    Totals,
    build_totals,
    frozen_of,
    issued_totals,
    totals_of,
)
from pipeline.settings import Frozen, Settings

USAGE = "late usage"
# Every table that is frozen, by the cause under which a change of it is told.
CAUSES: Mapping[str, tuple[str, ...]] = {
    "price": (
        *("prices", "own_prices", "price_names", "region_multipliers", "contract_rates"),
        *("discounts_credits", "commitments", "fx_rates", "currencies", "taxes", "hosting_costs"),
    ),
    "factor": (
        *("assumptions", "grid_factors", "gpus", "deployments", "dispersion_factors", "budgets"),
        *("equal_quality", "quality", "calendar"),
    ),
    "method": (
        *("method", "laws", "law_coefficients", "bias_factors", "grade_ranges", "joint_draws"),
        *("law_validation", "rival_coefficients", "anchors", "architectures", "stand_ins"),
        "architecture_variants",
        *("audit_rules", "audit_log", "audit_baselines", "audit_budget", "audit_effects"),
        *("audit_findings", "audit_fits", "telemetry_hours", "token_linearity"),
        *("attention_families", "power_factors", "measured_factors", "policy_cells"),
        *("policy_classes", "policy_commands", "policy_effects", "policy_traces"),
    ),
    "mapping": (
        *("models", "model_aliases", "model_names", "providers", "provider_aliases"),
        *("attribution", "query_classes"),
    ),
}
ORDER = (USAGE, *CAUSES)


def bridge(before: Settings, after: Settings, month: str) -> tuple[dict[str, str], ...]:
    """Return what each cause moved, in the order of `ORDER`; a figure nobody knows counts as none.

    Args:
        before: Settings of the issue before, thawed.
        after: Settings of the new issue, frozen.
        month: The month.
    """
    old, new = frozen_of(before), frozen_of(after)
    reached = issued_totals(old.folder)
    moved: dict[str, list[Totals]] = {cause: [] for cause in ORDER}
    with tempfile.TemporaryDirectory(dir=after.folder, prefix=".building-") as aside:
        mixed = replace(old, folder=Path(aside))
        shutil.copytree(old.folder / "reference", mixed.folder / "reference")
        shutil.copyfile(old.folder / "corrections.parquet", mixed.folder / "corrections.parquet")
        # By today's code first: what that moves is the method's.
        steps = ["method", USAGE, *CAUSES]
        for number, cause in enumerate(steps):
            if number == 1:
                mixed = replace(mixed, input_keys=new.input_keys)
                _take(new, mixed, "corrections.parquet")
            elif number > 1:
                for table in CAUSES[cause]:
                    _take(new, mixed, f"reference/raw_{table}.parquet")
            totals: Totals = build_totals(replace(before, frozen=mixed), month, totals_of)
            moved[cause].append(_difference(reached, totals))
            reached = totals
    return tuple(
        {"cause": cause, **{name: _sum(moved[cause], name) for name in MEASURES}} for cause in ORDER
    )


def text_of(steps: tuple[Mapping[str, str], ...]) -> list[str]:
    """Return the bridge as lines for people."""
    return [
        f"  {step['cause']:<11}{Decimal(step['cost_usd']):>+16,.6f} USD"
        f"{Decimal(step['facility_energy_kwh']):>+16,.6f} kWh"
        f"{Decimal(step['carbon_gco2e']):>+16,.3f} g CO2e"
        for step in steps
    ]


def _take(new: Frozen, mixed: Frozen, name: str) -> None:
    shutil.copyfile(new.folder / name, mixed.folder / name)


def _difference(before: Totals, after: Totals) -> Totals:
    return Totals(
        *(
            (getattr(after, name) or Decimal(0)) - (getattr(before, name) or Decimal(0))
            for name in MEASURES
        )
    )


def _sum(parts: list[Totals], name: str) -> str:
    return format(sum((getattr(part, name) for part in parts), Decimal(0)), "f")
