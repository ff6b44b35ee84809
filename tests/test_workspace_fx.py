"""Bills in other currencies in a workspace: an open month follows the rates, a closed one not."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import rows_of, write_log
from overlay_files import overlay_folder
from workspace_runs import files_of, run

from pipeline import warehouse
from pipeline.monthly import workspace, workspace_load, workspace_rows
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings

pytestmark = pytest.mark.slow

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "input_tokens": 1_000}
BILL = {**SONNET, "output_tokens": 0, "billed_cost_usd": "2.00", "billed_currency": "EUR"}
MONTH = "2026-10"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A workspace with a bill of 2.00 EUR, at a rate of 1.0850."""
    write_log(tmp_path / "bills.jsonl", [BILL])
    set_rate(tmp_path, "1.0850")
    return Settings(
        folder=tmp_path,
        overlay_folder=tmp_path / "overlays",
        inputs=(Input("bills.jsonl"),),
    )


def set_rate(folder: Path, *rates: str) -> None:
    rows = {"fx_rates": [f"{MONTH},EUR,{rate},bank" for rate in rates]}
    overlay_folder(folder / "overlays", rows)


def load(settings: Settings) -> dict[str, Any]:
    [entry] = workspace_load.load_files(settings, lambda text: None).entries
    return entry


def billed(settings: Settings) -> list[tuple[Any, Any]]:
    """Return amount and reasons of each row, as the report of the month reads them."""
    with warehouse.connect(None, 1, threads=2) as con:
        load_reference(con, settings)
        workspace_rows.fill(
            con, settings.folder / "warehouse.duckdb", MONTH, None, copies_all=False
        )
        rows = rows_of(con, "select billed_cost_usd, reject_reasons from raw_usage order by all")
    return [tuple(row.values()) for row in rows]


def test_an_open_month_follows_a_rate_that_changes_after_the_load(settings: Settings) -> None:
    assert load(settings)["billed_cost_usd"] == Decimal("2.17")  # 2.00 · 1.0850
    assert billed(settings) == [(Decimal("2.17"), None)]

    set_rate(settings.folder, "1.1")
    assert load(settings)["state"] == "already loaded"
    assert billed(settings) == [(Decimal("2.2"), None)]  # 2.00 · 1.1

    set_rate(settings.folder)
    assert billed(settings) == [(Decimal(2), "currency_not_usd")]
    set_rate(settings.folder, "1.0850")
    assert billed(settings) == [(Decimal("2.17"), None)]


def test_a_bill_set_aside_counts_once_its_rate_is_there(settings: Settings) -> None:
    late = {**BILL, "occurred_at": "2026-10-06T10:00:00Z", "billed_currency": "gbp "}
    negative = {**late, "billed_cost_usd": "-3"}
    write_log(settings.folder / "bills.jsonl", [BILL, late, negative])
    load(settings)
    assert [reasons for _, reasons in billed(settings)] == [
        "currency_not_usd; billed_cost_negative",
        "currency_not_usd",
        None,
    ]

    rates = [f"{MONTH},EUR,1.0850,bank", f"{MONTH},GBP,1.3,bank"]
    overlay_folder(settings.folder / "overlays", {"fx_rates": rates})

    assert billed(settings) == [
        (Decimal("-3.9"), "billed_cost_negative"),
        (Decimal("2.17"), None),
        (Decimal("2.6"), None),  # 2.00 · 1.3
    ]


def test_a_warehouse_of_before_keeps_its_dollars_until_it_is_loaded_anew(
    settings: Settings,
) -> None:
    load(settings)
    path = settings.folder / "warehouse.duckdb"
    with workspace.opened(path, settings) as con:  # as version 1 left it
        con.execute("update raw_usage set billed_cost_usd = 2.17")
        con.execute("update raw_inputs set input_key = 'with rates'")
        con.execute("alter table raw_inputs drop column is_as_billed")
        con.execute("update workspace set schema_version = 1")
    set_rate(settings.folder, "1.1")
    with workspace.opened(path, settings) as con:
        assert rows_of(con, "select schema_version from workspace") == [{"schema_version": 2}]

    assert billed(settings) == [(Decimal("2.17"), None)]
    assert load(settings)["state"] == "loaded"
    assert billed(settings) == [(Decimal("2.2"), None)]


def test_a_closed_month_keeps_its_rate_and_a_restatement_tells_it_as_price(
    settings: Settings,
) -> None:
    folder = settings.folder
    write_log(folder / "bills.jsonl", [BILL, {**BILL, "occurred_at": "2026-11-02T10:00:00Z"}])
    (folder / "joulebook.toml").write_text("")
    november = "2026-11,EUR,1.2,bank"
    overlay_folder(folder / "overlays", {"fx_rates": [f"{MONTH},EUR,1.0850,bank", november]})
    for words in (("ingest", "bills.jsonl", "--load"), ("close", MONTH)):
        assert run(folder, *words).code == 0
    issued = files_of(folder / "reports" / MONTH)
    overlay_folder(folder / "overlays", {"fx_rates": [f"{MONTH},EUR,1.1,bank", november]})

    assert run(folder, "ingest", "bills.jsonl", "--load").code == 0
    ran = run(folder, "report", "--month", MONTH)

    assert (ran.code, "served as issued" in ran.err) == (0, False)  # built anew, to the byte
    assert files_of(folder / "reports" / MONTH) == issued
    ran = run(folder, "restate", MONTH, "--json")
    assert ran.code == 0, ran
    moved = {step["cause"]: Decimal(step["cost_usd"]) for step in json.loads(ran.out)["bridge"]}
    assert moved.pop("price") == Decimal("0.03")  # 2.00 · (1.1 - 1.0850)
    assert set(moved.values()) == {0}
