"""A law printed for a spreadsheet gives the number of its Python function."""

import inspect
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import get_column_letter
from recalculation import recalculated
from test_dialects import draws, less_its_square, one_over_its_square, square_of_the_negative

from pipeline import dialects
from pipeline.laws import facility, simple, work
from pipeline.report.workbook.rows import filled

ROWS = 25
Law = Callable[..., Any]
LAWS = (*work.LAWS, *simple.LAWS, *facility.LAWS)


def test_a_formula_names_its_arguments_in_braces() -> None:
    assert dialects.excel_formula(simple.prefill_energy_j) == "{a_j_per_flop}*{prefill_flop}"


def test_what_stands_for_an_argument_replaces_it() -> None:
    printed = dialects.excel_formula(simple.prefill_energy_j, {"prefill_flop": "in_flop"})

    assert printed == "{a_j_per_flop}*in_flop"


def test_a_unit_of_the_law_may_have_a_name() -> None:
    printed = dialects.excel_formula(facility.facility_energy_kwh, constants={3_600_000: "per"})

    assert printed == "{facility_ratio}*{gpu_energy_j}/per"


@pytest.mark.parametrize("law", [less_its_square, square_of_the_negative, one_over_its_square])
def test_whole_powers_are_printed_as_products(law: Law) -> None:
    assert "^" not in dialects.excel_formula(law)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_law_fits_into_a_cell_and_needs_no_new_function(law: Law) -> None:
    printed = dialects.excel_formula(law)

    assert len(printed) < 8_192
    assert set(re.findall(r"([A-Z]+)\(", printed)) <= {"ABS", "INT", "SQRT"}


@pytest.mark.slow
def test_every_law_has_the_same_number_in_a_spreadsheet(tmp_path: Path) -> None:
    laws: list[Law] = [*LAWS, less_its_square, square_of_the_negative, one_over_its_square]
    book = openpyxl.Workbook()
    book.remove(book.active)
    expected: dict[tuple[str, str], float] = {}
    for number, law in enumerate(laws):
        sheet = book.create_sheet(f"law{number}")
        template = dialects.excel_formula(law)
        rows = draws(law)[:ROWS] if law in LAWS else [[-3.0], [0.5], [9.0]]
        for index, row in enumerate(rows, start=1):
            names = inspect.signature(law).parameters
            for column, value in enumerate(row, start=2):
                sheet.cell(index, column).value = value
            cells = {n: f"{get_column_letter(c)}{index}" for c, n in enumerate(names, start=2)}
            sheet.cell(index, 1).value = f"={filled(template, cells)}"
            expected[sheet.title, f"A{index}"] = float(law(*row))
    buffer = io.BytesIO()
    book.save(buffer)

    found = recalculated(buffer.getvalue(), tmp_path)

    assert len(found) == len(expected)
    assert {
        place: (value, found[place])
        for place, value in expected.items()
        if found[place] != pytest.approx(value, rel=1e-12)
    } == {}
