"""Logs for the benchmarks: generated requests, in every form that is measured."""

import subprocess
import sys
from pathlib import Path

import duckdb

# A month of requests in order of time. Draws are hashes of the row's number, so every run of one
# DuckDB version measures the same rows. Lengths are log-normal, as in real logs; a quarter of the
# requests belong to tasks.
REQUESTS_SQL = """
    with
    draws as (
        select
            i,
            list_transform(
                [1, 2, 3, 4, 5, 6, 7, 8, 9],
                lambda k: (hash(16 * i + k)::double + 0.5) / 18446744073709551616::double
            ) as draw
        from range($row_count) as numbers (i)
    ),
    requests as (
        select
            i,
            draw,
            (floor(5 * draw[1]) + 1)::integer as model_number,
            least(
                120000, 1 + exp(7 + 1.4 * sqrt(-2 * ln(draw[2])) * cos(2 * pi() * draw[3]))
            )::bigint as input_tokens,
            least(
                16000, 1 + exp(5.3 + 1.1 * sqrt(-2 * ln(draw[4])) * cos(2 * pi() * draw[5]))
            )::bigint as output_tokens
        from draws
    )
    select
        format('req_{:016x}', hash(16 * i)) as request_id,
        '2026-10-01'::timestamp + to_microseconds((i * (31 * 86400e6 / $row_count))::bigint)
            as occurred_at,
        ['openai', 'anthropic', 'google', 'self-hosted', 'self-hosted'][model_number] as provider,
        ['gpt-5-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'meta-llama/Llama-3.1-8B',
            'Qwen/Qwen3-8B'][model_number] as model_name,
        format('team-{:02d}', floor(12 * draw[6])::integer) as team,
        ['chat', 'rag', 'summarization', 'agentic'][floor(8 * draw[7])::integer] as query_class,
        input_tokens,
        (input_tokens * greatest(0, draw[8] - 0.5))::bigint as cache_read_tokens,
        output_tokens,
        case when draw[9] < 0.25 then format('task_{:x}', hash(16 * (i // 16))) end as task_id,
        [true, true, false][floor(32 * draw[9])::integer % 4] as is_solved,
        round(0.3 + output_tokens / 80, 3) as latency_s
    from requests
"""

# The same requests as LiteLLM's proxy writes them, about 1 kB each.
LITELLM_SQL = """
    select
        'chatcmpl-' || request_id as request_id, 'acompletion' as call_type,
        md5(team) || md5(team) as api_key, 0.001 * output_tokens as spend,
        input_tokens + output_tokens as total_tokens, input_tokens as prompt_tokens,
        output_tokens as completion_tokens, written(occurred_at) as "startTime",
        written(occurred_at + to_milliseconds((latency_s * 1000)::bigint)) as "endTime",
        written(occurred_at + interval 300 milliseconds) as "completionStartTime",
        model_name as model, 'm-' || model_name as model_id, model_name as model_group,
        provider as custom_llm_provider, 'https://llm.example/v1' as api_base, team as user,
        {
            'user_api_key_alias': team || '-key', 'user_api_key_team_alias': team,
            'additional_usage_values': {
                'prompt_tokens_details': {'cached_tokens': cache_read_tokens},
                'completion_tokens_details': {'reasoning_tokens': 0}
            },
            'usage_object': {
                'prompt_tokens': input_tokens, 'completion_tokens': output_tokens,
                'total_tokens': input_tokens + output_tokens
            }
        } as metadata,
        'False' as cache_hit, 'Cache OFF' as cache_key, ['class:' || query_class] as request_tags,
        'id-' || team as team_id, '' as end_user, null as requester_ip_address,
        '{}'::json as messages, '{}'::json as response, 's-' || request_id as session_id,
        'success' as status
    from log
"""

LANGFUSE_SQL = """
    select
        request_id as id, coalesce(task_id, request_id) as "traceId", 'GENERATION' as type,
        written(occurred_at) as "startTime",
        written(occurred_at + to_milliseconds((latency_s * 1000)::bigint)) as "endTime",
        model_name as model, 'project' as "projectId", team as "userId", 'DEFAULT' as level,
        ['class:' || query_class] as tags,
        {
            'input': input_tokens - cache_read_tokens, 'input_cached_tokens': cache_read_tokens,
            'output': output_tokens, 'total': input_tokens + output_tokens
        } as "usageDetails",
        {'total': 0.001 * output_tokens} as "costDetails"
    from log
"""

BEDROCK_SQL = """
    select
        'ModelInvocationLog' as "schemaType", '1.0' as "schemaVersion",
        strftime(occurred_at, '%Y-%m-%dT%H:%M:%SZ') as timestamp, '123456789012' as "accountId",
        {'arn': 'arn:aws:iam::123456789012:user/' || team} as identity, 'us-east-1' as region,
        request_id as "requestId", 'Converse' as operation,
        'us.anthropic.claude-sonnet-4-5-20250929-v1:0' as "modelId",
        {
            'inputTokenCount': input_tokens - cache_read_tokens,
            'cacheReadInputTokenCount': cache_read_tokens
        } as input,
        {'outputTokenCount': output_tokens} as output
    from log
"""

CLAUDE_CODE_SQL = """
    select
        written(occurred_at) as timestamp, 'assistant' as type,
        coalesce(task_id, request_id) as "sessionId", request_id as "requestId",
        {
            'id': 'msg_' || request_id, 'model': 'claude-sonnet-4-5', 'stop_reason': 'tool_use',
            'usage': {
                'input_tokens': input_tokens - cache_read_tokens,
                'cache_read_input_tokens': cache_read_tokens,
                'cache_creation_input_tokens': 0, 'output_tokens': output_tokens
            }
        } as message
    from log
"""

# A hundred spans a line, as an exporter batches them.
OTLP_SQL = """
    with
    spans as (
        select
            row_number() over () // 100 as batch,
            format(
                '{{"traceId":"{:032x}","spanId":"{:016x}","name":"chat",'
                '"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":['
                '{{"key":"gen_ai.operation.name","value":{{"stringValue":"chat"}}}},'
                '{{"key":"gen_ai.provider.name","value":{{"stringValue":"{}"}}}},'
                '{{"key":"gen_ai.request.model","value":{{"stringValue":"{}"}}}},'
                '{{"key":"gen_ai.usage.input_tokens","value":{{"intValue":"{}"}}}},'
                '{{"key":"gen_ai.usage.output_tokens","value":{{"intValue":"{}"}}}}]}}',
                hash(coalesce(task_id, request_id)), hash(request_id), epoch_ns(occurred_at),
                epoch_ns(occurred_at) + (latency_s * 1000)::bigint * 1000000, provider,
                model_name, input_tokens, output_tokens
            ) as span
        from log
    )
    select
        ('[{"scopeSpans":[{"spans":[' || string_agg(span, ',') || ']}]}]')::json
            as "resourceSpans"
    from spans
    group by batch
"""

# File → what it is called, and the rows of it.
FORMS = {
    "general.csv": ("general form, CSV of 12 columns", "from log"),
    "narrow.csv": (
        "general form, CSV of 4 columns",
        "select occurred_at, model_name, input_tokens, output_tokens from log",
    ),
    "general.jsonl": ("general form, JSON lines", "from log"),
    "litellm.jsonl": ("LiteLLM spend log, JSON lines", LITELLM_SQL),
    "langfuse.jsonl": ("Langfuse observations, JSON lines", LANGFUSE_SQL),
    "otlp.jsonl": ("OpenTelemetry spans, JSON, 100 a line", OTLP_SQL),
    "claude_code.jsonl": ("Claude Code session log", CLAUDE_CODE_SQL),
    "bedrock.jsonl": ("Amazon Bedrock invocation log", BEDROCK_SQL),
}


def write_requests(path: Path, row_count: int) -> None:
    """Write a Parquet log of the general form, in a process of its own.

    What is measured starts from this one, and a process hands its peak memory on to its children.
    """
    _apart("requests", str(path), str(row_count))


def write_form(requests: Path, name: str) -> Path:
    """Write the requests of a log in another form, beside it, in a process of its own."""
    path = requests.with_name(name)
    _apart("form", str(requests), str(path))
    return path


def _apart(*words: str) -> None:
    subprocess.run([sys.executable, __file__, *words], check=True)


def _write(what: str, path: str, more: str) -> None:
    with duckdb.connect() as con:
        con.execute("set threads = 2")
        if what == "requests":
            sql = f"copy ({REQUESTS_SQL}) to '{path}' (format parquet)"
            con.execute(sql, {"row_count": int(more)})
            return
        options = "(header)" if more.endswith(".csv") else "(format json)"
        con.execute(f"create view log as from '{path}'")
        con.execute("create macro written(x) as (strftime(x, '%Y-%m-%dT%H:%M:%S.%gZ'))")
        con.execute(f"copy ({FORMS[Path(more).name][1]}) to '{more}' {options}")


if __name__ == "__main__":
    _write(*sys.argv[1:])
