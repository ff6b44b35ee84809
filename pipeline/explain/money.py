"""From tokens to dollars: the price rows of a group of usage, in exact decimals."""

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from pipeline.explain import wording
from pipeline.explain.lines import Fact, Line, step
from pipeline.explain.warehouse_rows import Row, row, rows
from pipeline.explain.written import Term, Written, number, unless
from pipeline.price_hours import week_words

_KINDS = (
    ("uncached_input", "uncached input", "i"),
    ("cache_read", "cache read", "k"),
    ("cache_write_5m", "cache write, 5 minutes", "w"),
    ("cache_write_1h", "cache write, 1 hour", "v"),
    ("output", "output", "o"),
)
_PER_MILLION = Written(Decimal("0.000001"), "0.000001", "0.000001")
_UNBOUNDED = 1_000_000_000_000
_PRICE_ROW = """
    select source, source_date
    from {table}
    where
        lower(provider) = $provider and price_model = $price_model
        and lower(service_tier) = $service_tier and lower(token_kind) = $kind
        and usd_per_mtok::decimal(18, 9) = $price
        and coalesce(valid_from::timestamp, '1900-01-01'::timestamp) <= $since
        and coalesce(valid_to::timestamp, '9999-01-01'::timestamp) > $since
        and coalesce(input_tokens_from::bigint, 0) <= $tokens
    order by input_tokens_from::bigint desc, source
    limit 1
"""


def price_lines(con: duckdb.DuckDBPyConnection, used: Row) -> tuple[Line, ...]:
    """Return the price row behind a group of usage: whose, since when, for what, from where."""
    band = _band(con, used)
    if not band:
        return (
            Fact("price_band_id", "price row", None, note="no list price for this name, tier, day"),
        )
    lines: list[Line] = [
        Fact(
            "price_model",
            "price row",
            band["price_model"] or band["model_id"],
            note=f"{band['provider']}, service tier {band['service_tier']}{_where(band)}, valid "
            f"{_day(band['valid_from'])} to {_day(band['valid_to'])}",
        )
    ]
    for kind, label, sign in _KINDS:
        name = f"{kind}_usd_per_mtok"
        if not used[_tokens(kind)]:
            continue
        price, contracted = band[name], band[f"contracted_{name}"]
        if price is not None:
            note = _price_note(con, band, kind)
            lines.append(Fact(name, f"p{sign}, {label}", price, "USD per million", note))
        if contracted != price:
            label = f"c{sign}, {label}"
            note = "by contract (contract_rates)"
            lines.append(Fact(f"contracted_{name}", label, contracted, "USD per million", note))
    return tuple(lines)


def token_costs(con: duckdb.DuckDBPyConnection, used: Row) -> tuple[Line, ...]:
    """Return tokens times their list prices and, under a contract, times its prices."""
    band = _band(con, used)
    lines = [_tokens_times_prices(used, band, "list_cost_usd", "list cost", "p", "")]
    if band and band["has_contract"]:
        name, label = "contracted_cost_usd", "contracted cost"
        lines.append(_tokens_times_prices(used, band, name, label, "c", "contracted_"))
    return tuple(lines)


def _tokens_times_prices(
    used: Row, band: Row, name: str, label: str, letter: str, prefix: str
) -> Line:
    """Return one exact step."""
    value = used[name]
    if value is None:
        return Fact(name, label, None, "USD", "unpriced")
    total: Term = 0
    for kind, _, sign in _KINDS:
        tokens = unless(0, sign, used[_tokens(kind)] or 0)
        total = total + tokens * number(f"{letter}{sign}", band[f"{prefix}{kind}_usd_per_mtok"])
    if isinstance(total, int):
        return Fact(name, label, value, "USD", "no tokens")
    return step(name, label, total * _PER_MILLION, "USD", value)


def cost_lines(
    con: duckdb.DuckDBPyConnection, used: Row, shares: Sequence[Line] = ()
) -> tuple[Line, ...]:
    """Return price row, costs of the tokens, shares of bills, the bill, and which counts.

    Args:
        con: The warehouse.
        used: A group of usage with its costs, or one request as `with_shares` gives it.
        shares: What it has of a commitment or of a GPU bill.
    """
    billed = used["billed_cost_usd"]
    said = "as the log says" if billed is not None else "the log has no bill"
    note = wording.cost_note(used["cost_source"])
    return (
        *price_lines(con, used),
        *token_costs(con, used),
        *shares,
        Fact("billed_cost_usd", "billed cost", billed, "USD", said),
        Fact("cost_usd", "cost", used["cost_usd"], "USD", note),
    )


def cost_groups(con: duckdb.DuckDBPyConnection, where: str, values: Row) -> Sequence[Row]:
    """Return the groups of usage that a condition finds, each with its costs, largest first."""
    return rows(
        con,
        f"""
        select
            used.month, used.provider, used.model_id, used.query_class, used.team, used.project,
            used.service_tier, used.price_band_id, used.is_billed, used.request_count,
            used.input_tokens, used.latency_s,
            used.uncached_input_tokens, used.cache_read_tokens, used.cache_write_5m_tokens,
            used.cache_write_1h_tokens, used.output_tokens,
            costs.list_cost_usd, costs.contracted_cost_usd, costs.committed_cost_usd,
            costs.effective_cost_usd, costs.billed_cost_usd, costs.hosting_cost_usd,
            costs.hosting_energy_cost_usd, costs.cost_usd, costs.cost_source
        from int_usage_groups as used
        inner join int_group_costs as costs
            on
                used.month = costs.month
                and used.provider = costs.provider
                and used.model_id = costs.model_id
                and used.query_class = costs.query_class
                and used.team is not distinct from costs.team
                and used.project is not distinct from costs.project
                and used.service_tier = costs.service_tier
                and used.price_band_id is not distinct from costs.price_band_id
                and used.is_billed = costs.is_billed
        where {where}
        order by costs.cost_usd desc nulls last, used.provider, used.model_id, used.query_class,
            used.team, used.project, used.service_tier, used.price_band_id, used.is_billed
        """,
        values,
    )


def _band(con: duckdb.DuckDBPyConnection, used: Row) -> Row:
    return row(
        con,
        "select * from int_price_bands where price_band_id = $id",
        {"id": used["price_band_id"]},
    )


def _tokens(kind: str) -> str:
    return f"{kind}_tokens"


def _where(band: Row) -> str:
    """Return for which region, prompts, weekdays and hours a price holds, where not for all."""
    said = [f"region {band['region']}"] if band["region"] else []
    low, high = band["input_tokens_from"], band["input_tokens_to"]
    if low > 0 or high < _UNBOUNDED:
        said.append(f"prompts of {low:,} tokens or more")
    if high < _UNBOUNDED:
        said.append(f"under {high:,}")
    when = week_words(band)
    if when:
        said.append(when)
    return "".join(f", {each}" for each in said)


def _day(at: object) -> str:
    """Return a day; the ends of time are open."""
    text = str(at)[:10]
    return "…" if text in ("1900-01-01", "9999-01-01") else text


def _price_note(con: duckdb.DuckDBPyConnection, band: Row, kind: str) -> str:
    """Return where a price comes from: its own row, or the one that stands in for it."""
    for table in ("raw_own_prices", "raw_prices"):
        found = row(con, _PRICE_ROW.format(table=table), _price_key(band, kind))
        if found:
            own = "own price; " if table == "raw_own_prices" else ""
            return f"{own}{found['source']}, {found['source_date']}"
    if band["region"]:
        return f"the list price times the multiplier of region {band['region']}"
    return "no price of its own: billed as input, or as the shorter write"


def _price_key(band: Row, kind: str) -> Row:
    return {
        "provider": band["provider"],
        "price_model": band["price_model"],
        "service_tier": band["service_tier"],
        "kind": kind,
        "price": band[f"{kind}_usd_per_mtok"],
        "since": band["valid_from"],
        "tokens": band["input_tokens_from"],
    }
