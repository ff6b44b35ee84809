"""Why the month differs from the one before: five parts that add up, in money, power, carbon."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Kind, Section, Steps, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

# What changes in each step, in this order, and how a step is defined.
STEPS = (
    ("before", "The month before", "What the month before was."),
    ("volume", "More or fewer requests", "This month's requests at the mean value of last month."),
    ("mix", "Other classes and teams", "Requests of each class and team at their value then."),
    (
        "model",
        "Other models",
        "Models within class and team as now, with the lengths of then; a new model has its own "
        "price.",
    ),
    (
        "method",
        "Another method",
        "The month before by the method of now, less what its report said; 0 where both months are "
        "computed by one version.",
    ),
    ("length", "Longer or shorter requests", "Tokens as now, at the price or rate of then."),
    (
        "price",
        "Price or rate",
        "What is left: dollars a token; joules of a unit of work (batch, coefficients), and the "
        "grid.",
    ),
    ("", "This month", "The sum of the lines above."),
)
TABLE = "month_bridge"
_MEASURES = (
    ("cost", "usd", "price"),
    ("facility_energy", "kwh", "rate"),
    ("carbon", "gco2e", "rate"),
)
_COLUMNS = (
    Column("step", "Step", "text", meaning="What differs from the month before."),
    Column("cost_usd", "Cost", "usd", "USD", "Cost of the priced requests, to the cent."),
    Column("facility_energy_kwh", "Electricity", "kwh", "kWh", "Of the measured requests."),
    replace(c.FACILITY_LOW, unknown="not drawn"),
    replace(c.FACILITY_HIGH, unknown="not drawn"),
    Column("carbon_kgco2e", "Carbon", "kgco2e", "kg CO₂e", "Of the measured requests."),
    Column("carbon_low_kgco2e", "Carbon, low", "kgco2e", "kg CO₂e", "Low end (5 %)."),
    Column("carbon_high_kgco2e", "Carbon, high", "kgco2e", "kg CO₂e", "High end (95 %)."),
    c.GRADE,
    Column("batch", "Batch", "number", meaning="Of all requests of that month.", unknown=""),
    Column("definition", "How it is worked out", "text", meaning="Definition of the step."),
)
_NOTE = (
    "Each step changes one thing more, in this order, and is worth the difference it makes; money "
    "is rounded once a step, so the lines add up to the cent. Requests without a price or an "
    "energy are in neither month. Where the month before has no such class, team or model, the "
    "nearest wider mean stands in. Low and high of a step are the 5 % and 95 % of its changes "
    "over the joint draws, so what both months are unsure of alike is in none."
)
_ISSUED = {
    "cost": ("cost_usd", Decimal("0.01")),
    "facility_energy": ("facility_energy_kwh", Decimal("1e-9")),
    "carbon": ("carbon_gco2e", Decimal("1e-9")),
}
_LEAST_SHARE_BEFORE = 0.05  # of this month's requests, for a comparison to mean anything


def section(mart: pl.DataFrame, issued: Mapping[str, str] | None = None) -> Section:
    """Return the bridge of one month.

    Args:
        mart: mart_month_bridge of the month: one row, none where the month before was not read.
        issued: What the closed report of the month before stated, by another method.
    """
    row = _with_method(mart.row(0, named=True), issued or {}) if mart.height else {}
    is_comparable = bool(row) and (row["priced_request_before_count"] or 0) >= (
        _LEAST_SHARE_BEFORE * (row["priced_request_count"] or 0)
    )
    return Section(
        name="bridge",
        title="Bridge",
        sheet="Bridge",
        question="What changed since the month before, and why?",
        statements=_statements(row) if is_comparable else (),
        tables=(_table(row),) if is_comparable else (),
        figures=_figures(row) if is_comparable else (),
        empty_reason=""
        if is_comparable
        else "The logs of the month before were not read with these, or hold too few requests.",
    )


def _with_method(row: dict[str, Any], issued: Mapping[str, str]) -> dict[str, Any]:
    """Begin at the month before as it was issued, and add what the method moved it by since.

    Its ends are those of the method of now; a difference of two methods has none.
    """
    found = row | {"issued": dict(issued)}
    for stem, unit, _ in _MEASURES:
        name, least = _ISSUED[stem]
        now = row[f"{stem}_before_{unit}"]
        said = Decimal(issued[name]).quantize(least) if name in issued and now is not None else now
        found[f"{stem}_before_{unit}"] = said
        found[f"{stem}_method_{unit}"] = None if now is None else now - said
    for stem, unit in (("facility_energy", "kwh"), ("carbon", "gco2e")):
        for end in ("low", "high"):
            found[f"{stem}_method_{end}_{unit}"] = None if issued else 0.0
            if issued:
                found[f"{stem}_before_{end}_{unit}"] = None
    return found


def _value(row: dict[str, Any], stem: str, step: str, unit: str, last: str) -> Decimal | None:
    name = {"": f"{stem}_{unit}", "price": f"{stem}_{last}_{unit}"}.get(
        step, f"{stem}_{step}_{unit}"
    )
    value: Decimal | None = row[name]
    return value


def _ends(row: dict[str, Any], step: str, stem: str, unit: str) -> tuple[float | None, ...]:
    """Return low and high of a step: of what it changes, or of a whole month."""
    part = {"": "", "price": "rate_"}.get(step, f"{step}_")
    return tuple(row[f"{stem}_{part}{end}_{unit}"] for end in ("low", "high"))


def _table(row: dict[str, Any]) -> Table:
    lines = []
    for step, label, definition in STEPS:
        cost, energy, carbon = (
            _value(row, stem, step, unit, last) for stem, unit, last in _MEASURES
        )
        kilograms = None if carbon is None else carbon / r.GRAMS_PER_KG
        energies = _ends(row, step, "facility_energy", "kwh")
        carbons = tuple(
            None if end is None else end / r.GRAMS_PER_KG
            for end in _ends(row, step, "carbon", "gco2e")
        )
        batch = {"before": row["batch_before"], "": row["batch"]}.get(step)
        grade = row["evidence_grade"]
        told = (label, cost, energy, *energies, kilograms, *carbons, grade, batch, definition)
        lines.append(told)
    return Table(TABLE, "From the month before to this one", _COLUMNS, tuple(lines), note=_NOTE)


def _figures(row: dict[str, Any]) -> tuple[Steps, ...]:
    values = [_value(row, "cost", step, "usd", "price") for step, _, _ in STEPS]
    known = tuple(float(value) for value in values if value is not None)
    if len(known) < len(STEPS):
        return ()
    largest = max(zip(STEPS[1:-1], known[1:-1], strict=True), key=lambda part: abs(part[1]))
    return (
        Steps(
            name="cost_bridge",
            title="Cost from the month before to this one",
            unit="USD",
            source="Source: mart_month_bridge; the table below says how each step is worked out",
            alt=(
                f"Waterfall from {show(known[0], 'usd')} to {show(known[-1], 'usd')} USD in six "
                f"steps; the largest is {largest[0][1].lower()}."
            ),
            labels=tuple(label for _, label, _ in STEPS),
            values=known,
            kind="usd",
        ),
    )


def _statements(row: dict[str, Any]) -> tuple[str, ...]:
    sentences = (
        _sentence(row, "Cost", _MEASURES[0], "usd", "USD"),
        _sentence(row, "Electricity", _MEASURES[1], "kwh", "kWh"),
        _issued_sentence(row),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _issued_sentence(row: dict[str, Any]) -> str:
    issued = row["issued"]
    if not issued:
        return ""
    return (
        f"The month before stands as its report {issued['issue']} said, by method "
        f"{issued['method_version']}; another method holds all that has moved it since."
    )


def _sentence(
    row: dict[str, Any],
    what: str,
    measure: tuple[str, str, str],
    kind: Kind,
    unit: str,
) -> str:
    stem, suffix, last = measure
    old, new = (_value(row, stem, step, suffix, last) for step in ("before", ""))
    if old is None or new is None:
        return ""
    parts = [
        (label.lower(), _value(row, stem, step, suffix, last) or Decimal(0))
        for step, label, _ in STEPS[1:-1]
    ]
    largest = sorted(parts, key=lambda part: (-abs(part[1]), part[0]))
    shown = [f"{label} {_signed(value, kind)} {unit}" for label, value in largest if value]
    if not shown:
        return f"{what} did not change: {show(new, kind)} {unit}."
    verb = "rose" if new > old else "fell" if new < old else "stayed"
    ends = f"from {show(old, kind)} to {show(new, kind)} {unit}"
    most = f"most by {shown[0]}" + (f", then {shown[1]}" if len(shown) > 1 else "")
    return f"{what} {verb} {ends}: {most}."


def _signed(value: Decimal, kind: Kind) -> str:
    return ("+" if value > 0 else "−") + show(abs(value), kind)
