-- One joint draw: what everything shared would be in one possible world, all worlds equally likely.
-- materialised: view
-- grain: draw

select
    draw::integer as draw,
    a_ratio::double as a_ratio,
    b_ratio::double as b_ratio,
    c_ratio::double as c_ratio,
    s_ratio::double as s_ratio,
    stack_ratio::double as stack_ratio,
    dense_ratio::double as dense_ratio,
    moe_ratio::double as moe_ratio,
    mla_ratio::double as mla_ratio,
    window_ratio::double as window_ratio,
    hybrid_ratio::double as hybrid_ratio,
    batch_z_score::double as batch_z_score,
    host_z_score::double as host_z_score,
    idle_z_score::double as idle_z_score,
    pue_z_score::double as pue_z_score,
    cached_z_score::double as cached_z_score,
    small_z_score::double as small_z_score,
    middle_z_score::double as middle_z_score,
    large_z_score::double as large_z_score
from raw_joint_draws
