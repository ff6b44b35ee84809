"""What genai-prices says of peak hours in its comments, since its constraints cannot.

A price there holds from a day, or for hours of every day, never both. Its comments on DeepSeek's
models say from when there are peak hours, and from when none at weekends.
"""

from dataclasses import dataclass
from datetime import date, time

from genai_prices import types

EVERY_DAY = "; hours of every day, as the package has no days of the week"
WEEKENDS_TOO = (
    "; no peak at weekends by the package's comment; Chinese holidays, off-peak too, are not told"
)


NEVER, ALWAYS = date.max, date.min


@dataclass(frozen=True)
class Peak:
    """From when on a model has peak hours, and from when on none at weekends.

    Peak hours lie within one day in UTC and in Beijing alike, so weekends are the same in both.
    """

    starts_on: date = ALWAYS  # before that day the price without hours holds all day
    weekdays_since: date = NEVER
    quotes: tuple[str, ...] = ()  # stand in the comment, or it says something else by now
    quiet_at: time = time()  # no peak hour

    def changes(self) -> set[date]:
        """Return the days from which on something changes."""
        return {self.starts_on, self.weekdays_since} - {NEVER, ALWAYS}


_V4 = Peak(
    date(2026, 8, 17),
    date(2026, 8, 23),
    ("before 2026-08-17", "from 2026-08-23", "off-peak all day", "weekends"),
)
_PEAKS = {
    "deepseek-flash": Peak(
        weekdays_since=ALWAYS,  # published with peak hours and free weekends
        quotes=("Released 2026-09-10", "Monday to Friday", "off-peak all day", "weekends"),
    ),
    "deepseek-v4-flash": _V4,
    "deepseek-v4-pro": _V4,
}


def peak_of(model: types.ModelInfo) -> Peak:
    """Return what a model's comment says of its peak hours, or that nothing is said.

    Raises:
        ValueError: Where the comment no longer says what is told here.
    """
    peak = _PEAKS.get(model.id, Peak())
    comment = (model.price_comments or "").lower()
    missing = [quote for quote in peak.quotes if quote.lower() not in comment]
    if missing:
        raise ValueError(
            f"{model.id}: expected {missing} in the package's comment on its prices, found: "
            f"{model.price_comments!r}. Read it, and mend pipeline/ingest/price_comments.py."
        )
    return peak
