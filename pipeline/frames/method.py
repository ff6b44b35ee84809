"""What the sections on method read beside the marts: reference rows as the run had them."""

import duckdb
import polars as pl

from pipeline.reference import reference_rows

# Tables that a run may have laid its own rows over, so they come from the warehouse.
_LOADED = ("law_coefficients", "bias_factors", "grade_ranges", "dispersion_factors", "anchors")
_FIXED = ("law_points", "joint_draws", "linearity_claims", "power_policies", "power_rules")


def method_frames(con: duckdb.DuckDBPyConnection) -> dict[str, pl.DataFrame]:
    """Return the reference tables by name, every value as text."""
    loaded = {name: con.sql(f"from raw_{name} order by all").pl() for name in _LOADED}
    return loaded | {name: pl.DataFrame(reference_rows(name)) for name in _FIXED}
