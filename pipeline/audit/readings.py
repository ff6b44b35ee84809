"""What "tokens", "energy" and "divergence" may mean: the readings of an audit, each in words."""

from dataclasses import dataclass

import polars as pl

# Readings of the source's undefined "divergence", by name: the formula as printed.
FORMULAS = {
    "of_tokens": "|E − T| / T",
    "of_larger": "|E − T| / max(E, T)",
    "logarithm": "|ln(E / T)|",
}
QUANTITIES = {
    "energy": ("energy_j", "energy of a run, in joules"),
    "net_energy": ("net_energy_j", "energy of a run above the model-loaded baseline, in joules"),
    "mean_power": ("mean_power_w", "mean power of a run, in watts: no measure of energy"),
}
TOKENS = {
    "output": ("output_tokens", "output tokens"),
    "all": ("all_tokens", "input and output tokens"),
}


@dataclass(frozen=True)
class Reading:
    """How tokens, energy and their divergence are read."""

    formula: str = "of_tokens"
    quantity: str = "energy"
    tokens: str = "output"
    reference: str | None = None  # a category; `reference_category` chooses if not given
    band_frac: float | None = None  # that of the rules if not given


def reference_category(runs: pl.DataFrame, told: str | None) -> str:
    """Return the category that multipliers are of: the one told, else `general`, else the first."""
    asked = runs.filter(~pl.col("is_baseline")).sort("source_line")
    names = asked.get_column("category").unique(maintain_order=True).to_list()
    wanted = (told or "general").lower()
    alike = [name for name in names if name.lower() == wanted]
    return str([*alike, *names][0])


def divergence(log_ratio: pl.Expr, formula: str) -> pl.Expr:
    """Return a divergence from ln(E / T): every reading depends on that ratio alone."""
    if formula == "of_tokens":
        return (log_ratio.exp() - 1).abs()
    if formula == "of_larger":
        return 1 - (-log_ratio.abs()).exp()
    return log_ratio.abs()
