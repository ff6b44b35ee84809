"""A price of some weekdays and hours holds from its first instant until before its last."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import Book, rows_of
from overlay_files import overlay_folder

from pipeline import warehouse
from pipeline.errors import BadInputError
from pipeline.reference import load_reference
from pipeline.settings import Settings

# The last number is the price: 1 all week, 2 on Friday from 22:00 to 06:00, which is Saturday's
# morning; 3 on Sunday from 22:00 to 06:00, which is Monday's morning.
KEY = "acme,chat-1,{},standard,0,,"
OVERLAY = [
    KEY.format("uncached_input") + ",,,,1,,",
    KEY.format("output") + ",06:00,22:00,,1,,",
    KEY.format("output") + ",22:00,06:00,mon-thu,1,,",
    KEY.format("output") + ",22:00,06:00,fri,2,,",
    KEY.format("output") + ",22:00,06:00,sat,1,,",
    KEY.format("output") + ",22:00,06:00,Sun,3,,",
]
# 30 October 2026 is a Friday.
INSTANTS = {
    "2026-10-30T05:59:59Z": 1,
    "2026-10-30T21:59:59Z": 1,
    "2026-10-30T22:00:00Z": 2,
    "2026-10-30T23:59:59.999999Z": 2,
    "2026-10-31T00:00:00Z": 2,  # Saturday, in the hours that Friday began
    "2026-10-31T05:59:59Z": 2,
    "2026-10-31T06:00:00Z": 1,
    "2026-10-31T23:30:00Z": 1,
    "2026-11-01T21:59:59Z": 1,
    "2026-11-01T22:00:00Z": 3,
    "2026-11-02T00:00:00Z": 3,  # Monday, in the hours that Sunday began
    "2026-11-02T05:59:59Z": 3,
    "2026-11-02T06:00:00Z": 1,
    "2026-10-26T03:00:00Z": 3,  # the Monday before
    "2026-10-31T07:30:00+08:00": 2,  # Friday 23:30 in UTC
}
# A bucket of a day takes that day's dearest, one of more than a day the week's.
BUCKETS = {
    ("2026-10-29T00:00:00Z", "2026-10-30T00:00:00Z"): 1,
    ("2026-10-30T00:00:00Z", "2026-10-31T00:00:00Z"): 2,
    ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"): 3,
    ("2026-10-29T00:00:00Z", "2026-10-31T00:00:00Z"): 3,
}


@pytest.fixture(scope="module")
def priced(
    tmp_path_factory: pytest.TempPathFactory, book_of: Callable[..., Book]
) -> dict[str, Decimal]:
    folder = overlay_folder(tmp_path_factory.mktemp("own") / "overlays", {"prices": OVERLAY})
    row = {"model_name": "chat-1", "provider": "acme", "input_tokens": 10, "output_tokens": 10}
    requests = [{**row, "team": at, "occurred_at": at} for at in INSTANTS]
    buckets = [
        {**row, "team": f"{first} {last}", "occurred_at": first, "bucket_end_at": last}
        for first, last in BUCKETS
    ]
    book = book_of(
        requests + buckets,
        settings=Settings(overlay_folder=folder),
        targets=("int_priced_requests", "int_price_bands"),
    )
    return {
        row["team"]: row["output_usd_per_mtok"]
        for row in rows_of(
            book,
            "select requests.team, bands.output_usd_per_mtok from int_priced_requests as requests "
            "inner join int_price_bands as bands using (price_band_id)",
        )
    }


@pytest.mark.parametrize(("at", "price"), INSTANTS.items())
def test_hours_over_midnight_belong_to_the_day_they_start_on(
    priced: dict[str, Decimal], at: str, price: int
) -> None:
    assert priced[at] == price


@pytest.mark.parametrize(("span", "price"), BUCKETS.items())
def test_a_bucket_takes_the_dearest_price_of_its_day_or_week(
    priced: dict[str, Decimal], span: tuple[str, str], price: int
) -> None:
    assert priced[" ".join(span)] == price


@pytest.mark.parametrize(
    ("one", "other", "is_refused"),
    [
        (",,mon-fri", ",,sat-sun", False),
        (",,mon-fri", ",,fri", True),
        (",,sat-mon", ",,sun", True),
        (",,sat-mon", ",,tue-fri", False),
        ("22:00,06:00,fri", "05:00,07:00,sat", True),  # both at 05:30 on Saturday
        ("22:00,06:00,fri", "06:00,07:00,sat", False),
        ("22:00,06:00,sun", "00:00,01:00,mon", True),
        ("01:00,04:00,", "06:00,10:00,", False),
        ("01:00,04:00,", ",,", True),
    ],
)
def test_two_own_prices_of_one_instant_are_refused(
    tmp_path: Path, one: str, other: str, is_refused: bool
) -> None:
    rows = [f"{KEY.format('output')},{one},1,,", f"{KEY.format('output')},{other},2,,"]
    folder = overlay_folder(tmp_path / "overlays", {"prices": rows})
    with warehouse.connect(None, 1) as con:
        if is_refused:
            with pytest.raises(BadInputError, match=r"row 3: .* stands there twice"):
                load_reference(con, Settings(overlay_folder=folder))
        else:
            load_reference(con, Settings(overlay_folder=folder))
