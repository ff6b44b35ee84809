"""From a value with its range to one possible world: where in the range a standard score lands."""

from pipeline.laws.work import Number

RANGE_END_SCORE = 1.645  # low and high are the 5 % and 95 % ends of what may be


def drawn_value(value: Number, low: Number, high: Number, z_score: Number) -> Number:
    """Return what a value of range low to high is in the world of a standard normal score.

    A score of 0 gives the value, −1.645 the low end, +1.645 the high end; between and beyond, equal
    steps of the score are equal factors. Where low = value = high, every world has the value.

    Args:
        value: Above 0; its range in the same unit.
        low: The 5 % end, at most the value.
        high: The 95 % end, at least the value.
        z_score: Shared by everything that errs together.
    """
    above = (abs(z_score) + z_score) / 2 / RANGE_END_SCORE
    below = (abs(z_score) - z_score) / 2 / RANGE_END_SCORE
    return value * (high / value) ** above * (low / value) ** below


def range_score(log_ratio: Number, end_log_ratio: Number) -> Number:
    """Return the score of a drawn ratio, from logs: its own, and that of the draws' 95 % end."""
    return RANGE_END_SCORE * log_ratio / end_log_ratio


LAWS = (drawn_value, range_score)
