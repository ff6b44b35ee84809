"""OpenAI's reports: usage pages, dashboard exports, costs, and the older activity exports."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, document, fates, form, lines, loaded, table

from pipeline.ingest.containers import UnknownFormError

Con = duckdb.DuckDBPyConnection

DAY = 1_790_812_800  # 2026-10-01T00:00:00Z
NEXT_DAY = DAY + 86_400


def page(*results: dict[str, Any], start: int = DAY) -> dict[str, Any]:
    """Return a page of the organization API with one empty bucket before that of the results."""
    earlier = {"object": "bucket", "start_time": start - 86_400, "end_time": start, "results": []}
    bucket = {"object": "bucket", "start_time": start, "end_time": start + 86_400}
    data = [earlier, {**bucket, "results": list(results)}]
    return {"object": "page", "data": data, "has_more": False, "next_page": None}


def used(**fields: object) -> dict[str, Any]:
    """Return one result of the completions endpoint."""
    return {
        "object": "organization.usage.completions.result",
        "input_tokens": 1_000,
        "output_tokens": 500,
        "input_cached_tokens": 800,
        "num_model_requests": 5,
        "project_id": None,
        "user_id": None,
        "api_key_id": None,
        "model": "gpt-5.6-luna",
        "batch": None,
        "service_tier": None,
        **fields,
    }


def paid(value: object, line_item: str | None, **fields: object) -> dict[str, Any]:
    """Return one result of the costs endpoint."""
    amount = {"value": value, "currency": "usd"}
    return {"object": "organization.costs.result", "amount": amount, "line_item": line_item} | {
        "project_id": None,
        **fields,
    }


DASHBOARD_ROW: dict[str, object] = {
    "start_time": DAY,
    "end_time": NEXT_DAY,
    "start_time_iso": "2026-10-01T00:00:00+00:00",
    "end_time_iso": "2026-10-02T00:00:00+00:00",
    "project_id": "proj_1",
    "num_model_requests": "10.0",
    "user_id": "",
    "api_key_id": "key_1",
    "model": "gpt-4o-2024-08-06",
    "batch": "FALSE",
    "service_tier": "default",
    "input_tokens": "59200.0",
    "output_tokens": "10646.0",
    "input_cached_tokens": "5760.0",
    "input_uncached_tokens": "53440.0",
}

COST_ROW: dict[str, object] = {
    "start_time": DAY,
    "end_time": NEXT_DAY,
    "start_time_iso": "2026-10-01T00:00:00",
    "end_time_iso": "2026-10-02T00:00:00",
    "amount_value": "0.003835980000000000000000000000",
    "amount_currency": "usd",
    "line_item": "",
    "project_id": "",
    "organization_id": "org-1",
}


# Usage API -----------------------------------------------------------------------------------


def test_input_of_a_usage_page_includes_what_the_cache_held(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page(used()))

    (row,) = loaded(con, path)

    assert form(path) == "openai_usage_page"
    assert buckets(row) == (1_000 - 800, 800, None, None, 500)
    assert (row["occurred_at"], row["bucket_end_at"]) == (
        "2026-10-01 00:00:00",
        "2026-10-02 00:00:00",
    )
    assert (row["provider"], row["model_name"], row["request_count"]) == (
        "openai",
        "gpt-5.6-luna",
        5,
    )
    assert row["is_cache_known"]


def test_the_newest_fields_tell_uncached_and_written_input_apart(con: Con, tmp_path: Path) -> None:
    newest = used(
        input_uncached_tokens=50,
        input_cached_tokens=800,
        input_cache_write_tokens=150,
        input_cache_write_30m_tokens=100,
        input_cache_write_12h_tokens=50,
        batch=True,
        service_tier="flex",
        something_new={"deep": 1},
    )
    without_sum = {**newest, "model": "b", "input_cache_write_tokens": None}
    without_uncached = {**newest, "model": "c", "input_uncached_tokens": None}

    rows = loaded(
        con, document(tmp_path / "page.json", page(newest, without_sum, without_uncached))
    )

    assert [buckets(row) for row in rows] == [(50, 800, 150, None, 500)] * 3
    assert (rows[0]["is_batch"], rows[0]["service_tier"]) == (True, "flex")


def test_a_page_not_grouped_by_model_says_how_to_ask_again(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page(used(model=None)))

    assert fates(loaded(con, path)) == ["model_missing"]
    assert fates(loaded(con, path, assume="model=gpt-5")) == ["accepted"]


def test_pages_may_be_lines_or_bare_buckets(con: Con, tmp_path: Path) -> None:
    one_a_line = lines(tmp_path / "pages.jsonl", [page(used()), page(used(), start=NEXT_DAY)])
    bare = document(tmp_path / "buckets.json", page(used())["data"])

    assert fates(loaded(con, one_a_line)) == ["accepted", "accepted"]
    assert fates(loaded(con, bare)) == ["accepted"]


def test_a_page_of_empty_buckets_is_usage_without_rows(con: Con, tmp_path: Path) -> None:
    path = document(tmp_path / "page.json", page())

    assert loaded(con, path) == []
    assert form(path) == "openai_usage_page"


def test_an_object_without_keys_is_no_empty_page(tmp_path: Path) -> None:
    with pytest.raises(UnknownFormError):
        form(document(tmp_path / "page.json", {}))


def test_usage_after_many_empty_buckets_is_found(con: Con, tmp_path: Path) -> None:
    late = page(used())
    late["data"] = late["data"][:1] * 1_000 + late["data"][1:]

    assert fates(loaded(con, document(tmp_path / "page.json", late))) == ["accepted"]


def test_a_bucket_fetched_again_replaces_what_it_was(con: Con, tmp_path: Path) -> None:
    first = lines(tmp_path / "1.jsonl", [page(used(output_tokens=9, api_key_id="k"), used())])
    later = lines(tmp_path / "2.jsonl", [page(used(api_key_id="k"), used(output_tokens=700))])

    rows = loaded(con, first, later)

    assert fates(rows) == ["duplicate", "duplicate", "accepted", "accepted"]


def test_the_same_page_twice_in_a_file_counts_once_and_equal_results_both(
    con: Con, tmp_path: Path
) -> None:
    twice = lines(tmp_path / "pages.jsonl", [page(used(), used(output_tokens=7))] * 2)

    rows = loaded(con, twice)

    assert sorted(row["output_tokens"] for row in rows if not row["is_duplicate"]) == [7, 500]


def test_more_cached_than_input_is_a_bad_row(con: Con, tmp_path: Path) -> None:
    rows = loaded(con, document(tmp_path / "page.json", page(used(input_cached_tokens=1_001))))

    assert fates(rows) == ["cache_exceeds_input"]


@pytest.mark.parametrize(
    ("endpoint", "fields", "charge"),
    [
        ("embeddings", {"input_tokens": 70}, ("embeddings", 70, "tokens")),
        ("moderations", {"input_tokens": 7}, ("other", 7, "tokens")),
        ("images", {"images": 3, "size": "1024x1024"}, ("images", 3, "images")),
        ("audio_speeches", {"characters": 45}, ("audio", 45, "characters")),
        ("audio_transcriptions", {"seconds": 20}, ("audio", 20, "seconds")),
        ("vector_stores", {"usage_bytes": 1_024}, ("storage", 1_024, "bytes")),
        ("code_interpreter_sessions", {"num_sessions": 2}, ("code_execution", 2, "sessions")),
        ("web_searches", {"num_requests": 4}, ("web_search", 4, "requests")),
        ("file_searches", {"num_requests": 4}, ("other", 4, "requests")),
    ],
)
def test_other_endpoints_are_charges_and_their_tokens_are_not_those_of_answers(
    con: Con,
    tmp_path: Path,
    endpoint: str,
    fields: dict[str, object],
    charge: tuple[str, int, str],
) -> None:
    result = {"object": f"organization.usage.{endpoint}.result", "project_id": None, **fields}
    if endpoint not in ("vector_stores", "code_interpreter_sessions", "file_searches"):
        result["num_model_requests"] = 1

    (row,) = loaded(con, document(tmp_path / "page.json", page(result)))

    assert (row["charge_kind"], row["charge_quantity"], row["charge_unit"]) == charge
    assert row["uncached_input_tokens"] is None
    assert row["reject_reasons"] is None  # charges need no model


def test_a_real_usage_page_is_200_uncached_of_1000(con: Con, samples: Path) -> None:
    path = samples / "logs" / "openai_usage_completions_page.json"

    (row,) = loaded(con, path, assume="model=gpt-4o")

    assert buckets(row) == (200, 800, None, None, 500)
    assert row["request_count"] == 5
    assert row["occurred_at"] == "2024-11-01 00:00:00"


# Dashboard usage -----------------------------------------------------------------------------


def test_two_exports_that_share_a_day_count_it_once(con: Con, tmp_path: Path) -> None:
    empty = {**dict.fromkeys(DASHBOARD_ROW, ""), "start_time": NEXT_DAY}
    early = table(tmp_path / "1.csv", [{**DASHBOARD_ROW, "output_tokens": "9.0"}, empty])
    late = table(tmp_path / "2.csv", [DASHBOARD_ROW])

    rows = loaded(con, early, late)

    assert fates(rows) == ["duplicate", "no_usage", "accepted"]
    assert buckets(rows[2]) == (53_440, 5_760, None, None, 10_646)


def test_rows_of_a_bucket_that_differ_in_counts_alone_are_all_usage(
    con: Con, tmp_path: Path
) -> None:
    less = {**DASHBOARD_ROW, "output_tokens": "5.0"}
    first = table(tmp_path / "1.csv", [less, DASHBOARD_ROW])
    again = table(tmp_path / "2.csv", [DASHBOARD_ROW, {**less, "num_model_requests": "11.0"}])

    assert fates(loaded(con, first)) == ["accepted", "accepted"]
    assert fates(loaded(con, first, again)).count("duplicate") == 2


def test_an_export_of_few_columns_leaves_the_cache_unknown(con: Con, tmp_path: Path) -> None:
    names = ("start_time", "end_time", "start_time_iso", "end_time_iso", "model", "input_tokens")
    few = {name: DASHBOARD_ROW[name] for name in (*names, "output_tokens")}

    (row,) = loaded(con, table(tmp_path / "usage.csv", [few]))

    assert buckets(row) == (59_200, None, None, None, 10_646)
    assert row["is_cache_known"] is False
    assert row["request_count"] is None


@pytest.mark.parametrize(
    ("cells", "charge"),
    [
        ({"model": "text-embedding-3-small", "input_tokens": "8"}, ("embeddings", 8, "tokens")),
        ({"model": "gpt-image-1", "images": "2"}, ("images", 2, "images")),
        ({"model": "whisper-1", "seconds": "61"}, ("audio", 61, "seconds")),
        ({"usage_bytes": "1024"}, ("storage", 1_024, "bytes")),
    ],
)
def test_each_endpoint_has_an_export_of_its_own(
    con: Con, tmp_path: Path, cells: dict[str, object], charge: tuple[str, int, str]
) -> None:
    times = {name: cell for name, cell in DASHBOARD_ROW.items() if name.startswith(("st", "en"))}
    row = {**times, "num_model_requests": "1", **cells}

    (found,) = loaded(con, table(tmp_path / "usage.csv", [row]))

    assert (found["charge_kind"], found["charge_quantity"], found["charge_unit"]) == charge
    assert found["reject_reasons"] is None


def test_a_real_week_at_openai_is_325759_uncached_and_549459_out(con: Con, samples: Path) -> None:
    path = samples / "logs" / "openai_completions_usage_2025-10-05_2025-10-12.csv"

    rows = loaded(con, path)

    assert sorted(fates(rows)) == ["accepted"] * 6 + ["no_usage"]
    sums = [sum(column or 0 for column in each) for each in zip(*map(buckets, rows), strict=True)]
    # 53,440 + 38,072 + 5,783 + 80,992 + 124,784 + 22,688; 5,760 + 8,192
    assert sums == [325_759, 13_952, 0, 0, 549_459]


# Costs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line_item", "kind", "model", "tier"),
    [
        ("gpt-4o-2024-08-06, cached input", "billed_tokens", "gpt-4o-2024-08-06", None),
        (
            "priority | gpt-5.6-sol, output, long context",
            "billed_tokens",
            "gpt-5.6-sol",
            "priority",
        ),
        ("gpt-5.6-terra, cache writes", "billed_tokens", "gpt-5.6-terra", None),
        ("ft-gpt-4o-2024-08-06, input", "billed_tokens", "ft-gpt-4o-2024-08-06", None),
        ("Text tokens", "billed_tokens", None, None),
        (None, "billed_tokens", None, None),
        ("gpt-image-2-2026-04-21 text, input", "images", "gpt-image-2-2026-04-21", None),
        ("gpt-audio-mini-2025-12-15 audio, input", "audio", "gpt-audio-mini-2025-12-15", None),
        ("whisper", "audio", None, None),
        ("text-embedding-3-small", "embeddings", "text-embedding-3-small", None),
        ("web search tool calls", "web_search", None, None),
        ("Code Interpreter Sessions", "code_execution", None, None),
        ("Vector storage", "storage", None, None),
        ("gpt-4.1-mini-2025-04-14, training", "fine_tuning", "gpt-4.1-mini-2025-04-14", None),
        ("Assistants API | file search", "other", None, None),
    ],
)
def test_a_line_item_tells_kind_model_and_tier(
    con: Con, tmp_path: Path, line_item: str | None, kind: str, model: str | None, tier: str | None
) -> None:
    result = paid(0.06, line_item, quantity=120, quantity_unit="tokens")

    (row,) = loaded(con, document(tmp_path / "page.json", page(result)))

    assert (row["charge_kind"], row["model_name"], row["service_tier"]) == (kind, model, tier)
    assert (row["charge_quantity"], row["charge_unit"]) == (120, "tokens")
    assert row["reject_reasons"] is None


def test_costs_keep_every_digit_of_page_and_export(con: Con, tmp_path: Path) -> None:
    results = [paid("1.2345", "a-1, input"), paid(1.2e-05, "b-1, input"), paid(-2, "credit")]
    pages = document(tmp_path / "page.json", page(*results))
    export = table(tmp_path / "cost.csv", [COST_ROW])

    rows = loaded(con, pages, export)

    assert {form(pages), form(export)} == {"openai_costs"}
    assert [row["billed_cost_usd"] for row in rows] == [
        "1.234500000000",
        "0.000012000000",
        "-2.000000000000",
        "0.003835980000",
    ]
    assert rows[2]["charge_kind"] == "credit"
    assert rows[3]["occurred_at"] == "2026-10-01 00:00:00"
    assert all(row["uncached_input_tokens"] is None for row in rows)


def test_an_export_of_costs_has_grown_columns_over_time(con: Con, tmp_path: Path) -> None:
    older = {**COST_ROW, "amount_value": "0.5", "line_item": "gpt-5-nano, input_tokens"}
    newer = {
        **older,
        "quantity": "1000",
        "quantity_unit": "tokens",
        "user_id": "user_1",
        "api_key_id": "key_1",
        "project_name": "Search",
        "user_email": "someone@example.com",
        "api_source": "",
        "a_column_of_next_year": "x",
    }

    (row,) = loaded(con, table(tmp_path / "newer.csv", [newer]))
    assert (row["charge_quantity"], row["charge_unit"], row["user_id"]) == (
        1_000,
        "tokens",
        "user_1",
    )
    (row,) = loaded(con, table(tmp_path / "older.csv", [older]))
    assert (row["model_name"], row["charge_quantity"]) == ("gpt-5-nano", None)


def test_the_same_cost_from_page_and_export_counts_once_at_its_highest(
    con: Con, tmp_path: Path
) -> None:
    earlier = document(tmp_path / "page.json", page(paid(0.4, "gpt-5-nano, input")))
    later = {**COST_ROW, "line_item": "gpt-5-nano, input", "amount_value": "0.5"}

    rows = loaded(con, earlier, table(tmp_path / "cost.csv", [later]))

    assert fates(rows) == ["duplicate", "accepted"]


def test_a_cost_of_no_number_or_another_currency_is_set_aside(con: Con, tmp_path: Path) -> None:
    comma = {**COST_ROW, "amount_value": "0,5"}
    euro = {**COST_ROW, "amount_currency": "eur"}
    empty = {**COST_ROW, "amount_value": "", "amount_currency": ""}

    rows = loaded(con, table(tmp_path / "cost.csv", [comma, euro, empty]))

    assert fates(rows) == ["billed_cost_unreadable", "currency_not_usd", "no_usage"]


def test_a_real_week_at_openai_is_billed_2_98595(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "logs" / "openai_cost_2025-10-05_2025-10-13.csv")

    assert sorted(fates(rows)) == ["accepted"] * 6 + ["no_usage"] * 2
    total = sum(Decimal(row["billed_cost_usd"]) for row in rows if row["billed_cost_usd"])
    # 0.895874 + 0.56177125 + 0.569788 + 0.5455665 + 0.3409 + 0.072054
    assert total == Decimal("2.985953750000")


def test_a_real_costs_page_is_six_cents(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "openai_costs_page.json")

    assert (row["billed_cost_usd"], row["charge_kind"]) == ("0.060000000000", "billed_tokens")


# Activity exports ----------------------------------------------------------------------------

ACTIVITY: dict[str, object] = {
    "aggregation_timestamp": 1_730_696_460,  # 2024-11-04T05:01:00Z
    "n_requests": 2,
    "operation": "completion",
    "snapshot_id": "gpt-4o-2024-08-06",
    "n_context_tokens_total": 900,
    "n_generated_tokens_total": 35,
}

GROQ: dict[str, object] = {
    "timestamp": DAY,
    "num_requests": 65,
    "model": "openai/gpt-oss-20b",
    "project_id": "project_1",
    "api_key_id": "key_1",
    "n_context_tokens_total": 4_680,
    "n_non_cached_context_tokens_total": 4_600,
    "n_generated_tokens_total": 65,
    "cost": 0.0003705,
}


@pytest.mark.parametrize("as_table", [True, False])
def test_older_activity_is_read_from_tables_and_pages(
    con: Con, tmp_path: Path, as_table: bool
) -> None:
    newer = {
        **ACTIVITY,
        "n_cached_context_tokens_total": 100,
        "project_id": "p",
        "request_type": "",
    }
    path = tmp_path / "activity"
    data = {"object": "list", "data": [newer], "ft_data": [], "dalle_api_data": []}

    (row,) = loaded(con, table(path, [newer]) if as_table else document(path, data))

    assert form(path) == "token_activity"
    assert buckets(row) == (800, 100, None, None, 35)
    assert (row["occurred_at"], row["request_count"]) == ("2024-11-04 05:01:00", 2)
    assert (row["provider"], row["model_name"]) == ("openai", "gpt-4o-2024-08-06")


def test_the_oldest_activity_knows_no_cache(con: Con, tmp_path: Path) -> None:
    (row,) = loaded(con, table(tmp_path / "activity.csv", [ACTIVITY]))

    assert buckets(row) == (900, None, None, None, 35)
    assert row["is_cache_known"] is False


def test_groq_says_what_was_not_cached_and_what_it_cost(con: Con, tmp_path: Path) -> None:
    free = {**GROQ, "model": "llama-3.1-8b-instant", "cost": 0}

    rows = loaded(con, document(tmp_path / "a.json", {"object": "list", "data": [GROQ, free]}))

    assert [buckets(row) for row in rows] == [(4_600, 80, None, None, 65)] * 2
    assert [(row["model_name"], row["billed_cost_usd"]) for row in rows] == [
        ("llama-3.1-8b-instant", None),
        ("openai/gpt-oss-20b", "0.000370500000"),
    ]
    assert {row["provider"] for row in rows} == {"groq"}


def test_activity_exported_again_counts_once_and_bad_rows_not_at_all(
    con: Con, tmp_path: Path
) -> None:
    first = table(tmp_path / "1.csv", [{**ACTIVITY, "n_generated_tokens_total": 9}])
    embedding = {**ACTIVITY, "operation": "embeddings", "snapshot_id": "text-embedding-3-small"}
    bad = {**ACTIVITY, "operation": "chat", "n_context_tokens_total": "many"}

    rows = loaded(con, first, table(tmp_path / "2.csv", [ACTIVITY, embedding, bad]))

    assert fates(rows) == ["duplicate", "accepted", "accepted", "tokens_unreadable"]
    assert (rows[2]["charge_kind"], rows[2]["charge_quantity"]) == ("embeddings", 900)
    assert buckets(rows[2]) == (None, None, None, None, None)
