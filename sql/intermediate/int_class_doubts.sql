-- What one model and class is unsure of besides the law's coefficients and the batch: the widest of
-- its grade's range, its bias factor's and the spread of its stand-ins, less what the serving stack
-- takes of that range. Who is measured on its own stack (grade A) has no doubt of the stack.
-- grain: month, provider, model_id, query_class

with

stacks as (
    select
        drawn_p05(ln(int_draws.stack_ratio)) as low_log,
        drawn_p95(ln(int_draws.stack_ratio)) as high_log
    from int_draws
),

methods as (
    select
        energies.month,
        energies.provider,
        energies.model_id,
        energies.query_class,
        grades.evidence_grade,
        coalesce(min(energies.stand_in_tier), min(energies.architecture_class)) as error_of,
        case when grades.evidence_grade = 'A' then 0 else 1 end as stack_power,
        ln(
            least(
                min(ranges.low_ratio),
                min(energies.bias_low_ratio),
                min(energies.gpu_energy_j) / geometric_mean(energies.gpu_energy_j)
            )
        ) as low_log,
        ln(
            greatest(
                max(ranges.high_ratio),
                max(energies.bias_high_ratio),
                max(energies.gpu_energy_j) / geometric_mean(energies.gpu_energy_j)
            )
        ) as high_log
    from int_architecture_energy as energies
    inner join int_class_grades as grades
        on
            energies.month = grades.month
            and energies.provider = grades.provider
            and energies.model_id = grades.model_id
            and energies.query_class = grades.query_class
    inner join stg_grade_ranges as ranges on grades.evidence_grade = ranges.evidence_grade
    group by all
)

select
    methods.month::varchar as month,
    methods.provider::varchar as provider,
    methods.model_id::varchar as model_id,
    methods.query_class::varchar as query_class,
    methods.evidence_grade::varchar as evidence_grade,
    methods.error_of::varchar as error_of,
    methods.stack_power::integer as stack_power,
    exp(
        -sqrt(
            greatest(square(methods.low_log) - methods.stack_power * square(stacks.low_log), 0)
        )
    )::double as own_low_ratio,
    exp(
        sqrt(
            greatest(square(methods.high_log) - methods.stack_power * square(stacks.high_log), 0)
        )
    )::double as own_high_ratio
from methods
cross join stacks
