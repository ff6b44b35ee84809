"""The log forms that can be read: how each is recognised and what its numbers mean.

Every source has one declaration here and one select in `sql/sources/<name>.sql`, which turns
its own columns into the usage record. Facts on the forms: the makers' documentation and real files.
"""

from dataclasses import dataclass

GENERAL_COLUMNS = (
    "request_id",
    "occurred_at",
    "bucket_end_at",
    "provider",
    "model_name",
    "team",
    "project",
    "user_id",
    "api_key_id",
    "route",
    "session_id",
    "task_id",
    "parent_id",
    "query_class",
    "input_tokens",
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
    "reasoning_tokens",
    "is_cache_known",
    "request_count",
    "is_batch",
    "service_tier",
    "region",
    "effort",
    "status",
    "finish_reason",
    "is_solved",
    "latency_s",
    "ttft_s",
    "billed_cost_usd",
    "charge_kind",
    "charge_quantity",
    "charge_unit",
)

_OPENAI_DASHBOARD_COLUMNS = (
    "start_time",
    "end_time",
    "start_time_iso",
    "end_time_iso",
    "project_id",
    "num_model_requests",
    "user_id",
    "api_key_id",
    "model",
    "batch",
    "service_tier",
    "input_tokens",
    "output_tokens",
    "input_cached_tokens",
    "input_uncached_tokens",
)

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


@dataclass(frozen=True)
class Source:
    """One log form.

    Attributes:
        name: Short name, also the stem of its SQL file.
        title: What a reader calls it.
        containers: `table` (CSV, Parquet), `json` (one JSON object a line), or both.
        signature: Columns, or dotted JSON keys, that a file of this form always has.
        columns: Columns, or dotted JSON keys, that its SQL may read; absent ones are null. Its SQL
            finds a dotted key under underscores.
        duplicate_key: Columns of the usage record that name a request; empty where the form has
            no ids, so that equal lines are separate requests.
        needs: Keys of `assume` without which the form cannot be read.
        input_includes_cache: Whether its word for input counts cached tokens too.
        output_includes_reasoning: Whether its word for output counts reasoning too.
        empty_columns: All the columns of an export without any usage, where that has fewer.
    """

    name: str
    title: str
    containers: tuple[str, ...]
    signature: tuple[str, ...]
    columns: tuple[str, ...]
    duplicate_key: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    input_includes_cache: bool = True
    output_includes_reasoning: bool = True
    empty_columns: tuple[str, ...] = ()


# In order of recognition: the more particular signature first.
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
        name="openai_dashboard_usage",
        title="OpenAI dashboard usage export",
        containers=("table",),
        signature=("start_time", "end_time_iso", "num_model_requests", "output_tokens"),
        columns=_OPENAI_DASHBOARD_COLUMNS,
        empty_columns=("start_time", "end_time", "start_time_iso", "end_time_iso"),
    ),
    Source(
        name="general",
        title="general form",
        containers=("table", "json"),
        signature=("occurred_at", "output_tokens"),
        columns=GENERAL_COLUMNS,
        duplicate_key=("request_id",),
    ),
    Source(
        name="litellm_spend_logs",
        title="LiteLLM spend logs",
        containers=("json",),
        signature=("request_id", "startTime", "prompt_tokens", "completion_tokens"),
        columns=_LITELLM_KEYS,
        duplicate_key=("request_id",),
    ),
    Source(
        name="claude_code",
        title="Claude Code session log",
        containers=("json",),
        signature=("message.usage.output_tokens",),
        columns=_CLAUDE_CODE_KEYS,
        duplicate_key=("request_id",),
        input_includes_cache=False,
    ),
    Source(
        name="mooncake_trace",
        title="Mooncake trace",
        containers=("json",),
        signature=("timestamp", "input_length", "output_length"),
        columns=("timestamp", "input_length", "output_length"),
        needs=("model", "start"),
    ),
)

SOURCE_BY_NAME = {source.name: source for source in SOURCES}
