"""Turn the genai-prices package into the two price tables that a run reads.

For maintainers only (`make prices`): a run reads the tables and never imports the package, so an
upgrade cannot move a closed month. Every price is the package's own answer for that day and tier.
"""

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

from genai_prices import types
from genai_prices.data import providers as published

from pipeline.ingest.price_comments import EVERY_DAY, WEEKENDS_TOO, Peak, peak_of
from pipeline.ingest.price_names import PriceName, exact_names
from pipeline.settings import bundled

PROVIDERS = (
    "anthropic aws azure cerebras cohere deepseek fireworks google groq mistral moonshotai novita "
    "openai openrouter perplexity together x-ai"
)
TOKEN_KINDS = {
    "input_mtok": "uncached_input",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write_5m",
    "cache_write_1h_mtok": "cache_write_1h",
    "output_mtok": "output",
}
CONTEXTS = {
    "standard": {},
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
}
SOURCE = f"genai-prices {version('genai-prices')}"
MULTIPLIER = "; published multiplier 2.0 of input"
INHERITED = "; standard price; none of its own for this tier"
READ_ON = "2026-11-30"  # the day the package was read: it does not carry its release date
BEFORE_ALL_CHANGES = date(2000, 1, 1)  # the first price also holds before the first change


@dataclass(frozen=True, order=True)
class Price:
    """One price of one kind of token on [valid_from, valid_to), UTC dates, empty if unbounded.

    It holds from `input_tokens_from` input tokens, cache included, and for the whole request; and
    on its days (UTC; empty for every day) on [utc_time_from, utc_time_to), empty where all day.
    """

    provider: str
    price_model: str
    token_kind: str
    service_tier: str
    input_tokens_from: int
    valid_from: str
    valid_to: str
    utc_time_from: str
    utc_time_to: str
    days: str
    usd_per_mtok: Decimal
    source: str


def write_tables(folder: Path, source_date: str) -> None:
    """Write prices.csv and price_names.csv, and tell on stderr what they leave out."""
    models = [(p, model) for p in published if p.id in PROVIDERS.split() for model in p.models]
    prices = sorted(row for provider, model in models for row in _prices(provider.id, model))
    priced = {(row.provider, row.price_model) for row in prices}
    owners: dict[tuple[str, str], set[str]] = {}
    for provider, model in models:
        for name in exact_names(provider, model) if (provider.id, model.id) in priced else ():
            owners.setdefault((provider.id, name), set()).add(model.id)
    names = [PriceName(*key, min(ids), SOURCE) for key, ids in owners.items() if len(ids) == 1]
    _write(folder / "prices.csv", prices, source_date)
    _write(folder / "price_names.csv", sorted(names), source_date)
    ambiguous = sorted(key for key, ids in owners.items() if len(ids) > 1)
    _tell(f"{len(prices)} prices, {len(names)} names; ambiguous names dropped: {ambiguous}")
    _tell(f"{len(models) - len(priced)} models without a token price have no rows")
    _tell_left_out([model for _, model in models], prices)


@dataclass(frozen=True)
class _Window:
    """Days between two changes of price, and hours of those of their days for which one holds."""

    begin: date | None
    end: date | None
    days: str
    hours: tuple[str, str]
    at: time  # a time of the day at which the package tells the price
    note: str


def _prices(provider: str, model: types.ModelInfo) -> Iterator[Price]:
    runs: dict[tuple[str, str, int, str, str], list[Price]] = {}
    for window in _windows(model):
        begin, end = (day.isoformat() if day else "" for day in (window.begin, window.end))
        moment = datetime.combine(window.begin or BEFORE_ALL_CHANGES, window.at, UTC)
        for tier in CONTEXTS:
            for kind, band, usd, note in _prices_at(provider, model, tier, moment):
                row = Price(
                    *(provider, model.id, kind, tier, band, begin, end, *window.hours),
                    *(window.days, usd, SOURCE + note + window.note),
                )
                _append(runs.setdefault((kind, tier, band, window.hours[0], window.days), []), row)
    for run in runs.values():
        yield from run


def _windows(model: types.ModelInfo) -> Iterator[_Window]:
    """Return the windows of a model's prices, with what its comments say of its peak hours."""
    clock = _clock_windows(model)
    peak = peak_of(model) if len(clock) > 1 else Peak()
    dated = (c for c in _constraints(model) if isinstance(c, types.StartDateConstraint))
    changes = sorted({*(constraint.start_date for constraint in dated), *peak.changes()})
    for begin, end in zip([None, *changes], [*changes, None], strict=True):
        day = begin or date.min
        if len(clock) == 1 or day < peak.starts_on:
            yield _Window(begin, end, "", ("", ""), peak.quiet_at, "")
            continue
        is_off_at_weekends = day >= peak.weekdays_since
        days, note = ("mon-fri", WEEKENDS_TOO) if is_off_at_weekends else ("", EVERY_DAY)
        for first, last in clock:
            yield _Window(begin, end, days, (f"{first:%H:%M}", _clock_end(last)), first, note)
        if is_off_at_weekends:
            yield _Window(begin, end, "sat-sun", ("", ""), peak.quiet_at, note)


def _append(run: list[Price], row: Price) -> None:
    """Add a window, or prolong the last one where the change was to another price."""
    if run and replace(row, valid_from=run[-1].valid_from, valid_to=row.valid_from) == run[-1]:
        run[-1] = replace(run[-1], valid_to=row.valid_to)
    else:
        run.append(row)


def _constraints(model: types.ModelInfo) -> list[object]:
    conditional = model.prices if isinstance(model.prices, list) else []
    return [item.constraint for item in (*conditional, *(model.price_variants or ()))]


def _clock_windows(model: types.ModelInfo) -> list[tuple[time, time]]:
    """Return the windows of the day (UTC) between which no price changes, or the whole day."""
    clock = [c for c in _constraints(model) if isinstance(c, types.TimeOfDateConstraint)]
    edges = sorted(
        {time(), *(at.replace(tzinfo=None) for c in clock for at in (c.start_time, c.end_time))}
    )
    return list(zip(edges, [*edges[1:], time()], strict=True))


def _clock_end(last: time) -> str:
    return "24:00" if last == time() else f"{last:%H:%M}"


def _prices_at(
    provider: str, model: types.ModelInfo, tier: str, moment: datetime
) -> Iterator[tuple[str, int, Decimal, str]]:
    own_keys = _own_keys(model, tier, moment)
    if own_keys is None:
        return
    price = model.get_prices(moment, CONTEXTS[tier])
    bands = {key: _bands(price, key) for key in TOKEN_KINDS}
    notes = {key: "" if key in own_keys else INHERITED for key in TOKEN_KINDS}
    is_claude = provider in {"anthropic", "aws", "google"} and "claude" in model.id
    if is_claude and bands["cache_write_mtok"] and not bands["cache_write_1h_mtok"]:
        bands["cache_write_1h_mtok"] = {at: 2 * usd for at, usd in bands["input_mtok"].items()}
        notes["cache_write_1h_mtok"] = MULTIPLIER
    for key, kind in TOKEN_KINDS.items():
        for band, usd in bands[key].items():
            yield kind, band, usd, notes[key]


def _own_keys(model: types.ModelInfo, tier: str, moment: datetime) -> set[str] | None:
    """Return the keys priced for the tier itself at that time, or None where it is not offered.

    Without this question the package would silently answer with the standard price.
    """
    if tier == "standard":
        return set(TOKEN_KINDS)
    variants = [v for v in model.price_variants or () if v.when == CONTEXTS[tier]]
    active = [v for v in variants if v.constraint is None or v.constraint.active(moment)]
    return {key for variant in active for key in vars(variant.prices)} if active else None


def _bands(price: types.ModelPrice, key: str) -> dict[int, Decimal]:
    """Return the price by first input token: the package's tiers begin one above their start."""
    value = vars(price).get(key)
    if isinstance(value, types.TieredPrices):
        return {0: value.base} | {tier.start + 1: tier.price for tier in value.tiers}
    return {} if value is None else {0: value}


def _write(path: Path, rows: Sequence[Price] | Sequence[PriceName], source_date: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(field.name for field in fields(rows[0])), "source_date"])
        writer.writerows([*map(_text, astuple(row)), source_date] for row in rows)


def _text(value: str | int | Decimal) -> str:
    return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)


def _tell_left_out(models: Sequence[types.ModelInfo], prices: Sequence[Price]) -> None:
    known = [str(context) for context in CONTEXTS.values()]
    variants = Counter(str(v.when) for model in models for v in model.price_variants or ())
    _tell(f"variants left out: { {k: n for k, n in sorted(variants.items()) if k not in known} }")
    stated = [
        item.prices for m in models for item in (m.prices if isinstance(m.prices, list) else [m])
    ]
    keys = Counter(key for price in stated for key in vars(price) if key not in TOKEN_KINDS)
    _tell(f"prices of other things left out: {dict(sorted(keys.items()))}")
    hourly = {f"{row.provider}/{row.price_model}" for row in prices if row.utc_time_from}
    _tell(f"priced by the hour: {sorted(hourly)}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> None:
    """Write both tables; `make prices` calls this."""
    parser = argparse.ArgumentParser(description="Write the price tables from genai-prices.")
    parser.add_argument("--source-date", default=READ_ON)
    parser.add_argument("--folder", type=Path, default=bundled("data/reference"))
    arguments = parser.parse_args()
    write_tables(arguments.folder, arguments.source_date)


if __name__ == "__main__":
    main()
