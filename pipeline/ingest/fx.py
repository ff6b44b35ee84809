"""Bills in other currencies: the month's rate of the company's own table makes them dollars.

A workspace keeps amounts as they were billed, so that a report follows the rates of its day, and a
closed month those it was closed with.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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


_RULE = "currency_not_usd"
_CONVERT_SQL = f"""
    update raw_usage set billed_cost_usd = judged.cost_usd, reject_reasons = judged.reasons
    from (
        select
            raw_usage.rowid as row_id,
            ({CONVERTED_SQL})::decimal(24, 12) as cost_usd,
            case
                when (fx_usd_per_unit is null) = contains(coalesce(reject_reasons, ''), '{_RULE}')
                    then reject_reasons
                when fx_usd_per_unit is null then concat_ws('; ', reject_reasons, '{_RULE}')
                else
                    nullif(
                        array_to_string(
                            list_filter(
                                string_split(reject_reasons, '; '), lambda x: x <> '{_RULE}'
                            ),
                            '; '
                        ),
                        ''
                    )
            end as reasons
        from raw_usage {{rates}}
        where input_id in (select unnest($ids::integer[]))
            and billed_cost_usd is not null
            and upper(trim(billed_currency)) <> 'USD'
    ) as judged
    where raw_usage.rowid = judged.row_id
"""


def join_sql(month_sql: str) -> str:
    """Return the join of a row to the rate of its currency in the month that the SQL gives."""
    return f"""left join (
            select
                month as fx_month, currency as fx_currency,
                usd_per_unit::decimal(14, 10) as fx_usd_per_unit
            from raw_fx_rates
        ) as fx_rates
            on fx_currency = upper(trim(billed_currency)) and fx_month = {month_sql}"""


@contextmanager
def amounts_as_billed(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let logs be loaded without converting their bills; a month without a rate is judged so."""
    con.execute("create temp table rates_told as from raw_fx_rates")
    con.execute("update raw_fx_rates set usd_per_unit = '1'")
    try:
        yield
    finally:
        con.execute("create or replace table raw_fx_rates as from rates_told")
        con.execute("drop table rates_told")


def convert(con: duckdb.DuckDBPyConnection, input_ids: Iterable[int]) -> None:
    """Convert the bills of files that were loaded as billed, and judge anew what has no rate."""
    ids = list(input_ids)
    if ids:
        con.execute(_CONVERT_SQL.format(rates=join_sql("month")), {"ids": ids})


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
