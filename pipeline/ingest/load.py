"""Load log files into raw_usage: every row read is kept, with the reasons if it is set aside."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import duckdb

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError
from pipeline.ingest import (
    contract,
    duplicates,
    fx,
    identities,
    overlaps,
    pages,
    prometheus,
    straight,
    unknown_columns,
    usage_folder,
)
from pipeline.ingest.bad_rows import require_few_bad_rows
from pipeline.ingest.containers import UnknownFormError
from pipeline.ingest.detect import Recognised, recognise, unpacked_sha256
from pipeline.ingest.files import LogFile, find_files
from pipeline.ingest.relations import absent_columns
from pipeline.ingest.sources import SOURCE_BY_NAME
from pipeline.ingest.stage import clear, stage
from pipeline.ingest.tables import STORED, create_tables, make_room
from pipeline.ingest.unknown_columns import UnknownColumn
from pipeline.settings import ASSUME_KEYS, Settings, bundled

__all__ = ["Intake", "create_tables", "find_files", "load"]


@dataclass(frozen=True)
class Intake:
    """What became of one file; `source_format` is None where it is no usage log."""

    shown: str
    source_format: str | None
    sha256: str
    input_id: int | None
    reason: str = ""
    unknown_columns: tuple[UnknownColumn, ...] = ()
    says_more: tuple[bool, ...] = ()  # of each page of an API: does another follow?


def load(
    con: duckdb.DuckDBPyConnection,
    files: Iterable[LogFile],
    settings: Settings,
    tell: Callable[[str], None] = lambda text: None,
    *,
    lists_bad_files: bool = False,
) -> list[Intake]:
    """Load every file into raw_usage and raw_inputs, and mark duplicate requests.

    Where bad files are to be listed, one met in a folder or glob does not stop the others: its
    intake says what is wrong. A file named by the user always stops.

    Raises:
        BadInputError: For a damaged file, a named file of no known form, or too many bad rows.
        IncompleteInputError: For a named file that is empty.
    """
    create_tables(con, computed=contract.RARE)
    intakes: list[Intake] = []
    first_id_of: dict[str, int] = {}
    latest: dict[str, prometheus.Counters] = {}
    for file in files:
        tell(f"reading {file.shown}")
        if file.path.is_dir():
            found = [
                Intake(each.shown, each.source_format, each.sha256, each.input_id)
                for each in usage_folder.restore(con, file, settings.time_zone, len(intakes) + 1)
            ]
        else:
            is_listed = lists_bad_files and not file.is_named
            found = [_load_one(con, file, settings, len(intakes) + 1, latest, is_listed)]
        intakes += found
        for intake in found:
            if intake.input_id is None:
                continue
            _tell_of(con, intake, settings, tell)
            if intake.sha256 in first_id_of:
                duplicates.mark_all(con, intake.input_id)
            first_id_of.setdefault(intake.sha256, intake.input_id)
    duplicates.mark_repeated(con)
    told = [(each.source_format or "", each.shown, each.says_more) for each in intakes]
    for note in (*pages.missing_ends(told), *overlaps.set_coarser_aside(con)):
        tell(f"note: {note}")
    return intakes


def _load_one(
    con: duckdb.DuckDBPyConnection,
    file: LogFile,
    settings: Settings,
    input_id: int,
    latest: dict[str, prometheus.Counters],
    is_listed: bool,  # a bad file is an answer, and stops nothing
) -> Intake:
    try:
        found = recognise(file.path)
    except (BadInputError, IncompleteInputError) as error:
        is_another_file = isinstance(error, UnknownFormError | IncompleteInputError)
        if file.is_named or not (is_another_file or is_listed):
            raise
        return Intake(file.shown, None, "", None, str(error))
    try:
        _require_needs(file, found)
        unknown = _staged(con, file, found, settings, input_id, latest)
    except (BadInputError, WrongUseError) as error:
        if not is_listed:
            raise
        return Intake(file.shown, None, "", None, str(error))
    reason = ""
    try:
        identities.require_kept(con, file.shown, found.source.name, settings, input_id)
        require_few_bad_rows(con, file, found, settings, input_id)
    except BadInputError as error:
        if not is_listed:
            raise
        reason = str(error)
    unknown_columns.store(con, input_id, unknown)
    return Intake(
        file.shown,
        found.source.name,
        unpacked_sha256(found),
        input_id,
        reason,
        unknown_columns=tuple(unknown),
        says_more=pages.says_more(found),
    )


def _staged(
    con: duckdb.DuckDBPyConnection,
    file: LogFile,
    found: Recognised,
    settings: Settings,
    input_id: int,
    latest: dict[str, prometheus.Counters],
) -> list[UnknownColumn]:
    """Put the rows of a file into raw_usage; return its columns that no select reads."""
    try:
        unknown = _insert_rows(con, file, found, settings, input_id, latest)
    except duckdb.OutOfMemoryException:
        raise BadInputError(
            f"{file.shown}: expected to fit memory_limit_gb = {settings.memory_limit_gb:g}, found "
            "that it takes more. Raise the limit in the settings, or cut the file in pieces."
        ) from None
    except duckdb.Error as error:
        raise BadInputError(
            f"{file.shown}: expected a readable {found.source.title}, found: "
            f"{str(error).splitlines()[0]}. Export the file again."
        ) from None
    _insert_input(con, file, found, input_id)
    return unknown


def _require_needs(file: LogFile, found: Recognised) -> None:
    missing = [key for key in found.source.needs if key not in file.assume]
    if missing:
        wanted = ",".join(f"{key}=…" for key in missing)
        raise WrongUseError(
            f"{file.shown}: the form '{found.source.title}' does not say its "
            f"{' and '.join(missing)}; give --assume {wanted} (or the same keys under its "
            "[[inputs]])."
        )


def _insert_rows(
    con: duckdb.DuckDBPyConnection,
    file: LogFile,
    found: Recognised,
    settings: Settings,
    input_id: int,
    latest: dict[str, prometheus.Counters],
) -> list[UnknownColumn]:
    """Read a file into raw_usage; return its columns that no select reads."""
    con.execute("set variable assumed_start = $start", {"start": file.assume.get("start")})
    select = (bundled("sql/sources") / f"{found.source.name}.sql").read_text(encoding="utf-8")

    def insert(absent: Collection[str]) -> int:
        return _inserted(con, file, found, select, settings, input_id, absent)

    if straight.is_possible(found, select):
        unknown = straight.read(con, found, input_id, insert)
        if unknown is not None:
            return unknown
    unknown = stage(con, found, latest)
    insert(absent_columns(found))
    con.execute(
        "insert into raw_usage by name select $input_id as input_id, source_line, "
        "reject_reasons, false as is_duplicate from staged_rejects",
        {"input_id": input_id},
    )
    clear(con)
    return unknown


def _inserted(
    con: duckdb.DuckDBPyConnection,
    file: LogFile,
    found: Recognised,
    select: str,
    settings: Settings,
    input_id: int,
    absent: Collection[str],
) -> int:
    """Insert source_rows into raw_usage, and return how many rows that made."""
    selected = set(con.sql(select).columns).difference(absent)
    stored = selected | {"query_class" if key == "class" else key for key in file.assume}
    make_room(con, stored)
    return int(
        con.execute(
            _insert_sql(select, selected, stored),
            {
                "input_id": input_id,
                "model": file.assume.get("model"),
                "provider": file.assume.get("provider"),
                "team": file.assume.get("team"),
                "class": file.assume.get("class"),
                "zone": settings.time_zone,
            },
        ).fetchall()[0][0]
    )


def _insert_sql(select: str, columns: set[str], stored: set[str]) -> str:
    """Return the SQL that judges what a select gives, and stores the columns that may be filled."""
    filled = {
        "model_name": "coalesce(nullif(trim(model_name), ''), $model)",
        "provider": "coalesce(nullif(trim(provider), ''), $provider)",
        "team": "coalesce(nullif(trim(team), ''), $team)",
        "query_class": "coalesce(nullif(trim(query_class), ''), $class)",
        "task_id": "nullif(trim(task_id), '')",
        "request_id": "case when list_contains(['', '-', 'null', 'none', 'nan'], "
        "lower(trim(request_id))) then null else request_id end",
    }
    record = ",\n".join(
        f"{name if name in columns else 'null'}::{kind} as {name}" for name, kind in contract.RECORD
    )
    extra = ", ".join(
        f"{name if name in columns else 'null'}::{kind} as {name}"
        for name, kind in contract.JUDGED_ONLY
    )
    judged = ", ".join(name for name, _ in contract.JUDGED_ONLY)
    has_currency = "billed_currency" in columns
    if has_currency:
        filled["billed_cost_usd"] = f"{fx.CONVERTED_SQL}::decimal(24, 12)"
    rates = fx.join_sql(_month_text()) if has_currency else ""
    rate = "fx_usd_per_unit" if has_currency else fx.NO_RATE
    clean = ",\n".join(f"{filled.get(name, name)} as {name}" for name, _ in contract.RECORD)
    absent = {
        name: f"null::{kind}"
        for name, kind in (*contract.RECORD, *contract.JUDGED_ONLY)
        if name not in columns | {"model_name", "provider", "team", "query_class"}
    }
    kept = ", ".join(
        f"try_cast({name} as {kind}) as {name}" if name in contract.COUNTS else name
        for name, kind in STORED.items()
        if name in stored or name not in contract.RARE
    )
    return f"""
        insert into raw_usage by name
        with
        source_record as ({select}),
        typed as (select source_line, {record}, {extra} from source_record),
        filled as (select source_line, {clean}, {judged}, {rate} from typed {rates})
        select
            $input_id as input_id, source_line, {kept},
            {_month_text()} as month,
            {_without(absent, contract.reject_reasons_sql())} as reject_reasons,
            false as is_duplicate,
            {_without(absent, identities.checkable_sql())} as identities_checked
        from filled
    """  # built from our own names; values are parameters


def _without(absent: Mapping[str, str], sql: str) -> str:
    """Return SQL with the null of its type for each absent column: what rests on it is folded."""
    return re.sub(r"\b[a-z]\w*\b", lambda name: absent.get(name[0], name[0]), sql)


def _month_text() -> str:
    return (
        "case when occurred_at between '2000-01-01' and '2100-01-01' then strftime("
        "case when $zone = 'UTC' then occurred_at"
        " else (occurred_at at time zone 'UTC') at time zone $zone end, '%Y-%m') end"
    )


def _insert_input(
    con: duckdb.DuckDBPyConnection, file: LogFile, found: Recognised, input_id: int
) -> None:
    assumed = {f"assumed_{key}": file.assume.get(key) for key in ASSUME_KEYS}
    con.execute(
        f"""
        insert into raw_inputs by name
        select
            $input_id as input_id, $shown as source_file, $form as source_format,
            $sha256 as content_sha256, $size as size_bytes, count(*) as row_count,
            min(occurred_at) filter (where reject_reasons is null) as first_at,
            max(occurred_at) filter (where reject_reasons is null) as last_at,
            {", ".join(f"${key} as {key}" for key in assumed)}
        from raw_usage where input_id = $input_id
        """,  # keys are our own
        {
            "input_id": input_id,
            "shown": file.shown,
            "form": found.source.name,
            "sha256": found.sha256,
            "size": file.path.stat().st_size,
            **assumed,
        },
    )


def _tell_of(
    con: duckdb.DuckDBPyConnection,
    intake: Intake,
    settings: Settings,
    tell: Callable[[str], None],
) -> None:
    _tell_what_lacks(con, intake, tell)
    if note := unknown_columns.warning(intake.shown, intake.unknown_columns):
        tell(f"note: {note}")
    for text in fx.missing_rates(con, intake.input_id or 0, settings.overlay_folder):
        tell(f"note: {intake.shown}: {text}")


def _tell_what_lacks(
    con: duckdb.DuckDBPyConnection, intake: Intake, tell: Callable[[str], None]
) -> None:
    """Say what the form cannot, where that may be why most rows were set aside."""
    lacks = SOURCE_BY_NAME[intake.source_format or ""].lacks
    is_mostly_rejected = con.execute(
        "select count(*) filter (where reject_reasons is not null) * 2 > count(*) "
        "from raw_usage where input_id = $id",
        {"id": intake.input_id},
    ).fetchall()[0][0]
    if lacks and is_mostly_rejected:
        tell(f"note: {intake.shown}: {lacks}")
