"""What the workbook computes from, read out of the warehouse: sums, work, prices, coefficients.

Each frame is one select of `sql/exports`, a table of the warehouse, or reference rows as they are.
The requests themselves are too many for a workbook; they go into a Parquet file beside it, without
users and without texts.
"""

from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl

from pipeline import dictionary, warehouse
from pipeline.frames.bridge import bridge_cells, bridge_prices
from pipeline.report.workbook.data import BookData
from pipeline.settings import bundled

_SELECTS = (
    *("groups", "work", "coefficients", "bias_factors", "models", "list_prices"),
    "assumptions",
    *("grade_ranges", "draws"),
)
MONTHS_SHOWN = 13  # a month, and those it is compared with, back to the same of last year
_SHOWN = "between getvariable('first_month') and getvariable('report_month')"
_GROUPS = "int_usage_groups"
# Of a line of usage, beside the columns that name it.
_COUNTS = ("request_count", "measurable_request_count")
_SUMS = (
    *("input_tokens", "uncached_input_tokens", "cache_read_tokens", "cache_write_5m_tokens"),
    *("cache_write_1h_tokens", "output_tokens"),
)
_MOMENTS = (
    *("prefilled_tokens", "prefill_pairs", "prompts", "cache_positions"),
    *("decode_pairs", "decode_steps", "passes"),
)


def book_data(con: duckdb.DuckDBPyConnection, month: str, folder: Path | None = None) -> BookData:
    """Return the frames behind the workbook of a month, which hold the months before it too.

    Args:
        con: The built warehouse.
        month: The month, as YYYY-MM.
        folder: Where the other files of the report stand, whose cost the workbook must hold.
    """
    _set_variables(con, month)
    frames = {name: con.sql(_sql(f"workbook_{name}")).pl() for name in _SELECTS}
    grain = tuple(key for key in warehouse.models()[_GROUPS].grain if key != "month")
    frames["usage"] = con.sql(_usage_sql(grain)).pl()
    frames["bridge_cells"] = bridge_cells(con)
    frames["bridge_prices"] = bridge_prices(con, _same_line(grain))
    frames["costs"] = con.sql(_costs_sql(con, grain)).pl()
    frames["prices"] = con.sql(
        f"select * from int_price_bands where price_band_id in (select price_band_id from {_GROUPS}"
        f" where month {_SHOWN}) order by price_band_id"
    ).pl()
    frames["dictionary"] = pl.DataFrame(
        [
            (each.table, each.column, each.meaning, each.unit, each.type, ", ".join(each.sources))
            for each in dictionary.entries()
        ],
        schema=["table", "column", "meaning", "unit", "type", "source"],
        orient="row",
    )
    return BookData(month, frames, grain, _issued_costs(con, folder) if folder else {})


def write_requests(con: duckdb.DuckDBPyConnection, month: str, path: Path) -> None:
    """Write the requests of a month as Parquet, one row a request or billing bucket."""
    _set_variables(con, month)
    con.execute(f"copy ({_sql('requests')}\n) to '{path}' (format parquet)")


def _usage_sql(grain: tuple[str, ...]) -> str:
    """Return the lines of usage by day, wasted or not."""
    sums = (*_COUNTS, *_SUMS, *_MOMENTS, "billed_cost_usd")
    by_day = (
        f"select month, day_on as day, {', '.join(grain)}, "
        f"{', '.join(f'sum({name}) as {name}' for name in sums)} from int_usage_days group by all"
    )
    return (
        f"select {_usage_columns('usage', ('day', *grain))}, usage.billed_cost_usd "
        f"from ({by_day}) as usage where usage.month {_SHOWN} order by all"
    )


def _costs_sql(con: duckdb.DuckDBPyConnection, grain: tuple[str, ...]) -> str:
    """Return the lines of usage by month, each with every cost that it has."""
    known = con.sql("from int_group_costs limit 0").columns
    costs = [
        name for name in known if name.endswith(("_usd", "_request_count")) or name == "cost_source"
    ]
    return (
        f"select {_usage_columns('usage', grain)}, "
        f"{', '.join(_whole(f'costs.{name}', name) for name in costs)} from {_GROUPS} as usage "
        f"inner join int_group_costs as costs on usage.month = costs.month and {_same_line(grain)} "
        f"where usage.month {_SHOWN} order by all"
    )


def _same_line(grain: tuple[str, ...]) -> str:
    return " and ".join(f"usage.{key} is not distinct from costs.{key}" for key in grain)


def _usage_columns(alias: str, keys: tuple[str, ...]) -> str:
    columns = [f"({alias}.month || '-01')::date as month_start"]
    columns += [f"{alias}.{key}" for key in keys]
    columns += [f"{alias}.{name}::bigint as {name}" for name in (*_COUNTS, *_SUMS)]
    columns += [f"coalesce({alias}.{name}, 0)::double as {name}" for name in _MOMENTS]
    return ", ".join(columns)


def _whole(column: str, name: str) -> str:
    return f"{column}::bigint as {name}" if name.endswith("_count") else f"{column} as {name}"


def _issued_costs(con: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, Decimal]:
    """Return the cost that each file beside the workbook adds up to, read back from the file."""
    wanted = {
        "requests in focus.csv": (
            "select sum(EffectiveCost::decimal(38, 15)) from read_csv($file, all_varchar = true) "
            "where x_QueryClass <> ''"  # of requests: credits, taxes and idle GPUs have no class
        ),
        "data/mart_cost_per_task.parquet": "select sum(cost_usd) from read_parquet($file)",
        "data/mart_month_total.parquet": (
            "select sum(cost_usd) from read_parquet($file) where total_kind = 'month'"
        ),
        "data/mart_project_chargeback.parquet": "select sum(cost_usd) from read_parquet($file)",
        "data/mart_team_chargeback.parquet": "select sum(cost_usd) from read_parquet($file)",
    }
    costs = {
        name: con.execute(sql, {"file": str(folder / name.split()[-1])}).fetchall()[0][0]
        for name, sql in wanted.items()
    }
    return {name: cost for name, cost in costs.items() if cost is not None}


def _set_variables(con: duckdb.DuckDBPyConnection, month: str) -> None:
    con.execute("set variable report_month = $month", {"month": month})
    con.execute(
        "set variable first_month = (select strftime(($month || '-01')::date - "
        f"interval {MONTHS_SHOWN - 1} month, '%Y-%m'))",
        {"month": month},
    )


def _sql(name: str) -> str:
    return (bundled("sql/exports") / f"{name}.sql").read_text(encoding="utf-8")
