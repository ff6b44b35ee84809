"""What a closed month was issued as counts in the next, where another method made its report."""

import json
from pathlib import Path

import duckdb
import pytest

from pipeline.laws.simple import METHOD_VERSION
from pipeline.manifest import shown_settings
from pipeline.monthly import issued_before
from pipeline.monthly.months_state import MonthState
from pipeline.settings import Settings


def issued(
    folder: Path, monkeypatch: pytest.MonkeyPatch, version: str, *, is_closed: bool = True
) -> Settings:
    """Return the settings of January, whose month before was issued as R1 by a version."""
    report = folder / "closed" / "2025-12" / "R1" / "report"
    (report / "data").mkdir(parents=True)
    said = json.dumps({"method_version": version})
    (report / "manifest.json").write_text(said, encoding="utf-8")
    duckdb.execute(
        "copy (select 'month' as total_kind, 12.345::decimal(38, 15) as cost_usd, "
        "3.5::double as facility_energy_kwh, null::double as carbon_gco2e union all "
        "select 'model', 99, 99, 99) to '"
        f"{report / 'data' / 'mart_month_total.parquet'}' (format parquet)"
    )
    monkeypatch.setattr(
        issued_before,
        "state_of",
        lambda settings, month: MonthState(month, "R1", is_closed=is_closed),
    )
    return issued_before.with_issued_before(Settings(folder=folder), "2026-01")


def test_a_report_by_another_method_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = issued(tmp_path, monkeypatch, "older 3")

    assert settings.issued_before == {
        "issue": "R1",
        "method_version": "older 3",
        "cost_usd": "12.345000000",
        "facility_energy_kwh": "3.500000000",
    }
    assert shown_settings(settings)["issued_before"] == settings.issued_before


@pytest.mark.parametrize(("version", "is_closed"), [(METHOD_VERSION, True), ("older 3", False)])
def test_one_version_in_both_months_and_an_open_month_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, is_closed: bool
) -> None:
    settings = issued(tmp_path, monkeypatch, version, is_closed=is_closed)

    assert settings.issued_before == {}
    assert "issued_before" not in shown_settings(settings)
