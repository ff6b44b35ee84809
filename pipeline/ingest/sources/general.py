"""The general form: any log whose columns are named as in the usage record."""

from pipeline.ingest.sources.source import Source

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
    "total_tokens",
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
    "billed_currency",
    "charge_kind",
    "charge_quantity",
    "charge_unit",
)

# What a message names of them: a log that has these is read without anything else.
LEAST_COLUMNS = ("occurred_at", "model_name", "input_tokens", "output_tokens")

SOURCES = (
    Source(
        name="general",
        title="general form",
        containers=("table", "json"),
        signature=("occurred_at", "output_tokens"),
        columns=GENERAL_COLUMNS,
        times=("occurred_at", "bucket_end_at"),
        counts=(
            "input_tokens",
            "uncached_input_tokens",
            "cache_write_5m_tokens",
            "cache_write_1h_tokens",
            "output_tokens",
            "reasoning_tokens",
            "total_tokens",
            "request_count",
        ),
        duplicate_key=("request_id",),
        is_flat=True,
    ),
)
