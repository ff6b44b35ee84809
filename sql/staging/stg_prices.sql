-- One list price of one kind of token, in force from valid_from until before valid_to: on weekdays
-- (UTC, Monday is 1) from one until before another, on each of them from one minute until before
-- another. The company's own rows stand beside the list's.
-- Hours that run over midnight belong to the day they start on: fri 22:00 to 06:00 is Friday's
-- evening and Saturday's morning. Days and hours that run over an end are two rows.
-- noqa: disable=LT05
-- materialised: view
-- grain: provider, price_model, token_kind, service_tier, input_tokens_from, valid_from, utc_weekday_from, utc_minute_from, is_own

with

all_rows as (
    select
        raw_prices.provider,
        raw_prices.price_model,
        raw_prices.token_kind,
        raw_prices.service_tier,
        raw_prices.input_tokens_from,
        raw_prices.valid_from,
        raw_prices.valid_to,
        raw_prices.utc_time_from,
        raw_prices.utc_time_to,
        raw_prices.days,
        raw_prices.usd_per_mtok,
        false as is_own
    from raw_prices
    union all
    select
        lower(raw_own_prices.provider) as provider,
        raw_own_prices.price_model,
        lower(raw_own_prices.token_kind) as token_kind,
        lower(raw_own_prices.service_tier) as service_tier,
        raw_own_prices.input_tokens_from,
        raw_own_prices.valid_from,
        raw_own_prices.valid_to,
        raw_own_prices.utc_time_from,
        raw_own_prices.utc_time_to,
        lower(raw_own_prices.days) as days,
        raw_own_prices.usd_per_mtok,
        true as is_own
    from raw_own_prices
),

weekdays as (
    select
        names.day_name,
        names.weekday
    from (
        values
        ('mon', 1), ('tue', 2), ('wed', 3), ('thu', 4), ('fri', 5), ('sat', 6), ('sun', 7)
    ) as names (day_name, weekday)
),

timed as (
    select
        all_rows.provider,
        all_rows.price_model,
        all_rows.token_kind,
        all_rows.service_tier,
        all_rows.input_tokens_from,
        all_rows.valid_from,
        all_rows.valid_to,
        all_rows.usd_per_mtok,
        all_rows.is_own,
        coalesce(first_days.weekday, 1) as weekday_from,
        (coalesce(last_days.weekday, 7) - coalesce(first_days.weekday, 1) + 7) % 7 + 1
            as weekday_count,
        coalesce(
            split_part(all_rows.utc_time_from, ':', 1)::integer * 60
            + split_part(all_rows.utc_time_from, ':', 2)::integer,
            0
        ) as minute_from,
        coalesce(
            split_part(all_rows.utc_time_to, ':', 1)::integer * 60
            + split_part(all_rows.utc_time_to, ':', 2)::integer,
            1440
        ) as minute_to
    from all_rows
    left join weekdays as first_days
        on split_part(all_rows.days, '-', 1) = first_days.day_name
    left join weekdays as last_days
        on
            coalesce(nullif(split_part(all_rows.days, '-', 2), ''), all_rows.days)
            = last_days.day_name
),

-- What lies before midnight, then what lies after it, a day later.
spans as (
    select
        timed.provider,
        timed.price_model,
        timed.token_kind,
        timed.service_tier,
        timed.input_tokens_from,
        timed.valid_from,
        timed.valid_to,
        timed.usd_per_mtok,
        timed.is_own,
        case
            when timed.weekday_count = 7 then timed.weekday_from
            else (timed.weekday_from - 1 + nights.later_days) % 7 + 1
        end as weekday_from,
        timed.weekday_count,
        case when nights.later_days = 0 then timed.minute_from else 0 end as minute_from,
        case
            when nights.later_days = 0 and timed.minute_to <= timed.minute_from then 1440
            else timed.minute_to
        end as minute_to
    from timed
    inner join (values (0), (1)) as nights (later_days)
        on
            nights.later_days = 0
            or (timed.minute_to <= timed.minute_from and timed.minute_to > 0)
)

-- Until Sunday, then from the next Monday on.
select
    spans.provider::varchar as provider,
    spans.price_model::varchar as price_model,
    spans.token_kind::varchar as token_kind,
    spans.service_tier::varchar as service_tier,
    coalesce(spans.input_tokens_from::bigint, 0)::bigint as input_tokens_from,
    coalesce(spans.valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(spans.valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    greatest(spans.weekday_from - weeks.earlier_days, 1)::integer as utc_weekday_from,
    least(spans.weekday_from + spans.weekday_count - weeks.earlier_days, 8)::integer
        as utc_weekday_to,
    spans.minute_from::integer as utc_minute_from,
    spans.minute_to::integer as utc_minute_to,
    spans.usd_per_mtok::decimal(18, 9) as usd_per_mtok,
    spans.is_own::boolean as is_own
from spans
inner join (values (0), (7)) as weeks (earlier_days)
    on spans.weekday_from + spans.weekday_count > weeks.earlier_days + 1
