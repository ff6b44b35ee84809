"""What the law says of each run: joules where its GPU has coefficients, else the shape alone."""

import re
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from pipeline.audit.linearity import usable
from pipeline.errors import WrongUseError
from pipeline.law_list import coefficient_set
from pipeline.reference import reference_rows
from pipeline.validation.measured_work import Measurement, energy_j
from pipeline.validation.measurements import default_set
from pipeline.validation.naming import Names, bytes_per_weight

_ASKED = ("model", "input_tokens", "cached_tokens", "output_tokens", "batch", "precision")


class Served(NamedTuple):
    """What the runs were served by, as the reference spells it."""

    gpu: str
    stack: str

    @property
    def has_coefficients(self) -> bool:
        """Return whether the GPU has a set of its own."""
        return any(row["gpu"] == self.gpu for row in reference_rows("law_coefficients"))


def served_by(names: Names, gpu_name: str | None, stack: str | None) -> Served:
    """Return GPU and stack; a GPU named as drivers do is found by the name it contains."""
    name = re.sub(r"^nvidia ", "", gpu_name or "", flags=re.IGNORECASE)
    found = names.gpu(name)
    if found == name:
        known = sorted((row["gpu"] for row in reference_rows("gpus")), key=len, reverse=True)
        found = next((gpu for gpu in known if _words(gpu) in _words(name)), name)
    return Served(found, stack or default_set()["stack"])


def require_known(gpu: str | None, stack: str | None) -> tuple[str | None, str | None]:
    """Return a GPU and a serving stack that a user names, as the reference spells them.

    Raises:
        WrongUseError: Where one is not known, with those that are.
    """
    if gpu is not None:
        names = Names()
        found = served_by(names, gpu, None).gpu
        if found not in names.gpus():
            raise WrongUseError(f"--gpu {gpu}: expected one of {', '.join(names.gpus())}.")
        gpu = found
    if stack is not None:
        stacks = sorted({row["stack"] for row in reference_rows("law_coefficients")})
        fitting = [each for each in stacks if each.lower().startswith(stack.lower())]
        if not fitting or not stack:
            raise WrongUseError(f"--stack {stack}: expected one of {', '.join(stacks)}.")
        stack = fitting[0]
    return gpu, stack


def _words(name: str) -> str:
    """Return the words of a name between blanks, so that no word is found within another."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', name.lower()))} "


def measured_requests(runs: pl.DataFrame, served: Served, names: Names) -> list[Measurement]:
    """Return each run with an energy as a measured configuration.

    Models that the catalog does not know, and precisions that nobody names, are left out.
    """
    counted = runs.filter(usable()).sort("started_at", "run_id")
    found = []
    for row in counted.rows(named=True):
        each = _measurement(row, served, names)
        if each is not None and each.input_tokens > 0:
            found.append(
                replace(
                    each,
                    source_line=row["source_line"],
                    time_s=row["duration_s"],
                    energy_j=row["energy_j"],
                )
            )
    return found


def _measurement(row: dict[str, object], served: Served, names: Names) -> Measurement | None:
    shape = names.shape(str(row["model"]))
    width = bytes_per_weight(str(row["precision"] or ""), shape) if shape else None
    if shape is None or width is None:
        return None
    n, k, m = (int(str(row[name])) for name in ("input_tokens", "cached_tokens", "output_tokens"))
    return Measurement(
        source_line=0,
        dataset="",
        gpu=served.gpu,
        stack=served.stack,
        task=str(row["model"]),
        shape=shape,
        architecture_class=shape.architecture_class,
        bytes_per_weight=width,
        input_tokens=n,
        output_tokens=m,
        batch=float(str(row["batch"])),
        gpu_count=1,
        phase="total",
        has_kv_cache=True,
        time_s=0,
        energy_j=0,
        cached_tokens=min(k, max(n - 1, 0)),
    )


def with_law(runs: pl.DataFrame, served: Served, names: Names) -> pl.DataFrame:
    """Return runs with law_j, coefficient_set_id and law_scale_ratio.

    A GPU with coefficients keeps what the law says, scale 1. For any other one scale for all its
    runs is fitted (the geometric mean of measured over law), so that only the shape is judged.
    """
    set_id, prices = coefficient_set(served.gpu, served.stack)
    asked = runs.select(_ASKED).unique().sort(_ASKED)
    energies = []
    for row in asked.rows(named=True):
        each = _measurement(row, served, names)
        is_asked = each is not None and each.output_tokens > 0 and each.input_tokens > 0
        energies.append(energy_j(each, prices) if each is not None and is_asked else None)
    priced = asked.with_columns(pl.Series("_law_j", energies, pl.Float64))
    found = runs.join(priced, on=_ASKED, how="left", nulls_equal=True).sort(
        "run_set", "started_at", "run_id"
    )
    is_fitting = ~pl.col("is_looped") & ~pl.col("is_baseline")
    scale = (
        pl.lit(1.0)
        if served.has_coefficients
        else (pl.when(is_fitting).then(pl.col("energy_j") / pl.col("_law_j")).log())
        .mean()
        .exp()
        .over("run_set")
    )
    return (
        found.with_columns(
            scale.alias("law_scale_ratio"), pl.lit(set_id).alias("coefficient_set_id")
        )
        .with_columns((pl.col("_law_j") * pl.col("law_scale_ratio")).alias("law_j"))
        .drop("_law_j")
        .sort("run_set", "started_at", "run_id")
    )
