"""Published traces of inference servers and agents: times and lengths, hardly anything else."""

from pipeline.ingest.sources.source import Source

_TRACELAB_ROUND_KEYS = (
    "provider",
    "project",
    "session_id",
    "round_id",
    "trace_key",
    "model",
    "input_tokens_total",
    "prefix_tokens",
    "claude_cache_creation_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "timing_events",
)

_BURSTGPT_COLUMNS = (
    "Timestamp",
    "Session ID",
    "Elapsed time",
    "Model",
    "Request tokens",
    "Response tokens",
    "Total tokens",
    "Log Type",
)

_SESSION_COLUMNS = (
    "session_id",
    "arrival_time",
    "round_idx",
    "prefix_len",
    "input_len",
    "output_len",
)

_TRACELAB_BESIDE = (
    "newly_append_tokens",
    "claude_cache_read_input_tokens",
    "claude_uncached_input_tokens",
    "current_input_chars",
    "current_input_event_count",
    "current_tool_result_chars",
    "current_tool_result_count",
    "current_user_message_chars",
    "current_user_message_count",
    "first_input_event_type",
    "round_index",
    "store",
    "tools",
    "turn_id",
)

SOURCES = (
    Source(
        name="azure_trace",
        title="Azure LLM inference trace",
        containers=("table",),
        signature=("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
        columns=("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
        needs=("model",),
    ),
    Source(
        name="qwen_bailian_trace",
        title="Qwen-Bailian trace",
        containers=("json",),
        signature=("chat_id", "timestamp", "input_length", "output_length"),
        columns=("chat_id", "parent_chat_id", "timestamp", "input_length", "output_length"),
        passed_over=("turn", "type", "hash_ids"),
        needs=("model", "start"),
        is_flat=True,
    ),
    Source(
        name="mooncake_trace",
        title="Mooncake trace",
        containers=("json",),
        signature=("timestamp", "input_length", "output_length"),
        columns=("timestamp", "input_length", "output_length"),
        passed_over=("hash_ids",),
        needs=("model", "start"),
        is_flat=True,
    ),
    Source(
        name="burstgpt_trace",
        title="BurstGPT trace",
        containers=("table",),
        signature=("Timestamp", "Model", "Request tokens", "Response tokens"),
        columns=_BURSTGPT_COLUMNS,
        needs=("start",),
    ),
    Source(
        name="vidur_trace",
        title="request lengths as Vidur reads them",
        containers=("table",),
        signature=("num_prefill_tokens", "num_decode_tokens"),
        columns=("arrived_at", "num_prefill_tokens", "num_decode_tokens"),
        needs=("model", "start"),
    ),
    Source(
        name="tracelab_rounds",
        title="TraceLab round trace",
        containers=("json",),
        signature=("round_id", "prefix_tokens", "newly_append_tokens", "output_tokens"),
        columns=_TRACELAB_ROUND_KEYS,
        passed_over=_TRACELAB_BESIDE,
        duplicate_key=("request_id",),
        is_flat=True,
    ),
    Source(
        name="session_workload",
        title="session workload",
        containers=("table",),
        signature=("session_id", "round_idx", "prefix_len", "input_len", "output_len"),
        columns=_SESSION_COLUMNS,
        passed_over=("tool_wait_after_ms",),
        needs=("model", "start"),
        input_includes_cache=False,
    ),
)
