-- One joint draw with what is the same for everything in it: the law's coefficients, the serving
-- stack, how full servers are, and what the facility adds to a joule of the GPU boards.
-- grain: draw

select
    draws.draw::integer as draw,
    draws.a_ratio::double as a_ratio,
    draws.b_ratio::double as b_ratio,
    draws.c_ratio::double as c_ratio,
    draws.s_ratio::double as s_ratio,
    draws.stack_ratio::double as stack_ratio,
    draws.batch_z_score::double as batch_z_score,
    draws.cached_z_score::double as cached_z_score,
    (
        drawn_value(host.value, host.low, host.high, draws.host_z_score)
        * drawn_value(idle.value, idle.low, idle.high, draws.idle_z_score)
        * drawn_value(pue.value, pue.low, pue.high, draws.pue_z_score)
    )::double as facility_ratio
from stg_joint_draws as draws
inner join stg_assumptions as host on host.assumption = 'host_ratio'
inner join stg_assumptions as idle on idle.assumption = 'idle_ratio'
inner join stg_assumptions as pue on pue.assumption = 'pue_ratio'
