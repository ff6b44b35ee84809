"""What was asked: a request by its id or line, a cell of the workbook, an anchor of the page."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

import duckdb

from pipeline.errors import WrongUseError
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.report.section import Report, Table
from pipeline.report.workbook.places import Place, anchors_of, places_of, tables_of

_CELL = re.compile(r"'?(?P<sheet>[^'!]+)'?!\$?(?P<column>[A-Za-z]{1,3})\$?(?P<row>\d{1,7})")
_ANCHOR = re.compile(r"#?(?P<anchor>(?:table|figure)-\w+)(?::(?P<row>\w+))?(?::(?P<column>\w+))?")
_SHOWN = 6
_TOTAL = "total"

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d{1,18})(?:\.(?P<record>\d{1,9}))?")
_ROWS = """
    with named as (
        select input_id, source_line
        from raw_usage inner join raw_inputs using (input_id)
        where {condition}
    )
    select *
    from (
        select
            raw_usage.rowid as row_id, raw_usage.input_id, source_line, source_file, source_format,
            request_id, provider, model_name, month, reject_reasons, is_duplicate, occurred_at,
            output_tokens,
            row_number() over (
                partition by raw_usage.input_id, source_line order by raw_usage.rowid
            ) as record_number,
            count(*) over (partition by raw_usage.input_id, source_line) as line_record_count
        from raw_usage inner join raw_inputs on raw_usage.input_id = raw_inputs.input_id
        where (raw_usage.input_id, source_line) in (select input_id, source_line from named)
    )
    where {condition}
    order by source_file, source_line, record_number, input_id
"""


@dataclass(frozen=True)
class FoundCell:
    """A cell of a table of the report, and how it was asked for."""

    shown: str  # such as `Energy!F10` or `table-energy_per_class:1:batch`
    table: Table
    place: Place


def is_cell(asked: str) -> bool:
    """Say whether a text has the form of a cell or an anchor."""
    return bool(_CELL.fullmatch(asked) or _ANCHOR.fullmatch(asked))


def records(con: duckdb.DuckDBPyConnection, asked: str) -> list[Row]:
    """Return the rows of raw_usage under a request id, else those at `file:line`.

    A line of a file may hold several records: `file:line.2` is its second.
    """
    found = rows(con, _ROWS.format(condition="request_id = $id"), {"id": asked})
    place = _PLACE.fullmatch(asked)
    if found or place is None:
        return found
    condition = (
        "source_line = $line and (source_file = $file or ends_with(source_file, '/' || $file))"
    )
    values = {"line": int(place["line"]), "file": place["file"]}
    at_line = rows(con, _ROWS.format(condition=condition), values)
    wanted = place["record"]
    return [each for each in at_line if wanted in (None, str(each["record_number"]))]


def place_of(record: Row) -> str:
    """Return the name of a record by its place, as `records` understands it."""
    place = f"{record['source_file']}:{record['source_line']}"
    return place if record["line_record_count"] == 1 else f"{place}.{record['record_number']}"


def one_record(con: duckdb.DuckDBPyConnection, asked: str, month: str | None) -> Row:
    """Return the one record that was asked for; accepted ones go before others.

    Raises:
        WrongUseError: Where there is none, or several and no telling which.
    """
    found = records(con, asked)
    if not found:
        raise WrongUseError(_unknown(con, asked))
    accepted = [each for each in found if not each["reject_reasons"] and not each["is_duplicate"]]
    in_month = [each for each in accepted if month is None or each["month"] == month]
    if accepted and not in_month:
        months = ", ".join(sorted({each["month"] for each in accepted}))
        raise WrongUseError(f"{asked}: stands in {months}, not in {month}. Leave --month out.")
    left_out = [each for each in found if not each["is_duplicate"]] or found
    wanted = in_month or left_out
    if len(wanted) > 1:
        places = [
            f"{place_of(each)} ({each['provider'] or 'no provider'}, "
            f"{each['model_name'] or 'no model'})"
            for each in wanted
        ]
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        raise WrongUseError(
            f"{asked}: {len(wanted)} records have this name: {', '.join(places[:_SHOWN])}{more}. "
            "Choose one by its place."
        )
    return wanted[0]


def find_cell(asked: str, report: Report, workbook: bytes) -> FoundCell:
    """Return the table cell that a text such as `Energy!F7` or `figure-cost_by_cell:1` names.

    Raises:
        WrongUseError: Where there is no such sheet, cell, table, row or column, with what is near.
    """
    anchored = _ANCHOR.fullmatch(asked)
    if anchored:
        return _at_anchor(asked, report, anchored)
    match = _CELL.fullmatch(asked)
    if match is None:
        raise WrongUseError(f"{asked}: expected a cell such as 'Energy'!F7.")
    places = places_of(workbook, report)
    sheet = _sheet(match["sheet"], places)
    cell = f"{match['column'].upper()}{int(match['row'])}"
    place = places[sheet].get(cell)
    if place is None:
        raise WrongUseError(f"{sheet}!{cell}: no cell of a table. {_areas(sheet, places, report)}")
    table = tables_of(report)[place.table]
    _require_filled(f"{sheet}!{cell}", table, place)
    return FoundCell(f"{sheet}!{cell}", table, place)


def _at_anchor(asked: str, report: Report, match: re.Match[str]) -> FoundCell:
    anchors = anchors_of(report)
    name = anchors.get(match["anchor"])
    if name is None:
        near = get_close_matches(match["anchor"], anchors, 3, 0.3) or sorted(anchors)[:3]
        raise WrongUseError(f"{match['anchor']}: the page has no such table or figure. "
                            f"Near it: {', '.join(near)}.")  # fmt: skip
    table = tables_of(report)[name]
    names = [column.name for column in table.columns]
    hint = f"rows are 1 to {len(table.rows)}" + (", total" if table.total else "")
    columns = f"columns are {', '.join(names[1:])}"
    if match["row"] is None:
        raise WrongUseError(f"{asked}: which row? Write {match['anchor']}:ROW:COLUMN; {hint}; "
                            f"{columns}.")  # fmt: skip
    row = _row_number(match["row"], table)
    if row is None:
        raise WrongUseError(f"{asked}: no row {match['row']}; {hint}.")
    column = match["column"] or _main_column(table)
    if column not in names:
        near = get_close_matches(column, names, 3, 0.3) or names[1:4]
        raise WrongUseError(f"{asked}: no column {column}. Near it: {', '.join(near)}.")
    place = Place(name, row, names.index(column))
    shown = f"{match['anchor']}:{match['row']}:{column}"
    _require_filled(shown, table, place)
    return FoundCell(shown, table, place)


def _main_column(table: Table) -> str:
    """Return the first column that is an estimate or money: what a row is about."""
    for column in table.columns:
        if column.kind in ("usd", "kwh", "wh", "j", "kgco2e", "frac"):
            return column.name
    return table.columns[-1].name


def _row_number(text: str, table: Table) -> int | None:
    if text == _TOTAL:
        return len(table.rows) + 1 if table.total is not None else None
    return int(text) if text.isdigit() and 1 <= int(text) <= len(table.rows) else None


def _sheet(asked: str, places: dict[str, dict[str, Place]]) -> str:
    """Return a sheet by its name; case, and the line that stands for a space, do not matter."""
    plain = {name.lower().replace("_", " "): name for name in places}
    found = plain.get(asked.lower().replace("_", " "))
    if found is None:
        raise WrongUseError(f"{asked}: no such sheet; the workbook has {', '.join(places)}.")
    return found


def _areas(sheet: str, places: dict[str, dict[str, Place]], report: Report) -> str:
    tables = tables_of(report)
    areas: dict[str, list[str]] = {}
    for cell, place in places[sheet].items():
        areas.setdefault(place.table, []).append(cell)
    said = [f"{cells[0]}:{cells[-1]} ({tables[name].caption})" for name, cells in areas.items()]
    return f"Tables there: {'; '.join(said)}." if said else "That sheet has no table."


def _require_filled(shown: str, table: Table, place: Place) -> None:
    """Refuse heads and cells without a value, saying what stands there or near it."""
    column = table.columns[place.column]
    if place.row == 0:
        meaning = f" ({column.meaning})" if column.meaning else ""
        raise WrongUseError(
            f"{shown}: the head '{column.header}'{meaning}; its values stand below it."
        )
    values = [*table.rows, table.total or ()][place.row - 1]
    if values[place.column] is not None:
        return
    is_total = place.row > len(table.rows)
    filled = [c.header for c, value in zip(table.columns, values, strict=True) if value is not None]
    why = "a sum of it has no meaning" if is_total else f"shown as '{column.unknown}'"
    raise WrongUseError(
        f"{shown}: '{column.header}' of this row is empty: {why}. Filled are {', '.join(filled)}."
    )


def _unknown(con: duckdb.DuckDBPyConnection, asked: str) -> str:
    near = rows(
        con,
        "select request_id from (select distinct request_id from raw_usage where request_id "
        "is not null) order by jaro_winkler_similarity(request_id, $id) desc, request_id limit 3",
        {"id": asked},
    )
    hint = f" Near it: {', '.join(each['request_id'] for each in near)}." if near else ""
    return (
        f"{asked}: expected a request id, FILE:LINE, a cell such as Energy!F10 or an anchor of the "
        f"page such as table-energy_per_class:1; found none of them.{hint}"
    )
