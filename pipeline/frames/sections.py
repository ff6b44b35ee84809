"""What the sections of a report read: marts, method and assumptions as frames."""

from collections.abc import Sequence

import duckdb
import polars as pl

from pipeline.frames.method import method_frames
from pipeline.marts import MARTS
from pipeline.measured_tables import measured_frames
from pipeline.warehouse import CheckResult


def frames(
    con: duckdb.DuckDBPyConnection, checks: Sequence[CheckResult]
) -> dict[str, pl.DataFrame]:
    """Return what the sections read: every mart with all its months, assumptions, checks."""
    tables = {name: con.sql(f"select * from {name} order by all").pl() for name in MARTS}
    tables |= method_frames(con) | measured_frames(con)
    tables["assumptions"] = con.sql(
        "select assumption, value::double as value, low::double as low, high::double as high, "
        "unit, meaning, source, source_date from raw_assumptions order by assumption"
    ).pl()
    tables["assumed"] = con.sql("""
        select source_file, replace(assumption, 'assumed_', '') as assumption, value
        from (
            unpivot (select * exclude (input_id, row_count, first_at, last_at, size_bytes,
                source_format, content_sha256) from raw_inputs)
            on columns('assumed_.*') into name assumption value value
        )
        order by all
    """).pl()
    tables["region_multipliers"] = con.sql("""
        select distinct requests.provider, requests.model_id, requests.region,
            rates.multiplier_ratio::double as multiplier_ratio, rates.source,
            rates.source_date::varchar as source_date
        from int_priced_requests as requests
        inner join stg_region_multipliers as rates
            on requests.provider = rates.provider and lower(requests.region) = rates.region
            and requests.occurred_at >= rates.valid_from and requests.occurred_at < rates.valid_to
        inner join int_model_spellings as spelt
            on requests.provider = spelt.provider and requests.model_id = spelt.model_id
            and rates.model in ('*', spelt.spelling)
        order by all
    """).pl()
    tables["unknown_columns"] = con.sql(
        "select source_file, column_name, filled_row_count, number_row_count, is_token_like "
        "from raw_unknown_columns inner join raw_inputs using (input_id) order by all"
    ).pl()
    tables["grid_factors"] = con.sql("select * from raw_grid_factors order by all").pl()
    tables["checks"] = pl.DataFrame(
        [
            (check.name, check.severity, check.status, check.violation_count, check.meaning)
            for check in checks
        ],
        schema={
            "check_name": pl.String,
            "severity": pl.String,
            "status": pl.String,
            "violation_count": pl.Int64,
            "meaning": pl.String,
        },
        orient="row",
    )
    return tables
