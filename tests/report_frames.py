"""Small marts made by hand, from which the tests of the reports start.

June 2026 has three lines: one priced and measured in full, one of agents, and one of a model that
nobody knows, so that it has neither price nor energy. May has the first line alone.
"""

import datetime as dt
import functools
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import polars as pl

from pipeline.measured_tables import TABLES
from pipeline.reference import reference_rows
from pipeline.report.assemble import InputFile, ReportFacts, build_report
from pipeline.report.section import Report, Section, Table

MONTH = "2026-06"
MONEY = pl.Decimal(38, 12)
MONEY_COLUMNS = (
    *("cost_usd", "list_cost_usd", "contracted_cost_usd", "effective_cost_usd"),
    *("billed_cost_usd", "hosting_cost_usd", "hosting_energy_cost_usd", "energy_cost_usd"),
    *("saved_list_cost_usd", "unread_cache_write_usd", "cost_low_usd", "cost_high_usd"),
    *("budget_usd", "used_usd", "projected_usd", "expected_cost_usd"),
    *("cost_saving_low_usd", "cost_saving_p50_usd", "cost_saving_high_usd"),
)
FACTS = ReportFacts("0f3a", "1", False, "UTC", (InputFile("logs/june.csv", "9f86d081"),))

_SUMMED_ENDS = ("_count", "_tokens", "_usd", "_j", "_kwh", "_gco2e")

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
_API_BATCH: dict[str, Any] = {
    "provider": "openai",
    "model_id": "gpt-5",
    "query_class": "chat",
    "hosting_kind": "api",
    "batch_source": "assumed for api",
    "evidence_grade": "D",
    "gpu_energy_j": 6_000.0,
}
_NO_BATCH: dict[str, Any] = {
    "model_id": "gpt-4o",
    "implied_batch": None,
    "reason": "no batch is large enough for so low a price of output",
}
SMALL_MODEL: dict[str, Any] = {  # a tenth of the cost, a fifth of the energy
    "model_id": "gpt-5-nano",
    "is_used": False,
    "own_request_count": 0,
    "list_cost_usd": Decimal("0.1005"),
    "list_cost_usd_per_task": 0.01005,
    "cost_usd": Decimal("0.1005"),
    "cost_usd_per_task": 0.01005,
    "gpu_energy_j": 7.2e5,
    "energy_low_j": 3.6e5,
    "energy_high_j": 1.44e6,
    "energy_j_per_task": 7.2e4,
    "is_on_front": True,
}
_TURNED: dict[str, Any] = {
    "model_id": "gpt-5-mini",
    "other_model_id": "gpt-5-nano",
    "is_cheaper_by_list": False,
    "is_cheaper_at_mix": False,
    "is_reversal": False,
    "cause": None,
}
_LONGER: dict[str, Any] = {
    "provider": "own-cluster",
    "model_id": "llama-3.1-8b",
    "query_class": "agentic",
    "gpu_energy_j": 1_200_000.0,
    "mean_output_tokens": 900.0,
    "mean_against_optimum": "longer",
}
_TOO_FEW: dict[str, Any] = {
    "model_id": "mystery",
    "optimum_output_tokens": None,
    "penalty_frac": None,
    "penalty_positive_frac": None,
    "mean_against_optimum": None,
    "reason": "a single request",
}
_NOISE: dict[str, Any] = {
    "model_id": "llama-3.1-8b",
    "gpu_energy_j": 50.0,
    "saving_low_j_per_item": -1.0,
    "saving_positive_frac": 0.8,
}
_TOO_FEW_ITEMS: dict[str, Any] = {"model_id": "mystery", "reason": "a single request"}
_CUT_OFF: dict[str, Any] = {
    "provider": "own-cluster",
    "model_id": "llama-3.1-8b",
    "waste_kind": "truncated",
    "request_count": 2,
    "cost_usd": None,
    "gpu_energy_j": 720_000.0,
    "facility_energy_kwh": 0.4,
    "energy_frac": 0.125,
}
_BATCHED: dict[str, Any] = {
    **{"finding_kind": "few_served_together", "provider": "vllm", "model_id": "llama-3.1-8b"},
    **{"query_class": None, "finding_rank": 2, "source_mart": "mart_concurrency"},
    **{f"cost_saving_{end}": None for end in ("low_usd", "p50_usd", "high_usd")},
    **{"cost_saving_probability_frac": None, "energy_saving_probability_frac": 1.0},
}
_UNSURE: dict[str, Any] = {
    **{"model_id": "gpt-5", "finding_rank": None, "is_within_noise": True},
    **{f"cost_saving_{end}": None for end in ("low_usd", "p50_usd", "high_usd")},
    **{"cost_saving_probability_frac": None, "energy_saving_probability_frac": 0.8},
}
_FULL_HEADS: dict[str, Any] = {
    "variant": "mha",
    "lever": "KV heads",
    "step_count": 1,
    "saving_frac": -0.2,
    "saving_positive_frac": 0.0,
}
_ENERGY_NAMES = (
    *("month", "provider", "model_id", "query_class", "hosting_kind", "coefficient_set_id"),
    *("method_version", "batch", "evidence_grade", "request_count", "unmeasured_request_count"),
    *("cache_read_tokens", "output_tokens", "gpu_energy_j", "energy_low_j", "energy_high_j"),
    *("facility_energy_kwh", "facility_energy_low_kwh", "facility_energy_high_kwh", "carbon_gco2e"),
)


def cost_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_cost_per_task, one line for each set of changes to the first line."""
    return _frame(_COST_LINE | change for change in changes)


def total_mart(cells: pl.DataFrame) -> pl.DataFrame:
    """Return mart_month_total of cells: sums, but tasks and ranges of a month are narrower.

    A month has one task less than its lines; low ends are 1.25 times, high ends 0.75 times the sum.
    """
    keys = {
        "month": pl.lit("all"),
        "model": pl.col("model_id"),
        "query_class": pl.col("query_class"),
    }
    summed = [name for name in _COST_LINE if name.endswith(_SUMMED_ENDS) and "_per_" not in name]
    kinds = [
        cells.group_by("month", pl.lit(kind).alias("total_kind"), total_of=of)
        .agg(
            *(
                pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()).alias(name)
                for name in summed
            ),
            pl.col("evidence_grade").filter(pl.col("gpu_energy_j").is_not_null()).max(),
            pl.col("batch").mean(),
        )
        .sort("month", "total_of")
        for kind, of in keys.items()
    ]
    return pl.concat(kinds).with_columns(
        pl.col("task_count") - (pl.col("total_kind") == "month").cast(pl.Int64),
        (pl.col("facility_energy_kwh") * 1.125).alias("facility_energy_p50_kwh"),
        *(pl.col(name) * 1.25 for name in summed if "_low_" in name),
        *(pl.col(name) * 0.75 for name in summed if "_high_" in name),
    )


def energy_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_energy_per_class, one line for each set of changes to the first line."""
    lines = [{name: (_COST_LINE | change)[name] for name in _ENERGY_NAMES} for change in changes]
    return _frame(
        line | _ENERGY_LINE | {k: v for k, v in change.items() if k in _ENERGY_LINE}
        for line, change in zip(lines, changes, strict=True)
    )


def concurrency_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_concurrency: each line at batch 1 and 4 and, in force, at its own batch.

    A request takes 1,000 J alone and 600 J at its batch of 2, half of both at 4.
    """
    line = {
        **{"month": MONTH, "provider": "own-cluster", "model_id": "llama-3.1-8b"},
        **{"query_class": "agentic", "batch": 2.0, "is_effective": True},
        **{"batch_source": "logged latencies", "batch_max": 6.0, "hosting_kind": "self_hosted"},
        **{"stand_in_tier": None, "evidence_grade": "B", "request_count": 6},
        **{"output_tokens": 300, "energy_j": 3_000.0, "gpu_energy_j": 3_600.0},
        **{"energy_low_j": 3_000.0, "energy_high_j": 4_800.0, "facility_energy_kwh": 0.006},
        **{"energy_j_per_request": 600.0, "energy_j_per_output_token": 12.0},
        **{"facility_energy_kwh_per_request": 0.001},
        **dict.fromkeys(("saving_frac", "saving_low_frac", "saving_p50_frac", "saving_high_frac")),
        **{"saving_positive_frac": None, "assumption": None},
    }
    alone = {"batch": 1.0, "is_effective": False, "energy_j_per_request": 1_000.0}
    alone |= {"saving_frac": -2 / 3, "saving_positive_frac": 0.0}
    four = {"batch": 4.0, "is_effective": False, "energy_j_per_request": 300.0}
    four |= {"saving_frac": 0.5, "saving_positive_frac": 0.95}
    return _frame(line | change | at for change in changes for at in ({}, alone, four))


def implied_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_implied_batch, one line for each set of changes."""
    line = {
        **{"month": MONTH, "provider": "openai", "model_id": "gpt-5", "query_class": "chat"},
        **{"hosting_kind": "api", "batch": 64.0, "batch_source": "assumed for api"},
        **{"batch_max": 300.0, "implied_batch": 55.0, "reason": None, "price_ratio": 8.0},
        **{"uncached_input_usd_per_mtok": Decimal("1.25"), "output_usd_per_mtok": Decimal(10)},
        **{"input_token_energy_j": 0.03, "output_token_energy_j": 0.05},
        **{"shared_pass_energy_j": 2.8, "implied_batch_low": 40.0, "implied_batch_high": 80.0},
        **{"evidence_grade": "D"},
        **{"shared_pass_energy_j": 2.8, "cost_usd_per_kwh": 4.0, "cost_low_usd_per_kwh": 2.0},
        **{"cost_high_usd_per_kwh": 8.0, "surely_cheaper_count": 0, "surely_dearer_count": 0},
    }
    return _frame(line | change for change in changes)


def model_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_model_comparison, one line for each set of changes: ten chats on gpt-5."""
    line = {
        **{"month": MONTH, "query_class": "chat", "provider": "openai", "model_id": "gpt-5"},
        **{"hosting_kind": "api", "is_used": True, "own_request_count": 10, "request_count": 10},
        **{"task_count": 10, "verbosity_ratio": 1.0, "input_tokens": 900, "output_tokens": 300},
        **{"verbosity_source": "its own requests alone", "input_tokenizer_ratio": 1.0},
        **{"list_cost_usd": Decimal("1.005"), "cached_list_cost_usd": Decimal("1.005")},
        **{"list_cost_usd_per_task": 0.1005, "list_cost_usd_per_solved_task": None},
        **{"hosting_cost_usd": None, "cost_source": "list", "cost_usd_per_solved_task": None},
        **{"cost_usd": Decimal("1.005"), "cost_usd_per_task": 0.1005},
        **{"cost_low_usd_per_task": 0.1005, "cost_high_usd_per_task": 0.1005},
        **{"cost_saving_source": None, "cost_saving_positive_frac": None},
        **{"gpu_energy_j": 3.6e6, "energy_low_j": 1.8e6, "energy_high_j": 7.2e6},
        **{"facility_energy_kwh": 2.0, "facility_energy_low_kwh": 1.0},
        **{"facility_energy_high_kwh": 4.0, "energy_j_per_task": 3.6e5, "carbon_gco2e": 946.0},
        **{"evidence_grade": "D", "coefficient_set_id": "h100-sxm-vllm-1", "batch": 64.0},
        **{"batch_source": "assumed for api", "reason": None, "is_on_front": False},
        **{"cost_saving_usd": None, "facility_energy_saving_low_kwh": None},
        **{"facility_energy_saving_p50_kwh": None, "facility_energy_saving_high_kwh": None},
        **{"energy_saving_positive_frac": None, "energy_saving_verdict": None},
        **{"equal_request_count": None, "saving_reason": "equal quality is not told"},
        **{"equal_quality_source": None},
    }
    return _frame(line | change for change in changes)


def agentic_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_agentic: each line in its three states, 3, 2 and 1 kWh, 3, 2 and 1.5 USD."""
    line = {
        **{"month": MONTH, "provider": "own-cluster", "model_id": "llama-3.1-8b"},
        **{"task_count": 2, "request_count": 6, "cache_read_tokens": 900, "gpu_energy_j": 3.6e6},
        **{"energy_j_per_task": 1.8e6, "prefill_frac": 0.5, "kv_cache_frac": 0.2},
        **{"next_token_frac": 0.3, "list_cost_usd_per_task": 1.0, "is_within_noise": False},
        **{"saved_facility_energy_low_kwh": 0.5, "saved_facility_energy_p50_kwh": 1.1},
        **{"saved_facility_energy_high_kwh": 2.0, "saving_probability_frac": 1.0},
        **{"unread_cache_write_tokens": 40, "unread_cache_write_usd": Decimal("0.01")},
        **{"assumption": "as logged", "reason": None, "batch": 8.0, "evidence_grade": "B"},
        **{"method_version": "1", "energy_low_j": 1.8e6, "energy_high_j": 7.2e6},
        **{"hosting_cost_usd": None},
    }
    states = [
        {"cache_state": state, "facility_energy_kwh": kwh, "list_cost_usd": usd}
        | {"saved_facility_energy_kwh": saved, "saved_list_cost_usd": saved_usd}
        for state, kwh, usd, saved, saved_usd in (
            ("uncached", 3.0, Decimal(3), None, None),
            ("as_cached", 2.0, Decimal(2), 1.0, Decimal(1)),
            ("fully_cached", 1.0, Decimal("1.5"), 1.0, Decimal("0.5")),
        )
    ]
    return _frame(line | state | change for change in changes for state in states)


def compaction_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_compaction, one line for each set of changes."""
    line = {
        **{"month": MONTH, "provider": "own-cluster", "model_id": "llama-3.1-8b"},
        **{"median_context_tokens": 68_000.0, "median_new_input_tokens": 1_200.0},
        **{"median_task_steps": 40.0, "paying_cached_energy_steps": 12.5},
        **{"paying_cached_energy_low_steps": 6.0, "paying_cached_energy_high_steps": 50.0},
        **{"paying_uncached_energy_steps": 1.5, "paying_cached_money_steps": 7.9},
        **{"paying_uncached_money_steps": 1.7, "reason": None, "batch": 8.0},
        **{"evidence_grade": "B", "energy_saving_probability_frac": 0.75},
        **{"energy_verdict": "within noise", "cost_saving_probability_frac": 1.0},
        **{"cost_verdict": "saves", "assumption": "a share is kept"},
    }
    return _frame(line | change for change in changes)


def spot_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_sweet_spot, one line for each set of changes: 300 tokens where 400 are least."""
    line = {
        **{"month": MONTH, "provider": "openai", "model_id": "gpt-5", "query_class": "chat"},
        **{"energy_j_per_task": 360_000.0, "gpu_energy_j": 3.6e6, "batch": 64.0},
        **{"energy_low_j": 1.8e6, "energy_high_j": 7.2e6},
        **{"evidence_grade": "D", "mean_input_tokens": 900.0, "mean_output_tokens": 300.0},
        **{"output_p10_tokens": 100.0, "output_p50_tokens": 250.0, "output_p90_tokens": 500.0},
        **{"optimum_output_tokens": 400.0, "energy_j_per_output_token_at_mean": 1_200.0},
        **{"energy_j_per_output_token_at_optimum": 1_000.0, "penalty_frac": 0.2},
        **{"penalty_low_frac": 0.05, "penalty_p50_frac": 0.21, "penalty_high_frac": 0.4},
        **{"penalty_positive_frac": 1.0, "mean_against_optimum": "shorter", "reason": None},
    }
    return _frame(line | change for change in changes)


def limits_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_agent_limits, one line for each set of changes."""
    line = {
        **{"month": MONTH, "provider": "own-cluster", "model_id": "llama-3.1-8b"},
        **{"first_context_tokens": 9_000.0, "long_context_tokens": 68_000.0},
        **{"other_task_count": 4, "other_energy_j_per_task": 9e5},
        **{"other_energy_low_j_per_task": 4e5, "other_energy_high_j_per_task": 2e6},
        **{"other_list_cost_usd_per_task": None, "passing_other_energy_tokens": 31_000.0},
        **{"passing_other_energy_low_tokens": 24_000.0},
        **{"passing_other_energy_high_tokens": 40_000.0},
        **{"passing_other_cost_tokens": None, "passing_value_tokens": None},
        **{"first_batch_max": 50.0, "long_batch_max": 7.0, "reason": "no list price"},
        **{"batch": 8.0, "evidence_grade": "B", "coefficient_set_id": "h100-sxm-vllm-1"},
    }
    return _frame(line | change for change in changes)


def budget_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_reasoning_budget: low, middle (the best) and high budgets of each line."""
    line = {
        **{"provider": "openai", "model_id": "gpt-5", "query_class": "reasoning"},
        **{"mean_output_tokens": 1_000.0, "accuracy_frac": 0.5, "gpu_energy_j": 100.0},
        **{"energy_low_j": 40.0, "energy_high_j": 300.0, "accuracy_frac_per_j": 0.005},
        **{"above_chance_frac_per_j": 0.0025, "energy_j_per_correct_answer": 200.0},
        **{"cost_usd_per_correct_answer": 0.02, "energy_j_per_extra_correct_answer": None},
        **{"cost_usd_per_extra_correct_answer": None, "is_best": False, "is_edge": True},
        **{"is_best_above_chance": False, "is_energy_faster_than_length": False},
        **{"reason": None, "source": "own test", "batch": 64.0, "evidence_grade": "D"},
        **{"net_value_usd": None, "is_best_net_value": None, "cost_reason": None},
        **{"saving_j_per_correct_answer": None, "saving_positive_frac": None},
    }
    budgets: list[dict[str, Any]] = [
        {"budget": "low", "mean_output_tokens": 500.0, "above_chance_frac_per_j": 0.002},
        {"budget": "middle", "is_best": True, "is_best_above_chance": True, "is_edge": False},
        {
            **{"budget": "high", "mean_output_tokens": 9_000.0, "above_chance_frac_per_j": 0.001},
            "is_energy_faster_than_length": True,
        },
    ]
    frame = _frame(line | budget | change for change in changes for budget in budgets)
    names = ("is_best", "is_best_above_chance", "is_best_net_value", "is_edge")
    return frame.with_columns(pl.col(*names).cast(pl.Boolean))


def forecast_mart(**changes: Any) -> pl.DataFrame:  # noqa: ANN401 a value of any column
    """Return mart_forecast of July: 1.50 USD (1 to 2) and 3 kWh (1 to 9)."""
    line = {
        **{"month": MONTH, "forecast_month": "2026-07", "damped_change_ratio": 1.1},
        **{"week_count": 8, "reason": None, "evidence_grade": "D", "batch": 64.0},
    }
    cost = {
        **{"measure": "cost", "cost_usd": Decimal("1.5"), "cost_low_usd": Decimal(1)},
        **{"cost_high_usd": Decimal(2), "facility_energy_kwh": None},
        **{"facility_energy_low_kwh": None, "facility_energy_high_kwh": None},
    }
    energy = {
        **{"measure": "energy", "cost_usd": None, "cost_low_usd": None, "cost_high_usd": None},
        **{"facility_energy_kwh": 3.0, "facility_energy_low_kwh": 1.0},
        **{"facility_energy_high_kwh": 9.0},
    }
    return _frame(line | each | changes for each in (cost, energy))


def budget_lines(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_budget, one line for each set of changes: half of 2 USD used by the 15th."""
    line = {
        **{"month": MONTH, "team": "support", "budget_usd": Decimal(2), "used_usd": Decimal(1)},
        **{"used_frac": 0.5, "projected_usd": Decimal(2), "projected_frac": 1.0},
        **{"last_on": dt.date(2026, 6, 15), "reason": None},
    }
    return _frame(line | change for change in changes)


def reversal_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_price_reversals, one line for each set of changes: nano reasons past mini."""
    line = {
        **{"month": MONTH, "query_class": "chat", "provider": "openai", "model_id": "gpt-5-nano"},
        **{"other_provider": "openai", "other_model_id": "gpt-5-mini"},
        **{"fewest_request_count": 30, "is_cheaper_by_list": True, "is_cheaper_at_mix": True},
        **{"mix_usd_per_mtok": 0.1375, "other_mix_usd_per_mtok": 0.6875},
        **{"list_cost_usd_per_task": 0.001245, "other_list_cost_usd_per_task": 0.000825},
        **{"gap_usd_per_task": 0.00042, "list_price_usd_per_task": -0.00282},
        **{"verbosity_usd_per_task": 0.00024, "reasoning_usd_per_task": 0.003},
        **dict.fromkeys(
            [
                *("tier_usd_per_task", "cache_price_usd_per_task", "cache_share_usd_per_task"),
                *("input_length_usd_per_task", "failures_usd_per_task", "requests_usd_per_task"),
            ],
            0.0,
        ),
        **{"is_reversal": True, "cause": "more reasoning", "output_tokens_per_request": 3_000.0},
        **{"threshold_output_tokens_per_request": 1_950.0, "cache_read_frac": 0.0},
        **{"threshold_cache_read_frac": None, "reason": None},
    }
    return _frame(line | change for change in changes)


def items_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_items_per_call, one line for each set of changes: 3 items save 2 of 10 J."""
    line = {
        **{"month": MONTH, "provider": "openai", "model_id": "gpt-5", "query_class": "rag"},
        **{"request_count": 10, "batch": 64.0, "evidence_grade": "D", "gpu_energy_j": 100.0},
        **{"shared_input_frac": 0.4, "shared_input_tokens": 400.0, "item_input_tokens": 600.0},
        **{"item_output_tokens": 30.0, "best_items": 3, "energy_j_per_single_item": 10.0},
        **{"energy_j_per_item": 8.0, "saving_j_per_item": 2.0, "saving_low_j_per_item": 1.0},
        **{"saving_p50_j_per_item": 2.1, "saving_high_j_per_item": 4.0},
        **{"saving_positive_frac": 0.95, "saving_usd_per_item": Decimal("0.0002")},
        **{"saving_low_usd_per_item": Decimal("0.0001"), "reason": None},
        **{"saving_high_usd_per_item": Decimal("0.0003"), "cost_items": 40},
        **{"cost_items_limit": "price tier"},
        **{"cost_items_saving_usd_per_item": Decimal("0.00035")},
    }
    return _frame(line | change for change in changes)


def waste_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_waste, one line for each set of changes: one request of ten failed."""
    line = {
        **{"month": MONTH, "provider": "openai", "model_id": "gpt-5", "waste_kind": "failed"},
        **{"evidence_grade": "D", "batch": 64.0, "request_count": 1},
        **{"unmeasured_request_count": 0, "unpriced_request_count": 0, "input_tokens": 90},
        **{"output_tokens": 30, "cost_usd": Decimal("0.1005"), "gpu_energy_j": 360_000.0},
        **{"facility_energy_kwh": 0.2, "facility_energy_low_kwh": 0.1},
        **{"facility_energy_p50_kwh": 0.21, "facility_energy_high_kwh": 0.4},
        **{"carbon_gco2e": 94.6, "energy_frac": 0.0625},
    }
    return _frame(line | change for change in changes)


def findings_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_findings, one line for each set of changes: agents with 9.50 USD left to save."""
    line = {
        **{"month": MONTH, "finding_kind": "not_fully_cached", "provider": "anthropic"},
        **{"model_id": "claude-opus-4-8", "query_class": "agentic", "finding_rank": 1},
        **{"is_within_noise": False, "request_count": 816, "cost_saving_low_usd": Decimal("9.5")},
        **{"cost_saving_p50_usd": Decimal("9.5"), "cost_saving_high_usd": Decimal("9.5")},
        **{"cost_saving_probability_frac": 1.0, "facility_energy_saving_low_kwh": 0.3},
        **{"facility_energy_saving_p50_kwh": 1.0, "facility_energy_saving_high_kwh": 3.4},
        **{"energy_saving_probability_frac": 0.95, "carbon_saving_p50_gco2e": 473.0},
        **{"assumption": "cache_life_s", "source_mart": "mart_agentic", "batch": 5.0},
        **{"evidence_grade": "D", "method_version": "1"},
    }
    return _frame(line | change for change in changes)


def levers_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_architecture_levers, one line for each set of changes to the reference."""
    line = {
        **{"month": MONTH, "variant": "gqa_8", "batch": 8.0, "lever": "reference"},
        **{"step_count": 0, "meaning": "8 KV heads", "evidence_grade": "C"},
        **{"coefficient_set_id": "h100-sxm-vllm-1", "query_class": "chat"},
        **{"mean_input_tokens": 900.0, "mean_cached_tokens": 0.0, "mean_output_tokens": 300.0},
        **{"body_params": 6_979_321_856, "kv_bytes_per_position": 131_072.0},
        **{"batch_max": 355.0, "served_batch": 8.0, "energy_j_per_request": 137.0},
        **{"energy_low_j_per_request": 100.0, "energy_high_j_per_request": 200.0},
        **{"energy_j_per_output_token": 0.457, "saving_frac": 0.0, "saving_low_frac": 0.0},
        **{"saving_p50_frac": 0.0, "saving_high_frac": 0.0, "saving_positive_frac": None},
        **{"reason": None},
    }
    return _frame(line | change for change in changes)


def anomaly_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_anomalies, one line for each set of changes: ten times the usual requests."""
    line = {
        **{"month": MONTH, "day_on": dt.date(2026, 6, 9), "subject_kind": "team"},
        **{"subject": "support", "measure": "cost", "cost_usd": Decimal("0.5")},
        **{"expected_cost_usd": Decimal("0.05"), "facility_energy_kwh": 0.5},
        **{"expected_energy_kwh": None, "month_frac": 0.3, "score_ratio": 90.0},
        **{"requests_ratio": 10.0, "request_tokens_ratio": 1.0, "price_ratio": 1.0},
        **{"moved": "requests", "pattern_day_count": 6, "facility_energy_low_kwh": 0.25},
        **{"facility_energy_high_kwh": 1.0, "evidence_grade": "D", "batch": 64.0},
    }
    return _frame(line | change for change in changes)


def linearity_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_token_linearity, one line for each set of changes: 30 % more than tokens ask."""
    line = {
        **{"run_set": "evening", "model": "llama-3.1-8b", "category": "deep"},
        **{"reference_category": "general", "is_generated": False, "formula": "|E − T| / T"},
        **{"energy_basis": "trapezoid", "run_count": 5, "reference_run_count": 5},
        **{"looped_run_count": 1, "mean_output_tokens": 2_000.0, "mean_energy_j": 5_200.0},
        **{"mean_power_w": 260.0, "reference_power_w": 200.0, "token_multiplier_ratio": 2.0},
        **{"energy_multiplier_ratio": 2.6, "divergence_frac": 0.3, "divergence_low_frac": 0.25},
        **{"divergence_high_frac": 0.35, "band_frac": 0.15, "beyond_probability_frac": 0.001},
        **{"within_probability_frac": 1.0, "verdict": "beyond the band"},
        **{"law_multiplier_ratio": 2.1, "law_divergence_frac": 0.05, "explained_frac": 0.186},
        **{"remaining_frac": 0.238, "remaining_low_frac": 0.19, "remaining_high_frac": 0.29},
        **{"coefficient_set_id": "h200-sxm-vllm-1", "law_scale_ratio": 1.0},
    }
    return _frame(line | change for change in changes)


def hours_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_measured_hours, one line for each set of changes: 1 kWh, half of it idle."""
    line = {
        **{"month": MONTH, "gpu": "0", "gpu_name": "NVIDIA H200"},
        **{"hour_start_at": dt.datetime(2026, 6, 9, 10), "covered_s": 3_600.0},
        **{"measured_energy_kwh": 1.0, "idle_energy_kwh": 0.5, "law_energy_kwh": 0.3},
        **{"unexplained_energy_kwh": 0.2, "idle_frac": 0.5, "unexplained_frac": 0.2},
        **{"law_energy_low_kwh": 0.2, "law_energy_high_kwh": 0.6, "batch": 8.0},
        **{"drift_frac": 0.4, "is_drifting": True, "evidence_grade": "B"},
        **{"coefficient_set_id": "h100-sxm-vllm-1", "method_version": "1"},
    }
    return _frame(line | change for change in changes)


def audit_frames(text: str = "3 gaps") -> dict[str, pl.DataFrame]:
    """Return the tables of an audit, a line each; `text` stands wherever a log's words do."""
    told: dict[str, dict[str, Any]] = {
        "audit_log": {"line_number": 1, "text": text},
        "audit_baselines": {"baseline": "model loaded", "power_w": 120.0, "time_count": 4},
        "audit_effects": {"model": text, "effect": "order_number", "estimate": 0.01},
        "audit_fits": {"model": text, "form": "law", "row_count": 20, "residual_frac": 0.02},
        "audit_budget": {"line_number": 1, "component": "expanded", "standard_frac": 0.104,
                         "ratio_frac": 0.035},
        "audit_findings": {"kind": "log", "subject": text, "text": text},
    }  # fmt: skip
    return {
        name: pl.DataFrame([{"run_set": text} | row], schema=TABLES[name])
        for name, row in told.items()
    }


def power_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_power_policy, decode and both for each set of changes: a lock saves 1 kWh."""
    line = {
        **{"month": MONTH, "gpu": "H200-SXM", "policy": "lock at 1590 MHz", "phase": "both"},
        **{"lever": "lock", "ownership": "owned", "bound_verdict": None},
        **{"factor_source": "own power logs", "evidence_grade": "B"},
        **{"coefficient_set_id": "h200-sxm-vllm-1", "batch": 4.0},
        **{"phase_energy_j": 36e6, "energy_ratio": 0.9, "energy_low_ratio": None},
        **{"energy_high_ratio": None, "throughput_ratio": None, "electricity_delta_kwh": -1.0},
        **{"electricity_delta_low_kwh": -1.5, "electricity_delta_high_kwh": -0.7},
        **{"saving_positive_frac": 1.0, "carbon_delta_gco2e": -473.0, "reason": None},
        **{"carbon_delta_low_gco2e": -709.5, "carbon_delta_high_gco2e": -331.1},
        **{"electricity_delta_if_owned_usd": Decimal("-0.1"), "hosting_cost_usd": Decimal(40)},
        **{"electricity_delta_if_owned_low_usd": Decimal("-0.3")},
        **{"electricity_delta_if_owned_high_usd": Decimal("-0.035")},
        **{"electricity_delta_usd": Decimal("-0.1"), "gpu_time_s": 36e3, "gpu_time_delta_s": 90.0},
        **{"capacity_delta_usd": Decimal("0.1"), "cost_delta_usd": Decimal(0)},
        **{"cost_delta_low_usd": Decimal("-0.2"), "cost_delta_high_usd": Decimal("0.2")},
        **{"break_even_throughput_loss_frac": 0.0025},
        **{"break_even_tariff_usd_per_kwh": Decimal("0.1")},
    }
    rows = [line | change for change in changes]
    return _frame(row | {"phase": phase} for row in rows for phase in ("both", "decode"))


def families_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_attention_families, one line for each set of changes: half of GQA's energy."""
    line = {
        **{"family": "gated DeltaNet", "input_tokens": 8_192, "batch": 32.0, "batch_max": 1_590.0},
        **{"meaning": "a state", "evidence_grade": "C", "coefficient_set_id": "h200-sxm-vllm-1"},
        **{"energy_output_tokens": 1_000, "prefill_ratio": 1.1, "energy_j_per_request": 281.0},
        **{"energy_low_j_per_request": 150.0, "energy_high_j_per_request": 600.0},
        **{"energy_ratio": 0.5, "energy_low_ratio": 0.3, "energy_high_ratio": 1.2},
        **{"crossing_output_tokens": 90.0, "crossing_batch": None},
        **{"crossing_meaning": "less energy from this length on"},
    }
    return _frame(line | change for change in changes)


def policy_frames(text: str = "cap at 400 W") -> dict[str, pl.DataFrame]:
    """Return the tables of power policies, a line each; `text` stands wherever a log's words do."""
    named = {"policy": text, "model": text, "workload": "", "phase": "decode", "batch": 1.0}
    told: dict[str, list[dict[str, Any]]] = {
        "measured_factors": [],
        "policy_cells": [
            {**named, "gpu_name": text, "run_count": 6, "is_baseline": False, "draw_w": 257.0,
             "mean_power_w": 256.0, "limit_w": 400.0, "clock_mhz": 1_830.0, "tokens_per_s": 99.0,
             "energy_j_per_token": 2.5, "firmware_s": 0.5, "bound_verdict": "not bound",
             "bound_reason": "draws 257 W of 400 W at 1830 MHz", "is_on_front": True}
        ],
        "policy_effects": [
            {**named, "metric": metric, "run_count": 6, "baseline_run_count": 6, "ratio": 0.999,
             "low_ratio": 0.99, "high_ratio": 1.01, "margin_frac": 0.02, "p_equivalent": 0.001,
             "verdict": "no effect"}
            for metric in ("energy_j_per_token", "tokens_per_s")
        ],
        "policy_classes": [{**named, "clock_class": "flat", "elasticity": 0.03}],
        "policy_traces": [
            {"policy": text, "since_s": float(second), "power_w": 250.0, "limit_w": 400.0}
            for second in range(3)
        ],
        "policy_commands": [
            {"line_number": 1, "policy": text, "apply_command": "nvidia-smi -pl 400",
             "undo_command": "nvidia-smi -pl <default limit>"}
        ],
    }  # fmt: skip
    return {name: pl.DataFrame(rows, schema=TABLES[name]) for name, rows in told.items()}


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
        **{"api_key_request_count": 7, "project_request_count": 0, "user_request_count": 0},
        **{"route_request_count": 3, "batch": 64.0},
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


def unknown_columns() -> pl.DataFrame:
    """Return the columns that no select reads: words in 9 rows, tokens in 4 of 5 rows."""
    return pl.DataFrame(
        [
            ("logs/june.csv", "mood", 9, 0, False),
            ("logs/own.jsonl", "swift_tokens", 5, 4, True),
        ],
        schema=["source_file", "column_name", "filled_row_count", "number_row_count",
                "is_token_like"],
        orient="row",
    )  # fmt: skip


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


def project_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_project_chargeback, one line for each set of changes."""
    line = {
        **{"month": MONTH, "team": "support", "project": "checkout", "request_count": 6},
        **{"unpriced_request_count": 0, "unmeasured_request_count": 0},
        **{"cost_usd": Decimal("0.75"), "facility_energy_kwh": 1.5, "carbon_gco2e": 709.5},
        **{"facility_energy_low_kwh": 0.75, "facility_energy_high_kwh": 3.0},
        **{"evidence_grade": "D", "batch": 64.0},
    }
    return _frame(line | change for change in changes)


def unresolved_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_unresolved_models, one line for each set of changes: mystery, half the tokens."""
    line = {
        **{"month": MONTH, "provider": "self-hosted", "model_name": "mystery"},
        **{"request_count": 4, "input_tokens": 1_000, "output_tokens": 850, "token_frac": 0.5},
        **{"cost_usd": None, "unpriced_request_count": 4, "nearest_model_id": None},
    }
    return _frame(line | change for change in changes)


def reconciliation_mart() -> pl.DataFrame:
    """Return mart_reconciliation: 1.00 USD billed for tokens that cost 1.005 by list price."""
    money: dict[str, list[Decimal | None]] = {
        "computed_cost_usd": [Decimal("1.005")],
        "compared_cost_usd": [Decimal("1.005")],
        "billed_cost_usd": [Decimal("1.00")],
        "gap_usd": [Decimal("-0.005")],
        "other_charge_usd": [None],
        **{f"{part}_usd": [Decimal(0)] for part in ("unpriced", "missing_usage", "unbilled_usage")},
        **{f"{part}_usd": [Decimal(0)] for part in ("credit", "rest")},
        **{"rounding_usd": [Decimal("-0.005")]},
        **{f"{part}_usd": [None] for part in ("late", "open_bucket", "time_zone")},
    }
    return pl.DataFrame(
        {
            **{"month": [MONTH], "provider": ["openai"], "model_id": ["gpt-5"]},
            **{"gap_cause": ["rounding"], "unpriced_request_count": [0]},
            **{name: pl.Series(values, dtype=MONEY) for name, values in money.items()},
        }
    )


def bridge_mart(**changes: Any) -> pl.DataFrame:  # noqa: ANN401 a value of any column
    """Return mart_month_bridge: 1.20 USD in May, 1.50 USD in June, and twice the electricity."""
    parts = ("before", "volume", "mix", "model", "length")
    cost = ("1.20", "0.50", "0.10", "-0.40", "0.15", "-0.05", "1.50")
    energy = ("1.5", "1.5", "0", "-0.25", "0.25", "0", "3")
    row: dict[str, Any] = {"month": MONTH, "priced_request_before_count": 10}
    row |= {"priced_request_count": 16, "measured_request_before_count": 10}
    row |= {"measured_request_count": 16}
    for stem, unit, last, values in (
        ("cost", "usd", "price", cost),
        ("facility_energy", "kwh", "rate", energy),
        ("carbon", "gco2e", "rate", tuple(str(473 * Decimal(value)) for value in energy)),
    ):
        names = [*(f"{stem}_{part}_{unit}" for part in (*parts, last)), f"{stem}_{unit}"]
        row |= dict(zip(names, map(Decimal, values), strict=True))
        if stem != "cost":  # half as much or twice
            for name, value in zip(names, map(float, values), strict=True):
                part = name.removesuffix(f"_{unit}")
                row |= {f"{part}_low_{unit}": value / 2, f"{part}_high_{unit}": value * 2}
    row |= {"evidence_grade": "D", "batch": 60.0, "batch_before": 62.0}
    return _frame([row | changes])


def days_mart() -> pl.DataFrame:
    """Return mart_reconciliation_days: one day, billed 1.00 USD for 1.005 by list price."""
    money = {"computed_cost_usd": "1.005", "billed_cost_usd": "1.00", "gap_usd": "-0.005"}
    return pl.DataFrame(
        {
            **{"month": [MONTH], "provider": ["openai"], "model_id": ["gpt-5"]},
            **{"bill_day": [dt.date(2026, 6, 5)], "gap_cause": ["rounding"]},
            **{name: pl.Series([Decimal(text)], dtype=MONEY) for name, text in money.items()},
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


def validation_mart() -> pl.DataFrame:
    """Return mart_law_validation: one set of measurements won, one lost, both with short rows."""
    lines = [
        # data set, law, form, error, left out, fitted here
        ("won", "simple", "published", 0.12, None, False),
        ("won", "simple_with_bias", "published", 0.10, None, False),
        ("won", "ecologits_0_9", "published", 0.50, None, False),
        ("won", "simple", "refit", 0.03, 0.05, True),
        ("won", "ecologits_batch", "refit", 0.04, 0.07, True),
        ("lost", "simple", "published", 0.35, None, False),
        ("lost", "simple_with_bias", "published", 0.30, None, False),
        ("lost", "ecologits_0_9", "published", 0.20, None, False),
        ("lost", "simple", "refit", 0.15, None, True),
        ("lost", "linear", "refit", 0.11, None, True),
        ("home", "simple", "published", 0.01, None, True),
        ("home", "simple_with_bias", "published", 0.16, None, False),
        ("home", "simple", "refit", 0.02, None, True),
    ]
    parts = (("all", "all"), ("context_tokens", "1 to 512"))
    return pl.DataFrame(
        [
            (name, "H100", "vllm", law, form, kind, part, 9, error, 1.1, 0.3, unseen, fitted, "how")
            for name, law, form, error, unseen, fitted in lines
            for kind, part in parts
        ],
        schema=[
            *("dataset", "gpu", "stack", "law", "form", "subset_kind", "subset_value"),
            *("row_count", "mape_frac", "bias_ratio", "p90_frac", "leave_one_out_mape_frac"),
            *("is_fitted_here", "source"),
        ],
        orient="row",
    )


BRIDGE_USD = {
    **{"01": "1.005", "02": "-0.1005", "04": None, "06": "0.0957", "07": "0.499999", "08": None},
    **{"10": None, "11": "0.25", "12": "-5", "13": "0.003", "15": "0.21"},
}


def cost_bridge_mart() -> pl.DataFrame:
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


def comparison_mart(*changes: dict[str, Any]) -> pl.DataFrame:
    """Return mart_method_comparison: ours and EcoLogits for ten chats, and of changed lines."""
    own = {
        **{"month": MONTH, "provider": "openai", "model_id": "gpt-5", "query_class": "chat"},
        **{"law": "simple", "method_version": "1", "request_count": 10, "batch": 64.0},
        **{"evidence_grade": "D", "gpu_energy_j": 3.6e6, "own_gpu_energy_j": 3.6e6},
        **{"own_energy_low_j": 1.8e6, "own_energy_high_j": 7.2e6, "gpu_energy_ratio": 1.0},
        **{"is_inside_range": True, "facility_energy_kwh": 2.0, "own_facility_energy_kwh": 2.0},
        **{"own_facility_energy_low_kwh": 1.0, "own_facility_energy_high_kwh": 4.0},
        **{"facility_energy_ratio": 1.0, "source": "us", "domain": "all", "ignores": "caps"},
    }
    rival = {
        **{"law": "ecologits_0_8", "gpu_energy_j": 36e6, "gpu_energy_ratio": 10.0},
        **{"is_inside_range": False, "facility_energy_kwh": 16.0, "facility_energy_ratio": 8.0},
        **{"source": "EcoLogits", "domain": "answers", "ignores": "input tokens"},
    }
    return pl.DataFrame([own, own | rival, *(own | change for change in changes)])


def reference_frames() -> dict[str, pl.DataFrame]:
    """Return the reference tables that the sections on method read, as they are."""
    names = ("law_coefficients", "bias_factors", "grade_ranges", "dispersion_factors")
    return {
        name: pl.DataFrame(
            [
                {key: text or None for key, text in row.items()}  # as a warehouse reads them
                for row in reference_rows(name)
            ],
            infer_schema_length=None,
        )
        for name in (*names, "anchors", "joint_draws")
    }


def points_frame() -> pl.DataFrame:
    """Return the rows of law_points: one within a fifth of the law, one beyond, one of a fit."""
    lines = [("10", "11", "stored"), ("100", "150", "stored"), ("20", "20.1", "fitted")]
    return pl.DataFrame(
        [
            ("won", "H100-SXM", "vllm", "a/b", "1", "8", "9", "9", measured, predicted, by)
            for measured, predicted, by in lines
        ],
        schema=[
            *("dataset", "gpu", "stack", "architecture_id", "gpu_count", "batch"),
            *("input_tokens", "output_tokens", "measured_j", "predicted_j", "predicted_by"),
        ],
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
    cells = changed.get("mart_cost_per_task", cost_mart({}, _AGENTS, _UNKNOWN, may_line()))
    return {
        "mart_cost_per_task": cells,
        "mart_month_total": total_mart(cells),
        "mart_energy_per_class": energy_mart({}, _AGENTS, _UNKNOWN | _ENERGY_UNKNOWN),
        "mart_concurrency": concurrency_mart({}, _API_BATCH),
        "mart_implied_batch": implied_mart({}, _NO_BATCH),
        "mart_model_comparison": model_mart({}, SMALL_MODEL),
        "mart_price_reversals": reversal_mart({}, _TURNED),
        "mart_sweet_spot": spot_mart({}, _LONGER, _TOO_FEW),
        "mart_items_per_call": items_mart({}, _NOISE, _TOO_FEW_ITEMS),
        "mart_waste": waste_mart({}, _CUT_OFF),
        "mart_findings": findings_mart({}, _BATCHED, _UNSURE),
        "mart_architecture_levers": levers_mart(_FULL_HEADS, {}),
        "mart_agentic": agentic_mart({}),
        "mart_compaction": compaction_mart({}),
        "mart_agent_limits": limits_mart({}),
        "mart_reasoning_budget": budget_mart({}),
        "mart_forecast": forecast_mart(),
        "mart_budget": budget_lines({}),
        "mart_anomalies": anomaly_mart({}),
        "mart_token_linearity": linearity_mart({}),
        "mart_measured_hours": hours_mart({}),
        **audit_frames(),
        "mart_power_policy": power_mart({}),
        "mart_attention_families": families_mart({}),
        **policy_frames(),
        **{
            name: pl.DataFrame(reference_rows(name))
            for name in ("linearity_claims", "power_policies", "power_rules")
        },
        "mart_team_chargeback": team_mart({}, unattributed),
        "mart_month_bridge": bridge_mart(),
        "mart_project_chargeback": project_mart({}).clear(),
        "mart_cost_bridge": cost_bridge_mart(),
        "mart_cost_lines": lines_mart(),
        "mart_converted_bills": rates_mart(),
        "mart_unpriced_usage": unpriced_mart(),
        "mart_intake": intake_mart(),
        "mart_coverage": coverage_mart(),
        "mart_unresolved_models": unresolved_mart({}).clear(),
        "mart_reconciliation": reconciliation_mart(),
        "mart_reconciliation_days": days_mart(),
        "mart_other_charges": charges_mart(),
        "unknown_columns": unknown_columns(),
        "assumptions": _assumptions(),
        "assumed": pl.DataFrame(
            [("logs/own.jsonl", "model", "llama-3.1-8b")],
            schema=["source_file", "assumption", "value"],
            orient="row",
        ),
        "region_multipliers": pl.DataFrame(
            [("anthropic", "claude-opus-5", "us", 1.1, "second-hand", "2026-11-30")],
            schema=["provider", "model_id", "region", "multiplier_ratio", "source", "source_date"],
            orient="row",
        ),
        "checks": _checks(),
        "mart_law_validation": validation_mart(),
        "law_points": points_frame(),
        "mart_method_comparison": comparison_mart(),
        **reference_frames(),
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
    named = list(zip(lines, HOSTILE, strict=True))
    files = pl.DataFrame(
        [(text, text, "rejected", text, 1) for text in HOSTILE],
        schema=["source_file", "source_format", "outcome", "reason", "row_count"],
        orient="row",
    )
    return report(
        mart_team_chargeback=team_mart(*teams),
        mart_cost_per_task=cost_mart(*priced),
        mart_energy_per_class=energy_mart(*lines),
        mart_concurrency=concurrency_mart(*(line | {"batch_source": t} for line, t in named)),
        mart_implied_batch=implied_mart(*(line | {"reason": t} for line, t in named)),
        mart_cost_lines=lines_mart(*HOSTILE),
        mart_unpriced_usage=unpriced_mart(*HOSTILE),
        mart_model_comparison=model_mart(*(line | {"reason": t} for line, t in named)),
        mart_price_reversals=reversal_mart(
            *(line | {"other_model_id": t, "other_provider": t, "cause": t} for line, t in named)
        ),
        mart_sweet_spot=spot_mart(*lines),
        mart_items_per_call=items_mart(*lines),
        mart_waste=waste_mart(*lines),
        mart_findings=findings_mart(*(line | {"assumption": t} for line, t in named)),
        mart_architecture_levers=levers_mart(
            *({"variant": t, "lever": t, "meaning": t, "reason": t} for t in HOSTILE)
        ),
        mart_agentic=agentic_mart(*(line | {"reason": t, "assumption": t} for line, t in named)),
        mart_compaction=compaction_mart(*(line | {"reason": t} for line, t in named)),
        mart_reasoning_budget=budget_mart(
            *(line | {"reason": t, "source": t, "budget": t} for line, t in named)
        ),
        mart_budget=budget_lines(*({"team": t, "reason": t} for t in HOSTILE)),
        mart_anomalies=anomaly_mart(*({"subject": t} for t in HOSTILE)),
        mart_token_linearity=linearity_mart(*({"model": t, "category": t} for t in HOSTILE)),
        mart_measured_hours=hours_mart(*({"gpu": t} for t in HOSTILE)),
        **audit_frames(HOSTILE[0]),
        mart_power_policy=power_mart(*({"policy": t, "factor_source": t} for t in HOSTILE)),
        **policy_frames(HOSTILE[0]),
        mart_intake=files,
        mart_project_chargeback=project_mart(*({"team": t, "project": t} for t in HOSTILE)),
        mart_unresolved_models=unresolved_mart(
            *({"model_name": t, "provider": t, "nearest_model_id": t} for t in HOSTILE)
        ),
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
