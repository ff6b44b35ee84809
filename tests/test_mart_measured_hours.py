"""Hours of own GPUs: what was drawn, what of it idle, what the law of the logged requests says."""

import datetime as dt
from collections.abc import Callable

import polars as pl
import pytest
from audited import RULES, log
from conftest import EXAMPLE_GPU_J, Book, rows_of

from pipeline import warehouse
from pipeline.audit.hours import energy_by_hour
from pipeline.measured_tables import put


def test_an_hour_is_what_its_steps_drew_and_idle_is_where_nothing_ran() -> None:
    # 20 W, and 200 W from 09:50 to 10:10: 600 s in each of two hours.
    samples = log(range(0, 7200, 10), lambda s: 200.0 if 3000 <= s < 4200 else 20.0)

    rows = energy_by_hour(samples, "Europe/Madrid", RULES).sort("hour_start_at").to_dicts()

    assert [row["hour_start_at"].hour for row in rows] == [9, 10]
    assert rows[0]["month"] == "2026-10"
    # One step rises from 20 to 200 W: 10 s at 110 W, which begins at an idle reading.
    assert rows[0]["energy_j"] == pytest.approx(2990 * 20 + 10 * 110 + 600 * 200)
    assert rows[0]["idle_energy_j"] == pytest.approx(2990 * 20 + 10 * 110)
    assert rows[0]["covered_s"] == 3600


def test_utilisation_tells_idle_better_than_power_does() -> None:
    samples = log(range(0, 600, 10), lambda _: 100.0).with_columns(utilisation_frac=0.5)

    busy = energy_by_hour(samples, "UTC", RULES)
    idle = energy_by_hour(samples.with_columns(utilisation_frac=0.0), "UTC", RULES)

    assert busy.item(0, "idle_energy_j") == 0
    assert idle.item(0, "idle_energy_j") == pytest.approx(590 * 100)


@pytest.fixture(scope="module")
def fleet(book_of: Callable[..., Book]) -> Book:
    """Two hours of one request each, of the worked example, on two GPUs with a log."""
    request = {"input_tokens": 900, "output_tokens": 300}
    rows = [
        request | {"request_id": str(hour), "occurred_at": f"2026-10-05T{hour}:05:00Z"}
        for hour in (10, 11)
    ]
    book = book_of(
        rows,
        assumes=[{"gpu": "H100-SXM", "batch": "1", "provider": "vllm"}],
        targets=["int_class_energy"],
    )
    hours = [
        # GPU, hour, J in all, J idle: the first GPU has three quarters of what is not idle.
        ("0", 10, 5000.0, 2000.0), ("1", 10, 3000.0, 2000.0),
        ("0", 11, 8000.0, 2000.0), ("1", 11, 4000.0, 2000.0),
    ]  # fmt: skip
    put(book, "telemetry_hours", pl.DataFrame([
        {"month": "2026-10", "gpu": gpu, "gpu_name": None, "covered_s": 3600.0,
         "hour_start_at": dt.datetime(2026, 10, 5, hour), "energy_j": energy_j,
         "idle_energy_j": idle_j}
        for gpu, hour, energy_j, idle_j in hours
    ], schema_overrides={"gpu_name": pl.String}))  # fmt: skip
    warehouse.build(book, ["mart_measured_hours"])
    return book


def test_the_law_of_an_hour_falls_on_gpus_by_what_they_drew_above_idle(fleet: Book) -> None:
    rows = rows_of(fleet, "select * from mart_measured_hours order by hour_start_at, gpu")

    law_kwh = EXAMPLE_GPU_J / 3_600_000
    shares = [row["law_energy_kwh"] / law_kwh for row in rows]
    assert shares == pytest.approx([0.75, 0.25, 0.75, 0.25], rel=1e-6)
    assert rows[0]["measured_energy_kwh"] == pytest.approx(5000 / 3_600_000)
    assert rows[0]["idle_frac"] == pytest.approx(0.4)
    assert rows[0]["unexplained_energy_kwh"] == pytest.approx(3000 / 3_600_000 - 0.75 * law_kwh)


def test_a_ratio_that_doubles_is_a_drift(fleet: Book) -> None:
    rows = rows_of(fleet, "select distinct drift_frac, is_drifting from mart_measured_hours")

    # 4,000 J over the law in the first hour, 8,000 J in the second.
    assert [(pytest.approx(1.0), True)] == [(r["drift_frac"], r["is_drifting"]) for r in rows]


def test_the_law_of_an_hour_has_the_range_of_its_class(fleet: Book) -> None:
    # One class, so the hour's range is the class's, whatever its share.
    [ends] = rows_of(fleet, "select drawn_p05(gpu_energy_j) as low, drawn_p95(gpu_energy_j) as high"
                            " from int_class_draws")  # fmt: skip
    [row] = rows_of(fleet, "select * from mart_measured_hours where gpu = '0' limit 1")

    # Two requests in the class, one of them in this hour, three quarters of it on this GPU.
    share = 0.75 / 2 / 3_600_000
    assert row["law_energy_low_kwh"] == pytest.approx(ends["low"] * share, rel=1e-6)
    assert row["law_energy_high_kwh"] == pytest.approx(ends["high"] * share, rel=1e-6)
    assert row["law_energy_low_kwh"] < row["law_energy_kwh"] < row["law_energy_high_kwh"]
    assert (row["batch"], row["coefficient_set_id"]) == (1, "h100-sxm-vllm-1")
