-- Measured energy of the company's own GPUs by hour (UTC), against what the law says of the requests
-- logged then. Idle is what a GPU drew while nothing ran on it; of the rest the law explains a part,
-- and the remainder is requests that are in no log, other work, or the law's own error. A class's
-- energy falls on hours by their output tokens, an hour's on GPUs by what they drew above idle. The
-- range of the law's part is that of the joint draws.
-- Drift: how far measured over law moved from the first half of the month's hours to the second.
-- grain: month, gpu, hour_start_at

with

class_tokens as (
    select
        hours.month,
        hours.provider,
        hours.model_id,
        hours.query_class,
        sum(hours.output_tokens) as output_tokens
    from int_hourly_batches as hours
    group by all
),

measured_hours as (
    select measured.hour_start_at
    from stg_telemetry_hours as measured
    group by all
),

-- Each class's share of its month in an hour that was measured.
parts as (
    select
        hours.month,
        hours.provider,
        hours.model_id,
        hours.query_class,
        hours.hour_start_at,
        hours.output_tokens,
        hours.output_tokens::double / class_tokens.output_tokens::double as share_frac
    from int_hourly_batches as hours
    inner join measured_hours on hours.hour_start_at = measured_hours.hour_start_at
    inner join class_tokens
        on
            hours.month = class_tokens.month
            and hours.provider = class_tokens.provider
            and hours.model_id = class_tokens.model_id
            and hours.query_class = class_tokens.query_class
    where class_tokens.output_tokens > 0
),

law_hours as (
    select
        parts.hour_start_at,
        sum((energies.gpu_energy_j * parts.share_frac)::decimal(38, 9))::double as law_energy_j,
        mean_batch(energies.batch, parts.output_tokens) as batch,
        worst_material_grade(
            energies.evidence_grade, energies.gpu_energy_j * parts.share_frac, material.value
        ) as evidence_grade,
        listed_sets(energies.coefficient_set_id) as coefficient_set_id
    from parts
    inner join int_class_energy as energies
        on
            parts.month = energies.month
            and parts.provider = energies.provider
            and parts.model_id = energies.model_id
            and parts.query_class = energies.query_class
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by parts.hour_start_at
),

worlds as (
    select
        parts.hour_start_at,
        draws.draw,
        sum((draws.gpu_energy_j * parts.share_frac)::decimal(38, 9))::double as law_energy_j
    from parts
    inner join int_class_draws as draws
        on
            parts.month = draws.month
            and parts.provider = draws.provider
            and parts.model_id = draws.model_id
            and parts.query_class = draws.query_class
    group by all
),

ends as (
    select
        worlds.hour_start_at,
        least(drawn_p05(worlds.law_energy_j / law_hours.law_energy_j), 1) as low_ratio,
        greatest(drawn_p95(worlds.law_energy_j / law_hours.law_energy_j), 1) as high_ratio
    from worlds
    inner join law_hours on worlds.hour_start_at = law_hours.hour_start_at
    where law_hours.law_energy_j > 0
    group by all
),

busy as (
    select
        measured.month,
        measured.gpu,
        measured.gpu_name,
        measured.hour_start_at,
        measured.energy_j,
        measured.idle_energy_j,
        measured.covered_s,
        measured.energy_j - measured.idle_energy_j as busy_energy_j,
        sum((measured.energy_j - measured.idle_energy_j)::decimal(38, 9)) over (
            partition by measured.hour_start_at
        )::double as hour_busy_energy_j
    from stg_telemetry_hours as measured
),

shared as (
    select
        busy.month,
        busy.gpu,
        busy.gpu_name,
        busy.hour_start_at,
        busy.energy_j,
        busy.idle_energy_j,
        busy.covered_s,
        busy.busy_energy_j,
        coalesce(law_hours.law_energy_j, 0)
        * coalesce(busy.busy_energy_j / nullif(busy.hour_busy_energy_j, 0), 0) as law_energy_j
    from busy
    left join law_hours on busy.hour_start_at = law_hours.hour_start_at
),

halves as (
    select
        totals.month,
        totals.hour_start_at,
        totals.busy_energy_j,
        totals.law_energy_j,
        ntile(2) over (partition by totals.month order by totals.hour_start_at) as half
    from (
        select
            shared.month,
            shared.hour_start_at,
            sum(shared.busy_energy_j::decimal(38, 9)) as busy_energy_j,
            sum(shared.law_energy_j::decimal(38, 9)) as law_energy_j
        from shared
        group by all
    ) as totals
    where totals.law_energy_j > 0 and totals.busy_energy_j > 0
),

drifts as (
    select
        halves.month,
        (
            sum(case when halves.half = 2 then halves.busy_energy_j end)::double
            / sum(case when halves.half = 2 then halves.law_energy_j end)::double
        ) / (
            sum(case when halves.half = 1 then halves.busy_energy_j end)::double
            / sum(case when halves.half = 1 then halves.law_energy_j end)::double
        ) - 1 as drift_frac
    from halves
    group by halves.month
)

select
    shared.month::varchar as month,
    shared.gpu::varchar as gpu,
    shared.gpu_name::varchar as gpu_name,
    shared.hour_start_at::timestamp as hour_start_at,
    shared.covered_s::double as covered_s,
    (shared.energy_j / 3600000::double)::double as measured_energy_kwh,
    (shared.idle_energy_j / 3600000::double)::double as idle_energy_kwh,
    (shared.law_energy_j / 3600000::double)::double as law_energy_kwh,
    (shared.law_energy_j * coalesce(ends.low_ratio, 1) / 3600000::double)::double
        as law_energy_low_kwh,
    (shared.law_energy_j * coalesce(ends.high_ratio, 1) / 3600000::double)::double
        as law_energy_high_kwh,
    ((shared.busy_energy_j - shared.law_energy_j) / 3600000::double)::double
        as unexplained_energy_kwh,
    (shared.idle_energy_j / nullif(shared.energy_j, 0))::double as idle_frac,
    ((shared.busy_energy_j - shared.law_energy_j) / nullif(shared.energy_j, 0))::double
        as unexplained_frac,
    drifts.drift_frac::double as drift_frac,
    (abs(drifts.drift_frac) > rules.value)::boolean as is_drifting,
    law_hours.batch::double as batch,
    law_hours.evidence_grade::varchar as evidence_grade,
    law_hours.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version
from shared
left join law_hours on shared.hour_start_at = law_hours.hour_start_at
left join ends on shared.hour_start_at = ends.hour_start_at
left join drifts on shared.month = drifts.month
inner join stg_audit_rules as rules on rules.rule = 'fleet_drift_frac'
cross join raw_method as method
