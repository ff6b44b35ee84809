"""What a log can bear is said: clocks, zones, gaps, averaging, order, uncertainty."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from audited import RULES, START, audited, log, run_line, runs_file, sessions

from pipeline.audit.answer import Audit, audit
from pipeline.audit.clocks import compare_clocks
from pipeline.audit.order import blocks, chance_of_agreement, confounded
from pipeline.audit.readings import Reading
from pipeline.audit.rules import Rules, rules, sensor_of
from pipeline.audit.tracks import tracks_of
from pipeline.audit.values import as_values
from pipeline.manifest import to_json
from pipeline.sample.telemetry import Plan

LONG = Plan(repeats=3, noise_w=0.5)


def told(found: Audit) -> str:
    return "\n".join(found.findings.get_column("text").to_list())


@pytest.fixture(scope="module")
def clean() -> Audit:
    return audited(LONG)


def test_a_clean_log_is_described(clean: Audit) -> None:
    [line] = clean.quality.rows(named=True)

    assert line["usual_step_s"] == 1
    assert (line["gap_count"], line["backward_count"], line["shared_instant_count"]) == (0, 0, 0)
    assert clean.clocks.zone_shift_s is None
    assert clean.clocks.inside_frac == 1
    assert clean.clocks.offset_s == pytest.approx(0, abs=0.5)
    assert clean.window_s == pytest.approx(1, abs=0.1)
    levels = dict(clean.baselines.select("baseline", "power_w").rows())
    assert levels["bare idle"] == pytest.approx(75, abs=1)
    assert levels["model loaded"] == pytest.approx(120, abs=0.5)
    assert levels["after a run"] == pytest.approx(120, abs=0.5)


def test_the_energy_is_that_of_the_board(clean: Audit) -> None:
    ratio = clean.measured.select((pl.col("energy_j") / pl.col("true_energy_j")).alias("ratio"))

    # Straight lines between readings lose a third of a step at the ends: 47 J of 3 to 8 kJ.
    assert ratio.get_column("ratio").min() > 0.97  # type: ignore[operator]
    assert ratio.get_column("ratio").max() < 1.005  # type: ignore[operator]


def test_a_wrong_zone_is_proposed_and_not_applied() -> None:
    samples, file = sessions(LONG, [1])
    moved = samples.with_columns(pl.col("sampled_at") + pl.duration(hours=2))

    found = audit(moved, file, Reading())

    assert found.clocks.zone_shift_s == 7200
    assert "moved by +2 h; proposed, not applied" in told(found)
    assert found.measured.get_column("energy_j").null_count() > 0
    assert "without an energy" in told(found)


def test_a_drifting_clock_is_found_with_its_size() -> None:
    found = audited(Plan(repeats=12, clock_skew_frac=0.002, step_s=0.25))

    assert found.clocks.is_drifting
    assert found.clocks.drift_s_per_hour == pytest.approx(7.2, rel=0.3)
    assert "gains" in told(found)


def test_the_averaging_of_a_sensor_is_seen_and_short_runs_are_flagged() -> None:
    found = audited(Plan(repeats=2, averaging_s=3, step_s=0.5))

    assert found.window_seen_s == pytest.approx(3, rel=0.25)
    assert "shorter than 10 averaging windows" in told(found)


def test_lost_lines_and_a_clock_that_jumps_back_are_counted(tmp_path: Path) -> None:
    samples = log([*range(50), *range(90, 200)], lambda _: 100.0)
    back = samples.with_columns(
        pl.when(pl.col("source_line") == 60)
        .then(pl.col("sampled_at") - pl.duration(seconds=20))
        .otherwise("sampled_at")
        .alias("sampled_at")
    ).sort("sampled_at")

    found = audit(back, runs_file(tmp_path, run_line("a", 110, 190)), Reading())

    assert "2 gaps" in told(found)
    assert "1 lines whose clock is behind the line before" in told(found)
    assert found.gaps.get_column("began_at").dt.replace_time_zone(None).to_list()[0] == (
        START.replace(tzinfo=None, minute=0, second=49)
    )


def test_a_log_without_power_still_says_what_it_can(tmp_path: Path) -> None:
    samples = log(range(100), lambda _: None).with_columns(temperature_c=40.0)

    found = audit(samples, runs_file(tmp_path, run_line("a", 20, 80)), Reading())

    assert "no power in this log" in told(found)
    assert found.measured.get_column("before_temperature_c").to_list() == [40.0]
    assert found.cells.is_empty()
    assert found.baselines.is_empty()  # unknown, not 0 W
    assert found.clocks.offset_s is None


def test_power_left_after_runs_is_found_and_named_without_temperature() -> None:
    samples, file = sessions(replace(LONG, rest_s=90), [1])
    ends = file.runs.get_column("ended_at").to_list()
    warm = pl.any_horizontal(
        (pl.col("sampled_at") > end) & (pl.col("sampled_at") < end + pl.duration(seconds=40))
        for end in map(pl.lit, ends)
    )
    left = samples.with_columns(
        pl.when(warm).then(pl.col("power_w") + 6).otherwise("power_w").alias("power_w"),
        pl.lit(None, pl.Float64).alias("temperature_c"),
    )

    found = audit(left, file, Reading())
    residual = found.effects.filter(pl.col("effect") == "residual_power_w").row(0, named=True)

    assert residual["low"] < 6 < residual["high"]
    assert residual["estimate"] == pytest.approx(6, abs=0.5)
    assert "so it is not called heat" in told(found)


# Order and models ----------------------------------------------------------------------------


def test_order_and_dose_of_the_published_design_cannot_be_told_apart(tmp_path: Path) -> None:
    head = "run_id,started_at,ended_at,model,category,input_tokens,output_tokens,block"
    kinds = {"A": ["general", *["deep"] * 4], "B": ["deep", *["general"] * 4]}
    lines = [
        run_line(f"{block}{place}", start := 60 + 60 * (5 * number + place), start + 30, "m", kind,
                 9, 99, block)
        for number, (block, run_kinds) in enumerate(kinds.items())
        for place, kind in enumerate(run_kinds)
    ]  # fmt: skip
    found = audit(
        log(range(800), lambda _: 100.0), runs_file(tmp_path, *lines, head=head), Reading()
    )

    [mixed] = found.confounded.rows(named=True)
    assert mixed["order_dose_correlation"] == pytest.approx(1)
    assert "cannot be told from one of how much was asked" in told(found)
    assert found.blocks.get_column("category_counts").to_list() == [
        "4 × deep, 1 × general",
        "1 × deep, 4 × general",
    ]
    assert chance_of_agreement(3) == (0.125, 0.25)


def test_randomised_blocks_can_be_told_apart(clean: Audit) -> None:
    assert blocks(clean.measured).height == 3
    assert confounded(clean.measured, RULES).is_empty()


def test_covariates_that_move_together_are_marked() -> None:
    found = audited(Plan(repeats=4, is_randomised=False, order_frac=0.01))

    terms = found.models.coefficients.filter(pl.col("form") == "law and category")
    order = terms.filter(pl.col("term") == "order_number").row(0, named=True)
    # All repeats of a category after another: the place in the order is nearly the category.
    assert order["is_inseparable"]
    assert order["vif_ratio"] > RULES.collinear_vif


# Uncertainty and rules -----------------------------------------------------------------------


def test_a_gain_cancels_in_ratios_and_repeats_are_not_counted_twice(clean: Audit) -> None:
    lines = {row["component"]: row for row in clean.budget.rows(named=True)}

    assert lines["sensor gain"]["standard_frac"] == 0.05
    assert lines["sensor gain"]["ratio_frac"] == 0
    squares = sum(
        lines[name]["standard_frac"] ** 2 for name in ("sensor gain", "edges", "repeatability")
    )
    assert lines["combined"]["standard_frac"] == pytest.approx(squares**0.5)
    assert lines["expanded"]["standard_frac"] == pytest.approx(2 * squares**0.5)
    assert lines["reproducibility"]["is_in_repeats"] is False


def test_sensors_of_two_families_see_a_quarter_of_the_time() -> None:
    assert sensor_of("NVIDIA H100 80GB HBM3").duty_frac == 0.25
    assert sensor_of("NVIDIA A100-SXM4-40GB").duty_frac == 0.25
    assert sensor_of("NVIDIA GeForce RTX 4070 Ti SUPER").duty_frac == 1
    assert sensor_of(None).window_s == 1


def test_every_rule_of_the_table_is_used_by_its_name() -> None:
    assert isinstance(rules(), Rules)  # a name too many or too few raises


def test_clocks_without_power_say_nothing(tmp_path: Path) -> None:
    samples = log(range(9), lambda _: None)

    found = compare_clocks(
        samples, tracks_of(samples, RULES), runs_file(tmp_path, run_line("a", 1, 8)).runs, RULES
    )

    assert (found.zone_shift_s, found.offset_s, found.is_drifting) == (None, None, False)


def test_the_same_files_give_the_same_figures_to_the_last_digit() -> None:
    samples, file = sessions(Plan(repeats=5), [1])

    told = {
        to_json(as_values(audit(samples, replace(file, runs=file.runs), Reading())))
        for _ in range(6)
    }

    assert len(told) == 1
