"""What others would say of the same requests: their laws, and the figures providers publish."""

import math
from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Bars, Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r
from pipeline.report.sections.laws import LAW_NAMES

WH_PER_KWH = 1_000
OWN = "simple"
CHAT = "chat"
BOUNDARY = {
    "ecologits_0_8": "GPU, server and PUE 1.2 by its own method",
    "ecologits_0_9": "GPU, server and PUE 1.2 by its own method, batch always 64",
    "linear": "GPU; our host, idle and PUE on top",
    "parameters_tokens": "GPU; our host, idle and PUE on top",
    OWN: "GPU; our host, idle and PUE on top",
}
_UNITS = {"facility": "server, idle machines and cooling included", "gpu": "chips alone"}

Row = dict[str, Any]

_METHODS = (
    Column("law", "Method", "text", meaning="Our law, or that of others on the same requests."),
    Column("request_count", "Requests", "count", meaning="Requests that have an energy of ours."),
    Column("gpu_energy_kwh", "GPU energy", "kwh", "kWh", "Energy of the GPU boards alone."),
    Column("gpu_energy_ratio", "GPU, over ours", "ratio", meaning="The same over our GPU energy."),
    c.FACILITY,
    Column("facility_energy_ratio", "Electricity, over ours", "ratio", meaning="Over ours."),
    Column("inside", "Inside our range", "text", meaning="Lines of model and class, of all."),
    Column("boundary", "Boundary", "text", meaning="What its electricity includes."),
    Column("domain", "Holds for", "text", meaning="What its authors fitted it to."),
    Column("ignores", "Ignores", "text", meaning="What moves real energy and is not in it."),
)
_LINES = (
    c.MODEL,
    c.QUERY_CLASS,
    c.PROVIDER,
    Column("law", "Method", "text", meaning="Whose law."),
    c.REQUESTS,
    c.BATCH,
    c.GRADE,
    Column("request_energy_j", "GPU energy a request", "j", "J", "By this method."),
    Column("own_request_energy_j", "Ours", "j", "J", "GPU energy a request by our law."),
    Column("own_low_j", "Ours, low", "j", "J", "Low end (5 %)."),
    Column("own_high_j", "Ours, high", "j", "J", "High end (95 %)."),
    Column("gpu_energy_ratio", "Over ours", "ratio", meaning="This method over our law."),
    Column("is_inside_range", "Inside our range", "text", meaning="Between our low and high."),
)
_ANCHORS = (
    Column("publisher", "Who says so", "text", meaning="Who published the figure."),
    Column("request", "Request", "text", meaning="What it is the energy of."),
    Column("energy_wh", "Energy", "wh", "Wh", "Energy of one such request."),
    Column("boundary", "Boundary", "text", meaning="What the figure includes."),
    Column("meaning", "What is known of it", "text", meaning="Method and limits."),
    Column("source", "Source", "text", meaning="Where it was published."),
    Column("source_date", "Source date", "text", meaning="Day it was taken over."),
)


def section(mart: pl.DataFrame, anchors: pl.DataFrame) -> Section:
    """Return the comparison of methods of one month.

    Args:
        mart: mart_method_comparison of the month.
        anchors: Reference rows `anchors`, as text.
    """
    figures, tables, statements = [], [], []
    if not mart.is_empty():
        lines = [_method(law, mart) for law in _laws(mart)]
        figures += [_method_bars(lines)]
        tables += [_method_table(lines), _line_table(mart)]
        statements += [_boundary_sentence(), *(_method_sentence(line) for line in lines[1:])]
    chats = _chats(mart)
    known = _typed(anchors)
    return Section(
        name="comparison",
        title="Other methods",
        sheet="Other_methods",
        question="What would other methods say of the same requests?",
        statements=(*statements, _chat_sentence(chats, known)),
        figures=(*figures, _chat_bars(chats, known)),
        tables=(*tables, _anchor_table(known)),
    )


def _laws(mart: pl.DataFrame) -> list[str]:
    found = sorted(set(mart.get_column("law").to_list()) - {OWN})
    return [OWN, *found]


def _method(law: str, mart: pl.DataFrame) -> Row:
    own = mart.filter(pl.col("law") == law)
    inside = sum(own.get_column("is_inside_range").to_list())
    gpu_j, own_j = (r.known_sum(own, f"{each}gpu_energy_j") for each in ("", "own_"))
    kwh, own_kwh = (r.known_sum(own, f"{each}facility_energy_kwh") for each in ("", "own_"))
    first = own.row(0, named=True)
    return {
        "law": LAW_NAMES[law],
        "request_count": r.count_sum(own, "request_count"),
        "gpu_energy_kwh": None if gpu_j is None else float(gpu_j) / 3_600_000,
        "gpu_energy_ratio": r.share(gpu_j, own_j),
        "facility_energy_kwh": kwh,
        "facility_energy_ratio": r.share(kwh, own_kwh),
        "inside": f"{inside} of {own.height}",
        "boundary": BOUNDARY[law],
        "domain": first["domain"],
        "ignores": first["ignores"],
    }


def _boundary_sentence() -> str:
    return (
        "Like is set beside like: GPU boards beside GPU boards, electricity of the facility beside "
        "the same. Only requests that have an energy of ours are compared."
    )


def _method_sentence(line: Row) -> str:
    ignored = line["ignores"][:1].lower() + line["ignores"][1:].rstrip(".")
    gpu, facility = (show(line[f"{each}_energy_ratio"], "ratio") for each in ("gpu", "facility"))
    return (
        f"{line['law']}: {gpu} times our GPU energy, {facility} times our electricity; inside our "
        f"range on {line['inside']} lines. It ignores {ignored}."
    )


def _method_bars(lines: list[Row]) -> Bars:
    kwh = tuple(line["facility_energy_kwh"] for line in lines)
    return Bars(
        name="methods",
        title="Electricity of the month by method",
        unit="kWh",
        source="Source: mart_method_comparison; electricity of the facility, the same requests",
        alt="Bar chart of the month's electricity by our law and by other methods: "
        + ", ".join(f"{line['law']} {show(line['facility_energy_kwh'], 'kwh')}" for line in lines)
        + " kWh.",
        labels=tuple(line["law"] for line in lines),
        series=(("Electricity", kwh),),
        kind="kwh",
    )


def _method_table(lines: list[Row]) -> Table:
    rows = tuple(tuple(line[column.name] for column in _METHODS) for line in lines)
    return Table("methods", "The month by each method", _METHODS, rows)


def _line_table(mart: pl.DataFrame) -> Table:
    each = mart.filter(pl.col("law") != OWN).with_columns(
        pl.col("law").replace(LAW_NAMES),
        r.ratio("gpu_energy_j", "request_count").alias("request_energy_j"),
        r.ratio("own_gpu_energy_j", "request_count").alias("own_request_energy_j"),
        r.ratio("own_energy_low_j", "request_count").alias("own_low_j"),
        r.ratio("own_energy_high_j", "request_count").alias("own_high_j"),
        pl.when("is_inside_range").then(pl.lit("yes")).otherwise(pl.lit("no"))
        .alias("is_inside_range"),
    )  # fmt: skip
    ordered = r.sorted_by(each, "own_gpu_energy_j", "provider", "model_id", "query_class", "law")
    return Table(
        "method_lines",
        "GPU energy of a request by each method, line by line",
        _LINES,
        r.table_rows(ordered, _LINES),
        sheet="Other_methods_lines",
    )


def _chats(mart: pl.DataFrame) -> list[Row]:
    """Return our lines of chat, most requests first, with watt-hours of one request."""
    own = mart.filter((pl.col("law") == OWN) & (pl.col("query_class") == CHAT))
    return r.sorted_by(own, "request_count", "provider", "model_id").rows(named=True)


def _wh(row: Row, name: str) -> float:
    return float(row[name]) * WH_PER_KWH / float(row["request_count"])


def _typed(anchors: pl.DataFrame) -> list[Row]:
    ordered = anchors.with_columns(pl.col("energy_wh").cast(pl.Float64))
    return ordered.sort("boundary", "publisher", "anchor").rows(named=True)


def _chat_sentence(chats: list[Row], anchors: list[Row]) -> str:
    told = "; ".join(
        f"{row['publisher']}, {row['request']}: {show(row['energy_wh'], 'number')} Wh"
        for row in anchors
        if row["boundary"] == "facility"
    )
    if not chats:
        return f"No chat request of this month has an energy. Published beside it: {told}."
    return (
        f"An average chat request of this month takes {show(_mean_wh(chats), 'wh')} Wh of "
        "electricity; by model, each with its range, see the figure. "
        f"Published, all with the facility: {told}. "
        "Providers tell no token counts, so none of these is a test."
    )


def _mean_wh(chats: list[Row]) -> float:
    requests: int = sum(row["request_count"] for row in chats)
    kwh = math.fsum(float(row["facility_energy_kwh"]) for row in chats)
    return kwh * WH_PER_KWH / requests


def _chat_bars(chats: list[Row], anchors: list[Row]) -> Bars:
    beside = [row for row in anchors if row["boundary"] == "facility"]
    means = [_mean_wh(chats)] if chats else []
    shown = chats[: r.BARS_SHOWN - len(beside) - len(means)]
    values = (
        *(row["energy_wh"] for row in beside),
        *means,
        *(_wh(row, "facility_energy_kwh") for row in shown),
    )
    lows, highs = (
        (
            *(None for _ in (*beside, *means)),
            *(_wh(row, f"own_facility_energy_{end}_kwh") for row in shown),
        )
        for end in ("low", "high")
    )
    names = r.told_apart([row["model_id"] for row in shown], [row["provider"] for row in shown])
    return Bars(
        name="chat_requests",
        title="Electricity of a chat request, published and ours",
        unit="Wh",
        source="Source: data/reference/anchors.csv of 2026-11-30, and mart_method_comparison",
        alt="Bar chart of watt-hours of one request: figures that providers and others published, "
        f"and {len(shown)} models of this month's chats with ranges.",
        labels=(
            *(f"{row['publisher']}: {row['request']}" for row in beside),
            *("Ours: average chat request" for _ in means),
            *(
                f"{name}, batch {show(row['batch'], 'number')}"
                for name, row in zip(names, shown, strict=True)
            ),
        ),
        series=(("Electricity", values),),
        lows=lows,
        highs=highs,
        kind="wh",
    )


def _anchor_table(anchors: list[Row]) -> Table:
    rows = tuple(
        tuple(_UNITS[row[c.name]] if c.name == "boundary" else row[c.name] for c in _ANCHORS)
        for row in anchors
    )
    return Table("anchors", "Published energy of one request", _ANCHORS, rows)
