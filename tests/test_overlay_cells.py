"""An overlay is read from CSV and workbook alike, and a bad cell gives one line that finds it."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
from conftest import rows_of
from overlay_files import HEADERS, overlay_folder, workbook

from pipeline import warehouse
from pipeline.errors import BadInputError, JoulebookError, WrongUseError
from pipeline.overlays.contracts import COMPANY_TABLES
from pipeline.overlays.overlay import KEYS, load_overlays
from pipeline.overlays.sheets import overlay_files
from pipeline.settings import bundled, read_settings

Con = duckdb.DuckDBPyConnection
Laid = Callable[[], Con]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "overlays"


@pytest.fixture
def laid(con: Con, folder: Path) -> Laid:
    """Lay the overlay folder of the test over the reference tables."""

    def load() -> Con:
        load_overlays(con, folder)
        return con

    return load


def refusal(laid: Laid, error: type[JoulebookError] = BadInputError) -> str:
    with pytest.raises(error) as raised:
        laid()
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


# CSV ---------------------------------------------------------------------------------------------

RATE = "p,m,output,,,2026-01-01,2026-07-01,{},"
BILL = "2026-10,m,H100-SXM,{},{},{},{}"


@pytest.mark.parametrize(
    ("table", "row", "words"),
    [
        (
            "hosting_costs",
            BILL.format(1, -5, 10, "true"),
            "row 2, column hours: expected a number of 0 or more, found '-5'",
        ),
        (
            "hosting_costs",
            BILL.format(1, "about 700", 10, "true"),
            "row 2, column hours: expected a number of 0 or more, found 'about 700'",
        ),
        (
            "hosting_costs",
            BILL.format(1, '"744,5"', 10, "true"),
            "row 2, column hours: expected a number of 0 or more, found '744,5'. Write a decimal "
            "point",
        ),
        ("hosting_costs", BILL.format(1, "744,5", 10, "true"), "row 2: expected 7 cells, found 8"),
        (
            "hosting_costs",
            BILL.format("1.5", 5, 10, "true"),
            "column gpu_count: expected a whole number of 1 or more, found '1.5'",
        ),
        (
            "hosting_costs",
            BILL.format(1, 5, "USD 10", "true"),
            "column usd: expected a number of 0 or more, found 'USD 10'",
        ),
        (
            "hosting_costs",
            BILL.format(1, 5, 10, "maybe"),
            "column bill_includes_power: expected true or false, found 'maybe'",
        ),
        (
            "hosting_costs",
            "October,m,H100-SXM,1,5,10,true",
            "column month: expected a month such as 2026-10, found 'October'",
        ),
        (
            "fx_rates",
            "2026-10,EURO,1.1,bank",
            "column currency: expected the three letters of a currency (ISO 4217) other than USD, "
            "found 'EURO'",
        ),
        ("fx_rates", "2026-10,XYZ,1.1,bank", "column currency: expected the three letters"),
        ("fx_rates", "2026-10,USD,1,bank", "other than USD, found 'USD'"),
        ("fx_rates", "2026-10,EUR,0,bank", "column usd_per_unit: expected a number above 0"),
        ("fx_rates", "2026-10,EUR,1.1,", "column source: expected a text, found ''"),
        (
            "contract_rates",
            RATE.format("4").replace("output", "tokens"),
            "column token_kind: expected one of uncached_input, cache_read",
        ),
        (
            "contract_rates",
            RATE.format("4") + "0.1",
            "column usd_per_mtok or discount_frac: expected one of the two filled, found 'both'",
        ),
        (
            "contract_rates",
            RATE.format(""),
            "column usd_per_mtok or discount_frac: expected one of the two filled, found 'neither'",
        ),
        (
            "contract_rates",
            RATE.format("") + "8",
            "column discount_frac: expected a share from 0 to 1, such as 0.08 for 8 %, found '8'",
        ),
        (
            "contract_rates",
            RATE.format("4").replace("2026-07-01", "2026-01-01"),
            "column valid_to: expected a day after valid_from, found '2026-01-01'",
        ),
        (
            "contract_rates",
            RATE.format("4").replace("2026-01-01", "01/02/2026"),
            "column valid_from: expected a day such as 2026-10-01, or an instant in UTC, found "
            "'01/02/2026'",
        ),
        (
            "prices",
            "openai,gpt-5,output,standard,0,,,,,,cheap,offer,2026-11-01",
            "column usd_per_mtok: expected a number of 0 or more, found 'cheap'",
        ),
        (
            "prices",
            "openai,gpt-5,input,standard,0,,,,,,1,offer,",
            "column token_kind: expected one of uncached_input, cache_read",
        ),
        (
            "prices",
            "openai,gpt-5,output,standard,0,,,7pm,,,1,offer,",
            "column utc_time_from: expected a time of the day in UTC such as 16:30, up to 24:00, "
            "found '7pm'",
        ),
        (
            "prices",
            "openai,gpt-5,output,standard,0,,,,,weekdays,1,offer,",
            "column days: expected a weekday in UTC such as sat, or a span of them such as "
            "mon-fri, found 'weekdays'",
        ),
        (
            "commitments",
            "2026-10,openai,gpt-5,744,1,100,1.2",
            "column used_frac: expected a share from 0 to 1",
        ),
    ],
)
def test_a_bad_cell_is_named_with_file_row_and_column(
    laid: Laid, folder: Path, table: str, row: str, words: str
) -> None:
    overlay_folder(folder, {table: [row]})

    message = refusal(laid)

    assert message.startswith(f"{folder / table}.csv, row 2")
    assert words in message


def test_a_comment_moves_no_row_number(laid: Laid, folder: Path) -> None:
    overlay_folder(folder, {"fx_rates": ["# 2026-10,EUR,1.1,an example", "2026-10,EUR,x,bank"]})

    assert "row 3, column usd_per_unit" in refusal(laid)


def test_rows_of_one_key_may_follow_each_other(laid: Laid, folder: Path) -> None:
    first, second = RATE.format("4"), RATE.format("5").replace("2026-07-01", "")
    overlay_folder(folder, {"contract_rates": [first, second.replace("2026-01-01", "2026-07-01")]})

    assert [row["valid_from"] for row in rows_of(laid(), "from raw_contract_rates")] == [
        "2026-01-01",
        "2026-07-01",
    ]


def test_rows_of_one_key_must_not_share_a_day(laid: Laid, folder: Path) -> None:
    second = RATE.format("5").replace("2026-01-01", "2026-06-30").replace("2026-07-01", "")
    overlay_folder(folder, {"contract_rates": [RATE.format("4"), second]})

    assert "row 3: p, m, output stands there twice for overlapping days; the first is row 2" in (
        refusal(laid)
    )


def test_a_month_has_one_rate_of_a_currency(laid: Laid, folder: Path) -> None:
    overlay_folder(folder, {"fx_rates": ["2026-10,EUR,1.1,bank", "2026-10,eur,1.2,bank"]})

    assert "row 3: 2026-10, eur stands there twice; the first is row 2" in refusal(laid)


def test_a_column_that_is_missing_is_named(laid: Laid, folder: Path) -> None:
    folder.mkdir()
    (folder / "fx_rates.csv").write_text("month,currency,rate\n", encoding="utf-8")

    assert "expected the columns of templates/overlays/fx_rates.csv; missing: source, " in (
        refusal(laid)
    )


def test_a_column_that_may_be_empty_may_be_missing(laid: Laid, folder: Path) -> None:
    folder.mkdir()
    (folder / "contract_rates.csv").write_text(
        "provider,model,token_kind,discount_frac\nopenai,*,*,0.1\n", encoding="utf-8"
    )

    [row] = rows_of(laid(), "from raw_contract_rates")

    assert (row["discount_frac"], row["region"], row["valid_to"]) == ("0.1", None, None)


def test_a_file_cut_by_semicolons_is_read(laid: Laid, folder: Path) -> None:
    folder.mkdir()
    (folder / "fx_rates.csv").write_text(
        "month;currency;usd_per_unit;source\n2026-10;EUR;1.1;bank\n", encoding="utf-8-sig"
    )

    assert rows_of(laid(), "select currency, usd_per_unit from raw_fx_rates") == [
        {"currency": "EUR", "usd_per_unit": "1.1"}
    ]


def test_a_file_of_other_bytes_is_no_table(laid: Laid, folder: Path) -> None:
    folder.mkdir()
    (folder / "fx_rates.csv").write_bytes(b"month,currency\n\xff\xfe\n")

    assert "expected UTF-8 text" in refusal(laid)


# Workbooks ---------------------------------------------------------------------------------------

HEADER = HEADERS["hosting_costs"].split(",")
GOOD: Sequence[Any] = ("2026-10", "m", "H100-SXM", 2, 744.5, 10.25, True)


def test_a_workbook_named_as_a_table_is_read_from_its_first_sheet(laid: Laid, folder: Path) -> None:
    workbook(folder / "hosting_costs.xlsx", {"October": [HEADER, GOOD], "notes": [["x"]]})

    assert rows_of(laid(), "select gpu_count, hours, usd from raw_hosting_costs") == [
        {"gpu_count": "2", "hours": "744.5", "usd": "10.25"}
    ]


def test_the_sheet_of_the_tables_name_goes_before_the_first(laid: Laid, folder: Path) -> None:
    workbook(folder / "hosting_costs.xlsx", {"notes": [["x"]], "hosting_costs": [HEADER, GOOD]})

    assert len(rows_of(laid(), "from raw_hosting_costs")) == 1


def test_one_workbook_may_hold_a_sheet_for_every_table(laid: Laid, folder: Path) -> None:
    rate: list[list[Any]] = [HEADERS["fx_rates"].split(","), ["2026-10", "EUR", 1.085, "bank"]]
    workbook(folder / "finance.xlsx", {"hosting_costs": [HEADER, GOOD], "fx_rates": rate})
    con = laid()

    assert len(rows_of(con, "from raw_hosting_costs")) == 1
    assert rows_of(con, "select usd_per_unit from raw_fx_rates") == [{"usd_per_unit": "1.085"}]


def test_a_month_that_the_spreadsheet_made_a_day_is_that_month(laid: Laid, folder: Path) -> None:
    row = [dt.datetime(2026, 10, 1), *GOOD[1:]]
    workbook(folder / "hosting_costs.xlsx", {"a": [HEADER, row]})

    assert rows_of(laid(), "select month from raw_hosting_costs") == [{"month": "2026-10"}]


def test_hours_of_the_day_may_be_times_of_the_spreadsheet(laid: Laid, folder: Path) -> None:
    row = ["deepseek", "deepseek-chat", "output", "standard", 0, dt.datetime(2026, 10, 1), None]
    cells = [
        *row,
        dt.time(0, 30),
        dt.time(16, 30),
        "Mon-Fri",
        0.9,
        "offer",
        dt.datetime(2026, 10, 1),
    ]
    workbook(folder / "prices.xlsx", {"prices": [HEADERS["prices"].split(","), cells]})

    con = laid()

    con.execute(f"create or replace view stg_prices as {warehouse.models()['stg_prices'].sql}")
    assert rows_of(
        con,
        "select utc_weekday_from, utc_weekday_to, utc_minute_from, utc_minute_to, "
        "valid_from::date as valid_from, usd_per_mtok "
        "from stg_prices where is_own",
    ) == [
        {
            "utc_weekday_from": 1,
            "utc_weekday_to": 6,
            "utc_minute_from": 30,
            "utc_minute_to": 16 * 60 + 30,
            "valid_from": dt.date(2026, 10, 1),
            "usd_per_mtok": Decimal("0.9"),
        }
    ]


def test_a_formula_without_a_stored_value_is_refused_where_it_stands(
    laid: Laid, folder: Path
) -> None:
    row = [*GOOD[:5], "=10*1.21", True]
    workbook(folder / "hosting_costs.xlsx", {"October": [HEADER, row]})

    message = refusal(laid)

    assert "sheet 'October', row 2, column usd: expected a value, found 'a formula without" in (
        message
    )


def test_a_cell_that_shows_an_error_is_refused(laid: Laid, folder: Path) -> None:
    path = workbook(folder / "hosting_costs.xlsx", {"a": [HEADER, GOOD]})
    book = openpyxl.load_workbook(path)
    book["a"]["F2"] = "#REF!"
    book.save(path)

    assert "row 2, column usd: expected a number of 0 or more, found '#REF!'" in refusal(laid)


def test_text_in_a_number_cell_is_refused(laid: Laid, folder: Path) -> None:
    workbook(folder / "hosting_costs.xlsx", {"a": [HEADER, [*GOOD[:4], "744,5", 10, True]]})

    assert re.search(r"sheet 'a', row 2, column hours: .* found '744,5'", refusal(laid))


def test_a_table_has_one_home(laid: Laid, folder: Path) -> None:
    workbook(folder / "finance.xlsx", {"hosting_costs": [HEADER, GOOD]})
    overlay_folder(folder, {"hosting_costs": [BILL.format(1, 5, 10, "true")]})

    assert "hosting_costs is there already, from" in refusal(laid)


def test_a_workbook_without_a_sheet_of_ours_is_wrong_use(laid: Laid, folder: Path) -> None:
    workbook(folder / "budget.xlsx", {"a": [["x"]]})

    assert "expected a file or sheet named" in refusal(laid, WrongUseError)


def test_what_is_no_workbook_is_refused(laid: Laid, folder: Path) -> None:
    folder.mkdir()
    (folder / "hosting_costs.xlsx").write_text("month,usd\n", encoding="utf-8")

    assert "expected an Excel workbook (.xlsx)" in refusal(laid)


def test_the_lock_of_an_open_workbook_is_passed_over(folder: Path) -> None:
    folder.mkdir()
    (folder / "~$hosting_costs.xlsx").write_bytes(b"lock")

    assert overlay_files(folder) == []


# Templates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", sorted(bundled("templates/overlays").glob("*.csv")), ids=lambda path: path.stem
)
def test_a_template_and_its_example_are_read_as_they_stand(
    laid: Laid, folder: Path, path: Path
) -> None:
    header, example = path.read_text(encoding="utf-8").splitlines()
    folder.mkdir()
    (folder / path.name).write_text(f"{header}\n{example.removeprefix('# ')}\n", encoding="utf-8")

    con = laid()

    kept = {"prices": "raw_own_prices"}.get(path.stem, f"raw_{path.stem}")
    assert rows_of(con, f"from {kept}") != []


def test_every_table_has_its_template() -> None:
    names = {path.stem for path in bundled("templates/overlays").glob("*.csv")}
    assert names == {*KEYS, *COMPANY_TABLES}


def test_every_company_table_has_a_model_that_reads_it() -> None:
    models = warehouse.models()

    assert [table for table in COMPANY_TABLES if f"stg_{table}" not in models] == []


@pytest.mark.parametrize("kind", ["nothing", "a file"])
def test_an_overlay_folder_that_is_named_and_not_there_is_refused(
    tmp_path: Path, kind: str
) -> None:
    if kind == "a file":
        (tmp_path / "own").write_text("", encoding="utf-8")
    config = tmp_path / "joulebook.toml"
    config.write_text('overlay_folder = "own"\n', encoding="utf-8")

    with pytest.raises(WrongUseError, match=f"overlay_folder = 'own'; expected .* found {kind} at"):
        read_settings(config)

    config.write_text("", encoding="utf-8")
    assert read_settings(config).overlay_folder == tmp_path / "overlays"  # may be absent
