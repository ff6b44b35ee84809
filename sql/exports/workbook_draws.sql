-- The joint draws for the workbook's calculator, with the errors of classes and tiers as scores.
-- grain: draw

select
    draws.draw,
    draws.a_ratio,
    draws.b_ratio,
    draws.c_ratio,
    draws.s_ratio,
    ln(draws.stack_ratio) as stack_log,
    draws.host_z_score,
    draws.idle_z_score,
    draws.pue_z_score,
    max(case when own.error_of = 'dense' then own.z_score end) as dense_error,
    max(case when own.error_of = 'moe' then own.z_score end) as moe_error,
    max(case when own.error_of = 'mla' then own.z_score end) as mla_error,
    max(case when own.error_of = 'window' then own.z_score end) as window_error,
    max(case when own.error_of = 'hybrid' then own.z_score end) as hybrid_error,
    max(case when own.error_of = 'small' then own.z_score end) as small_error,
    max(case when own.error_of = 'middle' then own.z_score end) as middle_error,
    max(case when own.error_of = 'large' then own.z_score end) as large_error
from stg_joint_draws as draws
inner join int_own_errors as own on draws.draw = own.draw
group by all
order by draws.draw
