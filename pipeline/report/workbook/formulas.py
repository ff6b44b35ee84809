"""Which cells of a section's tables are alive, and from which data sheet each of them computes.

A section hands over values; here some of its columns get a formula over the data sheets, found by
the columns' names, so a section may change without this module. The value stays what the section
says: it is what the formula must give. Ranges keep their ratio to the value, which then stands in
a column of its own at the table's end, beside the number by which formulas find the line.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.report.section import Column, KeyFigure, Table, Value
from pipeline.report.workbook.data import OTHER_TEAMS, Numbers
from pipeline.report.workbook.energy import LIVE_COLUMNS, RUN
from pipeline.report.workbook.facility import CARBON_PER_KWH, FACILITY_RATIO, TARIFF
from pipeline.report.workbook.lines import OTHER_LINES, folded, shortened
from pipeline.report.workbook.table import DataTable

LINE = "line_no"
RUN_VALUE = Column("run_value", "Value of the run", "number", meaning="What the run computed with.")
RANGE_OF = Column(
    "range_of",
    "Range of",
    "text",
    meaning="Whose draws low and high rest on: the run's; the run's, scaled by PUE, host and idle "
    "as they are now; or ≠, where batch or coefficients moved and a new run would draw others.",
    unknown="none",
)
_DIVISOR = "priced_task_count"
_LINE_COLUMN = Column(
    LINE, "Line no.", "count", meaning="Number by which formulas find this line.", unknown="none"
)
# The end of a range over its value, which has a unit in its name.
_RATIO_OF_QUANTITY = re.compile(r"_(j|wh|kwh|usd|gco2e|kgco2e)(_per_\w+)?_(low|high)_ratio$")
_GROUP_KEYS = ("provider", "model_id", "query_class")
_MONTH = "d_energy[month_start],report_month"
_IN_MONTH = "SUMIFS(d_energy[{column}]," + _MONTH + ",d_energy[{key}],{{" + LINE + "}})"
_FOUND = "INDEX(d_energy[{column}],MATCH({{" + LINE + "}},d_energy[group_no],0))"
_LINE_COST = "SUMIFS(d_cost[{column}],d_cost[group_no],{{" + LINE + "}})"
_TEAM_SUM = (
    "SUMIFS(d_cost[{column}],d_cost[month_start],report_month,d_cost[team_no],{{" + LINE + "}})"
)
_FRACTIONS = {
    "cost_frac": "IF({total_cost_usd}=0,0,{cost_usd}/{total_cost_usd})",
    "carbon_frac": "IF({total_carbon_kgco2e}=0,0,{carbon_kgco2e}/{total_carbon_kgco2e})",
    "energy_frac": (
        "IF({total_facility_energy_kwh}=0,0,{facility_energy_kwh}/{total_facility_energy_kwh})"
    ),
}
_SUMMED = (
    *("request_count", "cost_usd", "list_cost_usd", "billed_cost_usd"),
    *("unpriced_request_count", "unmeasured_request_count", "facility_energy_kwh"),
)
_TEAM_SUMMED = ("request_count", "input_tokens", "output_tokens", "unpriced_request_count")
_ON_GRID = "SUMIFS(d_energy[facility_energy_kwh]," + _MONTH + ")*{grid_gco2e_per_kwh}/grams_per_kg"
_BY_MONTH = "SUMIFS(d_energy[{column}],d_energy[month_start],{{month}})"
# headline → what it is in the workbook
_KEY_FORMULAS = {
    "Cost": f"SUMIFS(d_energy[cost_usd],{_MONTH})",
    "Electricity": f"SUMIFS(d_energy[facility_energy_kwh],{_MONTH})",
    "Carbon": f"SUMIFS(d_energy[carbon_gco2e],{_MONTH})/grams_per_kg",
    "Requests": f"SUMIFS(d_energy[request_count],{_MONTH})",
    "Electricity at tariff": f"SUMIFS(d_energy[energy_cost_usd],{_MONTH})",
}


@dataclass(frozen=True)
class LiveTable:
    """A table with what makes it live: `{name}` in a formula is that column's cell in the row."""

    table: Table
    formulas: Mapping[str, str] = field(default_factory=dict)
    total_formulas: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[int, str] = field(default_factory=dict)  # row → name of its value's cell
    is_live: bool = True  # totals that are sums add up the rows above


# A row of these is a whole model or class of the month; elsewhere it may be a part of one.
_SUMMED_TABLES = ("summary_by_class", "summary_by_model")


def live(
    table: Table, numbers: Numbers | None, month: str, energy: DataTable | None = None
) -> LiveTable:
    """Return a table with the formulas that its columns' names call for; without numbers, none.

    Args:
        table: The table of a section.
        numbers: The numbers that stand for names in formulas.
        month: The month of the report.
        energy: Data_Energy, whose values a column must have to be looked up there.
    """
    names = [column.name for column in table.columns]
    is_by_team = names[0] == "team" and "facility_energy_kwh" in names
    if numbers is None or not table.rows:
        return LiveTable(shortened(table), is_live=False)
    if is_by_team:  # their lines are shared by size, as in the data sheets
        return _live_teams(table, names, numbers)
    table = shortened(table)
    if set(_GROUP_KEYS) <= set(names):
        return _live_groups(table, names, numbers, month, energy)
    if table.name in _SUMMED_TABLES:
        return _live_sums(table, names, numbers)
    others: dict[str, Callable[[Table], LiveTable]] = {
        "assumptions": _with_inputs,
        "carbon_by_grid": _live_grids,
        "months": _live_months,
    }
    return others.get(table.name, LiveTable)(table)


def _live_grids(table: Table) -> LiveTable:
    return LiveTable(table, {"grid_carbon_kgco2e": _ON_GRID})


def _live_months(table: Table) -> LiveTable:
    return LiveTable(table, _month_formulas([column.name for column in table.columns]))


def _live_groups(
    table: Table, names: list[str], numbers: Numbers, month: str, energy: DataTable | None
) -> LiveTable:
    month_start = dt.date(int(month[:4]), int(month[5:7]), 1)
    places = [names.index(key) for key in _GROUP_KEYS]
    keys = [(month_start, *(row[place] for place in places)) for row in table.rows]
    lines = [numbers.groups.get(key) for key in keys]
    if len(set(lines)) < len(lines):  # a row is more than a month, provider, model and class
        return LiveTable(table)
    formulas = _group_formulas(names, numbers.costs)
    alike = {name: f for name, f in formulas.items() if _agrees(table, name, lines, energy)}
    of_line = _FOUND.format(column=RANGE_OF.name)
    return _ranged(_with_lines(_with_range_of(table), lines), alike, of_line)


def _agrees(table: Table, name: str, lines: Sequence[int | None], energy: DataTable | None) -> bool:
    """Return whether a column says what Data_Energy says under its name, line by line."""
    columns = {column.name: column.values for column in energy.columns} if energy else {}
    if name not in columns:
        return True  # computed from others, which are looked up
    known = dict(zip(columns["group_no"], columns[name], strict=True))
    place = [column.name for column in table.columns].index(name)
    pairs = ((row[place], known.get(line)) for row, line in zip(table.rows, lines, strict=True))
    return all(
        math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-15)  # type: ignore[arg-type]
        for one, other in pairs
        if _is_number(one) and _is_number(other)
    )


def _live_sums(table: Table, names: list[str], numbers: Numbers) -> LiveTable:
    is_by_model = names[0] == "model_id"
    known = numbers.models if is_by_model else numbers.classes
    lines = [known.get(row[0]) for row in table.rows]
    formulas = _summed_formulas(names, "model_no" if is_by_model else "class_no")
    return _ranged(_divided(_with_lines(_with_range_of(table), lines)), formulas)


def _live_teams(table: Table, names: list[str], numbers: Numbers) -> LiveTable:
    teams = {**numbers.teams, OTHER_LINES: OTHER_TEAMS}
    table = folded(table, [numbers.teams.get(row[0]) == OTHER_TEAMS for row in table.rows])
    lines = [teams.get(row[0]) for row in table.rows]
    formulas = _team_formulas(names, numbers.costs)
    return _ranged(_with_lines(_with_range_of(table), lines), formulas)


def is_helper(name: str) -> bool:
    """Return whether a column only serves formulas: it stands last, and grey."""
    is_ratio = _RATIO_OF_QUANTITY.search(name) is not None
    return is_ratio or name in (LINE, _DIVISOR, RUN_VALUE.name)


def key_formula(figure: KeyFigure) -> str:
    """Return the formula of a headline number, '' where there is none."""
    return _KEY_FORMULAS.get(figure.label, "") if figure.value is not None else ""


def ratio_of(end: Value, value: Value) -> float | None:
    """Return an end of a range over its value, 1 for nothing, None where either is unknown."""
    if not _is_number(end) or not _is_number(value):
        return None
    if not float(value):  # type: ignore[arg-type]
        return 1.0
    return float(end) / float(value)  # type: ignore[arg-type]


def _with_inputs(table: Table) -> LiveTable:
    names = [column.name for column in table.columns]
    place, value = names.index("assumption"), names.index("value")
    rows = tuple((*row, row[value]) for row in table.rows)
    inputs = {n: f"in_{row[place]}" for n, row in enumerate(table.rows)}
    return LiveTable(replace(table, columns=(*table.columns, RUN_VALUE), rows=rows), inputs=inputs)


def _with_lines(table: Table, lines: list[int | None]) -> Table:
    rows = tuple((*row, line) for row, line in zip(table.rows, lines, strict=True))
    total = None if table.total is None else (*table.total, None)
    return replace(table, columns=(*table.columns, _LINE_COLUMN), rows=rows, total=total)


def _group_formulas(names: list[str], costs: frozenset[str]) -> dict[str, str]:
    formulas = {name: _FOUND.format(column=name) for name in names if name in LIVE_COLUMNS}
    formulas |= {name: _LINE_COST.format(column=name) for name in names if name in costs}
    shares = {name: _FRACTIONS[name] for name in ("carbon_frac",) if name in names}
    return formulas | shares | _carbon_in_kg(names, _FOUND)


def _summed_formulas(names: list[str], key: str) -> dict[str, str]:
    formulas = {name: _IN_MONTH.format(column=name, key=key) for name in names if name in _SUMMED}
    per_task = f"{{cost_usd}}/{{{_DIVISOR}}}"
    return (
        formulas
        | {name: formula for name, formula in _FRACTIONS.items() if name in names}
        | ({"cost_usd_per_task": per_task} if "cost_usd_per_task" in names else {})
        | _carbon_in_kg(names, _IN_MONTH.replace("{key}", key))
    )


def _carbon_in_kg(names: list[str], found: str) -> dict[str, str]:
    if "carbon_kgco2e" not in names:
        return {}
    return {"carbon_kgco2e": found.format(column="carbon_gco2e") + "/grams_per_kg"}


def _month_formulas(names: list[str]) -> dict[str, str]:
    formulas = {name: _BY_MONTH.format(column=name) for name in names if name in _SUMMED}
    per_task = {"cost_usd_per_task": "{cost_usd}/{task_count}"}
    return formulas | per_task | _carbon_in_kg(names, _BY_MONTH)


def _team_formulas(names: list[str], costs: frozenset[str]) -> dict[str, str]:
    summed = costs | set(_TEAM_SUMMED)
    formulas = {name: _TEAM_SUM.format(column=name) for name in names if name in summed}
    energy = _TEAM_SUM.format(column="gpu_energy_j")
    alive = {
        "facility_energy_kwh": f"{energy}*{FACILITY_RATIO}/j_per_kwh",
        "energy_cost_usd": f"ROUND({{facility_energy_kwh}}*{TARIFF},usd_decimals)",
        "carbon_kgco2e": f"{{facility_energy_kwh}}*{CARBON_PER_KWH}/grams_per_kg",
        **_FRACTIONS,
    }
    return formulas | {name: formula for name, formula in alive.items() if name in names}


def _with_range_of(table: Table) -> Table:
    """Add, where a table has ranges, the column that says whose draws they rest on."""
    highs = [n for n, column in enumerate(table.columns) if "_high_" in column.name]
    if not highs:
        return table

    def whose(row: tuple[Value, ...]) -> Value:
        return RUN if any(row[n] is not None for n in highs) else None

    rows = tuple((*row, whose(row)) for row in table.rows)
    total = None if table.total is None else (*table.total, whose(table.total))
    return replace(table, columns=(*table.columns, RANGE_OF), rows=rows, total=total)


def _ranged(table: Table, formulas: dict[str, str], range_of: str = "ranges_of") -> LiveTable:
    """Let the ends of ranges follow their values by the ratio that the run found, and say so."""
    names = [column.name for column in table.columns]
    totals: dict[str, str] = {}
    if RANGE_OF.name in names:
        formulas[RANGE_OF.name] = range_of
        totals[RANGE_OF.name] = "ranges_of"
    for end in ("low", "high"):
        for name in [name for name in names if f"_{end}_" in name and name not in formulas]:
            value = name.replace(f"_{end}_", "_")
            if value in formulas:
                ratio = f"{value}_{end}_ratio"
                table = _with_ratio(table, names.index(name), names.index(value), ratio, end)
                formulas[name] = totals[name] = f"{{{value}}}*{{{ratio}}}"
    return LiveTable(table, formulas, totals)


def _divided(table: Table) -> Table:
    """Add the tasks that divide the cost: those whose requests have a price."""
    names = [column.name for column in table.columns]
    if not {"cost_usd", "cost_usd_per_task"} <= set(names):
        return table
    cost, per_task = names.index("cost_usd"), names.index("cost_usd_per_task")
    column = Column(_DIVISOR, "Priced tasks", "number", meaning="Tasks that divide the cost.")
    rows = tuple((*row, divisor_of(row[cost], row[per_task])) for row in table.rows)
    total = None if table.total is None else (*table.total, None)
    return replace(table, columns=(*table.columns, column), rows=rows, total=total)


def divisor_of(whole: Value, quotient: Value) -> float | None:
    """Return what a value was divided by, 1 for nothing, None where either is unknown."""
    return ratio_of(whole, quotient)


def _with_ratio(table: Table, end: int, value: int, name: str, which: str) -> Table:
    head = table.columns[value].header
    column = Column(
        name,
        f"{head}, {which} ÷ value",
        "ratio",
        meaning=f"The {which} end over the value, as the run found it.",
    )
    rows = tuple((*row, ratio_of(row[end], row[value])) for row in table.rows)
    total = table.total
    if total is not None:
        total = (*total, ratio_of(total[end], total[value]))
    return replace(table, columns=(*table.columns, column), rows=rows, total=total)


def _is_number(value: Value) -> bool:
    return value is not None and not isinstance(value, (str, bool, dt.date))
