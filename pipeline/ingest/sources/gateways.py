"""What gateways and observability tools log: one request or span a record."""

from pipeline.ingest.sources.source import Source

_LITELLM_KEYS = (
    "request_id",
    "startTime",
    "endTime",
    "completionStartTime",
    "prompt_tokens",
    "completion_tokens",
    "model",
    "custom_llm_provider",
    "api_key",
    "user",
    "end_user",
    "team_id",
    "session_id",
    "status",
    "spend",
    "request_tags",
    "metadata.user_api_key_team_alias",
    "metadata.additional_usage_values",
    "metadata.additional_usage_values.cache_read_input_tokens",
    "metadata.additional_usage_values.cache_creation_input_tokens",
    "metadata.additional_usage_values.prompt_tokens_details.cached_tokens",
    "metadata.additional_usage_values.completion_tokens_details.reasoning_tokens",
)

SOURCES = (
    Source(
        name="litellm_spend_logs",
        title="LiteLLM spend logs",
        containers=("json",),
        signature=("request_id", "startTime", "prompt_tokens", "completion_tokens"),
        columns=_LITELLM_KEYS,
        duplicate_key=("request_id",),
    ),
)
