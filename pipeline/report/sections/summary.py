"""The month on one page: what it cost, what it drew, what is missing from both."""

from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import KeyFigure, Kind, Section
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r
from pipeline.report.sections.groups import group_table
from pipeline.report.sections.money import COST_OF_MONTH, COST_OF_REQUESTS

_LEAST_SHARE_BEFORE = 0.05  # of this month's requests, for a comparison to mean anything


def section(
    mart: pl.DataFrame,
    before: pl.DataFrame,
    totals: pl.DataFrame,
    totals_before: pl.DataFrame,
    checks: pl.DataFrame,
    bridge: pl.DataFrame,
) -> Section:
    """Return the summary of one month.

    Args:
        mart: mart_cost_per_task of the month.
        before: mart_cost_per_task of the month before; without rows there is no comparison.
        totals: mart_month_total of the month.
        totals_before: mart_month_total of the month before.
        checks: One row per check.
        bridge: mart_cost_bridge of the month.
    """
    question = "What did this month's LLM use cost in money, electricity and carbon?"
    if mart.is_empty():
        reason = "No accepted request falls in this month."
        return Section("summary", "Summary", "Summary", question, empty_reason=reason)
    is_comparable = _methods(mart) == _methods(before) and _is_covered(mart, before)
    return Section(
        name="summary",
        title="Summary",
        sheet="Summary",
        question=question,
        statements=_statements(mart, before, r.total(totals), checks, bridge),
        key_figures=_key_figures(
            mart,
            _in_kg(r.total(totals)),
            _in_kg(r.total(totals_before)) if is_comparable else {},
        ),
        tables=(
            group_table(
                mart, totals, c.QUERY_CLASS, "summary_by_class", "The month by class of work"
            ),
            group_table(mart, totals, c.MODEL, "summary_by_model", "The month by model"),
        ),
    )


def _is_covered(mart: pl.DataFrame, before: pl.DataFrame) -> bool:
    """Say whether the month before was read too, and not just a few requests at its edge."""
    requests = r.count_sum(before, "request_count")
    return requests >= _LEAST_SHARE_BEFORE * r.count_sum(mart, "request_count")


def _key_figures(
    mart: pl.DataFrame, total: dict[str, Any], before: dict[str, Any]
) -> tuple[KeyFigure, ...]:
    batch = r.spread_text(mart, "batch") or "unknown"
    basis = f"estimate at batch {batch}, grade {total['evidence_grade']}"

    def figure(label: str, name: str, kind: Kind, unit: str, note: str) -> KeyFigure:
        low, high = _ends(total, name)
        notes = "; ".join(text for text in (note, _change(total, before, name)) if text)
        return KeyFigure(label, total[name], kind, unit, low, high, notes)

    return (
        figure("Cost", "cost_usd", "usd", "USD", _priced_note(total)),
        figure("Electricity", "facility_energy_kwh", "kwh", "kWh", basis),
        figure("Carbon", "carbon_kgco2e", "kgco2e", "kg CO₂e", basis),
        figure("Requests", "request_count", "count", "", ""),
        figure("Tasks", "task_count", "count", "", _solved_note(total)),
        figure("Electricity at tariff", "energy_cost_usd", "usd", "USD", "memo, in no total"),
    )


def _in_kg(total: dict[str, Any]) -> dict[str, Any]:
    """Return a total with its carbon in kilograms too."""
    grams = {name: value for name, value in total.items() if name.endswith("gco2e")}
    return total | {
        name.replace("gco2e", "kgco2e"): None if value is None else value / r.GRAMS_PER_KG
        for name, value in grams.items()
    }


def _ends(total: dict[str, Any], name: str) -> tuple[r.Number | None, r.Number | None]:
    quantity, _, unit = name.rpartition("_")
    return total.get(f"{quantity}_low_{unit}"), total.get(f"{quantity}_high_{unit}")


def _priced_note(total: dict[str, Any]) -> str:
    unpriced, without_bill = total["unpriced_request_count"], total["no_gpu_bill_request_count"]
    notes = [f"unpriced requests: {unpriced:,}"] if unpriced else []
    notes += [f"without a GPU bill: {without_bill:,}"] if without_bill else []
    return "; ".join(notes) or "every request priced"


def _solved_note(total: dict[str, Any]) -> str:
    solved, unknown = total["solved_task_count"], total["unknown_outcome_task_count"]
    return f"{solved:,} solved, {unknown:,} of unknown outcome"


def _change(total: dict[str, Any], before: dict[str, Any], name: str) -> str:
    old, new = before.get(name), total[name]
    if not old or new is None:
        return ""
    change = float(new) / float(old) - 1
    return f"{'+' if change > 0 else ''}{show(change, 'frac')} on the month before"


def _statements(
    mart: pl.DataFrame,
    before: pl.DataFrame,
    total: dict[str, Any],
    checks: pl.DataFrame,
    bridge: pl.DataFrame,
) -> tuple[str, ...]:
    sentences = (
        _beside_requests(bridge),
        _largest_cost(mart),
        _largest_energy(mart),
        _middle_energy(total),
        _missing(mart, "unpriced_request_count", "price", "cost"),
        _without_gpu_bill(mart),
        _missing(mart, "unmeasured_request_count", "energy", "energy"),
        _agents_cache(mart),
        _method_change(mart, before),
        _checks(checks),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _beside_requests(bridge: pl.DataFrame) -> str:
    """Say what the month cost where that is more or less than its requests, the figure above."""
    amounts = dict(bridge.select("step_id", "cost_usd").rows())
    requests, month = amounts.get(COST_OF_REQUESTS), amounts.get(COST_OF_MONTH)
    if requests is None or month is None or show(requests, "usd") == show(month, "usd"):
        return ""
    return (
        f"Cost is that of the requests alone, {show(requests, 'usd')} USD; idle GPUs, credits and "
        f"the like make the month's {show(month, 'usd')} USD: see From list to cost (sheet "
        "Costs)."
    )


def _largest(mart: pl.DataFrame, name: str) -> dict[str, Any] | None:
    known = mart.filter(pl.col(name).is_not_null())
    ordered = r.sorted_by(known, name, "provider", "model_id", "query_class")
    return ordered.row(0, named=True) if ordered.height else None


def _cell_name(row: dict[str, Any]) -> str:
    return f"{show(row['model_id'], 'text', c.MODEL.unknown)} · {show(row['query_class'], 'text')}"


def _largest_cost(mart: pl.DataFrame) -> str:
    row = _largest(mart, "cost_usd")
    if row is None:
        return "No request of the month could be priced."
    part = show(r.share(row["cost_usd"], r.known_sum(mart, "cost_usd")), "frac")
    cost = show(row["cost_usd"], "usd")
    return f"Most money: {_cell_name(row)}, {cost} USD, {part} of the priced cost."


def _largest_energy(mart: pl.DataFrame) -> str:
    row = _largest(mart, "facility_energy_kwh")
    if row is None:
        return "No request of the month has an energy."
    value, low, high = (
        show(row[f"facility_energy{end}_kwh"], "kwh") for end in ("", "_low", "_high")
    )
    total = r.known_sum(mart, "facility_energy_kwh")
    part = show(r.share(row["facility_energy_kwh"], total), "frac")
    return (
        f"Most electricity: {_cell_name(row)}, {value} kWh ({low} – {high}), {part} of the "
        f"month's, at batch {show(row['batch'], 'number')}, grade {row['evidence_grade']}."
    )


def _middle_energy(total: dict[str, Any]) -> str:
    if total["facility_energy_p50_kwh"] is None:
        return ""
    low, middle, high = (
        show(total[f"facility_energy_{end}_kwh"], "kwh") for end in ("low", "p50", "high")
    )
    return (
        f"Of the possible worlds, each drawn once for all lines, half take more than {middle} kWh, "
        f"one in twenty less than {low} and one in twenty more than {high}."
    )


def _missing(mart: pl.DataFrame, name: str, lacks: str, sums: str) -> str:
    count, whole = r.count_sum(mart, name), r.count_sum(mart, "request_count")
    if not count:
        return f"Every request has its {lacks}."
    part = show(r.share(count, whole), "frac")
    return f"Without {lacks}: {count:,} of {whole:,} requests ({part}); no {sums} sum holds them."


def _without_gpu_bill(mart: pl.DataFrame) -> str:
    count = r.count_sum(mart, "no_gpu_bill_request_count")
    if not count:
        return ""
    return f"Own servers without a GPU bill: {count:,} requests; a row in hosting_costs adds it."


def _agents_cache(mart: pl.DataFrame) -> str:
    agents = mart.filter(pl.col("query_class") == "agentic")
    kinds = ("cache_read_tokens", "uncached_input_tokens", "cache_write_tokens")
    whole = sum(r.count_sum(agents, name) for name in kinds)
    part = r.share(r.known_sum(agents, "cache_read_tokens"), whole)
    if part is None:
        return ""
    return f"Agents read {show(part, 'frac')} of their input tokens from a prompt cache."


def _methods(frame: pl.DataFrame) -> str:
    return r.words(frame, "method_version")


def _method_change(mart: pl.DataFrame, before: pl.DataFrame) -> str:
    if before.is_empty() or _methods(mart) == _methods(before):
        return ""
    return (
        f"The month before was computed by method {_methods(before)}, this one by "
        f"{_methods(mart)}: the two are not compared."
    )


def _checks(checks: pl.DataFrame) -> str:
    status = checks.get_column("status").to_list()
    failed, warned = status.count("fail"), status.count("warn")
    if not status:
        return "No check has run."
    if not failed and not warned:
        return f"Checks of the run: all {len(status)} passed."
    return f"Checks of the run: {failed} of {len(status)} failed, {warned} warned; see Checks."
