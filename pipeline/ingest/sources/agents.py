"""What coding agents log of their sessions."""

from pipeline.ingest.sources.source import Source

_CLAUDE_CODE_KEYS = (
    "timestamp",
    "sessionId",
    "requestId",
    "costUSD",
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
    ),
)
