"""The data sheets tie to the cent and the joule, whatever the grain, and stay text and numbers."""

import datetime as dt
import io
import math
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
import polars as pl
import pytest
from conftest import Book
from live_book import CHAT, GPT, MONTH, TEAMS, made, rendered
from python_calamine import CalamineWorkbook
from recalculation import opened, stored

from pipeline.frames.book import book_data, write_requests
from pipeline.report import workbook
from pipeline.report.numbers import clean_text
from pipeline.report.section import Column, Report, Table
from pipeline.report.workbook.cache import Fillings, filled_workbook
from pipeline.report.workbook.data import MOST_TEAMS, BookData, cost_table, numbers_of, usage_table
from pipeline.report.workbook.energy import energy_table
from pipeline.report.workbook.formulas import live
from pipeline.report.workbook.layout import Place, point_at
from pipeline.report.workbook.lines import MOST_LINES, shortened
from pipeline.report.workbook.models import model_table
from pipeline.report.workbook.rows import row_xml, value_xml
from pipeline.report.workbook.table import DataColumn, DataTable
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

# What Excel 2016 has; nothing volatile.
FUNCTIONS = {
    *("ABS", "AND", "COUNT", "COUNTIF", "COUNTIFS", "EXP", "GEOMEAN", "IF", "IFERROR", "INDEX"),
    *("INT", "ISNUMBER", "LN", "LOG", "MATCH", "MAX", "MIN", "NOT", "OR", "PERCENTILE", "ROUND"),
    *("ROWS", "SQRT", "SUM", "SUMIFS", "SUMPRODUCT"),
}


@pytest.fixture(scope="module")
def both(book_of: Callable[..., Book]) -> tuple[Report, BookData]:
    return made(book_of)


@pytest.fixture(scope="module")
def data(both: tuple[Report, BookData]) -> BookData:
    return both[1]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> bytes:
    return rendered(book_of)


def parts(book: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def formulas(book: bytes) -> list[str]:
    return [f for text in parts(book).values() for f in re.findall(r"<f>([^<]*)</f>", text)]


def total(table: DataTable, name: str) -> float:
    column = next(column for column in table.columns if column.name == name)
    return math.fsum(float(v) for v in column.values if v is not None)  # type: ignore[arg-type]


def column(table: DataTable, name: str) -> list[Any]:
    return list(next(column for column in table.columns if column.name == name).values)


def table_of(*columns: DataColumn) -> DataTable:
    return DataTable("d", "D", "What?", columns)


# Grain ----------------------------------------------------------------------------------------


def test_days_add_up_to_months(data: BookData) -> None:
    numbers = numbers_of(data)
    days, months = usage_table(data, numbers), cost_table(data, numbers)

    for name in ("request_count", "input_tokens", "output_tokens", "passes", "decode_pairs"):
        assert total(days, name) == total(months, name)
    for name in ("list_cost_usd", "gpu_energy_j"):
        assert total(days, name) == pytest.approx(total(months, name), rel=1e-12)


@pytest.mark.parametrize("most", [41, 30, 20, 1])
def test_too_many_rows_coarsen_the_grain_and_every_sum_still_ties(
    data: BookData, most: int
) -> None:
    whole = usage_table(data, numbers_of(data))
    numbers = numbers_of(data, most)
    coarse = usage_table(data, numbers, most)

    assert coarse.row_count < whole.row_count
    for name in ("request_count", "output_tokens", "cache_positions", "billed_cost_usd"):
        assert total(coarse, name) == pytest.approx(total(whole, name), rel=1e-12)
    for name in ("list_cost_usd", "gpu_energy_j"):
        assert total(coarse, name) == pytest.approx(total(whole, name), rel=1e-12)


def test_a_coarser_grain_says_so(data: BookData) -> None:
    numbers = numbers_of(data, 20)
    shown = usage_table(data, numbers, 20)

    assert "day" not in [column.name for column in shown.columns]
    assert shown.question.startswith("What was used on each month, by model, class and team?")
    assert "Days would be more than 20 rows, so usage is summed by month." in shown.question
    assert re.search(r"The \d+ smallest teams share one line\.", shown.question)
    assert "other teams, summed" in column(shown, "team")


def test_the_largest_teams_keep_their_lines(data: BookData) -> None:
    # 34 lines of usage by month; support has the most requests but for research's bucket of 50.
    teams = numbers_of(data, 30).teams
    kept = {team for team, number in teams.items() if number}

    assert {"research", "support"} <= kept
    assert len(kept) < len(teams)


def test_names_that_differ_in_case_or_look_like_numbers_have_numbers_of_their_own(
    data: BookData,
) -> None:
    teams = numbers_of(data).teams

    assert len({teams[name] for name in ("007", "7", "a*b", ">5", "Search", "search")}) == 6


def test_a_hundred_thousand_teams_share_a_line_that_ties(data: BookData) -> None:
    costs = data.frame("costs")
    line = costs.filter(pl.col("list_cost_usd").is_not_null()).head(1)
    many = pl.concat([line] * 100_000).with_columns(
        pl.int_range(100_000).cast(pl.String).alias("team")
    )
    crowded = BookData(MONTH, {**data.frames, "costs": pl.concat([costs, many])}, data.grain)

    numbers = numbers_of(crowded)
    shown = cost_table(crowded, numbers)

    assert len(set(numbers.teams.values())) == MOST_TEAMS + 1
    assert shown.row_count < 3_000
    assert total(shown, "list_cost_usd") == pytest.approx(
        total(cost_table(data, numbers_of(data)), "list_cost_usd")
        + 100_000 * float(line["list_cost_usd"][0])
    )


def test_a_million_teams_share_a_line_that_ties(data: BookData) -> None:
    costs = data.frame("costs")
    line = costs.filter(pl.col("list_cost_usd").is_not_null()).head(1)
    many = line.select(pl.all().repeat_by(1_000_000).explode()).with_columns(
        pl.int_range(1_000_000).cast(pl.String).alias("team")
    )
    crowded = BookData(MONTH, {**data.frames, "costs": pl.concat([costs, many])}, data.grain)

    shown = cost_table(crowded, numbers_of(crowded))

    assert shown.row_count < 3_000
    assert total(shown, "request_count") == total(
        cost_table(data, numbers_of(data)), "request_count"
    ) + 1_000_000 * int(line["request_count"][0])
    assert "smallest teams share one line" in shown.question


def test_a_table_longer_than_a_reader_can_bear_ends_in_one_line_that_sums_the_rest() -> None:
    columns = (Column("a", "A", "text"), Column("n", "N", "count"), Column("g", "G", "grade"))
    rows = tuple((str(number), number, "A") for number in range(MOST_LINES + 5))
    table = Table("t", "T", columns, rows, ("Total", sum(range(MOST_LINES + 5)), None))

    short = shortened(table)

    assert len(short.rows) == MOST_LINES
    assert short.rows[-1] == (
        "other lines, summed",
        sum(range(MOST_LINES - 1, MOST_LINES + 5)),
        None,
    )
    assert short.note == "6 lines share one, the last."


def test_small_teams_share_a_line_on_their_sheet_too(data: BookData) -> None:
    numbers = numbers_of(data, 30)
    small = [team for team, number in numbers.teams.items() if not number]
    columns = (
        Column("team", "Team", "text"),
        Column("cost_usd", "Cost", "usd"),
        Column("facility_energy_kwh", "Electricity", "kwh"),
    )
    rows = tuple((team, Decimal(1), 0.5) for team in numbers.teams)
    whole = ("Total", Decimal(len(rows)), 0.5 * len(rows))

    found = live(Table("team_chargeback", "T", columns, rows, whole), numbers, MONTH).table

    assert found.rows[-1][:3] == ("other lines, summed", Decimal(len(small)), 0.5 * len(small))
    assert found.rows[-1][3] == 0  # the number of their line in the data sheets


def energy_rows(data: BookData, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    frame = data.frame("groups").filter(pl.col("energy_j").is_not_null())
    month = frame.filter(pl.col("month_start") == dt.date(2026, 10, 1))
    return month.select("provider", "model_id", "query_class", *columns).rows()


KEYS = tuple(Column(name, name, "text") for name in ("provider", "model_id", "query_class"))
ENERGY = (*KEYS, Column("gpu_energy_j", "GPU energy", "j"))


def test_a_column_that_says_what_the_data_sheet_says_is_looked_up_there(data: BookData) -> None:
    numbers = numbers_of(data)
    rows = tuple(energy_rows(data, ("gpu_energy_j",)))

    found = live(Table("new", "N", ENERGY, rows), numbers, MONTH, energy_table(data, numbers))

    assert found.formulas == {
        "gpu_energy_j": "INDEX(d_energy[gpu_energy_j],MATCH({line_no},d_energy[group_no],0))"
    }


def test_a_column_of_the_same_name_that_says_something_else_stays_a_value(data: BookData) -> None:
    numbers = numbers_of(data)
    rows = tuple((*row[:3], row[3] * 2) for row in energy_rows(data, ("gpu_energy_j",)))

    found = live(Table("new", "N", ENERGY, rows), numbers, MONTH, energy_table(data, numbers))

    assert found.formulas == {}


def test_a_table_with_more_than_a_row_a_line_stays_values(data: BookData) -> None:
    numbers = numbers_of(data)
    rows = tuple(energy_rows(data, ("gpu_energy_j",)) * 2)

    found = live(Table("new", "N", ENERGY, rows), numbers, MONTH, energy_table(data, numbers))

    assert (found.formulas, found.table.columns) == ({}, ENERGY)


# What a cell is ----------------------------------------------------------------------------------


def test_no_name_is_a_formula_and_every_name_stays_what_it_was(book: bytes) -> None:
    sheet = opened(book)["Data_Cost"]
    place = [cell.value for cell in sheet[2]].index("team")
    cells = [row[place] for row in sheet.iter_rows(min_row=3)]

    assert {clean_text(team) for team in TEAMS} <= {cell.value for cell in cells}
    assert {cell.data_type for cell in cells} == {"s"}
    assert {bool(cell.quotePrefix) for cell in cells if cell.value.startswith("=")} == {True}


def test_formulas_hold_nothing_that_a_log_says(book: bytes) -> None:
    assert not [f for f in formulas(book) if "calc'!A0" in f or "SUM(A1)" in f or "1+1" in f]


def test_every_formula_has_its_result_in_the_file(book: bytes) -> None:
    cells = [
        cell
        for name, text in parts(book).items()
        if name.startswith("xl/worksheets/sheet")
        for cell in re.findall(r"<c [^>]*><f>.*?</c>", text)
    ]

    assert len(cells) > 2_000
    assert [cell for cell in cells if "<v></v>" in cell and 't="str"' not in cell] == []
    assert [cell for cell in cells if "<v>" not in cell] == []


def test_a_reader_without_a_calculation_engine_sees_the_numbers(book: bytes) -> None:
    read = CalamineWorkbook.from_filelike(io.BytesIO(book))
    rows = read.get_sheet_by_name("Data_Energy").to_python()[1:]
    place = rows[0].index("cost_usd")
    known = [row[place] for row in rows[1:] if isinstance(row[place], float)]
    summary = read.get_sheet_by_name("Summary").to_python()
    cost = next(row[1] for row in summary if row[0] == "Cost")
    october: list[Any] = [
        row[place]
        for row in rows[1:]
        if row[1] == dt.date(2026, 10, 1) and isinstance(row[place], float)
    ]

    assert len(known) == 6  # four of October, two of September
    assert cost == pytest.approx(math.fsum(october))


def test_two_renderings_are_the_same_bytes(both: tuple[Report, BookData], book: bytes) -> None:
    assert workbook.render(*both) == book


def test_every_part_is_well_formed_and_nothing_is_linked(book: bytes) -> None:
    found = parts(book)

    for name, text in found.items():
        if name.endswith((".xml", ".rels", ".vml")):
            ElementTree.fromstring(text.encode())  # noqa: S314 our own text
    assert not [name for name in found if "externalLink" in name]
    assert not [
        f for f in formulas(book) if "[" in re.sub(r"[dt]_\w+\[+[^]]*\]+(:\[\w+\]\])?", "", f)
    ]


def test_formulas_use_functions_that_excel_2016_has_and_none_that_is_volatile(
    book: bytes,
) -> None:
    used = {name for f in formulas(book) for name in re.findall(r"([A-Z][A-Z0-9.]+)\(", f)}

    assert used <= FUNCTIONS
    assert not [text for text in parts(book).values() if "_xlfn" in text or "cm=" in text]


def test_formulas_carry_no_numbers_but_those_of_the_laws(book: bytes) -> None:
    # 0 and 1 choose and count; 2, 3 and 4 are the laws' own, the squares and logarithm of 2, and
    # the stand-ins of the Calculator; the long one is half a range over its score, 1 / (2 × 1.645).
    texts = {re.sub(r'"[^"]*"|\$?[A-Z]+\$?\d+|[a-z_]\w*', "", f) for f in formulas(book)}

    found = {n for text in texts for n in re.findall(r"\d+(?:\.\d+)?", text)}
    assert found <= {"0", "1", "2", "3", "4", "0.303951367781155"}


def test_sheets_have_short_names_and_their_question_on_top(book: bytes) -> None:
    read = opened(book)

    assert max(map(len, read.sheetnames)) <= 31
    for sheet in read:
        top = sheet["A1" if sheet.tables and sheet["A2"].font.bold else "A2"].value
        assert str(top).rstrip(" .").endswith("?") or "?" in str(top), sheet.title


def test_heads_of_data_sheets_are_there_and_differ(book: bytes) -> None:
    for sheet in opened(book):
        for table in sheet.tables.values():
            heads = [str(cell.value) for cell in sheet[table.ref][0]]
            assert len({head.lower() for head in heads}) == len(heads)
            assert heads == [each.name for each in table.tableColumns]


def test_inputs_are_named_blue_and_checked(book: bytes) -> None:
    read = opened(book)
    named = [name for name in read.defined_names if name.startswith("in_")]

    assert {"in_pue_ratio", "in_batch_api", "in_electricity_usd_per_kwh"} <= set(named)
    for name in named:
        title, _, at = read.defined_names[name].attr_text.partition("!")
        cell = read[title][at.replace("$", "")]
        assert (cell.font.color.rgb, cell.fill.fgColor.rgb) == ("000000FF", "00FFF8E1")
        assert cell.protection.locked is False
    assumptions = read["Assumptions"]
    assert len(assumptions.data_validations.dataValidation) == len(
        [name for name in named if not name.startswith(("in_calc", "in_currency"))]
    )


# Language ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spanish(book_of: Callable[..., Book]) -> bytes:
    return rendered(book_of, language="es")


def test_every_sheet_says_in_spanish_what_it_answers(spanish: bytes, book: bytes) -> None:
    read = opened(spanish)
    tops = {
        sheet.title: str(sheet["A1" if sheet.tables and sheet["A2"].font.bold else "A2"].value)
        for sheet in read
    }

    assert read.sheetnames == opened(book).sheetnames
    assert {name: top for name, top in tops.items() if not top.startswith("¿")} == {}


def test_the_spanish_workbook_computes_the_same_numbers(spanish: bytes, book: bytes) -> None:
    def numbers(made: bytes) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}  # in their order: longer sentences take more rows
        for (sheet, _), value in stored(made).items():
            if not isinstance(value, str):
                found.setdefault(sheet, []).append(value)
        return found

    said = set(stored(spanish).values())

    assert numbers(spanish) == numbers(book)
    assert "✓ Tal como se generó: ningún dato de entrada difiere de la ejecución." in said
    assert opened(spanish).properties.language == "es"


def test_formulas_find_the_heads_that_they_name_in_spanish_too(spanish: bytes) -> None:
    read = opened(spanish)
    heads = {
        (table.displayName, column.name)
        for sheet in read
        for table in sheet.tables.values()
        for column in table.tableColumns
    }
    named = {pair for f in formulas(spanish) for pair in re.findall(r"([dt]_\w+)\[([^][]+)\]", f)}

    assert ("t_assumptions", "Value") in named
    assert named - heads == set()
    assert "Solicitudes" in {head for _, head in heads}


# Checks ------------------------------------------------------------------------------------------


def checks_of(book: bytes) -> dict[str, tuple[Any, ...]]:
    """Return the lines of the table of all checks by their claims, and the overall result."""
    read = openpyxl.load_workbook(io.BytesIO(book), data_only=True)
    sheet = read["Checks"]
    table = sheet.tables["t_all_checks"]
    rows = [tuple(cell.value for cell in row) for row in sheet[table.ref]]
    overall = {"Summary": read["Summary"]["A3"].value, "About": read["About"]["A3"].value}
    assert len(set(overall.values())) == 1
    return {str(row[0]): row[1:] for row in rows} | {"overall": (overall["Summary"],)}


def test_two_ways_to_a_figure_agree(book: bytes) -> None:
    found = checks_of(book)

    for claim in ("Team chargeback = Summary, USD", "Data_Usage = Data_Energy, J of GPUs"):
        _, status, difference, _, expected, actual, _ = found[claim]
        assert (status, difference) == ("✓", 0)
        assert expected == pytest.approx(actual, rel=1e-12)
    assert found["overall"][0].startswith("✓ All ")


def test_a_sum_that_does_not_tie_is_shown_where_everyone_looks(
    both: tuple[Report, BookData],
) -> None:
    report, data = both
    listed = pl.col("cost_source") == "list"
    costs = data.frame("costs").with_columns(
        pl.when(listed).then(pl.col("cost_usd") * 2).otherwise("cost_usd").alias("cost_usd")
    )
    wrong = replace(data, frames={**data.frames, "costs": costs})

    found = checks_of(workbook.render(report, wrong))

    assert found["Data_Cost = Data_Energy, USD"][1] == "✗"
    assert found["overall"][0].startswith("✗ 1 of ")


def test_a_file_beside_the_workbook_that_says_otherwise_is_told(
    both: tuple[Report, BookData],
) -> None:
    report, data = both
    cost = next(f.value for s in report.sections for f in s.key_figures if f.label == "Cost")
    assert isinstance(cost, Decimal)
    issued = {"focus.csv": cost + Decimal("0.004"), "other.csv": cost + Decimal("0.006")}

    found = checks_of(workbook.render(report, replace(data, issued_usd=issued)))

    assert found["Summary = focus.csv, USD"][1] == "✓"  # the same cent
    assert found["Summary = other.csv, USD"][1] == "≠ inputs moved"


# Values that are none ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "xml"),
    [
        (None, ("str", "unpriced")),
        (float("nan"), ("str", "not a number")),
        (Decimal("Infinity"), ("str", "not a number")),
        (True, ("str", "yes")),
        (2**53 + 1, ("n", repr(float(2**53 + 1)))),
        (Decimal("0.10"), ("n", "0.1")),
        (dt.date(2026, 10, 1), ("n", "46296")),  # days since 1899-12-30
        (dt.datetime(2026, 10, 1, 12), ("n", "46296.5")),
        ("a & <b>", ("str", "a &amp; &lt;b&gt;")),
        ("nul\x00", ("str", "nul")),
    ],
)
def test_a_value_becomes_a_number_only_where_it_is_one(value: Any, xml: tuple[str, str]) -> None:  # noqa: ANN401
    assert value_xml(value, "unpriced") == xml


def test_a_time_with_a_zone_becomes_utc() -> None:
    zone = dt.timezone(dt.timedelta(hours=12))

    assert value_xml(dt.datetime(2026, 10, 2, 0, tzinfo=zone), "") == ("n", "46296.5")


def test_text_longer_than_a_cell_ends_in_an_ellipsis() -> None:
    kind, shown = value_xml("x" * 40_000, "")

    assert (kind, len(shown)) == ("str", 32_767)
    assert shown.endswith("x… [cut: 40,000 letters]")


def test_a_formula_stands_where_its_value_is_known() -> None:
    shown = table_of(
        DataColumn("price", "number", "", [2.0, 3.0, 4.0]),
        DataColumn(
            "cost", "number", "", [4.0, None, 8.0], "{price}*2", [True, True, False].__getitem__
        ),
    )

    text = "".join(row_xml(shown, {"price": 1, "cost": 2}, quoted=3))

    assert '<c r="B3" s="2"><f>$A3*2</f><v>4.0</v></c>' in text
    assert '<c r="B4" s="2" t="inlineStr"><is><t xml:space="preserve">unknown</t></is></c>' in text
    assert '<c r="B5" s="2"><v>8.0</v></c>' in text


def test_a_row_is_as_high_as_its_text_needs() -> None:
    shown = table_of(DataColumn("meaning", "text", "", ["x" * 64, "x" * 65, None]))

    text = "".join(row_xml(shown, {"meaning": 1}, quoted=3, wrapped={"meaning": 64}))

    assert re.findall(r"<row ([^>]*)>", text) == [
        'r="3"',
        'r="4" ht="30" customHeight="1"',
        'r="5"',
    ]


def test_text_that_begins_a_formula_stays_text_when_a_reader_edits_it() -> None:
    shown = table_of(DataColumn("team", "text", "", ["=1+1", "plain"]))

    text = "".join(row_xml(shown, {"team": 1}, quoted=3))

    assert re.findall(r'<c r="(A\d)" s="(\d)"', text) == [("A3", "3"), ("A4", "1")]


def test_a_formula_without_a_value_is_refused() -> None:
    book = openpyxl.Workbook()
    book.active.title = "S"
    book.active["A1"] = "=1+1"
    buffer = io.BytesIO()
    book.save(buffer)

    with pytest.raises(ValueError, match="S!A1: a formula without its value: 1\\+1"):
        filled_workbook(buffer.getvalue(), ["S"], Fillings(), dt.datetime(2026, 10, 31))


def test_a_month_without_rows_still_has_its_data_sheets(both: tuple[Report, BookData]) -> None:
    report, data = both
    emptied = ("usage", "costs", "groups", "work", "prices", "bridge_cells", "bridge_prices")
    frames = {n: f.clear() if n in emptied else f for n, f in data.frames.items()}
    empty = BookData(MONTH, frames, data.grain)

    read = openpyxl.load_workbook(io.BytesIO(workbook.render(report, empty)))

    assert read["Data_Cost"].tables["d_cost"].ref.endswith("3")
    assert read["Data_Cost"]["A3"].value is None


def test_the_workbook_holds_a_month_and_the_twelve_before_it(
    book_of: Callable[..., Book],
) -> None:
    days = ("2025-09-30", "2025-10-01", "2026-10-01", "2026-11-01")
    told = book_of([{**GPT, **CHAT, "occurred_at": f"{day}T12:00:00Z"} for day in days])

    data = book_data(told, MONTH)

    for name in ("usage", "costs", "groups"):
        months = data.frame(name)["month_start"].unique().sort().to_list()
        assert months == [dt.date(2025, 10, 1), dt.date(2026, 10, 1)]


def test_a_day_is_one_of_the_zone_of_the_report(book_of: Callable[..., Book]) -> None:
    at = {"occurred_at": "2026-10-04T22:30:00Z"}
    told = book_of([{**GPT, **CHAT, **at}], settings=Settings(time_zone="Europe/Madrid"))

    data = book_data(told, MONTH)

    assert data.frame("usage")["day"].to_list() == [dt.date(2026, 10, 5)]


def test_the_requests_beside_the_workbook_name_no_user_and_hold_no_text(
    book_of: Callable[..., Book], tmp_path: Path
) -> None:
    told = {**GPT, **CHAT, "user_id": "ada", "api_key_id": "key-1", "request_id": "r-1"}
    write_requests(book_of([told]), MONTH, tmp_path / "requests.parquet")

    found = pl.read_parquet(tmp_path / "requests.parquet")

    assert found.height == 1
    assert (found["source_line"][0], found["output_tokens"][0]) == (1, 240)
    assert not [name for name in found.columns if re.search("user|key|prompt|request_id", name)]
    assert not [cell for cell in found.row(0) if cell in ("ada", "key-1", "r-1")]


# Where tables stand ------------------------------------------------------------------------------


def test_a_cell_is_traced_to_its_row_and_column(both: tuple[Report, BookData]) -> None:
    places = workbook.data_places(*both)
    teams = places["team_chargeback"]
    row = teams.head_row + 1

    found = point_at(places, "Teams", f"A{row}")

    assert found is not None
    assert (found.table, found.row, found.column) == ("team_chargeback", 0, "team")
    assert point_at(places, "Teams", "A1") is None
    assert point_at({"t": Place("S", 4, ("a",), 2)}, "S", "A7") is not None  # its total
    assert point_at({"t": Place("S", 4, ("a",), 2)}, "S", "A8") is None


def test_a_closed_model_says_whose_shape_it_is_computed_with(data: BookData) -> None:
    columns = {column.name: column.values for column in model_table(data).columns}
    sources = dict(zip(columns["model_id"], columns["source"], strict=True))

    assert str(sources["gpt-5"]).startswith("deepseek-ai/DeepSeek-V3, a stand-in: ")
    assert "stand-in" not in str(sources["Qwen/Qwen3-32B"])
