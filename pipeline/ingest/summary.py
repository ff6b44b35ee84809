"""What is in some files, without a report: rows, reasons, tokens and models of each."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from pipeline import warehouse
from pipeline.errors import WrongUseError
from pipeline.ingest import identities, usage_folder_write
from pipeline.ingest.load import Intake, find_files, load
from pipeline.ingest.sources import SOURCE_BY_NAME
from pipeline.reference import checked_inputs, load_reference
from pipeline.settings import Settings

_COUNTS = (
    "rows_read",
    "rows_accepted",
    "rows_rejected",
    "rows_duplicate",
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)


def summarise(
    settings: Settings, tell: Callable[[str], None], to: Path | None = None
) -> list[dict[str, Any]]:
    """Return one entry a file, keys as in the contract; token sums are of accepted rows.

    Where a folder is given, the usage is added to it; a bad file then stops before that.
    """
    if not settings.inputs:
        raise WrongUseError("ingest: expected log files, found none. Give PATH…, or --config.")
    con = warehouse.connect(None, settings.memory_limit_gb)
    load_reference(con, settings)
    files = find_files(checked_inputs(con, settings.inputs), settings.folder)
    intakes = load(con, files, settings, tell, lists_bad_files=to is None)
    if to is not None:
        for note in usage_folder_write.write(con, to, settings.time_zone):
            tell(f"note: {note}")
    return entries_of(con, intakes)


def entries_of(con: duckdb.DuckDBPyConnection, intakes: Iterable[Intake]) -> list[dict[str, Any]]:
    """Return the same of files that are loaded."""
    warehouse.build(con, ("int_models",))
    totals = _by_input(con.execute(_TOTALS_SQL))
    reasons = _by_input(con.execute(_REASONS_SQL))
    models = _by_input(con.execute(_MODELS_SQL))
    unknown = _by_input(con.execute(_UNKNOWN_SQL))
    return [
        _entry(intake, totals, reasons, models)
        | {
            "identities_checked": identities.checked(con, intake.input_id)
            if intake.input_id
            else [],
            "unknown_columns": unknown.get(intake.input_id or 0, []),
        }
        for intake in intakes
    ]


def title_of(source_format: str | None) -> str:
    """Return what a reader calls a form."""
    return SOURCE_BY_NAME[source_format].title if source_format else "no usage log"


def text_of(entry: Mapping[str, Any]) -> str:
    """Return what is in a file as lines for people."""
    if entry.get("state") == "already loaded":
        return f"{entry['path']}: already loaded"
    lines = [f"{entry['path']}: {title_of(entry['format'])}"]
    if entry["format"] is None:
        return "\n".join((*lines, f"  {entry['reason']}"))
    lines.append(
        f"  {entry['rows_read']:,} rows read = {entry['rows_accepted']:,} accepted + "
        f"{entry['rows_rejected']:,} rejected + {entry['rows_duplicate']:,} duplicate"
    )
    lines += [f"    {count:,} × {why}" for why, count in entry["rejected_by_reason"].items()]
    if "reason" in entry:
        lines.append(f"  BAD FILE, which would stop a report: {entry['reason']}")
    lines.append(
        f"  tokens: {entry['uncached_input_tokens']:,} uncached input, "
        f"{entry['cache_read_tokens']:,} cache read, {entry['cache_write_tokens']:,} cache "
        f"write, {entry['output_tokens']:,} output (reasoning {entry['reasoning_tokens']:,})"
    )
    lines += [
        f"  {held['identity']}: checked on {held['rows_checked']:,} rows, "
        f"{held['rows_broken']:,} broke it"
        for held in entry["identities_checked"]
    ]
    loud = ": MAY BE TOKENS OR MONEY THAT NO FIGURE COUNTS"
    lines += [
        f"  not read: {column['name']}, filled in {column['rows_filled']:,} rows"
        f"{loud if column['is_token_like'] else ''}"
        for column in entry["unknown_columns"]
    ]
    lines += [
        f"    {model['rows']:,} × {model['name']} → {model['model_id'] or 'not in the catalog'}"
        for model in entry["models"]
    ]
    return "\n".join(lines)


def _entry(
    intake: Intake,
    totals: dict[int, list[dict[str, Any]]],
    reasons: dict[int, list[dict[str, Any]]],
    models: dict[int, list[dict[str, Any]]],
) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": intake.shown, "format": intake.source_format}
    if intake.input_id is None:
        entry |= dict.fromkeys(_COUNTS, 0)
        return entry | {
            "rejected_by_reason": {},
            "billed_cost_usd": None,
            "models": [],
            "reason": intake.reason,
        }
    entry |= totals.get(intake.input_id, [dict.fromkeys(_COUNTS, 0) | {"billed_cost_usd": None}])[0]
    entry["rejected_by_reason"] = {
        row["reason"]: row["row_count"] for row in reasons.get(intake.input_id, [])
    }
    entry["models"] = models.get(intake.input_id, [])
    return entry | ({"reason": intake.reason} if intake.reason else {})


def _by_input(result: duckdb.DuckDBPyConnection) -> dict[int, list[dict[str, Any]]]:
    names = [column[0] for column in result.description or ()]
    grouped: dict[int, list[dict[str, Any]]] = {}
    for row in result.fetchall():
        record = dict(zip(names, row, strict=True))
        grouped.setdefault(record.pop("input_id"), []).append(record)
    return grouped


_ACCEPTED = "filter (where reject_reasons is null and not is_duplicate)"

_TOTALS_SQL = f"""
    select
        input_id,
        count(*) as rows_read,
        count(*) {_ACCEPTED} as rows_accepted,
        count(*) filter (where reject_reasons is not null) as rows_rejected,
        count(*) filter (where is_duplicate) as rows_duplicate,
        coalesce(sum(uncached_input_tokens) {_ACCEPTED}, 0)::bigint as uncached_input_tokens,
        coalesce(sum(cache_read_tokens) {_ACCEPTED}, 0)::bigint as cache_read_tokens,
        coalesce(
            sum(coalesce(cache_write_5m_tokens, 0) + coalesce(cache_write_1h_tokens, 0))
            {_ACCEPTED}, 0
        )::bigint as cache_write_tokens,
        coalesce(sum(output_tokens) {_ACCEPTED}, 0)::bigint as output_tokens,
        coalesce(sum(reasoning_tokens) {_ACCEPTED}, 0)::bigint as reasoning_tokens,
        sum(billed_cost_usd) {_ACCEPTED} as billed_cost_usd
    from raw_usage
    group by input_id
"""  # no outside text

_REASONS_SQL = """
    select input_id, reject_reasons as reason, count(*) as row_count
    from raw_usage
    where reject_reasons is not null
    group by all
    order by input_id, row_count desc, reason
"""

_UNKNOWN_SQL = """
    select
        input_id, column_name as name, filled_row_count as rows_filled,
        number_row_count as rows_with_numbers, is_token_like
    from raw_unknown_columns
    order by is_token_like desc, filled_row_count desc, column_name
"""

_MODELS_SQL = """
    select
        names.input_id,
        names.logged_model_name as name,
        case when models.is_known_model then models.model_id end as model_id,
        sum(names.row_count)::bigint as rows
    from int_logged_names as names
    inner join int_models as models
        on
            names.logged_provider = models.logged_provider
            and names.logged_model_name = models.logged_model_name
            and names.used_on >= models.valid_from
            and names.used_on < models.valid_to
    group by all
    order by names.input_id, rows desc, name
"""
