"""A folder of normalised usage gives the book that its logs give, or says what is wrong with it."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from conftest import rows_of, write_log
from typer.testing import CliRunner

from pipeline import warehouse
from pipeline.cli import app
from pipeline.errors import BadInputError, WrongUseError
from pipeline.ingest import usage_folder_write
from pipeline.ingest.load import find_files, load
from pipeline.ingest.usage_folder import parts_of
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings

pytestmark = pytest.mark.slow

SETTINGS = Settings()
# One log of two months with a rejected row (no output), a row whose time cannot be read, a request
# that the second log repeats, and a column that nobody reads.
FIRST = [
    {"request_id": "a", "input_tokens": 900, "output_tokens": 300, "surprise_tokens": 7},
    {"request_id": "b", "input_tokens": 10, "output_tokens": 20, "team": "search",
     "occurred_at": "2026-09-30T23:59:59Z"},
    {"request_id": "c", "input_tokens": 10},
    {"request_id": "d", "input_tokens": 10, "output_tokens": 20, "occurred_at": "tomorrow"},
]  # fmt: skip
SECOND = [
    {"request_id": "a", "input_tokens": 900, "output_tokens": 300, "billed_cost_usd": "0.5"},
    {"request_id": "e", "input_tokens": 50, "output_tokens": 60, "team": "support"},
]
USAGE = """
    select * exclude (input_id, size_bytes) from raw_usage inner join raw_inputs using (input_id)
    order by source_file, source_line
"""


def opened() -> duckdb.DuckDBPyConnection:
    con = warehouse.connect(None, 1, threads=2)
    load_reference(con, SETTINGS)
    return con


def loaded(folder: Path, *paths: str, assume: dict[str, str] | None = None) -> list[str]:
    """Load files; return the notes told."""
    told: list[str] = []
    with opened() as con:
        inputs = [Input(path, assume or {}) for path in paths]
        load(con, find_files(inputs, folder), SETTINGS, told.append)
    return told


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two logs, and `usage`, into which each was ingested on its own."""
    folder = tmp_path_factory.mktemp("machines")
    for name, rows in (("first.jsonl", FIRST), ("second.jsonl", SECOND)):
        write_log(folder / name, rows)
        with opened() as con:
            load(con, find_files([Input(name)], folder), SETTINGS)
            assert usage_folder_write.write(con, folder / "usage", "UTC") == []
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "machines")
    return tmp_path / "machines"


def test_two_machines_make_the_book_of_all_logs(made: Path) -> None:
    with opened() as of_logs, opened() as of_folder:
        load(of_logs, find_files([Input("first.jsonl"), Input("second.jsonl")], made), SETTINGS)
        load(of_folder, find_files([Input("usage")], made), SETTINGS)
        assert rows_of(of_folder, USAGE) == rows_of(of_logs, USAGE)
        # Read: 4 + 2 rows = 3 accepted (a once, b, e) + 2 rejected (c, d) + 1 duplicate (a).
        assert of_folder.execute(
            "select count(*) filter (where reject_reasons is null and not is_duplicate), "
            "count(*) filter (where reject_reasons is not null), "
            "count(*) filter (where is_duplicate) from raw_usage"
        ).fetchall() == [(3, 2, 1)]
        unknown = "select * from raw_unknown_columns order by all"
        assert of_folder.execute(unknown).fetchall() == [(1, "surprise_tokens", 1, 1, True)]
        assert of_folder.execute(unknown).fetchall() == of_logs.execute(unknown).fetchall()


def test_months_and_sources_are_folders_and_no_month_is_one_too(made: Path) -> None:
    parts = sorted(path.relative_to(made / "usage").parent.as_posix()
                   for path in (made / "usage").rglob("*.parquet"))  # fmt: skip
    assert parts == [
        "_inputs", "_inputs",
        "month=2026-09/source=general",
        "month=2026-10/source=general", "month=2026-10/source=general",
        "month=unknown/source=general",
    ]  # fmt: skip


def test_a_log_that_stands_there_is_not_written_again(folder: Path) -> None:
    before = {path: path.read_bytes() for path in (folder / "usage").rglob("*.parquet")}
    with opened() as con:
        load(con, find_files([Input("first.jsonl")], folder), SETTINGS)
        [note] = usage_folder_write.write(con, folder / "usage", "UTC")
    assert note.startswith("first.jsonl: stands in ")
    assert {path: path.read_bytes() for path in (folder / "usage").rglob("*.parquet")} == before


def test_small_parts_are_merged_and_an_interrupted_merge_counts_nothing_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_folder_write, "MOST_SMALL_PARTS", 1)
    partition = folder / "usage" / "month=2026-10" / "source=general"
    small = {path: path.read_bytes() for path in partition.glob("*.parquet")}
    with opened() as con, opened() as whole, opened() as cut_short:
        load(con, find_files([Input("usage")], folder), SETTINGS)
        expected = rows_of(con, USAGE)
        assert usage_folder_write.merge_small_parts(con, partition, "UTC") == []
        [merged] = partition.glob("*.parquet")
        assert merged.name.startswith("merged-")
        load(whole, find_files([Input("usage")], folder), SETTINGS)
        assert rows_of(whole, USAGE) == expected
        for path, content in small.items():  # as if the merge had stopped before it deleted them
            path.write_bytes(content)
        assert parts_of(con, partition) == [merged]
        load(cut_short, find_files([Input("usage")], folder), SETTINGS)
        assert rows_of(cut_short, USAGE) == expected


def _lose_a_part(usage: Path) -> None:
    [part] = (usage / "month=2026-09").rglob("*.parquet")
    part.unlink()


def _lose_an_input(usage: Path) -> None:
    next(iter(sorted((usage / "_inputs").glob("*.parquet")))).unlink()


def _rewrite(usage: Path, select: str, version: str) -> None:
    [part] = (usage / "month=2026-09").rglob("*.parquet")
    with duckdb.connect() as con:
        con.execute(f"create table part as select {select} from '{part}'")
        con.execute(
            f"copy part to '{part}' (format parquet, kv_metadata "
            f"{{joulebook_schema_version: '{version}', joulebook_time_zone: 'UTC'}})"
        )


def _drift(usage: Path) -> None:
    _rewrite(usage, "* replace (output_tokens::varchar as output_tokens)", "1")


def _renew(usage: Path) -> None:
    _rewrite(usage, "*", "2")


def _damage(usage: Path) -> None:
    [part] = (usage / "month=2026-09").rglob("*.parquet")
    part.write_bytes(part.read_bytes()[:-20])


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_lose_a_part, "month=2026-09/source=general: expected 1 rows of first.jsonl, found 0"),
        (_lose_an_input, "of an input that is not in _inputs/"),
        (_drift, "expected column output_tokens to be bigint, found varchar"),
        (_renew, "expected normalised usage of schema version 1, found 2"),
        (_damage, "a part cannot be read"),
    ],
)
def test_a_harmed_folder_is_told(folder: Path, harm: object, said: str) -> None:
    assert callable(harm)
    harm(folder / "usage")
    with pytest.raises(BadInputError, match=said):
        loaded(folder, "usage")


def test_months_of_another_zone_and_later_assumptions_are_refused(folder: Path) -> None:
    with opened() as con, pytest.raises(BadInputError, match="its months are cut in UTC"):
        load(con, find_files([Input("usage")], folder), Settings(time_zone="Europe/Madrid"))
    with pytest.raises(WrongUseError, match="nothing can be assumed any more"):
        loaded(folder, "usage", assume={"team": "search"})


def test_a_usage_folder_among_logs_is_not_read_as_logs(folder: Path) -> None:
    with pytest.raises(WrongUseError, match=r"holds the normalised usage .*usage; give"):
        loaded(folder.parent, folder.name)


def test_the_command_writes_what_it_tells_and_nothing_of_a_bad_file(tmp_path: Path) -> None:
    good = write_log(tmp_path / "good.jsonl", FIRST)
    bad = write_log(tmp_path / "bad.jsonl", [{"input_tokens": 1, "output_tokens": -1}] * 20)
    usage = tmp_path / "usage"
    refused = CliRunner().invoke(app, ["ingest", str(tmp_path / "*.jsonl"), "--to", str(usage)])
    assert isinstance(refused.exception, BadInputError)
    assert "expected at most 1% bad rows, found 20 of 20" in str(refused.exception)
    assert not usage.exists()
    bad.unlink()
    told = CliRunner().invoke(app, ["ingest", str(good), "--to", str(usage), "--json"])
    again = CliRunner().invoke(app, ["ingest", str(usage), "--json"])
    assert json.loads(again.stdout) == json.loads(told.stdout)
    assert json.loads(told.stdout)[0]["rows_read"] == 4
