-- The month under a power cap or a clock lock, for models on the company's own servers: nobody sets a
-- provider's clocks. Energy of GPU boards times what the setting changes it by; electricity adds what
-- the facility spends on cooling (its PUE), while hosts and idle GPUs stay as they are.
-- Electricity is saved in money only where the bill does not hold it (owned hardware); of rented GPUs
-- it is 0 USD and carbon alone. What a loss of throughput costs is the price of more GPU hours, and
-- only falls due where capacity binds; cost_delta_usd counts it in.
-- Ranges are the 5 % and 95 % of the joint draws; factors of energy, of throughput and the tariff err
-- each on its own, by scores of the draws that nothing else here uses (those of host and idle, and of
-- the tiers of closed models). Money's ends take the tariff's ends too.
-- Break-even: the loss of throughput that the saved electricity pays for where the GPUs are owned, and
-- the tariff from which it pays for the loss that was measured.
-- Phase both: the sum of the two, unknown where one of them is.
-- grain: month, gpu, policy, phase

with

summed as (
    select
        phases.month,
        phases.gpu,
        phases.phase,
        sum(phases.phase_energy_j::decimal(38, 15)) as phase_energy_j,
        sum(
            case when phases.bill_includes_power then 0 else phases.phase_energy_j end
            ::decimal(38, 15)
        ) as owned_energy_j,
        sum(phases.phase_gpu_hours::decimal(38, 15)) as gpu_hours,
        sum(phases.phase_hosting_usd::decimal(38, 15)) as hosting_cost_usd,
        bool_or(phases.bill_includes_power is null) as is_billed_in_part,
        bool_and(coalesce(phases.bill_includes_power, true)) as is_rented,
        bool_or(coalesce(phases.bill_includes_power, true)) as is_rented_in_part,
        sum((phases.phase_energy_j * phases.batch)::decimal(38, 15)) as batch_energy_j,
        listed_sets(phases.coefficient_set_id) as coefficient_set_id
    from int_phase_energy as phases
    group by all
),

graded as (
    select
        phases.month,
        phases.gpu,
        phases.evidence_grade,
        sum(phases.phase_energy_j::decimal(38, 15)) as grade_energy_j
    from int_phase_energy as phases
    group by all
),

totals as (
    select
        graded.month,
        graded.gpu,
        sum(graded.grade_energy_j) as gpu_energy_j
    from graded
    group by all
),

grades as (
    select
        graded.month,
        graded.gpu,
        max(graded.evidence_grade) as evidence_grade
    from graded
    inner join totals on graded.month = totals.month and graded.gpu = totals.gpu
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    where graded.grade_energy_j::double >= material.value * totals.gpu_energy_j::double
    group by all
),

-- What the law's energy of a phase would be in each possible world.
drawn_phases as (
    select
        phases.month,
        phases.gpu,
        phases.phase,
        draws.draw,
        sum((draws.gpu_energy_j * phases.phase_frac)::decimal(38, 15))::double as phase_energy_j
    from int_phase_energy as phases
    inner join int_class_draws as draws
        on
            phases.month = draws.month
            and phases.provider = draws.provider
            and phases.model_id = draws.model_id
            and phases.query_class = draws.query_class
    group by all
),

drawn as (
    select
        phases.month,
        phases.gpu,
        factors.policy,
        phases.phase,
        phases.draw,
        phases.phase_energy_j * (
            drawn_value(
                factors.energy_ratio, factors.energy_low_ratio, factors.energy_high_ratio,
                case
                    when phases.phase = 'decode' then draws.host_z_score
                    else draws.idle_z_score
                end
            ) - 1
        ) as energy_delta_j,
        drawn_value(pue.value, pue.low, pue.high, draws.pue_z_score) as pue_ratio,
        summed.gpu_hours::double * (
            1 / drawn_value(
                factors.throughput_ratio, factors.throughput_low_ratio,
                factors.throughput_high_ratio,
                case
                    when phases.phase = 'decode' then draws.small_z_score
                    else draws.middle_z_score
                end
            ) - 1
        ) as gpu_hours_delta
    from drawn_phases as phases
    inner join summed
        on
            phases.month = summed.month
            and phases.gpu = summed.gpu
            and phases.phase = summed.phase
    inner join int_power_factors as factors
        on phases.gpu = factors.gpu and phases.phase = factors.phase
    inner join stg_joint_draws as draws on phases.draw = draws.draw
    inner join stg_assumptions as pue on pue.assumption = 'pue_ratio'
),

-- Each phase for itself, and both in the same world.
drawn_sums as (
    select
        drawn.month,
        drawn.gpu,
        drawn.policy,
        asked.phase,
        drawn.draw,
        sum(facility_energy_kwh(drawn.energy_delta_j, drawn.pue_ratio)::decimal(38, 18))::double
            as electricity_delta_kwh,
        sum(drawn.gpu_hours_delta::decimal(38, 15))::double as gpu_hours_delta,
        count(*) = count(drawn.gpu_hours_delta) as is_throughput_known
    from drawn
    cross join (values ('prefill'), ('decode'), ('both')) as asked (phase)
    where asked.phase in (drawn.phase, 'both')
    group by all
),

ends as (
    select
        drawn_sums.month,
        drawn_sums.gpu,
        drawn_sums.policy,
        drawn_sums.phase,
        drawn_p05(drawn_sums.electricity_delta_kwh) as electricity_delta_low_kwh,
        drawn_p95(drawn_sums.electricity_delta_kwh) as electricity_delta_high_kwh,
        drawn_positive_frac(-drawn_sums.electricity_delta_kwh) as saving_positive_frac
    from drawn_sums
    group by all
),

asked as (
    select distinct
        factors.gpu,
        factors.policy,
        factors.lever
    from int_power_factors as factors
),

changed as (
    select
        summed.month,
        summed.gpu,
        asked.policy,
        asked.lever,
        summed.phase,
        summed.phase_energy_j,
        summed.owned_energy_j,
        summed.gpu_hours,
        summed.hosting_cost_usd,
        summed.is_billed_in_part,
        summed.is_rented,
        summed.is_rented_in_part,
        summed.batch_energy_j,
        summed.coefficient_set_id,
        factors.energy_ratio,
        factors.energy_low_ratio,
        factors.energy_high_ratio,
        factors.throughput_ratio,
        factors.throughput_low_ratio,
        factors.throughput_high_ratio,
        factors.bound_verdict,
        factors.factor_source,
        factors.evidence_grade as factor_grade,
        summed.phase_energy_j::double * (factors.energy_ratio - 1) as energy_delta_j,
        summed.owned_energy_j::double * (factors.energy_ratio - 1) as owned_energy_delta_j,
        summed.gpu_hours::double * (1 / factors.throughput_ratio - 1) as gpu_hours_delta,
        summed.gpu_hours::double * (1 / factors.throughput_high_ratio - 1) as gpu_hours_delta_low,
        summed.gpu_hours::double * (1 / factors.throughput_low_ratio - 1) as gpu_hours_delta_high
    from summed
    inner join asked on summed.gpu = asked.gpu
    left join int_power_factors as factors
        on
            summed.gpu = factors.gpu
            and asked.policy = factors.policy
            and summed.phase = factors.phase
),

-- A sum is unknown where one of its phases is.
whole as (
    select
        changed.month,
        changed.gpu,
        changed.policy,
        changed.lever,
        asked_phase.phase,
        count(*) as phase_count,
        count(changed.energy_ratio) as known_phase_count,
        sum(changed.phase_energy_j)::double as phase_energy_j,
        sum(changed.gpu_hours)::double as gpu_hours,
        sum(changed.hosting_cost_usd)::double as hosting_cost_usd,
        bool_or(changed.is_billed_in_part) as is_billed_in_part,
        bool_and(changed.is_rented) as is_rented,
        bool_or(changed.is_rented_in_part) as is_rented_in_part,
        sum(changed.batch_energy_j)::double as batch_energy_j,
        min(changed.coefficient_set_id) as coefficient_set_id,
        case when count(*) = 1 then max(changed.energy_low_ratio) end as energy_low_ratio,
        case when count(*) = 1 then max(changed.energy_high_ratio) end as energy_high_ratio,
        case when count(*) = 1 then max(changed.throughput_ratio) end as throughput_ratio,
        case when count(*) = 1 then max(changed.bound_verdict) end as bound_verdict,
        case
            when min(changed.factor_source) = max(changed.factor_source)
                then min(changed.factor_source)
            else min(changed.factor_source) || '; ' || max(changed.factor_source)
        end as factor_source,
        max(changed.factor_grade) as factor_grade,
        sum(changed.energy_delta_j::decimal(38, 15))::double as energy_delta_j,
        sum(changed.owned_energy_delta_j::decimal(38, 15))::double as owned_energy_delta_j,
        sum(changed.gpu_hours_delta::decimal(38, 15))::double as gpu_hours_delta,
        sum(changed.gpu_hours_delta_low::decimal(38, 15))::double as gpu_hours_delta_low,
        sum(changed.gpu_hours_delta_high::decimal(38, 15))::double as gpu_hours_delta_high
    from changed
    cross join (values ('prefill'), ('decode'), ('both')) as asked_phase (phase)
    where asked_phase.phase in (changed.phase, 'both')
    group by all
),

priced as (
    select
        whole.month,
        whole.gpu,
        whole.policy,
        whole.phase,
        facility_energy_kwh(whole.energy_delta_j, pue.value) as electricity_delta_kwh,
        least(
            ends.electricity_delta_low_kwh, facility_energy_kwh(whole.energy_delta_j, pue.value)
        ) as electricity_delta_low_kwh,
        greatest(
            ends.electricity_delta_high_kwh, facility_energy_kwh(whole.energy_delta_j, pue.value)
        ) as electricity_delta_high_kwh,
        ends.saving_positive_frac,
        whole.owned_energy_delta_j / nullif(whole.energy_delta_j, 0) as owned_frac,
        whole.hosting_cost_usd / nullif(whole.gpu_hours, 0) as usd_per_gpu_hour,
        tariff.value as tariff_usd_per_kwh,
        tariff.low as tariff_low_usd_per_kwh,
        tariff.high as tariff_high_usd_per_kwh,
        grid.value as carbon_gco2e_per_kwh
    from whole
    inner join ends
        on
            whole.month = ends.month
            and whole.gpu = ends.gpu
            and whole.policy = ends.policy
            and whole.phase = ends.phase
    inner join stg_assumptions as pue on pue.assumption = 'pue_ratio'
    inner join stg_assumptions as tariff on tariff.assumption = 'electricity_usd_per_kwh'
    inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
    where whole.known_phase_count = whole.phase_count
),

money as (
    select
        priced.month,
        priced.gpu,
        priced.policy,
        priced.phase,
        priced.electricity_delta_kwh * priced.tariff_usd_per_kwh as if_owned_usd,
        least(
            priced.electricity_delta_low_kwh * priced.tariff_low_usd_per_kwh,
            priced.electricity_delta_low_kwh * priced.tariff_high_usd_per_kwh
        ) as if_owned_low_usd,
        greatest(
            priced.electricity_delta_high_kwh * priced.tariff_low_usd_per_kwh,
            priced.electricity_delta_high_kwh * priced.tariff_high_usd_per_kwh
        ) as if_owned_high_usd
    from priced
),

-- What it would cost more or less in each possible world, all hours that it takes paid for.
drawn_money as (
    select
        drawn_sums.month,
        drawn_sums.gpu,
        drawn_sums.policy,
        drawn_sums.phase,
        drawn_positive_frac(
            -case
                when drawn_sums.is_throughput_known
                    then
                        case
                            when whole.is_rented then 0
                            else
                                drawn_sums.electricity_delta_kwh
                                * coalesce(priced.owned_frac, 0)
                                * drawn_value(
                                    priced.tariff_usd_per_kwh, priced.tariff_low_usd_per_kwh,
                                    priced.tariff_high_usd_per_kwh, draws.large_z_score
                                )
                        end
                        + priced.usd_per_gpu_hour * drawn_sums.gpu_hours_delta
            end
        ) as cost_saving_positive_frac
    from drawn_sums
    inner join whole
        on
            drawn_sums.month = whole.month
            and drawn_sums.gpu = whole.gpu
            and drawn_sums.policy = whole.policy
            and drawn_sums.phase = whole.phase
    inner join priced
        on
            drawn_sums.month = priced.month
            and drawn_sums.gpu = priced.gpu
            and drawn_sums.policy = priced.policy
            and drawn_sums.phase = priced.phase
    inner join stg_joint_draws as draws on drawn_sums.draw = draws.draw
    group by all
)

select
    whole.month::varchar as month,
    whole.gpu::varchar as gpu,
    whole.policy::varchar as policy,
    whole.phase::varchar as phase,
    whole.lever::varchar as lever,
    case
        when whole.hosting_cost_usd is null then 'no GPU bill'
        when whole.is_rented then 'rented'
        when whole.is_rented_in_part then 'rented and owned'
        else 'owned'
    end::varchar as ownership,
    whole.bound_verdict::varchar as bound_verdict,
    whole.factor_source::varchar as factor_source,
    case
        when whole.known_phase_count < whole.phase_count then 'U'
        else greatest(coalesce(grades.evidence_grade, 'U'), whole.factor_grade)
    end::varchar as evidence_grade,
    whole.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    (whole.batch_energy_j / nullif(whole.phase_energy_j, 0))::double as batch,
    whole.phase_energy_j::double as phase_energy_j,
    case
        when whole.known_phase_count = whole.phase_count
            then 1 + whole.energy_delta_j / nullif(whole.phase_energy_j, 0)
    end::double as energy_ratio,
    whole.energy_low_ratio::double as energy_low_ratio,
    whole.energy_high_ratio::double as energy_high_ratio,
    whole.throughput_ratio::double as throughput_ratio,
    priced.electricity_delta_kwh::double as electricity_delta_kwh,
    priced.electricity_delta_low_kwh::double as electricity_delta_low_kwh,
    priced.electricity_delta_high_kwh::double as electricity_delta_high_kwh,
    priced.saving_positive_frac::double as saving_positive_frac,
    (priced.electricity_delta_kwh * priced.carbon_gco2e_per_kwh)::double as carbon_delta_gco2e,
    (priced.electricity_delta_low_kwh * priced.carbon_gco2e_per_kwh)::double
        as carbon_delta_low_gco2e,
    (priced.electricity_delta_high_kwh * priced.carbon_gco2e_per_kwh)::double
        as carbon_delta_high_gco2e,
    money.if_owned_usd::decimal(38, 9) as electricity_delta_if_owned_usd,
    money.if_owned_low_usd::decimal(38, 9) as electricity_delta_if_owned_low_usd,
    money.if_owned_high_usd::decimal(38, 9) as electricity_delta_if_owned_high_usd,
    case
        when whole.hosting_cost_usd is null then null
        when whole.is_rented then 0
        else money.if_owned_usd * coalesce(priced.owned_frac, 0)
    end::decimal(38, 9) as electricity_delta_usd,
    (whole.gpu_hours * 3600)::double as gpu_time_s,
    case when whole.known_phase_count = whole.phase_count then whole.gpu_hours_delta * 3600 end
    ::double as gpu_time_delta_s,
    whole.hosting_cost_usd::decimal(38, 9) as hosting_cost_usd,
    (priced.usd_per_gpu_hour * whole.gpu_hours_delta)::decimal(38, 9) as capacity_delta_usd,
    (
        case
            when whole.is_rented then 0
            else money.if_owned_usd * coalesce(priced.owned_frac, 0)
        end
        + priced.usd_per_gpu_hour * whole.gpu_hours_delta
    )::decimal(38, 9) as cost_delta_usd,
    (
        case
            when whole.is_rented then 0
            else money.if_owned_low_usd * coalesce(priced.owned_frac, 0)
        end
        + priced.usd_per_gpu_hour * whole.gpu_hours_delta_low
    )::decimal(38, 9) as cost_delta_low_usd,
    (
        case
            when whole.is_rented then 0
            else money.if_owned_high_usd * coalesce(priced.owned_frac, 0)
        end
        + priced.usd_per_gpu_hour * whole.gpu_hours_delta_high
    )::decimal(38, 9) as cost_delta_high_usd,
    drawn_money.cost_saving_positive_frac::double as cost_saving_positive_frac,
    case
        when money.if_owned_usd < 0
            then -money.if_owned_usd / (-money.if_owned_usd + whole.hosting_cost_usd)
        when money.if_owned_usd >= 0 then 0
    end::double as break_even_throughput_loss_frac,
    case
        when priced.electricity_delta_kwh < 0 and whole.gpu_hours_delta > 0
            then priced.usd_per_gpu_hour * whole.gpu_hours_delta / -priced.electricity_delta_kwh
        when priced.electricity_delta_kwh < 0 and whole.gpu_hours_delta <= 0 then 0
    end::decimal(38, 9) as break_even_tariff_usd_per_kwh,
    case
        when whole.known_phase_count < whole.phase_count
            then 'nothing measured or published of this phase'
    end::varchar as reason,
    'the change measured or published holds for this work'::varchar as assumption
from whole
left join priced
    on
        whole.month = priced.month
        and whole.gpu = priced.gpu
        and whole.policy = priced.policy
        and whole.phase = priced.phase
left join money
    on
        whole.month = money.month
        and whole.gpu = money.gpu
        and whole.policy = money.policy
        and whole.phase = money.phase
left join drawn_money
    on
        whole.month = drawn_money.month
        and whole.gpu = drawn_money.gpu
        and whole.policy = drawn_money.policy
        and whole.phase = drawn_money.phase
left join grades on whole.month = grades.month and whole.gpu = grades.gpu
cross join raw_method as method
