"""What the batch does to the energy: at the one in force, at others, and the one prices imply."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Lines, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import cost_per_kwh
from pipeline.report.sections import reading as r
from pipeline.report.sections.decisions import SURE_FRAC

LINES_SHOWN = 7
_SAVED = ("saving_frac", "saving_positive_frac")
WH_PER_KWH = 1_000

_KEYS = ("provider", "model_id", "query_class")
_SOURCE = Column(
    "batch_source",
    "Batch from",
    "text",
    meaning="The log, what was told, or an assumption for who hosts.",
)
_CAP = Column("batch_max", "Batch cap", "number", meaning="Batch at which the KV cache is full.")
_SURE = Column(
    "saving_positive_frac",
    "Draws that save",
    "frac",
    meaning="Share of the joint draws in which it saves; below 90% it is within noise.",
)
_LINE_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("request_count", "Requests", "count", meaning="Requests that had work to do."),
    c.BATCH,
    _SOURCE,
    _CAP,
    c.GRADE,
    Column(
        "energy_j_per_request",
        "GPU energy per request",
        "j",
        "J",
        meaning="At the batch of this line.",
    ),
    Column("low_j_per_request", "Low", "j", "J", meaning="Low end (5 %) of it."),
    Column("high_j_per_request", "High", "j", "J", meaning="High end (95 %) of it."),
    Column("alone_j_per_request", "At batch 1", "j", "J", meaning="Were each request alone."),
    Column(
        "most_batch",
        "Largest batch asked",
        "number",
        meaning="Largest power of two that the cache holds, up to 256; or the batch in force.",
    ),
    Column("most_j_per_request", "At that batch", "j", "J", meaning="GPU energy per request."),
    Column(
        "saving_frac",
        "It would save",
        "frac",
        meaning="Share of the GPU energy of this line that the largest batch asked would save.",
    ),
    _SURE,
    Column("verdict", "Verdict", "text", meaning="What the numbers allow to say.", unknown=""),
)
_BATCH_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("batch", "Batch", "number", meaning="Requests served together."),
    Column(
        "is_effective", "In force", "text", meaning="Yes: the batch under which it is reported."
    ),
    c.GRADE,
    Column("energy_j_per_request", "GPU energy per request", "j", "J", "Law times bias factor."),
    Column("energy_j_per_output_token", "Per output token", "j", "J", "The same by output token."),
    Column("electricity_wh_per_request", "Electricity per request", "wh", "Wh", "At the facility."),
    Column("gpu_energy_j", "GPU energy", "j", "J", "Of all requests of the line."),
    Column("energy_low_j", "GPU energy, low", "j", "J", "Low end (5 %)."),
    Column("energy_high_j", "GPU energy, high", "j", "J", "High end (95 %)."),
    Column("saving_frac", "Saves", "frac", meaning="Of the GPU energy at the batch in force."),
    _SURE,
)
_IMPLIED_COLUMNS = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    c.BATCH,
    _SOURCE,
    Column(
        "implied_batch",
        "Batch implied by prices",
        "number",
        meaning="Where one more output token takes as much more energy than one more input token "
        "as it costs more money.",
        unknown="none",
    ),
    Column("implied_batch_low", "Implied, low", "number", meaning="Low end (5 %).", unknown="none"),
    Column(
        "implied_batch_high",
        "Implied, high",
        "number",
        meaning="High end (95 %); none where in one world of twenty no batch is large enough.",
        unknown="none",
    ),
    _CAP,
    Column("uncached_input_usd_per_mtok", "Input price", "usd_small", "USD/Mtok", "List price."),
    Column("output_usd_per_mtok", "Output price", "usd_small", "USD/Mtok", "List price."),
    Column("price_ratio", "Output over input", "ratio", meaning="Ratio of the two prices."),
    Column("reason", "Why none", "text", meaning="Why the prices imply no batch.", unknown=""),
    c.GRADE,
)


def section(concurrency: pl.DataFrame, implied: pl.DataFrame) -> Section:
    """Return the batches of one month.

    Args:
        concurrency: mart_concurrency of the month.
        implied: mart_implied_batch of the month.
    """
    lines = _lines(concurrency)
    sold = implied.filter(pl.col("hosting_kind") != "self_hosted")
    parted = cost_per_kwh.grouped(implied)
    by_batch = (_batch_table(concurrency),) if lines.height else ()
    return Section(
        name="concurrency",
        title="Batch",
        sheet="Batch",
        question="How many requests share a pass, how sure is that, and what would more save?",
        statements=(*_statements(lines, sold), *cost_per_kwh.statements(parted)),
        tables=(
            *((_line_table(lines),) if lines.height else ()),
            *((_implied_table(sold),) if sold.height else ()),
            *((cost_per_kwh.table(parted),) if parted.height else ()),
            *by_batch,
        ),
        figures=_figures(lines, concurrency),
        empty_reason=""
        if lines.height or sold.height
        else "No request has a batch: logs of models in the catalog would fill this. latency_s in "
        "the log of your own servers, or their Prometheus metrics, tell a batch of their own.",
    )


def _lines(mart: pl.DataFrame) -> pl.DataFrame:
    """Return one row a model and class: at its batch, alone, and at the largest batch asked."""
    ends = (
        mart.sort([*_KEYS, "batch"])
        .group_by(_KEYS, maintain_order=True)
        .agg(
            pl.col("energy_j_per_request").first().alias("alone_j_per_request"),
            pl.col("batch").last().alias("most_batch"),
            pl.col("energy_j_per_request").last().alias("most_j_per_request"),
            *(pl.col(name).last() for name in _SAVED),
        )
    )
    lines = mart.filter(pl.col("is_effective")).drop(_SAVED)
    lines = lines.join(ends, on=_KEYS, how="left", nulls_equal=True)
    with_ratios = lines.with_columns(
        r.ratio("energy_low_j", "request_count").alias("low_j_per_request"),
        r.ratio("energy_high_j", "request_count").alias("high_j_per_request"),
        pl.col("saving_frac").fill_null(0.0),  # the batch in force is the largest asked
        pl.when(pl.col("saving_positive_frac") >= SURE_FRAC)
        .then(pl.lit("saves"))
        .when(pl.col("saving_positive_frac").is_not_null())
        .then(pl.lit("within noise"))
        .alias("verdict"),
    )
    return r.sorted_by(with_ratios, "gpu_energy_j", *_KEYS)


def _line_table(lines: pl.DataFrame) -> Table:
    return Table(
        "concurrency",
        "Energy per request at the batch in force, alone, and at a larger batch",
        _LINE_COLUMNS,
        r.table_rows(lines, _LINE_COLUMNS),
        note="Largest energy first. A batch from logged latencies counts the time in which any "
        "request ran; waiting in a queue is in it where the log's latency holds it. At API "
        "providers the batch is an assumption, so a larger one is a what-if. A batch saves where "
        "enough requests wait together to fill it, and where the one in force is not larger.",
    )


def _batch_table(mart: pl.DataFrame) -> Table:
    shown = mart.with_columns(
        (pl.col("facility_energy_kwh_per_request").cast(pl.Float64) * WH_PER_KWH).alias(
            "electricity_wh_per_request"
        ),
        pl.when("is_effective").then(pl.lit("yes")).otherwise(pl.lit("")).alias("is_effective"),
    ).sort([*_KEYS, "batch"], nulls_last=True)
    return Table(
        "concurrency_by_batch",
        "Energy at every batch asked",
        _BATCH_COLUMNS,
        r.table_rows(shown, _BATCH_COLUMNS),
        note="The batch in force has the range of the report. Any other is taken as given, so its "
        "range is that of the grade alone.",
        sheet="Energy_by_batch",
    )


def _implied_table(sold: pl.DataFrame) -> Table:
    ordered = r.sorted_by(sold, "implied_batch", *_KEYS)
    return Table(
        "implied_batch",
        "The batch that list prices imply, beside the one in force",
        _IMPLIED_COLUMNS,
        r.table_rows(ordered, _IMPLIED_COLUMNS),
        note="Both energies are those of one more token at the mean request of the class. Prices "
        "follow markets as well as energy: a hint at the batch, no measurement.",
    )


def _statements(lines: pl.DataFrame, sold: pl.DataFrame) -> tuple[str, ...]:
    found = []
    energy = r.known_sum(lines, "gpu_energy_j") if lines.height else None
    if energy:
        parts = [
            (source, r.share(r.known_sum(group, "gpu_energy_j"), energy))
            for (source,), group in lines.sort("batch_source").group_by(
                "batch_source", maintain_order=True
            )
        ]
        found.append(
            "Of the GPU energy, by where its batch comes from: "
            + ", ".join(f"{show(source, 'text')} {show(part, 'frac')}" for source, part in parts)
            + "."
        )
    own = lines.filter(pl.col("hosting_kind") == "self_hosted")
    if own.height:
        label = r.line_labels(own.head(1))[0]
        names = ("batch", "most_batch", "saving_frac", "verdict")
        batch, most, saving, verdict = own.select(names).row(0)
        found.append(
            f"Largest on own servers: {label}, at batch {show(batch, 'number')}; at batch "
            f"{show(most, 'number')} a request would take {show(saving, 'frac')} less GPU energy."
            if verdict != "within noise"
            else f"Largest on own servers: {label}, at batch {show(batch, 'number')}; what batch "
            f"{show(most, 'number')} would save is within noise."
        )
    implied = sold.filter(pl.col("implied_batch").is_not_null())
    if implied.height:
        found.append(
            f"List prices imply batches of {r.spread_text(implied, 'implied_batch')} where the "
            f"report takes {r.spread_text(implied, 'batch')}; {sold.height - implied.height} of "
            f"{sold.height} lines of other hosts imply none."
        )
    return tuple(found)


def _figures(lines: pl.DataFrame, mart: pl.DataFrame) -> tuple[Lines, ...]:
    """Draw the largest lines of own servers; where there are none, those of other hosts."""
    own = lines.filter(pl.col("hosting_kind") == "self_hosted")
    asked = own if own.height else lines
    shown = asked.filter(pl.col("energy_j_per_request") > 0).head(LINES_SHOWN)
    if shown.is_empty():
        return ()
    subject = "GPU energy per request by batch" + ("" if own.height else ", at assumed batches")
    labels = r.line_labels(shown)
    series = tuple(
        (label, _points(mart, key))
        for label, key in zip(labels, shown.select(_KEYS).rows(), strict=True)
    )
    marks = tuple(shown.select("batch", "energy_j_per_request").rows())
    return (
        Lines(
            name="energy_by_batch",
            title=r.figure_title(subject, shown, asked),
            unit="J",
            over="Batch",
            source="Source: mart_concurrency, law × bias factor; a ring marks the batch in force",
            alt=f"Line chart of GPU energy per request over the batch, falling on every line. "
            f"{labels[0]} takes {show(marks[0][1], 'j')} J at batch {show(marks[0][0], 'number')}.",
            series=series,
            marks=marks,
            mark_label="batch in force",
            kind="j",
        ),
    )


def _points(mart: pl.DataFrame, key: tuple[str | None, ...]) -> tuple[tuple[float, float], ...]:
    one = mart
    for name, value in zip(_KEYS, key, strict=True):
        one = one.filter(pl.col(name).eq_missing(pl.lit(value)))
    return tuple(one.sort("batch").select("batch", "energy_j_per_request").rows())
