"""What the closed month before was issued as, where another version of the method made its report.

The bridge of a month compares it with the month before by the method of now; what that moved of the
month before, against its own report, is a line of its own.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

import duckdb

from pipeline.laws.simple import METHOD_VERSION
from pipeline.monthly.months_state import state_of
from pipeline.report.sections.reading import month_before
from pipeline.settings import Settings

_MEASURES = ("cost_usd", "facility_energy_kwh", "carbon_gco2e")


def with_issued_before(settings: Settings, month: str) -> Settings:
    """Return the settings of a month of a workspace that know what the month before stated."""
    return replace(settings, issued_before=issued_before(settings, month))


def issued_before(settings: Settings, month: str) -> Mapping[str, str]:
    """Return the month before as issued: issue, version of the method, figures as exact texts.

    Nothing where it is not closed, or was computed by the version of now.
    """
    earlier = month_before(month)
    state = state_of(settings, earlier)
    if not state.is_closed:
        return {}
    report = settings.folder / "closed" / earlier / state.issue / "report"
    version = json.loads((report / "manifest.json").read_text(encoding="utf-8"))["method_version"]
    if version == METHOD_VERSION:
        return {}
    columns = ", ".join(f"{name}::decimal(38, 9)::varchar" for name in _MEASURES)
    [figures] = duckdb.execute(
        f"select {columns} from read_parquet($path) where total_kind = 'month'",
        {"path": str(report / "data" / "mart_month_total.parquet")},
    ).fetchall()
    known = {
        name: value for name, value in zip(_MEASURES, figures, strict=True) if value is not None
    }
    return {"issue": state.issue, "method_version": str(version), **known}
