"""Session logs of a coding agent: long cached contexts, and every message written several times."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from pipeline.sample import shapes
from pipeline.sample.company import AGENT_TURNS, CODING_SESSIONS, OFFICE, OPUS, SONNET
from pipeline.sample.dice import Dice
from pipeline.sample.faults import Row
from pipeline.sample.lines import Line
from pipeline.sample.traffic import TOOL_MS, Request, days_of, iso, moments

_BLOCK_COUNTS = ((1, 2), (2, 5), (3, 6), (4, 4))
_BLOCK_KINDS = ("thinking", "text", "tool_use", "tool_use")


def coding_sessions(month: date) -> list[list[Request]]:
    """Return a month's coding sessions; each is a task whose outcome nobody wrote down."""
    dice = Dice(f"coding/{month}")
    starts = moments(dice, days_of(month), CODING_SESSIONS[month.month - 9], OFFICE)
    return [
        _coding_session(dice, start, f"{month:%y%m}{number:04d}")
        for number, start in enumerate(starts, start=1)
    ]


def session_logs(sessions: Iterable[list[Request]], *, ends_torn: bool) -> list[Line]:
    """Return session logs: a line for each content block, all repeating the message's usage."""
    dice = Dice("content-blocks")
    lines: list[Line] = []
    for session in sessions:
        lines.append(Line(_compact(_session_head(session[0])), "not_a_row"))
        for request in session:
            lines.append(Line(_compact(_user_line(request)), "not_a_row"))
            lines += _message_lines(request, dice.pick(_BLOCK_COUNTS))
    if ends_torn:  # the program was killed while it wrote the last block
        whole = lines[-1].text
        torn = whole[: whole.index('"cache_read_input_tokens"')]
        lines.append(Line(torn, "rejected", "not_json"))
    return lines


def _coding_session(dice: Dice, start_ms: int, number: str) -> list[Request]:
    model = dice.pick(((OPUS, 5), (SONNET, 6)))
    count = dice.size(replace(AGENT_TURNS, median=21.0, sigma=0.6, high=70))
    steps = shapes.agent_steps(
        dice, count, dice.whole(15_000, 24_000), is_hour_cache=dice.happens(0.4)
    )
    at_ms, user, found = start_ms, f"u-eng-{dice.whole(1, 9):02d}", []
    for index, tokens in enumerate(steps, start=1):
        latency_ms = round(1_300 + tokens.output / model.tokens_per_s * 1_000)
        found.append(
            Request(at_ms, model, "engineering", "monorepo", user, "agentic", True, tokens,
                    request_id=f"msg_sample{number}{index:03d}", session_id=_session_uuid(number),
                    finish_reason="end_turn" if index == count else "tool_use",
                    latency_ms=latency_ms)
        )  # fmt: skip
        at_ms += latency_ms + dice.size(TOOL_MS)
    return found


def _session_uuid(number: str) -> str:
    return f"5a3b1e00-0000-4000-8000-{int(number):012d}"


def _session_head(request: Request) -> Row:
    return {"type": "mode", "mode": "normal", "sessionId": request.session_id}


def _user_line(request: Request) -> Row:
    message = {"role": "user", "content": [{"type": "tool_result", "content": "(generated)"}]}
    return {
        **_session_fields(request, request.at_ms - request.latency_ms),
        "type": "user",
        "message": message,
        "uuid": f"{request.request_id}-user",
    }


def _message_lines(request: Request, block_count: int) -> list[Line]:
    """Return one line a content block; the first counts, the others repeat its usage."""
    return [
        Line(
            _compact(_block_line(request, number, kind)),
            "duplicate" if number else "accepted",
            request=request,
        )
        for number, kind in enumerate(_BLOCK_KINDS[:block_count])
    ]


def _block_line(request: Request, number: int, kind: str) -> Row:
    message = {
        "model": request.model.name,
        "id": request.request_id,
        "type": "message",
        "role": "assistant",
        "content": [{"type": kind}],
        "stop_reason": request.finish_reason,
        "stop_sequence": None,
        "usage": _message_usage(request),
    }
    return {
        **_session_fields(request, request.at_ms + 350 * number),
        "message": message,
        "requestId": request.request_id.replace("msg_", "req_"),
        "type": "assistant",
        "uuid": f"{request.request_id}-{number}",
    }


def _message_usage(request: Request) -> Row:
    tokens = request.tokens
    return {
        "input_tokens": tokens.uncached,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {
            "ephemeral_1h_input_tokens": tokens.cache_write_1h,
            "ephemeral_5m_input_tokens": tokens.cache_write_5m,
        },
    }


def _session_fields(request: Request, at_ms: int) -> Row:
    return {
        "isSidechain": False,
        "generated_sample": True,
        "timestamp": iso(at_ms),
        "userType": "external",
        "cwd": "/home/sample/monorepo",
        "sessionId": request.session_id,
        "version": "2.1.157",
        "gitBranch": "main",
    }


def _compact(row: Row) -> str:
    return json.dumps(row, separators=(",", ":"))
