"""From tokens to dollars: the price rows of a group of usage, in exact decimals."""

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from pipeline.explain import wording
from pipeline.explain.lines import Fact, Line, step
from pipeline.explain.warehouse_rows import Row, row, rows
from pipeline.explain.written import Term, Written, number, unless

_KINDS = (
    ("uncached_input", "uncached input", "i"),
    ("cache_read", "cache read", "k"),
    ("cache_write_5m", "cache write, 5 minutes", "w"),
    ("cache_write_1h", "cache write, 1 hour", "v"),
    ("output", "output", "o"),
)
_PER_MILLION = Written(Decimal("0.000001"), "0.000001", "0.000001")
_UNBOUNDED = 1_000_000_000_000


def price_lines(con: duckdb.DuckDBPyConnection, used: Row) -> tuple[Line, ...]:
    """Return the price row behind a group of usage: whose, since when, for what, from where."""
    if used["price_band_id"] is None:
        return (
            Fact("price_band_id", "price row", None, note="no list price for this name, tier, day"),
        )
    band = row(
        con,
        "select * from int_price_bands where price_band_id = $id",
        {"id": used["price_band_id"]},
    )
    tier = _tier(band)
    lines: list[Line] = [
        Fact(
            "price_model",
            "price row",
            band["price_model"],
            note=f"{band['provider']}, service tier {band['service_tier']}{tier}, valid "
            f"{_day(band['valid_from'])} to {_day(band['valid_to'])}",
        )
    ]
    for kind, label, sign in _KINDS:
        if used[_tokens(kind)]:
            price = band[f"{kind}_usd_per_mtok"]
            note = _price_note(con, band, kind)
            name = f"{kind}_usd_per_mtok"
            lines.append(Fact(name, f"p{sign}, {label}", price, "USD per million", note))
    return tuple(lines)


def list_cost(con: duckdb.DuckDBPyConnection, used: Row, label: str = "list cost") -> Line:
    """Return tokens times their prices, as one exact step."""
    if used["list_cost_usd"] is None:
        return Fact("list_cost_usd", label, None, "USD", "unpriced")
    band = row(
        con,
        "select * from int_price_bands where price_band_id = $id",
        {"id": used["price_band_id"]},
    )
    total: Term = 0
    for kind, _, sign in _KINDS:
        tokens = unless(0, sign, used[_tokens(kind)] or 0)
        total = total + tokens * number(f"p{sign}", band[f"{kind}_usd_per_mtok"])
    if isinstance(total, int):
        return Fact("list_cost_usd", label, used["list_cost_usd"], "USD", "no tokens")
    return step("list_cost_usd", label, total * _PER_MILLION, "USD", used["list_cost_usd"])


def cost_lines(con: duckdb.DuckDBPyConnection, used: Row) -> tuple[Line, ...]:
    """Return price row, list cost, bill, and which of them counts.

    Args:
        con: The warehouse.
        used: One group of usage with its costs, as `ranked_requests` gives it.
    """
    billed = used["billed_cost_usd"]
    return (
        *price_lines(con, used),
        list_cost(con, used),
        Fact(
            "billed_cost_usd",
            "billed cost",
            billed,
            "USD",
            "as the log says" if billed is not None else "the log has no bill",
        ),
        Fact(
            "cost_usd",
            "cost",
            used["cost_usd"],
            "USD",
            wording.cost_note(used["cost_source"]),
        ),
    )


def cost_groups(con: duckdb.DuckDBPyConnection, where: str, values: Row) -> Sequence[Row]:
    """Return the groups of usage that a condition finds, each with its costs, largest first."""
    return rows(
        con,
        f"""
        select
            used.provider, used.model_id, used.query_class, used.team, used.price_band_id,
            used.is_billed, used.request_count,
            used.uncached_input_tokens, used.cache_read_tokens, used.cache_write_5m_tokens,
            used.cache_write_1h_tokens, used.output_tokens,
            costs.list_cost_usd, costs.billed_cost_usd, costs.cost_usd, costs.cost_source
        from int_usage_groups as used
        inner join int_group_costs as costs
            on
                used.month = costs.month
                and used.provider = costs.provider
                and used.model_id = costs.model_id
                and used.query_class = costs.query_class
                and used.team is not distinct from costs.team
                and used.price_band_id is not distinct from costs.price_band_id
                and used.is_billed = costs.is_billed
        where {where}
        order by costs.cost_usd desc nulls last, used.provider, used.model_id, used.query_class,
            used.team, used.price_band_id, used.is_billed
        """,
        values,
    )


def _tokens(kind: str) -> str:
    return f"{kind}_tokens"


def _tier(band: Row) -> str:
    low, high = band["input_tokens_from"], band["input_tokens_to"]
    if low == 0 and high >= _UNBOUNDED:
        return ""
    return f", prompts of {low:,} tokens or more" + (
        f", under {high:,}" if high < _UNBOUNDED else ""
    )


def _day(at: object) -> str:
    """Return a day; the ends of time are open."""
    text = str(at)[:10]
    return "…" if text in ("1900-01-01", "9999-01-01") else text


def _price_note(con: duckdb.DuckDBPyConnection, band: Row, kind: str) -> str:
    """Return where a price comes from: its own row, or the one that stands in for it."""
    found = row(
        con,
        """
        select source, source_date
        from raw_prices
        where
            provider = $provider and price_model = $price_model and service_tier = $service_tier
            and token_kind = $kind and usd_per_mtok::decimal(18, 9) = $price
            and coalesce(valid_from::timestamp, '1900-01-01'::timestamp) <= $since
            and coalesce(valid_to::timestamp, '9999-01-01'::timestamp) > $since
            and input_tokens_from::bigint <= $tokens
        order by input_tokens_from::bigint desc
        limit 1
        """,
        {
            "provider": band["provider"],
            "price_model": band["price_model"],
            "service_tier": band["service_tier"],
            "kind": kind,
            "price": band[f"{kind}_usd_per_mtok"],
            "since": band["valid_from"],
            "tokens": band["input_tokens_from"],
        },
    )
    if not found:
        return "no price of its own: billed as input, or as the shorter write"
    return f"{found['source']}, {found['source_date']}"
