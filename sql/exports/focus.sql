-- FOCUS 1.2 rows: one charge for a model, team, project and class by token direction and cache
-- action.
-- A bill is shared out over the kinds of tokens by their list cost; the output row takes what
-- rounding leaves, so that rows add up to the bill. Usage without price or bill has no charge.
-- Energy and carbon stand in x_ columns and never in a cost: token prices already pay for power.
-- Names come from logs: a leading sign that a spreadsheet would run is preceded by an apostrophe.
-- grain: none, one row a charge
-- FOCUS spells its columns in capitals.
-- noqa: disable=CP02

with

groups as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.price_band_id,
        usage.is_billed,
        usage.uncached_input_tokens,
        coalesce(usage.cache_read_tokens, 0) as cache_read_tokens,
        coalesce(usage.cache_write_5m_tokens, 0) as cache_write_5m_tokens,
        coalesce(usage.cache_write_1h_tokens, 0) as cache_write_1h_tokens,
        usage.output_tokens,
        costs.list_cost_usd,
        costs.cost_usd,
        bands.uncached_input_usd_per_mtok,
        bands.cache_read_usd_per_mtok,
        bands.cache_write_5m_usd_per_mtok,
        bands.cache_write_1h_usd_per_mtok,
        bands.output_usd_per_mtok,
        facility_energy_kwh(
            coalesce(usage.prefilled_tokens, 0)::double * energy.energy_j_per_prefilled_token
            + coalesce(usage.prefill_pairs, 0)::double * energy.energy_j_per_pair
            + usage.prompts::double * energy.energy_j_per_prompt,
            energy.facility_ratio
        ) as prefill_energy_kwh,
        facility_energy_kwh(
            coalesce(usage.cache_positions, 0)::double * energy.energy_j_per_cache_position
            + coalesce(usage.decode_pairs, 0)::double * energy.energy_j_per_pair
            + coalesce(usage.decode_steps, 0)::double * energy.energy_j_per_decode_step
            + coalesce(usage.passes, 0)::double * energy.energy_j_per_pass,
            energy.facility_ratio
        ) as decode_energy_kwh,
        energy.facility_energy_low_kwh / nullif(energy.facility_energy_kwh, 0)
            as facility_low_ratio,
        energy.facility_energy_high_kwh / nullif(energy.facility_energy_kwh, 0)
            as facility_high_ratio,
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
            and usage.price_band_id is not distinct from costs.price_band_id
            and usage.is_billed = costs.is_billed
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    left join int_class_energy as energy
        on
            usage.month = energy.month
            and usage.provider = energy.provider
            and usage.model_id = energy.model_id
            and usage.query_class = energy.query_class
    where usage.month = getvariable('export_month') and costs.cost_usd is not null
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
        groups.price_band_id,
        groups.is_billed,
        groups.cost_usd,
        groups.list_cost_usd,
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
            when 1 then groups.prefill_energy_kwh
            when 5 then groups.decode_energy_kwh
        end as energy_kwh
    from groups
    cross join kinds
),

shared as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.team,
        priced.project,
        priced.price_band_id,
        priced.is_billed,
        priced.ordinal,
        priced.direction,
        priced.cache_action,
        priced.meter,
        priced.tokens,
        priced.usd_per_mtok,
        priced.energy_kwh,
        priced.facility_low_ratio,
        priced.facility_high_ratio,
        priced.evidence_grade,
        priced.carbon_gco2e_per_kwh,
        priced.cost_usd,
        coalesce(
            (priced.tokens::decimal(19, 0) * priced.usd_per_mtok)::decimal(31, 9)
            * 0.000001::decimal(7, 6),
            0
        )::decimal(38, 15) as list_part_usd,
        case
            when priced.ordinal = 5 then 0
            when priced.list_cost_usd > 0
                then
                    priced.cost_usd::double
                    * (priced.tokens::double * priced.usd_per_mtok::double / 1000000)
                    / priced.list_cost_usd::double
            else 0
        end::decimal(38, 12) as shared_part_usd
    from priced
),

charges as (
    select
        shared.month,
        shared.provider,
        shared.model_id,
        shared.query_class,
        shared.team,
        shared.project,
        shared.price_band_id,
        shared.is_billed,
        shared.ordinal,
        shared.direction,
        shared.cache_action,
        shared.meter,
        shared.tokens,
        shared.usd_per_mtok,
        shared.energy_kwh,
        shared.facility_low_ratio,
        shared.facility_high_ratio,
        shared.evidence_grade,
        shared.carbon_gco2e_per_kwh,
        shared.list_part_usd,
        case
            when not shared.is_billed then shared.list_part_usd
            when shared.ordinal < 5 then shared.shared_part_usd
            else
                shared.cost_usd - sum(shared.shared_part_usd) over (
                    partition by
                        shared.month, shared.provider, shared.model_id, shared.query_class,
                        shared.team, shared.project, shared.price_band_id, shared.is_billed
                )
        end::decimal(38, 15) as cost_usd
    from shared
)

select
    charges.provider as BillingAccountId,
    charges.provider as BillingAccountName,
    'USD' as BillingCurrency,
    getvariable('period_start') as BillingPeriodStart,
    getvariable('period_end') as BillingPeriodEnd,
    getvariable('period_start') as ChargePeriodStart,
    getvariable('period_end') as ChargePeriodEnd,
    'Usage' as ChargeCategory,
    null as ChargeClass,
    safe_text(charges.model_id || ', ' || lower(charges.meter)) as ChargeDescription,
    'Usage-Based' as ChargeFrequency,
    charges.cost_usd as BilledCost,
    charges.cost_usd as EffectiveCost,
    charges.list_part_usd as ListCost,
    charges.list_part_usd as ContractedCost,
    charges.tokens::double as ConsumedQuantity,
    'Tokens' as ConsumedUnit,
    charges.tokens::double / 1000000 as PricingQuantity,
    '1000000 Tokens' as PricingUnit,
    charges.usd_per_mtok as ListUnitPrice,
    charges.provider as InvoiceIssuerName,
    charges.provider as ProviderName,
    charges.provider as PublisherName,
    'AI and Machine Learning' as ServiceCategory,
    'Generative AI' as ServiceSubcategory,
    safe_text(charges.model_id) as ServiceName,
    safe_text(charges.model_id) as SkuId,
    charges.meter as SkuMeter,
    safe_text(charges.team) as SubAccountId,
    safe_text(charges.team) as SubAccountName,
    charges.direction as x_TokenDirection,
    charges.cache_action as x_TokenCacheAction,
    charges.query_class as x_QueryClass,
    safe_text(charges.project) as x_Project,
    case when charges.is_billed then 'billed' else 'list' end as x_CostSource,
    charges.energy_kwh as x_EnergyKwh,
    charges.energy_kwh * charges.facility_low_ratio as x_EnergyLowKwh,
    charges.energy_kwh * charges.facility_high_ratio as x_EnergyHighKwh,
    charges.energy_kwh * charges.carbon_gco2e_per_kwh as x_CarbonGco2e,
    charges.evidence_grade as x_EvidenceGrade
from charges
where charges.tokens > 0 or charges.cost_usd <> 0
order by
    charges.provider asc, charges.model_id asc, charges.query_class asc,
    charges.team asc nulls last, charges.project asc nulls last,
    charges.price_band_id asc nulls last, charges.is_billed asc, charges.ordinal asc
