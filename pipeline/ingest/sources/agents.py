"""What coding agents log of their sessions."""

from pipeline.ingest.sources.source import Source, known_by

_CLAUDE_CODE_KEYS = (
    "timestamp",
    "sessionId",
    "requestId",
    "costUSD",
    "isApiErrorMessage",
    "message.id",
    "message.model",
    "message.stop_reason",
    "message.usage",
    "message.usage.input_tokens",
    "message.usage.cache_read_input_tokens",
    "message.usage.cache_creation_input_tokens",
    "message.usage.cache_creation.ephemeral_5m_input_tokens",
    "message.usage.cache_creation.ephemeral_1h_input_tokens",
    "message.usage.output_tokens",
    "message.usage.output_tokens_details.thinking_tokens",
    "message.usage.service_tier",
    "message.usage.speed",
)

_CODEX_COUNTS = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)

_CODEX_KEYS = (
    "timestamp",
    "type",
    "payload.type",
    "payload.id",
    "payload.forked_from_id",
    "payload.parent_thread_id",
    "payload.source.subagent.thread_spawn.parent_thread_id",
    "payload.model_provider",
    "payload.model",
    "payload.effort",
    "payload.collaboration_mode.settings.reasoning_effort",
    "payload.info.model",
    *(f"payload.info.last_token_usage.{count}" for count in _CODEX_COUNTS),
    *(f"payload.info.total_token_usage.{count}" for count in _CODEX_COUNTS),
)

SOURCES = (
    Source(
        name="claude_code",
        title="Claude Code session log",
        containers=("json",),
        signature=("message.usage.output_tokens",),
        columns=_CLAUDE_CODE_KEYS,
        duplicate_key=("request_id",),
        input_includes_cache=False,
        is_flat=True,
        lacks="Transcripts without times and models need --assume start=…,model=….",
    ),
    *known_by(
        Source(
            name="codex",
            title="Codex session log",
            containers=("json",),
            signature=("timestamp", "type", "payload.info.total_token_usage"),
            columns=_CODEX_KEYS,
            duplicate_key=("request_id",),
            is_flat=True,
        ),
        ("timestamp", "type", "payload.info.last_token_usage"),
        ("timestamp", "type", "payload.cli_version", "payload.originator"),
        ("timestamp", "type", "payload.turn_id", "payload.model", "payload.approval_policy"),
    ),
)
