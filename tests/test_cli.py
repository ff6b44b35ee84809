"""The commands as a user meets them: answers, exit codes, one clear line for every mistake."""

import contextlib
import gzip
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import made_once
from overlay_files import overlay_folder
from test_language import texts, untranslated
from typer.testing import CliRunner

from pipeline import job
from pipeline.cli import app, main
from pipeline.marts import MARTS
from pipeline.reference import reference_rows
from pipeline.report.assemble import build_report
from pipeline.report.section import Report

Run = Callable[..., "Ran"]

QWEN = ["estimate", "--model", "Qwen/Qwen3-8B", "--input", "1", "--output", "1"]
HEADER = "occurred_at,model_name,input_tokens,output_tokens\n"
ROW = "2026-10-05T10:00:00Z,meta-llama/Llama-3.1-8B,900,300\n"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401  # JSON may be anything
        """Return standard output as its one JSON value."""
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run joulebook in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["joulebook", *arguments])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(HEADER + ROW, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def good_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a report of the good file makes and prints, to be read or copied."""

    def make(folder: Path) -> None:
        (folder / "good.csv").write_text(HEADER + ROW, encoding="utf-8")
        with contextlib.chdir(folder):
            words = ["report", "--usage", "good.csv", "--assume", "batch=1", "--out", "out"]
            ran = CliRunner().invoke(app, words, catch_exceptions=False)
        assert ran.exit_code == 0, ran.stderr
        (folder / "said.txt").write_text(ran.stdout, encoding="utf-8")

    return made_once(tmp_path_factory, "good-report", make)


ESTIMATE_KEYS = [
    "model_id",
    "gpu",
    "stack",
    "law",
    "coefficient_set_id",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "batch",
    "effective_batch",
    "gpu_count",
    "prefill_energy_j",
    "kv_cache_energy_j",
    "next_token_energy_j",
    "energy_j",
    "bias_factor",
    "gpu_energy_j",
    "energy_low_j",
    "energy_high_j",
    "optimum_output_tokens",
    "evidence_grade",
    "facility_energy_kwh",
    "list_cost_usd",
    "energy_cost_usd",
    "carbon_gco2e",
]


def estimate(run: Run, model: str, n: int, m: int, *more: str) -> Any:  # noqa: ANN401
    """Return the JSON answer of an estimate."""
    ran = run("estimate", "--model", model, "--input", str(n), "--output", str(m), "--json", *more)
    assert ran.code == 0, ran.err
    return ran.json


@pytest.mark.slow
def test_estimate_gives_the_worked_example_to_its_last_digit(run: Run) -> None:
    answer = estimate(run, "meta-llama/Llama-3.1-8B", 900, 300)

    assert list(answer) == ESTIMATE_KEYS
    assert round(answer["prefill_energy_j"], 6) == 15.318907
    assert round(answer["kv_cache_energy_j"], 6) == 10.724827
    assert round(answer["next_token_energy_j"], 6) == 850.990486
    assert round(answer["energy_j"], 6) == 877.034220
    assert answer["gpu_energy_j"] == pytest.approx(877.0342204140421 * 1.15, rel=1e-12)
    assert answer["energy_low_j"] < answer["gpu_energy_j"] < answer["energy_high_j"]
    # × 1.43 host × 1.12 idle × 1.20 PUE ÷ 3.6 MJ; × 473 g; × 0.10 USD
    kwh = 877.0342204140421 * 1.15 * 1.43 * 1.12 * 1.2 / 3.6e6
    assert answer["facility_energy_kwh"] == pytest.approx(kwh, rel=1e-12)
    assert answer["carbon_gco2e"] == pytest.approx(kwh * 473, rel=1e-12)
    assert Decimal(answer["energy_cost_usd"]) == Decimal("0.000053845")
    assert round(answer["optimum_output_tokens"], 2) == 947.79


@pytest.mark.slow
def test_estimate_says_that_it_assumes_batch_1_and_only_then(run: Run) -> None:
    arguments = ("estimate", "--model", "Qwen/Qwen3-8B", "--input", "9", "--output", "9")

    assert "batch 1 is assumed" in run(*arguments).err
    assert "assumed" not in run(*arguments, "--batch", "2").err


@pytest.mark.slow
def test_a_closed_model_is_the_geometric_mean_of_its_stand_ins(run: Run) -> None:
    stand_ins = ("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-120b")
    options = (500, 400, "--batch", "64")
    product = 1.0
    for model in stand_ins:
        product *= estimate(run, model, *options)["gpu_energy_j"]

    answer = estimate(run, "gpt-5-mini", *options)

    assert answer["gpu_energy_j"] == pytest.approx(product ** (1 / 3), rel=1e-9)
    assert answer["evidence_grade"] == "D"
    # gpt-5-mini: 500 · 0.25 + 400 · 2.00 = 925 millionths of a dollar
    assert answer["list_cost_usd"] == "0.000925"


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gpt-5-nano", "gpt-4o", "gpt-5"])
def test_each_tier_lies_among_the_published_anchors(run: Run, model: str) -> None:
    answer = estimate(run, model, 500, 400, "--batch", "64")
    facility_wh = answer["facility_energy_kwh"] * 1000

    beside = [row for row in reference_rows("anchors") if row["boundary"] == "facility"]
    published = "; ".join(f"{row['publisher']} {row['energy_wh']}" for row in beside)
    print(f"{model}: {facility_wh:.3f} Wh; published: {published} Wh")
    assert {"Google", "OpenAI"} <= {row["publisher"] for row in beside}
    assert 0.02 <= facility_wh <= 1.0


@pytest.mark.slow
def test_a_cache_that_does_not_fit_lowers_the_batch(run: Run) -> None:
    # (0.9 · 80e9 − 16.06e9) / (131,072 · 68,300) = 6.2…
    answer = estimate(run, "meta-llama/Llama-3.1-8B", 68_000, 300, "--batch", "64")

    assert (answer["batch"], answer["effective_batch"]) == (64, 6)


@pytest.mark.slow
def test_a_what_if_architecture_moves_the_energy_as_its_bytes_do(run: Run) -> None:
    grouped = estimate(run, "meta-llama/Llama-3.1-8B", 900, 300)
    multi_head = estimate(run, "meta-llama/Llama-3.1-8B", 900, 300, "--arch", "kv_heads=32")

    # four times the KV bytes; the attention FLOP (0.1973… J of 10.72) do not change
    attention_j = 1.199e-12 * 164_600_217_600
    assert multi_head["kv_cache_energy_j"] - attention_j == pytest.approx(
        4 * (grouped["kv_cache_energy_j"] - attention_j), rel=1e-9
    )


@pytest.mark.slow
def test_report_leaves_a_complete_folder_and_nothing_else(good_report: Path) -> None:
    said = (good_report / "said.txt").read_text(encoding="utf-8")
    assert said.startswith("out/2026-10: 1 requests, no price known, 0.0005385 kWh (")
    files = sorted(
        path.relative_to(good_report / "out").as_posix()
        for path in (good_report / "out").rglob("*")
        if path.is_file()
    )
    assert files == [
        *(f"2026-10/data/{name}.parquet" for name in sorted(MARTS)),
        "2026-10/data/requests.parquet",
        "2026-10/focus.csv",
        "2026-10/index.html",
        "2026-10/joulebook-2026-10.xlsx",
        "2026-10/manifest.json",
    ]


@pytest.mark.slow
def test_the_sample_has_the_same_bytes_twice_and_a_page_to_mail(
    run: Run, sample_report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Path(__file__).parent.parent / "data/sample/joulebook.toml"
    made: list[Report] = []

    def built(*facts: Any) -> Report:  # noqa: ANN401 passed on
        made.append(build_report(*facts))
        return made[-1]

    monkeypatch.setattr(job, "build_report", built)

    assert run("report", "--config", str(config), "--out", "again").code == 0

    def hashes(folder: Path) -> dict[str, str]:
        return {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    assert hashes(tmp_path / "again") == hashes(sample_report / "reports")
    page = (tmp_path / "again/2026-10/index.html").read_text(encoding="utf-8")
    assert len(page.encode()) <= 500_000
    assert max(len(image) for image in re.findall(r"data:image/svg[^\"]*", page)) <= 30_000
    assert untranslated(texts(made[0])) == []  # and all of it can be said in Spanish


@pytest.mark.slow
def test_the_manifest_names_inputs_rows_and_outputs_with_hashes(good_report: Path) -> None:
    good, folder = good_report / "good.csv", good_report / "out/2026-10"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (source,) = manifest["inputs"]
    assert source["sha256"] == hashlib.sha256(good.read_bytes()).hexdigest()
    assert (source["rows_read"], source["rows_accepted"]) == (1, 1)
    for output in manifest["outputs"]:
        content = (folder / output["name"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == output["sha256"]
    assert len(manifest["outputs"]) == len(MARTS) + 4  # workbook, page, FOCUS rows and requests


@pytest.mark.slow
def test_the_sample_ties_to_the_cent_across_json_parquet_and_focus(sample_report: Path) -> None:
    told = json.loads((sample_report / "answer.json").read_text(encoding="utf-8"))

    assert told["month"] == "2026-10"
    teams = [Decimal(row["cost_usd"]) for row in told["marts"]["mart_team_chargeback"]]
    classes = [
        Decimal(row["cost_usd"])
        for row in told["marts"]["mart_cost_per_task"]
        if row["cost_usd"] is not None
    ]
    folder = sample_report / "reports/2026-10"
    parquet = pl.read_parquet(folder / "data/mart_team_chargeback.parquet")["cost_usd"].sum()
    focus = pl.read_csv(folder / "focus.csv", infer_schema=False)
    billed = sum((Decimal(cost) for cost in focus["BilledCost"]), Decimal())
    bridge = {
        row["step_id"]: row["cost_usd"] and Decimal(row["cost_usd"])
        for row in told["marts"]["mart_cost_bridge"]
    }
    assert sum(teams) == sum(classes) == Decimal(str(parquet)).normalize() == bridge["09"]
    assert billed == bridge["14"] == sum(classes) + bridge["11"] + bridge["12"]
    assert told["marts"]["mart_coverage"][0]["request_count"] == 20_236


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["report", "--usage", "nowhere.csv"], 2, "nowhere.csv: no such file or folder"),
        (["report", "--usage", "good.csv", "--month", "2026-13"], 2, "expected YYYY-MM"),
        pytest.param(
            *(["report", "--usage", "good.csv", "--month", "2025-01"], 4, "logs hold 2026-10"),
            marks=pytest.mark.slow,
        ),
        (["report", "--usage", "good.csv", "--assume", "modell=x"], 2, "unknown key 'modell'"),
        (["report", "--usage", "good.csv", "--assume", "batch=0"], 2, "expected a batch of 1"),
        (["report", "--usage", "good.csv", "--assume", "batch=nan"], 2, "expected a batch of 1"),
        (
            ["report", "--usage", "good.csv", "--assume", "gpu=H1000"],
            2,
            "expected one of A10, A100",
        ),
        (["report", "--usage", "good.csv", "--assume", "class=talk"], 2, "expected one of agentic"),
        (["report", "--usage", "good.csv", "--assume", "start=noon"], 2, "is no time"),
        (["report", "--usage", "good.csv", "--assume", "model=gpt-99"], 2, "not in the catalog"),
        (["report", "--usage", "empty.csv"], 4, "found an empty file"),
        (["report", "--usage", "other.csv"], 3, "expected a usage log"),
        (["report", "--usage", "short.csv"], 3, "general form with output_tokens"),
        (["report", "--usage", "broken.csv.gz"], 3, "whole gzip file"),
        (["report", "--usage", "bad.csv"], 3, "tokens_negative"),
        pytest.param(
            *(["report", "--usage", "all_bad.csv"], 4, "occurred_at_unreadable"),
            marks=pytest.mark.slow,
        ),
        (["report", "--config", "nowhere.toml"], 2, "no such settings file"),
        (["report", "--config", "broken.toml"], 2, "expected TOML"),
        (["report", "--config", "typo.toml"], 2, "unknown key(s) time_zon"),
        (["report", "--config", "copies.toml"], 2, "deployments.replicas = 0; expected 1"),
        (["report", "--config", "zone.toml"], 2, "time_zone = 'Mars/Base'"),
        (["report", "--config", "grid.toml"], 2, "no grid factor for zone 'Atlantis'"),
        (["report", "--config", "assumption.toml"], 2, "no assumption 'pue'"),
        (["report", "--config", "type.toml"], 2, "max_bad_frac"),
        (["report", "--nonsense"], 2, "--nonsense"),
        (["report", "--usage", "good.csv", "--engine", "trino"], 2, "expected duckdb or spark"),
        (["report", "--spark-master", "local[2]"], 2, "expected --engine spark beside it"),
        (["report", "--usage", "good.csv", "--lang", "fr"], 2, "expected en or es"),
        (["ingest", "nowhere.csv"], 2, "nowhere.csv: no such file"),
        (["ingest", "other.csv"], 3, "expected a usage log"),
        (
            ["estimate", "--model", "gpt-99", "--input", "1", "--output", "1"],
            2,
            "not in the catalog",
        ),
        (["estimate", "--model", "gpt-5", "--input", "0", "--output", "1"], 2, "at least 1 token"),
        (["estimate", "--model", "gpt-5", "--input", "1", "--output", "-1"], 2, "0 or more"),
        (
            ["estimate", "--model", "gpt-5", "--input", "5", "--output", "1", "--cached", "6"],
            2,
            "expected 0 to 5",
        ),
        (
            ["estimate", "--model", "gpt-5", "--input", "1", "--output", "1", "--batch", "0.5"],
            2,
            "1 or more",
        ),
        (
            ["estimate", "--model", "gpt-5", "--input", "1", "--output", "1", "--gpu", "abacus"],
            2,
            "not known",
        ),
        (
            ["estimate", "--model", "gpt-5", "--input", "1", "--output", "1", "--law", "moore"],
            2,
            "expected one of simple",
        ),
        (
            ["estimate", "--model", "gpt-5", "--input", "1", "--output", "1", "--arch", "layers=2"],
            2,
            "not public",
        ),
        ([*QWEN, "--arch", "layers=1.5"], 2, "layers=1.5; expected a whole number above 0"),
        ([*QWEN, "--arch", "bytes_per_weight=nan"], 2, "expected a number above 0"),
        ([*QWEN, "--arch", "layers=1000000000"], 2, "expected numbers that a model may have"),
        ([*QWEN, "--arch", "heads=99999999999"], 2, "expected numbers that a model may have"),
        ([*QWEN, "--gpus", "99999999999"], 2, "at most 1000000"),
        (
            [
                "estimate",
                "--model",
                "meta-llama/Llama-3.1-8B",
                "--input",
                "900000",
                "--output",
                "1",
            ],
            2,
            "does not fit",
        ),
        (["models", "--prices", "gpt-99"], 2, "no list price"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_a_mistake_is_one_clear_line_and_its_exit_code(
    run: Run, good: Path, arguments: list[str], code: int, words: str
) -> None:
    folder = good.parent
    files = {
        "empty.csv": "",
        "other.csv": "a,b\n1,2\n",
        "short.csv": "occurred_at,model_name,input_tokens\n",
        "bad.csv": HEADER + ROW.replace("300", "-300") * 11,
        "all_bad.csv": HEADER + ROW.replace("2026-10-05T10:00:00Z", "soon"),
        "broken.toml": "inputs = [",
        "typo.toml": 'time_zon = "UTC"',
        "copies.toml": '[[deployments]]\nmodel = "Qwen/Qwen3-8B"\nreplicas = 0',
        "zone.toml": 'time_zone = "Mars/Base"',
        "grid.toml": 'grid_zone = "Atlantis"\n[[inputs]]\npath = "good.csv"',
        "assumption.toml": '[assumptions]\npue = 1\n[[inputs]]\npath = "good.csv"',
        "type.toml": 'max_bad_frac = "all"',
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "broken.csv.gz").write_bytes(gzip.compress((HEADER + ROW * 999).encode())[:-9])

    ran = run(*arguments)

    assert (ran.code, words in ran.err) == (code, True), ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
    reports = folder / "reports"
    assert not reports.exists() or list(reports.iterdir()) == []


@pytest.mark.slow
def test_a_failed_report_leaves_the_old_one_as_it_was(
    run: Run, good: Path, good_report: Path
) -> None:
    shutil.copytree(good_report / "out", good.parent / "out")
    before = (good.parent / "out/2026-10/manifest.json").read_bytes()
    good.write_text(HEADER + ROW.replace("300", "-300") * 11, encoding="utf-8")

    assert run("report", "--usage", "good.csv", "--out", "out").code == 3

    assert (good.parent / "out/2026-10/manifest.json").read_bytes() == before
    assert [path.name for path in (good.parent / "out").iterdir()] == ["2026-10"]


def test_ingest_says_what_is_in_a_file(run: Run, good: Path) -> None:
    ran = run("ingest", "good.csv", "--json")

    assert ran.json == [
        {
            "path": "good.csv",
            "format": "general",
            "rows_read": 1,
            "rows_accepted": 1,
            "rows_rejected": 0,
            "rows_duplicate": 0,
            "uncached_input_tokens": 900,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "output_tokens": 300,
            "reasoning_tokens": 0,
            "billed_cost_usd": None,
            "rejected_by_reason": {},
            "models": [
                {
                    "name": "meta-llama/Llama-3.1-8B",
                    "model_id": "meta-llama/Llama-3.1-8B",
                    "rows": 1,
                }
            ],
            "identities_checked": [],
            "unknown_columns": [],
        }
    ]


@pytest.mark.slow
def test_settings_here_are_used_and_usage_alone_is_not_mixed_with_them(
    run: Run, good: Path
) -> None:
    (good.parent / "joulebook.toml").write_text(
        '[[inputs]]\npath = "good.csv"\nassume = { team = "research", provider = "vllm" }\n'
        '[[deployments]]\nmodel = "meta-llama/Llama-3.1-8B"\ngpu = "h200-sxm"\nbatch = 4\n'
        "[assumptions]\npue_ratio = 1.0\n",
        encoding="utf-8",
    )

    settled = run("report", "--out", "out", "--json").json["marts"]
    alone = run("report", "--usage", "good.csv", "--out", "out", "--json").json["marts"]

    (row,) = settled["mart_energy_per_class"]
    assert (row["gpu"], row["batch"], row["provider"]) == ("H200-SXM", 4, "vllm")
    # facility = GPU energy × 1.43 × 1.12 × 1.0 ÷ 3.6 MJ
    assert row["facility_energy_kwh"] == pytest.approx(
        row["gpu_energy_j"] * 1.43 * 1.12 / 3.6e6, rel=1e-12
    )
    assert [team["team"] for team in settled["mart_team_chargeback"]] == ["research"]
    assert [team["team"] for team in alone["mart_team_chargeback"]] == [None]


def test_models_lists_the_catalog_and_dated_prices(run: Run) -> None:
    catalog = {row["model_id"]: row for row in run("models", "--json").json}
    prices = run("models", "--prices", "o3", "--json").json

    assert catalog["deepseek-ai/DeepSeek-V3"]["architecture_class"] == "mla"
    assert catalog["gpt-5"]["stand_in_tier"] == "large"
    openai_input = [
        (row["valid_from"], row["usd_per_mtok"])
        for row in prices
        if row["provider"] == "openai"
        and row["token_kind"] == "uncached_input"  # noqa: S105  # no secret, a kind of token
        and row["service_tier"] == "standard"
    ]
    assert openai_input == [("2025-06-10", "2"), (None, "10")]


def test_doctor_finds_this_machine_fit(run: Run) -> None:
    rows = run("doctor", "--json").json

    assert [row["name"] for row in rows if not row["is_ok"]] == []
    assert {"duckdb", "reference tables", "bundled data/sample"} <= {row["name"] for row in rows}


@pytest.mark.parametrize("command", ["report", "ingest", "estimate", "models", "doctor"])
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    assert f"Example: joulebook {command}" in run(command, "--help").out


# Prices of one's own -----------------------------------------------------------------------------

OWN_PRICE = "openai,gpt-5-mini,output,standard,0,2026-09-01,2026-12-01,,,,1.90,offer,2026-09-01"


@pytest.fixture
def own_price(tmp_path: Path) -> None:
    overlay_folder(tmp_path / "overlays", {"prices": [OWN_PRICE]})


@pytest.mark.usefixtures("own_price")
def test_models_shows_an_own_price_beside_the_lists_and_marks_both(run: Run) -> None:
    rows = run("models", "--prices", "gpt-5-mini", "--json").json
    outputs = [
        row for row in rows if (row["token_kind"], row["service_tier"]) == ("output", "standard")
    ]

    assert [
        (row["is_own"], row["usd_per_mtok"], row["valid_from"], row["is_disagreement"])
        for row in sorted(outputs, key=lambda row: bool(row["is_own"]))
    ] == [(False, "2", None, True), (True, "1.9", "2026-09-01", True)]
    assert [row for row in rows if row["is_disagreement"] and row not in outputs] == []


@pytest.mark.usefixtures("own_price")
def test_models_says_in_words_which_price_differs(run: Run) -> None:
    lines = run("models", "--prices", "gpt-5-mini").out.splitlines()

    assert [line for line in lines if line.endswith("  own  differs from the list")] == [
        "openai  gpt-5-mini  standard  output  from 0 input tokens  2026-09-01 to 2026-12-01  "
        "1.9 USD per million  own  differs from the list"
    ]
    assert len([line for line in lines if line.endswith("  own price differs")]) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("own_price")
def test_a_report_counts_the_own_prices_that_differ_and_uses_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "usage.csv").write_text(
        "occurred_at,provider,model_name,input_tokens,output_tokens\n"
        "2026-10-05T10:00:00Z,openai,gpt-5-mini,0,1000000\n",
        encoding="utf-8",
    )
    ran = run("report", "--usage", "usage.csv", "--json")

    assert "1 rows go against 'own prices agree with the list'" in ran.err
    [row] = ran.json["marts"]["mart_cost_per_task"]
    assert Decimal(row["list_cost_usd"]) == Decimal("1.9")


@pytest.mark.slow
def test_ingest_lists_a_bad_file_of_a_folder_with_its_rows_and_goes_on(
    run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    head = "occurred_at,model_name,input_tokens,output_tokens\n"
    row = "2026-10-05T10:00:00Z,gpt-5-mini,900,300\n"
    (folder / "a-bad.csv").write_text(head + "no time,gpt-5-mini,900,300\n" * 20, "utf-8")
    (folder / "b-good.csv").write_text(head + row, "utf-8")

    ran = run("ingest", "logs", "--json")

    assert ran.code == 0
    bad, good = ran.json
    assert (bad["rows_read"], bad["rows_accepted"], bad["rows_rejected"]) == (20, 0, 20)
    assert bad["rejected_by_reason"] == {"occurred_at_unreadable": 20}
    assert "expected at most 1% bad rows, found 20 of 20" in bad["reason"]
    assert (good["rows_accepted"], "reason" in good) == (1, False)
    assert "BAD FILE, which would stop a report" in run("ingest", "logs").out
    assert run("ingest", "logs/a-bad.csv").code == 3
    assert run("report", "--usage", "logs", "--out", "out").code == 3
