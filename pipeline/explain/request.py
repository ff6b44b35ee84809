"""One row of usage, from its line in a log to joules, grams and dollars."""

from typing import Any

import duckdb

from pipeline.explain import wording
from pipeline.explain.group import Group, group_of
from pipeline.explain.group_lines import (
    batch_part,
    bias_lines,
    facility_part,
)
from pipeline.explain.group_range import range_lines
from pipeline.explain.law_parts import law_parts
from pipeline.explain.lines import Explanation, Fact, Line, Part, step
from pipeline.explain.money import cost_lines
from pipeline.explain.money_shares import with_shares
from pipeline.explain.record import record_part, tokens_part
from pipeline.explain.text import value_text
from pipeline.explain.warehouse_rows import Row, request_alone, row
from pipeline.explain.work import moments_of, share_of
from pipeline.explain.written import Term, Written, number

_TOKENS = (
    *("uncached_input_tokens", "cache_read_tokens", "cache_write_5m_tokens"),
    *("cache_write_1h_tokens", "output_tokens", "reasoning_tokens"),
)


def explain_request(con: duckdb.DuckDBPyConnection, row_id: int) -> Explanation:
    """Return how one accepted row of raw_usage gets its energy, its carbon and its cost."""
    logged = row(
        con,
        "select raw_usage.*, source_file, source_format, assumed_class from raw_usage "
        "inner join raw_inputs using (input_id) where raw_usage.rowid = $row_id",
        {"row_id": row_id},
    )
    source_line = logged["source_line"]
    if logged["charge_kind"] is not None:
        return _charge(con, logged)
    request = _request(con, logged)
    costs, shares = with_shares(con, request_alone(con, request), request)
    group = group_of(con, request)
    why_not = wording.unmeasured_note(request, group.host, group.batch)
    parts = [record_part(con, logged, request), tokens_part(con, request)]
    facts: dict[str, Any] = {
        "request_id": logged["request_id"],
        "source_file": logged["source_file"],
        "source_line": source_line,
        "month": request["month"],
        "provider": request["provider"],
        "model_id": request["model_id"],
        "query_class": request["query_class"],
        "request_count": request["request_count"],
    }
    if why_not or not request["has_work"]:
        energy = _no_work(costs, why_not)
        parts.append(energy)
        facts |= {"gpu_energy_j": costs["gpu_energy_j"], "evidence_grade": "U" if why_not else "A"}
    else:
        found, energy_facts = _energy_parts(con, group, request, costs["gpu_energy_j"])
        parts += found
        facts |= energy_facts
    parts.append(Part("cost", "Cost", cost_lines(con, costs, shares)))
    facts |= {
        name: costs[name]
        for name in (
            *("list_cost_usd", "contracted_cost_usd", "billed_cost_usd", "cost_usd"),
            "cost_source",
        )
    }
    name = logged["request_id"] or f"{logged['source_file']}:{source_line}"
    what = "Request" if not request["is_bucket"] else "Billing bucket"
    return Explanation("request", f"{what} {name}", facts, [_answer(facts), *parts])


def _request(con: duckdb.DuckDBPyConnection, logged: Row) -> Row:
    """Return the row of int_requests of a record; of several on its line, the one it is."""
    names = ("input_id", "source_line", "occurred_at", *_TOKENS, "billed_cost_usd")
    same = " and ".join(f"requests.{name} is not distinct from ${name}" for name in names)
    return row(
        con,
        f"""
        select requests.*
        from int_requests as requests
        inner join int_models
            on requests.provider = int_models.provider and requests.model_id = int_models.model_id
        where {same}
            and int_models.logged_model_name = $model_name
            and int_models.logged_provider = coalesce($provider, '')
            and requests.occurred_at >= int_models.valid_from
            and requests.occurred_at < int_models.valid_to
        limit 1
        """,
        {name: logged[name] for name in (*names, "model_name", "provider")},
    )


def _answer(facts: dict[str, Any]) -> Part:
    """Return what it all comes to, before how."""
    ends = ""
    if facts.get("energy_low_j") is not None:
        low, high = (value_text(facts[f"energy_{end}_j"]) for end in ("low", "high"))
        ends = f"{low} to {high}; batch {value_text(facts['batch'])}, "
    lines = (
        Fact("cost_usd", "cost", facts["cost_usd"], "USD", wording.cost_note(facts["cost_source"])),
        Fact(
            "gpu_energy_j",
            "GPU energy",
            facts["gpu_energy_j"],
            "J",
            f"{ends}grade {facts['evidence_grade']}",
        ),
        Fact("facility_energy_kwh", "electricity", facts.get("facility_energy_kwh"), "kWh"),
        Fact("carbon_gco2e", "carbon", facts.get("carbon_gco2e"), "g CO₂e"),
    )
    return Part("answer", "In short", lines)


def _energy_parts(
    con: duckdb.DuckDBPyConnection, group: Group, request: Row, gpu_energy_j: float
) -> tuple[list[Part], dict[str, Any]]:
    """Return the parts from token moments to carbon, and what they come to."""
    scatter = {}
    if request["is_bucket"]:
        scatter = row(
            con,
            "select * from stg_dispersion_factors where query_class = $query_class",
            {"query_class": request["query_class"]},
        )
    moments, lines = moments_of(request, scatter)
    parts = [Part("moments", "What the lengths come to", lines), batch_part(group)]
    by_law, laws = law_parts(group, moments, "Work")
    parts += by_law
    parts.append(_boards_part(group, moments, laws, gpu_energy_j))
    chain = facility_part(group, gpu_energy_j)
    parts.append(chain)
    facts: dict[str, Any] = {
        "batch": group.batch["batch"],
        "coefficient_set_id": group.energy["coefficient_set_id"],
        "energy_j": laws[0] if len(laws) == 1 else None,
        "bias_factor": group.energy["bias_factor"],
        "gpu_energy_j": gpu_energy_j,
        "evidence_grade": group.energy["evidence_grade"],
    }
    facts |= {
        line.name: line.value
        for line in (*parts[-2].lines, *chain.lines)
        if line.name.startswith(("energy_low", "energy_high", "facility_energy", "carbon"))
    }
    return parts, facts


def _boards_part(
    group: Group, moments: dict[str, int], laws: list[float], gpu_energy_j: float
) -> Part:
    """Return the step from the law to the energy of the GPU boards."""
    bias = number("bias", group.energy["bias_factor"])
    lines: list[Line]
    if not group.is_closed:
        term = bias * number("law", laws[0])
        line = step("gpu_energy_j", "GPU energy", term, "J", gpu_energy_j)
        lines = [*bias_lines(group), line]
    else:
        lines = [
            *bias_lines(group),
            *stand_in_lines(group),
            Fact(
                "rates",
                "rates of the class",
                None,
                note="the mean of the stand-ins' joules a token, pair and pass, all scaled by one "
                "number so that the requests of the class add up to its energy",
            ),
            share_of(moments, group.energy, gpu_energy_j, "GPU energy of the request"),
        ]
    lines += range_lines(group, gpu_energy_j)
    return Part("gpu_energy", "GPU energy: law × bias factor", tuple(lines))


def stand_in_lines(group: Group) -> list[Line]:
    """Return the energies of a class's stand-ins and their geometric mean, times the bias."""
    lines: list[Line] = []
    product: Any = 1
    for index, work_row in enumerate(group.works, start=1):
        terms = (
            number(f"{sign}", work_row[f"{name}_energy_j"])
            for sign, name in (("e1", "prefill"), ("e2", "kv_cache"), ("e3", "next_token"))
        )
        total: Term = 0
        for term in terms:
            total = total + term
        label = f"whole class, law with {work_row['architecture_id']}"
        line = step("energy_j", label, total, "J")
        lines.append(line)
        product = product * number(f"E{index}", line.value)  # type: ignore[arg-type]
    root = product ** (number("1", 1) / number(str(len(group.works)), len(group.works)))
    whole: Written = root if len(group.works) > 1 else product
    energy = group.energy
    label = "whole class, geometric mean"
    lines.append(step("energy_j", label, whole, "J", energy["energy_j"]))
    boards = number("bias", energy["bias_factor"]) * number("E", energy["energy_j"])
    lines.append(
        step("class_gpu_energy_j", "whole class, GPU energy", boards, "J", energy["gpu_energy_j"])
    )
    return lines


def _no_work(costs: Row, why_not: str) -> Part:
    """Return why there is no energy, or why it is nothing."""
    note = why_not or "no input and no output: refused before any work"
    value = None if why_not else costs["gpu_energy_j"]
    return Part("gpu_energy", "Energy", (Fact("gpu_energy_j", "GPU energy", value, "J", note),))


def _charge(con: duckdb.DuckDBPyConnection, logged: Row) -> Explanation:
    """Return what a line of a bill that is no request counts for."""
    lines = (
        Fact("charge_kind", "charge", logged["charge_kind"]),
        Fact("charge_quantity", "quantity", logged["charge_quantity"], logged["charge_unit"] or ""),
        Fact("billed_cost_usd", "billed cost", logged["billed_cost_usd"], "USD"),
        Fact(
            "gpu_energy_j",
            "GPU energy",
            None,
            "J",
            "the energy of a charge that is no request is not known",
        ),
    )
    facts = {
        "request_id": logged["request_id"],
        "source_file": logged["source_file"],
        "source_line": logged["source_line"],
        "month": logged["month"],
        "charge_kind": logged["charge_kind"],
        "billed_cost_usd": logged["billed_cost_usd"],
        "gpu_energy_j": None,
    }
    name = logged["request_id"] or f"{logged['source_file']}:{logged['source_line']}"
    part = Part("charge", "Money that is no request", lines)
    return Explanation("charge", f"Charge {name}", facts, (record_part(con, logged, {}), part))
