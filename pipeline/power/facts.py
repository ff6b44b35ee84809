"""What papers and public notes say of caps and clock locks, from `power_policies.csv`."""

from collections.abc import Mapping
from typing import Any

from pipeline.reference import reference_rows

CERTAINTY = {
    "primary": "read in the source itself",
    "quoted": "quoted word for word by a third party",
    "secondary": "a summary by a third party",
    "unknown": "not known to us",
}


def facts() -> list[dict[str, Any]]:
    """Return every fact of the reference table."""
    return [fact_of(row) for row in reference_rows("power_policies")]


def fact_of(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of the table with numbers as numbers, and what is unknown as null."""
    return {
        **{name: text or None for name, text in row.items()},
        **{name: _number(row[name]) for name in ("value", "low", "high")},
    }


def referenced_factors() -> list[dict[str, Any]]:
    """Return the factors that the facts allow, unknown ones as null."""
    return [
        {
            **row,
            "setting": float(row["setting"]),
            **{name: _number(text) for name, text in row.items() if name.endswith("_ratio")},
        }
        for row in reference_rows("power_factors")
    ]


def shown(fact: dict[str, Any]) -> str:
    """Return the value of a fact, or its range, with its unit."""
    scale, unit = (100, "%") if fact["unit"] == "share" else (1, fact["unit"])
    if fact["value"] is not None:
        return f"{fact['value'] * scale:.4g} {unit}"
    if fact["low"] is None:
        return "unknown"
    if fact["high"] is None:
        return f"from {fact['low'] * scale:.4g} {unit} on"
    return f"{fact['low'] * scale:.4g} to {fact['high'] * scale:.4g} {unit}"


def _number(text: str) -> float | None:
    return float(text) if text else None
