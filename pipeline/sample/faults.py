"""Faults put into the logs on purpose: too few to stop a run, enough to be seen."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.sample.lines import Line
from pipeline.sample.traffic import Request

Row = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """A spoilt copy of a sound row, beside that row.

    Without a reason the copy is a repeat of the row and keeps its id. A torn copy ends halfway.
    """

    reason: str = ""
    changes: tuple[tuple[str, object], ...] = ()
    is_torn: bool = False
    comes_before: bool = False


def _fault(reason: str, **changes: object) -> Fault:
    return Fault(reason, tuple(changes.items()))


REPEATED = Fault()
HALF_WRITTEN_LITELLM = Fault(
    changes=(("completion_tokens", 1), ("spend", 0.0), ("endTime", None)), comes_before=True
)
HALF_WRITTEN_GATEWAY = Fault(
    changes=(("output_tokens", "1"), ("finish_reason", ""), ("latency_s", ""), ("is_solved", "")),
    comes_before=True,
)

# One tuple a month. A request with reasoning 900,000 has more reasoning than answer.
LITELLM_FAULTS: tuple[tuple[Fault, ...], ...] = (
    (
        Fault("not_json", is_torn=True),
        _fault("tokens_negative", completion_tokens=-12),
        REPEATED,
        _fault("occurred_at_unreadable", startTime="2026-09-31T10:15:00.000Z"),
        _fault("reasoning_exceeds_output", reasoning_tokens=900_000),
        HALF_WRITTEN_LITELLM,
        REPEATED,
    ),
    (
        _fault("reasoning_exceeds_output", reasoning_tokens=900_000),
        Fault("not_json", is_torn=True),
        HALF_WRITTEN_LITELLM,
        _fault("tokens_negative", prompt_tokens=-800),
        REPEATED,
        _fault("occurred_at_missing", startTime=None),
    ),
)
GATEWAY_FAULTS: tuple[tuple[Fault, ...], ...] = (
    (
        _fault("tokens_negative", input_tokens="-640"),
        REPEATED,
        _fault("occurred_at_unreadable", occurred_at="yesterday at noon"),
        _fault("tokens_unreadable", output_tokens="n/a"),
        HALF_WRITTEN_GATEWAY,
        _fault("cache_exceeds_input", input_tokens="100", cache_read_tokens="160"),
        _fault("output_tokens_missing", output_tokens=""),
    ),
    (
        _fault("tokens_negative", output_tokens="-3"),
        _fault("occurred_at_missing", occurred_at=""),
        _fault("time_outside_2000_2100", occurred_at="1970-01-01T00:00:00.000Z"),
        REPEATED,
        _fault("tokens_not_whole", output_tokens="81.5"),
        _fault("tokens_absurd", input_tokens="250000000"),
        HALF_WRITTEN_GATEWAY,
        _fault("model_missing", model_name=""),
        REPEATED,
    ),
)


def with_faults(
    rows: Sequence[tuple[Request, Row]], faults: Sequence[Fault], text: Callable[[Row], str]
) -> list[Line]:
    """Return the rows as accepted lines, with the faults spread evenly among them."""
    # A spoilt copy must break one rule only, so it is taken from a row that has something to spoil.
    sound = [
        index
        for index, (request, _) in enumerate(rows)
        if request.tokens.uncached == request.tokens.input > 100
        and request.tokens.output > 1
        and not request.tokens.reasoning
        and not request.is_failed
    ]
    fault_at = {
        sound[number * len(sound) // (len(faults) + 1)]: fault
        for number, fault in enumerate(faults, start=1)
    }
    lines = []
    for index, (request, row) in enumerate(rows):
        pair = [Line(text(row), request=request)]
        if fault := fault_at.get(index):
            pair.insert(0 if fault.comes_before else 1, _spoilt(request, row, fault, text))
        lines += pair
    return lines


def _spoilt(request: Request, row: Row, fault: Fault, text: Callable[[Row], str]) -> Line:
    spoilt = copy.deepcopy(row)
    for key, value in fault.changes:
        _put(spoilt, key, value)
    if not fault.reason:
        return Line(text(spoilt), "duplicate", request=request)
    spoilt["request_id"] = f"{row['request_id']}-spoilt"
    whole = text(spoilt)
    return Line(whole[: len(whole) * 2 // 3] if fault.is_torn else whole, "rejected", fault.reason)


def _put(row: Row, key: str, value: object) -> None:
    """Set a value; a LiteLLM row holds its token counts in several places."""
    if key == "reasoning_tokens":
        additional = row["metadata"]["additional_usage_values"]
        additional.setdefault("completion_tokens_details", {})[key] = value
        return
    row[key] = value
    if key in ("prompt_tokens", "completion_tokens"):
        row["total_tokens"] = row["prompt_tokens"] + row["completion_tokens"]
        row["metadata"]["usage_object"] |= {key: value, "total_tokens": row["total_tokens"]}
