"""The Calculator's ranges: one energy in each joint draw, and the ends of them all.

The same draws, grades and bias rows as `joulebook estimate` has, so the same range. A request's
energy is linear in the coefficients: each stand-in has a part for each of them, and a draw
stretches the parts. What a model errs on its own is the widest of its grade's range, its bias
factor's and the spread of its stand-ins, less what the serving stack takes of that.
"""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl
from openpyxl.utils import get_column_letter

from pipeline.dialects import excel_formula
from pipeline.laws import facility, ranges, simple
from pipeline.report.workbook.calculator_energy import geometric_mean
from pipeline.report.workbook.calculator_steps import Step, Values
from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.facility import FACILITY_RATIO, RATIOS, UNIT_NAMES, facility_kwh
from pipeline.report.workbook.rows import filled
from pipeline.report.workbook.table import HEAD_ROW, DataColumn, DataTable, fact_column
from pipeline.report.workbook.work import WEIGHTS_READ

SHEET = "Data_Draws"
ENDS = {"low": (0.05, "range_low_frac"), "high": (0.95, "range_high_frac")}
_GPU = "{mean_gpu_energy_j}"
_COEFFICIENTS = {
    "a": ("a_j_per_flop",),
    "b": ("b_j_per_kv_byte",),
    "c": ("c_j_per_weight_byte",),
    "s": ("s_j_per_layer_step", "s_j_per_step"),
}
_LABELS = {
    "a": "GPU energy of operations",
    "b": "GPU energy of cache bytes",
    "c": "GPU energy of weight bytes",
    "s": "GPU energy of launch steps",
}
_ERRORS = ("dense", "moe", "mla", "window", "hybrid", "small", "middle", "large")
_FACTS = {
    "draw": "Number of the draw, which is one possible world.",
    **dict.fromkeys((f"{part}_ratio" for part in _COEFFICIENTS), "Times its coefficient."),
    "stack_log": "Logarithm of what the serving stack makes of an energy.",
    **dict.fromkeys(
        (f"{name.removesuffix('_ratio')}_z_score" for name in RATIOS), "Score of the assumption."
    ),
    **dict.fromkeys(
        (f"{name}_error" for name in _ERRORS),
        "Score of what this kind of architecture, or tier of closed models, errs on its own.",
    ),
}
_FIRST_ERROR, _LAST_ERROR = (
    get_column_letter(list(_FACTS).index(f"{name}_error") + 1) for name in (_ERRORS[0], _ERRORS[-1])
)


def _part_step(part: str) -> Step:
    """Return the step of what one coefficient makes of a stand-in's GPU energy."""
    others = {c for name, each in _COEFFICIENTS.items() if name != part for c in each}
    told = dict.fromkeys(others, "0")
    terms = (
        excel_formula(simple.prefill_energy_j, told),
        excel_formula(simple.kv_cache_energy_j, told),
        excel_formula(
            simple.next_token_energy_j,
            told
            | {
                "weight_read_bytes": f"({WEIGHTS_READ})".replace("{passes}", "{output_tokens}"),
                "steps": "({output_tokens}*{gpu_count})",
            },
        ),
    )

    def value(known: Values) -> float:
        a, b, c, layer_s, s = (
            0.0 if name in others else known[name]
            for each in _COEFFICIENTS.values()
            for name in each
        )
        passes = known["output_tokens"]
        return float(
            known["bias_factor"]
            * (
                simple.prefill_energy_j(a, known["prefill_flop"])
                + simple.kv_cache_energy_j(
                    a, b, known["kv_read_bytes"], known["decode_attention_flop"]
                )
                + simple.next_token_energy_j(
                    *(a, c, layer_s, s, known["decode_flop"], known["weight_bytes"] * passes),
                    *(known["layer_steps"], passes * known["gpu_count"], known["batch"]),
                )
            )
        )

    formula = f"{{bias_factor}}*({'+'.join(terms)})"
    return Step(f"part_{part}_j", _LABELS[part], "J", formula, value)


PART_STEPS = tuple(_part_step(part) for part in _COEFFICIENTS)


def _error_of(known: Values) -> str:
    return str(known["row"]["stand_in_tier"] or known["architecture_class"])


def _own_step(which: str) -> Step:
    """Return an end of what a model errs on its own, over its value."""
    quantile, name = ENDS[which]
    least, pick, minus = ("MIN", min, "-") if which == "low" else ("MAX", max, "")
    grade = f"INDEX(d_grade[{which}_ratio],MATCH({{method_grade}},d_grade[evidence_grade],0))"
    apart = f"{least}({{all_gpu_energy_j}})/{_GPU}"
    method = f"LN({least}({grade},{apart},{{all_bias_{which}_ratio}}))"
    stack = f"{{stack_power}}*PERCENTILE(d_draw[stack_log],{name})"

    def value(known: Values) -> float:
        ends = [known["grades"][known["method_grade"]][f"{which}_ratio"]]
        ends += [pick(known["all_gpu_energy_j"]) / known["mean_gpu_energy_j"]]
        method_log = math.log(pick(*ends, *known[f"all_bias_{which}_ratio"]))
        stack_log = known["stack_power"] * _quantile(_column(known, "stack_log"), quantile)
        width = math.sqrt(max(method_log**2 - stack_log**2, 0))
        return math.exp(-width if which == "low" else width)

    return Step(
        f"own_{which}_ratio",
        f"Error of its own, {which} ÷ value",
        "ratio",
        f"EXP({minus}SQRT(MAX({method}^2-({stack})^2,0)))",
        value,
    )


OWN_STEPS = (
    Step(
        "stack_power",
        "Is the serving stack in doubt? 1: yes",
        "",
        'IF({method_grade}="A",0,1)',
        lambda known: 0 if known["method_grade"] == "A" else 1,
        "count",
    ),
    Step(
        "error_of",
        "Errs with",
        "",
        "IF({architecture_count}>1,INDEX(d_model[stand_in_tier],{model_row}),{architecture_class})",
        lambda known: _error_of({**known, "row": known["rows"][0]}),
        "text",
    ),
    Step(
        "error_column",
        "Column of that error in Data_Draws",
        "",
        f'MATCH({{error_of}}&"_error",{SHEET}!${_FIRST_ERROR}${HEAD_ROW}:'
        f"${_LAST_ERROR}${HEAD_ROW},0)",
        lambda known: _ERRORS.index(known["error_of"]) + 1,
        "count",
    ),
    _own_step("low"),
    _own_step("high"),
)


def _end_step(which: str) -> Step:
    quantile, name = ENDS[which]
    least, pick = ("MIN", min) if which == "low" else ("MAX", max)
    return Step(
        f"gpu_energy_{which}_j",
        f"GPU energy, {which}",
        "J",
        f"{least}({_GPU},PERCENTILE(d_draw[gpu_energy_j],{name}))",
        lambda known: pick(
            known["mean_gpu_energy_j"], _quantile(known["drawn"]["gpu_energy_j"], quantile)
        ),
    )


def _building_step(which: str) -> Step:
    quantile, name = ENDS[which]
    least, pick = ("MIN", min) if which == "low" else ("MAX", max)
    drawn = f"PERCENTILE(d_draw[facility_energy_kwh],{name})"

    def value(known: Values) -> float:
        whole = facility_kwh(known["mean_gpu_energy_j"], known["assumed"])
        return pick(1.0, _quantile(known["drawn"]["facility_energy_kwh"], quantile) / whole)

    kwh = excel_formula(
        facility.facility_energy_kwh,
        {"facility_ratio": FACILITY_RATIO, "gpu_energy_j": _GPU},
        UNIT_NAMES,
    )
    return Step(
        f"electricity_{which}_ratio",
        f"Electricity, {which} ÷ value",
        "ratio",
        f"{least}(1,{drawn}/({kwh}))",
        value,
    )


END_STEPS = (
    _end_step("low"),
    _end_step("high"),
    _building_step("low"),
    _building_step("high"),
)


def draw_all(known: Values) -> dict[str, list[float]]:
    """Return the energy of the request in every draw, by column of Data_Draws."""
    energies_j, energies_kwh = [], []
    for draw in known["draws"]:
        parts_j = [
            math.fsum(draw[f"{part}_ratio"] * column[f"part_{part}_j"] for part in _COEFFICIENTS)
            for column in known["columns"]
        ]
        own = ranges.drawn_value(
            1, known["own_low_ratio"], known["own_high_ratio"], draw[f"{known['error_of']}_error"]
        )
        stack = math.exp(known["stack_power"] * draw["stack_log"])
        energies_j.append(geometric_mean(parts_j) * stack * own)
        drawn = {name: _drawn_ratio(known, draw, name) for name in RATIOS}
        energies_kwh.append(facility_kwh(energies_j[-1], drawn))
    return {"gpu_energy_j": energies_j, "facility_energy_kwh": energies_kwh}


def _drawn_ratio(known: Values, draw: Mapping[str, Any], name: str) -> float:
    ends = known["ranges"][name]
    z_score = draw[f"{name.removesuffix('_ratio')}_z_score"]
    return float(ranges.drawn_value(known["assumed"][name], ends["low"], ends["high"], z_score))


def draw_table(data: BookData, known: Values, cells: Mapping[str, str], slots: int) -> DataTable:
    """Return the data sheet of the draws, whose energies follow the Calculator.

    Args:
        data: The frames, with the joint draws.
        known: What the Calculator computed for the request that stands there first.
        cells: The cell of each of its steps, and of a stand-in's as `name_1`, `name_2`, …
        slots: How many stand-ins there may be.
    """
    frame = data.frame("draws")
    drawn = known["drawn"]
    columns = [
        *(fact_column(frame, name, meaning) for name, meaning in _FACTS.items()),
        DataColumn(
            "gpu_energy_j",
            "number",
            "GPU energy of the request on Calculator in this draw.",
            drawn["gpu_energy_j"],
            f"IF(ISNUMBER({cells['batch']}),{filled(_energy_formula(slots), _kept(cells))},"
            f"{cells['batch']})",
            number_format="0.000E+00",
        ),
        DataColumn(
            "facility_energy_kwh",
            "number",
            "Its electricity, with this draw's host, idle capacity and cooling.",
            drawn["facility_energy_kwh"],
            f"IF(ISNUMBER({cells['batch']}),{_facility_formula()},{cells['batch']})",
            number_format="0.000E+00",
        ),
    ]
    return DataTable(
        "d_draw",
        SHEET,
        "What does the request on Calculator take in each of the joint draws behind its range?",
        tuple(columns),
    )


def _kept(cells: Mapping[str, str]) -> dict[str, str]:
    """Leave this sheet's own columns as they are; fill in the Calculator's cells."""
    return {name: f"{{{name}}}" for name in _FACTS} | dict(cells)


def _energy_formula(slots: int) -> str:
    logs = []
    for slot in range(1, slots + 1):
        parts = "+".join(f"{{{part}_ratio}}*{{part_{part}_j_{slot}}}" for part in _COEFFICIENTS)
        log = f"LN({parts})"
        logs.append(log if slot == 1 else f"IF({{architecture_count}}<{slot},0,{log})")
    error = f"INDEX({{{_ERRORS[0]}_error}}:{{{_ERRORS[-1]}_error}},{{error_column}})"
    own = excel_formula(
        ranges.drawn_value,
        {"value": "1", "low": "{own_low_ratio}", "high": "{own_high_ratio}", "z_score": error},
    )
    return (
        f"EXP(({'+'.join(logs)})/{{architecture_count}})*EXP({{stack_power}}*{{stack_log}})*{own}"
    )


def _facility_formula() -> str:
    ratios = []
    for name in RATIOS:
        of_row = f'MATCH("{name}",t_assumptions[Assumption],0)'
        told = {
            "value": f"in_{name}",
            "low": f"INDEX(t_assumptions[Low],{of_row})",
            "high": f"INDEX(t_assumptions[High],{of_row})",
            "z_score": f"{{{name.removesuffix('_ratio')}_z_score}}",
        }
        ratios.append(excel_formula(ranges.drawn_value, told))
    told = {"facility_ratio": f"({'*'.join(ratios)})"}
    return excel_formula(facility.facility_energy_kwh, told, UNIT_NAMES)


def _column(known: Values, name: str) -> list[float]:
    return [draw[name] for draw in known["draws"]]


def _quantile(values: list[float], quantile: float) -> float:
    """Return a quantile between the two nearest values, as a spreadsheet and DuckDB do."""
    found = pl.Series(values, dtype=pl.Float64).quantile(quantile, "linear")
    if found is None:
        raise ValueError("no joint draws")
    return float(found)
