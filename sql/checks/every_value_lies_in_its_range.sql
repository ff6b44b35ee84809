-- severity: error
-- meaning: low <= value <= high for every energy, and none is without its range

with

ranged as (
    select
        energies.month,
        energies.provider || ' ' || energies.model_id || ' ' || energies.query_class as energy_of,
        energies.energy_low_j as low,
        energies.gpu_energy_j as value,
        energies.energy_high_j as high
    from mart_energy_per_class as energies
    union all
    select
        totals.month,
        totals.total_kind || ' ' || totals.total_of as energy_of,
        totals.energy_low_j as low,
        totals.gpu_energy_j as value,
        totals.energy_high_j as high
    from mart_month_total as totals
    union all
    select
        teams.month,
        'team ' || coalesce(teams.team, 'none') as energy_of,
        teams.facility_energy_low_kwh as low,
        teams.facility_energy_kwh as value,
        teams.facility_energy_high_kwh as high
    from mart_team_chargeback as teams
)

select
    ranged.month,
    ranged.energy_of,
    ranged.low,
    ranged.value,
    ranged.high
from ranged
where
    ranged.value is not null
    and not coalesce(ranged.low <= ranged.value and ranged.value <= ranged.high, false)
