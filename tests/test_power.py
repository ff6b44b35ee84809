"""What caps and clock locks do: verdicts by hand, planted truth over many seeds, refusals."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from policy_logs import SHORT, capped, compared, policy, session
from scipy.special import stdtr, stdtrit

from pipeline.audit.rules import rules as audit_rules
from pipeline.errors import WrongUseError
from pipeline.ingest.telemetry import Telemetry
from pipeline.power import bound, effects, phases
from pipeline.power.answer import Comparison, cells_of, compare, factors
from pipeline.power.policies import baseline_of, read_policies
from pipeline.power.rules import power_rules
from pipeline.power.text import text_of
from pipeline.sample.telemetry import Plan
from pipeline.sample.telemetry_load import Board
from pipeline.settings import bundled

SEEDS = range(200)
RULES = power_rules()


def cell(found: Comparison, phase: str, name: str = "changed") -> dict[str, Any]:
    [row] = found.cells.filter(policy=name, phase=phase).rows(named=True)
    return row


def effect(found: Comparison, phase: str, metric: str) -> dict[str, Any]:
    [row] = found.effects.filter(phase=phase, metric=metric).rows(named=True)
    return row


# One run each: draw W, limit W, clock MHz, clock without the policy MHz.
@pytest.mark.parametrize(
    ("draw", "limit", "clock", "reference", "verdict", "words"),
    [
        (398.0, 400.0, 1464.0, 1830.0, bound.BOUND, "400 W at 1464 MHz, below 1830 MHz"),
        (257.0, 400.0, 1830.0, 1830.0, bound.NOT_BOUND, "draws 257 W of 400 W"),
        (257.0, 400.0, 1100.0, 1830.0, bound.NOT_BOUND, "draws 257 W of 400 W"),
        (398.0, 400.0, 1830.0, 1830.0, bound.UNDETERMINED, "not lower than without it"),
        (398.0, 400.0, 1464.0, None, bound.UNDETERMINED, "no baseline tells"),
        (300.0, 280.0, 1700.0, 1830.0, bound.UNDETERMINED, "more than its limit"),
        (257.0, None, 1830.0, 1830.0, bound.UNDETERMINED, "no limit"),
        (257.0, 400.0, None, 1830.0, bound.UNDETERMINED, "no SM clock"),
    ],
)
def test_a_cap_binds_where_draw_and_clock_both_say_so(
    draw: float, limit: float, clock: float, reference: float, verdict: str, words: str
) -> None:
    told = pl.DataFrame(
        {"draw_w": [draw], "limit_w": [limit], "clock_mhz": [clock],
         "reference_clock_mhz": [reference]},
        schema=dict.fromkeys(
            ("draw_w", "limit_w", "clock_mhz", "reference_clock_mhz"), pl.Float64
        ),
    )  # fmt: skip
    judged = bound.with_run_verdict(told, RULES).with_columns(
        bound.verdict(RULES),
        (pl.col("run_verdict") == bound.BOUND).cast(float).alias("bound_run_frac"),
    )

    assert judged.item(0, "bound_verdict") == verdict
    assert words in judged.select(bound.reason(RULES)).item()


def test_an_effect_and_its_equivalence_by_hand() -> None:
    # ln of the values: mean 0 and spread s on both sides, three runs each, 1 % apart.
    spread, shift = 0.01, 0.01
    values = {"none": 0.0, "cap": shift}
    rows = pl.DataFrame(
        [
            {"policy": name, "model": "m", "workload": "", "batch": 1.0, "phase": "decode",
             "run_id": f"{name}{n}", "firmware_s": 0.0, "duration_s": 9.0,
             "energy_j_per_token": math.exp(mean + spread * n), "tokens_per_s": 100.0}
            for name, mean in values.items() for n in (-1, 0, 1)
        ]
    )  # fmt: skip
    refused = pl.DataFrame(
        {"policy": ["cap"], "model": ["m"], "workload": [""], "batch": [1.0], "phase": ["decode"],
         "refusal": [None]}, schema_overrides={"refusal": pl.String},
    )  # fmt: skip
    found = effects.effects(rows, refused, "none", audit_rules(), RULES)
    energy, speed = found.sort("metric").rows(named=True)

    error = math.sqrt(spread**2 / 3 + spread**2 / 3)  # variance of -s, 0, s is s²; 4 of freedom
    assert energy["ratio"] == pytest.approx(math.exp(shift))
    assert energy["high_ratio"] == pytest.approx(math.exp(shift + stdtrit(4, 0.975) * error))
    assert energy["low_ratio"] == pytest.approx(math.exp(shift - stdtrit(4, 0.975) * error))
    nearer = (math.log(1.02) - shift) / error
    assert energy["p_equivalent"] == pytest.approx(1 - stdtr(4, nearer))
    assert energy["verdict"] == effects.UNDECIDED
    assert (speed["ratio"], speed["verdict"]) == (1.0, effects.NONE)


@pytest.fixture(scope="module")
def many() -> Comparison:
    """Two hundred sessions: as they come, capped at a limit of each, and clock-locked."""
    plans = {seed: capped(limit_of(seed)) for seed in SEEDS}
    lock = replace(SHORT, clock_lock_mhz=1_590)
    policies = (
        policy("none", [session(SHORT, seed, f"m{seed}") for seed in SEEDS]),
        policy("cap", [session(plan, 1_000 + seed, f"m{seed}") for seed, plan in plans.items()]),
        policy("lock", [session(lock, 2_000 + seed, f"m{seed}") for seed in SEEDS], 1_590),
    )
    return compare(policies, policies[0])


def limit_of(seed: int) -> float:
    """Return a cap from 220 to 618 W, in steps of 2 W: decode draws 260 W, prefill 500 W."""
    return 220 + 2 * float(seed)


@pytest.mark.slow
def test_bound_caps_are_told_from_others(many: Comparison) -> None:
    judged = many.cells.filter(policy="cap").with_columns(
        pl.when(phase="decode").then(260.0).otherwise(500.0).alias("demand_w")
    )
    decided = judged.filter(pl.col("bound_verdict") != bound.UNDETERMINED)
    truth = pl.when(pl.col("demand_w") > pl.col("limit_w"))
    is_right = decided.select(
        truth.then(pl.lit(bound.BOUND)).otherwise(pl.lit(bound.NOT_BOUND))
        == pl.col("bound_verdict")
    ).to_series()
    clear = judged.filter((pl.col("demand_w") / pl.col("limit_w") - 1).abs() > 0.06)

    assert judged.height == 2 * len(SEEDS)
    assert is_right.sum() >= 0.98 * is_right.len()
    assert clear.filter(pl.col("bound_verdict") == bound.UNDETERMINED).is_empty()
    assert decided.height >= 0.9 * judged.height
    # The other policies have a limit of 700 W that nothing reaches; their clocks are no cap's.
    others = many.cells.filter(pl.col("policy") != "cap").get_column("bound_verdict")
    assert set(others) == {bound.NOT_BOUND}


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_savings_lie_within_their_intervals(many: Comparison, phase: str) -> None:
    still = replace(SHORT, run_spread_frac=0, length_spread_frac=0, noise_w=0)

    def joules(plan: Plan) -> float:
        _, runs = session(plan, 1, "m")
        return float(runs.filter(category=phase).get_column("true_energy_j").sum())

    truth = joules(replace(still, clock_lock_mhz=1_590)) / joules(still)
    found = many.effects.filter(policy="lock", phase=phase, metric="energy_j_per_token")
    is_within = found.select(
        (pl.col("low_ratio") <= truth) & (truth <= pl.col("high_ratio"))
    ).to_series()

    if phase == "decode":  # 120 W at rest and 140 W that go with the clock to the power of 1.3
        assert truth == pytest.approx((120 + 140 * (1590 / 1830) ** 1.3) / 260)
    assert found.height == len(SEEDS)
    assert 0.9 * len(SEEDS) <= is_within.sum() <= 0.99 * len(SEEDS)


def test_moments_of_the_firmware_are_not_the_caps_doing() -> None:
    # The driver says "power cap" in each of them, and the cap of 650 W is never reached.
    touched = replace(capped(650), firmware_throttle_every_s=17)
    some = compared(touched, limit_w=650)
    everywhere = compared(replace(touched, firmware_throttle_every_s=2), limit_w=650)

    for found in (some, everywhere):
        for phase in ("prefill", "decode"):
            assert cell(found, phase)["bound_verdict"] == bound.NOT_BOUND
        speed = effect(found, "decode", "tokens_per_s")
        assert speed["verdict"] in (effects.NONE, effects.UNDECIDED)
    assert effect(some, "decode", "tokens_per_s")["is_free_of_firmware"]
    assert cell(some, "decode")["firmware_s"] > 0
    assert not effect(everywhere, "decode", "tokens_per_s")["is_free_of_firmware"]
    assert "the firmware's doing" in text_of(some)


def test_one_cap_binds_for_one_configuration_and_not_for_another() -> None:
    large = replace(SHORT, board=Board(load_s=1, decode_w=300))
    small = replace(SHORT, board=Board(load_s=1, decode_w=200))
    policies = (
        policy("none", [session(large, 1, "large"), session(small, 1, "small")]),
        policy(
            "cap-280w",
            [session(capped(280, large), 2, "large"), session(capped(280, small), 2, "small")],
        ),
    )
    found = compare(policies, policies[0]).cells.filter(policy="cap-280w", phase="decode")

    verdicts = dict(found.select("model", "bound_verdict").rows())
    assert verdicts == {"large": bound.BOUND, "small": bound.NOT_BOUND}


def test_power_tells_phases_that_nothing_else_tells() -> None:
    samples, runs = session(replace(SHORT, tells_phases=False), 3, "m")
    told = session(SHORT, 3, "m")[1]
    cut = phases.phases_of_runs(samples, runs, RULES)
    truth = told.filter(category="decode").sort("started_at").get_column("started_at")
    found = cut.filter(phase="decode").sort("started_at").get_column("started_at")

    assert set(cut.get_column("phase_basis")) == {"power"}
    assert ((found - truth).dt.total_milliseconds().abs() <= 200).all()
    assert cut.filter(phase="prefill").get_column("output_tokens").sum() == 0
    # Without any runs the busy times are the same runs, with tokens that nobody knows.
    busy = phases.phases_without_runs(samples, audit_rules(), RULES)
    assert busy.height == cut.height
    assert busy.get_column("output_tokens").null_count() == busy.height


@pytest.mark.parametrize(
    ("lacking", "words"), [("power_limit_w", "no limit"), ("sm_clock_mhz", "no SM clock")]
)
def test_a_log_without_a_column_gets_no_verdict(lacking: str, words: str) -> None:
    samples, runs = session(SHORT, 1, "m")
    bare = samples.with_columns(pl.lit(None, pl.Float64).alias(lacking))
    alone = policy("alone", [(bare, runs)])
    found = compare([alone], alone)

    row = cell(found, "decode", "alone")
    assert row["bound_verdict"] == bound.UNDETERMINED
    assert words in str(row["bound_reason"])
    assert found.effects.is_empty()
    assert "no claim" in text_of(found)


def test_what_cannot_be_compared_is_refused_with_its_reason() -> None:
    [longer] = SHORT.categories
    other = replace(SHORT, categories=(replace(longer, output_tokens=600),), length_spread_frac=0)
    work = compared(replace(other, power_cap_w=400), replace(SHORT, length_spread_frac=0))
    assert effect(work, "decode", "tokens_per_s")["verdict"] == effects.NO_CLAIM
    assert "600 output tokens a run against 500" in str(
        effect(work, "decode", "energy_j_per_token")["reason"]
    )
    assert effect(work, "prefill", "energy_j_per_token")["reason"] is None

    card = compared(replace(SHORT, board=Board(name="NVIDIA B200", load_s=1)))
    assert "other GPU: NVIDIA B200 against NVIDIA H200" in str(
        effect(card, "decode", "tokens_per_s")["reason"]
    )

    single = compared(replace(SHORT, repeats=1, length_spread_frac=0),
                      replace(SHORT, length_spread_frac=0))  # fmt: skip
    assert effect(single, "decode", "tokens_per_s")["reason"] == effects.SINGLE_RUN
    for found in (work, card, single):
        refused = found.effects.filter(pl.col("verdict") == effects.NO_CLAIM)
        assert refused.get_column("ratio").null_count() == refused.height

    policies = work.policies
    mixed = policies[1].samples.with_columns(
        pl.when(pl.int_range(pl.len()) < pl.len() // 2)
        .then(pl.lit("NVIDIA B200"))
        .otherwise(pl.lit("NVIDIA H200"))
        .alias("gpu_name")
    )
    changed = replace(policies[0], name="mixed", telemetry=Telemetry(mixed, ()))
    assert "mixed" in str(
        effect(compare((policies[0], changed), policies[0]), "decode", "tokens_per_s")["reason"]
    )


def test_the_sample_says_cap_for_nothing_and_lock_for_less() -> None:
    folder = bundled("data/sample/telemetry")
    names = ("none", "cap-400w", "lock-1590mhz")
    policies = read_policies([folder / f"policy-{name}.csv.gz" for name in names])
    found = compare(policies, baseline_of(policies))

    assert found.baseline == "policy-none"
    verdicts = {
        (row["policy"], row["phase"]): row["bound_verdict"] for row in found.cells.rows(named=True)
    }
    assert verdicts["policy-cap-400w", "decode"] == bound.NOT_BOUND
    assert verdicts["policy-cap-400w", "prefill"] == bound.BOUND
    measured = {(row["policy"], row["phase"]): row for row in factors(found).rows(named=True)}
    lock = measured["lock at 1590 MHz", "decode"]
    assert lock["gpu"] == "H200-SXM"
    assert lock["energy_ratio"] == pytest.approx((120 + 140 * (1590 / 1830) ** 1.3) / 260, rel=0.01)
    assert lock["energy_low_ratio"] < lock["energy_ratio"] < lock["energy_high_ratio"] < 1
    classes = dict(found.classes.select("phase", "clock_class").rows())
    assert classes == {"prefill": "proportional", "decode": "flat"}
    said = text_of(found)
    assert "nvidia-smi -lgc 1590,1590   undo: nvidia-smi -rgc" in said
    assert "shown to lie within ±2%" in said


def test_policies_are_told_by_name_and_faults_in_one_line(tmp_path: Path) -> None:
    log = tmp_path / "none.csv"
    log.write_bytes((bundled("data/sample/telemetry") / "policy-none.csv.gz").read_bytes())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "none.csv").write_bytes(log.read_bytes())

    [alone] = read_policies([log])
    assert (alone.runs_file, alone.lever) == (None, "none")
    found = compare([alone], alone)
    assert cells_of(found.readings).get_column("energy_j_per_token").null_count() == 2
    for paths, runs, words in (
        ([log, tmp_path / "sub" / "none.csv"], [], "two policies are called 'none'"),
        ([tmp_path / "gone.csv"], [], "no such file or folder"),
        ([log], [log, log], "at most one for each"),
    ):
        with pytest.raises(WrongUseError, match=words):
            read_policies(paths, runs)
    with pytest.raises(WrongUseError, match="--baseline other: expected one of none"):
        baseline_of([alone], "other")
