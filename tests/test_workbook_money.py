"""The workbook's money follows contracts, commitments, bills and GPU bills as the pipeline does."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book
from live_book import FACTS, MONTH
from overlay_files import overlay_folder
from recalculation import Cells, dearer, differences, opened, recalculated_each, stored

from pipeline import warehouse
from pipeline.frames.book import book_data
from pipeline.frames.sections import frames
from pipeline.job import write_report
from pipeline.report import workbook
from pipeline.report.assemble import build_report
from pipeline.report.section import Report
from pipeline.report.workbook.data import BookData, cost_table, numbers_of
from pipeline.report.workbook.table import DataTable
from pipeline.settings import Settings

pytestmark = pytest.mark.slow  # the report that all of these read takes 5 s

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "query_class": "chat"}
GPT = {"provider": "azure", "model_name": "gpt-4o", "query_class": "chat"}
MINI = {"provider": "openai", "model_name": "gpt-5-mini", "query_class": "chat"}
QWEN = {"provider": "vllm", "model_name": "Qwen/Qwen3-32B", "query_class": "chat"}
MILLION = {"input_tokens": 1_000_000, "output_tokens": 0, "request_count": 10}
ROWS: list[dict[str, Any]] = [
    *({**SONNET, **MILLION, "team": "a", "project": each} for each in ("x", "y", None)),
    {**SONNET, **MILLION, "team": "b", "billed_cost_usd": "2.00"},
    *({**GPT, **MILLION, "team": team} for team in ("a", "b")),
    {**MINI, **MILLION, "team": "b"},
    {**MINI, **MILLION, "team": "b", "service_tier": "batch"},
    *({**QWEN, "input_tokens": n, "output_tokens": 300, "team": "a"} for n in (900, 4_000)),
    {"charge_kind": "web_search", "provider": "anthropic", "billed_cost_usd": "0.5"},
]
TABLES = {
    "contract_rates": ["anthropic,claude-sonnet-4-5,*,,,2026-10-01,2026-11-01,,0.1"],
    "commitments": ["2026-10,azure,gpt-4o,744,1,40.00,0.5"],
    "hosting_costs": ["2026-10,Qwen/Qwen3-32B,H200-SXM,2,744,4612.80,false"],
    "discounts_credits": ["2026-10,anthropic,,,volume discount,-0.25"],
    "taxes": ["2026-10,anthropic,,0.21,VAT"],
}


@pytest.fixture(scope="module")
def both(
    book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Report, BookData]:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", TABLES)
    settings = Settings(overlay_folder=folder)
    con = book_of(ROWS, settings=settings)
    checks = warehouse.run_checks(con)
    issued = tmp_path_factory.mktemp("reports") / MONTH
    write_report(con, settings, MONTH, checks, issued, lambda _: None)
    report = build_report(frames(con, checks), MONTH, FACTS)
    return report, book_data(con, MONTH, issued)


@pytest.fixture(scope="module")
def table(both: tuple[Report, BookData]) -> DataTable:
    return cost_table(both[1], numbers_of(both[1]))


@pytest.fixture(scope="module")
def book(both: tuple[Report, BookData]) -> bytes:
    return workbook.render(*both)


@pytest.fixture(scope="module")
def recalculated(
    both: tuple[Report, BookData], book: bytes, tmp_path_factory: pytest.TempPathFactory
) -> list[Cells]:
    """What an office program computes: as built, at twice the tariff, at dearer list prices."""
    cases: list[dict[str, float | str]] = [
        {},
        {"in_electricity_usd_per_kwh": 2 * tariff_of(both[1])},
        dearer(book, "uncached_input_usd_per_mtok"),
    ]
    return recalculated_each(book, tmp_path_factory.mktemp("recalculated"), cases)


def tariff_of(data: BookData) -> float:
    return next(
        float(row["value"])
        for row in data.frame("assumptions").rows(named=True)
        if row["assumption"] == "electricity_usd_per_kwh"
    )


def cost_cell(book: bytes) -> tuple[str, str]:
    """Return where the month's cost stands in the summary."""
    labels = opened(book)["Summary"]["A"]
    return "Summary", next(c.offset(0, 1).coordinate for c in labels if c.value == "Cost")


def costs(table: DataTable, model: str) -> list[tuple[Any, Any]]:
    """Return source and cost of each row of a model, most expensive first."""
    columns = {column.name: column.values for column in table.columns}
    found: list[tuple[Any, Any]] = [
        (source, None if cost is None else float(cost))
        for name, source, cost in zip(
            *(columns[each] for each in ("model_id", "cost_source", "cost_usd")), strict=True
        )
        if name == model
    ]
    return sorted(found, key=lambda each: -(each[1] or 0))


def test_each_source_has_rows_of_its_own(table: DataTable) -> None:
    # three projects at 3.00 USD a million tokens less 10 %, one million as billed
    assert costs(table, "claude-sonnet-4-5") == [
        ("effective", pytest.approx(8.1)),
        ("billed", pytest.approx(2.0)),
    ]
    # half of 40 USD, shared by equal tokens
    assert costs(table, "gpt-4o") == [("effective", pytest.approx(10.0))] * 2


def test_projects_and_service_tiers_do_not_double_money(
    both: tuple[Report, BookData], table: DataTable
) -> None:
    summary = next(section for section in both[0].sections if section.name == "summary")
    cost = next(figure for figure in summary.key_figures if figure.label == "Cost")
    total = sum(float(value) for value in _column(table, "cost_usd") if value is not None)

    assert total == pytest.approx(float(cost.value), abs=0.005)  # type: ignore[arg-type]


def test_the_files_beside_the_workbook_hold_its_cost_to_the_cent(
    both: tuple[Report, BookData], table: DataTable
) -> None:
    total = sum(float(value) for value in _column(table, "cost_usd") if value is not None)
    issued = both[1].issued_usd

    assert sorted(issued) == [
        "data/mart_cost_per_task.parquet",
        "data/mart_month_total.parquet",
        "data/mart_project_chargeback.parquet",
        "data/mart_team_chargeback.parquet",
        "requests in focus.csv",
    ]
    assert [round(float(value) - total, 2) for value in issued.values()] == [0.0] * 5


def test_every_formula_of_money_gives_the_value_that_is_stored(
    book: bytes, recalculated: list[Cells]
) -> None:
    assert differences(stored(book), recalculated[0]) == []


def test_the_electricity_beside_a_gpu_bill_follows_the_tariff(
    both: tuple[Report, BookData], table: DataTable, book: bytes, recalculated: list[Cells]
) -> None:
    # The bill of the machines leaves their electricity out: kWh × tariff stands beside it. At twice
    # the tariff it costs twice as much, and the month that much more; the bill itself stays.
    tariff = tariff_of(both[1])
    beside = sum(float(value) for value in _column(table, "hosting_energy_cost_usd") if value)
    energies_j = [
        float(joules)
        for joules, value in zip(
            _column(table, "gpu_energy_j"), _column(table, "hosting_energy_cost_usd"), strict=True
        )
        if value
    ]
    ratio = math.prod(
        float(row["value"])
        for row in both[1].frame("assumptions").rows(named=True)
        if row["assumption"] in ("host_ratio", "idle_ratio", "pue_ratio")
    )
    cost = cost_cell(book)

    assert beside == pytest.approx(sum(energies_j) * ratio / 3_600_000 * tariff, abs=2e-9)
    assert recalculated[1][cost] - stored(book)[cost] == pytest.approx(beside, rel=1e-6)


def test_a_list_price_moves_no_contract_and_no_bill(book: bytes, recalculated: list[Cells]) -> None:
    # 10 USD a million more on list prices: one million of gpt-5-mini is paid by them; its other
    # million is of a tier without a price
    cost = cost_cell(book)

    assert recalculated[2][cost] - stored(book)[cost] == pytest.approx(10.0)


def _column(table: DataTable, name: str) -> list[Any]:
    return list(next(column for column in table.columns if column.name == name).values)
