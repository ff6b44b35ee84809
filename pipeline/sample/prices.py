"""List prices of the models the company pays for, as its proxy bills them."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pipeline.sample.company import (
    DEEPSEEK_NOVITA,
    GEMINI,
    GPT_5,
    GPT_5_MINI,
    GPT_OSS_TOGETHER,
    LLAMA_70B_NOVITA,
    LLAMA_70B_TOGETHER,
    OPUS,
    SONNET,
    Model,
)
from pipeline.sample.traffic import Request, moment_of


@dataclass(frozen=True)
class Rates:
    """List prices in US dollars per million tokens, from a day on."""

    since: date
    uncached: Decimal
    cache_read: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    output: Decimal


def _rates(
    uncached: str,
    output: str,
    read: str = "",
    write: str = "",
    hour_write: str = "",
    since: str = "",
) -> Rates:
    """Return rates; a kind without its own price costs what uncached input costs."""
    first = date.fromisoformat(since) if since else date(2000, 1, 1)
    kinds = (uncached, read or uncached, write or uncached, hour_write or uncached, output)
    return Rates(first, *(Decimal(kind) for kind in kinds))


# Facts of the package genai-prices 0.2.3 (read 2026-11-30), newest first; a test compares them.
PRICES: dict[Model, tuple[Rates, ...]] = {
    GPT_5: (_rates("1.25", "10", read="0.125"),),
    GPT_5_MINI: (_rates("0.25", "2", read="0.025"),),
    SONNET: (_rates("3", "15", read="0.3", write="3.75", hour_write="6"),),
    OPUS: (_rates("5", "25", read="0.5", write="6.25", hour_write="10"),),
    GEMINI: (_rates("0.3", "2.5", read="0.03"),),
    LLAMA_70B_NOVITA: (_rates("0.135", "0.4", since="2026-10-18"), _rates("0.39", "0.39")),
    DEEPSEEK_NOVITA: (_rates("0.89", "0.89"),),
    LLAMA_70B_TOGETHER: (_rates("0.88", "0.88"),),
    GPT_OSS_TOGETHER: (_rates("0.15", "0.6"),),
}
PRICE_CHANGE_MODEL = LLAMA_70B_NOVITA


def list_cost_usd(request: Request) -> Decimal | None:
    """Return what the request costs at list price, None where there is no list price."""
    tokens, day = request.tokens, moment_of(request.at_ms).date()
    for rates in PRICES.get(request.model, ()):
        if day >= rates.since:
            millionths = (
                tokens.uncached * rates.uncached
                + tokens.cache_read * rates.cache_read
                + tokens.cache_write_5m * rates.cache_write_5m
                + tokens.cache_write_1h * rates.cache_write_1h
                + tokens.output * rates.output
            )
            return millionths / 1_000_000
    return None
