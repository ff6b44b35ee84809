"""Bills in other currencies: the month's rate of the company's own table makes them dollars."""

from pathlib import Path

import duckdb

from pipeline.ingest import contract

NO_RATE = "null::decimal(14, 10) as fx_usd_per_unit"

# An amount that could not be read stays so. Up to 10 billion dollars fit.
CONVERTED_SQL = f"""case
            when fx_usd_per_unit is not null
                and billed_cost_usd <> {contract.UNREADABLE_COST_USD}
                then billed_cost_usd * fx_usd_per_unit
            else billed_cost_usd
        end"""


def join_sql(month_sql: str) -> str:
    """Return the join of a row to the rate of its currency in the month that the SQL gives."""
    return f"""left join (
            select
                month as fx_month, currency as fx_currency,
                usd_per_unit::decimal(14, 10) as fx_usd_per_unit
            from raw_fx_rates
        ) as fx_rates
            on fx_currency = upper(trim(billed_currency)) and fx_month = {month_sql}"""


def missing_rates(con: duckdb.DuckDBPyConnection, input_id: int, folder: Path) -> list[str]:
    """Return a line for every month and currency of a file whose bills no rate converts."""
    rows = con.execute(
        """
        select month, upper(trim(billed_currency)) as currency, count(*)
        from raw_usage
        where input_id = $id and contains(reject_reasons, 'currency_not_usd')
        group by all order by all
        """,
        {"id": input_id},
    ).fetchall()
    return [
        f"{count} × {currency} in {month or 'no month'}: add the row "
        f"{month or '2026-10'},{currency},<dollars for one {currency}>,<source> to "
        f"{folder / 'fx_rates.csv'} (columns month,currency,usd_per_unit,source)."
        for month, currency, count in rows
    ]
