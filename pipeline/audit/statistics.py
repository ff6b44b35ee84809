"""Intervals and tests that an audit draws on: Student's t, and Holm's correction for many tests.

SciPy is imported where it is used: every report imports this module, few have anything to test.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

Array = npt.NDArray[np.float64]


def half_width(standard_error: pl.Series, freedom: pl.Series, confidence: float) -> pl.Series:
    """Return half the width of a two-sided t interval; null without degrees of freedom."""
    from scipy.special import stdtrit

    quantile = stdtrit(_floats(freedom), (1 + confidence) / 2)
    return _series("half_width", quantile * _floats(standard_error))


def p_above(statistic: pl.Series, freedom: pl.Series) -> pl.Series:
    """Return the chance of a t statistic as large or larger; null where it is unknown."""
    from scipy.special import stdtr

    return _series("p", 1 - stdtr(_floats(freedom), _floats(statistic)))


def two_sided_p(statistic: pl.Series, freedom: pl.Series) -> pl.Series:
    """Return the chance of a t statistic as far from 0 or further; null where it is unknown."""
    from scipy.special import stdtr

    return _series("p", 2 * stdtr(_floats(freedom), -np.abs(_floats(statistic))))


def holm(p_value: str, family: list[str]) -> pl.Expr:
    """Return Holm's adjusted p of a column within its family; null stays null and counts not.

    Source: Holm 1979. The k-th smallest of n is multiplied by n − k + 1, never falls below the one
    before it, and never exceeds 1.
    """
    p = pl.col(p_value)
    place = p.rank("ordinal").over(family)
    stepped = p * (p.count().over(family) - place + 1)
    return stepped.clip(0.0, 1.0).cum_max().over(family, order_by=p_value).alias(f"{p_value}_holm")


def _floats(series: pl.Series) -> Array:
    return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _series(name: str, values: Array) -> pl.Series:
    return pl.Series(name, values).fill_nan(None)
