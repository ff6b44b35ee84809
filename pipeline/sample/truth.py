"""What a right reader finds in the generated files, counted from the requests themselves."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pipeline.sample.dice import SEED
from pipeline.sample.lines import Line, SampleFile
from pipeline.sample.prices import PRICE_CHANGE_MODEL, PRICES, list_cost_usd
from pipeline.sample.traffic import Request, moment_of

_SCALE = Decimal("0.0000000001")
_BILLED_FORMS = ("litellm_spendlogs",)
_SERVER_FORMS = ("general_csv",)
_HOUR_MS = 3_600_000


def truth(files: Iterable[SampleFile]) -> dict[str, Any]:
    """Return the figures of each file and of all, for the tests of the readers."""
    files = list(files)
    accepted = [request for file in files for request in _accepted(file.lines)]
    return {
        "is_generated_sample": True,
        "command": "python -m pipeline.sample",
        "seed": SEED,
        "files": {file.name: _file_truth(file) for file in files},
        "months": _months(accepted),
        "price_change": _price_change(accepted),
        "teams": _requests_by(accepted, lambda request: request.team or ""),
        "models": _requests_by(accepted, lambda request: request.model.name),
    }


def _file_truth(file: SampleFile) -> dict[str, Any]:
    outcomes = Counter(line.outcome for line in file.lines)
    accepted = _accepted(file.lines)
    said, unsaid = _by_class(accepted, is_said=True), _by_class(accepted, is_said=False)
    facts: dict[str, Any] = {
        "form": file.form,
        "rows_read": sum(outcomes.values()) - outcomes["not_a_row"],
        "rows_accepted": outcomes["accepted"],
        "rows_duplicate": outcomes["duplicate"],
        "rows_rejected": outcomes["rejected"],
        "rejected_by_reason": _counted(line.reason for line in file.lines if line.reason),
        **_token_sums(accepted),
        "request_count": sum(request.request_count for request in accepted),
        "failed_request_count": sum(request.is_failed for request in accepted),
        "solved_request_count": sum(request.is_solved is True for request in accepted),
        "requests_without_team": sum(request.team is None for request in accepted),
        "rows_by_model": _counted(request.model.name for request in accepted),
        "requests_by_month": _requests_by(accepted, _month_label),
        "requests_by_said_class": said,
        "requests_by_unsaid_class": unsaid,
    }
    if file.form in _BILLED_FORMS:
        facts["billed_cost_usd"] = _billed_cost(accepted)
    if file.form in _SERVER_FORMS:
        facts["batch_by_model"] = {
            name: round(float(_batch(r for r in accepted if r.model.name == name)), 6)
            for name in facts["rows_by_model"]
        }
    if outcomes["duplicate"]:
        repeats = [line.request for line in file.lines if line.outcome == "duplicate"]
        facts["naive"] = _token_sums([*accepted, *(found for found in repeats if found)])
    return facts


def _accepted(lines: Iterable[Line]) -> list[Request]:
    return [line.request for line in lines if line.outcome == "accepted" and line.request]


def _token_sums(requests: Iterable[Request]) -> dict[str, int]:
    tokens = [request.tokens for request in requests]
    return {
        "uncached_input_tokens": sum(part.uncached for part in tokens),
        "cache_read_tokens": sum(part.cache_read for part in tokens),
        "cache_write_tokens": sum(part.cache_write for part in tokens),
        "cache_write_1h_tokens": sum(part.cache_write_1h for part in tokens),
        "output_tokens": sum(part.output for part in tokens),
        "reasoning_tokens": sum(part.reasoning for part in tokens),
    }


def _months(accepted: list[Request]) -> dict[str, Any]:
    parts: dict[str, list[Request]] = {}
    for request in sorted(accepted, key=lambda request: request.at_ms):
        parts.setdefault(_month_label(request), []).append(request)
    return {
        label: {
            "request_count": sum(request.request_count for request in part),
            "requests_by_team": _requests_by(part, lambda request: request.team or ""),
            "requests_by_class": _requests_by(part, lambda request: request.query_class),
            **_token_sums(part),
        }
        for label, part in parts.items()
    }


def _price_change(accepted: list[Request]) -> dict[str, Any]:
    change = PRICES[PRICE_CHANGE_MODEL][0].since
    days = [
        moment_of(request.at_ms).date()
        for request in accepted
        if request.model == PRICE_CHANGE_MODEL
    ]
    return {
        "provider": PRICE_CHANGE_MODEL.provider,
        "model": PRICE_CHANGE_MODEL.name,
        "date": change.isoformat(),
        "requests_before": sum(day < change for day in days),
        "requests_after": sum(day >= change for day in days),
    }


def _billed_cost(accepted: list[Request]) -> str:
    """Return the sum of the spend fields as they are written: floats of the exact list cost."""
    spends = [Decimal(repr(float(list_cost_usd(request) or 0))) for request in accepted]
    return str(sum(spends, Decimal(0)).quantize(_SCALE))


def _by_class(accepted: list[Request], *, is_said: bool) -> dict[str, int]:
    part = [request for request in accepted if request.is_class_said is is_said]
    return _requests_by(part, lambda request: request.query_class)


def _month_label(request: Request) -> str:
    return moment_of(request.at_ms).isoformat()[:7]


def _requests_by(requests: Iterable[Request], key: Callable[[Request], str]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for request in requests:
        counts[key(request)] += request.request_count
    return dict(sorted(counts.items()))


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _batch(requests: Iterable[Request]) -> Fraction:
    """Return how many requests run at once, the harmonic mean of hours weighted by their output."""
    pieces = [piece for request in requests for piece in _hourly(request)]
    tokens = passes = Fraction(0)
    for hour in sorted({hour for hour, *_ in pieces}):
        here = [(start, end, output) for at, start, end, output in pieces if at == hour]
        busy_ms, reached_ms = 0, 0
        for start, end, _ in sorted(here):
            busy_ms += max(end - max(start, reached_ms), 0)
            reached_ms = max(reached_ms, end)
        written = sum((output for *_, output in here), Fraction(0))
        tokens += written
        passes += written * busy_ms / sum(end - start for start, end, _ in here)
    return tokens / passes


def _hourly(request: Request) -> list[tuple[int, int, int, Fraction]]:
    """Return the hour, start, end and output tokens of each part of a request between full hours.

    Times are milliseconds.
    """
    start, end = request.at_ms, request.at_ms + request.latency_ms
    cuts = [start, *range((start // _HOUR_MS + 1) * _HOUR_MS, end, _HOUR_MS), end]
    return [
        (a // _HOUR_MS, a, b, Fraction(request.tokens.output * (b - a), request.latency_ms))
        for a, b in itertools.pairwise(cuts)
    ]
