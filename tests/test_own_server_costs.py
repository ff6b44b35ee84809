"""Days, waste, agents and replays cost what the book costs: bills, commitments, regions."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, Rows, rows_of
from overlay_files import overlay_folder

from pipeline.settings import Settings

LLAMA = "meta-llama/Llama-3.1-8B"
LENGTHS = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
OWN = {**LENGTHS, "provider": "vllm", "model_name": LLAMA}
MINI = {**LENGTHS, "provider": "openai", "model_name": "gpt-5-mini"}
HAIKU = {**LENGTHS, "provider": "anthropic", "model_name": "claude-haiku-4-5"}
QWEN = {**LENGTHS, "provider": "vllm", "model_name": "Qwen/Qwen3-32B"}
ROWS: Rows = [
    # 45 and twice 7.5 minutes, one busy hour of ten billed: 10 of 100 USD by 4 : 4 : 1 : 1
    {**OWN, "occurred_at": "2026-10-05T10:00:00Z", "latency_s": 1_800},
    {**OWN, "occurred_at": "2026-10-05T10:15:00Z", "latency_s": 1_800, "status": "failed"},
    {
        **OWN,
        **{"occurred_at": "2026-10-06T12:00:00Z", "latency_s": 450},
        **{"query_class": "agentic", "task_id": "t"},
    },
    {**OWN, "occurred_at": "2026-10-06T13:00:00Z", "latency_s": 450, "query_class": "rag"},
    # by energy, and the electricity on top, since the bill leaves it out
    {**QWEN, "occurred_at": "2026-10-05T10:00:00Z"},
    {**QWEN, "occurred_at": "2026-10-07T10:00:00Z", "finish_reason": "length"},
    {**QWEN, "occurred_at": "2026-10-08T10:00:00Z", "billed_cost_usd": "0.5"},
    # covered by a commitment, but for one with a bill of its own
    {**HAIKU, "occurred_at": "2026-10-05T10:00:00Z"},
    {**HAIKU, "occurred_at": "2026-10-09T10:00:00Z", "status": "failed", "output_tokens": 900},
    {**HAIKU, "occurred_at": "2026-10-09T10:00:00Z", "billed_cost_usd": "0.25"},
    # in a region that costs a tenth more
    {
        **{**HAIKU, "model_name": "claude-opus-4-8", "region": "us", "query_class": "agentic"},
        **{"occurred_at": "2026-10-09T10:00:00Z", "status": "failed"},
    },
    {**MINI, "occurred_at": "2026-10-09T10:00:00Z"},
    {**MINI, "occurred_at": "2026-10-09T10:00:00Z", "model_name": "acme-1"},
]
TABLES = {
    "hosting_costs": [
        f"2026-10,{LLAMA},H100-SXM,2,10,100.00,true",
        "2026-10,Qwen/Qwen3-32B,H200-SXM,1,10,60.00,false",
    ],
    "commitments": ["2026-10,anthropic,claude-haiku-4-5,744,1,30.00,0.8"],
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", TABLES)
    return book_of(ROWS, settings=Settings(overlay_folder=folder))


def one(book: Book, mart: str, **keys: str) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, f"select * from {mart}")
        if all(row[name] == value for name, value in keys.items())
    ]
    return row


def test_the_days_of_a_month_cost_what_its_groups_cost(book: Book) -> None:
    sums = rows_of(
        book,
        "select provider, model_id, query_class, sum(cost_usd) as cost_usd, "
        "(select sum(costs.cost_usd) from int_group_costs as costs "
        "where costs.provider = int_days.provider and costs.model_id = int_days.model_id "
        "and costs.query_class = int_days.query_class) as book_usd from int_days group by all",
    )

    assert len(sums) == 8
    for row in sums:
        if row["model_id"] == "acme-1":
            assert (row["cost_usd"], row["book_usd"]) == (None, None)
        else:
            assert abs(row["cost_usd"] - row["book_usd"]) < Decimal("1e-8"), row


def test_a_failed_request_wastes_its_part_of_the_gpu_bill(book: Book) -> None:
    row = one(book, "mart_waste", model_id=LLAMA, waste_kind="failed")

    # 1,800 of 4,500 seconds
    assert row["cost_usd"] == pytest.approx(Decimal(4))
    assert row["unpriced_request_count"] == 0


def test_a_failed_request_wastes_its_part_of_a_commitment(book: Book) -> None:
    row = one(book, "mart_waste", model_id="claude-haiku-4-5", waste_kind="failed")

    # 24 USD were used; 1,800 of 1,200 + 1,800 tokens
    assert row["cost_usd"] == pytest.approx(Decimal("14.4"))


def test_a_cut_off_answer_pays_the_electricity_that_the_bill_leaves_out(book: Book) -> None:
    row = one(book, "mart_waste", model_id="Qwen/Qwen3-32B", waste_kind="truncated")

    # a third of 60 USD, and its own electricity at 0.10 USD per kWh
    assert float(row["cost_usd"]) == pytest.approx(20 + 0.1 * row["facility_energy_kwh"], abs=1e-8)


def test_agents_on_own_servers_have_their_part_of_the_bill(book: Book) -> None:
    states = {
        state: one(book, "mart_agentic", model_id=LLAMA, cache_state=state)["hosting_cost_usd"]
        for state in ("uncached", "as_cached", "fully_cached")
    }

    # 450 of 4,500 seconds
    assert states == {"uncached": None, "as_cached": 1, "fully_cached": None}


def test_days_waste_and_agents_pay_what_a_region_costs_more(book: Book) -> None:
    opus = {"model_id": "claude-opus-4-8"}
    costs = (
        one(book, "mart_waste", **opus)["cost_usd"],
        one(book, "mart_agentic", **opus, cache_state="as_cached")["list_cost_usd"],
        one(book, "int_days", **opus)["cost_usd"],
    )

    # 900 at 5.5 and 300 at 27.5 USD a million
    assert costs == (Decimal("0.0132"),) * 3


def test_a_class_that_an_own_server_served_costs_there_what_it_paid(book: Book) -> None:
    row = one(book, "mart_model_comparison", model_id=LLAMA, provider="vllm", query_class="rag")

    assert (row["cost_usd"], row["hosting_cost_usd"], row["cost_source"]) == (1, 1, "hosting")
    assert (row["list_cost_usd"], row["cost_usd_per_task"]) == (None, 1)


def test_requests_of_others_cost_an_own_server_what_a_joule_of_its_own_paid(book: Book) -> None:
    row = one(book, "mart_model_comparison", model_id=LLAMA, provider="vllm", query_class="chat")
    energy = {
        each["query_class"]: each["gpu_energy_j"]
        for each in rows_of(book, "select * from int_class_energy where provider = 'vllm'")
        if each["model_id"] == LLAMA
    }

    # it served 2 of 9 chats, all but one of a length: 10 USD over the joules of its four requests
    joule_usd = 10 / (energy["chat"] + energy["agentic"] + energy["rag"])
    moved_j = row["gpu_energy_j"] - energy["chat"]
    assert moved_j > 3 * energy["chat"]
    assert float(row["cost_usd"]) == pytest.approx(8 + joule_usd * moved_j)
    assert row["reason"] is None


def test_that_cost_has_the_range_of_the_joules_and_what_it_served_has_none(book: Book) -> None:
    row = one(book, "mart_model_comparison", model_id=LLAMA, provider="vllm", query_class="chat")
    # in each world the same 10 USD over that world's joules, times what others' chats take in it
    [worlds] = rows_of(
        book,
        f"""
        with own as (
            select draw, sum(gpu_energy_j) as all_j,
                sum(case when query_class = 'chat' then gpu_energy_j end) as chat_j
            from int_class_draws
            where provider = 'vllm' and model_id = '{LLAMA}' group by draw
        )
        select quantile_cont(8 + 10 / all_j * (moved.gpu_energy_j - chat_j), 0.05) as low,
            quantile_cont(8 + 10 / all_j * (moved.gpu_energy_j - chat_j), 0.95) as high
        from own inner join int_replay_draws as moved using (draw)
        where scope = 'all' and provider = 'vllm' and model_id = '{LLAMA}'
            and query_class = 'chat'
        """,
    )

    low, high = float(row["cost_low_usd"]), float(row["cost_high_usd"])
    assert low == pytest.approx(min(worlds["low"], float(row["cost_usd"])), rel=1e-9)
    assert high == pytest.approx(max(worlds["high"], float(row["cost_usd"])), rel=1e-9)
    assert low < high
    tasks = float(row["cost_usd"]) / row["cost_usd_per_task"]
    assert row["cost_low_usd_per_task"] == pytest.approx(low / tasks)
    rag = one(book, "mart_model_comparison", model_id=LLAMA, provider="vllm", query_class="rag")
    assert rag["cost_low_usd"] == rag["cost_usd"] == rag["cost_high_usd"] == 1
    mini = one(book, "mart_model_comparison", model_id="gpt-5-mini", query_class="chat")
    assert mini["cost_low_usd"] == mini["cost_usd"] == mini["cost_high_usd"]  # prices are exact


def test_an_own_server_stands_on_the_front_where_nothing_is_cheaper_and_leaner(book: Book) -> None:
    lines = rows_of(book, "select * from mart_model_comparison where query_class = 'chat'")
    known = [row for row in lines if row["cost_usd"] is not None and row["gpu_energy_j"]]

    assert {row["cost_source"] for row in known} == {"list", "hosting"}
    for row in known:
        beaten = any(
            other["cost_usd"] <= row["cost_usd"]
            and other["gpu_energy_j"] <= row["gpu_energy_j"]
            and (other["cost_usd"], other["gpu_energy_j"]) != (row["cost_usd"], row["gpu_energy_j"])
            for other in known
        )
        assert row["is_on_front"] is not beaten


def test_a_kilowatt_hour_was_sold_for_cost_over_electricity(book: Book) -> None:
    row = one(book, "mart_implied_batch", model_id="claude-haiku-4-5")
    [cell] = rows_of(book, "select * from mart_cost_per_task where model_id = 'claude-haiku-4-5'")

    # 24 USD of the commitment and one bill
    assert cell["cost_usd"] == Decimal("24.25")
    for name, end in (("", ""), ("low_", "high_"), ("high_", "low_")):
        assert row[f"cost_{name}usd_per_kwh"] == pytest.approx(
            24.25 / cell[f"facility_energy_{end}kwh"]
        )


def test_lines_are_ranked_only_where_their_ranges_do_not_overlap(book: Book) -> None:
    lines = [
        row
        for row in rows_of(book, "select * from mart_implied_batch")
        if row["cost_usd_per_kwh"] is not None
    ]

    for row in lines:
        low, high = row["cost_low_usd_per_kwh"], row["cost_high_usd_per_kwh"]
        assert row["surely_cheaper_count"] == sum(
            other["cost_high_usd_per_kwh"] < low for other in lines
        )
        assert row["surely_dearer_count"] == sum(
            other["cost_low_usd_per_kwh"] > high for other in lines
        )
    # a GPU hour that waited for one request a quarter costs thousands of USD a kilowatt-hour
    assert max(row["surely_cheaper_count"] for row in lines) > 0
    assert one(book, "mart_implied_batch", model_id="acme-1")["surely_dearer_count"] is None
