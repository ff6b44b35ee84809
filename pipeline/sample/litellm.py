"""LiteLLM spend logs: the proxy most API traffic passes."""

import hashlib
import json
from collections.abc import Iterable
from datetime import date

from pipeline.sample.company import MONTHS
from pipeline.sample.faults import LITELLM_FAULTS, Row, with_faults
from pipeline.sample.lines import Line
from pipeline.sample.prices import list_cost_usd
from pipeline.sample.traffic import Request, iso

_API_BASES = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "novita": "https://api.novita.ai/v3/openai",
    "together_ai": "https://api.together.xyz/v1",
    "hosted_vllm": "https://llm.acme.example/v1",
}


def spend_logs(month: date, requests: Iterable[Request]) -> list[Line]:
    """Return LiteLLM spend logs, one JSON object a line."""
    rows = [(request, _litellm_row(request)) for request in requests]
    return with_faults(rows, LITELLM_FAULTS[MONTHS.index(month)], _compact)


def _litellm_row(request: Request) -> Row:
    tokens, team = request.tokens, request.team
    spend = list_cost_usd(request)
    usage = {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
    }
    metadata: Row = {
        "user_api_key_alias": f"{team}-key" if team else None,
        "user_api_key_team_alias": team,
        "generated_sample": True,
        "additional_usage_values": _additional_usage(request),
        "usage_object": usage,
    }
    return {
        "request_id": request.request_id,
        "call_type": "acompletion",
        "api_key": hashlib.sha256(str(team).encode()).hexdigest(),
        "spend": float(spend or 0),  # LiteLLM writes 0 for what it cannot price
        "total_tokens": usage["total_tokens"],
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        **_litellm_times(request),
        "model": request.model.name,
        "model_id": f"m-{request.model.group}",
        "model_group": request.model.group,
        "custom_llm_provider": request.model.provider,
        "api_base": _API_BASES[request.model.provider],
        "user": request.user,
        "metadata": metadata,
        "cache_hit": "False",
        "cache_key": "Cache OFF",
        "request_tags": _tags(request),
        "team_id": f"team-{team}" if team else None,
        "end_user": "",
        "requester_ip_address": None,
        "messages": {},
        "response": {},
        "session_id": request.session_id,
        "status": "failure" if request.is_failed else "success",
    }


def _litellm_times(request: Request) -> Row:
    has_output = request.tokens.output > 0
    return {
        "startTime": iso(request.at_ms),
        "endTime": iso(request.at_ms + request.latency_ms),
        "completionStartTime": (
            iso(request.at_ms + request.first_token_ms) if has_output else None
        ),
    }


def _additional_usage(request: Request) -> Row:
    """Return the provider's own cache and reasoning counts, as far as it reports them."""
    tokens, usage = request.tokens, Row()
    if not tokens.input:
        return usage
    if request.model.cache == "explicit":
        usage["cache_read_input_tokens"] = tokens.cache_read
        usage["cache_creation_input_tokens"] = tokens.cache_write
    if request.model.cache in ("blocks", "implicit"):
        usage["prompt_tokens_details"] = {"cached_tokens": tokens.cache_read}
    if request.model.thinking_tokens:
        usage["completion_tokens_details"] = {"reasoning_tokens": tokens.reasoning}
    return usage


def _tags(request: Request) -> list[str]:
    tags = [f"class:{request.query_class}"] if request.is_class_said else []
    if request.task_id:
        tags.append(f"task:{request.task_id}")
    if request.is_solved is not None:
        tags.append(f"solved:{str(request.is_solved).lower()}")
    return tags


def _compact(row: Row) -> str:
    return json.dumps(row, separators=(",", ":"))
