"""Which mart each table and figure of the report shows, and what names a row of it there."""

from pipeline.explain.warehouse_rows import Row
from pipeline.report.sections.agents import STATE_WORDS
from pipeline.report.sections.laws import LAW_NAMES
from pipeline.report.sections.waste import KINDS

_CLASS = ("provider", "model_id", "query_class")
_MODEL = ("provider", "model_id")
# Table of the report: its mart, and the columns that name a row of it.
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "cost_per_task": ("mart_cost_per_task", _CLASS),
    "usage_and_cost": ("mart_cost_per_task", _CLASS),
    "energy_per_class": ("mart_energy_per_class", _CLASS),
    "energy_law": ("mart_energy_per_class", _CLASS),
    "carbon": ("mart_cost_per_task", _CLASS),
    "carbon_by_grid": ("mart_month_total", ()),
    "summary_by_class": ("mart_cost_per_task", ("query_class",)),
    "summary_by_model": ("mart_cost_per_task", ("model_id",)),
    "months": ("mart_cost_per_task", ("month",)),
    "reasoning": ("mart_cost_per_task", _CLASS),
    "team_chargeback": ("mart_team_chargeback", ("team",)),
    "project_chargeback": ("mart_project_chargeback", ("team", "project")),
    "cost_bridge": ("mart_cost_bridge", ("step_name",)),
    "cost_lines": (
        "mart_cost_lines",
        ("line_kind", "provider", "model_id", "team", "description"),
    ),
    "converted_bills": ("mart_converted_bills", ("currency",)),
    "unpriced_usage": (
        "mart_unpriced_usage",
        ("model_id", "provider", "service_tier", "unpriced_reason"),
    ),
    "findings": ("mart_findings", ("finding_rank", *_CLASS)),
    "concurrency": ("mart_concurrency", _CLASS),
    "concurrency_by_batch": ("mart_concurrency", (*_CLASS, "batch")),
    "implied_batch": ("mart_implied_batch", _CLASS),
    "cost_per_kwh": ("mart_implied_batch", _CLASS),
    "model_choice": ("mart_model_comparison", ("query_class",)),
    "model_savings": ("mart_model_comparison", _CLASS),
    "model_front": ("mart_model_comparison", _CLASS),
    "model_comparison": ("mart_model_comparison", _CLASS),
    "price_reversals": ("mart_price_reversals", (*_CLASS, "other_provider", "other_model_id")),
    "sweet_spot": ("mart_sweet_spot", _CLASS),
    "items_per_call": ("mart_items_per_call", _CLASS),
    "waste": ("mart_waste", (*_MODEL, "waste_kind")),
    "agents": ("mart_agentic", _MODEL),
    "agents_by_cache": ("mart_agentic", (*_MODEL, "cache_state")),
    "compaction": ("mart_compaction", _MODEL),
    "agent_limits": ("mart_agent_limits", _MODEL),
    "reasoning_budgets": ("mart_reasoning_budget", (*_CLASS, "budget")),
    "forecast": ("mart_forecast", ("measure",)),
    "budget": ("mart_budget", ("team",)),
    "anomalies": ("mart_anomalies", ("day_on", "subject")),
    "power_policy": ("mart_power_policy", ("gpu", "policy", "phase")),
    "measured_hours": ("mart_measured_hours", ("gpu", "hour_start_at")),
    "token_linearity": ("mart_token_linearity", ("model", "category")),
    "architecture_levers": ("mart_architecture_levers", ("variant", "batch")),
    "attention_families": ("mart_attention_families", ("family", "input_tokens", "batch")),
    "methods": ("mart_method_comparison", ("law",)),
    "method_lines": ("mart_method_comparison", (*_CLASS, "law")),
    "month_bridge": ("mart_month_bridge", ()),
    "unresolved_models": ("mart_unresolved_models", ("model_name", "provider")),
    "reconciliation": ("mart_reconciliation", _MODEL),
    "reconciliation_parts": ("mart_reconciliation", _MODEL),
    "reconciliation_days": ("mart_reconciliation_days", ("bill_day", *_MODEL)),
    "other_charges": ("mart_other_charges", ("charge_kind", *_MODEL, "team")),
    "law_errors": ("mart_law_validation", ("dataset", "gpu", "stack", "law", "form")),
    "law_duels": ("mart_law_validation", ()),
    "coverage": ("mart_coverage", ()),
    "intake": ("mart_intake", ("source_file",)),
    "intake_reasons": ("mart_intake", ("source_file", "outcome", "reason")),
    "key_figures": ("mart_cost_per_task", ()),
    "figure_cost_by_cell": ("mart_cost_per_task", ()),
    "figure_cost_bridge": ("mart_month_bridge", ()),
    "figure_energy_by_term": ("mart_energy_per_class", ()),
    "figure_energy_by_batch": ("mart_concurrency", ("batch",)),
    "figure_models_energy": ("mart_model_comparison", ()),
    "figure_methods": ("mart_method_comparison", ("law",)),
    "figure_chat_requests": ("mart_method_comparison", ()),
    "figure_law_errors": ("mart_law_validation", ()),
}
# What else a row of the mart must be, for a table or one of its columns.
_WHOLE: Row = {"subset_kind": "all"}
_FULL: Row = {"cache_state": "fully_cached"}
_WANTED: dict[str | tuple[str, str], Row] = {
    "concurrency": {"is_effective": True},
    "law_errors": _WHOLE,
    "law_duels": _WHOLE,
    "figure_law_errors": _WHOLE,
    "agents": {"cache_state": "as_cached"},
    ("agents", "left_kwh"): _FULL,
    ("agents", "left_usd"): _FULL,
    "carbon_by_grid": {"total_kind": "month"},
    "figure_chat_requests": {"law": "simple", "query_class": "chat"},
}
# Columns of the report that hold a key of the mart under another name.
_KEY_COLUMNS = {
    ("agents_by_cache", "cache_state"): "state",
    ("figure_energy_by_batch", "batch"): "place",
    ("figure_methods", "law"): "label",
}
# Keys that the report words for readers, as the mart spells them.
_SPELT = {
    "law": {shown: law for law, shown in reversed(LAW_NAMES.items())},
    "cache_state": {shown: state for state, shown in STATE_WORDS.items()},
    "waste_kind": {shown: kind for kind, shown in KINDS.items()},
}
# Columns that show a quantity of the mart under another name.
_QUANTITIES = {
    ("figure_cost_by_cell", "series_0"): "cost_usd",
    ("figure_cost_bridge", "value"): "cost_usd",
    ("figure_energy_by_term", "series_0"): "prefill_energy_kwh",
    ("figure_energy_by_term", "series_1"): "kv_cache_energy_kwh",
    ("figure_energy_by_term", "series_2"): "next_token_energy_kwh",
    ("figure_energy_by_term", "series_3"): "energy_low_kwh",
    ("figure_energy_by_term", "series_4"): "energy_high_kwh",
    ("figure_models_energy", "series_0"): "energy_j_per_task",
    ("figure_models_energy", "series_1"): "low_j_per_task",
    ("figure_models_energy", "series_2"): "high_j_per_task",
    ("figure_methods", "series_0"): "facility_energy_kwh",
    ("figure_chat_requests", "series_0"): "electricity_wh_per_request",
    ("figure_chat_requests", "series_1"): "electricity_low_wh_per_request",
    ("figure_chat_requests", "series_2"): "electricity_high_wh_per_request",
    ("sweet_spot", "positive_frac"): "penalty_positive_frac",
    ("items_per_call", "positive_frac"): "saving_positive_frac",
    ("model_choice", "cheapest_usd_per_task"): "cost_usd_per_task",
    ("model_choice", "leanest_j_per_task"): "energy_j_per_task",
    ("agents", "cached_saved_kwh"): "saved_facility_energy_kwh",
    ("agents", "cached_saved_usd"): "saved_list_cost_usd",
    ("agents", "left_kwh"): "saved_facility_energy_kwh",
    ("agents", "left_usd"): "saved_list_cost_usd",
    ("model_comparison", "served"): "own_request_count",
    ("model_front", "served"): "own_request_count",
}
# Where several rows of a mart fit: the column of the report, and its quantity, that tell the row.
_TOLD_BY = {
    "model_choice": ("leanest_j_per_task", "energy_j_per_task"),
    "figure_models_energy": ("series_0", "energy_j_per_task"),
    "figure_chat_requests": ("series_0", "electricity_wh_per_request"),
}


def wanted_of(table: str, column: str) -> Row:
    """Return what a row of the mart must be, beside its keys."""
    return _WANTED.get((table, column), _WANTED.get(table, {}))


def key_of(table: str, keys: tuple[str, ...], cells: Row) -> Row:
    """Return the keys of a row of the report, as its mart spells them."""
    found = {key: cells[_KEY_COLUMNS.get((table, key), key)] for key in keys}
    key = {name: _SPELT.get(name, {}).get(str(value), value) for name, value in found.items()}
    if table == "months":
        key["month"] = str(key["month"])[:7]
    return key


def quantity_of(table: str, column: str) -> str:
    """Return the quantity of the mart that a column of the report shows."""
    if table == "figure_energy_by_batch" and column != "place":
        return "energy_j_per_request"  # a column for each line of the figure
    return _QUANTITIES.get((table, column), column)


def told_by(table: str, column: str) -> tuple[str, str] | None:
    """Return the column, and its quantity, whose value says which of several rows is shown."""
    if table == "figure_energy_by_batch" or (table, column) == (
        "model_choice",
        "cheapest_usd_per_task",
    ):
        return column, quantity_of(table, column)
    return _TOLD_BY.get(table)
