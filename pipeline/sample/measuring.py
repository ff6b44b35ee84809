"""The measuring sessions of the bundled sample: one to audit, and one a policy on an H200."""

from dataclasses import replace

from pipeline.sample.dice import SEED
from pipeline.sample.lines import packed
from pipeline.sample.telemetry import Plan, planted_telemetry
from pipeline.sample.telemetry_forms import hwinfo_file, nvidia_smi_file, runs_file
from pipeline.sample.telemetry_runs import Category

# Philosophical prompts draw 12 % more power than their tokens ask for: what an audit must find.
AUDIT = Plan(
    models=("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-8B"),
    categories=(
        Category("general", 400, 1_200),
        Category("unanswerable", 400, 1_500),
        Category("philosophical", 500, 2_000, effect_frac=0.12),
        Category("high-computation", 900, 3_000),
    ),
    averaging_s=1.0,
    heat_frac_per_c=0.001,
    dropped_frac=0.003,
    looped_frac=0.03,
)
# Long prompts and long answers, each phase told apart, so that a cap can bind in one of them.
POLICY = Plan(
    models=("meta-llama/Llama-3.1-8B",),
    categories=(Category("long prompt", 120_000, 1_500),),
    repeats=6,
    step_s=0.1,
    firmware_throttle_every_s=90.0,
    tells_phases=True,
)
POLICIES = {
    "none": POLICY,
    "cap-400w": replace(POLICY, power_cap_w=400.0),
    "lock-1590mhz": replace(POLICY, clock_lock_mhz=1_590.0),
}


def telemetry_files() -> dict[str, bytes]:
    """Return the content of each file by its name; logs are packed."""
    samples, runs = planted_telemetry(AUDIT, SEED)
    files = {
        "audit-hwinfo.csv.gz": packed(hwinfo_file(samples)),
        "audit-runs.csv": runs_file(runs),
    }
    for name, plan in POLICIES.items():
        samples, runs = planted_telemetry(plan, SEED)
        files[f"policy-{name}.csv.gz"] = packed(nvidia_smi_file(samples))
        files[f"policy-{name}-runs.csv"] = runs_file(runs)
    return files
