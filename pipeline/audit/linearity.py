"""Does energy grow with tokens? Multipliers of tokens and energy against a reference category.

For a category c and the reference b of the same model

    token multiplier   T = tokens_c / tokens_b      energy multiplier  E = energy_c / energy_b

both of geometric means, so that E / T is the ratio of energy per token. Repeats give the interval
of E / T (Student's t on logarithms, one spread for all categories of a model). A cell is held
against a band by two tests, each with Holm's correction over all cells of a run set: is it beyond
the band, is it within it? Where neither is shown, it is not decided.
"""

import polars as pl

from pipeline.audit import statistics
from pipeline.audit.readings import QUANTITIES, TOKENS, Reading, divergence
from pipeline.audit.rules import Rules

CELL = ["run_set", "model", "category"]
WITHIN, BEYOND, UNDECIDED, NO_REPEATS = (
    "within the band",
    "beyond the band",
    "not decided",
    "no repeats",
)


def cells(rows: pl.DataFrame, reading: Reading, reference: str, rules: Rules) -> pl.DataFrame:
    """Return each model and category but the reference against it.

    Args:
        rows: Runs with tokens and energy, and law_j, what the law says of each (null: nothing).
        reading: Which tokens and which energy count, and the formula of the divergence.
        reference: The category that multipliers are of.
        rules: Confidence, family error, band.

    Returns:
        run_set, model, category, run_count, reference_run_count, mean_tokens, mean_energy_j,
        mean_power_w, token_multiplier_ratio, energy_multiplier_ratio, excess_frac (E/T − 1) with
        excess_low_frac and excess_high_frac, divergence_frac with its ends, p values with Holm's,
        verdict, law_multiplier_ratio, law_divergence_frac, explained_frac, remaining_frac (E/L − 1)
        with its ends.
    """
    used = _usable(rows, reading)
    means = (
        used.sort(*CELL, "run_id")
        .group_by(CELL, maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("run_count"),
            *(_geometric(name) for name in ("_tokens", "_amount", "energy_j", "law_j")),
            pl.col("mean_power_w").mean(),
        )
    )
    against = means.join(
        means.filter(pl.col("category") == reference).drop("category"),
        on=["run_set", "model"],
        suffix="_of_reference",
    ).filter(pl.col("category") != reference)
    found = (
        against.join(_contrast(used, "_log_tokens", reference), on=CELL, how="left")
        .join(
            _contrast(used, "_log_law", reference).select(
                *CELL,
                pl.col("difference").alias("law_difference"),
                pl.col("standard_error").alias("law_standard_error"),
                pl.col("freedom").alias("law_freedom"),
            ),
            on=CELL,
            how="left",
        )
        .sort(CELL)
    )
    band = rules.band_frac if reading.band_frac is None else reading.band_frac
    judged = _judged(_with_intervals(found, reading, rules), band, rules)
    return _with_law(judged, reading).select(
        *CELL,
        "run_count",
        pl.col("run_count_of_reference").alias("reference_run_count"),
        pl.col("_tokens").alias("mean_tokens"),
        pl.col("energy_j").alias("mean_energy_j"),
        "mean_power_w",
        pl.col("mean_power_w_of_reference").alias("reference_power_w"),
        "token_multiplier_ratio",
        "energy_multiplier_ratio",
        *_ends("excess"),
        *_ends("divergence"),
        *("p_departs", "p_departs_holm", "p_beyond_holm", "p_within_holm", "verdict"),
        *("law_multiplier_ratio", "law_divergence_frac", "explained_frac"),
        *_ends("remaining"),
    )


def by_model(found: pl.DataFrame) -> pl.DataFrame:
    """Return mean and largest divergence of each model, and its verdicts counted.

    The largest of several uncertain numbers is larger than the largest of the true ones.
    """
    return (
        found.sort(CELL)
        .group_by("run_set", "model", maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("cell_count"),
            pl.col("divergence_frac").mean().alias("mean_divergence_frac"),
            pl.col("divergence_frac").max().alias("largest_divergence_frac"),
            pl.col("remaining_frac").abs().mean().alias("mean_remaining_frac"),
            *(
                (pl.col("verdict") == verdict).sum().cast(pl.Int64).alias(f"{name}_count")
                for name, verdict in (
                    ("within", WITHIN),
                    ("beyond", BEYOND),
                    ("undecided", UNDECIDED),
                )
            ),
        )
    )


def _ends(name: str) -> tuple[str, str, str]:
    return f"{name}_frac", f"{name}_low_frac", f"{name}_high_frac"


def usable() -> pl.Expr:
    """Return which runs count: asked, with an energy, and ended by themselves."""
    return ~pl.col("is_baseline") & ~pl.col("is_looped") & pl.col("energy_j").is_not_null()


def _usable(rows: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    tokens, amount = TOKENS[reading.tokens][0], QUANTITIES[reading.quantity][0]
    counted = rows.with_columns(
        (pl.col("input_tokens") + pl.col("output_tokens")).alias("all_tokens")
    ).with_columns(
        pl.col(tokens).cast(pl.Float64).alias("_tokens"), pl.col(amount).alias("_amount")
    )
    return counted.filter(usable(), pl.col("_amount") > 0, pl.col("_tokens") > 0).with_columns(
        (pl.col("_amount") / pl.col("_tokens")).log().alias("_log_tokens"),
        (pl.col("_amount") / pl.col("law_j")).log().alias("_log_law"),
    )


def _geometric(name: str) -> pl.Expr:
    """Return the geometric mean; null where any value is unknown."""
    return (
        pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).log().mean().exp()).alias(name)
    )


def _contrast(used: pl.DataFrame, value: str, reference: str) -> pl.DataFrame:
    """Return each category's mean of a column less the reference's, and its standard error."""
    stats = (
        used.filter(pl.col(value).is_not_null())
        .group_by(CELL)
        .agg(
            pl.col(value).mean().alias("mean"),
            ((pl.col(value) - pl.col(value).mean()) ** 2).sum().alias("squares"),
            pl.len().alias("count"),
        )
        .sort(CELL)  # sums of floats follow the order of rows
    )
    model = ["run_set", "model"]
    pooled = stats.with_columns(
        (pl.col("count").sum() - pl.len()).over(model).cast(pl.Float64).alias("freedom"),
        pl.col("squares").sum().over(model).alias("model_squares"),
    ).with_columns(
        pl.when(pl.col("freedom") > 0)
        .then(pl.col("model_squares") / pl.col("freedom"))
        .alias("variance")
    )
    base = pooled.filter(pl.col("category") == reference).select(
        *model, pl.col("mean").alias("base_mean"), pl.col("count").alias("base_count")
    )
    return pooled.join(base, on=model).select(
        *CELL,
        (pl.col("mean") - pl.col("base_mean")).alias("difference"),
        (pl.col("variance") * (1 / pl.col("count") + 1 / pl.col("base_count")))
        .sqrt()
        .alias("standard_error"),
        pl.when(pl.col("freedom") > 0).then("freedom").alias("freedom"),
    )


def _with_intervals(found: pl.DataFrame, reading: Reading, rules: Rules) -> pl.DataFrame:
    confidence = rules.confidence_frac
    width = statistics.half_width(found["standard_error"], found["freedom"], confidence)
    law_width = statistics.half_width(found["law_standard_error"], found["law_freedom"], confidence)
    difference, law_difference = pl.col("difference"), pl.col("law_difference")
    return (
        found.with_columns(width.alias("width"), law_width.alias("law_width"))
        .with_columns(
            (pl.col("_tokens") / pl.col("_tokens_of_reference")).alias("token_multiplier_ratio"),
            (pl.col("_amount") / pl.col("_amount_of_reference")).alias("energy_multiplier_ratio"),
            (difference.exp() - 1).alias("excess_frac"),
            ((difference - pl.col("width")).exp() - 1).alias("excess_low_frac"),
            ((difference + pl.col("width")).exp() - 1).alias("excess_high_frac"),
            (law_difference.exp() - 1).alias("remaining_frac"),
            ((law_difference - pl.col("law_width")).exp() - 1).alias("remaining_low_frac"),
            ((law_difference + pl.col("law_width")).exp() - 1).alias("remaining_high_frac"),
        )
        .with_columns(_divergence_ends(reading.formula))
    )


def _divergence_ends(formula: str) -> list[pl.Expr]:
    low, high = pl.col("difference") - pl.col("width"), pl.col("difference") + pl.col("width")
    at_low, at_high = divergence(low, formula), divergence(high, formula)
    return [
        divergence(pl.col("difference"), formula).alias("divergence_frac"),
        pl.when(pl.col("width").is_null())
        .then(None)
        .when((low <= 0) & (high >= 0))
        .then(0.0)
        .otherwise(pl.min_horizontal(at_low, at_high))
        .alias("divergence_low_frac"),
        pl.max_horizontal(at_low, at_high).alias("divergence_high_frac"),
    ]


def _judged(found: pl.DataFrame, band_frac: float, rules: Rules) -> pl.DataFrame:
    error, freedom = pl.col("standard_error"), found["freedom"]
    upper, lower = pl.lit(1 + band_frac).log(), pl.lit(1 - band_frac).log()
    scaled = found.with_columns(
        (pl.col("difference") / error).alias("_t"),
        ((pl.col("difference") - upper) / error).alias("_above_upper"),
        ((lower - pl.col("difference")) / error).alias("_below_lower"),
    )
    above = statistics.p_above(scaled["_above_upper"], freedom).alias("_p_above")
    below = statistics.p_above(scaled["_below_lower"], freedom).alias("_p_below")
    departs = statistics.two_sided_p(scaled["_t"], freedom).alias("p_departs")
    family = ["run_set"]
    with_p = scaled.with_columns(above, below, departs).with_columns(
        (2 * pl.min_horizontal("_p_above", "_p_below")).clip(0, 1).alias("p_beyond"),
        pl.max_horizontal(1 - pl.col("_p_above"), 1 - pl.col("_p_below")).alias("p_within"),
    )
    error_frac = rules.family_error_frac
    return with_p.with_columns(
        statistics.holm("p_departs", family),
        statistics.holm("p_beyond", family),
        statistics.holm("p_within", family),
    ).with_columns(
        pl.when(pl.col("p_beyond_holm").is_null())
        .then(pl.lit(NO_REPEATS))
        .when(pl.col("p_beyond_holm") < error_frac)
        .then(pl.lit(BEYOND))
        .when(pl.col("p_within_holm") < error_frac)
        .then(pl.lit(WITHIN))
        .otherwise(pl.lit(UNDECIDED))
        .alias("verdict")
    )


def _with_law(judged: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Add what the law predicts for these lengths, and which part of the divergence that is.

    The part is of the logarithm, 1 − |ln(E/L)| / |ln(E/T)|; below 0 the law is further off than
    tokens. It is null where the interval of E/T holds 1, since there is nothing to explain.
    """
    law = pl.col("law_j") / pl.col("law_j_of_reference")
    law_to_tokens = (law / pl.col("token_multiplier_ratio")).log()
    is_something = (pl.col("excess_low_frac") > 0) | (pl.col("excess_high_frac") < 0)
    return judged.with_columns(
        law.alias("law_multiplier_ratio"),
        divergence(law_to_tokens, reading.formula).alias("law_divergence_frac"),
        pl.when(is_something)
        .then(1 - pl.col("law_difference").abs() / pl.col("difference").abs())
        .alias("explained_frac"),
    )
