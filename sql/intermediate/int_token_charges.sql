-- What each kind of token of a group of usage cost: list and contracted cost exact for the kind.
-- A bill, a share of a commitment or of a GPU bill is shared out over the kinds by their
-- contracted cost, else (own servers) by tokens; output takes what rounding leaves, so that the
-- kinds add up to the group. Electricity beside a GPU bill is no part of it.
-- noqa: disable=LT05
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed, ordinal

with

groups as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.service_tier,
        usage.price_band_id,
        usage.is_billed,
        usage.uncached_input_tokens,
        coalesce(usage.cache_read_tokens, 0) as cache_read_tokens,
        coalesce(usage.cache_write_5m_tokens, 0) as cache_write_5m_tokens,
        coalesce(usage.cache_write_1h_tokens, 0) as cache_write_1h_tokens,
        usage.output_tokens,
        coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0) as all_tokens,
        costs.list_cost_usd,
        costs.contracted_cost_usd,
        costs.cost_source,
        costs.committed_cost_usd is not null and costs.cost_source = 'effective' as is_committed,
        costs.cost_source = 'hosting' as is_hosted,
        case when costs.cost_source = 'hosting' then costs.hosting_cost_usd else costs.cost_usd end
            as cost_usd,
        bands.uncached_input_usd_per_mtok,
        bands.cache_read_usd_per_mtok,
        bands.cache_write_5m_usd_per_mtok,
        bands.cache_write_1h_usd_per_mtok,
        bands.output_usd_per_mtok,
        bands.contracted_uncached_input_usd_per_mtok,
        bands.contracted_cache_read_usd_per_mtok,
        bands.contracted_cache_write_5m_usd_per_mtok,
        bands.contracted_cache_write_1h_usd_per_mtok,
        bands.contracted_output_usd_per_mtok,
        energy.prefill_energy_kwh,
        energy.decode_energy_kwh,
        energy.facility_low_ratio,
        energy.facility_high_ratio,
        energy.evidence_grade,
        energy.carbon_gco2e_per_kwh
    from int_usage_groups as usage
    inner join int_group_costs as costs
        on
            usage.month = costs.month
            and usage.provider = costs.provider
            and usage.model_id = costs.model_id
            and usage.query_class = costs.query_class
            and usage.team is not distinct from costs.team
            and usage.project is not distinct from costs.project
            and usage.service_tier = costs.service_tier
            and usage.price_band_id is not distinct from costs.price_band_id
            and usage.is_billed = costs.is_billed
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
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    where costs.cost_usd is not null
),

kinds as (
    select
        kind.ordinal,
        kind.direction,
        kind.cache_action,
        kind.meter
    from (
        values
        (1, 'Input', 'Uncached', 'Input Tokens'),
        (2, 'Input', 'Read', 'Cache Read Input Tokens'),
        (3, 'Input', 'Write', 'Cache Write 5m Input Tokens'),
        (4, 'Input', 'Write', 'Cache Write 1h Input Tokens'),
        (5, 'Output', null, 'Output Tokens')
    ) as kind (ordinal, direction, cache_action, meter)
),

priced as (
    select
        groups.month,
        groups.provider,
        groups.model_id,
        groups.query_class,
        groups.team,
        groups.project,
        groups.service_tier,
        groups.price_band_id,
        groups.is_billed,
        groups.is_committed,
        groups.is_hosted,
        groups.cost_source,
        groups.cost_usd,
        groups.list_cost_usd,
        groups.contracted_cost_usd,
        groups.all_tokens,
        groups.facility_low_ratio,
        groups.facility_high_ratio,
        groups.evidence_grade,
        groups.carbon_gco2e_per_kwh,
        kinds.ordinal,
        kinds.direction,
        kinds.cache_action,
        kinds.meter,
        case kinds.ordinal
            when 1 then groups.uncached_input_tokens
            when 2 then groups.cache_read_tokens
            when 3 then groups.cache_write_5m_tokens
            when 4 then groups.cache_write_1h_tokens
            else groups.output_tokens
        end as tokens,
        case kinds.ordinal
            when 1 then groups.uncached_input_usd_per_mtok
            when 2 then groups.cache_read_usd_per_mtok
            when 3 then groups.cache_write_5m_usd_per_mtok
            when 4 then groups.cache_write_1h_usd_per_mtok
            else groups.output_usd_per_mtok
        end as usd_per_mtok,
        case kinds.ordinal
            when 1 then groups.contracted_uncached_input_usd_per_mtok
            when 2 then groups.contracted_cache_read_usd_per_mtok
            when 3 then groups.contracted_cache_write_5m_usd_per_mtok
            when 4 then groups.contracted_cache_write_1h_usd_per_mtok
            else groups.contracted_output_usd_per_mtok
        end as contracted_usd_per_mtok,
        case kinds.ordinal
            when 1 then groups.prefill_energy_kwh
            when 5 then groups.decode_energy_kwh
        end as energy_kwh
    from groups
    cross join kinds
),

parts as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.team,
        priced.project,
        priced.service_tier,
        priced.price_band_id,
        priced.is_billed,
        priced.is_committed,
        priced.is_hosted,
        priced.cost_source,
        priced.cost_usd,
        priced.list_cost_usd,
        priced.contracted_cost_usd,
        priced.all_tokens,
        priced.facility_low_ratio,
        priced.facility_high_ratio,
        priced.evidence_grade,
        priced.carbon_gco2e_per_kwh,
        priced.ordinal,
        priced.direction,
        priced.cache_action,
        priced.meter,
        coalesce(priced.tokens, 0) as tokens,
        priced.usd_per_mtok,
        priced.contracted_usd_per_mtok,
        priced.energy_kwh,
        coalesce(
            (priced.tokens::decimal(19, 0) * priced.usd_per_mtok)::decimal(31, 9)
            * 0.000001::decimal(7, 6),
            0
        )::decimal(38, 15) as list_part_usd,
        coalesce(
            (priced.tokens::decimal(19, 0) * priced.contracted_usd_per_mtok)::decimal(31, 9)
            * 0.000001::decimal(7, 6),
            0
        )::decimal(38, 15) as contracted_part_usd
    from priced
),

shared as (
    select
        parts.month,
        parts.provider,
        parts.model_id,
        parts.query_class,
        parts.team,
        parts.project,
        parts.service_tier,
        parts.price_band_id,
        parts.is_billed,
        parts.is_committed,
        parts.is_hosted,
        parts.cost_source,
        parts.cost_usd,
        parts.list_cost_usd,
        parts.contracted_cost_usd,
        parts.facility_low_ratio,
        parts.facility_high_ratio,
        parts.evidence_grade,
        parts.carbon_gco2e_per_kwh,
        parts.ordinal,
        parts.direction,
        parts.cache_action,
        parts.meter,
        parts.tokens,
        parts.usd_per_mtok,
        parts.contracted_usd_per_mtok,
        parts.energy_kwh,
        parts.list_part_usd,
        parts.contracted_part_usd,
        case
            when parts.ordinal = 5 then 0
            when parts.contracted_cost_usd > 0
                then
                    parts.cost_usd::double * parts.contracted_part_usd::double
                    / parts.contracted_cost_usd::double
            when parts.is_hosted and parts.all_tokens > 0
                then parts.cost_usd::double * parts.tokens::double / parts.all_tokens::double
            else 0
        end::decimal(38, 12) as shared_part_usd
    from parts
),

token_costs as (
    select
        shared.month,
        shared.provider,
        shared.model_id,
        shared.query_class,
        shared.team,
        shared.project,
        shared.service_tier,
        shared.price_band_id,
        shared.is_billed,
        shared.is_committed,
        shared.is_hosted,
        shared.cost_source,
        shared.list_cost_usd,
        shared.contracted_cost_usd,
        shared.facility_low_ratio,
        shared.facility_high_ratio,
        shared.evidence_grade,
        shared.carbon_gco2e_per_kwh,
        shared.ordinal,
        shared.direction,
        shared.cache_action,
        shared.meter,
        shared.tokens,
        shared.usd_per_mtok,
        shared.contracted_usd_per_mtok,
        shared.energy_kwh,
        shared.list_part_usd,
        shared.contracted_part_usd,
        case
            when not shared.is_billed and not shared.is_committed and not shared.is_hosted
                then shared.contracted_part_usd
            when shared.ordinal < 5 then shared.shared_part_usd
            else
                shared.cost_usd - sum(shared.shared_part_usd) over (
                    partition by
                        shared.month, shared.provider, shared.model_id, shared.query_class,
                        shared.team, shared.project, shared.service_tier, shared.price_band_id, shared.is_billed
                )
        end::decimal(38, 15) as cost_usd
    from shared
)

select
    token_costs.month::varchar as month,
    token_costs.provider::varchar as provider,
    token_costs.model_id::varchar as model_id,
    token_costs.query_class::varchar as query_class,
    token_costs.team::varchar as team,
    token_costs.project::varchar as project,
    token_costs.service_tier::varchar as service_tier,
    token_costs.price_band_id::integer as price_band_id,
    token_costs.is_billed::boolean as is_billed,
    token_costs.ordinal::integer as ordinal,
    token_costs.is_committed::boolean as is_committed,
    token_costs.cost_source::varchar as cost_source,
    token_costs.direction::varchar as direction,
    token_costs.cache_action::varchar as cache_action,
    token_costs.meter::varchar as meter,
    token_costs.tokens::decimal(38, 0) as tokens,
    token_costs.usd_per_mtok::decimal(18, 9) as usd_per_mtok,
    token_costs.contracted_usd_per_mtok::decimal(18, 9) as contracted_usd_per_mtok,
    token_costs.energy_kwh::double as energy_kwh,
    token_costs.facility_low_ratio::double as facility_low_ratio,
    token_costs.facility_high_ratio::double as facility_high_ratio,
    token_costs.carbon_gco2e_per_kwh::double as carbon_gco2e_per_kwh,
    token_costs.evidence_grade::varchar as evidence_grade,
    case when token_costs.list_cost_usd is not null then token_costs.list_part_usd end
    ::decimal(38, 15) as list_cost_usd,
    case when token_costs.contracted_cost_usd is not null then token_costs.contracted_part_usd end
    ::decimal(38, 15) as contracted_cost_usd,
    token_costs.cost_usd::decimal(38, 15) as cost_usd
from token_costs
