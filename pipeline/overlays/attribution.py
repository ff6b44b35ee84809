"""Whose usage it is: `attribution.csv`, the company's word on keys, projects, users and routes.

A row gives usage a team, project, class or task rule where every filled cell on its left matches.
Which row wins is in sql/staging/stg_attribution.sql and does not depend on their order.
"""

import re
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError
from pipeline.overlays.mapping_files import PERIOD, MappingRow, read_mapping, require_one_meaning

TABLE = "attribution"
# What a row may match, in the log's words: the more telling first.
MATCHED = (
    "api_key_id",
    "user_id",
    "route",
    "logged_project",
    "logged_team",
    "model_name",
    "provider",
)
GIVEN = ("team", "project", "query_class", "task_rule")
TASK_RULES = ("request", "session", "trace", "parent", "window")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_LONGEST_WINDOW_S = 31 * 86_400


def load_attribution(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create raw_attribution from the overlay folder's file, empty where there is none.

    Raises:
        BadInputError: Where a row matches everything, a cell is not readable, or two rows match
            the same on the same day.
    """
    texts = ", ".join(f"{name} varchar" for name in (*MATCHED, *GIVEN, *PERIOD))
    con.execute(
        f"create or replace table raw_attribution (rule_line integer, {texts}, window_s bigint)"
    )
    rows = read_mapping(folder, TABLE, (*MATCHED, *GIVEN, *PERIOD), required=())
    classes = con.execute("select query_class from raw_query_classes order by 1").fetchall()
    for row in rows:
        _require_patterns(row)
        _require_class(row, [str(each) for (each,) in classes])
    require_one_meaning(rows, _patterns)
    for row in rows:
        task_rule, window_s = _task_rule(row)
        said = {name: _lower(row.cells[name]) for name in (*MATCHED, "query_class")}
        said |= {name: row.cells[name] for name in ("team", "project")} | row.period()
        names = ", ".join(f"${name} as {name}" for name in said)
        con.execute(
            f"insert into raw_attribution by name select $line as rule_line, {names}, "
            "$task_rule as task_rule, $window_s as window_s",
            {"line": row.line, **said, "task_rule": task_rule, "window_s": window_s},
        )


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _patterns(row: MappingRow) -> tuple[str | None, ...]:
    return tuple(_lower(row.cells[name]) for name in MATCHED)


def _require_patterns(row: MappingRow) -> None:
    if not any(_patterns(row)):
        raise BadInputError(
            f"{row.where}: row {row.line}: matches all usage; fill one of {', '.join(MATCHED)}."
        )
    for name in MATCHED:
        if "*" in (row.cells[name] or "")[:-1]:
            raise row.fault(name, "no * but one at the end")


def _require_class(row: MappingRow, classes: list[str]) -> None:
    query_class = _lower(row.cells["query_class"])
    if query_class is not None and query_class not in classes:
        raise row.fault("query_class", f"one of {', '.join(classes)}")


def _task_rule(row: MappingRow) -> tuple[str | None, int | None]:
    """Return the word of a task rule and, of a window, its seconds."""
    text = _lower(row.cells["task_rule"])
    if text is None or text in TASK_RULES[:-1]:
        return text, None
    found = re.fullmatch(r"window:([1-9][0-9]{0,6})([smh])", text)
    window_s = int(found.group(1)) * _SECONDS[found.group(2)] if found else 0
    if not 0 < window_s <= _LONGEST_WINDOW_S:
        raise row.fault("task_rule", f"{', '.join(TASK_RULES[:-1])} or window:30m (up to 31 days)")
    return "window", window_s
