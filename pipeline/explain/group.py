"""What the energy of one model and class rests on: tables of the warehouse, read once."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from pipeline.explain.architecture import Sizes, sizes_of
from pipeline.explain.warehouse_rows import Row, row, rows
from pipeline.explain.work import Coefficients

_KEY = "month = $month and provider = $provider and model_id = $model_id"
_CLASS_KEY = f"{_KEY} and query_class = $query_class"
_DRAWN = ("gpu_energy_j", "facility_energy_kwh")
_KEYS = ("month", "provider", "model_id", "query_class")


@dataclass(frozen=True)
class Group:
    """One month, provider, model and class: rows of the tables that its energy comes from."""

    energy: Row  # of int_class_energy; empty where there is no energy
    batch: Row  # of int_batches
    logged_batch: Row  # of int_logged_batches; empty where the log tells none
    doubts: Row  # of int_class_doubts; empty where there is no work
    draws: dict[str, list[float]]  # of int_class_draws: energy at the boards and the facility
    moments: Row  # of int_class_moments
    host: Row  # of int_hosts
    deployments: Sequence[Row]  # of int_deployments, one for each stand-in
    works: Sequence[Row]  # of int_class_work, in the same order
    sets: Sequence[Row]  # of stg_coefficients, in the same order
    shapes: Sequence[Row]  # of stg_architectures, in the same order
    sources: Sequence[Row]  # coefficient set, its source and date
    biases: Sequence[Row]  # of raw_bias_factors, in the same order; empty where none is measured
    assumptions: dict[str, Row]  # of raw_assumptions

    @property
    def is_closed(self) -> bool:
        """Return whether stand-ins are computed in the model's place."""
        return bool(self.deployments) and self.deployments[0]["stand_in_tier"] is not None

    def sizes(self, number_of: int) -> Sizes:
        """Return what one of the architectures works with at the batch of the group."""
        return sizes_of(
            self.shapes[number_of],
            self.deployments[number_of]["bytes_per_weight"],
            self.batch["batch"],
        )

    def coefficients(self, number_of: int) -> Coefficients:
        """Return what prices the work of one of the architectures."""
        gpu_count = self.deployments[number_of]["gpu_count"]
        return Coefficients(self.sets[number_of], gpu_count, self.batch["batch"])


def group_of(con: duckdb.DuckDBPyConnection, key: Row) -> Group:
    """Return the group that a row with month, provider, model_id and query_class is in."""
    values = {name: key[name] for name in _KEYS}
    placed = {name: key[name] for name in ("provider", "model_id")}
    deployments = rows(
        con,
        "select * from int_deployments where provider = $provider and model_id = $model_id "
        "order by architecture_id",
        placed,
    )
    works = rows(
        con,
        f"select * from int_class_work where {_CLASS_KEY} order by architecture_id",
        values,
    )
    sets = [_set(con, each) for each in deployments]
    return Group(
        energy=row(con, f"select * from int_class_energy where {_CLASS_KEY}", values),
        batch=row(con, f"select * from int_batches where {_CLASS_KEY}", values),
        logged_batch=row(con, f"select * from int_logged_batches where {_CLASS_KEY}", values),
        doubts=row(con, f"select * from int_class_doubts where {_CLASS_KEY}", values),
        draws=_draws(con, values),
        moments=row(con, f"select * from int_class_moments where {_CLASS_KEY}", values),
        host=row(
            con,
            "select * from int_hosts where provider = $provider and model_id = $model_id",
            placed,
        ),
        deployments=deployments,
        works=works,
        sets=sets,
        shapes=[
            row(
                con,
                "select * from stg_architectures where architecture_id = $id",
                {"id": each["architecture_id"]},
            )
            for each in deployments
        ],
        sources=[
            row(
                con,
                "select coefficient_set_id, source, source_date from raw_law_coefficients "
                "where coefficient_set_id = $id",
                {"id": each["coefficient_set_id"]},
            )
            for each in deployments
        ],
        biases=[_bias(con, each) for each in deployments],
        assumptions={
            each["assumption"]: each
            for each in rows(
                con,
                "select assumption, value::double as value, low::double as low, "
                "high::double as high, unit, source, source_date from raw_assumptions",
            )
        },
    )


def _draws(con: duckdb.DuckDBPyConnection, values: Row) -> dict[str, list[float]]:
    found = rows(
        con,
        "select gpu_energy_j, facility_energy_kwh from int_class_draws "
        f"where {_CLASS_KEY} order by draw",
        values,
    )
    return {name: [each[name] for each in found] for name in _DRAWN}


def _set(con: duckdb.DuckDBPyConnection, deployment: Row) -> Row:
    return row(
        con,
        "select * from stg_coefficients where coefficient_set_id = $id",
        {"id": deployment["coefficient_set_id"]},
    )


def _bias(con: duckdb.DuckDBPyConnection, deployment: Row) -> Row:
    """Return the bias of an architecture under its coefficient set, else under any."""
    names = ("architecture_class", "coefficient_set_id")
    return row(
        con,
        "select * from raw_bias_factors where architecture_class = $architecture_class "
        "and coefficient_set_id in ($coefficient_set_id, '*') "
        "order by coefficient_set_id = '*' limit 1",
        {name: deployment[name] for name in names},
    )
