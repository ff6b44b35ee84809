"""What serving engines tell of themselves: counters as Prometheus text, replies of runners."""

from pipeline.ingest import prometheus
from pipeline.ingest.sources.source import Source, known_by

# What every record made of Prometheus text has, beside the growth of the counters.
_SCRAPE_COLUMNS = ("line", "name", "started_at", "ended_at", "is_first", "engine", "model_name")

_METRICS = (
    "vllm:prompt_tokens_total",
    "vllm:prompt_tokens_cached_total",
    "vllm:prefix_cache_hits_total",
    "vllm:generation_tokens_total",
    "vllm:request_success_total",
    "sglang:prompt_tokens_total",
    "sglang:cached_tokens_total",
    "sglang:generation_tokens_total",
    "sglang:num_requests_total",
    "tgi_request_input_length_sum",
    "tgi_request_generated_tokens_sum",
    "tgi_request_generated_tokens_count",
    *prometheus.GAUGES,
)

_LMSTUDIO_KEYS = (
    "id",
    "response_id",
    "created",
    "created_at",
    "timestamp",
    "model",
    "model_instance_id",
    "usage.prompt_tokens",
    "usage.completion_tokens",
    "usage.completion_tokens_details.reasoning_tokens",
    "usage.total_tokens",
    "stats.input_tokens",
    "stats.total_output_tokens",
    "stats.reasoning_output_tokens",
    "stats.time_to_first_token",
    "stats.time_to_first_token_seconds",
    "stats.generation_time",
    "stats.stop_reason",
)

_LMSTUDIO_BESIDE = (
    "object",
    "choices",
    "model_info",
    "runtime",
    "output",
    "system_fingerprint",
    "usage.prompt_tokens_details",
    "stats.tokens_per_second",
    "stats.draft_model",
    "stats.total_draft_tokens_count",
    "stats.accepted_draft_tokens_count",
    "stats.rejected_draft_tokens_count",
    "stats.ignored_draft_tokens_count",
    "stats.model_load_time_seconds",
)

SOURCES = (
    *known_by(
        Source(
            name="prometheus_metrics",
            title="Prometheus metrics of a serving engine (vLLM, SGLang, TGI)",
            containers=("metrics",),
            signature=("vllm:prompt_tokens_total", "vllm:generation_tokens_total"),
            columns=(*_SCRAPE_COLUMNS, *_METRICS),
            duplicate_key=("request_id",),
            is_flat=True,
            lacks="Counters without process_start_time_seconds count since an unknown time, and "
            "those of TGI name no model: give --assume start=… (when the server was started) or "
            "scrapes that tell their times, and --assume model=….",
        ),
        ("sglang:prompt_tokens_total", "sglang:generation_tokens_total"),
        ("tgi_request_input_length_sum", "tgi_request_generated_tokens_sum"),
    ),
    *known_by(
        Source(
            name="lmstudio_replies",
            title="LM Studio replies",
            containers=("json",),
            signature=("usage.prompt_tokens", "stats.time_to_first_token"),
            columns=_LMSTUDIO_KEYS,
            passed_over=_LMSTUDIO_BESIDE,
            duplicate_key=("request_id",),
            is_flat=True,
            lacks="Replies of LM Studio's own API say no time: log it beside the reply as "
            "timestamp, or give --assume start=….",
        ),
        ("stats.input_tokens", "stats.total_output_tokens"),
    ),
)
