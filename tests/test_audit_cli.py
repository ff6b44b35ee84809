"""`joulebook audit`: from files to a report, or a plan; faults are one line."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from audited import audited
from typer.testing import CliRunner, Result

from pipeline.audit.answer import claims
from pipeline.audit.law import require_known
from pipeline.audit.text import text_of
from pipeline.cli import app
from pipeline.errors import IncompleteInputError, WrongUseError
from pipeline.sample.telemetry import Plan, planted_telemetry
from pipeline.sample.telemetry_load import Board
from pipeline.sample.telemetry_runs import Category

PLANTED = Plan(
    models=("meta-llama/Llama-3.1-8B", "mystery"),
    categories=(Category("General", 400, 1500), Category("Philosophical", 500, 2500, 0.3)),
    repeats=4,
)
CARD = Board(name="NVIDIA GeForce RTX 4070 Ti SUPER")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit", *words])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A log as nvidia-smi writes it, and the runs file of the same session."""
    folder = tmp_path_factory.mktemp("session")
    samples, runs = planted_telemetry(PLANTED, 3)
    log, told = folder / "power.csv", folder / "evening.csv"
    lines = samples.select(
        pl.col("sampled_at").dt.strftime("%Y/%m/%d %H:%M:%S%.3f"),
        *("gpu", "gpu_name", "power_w", "temperature_c"),
    )
    head = "timestamp, index, name, power.draw [W], temperature.gpu\n"
    rows = (f"{at}, {gpu}, {name}, {w:.2f} W, {c:.0f}\n" for at, gpu, name, w, c in lines.rows())
    log.write_text(head + "".join(rows), encoding="utf-8")
    runs.drop("true_energy_j").write_csv(told)
    return log, told


def test_a_session_is_judged_from_its_files(files: tuple[Path, Path]) -> None:
    result = run("--telemetry", str(files[0]), "--runs", str(files[1]), "--json")

    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    cells = {(row["model"], row["category"]): row for row in found["linearity"]}
    llama = cells["meta-llama/Llama-3.1-8B", "Philosophical"]
    assert found["run_set"] == "evening"
    assert found["gpu"] == "H200-SXM"
    assert found["has_coefficients"] is True
    assert llama["excess_low_frac"] < 0.29 < llama["excess_high_frac"]
    assert llama["verdict"] == "beyond the band"
    assert llama["explained_frac"] < 0.2
    assert cells["mystery", "Philosophical"]["law_multiplier_ratio"] is None
    assert found["rows_read"] == found["rows_accepted"] == 16
    assert len(found["runs"]) == 16
    assert {row["is_reproduced"] for row in found["claims"]} == {False}


def test_runs_outside_of_the_log_are_told_and_exit_as_incomplete(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    runs = pl.read_csv(files[1], infer_schema=False)
    later = [pl.col(name).str.replace("^2026", "2027") for name in ("started_at", "ended_at")]
    other = tmp_path / "later.csv"
    runs.with_columns(later).write_csv(other)

    result = run("--telemetry", str(files[0]), "--runs", str(other), "--json")

    assert isinstance(result.exception, IncompleteInputError)
    assert result.exception.exit_code == 4
    said = str(result.exception)
    assert "found the energy of none of 16 (" in said
    assert "the runs from 2027-" in said
    assert "Give --zone or --runs-zone" in said
    assert {row["energy_j"] for row in json.loads(result.stdout)["runs"]} == {None}


@pytest.mark.parametrize("gpu", ["H200-SXM", "h200-sxm", "NVIDIA H200"])
def test_a_gpu_is_known_by_each_of_its_names(gpu: str) -> None:
    assert require_known(gpu, "VLLM") == ("H200-SXM", "vLLM")


def test_the_report_reads_in_a_terminal(files: tuple[Path, Path]) -> None:
    result = run("--telemetry", str(files[0]), "--runs", str(files[1]), "--formula", "of_larger")

    assert result.exit_code == 0, result.output
    for said in (
        "divergence = |E − T| / max(E, T); band ±15%",
        "over those of 'General'",
        "mystery, Philosophical: the law knows no such model",
        "Told elsewhere, not reproduced here",
        "the second version says 0.361",
        "sensor gain",
    ):
        assert said in result.stdout


def test_a_gpu_without_coefficients_has_its_shape_judged() -> None:
    found = audited(Plan(models=("Qwen/Qwen3-8B",), repeats=3))
    other = audited(Plan(models=("Qwen/Qwen3-8B",), repeats=3, board=CARD))

    assert "coefficients of H200-SXM" in text_of(found)
    assert "RTX-4070-Ti-SUPER has no coefficients: the law is scaled by" in text_of(other)
    ratio = other.measured.select((pl.col("energy_j") / pl.col("law_j")).log().mean()).item()
    assert ratio == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected --telemetry FILE and --runs FILE, or --plan"),
        (("--formula", "best"), "expected one of of_tokens"),
        (("--quantity", "heat"), "expected one of energy"),
        (("--band", "15"), "expected a share between 0 and 1"),
        (("--gpu", "H1000"), "--gpu H1000: expected one of A10, A100"),
        (("--gpu", ""), "--gpu : expected one of A10, A100"),
        (("--stack", "vlm"), "--stack vlm: expected one of "),
        (("--stack", ""), "--stack : expected one of "),
    ],
)
def test_wrong_use_is_one_line(files: tuple[Path, Path], words: tuple[str, ...], said: str) -> None:
    given = ("--telemetry", str(files[0]), "--runs", str(files[1])) if words else ()

    result = run(*given, *words)

    assert isinstance(result.exception, WrongUseError)
    assert said in str(result.exception)


# The plan ------------------------------------------------------------------------------------


def plan(*words: str) -> list[dict[str, str]]:
    result = run("--plan", "--models", "a,b", "--categories", "General,Deep,Long", *words)
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_a_plan_has_every_cell_in_every_block_and_a_blank_run() -> None:
    rows = [row for row in plan("--repeats", "6") if row["category"] != "idle"]

    assert Counter((row["model"], row["category"]) for row in rows) == {
        (model, category): 6
        for model in ("a", "b")
        for category in ("General", "Deep", "Long", "blank")
    }
    orders = {block: [] for block in (row["block"] for row in rows)}  # type: ignore[var-annotated]
    for row in rows:
        orders[row["block"]].append(row["category"])
    assert len(orders) == 12
    assert {tuple(sorted(order)) for order in orders.values()} == {
        ("Deep", "General", "Long", "blank")
    }
    assert len({tuple(order) for order in orders.values()}) > 3
    assert len({row["run_id"] for row in rows}) == len(rows)


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    assert plan("--seed", "4") == plan("--seed", "4") != plan("--seed", "5")


def test_a_plan_with_too_few_repeats_is_refused_and_no_file_is_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "plan.csv"
    words = ("--plan", "--models", "a", "--categories", "x,y", "--out", str(target))

    assert run(*words).exit_code == 0
    assert "stands there already" in str(run(*words).exception)
    assert "expected 5 or more" in str(run(*words, "--repeats", "4").exception)
    # 1 idle + 5,000 blocks of 2 categories and 1 blank
    assert "15001 runs in all; expected at most 10000" in str(
        run(*words, "--repeats", "5000").exception
    )
    assert "2 or more different names" in str(
        run("--plan", "--models", "a", "--categories", "x").exception
    )


def test_both_versions_of_the_source_are_told() -> None:
    told = {(row["told_by"], row["model"], row["quantity"]): row["value"] for row in claims()}

    assert told["first version", "Mistral-7B", "mean divergence"] == 0.211
    assert told["second version", "Mistral-7B", "mean divergence"] == 0.361
    assert not any(row["is_reproduced"] for row in claims())
