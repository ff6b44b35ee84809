"""A cell of no mart: a row of the reference tables, or what power logs measured."""

from pipeline.explain.cell_source import CellSource
from pipeline.explain.lines import Fact, Line, Part
from pipeline.reference import reference_line, reference_rows

# Table of the report: the reference table, and the columns that name a row of it.
_REFERENCES = {
    "anchors": ("anchors", ("publisher", "request")),
    "assumptions": ("assumptions", ("assumption",)),
    "method_chain": ("assumptions", ("assumption",)),
    "method_prices": ("law_coefficients", ("coefficient_set_id",)),
    "method_sets": ("law_coefficients", ("coefficient_set_id",)),
    "method_bias": ("bias_factors", ("architecture_class", "coefficient_set_id")),
    "method_grades": ("grade_ranges", ("evidence_grade",)),
    "method_dispersion": ("dispersion_factors", ("query_class",)),
}
_CHATS = "figure_chat_requests"
_AVERAGE = "Ours: average chat request"
_OWN = "a row of the settings or of an overlay, not of data/reference"
_MEASURED = {
    "policy_cells": "the power log of each run of a setting, model, phase and batch; energy is the "
    "log's power over the phase, energy per token that energy over the tokens of the phase, and "
    "the runs are joined by their geometric mean (energy per token, tokens a second), their "
    "energies over their seconds (mean power) or their median (draw, limit, clock)",
    "policy_effects": "the runs with a setting over the runs without: the ratio of geometric "
    "means of a run's value, its interval by the t distribution on logarithms",
    "policy_classes": "the change of throughput over the change of clock, both as logarithms",
    "measured_baselines": "the power that logs tell in the seconds around the runs",
    "measured_fits": "a regression of the measured energies of the runs",
    "measured_effects": "a regression of the measured energies of the runs",
    "measured_budget": "the rules of the audit, data/reference/audit_rules.csv",
    "figure_power_over_time": "the power log, at each second since the run began",
    "figure_power_front_decode": "energy per token of policy_cells, at its tokens a second",
    "figure_power_front_prefill": "energy per token of policy_cells, at its tokens a second",
    "figure_power_savings": "ratio, low and high of policy_effects, energy per token",
    "figure_token_linearity": "mart_token_linearity: tokens (across) and energy (up) of a category "
    "over those of the reference category",
    "linearity_claims": "data/reference/linearity_claims.csv, as published",
}


def stored_parts(table: str, source: CellSource) -> list[Part]:
    """Return where a cell that no mart holds is stored, nothing where the report states it.

    Args:
        table: Name of the table of the report.
        source: The cell.
    """
    if table == _CHATS and source.cells["label"] != _AVERAGE:
        return _anchor_parts(str(source.cells["label"]))
    if table in _REFERENCES:
        name, keys = _REFERENCES[table]
        return [_reference_part(name, {key: source.cells[key] for key in keys})]
    if table in _MEASURED:
        made = Fact("measured", "from", _MEASURED[table])
        beside = [
            Fact(name, name.replace("_", " "), value)
            for name, value in source.cells.items()
            if value is not None and not name.startswith(("series_", "place"))
        ]
        return [Part("measured", "What it comes from", (made, *beside))]
    return []


def _anchor_parts(label: str) -> list[Part]:
    for row in reference_rows("anchors"):
        if label == f"{row['publisher']}: {row['request']}":
            return [_reference_part("anchors", {"anchor": row["anchor"]})]
    return []


def _reference_part(table: str, key: dict[str, object]) -> Part:
    stored = [
        row
        for row in reference_rows(table)
        if all(row[name] == str(value) for name, value in key.items())
    ]
    lines: list[Line] = [Fact("reference", "stored in", reference_line(table, key) or _OWN)]
    for row in stored:
        lines += [Fact(name, name.replace("_", " "), value) for name, value in row.items() if value]
    return Part("reference", "The row of the reference data", tuple(lines))
