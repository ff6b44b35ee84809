"""What model providers report and reply: usage reports, invocation logs, usage of each reply."""

from pipeline.ingest.sources.source import Source, known_by

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
    "input_cache_write_tokens",
    "images",
    "characters",
    "seconds",
    "usage_bytes",
    "num_sessions",
)

_ACTIVITY_COLUMNS = (
    "aggregation_timestamp",
    "timestamp",
    "n_requests",
    "num_requests",
    "operation",
    "snapshot_id",
    "model",
    "n_context_tokens_total",
    "n_non_cached_context_tokens_total",
    "n_cached_context_tokens_total",
    "n_generated_tokens_total",
    "project_id",
    "api_key_id",
    "user",
    "cost",
)

_ANTHROPIC_CONSOLE_COLUMNS = (
    "usage_date_utc",
    "model_version",
    "api_key",
    "workspace",
    "usage_type",
    "context_window",
    "usage_input_tokens_no_cache",
    "usage_input_tokens_cache_write",
    "usage_input_tokens_cache_write_5m",
    "usage_input_tokens_cache_write_1h",
    "usage_input_tokens_cache_read",
    "usage_output_tokens",
    "inference_geo",
    "speed",
)

_BEDROCK_KEYS = (
    "timestamp",
    "requestId",
    "modelId",
    "region",
    "inferenceRegion",
    "errorCode",
    "identity.arn",
    "requestMetadata.team",
    "requestMetadata.project",
    "requestMetadata.feature",
    "input.inputTokenCount",
    "input.cacheReadInputTokenCount",
    "input.cacheReadInputTokens",
    "input.cacheWriteInputTokenCount",
    "input.cacheWriteInputTokens",
    "output.outputTokenCount",
    "output.outputBodyJson.stopReason",
    "output.outputBodyJson.stop_reason",
    "output.outputBodyJson.metrics.latencyMs",
    "output.outputBodyJson.usage.cacheReadInputTokens",
    "output.outputBodyJson.usage.cacheReadInputTokenCount",
    "output.outputBodyJson.usage.cacheWriteInputTokens",
    "output.outputBodyJson.usage.cacheWriteInputTokenCount",
    "output.outputBodyJson.usage.cache_read_input_tokens",
    "output.outputBodyJson.usage.cache_creation_input_tokens",
    "output.outputBodyJson.usage.cache_creation.ephemeral_1h_input_tokens",
)

_AZURE_METRIC_COLUMNS = (
    "TimeGenerated [UTC]",
    "TimeGenerated",
    "TimeGrain",
    "MetricName",
    "Total",
    "ModelDeploymentName",
    "DeploymentName",
    "ModelName",
    "Region",
    "ResourceId",
    "Resource",
)

_PAGE_KEYS = ("object", "data", "has_more", "next_page", "data[].results")

# What a reply of a model API has, alone or inside the record that logs it.
_REPLY_KEYS = (
    "usage.prompt_tokens",
    "usage.input_tokens",
    "usage.inputTokens",
    "usage.tokens.input_tokens",
    "usageMetadata.promptTokenCount",
    "meta.billed_units.input_tokens",
)
_REPLY_PLACES = ("", "body.", "response.", "response.body.", "result.message.")

# What the record around a reply may say of it, and where the reply may stand.
_AROUND_REPLY = (
    "timestamp",
    "time",
    "created_at",
    "processed_time",
    "request_id",
    "requestId",
    "model",
    "modelId",
    "provider",
    "team",
    "body",
    "response",
    "response.body",
    "response.status_code",
    "response.usage",
    "response.usageMetadata",
    "result.message",
)

_NO_MODEL = (
    "This form names models only where asked with group_by=model: ask so, or give "
    "--assume model=… where it is all of one model."
)

SOURCES = (
    *known_by(
        Source(
            name="openai_usage_page",
            title="OpenAI usage API page",
            containers=("json",),
            signature=("data[].results[].num_model_requests",),
            columns=(),
            duplicate_key=("request_id",),
            empty_columns=(*_PAGE_KEYS, "data[].object", "data[].start_time", "data[].end_time"),
            lacks=_NO_MODEL,
        ),
        ("results[].num_model_requests",),
        ("data[].start_time", "data[].results[].usage_bytes"),
        ("data[].start_time", "data[].results[].num_sessions"),
        ("data[].start_time", "data[].results[].num_requests"),
    ),
    *known_by(
        Source(
            name="openai_dashboard_usage",
            title="OpenAI dashboard usage export",
            containers=("table",),
            signature=("start_time", "end_time_iso", "num_model_requests"),
            columns=_OPENAI_DASHBOARD_COLUMNS,
            duplicate_key=("request_id",),
            empty_columns=("start_time", "end_time", "start_time_iso", "end_time_iso"),
        ),
        ("start_time", "end_time_iso", "model", "input_tokens", "output_tokens"),
        ("start_time", "end_time_iso", "usage_bytes"),
        ("start_time", "end_time_iso", "num_sessions"),
    ),
    *known_by(
        Source(
            name="token_activity",
            title="activity export (OpenAI until 2025, Groq)",
            containers=("table", "json"),
            signature=("n_context_tokens_total", "n_generated_tokens_total"),
            columns=_ACTIVITY_COLUMNS,
            duplicate_key=("request_id",),
        ),
        ("data[].n_context_tokens_total", "data[].n_generated_tokens_total"),
    ),
    *known_by(
        Source(
            name="anthropic_usage_report",
            title="Anthropic usage report page",
            containers=("json",),
            signature=("data[].results[].uncached_input_tokens",),
            columns=(),
            duplicate_key=("request_id",),
            input_includes_cache=False,
            empty_columns=(*_PAGE_KEYS[1:], "data[].starting_at", "data[].ending_at"),
            lacks=_NO_MODEL,
        ),
        ("results[].uncached_input_tokens",),
    ),
    Source(
        name="anthropic_console_usage",
        title="Anthropic console token export",
        containers=("table",),
        signature=("usage_date_utc", "model_version", "usage_output_tokens"),
        columns=_ANTHROPIC_CONSOLE_COLUMNS,
        duplicate_key=("request_id",),
        input_includes_cache=False,
    ),
    Source(
        name="bedrock_invocation_log",
        title="Amazon Bedrock model invocation log",
        containers=("json",),
        signature=("schemaType", "requestId", "operation", "modelId"),
        columns=_BEDROCK_KEYS,
        duplicate_key=("request_id",),
        input_includes_cache=False,
    ),
    Source(
        name="azure_openai_requests",
        title="Azure OpenAI RequestResponse log",
        containers=("json",),
        signature=("time", "category", "operationName", "correlationId", "properties"),
        columns=("time", "correlationId", "location", "durationMs", "properties"),
        duplicate_key=("request_id",),
        is_flat=True,
        lacks="This form holds no token counts. Export the metrics ProcessedPromptTokens, "
        "GeneratedTokens and AzureOpenAIRequests (or InputTokens, OutputTokens and ModelRequests) "
        "by ModelDeploymentName from Azure Monitor instead.",
    ),
    *known_by(
        Source(
            name="azure_openai_metrics",
            title="Azure Monitor metrics of OpenAI deployments",
            containers=("table",),
            signature=("TimeGenerated [UTC]", "MetricName", "Total"),
            columns=_AZURE_METRIC_COLUMNS,
            duplicate_key=("request_id",),
        ),
        ("TimeGenerated", "MetricName", "Total"),
    ),
)

# Known by so little that every other form goes first.
REPLIES = known_by(
    Source(
        name="provider_reply",
        title="replies of model APIs",
        containers=("json",),
        signature=("id", "object", "created", "model", "choices"),
        columns=_AROUND_REPLY,
        duplicate_key=("request_id",),
        lacks="Replies of Anthropic, Gemini and Bedrock say no time and some no model: log them "
        "beside the reply as timestamp and model, or give --assume start=…,model=….",
    ),
    *((place + key,) for place in _REPLY_PLACES for key in _REPLY_KEYS),
)
