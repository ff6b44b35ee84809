"""What Langfuse, Helicone, Portkey and OpenTelemetry log of calls, and what they mean by input."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, document, fates, form, lines, loaded, table

from pipeline.errors import BadInputError

Con = duckdb.DuckDBPyConnection
Record = dict[str, Any]

USAGE = {"input": 300, "input_cached_tokens": 700, "output": 180, "output_reasoning_tokens": 120}

OBSERVATION: Record = {
    "id": "o1",
    "traceId": "t1",
    "parentObservationId": "p1",
    "type": "GENERATION",
    "startTime": "2026-10-01T10:00:00.000Z",
    "endTime": "2026-10-01T10:00:02.500Z",
    "completionStartTime": "2026-10-01T10:00:00.600Z",
    "model": "gpt-5",
    "projectId": "p",
    "userId": "u",
    "sessionId": "s",
    "level": "DEFAULT",
    "tags": ["prod", "class:rag"],
    "usageDetails": {**USAGE, "total": 1_300},
    "costDetails": {"input": 0.001, "total": 0.0125},
    "input": "SECRET",
    "newField": 1,
}

HELICONE: Record = {
    "request_id": "h1",
    "request_created_at": "2026-10-01T10:00:00Z",
    "response_status": 200,
    "request_user_id": "u",
    "provider": "OPENAI",
    "model": "gpt-5",
    "prompt_tokens": 300,
    "prompt_cache_read_tokens": 700,
    "prompt_cache_write_tokens": 0,
    "completion_tokens": 300,
    "delay_ms": 2500,
    "time_to_first_token": 600,
    "cost": 0.0125,
    "request_properties": {"Helicone-Session-Id": "s", "Team": "support", "Feature": "search"},
    "request_body": "SECRET",
}

PORTKEY: Record = {
    "id": "k1",
    "trace_id": "t1",
    "created_at": "2026-10-01T10:00:00Z",
    "is_success": True,
    "ai_org": "openai",
    "ai_model": "gpt-5",
    "req_units": 1_000,
    "res_units": 300,
    "total_units": 1_300,
    "cost": 1.25,
    "cost_currency": "USD",
    "response_time": 2_500,
    "prompt_slug": "search",
    "metadata": {"_user": "u", "team": "support"},
    "request": "SECRET",
    "response": {
        "usage": {
            "total_tokens": 1_300,
            "prompt_tokens_details": {"cached_tokens": 700},
            "completion_tokens_details": {"reasoning_tokens": 120},
        }
    },
}


def snake(record: Record) -> Record:
    """Return an observation under the names of Langfuse's exports to storage."""
    names = {
        "traceId": "trace_id",
        "parentObservationId": "parent_observation_id",
        "startTime": "start_time",
        "endTime": "end_time",
        "completionStartTime": "completion_start_time",
        "model": "provided_model_name",
        "projectId": "project_id",
        "userId": "user_id",
        "sessionId": "session_id",
        "usageDetails": "usage_details",
        "costDetails": "cost_details",
    }
    renamed = {names.get(key, key): value for key, value in record.items()}
    for key in ("start_time", "end_time", "completion_start_time"):
        renamed[key] = renamed[key].replace("T", " ").replace("Z", "000")
    return renamed


def texts(record: Record) -> Record:
    """Return a record with its objects as JSON texts."""
    return {
        key: json.dumps(value) if isinstance(value, dict | list) else value
        for key, value in record.items()
    }


def attribute(key: str, value: object) -> Record:
    """Return an attribute as OTLP writes it."""
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": value[0]}]}}}
    return {"key": key, "value": {"stringValue": value}}


def span(number: int, name: str, parent: int | None = None, **values: object) -> Record:
    """Return a span of 2.5 s; attributes are named with __ for dots, and begin with gen_ai."""
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"{number:016x}",
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "name": name,
        "startTimeUnixNano": "1790848800000000000",  # 2026-10-01T10:00:00Z
        "endTimeUnixNano": "1790848802500000000",
        "attributes": [
            attribute("gen_ai." + key.replace("__", "."), value) for key, value in values.items()
        ],
    }


def export(*spans: Record) -> Record:
    """Return an OTLP export."""
    resource = {"attributes": [attribute("service.name", "helpdesk")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


CALL: Record = {
    "operation__name": "chat",
    "provider__name": "openai",
    "request__model": "gpt-5",
    "response__model": "gpt-5-2025-08-07",
    "usage__input_tokens": 1_000,
    "usage__cache_read__input_tokens": 700,
    "usage__output_tokens": 300,
    "usage__reasoning__output_tokens": 120,
    "response__finish_reasons": ["stop"],
    "conversation__id": "c",
    "agent__name": "researcher",
}


@pytest.mark.slow
def test_langfuse_reads_alike_from_its_api_its_page_and_its_exports(
    con: Con, tmp_path: Path
) -> None:
    files = [
        lines(tmp_path / "a", [OBSERVATION]),
        document(tmp_path / "b", {"data": [OBSERVATION], "meta": {"page": 1}}),
        table(tmp_path / "c", [texts(OBSERVATION)]),
        lines(tmp_path / "d", [snake(OBSERVATION)]),
        lines(tmp_path / "e", [texts(snake(OBSERVATION))]),
        table(tmp_path / "f", [texts(snake(OBSERVATION))]),
    ]

    for file in files:
        (row,) = loaded(con, file)
        assert buckets(row) == (300, 700, None, None, 300), file
        assert row["reasoning_tokens"] == 120
        assert row["occurred_at"] == "2026-10-01 10:00:00"
        assert (row["latency_s"], row["ttft_s"]) == (2.5, 0.6)
        assert (row["task_id"], row["parent_id"], row["session_id"]) == ("t1", "p1", "s")
        assert (row["model_name"], row["query_class"]) == ("gpt-5", "rag")
        assert row["billed_cost_usd"] == "0.012500000000"

    assert fates(loaded(con, *files)) == ["accepted"] + ["duplicate"] * 5


# Input 300 and 700 cached, output 180 and 120 reasoned, each meant in four ways.
@pytest.mark.parametrize(
    ("total", "uncached", "output"),
    [
        (None, 1_000, 300),
        (1_820, 1_000, 420),  # no sum of them: additive, as intended
        (2_120, 1_000, 420),  # 1,000 + 700 + 300 + 120
        (1_420, 300, 420),  # 1,000 + 300 + 120: the cached part is inside
        (2_000, 1_000, 300),  # 1,000 + 700 + 300: the reasoned part is inside
        (1_300, 300, 300),  # 1,000 + 300: both are
    ],
)
def test_only_a_langfuse_total_tells_that_input_holds_the_cached_part(
    con: Con, tmp_path: Path, total: int | None, uncached: int, output: int
) -> None:
    usage: dict[str, object] = {
        "input": 1_000,
        "cache_read_input_tokens": 700,
        "output": 300,
        "reasoning_tokens": 120,
    }
    if total is not None:
        usage["total"] = total
    else:
        del usage["reasoning_tokens"]

    (row,) = loaded(con, lines(tmp_path / "a", [{**OBSERVATION, "usageDetails": usage}]))

    assert buckets(row) == (uncached, 700, None, None, output)


def test_langfuse_names_cache_writes_and_other_kinds_of_input(con: Con, tmp_path: Path) -> None:
    usage = {
        "input": 100,
        "input_audio": 20,
        "input_cache_creation_5m": 30,
        "input_cache_creation_1h": 7,
        "input_cache_read": 50,
        "output": 9,
        "output_audio": 1,
    }

    (row,) = loaded(con, lines(tmp_path / "a", [{**OBSERVATION, "usageDetails": usage}]))

    assert buckets(row) == (120, 50, 30, 7, 10)


def test_only_generations_of_langfuse_are_calls(con: Con, tmp_path: Path) -> None:
    records = [
        {**OBSERVATION, "id": "o2", "type": "SPAN"},
        {**OBSERVATION, "id": "o3", "type": "AGENT"},
        OBSERVATION,
        {**OBSERVATION, "id": "o4", "usageDetails": {}, "costDetails": {}},
        {**OBSERVATION, "id": "o5", "usageDetails": {"input": -1, "output": 2}},
    ]

    rows = loaded(con, lines(tmp_path / "a", records))

    assert [(row["source_line"], fate) for row, fate in zip(rows, fates(rows), strict=True)] == [
        (3, "accepted"),
        (4, "no_usage"),
        (5, "tokens_negative"),
    ]


def test_an_older_langfuse_observation_has_counts_beside_and_an_error_is_one(
    con: Con, tmp_path: Path
) -> None:
    older = {
        key: value for key, value in OBSERVATION.items() if key not in ("usageDetails", "level")
    }
    older |= {"promptTokens": 100, "completionTokens": 7, "level": "ERROR"}

    (row,) = loaded(con, lines(tmp_path / "a", [older]))

    assert buckets(row) == (100, None, None, None, 7)
    assert (row["is_cache_known"], row["status"]) == (False, "error")


def test_the_shape_of_langfuses_export_is_read(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "langfuse_observations_shape.jsonl")

    assert buckets(row) == (176, 1_024, None, None, 300)
    assert row["billed_cost_usd"] == "0.004720000000"


@pytest.mark.slow
def test_helicone_leaves_cached_tokens_out_and_its_properties_name_people(
    con: Con, tmp_path: Path
) -> None:
    doubled = {**texts(HELICONE), "request_id": "h1"}
    doubled["request_properties"] = doubled["request_properties"].replace('"', '""')
    files = [
        lines(tmp_path / "a", [HELICONE]),
        document(tmp_path / "b", [HELICONE]),
        document(tmp_path / "c", {"data": [HELICONE], "error": None}),
        table(tmp_path / "d", [doubled]),
    ]

    for file in files:
        (row,) = loaded(con, file)
        assert buckets(row) == (300, 700, 0, None, 300)
        assert (row["team"], row["route"], row["task_id"]) == ("support", "search", "s")
        assert (row["provider"], row["status"]) == ("openai", "success")
        assert (row["latency_s"], row["ttft_s"]) == (2.5, 0.6)
        assert row["billed_cost_usd"] == "0.012500000000"

    assert fates(loaded(con, *files)) == ["accepted"] + ["duplicate"] * 3


@pytest.mark.parametrize(
    ("change", "uncached"),
    [
        ({"prompt_tokens": 1_000, "total_tokens": 1_300}, 300),  # older: the total is both alone
        ({"prompt_tokens": 300, "total_tokens": 1_300}, 300),
        ({"prompt_tokens": 300, "total_tokens": 600}, 300),  # more cached than prompt: not inside
        ({"prompt_tokens": 1_000, "total_tokens": 1_300, "provider": "ANTHROPIC"}, 1_000),
    ],
)
def test_a_helicone_total_tells_whether_an_older_prompt_holds_the_cached_part(
    con: Con, tmp_path: Path, change: Record, uncached: int
) -> None:
    (row,) = loaded(con, lines(tmp_path / "a", [{**HELICONE, **change}]))

    assert buckets(row)[:2] == (uncached, 700)


def test_the_older_table_of_helicone_has_no_cache_and_a_bad_row_is_named(
    con: Con, tmp_path: Path
) -> None:
    columns = ("request_created_at", "model", "prompt_tokens", "completion_tokens", "latency")
    older: Record = {key: {**HELICONE, "latency": 900}[key] for key in columns}
    older |= {"response_id": "x1", "response_status": 500, "cost": ""}
    bad = {**older, "response_id": "x2", "completion_tokens": 1.5}

    rows = loaded(con, table(tmp_path / "a", [older, bad]))

    assert fates(rows) == ["accepted", "tokens_not_whole"]
    assert buckets(rows[0]) == (300, None, None, None, 300)
    assert (rows[0]["status"], rows[0]["latency_s"]) == ("error", 0.9)


def test_what_helicone_answers_from_its_own_cache_was_computed_by_no_model(
    con: Con, tmp_path: Path
) -> None:
    sent = {**HELICONE, "cache_reference_id": "00000000-0000-0000-0000-000000000000"}
    kept = {**HELICONE, "request_id": "h2", "cache_reference_id": "77777777-0000-0000-0000-1"}

    rows = loaded(con, lines(tmp_path / "a", [sent, kept]))

    assert [buckets(row) for row in rows] == [(300, 700, 0, None, 300), (0, 0, 0, None, 0)]


@pytest.mark.slow
def test_portkey_costs_are_cents_and_its_replies_tell_the_parts(con: Con, tmp_path: Path) -> None:
    files = [
        lines(tmp_path / "a", [PORTKEY]),
        lines(tmp_path / "b", [texts(PORTKEY)]),
        table(tmp_path / "c", [texts(PORTKEY)]),
    ]

    for file in files:
        (row,) = loaded(con, file)
        assert buckets(row) == (300, 700, None, None, 300)
        assert row["reasoning_tokens"] == 120
        assert row["billed_cost_usd"] == "0.012500000000"
        assert (row["team"], row["user_id"], row["route"]) == ("support", "u", "search")
        assert (row["task_id"], row["status"], row["latency_s"]) == ("t1", "success", 2.5)

    assert fates(loaded(con, *files)) == ["accepted", "duplicate", "duplicate"]


@pytest.mark.parametrize(
    ("org", "total", "uncached"),
    [
        ("anthropic", None, 1_000),
        ("anthropic", 2_000, 1_000),  # 1,000 + 300 + 700
        ("openai", None, 300),
        ("openai", 1_300, 300),
        ("vertex-ai", 2_000, 1_000),
    ],
)
def test_portkeys_input_is_what_the_provider_means(
    con: Con, tmp_path: Path, org: str, total: int | None, uncached: int
) -> None:
    usage = {"cache_read_input_tokens": 700, "total_tokens": total}
    record = {**PORTKEY, "ai_org": org, "response": {"usage": usage}}

    (row,) = loaded(con, lines(tmp_path / "a", [record]))

    assert buckets(row)[:2] == (uncached, 700)


def test_a_portkey_log_without_replies_knows_no_cached_share_and_no_other_money_than_dollars(
    con: Con, tmp_path: Path
) -> None:
    columns = ("id", "created_at", "ai_model", "req_units", "res_units", "cost", "cost_currency")
    plain = {key: PORTKEY[key] for key in columns}
    euro = {**plain, "id": "k2", "cost_currency": "EUR"}

    rows = loaded(con, table(tmp_path / "a", [plain, euro]))

    assert fates(rows) == ["accepted", "currency_not_usd"]
    assert buckets(rows[0]) == (1_000, None, None, None, 300)
    assert rows[0]["is_cache_known"] is False


def test_of_a_trace_only_calls_of_models_count(con: Con, tmp_path: Path) -> None:
    agent = span(1, "invoke_agent x", None, **{**CALL, "operation__name": "invoke_agent"})
    tool = span(2, "execute_tool y", 1, operation__name="execute_tool")
    call = span(3, "chat gpt-5", 1, **CALL, new__attribute=1)
    records = [export(agent, tool), export(call), export(call)]

    rows = loaded(con, lines(tmp_path / "a", records))

    assert fates(rows) == ["accepted", "duplicate"]
    row = rows[0]
    assert buckets(row) == (300, 700, None, None, 300)
    assert row["reasoning_tokens"] == 120
    assert row["source_line"] == 2
    assert row["occurred_at"] == "2026-10-01 10:00:00"
    assert row["latency_s"] == 2.5
    assert row["task_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert row["request_id"] == "0af7651916cd43dd8448eb211c80319c:0000000000000003"
    assert row["parent_id"] == "0000000000000001"
    assert (row["provider"], row["model_name"]) == ("openai", "gpt-5-2025-08-07")
    assert (row["session_id"], row["route"], row["project"]) == ("c", "researcher", "helpdesk")
    assert (row["status"], row["finish_reason"]) == ("success", "stop")


def test_a_trace_that_is_one_document_reads_alike(con: Con, tmp_path: Path) -> None:
    (row,) = loaded(con, document(tmp_path / "a", export(span(3, "chat gpt-5", 1, **CALL))))

    assert buckets(row) == (300, 700, None, None, 300)


def test_spans_under_older_names_are_calls_unless_they_repeat_those_below(
    con: Con, tmp_path: Path
) -> None:
    older: Record = {
        "system": "anthropic",
        "request__model": "claude-sonnet-4-5",
        "usage__prompt_tokens": 1_000,
        "usage__completion_tokens": 300,
    }
    failed = {**span(3, "anthropic.chat", 1, **older), "status": {"code": 2}}
    spans = [span(1, "workflow", None, **older), span(2, "anthropic.chat", 1, **older), failed]

    rows = loaded(con, document(tmp_path / "a", export(*spans)))

    assert [buckets(row) for row in rows] == [(1_000, None, None, None, 300)] * 2
    assert sorted(row["status"] for row in rows) == ["error", "success"]
    assert {row["is_cache_known"] for row in rows} == {False}
    assert {row["provider"] for row in rows} == {"anthropic"}


@pytest.mark.parametrize(("total", "uncached"), [(2_000, 1_000), (1_300, 300)])
def test_a_total_tells_that_a_span_leaves_the_cached_part_out(
    con: Con, tmp_path: Path, total: int, uncached: int
) -> None:
    call = span(3, "chat", None, **CALL, usage__total_tokens=total)

    (row,) = loaded(con, document(tmp_path / "a", export(call)))

    assert buckets(row)[0] == uncached


def test_embeddings_are_charges_and_a_call_without_tokens_is_said_to_have_none(
    con: Con, tmp_path: Path
) -> None:
    embedding = {**CALL, "operation__name": "embeddings", "usage__output_tokens": 0}
    empty = {"operation__name": "chat", "request__model": "gpt-5"}
    bad = {**CALL, "usage__input_tokens": 600}
    spans = [
        span(1, "e", None, **embedding),
        span(2, "c", None, **empty),
        span(3, "c", None, **bad),
    ]

    rows = loaded(con, lines(tmp_path / "a", [export(each) for each in spans]))

    assert fates(rows) == ["accepted", "no_usage", "cache_exceeds_input"]
    assert (rows[0]["charge_kind"], rows[0]["charge_quantity"]) == ("embeddings", 1_000)
    assert buckets(rows[0]) == (None,) * 5


def test_a_span_without_a_readable_time_is_set_aside(con: Con, tmp_path: Path) -> None:
    bad = {**span(1, "chat", None, **CALL), "startTimeUnixNano": "soon"}

    assert fates(loaded(con, lines(tmp_path / "a", [export(bad)]))) == ["occurred_at_unreadable"]


def test_a_real_exports_shape_has_a_call_that_names_no_operation(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "otlp_genai_traces.json")

    assert buckets(row) == (1_200, None, None, None, 300)
    assert row["occurred_at"] == "2025-07-26 03:20:00"
    assert (row["latency_s"], row["project"]) == (2.5, "gemini-cli")


def test_a_page_of_something_else_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="expected a usage log"):
        form(document(tmp_path / "a", {"data": [{"x": 1}], "meta": {}}))
