"""What a workspace keeps of logs: every row once, in any order, under the right month."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import rows_of, write_log
from workspace_runs import run

from pipeline import warehouse
from pipeline.errors import BadInputError, IncompleteInputError, LockedError, WrongUseError
from pipeline.ingest.tables import STORED
from pipeline.monthly import user_ids, workspace, workspace_load, workspace_rows
from pipeline.monthly.forget import forget
from pipeline.monthly.frozen import reference_tables
from pipeline.monthly.restate import CAUSES
from pipeline.monthly.schedule import text_of as schedule_of
from pipeline.monthly.status import require_recent
from pipeline.monthly.workspace_lock import locked
from pipeline.monthly.workspace_run import logged_run, read_runs
from pipeline.reference import load_reference
from pipeline.settings import PLACES, Input, Settings, bundled, read_settings

pytestmark = pytest.mark.slow

ONE = {"request_id": "r-1", "team": "a", "user_id": "u-1", "input_tokens": 9, "output_tokens": 1}
TWO = {**ONE, "request_id": "r-2", "occurred_at": "2026-11-02T10:00:00Z", "output_tokens": 2}
THREE = {**ONE, "request_id": "r-3", "output_tokens": 3}


def silent(text: str) -> None:
    """Take a note and say nothing."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(folder=tmp_path, overlay_folder=tmp_path / "overlays")


def loaded(settings: Settings, *names: str, **assume: str) -> list[str]:
    """Load files of the workspace; return the state of each."""
    inputs = tuple(Input(name, assume) for name in names)
    made = workspace_load.load_files(replace(settings, inputs=inputs), silent)
    return [entry["state"] for entry in made.entries]


@contextlib.contextmanager
def filled(settings: Settings, month: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A warehouse with the rows that the report of a month reads."""
    with warehouse.connect(None, 1, threads=2) as con:
        load_reference(con, settings)
        workspace_rows.fill(
            con, settings.folder / "warehouse.duckdb", month, None, copies_all=False
        )
        yield con


def counted(settings: Settings, month: str) -> list[tuple[str, str, int]]:
    """Return file, request and output of the rows that count in the report of a month."""
    with filled(settings, month) as con:
        rows = rows_of(
            con,
            "select source_file, request_id, output_tokens from raw_usage "
            "inner join raw_inputs using (input_id) "
            "where reject_reasons is null and not is_duplicate order by all",
        )
    return [(row["source_file"], row["request_id"], row["output_tokens"]) for row in rows]


def book_rows(settings: Settings, sql: str) -> list[dict[str, Any]]:
    with workspace.opened(settings.folder / "warehouse.duckdb", settings) as con:
        return rows_of(con, sql)


def test_a_file_that_is_there_already_is_passed_over(settings: Settings, tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", [ONE, THREE])
    shutil.copyfile(tmp_path / "a.jsonl", tmp_path / "copy.jsonl")

    states = [loaded(settings, "a.jsonl"), loaded(settings, "a.jsonl", "copy.jsonl")]

    assert states == [["loaded"], ["already loaded"] * 2]
    assert counted(settings, "2026-10") == [("a.jsonl", "r-1", 1), ("a.jsonl", "r-3", 3)]


def test_two_copies_in_one_load_count_once(settings: Settings, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write_log(tmp_path / name, [{**ONE, "request_id": None}])

    loaded(settings, "a.jsonl", "b.jsonl")

    assert len(counted(settings, "2026-10")) == 1


def test_a_log_that_has_grown_takes_the_place_of_what_it_was(
    settings: Settings, tmp_path: Path
) -> None:
    rows = [{**ONE, "request_id": None}, {**THREE, "request_id": None}]  # no id tells a duplicate
    write_log(tmp_path / "a.jsonl", rows[:1])
    loaded(settings, "a.jsonl")
    shutil.copyfile(tmp_path / "a.jsonl", tmp_path / "backup.jsonl")
    write_log(tmp_path / "a.jsonl", rows)

    states = [loaded(settings, "a.jsonl"), loaded(settings, "backup.jsonl")]

    assert states == [["loaded"], ["already loaded"]]
    assert [row[2] for row in counted(settings, "2026-10")] == [1, 3]


def test_a_log_of_the_same_name_that_begins_anew_is_another_file(
    settings: Settings, tmp_path: Path
) -> None:
    for row in (ONE, TWO):
        write_log(tmp_path / "a.jsonl", [row])
        loaded(settings, "a.jsonl")

    assert [row[1] for row in counted(settings, "2026-11")] == ["r-1", "r-2"]


def test_what_is_assumed_anew_of_a_file_replaces_it(settings: Settings, tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", [{**ONE, "team": None}])

    for team in ("x", "y", "x"):
        assert loaded(settings, "a.jsonl", team=team) == ["loaded"]

    with filled(settings, "2026-10") as con:
        assert rows_of(con, "select team from raw_usage") == [{"team": "x"}]


def test_a_request_of_two_months_counts_in_the_earlier(settings: Settings, tmp_path: Path) -> None:
    longer = {**ONE, "occurred_at": "2026-11-01T00:00:01Z", "output_tokens": 9}
    write_log(tmp_path / "a.jsonl", [ONE])
    write_log(tmp_path / "b.jsonl", [longer])

    loaded(settings, "a.jsonl", "b.jsonl")

    assert counted(settings, "2026-10") == counted(settings, "2026-11") == [("a.jsonl", "r-1", 1)]


def test_months_may_be_loaded_in_any_order(settings: Settings, tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", [ONE, {**THREE, "latency_s": 1.5}])
    write_log(tmp_path / "b.jsonl", [TWO])
    everything = f"select {', '.join(STORED)}, input_id, source_line from raw_usage order by all"
    read = []
    for number, names in enumerate((("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl"))):
        other = replace(settings, folder=tmp_path / str(number))
        other.folder.mkdir()
        for name in names:
            shutil.copyfile(tmp_path / name, other.folder / name)
            loaded(other, name)
        for month in ("2026-10", "2026-11"):
            with filled(other, month) as con:
                read.append(rows_of(con, everything))

    assert read[:2] == read[2:]
    assert [len(rows) for rows in read[:2]] == [2, 3]  # October never reads November


def test_a_bad_file_leaves_the_workspace_as_it_was(settings: Settings, tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", [ONE])
    write_log(tmp_path / "b.jsonl", [{**ONE, "output_tokens": -1}] * 20)

    with pytest.raises(BadInputError, match=r"b\.jsonl"):
        loaded(settings, "a.jsonl", "b.jsonl")

    assert book_rows(settings, "from raw_inputs") == []


def test_a_clock_in_the_future_is_set_aside_or_stops_the_file(
    settings: Settings, tmp_path: Path
) -> None:
    ahead = {**ONE, "occurred_at": "2099-01-01T00:00:00Z"}
    write_log(tmp_path / "few.jsonl", [ONE, ahead])
    write_log(tmp_path / "many.jsonl", [{**ahead, "request_id": f"f-{n}"} for n in range(10)])

    loaded(settings, "few.jsonl")
    with pytest.raises(BadInputError, match=r"many\.jsonl: expected times up to .* found 10 later"):
        loaded(settings, "many.jsonl")

    held = book_rows(settings, "select book_month, reject_reasons from raw_usage order by all")
    assert [tuple(row.values()) for row in held] == [
        ("2026-10", "time_in_the_future"),
        ("2026-10", None),
    ]


@pytest.mark.parametrize(
    ("zone", "instant", "month"),
    [
        ("Pacific/Kiritimati", "2026-09-30T09:59:59Z", "2026-09"),  # UTC+14
        ("Pacific/Kiritimati", "2026-09-30T10:00:00Z", "2026-10"),
        ("Pacific/Pago_Pago", "2026-10-01T10:59:59Z", "2026-09"),  # UTC−11
        ("Pacific/Pago_Pago", "2026-10-01T11:00:00Z", "2026-10"),
        ("Europe/Madrid", "2026-10-31T22:59:59Z", "2026-10"),  # after summer time: UTC+1
        ("Europe/Madrid", "2026-10-31T23:00:00Z", "2026-11"),
        ("Europe/Madrid", "2026-09-30T22:00:00Z", "2026-10"),  # in it: UTC+2
    ],
)
def test_months_are_cut_in_the_zone_of_the_settings(
    settings: Settings, tmp_path: Path, zone: str, instant: str, month: str
) -> None:
    write_log(tmp_path / "a.jsonl", [{**ONE, "occurred_at": instant}])

    loaded(replace(settings, time_zone=zone), "a.jsonl")

    with workspace.opened(tmp_path / "warehouse.duckdb", replace(settings, time_zone=zone)) as con:
        assert rows_of(con, "select book_month from raw_usage") == [{"book_month": month}]
    with pytest.raises(WrongUseError, match="its months are cut in"):
        loaded(replace(settings, time_zone="Asia/Tokyo"), "a.jsonl")


def test_users_are_kept_as_salted_hashes_and_can_be_forgotten(
    settings: Settings, tmp_path: Path
) -> None:
    write_log(tmp_path / "a.jsonl", [ONE, {**THREE, "user_id": "u-2"}])
    hashing = replace(settings, hash_user_ids=True)

    loaded(hashing, "a.jsonl")

    held = {row["user_id"] for row in book_rows(settings, "select user_id from raw_usage")}
    salt = (tmp_path / ".joulebook.salt").read_text(encoding="ascii")
    assert held == {user_ids.hashed(salt, user) for user in ("u-1", "u-2")}
    assert not any(b"u-1" in path.read_bytes() for path in tmp_path.glob("warehouse.duckdb*"))
    present = replace(hashing, warehouse=tmp_path / "warehouse.duckdb")
    assert forget(present, "u-1") == {"row_count": 1, "closed_months": []}
    assert forget(present, "u-1")["row_count"] == 0
    assert len(book_rows(settings, "from raw_usage where user_id is not null")) == 1


def test_a_user_is_forgotten_as_hash_and_as_id_whatever_the_settings_say(
    settings: Settings, tmp_path: Path
) -> None:
    write_log(tmp_path / "a.jsonl", [ONE])
    write_log(tmp_path / "b.jsonl", [THREE])
    loaded(settings, "a.jsonl")
    loaded(replace(settings, hash_user_ids=True), "b.jsonl")
    present = replace(settings, warehouse=tmp_path / "warehouse.duckdb")

    assert forget(present, "u-1")["row_count"] == 2
    with pytest.raises(WrongUseError, match="expected the id of a user"):
        forget(present, " ")


def test_hashes_whose_secret_is_lost_are_told(settings: Settings, tmp_path: Path) -> None:
    hashing = replace(settings, hash_user_ids=True, warehouse=tmp_path / "warehouse.duckdb")
    for name, row in (("a.jsonl", ONE), ("b.jsonl", THREE)):
        write_log(tmp_path / name, [row])
    loaded(hashing, "a.jsonl")
    salt = tmp_path / ".joulebook.salt"
    kept = salt.read_text(encoding="ascii")
    assert salt.stat().st_mode & 0o077 == 0  # nobody else reads it

    salt.unlink()
    with pytest.raises(BadInputError, match=r"salt: expected the secret .*, found none"):
        loaded(hashing, "b.jsonl")
    salt.write_text("another", encoding="ascii")
    with pytest.raises(BadInputError, match=r"salt: expected the secret .*, found another"):
        forget(hashing, "u-1")
    salt.write_text(kept, encoding="ascii")
    assert loaded(hashing, "b.jsonl") == ["loaded"]
    assert forget(hashing, "u-1")["row_count"] == 2


def test_a_month_without_rows_is_named_with_those_that_have_some(
    settings: Settings, tmp_path: Path
) -> None:
    write_log(tmp_path / "a.jsonl", [ONE, TWO])
    loaded(settings, "a.jsonl")

    with (
        pytest.raises(
            IncompleteInputError, match=r"month 2026-09: .* found none\. .* 2026-10, 2026-11\."
        ),
        filled(settings, "2026-09"),
    ):
        pass


def test_a_folder_that_is_no_workspace_is_left_as_it_was(
    tmp_path: Path,
) -> None:
    for words in (
        ("close", "2026-10"),
        ("restate", "2026-10"),
        ("reopen", "2026-10", "--reason", "x"),
        ("forget", "--user", "u"),
        ("status",),
    ):
        ran = run(tmp_path, *words)
        assert ran.code == 2
        assert "Begin with `joulebook init`" in ran.err
    assert list(tmp_path.iterdir()) == []
    assert run(tmp_path, "init").code == 0
    assert run(tmp_path, "close", "2026-10").code == 2  # leaves a line of a run that failed
    assert "Begin with `joulebook init`" in run(tmp_path, "status").err


def test_a_second_run_is_told_who_holds_the_workspace(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(LockedError, match=r"'joulebook.*' runs there as process \d+ of .+@.+ since"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):  # given back
        pass


def test_a_newer_or_damaged_warehouse_is_refused(settings: Settings, tmp_path: Path) -> None:
    write_log(tmp_path / "a.jsonl", [ONE])
    loaded(settings, "a.jsonl")
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(f"update workspace set schema_version = {workspace.SCHEMA_VERSION + 1}")

    with pytest.raises(WrongUseError, match="made by a newer joulebook"):
        loaded(settings, "a.jsonl")
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(BadInputError, match="load the logs again"):
        loaded(settings, "a.jsonl")
    path.unlink()  # as the message says: the hashes bring back the same rows
    loaded(settings, "a.jsonl")

    assert counted(settings, "2026-10") == [("a.jsonl", "r-1", 1)]


def test_a_run_leaves_its_line_and_calls_the_command_of_its_outcome(
    settings: Settings, tmp_path: Path
) -> None:
    told = replace(
        settings,
        warehouse=tmp_path / "warehouse.duckdb",
        on_success=f'echo "$JOULEBOOK_COMMAND $JOULEBOOK_SUMMARY" > "{tmp_path}/good"',
        on_failure=f'echo "$JOULEBOOK_EXIT_CODE $JOULEBOOK_MONTH" > "{tmp_path}/bad"; false',
    )
    notes: list[str] = []
    with logged_run(told, "report", "2026-10", notes.append, calls=True) as run:
        run.summary = "all\nwell"
    with (
        pytest.raises(BadInputError),
        logged_run(told, "close", "2026-09", notes.append, calls=True),
    ):
        raise BadInputError("a bad file")

    assert (tmp_path / "good").read_text() == "report all well\n"
    assert (tmp_path / "bad").read_text() == "3 2026-09\n"
    assert [(line["command"], line["exit_code"]) for line in read_runs(tmp_path)] == [
        ("report", 0),
        ("close", 3),
    ]
    assert len(notes) == 1
    require_recent(settings, "1h")


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        duckdb.IOException("IO Error: Could not write file"),
    ],
)
def test_a_full_disk_is_one_line_whatever_was_written(
    settings: Settings, tmp_path: Path, error: Exception
) -> None:
    (tmp_path / "runs").write_text("no folder: the line of a run has no room either")
    notes: list[str] = []
    present = replace(settings, warehouse=tmp_path / "warehouse.duckdb")

    with (
        pytest.raises(WrongUseError, match=r"cannot be written: .*(space|write).* Make room"),
        logged_run(present, "close", "2026-10", notes.append, calls=True),
    ):
        raise error

    assert len(notes) == 1
    assert "runs: cannot be written" in notes[0]


def test_every_frozen_table_has_its_cause() -> None:
    with warehouse.connect(None, 1) as con:
        load_reference(con, Settings())
        tables = [name.removeprefix("raw_") for name in reference_tables(con)]

    assert sorted(name for names in CAUSES.values() for name in names) == sorted(tables)


def test_a_new_workspace_names_every_setting_and_reads_as_the_defaults(tmp_path: Path) -> None:
    workspace.init(tmp_path)

    text = (tmp_path / "joulebook.toml").read_text(encoding="utf-8")
    names = {each.name for each in fields(Settings)} - set(PLACES)
    assert {
        name for name in names if f"# {name} =" not in text and f"[{name}]" not in text
    } == set()
    settings = read_settings(tmp_path / "joulebook.toml")
    assert settings == Settings(folder=tmp_path, overlay_folder=tmp_path / "overlays")
    with warehouse.connect(None, 1) as con:
        load_reference(con, settings)  # empty templates say nothing
    with pytest.raises(WrongUseError, match="this is a workspace"):
        workspace.init(tmp_path)


def test_schedules_are_those_of_the_templates() -> None:
    kinds = [path.stem for path in bundled("templates/schedule").glob("*.txt")]

    assert sorted(kinds) == ["cron", "github", "systemd"]
    for kind in kinds:
        assert "--max-age 35d" in schedule_of(kind)
        assert "ingest --load" in schedule_of(kind)
    with pytest.raises(WrongUseError, match="expected one of cron, github, systemd"):
        schedule_of("windows")
