"""What may be spent: `budgets.csv`, dollars by month and team, or of the whole month."""

import re
from decimal import Decimal, InvalidOperation
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError
from pipeline.overlays.mapping_files import MappingRow, read_mapping

TABLE = "budgets"
COLUMNS = ("month", "team", "usd")
_MOST_USD = Decimal(10) ** 12


def load_budgets(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create raw_budgets from the overlay folder's file, empty where there is none.

    Raises:
        BadInputError: Where a month or amount is not readable, or a budget stands there twice.
    """
    con.execute(
        "create or replace table raw_budgets "
        "(month varchar, team varchar, budget_usd decimal(18, 6))"
    )
    seen: dict[tuple[str, str], int] = {}
    for row in read_mapping(folder, TABLE, COLUMNS, required=("month", "usd")):
        month, team = row.cells["month"] or "", row.cells["team"]
        if not re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])", month):
            raise row.fault("month", "a month such as 2026-10")
        key = (month, (team or "").lower())
        if key in seen:
            raise BadInputError(
                f"{row.where}: rows {seen[key]} and {row.line}: expected one budget for {month} "
                f"and {f'team {team!r}' if team else 'the whole month'}, found two."
            )
        seen[key] = row.line
        con.execute(
            "insert into raw_budgets values ($month, $team, $usd)",
            {"month": month, "team": team, "usd": _usd(row)},
        )


def _usd(row: MappingRow) -> Decimal:
    try:
        usd = Decimal(row.cells["usd"] or "")
    except InvalidOperation:
        raise row.fault("usd", "an amount such as 2500.00") from None
    if not usd.is_finite() or not 0 < usd < _MOST_USD:
        raise row.fault("usd", "an amount above 0, such as 2500.00")
    return usd
