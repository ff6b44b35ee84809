"""A model of one's own: added from its config.json, proven by its count, used by every command."""

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main
from pipeline.settings import bundled, read_settings

CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}
LOG = "occurred_at,model_name,input_tokens,output_tokens\n2026-10-05T10:00:00Z,acme/chat,900,300\n"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run joulebook in a folder that holds a config.json and nothing else."""
    monkeypatch.chdir(tmp_path)
    write(CONFIG)

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


def write(config: object, name: str = "config.json") -> None:
    Path(name).write_text(json.dumps(config), encoding="utf-8")


def overlay(table: str, folder: str = "overlays") -> list[dict[str, str]]:
    with Path(folder, f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def energy(run: Run, model: str, *more: str) -> float:
    ran = run("estimate", "--model", model, "--input", "900", "--output", "300", "--json", *more)
    assert ran.code == 0, ran.err
    return float(json.loads(ran.out)["energy_j"])


# Adding ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_added_model_can_be_estimated(run: Run) -> None:
    ran = run("models", "--add", "config.json", "--id", "acme/chat", "--params-b", "8.03")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "acme/chat: 8.03 billion parameters, 8.03 active per token, -0.00% off the stated 8.03"
    )
    assert energy(run, "acme/chat") == energy(run, "meta-llama/Llama-3.1-8B")


@pytest.mark.slow
def test_an_added_model_is_in_the_catalog_in_reports_and_named_by_their_manifest(run: Run) -> None:
    run("models", "--add", "config.json", "--id", "acme/chat")
    Path("log.csv").write_text(LOG, encoding="utf-8")
    ran = run("report", "--usage", "log.csv", "--json")
    [row] = json.loads(ran.out)["marts"]["mart_energy_per_class"]

    assert "acme/chat  dense\n" in run("models").out
    assert (row["model_id"], row["hosting_kind"]) == ("acme/chat", "self_hosted")
    assert row["energy_j"] > 0
    # The manifest names what was laid over, and no folder.
    manifest = json.loads(Path("reports/2026-10/manifest.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in manifest["overlays"]] == ["architectures.csv", "models.csv"]
    assert "overlay_folder" not in manifest["settings"]


def test_the_rows_say_where_they_come_from(run: Run) -> None:
    run("models", "--add", "config.json", "--id", "acme/chat", "--params-b", "8")
    [shape], [model] = overlay("architectures"), overlay("models")

    assert shape["source"].startswith("configuration config.json (sha256 ")
    assert shape["stated_total_params_b"] == "8"
    assert (shape["has_tied_embeddings"], shape["bytes_per_weight"]) == ("false", "2")
    assert (model["developer"], model["is_open"], model["context_tokens"]) == (
        "acme", "true", "131072",
    )  # fmt: skip


def test_the_answer_as_json_is_one_value(run: Run) -> None:
    ran = run("models", "--add", "config.json", "--id", "acme/chat", "--params-b", "8", "--json")
    answer = json.loads(ran.out)

    assert answer["total_params_b"] == 8.029995008
    assert answer["active_params_b"] == 8.029995008
    assert answer["off_frac"] == pytest.approx(0.00375, abs=1e-5)
    assert answer["architecture"]["kv_heads"] == 8
    assert answer["files"] == ["overlays/architectures.csv", "overlays/models.csv"]
    assert (answer["is_replacement"], answer["notes"]) == (False, [])


def test_without_a_stated_count_nothing_confirms_it(run: Run) -> None:
    assert "nothing confirms this reading" in run(
        "models", "--add", "config.json", "--id", "acme/chat"
    ).out  # fmt: skip


def test_notes_go_to_standard_error(run: Run) -> None:
    write(CONFIG | {"sliding_window": 4096})

    assert "note: windows and sparse attention are counted as full attention" in run(
        "models", "--add", "config.json", "--id", "acme/chat"
    ).err  # fmt: skip


def test_a_quantisation_file_beside_it_is_read(run: Run) -> None:
    write({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}},
          "hf_quant_config.json")  # fmt: skip
    run("models", "--add", "config.json", "--id", "acme/chat-fp8")
    [shape] = overlay("architectures")

    # 8 bits for 6,979,321,856 weights, 16 for embedding and head
    assert (shape["bytes_per_weight"], shape["bytes_per_kv_element"]) == ("1.131", "1")


@pytest.mark.slow
def test_adding_twice_replaces_and_adding_another_keeps(run: Run) -> None:
    run("models", "--add", "config.json", "--id", "acme/chat")
    run("models", "--add", "config.json", "--id", "acme/other")
    write(CONFIG | {"num_hidden_layers": 16})
    run("models", "--add", "config.json", "--id", "ACME/chat")

    assert [(row["architecture_id"], row["layers"]) for row in overlay("architectures")] == [
        ("acme/other", "32"),
        ("acme/chat", "16"),
    ]
    assert [row["model_id"] for row in overlay("models")] == ["acme/other", "acme/chat"]


@pytest.mark.slow
def test_a_model_of_the_catalog_can_be_replaced(run: Run) -> None:
    before = energy(run, "qwen/qwen3-8b")
    ran = run("models", "--add", "config.json", "--id", "qwen/qwen3-8b")

    assert "Qwen/Qwen3-8B was in the catalog" in ran.err
    assert overlay("models")[0]["model_id"] == "Qwen/Qwen3-8B"
    assert energy(run, "qwen3-8b") == energy(run, "meta-llama/Llama-3.1-8B") != before


def test_a_configuration_with_infinity_is_read(run: Run) -> None:
    write(CONFIG | {"time_step_limit": [0.0, float("inf")]})

    assert run("models", "--add", "config.json", "--id", "acme/chat").code == 0


@pytest.mark.slow
def test_the_settings_say_where_the_overlay_is(run: Run) -> None:
    Path("here").mkdir()
    Path("here/joulebook.toml").write_text('overlay_folder = "own/rows"\n', encoding="utf-8")
    settings = ("--config", "here/joulebook.toml")
    run("models", "--add", "config.json", "--id", "acme/chat", *settings)

    assert [row["model_id"] for row in overlay("models", "here/own/rows")] == ["acme/chat"]
    assert energy(run, "acme/chat", *settings) > 0
    assert run("estimate", "--model", "acme/chat", "--input", "9", "--output", "3").code == 2


def test_beside_settings_without_a_word_the_overlay_is_beside_them(run: Run) -> None:
    Path("here").mkdir()
    Path("here/joulebook.toml").write_text("", encoding="utf-8")
    run("models", "--add", "config.json", "--id", "a/b", "--config", "here/joulebook.toml")

    assert [row["model_id"] for row in overlay("models", "here/overlays")] == ["a/b"]


# Refusing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--add", "nowhere.json", "--id", "a/b"), 2, "nowhere.json: no such file"),
        (("--add", ".", "--id", "a/b"), 2, "no such file"),
        (("--add", "config.json"), 2, "expected --add FILE and --id NAME together"),
        (("--id", "a/b"), 2, "expected --add FILE and --id NAME together"),
        (("--params-b", "8"), 2, "expected --add FILE and --id NAME together"),
        (
            ("--add", "config.json", "--id", "a/b", "--prices", "gpt-5"),
            2,
            "expected --add FILE and --id NAME together",
        ),
        (("--add", "config.json", "--id", ""), 2, "expected a name such as acme/chat-8b"),
        (
            ("--add", "config.json", "--id", "llama3.1:8b"),
            2,
            "this is another name of meta-llama/Llama-3.1-8B",
        ),
        (
            ("--add", "config.json", "--id", "a/b", "--params-b", "0"),
            2,
            "--params-b 0: expected billions above 0",
        ),
        (
            ("--add", "config.json", "--id", "a/b", "--params-b", "7"),
            3,
            "its shape gives 8.03 billion parameters, +14.7% off the stated 7; expected within 3%",
        ),
    ],
)
def test_wrong_use_is_one_clear_line(
    run: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = run("models", *arguments)

    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not Path("overlays").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "config.json: expected JSON, found Expecting property name"),
        ("", "config.json: expected JSON, found Expecting value"),
        ("[1]", "config.json: expected one JSON object, found a list"),
        ("\udcff", "config.json: expected JSON, found 'utf-8' codec can't decode"),
        ("{}", "config.json: a/b: no number of layers found; tried num_hidden_layers, n_layer"),
        ('{"block_configs": [1]}', "config.json: a/b: every block has sizes of its own"),
    ],
)
def test_a_bad_file_is_one_clear_line(run: Run, text: str, message: str) -> None:
    Path("config.json").write_bytes(text.encode("utf-8", errors="surrogateescape"))
    ran = run("models", "--add", "config.json", "--id", "a/b")

    assert (ran.code, ran.out) == (3, "")
    assert message in ran.err
    assert not Path("overlays").exists()


@pytest.mark.parametrize(("stated", "code"), [("8.2", 0), ("7.8", 0), ("8.3", 3), ("7.79", 3)])
def test_a_count_may_be_three_percent_off(run: Run, stated: str, code: int) -> None:
    ran = run("models", "--add", "config.json", "--id", "acme/chat", "--params-b", stated)

    assert ran.code == code


# Overlays by hand --------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_of_other_tables_may_be_laid_over_too(run: Run) -> None:
    Path("overlays").mkdir()
    Path("overlays/model_aliases.csv").write_text(
        "alias,model_id,valid_from,valid_to,source,source_date\n"
        "prod,Qwen/Qwen3-8B,,,our gateway,2026-11-30\n",
        encoding="utf-8",
    )

    assert energy(run, "prod") == energy(run, "Qwen/Qwen3-8B")


@pytest.mark.slow
def test_an_overlay_row_takes_the_place_of_the_bundled_one(run: Run) -> None:
    Path("overlays").mkdir()
    Path("overlays/gpus.csv").write_text(
        "gpu,memory_gb,board_power_w,source,source_date\n"
        "h100-sxm,16,700,a cut-down card,2026-11-30\n",
        encoding="utf-8",
    )
    ran = run("estimate", "--model", "Qwen/Qwen3-8B", "--input", "9", "--output", "3", "--json")

    # 2 bytes · 8.19 billion weights and a fifth do not fit into 16 GB
    assert [json.loads(ran.out)[name] for name in ("gpu", "gpu_count", "coefficient_set_id")] == [
        "H100-SXM",
        2,
        "h100-sxm-vllm-1",
    ]


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("grades.csv", "a\n1\n", 2, "grades.csv: no table of this name can be added to"),
        ("prices.csv", "a\n1\n", 3, "not known: a"),
        ("gpus.csv", "gpu,memory_gb\nx,1\n", 3, "missing: board_power_w, source, source_date"),
        (
            "gpus.csv",
            "gpu,memory_gb,board_power_w,source,source_date,colour\nx,1,1,s,d,red\n",
            3,
            "not known: colour",
        ),
        (
            "gpus.csv",
            "gpu,memory_gb,board_power_w,source,source_date\nx,1,1,s,2026-11-30\nX,2,1,s,2026-11-30\n",
            3,
            "gpus.csv, row 3: X stands there twice; the first is row 2",
        ),
        (
            "gpus.csv",
            "gpu,memory_gb,board_power_w,source,source_date\nx,much,1,s,2026-11-30\n",
            3,
            "gpus.csv, row 2, column memory_gb: expected a number of 0 or more, found 'much'",
        ),
    ],
)
def test_an_overlay_that_does_not_fit_is_refused(
    run: Run, name: str, text: str, code: int, message: str
) -> None:
    Path("overlays").mkdir()
    Path("overlays", name).write_text(text, encoding="utf-8")
    ran = run("models")

    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err


def test_a_model_is_not_added_to_a_file_of_other_columns(run: Run) -> None:
    run("models", "--add", "config.json", "--id", "acme/chat")
    path = Path("overlays/models.csv")
    path.write_text(path.read_text(encoding="utf-8").replace("is_open", "open"), encoding="utf-8")

    assert run("models", "--add", "config.json", "--id", "acme/other").code == 3
    assert len(overlay("architectures")) == 1


def test_the_bundled_sample_takes_no_overlay_from_here() -> None:
    settings = read_settings(bundled("data/sample/joulebook.toml"))

    assert settings.overlay_folder == bundled("data/sample/overlays")
