"""What a file holds that no select reads: counted under its name, its values never kept."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, rows_of
from source_rows import document, fates, lines, loaded, table

from pipeline.ingest.files import find_files
from pipeline.ingest.load import load
from pipeline.settings import Input, Settings, parse_assume

Con = duckdb.DuckDBPyConnection

# Two columns that no version has had: words, and what may be billed.
NEW: dict[str, object] = {"mood": "glad", "swift_tokens": 7}

GENERAL: dict[str, object] = {
    "occurred_at": "2026-10-05T10:00:00Z",
    "model_name": "m",
    "input_tokens": 9,
    "output_tokens": 3,
}
DASHBOARD: dict[str, object] = {
    "start_time": 1759622400,
    "end_time": 1759708800,
    "start_time_iso": "2025-10-05T00:00:00+00:00",
    "end_time_iso": "2025-10-06T00:00:00+00:00",
    "num_model_requests": 2,
    "model": "gpt-4o",
    "input_tokens": 9,
    "output_tokens": 3,
}
COST: dict[str, object] = {
    "usage_date_utc": "2026-03-01",
    "model": "Claude Haiku 4.5",
    "token_type": "output",
    "cost_usd": "0.05",
}
LITELLM: dict[str, object] = {
    "request_id": "r1",
    "startTime": "2026-10-05T10:00:00Z",
    "model": "gpt-4o",
    "custom_llm_provider": "openai",
    "prompt_tokens": 9,
    "completion_tokens": 3,
}
LANGFUSE: dict[str, object] = {
    "id": "o1",
    "traceId": "t1",
    "type": "GENERATION",
    "startTime": "2026-10-05T10:00:00Z",
    "model": "gpt-4o",
    "usageDetails": {"input": 9, "output": 3},
}
LM_STUDIO: dict[str, object] = {
    "id": "c1",
    "created": 1759622400,
    "model": "m",
    "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    "stats": {"time_to_first_token": 0.5},
}
CLAUDE_CODE: dict[str, object] = {
    "timestamp": "2026-10-05T10:00:00Z",
    "sessionId": "s1",
    "message": {"id": "m1", "model": "claude-opus-4-8",
                "usage": {"input_tokens": 9, "output_tokens": 3}},
}  # fmt: skip
MOONCAKE: dict[str, object] = {"timestamp": 0, "input_length": 9, "output_length": 3}
REPLY: dict[str, object] = {
    "timestamp": "2026-10-05T10:00:00Z",
    "body": {"id": "c1", "object": "chat.completion", "created": 1759622400, "model": "gpt-4o",
             "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}},
}  # fmt: skip


def unknown(con: Con) -> Rows:
    return rows_of(
        con,
        "select column_name as name, filled_row_count as filled, number_row_count as numbers, "
        "is_token_like as loud from raw_unknown_columns order by input_id, column_name",
    )


def told(con: Con, path: Path, assume: str = "") -> list[str]:
    """Load a file and return the notes on it."""
    notes: list[str] = []
    inputs = [Input(str(path), parse_assume(assume))]
    load(con, find_files(inputs, Path("/")), Settings(), notes.append)
    return [note for note in notes if note.startswith("note: ")]


@pytest.mark.parametrize(
    ("write", "row"),
    [
        (table, DASHBOARD),
        (table, COST),
        (table, LITELLM),
        (lines, LITELLM),
        (lines, LANGFUSE),
        (lines, LM_STUDIO),
        (lines, CLAUDE_CODE),
        (lines, MOONCAKE),
        (lines, REPLY),
        (lines, GENERAL),
        (table, GENERAL),
        (document, GENERAL),
    ],
)
def test_a_newer_column_set_loads_and_its_new_columns_are_counted(
    con: Con, tmp_path: Path, write: Callable[..., Path], row: dict[str, object]
) -> None:
    path = write(tmp_path / "log", [{**row, **NEW}])

    found = loaded(con, path, assume="model=gpt-4o,start=2026-10-01T00:00:00Z")

    assert fates(found) == ["accepted"]
    assert unknown(con) == [
        {"name": "mood", "filled": 1, "numbers": 0, "loud": False},
        {"name": "swift_tokens", "filled": 1, "numbers": 1, "loud": True},
    ]


def test_new_usage_fields_are_found_within_the_usage_of_a_record(con: Con, tmp_path: Path) -> None:
    usage = {"input_tokens": 9, "output_tokens": 3, "dream_tokens": 5}
    row = {**CLAUDE_CODE, "message": {"id": "m1", "model": "x", "usage": usage}}

    loaded(con, lines(tmp_path / "log", [row, CLAUDE_CODE]))

    assert unknown(con) == [
        {"name": "message.usage.dream_tokens", "filled": 1, "numbers": 1, "loud": True}
    ]


def test_new_usage_fields_are_found_within_the_results_of_a_page(con: Con, tmp_path: Path) -> None:
    result = {"model": "gpt-4o", "input_tokens": 9, "output_tokens": 3, "num_model_requests": 1}
    newer = {**result, "input_video_tokens": 2, "model": "gpt-5"}
    page = {"data": [{"start_time": 1, "end_time": 2, "results": [result, newer, newer]}]}

    loaded(con, document(tmp_path / "page", page))

    assert unknown(con) == [
        {"name": "data[].results[].input_video_tokens", "filled": 2, "numbers": 2, "loud": True}
    ]


def test_parquet_columns_of_any_type_are_counted(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "log"
    duckdb.sql(
        "copy (select '2026-10-05' as occurred_at, 'm' as model_name, 9 as input_tokens, "
        "3 as output_tokens, unnest([0, 4, null]) as swift_tokens, {'a': 1} as tags) "
        f"to '{path}' (format parquet)"
    )

    loaded(con, path)

    assert unknown(con) == [
        {"name": "swift_tokens", "filled": 2, "numbers": 1, "loud": True},
        {"name": "tags", "filled": 3, "numbers": 0, "loud": False},
    ]


def test_only_columns_that_may_cost_are_told_aloud(con: Con, tmp_path: Path) -> None:
    zero = {**GENERAL, "idle_tokens": 0, "mood": "glad"}

    assert told(con, table(tmp_path / "a", [zero])) == []

    (note,) = told(con, table(tmp_path / "b", [{**GENERAL, "unit_price": "0.5"}]))
    assert "unit_price (1 rows)" in note
    assert "NO figure counts" in note


def test_the_values_of_unknown_columns_are_kept_nowhere(con: Con, tmp_path: Path) -> None:
    rows = [{**GENERAL, "api_token": "sk-SECRET", "prompt": {"text": "SECRET"}}]

    notes = told(con, lines(tmp_path / "log", rows))

    assert [each["name"] for each in unknown(con)] == ["api_token", "prompt"]
    assert not any("SECRET" in note for note in notes)
    for (name,) in con.execute("select table_name from duckdb_tables()").fetchall():
        held = con.execute(
            f"select count(*) from {name} as t where t::varchar like '%SECRET%'"
        ).fetchall()
        assert held == [(0,)], name


def test_a_hostile_name_is_cut_and_cannot_steer_a_terminal(con: Con, tmp_path: Path) -> None:
    name = "\x1b[31m'; drop table raw_usage; --" + "x" * 500

    loaded(con, lines(tmp_path / "log", [{**GENERAL, name: "1"}]))

    ((found,),) = con.execute("select column_name from raw_unknown_columns").fetchall()
    assert found.startswith("\ufffd[31m'; drop table raw_usage; --x")
    assert len(found) == 61  # 60 letters and the sign of a cut


def test_a_packed_log_names_its_columns_too(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(json.dumps({**GENERAL, **NEW}).encode()))

    loaded(con, path)

    assert [each["name"] for each in unknown(con)] == ["mood", "swift_tokens"]


@pytest.mark.slow
def test_real_logs_have_no_token_columns_that_are_not_read(con: Con, samples: Path) -> None:
    for path in sorted((samples / "logs").iterdir()):
        if path.suffix == ".md" or path.name.startswith(("claude_code_statusline", "focus12_ene")):
            continue
        if path.name.startswith("provider_usage_bodies"):
            continue  # a test set of replies without times, see test_source_replies
        notes = told(con, path, "model=gpt-4o,start=2026-01-01T00:00:00Z")
        assert not any("NO figure" in note for note in notes), path.name
