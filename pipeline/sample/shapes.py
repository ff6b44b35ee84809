"""How many tokens a request has: one shape for each query class, growing context for agents.

Medians and spreads follow published traces: Azure's of 2023 for chat and code completion, ServeGen
for reasoning, TraceLab for coding agents. Output is drawn on its own, never as a share of input.
"""

from dataclasses import dataclass, replace

from pipeline.sample.company import Model
from pipeline.sample.dice import Dice, LogNormal


@dataclass(frozen=True)
class Tokens:
    """The token counts of one request; input is the sum of the first four."""

    uncached: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def cache_write(self) -> int:
        """Return the tokens written to the cache, whatever their life."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def input(self) -> int:
        """Return all input, cache included."""
        return self.uncached + self.cache_read + self.cache_write


_INPUT = {
    "chat": LogNormal(210, 0.95, 6, 9_000),
    "rag": LogNormal(3_600, 0.5, 300, 24_000),
    "summarization": LogNormal(7_200, 0.7, 700, 90_000),
    "code_completion": LogNormal(1_400, 1.05, 40, 7_437),
    "reasoning": LogNormal(320, 1.2, 18, 20_000),
    "batch_extraction": LogNormal(1_900, 0.45, 250, 14_000),
    "other": LogNormal(95, 0.6, 12, 900),
}
_OUTPUT = {
    "chat": LogNormal(130, 0.8, 4, 1_500),
    "rag": LogNormal(165, 0.65, 12, 1_400),
    "summarization": LogNormal(330, 0.45, 60, 2_000),
    "code_completion": LogNormal(13, 1.0, 1, 1_024),
    "reasoning": LogNormal(1_900, 0.85, 150, 24_000),
    "batch_extraction": LogNormal(380, 0.4, 40, 2_000),
    "other": LogNormal(5, 0.5, 1, 40),
}
_AGENT_APPENDED = LogNormal(875, 1.0, 40, 16_000)
_AGENT_OUTPUT = LogNormal(214, 0.9, 12, 8_000)
_AGENT_FIRST_ASK = LogNormal(2_600, 0.8, 200, 18_000)
_AGENT_CONTEXT_LIMIT = 175_000


def answers(
    dice: Dice, model: Model, query_class: str, turns: int, prefix_tokens: int
) -> list[Tokens]:
    """Return the requests of one conversation; each turn carries what was said before."""
    context, found = prefix_tokens, []
    for turn in range(turns):
        asked = context + dice.size(_INPUT[query_class])
        cached = _cached(dice, model, context if turn or prefix_tokens else 0)
        spoken, reasoning = _output(dice, model, query_class)
        found.append(Tokens(asked - cached, cached, output=spoken + reasoning, reasoning=reasoning))
        context = asked + spoken
    return found


def agent_steps(
    dice: Dice, steps: int, instructions_tokens: int, *, is_hour_cache: bool
) -> list[Tokens]:
    """Return the steps of an agent that marks its context for caching and appends to it.

    Now and then the cache has expired and the whole context is written anew; near the model's
    limit the context is compacted.
    """
    read = instructions_tokens if dice.happens(0.7) else 0
    written = instructions_tokens - read + dice.size(_AGENT_FIRST_ASK)
    found = []
    for _ in range(steps):
        output = dice.size(_AGENT_OUTPUT)
        step = Tokens(dice.whole(2, 14), read, cache_write_5m=written, output=output)
        found.append(_with_hour_cache(step) if is_hour_cache else step)
        context, appended = read + written, output + dice.size(_AGENT_APPENDED)
        if context > _AGENT_CONTEXT_LIMIT:
            read, written = instructions_tokens, 7_000 + appended
        elif dice.happens(0.018):
            read, written = instructions_tokens, context - instructions_tokens + appended
        else:
            read, written = context, appended
    return found


def unmarked_steps(steps: list[Tokens]) -> list[Tokens]:
    """Return agent steps as a host reports them that caches by itself, in blocks of 128."""
    return [
        Tokens(step.input - step.cache_read // 128 * 128, step.cache_read // 128 * 128,
               output=step.output, reasoning=step.output // 3)
        for step in steps
    ]  # fmt: skip


def cut_short(dice: Dice, tokens: Tokens) -> Tokens:
    """Return what is logged of a try that broke: mostly nothing, sometimes a part of the answer."""
    if dice.happens(0.7):
        return Tokens()
    output = max(1, int(tokens.output * dice.between(0.05, 0.6)))
    return replace(tokens, output=output, reasoning=min(tokens.reasoning, output))


def _output(dice: Dice, model: Model, query_class: str) -> tuple[int, int]:
    output = dice.size(_OUTPUT[query_class])
    if query_class == "reasoning":
        reasoning = int(output * dice.between(0.6, 0.95)) if model.thinking_tokens else 0
        return output - reasoning, reasoning
    if not model.thinking_tokens or query_class == "code_completion":
        return output, 0
    return output, dice.size(LogNormal(model.thinking_tokens, 0.8, 8, 6_000))


def _cached(dice: Dice, model: Model, shared: int) -> int:
    if model.cache == "blocks" and shared >= 1_024 and dice.happens(0.75):
        return shared // 128 * 128
    if model.cache == "implicit" and shared >= 1_024 and dice.happens(0.4):
        return int(shared * 0.96)
    if model.cache == "prefix" and dice.happens(0.85):
        return shared // 16 * 16
    return 0


def _with_hour_cache(step: Tokens) -> Tokens:
    return replace(step, cache_write_5m=0, cache_write_1h=step.cache_write_5m)
