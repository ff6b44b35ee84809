"""The last steps of the Calculator: grade, range, price; and the lines of its answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipeline.report.section import Kind
from pipeline.report.workbook.calculator_draws import END_STEPS
from pipeline.report.workbook.calculator_energy import geometric_mean
from pipeline.report.workbook.calculator_steps import Step, Values
from pipeline.report.workbook.facility import CARBON_PER_KWH, FACILITY_FORMULA, TARIFF, facility_kwh

GRADE_RULES = {"grade_sets": 4, "grade_domain": 2, "grade_bytes": 2}
_DOMAIN = ("input_tokens", "output_tokens", "batch")
_GPU = "{mean_gpu_energy_j}"
_PRICES = (
    ("uncached_input_usd_per_mtok", "Price of input"),
    ("cache_read_usd_per_mtok", "Price of cached input"),
    ("output_usd_per_mtok", "Price of output"),
)
_NO_PRICE = "no list price"
_TIER = "d_list_price[catalog_no],{catalog_no},d_list_price[input_tokens_from],{price_tier}"


def _grade(known: Values) -> str:
    if len(known["rows"]) > 1:
        return "D"
    few_bytes = known["bytes_per_weight"] < GRADE_RULES["grade_bytes"]
    if known["architecture_class"] != "dense" or few_bytes:
        return "C"
    own, reach = known["set"], GRADE_RULES["grade_domain"]
    is_inside = all(
        own[f"{name}_low"] / reach <= known[name] <= own[f"{name}_high"] * reach for name in _DOMAIN
    )
    has_sets = own["architecture_count"] >= GRADE_RULES["grade_sets"]
    return "A" if has_sets and known["gpu_count"] == 1 and is_inside else "B"


def _ranged_grade(known: Values) -> str:
    width_j = known["gpu_energy_high_j"] - known["gpu_energy_low_j"]
    widest = known["assumed"]["grade_a_half_width_frac"]
    is_wide = width_j / (2 * known["mean_gpu_energy_j"]) > widest
    return "B" if known["method_grade"] == "A" and is_wide else str(known["method_grade"])


def _of_set(name: str) -> str:
    return f"INDEX(d_coefficient[{name}],{{set_row}})"


_IS_INSIDE = ",".join(
    f"{{{name}}}>={_of_set(f'{name}_low')}/grade_domain,"
    f"{{{name}}}<={_of_set(f'{name}_high')}*grade_domain"
    for name in _DOMAIN
)
_IS_A = f"AND({_of_set('architecture_count')}>=grade_sets,{{gpu_count}}=1,{_IS_INSIDE})"
_IS_C = 'OR({architecture_class}<>"dense",{bytes_per_weight}<grade_bytes)'


def _tier(known: Values) -> Any:  # noqa: ANN401  # a number, or a word
    starts = [row["input_tokens_from"] for row in known["prices"]]
    fitting = [start for start in starts if start <= known["input"]]
    return max(fitting) if fitting else _NO_PRICE


def _price(name: str) -> Callable[[Values], Any]:
    def value(known: Values) -> Any:  # noqa: ANN401
        for row in known["prices"]:
            if row["input_tokens_from"] == known["price_tier"]:
                return float(row[name])
        return _NO_PRICE

    return value


def _cost(known: Values) -> Any:  # noqa: ANN401
    if known["price_tier"] == _NO_PRICE:
        return _NO_PRICE
    uncached = known["input"] - known["cached"]
    tokens = (uncached, known["cached"], known["output"])
    return sum(n * known[name] for n, (name, _) in zip(tokens, _PRICES, strict=True)) / 1_000_000


_FITTING = (
    "(d_list_price[catalog_no]={catalog_no})*(d_list_price[input_tokens_from]<={input_tokens})"
)
GRADE_STEP = Step(
    "method_grade",
    "Grade by its evidence",
    "",
    f'IF({{architecture_count}}>1,"D",IF({_IS_C},"C",IF({_IS_A},"A","B")))',
    _grade,
    "grade",
)
_WIDTH = f"({{gpu_energy_high_j}}-{{gpu_energy_low_j}})/(2*{_GPU})"
LAST_STEPS = (
    *END_STEPS,
    Step(
        "evidence_grade",
        "Grade, B where an A's range is too wide",
        "",
        f'IF({{method_grade}}<>"A",{{method_grade}},IF({_WIDTH}>in_grade_a_half_width_frac,"B","A"))',
        _ranged_grade,
        "grade",
    ),
    Step(
        "price_tier",
        "Prompt length from which the price holds",
        "tokens",
        f'IF(SUMPRODUCT({_FITTING})=0,"{_NO_PRICE}",'
        f"SUMPRODUCT(MAX({_FITTING}*d_list_price[input_tokens_from])))",
        _tier,
        "count",
    ),
    *(
        Step(
            name,
            label,
            "USD a million",
            f'IF(ISNUMBER({{price_tier}}),SUMIFS(d_list_price[{name}],{_TIER}),"{_NO_PRICE}")',
            _price(name),
        )
        for name, label in _PRICES
    ),
)


@dataclass(frozen=True)
class Answer:
    """A line of the answer, with the ends of its range where it has one."""

    name: str
    label: str
    unit: str
    kind: Kind
    formula: str
    value: Callable[[Values], Any]
    has_range: bool = False


def _known(name: str) -> Callable[[Values], Any]:
    return lambda known: known[name]


def fitting(formula: str) -> str:
    """Return a formula that says why there is no value where the request does not fit."""
    return f"IF(ISNUMBER({{batch}}),{formula},{{batch}})"


_KWH = FACILITY_FORMULA.replace("{gpu_energy_j}", _GPU)


def _kwh(known: Values) -> float:
    return facility_kwh(known["mean_gpu_energy_j"], known["assumed"])


ANSWERS = (
    Answer(
        "gpu_energy",
        "GPU energy",
        "J",
        "j",
        _GPU,
        lambda known: known["mean_gpu_energy_j"],
        has_range=True,
    ),
    *(
        Answer(name, label, "J", "j", f"{{scaled_{name}}}", _known(f"scaled_{name}"))
        for name, label in (
            ("prefill_energy_j", "of the law: prefill"),
            ("kv_cache_energy_j", "of the law: KV cache"),
            ("next_token_energy_j", "of the law: next token"),
        )
    ),
    Answer(
        "electricity",
        "Electricity of the facility",
        "Wh",
        "wh",
        f"{_KWH}*wh_per_kwh",
        lambda known: _kwh(known) * 1_000,
        has_range=True,
    ),
    Answer(
        "carbon",
        "Carbon",
        "g CO₂e",
        "gco2e",
        f"{_KWH}*{CARBON_PER_KWH}",
        lambda known: _kwh(known) * known["assumed"]["carbon_gco2e_per_kwh"],
        has_range=True,
    ),
    Answer(
        "list_cost",
        "Cost at list price",
        "USD",
        "usd_small",
        "IF(ISNUMBER({price_tier}),((in_calc_input_tokens-in_calc_cached_tokens)"
        "*{uncached_input_usd_per_mtok}+in_calc_cached_tokens*{cache_read_usd_per_mtok}"
        "+in_calc_output_tokens*{output_usd_per_mtok})/tokens_per_mtok,{price_tier})",
        _cost,
    ),
    Answer(
        "electricity_cost",
        "Electricity at tariff, a memo line",
        "USD",
        "usd_small",
        f"{_KWH}*{TARIFF}",
        lambda known: _kwh(known) * known["assumed"]["electricity_usd_per_kwh"],
    ),
    Answer(
        "batch_used",
        "Batch in use",
        "requests",
        "number",
        "{batch}",
        lambda known: known["batch"],
    ),
    Answer(
        "grade", "Grade", "", "grade", "{evidence_grade}", lambda known: known["evidence_grade"]
    ),
    Answer(
        "optimum",
        "Output of least energy a token",
        "tokens",
        "number",
        'IF(COUNT({all_optimum_output_tokens})=0,"the longer the better",'
        "GEOMEAN({all_optimum_output_tokens}))",
        lambda known: (
            geometric_mean(numbers)
            if (numbers := [n for n in known["all_optimum_output_tokens"] if n != ""])
            else "the longer the better"
        ),
    ),
)


def answer_formula(answer: Answer, which: str = "") -> str:
    """Return the formula of a line's value, or of the low or high end of its range."""
    if answer.name in ("batch_used", "list_cost"):
        return answer.formula
    if not which:
        return fitting(answer.formula)
    ratio = f"gpu_energy_{which}_j"
    if answer.name == "gpu_energy":
        return fitting(f"{{{ratio}}}")
    return fitting(f"{answer.formula}*{{electricity_{which}_ratio}}")


def answer_end(answer: Answer, which: str, known: Values) -> Any:  # noqa: ANN401
    """Return the value of the low or high end of a line's range."""
    if answer.name == "gpu_energy":
        return known[f"gpu_energy_{which}_j"]
    return answer.value(known) * known[f"electricity_{which}_ratio"]
