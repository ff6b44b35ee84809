"""A cell of the report explained: place, parts that tie, arithmetic that comes to its value."""

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import openpyxl
import pytest
from arithmetic import evaluated, is_kept, printed
from conftest import Book, Rows, rows_of

from pipeline import job, warehouse
from pipeline.errors import WrongUseError
from pipeline.explain import warehouse_rows
from pipeline.explain.cell import explain_cell
from pipeline.explain.find import FoundCell, find_cell
from pipeline.explain.lines import Explanation, Line, Step
from pipeline.explain.text import text_of
from pipeline.explain.warehouse_rows import Row
from pipeline.frames.sections import frames
from pipeline.report import page, workbook
from pipeline.report.assemble import build_report
from pipeline.report.section import Report
from pipeline.report.workbook.places import Place, anchors_of, places_of, tables_of
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

MONTH = "2026-10"
COMPUTED = ("usd", "usd_small", "j", "kwh", "wh", "gco2e", "kgco2e", "frac")
_WORKBOOKS: dict[str, bytes] = {}  # by run, since a report is no key
EXPLAINED = ("Summary", "Cost_per_task", "Usage", "Energy", "Energy_law", "Teams", "Reconciliation")


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    """Two teams, open and closed models, bills and list prices, buckets, an unknown model."""
    kinds = (
        ("meta-llama/Llama-3.1-8B", "vllm", "chat", None),
        ("Qwen/Qwen3-30B-A3B", "vllm", "rag", None),
        ("gpt-5-mini", "openai", "chat", "0.002"),
        ("gpt-5-mini", "openai", "rag", None),
        ("gpt-5", "openai", "reasoning", None),
        ("nobody/knows-it", "vllm", "chat", None),
    )
    rows: Rows = [
        {
            "request_id": f"{number}-{index}",
            "task_id": f"t{index // 3}" if index % 4 else None,
            "model_name": model,
            "provider": provider,
            "query_class": query_class,
            "team": ("a", "b", None)[index % 3],
            "is_solved": bool(index % 2),
            "status": "failed" if index == 3 else "success",
            "input_tokens": 700 + 131 * index,
            "cache_read_tokens": 60 * index,
            "output_tokens": 90 + 17 * index,
            "reasoning_tokens": 5 * index,
            **({"billed_cost_usd": billed} if billed and index % 2 else {}),
        }
        for number, (model, provider, query_class, billed) in enumerate(kinds)
        for index in range(9)
    ]
    bucket = {"bucket_end_at": "2026-10-06T00:00:00Z", "request_count": 30}
    rows.append(rows[30] | bucket | {"request_id": "bucket", "input_tokens": 90_000})
    rows.append(rows[0] | {"request_id": "bad", "output_tokens": -1})
    return book_of(rows)


@pytest.fixture(scope="module")
def report(book: Book) -> Report:
    tables = frames(book, warehouse.run_checks(book))
    return build_report(tables, MONTH, job.facts(book, Settings(), MONTH))


@pytest.fixture(scope="module", autouse=True)
def requests_read_once() -> Iterator[None]:
    """Keep what single requests cost: the cells of a line ask for the same ones."""
    kept: dict[tuple[object, ...], list[Row]] = {}
    read = warehouse_rows._by_groups

    def read_once(con: Book, of: Mapping[str, Any], limit: str) -> list[Row]:
        asked = (id(con), *of.items(), limit)
        if asked not in kept:
            kept[asked] = read(con, of, limit)
        return [dict(row) for row in kept[asked]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warehouse_rows, "_by_groups", read_once)
        yield


def rendered(made: Report) -> bytes:
    if made.run_id not in _WORKBOOKS:
        _WORKBOOKS[made.run_id] = workbook.render(made)
    return _WORKBOOKS[made.run_id]


def explained(book: Book, report: Report, asked: str) -> Explanation:
    return explain_cell(book, find_cell(asked, report, rendered(report)), MONTH)


def lines_of(made: Explanation) -> list[Line]:
    return [line for part in made.parts[1:] for line in part.lines]


def filled(report: Report, sheets: tuple[str, ...]) -> list[FoundCell]:
    """Return every cell with a value of some sheets."""
    tables, found = tables_of(report), []
    for sheet, cells in places_of(rendered(report), report).items():
        for cell, place in cells.items() if sheet in sheets else ():
            table = tables[place.table]
            rows = (*table.rows, table.total or ())
            if place.row and rows[place.row - 1][place.column] is not None:
                found.append(FoundCell(f"{sheet}!{cell}", table, place))
    return found


# Places ---------------------------------------------------------------------------------------


def test_every_place_holds_the_value_that_stands_in_its_cell(report: Report) -> None:
    sheets = openpyxl.load_workbook(io.BytesIO(rendered(report)))
    count = 0
    for found in filled(report, tuple(sheets.sheetnames)):
        sheet, cell = found.shown.split("!")
        shown = sheets[sheet][cell].value
        value = [*found.table.rows, found.table.total or ()][found.place.row - 1][
            found.place.column
        ]
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            count += 1
            assert float(shown) == pytest.approx(float(value), rel=1e-12), found
    assert count > 300


def test_every_table_of_the_report_stands_in_the_workbook(report: Report) -> None:
    placed = {
        place.table
        for cells in places_of(rendered(report), report).values()
        for place in cells.values()
    }
    shown = {table.name for section in report.sections for table in section.tables if table.rows}

    assert shown <= placed


def test_the_anchors_are_those_that_the_page_prints(report: Report) -> None:
    printed_ids = set(re.findall(r'id="((?:table|figure)-[^"]+)"', page.render(report)))

    assert set(anchors_of(report)) == printed_ids


# Arithmetic -----------------------------------------------------------------------------------


def test_every_computed_cell_is_written_out_to_its_value(book: Book, report: Report) -> None:
    unexplained = []
    for found in filled(report, EXPLAINED):
        made = explain_cell(book, found, MONTH)
        for numbers, result, unit in printed(text_of(made)):
            assert is_kept(numbers, result, unit), (found, numbers, evaluated(numbers))
        value = made.facts["value"]
        if found.table.columns[found.place.column].kind in COMPUTED and value:
            values = [line.value for line in lines_of(made)]
            if not any(is_same(value, each) for each in values):
                unexplained.append(found.shown)
    assert unexplained == []


def test_every_column_of_every_sheet_has_an_answer_whose_lines_hold(
    book: Book, report: Report
) -> None:
    first: dict[tuple[str, int, bool], FoundCell] = {}
    for table in tables_of(report).values():  # those of figures too
        rows = (*table.rows, *((table.total,) if table.total else ()))
        for number, row in enumerate(rows, start=1):
            for at, value in enumerate(row):
                if value is not None:
                    place = Place(table.name, number, at)
                    key = (table.name, at, number > len(table.rows))
                    first.setdefault(key, FoundCell(f"{table.name}:{number}", table, place))

    for found in first.values():
        made = explain_cell(book, found, MONTH)
        column = found.table.columns[found.place.column]
        assert made.facts["column"] == column.name
        assert len(made.parts) > 1 or column.kind not in COMPUTED, (found.shown, column.name)
        for numbers, result, unit in printed(text_of(made)):
            assert is_kept(numbers, result, unit), (found, numbers, evaluated(numbers))
    assert len({name for name, _, _ in first}) > 30


def is_same(value: object, other: object) -> bool:
    assert isinstance(value, int | float | Decimal)
    return isinstance(other, int | float | Decimal) and math.isclose(value, other, rel_tol=1e-12)


def test_a_class_energy_is_coefficients_times_its_summed_work(book: Book, report: Report) -> None:
    rows = [row[:3] for row in tables_of(report)["energy_law"].rows]
    row = 1 + rows.index(("meta-llama/Llama-3.1-8B", "chat", "vllm"))
    (work,) = rows_of(
        book,
        "select prefill_flop, prefill_energy_j, gpu_energy_j from mart_energy_per_class "
        "where model_id = 'meta-llama/Llama-3.1-8B'",
    )

    made = explained(book, report, f"table-energy_law:{row}:gpu_energy_j")

    steps = {line.name: line for line in lines_of(made) if isinstance(line, Step)}
    assert steps["prefill_energy_j"].numbers == f"1.199e-12·{int(work['prefill_flop']):,}"
    assert steps["prefill_energy_j"].value == pytest.approx(work["prefill_energy_j"], rel=1e-12)
    assert steps["gpu_energy_j"].value == work["gpu_energy_j"]
    assert made.parts[-1].title == "The requests that the GPU energy is the sum of"
    assert made.parts[-1].lines[0].label.startswith("x1, usage-1.jsonl:9")


def test_a_class_cost_is_its_groups_and_quantity_times_price(book: Book, report: Report) -> None:
    rows = [row[:3] for row in tables_of(report)["cost_per_task"].rows]
    row = 1 + rows.index(("gpt-5", "reasoning", "openai"))

    made = explained(book, report, f"table-cost_per_task:{row}:cost_usd")

    # 9 requests: input 700 + 131·i, of it 60·i cached, output 90 + 17·i for i = 0 … 8;
    # USD per million: 1.25 uncached, 0.125 cached, 10 output
    uncached = sum(700 + 131 * i - 60 * i for i in range(9))
    cached, output = sum(60 * i for i in range(9)), sum(90 + 17 * i for i in range(9))
    millionths = uncached * Decimal("1.25") + cached * Decimal("0.125") + output * 10
    assert made.facts["value"] == millionths / 1_000_000
    titles = [part.title for part in made.parts]
    assert titles[1] == "The groups of usage that it is the sum of"
    assert [title for title in titles if title.startswith("Quantity × price: gpt-5 · reasoning")]


def test_a_total_is_the_sum_of_its_lines_largest_first(book: Book, report: Report) -> None:
    made = explained(book, report, "table-energy_per_class:total:facility_energy_kwh")
    *parts, total = made.parts[1].lines

    assert isinstance(total, Step)
    assert total.formula.startswith("x1 + x2 + x3 + x4")
    assert sum(float(str(line.value)) for line in parts if line.unit == "kWh") == pytest.approx(
        total.value, rel=1e-12
    )
    assert total.value == made.facts["value"]


def test_a_team_is_its_classes_and_the_rates_of_the_largest(book: Book, report: Report) -> None:
    made = explained(book, report, "table-team_chargeback:1:facility_energy_kwh")

    assert made.parts[1].title == "By model and class"
    assert made.parts[2].title.startswith("The largest: ")
    assert [part.name for part in made.parts] == ["place", "parts", "share", "facility"]


def test_an_end_of_a_total_is_that_of_its_summed_draws(book: Book, report: Report) -> None:
    (total,) = rows_of(book, "select * from mart_month_total where total_kind = 'month'")

    made = explained(book, report, "table-energy_per_class:total:facility_energy_low_kwh")
    (line,) = made.parts[1].lines

    assert made.facts["mart"] == "mart_month_total"
    assert isinstance(line, Step)
    assert line.value == made.facts["value"] == total["facility_energy_low_kwh"]
    assert line.note.startswith("5 % of 256 joint draws: place 12.75")


def test_tasks_of_the_month_count_once(book: Book, report: Report) -> None:
    (total,) = rows_of(book, "select * from mart_month_total where total_kind = 'month'")

    made = explained(book, report, "table-cost_per_task:total:task_count")
    (line,) = made.parts[1].lines

    assert isinstance(line, Step)
    assert line.formula == "named + alone"
    assert line.value == total["task_count"]


def test_a_key_figure_is_the_lines_of_the_month(book: Book, report: Report) -> None:
    labels = [row[0] for row in tables_of(report)["key_figures"].rows]
    cells = places_of(rendered(report), report)["Summary"]
    (cell,) = [
        cell
        for cell, place in cells.items()
        if (place.table, place.row, place.column) == ("key_figures", 1 + labels.index("Carbon"), 1)
    ]

    made = explained(book, report, f"Summary!{cell}")

    assert (made.facts["mart"], made.facts["unit"]) == ("mart_cost_per_task", "kg CO₂e")
    assert made.parts[1].lines[-1].label == "together"


def test_a_bar_of_a_figure_is_explained_by_its_series(book: Book, report: Report) -> None:
    made = explained(book, report, "figure-energy_by_term:1")
    last = [line for line in lines_of(made) if line.name == "prefill_energy_kwh"][-1]

    assert isinstance(last, Step)
    assert last.formula == "prefill·bias/3,600,000"
    assert last.value == made.facts["value"]


def test_a_cell_that_no_mart_holds_still_says_what_it_means(book: Book, report: Report) -> None:
    made = explained(book, report, "table-assumptions:1:value")

    assert made.facts["mart"] is None
    assert "Value in use." in text_of(made)


# Wrong use ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "Nowhere!A1",
            "Nowhere: no such sheet; the workbook has About, Summary, Findings, Assumptions",
        ),
        ("Energy!A1", r"Energy!A1: no cell of a table. Tables there: A\d+:P\d+ \(Electricity by"),
        ("Energy!ZZ9", "Energy!ZZ9: no cell of a table."),
        ("table-nothing:1", "table-nothing: the page has no such table or figure. Near it: table-"),
        ("table-energy_per_class", "which row[?] .*rows are 1 to 6, total; columns are query_cl"),
        ("table-energy_per_class:99", "no row 99; rows are 1 to 6, total"),
        ("table-energy_per_class:1:energy", "no column energy. Near it: "),
        ("table-energy_per_class:total:batch", "'Batch' of this row is empty: a sum of it has no"),
        ("table-energy_per_class:6:batch", "'Batch' of this row is empty: shown as '–'. Filled"),
    ],
)
def test_what_is_no_filled_cell_is_told_with_what_is_near(
    report: Report, asked: str, said: str
) -> None:
    with pytest.raises(WrongUseError, match=said):
        find_cell(asked, report, rendered(report))


def test_a_head_says_what_its_column_means(report: Report) -> None:
    cells = places_of(rendered(report), report)["Energy"]
    head = next(cell for cell, place in cells.items() if place.row == 0)

    with pytest.raises(WrongUseError, match=f"Energy!{head}: the head 'Model' .*stand below it"):
        find_cell(f"'energy'!${head}", report, rendered(report))
