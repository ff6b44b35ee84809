"""One request by the law of others: the same keys, no range where there is none, one clear line."""

import csv
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main
from pipeline.law_list import constants, described
from pipeline.laws import rivals
from pipeline.reference import reference_rows
from pipeline.rival_estimate import answering_laws

Run = Callable[..., tuple[int, str, str]]

LLAMA_2 = "meta-llama/Llama-2-7b-hf"  # head and embedding of its own: 6,738,149,376 weights
PARAMS = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008) + 2 * 32_000 * 4096
OWN = ("prefill_energy_j", "kv_cache_energy_j", "next_token_energy_j", "bias_factor")
RANGE = ("energy_low_j", "energy_high_j", "evidence_grade")
WORDS = ("law_title", "law_constants", "law_source", "law_domain", "law_ignores")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(law: str, *more: str, model: str = LLAMA_2) -> tuple[int, str, str]:
        tokens = ("--input", "900", "--output", "300", "--batch", "8")
        told = ["joulebook", "estimate", "--model", model, *tokens, "--law", law, *more]
        monkeypatch.setattr(sys, "argv", told)
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


_ANSWERS: dict[tuple[str, str], dict[str, Any]] = {}  # by law and model: each is asked once


def answer(run: Run, law: str, model: str = LLAMA_2) -> dict[str, Any]:
    if (law, model) not in _ANSWERS:
        code, out, err = run(law, "--json", model=model)
        assert code == 0, err
        _ANSWERS[law, model] = json.loads(out)
    return _ANSWERS[law, model]


@pytest.mark.slow
def test_every_law_of_the_list_answers_or_says_why_not(run: Run) -> None:
    for law in (each["law"] for each in described()):
        code, out, err = run(law)
        assert (code, law in answering_laws()) in ((0, True), (2, False))
        assert out if code == 0 else "has no constants of its own" in err


@pytest.mark.slow
def test_the_keys_are_those_of_our_own_answer_and_words_on_top(run: Run) -> None:
    own = answer(run, "simple")

    for law in answering_laws()[1:]:
        found = answer(run, law)
        assert [*own, *WORDS] == list(found)
        assert [found[name] for name in (*OWN, *RANGE)] == [None] * 7
        assert found["law"] == law
        assert found["energy_j"] == found["gpu_energy_j"] > 0
        assert all(found[name] for name in WORDS)


@pytest.mark.slow
def test_the_joules_are_those_of_the_law_by_hand(run: Run) -> None:
    # −3.89·900 + 31.52·300 + 0.0427·900·300 for one request alone, among 8
    alone_j = -3.89 * 900 + 31.52 * 300 + 0.0427 * 900 * 300
    assert answer(run, "linear_interaction")["energy_j"] == pytest.approx(alone_j / 8)
    # 300 tokens at 2 FLOP a weight, a tenth of the peak, 70 % of a board's 700 W
    busy_s = 2 * PARAMS * 300 / (0.1 * 9.89e14)
    assert answer(run, "epoch_ai")["energy_j"] == pytest.approx(busy_s * 700 * 0.7)
    per_token = 8.91e-8 * PARAMS / 1e9 + 1.43e-6
    assert answer(run, "ecologits_0_8")["energy_j"] == pytest.approx(300 * per_token * 3.6e6)
    set_id = "h100-sxm-vllm-1"
    per_weight = constants("parameters_tokens", set_id)["j_per_param_token"]
    assert answer(run, "parameters_tokens")["energy_j"] == pytest.approx(
        per_weight * PARAMS * 300 / 8
    )


@pytest.mark.slow
def test_facility_money_and_carbon_follow_the_law_that_was_asked(run: Run) -> None:
    own, linear = answer(run, "simple"), answer(run, "linear")

    ratio = linear["gpu_energy_j"] / own["gpu_energy_j"]
    for name in ("facility_energy_kwh", "carbon_gco2e"):
        assert linear[name] == pytest.approx(own[name] * ratio)
    assert float(linear["energy_cost_usd"]) == pytest.approx(
        float(own["energy_cost_usd"]) * ratio, rel=1e-4
    )
    assert linear["list_cost_usd"] == own["list_cost_usd"]


@pytest.mark.slow
def test_ecologits_has_a_facility_of_its_own(run: Run) -> None:
    found = answer(run, "ecologits_0_8")

    server_j = 300 * (8.02e-4 * PARAMS / 1e9 + 2.23e-2) * 1_000 / 8
    assert found["facility_energy_kwh"] == pytest.approx(
        1.2 * (found["gpu_energy_j"] + server_j) / 3.6e6
    )


@pytest.mark.slow
def test_a_closed_model_is_the_geometric_mean_of_its_stand_ins(run: Run) -> None:
    each = ("meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen3-235B-A22B")
    found = [answer(run, "epoch_ai", model=model)["energy_j"] for model in each]

    mean = answer(run, "epoch_ai", model="gpt-4o")["energy_j"]

    assert mean == pytest.approx(math.sqrt(math.prod(found)))


@pytest.mark.slow
def test_a_what_if_architecture_is_asked_of_a_rival_too(run: Run) -> None:
    _, out, _ = run("epoch_ai", "--json", "--arch", "layers=64")

    body = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008)
    busy_s = 2 * (PARAMS + body) * 300 / (0.1 * 9.89e14)
    assert json.loads(out)["energy_j"] == pytest.approx(busy_s * 700 * 0.7)


@pytest.mark.slow
def test_a_law_without_range_says_so(run: Run) -> None:
    _, out, _ = run("linear")

    assert "no range: its authors give none here" in out
    for words in ("  constants: fitted by us to", "  source: ", "  domain: ", "  ignores: "):
        assert words in out


@pytest.mark.slow
def test_a_law_without_constants_for_the_model_names_those_it_has(run: Run) -> None:
    code, _, err = run("linear_interaction", model="Qwen/Qwen3-8B")

    assert code == 2
    assert "has constants for meta-llama/Llama-2-13b-hf, " in err
    assert "not for Qwen/Qwen3-8B" in err


@pytest.mark.parametrize("law", ["moore", "closed_form", "ecologits_batch"])
def test_a_law_that_cannot_answer_is_refused_with_the_list(run: Run, law: str) -> None:
    code, _, err = run(law)

    assert code == 2
    assert f"expected one of {', '.join(answering_laws())}." in err


@pytest.mark.slow
def test_ecologits_0_9_takes_its_own_batch_whatever_is_asked(run: Run) -> None:
    given = {"active_params": PARAMS, "output_tokens": 300, "gpu_count": 1}
    at_64 = rivals.ecologits_0_9_j(**constants("ecologits_0_9"), **given, batch=64)

    assert answer(run, "ecologits_0_9")["energy_j"] == pytest.approx(at_64)


@pytest.mark.slow
def test_a_rule_of_thumb_without_constants_for_a_set_of_ones_own_says_so(
    run: Run, tmp_path: Path
) -> None:
    [row] = [each for each in reference_rows("law_coefficients") if each["gpu"] == "GH200"]
    overlay = tmp_path / "overlays"
    overlay.mkdir()
    with (overlay / "law_coefficients.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row | {"coefficient_set_id": "own-gh200", "stack": "own"})

    code, _, err = run("linear", "--gpu", "GH200", "--stack", "own")

    assert code == 2
    assert "has no constants for the coefficient set own-gh200; expected one of a100-" in err
