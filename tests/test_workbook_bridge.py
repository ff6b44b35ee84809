"""The bridge's data sheets hold both months cell by cell, and Checks that its steps add up."""

import io
from collections.abc import Callable

import openpyxl
import pytest
from conftest import Book
from live_book import made, rendered

from pipeline.report import workbook
from pipeline.report.section import Report
from pipeline.report.workbook import bridge as workbook_bridge
from pipeline.report.workbook.bridge import bridge_tables
from pipeline.report.workbook.data import BookData, numbers_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def both(book_of: Callable[..., Book]) -> tuple[Report, BookData]:
    return made(book_of)


def test_a_cell_carries_what_it_cost_then_and_after_each_step(
    both: tuple[Report, BookData],
) -> None:
    _, data = both
    _, cells = bridge_tables(data, numbers_of(data))
    columns = {column.name: column.values for column in cells.columns}
    names = zip(columns["model_id"], columns["query_class"], columns["team"], strict=True)
    row = list(names).index(("gpt-5-mini", "chat", "support"))

    def found(name: str) -> object:
        return columns[name][row]

    # September: a request, and a bucket of four, each of 1,100 tokens in and 240 out, at 0.25 and
    # 2 USD a million: 2 · (0.000275 + 0.00048) USD
    assert found("priced_request_before_count") == 5
    assert found("cost_before_usd") == pytest.approx(0.00151)
    # October: four requests with 120, 240, 360 and, billed at 0.000801 USD, 240 tokens of answer
    assert found("priced_request_count") == 4
    assert found("output_tokens") == 960
    # at lengths of then: 2 · 240 tokens over five requests, four times
    assert found("then_output_tokens") == pytest.approx(384)
    assert found("cost_at_length_usd") == pytest.approx((4_400 * 0.25 + 960 * 2) / 1e6)


def test_checks_hold_the_steps_against_the_month(book_of: Callable[..., Book]) -> None:
    book = openpyxl.load_workbook(io.BytesIO(rendered(book_of)), data_only=True)
    rows = {row[0]: row for row in book["Checks"].iter_rows(values_only=True) if row[0]}

    for unit in ("USD", "kWh", "kg CO₂e"):
        for claim in (f"Steps of Bridge = this month, {unit}", f"Bridge = Summary, {unit}"):
            assert rows[claim][2] == "✓"
            assert rows[claim][5] == pytest.approx(rows[claim][6], abs=0.005)


def test_too_many_cells_leave_the_steps_as_values(
    both: tuple[Report, BookData], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_bridge, "MOST_CELLS", 3)

    book = openpyxl.load_workbook(io.BytesIO(workbook.render(*both)))

    assert "Data_Bridge" not in book.sheetnames
    table = book["Bridge"].tables["t_month_bridge"]
    cells = [cell for row in book["Bridge"][table.ref] for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert workbook_bridge.STEPS_OF_RUN in [cell.value for cell in book["Bridge"]["A"]]
