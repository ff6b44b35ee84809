"""The section on reasoning says which budget is best, or what to supply to know it."""

import pytest
from report_frames import (
    MONTH,
    budget_mart,
    column_of,
    cost_mart,
    energy_mart,
    report,
    section_of,
    table_of,
)

THINKING = {"reasoning_tokens": 150}  # of 300 written; KV cache 5 % and next token 70 % of 2 kWh


def test_the_best_budget_is_named_with_its_joules() -> None:
    said = section_of(report(), "reasoning").statements

    assert said[0].startswith(
        "gpt-5, reasoning: most accuracy above chance per joule at budget middle (200"
    )
    # 0.0025 a joule against 0.002 of the low budget and 0.001 of the high one
    assert said[0].endswith(" J a right answer), 25.0% ahead of the next.")
    assert "beyond it" not in said[0]
    verdicts = column_of(table_of(report(), "reasoning_budgets"), "verdict")
    assert verdicts == ["", "best", ""]


def test_a_best_budget_at_the_edge_says_so() -> None:
    book = report(mart_reasoning_budget=budget_mart({"is_edge": True}))

    assert "so one beyond it may be better still" in section_of(book, "reasoning").statements[0]


def test_energy_that_grows_faster_than_length_is_marked() -> None:
    growth = column_of(table_of(report(), "reasoning_budgets"), "growth")

    assert growth == ["", "", "energy faster than length"]


def test_without_quality_the_energy_of_reasoning_is_its_share_of_the_output() -> None:
    book = report(
        mart_cost_per_task=cost_mart(THINKING),
        mart_energy_per_class=energy_mart({}),
        mart_reasoning_budget=budget_mart({}).clear(),
    )

    table = table_of(book, "reasoning")
    assert column_of(table, "reasoning_frac") == [0.5]
    # 2 kWh · (0.05 + 0.7) · 150 / 300
    assert column_of(table, "reasoning_kwh") == [pytest.approx(0.75)]
    assert "quality.csv in the overlay folder" in section_of(book, "reasoning").statements[-1]


def test_what_is_not_enough_is_said_in_place_of_a_best_budget() -> None:
    reason = {"reason": "not enough: one budget; two or more have a best one"}
    none = {"is_best": None, "is_best_above_chance": None, "is_edge": None}
    book = report(mart_reasoning_budget=budget_mart(reason | none))

    assert set(column_of(table_of(book, "reasoning_budgets"), "verdict")) == {reason["reason"]}
    assert section_of(book, "reasoning").statements[0].startswith("Not enough is told")


def test_without_either_the_section_says_what_would_fill_it() -> None:
    book = report(
        mart_cost_per_task=cost_mart({"month": MONTH}),
        mart_reasoning_budget=budget_mart({}).clear(),
    )

    reasoning = section_of(book, "reasoning")
    assert reasoning.tables == ()
    assert "reasoning_tokens" in reasoning.empty_reason
    assert "quality.csv" in reasoning.empty_reason
