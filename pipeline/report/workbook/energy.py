"""The data sheet of energy: each month, provider, model and class, with its rates and its cost.

A closed model takes the geometric mean of its stand-ins in Data_Work. Ranges keep their ratio to
the value, as the run found it, so each line says whether it still is what the run computed; so do
the energies of single requests.
"""

import polars as pl

from pipeline.report.language import ENGLISH, Language
from pipeline.report.section import Kind
from pipeline.report.workbook.data import GROUP, BookData, Numbers
from pipeline.report.workbook.facility import CARBON_PER_KWH, FACILITY_FORMULA, TARIFF
from pipeline.report.workbook.table import DataColumn, DataTable, fact_column, number_format
from pipeline.report.workbook.usage import MOMENTS, RATE_SOURCES, rate_source
from pipeline.report.workbook.work import TERMS


def energy_table(data: BookData, numbers: Numbers, language: Language = ENGLISH) -> DataTable:
    """Return energies, costs and rates by month, provider, model and class.

    Whose draws a range rests on is looked up by other sheets, so it is said in the language.
    """
    frame = _with_rates(_energy_frame(data, numbers), data).with_columns(
        pl.col("range_of").replace(RUN, language.text(RUN))
    )
    with_work = set(data.frame("work").select(GROUP).rows())
    has_work = [key in with_work for key in frame.select(GROUP).rows()]
    columns = [
        fact_column(
            frame,
            name,
            meaning,
            _WORDS.get(name, "unmeasured"),
            is_input=name == "batch_told",
        )
        for name, meaning in _ENERGY_FACTS.items()
    ]
    for name, (english, meaning) in _energy_formulas().items():
        formula = language.words(english, RANGE_WORDS) if name == "range_of" else english
        needs_work = name not in _WITHOUT_WORK
        columns.append(
            DataColumn(
                name,
                _kind(name),
                meaning,
                frame.get_column(name).to_list(),
                formula,
                has_work.__getitem__ if needs_work else None,
                "unpriced" if "_usd" in name else "unmeasured",
                number_format="" if name.endswith("_count") else number_format(name),
            )
        )
    return DataTable(
        "d_energy",
        "Data_Energy",
        "What did each model and class of each month take in energy and money, and by which rates?",
        tuple(columns),
    )


# Whose draws a range rests on: the run's; the run's, times what PUE, host or idle are now; or none,
# since batch, coefficients or bias factors moved, which draws would follow each in its own way.
RUN, SCALED, INPUTS_MOVED = "run", "run, scaled", "≠ inputs moved"
RANGE_WORDS = (RUN, SCALED, INPUTS_MOVED)
_AVERAGED = (*TERMS, *dict.fromkeys(rate_source(rate) for _, rate in MOMENTS))
_WORDS = {
    "batch_told": "assumed",
    "priced_task_count": "unpriced",
    "priced_solved_task_count": "unpriced",
}
_WITHOUT_WORK = {
    *("cost_usd", "list_cost_usd", "billed_cost_usd", "cost_usd_per_task"),
    *("cost_usd_per_task", "cost_usd_per_solved_task", "facility_energy_kwh", "carbon_gco2e"),
    *("facility_energy_low_kwh", "facility_energy_high_kwh", "energy_cost_usd"),
    *("energy_low_j", "energy_high_j", "energy_j_per_task", "energy_j_per_solved_task"),
    *("carbon_gco2e_per_task", "energy_j_per_output_token"),
    *("cost_moved", "energy_moved", "range_of"),
}
_ENERGY_FACTS = {
    "group_no": "Number of the month, provider, model and class.",
    "month_start": "First day of the month.",
    "provider": "Who served the requests.",
    "model_id": "Model.",
    "query_class": "Class of work.",
    "model_no": "Number of the model in this workbook.",
    "class_no": "Number of the class in this workbook.",
    "offer_no": "Number of the month, provider and model.",
    "hosting_kind": "api, self_hosted or one_user.",
    "evidence_grade": "Grade of the run; it does not follow inputs.",
    "method_version": "Method that the figures were computed by.",
    "request_count": "Requests.",
    "unpriced_request_count": "Requests without a price.",
    "unmeasured_request_count": "Requests without an energy.",
    "measurable_request_count": "Requests with known lengths.",
    "task_count": "Tasks.",
    "solved_task_count": "Tasks the log marks as solved.",
    "priced_task_count": "Tasks that divide the cost: those whose requests have a price.",
    "priced_solved_task_count": "Solved tasks that divide the cost.",
    "output_tokens": "Output tokens of measurable requests.",
    "batch_source": "Where the batch comes from.",
    "batch_told": "Batch that is told, which wins over the assumption; a blue number is yours.",
    "batch_max": "Batch at which the KV cache is full.",
    **{moment: "Moment, see Data_Usage." for moment, _ in MOMENTS},
    "energy_low_ratio": "Low end of the GPU energy over its value, in the run.",
    "energy_high_ratio": "High end of the GPU energy over its value, in the run.",
    "facility_low_ratio": "Low end of the electricity over its value, in the run.",
    "facility_high_ratio": "High end of the electricity over its value, in the run.",
    "p50_ratio": "Median request over the line's GPU energy, in the run.",
    "p90_ratio": "90 % request over the line's GPU energy, in the run.",
    "run_gpu_energy_j": "Energy of the GPU boards, as the run computed it.",
    "run_cost_usd": "Cost that counts, as the run computed it.",
}


def _kind(name: str) -> Kind:
    if name == "range_of":
        return "text"
    if name.endswith("cost_usd"):
        return "usd"
    return "count" if name.endswith("_count") else "number"


def _energy_formulas() -> dict[str, tuple[str, str]]:
    """Return for every computed column of Data_Energy its formula and its meaning."""
    term_means = "+".join(f"{{mean_{name}}}" for name in TERMS)
    terms = {
        name: (
            f"{{mean_{name}}}*{{energy_j}}/({term_means})",
            "Term of the law; a closed model's terms are scaled to their sum.",
        )
        for name in TERMS
    }
    means = {
        f"mean_{name}": (mean_of_stand_ins(name), "Mean of the stand-ins, before scaling.")
        for name in _AVERAGED
    }
    priced = "+".join(f"{{{m}}}*{{mean_{rate_source(rate)}}}" for m, rate in MOMENTS)
    rates = {
        rate: (
            f"{{rate_scale_ratio}}*{{mean_{rate_source(rate)}}}",
            "Joules of one such moment: teams and days share out exactly the line's energy.",
        )
        for _, rate in MOMENTS
    }
    measured = "{measurable_request_count}/{request_count}"
    return {
        "architecture_count": (
            "COUNTIFS(d_work[group_no],{group_no})",
            "Architectures behind the line: 1, or a closed model's stand-ins.",
        ),
        "batch_wanted": (
            'IF(ISNUMBER({batch_told}),{batch_told},INDEX(t_assumptions[Value],MATCH("batch_"&'
            "{hosting_kind},t_assumptions[Assumption],0)))",
            "Batch told, else the assumption for this kind of hosting.",
        ),
        "batch": ("MIN({batch_wanted},{batch_max})", "Batch in use: never above the cap."),
        "energy_j": (mean_of_stand_ins("energy_j"), "Law in all."),
        **terms,
        "gpu_energy_j": (mean_of_stand_ins("gpu_energy_j"), "Energy of the GPU boards."),
        "bias_factor": (mean_of_stand_ins("bias_factor"), "Measured over law."),
        "energy_low_j": ("{gpu_energy_j}*{energy_low_ratio}", "Low end (5 %)."),
        "energy_high_j": ("{gpu_energy_j}*{energy_high_ratio}", "High end (95 %)."),
        "facility_energy_kwh": (FACILITY_FORMULA, "Electricity: with host, idle and cooling."),
        "facility_energy_low_kwh": ("{facility_energy_kwh}*{facility_low_ratio}", "Low end."),
        "facility_energy_high_kwh": ("{facility_energy_kwh}*{facility_high_ratio}", "High end."),
        "range_of": (
            range_of("{energy_moved}"),
            "Whose draws the ends rest on: those of the run, or inputs were moved since.",
        ),
        "carbon_gco2e": (f"{{facility_energy_kwh}}*{CARBON_PER_KWH}", "Electricity × grid factor."),
        "energy_cost_usd": (
            f"ROUND({{facility_energy_kwh}}*{TARIFF},usd_decimals)",
            "Electricity at the assumed tariff; a memo line, in no total.",
        ),
        "cost_usd": (_of_costs("cost_usd"), "Cost that counts."),
        "list_cost_usd": (_of_costs("list_cost_usd"), "Tokens at list price."),
        "billed_cost_usd": (_of_costs("billed_cost_usd"), "Cost as billed."),
        "cost_usd_per_task": ("{cost_usd}/{priced_task_count}", "Cost over the priced tasks."),
        "cost_usd_per_solved_task": (
            "{cost_usd}/{priced_solved_task_count}",
            "Cost over the priced share of the solved tasks.",
        ),
        "energy_j_per_task": (f"{{gpu_energy_j}}/({{task_count}}*{measured})", "Over the tasks."),
        "energy_j_per_solved_task": (
            f"{{gpu_energy_j}}/({{solved_task_count}}*{measured})",
            "Over the solved tasks.",
        ),
        "carbon_gco2e_per_task": (
            f"{{carbon_gco2e}}/({{task_count}}*{measured})",
            "Over the tasks.",
        ),
        "energy_j_per_output_token": ("{gpu_energy_j}/{passes}", "Over the output tokens."),
        "prefill_frac": ("{prefill_energy_j}/{energy_j}", "Share of the prompt."),
        "kv_cache_frac": ("{kv_cache_energy_j}/{energy_j}", "Share of the KV cache."),
        "next_token_frac": ("{next_token_energy_j}/{energy_j}", "Share of the next token."),
        "request_energy_p50_j": ("{gpu_energy_j}*{p50_ratio}", "Median request."),
        "request_energy_p90_j": ("{gpu_energy_j}*{p90_ratio}", "90 % request."),
        "energy_moved": (_moved("gpu_energy_j"), "1 where the energy is no more that of the run."),
        "cost_moved": (_moved("cost_usd"), "1 where the cost is no more that of the run."),
        **means,
        "rate_scale_ratio": (f"{{gpu_energy_j}}/({priced})", "Makes the rates add up to the line."),
        **rates,
    }


def mean_of_stand_ins(column: str) -> str:
    """Return the geometric mean of a column of Data_Work over a line's rows, 0 if one is 0."""
    rows, values = "d_work[group_no]", f"d_work[{column}]"
    is_positive = f'(COUNTIFS({rows},{{group_no}},{values},"<=0")=0)'
    logs = f"SUMPRODUCT(({rows}={{group_no}})*LN({values}+({values}<=0)))"
    return (
        f"IF({{architecture_count}}=1,SUMIFS({values},{rows},{{group_no}}),"
        f"{is_positive}*EXP({logs}/{{architecture_count}}))"
    )


def range_of(energy_moved: str) -> str:
    """Return whose draws a range rests on, as a formula over the count of moved energies."""
    return f'IF({energy_moved}>0,"{INPUTS_MOVED}",IF(moved_buildings>0,"{SCALED}","{RUN}"))'


def _moved(name: str) -> str:
    """Return 1 where a figure differs from the run's by more than a rounding of numbers."""
    run = f"{{run_{name}}}"
    return f"IF(ABS({{{name}}}-{run})>ABS({run})*least_change_frac,1,0)"


def _of_costs(name: str) -> str:
    return f"SUMIFS(d_cost[{name}],d_cost[group_no],{{group_no}})"


def _energy_frame(data: BookData, numbers: Numbers) -> pl.DataFrame:
    frame = data.frame("groups")
    assumed = pl.col("batch_source").str.starts_with("assumed")
    wanted = data.frame("assumptions").select(
        pl.col("assumption").str.strip_prefix("batch_").alias("hosting_kind"),
        pl.col("value").alias("batch_assumed"),
    )
    frame = frame.join(wanted, on="hosting_kind", how="left", maintain_order="left")
    keys = frame.select(GROUP).rows()
    return frame.with_columns(
        pl.Series("group_no", [numbers.groups[key] for key in keys]),
        pl.Series("model_no", [numbers.models[key[2]] for key in keys]),
        pl.Series("class_no", [numbers.classes[key[3]] for key in keys]),
        pl.Series("offer_no", [numbers.offers[key[:3]] for key in keys]),
        pl.when(~assumed).then("batch").alias("batch_told"),
        pl.when(pl.col("batch").is_not_null())
        .then(pl.when(assumed).then("batch_assumed").otherwise("batch"))
        .alias("batch_wanted"),
        _over("energy_low_j", "gpu_energy_j").alias("energy_low_ratio"),
        _over("energy_high_j", "gpu_energy_j").alias("energy_high_ratio"),
        _over("facility_energy_low_kwh", "facility_energy_kwh").alias("facility_low_ratio"),
        _over("facility_energy_high_kwh", "facility_energy_kwh").alias("facility_high_ratio"),
        _over("request_energy_p50_j", "gpu_energy_j").alias("p50_ratio"),
        _over("request_energy_p90_j", "gpu_energy_j").alias("p90_ratio"),
        _over("cost_usd", "cost_usd_per_task").alias("priced_task_count"),
        _over("cost_usd", "cost_usd_per_solved_task").alias("priced_solved_task_count"),
        pl.col("gpu_energy_j").alias("run_gpu_energy_j"),
        pl.col("cost_usd").cast(pl.Float64).alias("run_cost_usd"),
        pl.when(pl.col("gpu_energy_j").is_not_null()).then(0).alias("energy_moved"),
        pl.when(pl.col("cost_usd").is_not_null()).then(0).alias("cost_moved"),
        pl.when(pl.col("gpu_energy_j").is_not_null()).then(pl.lit(RUN)).alias("range_of"),
    ).sort("group_no")


def _over(part: str, whole: str) -> pl.Expr:
    """Return a ratio, 1 where both are nothing."""
    quotient = pl.col(part).cast(pl.Float64) / pl.col(whole).cast(pl.Float64)
    some = pl.when(pl.col(whole) == 0).then(1.0).otherwise(quotient)
    return pl.when(pl.col(whole).is_not_null() & pl.col(part).is_not_null()).then(some)


def _with_rates(frame: pl.DataFrame, data: BookData) -> pl.DataFrame:
    """Add what stands between the stand-ins' rows and the line's figures."""
    averages = [
        pl.when(pl.col(name).min() <= 0)
        .then(0.0)
        .otherwise(pl.col(name).log().mean().exp())
        .alias(f"mean_{name}")
        for name in _AVERAGED
    ]
    count = pl.len().cast(pl.Int64).alias("architecture_count")
    means = data.frame("work").group_by(GROUP).agg(*averages, count)
    joined = frame.join(means, on=GROUP, how="left", nulls_equal=True, maintain_order="left")
    priced = sum((pl.col(m) * pl.col(f"mean_{rate_source(r)}") for m, r in MOMENTS), pl.lit(0.0))
    return joined.with_columns(
        (pl.col("gpu_energy_j") / priced).alias("rate_scale_ratio"),
        *(pl.col(s).alias(rate) for rate, s in RATE_SOURCES.items()),
    )


LIVE_COLUMNS = frozenset(_energy_formulas())  # what other sheets may look up here
