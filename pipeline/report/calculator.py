"""The page's calculator as data: tables packed for a script, and what it shows first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl

MOST_MODELS = 4

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Input:
    """One number that a reader may change."""

    name: str
    label: str
    unit: str
    value: float
    least: float
    step: str  # as HTML wants it: "1" for whole numbers, "any" for others


@dataclass(frozen=True)
class Calculator:
    """Everything the calculator of the page needs."""

    tables: Mapping[str, Mapping[str, Any]]  # name → columns and rows, ready for JSON
    inputs: tuple[Input, ...]
    models: tuple[str, ...]  # shown first, at most four


def calculator(rows: Mapping[str, Rows], energies: pl.DataFrame) -> Calculator | None:
    """Return the calculator, None where there are no rows for it.

    Args:
        rows: The tables of `pipeline.frames.calculator`.
        energies: mart_energy_per_class of the month; its models with most energy are shown first.
    """
    if not rows:
        return None
    assumed = {row["assumption"]: float(row["value"]) for row in rows["assumptions"]}
    shapes = {row["model_id"]: row["served_as"] for row in rows["models"]}
    models = _most_energy(energies, shapes)
    batch = batch_of(energies, models[0]) or assumed["batch_api"]
    return Calculator(
        tables={name: _packed(table) for name, table in _numbered(rows).items()},
        inputs=(
            Input("input", "Input, cached included", "tokens", 900, 1, "1"),
            Input("cached", "Of it cached", "tokens", 0, 0, "1"),
            Input("output", "Output", "tokens", 300, 0, "1"),
            Input("batch", "Batch", "requests served together", batch, 1, "any"),
            Input("host", "Host ratio", "", assumed["host_ratio"], 1, "any"),
            Input("idle", "Idle ratio", "", assumed["idle_ratio"], 1, "any"),
            Input("pue", "PUE", "", assumed["pue_ratio"], 1, "any"),
            Input("tariff", "Tariff", "USD/kWh", assumed["electricity_usd_per_kwh"], 0, "any"),
            Input("grid", "Grid", "g CO₂e/kWh", assumed["carbon_gco2e_per_kwh"], 0, "any"),
        ),
        models=models,
    )


def batch_of(energies: pl.DataFrame, model_id: str) -> float | None:
    """Return the batch at which a model took most of its energy, None where it took none."""
    lines = energies.filter((pl.col("model_id") == model_id) & (pl.col("gpu_energy_j") > 0))
    largest = lines.sort(["gpu_energy_j", "batch"], descending=True).get_column("batch")
    return round(float(largest[0]), 2) if largest.len() else None


def most_energy(energies: pl.DataFrame) -> list[str]:
    """Return the models that took energy, the most first."""
    lines = energies.filter(pl.col("gpu_energy_j").is_not_null() & pl.col("model_id").is_not_null())
    sums = lines.group_by("model_id").agg(pl.col("gpu_energy_j").sort().sum())
    ordered = sums.sort(["gpu_energy_j", "model_id"], descending=[True, False])
    return ordered.get_column("model_id").to_list()


def _most_energy(energies: pl.DataFrame, shapes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the models of most energy; of those that are computed alike only the first."""
    chosen: list[str] = []
    for model_id in most_energy(energies):
        if model_id in shapes and all(shapes[model_id] != shapes[other] for other in chosen):
            chosen.append(model_id)
    return tuple(chosen[:MOST_MODELS]) or (min(shapes),)


def _numbered(rows: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return the tables with each model's architectures named by their row, which is shorter."""
    places = {row["architecture_id"]: n for n, row in enumerate(rows["architectures"])}
    models = [
        dict(row)
        | {
            "served_as": [
                [places[each["architecture"]], each["bytes_per_weight"]]
                for each in row["served_as"]
            ]
        }
        for row in rows["models"]
    ]
    return dict(rows) | {"models": models}


def _packed(rows: Rows) -> dict[str, Any]:
    """Return rows as columns named once and values without names, to keep the page small."""
    columns = list(rows[0]) if rows else []
    return {"columns": columns, "rows": [[_plain(row[name]) for name in columns] for row in rows]}


def _plain(value: Any) -> Any:  # noqa: ANN401 whatever a row holds
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return [_plain(each) for each in value.values()]
    return [_plain(each) for each in value] if isinstance(value, list) else value
