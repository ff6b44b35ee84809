"""When in a week a price holds, in words."""

from collections.abc import Mapping
from typing import Any

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MINUTES_A_DAY = 1_440


def week_words(row: Mapping[str, Any]) -> str:
    """Return weekdays and hours of a price or band, such as Mon-Fri 01:00-04:00 UTC; '' is always.

    Args:
        row: Has utc_weekday_from and _to (Monday is 1), utc_minute_from and _to, all half-open.
    """
    first, last = row["utc_weekday_from"], row["utc_weekday_to"] - 1
    start, end = row["utc_minute_from"], row["utc_minute_to"]
    days = _DAYS[first - 1] if first == last else f"{_DAYS[first - 1]}-{_DAYS[last - 1]}"
    said = [
        *([days] if (first, last) != (1, 7) else []),
        *([f"{_clock(start)}-{_clock(end)}"] if (start, end) != (0, _MINUTES_A_DAY) else []),
    ]
    return " ".join([*said, "UTC"]) if said else ""


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
