"""What the workbook computes from, read out of the warehouse: sums, work, prices, coefficients.

Each frame is one select of `sql/exports`, or reference rows as they are. The requests themselves
are too many for a workbook; they go into a Parquet file beside it, without users and without texts.
"""

from pathlib import Path

import duckdb

from pipeline.report.workbook_data import BookData
from pipeline.settings import bundled

_SELECTS = (
    *("usage", "costs", "groups", "work", "prices"),
    *("coefficients", "bias_factors", "models", "list_prices"),
)


def book_data(con: duckdb.DuckDBPyConnection, month: str, time_zone: str) -> BookData:
    """Return the frames behind the workbook of a month, which hold the months before it too."""
    _set_variables(con, month, time_zone)
    frames = {name: con.sql(_sql(f"workbook_{name}")).pl() for name in _SELECTS}
    frames["assumptions"] = con.sql(
        "select assumption, value::double as value, low::double as low, high::double as high "
        "from raw_assumptions order by assumption"
    ).pl()
    frames["grade_ranges"] = con.sql(
        "select evidence_grade, low_ratio, high_ratio from stg_grade_ranges order by all"
    ).pl()
    return BookData(month, frames)


def write_requests(con: duckdb.DuckDBPyConnection, month: str, time_zone: str, path: Path) -> None:
    """Write the requests of a month as Parquet, one row a request or billing bucket."""
    _set_variables(con, month, time_zone)
    con.execute(f"copy ({_sql('requests')}\n) to '{path}' (format parquet)")


def _set_variables(con: duckdb.DuckDBPyConnection, month: str, time_zone: str) -> None:
    con.execute("set variable report_month = $month", {"month": month})
    con.execute("set variable time_zone = $zone", {"zone": time_zone})


def _sql(name: str) -> str:
    return (bundled("sql/exports") / f"{name}.sql").read_text(encoding="utf-8")
