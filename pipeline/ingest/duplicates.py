"""Mark rows that repeat a request: by its id, or because their whole file was read before."""

import duckdb

from pipeline.ingest import contract
from pipeline.ingest.sources import SOURCE_BY_NAME


def mark_all(con: duckdb.DuckDBPyConnection, input_id: int) -> None:
    """Mark every good row of a file whose content was read before."""
    con.execute(
        "update raw_usage set is_duplicate = true where input_id = $id and reject_reasons is null",
        {"id": input_id},
    )


def mark_repeated(con: duckdb.DuckDBPyConnection) -> None:
    """Mark the rows of raw_usage that repeat a request, by the rule of `repeated_sql`."""
    told = """
        select raw_usage.rowid as row_id, raw_usage.*, source_format
        from raw_usage inner join raw_inputs using (input_id) where not is_duplicate
    """
    con.execute(
        f"update raw_usage set is_duplicate = true from ({repeated_sql(told)}) as later "
        "where raw_usage.rowid = later.row_id"
    )


def repeated_sql(told: str) -> str:
    """Return the SQL of the row_id of rows that repeat a request of a better or earlier row.

    Keep the most complete row of each request: most output, input, money. A request told in two
    months counts in the earlier, so that later logs never move a month. An id names one request of
    one model at one provider: counters of two systems may collide. Between equals the text of the
    whole row decides, so the order of rows changes nothing. Rows are told apart by their place in
    the table: several may come from one line.

    Args:
        told: A select of rows of usage, each with its row_id, input_id and source_format.
    """
    texts = ", ".join(f"{name}::varchar" for name, _ in contract.RECORD)
    content = f"concat_ws('|', {texts})"
    keyed = ", ".join(
        f"'{source.name}'" for source in SOURCE_BY_NAME.values() if source.duplicate_key
    )
    return f"""
        with candidates as not materialized (
            select row_id, input_id, source_line, provider, model_name,
                request_id, month, output_tokens,
                uncached_input_tokens, cache_read_tokens, billed_cost_usd, source_format,
                {content} as content
            from ({told})
            where request_id is not null and reject_reasons is null
                and source_format in ({keyed})
        ),
        repeated as (
            select hash(source_format, provider, model_name, request_id) as request_hash
            from candidates group by request_hash having count(*) > 1
        )
        select row_id
        from candidates
        where hash(source_format, provider, model_name, request_id)
            in (select request_hash from repeated)
        qualify row_number() over (
            partition by source_format, provider, model_name, request_id
            order by
                month,
                output_tokens desc nulls last,
                coalesce(uncached_input_tokens, 0) + coalesce(cache_read_tokens, 0) desc,
                abs(billed_cost_usd) desc nulls last,
                content,
                input_id, source_line, row_id
        ) > 1
    """  # names are our own
