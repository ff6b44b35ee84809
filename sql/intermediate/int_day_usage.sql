-- Summed usage of a day by team, model, class and price, requests that failed or were cut off apart
-- (waste_kind), with what it cost and the GPU energy that its class's rates give it. A failed
-- request that was cut off is a failed one.
-- Cost is as billed, else the tokens' part of a commitment, else by contract or list, else the part
-- of the GPU bill by what shares that bill, and the electricity that a bill of owned machines
-- leaves out. So the days of a month cost what its groups cost, to the rounding of shares.
-- Days are those of the zone that cuts months. Buckets longer than a day belong to no day: is_day is
-- false, and their first day stands there.
-- grain: month, day_on, is_day, team, provider, model_id, query_class, waste_kind, price_band_id, is_billed

with

sums as (
    select
        days.month,
        days.day_on,
        days.is_day,
        days.team,
        days.provider,
        days.model_id,
        days.query_class,
        days.waste_kind,
        days.price_band_id,
        days.is_billed,
        sum(days.request_count) as request_count,
        sum(days.measurable_request_count) as measurable_request_count,
        sum(days.prompts) as prompts,
        sum(days.input_tokens) as input_tokens,
        sum(days.uncached_input_tokens) as uncached_input_tokens,
        sum(days.cache_read_tokens) as cache_read_tokens,
        sum(days.cache_write_5m_tokens) as cache_write_5m_tokens,
        sum(days.cache_write_1h_tokens) as cache_write_1h_tokens,
        sum(days.output_tokens) as output_tokens,
        coalesce(sum(days.passes), 0) as passes,
        coalesce(sum(days.prefilled_tokens), 0) as prefilled_tokens,
        coalesce(sum(days.prefill_pairs), 0) as prefill_pairs,
        coalesce(sum(days.decode_pairs), 0) as decode_pairs,
        coalesce(sum(days.cache_positions), 0) as cache_positions,
        coalesce(sum(days.decode_steps), 0) as decode_steps,
        sum(days.latency_s) as latency_s,
        sum(days.billed_cost_usd) as billed_cost_usd
    from int_usage_days as days
    group by all
),

committed as (
    select
        shares.month,
        shares.provider,
        shares.model_id,
        sum(shares.committed_cost_usd)::double as committed_cost_usd
    from int_commitment_shares as shares
    group by all
),

covered as (
    select
        committed.month,
        committed.provider,
        committed.model_id,
        max(committed.committed_cost_usd)
        / nullif(
            sum(coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0))::double, 0
        ) as usd_per_token
    from committed
    inner join int_usage_groups as usage
        on
            committed.month = usage.month
            and committed.provider = usage.provider
            and committed.model_id = usage.model_id
    where not usage.is_billed
    group by all
),

priced as (
    select
        sums.month,
        sums.day_on,
        sums.is_day,
        sums.team,
        sums.provider,
        sums.model_id,
        sums.query_class,
        sums.waste_kind,
        sums.price_band_id,
        sums.is_billed,
        sums.request_count,
        sums.measurable_request_count,
        sums.prompts,
        sums.input_tokens,
        sums.output_tokens,
        coalesce(sums.input_tokens, 0) + coalesce(sums.output_tokens, 0) as tokens,
        sums.passes,
        sums.prefilled_tokens,
        sums.prefill_pairs,
        sums.decode_pairs,
        sums.cache_positions,
        sums.decode_steps,
        sums.latency_s,
        sums.billed_cost_usd,
        rates.facility_ratio,
        rates.electricity_usd_per_kwh,
        tokens_cost_usd(
            sums.uncached_input_tokens, sums.cache_read_tokens, sums.cache_write_5m_tokens,
            sums.cache_write_1h_tokens, sums.output_tokens,
            bands.contracted_uncached_input_usd_per_mtok, bands.contracted_cache_read_usd_per_mtok,
            bands.contracted_cache_write_5m_usd_per_mtok,
            bands.contracted_cache_write_1h_usd_per_mtok,
            bands.contracted_output_usd_per_mtok
        ) as contracted_cost_usd,
        case
            when sums.measurable_request_count > 0
                then
                    sums.prefilled_tokens::double * rates.energy_j_per_prefilled_token
                    + sums.prefill_pairs::double * rates.energy_j_per_pair
                    + sums.prompts::double * rates.energy_j_per_prompt
                    + sums.cache_positions::double * rates.energy_j_per_cache_position
                    + sums.decode_pairs::double * rates.energy_j_per_pair
                    + sums.decode_steps::double * rates.energy_j_per_decode_step
                    + sums.passes::double * rates.energy_j_per_pass
        end as gpu_energy_j
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
    priced.month::varchar as month,
    priced.day_on::date as day_on,
    priced.is_day::boolean as is_day,
    priced.team::varchar as team,
    priced.provider::varchar as provider,
    priced.model_id::varchar as model_id,
    priced.query_class::varchar as query_class,
    priced.waste_kind::varchar as waste_kind,
    priced.price_band_id::integer as price_band_id,
    priced.is_billed::boolean as is_billed,
    priced.request_count::decimal(38, 0) as request_count,
    priced.measurable_request_count::decimal(38, 0) as measurable_request_count,
    priced.prompts::decimal(38, 0) as prompts,
    priced.input_tokens::decimal(38, 0) as input_tokens,
    priced.output_tokens::decimal(38, 0) as output_tokens,
    priced.tokens::decimal(38, 0) as tokens,
    priced.passes::decimal(38, 0) as passes,
    priced.prefilled_tokens::decimal(38, 0) as prefilled_tokens,
    priced.prefill_pairs::decimal(38, 0) as prefill_pairs,
    priced.decode_pairs::decimal(38, 0) as decode_pairs,
    priced.cache_positions::decimal(38, 0) as cache_positions,
    priced.decode_steps::decimal(38, 0) as decode_steps,
    coalesce(
        priced.billed_cost_usd,
        (covered.usd_per_token * priced.tokens::double)::decimal(38, 15),
        priced.contracted_cost_usd,
        (
            hosting.usd_per_shared_unit
            * case hosting.share_basis
                when 'latency' then priced.latency_s::double
                when 'energy' then coalesce(priced.gpu_energy_j, 0)
                when 'tokens' then priced.tokens::double
                else priced.request_count::double
            end
        )::decimal(38, 15)
        + case
            when hosting.bill_includes_power then 0
            else
                coalesce(
                    facility_energy_kwh(priced.gpu_energy_j, priced.facility_ratio)
                    * priced.electricity_usd_per_kwh,
                    0
                )
        end::decimal(38, 15)
    )::decimal(38, 15) as cost_usd,
    priced.gpu_energy_j::double as gpu_energy_j,
    facility_energy_kwh(priced.gpu_energy_j, priced.facility_ratio)::double as facility_energy_kwh
from priced
left join covered
    on
        not priced.is_billed
        and priced.month = covered.month
        and priced.provider = covered.provider
        and priced.model_id = covered.model_id
left join int_hosts as hosts
    on
        priced.provider = hosts.provider
        and priced.model_id = hosts.model_id
        and hosts.hosting_kind <> 'api'
left join int_hosting as hosting
    on
        priced.month = hosting.month
        and priced.model_id = hosting.model_id
        and hosts.hosting_kind is not null
