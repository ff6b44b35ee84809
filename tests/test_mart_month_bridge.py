"""The bridge says why a month differs from the one before, in parts that add up."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

PARTS = ("volume", "mix", "model", "length")
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}  # 3 and 15 USD a million
HAIKU = {"provider": "anthropic", "model_name": "claude-haiku-4-5"}  # 1 and 5 USD a million
CHAT = {"query_class": "chat", "team": "a"}
RAG = {"query_class": "rag", "team": "b"}
LONG = {"input_tokens": 100_000, "output_tokens": 10_000}
BRIDGE = ("mart_month_bridge",)
SEPTEMBER, OCTOBER = "2026-09-05T10:00:00Z", "2026-10-05T10:00:00Z"


def bridge_of(book: Book, month: str = "2026-10") -> dict[str, Any]:
    [row] = [r for r in rows_of(book, "select * from mart_month_bridge") if r["month"] == month]
    return row


def before(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"occurred_at": SEPTEMBER, **row} for row in rows]


@pytest.mark.slow
def test_each_part_of_a_cost_is_what_it_changes_with_last_month_as_the_base(
    book_of: Callable[..., Book],
) -> None:
    # September: 2 × (0.30 + 0.15) of chat with Sonnet, 1 × (0.10 + 0.05) of rag with Haiku
    then = before(SONNET | CHAT | LONG, SONNET | CHAT | LONG, HAIKU | RAG | LONG)
    twice_as_long = SONNET | CHAT | LONG | {"output_tokens": 20_000}
    dearer = HAIKU | RAG | LONG | {"input_tokens": 50_000, "billed_cost_usd": "0.16"}
    now = [twice_as_long, twice_as_long, HAIKU | CHAT | LONG, dearer]

    row = bridge_of(book_of(then + now))

    assert row["cost_before_usd"] == Decimal("1.05")
    # 4 requests at last month's 1.05 / 3 make 1.40
    assert row["cost_volume_usd"] == Decimal("0.35")
    # 3 of chat at 0.45 and 1 of rag at 0.15 make 1.50
    assert row["cost_mix_usd"] == Decimal("0.10")
    # one chat moved to Haiku, at chat's lengths and Haiku's price: 2 · 0.45 + 0.15 + 0.15 = 1.20
    assert row["cost_model_usd"] == Decimal("-0.30")
    # lengths of now at prices of then: 2 · (0.30 + 0.30) + 0.15 + (0.05 + 0.05) = 1.45
    assert row["cost_length_usd"] == Decimal("0.25")
    # billed 0.16 where the list says 0.10
    assert row["cost_price_usd"] == Decimal("0.06")
    assert row["cost_usd"] == Decimal("1.51")


@pytest.mark.slow
def test_both_months_are_computed_by_one_version_of_the_method(
    book_of: Callable[..., Book],
) -> None:
    # so a new version moves both alike, and is no part of what differs between them
    row = {"team": "c"} | LONG
    book = book_of([*before(row), row], targets=["mart_energy_per_class"])

    by = rows_of(book, "select month, method_version from mart_energy_per_class order by month")

    assert [each["month"] for each in by] == ["2026-09", "2026-10"]
    assert len({each["method_version"] for each in by}) == 1


@pytest.mark.slow
def test_a_month_that_repeats_the_last_has_no_part(book_of: Callable[..., Book]) -> None:
    rows = [SONNET | CHAT | LONG, HAIKU | RAG | LONG, {"team": "c"} | LONG]

    row = bridge_of(book_of(before(*rows) + rows))

    assert row["cost_usd"] == row["cost_before_usd"] == Decimal("0.60")
    for part in (*PARTS, "price"):
        assert row[f"cost_{part}_usd"] == 0
    for part in (*PARTS, "rate"):
        assert row[f"facility_energy_{part}_kwh"] == 0
        assert row[f"carbon_{part}_gco2e"] == 0
        # both months are unsure of the same, so their difference is sure
        assert row[f"facility_energy_{part}_low_kwh"] == pytest.approx(0, abs=2e-9)
        assert row[f"facility_energy_{part}_high_kwh"] == pytest.approx(0, abs=2e-9)
        assert row[f"carbon_{part}_low_gco2e"] == pytest.approx(0, abs=1e-6)
        assert row[f"carbon_{part}_high_gco2e"] == pytest.approx(0, abs=1e-6)
    assert row["facility_energy_low_kwh"] < float(row["facility_energy_kwh"])
    assert row["facility_energy_low_kwh"] == pytest.approx(row["facility_energy_before_low_kwh"])


@pytest.mark.slow
def test_twice_the_requests_are_all_volume(book_of: Callable[..., Book]) -> None:
    chat = CHAT | {"input_tokens": 900, "output_tokens": 300}
    told = {"batch": "1"}

    row = bridge_of(book_of([*before(chat), chat, chat], assumes=[told]))

    # 1,008.589 J × 1.43 · 1.12 · 1.20 / 3,600,000, and 473 g of carbon a kilowatt-hour
    one_kwh = EXAMPLE_GPU_J * 1.43 * 1.12 * 1.2 / 3.6e6
    last_digit = Decimal("1e-9")
    assert abs(row["facility_energy_volume_kwh"] - Decimal(one_kwh)) < last_digit
    assert abs(row["carbon_volume_gco2e"] - Decimal(one_kwh * 473)) < last_digit
    for part in ("mix", "model", "length", "rate"):
        assert row[f"facility_energy_{part}_kwh"] == 0
    # one request more takes in every world what the one before took there
    for end in ("low", "high"):
        assert row[f"facility_energy_volume_{end}_kwh"] == pytest.approx(
            row[f"facility_energy_before_{end}_kwh"], abs=2e-9
        )
        # the grid factor is one number in every world, so carbon has the worlds of the electricity
        for stem in ("before", "volume"):
            assert row[f"carbon_{stem}_{end}_gco2e"] == pytest.approx(
                473 * row[f"facility_energy_{stem}_{end}_kwh"], abs=2e-6
            )
    assert row["carbon_volume_low_gco2e"] < row["carbon_volume_gco2e"]
    assert row["carbon_volume_gco2e"] < row["carbon_volume_high_gco2e"]
    assert (row["batch_before"], row["batch"]) == (1, 1)


def test_each_step_of_a_world_is_worked_out_with_the_rates_of_that_world(
    book_of: Callable[..., Book],
) -> None:
    # September: a chat of team a on Llama. October: one on Qwen, as new as its class rag, so that
    # volume and mix have Llama's doubts, models and lengths have Qwen's own of October.
    chat = CHAT | {"input_tokens": 900, "output_tokens": 300}
    other = RAG | {"model_name": "Qwen/Qwen3-30B-A3B", "input_tokens": 500, "output_tokens": 100}
    book = book_of([*before(chat), other], assumes=[{"batch": "1"}])
    energy = "max(facility_energy_kwh) as value, drawn_p05(drawn) as low, drawn_p95(drawn) as high"
    told = rows_of(
        book,
        f"select month, {energy} from (select month, draw, draws.facility_energy_kwh as drawn, "
        "cells.facility_energy_kwh from int_class_draws as draws inner join int_class_energy as "
        "cells using (month, provider, model_id, query_class)) group by month order by month",
    )
    llama, qwen = told
    row = bridge_of(book)

    for end in ("low", "high"):
        assert row[f"facility_energy_before_{end}_kwh"] == pytest.approx(llama[end], abs=2e-9)
        assert row[f"facility_energy_{end}_kwh"] == pytest.approx(qwen[end], abs=2e-9)
        assert row[f"facility_energy_mix_{end}_kwh"] == pytest.approx(0, abs=2e-9)
    # Lengths of then on Qwen's rates, less Llama's: in proportion to what October took of Qwen.
    grown = (row["facility_energy_model_kwh"] + row["facility_energy_before_kwh"]) / Decimal(
        qwen["value"]
    )
    worlds = rows_of(
        book,
        f"select drawn_p05({grown} * now.facility_energy_kwh - past.facility_energy_kwh) as low, "
        f"drawn_p95({grown} * now.facility_energy_kwh - past.facility_energy_kwh) as high "
        "from int_class_draws as now inner join int_class_draws as past using (draw) "
        "where now.month = '2026-10' and past.month = '2026-09'",
    )
    for end in ("low", "high"):
        assert row[f"facility_energy_model_{end}_kwh"] == pytest.approx(worlds[0][end], abs=4e-9)
        assert row[f"carbon_model_{end}_gco2e"] == pytest.approx(473 * worlds[0][end], abs=2e-6)
    assert row["evidence_grade"] == "C"


@pytest.mark.slow
def test_longer_answers_are_length_and_no_other_part(book_of: Callable[..., Book]) -> None:
    chat = CHAT | {"input_tokens": 900, "output_tokens": 300}

    row = bridge_of(
        book_of([*before(chat), chat | {"output_tokens": 600}], assumes=[{"batch": "1"}])
    )

    assert [row[f"facility_energy_{part}_kwh"] for part in ("volume", "mix", "model", "rate")] == [
        0
    ] * 4
    assert row["facility_energy_length_kwh"] == (
        row["facility_energy_kwh"] - row["facility_energy_before_kwh"]
    )


@pytest.mark.slow
def test_another_batch_is_the_rate_and_no_other_part(book_of: Callable[..., Book]) -> None:
    chat = CHAT | {"input_tokens": 900, "output_tokens": 300}
    other = {"batch": "4", "provider": "own"}
    row = bridge_of(
        book_of(before(chat), [chat], assumes=[{"batch": "1", "provider": "own"}, other])
    )

    changed = row["facility_energy_kwh"] - row["facility_energy_before_kwh"]
    assert row["facility_energy_volume_kwh"] == 0
    assert row["facility_energy_rate_kwh"] == changed


@pytest.mark.slow
def test_a_team_without_a_name_is_a_team(book_of: Callable[..., Book]) -> None:
    teamless = SONNET | {"query_class": "chat"} | LONG

    row = bridge_of(book_of([*before(teamless), teamless, SONNET | CHAT | LONG]))

    assert [row[f"cost_{part}_usd"] for part in (*PARTS, "price")] == [Decimal("0.45"), 0, 0, 0, 0]


@pytest.mark.slow
def test_what_only_a_bill_prices_is_shared_by_its_tokens(book_of: Callable[..., Book]) -> None:
    own = {"provider": "acme", "model_name": "acme-1", **CHAT}
    then = before(own | {"input_tokens": 80, "output_tokens": 20, "billed_cost_usd": "1.00"})
    now = [own | {"input_tokens": 100, "output_tokens": 100, "billed_cost_usd": "3.00"}]

    row = bridge_of(book_of(then + now))

    # 200 tokens at last month's 1.00 / 100 are 2.00; the third dollar is the price
    assert (row["cost_length_usd"], row["cost_price_usd"]) == (Decimal("1.00"), Decimal("1.00"))


@pytest.mark.slow
def test_the_first_month_has_no_bridge(book_of: Callable[..., Book]) -> None:
    assert rows_of(book_of([SONNET | CHAT | LONG]), "select * from mart_month_bridge") == []


@pytest.mark.slow
def test_a_month_after_a_gap_has_no_bridge(book_of: Callable[..., Book]) -> None:
    august = {"occurred_at": "2026-08-05T10:00:00Z", **SONNET, **CHAT, **LONG}

    book = book_of([august, SONNET | CHAT | LONG])

    assert rows_of(book, "select * from mart_month_bridge") == []


@pytest.mark.slow
def test_january_follows_december(book_of: Callable[..., Book]) -> None:
    december = {"occurred_at": "2025-12-05T10:00:00Z", **SONNET, **CHAT, **LONG}
    january = {"occurred_at": "2026-01-05T10:00:00Z", **SONNET, **CHAT, **LONG}

    assert bridge_of(book_of([december, january, january]), "2026-01")["cost_usd"] == Decimal(
        "0.90"
    )


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([SEPTEMBER, OCTOBER]),
            st.sampled_from([SONNET, HAIKU, {}]),
            st.sampled_from(["chat", "rag", "agentic"]),
            st.sampled_from(["a", "b", None]),
            st.integers(0, 90_000),
            st.integers(0, 9_000),
        ),
        min_size=2,
        max_size=12,
    )
)
def test_the_parts_always_add_up(
    book_of: Callable[..., Book], rows: list[tuple[str, dict[str, str], str, Any, int, int]]
) -> None:
    book = book_of(
        [
            {"occurred_at": when, **model, "query_class": kind, "team": team}
            | {"input_tokens": n, "output_tokens": m}
            for when, model, kind, team, n, m in rows
        ]
    )

    for row in rows_of(book, "select * from mart_month_bridge"):
        for stem, last, unit in (
            ("cost", "price", "usd"),
            ("facility_energy", "rate", "kwh"),
            ("carbon", "rate", "gco2e"),
        ):
            if row[f"{stem}_{unit}"] is None:
                continue
            parts = [row[f"{stem}_{part}_{unit}"] for part in ("before", *PARTS, last)]
            assert sum(parts) == row[f"{stem}_{unit}"]
            for part in ("before_", *(f"{each}_" for each in (*PARTS, last)), ""):
                if stem != "cost":  # each step's value lies in its own range
                    low, high = (row[f"{stem}_{part}{end}_{unit}"] for end in ("low", "high"))
                    assert low <= float(row[f"{stem}_{part}{unit}"]) <= high
