"""How wrong the law is against public measurements, where it loses, and by how much."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Dots, Points, Section, Table
from pipeline.report.sections import reading as r
from pipeline.report.sections.laws import LAW_NAMES

SHORT = "1 to 512"  # tokens in and out together
TIE_POINTS = 0.03  # errors that differ by no more are a tie
BAND_FRAC = 0.2
GROUP = ("dataset", "gpu", "stack")
OWN = ("simple", "simple_with_bias")
PROMPTLESS = ("ecologits_batch", "parameters_output_tokens")  # never look at the prompt
MOST_SETS = 16  # lines of the figure; the tables have every set
EQUAL = 0.001  # errors that differ by less look the same
PER_MODEL = "closed_form"  # constants of its own for each model: no forecast for another

# The laws of the figure, with the form each is shown in.
SHOWN = (
    ("simple_with_bias", "published", "Our law × bias, as in this report"),
    ("simple", "refit", "Our law, refitted"),
    ("ecologits_batch", "refit", "EcoLogits' form with batch, refitted"),
    ("parameters_output_tokens", "refit", "Parameters × output tokens, refitted"),
    ("linear", "refit", "Linear in tokens, refitted"),
    ("ecologits_0_9", "published", "EcoLogits 0.9"),
    (PER_MODEL, "refit", "Closed form, calibrated per model"),
)
_BY = {
    "stored": "rows no coefficient has seen",
    "left_out": "architecture left out of the fit",
    "fitted": "rows of the fit, no test",
}

Row = dict[str, Any]
Group = tuple[str, ...]

_DUELS = (
    Column("group", "Measurements", "text", meaning="Data set, GPU and serving stack."),
    Column("row_count", "Rows", "count", meaning="Measured configurations."),
    Column("own", "Law × bias", "frac", meaning="Mean error with the values this report uses."),
    Column("is_fitted", "Fitted to it", "text", meaning="Yes: these rows made the coefficients."),
    Column("rival", "Best rival", "text", meaning="Rival with its published constants."),
    Column("rival_error", "Its error", "frac", meaning="Mean error of that rival."),
    Column("outcome", "Outcome", "text", meaning="Which of the two errs less."),
    Column("refit", "Law, refitted", "frac", meaning="Left-out error where there is one."),
    Column("refit_rival", "Best refitted rival", "text", meaning="One set for all models."),
    Column("refit_error", "Error of it", "frac", meaning="Of that rival, measured alike."),
    Column("refit_outcome", "Refitted", "text", meaning="Which of these two errs less."),
)
_ERRORS = (
    Column("dataset", "Data set", "text", meaning="Public data set of measured energies."),
    Column("gpu", "GPU", "text", meaning="GPU that was measured."),
    Column("stack", "Stack", "text", meaning="Serving software."),
    Column("law", "Law", "text", meaning="Our law or a rival."),
    Column("form", "Constants", "text", meaning="published: as stored; refit: fitted to the rows."),
    Column("row_count", "Rows", "count", meaning="Measured configurations."),
    Column("mape_frac", "Error", "frac", meaning="Mean absolute relative error."),
    Column(
        "leave_one_out_mape_frac", "Left out", "frac", meaning="Of architectures not in the fit."
    ),
    Column("bias_ratio", "Measured / law", "ratio", meaning="Geometric mean over the rows."),
    Column("p90_frac", "90 % within", "frac", meaning="Nine rows of ten err less."),
    Column("source", "What was done", "text", meaning="How constants came about, and cautions."),
)


def section(mart: pl.DataFrame, points: pl.DataFrame) -> Section:
    """Return the errors of the laws.

    Args:
        mart: mart_law_validation.
        points: Reference rows `law_points`, as text.
    """
    whole = mart.filter(pl.col("subset_kind") == "all")
    groups = _groups(whole)
    duels = [_duel(group, lines) for group, lines in groups.items()]
    return Section(
        name="law_validation",
        title="Measured against law",
        sheet="Law_validation",
        question="How far do this law and its rivals lie from measured energies?",
        statements=(
            *_own_statements(duels),
            *_duel_statements(duels),
            _ties(mart.filter(pl.col("subset_value") == SHORT)),
            _within(points),
        ),
        figures=(_error_dots(groups), _scatter(points)),
        tables=(_duel_table(duels), _error_table(whole)),
    )


def _groups(frame: pl.DataFrame) -> dict[Group, list[Row]]:
    found: dict[Group, list[Row]] = {}
    for row in frame.sort(*GROUP, "law", "form").rows(named=True):
        found.setdefault(tuple(row[name] for name in GROUP), []).append(row)
    return found


def _title(group: Group) -> str:
    return " · ".join(show(part, "text") for part in group)


def _error(row: Row) -> float:
    """Return the error on architectures left out, where there is one, else that on the rows."""
    unseen = row["leave_one_out_mape_frac"]
    return float(row["mape_frac"] if unseen is None else unseen)


def _best(rows: Iterable[Row]) -> Row | None:
    return min(rows, key=lambda row: (_error(row), row["law"]), default=None)


def _rivals(lines: Sequence[Row], form: str) -> list[Row]:
    """Return the rivals of one form, asked about every row of the group and one set for all."""
    most = max(row["row_count"] for row in lines)
    return [
        row
        for row in lines
        if row["form"] == form
        and row["law"] not in (*OWN, PER_MODEL)
        and row["row_count"] == most
        and not (row["law"] == "simple_reading_a" and form == "published")  # values by us
    ]


def _duel(group: Group, lines: Sequence[Row]) -> Row:
    own = next(row for row in lines if (row["law"], row["form"]) == (OWN[1], "published"))
    refit = next((row for row in lines if (row["law"], row["form"]) == (OWN[0], "refit")), None)
    rival, other = _best(_rivals(lines, "published")), _best(_rivals(lines, "refit"))
    plain = next(row for row in lines if (row["law"], row["form"]) == (OWN[0], "published"))
    rival_error = rival["mape_frac"] if rival else None
    refit_own, refit_error = (_error(each) if each else None for each in (refit, other))
    return {
        "group": _title(group),
        "row_count": own["row_count"],
        "own": own["mape_frac"],
        "is_fitted": plain["is_fitted_here"],
        "rival": rival and LAW_NAMES[rival["law"]],
        "rival_error": rival_error,
        "outcome": _outcome(own["mape_frac"], rival_error),
        "refit": refit_own,
        "refit_rival": other and LAW_NAMES[other["law"]],
        "refit_error": refit_error,
        "refit_outcome": _outcome(refit_own, refit_error),
    }


def _outcome(own: float | None, rival: float | None) -> str | None:
    if own is None or rival is None:
        return None
    if abs(own - rival) < EQUAL:
        return "even"
    return "won" if own < rival else "lost"


def _own_statements(duels: Sequence[Row]) -> list[str]:
    tests = [duel["own"] for duel in duels if not duel["is_fitted"]]
    refits = [duel["refit"] for duel in duels if duel["refit"] is not None]
    return [
        f"Law × bias, as this report uses it, on {len(tests)} sets of measurements that no "
        f"coefficient has seen: {_ends(tests)}, half of the sets below "
        f"{show(statistics.median(tests), 'frac')}.",
        f"Refitted to each set, one set of prices for all its models: {_ends(refits)}, on "
        "architectures left out of the fit where a set has three or more.",
    ]


def _ends(errors: Sequence[float]) -> str:
    return f"mean error {show(min(errors), 'frac')} to {show(max(errors), 'frac')}"


def _duel_statements(duels: Sequence[Row]) -> list[str]:
    tests = [duel for duel in duels if not duel["is_fitted"] and duel["outcome"]]
    refits = [duel for duel in duels if duel["refit_outcome"]]
    return [
        _score("Against rivals with their published constants", tests, "outcome"),
        _score("With all laws refitted to the same rows", refits, "refit_outcome"),
    ]


def _score(what: str, duels: Sequence[Row], name: str) -> str:
    lost = [duel for duel in duels if duel[name] == "lost"]
    won = sum(duel[name] == "won" for duel in duels)
    even = len(duels) - len(lost) - won
    own, rival, error = (
        ("own", "rival", "rival_error")
        if name == "outcome"
        else ("refit", "refit_rival", "refit_error")
    )
    told = "; ".join(
        f"{duel['group']} ({duel[rival]} {show(duel[error], 'frac')}, "
        f"ours {show(duel[own], 'frac')})"
        for duel in lost
    )
    tied = f", even on {even}" if even else ""
    ended = f", lost on {told}." if lost else "."
    return f"{what}: nearest on {won} of {len(duels)} sets{tied}{ended}"


def _ties(short: pl.DataFrame) -> str:
    """Say where a refitted rival is as near on short prompts, or nearer."""
    found = []
    for group, lines in _groups(short).items():
        own = next((row for row in lines if (row["law"], row["form"]) == (OWN[0], "refit")), None)
        rival = _best(row for row in _rivals(lines, "refit") if row["law"] in PROMPTLESS)
        if own and rival and _error(rival) <= _error(own) + TIE_POINTS:
            word = "is nearer" if _error(rival) < _error(own) else "ties"
            found.append(
                f"{LAW_NAMES[rival['law']]} {word} on {_title(group)} "
                f"({show(_error(rival), 'frac')}, ours {show(_error(own), 'frac')}, "
                f"{own['row_count']} rows)"
            )
    if not found:
        return "On up to 512 tokens in and out, no rival that ignores the prompt is as near."
    return (
        "On up to 512 tokens in and out, a rival that never looks at the prompt can be as near: "
        f"{'; '.join(found)}."
    )


def _within(points: pl.DataFrame) -> str:
    counts = []
    for by, words in _BY.items():
        kept = points.filter(pl.col("predicted_by") == by)
        near = sum(abs(y / x - 1) <= BAND_FRAC for x, y in _pairs(kept))
        if kept.height:
            counts.append(f"{near} of {kept.height} ({words})")
    return f"Means of like measurements within ±20 % of the law: {'; '.join(counts)}."


def _pairs(points: pl.DataFrame) -> list[tuple[float, float]]:
    columns = (pl.col(name).cast(pl.Float64) for name in ("measured_j", "predicted_j"))
    return [(float(x), float(y)) for x, y in points.select(*columns).rows()]


def _error_dots(every: dict[Group, list[Row]]) -> Dots:
    """Return the errors of each law on the sets of most measurements, in the order of the sets."""
    largest = sorted(every, key=lambda group: (-every[group][0]["row_count"], group))[:MOST_SETS]
    groups = {group: lines for group, lines in every.items() if group in largest}
    series = []
    for law, form, name in SHOWN:
        errors = []
        for lines in groups.values():
            row = next((row for row in lines if (row["law"], row["form"]) == (law, form)), None)
            errors.append(None if row is None else _error(row))
        series.append((name, tuple(errors)))
    return Dots(
        name="law_errors",
        title="Mean error of each law on each set of measurements"
        + (f", the {len(groups)} largest of {len(every)}" if len(groups) < len(every) else ""),
        unit="% of the measured energy",
        source="Source: mart_law_validation; refitted laws on architectures left out of the fit, "
        "where a set has three or more",
        alt="One line for each data set, GPU and stack, one mark for each law; the further left, "
        "the nearer to the measurements. Our law refitted is the leftmost or second mark on most "
        "lines; laws calibrated per model fail when carried to another model.",
        labels=tuple(_title(group) for group in groups),
        series=tuple(series),
        kind="frac",
    )


def _scatter(points: pl.DataFrame) -> Points:
    series: dict[str, list[tuple[str, float, float]]] = {}
    ordered = points.sort("predicted_by", "gpu", "dataset", "stack", *points.columns)
    for row, (x, y) in zip(ordered.rows(named=True), _pairs(ordered), strict=True):
        by = row["predicted_by"]
        family = row["gpu"].split("-")[0]
        name = f"{family}, {_BY[by]}" if by == "stored" else _BY[by]
        series.setdefault(name, []).append((point_label(row), x, y))
    near = sum(abs(y / x - 1) <= BAND_FRAC for x, y in _pairs(points))
    return Points(
        name="predicted_against_measured",
        title="GPU energy of a request, law against measurement",
        unit="J",
        source="Source: data/reference/law_points.csv, means of like measurements of data sets "
        "whose licence lets them be shown, of 2026-11-30",
        alt=f"Scatter of {points.height} means on two logarithmic axes around the line of "
        f"equality; {near} lie within 20 % of it.",
        x_label="Measured",
        y_label="Law",
        series=tuple((name, tuple(each)) for name, each in sorted(series.items())),
        band_frac=BAND_FRAC,
        kind="j",
    )


def point_label(point: Row) -> str:
    """Return what a reader calls a row of the reference table `law_points`."""
    return (
        f"{point['architecture_id']} on {point['gpu_count']} × {point['gpu']}, {point['stack']}, "
        f"batch {point['batch']}, {point['input_tokens']} in, {point['output_tokens']} out"
    )


def _duel_table(duels: Sequence[Row]) -> Table:
    rows = tuple(
        tuple("yes" if duel[c.name] is True else duel[c.name] or None for c in _DUELS)
        for duel in sorted(duels, key=lambda duel: (duel["is_fitted"], duel["own"]))
    )
    return Table(
        "law_duels",
        "Our law and the nearest rival, set by set",
        _DUELS,
        rows,
        note="Won and lost alike. Best rival: nearest of those that answer for every row.",
    )


def _error_table(whole: pl.DataFrame) -> Table:
    named = whole.sort(*GROUP, "mape_frac", "law").with_columns(
        pl.col("law").replace(LAW_NAMES).alias("law")
    )
    return Table(
        "law_errors",
        "Errors of every law on every set",
        _ERRORS,
        r.table_rows(named, _ERRORS),
        sheet="Law_errors",
    )
