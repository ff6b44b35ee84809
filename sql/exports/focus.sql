-- FOCUS 1.2 rows: one charge for a model, team, project and class by token direction and cache
-- action.
-- Usage without any cost has no charge.
-- Usage under a commitment bills nothing: the purchase does, and its unused part stands by itself.
-- No log tells the number of an invoice, so the report's own month stands in its place.
-- A service is of one category; servers and their electricity are services of their own.
-- Where list or contract has no price, those columns hold the cost itself: they may not be empty.
-- Late usage of a closed month is a correction: billed now, of the period when it was used.
-- Energy and carbon stand in x_ columns and in no cost: token prices already pay for power. Only
-- electricity that a GPU bill leaves out is a charge of its own.
-- Names come from logs: a leading sign that a spreadsheet would run is preceded by an apostrophe.
-- grain: none, one row a charge
-- FOCUS spells its columns in capitals.
-- noqa: disable=CP02

with

charges as (
    select
        token_costs.provider,
        token_costs.model_id,
        token_costs.query_class,
        token_costs.team,
        token_costs.project,
        'Usage' as charge_category,
        'Usage-Based' as charge_frequency,
        token_costs.model_id || ', ' || lower(token_costs.meter) as description,
        case when token_costs.is_committed then 0 else token_costs.cost_usd end as billed_usd,
        token_costs.cost_usd as effective_usd,
        coalesce(token_costs.list_cost_usd, token_costs.cost_usd) as list_usd,
        coalesce(token_costs.contracted_cost_usd, token_costs.cost_usd) as contracted_usd,
        token_costs.tokens::double as consumed_quantity,
        'Tokens' as consumed_unit,
        token_costs.tokens::double / 1000000 as pricing_quantity,
        '1000000 Tokens' as pricing_unit,
        case when token_costs.is_committed then 'Committed' else 'Standard' end
            as pricing_category,
        token_costs.usd_per_mtok as list_unit_usd,
        token_costs.contracted_usd_per_mtok as contracted_unit_usd,
        'AI and Machine Learning' as service_category,
        'Generative AI' as service_subcategory,
        token_costs.meter,
        token_costs.direction,
        token_costs.cache_action,
        token_costs.cost_source,
        case when token_costs.is_committed then token_costs.model_id end as commitment_id,
        case when token_costs.is_committed then 'Used' end as commitment_status,
        token_costs.energy_kwh,
        token_costs.energy_kwh * token_costs.facility_low_ratio as energy_low_kwh,
        token_costs.energy_kwh * token_costs.facility_high_ratio as energy_high_kwh,
        token_costs.energy_kwh * token_costs.carbon_gco2e_per_kwh as carbon_gco2e,
        token_costs.evidence_grade,
        token_costs.service_tier,
        token_costs.price_band_id,
        token_costs.is_billed,
        token_costs.ordinal,
        null as corrected_month
    from int_token_charges as token_costs
    where
        token_costs.month = getvariable('export_month')
        and (token_costs.tokens > 0 or token_costs.cost_usd <> 0)
    union all
    select
        costs.provider,
        costs.model_id,
        costs.query_class,
        costs.team,
        costs.project,
        'Usage' as charge_category,
        'Usage-Based' as charge_frequency,
        costs.model_id || ', electricity' as description,
        costs.hosting_energy_cost_usd as billed_usd,
        costs.hosting_energy_cost_usd as effective_usd,
        costs.hosting_energy_cost_usd as list_usd,
        costs.hosting_energy_cost_usd as contracted_usd,
        energy.prefill_energy_kwh + energy.decode_energy_kwh as consumed_quantity,
        'kWh' as consumed_unit,
        energy.prefill_energy_kwh + energy.decode_energy_kwh as pricing_quantity,
        'kWh' as pricing_unit,
        'Other' as pricing_category,
        null as list_unit_usd,
        null as contracted_unit_usd,
        'Other' as service_category,
        'Other (Other)' as service_subcategory,
        'Electricity' as meter,
        null as direction,
        null as cache_action,
        'hosting' as cost_source,
        null as commitment_id,
        null as commitment_status,
        null as energy_kwh,
        null as energy_low_kwh,
        null as energy_high_kwh,
        null as carbon_gco2e,
        energy.evidence_grade,
        costs.service_tier,
        costs.price_band_id,
        costs.is_billed,
        6 as ordinal,
        null as corrected_month
    from int_group_costs as costs
    inner join int_group_energy as energy
        on
            costs.month = energy.month
            and costs.provider = energy.provider
            and costs.model_id = energy.model_id
            and costs.query_class = energy.query_class
            and costs.team is not distinct from energy.team
            and costs.project is not distinct from energy.project
            and costs.service_tier = energy.service_tier
            and costs.price_band_id is not distinct from energy.price_band_id
            and costs.is_billed = energy.is_billed
    where
        costs.month = getvariable('export_month')
        and costs.cost_source = 'hosting'
        and costs.hosting_energy_cost_usd is not null
    union all
    select
        int_commitments.provider,
        int_commitments.model as model_id,
        null as query_class,
        null as team,
        null as project,
        case when stage.ordinal = 7 then 'Purchase' else 'Usage' end as charge_category,
        case when stage.ordinal = 7 then 'Recurring' else 'Usage-Based' end as charge_frequency,
        int_commitments.model || case
            when stage.ordinal = 7 then ', provisioned throughput'
            else ', committed and unused'
        end as description,
        case when stage.ordinal = 7 then int_commitments.committed_usd else 0 end as billed_usd,
        case when stage.ordinal = 7 then 0 else int_commitments.unused_usd end as effective_usd,
        case when stage.ordinal = 7 then int_commitments.committed_usd else 0 end as list_usd,
        case when stage.ordinal = 7 then int_commitments.committed_usd else 0 end
            as contracted_usd,
        null as consumed_quantity,
        null as consumed_unit,
        (int_commitments.hours * int_commitments.units)::double as pricing_quantity,
        'Unit-Hours' as pricing_unit,
        case when stage.ordinal = 7 then 'Standard' else 'Committed' end as pricing_category,
        null as list_unit_usd,
        null as contracted_unit_usd,
        'AI and Machine Learning' as service_category,
        'Generative AI' as service_subcategory,
        'Provisioned Throughput' as meter,
        null as direction,
        null as cache_action,
        'effective' as cost_source,
        int_commitments.model as commitment_id,
        case when stage.ordinal = 8 then 'Unused' end as commitment_status,
        null as energy_kwh,
        null as energy_low_kwh,
        null as energy_high_kwh,
        null as carbon_gco2e,
        null as evidence_grade,
        null as service_tier,
        null as price_band_id,
        null as is_billed,
        stage.ordinal,
        null as corrected_month
    from int_commitments
    cross join (values (7), (8)) as stage (ordinal)
    where
        int_commitments.month = getvariable('export_month')
        and (stage.ordinal = 7 or int_commitments.unused_usd > 0)
    union all
    select
        mart_cost_lines.provider,
        mart_cost_lines.model_id,
        null as query_class,
        mart_cost_lines.team,
        null as project,
        case mart_cost_lines.line_kind
            when 'tax' then 'Tax'
            when 'idle GPUs' then 'Usage'
            else 'Credit'
        end as charge_category,
        case when mart_cost_lines.line_kind = 'idle GPUs' then 'Usage-Based' else 'One-Time' end
            as charge_frequency,
        mart_cost_lines.line_kind || ': ' || mart_cost_lines.description as description,
        mart_cost_lines.cost_usd as billed_usd,
        mart_cost_lines.cost_usd as effective_usd,
        case when mart_cost_lines.line_kind = 'idle GPUs' then mart_cost_lines.cost_usd else 0 end
            as list_usd,
        case when mart_cost_lines.line_kind = 'idle GPUs' then mart_cost_lines.cost_usd else 0 end
            as contracted_usd,
        null as consumed_quantity,
        null as consumed_unit,
        case
            when mart_cost_lines.line_kind = 'idle GPUs'
                then
                    int_hosting.gpu_hours::double
                    - coalesce(int_hosting.busy_hours, 0) * int_hosting.gpu_count::double
            when mart_cost_lines.line_kind <> 'tax' then 1
        end as pricing_quantity,
        case
            when mart_cost_lines.line_kind = 'idle GPUs' then 'GPU-Hours'
            when mart_cost_lines.line_kind <> 'tax' then 'Credits'
        end as pricing_unit,
        case when mart_cost_lines.line_kind <> 'tax' then 'Other' end as pricing_category,
        null as list_unit_usd,
        null as contracted_unit_usd,
        case
            when mart_cost_lines.line_kind = 'idle GPUs' then 'Compute'
            else 'AI and Machine Learning'
        end as service_category,
        case
            when mart_cost_lines.line_kind = 'idle GPUs' then 'Other (Compute)'
            else 'Generative AI'
        end as service_subcategory,
        case when mart_cost_lines.line_kind = 'idle GPUs' then 'Idle GPU Hours' end as meter,
        null as direction,
        null as cache_action,
        case when mart_cost_lines.line_kind = 'idle GPUs' then 'hosting' end as cost_source,
        null as commitment_id,
        null as commitment_status,
        null as energy_kwh,
        null as energy_low_kwh,
        null as energy_high_kwh,
        null as carbon_gco2e,
        null as evidence_grade,
        null as service_tier,
        null as price_band_id,
        null as is_billed,
        9 as ordinal,
        null as corrected_month
    from mart_cost_lines
    left join int_hosting
        on
            mart_cost_lines.line_kind = 'idle GPUs'
            and mart_cost_lines.month = int_hosting.month
            and mart_cost_lines.model_id = int_hosting.model_id
    where
        mart_cost_lines.month = getvariable('export_month')
        and mart_cost_lines.line_kind not in ('committed, unused', 'correction')
        and mart_cost_lines.cost_usd <> 0
    union all
    select
        int_charges.provider,
        int_charges.model_id,
        null as query_class,
        int_charges.team,
        null as project,
        case
            when int_charges.charge_kind = 'tax' then 'Tax'
            when int_charges.billed_cost_usd < 0 then 'Credit'
            else 'Usage'
        end as charge_category,
        'Usage-Based' as charge_frequency,
        int_charges.charge_kind as description,
        int_charges.billed_cost_usd as billed_usd,
        int_charges.billed_cost_usd as effective_usd,
        case when int_charges.billed_cost_usd > 0 then int_charges.billed_cost_usd else 0 end
            as list_usd,
        case when int_charges.billed_cost_usd > 0 then int_charges.billed_cost_usd else 0 end
            as contracted_usd,
        null as consumed_quantity,
        null as consumed_unit,
        case when int_charges.charge_kind <> 'tax' then int_charges.row_count::double end
            as pricing_quantity,
        case when int_charges.charge_kind <> 'tax' then 'Lines' end as pricing_unit,
        case when int_charges.charge_kind <> 'tax' then 'Other' end as pricing_category,
        null as list_unit_usd,
        null as contracted_unit_usd,
        'AI and Machine Learning' as service_category,
        'Generative AI' as service_subcategory,
        int_charges.charge_kind as meter,
        null as direction,
        null as cache_action,
        'billed' as cost_source,
        null as commitment_id,
        null as commitment_status,
        null as energy_kwh,
        null as energy_low_kwh,
        null as energy_high_kwh,
        null as carbon_gco2e,
        null as evidence_grade,
        null as service_tier,
        null as price_band_id,
        null as is_billed,
        10 as ordinal,
        null as corrected_month
    from int_charges
    where
        int_charges.month = getvariable('export_month')
        and int_charges.is_counted
        and int_charges.billed_cost_usd <> 0
    union all
    select
        stg_corrections.provider,
        stg_corrections.model_id,
        null as query_class,
        stg_corrections.team,
        null as project,
        'Usage' as charge_category,
        'Usage-Based' as charge_frequency,
        stg_corrections.description,
        stg_corrections.cost_usd as billed_usd,
        stg_corrections.cost_usd as effective_usd,
        stg_corrections.cost_usd as list_usd,
        stg_corrections.cost_usd as contracted_usd,
        null as consumed_quantity,
        null as consumed_unit,
        stg_corrections.request_count::double as pricing_quantity,
        'Requests' as pricing_unit,
        'Other' as pricing_category,
        null as list_unit_usd,
        null as contracted_unit_usd,
        'AI and Machine Learning' as service_category,
        'Generative AI' as service_subcategory,
        'Late Usage' as meter,
        null as direction,
        null as cache_action,
        null as cost_source,
        null as commitment_id,
        null as commitment_status,
        stg_corrections.facility_energy_kwh as energy_kwh,
        null as energy_low_kwh,
        null as energy_high_kwh,
        null as carbon_gco2e,
        null as evidence_grade,
        null as service_tier,
        null as price_band_id,
        null as is_billed,
        11 as ordinal,
        stg_corrections.corrected_month
    from stg_corrections
    where
        stg_corrections.month = getvariable('export_month')
        and stg_corrections.cost_usd is not null
)

select
    charges.provider as BillingAccountId,
    charges.provider as BillingAccountName,
    'USD' as BillingCurrency,
    getvariable('period_start') as BillingPeriodStart,
    getvariable('period_end') as BillingPeriodEnd,
    coalesce(
        month_start_text(charges.corrected_month, calendar.time_zone), getvariable('period_start')
    ) as ChargePeriodStart,
    coalesce(
        month_start_text(month_after(charges.corrected_month), calendar.time_zone),
        getvariable('period_end')
    ) as ChargePeriodEnd,
    charges.charge_category as ChargeCategory,
    case when charges.corrected_month is not null then 'Correction' end as ChargeClass,
    safe_text(charges.description) as ChargeDescription,
    charges.charge_frequency as ChargeFrequency,
    charges.billed_usd::decimal(38, 15) as BilledCost,
    charges.effective_usd::decimal(38, 15) as EffectiveCost,
    charges.list_usd::decimal(38, 15) as ListCost,
    charges.contracted_usd::decimal(38, 15) as ContractedCost,
    charges.consumed_quantity::double as ConsumedQuantity,
    charges.consumed_unit as ConsumedUnit,
    charges.pricing_quantity::double as PricingQuantity,
    charges.pricing_unit as PricingUnit,
    charges.pricing_category as PricingCategory,
    charges.list_unit_usd::decimal(18, 9) as ListUnitPrice,
    charges.contracted_unit_usd::decimal(18, 9) as ContractedUnitPrice,
    safe_text(charges.commitment_id) as CommitmentDiscountId,
    safe_text(charges.commitment_id) as CommitmentDiscountName,
    case when charges.commitment_id is not null then 'Usage' end as CommitmentDiscountCategory,
    case when charges.commitment_id is not null then 'Provisioned Throughput' end
        as CommitmentDiscountType,
    charges.commitment_status as CommitmentDiscountStatus,
    'joulebook-' || getvariable('export_month') as InvoiceId,
    charges.provider as InvoiceIssuerName,
    charges.provider as ProviderName,
    charges.provider as PublisherName,
    charges.service_category as ServiceCategory,
    charges.service_subcategory as ServiceSubcategory,
    case charges.service_category
        when 'Other' then 'Electricity'
        when 'Compute' then 'GPU servers'
        else safe_text(coalesce(charges.model_id, charges.provider))
    end as ServiceName,
    case when charges.charge_category <> 'Tax' then safe_text(charges.model_id) end as SkuId,
    case when charges.charge_category <> 'Tax' then safe_text(charges.meter) end as SkuMeter,
    safe_text(charges.team) as SubAccountId,
    safe_text(charges.team) as SubAccountName,
    charges.direction as x_TokenDirection,
    charges.cache_action as x_TokenCacheAction,
    charges.query_class as x_QueryClass,
    safe_text(charges.project) as x_Project,
    charges.cost_source as x_CostSource,
    charges.energy_kwh as x_EnergyKwh,
    charges.energy_low_kwh as x_EnergyLowKwh,
    charges.energy_high_kwh as x_EnergyHighKwh,
    charges.carbon_gco2e as x_CarbonGco2e,
    charges.evidence_grade as x_EvidenceGrade
from charges
cross join raw_calendar as calendar
order by
    charges.provider asc, charges.model_id asc nulls last, charges.query_class asc nulls last,
    charges.team asc nulls last, charges.project asc nulls last,
    charges.service_tier asc nulls last, charges.price_band_id asc nulls last,
    charges.is_billed asc nulls last, charges.ordinal asc, charges.description asc
