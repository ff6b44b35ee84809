"""The law and its rivals in words, with the constants that stand in the reference tables."""

from collections.abc import Callable
from functools import cache
from typing import Any

from pipeline.law_words import OWN, words_of
from pipeline.laws import rivals
from pipeline.reference import reference_rows
from pipeline.validation.measured_work import Coefficients
from pipeline.validation.measurements import coefficients_of, default_set


def described() -> list[dict[str, Any]]:
    """Return every law with its source, domain, what it ignores, and its constants."""
    own = OWN | {
        "constants": [
            {
                "scope": row["coefficient_set_id"],
                "coefficient": name,
                "value": float(row[name]),
                "unit": name.split("_", 1)[1].replace("_per_", "/").replace("j", "J", 1),
            }
            for row in reference_rows("law_coefficients")
            for name in Coefficients._fields
        ],
    }
    return [own, *(_described(law) for law in rivals.LAWS)]


@cache
def constants(law: str, scope: str = "*") -> dict[str, float]:
    """Return a rival's constants by the names of its arguments; empty where none are published."""
    return {
        row["coefficient"]: float(row["value"])
        for row in reference_rows("rival_coefficients")
        if (row["law"], row["scope"]) == (law, scope)
    }


@cache
def coefficient_set(gpu: str, stack: str) -> tuple[str, Coefficients]:
    """Return the set that prices a GPU and stack: its own, its GPU's, else the default one."""
    own = [row for row in reference_rows("law_coefficients") if row["gpu"] == gpu]
    alike = [row for row in own if row["stack"].lower().startswith(stack.lower())]
    default = [row for row in own if row["is_default"] == "true"]
    row = [*alike, *default, default_set()][0]
    return row["coefficient_set_id"], coefficients_of(row)


@cache
def bias_factor(architecture_class: str, coefficient_set_id: str) -> float:
    """Return the correction of a class of architecture over a coefficient set."""
    rows = {
        (row["architecture_class"], row["coefficient_set_id"]): float(row["bias_factor"])
        for row in reference_rows("bias_factors")
    }
    own = rows.get((architecture_class, coefficient_set_id))
    return rows[architecture_class, "*"] if own is None else own


def _described(law: Callable[..., Any]) -> dict[str, Any]:
    words = words_of(law)
    return words | {
        "constants": [
            {
                "scope": row["scope"],
                "coefficient": row["coefficient"],
                "value": float(row["value"]),
                "unit": row["unit"],
            }
            for row in reference_rows("rival_coefficients")
            if row["law"] == words["law"]
        ],
    }
