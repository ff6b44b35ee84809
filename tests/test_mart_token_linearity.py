"""Measured power on its way to the report: from an audit to its mart, and all laws judged by it."""

from pathlib import Path

import duckdb
import pytest
from conftest import rows_of

from pipeline import manifest, warehouse
from pipeline.audit.fill import fill_measured_tables
from pipeline.errors import WrongUseError
from pipeline.settings import Settings, bundled

SESSION = Settings(
    folder=bundled("data/sample/telemetry"),
    telemetry="audit-hwinfo.csv.gz",
    runs="audit-runs.csv",
)


def test_a_session_becomes_the_mart_and_is_judged_by_all_laws(
    con: duckdb.DuckDBPyConnection,
) -> None:
    stored = con.execute("select count(*) from raw_law_validation").fetchall()

    assert fill_measured_tables(con, SESSION) == []
    warehouse.build(con, ["mart_token_linearity", "mart_law_validation"])

    rows = rows_of(con, "select * from mart_token_linearity order by all")
    assert {(row["model"], row["category"]) for row in rows} == {
        (model, category)
        for model in ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B")
        for category in ("high-computation", "philosophical", "unanswerable")
    }
    # Planted: philosophical prompts draw 12 % more than their tokens ask for.
    deep = [row for row in rows if row["category"] == "philosophical"]
    assert all(0.10 < row["divergence_low_frac"] < 0.12 for row in deep)
    assert all(row["is_generated"] is False and row["law_scale_ratio"] == 1 for row in rows)
    assert sum(row["looped_run_count"] for row in rows) == 1
    judged = rows_of(
        con,
        "select * from mart_law_validation where dataset = 'own runs: audit-runs' "
        "and law = 'simple' and form = 'published' and subset_kind = 'all'",
    )
    assert [(row["gpu"], row["row_count"]) for row in judged] == [("H200-SXM", 39)]
    assert con.execute("select count(*) from raw_law_validation").fetchall() > stored


def test_generated_runs_are_no_evidence_on_a_law(con: duckdb.DuckDBPyConnection) -> None:
    stored = con.execute("select count(*) from raw_law_validation").fetchall()

    fill_measured_tables(con, Settings(**{**vars(SESSION), "is_generated_sample": True}))

    assert con.execute("select count(*) from raw_law_validation").fetchall() == stored
    assert con.execute("select bool_and(is_generated) from raw_token_linearity").fetchall() == [
        (True,)
    ]


def test_a_log_without_its_runs_is_refused(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(WrongUseError, match="telemetry and runs together"):
        fill_measured_tables(con, Settings(telemetry="power.csv"))
    with pytest.raises(WrongUseError, match="no such file"):
        fill_measured_tables(con, Settings(fleet_telemetry="power.csv"))


def test_a_report_holds_its_power_logs_in_the_manifest(tmp_path: Path) -> None:
    log_file, runs = tmp_path / "power.csv", tmp_path / "runs.csv"
    log_file.write_text("a", encoding="utf-8")
    runs.write_text("b", encoding="utf-8")

    told = manifest.measured_files(Settings(folder=tmp_path, telemetry="*.csv"))

    assert [each["name"] for each in told] == ["power.csv", "runs.csv"]
