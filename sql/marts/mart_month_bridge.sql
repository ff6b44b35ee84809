-- Why a month differs from the one before, in five parts that add up: more requests at last
-- month's mix, other classes and teams, other models within them, other lengths, and the price of a
-- token (of electricity and carbon: the joules of a unit of work, and the grid).
-- Each step is cut to the cent once and the parts are differences of steps, so they tie.
-- Requests whose cost or energy is unknown are in neither month.
-- The range of a part is that of its differences over the joint draws: what both months are unsure
-- of alike falls out of it. The grid factor is one for both months and taken as given, so carbon
-- has the draws of the electricity. The grade is the worse of the two months.
-- grain: month

with

wide as (
    select
        steps.month,
        max(
            case when steps.measure = 'cost_usd' then steps.request_before_count end
        )::bigint as priced_request_before_count,
        max(
            case when steps.measure = 'cost_usd' then steps.request_count end
        )::bigint as priced_request_count,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.request_before_count end
        )::bigint as measured_request_before_count,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.request_count end
        )::bigint as measured_request_count,
        max(
            case when steps.measure = 'cost_usd' then steps.value_before end
        )::decimal(38, 2) as cost_before_usd,
        max(
            case when steps.measure = 'cost_usd' then steps.value_at_volume end
        )::decimal(38, 2) as cost_at_volume_usd,
        max(
            case when steps.measure = 'cost_usd' then steps.value_at_mix end
        )::decimal(38, 2) as cost_at_mix_usd,
        max(
            case when steps.measure = 'cost_usd' then steps.value_at_model end
        )::decimal(38, 2) as cost_at_model_usd,
        max(
            case when steps.measure = 'cost_usd' then steps.value_at_length end
        )::decimal(38, 2) as cost_at_length_usd,
        max(
            case when steps.measure = 'cost_usd' then steps.value_at_price end
        )::decimal(38, 2) as cost_at_price_usd,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.value_before end
        )::decimal(38, 9) as facility_energy_before_kwh,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.value_at_volume end
        )::decimal(38, 9) as facility_energy_at_volume_kwh,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.value_at_mix end
        )::decimal(38, 9) as facility_energy_at_mix_kwh,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.value_at_model end
        )::decimal(38, 9) as facility_energy_at_model_kwh,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.value_at_length end
        )::decimal(38, 9) as facility_energy_at_length_kwh,
        max(
            case when steps.measure = 'facility_energy_kwh' then steps.value_at_price end
        )::decimal(38, 9) as facility_energy_at_price_kwh,
        max(
            case when steps.measure = 'carbon_gco2e' then steps.value_before end
        )::decimal(38, 9) as carbon_before_gco2e,
        max(
            case when steps.measure = 'carbon_gco2e' then steps.value_at_volume end
        )::decimal(38, 9) as carbon_at_volume_gco2e,
        max(
            case when steps.measure = 'carbon_gco2e' then steps.value_at_mix end
        )::decimal(38, 9) as carbon_at_mix_gco2e,
        max(
            case when steps.measure = 'carbon_gco2e' then steps.value_at_model end
        )::decimal(38, 9) as carbon_at_model_gco2e,
        max(
            case when steps.measure = 'carbon_gco2e' then steps.value_at_length end
        )::decimal(38, 9) as carbon_at_length_gco2e,
        max(
            case when steps.measure = 'carbon_gco2e' then steps.value_at_price end
        )::decimal(38, 9) as carbon_at_price_gco2e
    from int_bridge_steps as steps
    group by all
),

ends as (
    select
        draws.month,
        drawn_p05(draws.value_before) as before_low_kwh,
        drawn_p95(draws.value_before) as before_high_kwh,
        drawn_p05(draws.value_at_volume - draws.value_before) as volume_low_kwh,
        drawn_p95(draws.value_at_volume - draws.value_before) as volume_high_kwh,
        drawn_p05(draws.value_at_mix - draws.value_at_volume) as mix_low_kwh,
        drawn_p95(draws.value_at_mix - draws.value_at_volume) as mix_high_kwh,
        drawn_p05(draws.value_at_model - draws.value_at_mix) as model_low_kwh,
        drawn_p95(draws.value_at_model - draws.value_at_mix) as model_high_kwh,
        drawn_p05(draws.value_at_length - draws.value_at_model) as length_low_kwh,
        drawn_p95(draws.value_at_length - draws.value_at_model) as length_high_kwh,
        drawn_p05(draws.value_at_price - draws.value_at_length) as rate_low_kwh,
        drawn_p95(draws.value_at_price - draws.value_at_length) as rate_high_kwh,
        drawn_p05(draws.value_at_price) as month_low_kwh,
        drawn_p95(draws.value_at_price) as month_high_kwh
    from int_bridge_draws as draws
    group by all
),

parts as (
    select
        wide.month,
        wide.facility_energy_before_kwh,
        wide.facility_energy_at_volume_kwh - wide.facility_energy_before_kwh
            as facility_energy_volume_kwh,
        wide.facility_energy_at_mix_kwh - wide.facility_energy_at_volume_kwh
            as facility_energy_mix_kwh,
        wide.facility_energy_at_model_kwh - wide.facility_energy_at_mix_kwh
            as facility_energy_model_kwh,
        wide.facility_energy_at_length_kwh - wide.facility_energy_at_model_kwh
            as facility_energy_length_kwh,
        wide.facility_energy_at_price_kwh - wide.facility_energy_at_length_kwh
            as facility_energy_rate_kwh,
        wide.facility_energy_at_price_kwh as facility_energy_kwh,
        wide.carbon_before_gco2e,
        wide.carbon_at_volume_gco2e - wide.carbon_before_gco2e
            as carbon_volume_gco2e,
        wide.carbon_at_mix_gco2e - wide.carbon_at_volume_gco2e
            as carbon_mix_gco2e,
        wide.carbon_at_model_gco2e - wide.carbon_at_mix_gco2e
            as carbon_model_gco2e,
        wide.carbon_at_length_gco2e - wide.carbon_at_model_gco2e
            as carbon_length_gco2e,
        wide.carbon_at_price_gco2e - wide.carbon_at_length_gco2e
            as carbon_rate_gco2e,
        wide.carbon_at_price_gco2e as carbon_gco2e
    from wide
)

select
    wide.month::varchar as month,
    wide.priced_request_before_count::bigint as priced_request_before_count,
    wide.priced_request_count::bigint as priced_request_count,
    wide.measured_request_before_count::bigint as measured_request_before_count,
    wide.measured_request_count::bigint as measured_request_count,
    wide.cost_before_usd::decimal(38, 2) as cost_before_usd,
    (wide.cost_at_volume_usd - wide.cost_before_usd)
    ::decimal(38, 2) as cost_volume_usd,
    (wide.cost_at_mix_usd - wide.cost_at_volume_usd)
    ::decimal(38, 2) as cost_mix_usd,
    (wide.cost_at_model_usd - wide.cost_at_mix_usd)
    ::decimal(38, 2) as cost_model_usd,
    (wide.cost_at_length_usd - wide.cost_at_model_usd)
    ::decimal(38, 2) as cost_length_usd,
    (wide.cost_at_price_usd - wide.cost_at_length_usd)
    ::decimal(38, 2) as cost_price_usd,
    wide.cost_at_price_usd::decimal(38, 2) as cost_usd,
    parts.facility_energy_before_kwh::decimal(38, 9) as facility_energy_before_kwh,
    least(ends.before_low_kwh, parts.facility_energy_before_kwh::double)::double
        as facility_energy_before_low_kwh,
    greatest(ends.before_high_kwh, parts.facility_energy_before_kwh::double)::double
        as facility_energy_before_high_kwh,
    parts.facility_energy_volume_kwh::decimal(38, 9) as facility_energy_volume_kwh,
    least(ends.volume_low_kwh, parts.facility_energy_volume_kwh::double)::double
        as facility_energy_volume_low_kwh,
    greatest(ends.volume_high_kwh, parts.facility_energy_volume_kwh::double)::double
        as facility_energy_volume_high_kwh,
    parts.facility_energy_mix_kwh::decimal(38, 9) as facility_energy_mix_kwh,
    least(ends.mix_low_kwh, parts.facility_energy_mix_kwh::double)::double
        as facility_energy_mix_low_kwh,
    greatest(ends.mix_high_kwh, parts.facility_energy_mix_kwh::double)::double
        as facility_energy_mix_high_kwh,
    parts.facility_energy_model_kwh::decimal(38, 9) as facility_energy_model_kwh,
    least(ends.model_low_kwh, parts.facility_energy_model_kwh::double)::double
        as facility_energy_model_low_kwh,
    greatest(ends.model_high_kwh, parts.facility_energy_model_kwh::double)::double
        as facility_energy_model_high_kwh,
    parts.facility_energy_length_kwh::decimal(38, 9) as facility_energy_length_kwh,
    least(ends.length_low_kwh, parts.facility_energy_length_kwh::double)::double
        as facility_energy_length_low_kwh,
    greatest(ends.length_high_kwh, parts.facility_energy_length_kwh::double)::double
        as facility_energy_length_high_kwh,
    parts.facility_energy_rate_kwh::decimal(38, 9) as facility_energy_rate_kwh,
    least(ends.rate_low_kwh, parts.facility_energy_rate_kwh::double)::double
        as facility_energy_rate_low_kwh,
    greatest(ends.rate_high_kwh, parts.facility_energy_rate_kwh::double)::double
        as facility_energy_rate_high_kwh,
    parts.facility_energy_kwh::decimal(38, 9) as facility_energy_kwh,
    least(ends.month_low_kwh, parts.facility_energy_kwh::double)::double
        as facility_energy_low_kwh,
    greatest(ends.month_high_kwh, parts.facility_energy_kwh::double)::double
        as facility_energy_high_kwh,
    parts.carbon_before_gco2e::decimal(38, 9) as carbon_before_gco2e,
    least(ends.before_low_kwh * grid.value, parts.carbon_before_gco2e::double)::double
        as carbon_before_low_gco2e,
    greatest(ends.before_high_kwh * grid.value, parts.carbon_before_gco2e::double)::double
        as carbon_before_high_gco2e,
    parts.carbon_volume_gco2e::decimal(38, 9) as carbon_volume_gco2e,
    least(ends.volume_low_kwh * grid.value, parts.carbon_volume_gco2e::double)::double
        as carbon_volume_low_gco2e,
    greatest(ends.volume_high_kwh * grid.value, parts.carbon_volume_gco2e::double)::double
        as carbon_volume_high_gco2e,
    parts.carbon_mix_gco2e::decimal(38, 9) as carbon_mix_gco2e,
    least(ends.mix_low_kwh * grid.value, parts.carbon_mix_gco2e::double)::double
        as carbon_mix_low_gco2e,
    greatest(ends.mix_high_kwh * grid.value, parts.carbon_mix_gco2e::double)::double
        as carbon_mix_high_gco2e,
    parts.carbon_model_gco2e::decimal(38, 9) as carbon_model_gco2e,
    least(ends.model_low_kwh * grid.value, parts.carbon_model_gco2e::double)::double
        as carbon_model_low_gco2e,
    greatest(ends.model_high_kwh * grid.value, parts.carbon_model_gco2e::double)::double
        as carbon_model_high_gco2e,
    parts.carbon_length_gco2e::decimal(38, 9) as carbon_length_gco2e,
    least(ends.length_low_kwh * grid.value, parts.carbon_length_gco2e::double)::double
        as carbon_length_low_gco2e,
    greatest(ends.length_high_kwh * grid.value, parts.carbon_length_gco2e::double)::double
        as carbon_length_high_gco2e,
    parts.carbon_rate_gco2e::decimal(38, 9) as carbon_rate_gco2e,
    least(ends.rate_low_kwh * grid.value, parts.carbon_rate_gco2e::double)::double
        as carbon_rate_low_gco2e,
    greatest(ends.rate_high_kwh * grid.value, parts.carbon_rate_gco2e::double)::double
        as carbon_rate_high_gco2e,
    parts.carbon_gco2e::decimal(38, 9) as carbon_gco2e,
    least(ends.month_low_kwh * grid.value, parts.carbon_gco2e::double)::double
        as carbon_low_gco2e,
    greatest(ends.month_high_kwh * grid.value, parts.carbon_gco2e::double)::double
        as carbon_high_gco2e,
    greatest(totals.evidence_grade, totals_before.evidence_grade)::varchar as evidence_grade,
    totals.coefficient_set_id::varchar as coefficient_set_id,
    totals.batch::double as batch,
    totals_before.batch::double as batch_before,
    totals.method_version::varchar as method_version
from wide
inner join parts on wide.month = parts.month
inner join mart_month_total as totals
    on wide.month = totals.month and totals.total_kind = 'month'
inner join mart_month_total as totals_before
    on wide.month = month_after(totals_before.month) and totals_before.total_kind = 'month'
left join ends on wide.month = ends.month
inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
