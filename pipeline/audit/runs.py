"""The runs file: what was asked of which model, and when; bad rows are set aside with a reason.

Two categories are no questions: `idle` is a time with no model loaded, `blank` one with the model
loaded and no request.
"""

from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from pipeline.audit.tracks import seconds
from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError

REQUIRED = (
    *("run_id", "started_at", "ended_at", "model", "category"),
    *("input_tokens", "output_tokens"),
)
OPTIONAL = ("cached_tokens", "repeat", "block", "position", "looped", "gpu", "batch", "precision")
IDLE, BLANK = "idle", "blank"
PREFILL = "prefill"  # a row of a session that tells the phases of its runs apart
_YES = ("true", "yes", "1", "y")
_NO = ("false", "no", "0", "n")


@dataclass(frozen=True)
class RunsFile:
    """The rows of a runs file: those that count, and those set aside.

    `runs`: run_set, run_id, source_line, started_at, ended_at (UTC), duration_s, model, category,
    input_tokens, cached_tokens, output_tokens, repeat, block, position, is_looped, gpu, batch,
    precision; sorted by started_at, run_id. `set_aside`: source_line, run_id, reason.
    """

    path: Path
    row_count: int
    runs: pl.DataFrame
    set_aside: pl.DataFrame


def read_runs(path: Path, zone: str = "UTC", *, has_phases: bool = False) -> RunsFile:
    """Read a runs file: CSV, one run a row; times that name no zone are of `zone`.

    Where it may tell phases apart (`has_phases`), a row of category `prefill` writes no token.

    Raises:
        WrongUseError: Where there is no such file or zone.
        BadInputError: Where it is no CSV in UTF-8 or a column is missing or not known.
        IncompleteInputError: Where no row can be used.
    """
    _require_zone(zone)
    cells = _cells(path)
    told = _typed(cells, zone, path.stem)
    judged = told.with_columns(_reason(has_phases).alias("reason"))
    runs = judged.filter(pl.col("reason").is_null())
    if runs.is_empty():
        first = judged.get_column("reason").head(1).to_list()
        raise IncompleteInputError(
            f"{path}: expected runs, found none that can be used"
            f"{f' (line 2: {first[0]})' if first else ''}."
        )
    return RunsFile(
        path,
        judged.height,
        runs.drop("reason", "_is_repeated").sort("started_at", "run_id"),
        judged.filter(pl.col("reason").is_not_null()).select("source_line", "run_id", "reason"),
    )


def _require_zone(zone: str) -> None:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise WrongUseError(
            f"time zone {zone!r} is not known; expected a name such as 'UTC' or 'Europe/Madrid'."
        ) from None


def _cells(path: Path) -> pl.DataFrame:
    try:
        cells = pl.read_csv(path, infer_schema=False, truncate_ragged_lines=False)
    except FileNotFoundError:
        raise WrongUseError(f"{path}: no such file. Give --runs an existing file.") from None
    except pl.exceptions.NoDataError:
        raise IncompleteInputError(f"{path}: the file is empty; expected runs.") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        said = str(error).splitlines()[0]
        raise BadInputError(f"{path}: expected CSV in UTF-8, found: {said}") from None
    cells = cells.rename(lambda name: name.strip().lower())
    missing = [name for name in REQUIRED if name not in cells.columns]
    unknown = [name for name in cells.columns if name not in (*REQUIRED, *OPTIONAL)]
    if missing or unknown:
        found = [f"missing: {', '.join(missing)}"] if missing else []
        found += [f"not known: {', '.join(unknown)}"] if unknown else []
        raise BadInputError(
            f"{path}: line 1: expected the columns {', '.join(REQUIRED)} and, if need be, "
            f"{', '.join(OPTIONAL)}; {'; '.join(found)}."
        )
    absent = [pl.lit(None, pl.String).alias(name) for name in OPTIONAL if name not in cells.columns]
    return cells.with_columns(absent).with_columns(
        pl.col(pl.String).str.strip_chars().replace("", None)
    )


def _typed(cells: pl.DataFrame, zone: str, run_set: str) -> pl.DataFrame:
    """Return the cells as what they mean, null where they are not readable."""
    looped = pl.col("looped").str.to_lowercase()
    return (
        cells.with_row_index("source_line", offset=2)
        .with_columns(
            pl.lit(run_set).alias("run_set"),
            *(_time(name, zone) for name in ("started_at", "ended_at")),
            *(
                pl.col(name).cast(pl.Int64, strict=False)
                for name in ("input_tokens", "output_tokens", "repeat", "position")
            ),
            _or_default("cached_tokens", pl.Int64, 0),
            _or_default("batch", pl.Float64, 1.0),
            pl.when(looped.is_in(_YES))
            .then(True)
            .when(looped.is_null() | looped.is_in(_NO))
            .then(False)
            .alias("is_looped"),
            pl.col("category").str.to_lowercase().is_in([IDLE, BLANK]).alias("is_baseline"),
        )
        .with_columns(
            pl.when("is_baseline")
            .then(pl.col("category").str.to_lowercase())
            .otherwise("category")
            .alias("category"),
            pl.when("is_baseline")
            .then(pl.col("model").fill_null(""))
            .otherwise("model")
            .alias("model"),
            *(
                pl.when("is_baseline").then(pl.col(name).fill_null(0)).otherwise(name).alias(name)
                for name in ("input_tokens", "output_tokens")
            ),
            seconds(pl.col("ended_at") - pl.col("started_at")).alias("duration_s"),
            pl.col("run_id").is_duplicated().alias("_is_repeated"),
        )
        .drop("looped")
    )


def _or_default(name: str, kind: type[pl.DataType], default: float) -> pl.Expr:
    """Return a column as numbers: the default where it is empty, null where it is no number."""
    read = pl.col(name).cast(kind, strict=False)
    return pl.when(pl.col(name).is_null()).then(pl.lit(default, kind)).otherwise(read).alias(name)


def _time(name: str, zone: str) -> pl.Expr:
    """Read ISO 8601, with or without zone, as UTC; local times that a clock change skips: null."""
    text = pl.col(name).str.replace(" ", "T", literal=True)
    zoned = text.str.replace("Z$", "+00:00").str.to_datetime(
        "%Y-%m-%dT%H:%M:%S%.f%z", time_unit="us", time_zone="UTC", strict=False
    )
    local = (
        text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
        .dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
        .dt.convert_time_zone("UTC")
    )
    return pl.coalesce(zoned, local).alias(name)


def _reason(has_phases: bool) -> pl.Expr:
    """Return why a row cannot be used, null where it can."""
    writes = pl.lit(True)
    if has_phases:
        writes = pl.col("category").str.to_lowercase() != PREFILL
    faults = (
        (pl.col("run_id").is_null(), "no run_id"),
        (pl.col("_is_repeated"), "this run_id stands there more than once"),
        (pl.col("started_at").is_null(), "started_at is no ISO time"),
        (pl.col("ended_at").is_null(), "ended_at is no ISO time"),
        (pl.col("duration_s") <= 0, "ended_at is not after started_at"),
        (pl.col("category").is_null(), "no category"),
        (pl.col("model").is_null(), "no model"),
        (
            pl.col("input_tokens").is_null() | (pl.col("input_tokens") < 0),
            "input_tokens is no whole number of 0 or more",
        ),
        (
            pl.col("output_tokens").is_null() | (pl.col("output_tokens") < 0),
            "output_tokens is no whole number of 0 or more",
        ),
        (
            ~pl.col("is_baseline") & writes & (pl.col("output_tokens") == 0),
            "no output tokens: call it blank if nothing was asked",
        ),
        (
            pl.col("cached_tokens").is_null()
            | (pl.col("cached_tokens") < 0)
            | (pl.col("cached_tokens") > pl.col("input_tokens")),
            "cached_tokens does not lie between 0 and input_tokens",
        ),
        (pl.col("batch").is_null() | ~(pl.col("batch") >= 1), "batch is no number of 1 or more"),
        (pl.col("is_looped").is_null(), "looped is neither true nor false"),
    )
    return pl.coalesce(*(pl.when(fault).then(pl.lit(words)) for fault, words in faults))
