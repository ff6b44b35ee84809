"""The record behind a number: where it stands, whose model it names, what its tokens are.

Of the log only the fields of the record are shown, never the line: it may hold prompts or keys.
"""

import duckdb

from pipeline.explain import wording
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.warehouse_rows import Row, row, rows
from pipeline.explain.written import Term, number, unless
from pipeline.ingest.sources import SOURCE_BY_NAME

_SHOWN_DUPLICATES = 5
_NO_CACHE = (
    "the log does not tell cached tokens apart: computed without any, and the low end widened"
)
_BUCKETS = (
    ("uncached_input_tokens", "uncached input", "i"),
    ("cache_read_tokens", "cache read", "k"),
    ("cache_write_5m_tokens", "cache write, 5 minutes", "w"),
    ("cache_write_1h_tokens", "cache write, 1 hour", "v"),
)


def record_part(con: duckdb.DuckDBPyConnection, logged: Row, request: Row) -> Part:
    """Return where the record stands and what it says, duplicates that gave way included.

    Args:
        con: The warehouse.
        logged: Its row of raw_usage with the file and form of raw_inputs.
        request: Its row of int_requests, empty for a charge.
    """
    form = SOURCE_BY_NAME[logged["source_format"]].title
    lines: list[Line] = [
        Fact("source_file", "file", logged["source_file"], note=form),
        Fact("source_line", "line", logged["source_line"]),
        Fact("request_id", "request id", logged["request_id"], note=_if_none(logged)),
        Fact("occurred_at", "began at", f"{logged['occurred_at']} UTC"),
    ]
    if logged["bucket_end_at"] is not None:
        lines.append(Fact("bucket_end_at", "bucket ends at", f"{logged['bucket_end_at']} UTC"))
    if request:
        lines += _named_lines(con, logged, request)
    lines += _owner_lines(logged, request)
    for name, label in (("task_id", "task"), ("status", "status"), ("finish_reason", "ended by")):
        if logged[name] is not None:
            lines.append(Fact(name, label, logged[name]))
    lines += _duplicate_lines(con, logged)
    return Part("record", "Record", tuple(lines))


def tokens_part(con: duckdb.DuckDBPyConnection, request: Row) -> Part:
    """Return the tokens of a row of int_requests, by kind and in all."""
    n, k, m = ("n", "k", "m") if request["request_count"] == 1 else ("N", "K", "M")
    total: Term = 0
    lines: list[Line] = []
    for name, label, sign in _BUCKETS:
        symbol = k if name == "cache_read_tokens" else sign
        if request[name] is not None:
            lines.append(Fact(name, f"{symbol}, {label}", request[name], "tokens"))
        total = total + unless(0, symbol, request[name] or 0)
    cache = "" if request["is_cache_known"] else _NO_CACHE
    if request["input_tokens"] is not None:
        label = f"{n}, input in all"
        lines.append(step("input_tokens", label, total, "tokens", request["input_tokens"], cache))
    lines.append(Fact("output_tokens", f"{m}, output", request["output_tokens"], "tokens"))
    if request["reasoning_tokens"]:
        label = "of it reasoning"
        lines.append(Fact("reasoning_tokens", label, request["reasoning_tokens"], "tokens"))
    if request["is_bucket"]:
        lines += _bucket_lines(con, request)
    return Part("tokens", "Tokens", tuple(lines))


def dropped_for(con: duckdb.DuckDBPyConnection, logged: Row) -> list[Row]:
    """Return the lines that were dropped in favour of a record, by file and line."""
    return _same_request(con, logged, is_duplicate=True)


def kept_for(con: duckdb.DuckDBPyConnection, dropped: Row) -> str | None:
    """Return the place of the record that was kept in favour of a dropped one."""
    kept = _same_request(con, dropped, is_duplicate=False)
    return f"{kept[0]['source_file']}:{kept[0]['source_line']}" if kept else None


def _same_request(con: duckdb.DuckDBPyConnection, row_: Row, *, is_duplicate: bool) -> list[Row]:
    """Return rows of the same request: of the same id, or else the same line of a file again."""
    by_id = ("provider", "model_name", "source_format", "request_id")
    by_line = ("source_line", "occurred_at", "output_tokens")
    names = by_id if row_["request_id"] is not None else (*by_id, *by_line)
    same = " and ".join(f"{name} is not distinct from ${name}" for name in names)
    return rows(
        con,
        f"""
        select source_file, source_line
        from raw_usage inner join raw_inputs using (input_id)
        where {same} and is_duplicate = $is_duplicate and reject_reasons is null
        order by source_file, source_line
        """,
        {name: row_[name] for name in names} | {"is_duplicate": is_duplicate},
    )


def _owner_lines(logged: Row, request: Row) -> list[Line]:
    """Return team and project, and whether the log or the company's attribution says so."""
    lines: list[Line] = []
    for name in ("team", "project"):
        told = request[name] if request else logged[name]
        note = "" if told == logged[name] else "by attribution.csv"
        if told is not None:
            lines.append(Fact(name, name, told, note=note))
        elif name == "team":
            lines.append(Fact(name, name, None, note="none stated"))
    return lines


def _named_lines(con: duckdb.DuckDBPyConnection, logged: Row, request: Row) -> list[Line]:
    rule = row(
        con,
        "select rule from raw_query_classes where query_class = $query_class",
        {"query_class": request["query_class"]},
    )
    said = logged["provider"]
    provider_note = f"logged as {said!r}" if said else "the log names none"
    return [
        Fact("provider", "provider", request["provider"], note=provider_note),
        Fact("model_id", "model", request["model_id"], note=_model_note(con, logged, request)),
        Fact(
            "query_class",
            "class",
            request["query_class"],
            note=wording.class_note(request, rule, logged["assumed_class"]),
        ),
    ]


def _model_note(con: duckdb.DuckDBPyConnection, logged: Row, request: Row) -> str:
    """Return by which rule a logged name is the model it is taken for."""
    name, model_id = logged["model_name"] or "", request["model_id"]
    prefix = f"{logged['provider']}/".lower()
    found = row(
        con,
        """
        select
            (
                select count(*) from stg_model_names
                where
                    logged_name in (lower($name), lower($bare)) and model_id = $id
                    and provider in ('', $provider) and valid_from <= $at and valid_to > $at
            ) > 0 as is_mapped,
            (select count(*) from stg_models where model_key = lower($id)) > 0 as is_known,
            (
                select max(alias) from stg_model_aliases
                where
                    model_id = $id and starts_with(lower($bare), alias)
                    and valid_from <= $at and valid_to > $at
            ) as alias
        """,
        {
            "name": name,
            "bare": name[len(prefix) :] if name.lower().startswith(prefix) else name,
            "id": model_id,
            "provider": request["provider"],
            "at": request["occurred_at"],
        },
    )
    said = f"logged as {name!r}"
    if found["is_mapped"]:
        return f"{said}, by the company's own names (settings or model_names.csv)"
    if not found["is_known"]:
        return f"{said}, not in the catalog"
    if name == model_id:
        return "logged by this id"
    if name.lower().endswith(model_id.lower()):
        return f"{said}: the id, case and prefix of the provider aside"
    if name.lower().startswith(model_id.lower()):
        return f"{said}: the id, a date at the end aside"
    if found["alias"]:
        return f"{said}, by the alias {found['alias']!r}"
    return f"{said}, by the rules for names"


def _bucket_lines(con: duckdb.DuckDBPyConnection, request: Row) -> list[Line]:
    guessed = request["is_request_count_guessed"]
    scatter = row(
        con,
        "select * from raw_dispersion_factors where query_class = $query_class",
        {"query_class": request["query_class"]},
    )
    count = number("r", request["request_count"])
    note = "guessed: output over the class's mean output" if guessed else "as logged"
    source = f"{scatter['source']}, {scatter['source_date']}"
    lines: list[Line] = [
        Fact("request_count", "r, requests of the bucket", request["request_count"], note=note)
    ]
    for name, sign, label in (
        ("input_tokens", "N", "mean input"),
        ("output_tokens", "M", "mean output"),
    ):
        if request[name] is not None:
            mean = number(sign, request[name]) / count
            lines.append(step(f"mean_{name}", label, mean, "tokens"))
    factors = (
        ("input_squared_ratio", "Dnn, squares of the input"),
        ("input_output_ratio", "Dnm, input times output"),
        ("output_squared_ratio", "Dmm, squares of the output"),
    )
    lines += [Fact(name, label, float(scatter[name]), note=source) for name, label in factors]
    return lines


def _duplicate_lines(con: duckdb.DuckDBPyConnection, logged: Row) -> list[Line]:
    dropped = dropped_for(con, logged)
    if not dropped:
        return []
    places = [f"{each['source_file']} line {each['source_line']:,}" for each in dropped]
    more = len(places) - _SHOWN_DUPLICATES
    text = ", ".join(places[:_SHOWN_DUPLICATES]) + (f" and {more:,} more" if more > 0 else "")
    note = f"the same request again: {text}; the line with most output is kept"
    return [Fact("duplicate_count", "lines dropped for it", len(dropped), note=note)]


def _if_none(logged: Row) -> str:
    return "" if logged["request_id"] is not None else "the log has none; file and line name it"
