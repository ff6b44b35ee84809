-- Electricity of one team in one possible world: its share of every class's energy in that draw.
-- grain: month, team, draw

select
    shares.month::varchar as month,
    shares.team::varchar as team,
    draws.draw::integer as draw,
    sum((shares.energy_frac * draws.facility_energy_kwh)::decimal(38, 18))::double
        as facility_energy_kwh
from int_team_energy as shares
inner join int_class_draws as draws
    on
        shares.month = draws.month
        and shares.provider = draws.provider
        and shares.model_id = draws.model_id
        and shares.query_class = draws.query_class
where shares.energy_frac > 0
group by all
