"""Replies of model APIs as they are logged: every dialect, chunks, batches, and 900 real ones."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, document, fates, form, lines, loaded

from pipeline.errors import BadInputError

Con = duckdb.DuckDBPyConnection

AT = 1_790_812_800  # 2026-10-01T00:00:00Z
START = "start=2026-10-01T00:00:00Z"

CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": AT,
    "model": "gpt-5.6-luna",
    "choices": [{"message": {"content": "SECRET"}, "finish_reason": "length"}],
    "service_tier": "default",
    "usage": {
        "prompt_tokens": 1_000,
        "completion_tokens": 300,
        "total_tokens": 1_300,
        "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 200},
        "completion_tokens_details": {"reasoning_tokens": 120, "new_kind_tokens": 1},
    },
}

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": AT,
    "model": "gpt-5-2025-08-07",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "usage": {
        "input_tokens": 1_000,
        "input_tokens_details": {"cached_tokens": 700},
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 120},
        "total_tokens": 1_300,
    },
}

MESSAGE: dict[str, Any] = {
    "id": "msg_01",
    "type": "message",
    "model": "claude-sonnet-4-5-20250929",
    "stop_reason": "end_turn",
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 60,
        "cache_read_input_tokens": 9_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 10},
        "output_tokens": 300,
        "output_tokens_details": {"thinking_tokens": 120},
        "service_tier": "standard",
        "inference_geo": "not_available",
    },
}

GEMINI: dict[str, Any] = {
    "responseId": "g1",
    "modelVersion": "gemini-2.5-pro",
    "createTime": "2026-10-01T00:00:00.5Z",
    "candidates": [{"finishReason": "MAX_TOKENS"}],
    "usageMetadata": {
        "promptTokenCount": 200,
        "cachedContentTokenCount": 150,
        "toolUsePromptTokenCount": 280,
        "candidatesTokenCount": 100,
        "thoughtsTokenCount": 700,
        "totalTokenCount": 1_280,
        "trafficType": "ON_DEMAND",
    },
}

CONVERSE: dict[str, Any] = {
    "timestamp": "2026-10-01T00:00:00Z",
    "requestId": "r1",
    "modelId": "us.amazon.nova-pro-v1:0",
    "response": {
        "stopReason": "end_turn",
        "metrics": {"latencyMs": 1_500},
        "usage": {
            "inputTokens": 10,
            "outputTokens": 300,
            "cacheReadInputTokenCount": 9_000,
            "cacheWriteInputTokenCount": 60,
            "cacheDetails": [{"ttl": "1h", "inputTokens": 20}, {"ttl": "5m", "inputTokens": 40}],
            "totalTokens": 9_370,
        },
    },
}


def with_usage(body: dict[str, Any], **usage: object) -> dict[str, Any]:
    """Return a body with some of its usage replaced."""
    key = "usageMetadata" if "usageMetadata" in body else "usage"
    return {**body, key: {**body[key], **usage}}


# Dialects ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected", "reasoning", "provider"),
    [
        (CHAT, (1_000 - 700 - 200, 700, 200, None, 300), 120, None),
        (RESPONSE, (1_000 - 700, 700, None, None, 300), 120, None),
        (MESSAGE, (10, 9_000, 50, 10, 300), 120, "anthropic"),
        (GEMINI, (200 + 280 - 150, 150, None, None, 100 + 700), 700, "google"),
        (CONVERSE, (10, 9_000, 40, 20, 300), None, "aws"),
    ],
    ids=["chat", "responses", "anthropic", "gemini", "converse"],
)
def test_each_dialect_counts_in_its_own_way(
    con: Con,
    tmp_path: Path,
    body: dict[str, Any],
    expected: tuple[int | None, ...],
    reasoning: int | None,
    provider: str | None,
) -> None:
    path = document(tmp_path / "reply.json", body)

    (row,) = loaded(con, path, assume=START)

    assert form(path) == "provider_reply"
    assert buckets(row) == expected
    assert (row["reasoning_tokens"], row["provider"]) == (reasoning, provider)
    assert row["occurred_at"].startswith("2026-10-01 00:00:00")
    assert row["is_cache_known"]
    assert fates([row]) == ["accepted"]


def test_a_log_of_several_providers_is_read_line_by_line(con: Con, tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [CHAT, RESPONSE, MESSAGE, GEMINI, CONVERSE])

    rows = loaded(con, path, assume=START)

    assert fates(rows) == ["accepted"] * 5
    assert [row["finish_reason"] for row in rows] == [
        "length",
        "length",
        "end_turn",
        "MAX_TOKENS",
        "end_turn",
    ]
    assert [row["latency_s"] for row in rows] == [None, None, None, None, 1.5]
    assert [row["service_tier"] for row in rows] == ["default", None, "standard", "on_demand", None]


@pytest.mark.parametrize(
    ("usage", "expected", "reasoning"),
    [
        # Gemini behind the compatible endpoint: thoughts show in the total alone.
        (
            {"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109},
            (35, None, None, None, 74),
            62,
        ),
        # Thoughts named, but beside the completion.
        (
            {
                "prompt_tokens": 35,
                "completion_tokens": 12,
                "total_tokens": 109,
                "completion_tokens_details": {"reasoning_tokens": 62},
            },
            (35, None, None, None, 74),
            62,
        ),
        # Mistral, DeepSeek and Hugging Face name the cached part each in its way.
        (
            {
                "prompt_tokens": 70,
                "completion_tokens": 12,
                "total_tokens": 82,
                "num_cached_tokens": 69,
            },
            (1, 69, None, None, 12),
            None,
        ),
        (
            {"prompt_tokens": 976, "completion_tokens": 61, "prompt_cache_hit_tokens": 896},
            (80, 896, None, None, 61),
            None,
        ),
        (
            {"prompt_tokens": 19, "completion_tokens": 29, "cached_tokens": 4},
            (15, 4, None, None, 29),
            None,
        ),
    ],
)
def test_those_who_speak_like_openai_differ_in_details(
    con: Con,
    tmp_path: Path,
    usage: dict[str, Any],
    expected: tuple[int | None, ...],
    reasoning: int | None,
) -> None:
    (row,) = loaded(con, document(tmp_path / "reply.json", {**CHAT, "usage": usage}))

    assert (buckets(row), row["reasoning_tokens"]) == (expected, reasoning)


def test_older_messages_have_one_count_of_writes_and_oldest_none(con: Con, tmp_path: Path) -> None:
    older = with_usage({**MESSAGE, "id": "msg_2"}, cache_creation=None)
    oldest = {**MESSAGE, "id": "msg_3", "usage": {"input_tokens": 10, "output_tokens": 300}}

    rows = loaded(con, lines(tmp_path / "log.jsonl", [older, oldest]), assume=START)

    assert [buckets(row) for row in rows] == [
        (10, 9_000, 60, None, 300),
        (10, None, None, None, 300),
    ]
    assert [row["is_cache_known"] for row in rows] == [True, False]


def test_gemini_leaves_out_what_is_none(con: Con, tmp_path: Path) -> None:
    blocked = {**GEMINI, "responseId": "a"} | {
        "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}
    }
    cut = {**GEMINI, "responseId": "b"} | {
        "usageMetadata": {"promptTokenCount": 9, "thoughtsTokenCount": 5, "totalTokenCount": 14}
    }

    rows = loaded(con, lines(tmp_path / "log.jsonl", [blocked, cut]))

    assert [buckets(row) for row in rows] == [(9, None, None, None, 0), (9, None, None, None, 5)]


def test_compaction_and_advice_are_calls_of_their_own(con: Con, tmp_path: Path) -> None:
    def iteration(kind: str, read: int, written: int, **fields: object) -> dict[str, object]:
        return {"type": kind, "input_tokens": read, "output_tokens": written, **fields}

    several = with_usage(
        MESSAGE,
        input_tokens=220,
        output_tokens=8,
        output_tokens_details=None,
        iterations=[
            iteration("compaction", 55_196, 125, cache_read_input_tokens=4),
            iteration("message", 120, 3),
            iteration("advisor_message", 2_518, 22, model="claude-opus-4-8"),
            iteration("message", 100, 5),
        ],
    )

    rows = loaded(con, lines(tmp_path / "log.jsonl", [several, several]), assume=START)

    kept = {
        (row["model_name"], row["uncached_input_tokens"], row["output_tokens"])
        for row in rows
        if not row["is_duplicate"]
    }
    assert kept == {
        ("claude-sonnet-4-5-20250929", 220, 8),
        ("claude-sonnet-4-5-20250929", 55_196, 125),
        ("claude-opus-4-8", 2_518, 22),
    }
    assert fates(rows).count("duplicate") == 3


def test_embeddings_are_charges(con: Con, tmp_path: Path) -> None:
    embedding = {
        "object": "list",
        "model": "text-embedding-3-small",
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
    }
    cohere = {"meta": {"billed_units": {"input_tokens": 5}}}

    rows = loaded(con, lines(tmp_path / "log.jsonl", [embedding, cohere]), assume=START)

    assert [(row["charge_kind"], row["charge_quantity"], row["charge_unit"]) for row in rows] == [
        ("embeddings", 4, "tokens"),
        ("embeddings", 5, "tokens"),
    ]
    assert [buckets(row) for row in rows] == [(None,) * 5] * 2


def test_openrouter_replies_say_their_cost_and_that_of_a_customers_own_key(
    con: Con, tmp_path: Path
) -> None:
    upstream = {"upstream_inference_cost": 0.0003253}
    own = with_usage({**CHAT, "id": "a"}, cost=0, is_byok=True, cost_details=upstream)
    theirs = with_usage({**CHAT, "id": "b"}, cost=0.000151, is_byok=False, cost_details=upstream)
    perplexity = with_usage({**CHAT, "id": "c"}, cost={"total_cost": 0.01})

    rows = loaded(con, lines(tmp_path / "log.jsonl", [own, theirs, perplexity]))

    assert [(row["provider"], row["billed_cost_usd"]) for row in rows] == [
        ("openrouter", "0.000325300000"),
        ("openrouter", "0.000151000000"),
        (None, "0.010000000000"),
    ]


# Streams and batches -------------------------------------------------------------------------


def chunk(reply_id: str, usage: object) -> dict[str, Any]:
    return {**CHAT, "id": reply_id, "object": "chat.completion.chunk", "usage": usage}


def test_a_stream_is_one_request_with_the_usage_of_its_last_chunk(con: Con, tmp_path: Path) -> None:
    partial = {**CHAT["usage"], "completion_tokens": 150, "total_tokens": 1_150}
    stream = [chunk("a", None), chunk("a", partial), chunk("a", CHAT["usage"])]
    growing = [
        with_usage(GEMINI, candidatesTokenCount=count, totalTokenCount=1_180 + count)
        for count in (10, 50, 100)
    ]

    rows = loaded(con, lines(tmp_path / "log.jsonl", [*stream, *growing]))

    assert fates(rows) == ["duplicate", "accepted", "duplicate", "duplicate", "accepted"]
    assert [row["output_tokens"] for row in rows if not row["is_duplicate"]] == [300, 800]


def test_a_stream_that_never_tells_usage_is_one_request_without(con: Con, tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [chunk("a", None), chunk("a", None), chunk("b", None)])

    assert form(path) == "provider_reply"
    assert fates(loaded(con, path)) == ["no_usage", "no_usage"]


def test_lines_of_a_batch_output_are_batch_requests(con: Con, tmp_path: Path) -> None:
    openai = {
        "id": "batch_req_1",
        "custom_id": "task-1",
        "response": {"status_code": 200, "request_id": "x", "body": CHAT},
        "error": None,
    }
    failed = {**openai, "response": {"status_code": 400, "body": {"error": {"message": "no"}}}}
    anthropic = {"custom_id": "a", "result": {"type": "succeeded", "message": MESSAGE}}
    vertex = {"processed_time": "2026-10-01T00:00:00+00:00", "response": GEMINI}

    rows = loaded(
        con, lines(tmp_path / "out.jsonl", [openai, failed, anthropic, vertex]), assume=START
    )

    assert fates(rows) == ["accepted", "no_usage", "accepted", "accepted"]
    assert [row["is_batch"] for row in rows] == [True] * 4
    assert rows[1]["status"] == "failed"
    assert [row["output_tokens"] for row in rows] == [300, None, 300, 800]


# Rows that are not right ---------------------------------------------------------------------


def test_time_and_model_come_from_the_record_around_or_are_assumed(
    con: Con, tmp_path: Path
) -> None:
    nameless = {key: value for key, value in MESSAGE.items() if key not in ("model", "id")}
    around = {"timestamp": "2026-10-02T03:04:05+02:00", "model": "m", "body": nameless}
    path = lines(tmp_path / "log.jsonl", [around, {"body": nameless}])

    assert fates(loaded(con, path)) == ["accepted", "occurred_at_missing; model_missing"]
    rows = loaded(con, path, assume=f"{START},model=gpt-5")

    assert [(row["occurred_at"], row["model_name"]) for row in rows] == [
        ("2026-10-02 01:04:05", "m"),
        ("2026-10-01 00:00:00", "gpt-5"),
    ]
    assert fates(rows) == ["accepted"] * 2  # without ids, equal replies are two


def test_a_log_of_replies_without_times_says_what_to_give(con: Con, tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", [MESSAGE] * 10)

    with pytest.raises(BadInputError, match="give --assume start=…"):
        loaded(con, path)


def test_bad_counts_of_a_reply_are_set_aside(con: Con, tmp_path: Path) -> None:
    bad = [
        with_usage(CHAT, prompt_tokens="many"),
        with_usage(CHAT, prompt_tokens=800),
        with_usage(CHAT, completion_tokens_details={"reasoning_tokens": 301}),
    ]

    assert fates(loaded(con, lines(tmp_path / "log.jsonl", bad))) == [
        "tokens_unreadable",
        "cache_exceeds_input",
        "reasoning_exceeds_output",
    ]


def test_replies_are_never_stored(con: Con, tmp_path: Path) -> None:
    loaded(con, document(tmp_path / "reply.json", CHAT))

    for (name,) in con.execute("select table_name from duckdb_tables()").fetchall():
        found = con.execute(f"select count(*) from {name} as t where t::varchar like '%SECRET%'")
        assert found.fetchall() == [(0,)], name


# 900 real replies ----------------------------------------------------------------------------

ADDS_UP = "adds up"
NO_TOTAL = "states no total"
EMBEDDING = "an embedding, which is a charge"

# What becomes of the recorded replies of each dialect, and why a total cannot be checked.
OUTCOMES = {
    ("chat", ADDS_UP): 224,
    ("chat", EMBEDDING): 1,
    ("responses", ADDS_UP): 143,
    ("converse", ADDS_UP): 126,
    ("gemini", ADDS_UP): 249,
    ("gemini", EMBEDDING): 9,
    ("anthropic", NO_TOTAL): 134,
    ("cohere", NO_TOTAL): 10,
    ("cohere", EMBEDDING): 4,
}


def dialect_of(body: dict[str, Any]) -> str:
    """Say who a recorded reply is from, by the words of its usage."""
    if "usageMetadata" in body:
        return "gemini"
    usage = body.get("usage", {})
    if "meta" in body or "tokens" in usage:
        return "cohere"
    if "inputTokens" in usage:
        return "converse"
    if "prompt_tokens" in usage:
        return "chat"
    return "responses" if "total_tokens" in usage else "anthropic"


def total_of(body: dict[str, Any]) -> int | None:
    """Return the total that a recorded reply states itself."""
    usage = body.get("usageMetadata") or body.get("usage") or {}
    totals = [
        usage[key] for key in ("total_tokens", "totalTokens", "totalTokenCount") if key in usage
    ]
    return totals[0] if totals else None


def parts_of(body: dict[str, Any]) -> int:
    """Return all tokens of a reply that states no total, from its parts."""
    usage = body["usage"]
    if "tokens" in usage:
        return int(sum(usage["tokens"].values()))
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    calls = [usage, *(each for each in usage.get("iterations", []) if each["type"] != "message")]
    return sum(each[name] for each in calls for name in (*names, "output_tokens"))


@pytest.fixture
def recorded(samples: Path) -> dict[str, list[dict[str, Any]]]:
    """The recorded replies by dialect."""
    text = gzip.decompress((samples / "logs" / "provider_usage_bodies.jsonl.gz").read_bytes())
    by_dialect: dict[str, list[dict[str, Any]]] = {}
    for record in map(json.loads, text.decode().splitlines()):
        by_dialect.setdefault(dialect_of(record["body"]), []).append(record)
    return by_dialect


def test_the_counts_of_900_real_replies_add_up_to_their_own_totals(
    con: Con, tmp_path: Path, recorded: dict[str, list[dict[str, Any]]]
) -> None:
    outcomes: Counter[tuple[str, str]] = Counter()
    for dialect, records in recorded.items():
        bodies = [record["body"] for record in records]
        path = lines(tmp_path / f"{dialect}.jsonl", bodies)
        sums: Counter[int] = Counter()
        kinds = {}
        for row in loaded(con, path, assume=f"{START},model=gpt-5"):
            assert fates([row]) == ["accepted"]
            sums[row["source_line"]] += sum(count or 0 for count in buckets(row))
            kinds[row["source_line"]] = row["charge_kind"]
        for number, body in enumerate(bodies, start=1):
            if kinds[number] == "embeddings":
                outcomes[dialect, EMBEDDING] += 1
            elif total_of(body) is None:
                assert sums[number] == parts_of(body)
                outcomes[dialect, NO_TOTAL] += 1
            else:
                assert (sums[number], body) == (total_of(body), body)
                outcomes[dialect, ADDS_UP] += 1

    assert outcomes == OUTCOMES
    assert sum(OUTCOMES.values()) == 900


def test_the_recorded_file_itself_is_read_and_has_4_calls_more_than_replies(
    con: Con, samples: Path
) -> None:
    path = samples / "logs" / "provider_usage_bodies.jsonl.gz"

    rows = loaded(con, path, assume=f"{START},model=gpt-5")

    assert form(path) == "provider_reply"
    assert fates(rows) == ["accepted"] * (900 + 4)  # one compaction, three advisors
    assert sum(row["charge_kind"] == "embeddings" for row in rows) == 14
