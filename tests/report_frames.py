"""Small marts made by hand, from which the tests of the reports start.

June 2026 has three lines: one priced and measured in full, one of agents, and one of a model that
nobody knows, so that it has neither price nor energy. May has the first line alone.
"""

import functools
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import polars as pl

from pipeline.report.assemble import InputFile, ReportFacts, build_report
from pipeline.report.section import Report, Section, Table

MONTH = "2026-06"
MONEY = pl.Decimal(38, 12)
MONEY_COLUMNS = (
    *("cost_usd", "list_cost_usd", "contracted_cost_usd", "effective_cost_usd"),
    *("billed_cost_usd", "hosting_cost_usd", "hosting_energy_cost_usd", "energy_cost_usd"),
)
FACTS = ReportFacts("0f3a", "1", False, "UTC", (InputFile("logs/june.csv", "9f86d081"),))

HOSTILE = (
    "=cmd|' /C calc'!A0",
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "#REF!",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(2)</script>",
    "{{ 7 * 7 }}",
    "a & b",
    "nul\x00 bell\x07 escape\x1b",
    "$x^2$",
    "模型 😀",
)

_COST_LINE: dict[str, Any] = {
    "month": MONTH,
    "provider": "openai",
    "model_id": "gpt-5",
    "query_class": "chat",
    "hosting_kind": "api",
    "request_count": 10,
    "task_count": 10,
    "solved_task_count": 0,
    "unknown_outcome_task_count": 10,
    "failed_request_count": 1,
    "unpriced_request_count": 0,
    "no_gpu_bill_request_count": 0,
    "unmeasured_request_count": 0,
    "uncached_input_tokens": 900,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "output_tokens": 300,
    "reasoning_tokens": 0,
    "cost_usd": Decimal("1.005"),
    "list_cost_usd": Decimal("1.005"),
    "contracted_cost_usd": Decimal("1.005"),
    "effective_cost_usd": Decimal("1.005"),
    "billed_cost_usd": None,
    "hosting_cost_usd": None,
    "hosting_energy_cost_usd": None,
    "cost_source": "list",
    "gpu_energy_j": 3_600_000.0,
    "energy_low_j": 1_800_000.0,
    "energy_high_j": 7_200_000.0,
    "facility_energy_kwh": 2.0,
    "facility_energy_low_kwh": 1.0,
    "facility_energy_high_kwh": 4.0,
    "energy_cost_usd": Decimal("0.2"),
    "carbon_gco2e": 946.0,
    "carbon_low_gco2e": 473.0,
    "carbon_high_gco2e": 1_892.0,
    "evidence_grade": "D",
    "coefficient_set_id": "h100-sxm-vllm-1",
    "batch": 64.0,
    "method_version": "1",
    "cost_usd_per_task": 0.1005,
    "cost_usd_per_solved_task": None,
    "energy_j_per_task": 360_000.0,
    "energy_j_per_solved_task": None,
    "carbon_gco2e_per_task": 94.6,
}
_AGENTS: dict[str, Any] = {
    "provider": "own-cluster",
    "model_id": "llama-3.1-8b",
    "query_class": "agentic",
    "hosting_kind": "self_hosted",
    "request_count": 6,
    "task_count": 2,
    "solved_task_count": 1,
    "unknown_outcome_task_count": 0,
    "uncached_input_tokens": 80,
    "cache_read_tokens": 900,
    "cache_write_tokens": 20,
    "cost_usd": Decimal("0.499999"),
    "list_cost_usd": None,
    "contracted_cost_usd": None,
    "effective_cost_usd": None,
    "hosting_cost_usd": Decimal("0.499999"),
    "cost_source": "hosting",
    "gpu_energy_j": 1_800_000.0,
    "facility_energy_kwh": 1.0,
    "facility_energy_low_kwh": 0.5,
    "facility_energy_high_kwh": 3.0,
    "carbon_gco2e": 473.0,
    "evidence_grade": "B",
    "batch": 8.0,
    "cost_usd_per_task": 0.2499995,
    "cost_usd_per_solved_task": 0.499999,
}
_UNKNOWN: dict[str, Any] = {
    "provider": None,
    "model_id": "mystery",
    "query_class": "rag",
    "request_count": 4,
    "task_count": 4,
    "unknown_outcome_task_count": 4,
    "unpriced_request_count": 4,
    "unmeasured_request_count": 4,
    "evidence_grade": "U",
    "coefficient_set_id": None,
    "batch": None,
} | dict.fromkeys(
    [
        *("cost_usd", "list_cost_usd", "contracted_cost_usd", "effective_cost_usd"),
        *("cost_source", "gpu_energy_j", "energy_low_j"),
        *("energy_high_j", "facility_energy_kwh", "facility_energy_low_kwh"),
        *("facility_energy_high_kwh", "energy_cost_usd", "carbon_gco2e", "carbon_low_gco2e"),
        *("carbon_high_gco2e", "cost_usd_per_task", "energy_j_per_task", "carbon_gco2e_per_task"),
    ]
)
_ENERGY_LINE: dict[str, Any] = {
    "architecture_class": "stand-in",
    "stand_in_tier": "large",
    "gpu": "h100-sxm",
    "stack": "vllm",
    "gpu_count": 8,
    "batch_source": "assumption",
    "batch_max": 300.0,
    "bias_factor": 1.25,
    "input_tokens": 900,
    "prefill_energy_j": 720_000.0,
    "kv_cache_energy_j": 144_000.0,
    "next_token_energy_j": 2_016_000.0,
    "energy_j": 2_880_000.0,  # × 1.25 = 3,600,000
    "prefill_frac": 0.25,
    "kv_cache_frac": 0.05,
    "next_token_frac": 0.7,
    "request_energy_p50_j": 300_000.0,
    "request_energy_p90_j": 700_000.0,
    "energy_j_per_output_token": 12_000.0,
}
_ENERGY_UNKNOWN = dict.fromkeys(
    [
        *("architecture_class", "stand_in_tier", "gpu", "stack", "gpu_count", "batch_source"),
        *("batch_max", "bias_factor", "prefill_energy_j", "kv_cache_energy_j"),
        *("next_token_energy_j", "energy_j", "prefill_frac", "kv_cache_frac", "next_token_frac"),
        *("request_energy_p50_j", "request_energy_p90_j", "energy_j_per_output_token"),
    ]
)
_ENERGY_NAMES = (
    *("month", "provider", "model_id", "query_class", "hosting_kind", "coefficient_set_id"),
    *("method_version", "batch", "evidence_grade", "request_count", "unmeasured_request_count"),
    *("cache_read_tokens", "output_tokens", "gpu_energy_j", "energy_low_j", "energy_high_j"),
    *("facility_energy_kwh", "facility_energy_low_kwh", "facility_energy_high_kwh", "carbon_gco2e"),
)


def cost_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_cost_per_task, one line for each set of changes to the first line."""
    return _frame(_COST_LINE | change for change in changes)


def energy_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_energy_per_class, one line for each set of changes to the first line."""
    lines = [{name: (_COST_LINE | change)[name] for name in _ENERGY_NAMES} for change in changes]
    return _frame(
        line | _ENERGY_LINE | {k: v for k, v in change.items() if k in _ENERGY_LINE}
        for line, change in zip(lines, changes, strict=True)
    )


def team_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_team_chargeback, one line for each set of changes."""
    line = {
        **{"month": MONTH, "team": "support", "request_count": 10, "task_count": 10},
        **{"unpriced_request_count": 0, "unmeasured_request_count": 0, "input_tokens": 900},
        **{"output_tokens": 300, "cost_usd": Decimal("1.000000"), "list_cost_usd": Decimal(1)},
        **{"contracted_cost_usd": Decimal(1), "effective_cost_usd": Decimal(1)},
        **{"hosting_cost_usd": None, "hosting_energy_cost_usd": None},
        **{"no_gpu_bill_request_count": 0},
        **{"billed_cost_usd": None, "cost_frac": 0.66, "gpu_energy_j": 3.6e6},
        **{"facility_energy_kwh": 2.0, "facility_energy_low_kwh": 1.0},
        **{"facility_energy_high_kwh": 4.0, "energy_cost_usd": Decimal("0.2")},
        **{"carbon_gco2e": 946.0, "energy_frac": 0.66, "evidence_grade": "D"},
    }
    return _frame(line | change for change in changes)


def intake_mart() -> pl.DataFrame:
    """Return mart_intake: 20 rows accepted, 3 duplicates and 2 + 1 rejected in one file of two."""
    return pl.DataFrame(
        [
            ("logs/june.csv", "openai_usage", "accepted", "", 12),
            ("logs/june.csv", "openai_usage", "rejected", "no_usage", 2),
            ("logs/june.csv", "openai_usage", "rejected", "negative_tokens", 1),
            ("logs/june.csv", "openai_usage", "duplicate", "same_request_id", 3),
            ("logs/own.jsonl", "vllm", "accepted", "", 8),
        ],
        schema=["source_file", "source_format", "outcome", "reason", "row_count"],
        orient="row",
    )


def coverage_mart() -> pl.DataFrame:
    """Return mart_coverage: of 20 requests 16 have a price, 5 belong to a team."""
    return pl.DataFrame(
        {
            **{"month": [MONTH], "request_count": [20], "priced_request_count": [16]},
            **{"measured_request_count": [16], "known_model_request_count": [16]},
            **{"cache_known_request_count": [20], "explicit_class_request_count": [10]},
            **{"attributed_request_count": [5], "known_outcome_request_count": [6]},
            **{"input_tokens": [2_800], "output_tokens": [900]},
            **{"priced_output_tokens": [600], "measured_output_tokens": [600]},
        }
    )


def reconciliation_mart() -> pl.DataFrame:
    """Return mart_reconciliation: 1.00 USD billed for tokens that cost 1.005 by list price."""
    money: dict[str, list[Decimal | None]] = {
        "computed_cost_usd": [Decimal("1.005")],
        "compared_cost_usd": [Decimal("1.005")],
        "billed_cost_usd": [Decimal("1.00")],
        "gap_usd": [Decimal("-0.005")],
        "other_charge_usd": [None],
    }
    return pl.DataFrame(
        {
            **{"month": [MONTH], "provider": ["openai"], "model_id": ["gpt-5"]},
            **{"gap_cause": ["rounding"], "unpriced_request_count": [0]},
            **{name: pl.Series(values, dtype=MONEY) for name, values in money.items()},
        }
    )


def charges_mart() -> pl.DataFrame:
    """Return mart_other_charges: a credit of 5 USD to team support."""
    five = pl.Series([Decimal(-5)], dtype=MONEY)
    return pl.DataFrame(
        {
            **{"month": [MONTH], "provider": ["openai"], "model_id": [None], "team": ["support"]},
            **{"charge_kind": ["credit"], "is_counted": [True], "row_count": [1]},
            **{"billed_cost_usd": five, "counted_cost_usd": five},
        },
        schema_overrides={"model_id": pl.String},
    )


BRIDGE_USD = {
    **{"01": "1.005", "02": "-0.1005", "04": None, "06": "0.0957", "07": "0.499999", "08": None},
    **{"10": None, "11": "0.25", "12": "-5", "13": "0.003", "15": "0.21"},
}


def bridge_mart() -> pl.DataFrame:
    """Return mart_cost_bridge, whose totals are the sums of the steps before them."""
    names = {"03": "Contracted cost", "05": "Effective cost", "09": "Requests", "14": "Month"}
    rows, reached = [], Decimal(0)
    for step in sorted({*BRIDGE_USD, *names}):
        amount = BRIDGE_USD.get(step)
        if step not in names and step != "15":
            reached += Decimal(amount or 0)
        shown = reached if step in names else amount and Decimal(amount)
        rows.append((MONTH, step, names.get(step, f"Step {step}"), step in names, shown))
    return pl.DataFrame(
        rows,
        schema={
            **{"month": pl.String, "step_id": pl.String, "step_name": pl.String},
            **{"is_total": pl.Boolean, "cost_usd": MONEY},
        },
        orient="row",
    )


def lines_mart(*texts: str) -> pl.DataFrame:
    """Return mart_cost_lines: a credit, idle GPUs and a tax; and a credit for each text."""
    rows = [
        ("discount or credit", "openai", None, None, "outage", True, Decimal(-5)),
        ("idle GPUs", "self-hosted", "llama-3.1-8b", None, "no request", True, Decimal("0.25")),
        ("tax", "openai", None, None, "VAT", False, Decimal("0.21")),
        *(("discount or credit", t, t, t, t, True, Decimal(-1)) for t in texts),
    ]
    return pl.DataFrame(
        [(MONTH, *row) for row in rows],
        schema={
            **dict.fromkeys(("month", "line_kind", "provider", "model_id", "team"), pl.String),
            **{"description": pl.String, "is_in_cost": pl.Boolean, "cost_usd": MONEY},
        },
        orient="row",
    )


def rates_mart() -> pl.DataFrame:
    """Return mart_converted_bills: three bills in euros."""
    return pl.DataFrame(
        [(MONTH, "EUR", Decimal("1.085"), "bank", 3, Decimal("3.255"))],
        schema={
            **{"month": pl.String, "currency": pl.String},
            **{"rate_usd_per_unit": pl.Decimal(14, 10), "rate_source": pl.String},
            **{"row_count": pl.Int64, "billed_cost_usd": MONEY},
        },
        orient="row",
    )


def unpriced_mart(*texts: str) -> pl.DataFrame:
    """Return mart_unpriced_usage: a model without a price, and one for each text."""
    rows = [
        (None, "mystery", "standard", "no list price for this model", "a bill", 4),
        *((t, t, t, t, t, 1) for t in texts),
    ]
    return pl.DataFrame(
        [(MONTH, *row) for row in rows],
        schema={
            **dict.fromkeys(("month", "provider", "model_id", "service_tier"), pl.String),
            **{"unpriced_reason": pl.String, "what_to_add": pl.String, "request_count": pl.Int64},
        },
        orient="row",
    )


def frames(**changed: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return all frames of a report, some of them changed."""
    unattributed = {"team": None, "cost_usd": Decimal("0.504999"), "request_count": 10}
    return {
        "mart_cost_per_task": cost_mart({}, _AGENTS, _UNKNOWN, may_line()),
        "mart_energy_per_class": energy_mart({}, _AGENTS, _UNKNOWN | _ENERGY_UNKNOWN),
        "mart_team_chargeback": team_mart({}, unattributed),
        "mart_cost_bridge": bridge_mart(),
        "mart_cost_lines": lines_mart(),
        "mart_converted_bills": rates_mart(),
        "mart_unpriced_usage": unpriced_mart(),
        "mart_intake": intake_mart(),
        "mart_coverage": coverage_mart(),
        "mart_reconciliation": reconciliation_mart(),
        "mart_other_charges": charges_mart(),
        "assumptions": _assumptions(),
        "assumed": pl.DataFrame(
            [("logs/own.jsonl", "model", "llama-3.1-8b")],
            schema=["source_file", "assumption", "value"],
            orient="row",
        ),
        "checks": _checks(),
    } | changed


def may_line(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 a value of any column
    """Return the changes that make the line of the month before."""
    return {"month": "2026-05", "cost_usd": Decimal("1.2039992"), **changes}


def report(**changed: pl.DataFrame) -> Report:
    """Return the report of June, some of its frames changed."""
    return build_report(frames(**changed), MONTH, FACTS) if changed else _unchanged_report()


@functools.cache
def _unchanged_report() -> Report:
    return build_report(frames(), MONTH, FACTS)


@functools.cache
def hostile_report() -> Report:
    """Return a report in which every text from a log tries to be something else."""
    teams = [{"team": text, "cost_usd": Decimal(-i)} for i, text in enumerate(HOSTILE)]
    lines = [{"model_id": t, "provider": t, "query_class": t} for t in HOSTILE]
    priced = [line | {"cost_usd": Decimal(20 - i)} for i, line in enumerate(lines)]
    files = pl.DataFrame(
        [(text, text, "rejected", text, 1) for text in HOSTILE],
        schema=["source_file", "source_format", "outcome", "reason", "row_count"],
        orient="row",
    )
    return report(
        mart_team_chargeback=team_mart(*teams),
        mart_cost_per_task=cost_mart(*priced),
        mart_energy_per_class=energy_mart(*lines),
        mart_cost_lines=lines_mart(*HOSTILE),
        mart_unpriced_usage=unpriced_mart(*HOSTILE),
        mart_intake=files,
    )


def section_of(book: Report, name: str) -> Section:
    """Return a section of a report by its name."""
    return next(section for section in book.sections if section.name == name)


def table_of(book: Report, name: str) -> Table:
    """Return a table of a report by its name."""
    return next(t for section in book.sections for t in section.tables if t.name == name)


def column_of(table: Table, name: str) -> list[Any]:
    """Return the values of one column of a table."""
    place = [column.name for column in table.columns].index(name)
    return [row[place] for row in table.rows]


def total_of(table: Table, name: str) -> Any:  # noqa: ANN401 a value of any column
    """Return the total of one column of a table."""
    place = [column.name for column in table.columns].index(name)
    return (table.total or ())[place]


def _frame(lines: Iterable[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(list(lines), infer_schema_length=None)
    money = [name for name in MONEY_COLUMNS if name in frame.columns]
    return frame.with_columns(pl.col(name).cast(MONEY) for name in money)


def _assumptions() -> pl.DataFrame:
    return pl.DataFrame(
        [
            ("pue_ratio", 1.2, 1.09, 1.35, "ratio", "Facility over IT", "operators", "2025-06-30"),
            ("batch_api", 64.0, 16.0, 256.0, "requests", "At an API", "estimate", "2026-01-15"),
        ],
        schema=["assumption", "value", "low", "high", "unit", "meaning", "source", "source_date"],
        orient="row",
    )


def _checks() -> pl.DataFrame:
    return pl.DataFrame(
        [
            ("a_request_has_one_cost", "error", "pass", 0, "Priced once."),
            ("no_model_is_unpriced", "warn", "warn", 1, "Unpriced requests."),
            ("terms_add_up", "error", "fail", 2, "Terms are the whole."),
        ],
        schema=["check_name", "severity", "status", "violation_count", "meaning"],
        orient="row",
    )
