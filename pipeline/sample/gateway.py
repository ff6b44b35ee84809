"""The gateway before the company's own servers: the general form as CSV."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from pipeline.sample.company import MONTHS
from pipeline.sample.faults import GATEWAY_FAULTS, Row, with_faults
from pipeline.sample.lines import Line
from pipeline.sample.traffic import Request, iso

_GATEWAY_COLUMNS = (
    "request_id,occurred_at,provider,model_name,team,project,query_class,input_tokens,"
    "cache_read_tokens,output_tokens,task_id,status,finish_reason,is_solved,latency_s,ttft_s"
)


def gateway_log(month: date, requests: Iterable[Request]) -> list[Line]:
    """Return the general form as CSV; the gateway knows no reasoning tokens."""
    rows = [(_without_reasoning(request), _gateway_row(request)) for request in requests]
    body = with_faults(rows, GATEWAY_FAULTS[MONTHS.index(month)], _comma_separated)
    return [Line(_GATEWAY_COLUMNS, "not_a_row"), *body]


def _gateway_row(request: Request) -> Row:
    tokens = request.tokens
    is_solved = "" if request.is_solved is None else str(request.is_solved).lower()
    return {
        "request_id": request.request_id,
        "occurred_at": iso(request.at_ms),
        "provider": request.model.provider,
        "model_name": request.model.name,
        "team": request.team or "",
        "project": request.project,
        "query_class": request.query_class if request.is_class_said else "",
        "input_tokens": str(tokens.input),
        "cache_read_tokens": "" if request.model.cache == "unknown" else str(tokens.cache_read),
        "output_tokens": str(tokens.output),
        "task_id": request.task_id,
        "status": "failure" if request.is_failed else "success",
        "finish_reason": request.finish_reason,
        "is_solved": is_solved,
        "latency_s": f"{request.latency_ms / 1_000:.3f}",
        "ttft_s": f"{request.first_token_ms / 1_000:.3f}" if tokens.output else "",
    }


def _without_reasoning(request: Request) -> Request:
    return replace(request, tokens=replace(request.tokens, reasoning=0))


def _comma_separated(row: Row) -> str:
    return ",".join(row.values())
