"""The times of a power log: told with or without a zone, and once or twice in an autumn night."""

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from pipeline.errors import WrongUseError
from pipeline.ingest.telemetry.table import AT
from pipeline.ingest.telemetry.text import Log

# A date, then what polars reads it with. Month-first dates look like day-first ones: none is read.
_DATES = (
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"\d{8}", "%Y%m%d"),
)
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2})?"
_FIRST_ROWS = 50
_BACK_S = -1_800  # a clock put back by half an hour or more, as in autumn


def time_format(text: str | None) -> tuple[str, bool] | None:
    """Return the format of a time and whether it tells its zone; None where it is no time."""
    for date, form in _DATES:
        found = re.fullmatch(rf"{date}([T ]){_CLOCK}{_ZONE}", (text or "").strip())
        if found:
            zone = "%#z" if found[2] else ""
            return f"{form}{found[1]}%H:%M:%S%.f{zone}", bool(found[2])
    return None


def format_of(log: Log, cells: pl.DataFrame, text: pl.Expr, example: str) -> tuple[str, bool]:
    """Return the format of the first time in a log that is one, and whether it tells its zone.

    Raises:
        BadInputError: Where there are rows and none of the first tells a time.
    """
    texts = cells.head(_FIRST_ROWS).select(text.alias("at"))["at"].drop_nulls().to_list()
    for each in texts:
        found = time_format(each)
        if found:
            return found
    if texts:
        raise log.refusal(f"times such as {example}", repr(texts[0][:40]), "Log again.")
    return "%Y-%m-%d %H:%M:%S%.f", False  # no row, so nothing to read


def parsed(text: pl.Expr, form: str) -> pl.Expr:
    """Return a text as a time, in UTC where the format has a zone; null where it is none."""
    bare = text.str.strip_chars().str.replace(",", ".", literal=True)
    if "%#z" not in form:
        return bare.str.to_datetime(form, time_unit="us", strict=False)
    zoned = bare.str.replace(r"Z$", "+00:00").str.to_datetime(form, time_unit="us", strict=False)
    return zoned.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def require_zone(zone: str) -> None:
    """Stop where a zone is not known.

    Raises:
        WrongUseError: Naming it.
    """
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise WrongUseError(
            f"zone {zone!r}: expected a name such as Europe/Berlin or UTC, found no such zone."
        ) from None


def with_utc(rows: pl.DataFrame, zone: str, is_utc: bool) -> tuple[pl.DataFrame, list[str]]:
    """Add `sampled_at`, the times `at` of rows in the order of the log in UTC, and say what for.

    An hour that the clock shows twice is the first one until the clock jumps back within it.
    """
    if is_utc or zone == "UTC":
        return rows.with_columns(pl.col("at").dt.replace_time_zone("UTC").alias("sampled_at")), []
    first, second = (_in_utc(zone, which) for which in ("earliest", "latest"))
    timed = rows.with_columns(first.alias("sampled_at"), second.alias("second_at"))
    is_twice = pl.col("sampled_at") != pl.col("second_at")
    is_back = pl.col("at").diff().over("gpu").dt.total_seconds() <= _BACK_S
    is_second = (is_back & is_twice).fill_null(value=False).cast(pl.Int32).cum_sum().over("gpu") > 0
    twice_count = timed.select(is_twice.sum()).item()
    notes = []
    if twice_count:
        notes.append(
            f"{twice_count:,} samples lie in the hour that clocks in {zone} show twice: taken as "
            "its first pass until the clock jumps back"
        )
    timed = timed.with_columns(
        pl.when(is_twice & is_second).then("second_at").otherwise("sampled_at").alias("sampled_at")
    )
    return timed.drop("second_at"), notes


def _in_utc(zone: str, which: str) -> pl.Expr:
    local = pl.col("at").dt.replace_time_zone(zone, ambiguous=which, non_existent="null")  # type: ignore[arg-type]
    return local.dt.convert_time_zone("UTC").cast(AT)
