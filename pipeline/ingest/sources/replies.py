"""Replies of model APIs, alone or inside the record that logs them."""

from pipeline.ingest.sources.source import Source, known_by

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

# Of replies: their texts, tools and timings, and counts that repeat others.
_REPLY_BESIDE = (
    "source_file",
    "method",
    "url",
    "custom_id",
    "error",
    "system_fingerprint",
    "object",
    "output",
    "content",
    "message",
    "role",
    "type",
    "index",
    "logprobs",
    "choices[].message",
    "choices[].delta",
    "choices[].text",
    "candidates",
    "candidates[].content",
    "promptFeedback",
    "prompt_cache_miss_tokens",
    "text_tokens",
    "image_tokens",
    "audio_tokens",
    "accepted_prediction_tokens",
    "rejected_prediction_tokens",
    "server_tool_use",
    "num_sources_used",
    "total_time",
    "queue_time",
    "prompt_time",
    "completion_time",
    "cost_details",
    "cacheTokensDetails",
    "candidatesTokensDetails",
    "promptTokensDetails",
    "promptTokenDetails",
    "toolUsePromptTokensDetails",
)

# Known by so little that every other form goes first.
SOURCES = known_by(
    Source(
        name="provider_reply",
        title="replies of model APIs",
        containers=("json",),
        signature=("id", "object", "created", "model", "choices"),
        columns=_AROUND_REPLY,
        passed_over=_REPLY_BESIDE,
        duplicate_key=("request_id",),
        lacks="Replies of Anthropic, Gemini and Bedrock say no time and some no model: log them "
        "beside the reply as timestamp and model, or give --assume start=…,model=….",
    ),
    *((place + key,) for place in _REPLY_PLACES for key in _REPLY_KEYS),
)
