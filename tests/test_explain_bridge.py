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
from pipeline.frames.sections import frames
from pipeline.report.assemble import build_report
from pipeline.report.section import Report
from pipeline.report.workbook.places import Place, tables_of
from pipeline.settings import Settings, bundled

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
            ("cost_usd", "facility_energy_kwh", "facility_energy_low_kwh", "carbon_kgco2e",
             "carbon_low_kgco2e", "carbon_high_kgco2e"),
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
        and each[3] == 2
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


def facts_of(made: Explanation) -> dict[str, object]:
    return {line.name: line.value for part in made.parts for line in part.lines}


def test_a_dot_of_the_errors_by_law_tells_set_law_rows_errors_and_file(
    book: Book, report: Report
) -> None:
    table = tables_of(report)["figure_law_errors"]
    row = 1 + [line[0] for line in table.rows].index("joulebench · A100-80GB-PCIe · transformers")
    lines = (bundled("data/reference") / "law_validation.csv").read_text("utf-8").splitlines()

    made = explained(book, report, "figure_law_errors", row, "series_1")
    [how] = [part for part in made.parts if part.name == "how"]
    facts = {line.name: line.value for line in how.lines}

    assert facts["dataset"] == "joulebench · A100-80GB-PCIe · transformers"
    assert facts["law"] == "Our law"
    place = int(str(facts["reference"]).rpartition(" ")[2])
    stored = lines[place - 1].split(",")
    assert stored[:7] == [
        *("joulebench", "A100-80GB-PCIe", "transformers", "simple", "refit", "all", "all")
    ]
    names = ("row_count", "mape_frac", "bias_ratio", "p90_frac", "leave_one_out_mape_frac")
    assert [float(each) for each in stored[7:12]] == [facts[name] for name in names]
    [example] = [part for part in made.parts if part.name == "example"]
    [error] = [line for line in example.lines if isinstance(line, Step)]
    assert error.formula == "predicted/measured − 1"


def test_a_rival_dot_shows_one_measurement_by_the_rival(book: Book, report: Report) -> None:
    table = tables_of(report)["figure_law_errors"]
    shown = [each.header for each in table.columns]
    column = table.columns[shown.index("EcoLogits 0.9")].name
    row = 1 + [line[0] for line in table.rows].index("joulebench · A100-80GB-PCIe · transformers")

    made = explained(book, report, "figure_law_errors", row, column)

    [example] = [part for part in made.parts if part.name == "example"]
    facts = {line.name: line.value for line in example.lines}
    measured, predicted = float(str(facts["measured_j"])), float(str(facts["predicted_j"]))
    assert facts["error"] == pytest.approx(predicted / measured - 1, rel=1e-12)


def test_a_point_of_predicted_against_measured_is_the_law_by_hand(
    book: Book, report: Report
) -> None:
    label = "meta-llama/Llama-2-7b-hf on 1 × H100-SXM, vLLM, batch 1, 1024 in, 1024 out"
    table = tables_of(report)["figure_predicted_against_measured"]
    row = 1 + [line[0] for line in table.rows].index(label)

    made = explained(book, report, "figure_predicted_against_measured", row, "y")
    facts = facts_of(made)

    # L 32, d 4,096, h = g 32, dh 128, f 11,008, gated, V 32,000; n = m = 1,024, batch 1, bf16
    body, head = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008), 32_000 * 4096
    prefill = 2 * body * 1024 + 4 * 32 * 4096 * (1024 * 1025 // 2) + 2 * head
    attention = 4 * 32 * 4096 * ((2047 * 2048 - 1024 * 1025) // 2)
    read = 2 * 2 * 32 * 4096 * (1024 * 1024 + 1024 * 1023 // 2)
    weights, steps = 2 * (body + head) * 1024, 32 * 1024
    joules = (
        1.199e-12 * (prefill + attention + 2 * (body + head) * 1023)
        + 2.551e-10 * read
        + 1.394e-10 * weights
        + 0.0227 * steps
    )
    assert facts["energy_j"] == pytest.approx(joules, rel=1e-12)
    assert joules == pytest.approx(2874, abs=0.5)  # as stored, to four figures
    assert facts["error"] == pytest.approx(2874 / 2877 - 1, rel=1e-12)
    assert facts["dataset"] == "argonne"
    point, errors = [part for part in made.parts if part.name in ("point", "errors")]
    lines = (bundled("data/reference") / "law_points.csv").read_text("utf-8").splitlines()
    place = str({line.name: line.value for line in point.lines}["reference"]).rpartition(" ")[2]
    assert lines[int(place) - 1].split(",")[10:12] == ["2877", "2874"]
    assert {line.name for line in errors.lines} >= {
        "row_count",
        "mape_frac",
        "bias_ratio",
        "p90_frac",
    }
