"""Find the quote that a CSV file leaves open: it swallows rows, and none may be lost in silence."""

import duckdb

from pipeline.errors import BadInputError
from pipeline.ingest.columns import quoted
from pipeline.ingest.detect import Recognised

_MOST_BREAKS = 9  # line breaks in a name or number, before the file counts as bad
_LINE_CUT = 10_000  # characters of a rejected line that DuckDB keeps

# Lines that a rejected one swallowed by a quote left open: each is a row of its own.
SWALLOWED_COUNT = """max(
                    case
                        when error_type::varchar = 'UNQUOTED VALUE'
                            then length(trim(csv_line, chr(10)))
                            - length(replace(trim(csv_line, chr(10)), chr(10), ''))
                        else 0
                    end
                )"""


def require_none_rejected(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    """Stop where a rejected line runs on over many.

    Raises:
        BadInputError: Naming the line at which the quote was opened.
    """
    opened = con.execute(
        "select min(line) from reject_errors where "
        "length(csv_line) - length(replace(csv_line, chr(10), '')) > $most "
        "or (length(csv_line) >= $cut and contains(ltrim(csv_line, chr(10)), chr(10)))",
        {"most": _MOST_BREAKS + 1, "cut": _LINE_CUT},
    ).fetchall()[0][0]
    if opened is not None:
        raise BadInputError(_message(found, opened))


def require_every_line(
    con: duckdb.DuckDBPyConnection, found: Recognised, cells: str, lines: str, head_count: int
) -> None:
    """Stop where the reader left lines out without a word, as it does with very long records.

    Args:
        con: Has source_cells and reject_errors.
        found: The file, with the number of its lines.
        cells: SQL of a relation with all its cells as text.
        lines: SQL of a relation with its lines.
        head_count: How many of them are no records.

    Raises:
        BadInputError: Saying how many lines are missing.
    """
    (taken,) = con.execute(
        "select (select count(*) from source_cells) + (select count(distinct line) "
        "from reject_errors)"
    ).fetchall()[0]
    expected = found.line_count - head_count
    if taken >= expected:
        return
    # Line breaks within cells and rejected lines, and blank lines, are no records of their own.
    names = [name for (name, *_) in con.execute(f"describe select * from {cells}").fetchall()]
    breaks = " + ".join(f"coalesce({_breaks(quoted(name))}, 0)" for name in names)
    (within,) = con.execute(f"select coalesce(sum({breaks}), 0) from {cells}").fetchall()[0]
    (rejected,) = con.execute(
        f"select coalesce(sum({_breaks('csv_line')}), 0) from reject_errors"
    ).fetchall()[0]
    (blank,) = con.execute(
        f"select count(*) from {lines} where coalesce(trim(line), '') = ''"
    ).fetchall()[0]
    lost = expected - taken - within - rejected - blank
    if lost > 0:
        near = con.execute("select min(line) from reject_errors").fetchall()[0][0]
        where = f"near line {near} " if near else ""
        raise BadInputError(
            f"{found.path}: expected {expected:,} rows, one a line, found {int(lost):,} lines "
            f"{where}that cannot be told apart, most likely by a quote that is opened and not "
            "closed. Close or remove it, or export again."
        )


def _breaks(text: str) -> str:
    return f"length({text}) - length(replace({text}, chr(10), ''))"


def set_long_cells_aside(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    """Set rows aside whose names or numbers run over several lines.

    Only cells that are read are looked at: prompts may have as many lines as they like. Where one
    of those read holds what parts cells, it has swallowed rows: each of its lines counts as one.

    Raises:
        BadInputError: Where a cell runs over so many lines that rows must be in it.
    """
    texts = con.execute(
        "select column_name from duckdb_columns() where table_name = 'source_cells' "
        "and data_type = 'VARCHAR'"
    ).fetchall()
    cells = [f'"{name}"' for (name,) in texts]
    if not cells:
        return
    has_break = " or ".join(f"contains({cell}, chr(10))" for cell in cells)
    all_text = f"concat_ws('', {', '.join(cells)})"
    long_rows = con.execute(
        f"select source_line, length({all_text}) - length(replace({all_text}, chr(10), '')), "
        f"contains({all_text}, $delimiter) from numbered_cells where {has_break} "
        "order by source_line",
        {"delimiter": found.delimiter},
    ).fetchall()
    if any(breaks > _MOST_BREAKS for _, breaks, _ in long_rows):
        raise BadInputError(_message(found, long_rows[0][0]))
    if long_rows:
        con.execute(
            "insert into staged_rejects select unnest($lines::bigint[]), 'csv_cell_over_lines'",
            {
                "lines": [
                    line
                    for line, breaks, has_swallowed in long_rows
                    for _ in range(1 + breaks * has_swallowed)
                ]
            },
        )


def _message(found: Recognised, line: int) -> str:
    return (
        f"{found.path}: expected one row a line, found a quote opened at line {line} that runs "
        "over many lines, so the rows in it would be lost. Close or remove it, or export again."
    )
