-- Electricity of one team in one possible world: that of its projects, and of its usage of none.
-- grain: month, team, draw

select
    projects.month::varchar as month,
    projects.team::varchar as team,
    projects.draw::integer as draw,
    sum(projects.facility_energy_kwh::decimal(38, 18))::double as facility_energy_kwh
from int_project_draws as projects
group by all
