"""Each team has its cost, energy and grade; all teams together are all the usage."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, made_from, rows_of

from pipeline import warehouse

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
EXAMPLE = {"input_tokens": 900, "output_tokens": 300}
NOVEMBER, DECEMBER = "2026-11-05T10:00:00Z", "2026-12-05T10:00:00Z"
ROWS = [
    {**SONNET, "team": "ops", "input_tokens": 1_000, "output_tokens": 100, "task_id": "t1"},
    {**SONNET, "team": "ops", "input_tokens": 1_000, "output_tokens": 100, "task_id": "t1"},
    {"team": "ops", **EXAMPLE},
    {**SONNET, "team": "web", "input_tokens": 500, "output_tokens": 50, "billed_cost_usd": "0.001"},
    {**SONNET, "input_tokens": 1_000, "output_tokens": 0},
    {"team": "lost", "provider": "openai", "model_name": "acme-1", **EXAMPLE},
    {"occurred_at": NOVEMBER, "team": "free", **EXAMPLE, "billed_cost_usd": "0"},
    # small requests whose joules, cut to nine decimals, would not add up to those of the class
    {"occurred_at": DECEMBER, "team": "a", "input_tokens": 12, "output_tokens": 0},
    {"occurred_at": DECEMBER, "team": "b", "input_tokens": 26, "output_tokens": 0},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS)


def charged(book: Book, team: str | None, month: str = "2026-10") -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from mart_team_chargeback")
        if (row["month"], row["team"]) == (month, team)
    ]
    return row


def test_a_team_pays_for_its_own_tokens(book: Book) -> None:
    # 2 · (1,000 · 3 + 100 · 15) = 9,000 dollars per million
    assert charged(book, "ops")["cost_usd"] == Decimal("0.009")


def test_usage_without_a_team_has_a_row_of_its_own(book: Book) -> None:
    assert charged(book, None)["cost_usd"] == Decimal("0.003")


def test_a_bill_is_charged_as_billed(book: Book) -> None:
    row = charged(book, "web")

    # 500 · 3 + 50 · 15 = 2,250
    assert (row["cost_usd"], row["list_cost_usd"]) == (Decimal("0.001"), Decimal("0.00225"))


def test_requests_of_one_task_are_one_task(book: Book) -> None:
    row = charged(book, "ops")

    assert (row["request_count"], row["task_count"]) == (3, 2)


def test_the_shares_of_cost_are_of_what_is_priced(book: Book) -> None:
    # 0.009 + 0.001 + 0.003
    assert charged(book, "ops")["cost_frac"] == pytest.approx(9 / 13)


def test_of_a_month_that_cost_nothing_there_are_no_shares(book: Book) -> None:
    row = charged(book, "free", "2026-11")

    assert (row["cost_usd"], row["cost_frac"]) == (0, None)


def test_what_cannot_be_priced_or_measured_is_unknown_and_counted(book: Book) -> None:
    row = charged(book, "lost")

    assert (row["cost_usd"], row["gpu_energy_j"], row["evidence_grade"]) == (None, None, "U")
    assert (row["unpriced_request_count"], row["unmeasured_request_count"]) == (1, 1)


def test_the_teams_add_up_to_the_classes(book: Book) -> None:
    columns = "month, sum(request_count), sum(cost_usd), sum(unpriced_request_count)"
    teams = book.execute(f"select {columns} from mart_team_chargeback group by month order by 1")
    by_team = teams.fetchall()
    classes = book.execute(f"select {columns} from mart_cost_per_task group by month order by 1")

    assert by_team == classes.fetchall()


def test_the_energies_of_the_teams_add_up_to_those_of_the_classes(book: Book) -> None:
    columns = "month, sum(gpu_energy_j) as energy_j, sum(carbon_gco2e) as carbon_gco2e"
    teams = rows_of(book, f"select {columns} from mart_team_chargeback group by month order by 1")
    classes = rows_of(book, f"select {columns} from mart_cost_per_task group by month order by 1")

    assert [row["energy_j"] for row in teams] == [
        pytest.approx(row["energy_j"], rel=1e-12) for row in classes
    ]
    assert [row["carbon_gco2e"] for row in teams] == [
        pytest.approx(row["carbon_gco2e"], rel=1e-9) for row in classes
    ]


def test_joules_too_small_to_round_still_add_up(book: Book) -> None:
    [check] = [
        result for result in warehouse.run_checks(book) if result.name == "teams_add_up_to_classes"
    ]

    assert check.rows == ()


@pytest.mark.parametrize(("grade_c_j", "grade"), [(4.999, "A"), (5.0, "C")])
def test_a_worse_grade_counts_from_5_percent_of_the_energy(grade_c_j: float, grade: str) -> None:
    key = "select 'm' as month, 't' as team"
    energies = " union all ".join(
        f"{key}, '{each}' as evidence_grade, {energy_j}::double as gpu_energy_j, "
        "0 as unmeasured_request_count, 1.0 as facility_ratio, 473.0 as carbon_gco2e_per_kwh, "
        f"0.1 as electricity_usd_per_kwh, 'set {each}' as coefficient_set_id, "
        f"{batch}::double as batch, 300 as passes"
        for each, energy_j, batch in (("C", grade_c_j, 16), ("A", 100 - grade_c_j, 48))
    )
    [row] = made_from(
        "mart_team_chargeback",
        int_team_energy=energies,
        int_team_draws=f"{key}, 1 as draw, 1.0::double as facility_energy_kwh",
        int_usage_groups=f"{key}, 2 as request_count, 9 as input_tokens, 3 as output_tokens, "
        "0 as api_key_request_count, 0 as project_request_count, 0 as user_request_count, "
        "0 as route_request_count",
        int_group_costs=f"{key}, 1.0 as cost_usd, 1.0 as list_cost_usd, "
        "1.0 as contracted_cost_usd, 1.0 as effective_cost_usd, null::double as "
        "billed_cost_usd, null::double as hosting_cost_usd, null::double as "
        "hosting_energy_cost_usd, 0 as unpriced_request_count, 0 as no_gpu_bill_request_count",
        int_team_tasks=f"{key}, 2 as task_count",
        stg_assumptions="select 'material_energy_frac' as assumption, 0.05::double as value",
        raw_method="select '1' as method_version",
    )

    assert row["evidence_grade"] == grade
    # 600 passes at 300 / 16 + 300 / 48 = 25 runs of the servers
    assert (row["batch"], row["coefficient_set_id"]) == (24, "set A, set C")


def test_electricity_costs_the_tariff_and_emits_the_grid_factor(book: Book) -> None:
    row = charged(book, "ops")

    # 0.10 USD and 473 g per kWh
    assert float(row["energy_cost_usd"]) == pytest.approx(
        0.10 * row["facility_energy_kwh"], abs=1e-9
    )
    assert row["carbon_gco2e"] == pytest.approx(473 * row["facility_energy_kwh"])
