"""Find usage that several files tell in different forms or bucket widths, and count it once.

A dashboard's export and the API's page of the same days are one usage, and so are its hours and its
days. Rows of one form and width have ids; across forms only the counts themselves can tell.
"""

import duckdb

from pipeline.ingest.sources import SOURCE_BY_NAME
from pipeline.ingest.tables import make_room

# Input and output of the finer buckets that are this close to those of the coarser one are it.
TOLERANCE_FRAC = 0.001
COARSER = "the same usage in a coarser export"
OTHER = "the same usage in another export"

# Requests beside buckets: told only where the buckets are large enough to hold the requests.
_HELD_FRAC = 0.9
_MOST_NOTES = 5


def set_coarser_aside(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Mark buckets whose usage finer ones tell too, and return notes on what may count twice.

    A bucket is compared with the finer ones that lie within its time, of the same provider and
    model, and of the same project and key where both exports name them. Where they agree the finer
    count; where they do not, both count, and a note names the files.
    """
    if not _has_buckets(con):
        return []
    con.execute(_BUCKETS_SQL)
    con.execute(_RATES_SQL)
    notes = []
    exports = con.execute("select count(distinct (source_format, width_s)) from buckets").fetchall()
    if exports[0][0] > 1:
        con.execute(_CELLS_SQL)
        make_room(con, {"duplicate_reason"})
        con.execute(
            "update raw_usage set is_duplicate = true, duplicate_reason = agreed.reason "
            f"from ({_AGREED_SQL}) as agreed where raw_usage.rowid = agreed.row_id"
        )
        notes += [_differing(*row) for row in con.execute(_DIFFERING_SQL).fetchall()]
        con.execute("drop table cells")
    notes += [_beside(*row) for row in con.execute(_BESIDE_SQL).fetchall()]
    con.execute("drop table buckets")
    con.execute("drop table rates")
    hidden = len(notes) - _MOST_NOTES
    return notes[:_MOST_NOTES] + ([f"and {hidden} more pairs of files like that"] * (hidden > 0))


def _has_buckets(con: duckdb.DuckDBPyConnection) -> bool:
    return bool(
        con.execute("select 1 from raw_usage where bucket_end_at > occurred_at limit 1").fetchall()
    )


def _differing(
    coarse_file: str, fine_file: str, model: str, day: str, days: int, coarse: int, fine: int,
    usd: float | None,
) -> str:  # fmt: skip
    return (
        f"{coarse_file} and {fine_file} both tell {model} on {day}{_more(days)}, but not the same: "
        f"{coarse:,} against {fine:,} tokens. BOTH COUNT{_money(usd)}; leave one of them out"
    )


def _beside(
    bucket_files: list[str], bucket_format: str, request_files: list[str], model: str, days: int,
    bucket_tokens: int, request_tokens: int, usd: float | None,
) -> str:  # fmt: skip
    return (
        f"single requests of {model} in {_files(request_files)}, and its sums in "
        f"{_files(bucket_files)} ({SOURCE_BY_NAME[bucket_format].title}), fall on the same "
        f"{_days(days)}: {request_tokens:,} and {bucket_tokens:,} tokens. Both count{_money(usd)}; "
        "if the sums hold these requests, leave one of the two out"
    )


def _money(usd: float | None) -> str:
    """Say what the smaller side costs at list price, as if nothing were cached."""
    return "" if usd is None else f" (up to {usd:,.2f} USD twice, at list prices)"


def _files(names: list[str]) -> str:
    more = len(names) - 1
    return names[0] + (f" and {more} more file{'s' * (more > 1)}" if more else "")


def _days(days: int) -> str:
    return f"{days} days" if days > 1 else "day"


def _more(days: int) -> str:
    more = days - 1
    return f" and {more} more day{'s' * (more > 1)}" if more else ""


# List prices by the name in the log, the dearest where they go by the hour.
_RATES_SQL = """
    create or replace temp table rates as
    select
        provider,
        name as model_name,
        token_kind,
        coalesce(valid_from::date, '1900-01-01'::date) as valid_from,
        coalesce(valid_to::date, '9999-01-01'::date) as valid_to,
        max(usd_per_mtok::double) as usd_per_mtok
    from raw_prices inner join raw_price_names using (provider, price_model)
    where service_tier = 'standard' and input_tokens_from = '0'
        and token_kind in ('uncached_input', 'output')
    group by all
"""


def _usd_sql(row: str, day: str, input_tokens: str, output_tokens: str) -> str:
    """Return the SQL of what tokens of a row's provider and model cost on a day; null: no price."""
    price = (
        "(select max(usd_per_mtok) from rates where rates.provider = {row}.provider"
        " and rates.model_name = {row}.model_name and token_kind = '{kind}'"
        " and {day} >= valid_from and {day} < valid_to)"
    )
    into, out = (price.format(row=row, day=day, kind=kind) for kind in ("uncached_input", "output"))
    return f"({input_tokens} * {into} + {output_tokens} * {out}) / 1e6"


_BUCKETS_SQL = """
    create or replace temp table buckets as
    select
        raw_usage.rowid as row_id,
        input_id,
        source_file,
        source_format,
        lower(coalesce(provider, '')) as provider,
        lower(model_name) as model_name,
        project,
        api_key_id,
        request_count,
        occurred_at,
        bucket_end_at,
        date_diff('second', occurred_at, bucket_end_at) as width_s,
        uncached_input_tokens + coalesce(cache_read_tokens, 0)
        + coalesce(cache_write_5m_tokens, 0) + coalesce(cache_write_1h_tokens, 0) as input_tokens,
        output_tokens
    from raw_usage inner join raw_inputs using (input_id)
    where reject_reasons is null and not is_duplicate and charge_kind is null
        and bucket_end_at > occurred_at
        and uncached_input_tokens is not null and output_tokens is not null
"""

# A cell is one span of the coarser export, with what the finer one tells of it.
_CELLS_SQL = """
    create or replace temp table cells as
    with
    exports as (
        select
            source_format, width_s,
            bool_or(project is not null) as has_project,
            bool_or(api_key_id is not null) as has_key,
            has_project::integer + has_key::integer
            + bool_or(request_count is not null)::integer as detail
        from buckets
        group by source_format, width_s
    ),
    pairs as (
        select
            coarse.source_format as coarse_format, coarse.width_s as coarse_width_s,
            fine.source_format as fine_format, fine.width_s as fine_width_s,
            coarse.has_project and fine.has_project as has_project,
            coarse.has_key and fine.has_key as has_key
        from exports as coarse
        inner join exports as fine
            on fine.width_s < coarse.width_s
            or (
                fine.width_s = coarse.width_s
                and (fine.detail > coarse.detail
                    or (fine.detail = coarse.detail and fine.source_format < coarse.source_format))
            )
    ),
    coarse_cells as (
        select
            pairs.*, provider, model_name, occurred_at, bucket_end_at,
            if(has_project, project, null) as cell_project,
            if(has_key, api_key_id, null) as cell_key,
            sum(input_tokens) as coarse_input, sum(output_tokens) as coarse_output,
            list(row_id) as coarse_rows, min(source_file) as coarse_file
        from pairs
        inner join buckets
            on coarse_format = source_format and coarse_width_s = width_s
        group by all
    )
    select
        coarse_cells.*,
        min(fine.source_file) as fine_file,
        sum(fine.input_tokens) as fine_input, sum(fine.output_tokens) as fine_output
    from coarse_cells
    inner join buckets as fine
        on fine_format = fine.source_format and fine_width_s = fine.width_s
        and coarse_cells.provider = fine.provider
        and coarse_cells.model_name = fine.model_name
        and fine.occurred_at >= coarse_cells.occurred_at
        and fine.bucket_end_at <= coarse_cells.bucket_end_at
        and (not has_project or cell_project is not distinct from fine.project)
        and (not has_key or cell_key is not distinct from fine.api_key_id)
    group by all
"""

_AGREES = f"""(
    abs(fine_input - coarse_input) <= {TOLERANCE_FRAC} * coarse_input
    and abs(fine_output - coarse_output) <= {TOLERANCE_FRAC} * coarse_output
)"""

_AGREED_SQL = f"""
    select row_id, max(reason) as reason
    from (
        select
            unnest(coarse_rows) as row_id,
            if(fine_width_s < coarse_width_s, '{COARSER}', '{OTHER}') as reason
        from cells
        where {_AGREES}
    )
    group by row_id
"""

_DIFFERING_USD = _usd_sql(
    "cells",
    "occurred_at::date",
    "least(coarse_input, fine_input)",
    "least(coarse_output, fine_output)",
)
_DIFFERING_SQL = f"""
    select
        coarse_file, fine_file, min(model_name),
        strftime(min(occurred_at), '%Y-%m-%d'), count(distinct occurred_at::date),
        sum(coarse_input + coarse_output)::bigint, sum(fine_input + fine_output)::bigint,
        sum(usd)
    from (select cells.*, {_DIFFERING_USD} as usd from cells where not {_AGREES})
    group by coarse_file, fine_file
    order by coarse_file, fine_file
"""

_BESIDE_SQL = rf"""
    with
    requested as (
        select
            source_format, list(distinct source_file) as files,
            lower(coalesce(provider, '')) as provider,
            regexp_replace(lower(model_name), '-\d{{4}}-\d{{2}}-\d{{2}}$', '') as model_name,
            occurred_at::date as day,
            sum(uncached_input_tokens + coalesce(cache_read_tokens, 0)
                + coalesce(cache_write_5m_tokens, 0) + coalesce(cache_write_1h_tokens, 0))
                as input_tokens,
            sum(output_tokens) as output_tokens
        from raw_usage inner join raw_inputs using (input_id)
        where reject_reasons is null and not is_duplicate and charge_kind is null
            and bucket_end_at is null
        group by all
    ),
    priced as (
        select
            requested.* exclude (model_name), requested.model_name as model,
            input_tokens + output_tokens as tokens,
            {_usd_sql("requested", "requested.day", "input_tokens", "output_tokens")} as usd
        from requested
    ),
    bucketed as (
        select
            source_format, list(distinct source_file) as files, provider,
            regexp_replace(model_name, '-\d{{4}}-\d{{2}}-\d{{2}}$', '') as model,
            occurred_at::date as day,
            sum(input_tokens + output_tokens) as tokens
        from buckets
        group by all
    )
    select
        list_sort(list_distinct(flatten(list(bucketed.files)))), bucketed.source_format,
        list_sort(list_distinct(flatten(list(requested.files)))),
        min(bucketed.model), count(distinct day), sum(bucketed.tokens)::bigint,
        sum(requested.tokens)::bigint, sum(requested.usd)
    from bucketed
    inner join priced as requested using (provider, model, day)
    group by bucketed.source_format, requested.source_format, bucketed.model
    having sum(bucketed.tokens) >= {_HELD_FRAC} * sum(requested.tokens)
    order by bucketed.source_format, requested.source_format, bucketed.model
"""
