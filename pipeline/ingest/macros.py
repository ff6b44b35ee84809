"""How the selects of log forms read cells: counts, times and money, unreadable ones marked."""

from pipeline.ingest import contract

MACROS = (
    # An empty cell, or one that spells NULL, says nothing.
    """create or replace macro text_of(x) as (
        nullif(nullif(trim(x::varchar), ''), 'NULL')
    )""",
    # NaN: there, but no number.
    """create or replace macro count_of(x) as (
        case when x is null then null else coalesce(try_cast(x as double), 'nan'::double) end
    )""",
    # A text as a time with a zone, UTC where it names none. To name UTC spares the calendar of
    # zones, which takes twice as long; a text that names a zone already is no time with a second.
    """create or replace macro zoned_time_of(x) as (
        case
            when ends_with(x, 'Z') then try_cast(x as timestamptz)
            else coalesce(try_cast(x || 'Z' as timestamptz), try_cast(x as timestamptz))
        end
    )""",
    # Infinity: there, but no time. By way of microseconds, which costs half of what a conversion
    # by the calendar of zones does; those of infinity are null. A column of times without a zone,
    # such as Parquet has, is taken as it is.
    """create or replace macro time_of(x timestamp) as x, (x varchar) as (
        case
            when x is null then null
            else coalesce(make_timestamp(epoch_us(zoned_time_of(x))), 'infinity'::timestamp)
        end
    ), (x) as (
        case
            when x is null then null
            else coalesce(
                make_timestamp(epoch_us(try_cast(x as timestamptz))), 'infinity'::timestamp
            )
        end
    )""",
    # A number of units after the start that the user tells.
    """create or replace macro time_after_start(x, unit_s) as (
        case
            when x is null then null
            else coalesce(
                time_of(getvariable('assumed_start'))
                + to_microseconds(try_cast(try_cast(x as double) * unit_s * 1e6 as bigint)),
                'infinity'::timestamp
            )
        end
    )""",
    # Seconds since 1970, or milliseconds where seconds would lie beyond the year 5000.
    """create or replace macro epoch_time_of(x) as (
        case
            when x is null then null
            else coalesce(
                to_timestamp(
                    greatest(
                        least(
                            try_cast(x as double)
                            / case when try_cast(x as double) > 1e11 then 1000 else 1 end,
                            1e11
                        ),
                        -1e11
                    )
                ) at time zone 'UTC',
                'infinity'::timestamp
            )
        end
    )""",
    f"""create or replace macro money_of(x) as (
        case
            when x is null then null
            else coalesce(
                try_cast(x as decimal(24, 12)), {contract.UNREADABLE_COST_USD}::decimal(24, 12)
            )
        end
    )""",
    f"""create or replace macro money_of_cents(x) as (
        case
            when x is null then null
            else coalesce(
                (try_cast(x as decimal(22, 10)) * 0.01::decimal(2, 2))::decimal(24, 12),
                {contract.UNREADABLE_COST_USD}::decimal(24, 12)
            )
        end
    )""",
    # The results in the buckets of an API's page, each with the times of its bucket as text. A
    # bucket may also stand alone.
    """create or replace macro results_of(page) as (
        flatten(
            list_transform(
                case when json_exists(page, '$.data') then page -> '$.data[*]' else [page] end,
                lambda bucket: list_transform(
                    json_extract(bucket, '$.results[*]'),
                    lambda result: {
                        'starts_at': coalesce(
                            json_extract_string(bucket, 'start_time'),
                            json_extract_string(bucket, 'starting_at')
                        ),
                        'ends_at': coalesce(
                            json_extract_string(bucket, 'end_time'),
                            json_extract_string(bucket, 'ending_at')
                        ),
                        'result': result
                    }
                )
            )
        )
    )""",
    # Without what is there but unreadable.
    "create or replace macro known_count(x) as (case when not isnan(x) then x end)",
    f"""create or replace macro known_money(x) as (
        nullif(x, {contract.UNREADABLE_COST_USD}::decimal(24, 12))
    )""",
    """create or replace macro seconds_between(first_at, last_at) as (
        case
            when isfinite(first_at) and isfinite(last_at)
                then date_diff('millisecond', first_at, last_at) / 1000.0
        end
    )""",
)
