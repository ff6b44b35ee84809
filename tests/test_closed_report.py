"""A closed month is served as issued, whatever has moved since, and nothing of that is silent."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, write_log
from workspace_runs import files_of, run

from pipeline import manifest

pytestmark = pytest.mark.slow

MONTH, OPEN_MONTH = "2026-10", "2026-11"
GPT = {"provider": "openai", "model_name": "gpt-4o", "team": "search", "query_class": "chat"}
LOGS: dict[str, Rows] = {
    "october": [
        {**GPT, "request_id": "g-1", "user_id": "u-1", "input_tokens": 10_000, "output_tokens": 10}
    ],
    "november": [
        {**GPT, "request_id": "n-1", "input_tokens": 9, "output_tokens": 9,
         "occurred_at": "2026-11-02T10:00:00Z"}
    ],
    "late": [{**GPT, "request_id": "g-2", "input_tokens": 20_000, "output_tokens": 2_000}],
}  # fmt: skip
WAREHOUSE = "warehouse.duckdb"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with October closed and November open."""
    folder = tmp_path_factory.mktemp("made")
    for name, rows in LOGS.items():
        write_log(folder / f"{name}.jsonl", rows)
    for words in (
        ("init",),
        ("ingest", "october.jsonl", "november.jsonl", "--load"),
        ("close", MONTH),
    ):
        ran = run(folder, *words)
        assert ran.code == 0, (words, ran)
    return folder


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return shutil.copytree(made, tmp_path / "workspace")


def issued(folder: Path) -> dict[str, bytes]:
    return files_of(folder / "closed" / MONTH / "R0" / "report")


def require_served(folder: Path, *notes: str) -> None:
    """Report the closed month, and find the issued files and these notes."""
    shutil.rmtree(folder / "reports", ignore_errors=True)
    ran = run(folder, "report", "--month", MONTH)
    assert ran.code == 0, ran
    for note in notes:
        assert note in ran.err
    assert files_of(folder / "reports" / MONTH) == issued(folder)
    assert run(folder, "verify", f"reports/{MONTH}").code == 0


def test_another_version_of_the_program_moves_no_closed_month(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "other program" not in run(workspace, "status").out
    monkeypatch.setattr(manifest, "code_sha256", lambda: "another")

    require_served(workspace, "served as issued", "code (sha256 was", "joulebook restate 2026-10")

    assert "issued by another program" in run(workspace, "status").out
    [row, _] = json.loads(run(workspace, "status", "--json").out)
    assert [word.partition(" ")[0] for word in row["moved_on"]] == ["code"]
    ran = run(workspace, "restate", MONTH, "--reason", "new version")
    assert ran.code == 0, ran
    [row, _] = json.loads(run(workspace, "status", "--json").out)
    assert (row["issue"], row["moved_on"]) == ("R1", [])


def test_a_reference_table_of_a_later_program_stops_no_late_rows(workspace: Path) -> None:
    """The issue knows neither the table nor, in another, the column of today's program."""
    frozen = workspace / "closed" / MONTH / "R0"
    record = json.loads((frozen / "record.json").read_text())
    table, wide = "reference/raw_anchors.parquet", "reference/raw_gpus.parquet"
    (frozen / table).unlink()
    del record["files"][table]
    with duckdb.connect() as con:
        con.execute(f"create table t as from '{frozen / wide}'")
        con.execute("alter table t drop column source_date")
        con.execute(f"copy t to '{frozen / wide}' (format parquet)")
    del record["files"][wide]
    (frozen / "record.json").write_text(json.dumps(record))

    ran = run(workspace, "ingest", "late.jsonl", "--load")

    assert ran.code == 0, ran
    # 20,000 · 2.50 + 2,000 · 10.00 = 70,000 millionths
    assert "1 late requests, 0.070000 USD, are carried by 2026-11" in ran.err


def test_rows_that_were_changed_are_told_and_what_was_issued_stays(workspace: Path) -> None:
    with duckdb.connect(str(workspace / WAREHOUSE)) as con:
        con.execute("update raw_usage set output_tokens = 11 where request_id = 'g-1'")
    shutil.rmtree(workspace / "reports")

    ran = run(workspace, "report", "--month", MONTH)

    assert ran.code == 5
    assert "built anew today it would not be the same: outputs (" in ran.err
    assert files_of(workspace / "reports" / MONTH) == issued(workspace)


def test_what_was_issued_and_then_changed_is_served_no_more(workspace: Path) -> None:
    page = workspace / "closed" / MONTH / "R0" / "report" / "index.html"
    page.write_text("changed", encoding="utf-8")

    ran = run(workspace, "report", "--month", MONTH)

    assert ran.code == 3
    assert "output index.html (different)" in ran.err


def test_a_forgotten_user_stops_no_closed_month(workspace: Path) -> None:
    assert "is closed and held rows" in run(workspace, "forget", "--user", "u-1").err

    require_served(workspace, "a user of it was forgotten")
    assert f"{MONTH}  closed R0" in run(workspace, "status").out


# A warehouse that is lost or damaged ------------------------------------------------------------


def lose(path: Path) -> None:
    path.unlink()


def overwrite(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil(path: Path) -> None:
    """Overwrite the middle of every block, but not the headers."""
    whole = bytearray(path.read_bytes())
    for start in range(3 * 4096, len(whole), 262_144):
        whole[start + 1000 : start + 1064] = b"\xff" * 64
    path.write_bytes(bytes(whole))


@pytest.mark.parametrize(
    ("harm", "code", "found"),
    [
        (lose, 2, "found none"),
        (overwrite, 3, "not a valid DuckDB database file"),
        (cut, 3, "Could not read enough bytes"),
        (spoil, 3, "Corrupt database file"),
    ],
)
def test_a_lost_or_damaged_warehouse_is_one_clear_line_and_closed_months_are_there(
    workspace: Path, harm: Callable[[Path], None], code: int, found: str
) -> None:
    harm(workspace / WAREHOUSE)

    require_served(workspace, "is served as issued, from", found)
    for words in (
        ("report", "--month", OPEN_MONTH),
        ("report",),
        ("close", OPEN_MONTH),
        ("restate", MONTH),
        ("status",),
        ("forget", "--user", "u-1"),
    ):
        ran = run(workspace, *words)
        assert (ran.code, "Traceback" in ran.err) == (code, False), (words, ran)
        assert found in ran.err
        assert "load the logs again" in ran.err
    assert sorted(path.name for path in (workspace / "reports").iterdir()) == [MONTH]


def test_logs_loaded_again_give_the_closed_month_to_the_byte(workspace: Path) -> None:
    (workspace / WAREHOUSE).unlink()
    shutil.rmtree(workspace / "reports")

    assert run(workspace, "ingest", "november.jsonl", "october.jsonl", "--load").code == 0
    assert f"{MONTH}  closed R0" in run(workspace, "status").out
    ran = run(workspace, "report", "--month", MONTH)
    assert (ran.code, "served as issued" in ran.err) == (0, False)  # built anew, to the byte
    assert files_of(workspace / "reports" / MONTH) == issued(workspace)


def test_a_log_that_is_gone_with_the_warehouse_makes_no_correction(workspace: Path) -> None:
    (workspace / WAREHOUSE).unlink()

    ran = run(workspace, "ingest", "november.jsonl", "late.jsonl", "--load")

    assert ran.code == 0
    assert "1 of the files it rests on are not loaded, first october.jsonl" in ran.err
    require_served(workspace, "october.jsonl as it was then is not loaded")
    ran = run(workspace, "restate", MONTH)
    assert ran.code == 4
    assert "first october.jsonl, so a restatement would lose their usage" in ran.err
    ran = run(workspace, "ingest", "october.jsonl", "--load")
    assert "1 late requests, 0.070000 USD, are carried by 2026-11" in ran.err


def test_a_log_that_has_grown_since_stands_for_what_it_was(workspace: Path) -> None:
    (workspace / WAREHOUSE).unlink()
    write_log(workspace / "october.jsonl", [*LOGS["october"], *LOGS["late"]])

    ran = run(workspace, "ingest", "october.jsonl", "--load")

    assert "1 late requests, 0.070000 USD, are carried by 2026-11" in ran.err
    require_served(workspace, "october.jsonl as it was then is not loaded")


def test_what_a_closed_month_carries_and_what_was_opened_outlives_the_warehouse(
    workspace: Path,
) -> None:
    assert run(workspace, "ingest", "late.jsonl", "--load").code == 0
    assert run(workspace, "close", OPEN_MONTH).code == 0  # with the correction
    assert run(workspace, "reopen", MONTH, "--reason", "wrong invoice").code == 0
    assert run(workspace, "close", MONTH).code == 0  # R1 holds the late rows itself
    states = [row["state"] for row in json.loads(run(workspace, "status", "--json").out)]
    carried = corrections(workspace)
    assert states == ["closed", "closed"]
    (workspace / WAREHOUSE).unlink()

    ran = run(workspace, "ingest", "october.jsonl", "november.jsonl", "late.jsonl", "--load")

    assert ran.code == 0
    assert corrections(workspace) == carried
    assert run(workspace, "reopen", OPEN_MONTH, "--reason", "again").code == 0
    (workspace / WAREHOUSE).unlink()
    assert run(workspace, "ingest", "october.jsonl", "november.jsonl", "--load").code == 0
    rows = json.loads(run(workspace, "status", "--json").out)
    assert [(row["state"], row["issue"]) for row in rows] == [("closed", "R1"), ("open", "R0")]


def corrections(folder: Path) -> list[tuple[object, ...]]:
    with duckdb.connect(str(folder / WAREHOUSE), read_only=True) as con:
        return con.execute(
            "select month, corrected_month, cost_usd from corrections order by all"
        ).fetchall()
