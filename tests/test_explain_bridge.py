"""Cells of the month bridge, the batch ladder and the law tables are written out to their value."""

import math
from collections.abc import Callable
from decimal import Decimal

import pytest
from arithmetic import is_kept, printed
from conftest import Book, Rows, rows_of

from pipeline import job, warehouse
from pipeline.explain.cell import explain_cell
from pipeline.explain.find import FoundCell
from pipeline.explain.lines import Explanation, Fact, Step
from pipeline.explain.text import text_of
from pipeline.report.assemble import build_report
from pipeline.report.section import Report
from pipeline.report.workbook_places import Place, tables_of
from pipeline.section_frames import frames
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

MONTH = "2026-10"


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    """A month and the one before it: an open model, experts, a closed model, a team more."""
    kinds = (
        ("meta-llama/Llama-3.1-8B", "vllm", "chat"),
        ("Qwen/Qwen3-30B-A3B", "vllm", "rag"),
        ("gpt-5-mini", "openai", "chat"),
    )
    rows: Rows = [
        {
            **{"occurred_at": f"{month}-05T10:00:00Z", "model_name": model, "provider": provider},
            **{"query_class": query_class, "team": "ab"[index % count]},
            **{"input_tokens": 700 + 131 * index, "output_tokens": 90 + 17 * index * count},
        }
        for count, month in ((1, "2026-09"), (2, MONTH))
        for model, provider, query_class in kinds
        for index in range(4 * count)
    ]
    return book_of(rows)


@pytest.fixture(scope="module")
def report(book: Book) -> Report:
    tables = frames(book, warehouse.run_checks(book))
    return build_report(tables, MONTH, job.facts(book, Settings(), MONTH))


def explained(book: Book, report: Report, name: str, row: int, column: str) -> Explanation:
    table = tables_of(report)[name]
    place = Place(name, row, [each.name for each in table.columns].index(column))
    made = explain_cell(book, FoundCell(f"table-{name}:{row}:{column}", table, place), MONTH)
    for numbers, result, unit in printed(text_of(made)):
        assert is_kept(numbers, result, unit), (name, row, column, numbers, result)
    return made


def steps_of(made: Explanation) -> dict[str, Step]:
    return {e.name: e for part in made.parts[1:] for e in part.lines if isinstance(e, Step)}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        (
            "month_bridge",
            ("cost_usd", "facility_energy_kwh", "facility_energy_low_kwh", "carbon_kgco2e"),
        ),
        (
            "concurrency_by_batch",
            ("energy_j_per_request", "energy_j_per_output_token", "electricity_wh_per_request",
             "gpu_energy_j", "energy_low_j", "energy_high_j"),
        ),
        ("concurrency", ("alone_j_per_request", "most_j_per_request")),
    ],
)  # fmt: skip
def test_every_such_cell_is_written_out_to_its_value(
    book: Book, report: Report, name: str, columns: tuple[str, ...]
) -> None:
    for row in range(1, len(tables_of(report)[name].rows) + 1):
        for column in columns:
            made = explained(book, report, name, row, column)
            value = made.facts["value"]
            found = [line.value for part in made.parts[1:] for line in part.lines]
            assert any(
                isinstance(each, int | float | Decimal)
                and math.isclose(float(each), float(str(value)), rel_tol=1e-12, abs_tol=1e-15)
                for each in found
            ), (name, row, column)


def test_more_requests_are_priced_at_the_mean_of_the_month_before(
    book: Book, report: Report
) -> None:
    made = explained(book, report, "month_bridge", 2, "facility_energy_kwh")
    [then] = rows_of(
        book,
        "select facility_energy_before_kwh as kwh from mart_month_bridge where month = '2026-10'",
    )
    steps = steps_of(made)

    # 24 requests where there were 12
    assert steps["value_at_volume"].formula == "requests/requests then·month before"
    assert steps["value_at_volume"].numbers.startswith("24/12·")
    assert steps["value_at_volume"].value == pytest.approx(2 * float(then["kwh"]), rel=1e-4)
    assert steps["facility_energy_kwh"].formula == "after − before"


def test_a_rung_is_the_law_at_its_own_batch(book: Book, report: Report) -> None:
    rows = tables_of(report)["concurrency_by_batch"].rows
    row = next(
        n for n, each in enumerate(rows, start=1) if each[0] == "meta-llama/Llama-3.1-8B"
        and each[3 + 1] == 2
    )  # fmt: skip

    steps = steps_of(explained(book, report, "concurrency_by_batch", row, "energy_j_per_request"))

    assert steps["next_token_energy_j"].formula == "a·N + (c·T + s·S)/B"
    assert steps["next_token_energy_j"].numbers.endswith(")/2")
    assert steps["gpu_energy_j"].numbers.startswith("1.15·")


@pytest.mark.parametrize("column", ["mape_frac", "bias_ratio", "leave_one_out_mape_frac"])
def test_an_error_of_a_law_is_the_mean_of_its_parts(
    book: Book, report: Report, column: str
) -> None:
    table = tables_of(report)["law_errors"]
    names = [each.name for each in table.columns]
    row = next(
        n
        for n, each in enumerate(table.rows, start=1)
        if each[names.index("dataset")] == "joulebench"
        and (each[names.index("law")], each[names.index("form")]) == ("Our law", "refit")
    )

    made = explained(book, report, "law_errors", row, column)

    [mean] = [part for part in made.parts if part.name == "parts"]
    assert sum(isinstance(line, Fact) for line in mean.lines) >= 2
    assert mean.lines[-1].value == pytest.approx(made.facts["value"], abs=2e-4)
    assert any(part.name == "points" for part in made.parts)


def test_a_duel_names_the_rows_behind_either_side(book: Book, report: Report) -> None:
    table = tables_of(report)["law_duels"]

    for column in ("own", "rival_error", "refit", "refit_error"):
        place = [each.name for each in table.columns].index(column)
        for row, line in enumerate(table.rows, start=1):
            if line[place] is not None:
                made = explained(book, report, "law_duels", row, column)
                assert made.parts[1].name == "how", (column, line[0])
