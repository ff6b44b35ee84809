-- How far a class of architecture, or a tier of closed models, errs on its own in one draw, as a
-- standard score: all models of a class or tier err alike, classes and tiers on their own.
-- grain: draw, error_of

with

ratios as (
    select
        draws.draw,
        'dense' as error_of,
        draws.dense_ratio as ratio
    from stg_joint_draws as draws
    union all
    select
        draws.draw,
        'moe' as error_of,
        draws.moe_ratio as ratio
    from stg_joint_draws as draws
    union all
    select
        draws.draw,
        'mla' as error_of,
        draws.mla_ratio as ratio
    from stg_joint_draws as draws
    union all
    select
        draws.draw,
        'window' as error_of,
        draws.window_ratio as ratio
    from stg_joint_draws as draws
    union all
    select
        draws.draw,
        'hybrid' as error_of,
        draws.hybrid_ratio as ratio
    from stg_joint_draws as draws
),

ends as (
    select
        ratios.error_of,
        drawn_p95(ln(ratios.ratio)) as end_log_ratio
    from ratios
    group by all
)

select
    ratios.draw::integer as draw,
    ratios.error_of::varchar as error_of,
    range_score(ln(ratios.ratio), ends.end_log_ratio)::double as z_score
from ratios
inner join ends on ratios.error_of = ends.error_of
union all
select
    draws.draw::integer as draw,
    'small'::varchar as error_of,
    draws.small_z_score::double as z_score
from stg_joint_draws as draws
union all
select
    draws.draw::integer as draw,
    'middle'::varchar as error_of,
    draws.middle_z_score::double as z_score
from stg_joint_draws as draws
union all
select
    draws.draw::integer as draw,
    'large'::varchar as error_of,
    draws.large_z_score::double as z_score
from stg_joint_draws as draws
