-- One deployment's GPU bill of a month, cut into what its requests used and what stood idle.
-- Idle is the share of the billed hours in which not one request ran. That needs the latency of
-- every request: where one lacks it, the busy time is unknown and all is shared out.
-- A bill without any request is idle in whole.
-- Its requests share the rest by latency, which is their time on the GPUs; without it by the
-- energy of the law; without that by tokens, at last by number: usd_per_shared_unit is what a
-- second, joule, token or request then pays.
-- grain: month, model_id

with

used as (
    select
        usage.month,
        usage.model_id,
        sum(usage.request_count) as request_count,
        sum(usage.timed_request_count) as timed_request_count,
        sum(usage.latency_s) as latency_s,
        sum(coalesce(energy.gpu_energy_j, 0)::decimal(38, 9)) as gpu_energy_j,
        sum(coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0)) as all_tokens
    from int_usage_groups as usage
    inner join int_hosts as hosts
        on usage.provider = hosts.provider and usage.model_id = hosts.model_id
    inner join int_group_energy as energy
        on
            usage.month = energy.month
            and usage.provider = energy.provider
            and usage.model_id = energy.model_id
            and usage.query_class = energy.query_class
            and usage.team is not distinct from energy.team
            and usage.project is not distinct from energy.project
            and usage.service_tier = energy.service_tier
            and usage.price_band_id is not distinct from energy.price_band_id
            and usage.is_billed = energy.is_billed
    where hosts.hosting_kind <> 'api'
    group by usage.month, usage.model_id
),

known as (
    select
        bills.month,
        bills.model_id,
        bills.gpu_count,
        bills.gpu_hours,
        bills.billed_usd,
        bills.bill_includes_power,
        coalesce(used.request_count, 0) as request_count,
        used.latency_s,
        used.gpu_energy_j,
        used.all_tokens,
        case
            when used.request_count is null then 'no request'
            when used.timed_request_count = used.request_count and used.latency_s > 0
                then 'latency'
            when used.gpu_energy_j > 0 then 'energy'
            when used.all_tokens > 0 then 'tokens'
            else 'requests'
        end as share_basis,
        case
            when used.timed_request_count = used.request_count
                then busy.busy_microseconds::double / 3600000000
        end as busy_hours
    from int_hosting_bills as bills
    left join used on bills.month = used.month and bills.model_id = used.model_id
    left join int_hosting_busy as busy
        on bills.month = busy.month and bills.model_id = busy.model_id
),

cut as (
    select
        known.month,
        known.model_id,
        known.gpu_count,
        known.gpu_hours,
        known.billed_usd,
        known.bill_includes_power,
        known.request_count,
        known.share_basis,
        known.busy_hours,
        case known.share_basis
            when 'latency' then known.latency_s::double
            when 'energy' then known.gpu_energy_j::double
            when 'tokens' then known.all_tokens::double
            when 'requests' then known.request_count::double
        end as shared_units,
        case
            when known.share_basis = 'no request' then 0
            when known.busy_hours is null then known.billed_usd
            when known.busy_hours * known.gpu_count::double >= known.gpu_hours::double
                then known.billed_usd
            else
                (
                    known.billed_usd::double * known.busy_hours * known.gpu_count::double
                    / known.gpu_hours::double
                )::decimal(24, 9)
        end as used_usd
    from known
)

select
    cut.month::varchar as month,
    cut.model_id::varchar as model_id,
    cut.gpu_count::decimal(18, 0) as gpu_count,
    cut.gpu_hours::decimal(38, 6) as gpu_hours,
    cut.busy_hours::double as busy_hours,
    cut.request_count::decimal(38, 0) as request_count,
    cut.share_basis::varchar as share_basis,
    cut.bill_includes_power::boolean as bill_includes_power,
    cut.billed_usd::decimal(24, 9) as billed_usd,
    cut.used_usd::decimal(24, 9) as used_usd,
    (cut.used_usd::double / cut.shared_units)::double as usd_per_shared_unit,
    (cut.billed_usd - cut.used_usd)::decimal(24, 9) as idle_usd
from cut
