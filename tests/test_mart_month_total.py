"""A month's total: tasks counted once, sums exact, ranges of all its classes drawn together."""

import statistics
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline.settings import Deployment, Settings

LLAMA, LARGE = "meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B"
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
EXAMPLE = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat", "team": "ops"}
AUGUST, SEPTEMBER, NOVEMBER, DECEMBER = (
    f"2026-{number:02d}-05T10:00:00Z" for number in (8, 9, 11, 12)
)
ROWS: Rows = [
    # a task that an agent solved with two models, in two classes, for two teams
    {**EXAMPLE, "task_id": "t1", "is_solved": False},
    {**EXAMPLE, **SONNET, "task_id": "t1", "query_class": "rag", "is_solved": True},
    {**EXAMPLE, "task_id": "t1", "query_class": "rag", "team": "web"},
    {**EXAMPLE, "task_id": "t2", "model_name": LARGE},
    {**EXAMPLE, **SONNET},
    {**EXAMPLE, "model_name": "acme-1"},
    # a month of one class, one of nothing known, one of nothing done, one of a month before
    {**EXAMPLE, "occurred_at": NOVEMBER},
    {**EXAMPLE, "occurred_at": NOVEMBER, "output_tokens": 77},
    {**EXAMPLE, "occurred_at": DECEMBER, "model_name": "acme-1"},
    {**EXAMPLE, "occurred_at": SEPTEMBER, "input_tokens": 0, "output_tokens": 0},
    # of the energy of August Sonnet, of grade D, takes little: Llama-3.1-70B is of grade B
    *({**EXAMPLE, "occurred_at": AUGUST, "model_name": LARGE} for _ in range(60)),
    {**EXAMPLE, **SONNET, "occurred_at": AUGUST, "input_tokens": 9, "output_tokens": 3},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, settings=Settings(deployments=(Deployment(LARGE, batch=2),)))


def total(
    book: Book, kind: str = "month", of: str = "all", month: str = "2026-10"
) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from mart_month_total")
        if (row["month"], row["total_kind"], row["total_of"]) == (month, kind, of)
    ]
    return row


def cells(book: Book, month: str = "2026-10") -> Rows:
    return rows_of(book, f"select * from mart_cost_per_task where month = '{month}'")


@pytest.mark.parametrize(
    ("kind", "of", "tasks", "solved", "unknown"),
    [
        # t1, t2, and two requests that are tasks of their own
        ("month", "all", 4, 1, 3),
        ("model", LLAMA, 1, 0, 0),
        ("model", "claude-sonnet-4-5", 2, 1, 1),
        ("query_class", "rag", 1, 1, 0),
        ("query_class", "chat", 4, 0, 3),
        ("provider", "self-hosted", 3, 0, 2),
    ],
)
def test_a_task_of_several_models_and_classes_counts_once(
    book: Book, kind: str, of: str, tasks: int, solved: int, unknown: int
) -> None:
    row = total(book, kind, of)

    assert row["task_count"] == tasks
    assert (row["solved_task_count"], row["unknown_outcome_task_count"]) == (solved, unknown)


def test_a_month_is_the_sum_of_its_cells(book: Book) -> None:
    row = total(book)

    for name in ("request_count", "output_tokens", "unmeasured_request_count"):
        assert row[name] == sum(cell[name] for cell in cells(book))
    # 2 · (900 · 3 + 300 · 15) dollars per million
    assert row["cost_usd"] == Decimal("0.0144")
    assert row["gpu_energy_j"] == pytest.approx(
        sum(cell["gpu_energy_j"] or 0 for cell in cells(book)), rel=1e-12
    )
    assert row["carbon_gco2e"] == pytest.approx(473 * row["facility_energy_kwh"])


@pytest.mark.parametrize("kind", ["model", "provider", "query_class"])
def test_each_kind_of_total_holds_the_whole_month(book: Book, kind: str) -> None:
    rows = [
        row
        for row in rows_of(book, "select * from mart_month_total where month = '2026-10'")
        if row["total_kind"] == kind
    ]

    assert sum(row["request_count"] for row in rows) == 6
    assert sum(row["cost_usd"] or 0 for row in rows) == Decimal("0.0144")


def test_the_total_of_one_class_has_its_range_to_the_last_digit(book: Book) -> None:
    [cell] = cells(book, "2026-11")
    row = total(book, month="2026-11")

    for name in (
        *("energy_low_j", "energy_high_j", "facility_energy_low_kwh", "facility_energy_high_kwh"),
        *("gpu_energy_j", "facility_energy_kwh", "carbon_low_gco2e", "carbon_high_gco2e"),
    ):
        assert row[name] == cell[name], name


def test_a_team_that_did_it_all_has_the_range_of_the_class_to_the_last_digit(book: Book) -> None:
    [cell] = cells(book, "2026-11")
    [team] = rows_of(book, "select * from mart_team_chargeback where month = '2026-11'")

    for end in ("low", "high"):
        name = f"facility_energy_{end}_kwh"
        assert team[name] == cell[name]


def test_the_range_of_a_month_is_that_of_its_summed_draws(book: Book) -> None:
    row = total(book)
    worlds: dict[int, float] = {}
    for draw in rows_of(book, "select * from int_class_draws where month = '2026-10'"):
        worlds[draw["draw"]] = worlds.get(draw["draw"], 0) + draw["facility_energy_kwh"]
    twentieths = statistics.quantiles(worlds.values(), n=20, method="inclusive")

    assert len(worlds) == 256
    assert row["facility_energy_low_kwh"] == pytest.approx(twentieths[0], rel=1e-12)
    assert row["facility_energy_p50_kwh"] == pytest.approx(twentieths[9], rel=1e-12)
    assert row["facility_energy_high_kwh"] == pytest.approx(twentieths[-1], rel=1e-12)


def test_a_team_shares_every_world_of_a_class_by_its_share_of_the_energy(book: Book) -> None:
    shares = rows_of(book, "select * from int_team_energy where month = '2026-10'")
    drawn = {
        (row["model_id"], row["query_class"]): row["facility_energy_kwh"]
        for row in rows_of(
            book, "select * from int_class_draws where month = '2026-10' and draw = 17"
        )
    }
    [ops] = rows_of(
        book,
        "select * from int_team_draws where month = '2026-10' and team = 'ops' and draw = 17",
    )

    # of the rags, Sonnet's are all of ops and Llama's all of web
    own = [row for row in shares if row["team"] == "ops" and row["energy_frac"] is not None]
    assert len(own) == 4
    assert ops["facility_energy_kwh"] == pytest.approx(
        sum(row["energy_frac"] * drawn[row["model_id"], row["query_class"]] for row in own),
        rel=1e-12,
    )


def test_a_month_without_any_energy_has_no_range_and_grade_u(book: Book) -> None:
    row = total(book, month="2026-12")

    assert (row["gpu_energy_j"], row["energy_low_j"], row["energy_high_j"]) == (None, None, None)
    assert (row["evidence_grade"], row["unmeasured_request_count"]) == ("U", 1)


def test_a_month_of_requests_without_work_took_nothing_for_sure(book: Book) -> None:
    row = total(book, month="2026-09")

    assert (row["gpu_energy_j"], row["energy_low_j"], row["energy_high_j"]) == (0, 0, 0)


def test_a_total_has_the_worst_grade_that_carries_5_percent_of_its_energy(book: Book) -> None:
    assert {cell["evidence_grade"] for cell in cells(book, "2026-08")} == {"B", "D"}
    assert total(book, month="2026-08")["evidence_grade"] == "B"
    assert total(book)["evidence_grade"] == "D"
