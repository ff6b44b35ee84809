"""A measured point of the law: its row in the reference data, and the law put beside it."""

import math

import duckdb

from pipeline.explain.architecture import sizes_of
from pipeline.explain.cell_source import CellSource
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.warehouse_rows import Row, row
from pipeline.explain.work import Coefficients, energies_of, moments_of
from pipeline.explain.written import number
from pipeline.law_list import bias_factor, coefficient_set
from pipeline.laws import work
from pipeline.reference import reference_line, reference_rows
from pipeline.report.sections.law_validation import point_label
from pipeline.report.sections.laws import LAW_NAMES
from pipeline.shapes import shape_of
from pipeline.validation.measured_work import Measurement
from pipeline.validation.measurements import working_class
from pipeline.validation.published_laws import published

FIGURE = "figure_predicted_against_measured"
GROUP = ("dataset", "gpu", "stack")
_HOW = {
    "stored": "the coefficients and bias factor of the report, which never saw these rows",
    "left_out": "the coefficients fitted again without this architecture; that fit is not stored",
    "fitted": "the coefficients fitted to these very rows, so no test",
}
_LAWS = {  # by what predicts a point: the law and form of the error that stands beside it
    "stored": ("simple_with_bias", "published"),
    "left_out": ("simple", "refit"),
    "fitted": ("simple", "published"),
}
_BY_SET = ("stored", "fitted")
_STORED_DIGITS = 5e-4  # stored energies have four figures
ERRORS = (
    ("mape_frac", "mean error (MAPE)"),
    ("bias_ratio", "bias, measured / law"),
    ("p90_frac", "nine rows of ten err by no more than (p90)"),
    ("leave_one_out_mape_frac", "mean error, its architecture left out of the fit"),
)


def point_parts(con: duckdb.DuckDBPyConnection, source: CellSource) -> list[Part]:
    """Return what a dot of the figure of predicted against measured energies rests on."""
    shown = (source.cells["label"], source.cells["x"], source.cells["y"])
    for point in reference_rows("law_points"):
        joules = (float(point["measured_j"]), float(point["predicted_j"]))
        if (point_label(point), *joules) == shown:
            return [_row_part(point), *law_of_point(con, point), _errors_part(con, point)]
    return []


def first_point(line: Row) -> Row | None:
    """Return a measurement of a set that may be shown, one that the stored set predicts first."""
    points = [
        each
        for each in reference_rows("law_points")
        if all(each[name] == line[name] for name in GROUP)
    ]
    return min(points, key=lambda each: each["predicted_by"] not in _BY_SET, default=None)


def error_lines(line: Row) -> list[Line]:
    """Return the errors of a law on a set of measurements, and where they are stored."""
    stored = {name: line[name] for name in (*GROUP, "law", "form", "subset_kind", "subset_value")}
    return [
        Fact("row_count", "measured rows", line["row_count"], note=line["source"]),
        *(Fact(name, label, line[name]) for name, label in ERRORS if line[name] is not None),
        Fact("reference", "stored in", reference_line("law_validation", stored)),
    ]


def rival_part(con: duckdb.DuckDBPyConnection, line: Row, point: Row) -> Part | None:
    """Return what a law with published constants says of one measured point, and its error."""
    predict = {each.law: each.predict_j for each in published()}.get(line["law"])
    found = predict(_measurement(con, point)) if predict and line["form"] == "published" else None
    if found is None:
        return None
    ratio = number("predicted", found) / number("measured", float(point["measured_j"]))
    lines = (
        *_configuration(point),
        Fact("predicted_j", f"by {LAW_NAMES[line['law']]}", found, "J", line["source"]),
        step("error", "predicted over measured, less 1", ratio - 1, ""),
    )
    return Part("example", "One of the measurements, by this law", lines)


def law_of_point(con: duckdb.DuckDBPyConnection, point: Row) -> list[Part]:
    """Return the law written out at a measured point, down to its error."""
    error = _error_line(float(point["predicted_j"]), point)
    if point["predicted_by"] not in _BY_SET:
        return [Part("value", "The cell", (error,))]
    set_id, _ = coefficient_set(point["gpu"], point["stack"])
    coefficients = row(
        con, "select * from stg_coefficients where coefficient_set_id = $id", {"id": set_id}
    )
    batch, weight_bytes = float(point["batch"]), float(point["bytes_per_weight"])
    sizes = sizes_of(_shape(con, "stg_architectures", point), weight_bytes, batch)
    moments, moment_lines = moments_of(_request(point), {})
    found = energies_of(sizes, moments, Coefficients(coefficients, int(point["gpu_count"]), batch))
    prices: list[Line] = [
        Fact(name, name[0], coefficients[name], "J", set_id)
        for name in coefficients
        if name[1:].startswith("_j_per_") and coefficients[name]
    ]
    predicted, lines = found.energy_j, list(found.energy_lines)
    if point["predicted_by"] == "stored":
        bias = bias_factor(_measurement(con, point).architecture_class, set_id)
        term = number("bias", bias) * number("law", predicted)
        lines.append(step("predicted_j", "law × bias factor", term, "J"))
        predicted *= bias
    stored = float(point["predicted_j"])
    if not math.isclose(predicted, stored, rel_tol=_STORED_DIGITS):
        note = f"the geometric mean over {point['row_count']} like measurements, of which lengths "
        note += "and batch here are the means, so the law at the means is near it, not equal"
        lines.append(Fact("predicted_j", "stored", stored, "J", note))
    return [
        Part("coefficients", "Coefficients", tuple(prices)),
        Part("architecture", "Architecture", sizes.lines),
        Part("moments", "What the lengths come to", moment_lines),
        Part("work", "Work of one request", found.work_lines),
        Part("law", "Energy by the law", tuple(lines)),
        Part("value", "The cell", (error,)),
    ]


def _error_line(predicted_j: float, point: Row) -> Line:
    ratio = number("predicted", predicted_j) / number("measured", float(point["measured_j"]))
    note = "stored with four figures"
    return step("error", "predicted over measured, less 1", ratio - 1, "", note=note)


def _row_part(point: Row) -> Part:
    law = f"Our law: {_HOW[point['predicted_by']]}"
    lines = (
        Fact("dataset", "data set", point["dataset"], note=point["source"]),
        Fact("law", "law", law),
        *_configuration(point),
        Fact("predicted_j", "predicted", float(point["predicted_j"]), "J"),
        Fact("reference", "stored in", reference_line("law_points", point)),
    )
    return Part("point", "The measurements behind the dot", lines)


def _configuration(point: Row) -> tuple[Line, ...]:
    rows_used = f"{point['row_count']}, by their geometric mean"
    return (
        Fact("configuration", "configuration", point_label(point)),
        Fact("row_count", "measured rows", rows_used),
        Fact("measured_j", "measured", float(point["measured_j"]), "J", "of one request"),
    )


def _errors_part(con: duckdb.DuckDBPyConnection, point: Row) -> Part:
    law, form = _LAWS[point["predicted_by"]]
    line = row(
        con,
        "select * from mart_law_validation where dataset = $dataset and gpu = $gpu "
        "and stack = $stack and law = $law and form = $form and subset_kind = 'all'",
        {**{name: point[name] for name in GROUP}, "law": law, "form": form},
    )
    title = f"{LAW_NAMES[law]} on the whole set"
    return Part("errors", title, tuple(error_lines(line)) if line else ())


def _request(point: Row) -> Row:
    """Return one request of the mean lengths, to whole tokens, with its moments."""
    n, m = (round(float(point[name])) for name in ("input_tokens", "output_tokens"))
    return {
        "request_count": 1,
        "input_tokens": n,
        "cache_read_tokens": 0,
        "output_tokens": m,
        "prefilled_tokens": work.prefilled_tokens(n, 0, 1),
        "prefill_pairs": work.prefill_pairs(n, 0, 1, 1),
        "decode_pairs": work.decode_pairs(n, m, 1, 1, 1),
        "cache_positions": work.cache_positions(n, m, 1, 1, 1),
        "decode_steps": work.decode_steps(m, 1),
    }


def _measurement(con: duckdb.DuckDBPyConnection, point: Row) -> Measurement:
    shape = shape_of(_shape(con, "raw_architectures", point))
    tokens = float(point["input_tokens"]) + float(point["output_tokens"])
    return Measurement(
        source_line=0,
        dataset=point["dataset"],
        gpu=point["gpu"],
        stack=point["stack"],
        task="",
        shape=shape,
        architecture_class=working_class(shape, tokens),
        bytes_per_weight=float(point["bytes_per_weight"]),
        input_tokens=float(point["input_tokens"]),
        output_tokens=float(point["output_tokens"]),
        batch=float(point["batch"]),
        gpu_count=int(point["gpu_count"]),
        phase="total",
        has_kv_cache=True,
        time_s=0,
        energy_j=float(point["measured_j"]),
    )


def _shape(con: duckdb.DuckDBPyConnection, table: str, point: Row) -> Row:
    return row(
        con,
        f"select * from {table} where architecture_id = $id",
        {"id": point["architecture_id"]},
    )
