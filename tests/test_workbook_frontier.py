"""The cost–quality frontier stands where quality.csv gave accuracies: answers that none beats."""

import io
import zipfile
from typing import Any

import openpyxl
import pytest
from report_frames import budget_mart, report

from pipeline.report import workbook
from pipeline.report.section import Section
from pipeline.report.workbook.frontier import Frontier, frontier_of

pytestmark = pytest.mark.slow

# cost of a right answer × accuracy = cost of an answer
PLANTED: tuple[dict[str, Any], ...] = (
    {"model_id": "a", "accuracy_frac": 0.5, "cost_usd_per_correct_answer": 0.02},  # 0.010
    {"model_id": "b", "accuracy_frac": 0.8, "cost_usd_per_correct_answer": 0.05},  # 0.040
    {"model_id": "c", "accuracy_frac": 0.4, "cost_usd_per_correct_answer": 0.05},  # 0.020: a
    {"model_id": "d", "accuracy_frac": 0.8, "cost_usd_per_correct_answer": 0.10},  # 0.080: b
    {"model_id": "e", "accuracy_frac": 0.3, "cost_usd_per_correct_answer": 0.50}
    | {"query_class": "chat"},  # 0.150, dearer and worse than all, but of another class
    {"model_id": "f", "accuracy_frac": 0.9, "cost_usd_per_correct_answer": None},  # unpriced
)


def planted() -> Section:
    mart = budget_mart(*({"budget": "x"} | change for change in PLANTED))
    mart = mart.unique(subset="model_id", keep="first", maintain_order=True)
    book = report(mart_reasoning_budget=mart)
    return next(section for section in book.sections if section.name == "reasoning")


def found() -> Frontier:
    frontier = frontier_of(planted())
    assert frontier is not None
    return frontier


def test_each_class_has_the_answers_that_none_of_it_beats() -> None:
    rows: list[Any] = [(str(row[0])[0], *row[1:3], row[4]) for row in found().table.rows]

    assert rows == [
        ("a", "reasoning", pytest.approx(0.01), "yes"),
        ("b", "reasoning", pytest.approx(0.04), "yes"),
        ("e", "chat", pytest.approx(0.15), "yes"),
        ("c", "reasoning", pytest.approx(0.02), "no"),
        ("d", "reasoning", pytest.approx(0.08), "no"),
    ]
    assert found().classes == (("reasoning", 2), ("chat", 1))


def test_answers_alike_in_both_are_all_on_the_frontier() -> None:
    twins: list[dict[str, Any]] = [{"model_id": name, "accuracy_frac": 0.5} for name in "xy"]
    mart = budget_mart(*twins).unique(subset="model_id", keep="first", maintain_order=True)
    book = report(mart_reasoning_budget=mart)
    section = next(section for section in book.sections if section.name == "reasoning")

    frontier = frontier_of(section)

    assert frontier is not None
    assert [row[4] for row in frontier.table.rows] == ["yes", "yes"]


def test_the_chart_stands_on_the_sheet_of_reasoning_with_a_series_a_class() -> None:
    mart = budget_mart(*({"budget": "x"} | change for change in PLANTED))
    book = workbook.render(report(mart_reasoning_budget=mart.unique("model_id", keep="first")))
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        charts = [
            text
            for name in archive.namelist()
            if name.startswith("xl/charts/chart")
            and "'Reasoning'!" in (text := archive.read(name).decode())
        ]
        drawings = [
            archive.read(n).decode() for n in archive.namelist() if n.startswith("xl/drawings/d")
        ]

    [chart] = charts
    assert [name for name in ("Frontier: reasoning", "Frontier: chat", "Beaten") if name in chart]
    assert chart.count("<ser>") == 3
    assert "<a:t>USD an answer, list price</a:t>" in chart
    assert sum("Scatter chart of accuracy over the list cost" in each for each in drawings) == 1


def test_without_accuracies_the_sheet_says_which_file_would_fill_it() -> None:
    made = report(mart_reasoning_budget=budget_mart({}).clear())
    sheet = openpyxl.load_workbook(io.BytesIO(workbook.render(made)))["Reasoning"]
    said = " ".join(str(cell.value) for cell in sheet["A"] if cell.value)

    assert frontier_of(next(s for s in made.sections if s.name == "reasoning")) is None
    assert "quality.csv in the overlay folder" in said
    assert not sheet._charts
