-- Agentic tasks of one model, all steps and failed ones too, without a prefix cache, as logged and
-- fully cached: energy with its three shares, cost at list prices, and what each state saves on the
-- one before it. A cache changes prefill alone. A saving's range is that of its joint draws; one
-- whose probability is below the assumption within_noise_probability_frac is within noise.
-- Fully cached writes every new token for 5 minutes, read back or not, so its money may rise.
-- The GPU bill of own servers is for hours, not tokens, so a cache moves none of it: the steps' part
-- (hosting_cost_usd) stands beside the state that was logged alone.
-- Paying reads: how often a written token must be read back before writing it was cheaper.
-- grain: month, provider, model_id, cache_state

with

priced as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        kinds.cache_state,
        sum(
            case when bands.price_band_id is null then steps.request_count else 0 end
        ) as unpriced_request_count,
        sum(
            (
                case kinds.cache_state
                    when 'uncached'
                        then
                            steps.input_tokens::decimal(19, 0) * bands.uncached_input_usd_per_mtok
                    when 'as_cached'
                        then
                            steps.uncached_input_tokens::decimal(19, 0)
                            * bands.uncached_input_usd_per_mtok
                            + steps.cache_read_tokens::decimal(19, 0)
                            * bands.cache_read_usd_per_mtok
                            + steps.cache_write_5m_tokens::decimal(19, 0)
                            * bands.cache_write_5m_usd_per_mtok
                            + steps.cache_write_1h_tokens::decimal(19, 0)
                            * bands.cache_write_1h_usd_per_mtok
                    else
                        steps.full_uncached_input_tokens::decimal(19, 0)
                        * bands.uncached_input_usd_per_mtok
                        + steps.full_cache_read_tokens::decimal(19, 0)
                        * bands.cache_read_usd_per_mtok
                        + steps.full_cache_write_5m_tokens::decimal(19, 0)
                        * bands.cache_write_5m_usd_per_mtok
                        + steps.full_cache_write_1h_tokens::decimal(19, 0)
                        * bands.cache_write_1h_usd_per_mtok
                end
                + steps.output_tokens::decimal(19, 0) * bands.output_usd_per_mtok
            )::decimal(31, 9) * 0.000001::decimal(7, 6)
        )::decimal(38, 15) as list_cost_usd,
        sum(
            (
                coalesce(steps.unread_cache_write_5m_tokens, 0)::decimal(19, 0)
                * (bands.cache_write_5m_usd_per_mtok - bands.uncached_input_usd_per_mtok)
                ::decimal(18, 9)
                + coalesce(steps.unread_cache_write_1h_tokens, 0)::decimal(19, 0)
                * (bands.cache_write_1h_usd_per_mtok - bands.uncached_input_usd_per_mtok)
                ::decimal(18, 9)
            )::decimal(31, 9) * 0.000001::decimal(7, 6)
        )::decimal(38, 15) as unread_cache_write_usd,
        sum(steps.input_tokens::decimal(19, 0) * bands.uncached_input_usd_per_mtok)::double
            as at_uncached,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_read_usd_per_mtok)::double as at_read,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_write_5m_usd_per_mtok)::double
            as at_write_5m,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_write_1h_usd_per_mtok)::double
            as at_write_1h
    from int_agent_groups as steps
    cross join int_cache_states as kinds
    left join int_price_bands as bands on steps.price_band_id = bands.price_band_id
    group by all
),

tasks as (
    select
        cells.month,
        cells.provider,
        cells.model_id,
        count(distinct steps.task_number) as named_task_count
    from int_agent_steps as steps
    inner join int_cells as cells on steps.cell_id = cells.cell_id
    group by all
),

counted as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        sum(steps.request_count) as request_count,
        sum(steps.failed_request_count) as failed_request_count,
        sum(steps.taskless_request_count) as taskless_request_count,
        sum(steps.ordered_request_count) as ordered_request_count,
        sum(steps.followed_request_count) as followed_request_count,
        sum(steps.cache_known_request_count) as cache_known_request_count,
        sum(steps.input_tokens) as input_tokens,
        sum(steps.cache_read_tokens) as cache_read_tokens,
        sum(steps.full_cache_read_tokens) as full_cache_read_tokens,
        sum(steps.cache_write_5m_tokens + steps.cache_write_1h_tokens) as cache_write_tokens,
        sum(steps.output_tokens) as output_tokens,
        sum(steps.unfollowed_cache_write_tokens) as unfollowed_cache_write_tokens,
        coalesce(sum(steps.unread_cache_write_5m_tokens), 0)
        + coalesce(sum(steps.unread_cache_write_1h_tokens), 0) as unread_cache_write_tokens,
        sum(steps.latency_s) as latency_s
    from int_agent_groups as steps
    group by all
),

hosted as (
    select
        counted.month,
        counted.provider,
        counted.model_id,
        hosting.usd_per_shared_unit
        * case hosting.share_basis
            when 'latency' then counted.latency_s::double
            when 'energy' then coalesce(energies.gpu_energy_j, 0)
            when 'tokens' then (counted.input_tokens + counted.output_tokens)::double
            else counted.request_count::double
        end
        + case
            when hosting.bill_includes_power then 0
            else coalesce(energies.facility_energy_kwh * tariff.value, 0)
        end as hosting_cost_usd
    from counted
    inner join int_hosts as hosts
        on
            counted.provider = hosts.provider
            and counted.model_id = hosts.model_id
            and hosts.hosting_kind <> 'api'
    inner join int_hosting as hosting
        on counted.month = hosting.month and counted.model_id = hosting.model_id
    inner join stg_assumptions as tariff on tariff.assumption = 'electricity_usd_per_kwh'
    left join int_agent_energy as energies
        on
            counted.month = energies.month
            and counted.provider = energies.provider
            and counted.model_id = energies.model_id
            and energies.cache_state = 'as_cached'
),

joined as (
    select
        counted.month,
        counted.provider,
        counted.model_id,
        kinds.cache_state,
        kinds.assumption,
        counted.request_count,
        counted.failed_request_count,
        counted.ordered_request_count,
        counted.followed_request_count,
        counted.cache_known_request_count,
        counted.input_tokens,
        counted.output_tokens,
        counted.cache_write_tokens,
        counted.unfollowed_cache_write_tokens,
        counted.unread_cache_write_tokens,
        tasks.named_task_count + counted.taskless_request_count as task_count,
        case kinds.cache_state
            when 'uncached' then 0
            when 'as_cached' then counted.cache_read_tokens
            else counted.full_cache_read_tokens
        end as cache_read_tokens,
        kinds.cache_state <> 'fully_cached' or counted.followed_request_count > 0 as is_shown,
        (kinds.cache_state = 'as_cached' and counted.cache_known_request_count > 0)
        or (kinds.cache_state = 'fully_cached' and counted.followed_request_count > 0)
            as is_saving,
        case
            when kinds.cache_state = 'fully_cached' and counted.followed_request_count = 0
                then 'no steps of a task in order whose cached tokens the log tells'
            when kinds.cache_state = 'as_cached' and counted.cache_known_request_count = 0
                then 'the log tells no cached tokens'
        end as reason
    from counted
    inner join tasks
        on
            counted.month = tasks.month
            and counted.provider = tasks.provider
            and counted.model_id = tasks.model_id
    cross join int_cache_states as kinds
),

costs as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.cache_state,
        priced.unpriced_request_count,
        priced.list_cost_usd,
        priced.unread_cache_write_usd,
        priced.at_uncached,
        priced.at_read,
        priced.at_write_5m,
        priced.at_write_1h,
        before.list_cost_usd as list_cost_before_usd
    from priced
    left join priced as before
        on
            priced.month = before.month
            and priced.provider = before.provider
            and priced.model_id = before.model_id
            and (
                (priced.cache_state = 'as_cached' and before.cache_state = 'uncached')
                or (priced.cache_state = 'fully_cached' and before.cache_state = 'as_cached')
            )
)

select
    joined.month::varchar as month,
    joined.provider::varchar as provider,
    joined.model_id::varchar as model_id,
    joined.cache_state::varchar as cache_state,
    joined.task_count::bigint as task_count,
    joined.request_count::bigint as request_count,
    joined.failed_request_count::bigint as failed_request_count,
    joined.ordered_request_count::bigint as ordered_request_count,
    joined.followed_request_count::bigint as followed_request_count,
    joined.cache_known_request_count::bigint as cache_known_request_count,
    (joined.request_count - coalesce(energies.measured_request_count, 0))::bigint
        as unmeasured_request_count,
    costs.unpriced_request_count::bigint as unpriced_request_count,
    joined.input_tokens::bigint as input_tokens,
    case when joined.is_shown then joined.cache_read_tokens end::bigint as cache_read_tokens,
    joined.output_tokens::bigint as output_tokens,
    case when joined.is_shown then energies.gpu_energy_j end::double as gpu_energy_j,
    case when joined.is_shown then energies.energy_low_j end::double
        as energy_low_j,
    case when joined.is_shown then energies.energy_high_j end::double
        as energy_high_j,
    case when joined.is_shown then energies.prefill_j / nullif(energies.gpu_energy_j, 0) end::double
        as prefill_frac,
    case
        when joined.is_shown then energies.kv_cache_j / nullif(energies.gpu_energy_j, 0)
    end::double
        as kv_cache_frac,
    case
        when joined.is_shown then energies.next_token_j / nullif(energies.gpu_energy_j, 0)
    end::double as next_token_frac,
    case
        when joined.is_shown then energies.facility_energy_kwh
    end::double as facility_energy_kwh,
    case
        when joined.is_shown
            then energies.carbon_gco2e
    end::double as carbon_gco2e,
    case when joined.is_shown then costs.list_cost_usd end::decimal(38, 15) as list_cost_usd,
    case when joined.cache_state = 'as_cached' then hosted.hosting_cost_usd end::decimal(38, 9)
        as hosting_cost_usd,
    case when joined.is_shown then energies.gpu_energy_j / joined.task_count::double end::double
        as energy_j_per_task,
    case
        when joined.is_shown then costs.list_cost_usd::double / joined.task_count::double
    end::double
        as list_cost_usd_per_task,
    case
        when joined.is_saving
            then energies.saved_kwh
    end::double as saved_facility_energy_kwh,
    case when joined.is_saving then energies.saved_low_kwh end::double
        as saved_facility_energy_low_kwh,
    case when joined.is_saving then energies.saved_p50_kwh end::double
        as saved_facility_energy_p50_kwh,
    case when joined.is_saving then energies.saved_high_kwh end::double
        as saved_facility_energy_high_kwh,
    case when joined.is_saving then energies.saving_probability_frac end::double
        as saving_probability_frac,
    case when joined.is_saving then energies.saving_probability_frac < noise.value end::boolean
        as is_within_noise,
    case when joined.is_saving then costs.list_cost_before_usd - costs.list_cost_usd end
    ::decimal(38, 15) as saved_list_cost_usd,
    case
        when joined.is_saving and costs.list_cost_before_usd > costs.list_cost_usd then 1
        when joined.is_saving and costs.list_cost_before_usd <= costs.list_cost_usd then 0
    end::double as cost_saving_probability_frac,
    case when joined.cache_state = 'as_cached' then joined.cache_write_tokens end::bigint
        as cache_write_tokens,
    case when joined.cache_state = 'as_cached' then joined.unread_cache_write_tokens end::bigint
        as unread_cache_write_tokens,
    case when joined.cache_state = 'as_cached' then joined.unfollowed_cache_write_tokens end
    ::bigint as unfollowed_cache_write_tokens,
    case when joined.cache_state = 'as_cached' then costs.unread_cache_write_usd end
    ::decimal(38, 15) as unread_cache_write_usd,
    case
        when costs.at_read < costs.at_uncached
            then cache_write_paying_reads(costs.at_uncached, costs.at_read, costs.at_write_5m)
    end::double as cache_write_5m_paying_reads_ratio,
    case
        when costs.at_read < costs.at_uncached
            then cache_write_paying_reads(costs.at_uncached, costs.at_read, costs.at_write_1h)
    end::double as cache_write_1h_paying_reads_ratio,
    joined.reason::varchar as reason,
    joined.assumption::varchar as assumption,
    energies.coefficient_set_id::varchar as coefficient_set_id,
    energies.batch::double as batch,
    coalesce(energies.evidence_grade, 'U')::varchar as evidence_grade,
    method.method_version::varchar as method_version
from joined
inner join costs
    on
        joined.month = costs.month
        and joined.provider = costs.provider
        and joined.model_id = costs.model_id
        and joined.cache_state = costs.cache_state
left join hosted
    on
        joined.month = hosted.month
        and joined.provider = hosted.provider
        and joined.model_id = hosted.model_id
left join int_agent_energy as energies
    on
        joined.month = energies.month
        and joined.provider = energies.provider
        and joined.model_id = energies.model_id
        and joined.cache_state = energies.cache_state
inner join stg_assumptions as noise on noise.assumption = 'within_noise_probability_frac'
cross join raw_method as method
