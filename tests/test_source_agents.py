"""Session logs of coding agents: repeated lines, forks, sums, and what is no call at all."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, fates, form, lines, loaded

Con = duckdb.DuckDBPyConnection
Record = dict[str, Any]


def message(number: int, output: int, **other: object) -> Record:
    """Return a line of Claude Code: 10 new tokens, 20 read, 30 written of which 5 for an hour."""
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 25, "ephemeral_1h_input_tokens": 5},
        "output_tokens": output,
        "new_kind_tokens": 1,
    }
    return {
        "timestamp": f"2026-10-01T10:00:0{number}.500Z",
        "sessionId": "s",
        "requestId": f"req_{number}",
        "message": {
            "id": f"msg_{number}",
            "model": "claude-sonnet-4-5",
            "stop_reason": "tool_use",
            "usage": usage,
            "content": "SECRET",
        },
        **other,
    }


def meta(session: str, at: str = "10:00:00.000", **payload: object) -> Record:
    """Return the first line of a Codex session."""
    return {
        "timestamp": f"2026-10-01T{at}Z",
        "type": "session_meta",
        "payload": {"id": session, "originator": "cli", "cli_version": "0.114.0", **payload},
    }


def turn(model: str, **payload: object) -> Record:
    """Return what a Codex turn begins with."""
    return {
        "timestamp": "2026-10-01T10:00:01Z",
        "type": "turn_context",
        "payload": {"turn_id": "t", "model": model, "approval_policy": "never", **payload},
    }


def counts(whole: int, cached: int, output: int, reasoning: int) -> Record:
    """Return Codex' counts."""
    return {
        "input_tokens": whole,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": whole + output,
    }


def event(at: str, total: Record | None, last: Record | None) -> Record:
    """Return a Codex event of token counts."""
    info = {
        key: value
        for key, value in (("total_token_usage", total), ("last_token_usage", last))
        if value
    }
    return {
        "timestamp": f"2026-10-01T{at}Z",
        "type": "event_msg",
        "payload": {"type": "token_count", "info": info or None, "rate_limits": None},
    }


FIRST, SECOND = counts(1_000, 600, 100, 40), counts(1_200, 900, 50, 0)
BOTH = counts(2_200, 1_500, 150, 40)
CODEX = [
    meta("a", model_provider="openai"),
    turn("gpt-5.4", effort="high"),
    event("10:00:02", None, None),
    event("10:00:03", FIRST, FIRST),
    turn("gpt-5.4-mini"),
    event("10:00:04", FIRST, FIRST),
    event("10:00:09", BOTH, SECOND),
]


def test_claude_code_repeats_a_message_for_each_of_its_blocks(con: Con, tmp_path: Path) -> None:
    rows = loaded(con, lines(tmp_path / "a", [message(1, 1), message(1, 300), message(2, 7)]))

    assert fates(rows) == ["duplicate", "accepted", "accepted"]
    assert buckets(rows[1]) == (10, 20, 25, 5, 300)
    assert rows[1]["request_id"] == "msg_1:req_1"
    assert rows[1]["occurred_at"] == "2026-10-01 10:00:01.5"
    assert rows[1]["task_id"] == "s"


def test_a_message_in_two_sessions_counts_once(con: Con, tmp_path: Path) -> None:
    first = lines(tmp_path / "a", [message(1, 300)])
    second = lines(tmp_path / "b", [message(1, 300, sessionId="s2", isSidechain=True)])

    assert sorted(fates(loaded(con, first, second))) == ["accepted", "duplicate"]


def test_what_claude_code_writes_itself_is_no_row(con: Con, tmp_path: Path) -> None:
    synthetic = message(2, 0)
    synthetic["message"]["model"] = "<synthetic>"
    records = [
        {"type": "user", "message": {}},
        synthetic,
        message(3, 0, isApiErrorMessage=True),
        message(1, 300),
    ]

    rows = loaded(con, lines(tmp_path / "a", records))

    assert [row["source_line"] for row in rows] == [4]


def test_cache_written_for_an_hour_is_not_written_for_five_minutes_too(
    con: Con, tmp_path: Path
) -> None:
    record = message(1, 300)
    record["message"]["usage"]["cache_creation"] = {"ephemeral_1h_input_tokens": 12}
    older = message(2, 300)
    del older["message"]["usage"]["cache_creation"]

    rows = loaded(con, lines(tmp_path / "a", [record, older]))

    assert [buckets(row)[2:4] for row in rows] == [(18, 12), (30, None)]


def test_claude_code_tells_cost_and_speed(con: Con, tmp_path: Path) -> None:
    record = message(1, 300, costUSD=0.125)
    record["message"]["usage"]["speed"] = "fast"

    (row,) = loaded(con, lines(tmp_path / "a", [record]))

    assert (row["billed_cost_usd"], row["service_tier"]) == ("0.125000000000", "fast")


def test_a_transcript_without_times_takes_the_start_that_is_told(con: Con, samples: Path) -> None:
    path = samples / "logs" / "claude_code_transcript.jsonl"

    rows = loaded(con, path)
    assert fates(rows) == ["occurred_at_missing; model_missing"] * 2

    rows = loaded(con, path, assume="start=2026-10-01,model=claude-sonnet-4-5")
    assert [buckets(row) for row in rows] == [
        (1_000, 500, 100, None, 50),
        (2_000, 800, 200, None, 100),
    ]


def test_codex_counts_each_call_once_under_the_model_of_its_turn(con: Con, tmp_path: Path) -> None:
    rows = loaded(con, lines(tmp_path / "a", CODEX))

    assert fates(rows) == ["accepted", "duplicate", "accepted"]
    assert [row["source_line"] for row in rows] == [4, 6, 7]
    # 1,000 − 600 and 1,200 − 900
    assert buckets(rows[0]) == (400, 600, None, None, 100)
    assert buckets(rows[2]) == (300, 900, None, None, 50)
    assert [row["model_name"] for row in rows] == ["gpt-5.4", "gpt-5.4", "gpt-5.4-mini"]
    assert [row["effort"] for row in rows] == ["high", "high", "high"]
    assert rows[0]["reasoning_tokens"] == 40
    assert rows[0]["occurred_at"] == "2026-10-01 10:00:03"
    assert (rows[0]["provider"], rows[0]["task_id"]) == ("openai", "a")


def test_a_resumed_codex_session_repeats_nothing(con: Con, tmp_path: Path) -> None:
    third = counts(500, 0, 10, 0)
    resumed = [
        meta("a", at="11:00:00"),
        event("11:00:00", BOTH, SECOND),
        turn("gpt-5.4-mini"),
        event("11:00:05", counts(2_700, 1_500, 160, 40), third),
    ]

    rows = loaded(con, lines(tmp_path / "a", CODEX), lines(tmp_path / "b", resumed))

    assert sorted(fates(rows)) == ["accepted"] * 3 + ["duplicate"] * 2
    assert sum(row["output_tokens"] for row in rows if not row["is_duplicate"]) == 160


@pytest.mark.parametrize(
    "parent",
    [
        {"forked_from_id": "a"},
        {"parent_thread_id": "a"},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "a"}}}},
    ],
)
def test_a_fork_does_not_count_its_parents_calls_again(
    con: Con, tmp_path: Path, parent: Record
) -> None:
    fork = [
        meta("b", at="12:00:00.100", **parent),
        meta("a", at="12:00:00.100"),
        event("12:00:00.101", FIRST, FIRST),
        event("12:00:00.950", BOTH, SECOND),
        turn("gpt-5.4"),
        event("12:00:09", counts(2_700, 1_500, 160, 40), counts(500, 0, 10, 0)),
    ]

    rows = loaded(con, lines(tmp_path / "a", CODEX), lines(tmp_path / "b", fork))

    assert [buckets(row)[0] for row in rows if row["input_id"] == 2] == [500]
    assert (rows[-1]["session_id"], rows[-1]["parent_id"]) == ("b", "a")


def test_two_codex_sessions_that_begin_alike_are_two(con: Con, tmp_path: Path) -> None:
    first = [meta("a"), turn("gpt-5.4"), event("10:00:03", FIRST, FIRST)]
    second = [meta("b"), turn("gpt-5.4"), event("10:00:03", FIRST, FIRST)]

    rows = loaded(con, lines(tmp_path / "a", first), lines(tmp_path / "b", second))

    assert fates(rows) == ["accepted", "accepted"]


def test_an_older_codex_log_tells_sums_alone(con: Con, tmp_path: Path) -> None:
    # The third sum is below the second: the session began anew.
    anew = counts(700, 100, 20, 5)
    records = [
        meta("a"),
        turn("gpt-5"),
        event("10:00:03", FIRST, None),
        event("10:00:05", BOTH, None),
        event("10:00:07", anew, None),
    ]

    rows = loaded(con, lines(tmp_path / "a", records))

    assert [buckets(row) for row in rows] == [
        (400, 600, None, None, 100),
        (300, 900, None, None, 50),
        (600, 100, None, None, 20),
    ]


def test_a_codex_event_with_more_cached_than_all_is_named(con: Con, tmp_path: Path) -> None:
    bad = counts(100, 600, 100, 0)
    records = [meta("a"), turn("gpt-5"), event("10:00:03", bad, bad), {"type": "x", "payload": 1}]

    assert fates(loaded(con, lines(tmp_path / "a", records))) == ["cache_exceeds_input"]


def test_a_codex_log_without_calls_is_recognised(tmp_path: Path) -> None:
    assert form(lines(tmp_path / "a", CODEX[:1])) == "codex"
    assert form(lines(tmp_path / "b", CODEX[1:2])) == "codex"


def test_a_real_codex_session_adds_up_to_its_last_sum(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "logs" / "tracelab_codex_session.jsonl.gz")

    assert fates(rows) == ["accepted"] * 9
    # The last event: 95,819 tokens in, of which 79,488 cached; 1,912 out, of which 581 reasoned.
    assert sum(row["uncached_input_tokens"] for row in rows) == 95_819 - 79_488
    assert sum(row["cache_read_tokens"] for row in rows) == 79_488
    assert sum(row["output_tokens"] for row in rows) == 1_912
    assert sum(row["reasoning_tokens"] for row in rows) == 581
    assert {row["model_name"] for row in rows} == {"gpt-5.4"}
    assert {row["effort"] for row in rows} == {"high"}


def test_the_rounds_of_real_sessions_say_what_their_logs_say(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "usage" / "tracelab_round_trace_sanitized_example.jsonl.gz")

    claude = [row for row in rows if row["provider"] == "anthropic"]
    codex = [row for row in rows if row["provider"] == "openai"]
    assert (len(claude), len(codex)) == (10, 9)
    assert sum(row["uncached_input_tokens"] for row in claude) == 3_039
    assert sum(row["cache_read_tokens"] for row in claude) == 394_068
    assert sum(row["cache_write_5m_tokens"] for row in claude) == 21_086
    assert sum(row["output_tokens"] for row in claude) == 9_423
    assert sum(row["uncached_input_tokens"] for row in codex) == 95_819 - 79_488
    assert sum(row["output_tokens"] for row in codex) == 1_912
    assert rows[0]["occurred_at"] == "2026-06-01 05:40:20.151"


def test_a_round_twice_counts_once_and_a_bad_one_is_named(con: Con, tmp_path: Path) -> None:
    good = {
        "provider": "codex",
        "session_id": "s",
        "round_id": "r:0",
        "model": "gpt-5.4",
        "input_tokens_total": 100,
        "prefix_tokens": 60,
        "newly_append_tokens": 40,
        "output_tokens": 7,
        "reasoning_output_tokens": 2,
        "timing_events": [{"timestamp": "2026-10-01T00:00:00Z"}, {}],
    }
    bad = {**good, "round_id": "r:1", "prefix_tokens": 600}

    rows = loaded(con, lines(tmp_path / "a", [good, good, bad]))

    assert fates(rows) == ["accepted", "duplicate", "cache_exceeds_input"]
    assert buckets(rows[0]) == (40, 60, None, None, 7)
