"""A GPU bill is shared by time on the GPUs, to the last digit; hours without a request are idle."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Book, Rows, rows_of
from overlay_files import overlay_folder

from pipeline import warehouse
from pipeline.settings import Settings

LLAMA = "meta-llama/Llama-3.1-8B"
QWEN = "Qwen/Qwen3-32B"
LENGTHS = {"input_tokens": 900, "output_tokens": 300, "provider": "vllm"}


def at(clock: str, **cells: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"occurred_at": f"2026-10-05T{clock}Z", **LENGTHS, **cells}


# Llama: 10:00:00 to 10:30:00 and 10:15:00 to 10:45:00 overlap, 12:00:00 to 12:15:00 stands alone:
# 45 + 15 minutes are one busy hour of the ten billed; the latencies are 30 + 30 + 15 minutes.
TIMED = [
    at("10:00:00", team="a", query_class="chat", latency_s=1_800),
    at("10:15:00", team="b", query_class="chat", latency_s=1_800),
    at("12:00:00", team="b", query_class="rag", latency_s=900),
]
# Qwen: one of two requests has no latency, so its bill goes by energy.
UNTIMED = [
    at("10:00:00", model_name=QWEN, team="a", query_class="chat", latency_s=5),
    at("10:00:00", model_name=QWEN, team="b", query_class="chat"),
]
STRANGE = [
    {**at("10:00:00", team=team), "model_name": "acme-1", "input_tokens": tokens}
    for team, tokens in (("a", 100), ("b", 700))
]
BILLS = [
    f"2026-10,{LLAMA},H100-SXM,2,10,100.00,true",
    "2026-10,qwen/qwen3-32b,H200-SXM,1,10,60.00,false",
    "2026-10,ACME-1,H100-SXM,1,10,14.00,true",
    "2026-10,openai/gpt-oss-120b,H100-SXM,1,10,7.77,true",
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", {"hosting_costs": BILLS})
    return book_of([*TIMED, *UNTIMED, *STRANGE], settings=Settings(overlay_folder=folder))


def hosting(book: Book, model_id: str) -> dict[str, Any]:
    [row] = [
        row for row in rows_of(book, "select * from int_hosting") if row["model_id"] == model_id
    ]
    return row


def shares(book: Book, model_id: str) -> dict[tuple[str, str], Decimal]:
    rows = rows_of(book, "select * from int_group_costs")
    return {
        (row["team"], row["query_class"]): row["hosting_cost_usd"]
        for row in rows
        if row["model_id"] == model_id
    }


def test_requests_that_overlap_keep_a_gpu_busy_once(book: Book) -> None:
    assert hosting(book, LLAMA)["busy_hours"] == pytest.approx(1.0)


def test_hours_without_a_request_are_idle(book: Book) -> None:
    # one busy hour of 2 GPUs in 20 GPU hours for 100 USD: a tenth is used
    row = hosting(book, LLAMA)

    assert (row["gpu_hours"], row["used_usd"], row["idle_usd"]) == (20, 10, 90)


def test_with_every_latency_known_the_bill_goes_by_time_on_the_gpus(book: Book) -> None:
    # 10 USD by 1,800 : 1,800 : 900 seconds
    assert hosting(book, LLAMA)["share_basis"] == "latency"
    assert shares(book, LLAMA) == {("a", "chat"): 4, ("b", "chat"): 4, ("b", "rag"): 2}


def test_where_one_latency_is_missing_the_law_shares_all_of_the_bill(book: Book) -> None:
    # two equal requests take equal energy; the busy time is unknown, so nothing is idle
    row = hosting(book, QWEN)

    assert (row["share_basis"], row["busy_hours"], row["idle_usd"]) == ("energy", None, 0)
    assert shares(book, QWEN) == {("a", "chat"): 30, ("b", "chat"): 30}


def test_a_model_without_energy_goes_by_its_tokens(book: Book) -> None:
    # 100 + 300 and 700 + 300 of 1,400 tokens share 14 USD
    assert hosting(book, "acme-1")["share_basis"] == "tokens"
    assert sorted(shares(book, "acme-1").values()) == [4, 10]


def test_a_bill_without_a_request_is_idle_in_whole(book: Book) -> None:
    row = hosting(book, "openai/gpt-oss-120b")

    assert (row["used_usd"], row["idle_usd"]) == (0, Decimal("7.77"))


def test_used_and_idle_add_up_to_the_bill_to_the_last_digit(book: Book) -> None:
    [totals] = rows_of(
        book,
        "select (select sum(hosting_cost_usd) from int_group_costs) as used_usd, "
        "(select sum(cost_usd) from mart_cost_lines where line_kind = 'idle GPUs') as idle_usd",
    )

    assert totals["used_usd"] + totals["idle_usd"] == Decimal("181.77")


def test_the_cost_of_an_own_server_is_its_share_of_the_bill(book: Book) -> None:
    [row] = [
        row
        for row in rows_of(book, "select * from mart_cost_per_task")
        if (row["model_id"], row["query_class"]) == (LLAMA, "chat")
    ]

    assert (row["cost_usd"], row["cost_source"]) == (8, "hosting")
    assert (row["unpriced_request_count"], row["no_gpu_bill_request_count"]) == (0, 0)
    assert row["hosting_energy_cost_usd"] is None


def test_electricity_is_added_only_where_the_bill_leaves_it_out(book: Book) -> None:
    [row] = [
        row for row in rows_of(book, "select * from mart_cost_per_task") if row["model_id"] == QWEN
    ]

    # at 0.10 USD per kWh, beside the 60 USD of the bill
    added = Decimal(row["facility_energy_kwh"]) / 10
    assert float(row["hosting_energy_cost_usd"]) == pytest.approx(float(added), abs=2e-9)
    assert row["cost_usd"] == 60 + row["hosting_energy_cost_usd"]


def test_the_teams_of_a_deployment_pay_the_whole_used_part(book: Book) -> None:
    teams = rows_of(book, "select team, hosting_cost_usd from mart_team_chargeback order by 1")

    # a: 4 + 30 + 4, b: 4 + 2 + 30 + 10
    assert [row["hosting_cost_usd"] for row in teams] == [38, 46]


def test_idle_hours_that_are_not_known_are_said_so(book: Book) -> None:
    lines = rows_of(book, "select model_id, description from mart_cost_lines order by 1")

    assert {row["model_id"]: row["description"] for row in lines} == {
        QWEN: "busy time not known: all is shared out",
        "acme-1": "busy time not known: all is shared out",
        LLAMA: "hours without any request",
        "openai/gpt-oss-120b": "no request in the month",
    }


def test_no_check_is_broken_but_that_a_bill_meets_no_request(book: Book) -> None:
    broken = {r.name for r in warehouse.run_checks(book) if r.status != "pass"}

    assert broken == {"every_model_is_in_the_catalog", "every_overlay_row_meets_its_usage"}


@pytest.mark.parametrize("parts", [3, 7, 11])
def test_shares_that_do_not_go_into_a_bill_still_add_up_to_it(
    build: Callable[..., Book], log: Callable[..., Path], tmp_path: Path, parts: int
) -> None:
    rows: Rows = [
        at("10:00:00", team=f"t{number}", query_class="chat", latency_s=1 + number)
        for number in range(parts)
    ]
    folder = overlay_folder(
        tmp_path / "o", {"hosting_costs": [f"2026-10,{LLAMA},H100-SXM,1,0.0001,0.01,true"]}
    )

    book = build(log(rows), settings=Settings(overlay_folder=folder))

    # 0.01 USD by 1 : 2 : … : parts, each off by less than a billionth
    whole = sum(range(1, parts + 1))
    costs = rows_of(book, "select team, hosting_cost_usd from int_group_costs")
    assert sum(row["hosting_cost_usd"] for row in costs) == Decimal("0.01")
    for row in costs:
        exact = Decimal("0.01") * (int(row["team"][1:]) + 1) / whole
        assert abs(row["hosting_cost_usd"] - exact) <= Decimal("0.000000001")
