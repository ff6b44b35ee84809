"""A comparison of policies as one JSON value: every table as a list of rows, unknown as null."""

from typing import Any

from pipeline.audit.values import rows_of
from pipeline.power.answer import Comparison, factors, label
from pipeline.power.commands import commands
from pipeline.power.facts import facts, referenced_factors
from pipeline.power.rules import power_rules

_RUN_COLUMNS = (
    *("policy", "run_id", "started_at", "ended_at", "duration_s", "gpu_name", "model", "workload"),
    *("batch", "phase", "phase_basis", "tokens", "energy_j", "energy_reason", "mean_power_w"),
    *("draw_w", "limit_w", "clock_mhz", "reference_clock_mhz", "firmware_s", "else_held_s"),
    *("energy_j_per_token", "tokens_per_s", "run_verdict"),
)


def as_values(found: Comparison | None, gpu: str | None = None) -> dict[str, Any]:
    """Return what `joulebook power --json` prints; without a comparison, the facts alone."""
    told: dict[str, Any] = {"facts": facts(), "referenced_factors": referenced_factors()}
    if found is None:
        return told
    rules = power_rules()
    return {
        "baseline": found.baseline,
        "rules": {name: getattr(rules, name) for name in rules.__dataclass_fields__},
        "policies": [
            {
                "policy": policy.name,
                "label": label(policy),
                "lever": policy.lever,
                "asked_clock_mhz": policy.asked_clock_mhz,
                "asked_limit_w": policy.asked_limit_w,
                "commands": [{"apply": do, "undo": undo} for do, undo in commands(policy)],
            }
            for policy in found.policies
        ],
        "runs": rows_of(found.readings.select(_RUN_COLUMNS)),
        "phases": rows_of(found.cells),
        "effects": rows_of(found.effects),
        "clock_classes": rows_of(found.classes),
        "throttle": rows_of(found.throttle),
        "factors": rows_of(factors(found, gpu)),
        **told,
    }
