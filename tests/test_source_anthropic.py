"""Anthropic's reports: pages of the admin API and exports of the console, tokens and costs."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, document, fates, form, lines, loaded, table

Con = duckdb.DuckDBPyConnection


def page(*results: dict[str, Any], day: int = 2) -> dict[str, Any]:
    """Return a page of the admin API: an empty bucket, then that of the results."""
    data: list[dict[str, Any]] = [
        {"starting_at": f"2026-05-{day - 1:02}T00:00:00Z", "results": []},
        {"starting_at": f"2026-05-{day:02}T00:00:00Z", "results": list(results)},
    ]
    for bucket, ending in zip(data, (day, day + 1), strict=True):
        bucket["ending_at"] = f"2026-05-{ending:02}T00:00:00Z"
    return {"data": data, "has_more": False, "next_page": None}


def used(**fields: object) -> dict[str, Any]:
    """Return one result of the usage report."""
    return {
        "uncached_input_tokens": 100,
        "cache_read_input_tokens": 5_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 8, "ephemeral_1h_input_tokens": 2},
        "output_tokens": 200,
        "server_tool_use": {"web_search_requests": 3},
        "workspace_id": "wrk_1",
        "api_key_id": "key_1",
        "model": "claude-opus-4-7",
        "service_tier": "standard",
        "context_window": "0-200k",
        **fields,
    }


def paid(amount: object, **fields: object) -> dict[str, Any]:
    """Return one result of the cost report."""
    return {
        "currency": "USD",
        "amount": amount,
        "workspace_id": "wrk_1",
        "description": "Claude Sonnet 4.5 Usage - Input Tokens",
        "cost_type": "tokens",
        "context_window": "0-200k",
        "model": "claude-sonnet-4-5",
        "service_tier": "standard",
        "token_type": "uncached_input_tokens",
        **fields,
    }


TOKENS: dict[str, object] = {
    "usage_date_utc": "2026-03-22",
    "model_version": "claude-sonnet-4-20250514",
    "api_key": "our key",
    "workspace": "Default",
    "usage_type": "standard",
    "context_window": "≤ 200k",
    "usage_input_tokens_no_cache": 100_000,
    "usage_input_tokens_cache_write_5m": 40,
    "usage_input_tokens_cache_write_1h": 30,
    "usage_input_tokens_cache_read": 900_000,
    "usage_output_tokens": 5_000,
    "web_search_count": 10,
    "inference_geo": "not_available",
    "speed": "",
}

COST: dict[str, object] = {
    "usage_date_utc": "2026-03-15",
    "model": "Claude Haiku 4.5",
    "workspace": "Default",
    "api_key": "our key",
    "usage_type": "message",
    "token_type": "output",
    "cost_usd": "1.50",
}


# Usage report --------------------------------------------------------------------------------


def test_input_of_a_usage_report_excludes_the_cache(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page(used(a_new_field="x")))

    (row,) = loaded(con, path)

    assert form(path) == "anthropic_usage_report"
    assert buckets(row) == (100, 5_000, 8, 2, 200)
    assert (row["occurred_at"], row["bucket_end_at"]) == (
        "2026-05-02 00:00:00",
        "2026-05-03 00:00:00",
    )
    assert (row["provider"], row["model_name"]) == ("anthropic", "claude-opus-4-7")
    assert row["request_count"] is None


def test_tiers_and_places_of_a_usage_report_are_kept(con: Con, tmp_path: Path) -> None:
    batch = used(model="a", service_tier="batch")
    fast = used(model="b", speed="fast", inference_geo="us")

    rows = loaded(con, document(tmp_path / "page.json", page(batch, fast)))

    assert [(row["is_batch"], row["service_tier"], row["region"]) for row in rows] == [
        (True, "batch", None),
        (False, "fast", "us"),
    ]


def test_a_usage_report_fetched_again_replaces_what_it_was(con: Con, tmp_path: Path) -> None:
    first = lines(tmp_path / "1.jsonl", [page(used(output_tokens=9)), page(used(), day=5)])
    later = document(tmp_path / "2.json", page(used(), used(context_window="200k-1M")))

    assert fates(loaded(con, first, later)) == ["duplicate", *["accepted"] * 3]


def test_usage_not_grouped_by_model_is_set_aside(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page(used(model=None, api_key_id=None)))

    assert fates(loaded(con, path)) == ["model_missing"]


def test_counts_below_zero_are_set_aside(con: Con, tmp_path: Path) -> None:
    rows = loaded(con, document(tmp_path / "page.json", page(used(uncached_input_tokens=-1))))

    assert fates(rows) == ["tokens_negative"]


def test_a_day_of_a_large_company_is_not_absurd(con: Con, tmp_path: Path) -> None:
    heavy = used(cache_read_input_tokens=4_000_000_000, output_tokens=20_000_000)

    assert fates(loaded(con, document(tmp_path / "page.json", page(heavy)))) == ["accepted"]


def test_a_usage_report_of_empty_buckets_is_usage_without_rows(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page())

    assert loaded(con, path) == []
    assert form(path) == "anthropic_usage_report"


def test_a_published_usage_report_is_two_models(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "logs" / "anthropic_usage_report_messages.json")

    assert {row["model_name"]: buckets(row) for row in rows} == {
        "claude-opus-4-7": (100, 50, 8, 2, 200),
        "claude-haiku-4-5": (5, 0, 0, 0, 8),
    }


# Cost report ---------------------------------------------------------------------------------


def test_amounts_of_a_cost_report_are_cents(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page(paid("123.45")))

    (row,) = loaded(con, path)

    assert form(path) == "anthropic_cost_report"
    assert row["billed_cost_usd"] == "1.234500000000"
    assert (row["charge_kind"], row["model_name"]) == ("billed_tokens", "claude-sonnet-4-5")
    assert buckets(row) == (None,) * 5


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"cost_type": "web_search", "model": None, "token_type": None}, "web_search"),
        ({"cost_type": "code_execution", "model": None}, "code_execution"),
        ({"cost_type": "session_usage", "model": None}, "other"),
        ({"cost_type": None, "model": None, "description": None}, "billed_tokens"),
    ],
)
def test_a_cost_report_tells_kinds_of_cost(
    con: Con, tmp_path: Path, fields: dict[str, object], kind: str
) -> None:
    (row,) = loaded(con, document(tmp_path / "page.json", page(paid("50", **fields))))

    assert (row["charge_kind"], row["billed_cost_usd"]) == (kind, "0.500000000000")
    assert row["reject_reasons"] is None


def test_the_least_part_of_a_cent_is_kept(con: Con, tmp_path: Path) -> None:
    (row,) = loaded(con, document(tmp_path / "page.json", page(paid("0.0000000001"))))

    assert row["billed_cost_usd"] == "0.000000000001"


def test_a_cost_fetched_again_counts_once_and_bad_ones_not_at_all(con: Con, tmp_path: Path) -> None:
    first = document(tmp_path / "1.json", page(paid("100")))
    bad = paid("a lot", token_type="output_tokens")  # noqa: S106 - a kind of token
    foreign = paid("9", token_type="x", currency="EUR")  # noqa: S106
    later = document(tmp_path / "2.json", page(paid("120.5"), bad, foreign))

    rows = loaded(con, first, later)

    assert sorted(fates(rows)) == [
        "accepted",
        "billed_cost_unreadable",
        "currency_not_usd",
        "duplicate",
    ]
    assert [row["billed_cost_usd"] for row in rows if fates([row]) == ["accepted"]] == [
        "1.205000000000"
    ]


def test_a_published_cost_report_is_1_2345_dollars(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "anthropic_cost_report.json")

    assert row["billed_cost_usd"] == "1.234500000000"


# Console tokens ------------------------------------------------------------------------------


def test_the_console_counts_four_kinds_of_input_apart(con: Con, tmp_path: Path) -> None:
    path = table(tmp_path / "tokens.csv", [{**TOKENS, "a_column_of_next_year": "x"}])

    (row,) = loaded(con, path)

    assert form(path) == "anthropic_console_usage"
    assert buckets(row) == (100_000, 900_000, 40, 30, 5_000)
    assert (row["occurred_at"], row["bucket_end_at"]) == (
        "2026-03-22 00:00:00",
        "2026-03-23 00:00:00",
    )
    assert (row["project"], row["api_key_id"], row["region"]) == ("Default", "our key", None)


@pytest.mark.parametrize(
    ("day", "begins", "ends"),
    [
        ("2025-06-12T00:00:00Z", "2025-06-12 00:00:00", "2025-06-13 00:00:00"),
        ("2026-03-31 02:00", "2026-03-31 02:00:00", "2026-03-31 03:00:00"),
    ],
)
def test_older_files_have_one_column_of_writes_and_times_for_dates(
    con: Con, tmp_path: Path, day: str, begins: str, ends: str
) -> None:
    older = {
        "usage_date_utc": day,
        "model_version": "claude-3-5-haiku-20241022",
        "api_key": "k",
        "workspace": "",
        "usage_type": "batch",
        "usage_input_tokens_no_cache": 8,
        "usage_input_tokens_cache_write": 7,
        "usage_input_tokens_cache_read": 6,
        "usage_output_tokens": 1,
        "web_search_count": 0,
    }

    (row,) = loaded(con, table(tmp_path / "tokens.csv", [older]))

    assert buckets(row) == (8, 6, 7, None, 1)
    assert (row["occurred_at"], row["bucket_end_at"]) == (begins, ends)
    assert row["is_batch"] is True


def test_console_tokens_exported_again_count_once_at_their_highest(
    con: Con, tmp_path: Path
) -> None:
    first = table(tmp_path / "1.csv", [TOKENS, {**TOKENS, "api_key": "other"}])
    grown = {**TOKENS, "usage_output_tokens": 6_000, "usage_date_utc": "2026-03-22T00:00:00Z"}
    bad = {**TOKENS, "usage_output_tokens": "5,000"}

    rows = loaded(con, first, table(tmp_path / "2.csv", [grown, bad]))

    assert fates(rows) == ["duplicate", "accepted", "accepted", "tokens_unreadable"]


def test_published_console_tokens_are_350000_in_and_17000_out(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "logs" / "anthropic_console_tokens_2026.csv")

    assert fates(rows) == ["accepted"] * 3
    assert sum(row["uncached_input_tokens"] for row in rows) == 100_000 + 50_000 + 200_000
    assert sum(row["output_tokens"] for row in rows) == 5_000 + 2_000 + 10_000


# Console costs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("display_name", "model"),
    [
        ("Claude Haiku 4.5", "claude-haiku-4-5"),
        ("Claude Opus 5", "claude-opus-5"),
        ("Claude 3.5 Sonnet 2024-10-22", "claude-3-5-sonnet-2024-10-22"),
        ("", None),
    ],
)
def test_display_names_become_ids(
    con: Con, tmp_path: Path, display_name: str, model: str | None
) -> None:
    (row,) = loaded(con, table(tmp_path / "cost.csv", [{**COST, "model": display_name}]))

    assert (row["model_name"], row["reject_reasons"]) == (model, None)


def test_what_is_billed_counts_and_not_the_list_price(con: Con, tmp_path: Path) -> None:
    newest = {
        **COST,
        "context_window": "≤ 200k",
        "list_price_usd": "3.00",
        "cost_type": "token",
        "inference_geo": "us",
        "speed": "fast",
        "api_key_id": "apikey_01",
        "api_key_status": "archived",
    }
    search = {**newest, "model": "", "token_type": "", "cost_type": "web_search"}
    path = table(tmp_path / "cost.csv", [newest, search])

    rows = loaded(con, path)

    assert form(path) == "anthropic_console_cost"
    assert [row["billed_cost_usd"] for row in rows] == ["1.500000000000"] * 2
    assert [row["charge_kind"] for row in rows] == ["billed_tokens", "web_search"]
    assert (rows[0]["api_key_id"], rows[0]["service_tier"], rows[0]["region"]) == (
        "apikey_01",
        "fast",
        "us",
    )


def test_console_costs_exported_again_count_once_and_bad_ones_not_at_all(
    con: Con, tmp_path: Path
) -> None:
    first = table(tmp_path / "1.csv", [COST])
    later = table(tmp_path / "2.csv", [{**COST, "cost_usd": "1.60"}, {**COST, "cost_usd": "x"}])

    assert fates(loaded(con, first, later)) == [
        "duplicate",
        "accepted",
        "billed_cost_unreadable",
    ]


def test_published_console_costs_are_four_dollars(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "logs" / "anthropic_console_cost_2026-03.csv")

    assert sum(Decimal(row["billed_cost_usd"]) for row in rows) == Decimal("4.00")
    assert {row["model_name"] for row in rows} == {"claude-opus-4-6", "claude-sonnet-4-6"}
