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

SOURCES = (
    Source(
        name="general",
        title="general form",
        containers=("table", "json"),
        signature=("occurred_at", "output_tokens"),
        columns=GENERAL_COLUMNS,
        duplicate_key=("request_id",),
    ),
)
