"""Keep a table at a length that a reader and a workbook can bear: the rest shares one line.

Nothing is cut: what has a total is summed over the lines that share one, so totals still tie. What
cannot be added (a grade, a ratio, an end of a range) is unknown there.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, localcontext

from pipeline.report.section import Table, Value

MOST_LINES = 5_000  # of a table on a section's sheet
OTHER_LINES = "other lines, summed"


def folded(table: Table, is_small: Sequence[bool], name: str = OTHER_LINES) -> Table:
    """Return a table whose small lines are one, the last, that says how many it sums."""
    kept = [row for row, small in zip(table.rows, is_small, strict=True) if not small]
    small_rows = [row for row, small in zip(table.rows, is_small, strict=True) if small]
    if not small_rows:
        return table
    summed: list[Value] = [name]
    for number in range(1, len(table.columns)):
        has_total = table.total is not None and table.total[number] is not None
        summed.append(_sum([row[number] for row in small_rows]) if has_total else None)
    note = f"{len(small_rows):,} lines share one, the last. {table.note}".strip()
    return replace(table, rows=(*kept, tuple(summed)), note=note)


def shortened(table: Table) -> Table:
    """Return a table of at most `MOST_LINES` lines: the first ones, and the rest as one."""
    if len(table.rows) <= MOST_LINES:
        return table
    return folded(table, [number >= MOST_LINES - 1 for number in range(len(table.rows))])


def _sum(values: Sequence[Value]) -> Value:
    numbers = [
        v for v in values if isinstance(v, (int, float, Decimal)) and not isinstance(v, bool)
    ]
    if not numbers:
        return None
    if any(isinstance(value, float) for value in numbers):
        return math.fsum(float(value) for value in numbers)
    with localcontext() as context:
        context.prec = 76
        return sum(numbers)
