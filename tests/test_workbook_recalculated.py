"""What the workbook stores is what an office program computes, and it follows the inputs.

Stored results are dropped from a copy, the copy is recalculated, and every cell is compared.
"""

import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
from conftest import DENSE_BIAS, EXAMPLE_LAW_J, Book
from live_book import rendered
from recalculation import (
    Cells,
    agree,
    dearer,
    differences,
    opened,
    planted,
    recalculated_each,
    stored,
)

from pipeline.estimate import Question, estimate
from pipeline.report.workbook.energy import INPUTS_MOVED, RUN, SCALED
from pipeline.report.workbook.run import AS_BUILT, NOT_AS_BUILT
from pipeline.settings import Settings

pytestmark = pytest.mark.slow
MOVED = {
    "electricity_usd_per_kwh": 0.2,
    "pue_ratio": 1.35,
    "batch_api": 100.0,
    "batch_self_hosted": 3.0,
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> bytes:
    return rendered(book_of)


@pytest.fixture(scope="module")
def other(book_of: Callable[..., Book]) -> bytes:
    """The workbook of a run that is told what `moved` puts into the inputs."""
    return rendered(book_of, MOVED)


@pytest.fixture(scope="module")
def recalculated(book: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Cells]:
    """What an office program computes from the workbook as built, and with inputs moved."""
    told: dict[str, float | str] = {f"in_{name}": value for name, value in MOVED.items()}
    cases: dict[str, dict[str, float | str]] = {
        "as built": {},
        "moved": {**told, "in_currency_per_usd": 0.5},
        "grid": {"in_carbon_gco2e_per_kwh": 100.0},
        "pue": {"in_pue_ratio": 1.35},
        "ten dollars more": dearer(book, "output_usd_per_mtok"),
    }
    found = recalculated_each(book, tmp_path_factory.mktemp("recalculated"), cases.values())
    return dict(zip(cases, found, strict=True))


@pytest.fixture(scope="module")
def moved(recalculated: dict[str, Cells]) -> Cells:
    return recalculated["moved"]


@functools.cache
def heads_of(workbook: bytes) -> dict[str, dict[str, str]]:
    """Return the head above each column letter of every data sheet."""
    return {
        sheet.title: {cell.column_letter: str(cell.value) for cell in sheet[2]}
        for sheet in opened(workbook)
        if sheet.title.startswith("Data_")
    }


def letters(cell: str) -> str:
    return cell.rstrip("0123456789")


def by_label(cells: Cells, workbook: bytes, name: str, column: str) -> dict[str, Any]:
    """Return the formula cells of a column of a sheet by the labels in its column A."""
    sheet = opened(workbook)[name]
    labels = {str(cell.row): str(cell.value) for cell in sheet["A"] if cell.value}
    return {
        labels[cell.lstrip(column)]: value
        for (title, cell), value in cells.items()
        if title == name and letters(cell) == column
    }


def test_every_formula_gives_the_value_that_is_stored(
    book: bytes, recalculated: dict[str, Cells]
) -> None:
    cells = stored(book)
    found = recalculated["as built"]

    assert len(cells) > 2_000
    assert differences(cells, found) == []
    assert [place for place, value in found.items() if str(value).startswith(("#", "Err:"))] == []


def test_a_wrong_stored_result_is_found(book: bytes, moved: Cells) -> None:
    # No input moved a list price, so that cell is the same before and after.
    cell = next(
        cell
        for (sheet, cell) in stored(book)
        if sheet == "Data_Cost" and heads_of(book)[sheet][letters(cell)] == "list_cost_usd"
    )
    wrong = stored(planted(book, "Data_Cost", cell, "999"))
    right = moved["Data_Cost", cell]

    assert agree(stored(book)["Data_Cost", cell], right)
    assert f"Data_Cost!{cell}: 999.0, recalculated {right!r}" in differences(wrong, moved)


def test_moving_tariff_pue_and_batch_gives_what_the_pipeline_gives(
    other: bytes, moved: Cells
) -> None:
    heads = heads_of(other)
    # Ranges and single requests keep the run's ratio, and say that inputs were moved. Data_Draws is
    # of the Calculator's request, whose batch is an input of its own.
    kept = {"low", "high", "p50", "p90", "moved", "range"}
    compared = [
        (sheet, cell, value)
        for (sheet, cell), value in stored(other).items()
        if sheet in heads
        and sheet != "Data_Draws"
        and not kept & set(heads[sheet][letters(cell)].split("_"))
    ]

    assert len(compared) > 700
    assert [
        f"{sheet}!{cell} {heads[sheet][letters(cell)]}: {value!r}, moved {moved[sheet, cell]!r}"
        for sheet, cell, value in compared
        if not agree(value, moved[sheet, cell])
    ] == []


def test_moved_inputs_move_the_bridge_as_a_pipeline_run_does(
    book: bytes, other: bytes, moved: Cells
) -> None:
    pipeline = stored(other)
    steps = [
        (sheet, cell)
        for sheet, cell in stored(book)
        if sheet == "Bridge" and letters(cell) in ("B", "C", "F")
    ]

    # a line before, five steps and this month, in money, power and carbon; the waterfall's numbers
    assert len(steps) >= 3 * 7 + 7
    assert [place for place in steps if not agree(pipeline[place], moved[place])] == []
    energies = [place for place in steps if letters(place[1]) == "C"]
    assert any(not agree(stored(book)[place], moved[place]) for place in energies)


def test_moved_inputs_reach_the_summary(book: bytes, other: bytes, moved: Cells) -> None:
    before, expected = (by_label(stored(b), b, "Summary", "B") for b in (book, other))

    found = by_label(moved, book, "Summary", "B")

    for label in ("Cost", "Electricity", "Carbon", "Electricity at tariff"):
        assert agree(found[label], expected[label]), label
    assert not agree(found["Electricity"], before["Electricity"])
    assert found["Cost"] == pytest.approx(before["Cost"])  # no price was moved


def test_ranges_and_sentences_say_that_they_are_of_the_run_once_inputs_are_moved(
    book: bytes, moved: Cells
) -> None:
    read = opened(book)
    sheet, at = read.defined_names["run_state"].attr_text.replace("$", "").split("!")
    lines = [
        (title, cell)
        for title in ("Summary", "Energy", "Teams")
        for cell in (c.coordinate for c in read[title]["A"] if c.value == "=run_state")
    ]
    before, after = stored(book), moved

    assert (before[sheet, at], after[sheet, at]) == (AS_BUILT, NOT_AS_BUILT)
    assert [title for title, _ in lines] == ["Summary", "Energy", "Teams"]
    assert {after[place] for place in lines} == {NOT_AS_BUILT}
    ranges = {place for place, value in before.items() if value == RUN}
    # headlines, lines of tables and their totals, and each line of Data_Energy
    assert {"Summary", "Cost_per_task", "Energy", "Teams", "Data_Energy"} <= {s for s, _ in ranges}
    # PUE scales all; batch changes the draws, but of lines whose batch a deployment tells
    assert {after[place] for place in ranges} == {INPUTS_MOVED, SCALED}
    assert {after[place] for place in ranges if place[0] in ("Summary", "Teams", "Bridge")} == {
        INPUTS_MOVED
    }


def test_what_only_scales_leaves_the_ranges_as_drawn(
    book_of: Callable[..., Book], book: bytes, recalculated: dict[str, Cells]
) -> None:
    # Carbon is electricity times the factor in every draw, so its range moves with it exactly.
    # A PUE that a run is told has no range of its own any more, so its ends lie closer.
    grid, pue = recalculated["grid"], recalculated["pue"]
    other = rendered(book_of, {"pue_ratio": 1.35})
    before = stored(book)
    ranges = {place for place, value in before.items() if value == RUN}
    as_built = {place for place, value in before.items() if value == AS_BUILT}

    assert {grid[place] for place in ranges} == {RUN}
    assert {pue[place] for place in ranges} == {SCALED}
    assert {found[place] for found in (grid, pue) for place in as_built} == {NOT_AS_BUILT}
    for column, value in (("B", 1e-9), ("C", 0.05), ("D", 0.05)):
        scaled = by_label(pue, book, "Summary", column)["Electricity"]
        drawn = by_label(stored(other), other, "Summary", column)["Electricity"]
        assert scaled == pytest.approx(drawn, rel=value), column


def test_the_cost_follows_the_currency_of_the_reader(book: bytes, moved: Cells) -> None:
    cost = by_label(moved, book, "Summary", "B")["Cost"]

    assert by_label(moved, book, "Assumptions", "B")["cost_in_currency"] == cost * 0.5


def test_a_price_of_ten_dollars_more_costs_ten_dollars_more_a_million(
    book: bytes, recalculated: dict[str, Cells]
) -> None:
    usage = opened(book)["Data_Cost"]
    names = [cell.value for cell in usage[2]]
    priced = [
        dict(zip(names, (cell.value for cell in row), strict=True)) for row in usage.iter_rows(3)
    ]
    tokens = sum(
        row["output_tokens"]
        for row in priced
        if row["is_listed"] == "yes"
        and row["cost_source"] == "list"
        and row["month_start"].month == 10
    )

    after = by_label(recalculated["ten dollars more"], book, "Summary", "B")
    before = by_label(stored(book), book, "Summary", "B")

    assert after["Cost"] - before["Cost"] == pytest.approx(tokens * 10 / 1_000_000)


# The worked example, experts with a latent cache, stand-ins without an answer and above one
# stand-in's cap, an A whose draws spread too far; then what a die with a fixed seed asks.
ASKED = [
    Question("meta-llama/Llama-3.1-8B", 900, 300, 0, 1),
    Question("deepseek-ai/DeepSeek-V3", 68_000, 700, 66_640, 64),
    Question("gpt-5", 2_000, 0, 0, 500),
    Question("meta-llama/Llama-3.1-8B", 512, 250, 0, 16),
]
DICE = random.Random(5)  # noqa: S311 any cases will do, the same ones each time
MODELS = ("gpt-5-mini", "claude-sonnet-4-5", "openai/gpt-oss-120b", "Qwen/Qwen3-32B")
for model in MODELS:
    n = DICE.randint(1, 30_000)
    ASKED.append(
        Question(model, n, DICE.randint(1, 4_000), DICE.randint(0, n), DICE.choice([1, 7.5, 64]))
    )
SHEETS = (  # all that the Calculator computes from
    *("Calculator", "Assumptions", "Coefficients", "Bias_factors", "Catalog"),
    *("Data_Architectures", "Data_List_prices", "Data_Draws"),
)
TOO_LONG = Question("meta-llama/Llama-3.1-8B", 900_000, 300, 0, 1)


@pytest.fixture(scope="module")
def answered(book: bytes, tmp_path_factory: pytest.TempPathFactory) -> list[Cells]:
    cases: list[dict[str, float | str]] = [
        {
            "in_calc_model": asked.model,
            "in_calc_input_tokens": asked.input_tokens,
            "in_calc_cached_tokens": asked.cached_tokens,
            "in_calc_output_tokens": asked.output_tokens,
            "in_calc_batch": asked.batch,
        }
        for asked in (*ASKED, TOO_LONG)
    ]
    return recalculated_each(book, tmp_path_factory.mktemp("answered"), cases, SHEETS)


@pytest.mark.usefixtures("estimates_share_reference")
@pytest.mark.parametrize("number", range(len(ASKED)))
def test_the_calculator_answers_as_estimate_does(
    book: bytes, answered: list[Cells], number: int
) -> None:
    expected = estimate(Settings(), ASKED[number])

    found = by_label(answered[number], book, "Calculator", "B")
    low, high = (by_label(answered[number], book, "Calculator", c)["GPU energy"] for c in "CD")

    for label, value in {
        "GPU energy": expected["gpu_energy_j"],
        "of the law: prefill": expected["prefill_energy_j"],
        "of the law: KV cache": expected["kv_cache_energy_j"],
        "of the law: next token": expected["next_token_energy_j"],
        "Electricity of the facility": expected["facility_energy_kwh"] * 1_000,
        "Carbon": expected["carbon_gco2e"],
        "Batch in use": expected["effective_batch"],
        "Grade": expected["evidence_grade"],
        "Output of least energy a token": expected["optimum_output_tokens"],
    }.items():
        assert agree(found[label], value), label
    assert agree(low, expected["energy_low_j"])
    assert agree(high, expected["energy_high_j"])
    if expected["list_cost_usd"] is not None:
        assert found["Cost at list price"] == pytest.approx(float(expected["list_cost_usd"]))


def test_the_calculator_gives_the_worked_example(book: bytes, answered: list[Cells]) -> None:
    found = by_label(answered[0], book, "Calculator", "B")

    # 900 tokens in, 300 out: 15.318907 + 10.724827 + 850.990486 J
    assert found["of the law: prefill"] == pytest.approx(15.318907, abs=1e-6)
    assert found["of the law: KV cache"] == pytest.approx(10.724827, abs=1e-6)
    assert found["of the law: next token"] == pytest.approx(850.990486, abs=1e-6)
    assert found["GPU energy"] == pytest.approx(DENSE_BIAS * EXAMPLE_LAW_J, abs=1e-5)


def test_a_request_that_does_not_fit_is_told_so(book: bytes, answered: list[Cells]) -> None:
    found = by_label(answered[-1], book, "Calculator", "B")

    assert (found["GPU energy"], found["Batch in use"]) == ("does not fit", "does not fit")
    assert not [
        (sheet, cell)
        for (sheet, cell), value in answered[-1].items()
        if sheet in ("Calculator", "Data_Draws") and str(value).startswith(("#", "Err:"))
    ]
