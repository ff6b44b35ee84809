"""The errors of the laws: stored ones agree with themselves, and a wrong coefficient is caught."""

import contextlib
import csv
import json
import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import MODELS, NAMES, PRICES, measurement, planted, write

from pipeline.cli import main
from pipeline.reference import reference_rows
from pipeline.settings import bundled
from pipeline.validation import validate
from pipeline.validation.bias import (
    PROMPT_RATIOS,
    class_logs,
    half_width,
    never_seen_logs,
    pooled_half_width,
    read_current,
    unseen_logs,
)
from pipeline.validation.coefficient_faults import all_coefficient_faults, coefficient_faults
from pipeline.validation.draws import CLASSES, COUNT, joint_draws, stack_sigma
from pipeline.validation.known_data import FITTED_TO, is_sound
from pipeline.validation.law_points import REPOSITORIES, points
from pipeline.validation.measured_work import Measurement, energy_j
from pipeline.validation.measurements import coefficients_of, is_of
from pipeline.validation.published_laws import published
from pipeline.validation.refitted_laws import refitted
from pipeline.validation.rival_fits import fitted_rows

Row = dict[str, Any]

STORED = validate.stored_rows()
SETS = {row["coefficient_set_id"]: row for row in reference_rows("law_coefficients")}
DRAWS = [
    {name: float(value) for name, value in row.items() if not name.startswith("source")}
    for row in reference_rows("joint_draws")
]
GROUPS = sorted({tuple(row[name] for name in validate.KEY) for row in STORED})
BATCHED = planted(batches=(1, 8, 64))


def error(law: str, form: str, group: Sequence[str], kind: str = "all") -> Row:
    """Return the stored errors of a law on a group."""
    [row] = [
        row
        for row in STORED
        if (row["law"], row["form"], row["subset_kind"]) == (law, form, kind)
        and tuple(row[name] for name in validate.KEY) == tuple(group)
    ]
    return row


# Stored errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_every_law_that_covers_a_group_is_judged_on_all_its_rows(group: Sequence[str]) -> None:
    counts = {
        (row["law"], row["form"]): row["row_count"]
        for row in STORED
        if tuple(row[name] for name in validate.KEY) == group and row["subset_kind"] == "all"
    }
    partly = {("linear_interaction", "published"), ("closed_form", "refit")}

    whole = {count for law, count in counts.items() if law not in partly}
    assert len(whole) == 1
    assert {law.law for law in published()} - {law for law, _ in counts} <= {"linear_interaction"}
    assert all(counts.get(law, 0) <= max(whole) for law in partly)


def test_where_a_rival_covers_part_of_the_rows_all_are_judged_on_that_part() -> None:
    group = ("arjunds", "H200-SXM", "vllm")
    covered = error("linear_interaction", "published", group)["row_count"]
    kept = {
        row["row_count"]
        for row in STORED
        if (row["subset_kind"], row["subset_value"]) == ("covered_by", "linear_interaction")
        and tuple(row[name] for name in validate.KEY) == group
    }

    assert kept == {covered}


def test_the_parts_of_a_group_add_up_to_it() -> None:
    for kind in ("context_tokens", "batch", "architecture_class", "precision"):
        for group in GROUPS:
            parts = [
                row
                for row in STORED
                if (row["law"], row["form"], row["subset_kind"]) == ("simple", "published", kind)
                and tuple(row[name] for name in validate.KEY) == group
            ]
            whole = error("simple", "published", group)
            if parts:
                total = sum(row["row_count"] * row["mape_frac"] for row in parts)
                assert sum(row["row_count"] for row in parts) == whole["row_count"]
                assert total / whole["row_count"] == pytest.approx(whole["mape_frac"], rel=2e-3)


@pytest.mark.parametrize("set_id", [each for each in FITTED_TO if not each.startswith("a100-40")])
def test_the_stated_errors_of_a_set_are_those_on_its_own_rows(set_id: str) -> None:
    home, stated = FITTED_TO[set_id], SETS[set_id]
    group = (home.dataset or "", home.gpu or "", home.stack or "")
    unseen = stated["mape_leave_one_architecture_out_frac"]

    own, refit = error("simple", "published", group), error("simple", "refit", group)

    assert own["mape_frac"] == pytest.approx(float(stated["mape_in_sample_frac"]), abs=5e-4)
    assert "fitted to rows of this group" in own["source"]
    if unseen:
        assert refit["leave_one_out_mape_frac"] == pytest.approx(float(unseen), abs=5e-4)


def test_lost_cases_stand_beside_won_ones() -> None:
    won, lost = 0, 0
    for group in GROUPS:
        rivals = [
            row["mape_frac"]
            for row in STORED
            if tuple(row[name] for name in validate.KEY) == group
            and row["subset_kind"] == "all"
            and not row["law"].startswith("simple")
        ]
        own = min(
            row["mape_frac"]
            for row in STORED
            if tuple(row[name] for name in validate.KEY) == group
            and (row["law"], row["subset_kind"]) == ("simple", "all")
        )
        won, lost = won + (own < min(rivals)), lost + (own >= min(rivals))

    assert won > 0
    assert lost > 0


def test_no_measured_row_is_in_the_stored_table() -> None:
    assert max(row["row_count"] for row in STORED) > 100
    assert not {"n_in", "energy_j_req", "model"} & set(STORED[0])


def test_a_stored_point_is_a_mean_of_rows_whose_licence_lets_it_be_shown() -> None:
    stored = reference_rows("law_points")

    assert {row["dataset"] for row in stored} == set(REPOSITORIES)
    assert not {"arjunds", "wilkins_nocache"} & set(REPOSITORIES)  # without a licence
    assert {row["predicted_by"] for row in stored} == {"stored", "left_out", "fitted"}
    for row in stored:
        ratio = float(row["predicted_j"]) / float(row["measured_j"])
        assert 0.05 < ratio < 20
        if row["predicted_by"] == "fitted":
            assert ratio == pytest.approx(1, abs=0.06)


# How laws are judged -----------------------------------------------------------------------------


def test_a_law_without_a_batch_is_divided_by_it() -> None:
    alone, among_eight = (
        replace(measurement("meta-llama/Llama-2-7b-hf", 100, 200, batch), energy_j=1)
        for batch in (1, 8)
    )

    for law in published():
        if law.law in ("linear_interaction", "ecologits_0_8", "vartziotis"):
            whole = law.predict_j(alone)
            assert whole is not None
            assert law.predict_j(among_eight) == pytest.approx(whole / 8)


def test_a_law_without_constants_for_a_model_predicts_nothing() -> None:
    [law] = [law for law in published() if law.law == "linear_interaction"]

    assert law.predict_j(measurement("Qwen/Qwen2.5-3B", 9, 9, 1)) is None


def test_a_law_that_made_the_measurements_has_no_error_and_no_bias() -> None:
    rows = [row for row in validate.judge(BATCHED) if row["subset_kind"] == "all"]
    [own] = [row for row in rows if (row["law"], row["form"]) == ("simple", "refit")]

    assert own["mape_frac"] < 1e-9
    assert own["leave_one_out_mape_frac"] < 1e-9
    assert own["bias_ratio"] == pytest.approx(1)
    assert {row["law"] for row in rows if row["form"] == "refit"} == {law.law for law in refitted()}


def test_bias_is_measured_over_predicted() -> None:
    prices = coefficients_of(SETS["h200-sxm-vllm-1"])
    doubled = [replace(row, energy_j=2 * energy_j(row, prices)) for row in BATCHED]

    [own] = [
        row
        for row in validate.judge(doubled)
        if (row["law"], row["form"], row["subset_kind"]) == ("simple", "published", "all")
    ]

    assert own["bias_ratio"] == pytest.approx(2)
    assert own["mape_frac"] == pytest.approx(0.5)


def test_subsets_are_by_length_batch_class_and_precision() -> None:
    found = {
        (row["subset_kind"], row["subset_value"])
        for row in validate.judge(BATCHED)
        if row["law"] == "simple"
    }

    assert {kind for kind, _ in found} == {"all", "context_tokens", "batch", "covered_by"}
    assert {value for kind, value in found if kind == "batch"} == {"1", "2 to 8", "9 to 64"}


@pytest.mark.parametrize(
    ("changed", "is_kept"),
    [
        ({"dataset": "splitwise", "input_tokens": 8192.0}, False),
        ({"dataset": "edgereasoning", "phase": "decode", "output_tokens": 128.0}, False),
        ({"dataset": "edgereasoning", "phase": "prefill", "time_s": 2.5}, True),
        ({"dataset": "planted"}, True),
    ],
)
def test_known_faults_of_data_sets_are_left_out(changed: dict[str, Any], is_kept: bool) -> None:
    row = measurement("meta-llama/Llama-3.1-8B", 900, 300, 1)

    assert is_sound(replace(row, **changed)) == is_kept


# A wrong coefficient -----------------------------------------------------------------------------


def set_row(**changed: float) -> dict[str, str]:
    """Return a coefficient row that says what the planted measurements were made with."""
    prices = PRICES._replace(**changed)._asdict()
    return {
        "coefficient_set_id": "planted-1",
        "mape_in_sample_frac": "0.0000",
        **{name: repr(value) for name, value in prices.items()},
    }


def test_right_coefficients_have_no_fault() -> None:
    assert coefficient_faults(set_row(), planted()) == []


@pytest.mark.parametrize("name", ["a_j_per_flop", "b_j_per_kv_byte", "c_j_per_weight_byte"])
def test_a_coefficient_that_is_wrong_by_30_percent_is_caught(name: str) -> None:
    wrong = set_row(**{name: 1.3 * getattr(PRICES, name)})

    faults = coefficient_faults(wrong, planted())

    assert any("0.00% is stated" in fault for fault in faults)
    assert any(name in fault and "is outside" in fault for fault in faults)


# Joint draws -------------------------------------------------------------------------------------


def test_there_are_256_worlds() -> None:
    assert [row["draw"] for row in DRAWS] == list(range(1, COUNT + 1))
    assert COUNT == 256


@pytest.mark.parametrize("column", ["stack", *CLASSES])
def test_a_shared_error_moves_the_middle_world_by_nothing(column: str) -> None:
    ratios = [row[f"{column}_ratio"] for row in DRAWS]

    assert statistics.median(ratios) == pytest.approx(1, abs=0.01)
    assert math.prod(ratios) ** (1 / COUNT) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("column", ["batch", "host", "idle", "pue"])
def test_scores_are_standard_normal(column: str) -> None:
    scores = [row[f"{column}_z_score"] for row in DRAWS]

    assert statistics.fmean(scores) == pytest.approx(0, abs=1e-6)
    assert statistics.pstdev(scores) == pytest.approx(1, abs=0.01)
    assert statistics.quantiles(scores, n=20)[-1] == pytest.approx(1.645, abs=0.03)


def test_columns_are_almost_uncorrelated() -> None:
    names = [name for name in DRAWS[0] if name not in ("draw", *"abcs")][4:]
    columns = {name: [row[name] for row in DRAWS] for name in names}

    for one in names:
        for other in names:
            if one != other:
                assert abs(statistics.correlation(columns[one], columns[other])) < 0.2


def test_what_weights_gain_steps_lose() -> None:
    weights, steps = ([row[f"{each}_ratio"] for row in DRAWS] for each in "cs")

    assert statistics.correlation(weights, steps) < -0.3


def test_few_stacks_are_widened() -> None:
    assert stack_sigma([0.1, -0.1]) > stack_sigma([0.1, -0.1] * 10) > 0.1


def test_a_pooled_interval_of_one_lot_is_its_own() -> None:
    logs = [0.1, -0.05, 0.0, 0.07]

    assert pooled_half_width([logs]) == pytest.approx(half_width(logs))
    # t(0.95, 3) = 2.3534; s = 0.0678; √(1 + 1/4) = 1.1180
    assert half_width(logs) == pytest.approx(2.3534 * 0.06782 * 1.1180, rel=1e-3)


# Commands ----------------------------------------------------------------------------------------


def ran(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[str, str]:
    monkeypatch.setattr(sys, "argv", ["joulebook", "law", *arguments])
    with contextlib.suppress(SystemExit):
        main()
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_law_validate_without_measurements_shows_the_stored_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = ran(monkeypatch, capsys, "validate", "--json")

    assert json.loads(out) == STORED
    assert err == ""


def test_law_validate_judges_the_measurements_of_a_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write(tmp_path / "runs.csv", planted())

    out, _ = ran(monkeypatch, capsys, "validate", "--measurements", str(path))

    lines = out.splitlines()
    assert lines[0] == "planted · H200-SXM · vllm"
    assert lines[2].split()[:3] == ["simple,", "refit", "64"]


def test_law_list_names_every_law(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    laws = [each["law"] for each in json.loads(ran(monkeypatch, capsys, "list", "--json")[0])]

    assert laws[0] == "simple"
    assert len(laws) == 11
    assert ran(monkeypatch, capsys, "list")[0].count("ignores: ") == 11


# Real measurements -------------------------------------------------------------------------------


@pytest.fixture
def file(samples: Path) -> Path:
    return samples / "energy/measurements.csv.gz"


def test_the_stored_errors_are_those_of_the_measurements(file: Path) -> None:
    fresh = validate.judge(validate.judged_reading(file).rows)
    numbers = ("mape_frac", "bias_ratio", "p90_frac", "leave_one_out_mape_frac")

    assert [
        {name: value for name, value in row.items() if name not in numbers} for row in fresh
    ] == [{name: value for name, value in row.items() if name not in numbers} for row in STORED]
    for one, other in zip(fresh, STORED, strict=True):
        for name in numbers:
            assert (one[name] is None) == (other[name] is None)
            assert one[name] is None or one[name] == pytest.approx(other[name], rel=2e-3, abs=1e-9)


def test_the_stored_coefficients_agree_with_their_own_measurements(file: Path) -> None:
    assert all_coefficient_faults(validate.judged_reading(file).rows) == []


@pytest.mark.parametrize("name", ["a_j_per_flop", "c_j_per_weight_byte", "s_j_per_layer_step"])
def test_a_stored_coefficient_that_is_wrong_is_caught(file: Path, name: str) -> None:
    own: list[Measurement] = [
        row
        for row in validate.judged_reading(file).rows
        if is_of(row, FITTED_TO["h200-sxm-vllm-1"])
    ]
    stored = SETS["h200-sxm-vllm-1"]

    assert coefficient_faults(stored | {name: str(1.3 * float(stored[name]))}, own) != []


def test_the_worlds_are_drawn_again_as_they_are(file: Path) -> None:
    with bundled("data/reference/joint_draws.csv").open(encoding="utf-8") as stored:
        names = next(csv.reader(stored))[:-2]

    fresh = joint_draws(file)

    assert list(fresh[0]) == names
    for one, other in zip(fresh, DRAWS, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-4)


def test_grade_a_holds_one_more_architecture_within_20_percent(file: Path) -> None:
    unseen = unseen_logs(file)
    [grade] = [row for row in reference_rows("grade_ranges") if row["evidence_grade"] == "A"]

    width = pooled_half_width(unseen.values())

    assert set(unseen) == {"h200-sxm-vllm-1", "b200-vllm-1", "a100-80-pcie-transformers-1"}
    assert width < 0.2
    assert math.log(float(grade["high_ratio"])) == pytest.approx(width, abs=0.01)
    assert -math.log(float(grade["low_ratio"])) == pytest.approx(width, abs=0.01)


def test_the_bias_of_experts_is_the_one_measured_on_two_gpus(file: Path) -> None:
    logs = class_logs(read_current(file))
    [row] = [row for row in reference_rows("bias_factors") if row["architecture_class"] == "moe"]

    for set_id in ("h100-sxm-vllm-1", "b200-vllm-1"):
        measured = math.exp(statistics.fmean(logs["moe", set_id]))
        assert measured == pytest.approx(float(row["bias_factor"]), rel=0.04)


def test_every_model_of_the_plan_is_in_the_catalog() -> None:
    assert [model for model in MODELS if NAMES.shape(model) is None] == []


def test_the_bias_of_dense_models_on_an_h100_is_what_split_evidence_leaves(file: Path) -> None:
    [row] = [
        row
        for row in reference_rows("bias_factors")
        if (row["architecture_class"], row["coefficient_set_id"]) == ("dense", "h100-sxm-vllm-1")
    ]
    short, assumed, long = (
        never_seen_logs(file, "h100-sxm-vllm-1", ratio) for ratio in PROMPT_RATIOS
    )
    value, width = math.exp(statistics.fmean(assumed)), math.exp(half_width(assumed))

    # the range is the one of models never seen; the value lies where prompts may put it
    assert len(assumed) == 4
    assert value == pytest.approx(1.10, abs=0.005)
    assert float(row["bias_low"]) == pytest.approx(value / width, abs=0.005)
    assert float(row["bias_high"]) == pytest.approx(value * width, abs=0.005)
    assert math.exp(statistics.fmean(long)) < float(row["bias_factor"])
    assert float(row["bias_factor"]) < math.exp(statistics.fmean(short))
    # 1.05 is what the two models of the fit, 1.00 by construction, and 8-bit weights make of it
    with_own = class_logs(read_current(file))["dense", "h100-sxm-vllm-1"]
    assert math.exp(statistics.fmean(with_own)) == pytest.approx(1.05, abs=0.005)
    assert sum(abs(log) < 0.002 for log in with_own) == 2


def test_the_fitted_rules_of_thumb_are_those_of_the_measurements(file: Path) -> None:
    stored = [row for row in reference_rows("rival_coefficients") if row["scope"] in FITTED_TO]

    for one, other in zip(fitted_rows(file), stored, strict=True):
        assert one | {"value": ""} == other | {"value": ""}
        assert float(one["value"]) == pytest.approx(float(other["value"]), rel=1e-3)


def test_the_points_are_those_of_the_measurements(file: Path) -> None:
    stored = reference_rows("law_points")
    fresh = points(file)

    assert len(fresh) == len(stored) < 400
    for one, other in zip(fresh, stored, strict=True):
        for name, text in one.items():
            if name in ("measured_j", "predicted_j", "batch", "input_tokens", "output_tokens"):
                assert float(text) == pytest.approx(float(other[name]), rel=2e-3)
            else:
                assert text == other[name]
