"""A bill in another currency counts at its month's rate, or not at all, and says what to add."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Book, Rows, rows_of
from overlay_files import overlay_folder

from pipeline.errors import BadInputError
from pipeline.ingest.load import find_files, load
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings
from pipeline.warehouse import connect

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "query_class": "chat"}
OCTOBER, NOVEMBER = "2026-10-05T10:00:00Z", "2026-11-01T00:00:00Z"


def billed(team: str, cost: str, currency: str | None, **cells: Any) -> dict[str, Any]:  # noqa: ANN401
    row = {"input_tokens": 1_000, "output_tokens": 0, "billed_cost_usd": cost, **cells}
    return {**SONNET, "team": team, "billed_currency": currency, **row}


ROWS: Rows = [
    billed("euro", "2.00", "EUR"),
    billed("small letters", "2.00", " eur "),
    billed("next month", "2.00", "EUR", occurred_at=NOVEMBER),
    billed("dollar", "2.00", "USD"),
    billed("says nothing", "2.00", None),
    billed("no rate", "2.00", "GBP"),
    billed("yen", "1000", "JPY"),
    {**SONNET, "charge_kind": "support", "billed_cost_usd": "10", "billed_currency": "EUR"},
]
RATES = {
    "fx_rates": [
        "2026-10,EUR,1.0850,bank",
        "2026-11,EUR,1.1,bank",
        "2026-10,JPY,0.0065432101,bank",
    ]
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", RATES)
    return book_of(ROWS, settings=Settings(overlay_folder=folder))


@pytest.mark.parametrize(
    ("team", "usd"),
    [
        ("euro", "2.17"),  # 2.00 · 1.0850
        ("small letters", "2.17"),
        ("next month", "2.2"),  # 2.00 · 1.1, the rate of the month in which it falls
        ("dollar", "2"),
        ("says nothing", "2"),
        ("yen", "6.5432101"),  # 1,000 · 0.0065432101
    ],
)
def test_a_bill_counts_at_the_rate_of_its_month(book: Book, team: str, usd: str) -> None:
    [row] = rows_of(book, f"select billed_cost_usd from int_usage_groups where team = '{team}'")

    assert row["billed_cost_usd"] == Decimal(usd)


def test_a_charge_is_converted_too(book: Book) -> None:
    [row] = rows_of(book, "select billed_cost_usd from mart_other_charges")

    assert row["billed_cost_usd"] == Decimal("10.85")


def test_without_a_rate_the_row_is_set_aside(book: Book) -> None:
    rejected = rows_of(
        book, "select team, reject_reasons from raw_usage where reject_reasons <> ''"
    )

    assert rejected == [{"team": "no rate", "reject_reasons": "currency_not_usd"}]


def test_the_rates_that_were_used_are_shown_with_their_source(book: Book) -> None:
    rows = rows_of(book, "select * from mart_converted_bills order by month, currency")

    # 2 · 2.17 + 10.85 in euros of October
    assert [
        (row["month"], row["currency"], row["rate_usd_per_unit"], row["billed_cost_usd"])
        for row in rows
    ] == [
        ("2026-10", "EUR", Decimal("1.085"), Decimal("15.19")),
        ("2026-10", "JPY", Decimal("0.0065432101"), Decimal("6.5432101")),
        ("2026-11", "EUR", Decimal("1.1"), Decimal("2.2")),
    ]
    assert {row["rate_source"] for row in rows} == {"bank"}


def test_what_to_add_is_told(log: Callable[..., Path]) -> None:
    told: list[str] = []
    with connect(None, 1) as con:
        load_reference(con, Settings())
        load(con, find_files([Input(str(log(ROWS)))], Path()), Settings(), told.append)

    assert [text.partition(": add the row ")[2] for text in told if "GBP" in text] == [
        "2026-10,GBP,<dollars for one GBP>,<source> to overlays/fx_rates.csv "
        "(columns month,currency,usd_per_unit,source)."
    ]


def test_a_file_of_foreign_bills_alone_stops_and_says_what_to_add(
    log: Callable[..., Path],
) -> None:
    path = log([billed("a", str(number), "EUR") for number in range(10)])

    with connect(None, 1) as con, pytest.raises(BadInputError, match="add the row 2026-10,EUR,"):
        load_reference(con, Settings())
        load(con, find_files([Input(str(path))], Path()), Settings())


def test_an_amount_that_cannot_be_read_stays_so(
    build: Callable[..., Book], log: Callable[..., Path], tmp_path: Path
) -> None:
    folder = overlay_folder(tmp_path / "overlays", RATES)

    book = build(log([billed("a", "two", "EUR")]), settings=Settings(overlay_folder=folder))

    [row] = rows_of(book, "select reject_reasons from raw_usage")
    assert row["reject_reasons"] == "billed_cost_unreadable"
