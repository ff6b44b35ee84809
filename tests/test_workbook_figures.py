"""Estimates show four significant figures in every cell, counts and money to the cent all digits.

A number format cannot round whole digits away, but it can leave thousands out.
"""

import csv
import subprocess
from pathlib import Path

import openpyxl
import pytest
from need import need_program
from number_formats import shown_text, significant_figures

from pipeline.report.numbers import excel_format, show_in_sheet
from pipeline.report.section import Kind
from pipeline.report.workbook.cells import live_format, write_value
from pipeline.report.workbook.table import HEAD_ROW

EDGES: list[tuple[float, Kind, str, str]] = [
    (9_999.4, "j", "#,##0", "9,999"),
    (9_999.5, "j", '0.00,"k"', "10.00k"),
    (12_345.678, "j", '0.00,"k"', "12.35k"),
    (99_994.9, "kwh", '0.00,"k"', "99.99k"),
    (99_995.0, "kwh", '0.0,"k"', "100.0k"),
    (476_808.624, "j", '0.0,"k"', "476.8k"),
    (999_949.0, "gco2e", '0.0,"k"', "999.9k"),
    (999_950.0, "gco2e", '0.000,,"M"', "1.000M"),
    (4_530_445.8, "j", '0.000,,"M"', "4.530M"),
    (9_999_500.0, "wh", '0.00,,"M"', "10.00M"),
    (12_397_024.2, "j", '0.00,,"M"', "12.40M"),
    (999_950_000.0, "j", '0.000,,,"G"', "1.000G"),
    (-12_345.678, "kwh", '0.00,"k"', "-12.35k"),
    (15_859.8, "number", '0.00,"k"', "15.86k"),
    (12_345.678, "usd_small", '0.00,"k"', "12.35k"),
    (86_400.0, "number", "#,##0", "86,400"),  # a stated fact
    (12_345, "count", "#,##0", "12,345"),
    (84_010_802, "tokens", "#,##0", "84,010,802"),
    (12_345.678, "usd", "#,##0.00", "12,345.68"),
]

_CSV_AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,true"


@pytest.fixture(scope="module")
def sample_book(sample_report: Path) -> openpyxl.Workbook:
    return openpyxl.load_workbook(
        sample_report / "reports/2026-10/joulebook-2026-10.xlsx", data_only=True
    )


@pytest.mark.parametrize(("value", "kind", "number_format", "text"), EDGES)
def test_a_large_estimate_shows_four_figures_and_a_letter(
    value: float, kind: Kind, number_format: str, text: str
) -> None:
    assert excel_format(value, kind) == number_format
    assert shown_text(value, number_format) == text
    assert show_in_sheet(value, kind).replace("−", "-") == text


def test_a_live_estimate_changes_its_letter_with_its_value() -> None:
    small, thousands, millions, billions = (
        live_format(value, "j") for value in (15.3, 12_345.6, 4_530_445.8, 2.5e9)
    )

    assert [shown_text(v, small) for v in (15.34, 12_345.6, 1_234_567.8)] == [
        "15.34",
        "12.3k",
        "1.235M",
    ]
    assert [shown_text(v, thousands) for v in (1_234.5, 12_345.6, 1_234_567.8)] == [
        "1,235",
        "12.35k",
        "1.235M",
    ]
    assert [shown_text(v, millions) for v in (1_234.5, 12_345.6, 4_530_445.8)] == [
        "1,235",
        "12.3k",
        "4.530M",
    ]
    assert [shown_text(v, billions) for v in (1_234.5, 2.5e9)] == ["1,235", "2.500G"]
    assert live_format(-12_345.6, "kwh") == '0.00,"k"'
    assert live_format(12_345, "count") == "#,##0"


@pytest.mark.slow
def test_an_office_program_shows_these_texts(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row, (value, kind, *_) in enumerate(EDGES, start=1):
        write_value(book.active.cell(row, 1), value, kind)
        live = book.active.cell(row, 2, value)
        live.number_format = live_format(value, kind)
    book.save(tmp_path / "edges.xlsx")
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    subprocess.run(
        [
            *(need_program("soffice"), "--headless", profile, "--convert-to", _CSV_AS_SHOWN),
            *("--outdir", str(tmp_path), str(tmp_path / "edges.xlsx")),
        ],
        check=True,
        timeout=120,
        capture_output=True,
    )

    with (tmp_path / "edges.csv").open(encoding="utf-8") as lines:
        shown = [tuple(line) for line in csv.reader(lines)]

    assert shown == [(text, text) for *_, text in EDGES]


@pytest.mark.slow
def test_no_estimate_of_the_sample_shows_more_than_four_figures(
    sample_book: openpyxl.Workbook,
) -> None:
    estimates = {
        f"{sheet.title}!{cell.coordinate}": shown_text(cell.value, cell.number_format)
        for sheet in sample_book
        if not sheet.title.startswith("Data_")  # for formulas and pivots
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, float)
        and cell.value % 1  # no count
        and cell.number_format != "#,##0.00"  # no money to the cent
    }

    assert len(estimates) > 5_000
    assert {c: text for c, text in estimates.items() if significant_figures(text) > 4} == {}
    assert sum(text.endswith("k") for text in estimates.values()) > 100
    assert sum(text.endswith("M") for text in estimates.values()) > 100


@pytest.mark.slow
def test_wide_sheets_of_the_sample_print_one_page_across(sample_book: openpyxl.Workbook) -> None:
    wide = ("Usage", "Energy_law", "Teams", "Lengths", "Agents_by_cache", "Reasoning_budgets")

    assert {name: sample_book[name].page_setup.fitToWidth for name in wide} == dict.fromkeys(
        wide, 1
    )


@pytest.mark.slow
def test_energy_and_carbon_of_data_sheets_show_four_figures(sample_book: openpyxl.Workbook) -> None:
    formats = {
        f"{sheet.title}.{head.value}": sheet.cell(HEAD_ROW + 1, head.column).number_format
        for sheet in sample_book
        if sheet.title.startswith("Data_")
        for head in sheet[HEAD_ROW]
        if str(head.value).partition("_per_")[0].endswith(("_j", "_kwh", "_gco2e"))
    }

    assert len(formats) > 40
    assert set(formats.values()) == {"0.000E+00"}
