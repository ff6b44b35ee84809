"""The request that stands in the Calculator first, and the rows of the Data sheets it looks up."""

from typing import Any

import polars as pl

from pipeline.report.calculator import batch_of, most_energy
from pipeline.report.workbook.calculator_steps import Values
from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.models import numbered_models

STAND_INS = 3  # columns of the working
_INPUT, _OUTPUT = 900, 300  # tokens


def first_request(data: BookData) -> Values:
    """Return the request that stands in the inputs first, and the rows it looks up."""
    models = numbered_models(data)
    in_month = pl.col("month_start").cast(pl.String).str.slice(0, 7) == data.month
    groups = data.frame("groups").filter(in_month)
    known = set(models.get_column("model_id").to_list())
    used = [model_id for model_id in most_energy(groups) if model_id in known]
    model_id = used[0] if used else models["model_id"][0]
    rows = models.filter(pl.col("model_id") == model_id).rows(named=True)
    sets = data.frame("coefficients").rows(named=True)
    assumed = dict(data.frame("assumptions").select("assumption", "value").rows())
    ranges = {row["assumption"]: row for row in data.frame("assumptions").rows(named=True)}
    bias = data.frame("bias_factors").rows(named=True)
    grades, prices = data.frame("grade_ranges").rows(named=True), data.frame("list_prices")
    ids = list(dict.fromkeys(models["model_id"].to_list()))

    def bias_of(architecture_class: str) -> dict[str, Any]:
        for wanted in (sets[0]["coefficient_set_id"], "*"):
            for row in bias:
                if (row["architecture_class"], row["coefficient_set_id"]) == (
                    architecture_class,
                    wanted,
                ):
                    return row
        return {"bias_factor": 1, "bias_low": 1, "bias_high": 1}

    return {
        "model_id": model_id,
        "model_row": ids.index(model_id) + 1,
        "rows": rows[:STAND_INS],
        "set": sets[0],
        "set_row": 1,
        "assumed": assumed,
        "ranges": ranges,
        "bias": bias_of,
        "grades": {row["evidence_grade"]: row for row in grades},
        "prices": prices.filter(pl.col("model_id") == model_id).rows(named=True),
        "draws": data.frame("draws").rows(named=True),
        "input": _INPUT,
        "cached": 0,
        "output": _OUTPUT,
        "batch_wanted": batch_of(groups, model_id) or assumed["batch_api"],
    }
