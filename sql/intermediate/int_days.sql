-- What each day took, by team, model and class: requests, tokens, cost as billed or else by
-- contract or list (without multipliers of regions, GPU bills and commitments), and electricity at
-- the rates of the class. Days are those of the zone that cuts months.
-- Buckets longer than a day belong to no day: is_day is false, and their first day stands there.
-- grain: month, day_on, is_day, team, provider, model_id, query_class

with

long_buckets as (
    select
        usage.input_id,
        usage.source_line
    from stg_usage as usage
    where usage.bucket_end_at > usage.occurred_at + 86400 * interval '1' second
),

sums as (
    select
        requests.month,
        local_day(requests.occurred_at, calendar.time_zone) as day_on,
        long_buckets.input_id is null as is_day,
        requests.team,
        requests.provider,
        requests.model_id,
        requests.query_class,
        bands.price_band_id,
        requests.billed_cost_usd is not null as is_billed,
        sum(requests.request_count)::decimal(38, 0) as request_count,
        sum(case when requests.is_measurable then requests.request_count else 0 end)
            as measurable_request_count,
        sum(case when requests.has_work then requests.request_count else 0 end) as prompts,
        sum(requests.input_tokens)::decimal(38, 0) as input_tokens,
        sum(requests.uncached_input_tokens)::decimal(38, 0) as uncached_input_tokens,
        sum(requests.cache_read_tokens)::decimal(38, 0) as cache_read_tokens,
        sum(requests.cache_write_5m_tokens)::decimal(38, 0) as cache_write_5m_tokens,
        sum(requests.cache_write_1h_tokens)::decimal(38, 0) as cache_write_1h_tokens,
        sum(requests.output_tokens)::decimal(38, 0) as output_tokens,
        coalesce(sum(case when requests.has_work then requests.output_tokens end), 0) as passes,
        coalesce(sum(requests.prefilled_tokens), 0) as prefilled_tokens,
        coalesce(sum(requests.prefill_pairs), 0) as prefill_pairs,
        coalesce(sum(requests.decode_pairs), 0) as decode_pairs,
        coalesce(sum(requests.cache_positions), 0) as cache_positions,
        coalesce(sum(requests.decode_steps), 0) as decode_steps,
        sum(requests.billed_cost_usd)::decimal(38, 12) as billed_cost_usd
    from int_requests as requests
    left join long_buckets
        on
            requests.input_id = long_buckets.input_id
            and requests.source_line = long_buckets.source_line
    cross join raw_calendar as calendar
    left join int_price_bands as bands
        on
            requests.provider = bands.provider
            and requests.model_id = bands.model_id
            and requests.price_model is not distinct from bands.price_model
            and bands.region = ''
            and requests.service_tier = bands.service_tier
            and requests.occurred_at >= bands.valid_from
            and requests.occurred_at < bands.valid_to
            and requests.mean_input_tokens >= bands.input_tokens_from
            and requests.mean_input_tokens < bands.input_tokens_to
            and case
                when requests.is_bucket then bands.is_dearest_of_day
                else
                    extract(hour from requests.occurred_at) * 60
                    + extract(minute from requests.occurred_at) >= bands.utc_minute_from
                    and extract(hour from requests.occurred_at) * 60
                    + extract(minute from requests.occurred_at) < bands.utc_minute_to
            end
    group by all
),

valued as (
    select
        sums.month,
        sums.day_on,
        sums.is_day,
        sums.team,
        sums.provider,
        sums.model_id,
        sums.query_class,
        sums.request_count,
        sums.passes,
        coalesce(sums.input_tokens, 0) + coalesce(sums.output_tokens, 0) as tokens,
        coalesce(
            sums.billed_cost_usd,
            case
                when bands.price_band_id is not null and sums.uncached_input_tokens is not null
                    then (
                        sums.uncached_input_tokens::decimal(19, 0)
                        * bands.contracted_uncached_input_usd_per_mtok
                        + coalesce(sums.cache_read_tokens, 0)::decimal(19, 0)
                        * bands.contracted_cache_read_usd_per_mtok
                        + coalesce(sums.cache_write_5m_tokens, 0)::decimal(19, 0)
                        * bands.contracted_cache_write_5m_usd_per_mtok
                        + coalesce(sums.cache_write_1h_tokens, 0)::decimal(19, 0)
                        * bands.contracted_cache_write_1h_usd_per_mtok
                        + coalesce(sums.output_tokens, 0)::decimal(19, 0)
                        * bands.contracted_output_usd_per_mtok
                    )::decimal(31, 9) * 0.000001::decimal(7, 6)
            end
        )::decimal(38, 15) as cost_usd,
        case
            when sums.measurable_request_count > 0
                then
                    facility_energy_kwh(
                        sums.prefilled_tokens::double * rates.energy_j_per_prefilled_token
                        + sums.prefill_pairs::double * rates.energy_j_per_pair
                        + sums.prompts::double * rates.energy_j_per_prompt
                        + sums.cache_positions::double * rates.energy_j_per_cache_position
                        + sums.decode_pairs::double * rates.energy_j_per_pair
                        + sums.decode_steps::double * rates.energy_j_per_decode_step
                        + sums.passes::double * rates.energy_j_per_pass,
                        rates.facility_ratio
                    )
        end as facility_energy_kwh
    from sums
    left join int_price_bands as bands on sums.price_band_id = bands.price_band_id
    left join int_class_energy as rates
        on
            sums.month = rates.month
            and sums.provider = rates.provider
            and sums.model_id = rates.model_id
            and sums.query_class = rates.query_class
)

select
    valued.month::varchar as month,
    valued.day_on::date as day_on,
    valued.is_day::boolean as is_day,
    valued.team::varchar as team,
    valued.provider::varchar as provider,
    valued.model_id::varchar as model_id,
    valued.query_class::varchar as query_class,
    sum(valued.request_count)::decimal(38, 0) as request_count,
    sum(valued.tokens)::decimal(38, 0) as tokens,
    sum(valued.passes)::decimal(38, 0) as passes,
    sum(valued.cost_usd)::decimal(38, 15) as cost_usd,
    sum(valued.facility_energy_kwh::decimal(38, 22))::decimal(38, 22) as facility_energy_kwh
from valued
group by all
