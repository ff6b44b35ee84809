"""What LiteLLM and OpenRouter export: requests and days, as lines, pages and tables."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, document, fates, lines, loaded, table

Con = duckdb.DuckDBPyConnection
Record = dict[str, Any]

PARTS = {
    "prompt_tokens_details": {"cached_tokens": 700},
    "completion_tokens_details": {"reasoning_tokens": 120},
}
SPEND: Record = {
    "request_id": "r1",
    "call_type": "acompletion",
    "startTime": "2026-10-01T10:00:00.000Z",
    "endTime": "2026-10-01T10:00:02.500Z",
    "completionStartTime": "2026-10-01T10:00:00.600Z",
    "prompt_tokens": 1_000,
    "completion_tokens": 300,
    "model": "gpt-5",
    "custom_llm_provider": "openai",
    "spend": 0.0125,
    "cache_hit": "False",
    "request_tags": ["prod", "class:rag", "task:t7", "solved:true"],
    "metadata": {"user_api_key_team_alias": "support", "additional_usage_values": PARTS},
    "messages": "SECRET",
    "new_column": 1,
}

DAY: Record = {
    "id": "x",
    "user_id": "u",
    "date": "2026-10-01",
    "api_key": "k",
    "model": "claude-sonnet-4-5",
    "custom_llm_provider": "anthropic",
    "prompt_tokens": 10_000,
    "completion_tokens": 700,
    "cache_read_input_tokens": 6_000,
    "cache_creation_input_tokens": 1_000,
    "spend": 0.05,
    "api_requests": 9,
    "successful_requests": 7,
    "failed_requests": 2,
}

GENERATION: Record = {
    "generation_id": "gen-1",
    "created_at": "2026-10-01 03:46:57.713",
    "cost_total": "0.0123",
    "cost_web_search": "0",
    "byok_usage_inference": "0",
    "tokens_prompt": "10389",
    "tokens_completion": "137",
    "tokens_reasoning": "30",
    "tokens_cached": "9000",
    "model_permaslug": "openai/gpt-oss-120b",
    "provider_name": "Example",
    "cancelled": "false",
    "user": "",
    "finish_reason_normalized": "stop",
    "generation_time_ms": "2150",
    "time_to_first_token_ms": "410",
    "api_key_name": "demo",
    "app_name": "app",
}

OPENROUTER_DAYS = """\
Date,Slug,Usage,BYOK Usage,Requests,Prompt Tokens,Completion Tokens,Reasoning Tokens
"2026-10-01 00:00:00","anthropic/claude-opus-4.7","430.07","0","4115","70965665","3009973","0"
"2026-10-02 00:00:00","anthropic/claude-opus-4.7","5.87","1.5","42","8719","2795","100"
"""


def as_cells(record: Record) -> Record:
    """Return a record as a dump writes it: JSON in cells."""
    return {
        key: json.dumps(value) if isinstance(value, dict | list) else value
        for key, value in record.items()
    }


@pytest.mark.slow
def test_litellm_reads_alike_as_lines_page_table_and_text_in_json(con: Con, tmp_path: Path) -> None:
    files = [
        lines(tmp_path / "a", [SPEND]),
        document(tmp_path / "b", {"data": [SPEND], "total": 1, "page": 1}),
        table(tmp_path / "c", [as_cells(SPEND)]),
        lines(tmp_path / "d", [{**SPEND, "metadata": json.dumps(SPEND["metadata"])}]),
    ]

    for file in files:
        (row,) = loaded(con, file)
        assert buckets(row) == (300, 700, None, None, 300)
        assert row["reasoning_tokens"] == 120
        assert (row["team"], row["query_class"], row["task_id"]) == ("support", "rag", "t7")
        assert row["is_solved"] is True
        assert row["is_cache_known"] is True
        assert row["billed_cost_usd"] == "0.012500000000"
        assert (row["latency_s"], row["ttft_s"]) == (2.5, 0.6)

    assert fates(loaded(con, *files)) == ["accepted"] + ["duplicate"] * 3


def test_litellm_tells_parts_in_the_usage_object_where_it_has_no_others(
    con: Con, tmp_path: Path
) -> None:
    usage = {
        "prompt_tokens": 1_000,
        "cache_read_input_tokens": 500,
        "cache_creation_input_tokens": 100,
        "prompt_tokens_details": {
            "cache_creation_token_details": {"ephemeral_1h_input_tokens": 30}
        },
    }
    record = {**SPEND, "metadata": {"additional_usage_values": {}, "usage_object": usage}}

    (row,) = loaded(con, lines(tmp_path / "a", [record]))

    assert buckets(row) == (400, 500, 70, 30, 300)


def test_what_litellm_answers_from_its_own_cache_was_computed_by_no_model(
    con: Con, tmp_path: Path
) -> None:
    (row,) = loaded(con, lines(tmp_path / "a", [{**SPEND, "cache_hit": "True", "spend": 0}]))

    assert buckets(row) == (0, 0, None, None, 0)
    assert row["billed_cost_usd"] == "0.000000000000"


def test_a_litellm_spend_of_zero_is_a_missing_price(con: Con, tmp_path: Path) -> None:
    (row,) = loaded(con, lines(tmp_path / "a", [{**SPEND, "spend": 0.0, "metadata": {}}]))

    assert row["billed_cost_usd"] is None
    assert row["is_cache_known"] is False
    assert buckets(row) == (1_000, None, None, None, 300)


def test_litellm_embeddings_are_a_charge(con: Con, tmp_path: Path) -> None:
    record = {**SPEND, "call_type": "aembedding", "completion_tokens": 0, "spend": 0.001}

    (row,) = loaded(con, lines(tmp_path / "a", [record]))

    assert (row["charge_kind"], row["charge_quantity"]) == ("embeddings", 1_000)
    assert buckets(row) == (None,) * 5
    assert row["billed_cost_usd"] == "0.001000000000"


def test_a_litellm_row_with_more_cached_than_all_is_named(con: Con, tmp_path: Path) -> None:
    records = [SPEND, {**SPEND, "request_id": "r2", "prompt_tokens": 600}]

    assert fates(loaded(con, lines(tmp_path / "a", records))) == [
        "accepted",
        "cache_exceeds_input",
    ]


@pytest.mark.parametrize("write", [lines, table, document])
def test_a_litellm_day_is_a_bucket_of_its_successful_requests(
    con: Con, tmp_path: Path, write: Callable[..., Path]
) -> None:
    (row,) = loaded(con, write(tmp_path / "a", [DAY]))

    # 10,000 − 6,000 − 1,000
    assert buckets(row) == (3_000, 6_000, 1_000, None, 700)
    assert row["occurred_at"] == "2026-10-01 00:00:00"
    assert row["bucket_end_at"] == "2026-10-02 00:00:00"
    assert row["request_count"] == 7
    assert row["billed_cost_usd"] == "0.050000000000"


def test_a_litellm_day_exported_again_replaces_itself_and_no_other(
    con: Con, tmp_path: Path
) -> None:
    older = lines(tmp_path / "a", [DAY, {**DAY, "api_key": "k2"}, {**DAY, "prompt_tokens": -1}])
    newer = lines(tmp_path / "b", [{**DAY, "completion_tokens": 900}])

    rows = loaded(con, older, newer)

    assert sorted(zip((row["source_line"] for row in rows), fates(rows), strict=True)) == [
        (1, "accepted"),
        (1, "duplicate"),
        (2, "accepted"),
        (3, "tokens_negative"),
    ]


def test_an_older_litellm_day_knows_no_cached_share(con: Con, tmp_path: Path) -> None:
    older = {key: value for key, value in DAY.items() if "cache" not in key}

    (row,) = loaded(con, table(tmp_path / "a", [older]))

    assert buckets(row) == (10_000, None, None, None, 700)
    assert row["is_cache_known"] is False


def test_an_openrouter_day_is_a_bucket_and_own_keys_are_paid_too(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(OPENROUTER_DAYS, encoding="utf-8")

    rows = loaded(con, path)

    assert fates(rows) == ["accepted"] * 2
    assert buckets(rows[0]) == (70_965_665, None, None, None, 3_009_973)
    assert rows[0]["bucket_end_at"] == "2026-10-02 00:00:00"
    assert rows[0]["model_name"] == "anthropic/claude-opus-4.7"
    assert rows[1]["reasoning_tokens"] == 100
    assert [row["request_count"] for row in rows] == [4_115, 42]
    # 5.87 + 1.5
    assert [row["billed_cost_usd"] for row in rows] == ["430.070000000000", "7.370000000000"]


def test_openrouter_rows_of_one_day_and_model_are_all_kept_and_replaced_in_turn(
    con: Con, tmp_path: Path
) -> None:
    first = OPENROUTER_DAYS.splitlines()[1]
    small = first.replace("3009973", "5")
    (tmp_path / "a.csv").write_text(f"{OPENROUTER_DAYS}{small}\n", encoding="utf-8")
    header = OPENROUTER_DAYS.splitlines()[0]
    (tmp_path / "b.csv").write_text(f"{header}\n{small}\n{first}\n", encoding="utf-8")

    rows = loaded(con, tmp_path / "a.csv", tmp_path / "b.csv")

    assert fates(rows) == ["accepted"] * 3 + ["duplicate"] * 2


def test_an_openrouter_generation_holds_its_cached_and_reasoned_parts(
    con: Con, tmp_path: Path
) -> None:
    other = {**GENERATION, "generation_id": "gen-2", "new_column": "x"}
    rows = [
        {**GENERATION, "new_column": ""},
        {**other, "cancelled": "true", "cost_total": "0", "byok_usage_inference": "0.5"},
        {**other, "generation_id": "gen-3", "finish_reason_normalized": "error"},
        {**other, "generation_id": "gen-4", "tokens_prompt": "many"},
        GENERATION,
    ]

    found = loaded(con, table(tmp_path / "a", rows))

    assert fates(found) == [
        "accepted",
        "accepted",
        "accepted",
        "tokens_unreadable",
        "duplicate",
    ]
    # 10,389 − 9,000
    assert buckets(found[0]) == (1_389, 9_000, None, None, 137)
    assert found[0]["reasoning_tokens"] == 30
    assert found[0]["occurred_at"] == "2026-10-01 03:46:57.713"
    assert (found[0]["latency_s"], found[0]["ttft_s"]) == (2.15, 0.41)
    assert [row["status"] for row in found[:3]] == ["success", "cancelled", "error"]
    assert [row["billed_cost_usd"] for row in found[:2]] == ["0.012300000000", "0.500000000000"]


def test_an_export_in_openrouters_own_shape_is_read(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "openrouter_activity_generations_shape.csv")

    assert buckets(row) == (10_389, 0, None, None, 137)
    assert row["billed_cost_usd"] == "0.012300000000"
