-- Electricity of one project of one team in one possible world: its share of every class's energy
-- in that draw. The usage of a team that names no project is a row of its own (project is null).
-- grain: month, team, project, draw

with

shares as (
    select
        int_team_energy.month,
        int_team_energy.team,
        int_team_energy.project,
        int_team_energy.provider,
        int_team_energy.model_id,
        int_team_energy.query_class,
        sum(int_team_energy.energy_frac::decimal(38, 18))::double as energy_frac
    from int_team_energy
    where int_team_energy.energy_frac > 0
    group by all
)

select
    shares.month::varchar as month,
    shares.team::varchar as team,
    shares.project::varchar as project,
    draws.draw::integer as draw,
    sum((shares.energy_frac * draws.facility_energy_kwh)::decimal(38, 18))::double
        as facility_energy_kwh
from shares
inner join int_class_draws as draws
    on
        shares.month = draws.month
        and shares.provider = draws.provider
        and shares.model_id = draws.model_id
        and shares.query_class = draws.query_class
group by all
