-- What a joule of a model on own servers paid of its GPU bill, in one possible world (joint draw): the
-- bill is the same in all, the joules that it paid for are not.
-- grain: month, provider, model_id, draw

select
    paid.month::varchar as month,
    paid.provider::varchar as provider,
    paid.model_id::varchar as model_id,
    draws.draw::integer as draw,
    (
        sum(paid.hosting_cost_usd)::double
        / nullif(sum(draws.gpu_energy_j::decimal(38, 15)), 0)::double
    )::double as usd_per_gpu_j
from int_class_hosting as paid
inner join int_class_draws as draws
    on
        paid.month = draws.month
        and paid.query_class = draws.query_class
        and paid.provider = draws.provider
        and paid.model_id = draws.model_id
group by paid.month, paid.provider, paid.model_id, draws.draw
