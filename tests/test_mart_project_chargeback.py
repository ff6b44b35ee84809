"""Projects have their own cost and energy within a team, and add up to it."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import EXAMPLE_GPU_J, Book, Rows, rows_of

from pipeline import warehouse
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

GPT = {"provider": "openai", "model_name": "gpt-4o", "query_class": "chat"}
LLAMA = {"provider": "vllm", "query_class": "chat"}
ROWS: Rows = [
    # gpt-4o at 2.50 and 10 USD per million
    {**GPT, "team": "a", "project": "p", "input_tokens": 1_000, "output_tokens": 100},
    {**GPT, "team": "a", "project": "q", "input_tokens": 3_000, "output_tokens": 300},
    {**GPT, "team": "a", "input_tokens": 1_000, "output_tokens": 0, "billed_cost_usd": "0.5"},
    {**GPT, "team": "b", "project": "p", "input_tokens": 2_000, "output_tokens": 0},
    {**GPT, "project": "p", "input_tokens": 4_000, "output_tokens": 0},
    {**LLAMA, "team": "a", "project": "p", "input_tokens": 900, "output_tokens": 300},
    {**LLAMA, "team": "a", "input_tokens": 900, "output_tokens": 300},
    {
        "provider": "acme",
        "model_name": "acme-1",
        "team": "b",
        "input_tokens": 9,
        "output_tokens": 3,
    },
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, assumes=[{"batch": "1"}])


def costs(book: Book) -> dict[tuple[str | None, str | None], Decimal | None]:
    rows = rows_of(book, "select * from mart_project_chargeback")
    return {(row["team"], row["project"]): row["cost_usd"] for row in rows}


def test_a_project_pays_for_its_own_tokens_in_each_team(book: Book) -> None:
    assert costs(book) == {
        ("a", "p"): Decimal("0.0035"),  # 1,000 · 2.50 + 100 · 10 = 3,500 per million
        ("a", "q"): Decimal("0.0105"),
        ("a", None): Decimal("0.5"),
        ("b", "p"): Decimal("0.005"),
        ("b", None): None,
        (None, "p"): Decimal("0.01"),
    }


def test_a_project_has_the_energy_of_its_own_requests(book: Book) -> None:
    [row] = rows_of(
        book,
        "select sum(gpu_energy_j) as energy_j from int_team_energy "
        "where project = 'p' and provider = 'vllm'",
    )

    assert row["energy_j"] == pytest.approx(EXAMPLE_GPU_J, rel=1e-6)


def test_a_project_has_its_share_of_its_classes_in_every_world(book: Book) -> None:
    # Team b's project p used a quarter of GPT alone, so its range is a part of that class's.
    rows = rows_of(
        book,
        "select project.facility_energy_low_kwh / cells.facility_energy_low_kwh as low, "
        "project.facility_energy_high_kwh / cells.facility_energy_high_kwh as high, "
        "project.facility_energy_kwh / cells.facility_energy_kwh as value, "
        "project.evidence_grade, project.coefficient_set_id, project.batch "
        "from mart_project_chargeback as project, mart_cost_per_task as cells "
        "where team = 'b' and project = 'p' and cells.model_id = 'gpt-4o'",
    )

    [row] = rows
    assert row["low"] == pytest.approx(row["value"], rel=1e-6)
    assert row["high"] == pytest.approx(row["value"], rel=1e-6)
    assert (row["evidence_grade"], row["batch"]) == ("D", 1)
    assert row["coefficient_set_id"] == "h100-sxm-vllm-1"


def test_what_has_no_price_and_no_energy_is_counted(book: Book) -> None:
    [row] = rows_of(
        book,
        "select unpriced_request_count, unmeasured_request_count, gpu_energy_j "
        "from mart_project_chargeback where team = 'b' and project is null",
    )

    assert tuple(row.values()) == (1, 1, None)


def test_projects_add_up_to_their_teams(book: Book) -> None:
    failed = [check.name for check in warehouse.run_checks(book) if check.status == "fail"]

    assert failed == []


def test_a_mapped_project_moves_money_between_projects_and_no_sum(
    book: Book, book_of: Callable[..., Book], tmp_path: Path
) -> None:
    (tmp_path / "attribution.csv").write_text(
        "logged_project,provider,project\np,openai,one\nq,openai,one\n", encoding="utf-8"
    )
    mapped = book_of(ROWS, assumes=[{"batch": "1"}], settings=Settings(overlay_folder=tmp_path))

    assert costs(mapped)["a", "one"] == Decimal("0.014")  # 0.0035 + 0.0105
    total = "select sum(cost_usd) as cost_usd from mart_project_chargeback"
    assert rows_of(mapped, total) == rows_of(book, total)
