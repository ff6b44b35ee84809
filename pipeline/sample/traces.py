"""Two traces of the company's own servers, in the forms research groups publish theirs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pipeline.sample import shapes
from pipeline.sample.company import FEW_TURNS, GPT_OSS, LLAMA_8B, OFFICE
from pipeline.sample.dice import Dice, LogNormal
from pipeline.sample.lines import Line
from pipeline.sample.shapes import Tokens
from pipeline.sample.traffic import Request, milliseconds, moment_of, moments

_BLOCK_TOKENS = 512
_TRACE_START = datetime(2026, 10, 14, 8, tzinfo=UTC)
_LONG_ASK = LogNormal(5_200, 1.0, 300, 90_000)
_LONG_FOLLOW_UP = LogNormal(700, 1.0, 20, 12_000)
_LONG_ANSWER = LogNormal(330, 0.6, 8, 2_000)


@dataclass(frozen=True)
class TracedPrompt:
    """A request of a server trace with the ids of its 512-token blocks."""

    request: Request
    block_ids: tuple[int, ...]


def completion_trace() -> list[Request]:
    """Return a week of code completions in October, which come in bursts as people type."""
    dice = Dice("azure-trace")
    week = [date(2026, 10, day) for day in range(12, 17)]
    found = []
    for start_ms in moments(dice, week, 260, OFFICE):
        at_ms = start_ms
        for _ in range(dice.size(LogNormal(6, 0.7, 1, 40))):
            (tokens,) = shapes.answers(dice, LLAMA_8B, "code_completion", 1, 0)
            found.append(
                Request(at_ms, LLAMA_8B, "engineering", "", "", "code_completion", True, tokens)
            )
            at_ms += dice.size(LogNormal(420, 0.9, 15, 9_000))
    return sorted(found, key=lambda request: request.at_ms)


def azure_trace(requests: Iterable[Request]) -> list[Line]:
    """Return the columns of the Azure inference trace: no id, no model, times to 100 ns."""
    return [
        Line("TIMESTAMP,ContextTokens,GeneratedTokens", "not_a_row"),
        *(
            Line(
                f"{moment_of(request.at_ms):%Y-%m-%d %H:%M:%S}.{request.at_ms % 1_000:03d}"
                f"{request.tokens.input * 7_919 % 10_000:04d},"
                f"{request.tokens.input},{request.tokens.output}",
                request=request,
            )
            for request in requests
        ),
    ]


def long_chat_trace() -> list[TracedPrompt]:
    """Return a morning of long conversations; block 0 is the system prompt they all share."""
    dice = Dice("mooncake-trace")
    turns = [turn for number in range(300) for turn in _long_chat(dice, number)]
    next_id, ids_of, found = 1, dict[int, tuple[int, ...]](), []
    for at_ms, number, kept_blocks, tokens in sorted(turns, key=lambda turn: turn[:2]):
        kept = ids_of.get(number, (0,))[: max(1, kept_blocks)]
        fresh = -(-tokens.input // _BLOCK_TOKENS) - len(kept)
        ids_of[number] = (*kept, *range(next_id, next_id + fresh))
        next_id += fresh
        request = Request(at_ms, GPT_OSS, "search", "", "", "chat", True, tokens)
        found.append(TracedPrompt(request, ids_of[number]))
    return found


def mooncake_trace(prompts: list[TracedPrompt]) -> list[Line]:
    """Return the Mooncake trace form: milliseconds from the first request, block ids."""
    start_ms = prompts[0].request.at_ms
    return [
        Line(
            json.dumps(
                {
                    "timestamp": prompt.request.at_ms - start_ms,
                    "input_length": prompt.request.tokens.input,
                    "output_length": prompt.request.tokens.output,
                    "hash_ids": prompt.block_ids,
                }
            ),
            request=prompt.request,
        )
        for prompt in prompts
    ]


def _long_chat(dice: Dice, number: int) -> list[tuple[int, int, int, Tokens]]:
    """Return the turns of a conversation: time, its number, whole blocks kept, tokens."""
    at_ms = milliseconds(_TRACE_START) + (dice.whole(0, 9_000_000) if number else 0)
    asked, kept_blocks, found = dice.size(_LONG_ASK), 1, []
    for _ in range(dice.size(FEW_TURNS)):
        output = dice.size(_LONG_ANSWER)
        found.append((at_ms, number, kept_blocks, Tokens(asked, output=output)))
        kept_blocks = asked // _BLOCK_TOKENS
        asked += output + dice.size(_LONG_FOLLOW_UP)
        at_ms += output * 12 + dice.size(LogNormal(45_000, 0.8, 3_000, 900_000))
    return found
