"""Counts by model, class and team; a grade by the energy that each grade carries."""

from collections.abc import Sequence

import duckdb

from pipeline.explain.lines import Fact, Part
from pipeline.explain.sums import line_name, sum_part, total_of
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.laws.work import Number

# Counts that add up over groups of usage, and the table of groups that has them.
COUNTED = {
    "failed_request_count": "int_usage_groups",
    "unpriced_request_count": "int_group_costs",
    "no_gpu_bill_request_count": "int_group_costs",
    "unmeasured_request_count": "int_team_energy",
}
_GRADE_NOTE = "A total has the worst grade that carries 5 % of its energy or more."


def count_parts(
    con: duckdb.DuckDBPyConnection, key: Row, quantity: str, value: Number
) -> list[Part]:
    """Return a count of requests by model, class and team; nothing where there are none."""
    if not value:
        return []
    where = " and ".join(f"{name} is not distinct from ${name}" for name in key)
    found = rows(
        con,
        f"select provider, model_id, query_class, team, sum({quantity})::decimal(38, 0) as "
        f"{quantity} from {COUNTED[quantity]} where {where} group by all "
        f"having sum({quantity}) > 0 order by all",
        key,
    )
    named = [(line_name(each), each[quantity]) for each in found]
    return [sum_part("By model, class and team", named, value, quantity, "requests")]


def grade_part(lines: Sequence[Row], energy: str) -> Part:
    """Return how much of an energy each grade carries."""
    whole = total_of([line[energy] for line in lines if line[energy] is not None])
    facts = []
    for grade in sorted({line["evidence_grade"] for line in lines if line["evidence_grade"]}):
        of_grade = [
            line[energy]
            for line in lines
            if line["evidence_grade"] == grade and line[energy] is not None
        ]
        total = total_of(of_grade) if of_grade else None
        share = f"{total / whole:.1%}" if total is not None and whole else ""
        unit = energy.rpartition("_")[2].replace("kwh", "kWh").replace("j", "J")
        facts.append(Fact(energy, f"lines of grade {grade}", total, unit, share))
    return Part("grades", "Energy by grade", tuple(facts), _GRADE_NOTE)
