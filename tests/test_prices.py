"""The price tables say what genai-prices says, by exact name, by day and by whole-request band."""

import csv
import random
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.settings import bundled

PINNED = "0.2.3"
CONTEXTS = {
    "standard": {},
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
}
BY_THE_HOUR = {
    "deepseek-chat",
    "deepseek-flash",
    "deepseek-reasoner",
    "deepseek-v4-flash",
    "deepseek-v4-pro",
}
Row = dict[str, str]


def read(name: str) -> list[Row]:
    with bundled(f"data/reference/{name}").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


PRICES = read("prices.csv")
NAMES = {(row["provider"], row["name"]): row["price_model"] for row in read("price_names.csv")}
BY_MODEL: dict[tuple[str, str], list[Row]] = defaultdict(list)
for _row in PRICES:
    BY_MODEL[_row["provider"], _row["price_model"]].append(_row)


def active(
    provider: str, model: str, when: datetime, input_tokens: int, tier: str
) -> dict[str, Row]:
    """Return the row of every token kind that holds for one request."""
    day = when.astimezone(UTC).date().isoformat()
    rows = [
        row
        for row in BY_MODEL[provider, model]
        if row["service_tier"] == tier
        and row["valid_from"] <= day
        and (day < row["valid_to"] or not row["valid_to"])
        and int(row["input_tokens_from"]) <= input_tokens
        and is_on(row["days"], when)
        and row["utc_time_from"] <= when.astimezone(UTC).strftime("%H:%M")
        and when.astimezone(UTC).strftime("%H:%M") < (row["utc_time_to"] or "24:00")
    ]
    rows.sort(key=lambda row: int(row["input_tokens_from"]))
    return {row["token_kind"]: row for row in rows}


def is_on(days: str, when: datetime) -> bool:
    weekday = when.astimezone(UTC).weekday()
    return {"": True, "mon-fri": weekday < 5, "sat-sun": weekday >= 5}[days]


def usd(
    name: str,
    when: str,
    kind: str,
    *,
    provider: str = "openai",
    tokens: int = 1000,
    tier: str = "standard",
) -> Decimal | None:
    moment = datetime.fromisoformat(when)
    row = active(provider, NAMES[provider, name], moment, tokens, tier).get(kind)
    return Decimal(row["usd_per_mtok"]) if row else None


@pytest.fixture
def package() -> None:
    try:
        installed = version("genai-prices")
    except PackageNotFoundError:
        pytest.skip("genai-prices, a development dependency, is not installed")
    if installed != PINNED:
        pytest.skip(f"genai-prices {installed} is installed, the tables are of {PINNED}")


def test_gpt_5_costs_1_25_uncached_0_125_cached_and_10_out() -> None:
    when = "2026-09-15T12:00:00+00:00"
    assert usd("gpt-5", when, "uncached_input") == Decimal("1.25")
    assert usd("gpt-5", when, "cache_read") == Decimal("0.125")
    assert usd("gpt-5", when, "output") == Decimal(10)


@pytest.mark.parametrize(
    ("when", "price"),
    [
        ("2025-06-09T23:59:59+00:00", 10),
        ("2025-06-10T00:00:00+00:00", 2),
        ("2025-06-10T01:30:00+02:00", 10),  # 23:30 UTC on the 9th
        ("2025-06-09T20:00:00-04:00", 2),  # midnight UTC
    ],
)
def test_o3_input_falls_from_10_to_2_at_midnight_utc(when: str, price: int) -> None:
    assert usd("o3", when, "uncached_input") == price


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-5-2025-08-07", "gpt-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        ("eu.meta.llama3-1-70b-instruct-v1:0", "meta.llama3-1-70b-instruct-v1:0"),
    ],
)
def test_the_names_that_replies_carry_lead_to_one_model(name: str, model: str) -> None:
    assert {target for (_, known), target in NAMES.items() if known == name} == {model}


@pytest.mark.parametrize("name", ["gpt-5-2025", "gpt-5-2025-08-07-mine", "claude-sonnet-4-5-2025"])
def test_the_beginning_of_a_name_is_not_a_name(name: str) -> None:
    assert not [known for _, known in NAMES if known == name]


def test_names_are_lower_case_unique_and_lead_to_priced_models_that_name_themselves() -> None:
    assert len(NAMES) == len(read("price_names.csv"))
    assert [name for _, name in NAMES if name != name.lower()] == []
    assert {(provider, model) for (provider, _), model in NAMES.items()} == set(BY_MODEL)
    for provider, model in BY_MODEL:
        assert NAMES[provider, model.lower()] == model


def test_no_tier_price_holds_before_it_was_published() -> None:
    undated = {
        (row["provider"], row["price_model"])
        for row in PRICES
        if row["service_tier"] != "standard" and not row["valid_from"]
    }
    dated = {
        tier: min(r["valid_from"] for r in PRICES if r["service_tier"] == tier and r["valid_from"])
        for tier in ("batch", "flex", "priority")
    }
    assert dated == {"batch": "2026-10-14", "flex": "2026-10-12", "priority": "2026-10-12"}
    assert undated == {  # published with the model itself, after those days
        ("anthropic", "claude-fable-5-2"),
        ("anthropic", "claude-mythos-5-2"),
        ("google", "claude-fable-5-2"),
        ("openai", "gpt-6.1-terra"),
    }
    assert usd("gpt-5", "2026-10-13T23:59:59+00:00", "output", tier="batch") is None
    assert usd("gpt-5", "2026-10-14T00:00:00+00:00", "output", tier="batch") == 5


def test_a_missing_cache_price_is_no_row_and_no_price_is_zero() -> None:
    assert usd("gpt-4", "2026-09-15T00:00:00+00:00", "cache_read") is None
    assert [r for r in PRICES if not re.fullmatch(r"\d+(\.\d+)?", r["usd_per_mtok"])] == []
    assert [r for r in PRICES if Decimal(r["usd_per_mtok"]) == 0] == []


def test_windows_of_a_price_follow_each_other_without_overlap() -> None:
    key = (
        *("provider", "price_model", "token_kind", "service_tier", "input_tokens_from"),
        *("utc_time_from", "days"),
    )
    runs: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for row in PRICES:
        runs[tuple(row[k] for k in key)].append((row["valid_from"], row["valid_to"]))
    for windows in map(sorted, runs.values()):
        assert [w for w in windows if w[1] and w[0] >= w[1]] == []
        assert [pair for pair in pairwise(windows) if not "" < pair[0][1] <= pair[1][0]] == []


def test_a_one_hour_cache_write_of_claude_costs_twice_the_input() -> None:
    rows = [r for r in PRICES if "claude" in r["price_model"] and is_of(r, "cache_write_1h")]
    for row in rows:
        begin = datetime.fromisoformat(row["valid_from"] or "2024-01-01").replace(tzinfo=UTC)
        band, tier = int(row["input_tokens_from"]), row["service_tier"]
        rates = active(row["provider"], row["price_model"], begin, band, tier)
        twice = 2 * Decimal(rates["uncached_input"]["usd_per_mtok"])
        assert Decimal(row["usd_per_mtok"]) == twice, row
        assert "cache_write_5m" in rates
    derived = [r for r in rows if r["source"].endswith("; published multiplier 2.0 of input")]
    # 18 rows follow the published rule; the package itself states the others, and they agree
    assert (len(derived), len(rows)) == (18, 122)


def is_of(row: Row, kind: str) -> bool:
    return row["token_kind"] == kind


@pytest.mark.parametrize(
    ("clock", "price"),
    [
        ("00:29:59", "0.135"),
        ("00:30:00", "0.27"),
        ("16:29:59", "0.27"),
        ("16:30:00", "0.135"),
        ("23:59:59", "0.135"),
    ],
)
def test_an_hourly_price_holds_from_its_minute_until_before_the_next(
    clock: str, price: str
) -> None:
    # deepseek-chat: 0.27 from 00:30 to 16:30 UTC, 0.135 in the other eight hours
    assert usd(
        "deepseek-chat", f"2026-09-15T{clock}+00:00", "uncached_input", provider="deepseek"
    ) == Decimal(price)


@pytest.mark.parametrize(
    ("when", "price"),
    [
        ("2026-08-16T03:00:00+00:00", "0.87"),  # flat until 17 August
        ("2026-08-17T03:00:00+00:00", "3.96"),  # Monday: peak from 01:00 to 04:00 …
        ("2026-08-17T04:00:00+00:00", "1.98"),
        ("2026-08-22T03:00:00+00:00", "3.96"),  # … on the last Saturday before the 23rd too
        ("2026-08-23T03:00:00+00:00", "1.98"),  # the first Sunday without
        ("2026-08-28T03:59:59+00:00", "3.96"),  # Friday
        ("2026-08-29T03:00:00+00:00", "1.98"),  # Saturday
        ("2026-08-31T09:59:59+00:00", "3.96"),  # Monday again; the second peak is 06:00 to 10:00
    ],
)
def test_deepseek_has_peak_hours_from_17_august_2026_and_no_weekend_ones_from_the_23rd(
    when: str, price: str
) -> None:
    assert usd("deepseek-v4-pro", when, "output", provider="deepseek") == Decimal(price)


@pytest.mark.parametrize(
    "day", ["2026-08-17", "2026-08-22", "2026-09-09", "2026-09-10", "2026-09-12"]
)
def test_the_hours_of_a_price_fill_the_day(day: str) -> None:
    when = datetime.fromisoformat(day).replace(tzinfo=UTC)
    hours: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in PRICES:
        is_held = row["valid_from"] <= day < (row["valid_to"] or "9999")
        is_hourly = row["provider"] == "deepseek" and row["price_model"] in BY_THE_HOUR
        if is_hourly and is_held and is_on(row["days"], when):
            window = (row["utc_time_from"] or "00:00", row["utc_time_to"] or "24:00")
            hours[row["price_model"], row["token_kind"]].append(window)
    for windows in map(sorted, hours.values()):
        assert (windows[0][0], windows[-1][1]) == ("00:00", "24:00")
        assert [pair for pair in pairwise(windows) if pair[0][1] != pair[1][0]] == []
    assert {model for model, _ in hours} == BY_THE_HOUR
    assert len(hours) == 3 * len(BY_THE_HOUR)


@pytest.mark.usefixtures("package")
def test_the_long_prompt_rate_of_claude_sonnet_4_5_begins_at_token_200_001() -> None:
    from genai_prices import Usage, calc_price

    when = datetime(2026, 9, 15, tzinfo=UTC)
    for tokens, rate in ((200_000, 3), (200_001, 6)):
        answer = calc_price(
            Usage(input_tokens=tokens),
            "claude-sonnet-4-5",
            provider_id="anthropic",
            genai_request_timestamp=when,
        )
        row = active("anthropic", "claude-sonnet-4-5", when, tokens, "standard")["uncached_input"]
        assert Decimal(row["usd_per_mtok"]) == rate
        assert Decimal(row["usd_per_mtok"]) * tokens / 1_000_000 == answer.total_price


@pytest.mark.slow
@pytest.mark.usefixtures("package")
def test_the_committed_tables_equal_a_fresh_generation(tmp_path: Path) -> None:
    from pipeline.ingest.prices import READ_ON, write_tables

    write_tables(tmp_path, READ_ON)
    for name in ("prices.csv", "price_names.csv"):
        assert (tmp_path / name).read_bytes() == bundled(f"data/reference/{name}").read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("package")
def test_the_source_date_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    from pipeline.ingest.prices import write_tables

    write_tables(tmp_path, "2027-01-31")
    lines = (tmp_path / "prices.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith(",source,source_date")
    assert {line.rpartition(",")[2] for line in lines[1:]} == {"2027-01-31"}


@pytest.mark.usefixtures("package")
def test_a_name_that_two_models_claim_is_dropped_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from genai_prices import types

    from pipeline.ingest import prices

    cost = types.ModelPrice(input_mtok=Decimal(1))
    both = types.ClauseOr(or_=[types.ClauseEquals("one"), types.ClauseEquals("two")])
    models = [
        types.ModelInfo("one", both, prices=cost),
        types.ModelInfo("two", types.ClauseEquals("2"), prices=cost),
    ]
    provider = types.Provider("openai", "OpenAI", "", models=models)
    monkeypatch.setattr(prices, "published", [provider])
    prices.write_tables(tmp_path, "2026-11-30")
    lines = (tmp_path / "price_names.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[1:3] for line in lines] == [["2", "two"], ["one", "one"]]
    assert "ambiguous names dropped: [('openai', 'two')]" in capsys.readouterr().err


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("tier", "requests"), [("standard", 200), ("batch", 50), ("flex", 50), ("priority", 50)]
)
def test_random_requests_cost_what_genai_prices_says(tier: str, requests: int) -> None:
    draw = random.Random(20_261_130)  # noqa: S311 - reproducible draws, nothing secret
    names = names_to_draw(tier)
    priced = 0
    while priced < requests:
        provider, name = draw.choice(names[draw.choice(sorted(names))])
        offers = [r for r in BY_MODEL[provider, NAMES[provider, name]] if r["service_tier"] == tier]
        when, total = draw_request(draw, offers)
        rows = active(provider, NAMES[provider, name], when, total, tier)
        rates = {
            kind: Decimal(row["usd_per_mtok"])
            for kind, row in rows.items()
            if "multiplier" not in row["source"]  # our rule for one-hour writes, not the package's
        }
        count = draw_tokens(draw, rates, total)
        ours = sum(rate * count[kind] for kind, rate in rates.items()) / Decimal(1_000_000)
        if rates and not is_of_a_comment(rows, when):
            told = price_of_the_package(provider, name, when, tier, count)
            assert ours == told, (provider, name, when, count)
            priced += 1


def is_of_a_comment(rows: dict[str, Row], when: datetime) -> bool:
    """Say whether the package says of its own answer, in a comment, that it is another price."""
    is_hourly = any(row["provider"] == "deepseek" for row in rows.values())
    is_flat = is_hourly and not any(row["utc_time_from"] for row in rows.values())
    return is_flat and (when.weekday() >= 5 or when < datetime(2026, 8, 17, tzinfo=UTC))


def names_to_draw(tier: str) -> dict[str, list[tuple[str, str]]]:
    """Return names by provider.

    A few ids of the package are not matched by the package itself, so it cannot be asked about
    them.
    """
    from genai_prices.data import providers

    offered = {(r["provider"], r["price_model"]) for r in PRICES if r["service_tier"] == tier}
    names: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for provider in providers:
        for (owner, name), model in NAMES.items():
            is_drawn = owner == provider.id and (owner, model) in offered
            if is_drawn and provider.find_model(name):
                names[owner].append((owner, name))
    return names


def price_of_the_package(
    provider: str, name: str, when: datetime, tier: str, count: dict[str, int]
) -> Decimal:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=sum(count.values()) - count["output"],
        cache_read_tokens=count["cache_read"],
        cache_write_tokens=count["cache_write_5m"] + count["cache_write_1h"],
        cache_write_1h_tokens=count["cache_write_1h"],
        output_tokens=count["output"],
    )
    answer = calc_price(
        usage,
        name,
        provider_id=provider,
        genai_request_timestamp=when,
        price_context=CONTEXTS[tier],
    )
    return answer.input_price + answer.output_price  # the total would add fees per request


def draw_request(draw: random.Random, rows: list[Row]) -> tuple[datetime, int]:
    """Draw a moment and a prompt, as often as not at an edge of one of the rows."""
    row = draw.choice(rows)
    edges = [day for day in (row["valid_from"], row["valid_to"]) if day]
    if edges and draw.random() < 0.5:
        when = datetime.fromisoformat(draw.choice(edges)).replace(tzinfo=UTC)
        when -= timedelta(seconds=draw.choice([0, 1]))
    else:
        when = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=draw.randrange(1_660_000))
    start = int(row["input_tokens_from"])
    return when, start - draw.choice([0, 1]) if start else draw.randrange(1, 400_000)


def draw_tokens(draw: random.Random, rates: dict[str, Decimal], total: int) -> dict[str, int]:
    """Split the prompt over the kinds that have a price."""
    count = {"cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0, "uncached_input": total}
    for kind in ("cache_read", "cache_write_5m", "cache_write_1h"):
        if kind in rates:
            count[kind] = draw.randrange(count["uncached_input"] + 1)
            count["uncached_input"] -= count[kind]
    return count | {"output": draw.randrange(1, 20_000) if "output" in rates else 0}
