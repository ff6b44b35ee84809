"""Workloads → requests in time order, with tasks, conversations and failed tries."""

import calendar
from bisect import bisect
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate

from pipeline.sample import shapes
from pipeline.sample.company import GPT_5_MINI, Model, Rhythm, Workload
from pipeline.sample.dice import Dice, LogNormal
from pipeline.sample.shapes import Tokens

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR_MS = 3_600_000
_READING_MS = LogNormal(38_000, 0.9, 2_000, 1_500_000)
TOOL_MS = LogNormal(1_900, 1.1, 100, 240_000)
_QUEUE_MS = LogNormal(22_000, 0.5, 2_000, 120_000)


@dataclass(frozen=True)
class Request:
    """One request, or one billing bucket of request_count requests, as the generator knows it."""

    at_ms: int
    model: Model
    team: str | None
    project: str
    user: str
    query_class: str
    is_class_said: bool
    tokens: Tokens
    request_id: str = ""
    session_id: str = ""
    task_id: str = ""
    is_failed: bool = False
    finish_reason: str = "stop"
    is_solved: bool | None = None
    first_token_ms: int = 0
    latency_ms: int = 0
    request_count: int = 1


def milliseconds(moment: datetime) -> int:
    """Return the milliseconds from 1970 to a moment."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment_of(at_ms: int) -> datetime:
    """Return the moment in UTC that lies so many milliseconds after 1970."""
    return _EPOCH + timedelta(milliseconds=at_ms)


def iso(at_ms: int) -> str:
    """Return the moment as most logs write it, in UTC with milliseconds."""
    return moment_of(at_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def days_of(month: date) -> list[date]:
    """Return the days of a month."""
    count = calendar.monthrange(month.year, month.month)[1]
    return [month + timedelta(days=offset) for offset in range(count)]


def moments(dice: Dice, days: list[date], count: int, rhythm: Rhythm) -> list[int]:
    """Return so many starting times in the rhythm of a workload, in order."""
    hours = [
        (day, hour, rhythm.weekday_weights[day.weekday()] * weight)
        for day in days
        if not rhythm.month_days or day.day in rhythm.month_days
        for hour, weight in enumerate(rhythm.hour_weights)
        if weight
    ]
    marks = list(accumulate(weight for _, _, weight in hours))
    found = []
    for _ in range(count):
        day, hour, _ = hours[bisect(marks, dice.between(0, marks[-1]), hi=len(marks) - 1)]
        start = datetime(day.year, day.month, day.day, hour, tzinfo=UTC)
        found.append(milliseconds(start) + dice.whole(0, _HOUR_MS - 1))
    return sorted(found)


def month_traffic(workloads: tuple[Workload, ...], month: date) -> list[Request]:
    """Return a month's requests of all workloads."""
    return [request for workload in workloads for request in _month_of(workload, month)]


def numbered(requests: list[Request], month: date, prefix: str) -> list[Request]:
    """Return the requests in time order, each with an id."""
    ordered = sorted(requests, key=lambda request: (request.at_ms, request.session_id))
    return [
        replace(request, request_id=f"{prefix}-{month:%y%m}{number:06d}")
        for number, request in enumerate(ordered, start=1)
    ]


def edge_requests(month: date, *, is_last: bool) -> list[Request]:
    """Return requests on both sides of a month's two ends, to the millisecond.

    None lies behind the last month: the sample ends with it.
    """
    first = milliseconds(datetime(month.year, month.month, 1, tzinfo=UTC))
    after = first + len(days_of(month)) * 24 * _HOUR_MS
    tokens = Tokens(610, output=140)
    template = Request(0, GPT_5_MINI, "support", "helpdesk", "u-sup-01", "chat", True, tokens,
                       first_token_ms=600, latency_ms=1_900)  # fmt: skip
    return [
        replace(template, at_ms=at_ms, session_id=f"s-edge-{month:%y%m}-{number}")
        for number, at_ms in enumerate((first - 1_000, first, after - 1, after), start=1)
        if at_ms < after or not is_last
    ]


def _month_of(workload: Workload, month: date) -> list[Request]:
    dice = Dice(f"{workload.name}/{month}")
    count = workload.tasks[month.month - 9]
    return [
        request
        for number, start in enumerate(moments(dice, days_of(month), count, workload.rhythm))
        for request in _task(dice, workload, start, f"{month:%y%m}{number:05d}")
    ]


def _task(dice: Dice, workload: Workload, start_ms: int, number: str) -> list[Request]:
    model = dice.pick(workload.models)
    turns = dice.size(workload.turns)
    has_ticket = dice.happens(workload.ticket_frac)
    head = Request(
        at_ms=start_ms,
        model=model,
        team=workload.team,
        project=workload.project,
        user=f"u-{(workload.team or 'any')[:3]}-{dice.whole(1, 9):02d}",
        query_class=workload.query_class,
        is_class_said=dice.happens(workload.class_said_frac),
        tokens=Tokens(),
        session_id=f"s-{workload.name}-{number}",
        task_id=f"T-{workload.name}-{number}" if has_ticket else "",
    )
    tries = _tries(dice, workload, head, _turns(dice, workload, model, turns))
    return [*tries[:-1], replace(tries[-1], is_solved=_outcome(dice, workload, tries[-1]))]


def _outcome(dice: Dice, workload: Workload, last: Request) -> bool | None:
    """Return whether a task was solved; it is written on its last request, if at all."""
    if not workload.solved_frac or dice.happens(0.08):
        return None
    return dice.happens(workload.solved_frac * last.model.skill) and not last.is_failed


def _turns(dice: Dice, workload: Workload, model: Model, turns: int) -> list[Tokens]:
    if workload.query_class != "agentic":
        return shapes.answers(dice, model, workload.query_class, turns, workload.prefix_tokens)
    steps = shapes.agent_steps(dice, turns, workload.prefix_tokens, is_hour_cache=False)
    return steps if model.cache == "explicit" else shapes.unmarked_steps(steps)


def _tries(dice: Dice, workload: Workload, head: Request, turns: list[Tokens]) -> list[Request]:
    """Return the requests of a task; a failed try is sent again, unless the user gives up."""
    pause = TOOL_MS if workload.query_class == "agentic" else _READING_MS
    tries, at_ms = [], head.at_ms
    for tokens in turns:
        is_giving_up = False
        while dice.happens(workload.failed_frac) and not is_giving_up:
            broken = shapes.cut_short(dice, tokens)
            tries.append(replace(_timed(dice, workload, head, broken, at_ms), is_failed=True,
                                 finish_reason="error"))  # fmt: skip
            at_ms += tries[-1].latency_ms + dice.whole(300, 4_000)
            is_giving_up = dice.happens(0.2)
        if is_giving_up:
            break
        tries.append(_timed(dice, workload, head, tokens, at_ms))
        at_ms += tries[-1].latency_ms + dice.size(pause)
    return tries


def _timed(dice: Dice, workload: Workload, head: Request, tokens: Tokens, at_ms: int) -> Request:
    """Return the request with its times and the reason it ended."""
    queue_ms = dice.size(_QUEUE_MS) if workload.load > 2 else 0
    per_token_ms = 1_000 / head.model.tokens_per_s * workload.load * dice.between(0.85, 1.3)
    first_ms = head.model.first_token_ms * dice.between(0.7, 1.9) + tokens.uncached * 0.04
    ending = "tool_calls" if workload.query_class == "agentic" and dice.happens(0.8) else "stop"
    return replace(
        head,
        at_ms=at_ms,
        tokens=tokens,
        first_token_ms=round(queue_ms + first_ms),
        latency_ms=round(queue_ms + first_ms + tokens.output * per_token_ms),
        finish_reason="length" if dice.happens(0.012) else ending,
    )
