"""Where the energy goes: reading the prompt, the KV cache, the next token."""

import polars as pl

from pipeline.laws.facility import J_PER_KWH
from pipeline.report.numbers import show
from pipeline.report.section import Bars, Column, Section, Table, Value
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

TERMS = (("Prefill", "prefill"), ("KV cache", "kv_cache"), ("Next token", "next_token"))

_ENERGY_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    c.REQUESTS,
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    c.BATCH,
    c.GRADE,
    Column("prefill_frac", "Prefill", "frac", meaning="Share of the energy: reading the prompt."),
    Column("kv_cache_frac", "KV cache", "frac", meaning="Share: re-reading the context."),
    Column("next_token_frac", "Next token", "frac", meaning="Share: weights and launch per token."),
    Column(
        "energy_j_per_output_token",
        "GPU energy per output token",
        "j",
        "J",
        meaning="GPU energy of the line over its output tokens.",
        unknown="unmeasured",
    ),
    Column(
        "request_energy_p50_j", "Median request", "j", "J", meaning="Half the requests use less."
    ),
    Column("request_energy_p90_j", "90 % request", "j", "J", meaning="Nine of ten use less."),
    c.CARBON,
)
_LAW_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("hosting_kind", "Hosting", "text", meaning="api, self_hosted or one_user."),
    Column(
        "architecture_class", "Architecture", "text", meaning="dense, moe, mla, window, hybrid."
    ),
    Column(
        "stand_in_tier", "Stand-in", "text", meaning="Tier of open models a closed one is read by."
    ),
    Column("gpu", "GPU", "text", meaning="GPU the coefficients belong to."),
    Column("gpu_count", "GPUs", "count", meaning="Least power of two that holds the weights."),
    Column("stack", "Stack", "text", meaning="Serving software the coefficients belong to."),
    c.COEFFICIENTS,
    c.BATCH,
    Column("batch_source", "Batch from", "text", meaning="Log, settings or assumption."),
    Column("batch_max", "Batch cap", "number", meaning="Batch at which the KV cache is full."),
    Column("prefill_energy_j", "Prefill", "j", "J", "Law: FLOP of the prompt."),
    Column("kv_cache_energy_j", "KV cache", "j", "J", "Law: KV bytes and attention FLOP."),
    Column("next_token_energy_j", "Next token", "j", "J", "Law: FLOP, weight bytes, layer steps."),
    Column("energy_j", "Law in all", "j", "J", "Sum of the three terms."),
    Column("bias_factor", "Bias factor", "ratio", meaning="Measured over law, by architecture."),
    Column("gpu_energy_j", "GPU energy", "j", "J", "Law times bias factor.", "unmeasured"),
    Column("energy_low_j", "GPU energy, low", "j", "J", "Low end (5 %)."),
    Column("energy_high_j", "GPU energy, high", "j", "J", "High end (95 %)."),
    c.GRADE,
    c.UNMEASURED,
)
_ENERGY_SUMS = (
    "request_count",
    "facility_energy_kwh",
    "carbon_kgco2e",
)
_LAW_SUMS = (
    "prefill_energy_j",
    "kv_cache_energy_j",
    "next_token_energy_j",
    "energy_j",
    "gpu_energy_j",
    "unmeasured_request_count",
)


def section(mart: pl.DataFrame, totals: pl.DataFrame) -> Section:
    """Return the energy by class and term from one month of its mart and of mart_month_total."""
    in_kg = mart.with_columns(r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e"))
    ordered = r.sorted_by(
        in_kg, "facility_energy_kwh", "gpu_energy_j", "provider", "model_id", "query_class"
    )
    is_empty = ordered.is_empty()
    known = r.not_additive(totals)
    return Section(
        name="energy",
        title="Energy",
        sheet="Energy",
        question="Where does the energy go: the prompt, the KV cache or the next token?",
        statements=_statements(ordered),
        tables=() if is_empty else (_energy_table(ordered, known), _law_table(ordered, known)),
        figures=_figures(ordered),
        empty_reason="No accepted request falls in this month." if is_empty else "",
    )


def _energy_table(mart: pl.DataFrame, known: dict[str, Value]) -> Table:
    return Table(
        "energy_per_class",
        "Electricity by model and class, with its three terms",
        _ENERGY_COLUMNS,
        r.table_rows(mart, _ENERGY_COLUMNS),
        r.total_row(mart, _ENERGY_COLUMNS, _ENERGY_SUMS, known),
        "Estimates, largest first. The three shares are those of the GPU energy. "
        "The total's range is that of the joint draws of all lines, not the sum of their ends.",
    )


def _law_table(mart: pl.DataFrame, known: dict[str, Value]) -> Table:
    return Table(
        "energy_law",
        "How each energy was computed",
        _LAW_COLUMNS,
        r.table_rows(mart, _LAW_COLUMNS),
        r.total_row(mart, _LAW_COLUMNS, _LAW_SUMS, known),
        f"Unmeasured requests: {r.count_sum(mart, 'unmeasured_request_count'):,} of "
        f"{r.count_sum(mart, 'request_count'):,}.",
        sheet="Energy_law",
    )


def _term_joules(mart: pl.DataFrame, term: str) -> pl.Series:
    """Return a term with the bias factor, so that the three terms add up to the GPU energy."""
    joules, bias = (pl.col(name).cast(pl.Float64) for name in (f"{term}_energy_j", "bias_factor"))
    return mart.select((joules * bias).alias(term)).to_series()


def _statements(mart: pl.DataFrame) -> tuple[str, ...]:
    sums = [(name, r.known_sum(_term_joules(mart, t).to_frame(), t)) for name, t in TERMS]
    total = sum(float(value) for _, value in sums if value is not None)
    if not total:
        return ()
    parts = [f"{name.lower()} {show(r.share(value, total), 'frac')}" for name, value in sums]
    parts[1] = parts[1].replace("kv cache", "KV cache")
    grade = r.overall_grade(mart, "gpu_energy_j")
    return (
        f"Of the GPU energy: {', '.join(parts)}.",
        f"Batch {r.spread_text(mart, 'batch')}; worst material grade {grade}; "
        f"coefficients {show(r.words(mart, 'coefficient_set_id'), 'text')}.",
    )


def _figures(mart: pl.DataFrame) -> tuple[Bars, ...]:
    measured = r.sorted_by(
        mart.filter(pl.col("gpu_energy_j") > 0),
        "gpu_energy_j",
        "provider",
        "model_id",
        "query_class",
    ).head(r.BARS_SHOWN)
    if measured.is_empty():
        return ()
    labels = r.line_labels(measured)
    series = tuple((name, _kwh(_term_joules(measured, term))) for name, term in TERMS)
    return (
        Bars(
            name="energy_by_term",
            title=r.figure_title("GPU energy by model, class and term", measured, mart),
            unit="kWh",
            source="Source: mart_energy_per_class, terms × bias factor",
            alt=_alt(labels, measured),
            labels=labels,
            kind="kwh",
            series=series,
            lows=_kwh(measured["energy_low_j"]),
            highs=_kwh(measured["energy_high_j"]),
        ),
    )


def _kwh(joules: pl.Series) -> tuple[float | None, ...]:
    return tuple(None if j is None else float(j) / J_PER_KWH for j in joules.to_list())


def _alt(labels: tuple[str, ...], measured: pl.DataFrame) -> str:
    largest = show(_kwh(measured["gpu_energy_j"])[0], "kwh")
    low, high = (show(_kwh(measured[f"energy_{end}_j"])[0], "kwh") for end in ("low", "high"))
    return (
        "Stacked bar chart of GPU energy by model and class, split into prefill, KV cache and "
        f"next token. The longest bar is {labels[0]} with {largest} kWh ({low} – {high})."
    )
