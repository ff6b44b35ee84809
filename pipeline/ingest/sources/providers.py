"""What model providers export or reply: usage reports and usage bodies."""

from pipeline.ingest.sources.source import Source

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

SOURCES = (
    Source(
        name="openai_dashboard_usage",
        title="OpenAI dashboard usage export",
        containers=("table",),
        signature=("start_time", "end_time_iso", "num_model_requests", "output_tokens"),
        columns=_OPENAI_DASHBOARD_COLUMNS,
        empty_columns=("start_time", "end_time", "start_time_iso", "end_time_iso"),
    ),
)
