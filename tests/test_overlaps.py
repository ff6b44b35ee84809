"""One usage told by several files: by hours and by days, as a page and as an export."""

from pathlib import Path

import duckdb
import pytest
from conftest import rows_of
from source_rows import document, fates, lines, table

from pipeline import warehouse
from pipeline.ingest.files import find_files
from pipeline.ingest.load import load
from pipeline.ingest.overlaps import COARSER, OTHER
from pipeline.settings import Input, Settings

Con = duckdb.DuckDBPyConnection

DAY_S = 86_400
START_S = 1_759_622_400  # 2025-10-05 00:00 UTC


def export(path: Path, *buckets: tuple[int, int, int, int], project: str = "p1") -> Path:
    """Write a dashboard export: (first second of the day, width, input, output) of each bucket."""
    times = [(START_S + at, START_S + at + width, i, o) for at, width, i, o in buckets]
    return table(
        path,
        [
            {
                "start_time": start,
                "end_time": end,
                "start_time_iso": "",
                "end_time_iso": "",
                "project_id": project,
                "num_model_requests": 2,
                "model": "gpt-4o",
                "input_tokens": i,
                "output_tokens": o,
            }
            for start, end, i, o in times
        ],
    )


def page(path: Path, input_tokens: int, output_tokens: int) -> Path:
    """Write a page of the usage API with one day in it."""
    result = {
        "object": "organization.usage.completions.result",
        "model": "gpt-4o",
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "num_model_requests": 4,
    }
    bucket = {"start_time": START_S, "end_time": START_S + DAY_S, "results": [result]}
    return document(path, {"data": [bucket]})


def read(con: Con, *paths: Path) -> tuple[list[tuple[str, str, int]], list[str]]:
    """Load files; return the intake of each and the notes."""
    notes: list[str] = []
    inputs = [Input(path.name) for path in paths]
    load(con, find_files(inputs, paths[0].parent), Settings(), notes.append)
    warehouse.build(con, ["mart_intake"])
    rows = rows_of(con, "select * from mart_intake order by source_file, outcome")
    return (
        [(row["source_file"], row["reason"] or row["outcome"], row["row_count"]) for row in rows],
        [note for note in notes if note.startswith("note: ")],
    )


def counted(con: Con) -> tuple[int, int]:
    """Return the input and output tokens that count."""
    rows = con.execute(
        "select sum(uncached_input_tokens)::bigint, sum(output_tokens)::bigint "
        "from raw_usage where reject_reasons is null and not is_duplicate"
    ).fetchall()
    return rows[0]


@pytest.mark.parametrize("order", [1, -1])
def test_hours_count_and_their_day_is_the_same_usage_again(
    con: Con, tmp_path: Path, order: int
) -> None:
    hours = export(tmp_path / "hours", (0, 3_600, 600, 60), (7_200, 3_600, 400, 40))
    days = export(tmp_path / "days", (0, DAY_S, 1_000, 100))

    intake, notes = read(con, *[hours, days][::order])

    assert intake == [("days", COARSER, 1), ("hours", "accepted", 2)]
    assert notes == []
    assert counted(con) == (1_000, 100)


def test_a_page_and_an_export_of_one_day_count_once_in_the_more_telling_form(
    con: Con, tmp_path: Path
) -> None:
    intake, notes = read(
        con, export(tmp_path / "export", (0, DAY_S, 900, 90)), page(tmp_path / "page", 900, 90)
    )

    assert intake == [("export", "accepted", 1), ("page", OTHER, 1)]  # the export names a project
    assert notes == []


@pytest.mark.parametrize(
    ("day_input", "is_same"), [(1_000, True), (1_001, True), (1_002, False), (999, False)]
)
def test_sums_agree_within_a_thousandth_of_the_coarser(
    con: Con, tmp_path: Path, day_input: int, is_same: bool
) -> None:
    # |1,000 − 1,001| = 1 ≤ 1.001; |1,000 − 1,002| = 2 > 1.002; |1,000 − 999| = 1 > 0.999
    hours = export(tmp_path / "hours", (0, 3_600, 1_000, 100))
    days = export(tmp_path / "days", (0, DAY_S, day_input, 100))

    intake, _ = read(con, hours, days)

    assert (("days", COARSER, 1) in intake) is is_same


def test_sums_that_differ_both_count_and_a_note_names_both_files(con: Con, tmp_path: Path) -> None:
    hours = export(tmp_path / "hours", (0, 3_600, 700_000, 70_000))
    days = export(tmp_path / "days", (0, DAY_S, 1_000_000, 100_000))

    intake, notes = read(con, hours, days)

    assert intake == [("days", "accepted", 1), ("hours", "accepted", 1)]
    # 700,000 at 2.50 and 70,000 at 10 USD per million: 1.75 + 0.70
    assert notes == [
        "note: days and hours both tell gpt-4o on 2025-10-05, but not the same: 1,100,000 "
        "against 770,000 tokens. BOTH COUNT (up to 2.45 USD twice, at list prices); leave one of "
        "them out"
    ]
    assert counted(con) == (1_700_000, 170_000)


def test_other_projects_are_other_usage(con: Con, tmp_path: Path) -> None:
    hours = export(tmp_path / "hours", (0, 3_600, 1_000, 100), project="p2")
    days = export(tmp_path / "days", (0, DAY_S, 1_000, 100), project="p1")

    intake, notes = read(con, hours, days)

    assert [reason for _, reason, _ in intake] == ["accepted", "accepted"]
    assert notes == []


def test_of_minutes_hours_and_days_the_minutes_count(con: Con, tmp_path: Path) -> None:
    minutes = export(tmp_path / "minutes", (0, 60, 600, 60), (60, 60, 400, 40))
    hours = export(tmp_path / "hours", (0, 3_600, 1_000, 100))
    days = export(tmp_path / "days", (0, DAY_S, 1_000, 100))

    intake, _ = read(con, days, minutes, hours)

    assert intake == [
        ("days", COARSER, 1),
        ("hours", COARSER, 1),
        ("minutes", "accepted", 2),
    ]


def test_a_bucket_exported_again_with_newer_counts_replaces_itself_first(
    con: Con, tmp_path: Path
) -> None:
    early = export(tmp_path / "early", (0, DAY_S, 700, 70))
    late = export(tmp_path / "late", (0, DAY_S, 1_000, 100))
    hours = export(tmp_path / "hours", (0, 3_600, 1_000, 100))

    intake, notes = read(con, early, late, hours)

    assert intake == [
        ("early", "same request again", 1),
        ("hours", "accepted", 1),
        ("late", COARSER, 1),
    ]
    assert notes == []


def test_requests_beside_a_providers_sums_are_only_told(con: Con, tmp_path: Path) -> None:
    request = {
        "occurred_at": "2025-10-05T10:00:00Z",
        "provider": "openai",
        "model_name": "gpt-4o-2024-08-06",
        "input_tokens": 100,
        "output_tokens": 10,
    }
    requests = lines(tmp_path / "requests", [request])

    intake, notes = read(con, requests, export(tmp_path / "days", (0, DAY_S, 1_000, 100)))

    assert [reason for _, reason, _ in intake] == ["accepted", "accepted"]
    (note,) = notes
    assert note.startswith(
        "note: single requests of gpt-4o in requests, and its sums in days (OpenAI dashboard "
        "usage export), fall on the same day: 110 and 1,100 tokens."
    )


def test_sums_smaller_than_the_requests_cannot_hold_them(con: Con, tmp_path: Path) -> None:
    request = {
        "occurred_at": "2025-10-05T10:00:00Z",
        "provider": "openai",
        "model_name": "gpt-4o",
        "input_tokens": 10_000,
        "output_tokens": 10,
    }

    _, notes = read(
        con,
        lines(tmp_path / "requests", [request]),
        export(tmp_path / "days", (0, DAY_S, 1_000, 100)),
    )

    assert notes == []


def test_hours_that_only_cover_part_of_a_day_do_not_replace_it(con: Con, tmp_path: Path) -> None:
    hours = export(tmp_path / "hours", (0, 3_600, 600, 60))
    rows_before = export(tmp_path / "days", (0, DAY_S, 1_000, 100))

    read(con, hours, rows_before)

    rows = rows_of(con, "select reject_reasons, is_duplicate from raw_usage")
    assert fates(rows) == ["accepted", "accepted"]
