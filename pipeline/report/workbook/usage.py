"""The columns of the data sheets of usage and cost: their order, words, kinds and formulas."""

import polars as pl

from pipeline.report.section import Kind
from pipeline.report.workbook.facility import FACILITY_FORMULA, TARIFF
from pipeline.report.workbook.table import DataColumn

TOKEN_KINDS = (
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
)
PRICES = (
    "uncached_input_usd_per_mtok",
    "cache_read_usd_per_mtok",
    "cache_write_5m_usd_per_mtok",
    "cache_write_1h_usd_per_mtok",
    "output_usd_per_mtok",
)
# A token moment, and the rate in joules that prices it: both blocks stand in this order.
MOMENTS = (
    ("prefilled_tokens", "energy_j_per_prefilled_token"),
    ("prefill_pairs", "energy_j_per_prefill_pair"),
    ("prompts", "energy_j_per_prompt"),
    ("cache_positions", "energy_j_per_cache_position"),
    ("decode_pairs", "energy_j_per_decode_pair"),
    ("decode_steps", "energy_j_per_decode_step"),
    ("passes", "energy_j_per_pass"),
)
RATE_SOURCES = {
    "energy_j_per_prefill_pair": "energy_j_per_pair",
    "energy_j_per_decode_pair": "energy_j_per_pair",
}
ENERGY_FORMULA = (
    f"SUMPRODUCT({{{MOMENTS[0][0]}}}:{{{MOMENTS[-1][0]}}},"
    f"INDEX(d_energy[[{MOMENTS[0][1]}]:[{MOMENTS[-1][1]}]],"
    "MATCH({group_no},d_energy[group_no],0),0))"
)
BESIDE_BILL = "electricity_beside_bill_frac"
_WORDS = {
    "team": "unattributed",
    "provider": "not stated",
    "price_band_id": "no price",
    "list_cost_usd": "unpriced",
    "billed_cost_usd": "not in log",
    "cost_usd": "unpriced",
    "cost_source": "none",
    "committed_cost_usd": "no commitment",
    "hosting_cost_usd": "no GPU bill",
    BESIDE_BILL: "none apart",
    "hosting_energy_cost_usd": "none apart",
    "gpu_energy_j": "unmeasured",
}
_STORED = ("billed", "committed", "hosting")  # costs that are told, not priced
_KINDS: dict[str, Kind] = {
    "day": "date",
    "month_start": "date",
    "price_band_id": "count",
    "valid_from": "date",
    "valid_to": "date",
}
MEANINGS = {
    "month_start": "First day of the month of the report's zone.",
    "day": "Day in the report's zone.",
    "group_no": "Number of the month, provider, model and class; the line of Data_Energy.",
    "model_no": "Number of the model in this workbook.",
    "class_no": "Number of the class of work in this workbook.",
    "team_no": "Number of the team in this workbook; 0 is the line of all small teams.",
    "price_band_id": "Line of Prices that these tokens are priced by.",
    "has_contract": "Is one of these prices a company's own, by contract?",
    "utc_weekday_from": "Weekday (UTC, Monday is 1) from which the prices hold.",
    "utc_weekday_to": "Weekday (UTC, Sunday is 7) before which the prices hold.",
    "utc_minute_from": "Minute of the UTC day from which the prices hold.",
    "utc_minute_to": "Minute of the UTC day before which the prices hold.",
    "is_dearest_of_day": "Are these the dearest prices of the day, which price sums of a day?",
    "is_dearest_of_week": "Are these the dearest of the week, which price sums of more than a day?",
    "valid_from": "Moment from which the prices hold.",
    "valid_to": "Moment before which the prices hold.",
    "input_tokens_from": "Length of a prompt from which the prices hold.",
    "input_tokens_to": "Length of a prompt below which the prices hold.",
    **dict.fromkeys(PRICES, "List price; change it to try another."),
    **{
        f"contracted_{name}": "Price by contract; without one it is the list price beside it."
        for name in PRICES
    },
    "is_listed": "Do these tokens have a list price?",
    "is_billed": "Does the log carry what the provider billed?",
    "request_count": "Requests.",
    "measurable_request_count": "Requests with known lengths, which therefore have an energy.",
    "unpriced_request_count": "Requests without a price; their cost is in no sum.",
    "input_tokens": "Input tokens, cached ones included.",
    "uncached_input_tokens": "Input tokens neither read from nor written to a cache.",
    "cache_read_tokens": "Input tokens read from a prompt cache.",
    "cache_write_5m_tokens": "Input tokens written to a cache of five minutes.",
    "cache_write_1h_tokens": "Input tokens written to a cache of one hour.",
    "output_tokens": "Output tokens, reasoning included.",
    "prefilled_tokens": "Moment: tokens that ran through the prefill pass.",
    "prefill_pairs": "Moment: pairs of a new and a context token in the prefill pass.",
    "prompts": "Moment: requests with a prompt.",
    "cache_positions": "Moment: cache positions read over all passes.",
    "decode_pairs": "Moment: pairs of a new and a context token in the decode passes.",
    "decode_steps": "Moment: decode passes.",
    "passes": "Moment: passes, one an output token.",
    "list_cost_usd": "Tokens at the prices of their line of Prices.",
    "billed_cost_usd": "Cost as billed, where the log carries it.",
    "contracted_cost_usd": "Tokens at the contracted prices of their line of Prices.",
    "committed_cost_usd": "Share of a commitment that covers these tokens; its bill stays.",
    "effective_cost_usd": "The share of a commitment where there is one, else contracted.",
    "hosting_cost_usd": "Share of the GPU bill of own servers.",
    BESIDE_BILL: "Part of the electricity that the GPU bill leaves out: 1 but for rounding.",
    "hosting_energy_cost_usd": "Electricity that the GPU bill leaves out, at the tariff.",
    "no_gpu_bill_request_count": "Requests of own servers without a GPU bill; in no cost.",
    "cost_usd": "The cost that counts, by its source.",
    "cost_source": "Which of the costs counts.",
    "gpu_energy_j": "Moments times the rates of their line of Data_Energy.",
}


def rate_source(rate: str) -> str:
    """Return the pipeline's rate behind a column of rates: both pairs have one rate."""
    return RATE_SOURCES.get(rate, rate)


def usage_columns(frame: pl.DataFrame) -> tuple[DataColumn, ...]:
    """Return a frame's columns: what a row is, its numbers, counts, tokens, moments, figures."""
    numbers = [name for name in frame.columns if name.endswith("_no")]
    stored = [f"{each}_cost_usd" for each in _STORED] if "cost_source" in frame.columns else []
    last = [name for name in frame.columns if name.endswith(("_usd", "_source", "_j", "_frac"))]
    moments = [name for name, _ in MOMENTS]
    words = [
        "month_start",
        "day",
        "provider",
        "model_id",
        "query_class",
        "team",
        "is_listed",
        "is_billed",
    ]
    tokens = ["input_tokens", *TOKEN_KINDS]
    first = [name for name in words if name in frame.columns]
    known = {*first, *numbers, *last, *moments, *tokens, "price_band_id"}
    counts = [name for name in frame.columns if name not in known]
    order = [*first, *numbers, "price_band_id", *counts, *tokens, *moments, *last]
    return tuple(_column(frame, name, is_input=name in stored) for name in order)


def _column(frame: pl.DataFrame, name: str, *, is_input: bool) -> DataColumn:
    values = frame.get_column(name).to_list()
    return DataColumn(
        name,
        kind_of(name, frame),
        MEANINGS.get(name, f"{name.replace('_', ' ').capitalize()}."),
        values,
        _formula(frame, name),
        unknown=_WORDS.get(name, "unpriced" if name.endswith("_cost_usd") else "unknown"),
        is_input=is_input,
    )


def _formula(frame: pl.DataFrame, name: str) -> str:
    if name == "list_cost_usd":
        return cost_formula("")
    if name == "contracted_cost_usd":
        return cost_formula("contracted_")
    if name == "effective_cost_usd" and "committed_cost_usd" in frame.columns:
        committed, contracted = "{committed_cost_usd}", "{contracted_cost_usd}"
        return f"IF(ISNUMBER({committed}),{committed},{contracted})"
    if name == "gpu_energy_j":
        return ENERGY_FORMULA
    if name == "hosting_energy_cost_usd" and BESIDE_BILL in frame.columns:
        return f"{{{BESIDE_BILL}}}*{FACILITY_FORMULA}*{TARIFF}"
    return _cost_formula(frame) if name == "cost_usd" else ""


def cost_formula(which: str) -> str:
    """Return tokens times the prices of their line: of the list, or `contracted_` ones."""
    return (
        f"SUMPRODUCT({{{TOKEN_KINDS[0]}}}:{{{TOKEN_KINDS[-1]}}},"
        f"INDEX(d_price[[{which}{PRICES[0]}]:[{which}{PRICES[-1]}]],"
        "MATCH({price_band_id},d_price[price_band_id],0),0))/tokens_per_mtok"
    )


def _cost_formula(frame: pl.DataFrame) -> str:
    """Pick the cost that the source names, among the costs that the rows have.

    Without contract the effective cost is the list cost, so a contracted price may be tried out.
    """
    named = set(frame.get_column("cost_source").drop_nulls().to_list())
    sources = [s for s in ("list", "billed", "effective", "hosting") if s in named] or ["list"]
    formula = _cost_of(sources[-1], frame)
    for source in reversed(sources[:-1]):
        formula = f'IF({{cost_source}}="{source}",{_cost_of(source, frame)},{formula})'
    return formula


def _cost_of(source: str, frame: pl.DataFrame) -> str:
    beside = "hosting_energy_cost_usd"
    if source == "list" and "effective_cost_usd" in frame.columns:
        return "{effective_cost_usd}"
    if source == "hosting" and beside in frame.columns:
        return f"SUM({{hosting_cost_usd}},{{{beside}}})"
    return f"{{{source}_cost_usd}}"


def kind_of(name: str, frame: pl.DataFrame) -> Kind:
    """Return how a column of usage is shown, by its name and type."""
    if name in _KINDS:
        return _KINDS[name]
    if name.endswith("_usd"):
        return "usd"
    if name.endswith("_j"):
        return "j"
    if name.endswith("_frac"):
        return "number"
    return "count" if frame.schema[name].is_numeric() else "text"
