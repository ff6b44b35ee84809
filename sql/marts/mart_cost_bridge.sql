-- From the list price of a month's tokens to what the month cost, step by step. Steps add up;
-- lines that are totals hold the sum of the steps before them. A step of which nothing is known is
-- null. The last line, taxes, stands apart.
-- grain: month, step_id

with

requests as (
    select
        int_group_costs.month,
        sum(int_group_costs.list_cost_usd) as list_usd,
        sum(int_group_costs.contracted_cost_usd - coalesce(int_group_costs.list_cost_usd, 0))
            as contract_usd,
        sum(
            case
                when int_group_costs.committed_cost_usd is not null
                    then
                        int_group_costs.committed_cost_usd
                        - coalesce(int_group_costs.contracted_cost_usd, 0)
            end
        ) as commitment_usd,
        sum(int_group_costs.billed_cost_usd - coalesce(int_group_costs.effective_cost_usd, 0))
            as bill_usd,
        sum(
            case when int_group_costs.cost_source = 'hosting' then int_group_costs.hosting_cost_usd
            end
        ) as hosting_usd,
        sum(
            case
                when int_group_costs.cost_source = 'hosting'
                    then int_group_costs.hosting_energy_cost_usd
            end
        ) as hosting_energy_usd
    from int_group_costs
    group by int_group_costs.month
),

lines as (
    select
        mart_cost_lines.month,
        sum(
            case when mart_cost_lines.line_kind = 'committed, unused' then mart_cost_lines.cost_usd
            end
        ) as unused_usd,
        sum(case when mart_cost_lines.line_kind = 'idle GPUs' then mart_cost_lines.cost_usd end)
            as idle_usd,
        sum(
            case
                when mart_cost_lines.line_kind = 'discount or credit' then mart_cost_lines.cost_usd
            end
        ) as credit_usd,
        sum(case when mart_cost_lines.line_kind = 'correction' then mart_cost_lines.cost_usd end)
            as correction_usd,
        sum(case when mart_cost_lines.line_kind = 'tax' then mart_cost_lines.cost_usd end)
            as tax_usd
    from mart_cost_lines
    group by mart_cost_lines.month
),

charged as (
    select
        int_charges.month,
        sum(case when int_charges.is_counted then int_charges.billed_cost_usd end) as charge_usd
    from int_charges
    group by int_charges.month
),

amounts as (
    select
        requests.month,
        requests.list_usd,
        requests.contract_usd,
        requests.commitment_usd,
        requests.bill_usd,
        requests.hosting_usd,
        requests.hosting_energy_usd,
        lines.unused_usd,
        lines.idle_usd,
        lines.credit_usd,
        lines.correction_usd,
        lines.tax_usd,
        charged.charge_usd
    from requests
    left join lines on requests.month = lines.month
    left join charged on requests.month = charged.month
),

steps as (
    select
        amounts.month,
        numbers.step_id,
        numbers.step_name,
        numbers.is_total,
        case numbers.step_id
            when '01' then amounts.list_usd
            when '02' then amounts.contract_usd
            when '04' then amounts.commitment_usd
            when '06' then amounts.bill_usd
            when '07' then amounts.hosting_usd
            when '08' then amounts.hosting_energy_usd
            when '10' then amounts.unused_usd
            when '11' then amounts.idle_usd
            when '12' then amounts.credit_usd
            when '12a' then amounts.correction_usd
            when '13' then amounts.charge_usd
        end as step_usd,
        amounts.tax_usd
    from amounts
    cross join (
        values
        ('01', 'List price of the tokens', false),
        ('02', 'Contract rates against the list', false),
        ('03', 'Contracted cost', true),
        ('04', 'Used commitments in place of it', false),
        ('05', 'Effective cost', true),
        ('06', 'Bills against it', false),
        ('07', 'GPU bills, used part', false),
        ('08', 'Electricity that GPU bills leave out', false),
        ('09', 'Cost of the requests', true),
        ('10', 'Committed, unused', false),
        ('11', 'Idle GPUs', false),
        ('12', 'Discounts and credits', false),
        ('12a', 'Corrections of closed months', false),
        ('13', 'Other charges on bills', false),
        ('14', 'Cost of the month', true),
        ('15', 'Taxes, apart', false)
    ) as numbers (step_id, step_name, is_total)
)

select
    steps.month::varchar as month,
    steps.step_id::varchar as step_id,
    steps.step_name::varchar as step_name,
    steps.is_total::boolean as is_total,
    case
        when steps.step_id = '15' then steps.tax_usd
        when steps.is_total
            then
                sum(steps.step_usd) over (
                    partition by steps.month
                    order by steps.step_id
                    rows between unbounded preceding and current row
                )
        else steps.step_usd
    end::decimal(38, 15) as cost_usd
from steps
