"""The tables of what power meters said: empty with the reference tables, filled by a report."""

import duckdb
import polars as pl

# What an audit leaves in the warehouse, by table: its columns and their types.
TABLES: dict[str, dict[str, type[pl.DataType]]] = {
    "token_linearity": {
        **dict.fromkeys(("run_set", "model", "category", "reference_category"), pl.String),
        **{"is_generated": pl.Boolean, "formula": pl.String, "energy_basis": pl.String},
        **dict.fromkeys(("run_count", "reference_run_count", "looped_run_count"), pl.Int64),
        **dict.fromkeys(
            (
                *("mean_output_tokens", "mean_energy_j", "mean_power_w", "reference_power_w"),
                *("token_multiplier_ratio", "energy_multiplier_ratio", "divergence_frac"),
                *("divergence_low_frac", "divergence_high_frac", "band_frac"),
                *("beyond_probability_frac", "within_probability_frac"),
            ),
            pl.Float64,
        ),
        "verdict": pl.String,
        **dict.fromkeys(
            (
                *("law_multiplier_ratio", "law_divergence_frac", "explained_frac"),
                *("remaining_frac", "remaining_low_frac", "remaining_high_frac"),
            ),
            pl.Float64,
        ),
        "coefficient_set_id": pl.String,
        "law_scale_ratio": pl.Float64,
    },
    "audit_log": {
        **{"run_set": pl.String, "line_number": pl.Int64, "text": pl.String},
    },
    "audit_baselines": {
        **dict.fromkeys(("run_set", "baseline", "basis"), pl.String),
        **dict.fromkeys(("power_w", "spread_w"), pl.Float64),
        "time_count": pl.Int64,
    },
    "audit_effects": {
        **dict.fromkeys(("run_set", "model", "effect"), pl.String),
        **dict.fromkeys(("estimate", "low", "high", "p_holm"), pl.Float64),
    },
    "audit_fits": {
        **dict.fromkeys(("run_set", "model", "form"), pl.String),
        "row_count": pl.Int64,
        **dict.fromkeys(("residual_frac", "left_out_frac", "r_squared_frac"), pl.Float64),
    },
    "audit_budget": {
        **{"run_set": pl.String, "line_number": pl.Int64},
        **dict.fromkeys(("component", "kind", "meaning"), pl.String),
        **dict.fromkeys(("standard_frac", "ratio_frac"), pl.Float64),
        "is_in_repeats": pl.Boolean,
    },
    "audit_findings": dict.fromkeys(("run_set", "kind", "subject", "text"), pl.String),
    "measured_factors": {
        **dict.fromkeys(("gpu", "policy", "lever", "phase"), pl.String),
        **dict.fromkeys(
            (
                *("energy_ratio", "energy_low_ratio", "energy_high_ratio", "throughput_ratio"),
                *("throughput_low_ratio", "throughput_high_ratio"),
            ),
            pl.Float64,
        ),
        **{"bound_verdict": pl.String, "run_count": pl.Int64, "is_generated": pl.Boolean},
    },
    "policy_cells": {
        **dict.fromkeys(("policy", "model", "workload", "phase", "gpu_name"), pl.String),
        **{"batch": pl.Float64, "run_count": pl.Int64, "is_baseline": pl.Boolean},
        **dict.fromkeys(
            (
                *("mean_power_w", "draw_w", "limit_w", "asked_clock_mhz", "clock_mhz"),
                *("energy_j_per_token", "tokens_per_s", "firmware_s", "else_held_s"),
            ),
            pl.Float64,
        ),
        **{"bound_verdict": pl.String, "bound_reason": pl.String, "is_on_front": pl.Boolean},
    },
    "policy_effects": {
        **dict.fromkeys(("policy", "model", "workload", "phase", "metric"), pl.String),
        **{"batch": pl.Float64, "run_count": pl.Int64, "baseline_run_count": pl.Int64},
        **dict.fromkeys(
            ("ratio", "low_ratio", "high_ratio", "margin_frac", "p_equivalent"), pl.Float64
        ),
        **{"verdict": pl.String, "reason": pl.String},
    },
    "policy_classes": {
        **dict.fromkeys(("model", "workload", "phase", "policy", "clock_class"), pl.String),
        "batch": pl.Float64,
        **dict.fromkeys(("clock_ratio", "throughput_ratio", "elasticity"), pl.Float64),
    },
    "policy_traces": {
        "policy": pl.String,
        **dict.fromkeys(("since_s", "power_w", "limit_w"), pl.Float64),
    },
    "policy_commands": {
        **{"line_number": pl.Int64},
        **dict.fromkeys(("policy", "apply_command", "undo_command"), pl.String),
    },
    "telemetry_hours": {
        **dict.fromkeys(("month", "gpu", "gpu_name"), pl.String),
        "hour_start_at": pl.Datetime,
        **dict.fromkeys(("energy_j", "idle_energy_j", "covered_s"), pl.Float64),
    },
}


def create_measured_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Create raw_<table> for every table of measurements, empty."""
    for table, columns in TABLES.items():
        put(con, table, pl.DataFrame(schema=columns))


def put(con: duckdb.DuckDBPyConnection, table: str, rows: pl.DataFrame) -> None:
    """Create a table of measurements anew, of these rows; columns that it has not are left out."""
    frame = rows.select(pl.col(name).cast(kind) for name, kind in TABLES[table].items())
    con.register("measured_rows", frame)
    con.execute(f"create or replace table raw_{table} as select * from measured_rows order by all")
    con.unregister("measured_rows")


def measured_frames(con: duckdb.DuckDBPyConnection) -> dict[str, pl.DataFrame]:
    """Return what the report says of measured power beside its marts."""
    names = [name for name in TABLES if name.startswith(("audit_", "policy_"))]
    return {name: con.sql(f"select * from raw_{name} order by all").pl() for name in names}
