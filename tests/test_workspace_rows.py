"""What a report reads of a workspace: the same rows, copied or read where they lie."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Rows, rows_of, write_log

from pipeline import warehouse
from pipeline.errors import BadInputError
from pipeline.job import make_report
from pipeline.monthly import workspace_load, workspace_rows
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings, read_settings

pytestmark = pytest.mark.slow

BEFORE = {"request_id": "r-1", "input_tokens": 9, "output_tokens": 1}
NOW = {**BEFORE, "request_id": "r-2", "occurred_at": "2026-11-02T10:00:00Z", "output_tokens": 2}


def loaded(folder: Path, rows: Rows) -> Settings:
    write_log(folder / "a.jsonl", rows)
    settings = Settings(
        folder=folder, overlay_folder=folder / "overlays", inputs=(Input("a.jsonl"),)
    )
    workspace_load.load_files(settings, lambda text: None)
    return settings


def usage(settings: Settings, *, copies_all: bool) -> tuple[str, list[dict[str, Any]]]:
    """Return what raw_usage is, and its rows, as the report of November reads them."""
    with warehouse.connect(None, 1, threads=2) as con:
        load_reference(con, settings)
        path = settings.folder / "warehouse.duckdb"
        workspace_rows.fill(con, path, "2026-11", None, copies_all=copies_all)
        kinds = con.execute(
            "select lower(table_type) from information_schema.tables "
            "where table_name = 'raw_usage' and table_catalog = current_database()"
        ).fetchall()
        columns = "input_id, source_line, * exclude (input_id, source_line)"
        return kinds[0][0], rows_of(con, f"select {columns} from raw_usage order by all")


CASES: dict[str, tuple[Rows, str, int]] = {
    "nothing repeats": ([BEFORE, NOW], "view", 0),
    "within the month before": ([BEFORE, {**BEFORE, "output_tokens": 3}, NOW], "view", 1),
    "across both": ([BEFORE, {**NOW, "request_id": "r-1"}], "view", 1),
    "within the month": ([BEFORE, NOW, {**NOW, "output_tokens": 5}], "view", 1),
    "a bad row in each": (
        [BEFORE, NOW, {**BEFORE, "output_tokens": -1}, {**NOW, "output_tokens": -1}],
        "view",
        0,
    ),
    "no month before": ([NOW, NOW], "base table", 1),
    "a bill to convert": (
        [{**BEFORE, "billed_cost_usd": "2.00", "billed_currency": "EUR"}, NOW],
        "base table",
        0,
    ),
    "a bucket": (
        [{**BEFORE, "bucket_end_at": "2026-10-06T00:00:00Z", "request_count": 4}, NOW],
        "base table",
        0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_the_same_copied_or_read_where_they_lie(case: str, tmp_path: Path) -> None:
    rows, kind, duplicate_count = CASES[case]
    settings = loaded(tmp_path, rows)

    found, lying = usage(settings, copies_all=False)
    copied_kind, copied = usage(settings, copies_all=True)

    assert (found, copied_kind) == (kind, "base table")
    assert lying == copied
    assert len(lying) == len(rows)
    assert sum(row["is_duplicate"] for row in lying) == duplicate_count


def test_bad_blocks_under_the_month_before_are_one_line(tmp_path: Path) -> None:
    """Its rows are met while the models are built, and a build meets the fault of the file."""
    loaded(tmp_path, [BEFORE, NOW])
    (tmp_path / "joulebook.toml").write_text("")
    settings = read_settings(tmp_path / "joulebook.toml")

    def meets_bad_block(con: duckdb.DuckDBPyConnection, folder: Path, tell: object) -> None:
        raise duckdb.IOException("Corrupt database file: computed checksum 1 does not match 2")

    with pytest.raises(
        BadInputError, match=r"warehouse\.duckdb: expected a warehouse of joulebook"
    ):
        make_report(settings, "2026-11", tmp_path / "out", print, build=meets_bad_block)
