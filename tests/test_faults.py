"""Faults once met by somebody who tried to break it, each with the right value."""

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest
from conftest import Rows, made_once, rows_of

from pipeline.cli import main
from pipeline.job import make_report
from pipeline.settings import Input, Settings

Build = Callable[..., duckdb.DuckDBPyConnection]
Write = Callable[..., Path]

HEADER = "occurred_at,model_name,provider,input_tokens,output_tokens,request_id\n"


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    """Run joulebook in a folder; return its exit code."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["joulebook", *arguments])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def one_row(folder: Path, name: str = "usage.csv") -> Path:
    path = folder / name
    path.write_text(HEADER + "2026-10-05T10:00:00Z,gpt-5-mini,openai,900,300,\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def report_of_one_row(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log of one row and its report, to be copied."""

    def make(folder: Path) -> None:
        settings = Settings(folder=folder, inputs=(Input(one_row(folder).name),))
        make_report(settings, None, folder / "reports", lambda text: None)

    return made_once(tmp_path_factory, "report-of-one-row", make)


@pytest.mark.slow
def test_a_folder_that_is_no_report_is_never_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "2026-10").mkdir()
    log = one_row(tmp_path / "2026-10")

    assert run(monkeypatch, tmp_path, "report", "--usage", "2026-10", "--out", ".") == 2

    assert log.is_file()
    assert "is no report, so it is not replaced" in capsys.readouterr().err


@pytest.mark.slow
def test_a_note_beside_a_report_is_not_wiped(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    report_of_one_row: Path,
) -> None:
    shutil.copytree(report_of_one_row, tmp_path, dirs_exist_ok=True)
    note = tmp_path / "reports/2026-10/notes.txt"
    note.write_text("approved", encoding="utf-8")

    assert run(monkeypatch, tmp_path, "report", "--usage", "usage.csv") == 2

    assert note.read_text(encoding="utf-8") == "approved"
    assert "holds notes.txt" in capsys.readouterr().err


@pytest.mark.slow
def test_the_sample_never_replaces_a_real_report_and_says_what_it_is(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    report_of_one_row: Path,
) -> None:
    shutil.copytree(report_of_one_row, tmp_path, dirs_exist_ok=True)
    sample = '[[inputs]]\npath = "usage.csv"\n'
    (tmp_path / "joulebook.toml").write_text(f"is_generated_sample = true\n{sample}")

    assert run(monkeypatch, tmp_path, "report") == 2

    err = capsys.readouterr().err
    assert "the logs are the bundled sample" in err
    assert "the sample's does not replace it" in err


@pytest.mark.slow
def test_equal_ids_of_two_models_are_two_requests(build: Build, log: Write) -> None:
    ids: Rows = [{"request_id": str(n), "input_tokens": 9, "output_tokens": 1} for n in range(3)]
    first = log([{**row, "model_name": "gpt-5-mini"} for row in ids], "a.jsonl")
    second = log([{**row, "model_name": "claude-sonnet-4-5"} for row in ids], "b.jsonl")

    con = build(first, second)

    assert rows_of(con, "select sum(request_count)::int as n from mart_cost_per_task") == [{"n": 6}]


@pytest.mark.slow
@pytest.mark.parametrize("word", ["null", "None", "-", " "])
def test_a_word_for_nothing_is_no_request_id(build: Build, log: Write, word: str) -> None:
    con = build(log([{"request_id": word, "input_tokens": 9, "output_tokens": 1}] * 2))

    assert rows_of(con, "select sum(request_count)::int as n from mart_cost_per_task") == [{"n": 2}]


@pytest.mark.slow
def test_a_log_beside_its_packed_copy_counts_once(build: Build, log: Write) -> None:
    plain = log([{"input_tokens": 9, "output_tokens": 1}] * 2)
    packed = plain.with_name("usage.jsonl.gz")
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    con = build(plain, packed)

    outcomes = rows_of(con, "select outcome, sum(row_count)::int as n from mart_intake group by 1")
    assert sorted((row["outcome"], row["n"]) for row in outcomes) == [
        ("accepted", 2),
        ("duplicate", 2),
    ]


@pytest.mark.slow
def test_a_cost_per_task_leaves_unpriced_tasks_out(build: Build, log: Write) -> None:
    llama = {"provider": "vllm", "input_tokens": 900, "output_tokens": 300}
    con = build(log([{**llama, "billed_cost_usd": "1.23"}, llama]))

    # one of two tasks has a price: 1.23 / 1, not 1.23 / 2
    assert rows_of(con, "select cost_usd_per_task as usd from mart_cost_per_task") == [
        {"usd": pytest.approx(1.23)}
    ]


@pytest.mark.slow
def test_an_answer_to_an_unknown_input_is_unmeasured(build: Build, log: Write) -> None:
    con = build(log([{"input_tokens": 0, "output_tokens": 500}]))

    assert rows_of(
        con, "select gpu_energy_j, unmeasured_request_count as n from mart_cost_per_task"
    ) == [{"gpu_energy_j": None, "n": 1}]


@pytest.mark.slow
def test_focus_periods_are_those_of_the_zone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one_row(tmp_path)
    (tmp_path / "joulebook.toml").write_text(
        'time_zone = "Europe/Madrid"\n[[inputs]]\npath = "usage.csv"\n', encoding="utf-8"
    )

    assert run(monkeypatch, tmp_path, "report") == 0

    rows = pl.read_csv(tmp_path / "reports/2026-10/focus.csv", infer_schema=False)
    assert set(rows["BillingPeriodStart"]) == {"2026-09-30T22:00:00Z"}
    assert set(rows["ChargePeriodEnd"]) == {"2026-10-31T23:00:00Z"}


@pytest.mark.slow
def test_absurdly_many_requests_in_a_row_are_set_aside(build: Build, log: Write) -> None:
    con = build(
        log([{"input_tokens": 1_000, "output_tokens": 500, "request_count": 1e12}] * 2
            + [{"input_tokens": 1, "output_tokens": 1}])
    )  # fmt: skip

    reasons = rows_of(con, "select reason, row_count from mart_intake where outcome = 'rejected'")
    assert reasons == [{"reason": "tokens_absurd", "row_count": 2}]


@pytest.mark.slow
def test_a_file_with_two_kinds_of_line_ends_is_read(build: Build, tmp_path: Path) -> None:
    row = json.dumps({"occurred_at": "2026-10-05", "model_name": "gpt-5", "input_tokens": 9,
                      "output_tokens": 1})  # fmt: skip
    path = tmp_path / "joined.jsonl"
    path.write_bytes(f"{row}\r\n{row}\n{row}\r\n\r\n".encode())

    con = build(path)

    assert rows_of(con, "select row_count from mart_intake") == [{"row_count": 3}]


@pytest.mark.slow
def test_a_closed_model_behind_a_prefix_is_billed_by_who_serves_it(
    build: Build, log: Write
) -> None:
    names = ("azure/gpt-4o", "openai/gpt-oss-120b", "Qwen/Qwen3-8B")
    con = build(log([{"model_name": n, "input_tokens": 9, "output_tokens": 1} for n in names]))

    providers = rows_of(con, "select logged_model_name as name, provider from int_models")
    assert {row["name"]: row["provider"] for row in providers} == {
        "azure/gpt-4o": "azure",
        "openai/gpt-oss-120b": "self-hosted",
        "Qwen/Qwen3-8B": "self-hosted",
    }


@pytest.mark.parametrize(
    "text",
    ["memory_limit_gb = 0", "[assumptions]\npue_ratio = nan", "[assumptions]\npue_ratio = 0.5",
     "[assumptions]\ngpu_memory_usable_frac = 0", "[assumptions]\npue_ratio = 1e300",
     "memory_limit_gb = 1e300", "max_bad_frac = 2",
     '[model_names]\nours = 5',
     '[[deployments]]\nmodel = "Qwen/Qwen3-8B"\ngpu_count = 99999999999'],
)  # fmt: skip
def test_a_setting_out_of_sense_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    one_row(tmp_path)
    inputs = '[[inputs]]\npath = "usage.csv"\n'
    head, _, table = text.partition("[")
    (tmp_path / "joulebook.toml").write_text(
        f"{head}\n{inputs}{'[' + table if table else ''}", encoding="utf-8"
    )

    assert run(monkeypatch, tmp_path, "report") == 2


@pytest.mark.parametrize("content", ["\n" + HEADER, "[" * 5_000 + "]" * 5_000])
def test_odd_files_are_refused_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str,
) -> None:
    (tmp_path / "odd").write_text(content, encoding="utf-8")

    assert run(monkeypatch, tmp_path, "ingest", "odd") == 3

    assert capsys.readouterr().err.startswith("joulebook: odd: expected ")


@pytest.mark.slow
def test_ten_thousand_million_tokens_of_one_group_have_a_price(build: Build, log: Write) -> None:
    bucket = {"model_name": "claude-sonnet-4-5", "provider": "anthropic", "request_count": 10**7}
    con = build(log([{**bucket, "input_tokens": 10**10, "output_tokens": 10**9}]))

    # 10,000 million · 3 USD + 1,000 million · 15 USD, per million
    assert rows_of(con, "select cost_usd::int as usd from mart_cost_per_task") == [{"usd": 45_000}]
