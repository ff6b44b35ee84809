"""When a file holds too many bad rows to be believed."""

import duckdb

from pipeline.errors import BadInputError
from pipeline.ingest import contract, fx
from pipeline.ingest.detect import Recognised
from pipeline.ingest.files import LogFile
from pipeline.settings import Settings

_SHOWN_REASONS = 4


def require_few_bad_rows(
    con: duckdb.DuckDBPyConnection,
    file: LogFile,
    found: Recognised,
    settings: Settings,
    input_id: int,
) -> None:
    """Stop at a bad file; rows without usage are neither bad nor counted.

    Raises:
        BadInputError: With the reasons of most rows and the first line of each.
    """
    rows = con.execute(
        "select reject_reasons, count(*), min(source_line) from raw_usage "
        "where input_id = $id and reject_reasons is distinct from $no_usage "
        "group by reject_reasons order by 2 desc, 1",
        {"id": input_id, "no_usage": contract.NO_USAGE},
    ).fetchall()
    row_count = sum(count for _, count, _ in rows)
    faults = [row for row in rows if row[0] is not None]
    bad_count = sum(count for _, count, _ in faults)
    if bad_count >= settings.max_bad_rows and bad_count > settings.max_bad_frac * row_count:
        shown = "; ".join(
            f"{count} × {reason} (first at line {line})"
            for reason, count, line in faults[:_SHOWN_REASONS]
        )
        lacks = f"{found.source.lacks} " if found.source.lacks else ""
        rates = " ".join(fx.missing_rates(con, input_id, settings.overlay_folder))
        hint = f"{lacks}{rates}{' ' if rates else ''}"
        raise BadInputError(
            f"{file.shown}: expected at most {settings.max_bad_frac:.0%} bad rows, found "
            f"{bad_count} of {row_count}: {shown}. {hint}Mend the file, or raise max_bad_frac in "
            "the settings."
        )
