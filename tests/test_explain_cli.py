"""`joulebook explain` as a user meets it: words, JSON, exit codes, nothing left behind."""

import json
import shutil
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline import job, warehouse
from pipeline.cli import main
from pipeline.manifest import to_json
from pipeline.settings import Input, Settings
from pipeline.warehouse import CheckResult

Run = Callable[..., tuple[int, str, str]]

LOG = """\
request_id,occurred_at,model_name,provider,team,input_tokens,output_tokens
a,2026-09-05T10:00:00Z,gpt-5-mini,openai,red,900,300
b,2026-10-05T10:00:00Z,gpt-5-mini,openai,red,900,300
c,2026-10-05T10:00:00Z,gpt-5-mini,openai,blue,100,50
d,2026-10-05T10:00:00Z,gpt-5-mini,openai,blue,100,-50
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run joulebook in a folder that holds one small log."""
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["joulebook", *arguments])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return call


Built = tuple[Path, list[CheckResult]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The warehouse of the log, built once, and its checks."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "log.csv").write_text(LOG, encoding="utf-8")
    settings = Settings(folder=folder, inputs=(Input("log.csv"),))
    with warehouse.connect(folder / "book.duckdb", 1) as con:
        checks = job.build_month_book(con, settings, lambda text: None)
    return folder / "book.duckdb", checks


@pytest.fixture
def run_built(run: Run, built: Built, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run joulebook on a copy of what is built, for questions that the build has no part in."""
    opened = warehouse.connect

    def connect(
        path: Path | None, memory_limit_gb: float, threads: int | None = None
    ) -> duckdb.DuckDBPyConnection:
        return opened(path and shutil.copyfile(built[0], path), memory_limit_gb, threads)

    monkeypatch.setattr(warehouse, "connect", connect)
    monkeypatch.setattr(job, "build_month_book", lambda *told: built[1])
    return run


def answer(run: Run, asked: str, *more: str) -> Any:  # noqa: ANN401  # JSON may be anything
    code, out, err = run("explain", asked, "--usage", "log.csv", "--json", *more)
    assert code == 0, err
    return json.loads(out)


def report(run: Run, *more: str) -> Any:  # noqa: ANN401  # JSON may be anything
    code, out, err = run("report", "--usage", "log.csv", "--json", *more)
    assert code == 0, err
    return json.loads(out)["marts"]


@pytest.mark.slow
def test_a_request_alone_in_its_class_has_the_numbers_of_the_report(run: Run) -> None:
    made = answer(run, "a")
    marts = report(run, "--month", "2026-09")
    (energy,), (cost,) = marts["mart_energy_per_class"], marts["mart_cost_per_task"]

    assert made["kind"] == "request"
    assert (made["source_file"], made["source_line"]) == ("log.csv", 2)
    for name in ("gpu_energy_j", "energy_low_j", "energy_high_j", "facility_energy_kwh"):
        assert made[name] == pytest.approx(energy[name], rel=1e-12), name
    assert made["carbon_gco2e"] == pytest.approx(energy["carbon_gco2e"], rel=1e-12)
    assert made["batch"] == energy["batch"]
    # 900 · 0.25 + 300 · 2.00 = 825 millionths of a dollar, as text
    assert made["cost_usd"] == "0.000825"
    assert Decimal(made["cost_usd"]) == Decimal(cost["cost_usd"])


@pytest.mark.slow
def test_every_line_of_json_has_name_value_and_arithmetic_unrounded(run_built: Run) -> None:
    made = answer(run_built, "a")
    lines = [line for part in made["parts"] for line in part["lines"]]
    (total,) = [line for line in lines if line["name"] == "list_cost_usd"]

    assert total["value"] == "0.000825"
    assert total["formula"] == "(i·pi + o·po)·0.000001"
    assert total["numbers"] == "(900·0.25 + 300·2)·0.000001"
    boards = [line["value"] for line in lines if line["name"] == "gpu_energy_j"]
    assert boards == [made["gpu_energy_j"]] * len(boards)


@pytest.mark.slow
def test_a_cell_has_the_value_of_the_mart_and_of_the_month_asked_for(run_built: Run) -> None:
    october = answer(run_built, "table-cost_per_task:1:cost_usd")
    september = answer(run_built, "table-cost_per_task:1:cost_usd", "--month", "2026-09")

    # 1,000 tokens in, 350 out: 250 + 700 = 950 millionths
    assert (october["month"], october["value"]) == ("2026-10", "0.00095")
    assert (september["month"], september["value"]) == ("2026-09", "0.000825")
    assert october["mart"] == "mart_cost_per_task"


@pytest.mark.slow
def test_a_cell_of_the_workbook_is_found_by_sheet_and_cell(run_built: Run) -> None:
    code, out, err = run_built("explain", "'cost per task'!A1", "--usage", "log.csv")
    area = err.split("Tables there: ")[1].split(":")[0]
    made = answer(run_built, f"Cost_per_task!E{int(area[1:]) + 1}")

    assert (code, out) == (2, "")
    assert made["value"] == "0.00095"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "more", "code", "said"),
    [
        ("nothing", (), 2, "nothing: expected a request id, FILE:LINE, a cell such as"),
        ("log.csv:99", (), 2, "log.csv:99: expected a request id"),
        ("Nowhere!A1", (), 2, "Nowhere: no such sheet; the workbook has About"),
        ("a", ("--month", "2026-10"), 2, "a: stands in 2026-09, not in 2026-10."),
        ("a", ("--month", "October"), 2, "--month October: expected YYYY-MM"),
        ("a", ("--month", "2026-01"), 4, "month 2026-01: expected usage rows, found none."),
        ("table-cost_per_task:1", ("--month", "2026-01"), 4, "month 2026-01: expected usage rows"),
    ],
)
def test_a_mistake_is_one_line_and_its_exit_code(
    run_built: Run, asked: str, more: tuple[str, ...], code: int, said: str
) -> None:
    found, out, err = run_built("explain", asked, "--usage", "log.csv", *more)

    assert (found, out) == (code, "")
    (line,) = [line for line in err.splitlines() if "note: " not in line]
    assert line.startswith(f"joulebook: {said}")


def test_a_log_that_is_not_there_is_told(run: Run) -> None:
    found, out, err = run("explain", "a", "--usage", "log.csv", "--usage", "nowhere.csv")

    assert (found, out) == (2, "")
    assert "joulebook: nowhere.csv: no such file or folder." in err


@pytest.mark.slow
def test_a_rejected_row_is_an_answer(run_built: Run) -> None:
    code, out, _ = run_built("explain", "d", "--usage", "log.csv")

    assert code == 0
    assert "tokens_negative (a count below zero)" in out


@pytest.mark.slow
def test_nothing_is_written(run: Run, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())

    answer(run, "a")
    answer(run, "table-cost_per_task:1:cost_usd")

    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.slow
def test_the_answer_is_the_same_each_time(run: Run, request: pytest.FixtureRequest) -> None:
    first = answer(run, "b")

    assert to_json(first) == to_json(answer(request.getfixturevalue("run_built"), "b"))


@pytest.mark.slow
def test_signs_that_would_steer_a_terminal_are_not_printed(run: Run, tmp_path: Path) -> None:
    text = LOG.replace(",red,", ",\x1b[31mred,")
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")

    code, out, _ = run("explain", "a", "--usage", "log.csv")

    assert code == 0
    assert "\x1b" not in out
    assert "\ufffd[31mred" in out
