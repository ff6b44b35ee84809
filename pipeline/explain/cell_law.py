"""An error of a law: how it is made, the parts it is the mean of, and the measurements shown."""

import math
from typing import Any

import duckdb

from pipeline.explain.cell_point import error_lines, first_point, law_of_point, rival_part
from pipeline.explain.cell_source import CellSource
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.explain.written import Written, number
from pipeline.reference import reference_rows
from pipeline.report.numbers import show
from pipeline.report.sections.law_validation import SHOWN, point_label
from pipeline.report.sections.laws import LAW_NAMES

_GROUP = ("dataset", "gpu", "stack")
_MADE = {
    "mape_frac": "the mean over the rows of |predicted / measured − 1|",
    "leave_one_out_mape_frac": "the same mean, each row predicted by a fit to the rows of all "
    "architectures but its own",
    "bias_ratio": "the geometric mean over the rows of measured / predicted",
    "p90_frac": "the error that nine rows of ten do not exceed; a quantile is no mean of parts",
}
_CUTS = {
    "context_tokens": "tokens in and out",
    "batch": "batch",
    "architecture_class": "class of architecture",
}
_ROUNDED = 2e-4  # stored errors have four figures, so means of them have no more
_SHOWN = 5
_SERIES = "series_"  # of the figure of errors, one for each law shown
# Columns of the table of duels: law and form whose error they show; None is named in the row.
_DUELS = {
    "own": ("simple_with_bias", "published", None),
    "refit": ("simple", "refit", None),
    "rival_error": (None, "published", "rival"),
    "refit_error": (None, "refit", "refit_rival"),
}


def law_cell_parts(con: duckdb.DuckDBPyConnection, source: CellSource) -> list[Part]:
    """Return what an error of the law tables rests on."""
    found = _line_of(source)
    if found is None:
        return []
    line, quantity = found
    key = {name: line[name] for name in (*_GROUP, "law", "form")}
    facts: list[Line] = [
        Fact("dataset", "data set", " · ".join(line[name] for name in _GROUP)),
        Fact("law", "law", LAW_NAMES[line["law"]], note=f"{line['form']} constants"),
        Fact(quantity, "made as", _MADE[quantity]),
        *error_lines(line),
    ]
    parts = [Part("how", "How the number is made", tuple(facts))]
    mean = _mean_part(con, key, quantity, line[quantity])
    parts += [mean] if mean else []
    return [*parts, *_points_part(line), *_example_parts(con, line)]


def _example_parts(con: duckdb.DuckDBPyConnection, line: Row) -> list[Part]:
    """Return the arithmetic of one measurement of the set that its licence lets us show."""
    point = first_point(line)
    if point is None:
        note = "No row of this set may be shown: its licence does not let single values be passed."
        return [Part("example", "One of the measurements", note=note)]
    if line["law"] in ("simple", "simple_with_bias"):
        (*found, last) = law_of_point(con, point)
        return [
            *found,
            Part("example", f"One of the measurements: {point_label(point)}", last.lines),
        ]
    found_rival = rival_part(con, line, point)
    if found_rival is None:
        note = "The constants are fitted to these rows and not stored, or none fits this model."
        return [Part("example", "One of the measurements", note=note)]
    return [found_rival]


def _line_of(source: CellSource) -> tuple[Row, str] | None:
    """Return the row of mart_law_validation behind a cell, and which of its errors it is."""
    if source.quantity in _MADE:
        return source.lines[0], source.quantity
    if source.quantity.startswith(_SERIES):
        place = int(source.quantity.removeprefix(_SERIES))
        return _line_with(source, *SHOWN[place][:2], str(source.cells["label"]))
    if source.quantity not in _DUELS:
        return None
    law, form, named = _DUELS[source.quantity]
    laws = [law] if law else [k for k, v in LAW_NAMES.items() if v == source.cells[str(named)]]
    found = [_line_with(source, each, form, str(source.cells["group"])) for each in laws]
    return next((each for each in found if each), None)


def _line_with(source: CellSource, law: str, form: str, group: str) -> tuple[Row, str] | None:
    """Return the row of a law on a set of measurements, and the error that stands for it."""
    for line in source.lines:
        is_of = (line["law"], line["form"]) == (law, form)
        if is_of and " · ".join(show(line[name], "text") for name in _GROUP) == group:
            unseen = line["leave_one_out_mape_frac"]
            return line, "mape_frac" if unseen is None else "leave_one_out_mape_frac"
    return None


def _mean_part(
    con: duckdb.DuckDBPyConnection, key: Row, quantity: str, value: float
) -> Part | None:
    """Return an error as the mean over its parts, weighted by their rows: by length, else batch.

    Nothing where no cut has several parts that hold all rows, or where it is no mean.
    """
    where = " and ".join(f"{name} = ${name}" for name in key)
    for cut, words in _CUTS.items():
        parts = rows(
            con,
            f"select subset_value, row_count, {quantity} as error from mart_law_validation "
            f"where {where} and subset_kind = $cut order by subset_value",
            {**key, "cut": cut},
        )
        is_mean = quantity != "p90_frac" and all(each["error"] is not None for each in parts)
        made = _mean_of(parts, quantity, value, words) if len(parts) > 1 and is_mean else None
        if made:
            return made
    return None


def _mean_of(parts: list[Row], quantity: str, value: float, words: str) -> Part | None:
    """Return the mean of some parts, nothing where it does not come to the value."""
    total: Any = 0
    count = sum(each["row_count"] for each in parts)
    for index, each in enumerate(parts, start=1):
        rows_of_it = number(f"n{index}", each["row_count"])
        error = number(f"e{index}", float(each["error"]))
        over = number("n", count)
        total = (
            _power(total, error, rows_of_it / over)
            if quantity == "bias_ratio"
            else total + rows_of_it * error / over
        )
    if not math.isclose(float(total.value), float(value), rel_tol=_ROUNDED, abs_tol=_ROUNDED):
        return None
    lines: list[Line] = [
        Fact("part", f"n{index}, e{index}: {each['subset_value']}", each["error"], "",
             f"{words}, {each['row_count']} rows")
        for index, each in enumerate(parts, start=1)
    ]  # fmt: skip
    note = f"stored as {value:.4g}: the parts are rounded to four figures"
    lines.append(step(quantity, "of all rows", total, "", note=note))
    return Part("parts", f"The parts by {words} that it is the mean of", tuple(lines))


def _power(total: Any, error: Written, share: Written) -> Any:  # noqa: ANN401 a term, or a plain 0
    return error**share if isinstance(total, int) else total * error**share


def _points_part(line: Row) -> list[Part]:
    """Return the means of like measurements of the group that licences let us show."""
    if line["law"] not in ("simple", "simple_with_bias"):
        return []
    points = [
        each
        for each in reference_rows("law_points")
        if all(each[name] == line[name] for name in _GROUP)
    ]
    if not points:
        return []
    lines: list[Line] = []
    for each in points[:_SHOWN]:
        ratio = number("predicted", float(each["predicted_j"])) / number(
            "measured", float(each["measured_j"])
        )
        label = f"{each['architecture_id']}, batch {each['batch']}"
        note = (
            f"{each['gpu_count']} × {each['gpu']}, {each['input_tokens']} in, "
            f"{each['output_tokens']} out; {each['row_count']} rows, {each['predicted_by']}"
        )
        lines.append(step("error", label, ratio - 1, "", note=note))
    left = len(points) - len(lines)
    note = "Means of like measurements by the coefficients of the report" + (
        f"; {left} more in data/reference/law_points.csv." if left else "."
    )
    return [
        Part(
            "points", "Measurements behind it: predicted over measured, less 1", tuple(lines), note
        )
    ]
