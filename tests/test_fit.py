"""Planted coefficients are found again, doubt is told, and bad input is one clear line."""

import csv
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import rows_of
from planted import MODELS, NAMES, PRICES, STEP_PRICES, measurement, planted, write

from pipeline import warehouse
from pipeline.cli import main
from pipeline.errors import BadInputError, IncompleteInputError, JoulebookError, WrongUseError
from pipeline.laws import work
from pipeline.reference import reference_rows
from pipeline.validation.fit import fit
from pipeline.validation.fit_answer import answer, coefficient_row
from pipeline.validation.measured_work import Coefficients, Measurement, energy_j, terms, work_of
from pipeline.validation.measurements import (
    NOT_DENSE,
    OVERFLOW,
    UNKNOWN_MODEL,
    Reading,
    Subset,
    read_measurements,
)
from pipeline.validation.naming import MODEL_COLUMNS, bytes_per_weight

SET_COLUMNS = list(reference_rows("law_coefficients")[0])
HEADER = "model,gpu,n_in,n_out,batch,energy_j_req\n"


def priced(row: Measurement, prices: Coefficients = PRICES) -> Measurement:
    return replace(row, energy_j=energy_j(row, prices))


def read(path: Path, **subset: Any) -> Reading:  # noqa: ANN401  # what a Subset takes
    return read_measurements(path, Subset(**subset))


# Found again -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "prices"), [("layer", PRICES), ("step", STEP_PRICES)])
def test_planted_coefficients_are_found_again(form: str, prices: Coefficients) -> None:
    found = fit(planted(prices))

    assert found.form == form
    assert found.coefficients == pytest.approx(prices, rel=1e-6)
    assert found.errors.mape_in_sample_frac < 1e-9
    assert found.unidentified == {}


def test_both_step_costs_are_found_together() -> None:
    prices = PRICES._replace(s_j_per_step=0.2)

    assert fit(planted(prices), "both").coefficients == pytest.approx(prices, rel=1e-6)


def test_with_noise_the_truth_lies_in_the_intervals() -> None:
    found = fit(planted(noise=0.1, seed=2))

    for name, (low, high) in found.intervals.items():
        assert low < getattr(PRICES, name) < high
    assert 0.03 < found.errors.mape_in_sample_frac < 0.06
    assert found.errors.mape_leave_one_architecture_out_frac is not None
    assert found.errors.mape_leave_one_architecture_out_frac > found.errors.mape_in_sample_frac


def test_the_same_rows_give_the_same_intervals() -> None:
    assert fit(planted(noise=0.05)) == fit(planted(noise=0.05))


def test_the_terms_are_the_law_itself() -> None:
    row = measurement("meta-llama/Llama-3.1-8B", 900, 300, 4)

    total_j = sum(price * term for price, term in zip(PRICES, terms(row), strict=True))

    assert total_j == pytest.approx(energy_j(row, PRICES))


# Not identified ----------------------------------------------------------------------------------


def test_a_price_that_the_rows_do_not_show_is_fitted_at_0_and_said() -> None:
    found = fit(planted(PRICES._replace(s_j_per_layer_step=0)))

    assert found.coefficients.s_j_per_layer_step == pytest.approx(0, abs=1e-9)
    assert set(found.unidentified) == {"s_j_per_layer_step"}


def test_two_architectures_give_no_interval_and_no_error_on_unseen_ones() -> None:
    found = fit(planted(models=["meta-llama/Llama-2-7b-hf", "meta-llama/Llama-3.1-8B"]))

    assert found.intervals == {}
    assert found.errors.mape_leave_one_architecture_out_frac is None
    assert len(found.unidentified) == 4


def test_weights_and_steps_of_models_of_one_size_move_together() -> None:
    found = fit(planted(models=["meta-llama/Llama-2-7b-hf", "meta-llama/Llama-3.1-8B"]))

    assert "moves together with s_j_per_layer_step" in found.unidentified["c_j_per_weight_byte"]


def test_models_that_differ_in_vocabulary_alone_are_one_architecture() -> None:
    same_body = ["meta-llama/Llama-3.1-8B", "mistralai/Mistral-7B-v0.3"]

    assert len(fit(planted(models=[*same_body, "Qwen/Qwen2.5-3B"])).architectures) == 2


# Refused -----------------------------------------------------------------------------------------


def test_rows_of_one_architecture_are_refused_with_what_they_still_say() -> None:
    with pytest.raises(BadInputError, match=r"one architecture.*still be said: .* J per output"):
        fit(planted(models=["meta-llama/Llama-3.1-8B"]))


def test_fewer_rows_than_coefficients_are_refused() -> None:
    with pytest.raises(BadInputError, match="3 rows are too few for 4 coefficients"):
        fit(planted()[::10][:3])


@pytest.mark.parametrize(
    ("scale", "unit"),
    [(1000, "mJ"), (1 / 1000, "kJ"), (1 / 3600, "Wh"), (1e6, "µJ"), (1 / 3.6e6, "kWh")],
)
def test_energies_in_another_unit_are_detected(tmp_path: Path, scale: float, unit: str) -> None:
    path = write(tmp_path / "runs.csv", planted(), scale)

    with pytest.raises(BadInputError, match=rf"must be joules per request.*look like.*{unit}"):
        read(path)


@pytest.mark.parametrize("missing", HEADER.strip().split(","))
def test_a_missing_column_is_named(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(HEADER.replace(missing, "other") + "a,b,1,1,1,1\n", encoding="utf-8")

    with pytest.raises(BadInputError, match=f"no column {missing}; .* found .*other"):
        read(path)


def test_a_file_of_unknown_models_is_refused_with_their_names(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(HEADER + "acme/acme-9b,H100,1,1,1,1\n", encoding="utf-8")

    with pytest.raises(WrongUseError, match=r"1 × model is not known.*acme/acme-9b.*--models"):
        read(path)


def test_a_file_without_rows_is_incomplete(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(HEADER, encoding="utf-8")

    with pytest.raises(IncompleteInputError, match="no rows"):
        read(path)


def test_a_file_that_is_not_there_or_no_csv_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "runs.csv.gz"
    broken.write_bytes(b"\x1f\x8bnonsense")

    with pytest.raises(WrongUseError, match="no such file"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(BadInputError, match="expected CSV"):
        read(broken)


def test_a_subset_that_is_not_there_is_refused_with_what_is(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.csv", planted())

    with pytest.raises(WrongUseError, match=r"no row for --gpu B200.*gpu: H200-SXM; stack: vllm"):
        read(path, gpu="B200")


# Left out by rule --------------------------------------------------------------------------------


def test_a_batch_that_overflows_the_cache_is_left_out(tmp_path: Path) -> None:
    # (0.9 · 141e9 − 13.5e9) / (524,288 · 2,048) = 105.6
    fits, overflows = (
        priced(measurement("meta-llama/Llama-2-7b-hf", 1024, 1024, batch)) for batch in (105, 106)
    )

    found = read(write(tmp_path / "runs.csv", [fits, overflows]))

    assert [row.batch for row in found.rows] == [105]
    assert found.left_out == {OVERFLOW: 1}


def test_an_unknown_model_among_others_is_left_out_and_named(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.csv", planted())
    with path.open("a", encoding="utf-8") as file:
        file.write("planted,H200,vllm,acme/acme-9b,bf16,1,1,1,1,1\n")

    found = read(path)

    assert found.left_out == {UNKNOWN_MODEL: 1}
    assert found.unknown_models == {"acme/acme-9b"}


def test_dense_leaves_out_experts_and_weights_below_16_bits(tmp_path: Path) -> None:
    rows = [priced(measurement(name, 64, 64, 1)) for name in (MODELS[0], "Qwen/Qwen3-30B-A3B")]
    path = write(tmp_path / "runs.csv", rows)
    path.write_text(
        path.read_text(encoding="utf-8") + "planted,H200,vllm,Qwen/Qwen2.5-3B,int8,64,64,1,1,50\n",
        encoding="utf-8",
    )

    found = read(path, is_dense=True)

    assert [row.shape.architecture_id for row in found.rows] == [MODELS[0]]
    assert found.left_out == {NOT_DENSE: 2}


@pytest.mark.parametrize(("m", "kind"), [(480, "dense"), (481, "window")])
def test_a_window_that_is_not_filled_is_dense(tmp_path: Path, m: int, kind: str) -> None:
    row = priced(measurement("google/gemma-2-9b", 32, m, 1))

    [found] = read(write(tmp_path / "runs.csv", [row])).rows

    assert found.architecture_class == kind


# Read as they are --------------------------------------------------------------------------------


def test_a_gzipped_file_is_read_and_names_are_understood(tmp_path: Path) -> None:
    rows = [replace(row, gpu="H200-vllm0.10") for row in planted()]

    found = read(write(tmp_path / "runs.csv.gz", rows), gpu="h200", stack="VLLM")

    assert len(found.rows) == len(rows)
    assert {(row.gpu, row.stack) for row in found.rows} == {("H200-SXM", "vllm")}
    assert [row.energy_j for row in found.rows] == [row.energy_j for row in rows]


def test_shapes_come_from_a_file_beside_the_measurements(tmp_path: Path) -> None:
    llama = "acme/acme-8b,32,4096,32,8,128,14336,3,128256,False,1,1\n"
    (tmp_path / "model_configs.csv").write_text(
        ",".join(MODEL_COLUMNS) + "\n" + llama, encoding="utf-8"
    )
    path = tmp_path / "runs.csv"
    path.write_text(HEADER + "acme/acme-8b,H100,900,300,1,877\n", encoding="utf-8")

    [row] = read(path).rows

    assert row.shape.body_params == 6_979_321_856
    assert (row.dataset, row.stack, row.gpu_count, row.phase) == ("runs", "", 1, "total")


@pytest.mark.parametrize(
    ("word", "size"), [("", 0.558), ("bfloat16", 2), ("FP8", 1), ("q8_0", 1.0625), ("abc", None)]
)
def test_words_for_precision_are_bytes(word: str, size: float | None) -> None:
    shape = NAMES.shape("openai/gpt-oss-120b")

    assert shape is not None
    assert bytes_per_weight(word, shape) == size


@pytest.mark.parametrize(
    "name", ["Mistral-7B-Instruct-v0.3.Q4_K_M.gguf", "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"]
)
def test_a_precision_in_a_name_is_no_part_of_the_model(name: str) -> None:
    assert NAMES.shape(name) is not None


# Work --------------------------------------------------------------------------------------------


def test_prefill_and_decode_add_up_to_the_whole() -> None:
    row = measurement("meta-llama/Llama-3.1-8B", 900, 300, 4)

    phases_j = [energy_j(replace(row, phase=each), PRICES) for each in ("prefill", "decode")]

    assert sum(phases_j) == pytest.approx(energy_j(row, PRICES))


def test_without_a_cache_every_pass_is_a_prefill() -> None:
    row = measurement("meta-llama/Llama-3.1-8B", 90, 5, 1)
    prefills = [work_of(replace(row, input_tokens=n, phase="prefill")) for n in range(90, 95)]

    done = work_of(replace(row, has_kv_cache=False))

    assert done.prefill_flop == pytest.approx(sum(each.prefill_flop for each in prefills))
    assert done.weight_read_bytes == sum(each.weight_read_bytes for each in prefills)
    assert done.kv_read_bytes == done.decode_flop == 0
    assert work.recomputed_tokens(90, 5) == 90 + 91 + 92 + 93 + 94


def test_shapes_count_as_the_sql_counts(con: duckdb.DuckDBPyConnection) -> None:
    warehouse.build(con, ["int_architectures"])

    for row in rows_of(
        con, "select * from int_architectures semi join stg_architectures using (architecture_id)"
    ):
        shape = NAMES.shape(row["architecture_id"])
        assert shape is not None
        embeddings = shape.head_params + shape.embedding_params
        assert row["mixing_params"] + row["active_ffn_params"] == shape.body_params
        assert row["mixing_params"] + row["held_ffn_params"] + embeddings == shape.held_params
        assert row["head_params"] == shape.head_params
        assert row["attention_flop_per_pair"] == shape.attention_flop_per_pair
        assert row["state_bytes"] == shape.state_bytes
        assert row["kv_bytes_per_position"] == (
            shape.bytes_per_kv_element * shape.kv_elements_per_position
        )


# The answer --------------------------------------------------------------------------------------


def test_the_row_to_paste_is_a_row_of_the_table() -> None:
    rows = planted(noise=0.02)
    found = answer(Reading(rows), fit(rows))

    assert found["coefficient_row"] is not None
    assert list(found["coefficient_row"]) == SET_COLUMNS
    [cells] = csv.reader(io.StringIO(found["coefficient_csv"]))
    pasted = dict(zip(SET_COLUMNS, cells, strict=True))
    assert pasted["coefficient_set_id"] == "h200-sxm-vllm-fit"
    assert float(pasted["c_j_per_weight_byte"]) == pytest.approx(1.4e-10, rel=0.02)
    assert (pasted["input_tokens_low"], pasted["batch_high"]) == ("32", "8")


def test_coefficients_of_two_gpus_give_no_row_to_paste() -> None:
    rows = planted()
    rows[0] = replace(rows[0], gpu="B200")

    assert coefficient_row(rows, fit(rows)) is None


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["joulebook", "law", *arguments])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_law_fit_answers_in_json_with_notes_beside_it(run: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = write(tmp_path / "runs.csv", planted())

    code, out, err = run("fit", "--measurements", str(path), "--gpu", "H200", "--dense", "--json")

    found = json.loads(out)
    assert (code, found["form"], found["row_count"]) == (0, "layer", 64)
    assert found["coefficients"]["a_j_per_flop"]["value"] == pytest.approx(1.2e-12)
    assert err == ""


def test_law_fit_in_words_ends_with_the_row_to_paste(run: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = write(tmp_path / "runs.csv", planted(noise=0.02))

    code, out, _ = run("fit", "--measurements", str(path))

    assert code == 0
    assert out.splitlines()[-1].startswith("h200-sxm-vllm-fit,H200-SXM,vllm,")


def test_law_fit_knows_the_models_of_the_overlay_that_the_settings_name(
    run: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    overlay = tmp_path / "own"
    overlay.mkdir()
    shapes = {row["architecture_id"]: row for row in reference_rows("architectures")}
    models = [row for row in reference_rows("models") if row["architecture_id"]]
    for table, key, row in (
        ("architectures", "architecture_id", shapes["google/gemma-7b"]),
        ("models", "model_id", models[0] | {"architecture_id": "acme/chat-8b"}),
    ):
        with (overlay / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row | {key: "acme/chat-8b"})
    config = tmp_path / "settings.toml"
    config.write_text('overlay_folder = "own"\n', encoding="utf-8")
    path = write(tmp_path / "runs.csv", planted())
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("google/gemma-7b", "acme/chat-8b"), encoding="utf-8")

    _, out, err = run("fit", "--measurements", str(path), "--json")
    _, known, quiet = run("fit", "--measurements", str(path), "--json", "--config", str(config))

    assert "not in the catalog" in err
    assert "acme/chat-8b" in err
    assert quiet == ""
    assert json.loads(known)["row_count"] == json.loads(out)["row_count"] + 8
    assert "acme/chat-8b" in json.loads(known)["architectures"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("fit", "--measurements", "nowhere.csv"), 2, "no such file"),
        (("fit", "--measurements", "nowhere.csv", "--form", "cube"), 2, "layer, step, both"),
        (("validate", "--measurements", "nowhere.csv"), 2, "no such file"),
    ],
)
def test_a_mistake_is_one_line_and_its_exit_code(
    run: Any,  # noqa: ANN401
    arguments: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    found, out, err = run(*arguments)

    assert (found, out) == (code, "")
    assert words in err and err.count("\n") == 1


@pytest.mark.parametrize("error", [BadInputError, WrongUseError, IncompleteInputError])
def test_every_refusal_is_an_error_with_an_exit_code(error: type[JoulebookError]) -> None:
    assert error.exit_code in (2, 3, 4)


# Real measurements -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subset", "in_sample", "left_out"),
    [
        pytest.param(Subset("arjunds", "H200", None, True), 0.032, 0.05, id="H200"),
        pytest.param(Subset("arjunds", "B200", None, True), 0.015, 0.022, id="B200"),
        pytest.param(Subset("argonne", "H100", "vllm", True), 0.012, None, id="H100"),
        pytest.param(Subset("joulebench", "A100-80GB-PCIe", None, True), 0.066, 0.08, id="A100"),
    ],
)
def test_public_measurements_are_met_within(
    samples: Path, subset: Subset, in_sample: float, left_out: float | None
) -> None:
    reading = read_measurements(samples / "energy/measurements.csv.gz", subset)

    errors = fit(reading.rows).errors

    assert errors.mape_in_sample_frac <= in_sample
    unseen = errors.mape_leave_one_architecture_out_frac
    assert unseen == left_out or (unseen or 0) <= (left_out or 0)
