"""What the workbook computes from, read out of the warehouse: sums, work, prices, coefficients.

Each frame is one select of `sql/exports`, or reference rows as they are. The requests themselves
are too many for a workbook; they go into a Parquet file beside it, without users and without texts.
"""

from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl

from pipeline import dictionary
from pipeline.report.workbook_data import BookData
from pipeline.settings import bundled

_SELECTS = (
    *("usage", "costs", "groups", "work", "prices"),
    *("coefficients", "bias_factors", "models", "list_prices"),
)


def book_data(
    con: duckdb.DuckDBPyConnection, month: str, time_zone: str, folder: Path | None = None
) -> BookData:
    """Return the frames behind the workbook of a month, which hold the months before it too.

    Args:
        con: The built warehouse.
        month: The month, as YYYY-MM.
        time_zone: Zone whose days are the days of the usage.
        folder: Where the other files of the report stand, whose cost the workbook must hold.
    """
    _set_variables(con, month, time_zone)
    frames = {name: con.sql(_sql(f"workbook_{name}")).pl() for name in _SELECTS}
    frames["assumptions"] = con.sql(
        "select assumption, value::double as value, low::double as low, high::double as high "
        "from raw_assumptions order by assumption"
    ).pl()
    frames["grade_ranges"] = con.sql(
        "select evidence_grade, low_ratio, high_ratio from stg_grade_ranges order by all"
    ).pl()
    frames["dictionary"] = pl.DataFrame(
        [
            (
                entry.table,
                entry.column,
                entry.meaning,
                entry.unit,
                entry.type,
                ", ".join(entry.sources),
            )
            for entry in dictionary.entries()
        ],
        schema=["table", "column", "meaning", "unit", "type", "source"],
        orient="row",
    )
    return BookData(month, frames, _issued_costs(con, folder) if folder else {})


def write_requests(con: duckdb.DuckDBPyConnection, month: str, time_zone: str, path: Path) -> None:
    """Write the requests of a month as Parquet, one row a request or billing bucket."""
    _set_variables(con, month, time_zone)
    con.execute(f"copy ({_sql('requests')}\n) to '{path}' (format parquet)")


def _issued_costs(con: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, Decimal]:
    """Return the cost that each file beside the workbook adds up to, read back from the file."""
    wanted = {
        "focus.csv": (
            "select sum(BilledCost::decimal(38, 15)) from read_csv($file, all_varchar = true)"
        ),
        "data/mart_cost_per_task.parquet": "select sum(cost_usd) from read_parquet($file)",
        "data/mart_team_chargeback.parquet": "select sum(cost_usd) from read_parquet($file)",
    }
    costs = {
        name: con.execute(sql, {"file": str(folder / name)}).fetchall()[0][0]
        for name, sql in wanted.items()
    }
    return {name: cost for name, cost in costs.items() if cost is not None}


def _set_variables(con: duckdb.DuckDBPyConnection, month: str, time_zone: str) -> None:
    con.execute("set variable report_month = $month", {"month": month})
    con.execute("set variable time_zone = $zone", {"zone": time_zone})


def _sql(name: str) -> str:
    return (bundled("sql/exports") / f"{name}.sql").read_text(encoding="utf-8")
