-- What requests took that failed, or whose answer was cut off at the longest one allowed: their own
-- tokens and moments at the rates of their class, so that they are part of the month's energy and
-- cost and not beside it. A cut-off answer is not always useless; it is what to look at first.
-- Ranges are those of the joint draws, summed world by world. Shares are of the whole month.
-- A log without status and finish_reason has no waste here, which is not the same as none.
-- grain: month, provider, model_id, waste_kind

with

priced as (
    select
        waste.month,
        waste.provider,
        waste.model_id,
        waste.query_class,
        waste.waste_kind,
        waste.request_count,
        waste.unpriced_request_count,
        waste.input_tokens,
        waste.output_tokens,
        waste.passes,
        waste.cost_usd,
        rates.batch,
        rates.coefficient_set_id,
        rates.evidence_grade,
        rates.facility_ratio,
        rates.carbon_gco2e_per_kwh,
        case when rates.model_id is null then 0 else waste.measurable_request_count end
            as measured_request_count,
        case
            when waste.measurable_request_count > 0
                then
                    waste.prefilled_tokens::double * rates.energy_j_per_prefilled_token
                    + waste.prefill_pairs::double * rates.energy_j_per_pair
                    + waste.prompts::double * rates.energy_j_per_prompt
                    + waste.cache_positions::double * rates.energy_j_per_cache_position
                    + waste.decode_pairs::double * rates.energy_j_per_pair
                    + waste.decode_steps::double * rates.energy_j_per_decode_step
                    + waste.passes::double * rates.energy_j_per_pass
        end::decimal(38, 15) as gpu_energy_j
    from int_wasted_usage as waste
    left join int_class_energy as rates
        on
            waste.month = rates.month
            and waste.provider = rates.provider
            and waste.model_id = rates.model_id
            and waste.query_class = rates.query_class
),

sums as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.waste_kind,
        sum(priced.request_count) as request_count,
        sum(priced.request_count - priced.measured_request_count) as unmeasured_request_count,
        sum(priced.unpriced_request_count) as unpriced_request_count,
        sum(priced.input_tokens) as input_tokens,
        sum(priced.output_tokens) as output_tokens,
        sum(priced.cost_usd) as cost_usd,
        sum(priced.gpu_energy_j)::double as gpu_energy_j,
        worst_material_grade(priced.evidence_grade, priced.gpu_energy_j, material.value)
            as evidence_grade,
        listed_sets(priced.coefficient_set_id) as coefficient_set_id,
        mean_batch(priced.batch, priced.passes) as batch,
        max(priced.facility_ratio) as facility_ratio,
        max(priced.carbon_gco2e_per_kwh) as carbon_gco2e_per_kwh
    from priced
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by all
),

worlds as (
    select
        waste.month,
        waste.provider,
        waste.model_id,
        waste.query_class,
        waste.waste_kind,
        rates.draw,
        draws.facility_ratio,
        geometric_mean(
            (1 - rates.cached_frac) * (
                waste.prefilled_tokens::double * rates.energy_j_per_prefilled_token
                + waste.prefill_pairs::double * rates.energy_j_per_pair
                + waste.prompts::double * rates.energy_j_per_prompt
            )
            + waste.cache_positions::double * rates.energy_j_per_cache_position
            + waste.decode_pairs::double * rates.energy_j_per_pair
            + waste.decode_steps::double * rates.energy_j_per_decode_step
            + waste.passes::double * rates.energy_j_per_pass
        ) as gpu_energy_j
    from int_wasted_usage as waste
    inner join int_rate_draws as rates
        on
            waste.month = rates.month
            and waste.provider = rates.provider
            and waste.model_id = rates.model_id
            and waste.query_class = rates.query_class
    inner join int_draws as draws on rates.draw = draws.draw
    where waste.measurable_request_count > 0
    group by
        waste.month, waste.provider, waste.model_id, waste.query_class, waste.waste_kind,
        rates.draw, draws.facility_ratio
),

summed_worlds as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.waste_kind,
        worlds.draw,
        sum(worlds.gpu_energy_j::decimal(38, 15)) as gpu_energy_j,
        sum(facility_energy_kwh(worlds.gpu_energy_j, worlds.facility_ratio)::decimal(38, 18))
            as facility_energy_kwh
    from worlds
    group by all
),

ends as (
    select
        summed_worlds.month,
        summed_worlds.provider,
        summed_worlds.model_id,
        summed_worlds.waste_kind,
        drawn_positive_frac(summed_worlds.gpu_energy_j) as saving_positive_frac,
        drawn_p05(summed_worlds.gpu_energy_j) as energy_low_j,
        drawn_p50(summed_worlds.gpu_energy_j) as energy_p50_j,
        drawn_p95(summed_worlds.gpu_energy_j) as energy_high_j,
        drawn_p05(summed_worlds.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p50(summed_worlds.facility_energy_kwh) as facility_energy_p50_kwh,
        drawn_p95(summed_worlds.facility_energy_kwh) as facility_energy_high_kwh
    from summed_worlds
    group by all
)

select
    sums.month::varchar as month,
    sums.provider::varchar as provider,
    sums.model_id::varchar as model_id,
    sums.waste_kind::varchar as waste_kind,
    method.method_version::varchar as method_version,
    sums.evidence_grade::varchar as evidence_grade,
    sums.coefficient_set_id::varchar as coefficient_set_id,
    sums.batch::double as batch,
    sums.request_count::bigint as request_count,
    sums.unmeasured_request_count::bigint as unmeasured_request_count,
    sums.unpriced_request_count::bigint as unpriced_request_count,
    sums.input_tokens::bigint as input_tokens,
    sums.output_tokens::bigint as output_tokens,
    sums.cost_usd::decimal(38, 15) as cost_usd,
    sums.gpu_energy_j::double as gpu_energy_j,
    least(ends.energy_low_j, sums.gpu_energy_j)::double as energy_low_j,
    coalesce(ends.energy_p50_j, sums.gpu_energy_j)::double as energy_p50_j,
    greatest(ends.energy_high_j, sums.gpu_energy_j)::double as energy_high_j,
    facility_energy_kwh(sums.gpu_energy_j, sums.facility_ratio)::double as facility_energy_kwh,
    least(
        ends.facility_energy_low_kwh, facility_energy_kwh(sums.gpu_energy_j, sums.facility_ratio)
    )::double as facility_energy_low_kwh,
    coalesce(
        ends.facility_energy_p50_kwh, facility_energy_kwh(sums.gpu_energy_j, sums.facility_ratio)
    )::double as facility_energy_p50_kwh,
    greatest(
        ends.facility_energy_high_kwh, facility_energy_kwh(sums.gpu_energy_j, sums.facility_ratio)
    )::double as facility_energy_high_kwh,
    (facility_energy_kwh(sums.gpu_energy_j, sums.facility_ratio) * sums.carbon_gco2e_per_kwh)
    ::double as carbon_gco2e,
    (sums.request_count::double / nullif(whole.request_count, 0)::double)::double
        as request_frac,
    (sums.cost_usd::double / nullif(whole.cost_usd, 0)::double)::double as cost_frac,
    (sums.gpu_energy_j / nullif(whole.gpu_energy_j, 0))::double as energy_frac,
    ends.saving_positive_frac::double as saving_positive_frac,
    'none of these requests had been sent'::varchar as assumption
from sums
inner join mart_month_total as whole
    on sums.month = whole.month and whole.total_kind = 'month'
left join ends
    on
        sums.month = ends.month
        and sums.provider = ends.provider
        and sums.model_id = ends.model_id
        and sums.waste_kind = ends.waste_kind
cross join raw_method as method
