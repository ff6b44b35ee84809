"""What the calculators of the reports need: every catalog model as numbers, GPUs, prices, factors.

The models go through the same tables as a log with one request of each, so that a calculator and
`joulebook estimate` start from one set of rows.
"""

import datetime as dt
from typing import Any

import duckdb

from pipeline import warehouse
from pipeline.ingest.load import create_tables
from pipeline.reference import load_reference
from pipeline.settings import Settings

_TARGETS = (
    *("int_deployments", "int_price_bands", "stg_bias_factors", "stg_grade_ranges"),
    "stg_joint_draws",
)

_QUERIES = {
    "models": """
        select
            models.model_id, hosts.stand_in_tier, hosts.context_tokens,
            list(struct_pack(architecture := hosts.architecture_id,
                bytes_per_weight := hosts.bytes_per_weight) order by hosts.architecture_id)
                as served_as
        from (select distinct provider, model_id from int_models where is_known_model) as models
        inner join int_deployments as hosts
            on models.provider = hosts.provider and models.model_id = hosts.model_id
        group by all
        order by models.model_id
    """,
    "architectures": """
        select distinct
            arch.architecture_id, arch.architecture_class, arch.layers, arch.dense_layers,
            arch.hidden, arch.ffn_matrices, arch.dense_ffn, arch.ffn as expert_ffn, arch.experts,
            arch.active_experts, arch.shared_ffn, arch.has_tied_embeddings, parts.mixing_params,
            parts.active_ffn_params, parts.held_ffn_params, parts.head_params,
            parts.attention_flop_per_pair, parts.kv_bytes_per_position, parts.state_bytes
        from stg_architectures as arch
        inner join int_architectures as parts on arch.architecture_id = parts.architecture_id
        inner join int_deployments as hosts on arch.architecture_id = hosts.architecture_id
        order by arch.architecture_id
    """,
    "gpus": "select gpu, memory_gb from stg_gpus order by gpu",
    "coefficient_sets": """
        select
            coefficient_set_id, gpu, stack, is_default, architecture_count, a_j_per_flop,
            b_j_per_kv_byte, c_j_per_weight_byte, s_j_per_layer_step, s_j_per_step,
            input_tokens_low, input_tokens_high, output_tokens_low, output_tokens_high, batch_low,
            batch_high
        from stg_coefficients
        order by coefficient_set_id
    """,
    "bias_factors": """
        select architecture_class, coefficient_set_id, bias_factor, bias_low, bias_high
        from stg_bias_factors
        order by all
    """,
    "assumptions": "select assumption, value, low, high from stg_assumptions order by assumption",
    "grade_ranges": "select evidence_grade, low_ratio, high_ratio from stg_grade_ranges order by 1",
    "joint_draws": """
        select
            a_ratio, b_ratio, c_ratio, s_ratio, stack_ratio, dense_ratio, moe_ratio, mla_ratio,
            window_ratio, hybrid_ratio, small_z_score, middle_z_score, large_z_score
        from stg_joint_draws
        order by draw
    """,
    "prices": """
        select distinct
            models.model_id, bands.input_tokens_from, bands.input_tokens_to,
            bands.uncached_input_usd_per_mtok, bands.cache_read_usd_per_mtok,
            bands.output_usd_per_mtok
        from int_models as models
        inner join int_price_bands as bands
            on models.provider = bands.provider and models.model_id = bands.model_id
            and models.price_model is not distinct from bands.price_model
        where
            models.is_known_model and bands.service_tier = 'standard' and bands.region = ''
            and bands.utc_weekday_from = 1 and bands.utc_minute_from = 0
            and models.valid_from <= $asked_at and models.valid_to > $asked_at
            and bands.valid_from <= $asked_at and bands.valid_to > $asked_at
        order by all
    """,
}


def calculator_rows(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Return the rows that a calculator computes from, by table; money as decimals."""
    con = warehouse.connect(None, settings.memory_limit_gb, threads=1)
    try:
        load_reference(con, settings)
        create_tables(con)
        priced_on = con.execute("select max(source_date) from raw_prices").fetchall()[0][0]
        asked_at = dt.datetime.fromisoformat(str(priced_on))
        _ask_every_model(con, asked_at)
        warehouse.build(con, _TARGETS)
        return {name: _rows(con, sql, asked_at) for name, sql in _QUERIES.items()}
    finally:
        con.close()


def _ask_every_model(con: duckdb.DuckDBPyConnection, asked_at: dt.datetime) -> None:
    con.execute("insert into raw_inputs by name select 1 as input_id, 'catalog' as source_file")
    con.execute(
        """
        insert into raw_usage by name
        select
            1 as input_id, row_number() over (order by model_id) as source_line,
            $at::timestamp as occurred_at, strftime($at::timestamp, '%Y-%m') as month,
            model_id as model_name, 1 as uncached_input_tokens, 0 as cache_read_tokens,
            1 as output_tokens, true as is_cache_known, false as is_duplicate,
            'other' as query_class
        from raw_models
        """,
        {"at": asked_at},
    )


def _rows(con: duckdb.DuckDBPyConnection, sql: str, asked_at: dt.datetime) -> list[dict[str, Any]]:
    arguments = {"asked_at": asked_at} if "$asked_at" in sql else {}
    result = con.execute(sql, arguments)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
