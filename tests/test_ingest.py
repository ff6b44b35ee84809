"""Every way a row or a file can be refused, and everything that must survive the way in."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, rows_of

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError
from pipeline.ingest import contract
from pipeline.ingest.containers import UnknownFormError
from pipeline.ingest.detect import recognise
from pipeline.ingest.load import find_files, load
from pipeline.ingest.summary import summarise
from pipeline.settings import Input, Settings, bundled, parse_assume, read_settings

Con = duckdb.DuckDBPyConnection
Write = Callable[..., Path]

GOOD: dict[str, object] = {
    "occurred_at": "2026-10-05T10:00:00Z",
    "model_name": "m",
    "input_tokens": 9,
}

# One row that breaks one rule, for every rule.
BROKEN: dict[str, dict[str, object]] = {
    "occurred_at_missing": {"occurred_at": None, "output_tokens": 3},
    "occurred_at_unreadable": {"occurred_at": "yesterday", "output_tokens": 3},
    "time_outside_2000_2100": {"occurred_at": "1999-12-31T23:59:59Z", "output_tokens": 3},
    "model_missing": {"model_name": "  ", "output_tokens": 3},
    "tokens_unreadable": {"output_tokens": "many"},
    "cache_exceeds_input": {"cache_read_tokens": 10, "output_tokens": 3},
    "tokens_negative": {"output_tokens": -3},
    "tokens_not_whole": {"output_tokens": 2.5},
    "tokens_absurd": {"output_tokens": 100_000_000},
    "output_tokens_missing": {"output_tokens": None},
    "input_tokens_missing": {"input_tokens": None, "output_tokens": 3},
    "parts_differ_from_total": {"output_tokens": 3, "total_tokens": 13},
    "parts_differ_from_input": {"uncached_input_tokens": 8, "output_tokens": 3},
    "reasoning_exceeds_output": {"output_tokens": 3, "reasoning_tokens": 4},
    "bucket_ends_before_start": {"output_tokens": 3, "bucket_end_at": "2026-10-05T09:00:00Z"},
    "request_count_zero": {"output_tokens": 3, "request_count": 0},
    "billed_cost_unreadable": {"output_tokens": 3, "billed_cost_usd": "1,50"},
    "currency_not_usd": {"output_tokens": 3, "billed_cost_usd": "1", "billed_currency": "EUR"},
    "billed_cost_negative": {"output_tokens": 3, "billed_cost_usd": "-0.5"},
}


def ingest(con: Con, *paths: Path, assume: str = "", settings: Settings | None = None) -> None:
    """Load files into a warehouse that has reference tables."""
    inputs = [Input(str(path), parse_assume(assume)) for path in paths]
    load(con, find_files(inputs, Path("/")), settings or Settings())


def outcomes(con: Con) -> list[tuple[int, str | None]]:
    """Return (line, reasons) of every row, in order."""
    return con.execute(
        "select source_line, reject_reasons from raw_usage order by input_id, source_line"
    ).fetchall()


def test_every_rule_has_a_row_here_that_breaks_it() -> None:
    assert set(BROKEN) == {rule.name for rule in contract.RULES}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_row_that_breaks_a_rule_is_set_aside_under_its_name(
    con: Con, log: Write, reason: str
) -> None:
    path = log([{**GOOD, "output_tokens": 1}, {**GOOD, **BROKEN[reason]}])

    ingest(con, path)

    assert outcomes(con) == [(1, None), (2, reason)]


def test_a_row_that_breaks_two_rules_names_both(con: Con, log: Write) -> None:
    ingest(con, log([{**GOOD, "occurred_at": "soon", "output_tokens": -1}]))

    assert outcomes(con) == [(1, "occurred_at_unreadable; tokens_negative")]


def test_a_row_without_any_usage_says_only_that(con: Con, log: Write) -> None:
    ingest(con, log([{"occurred_at": "2026-10-05T10:00:00Z", "output_tokens": None}]))

    assert outcomes(con) == [(1, "no_usage")]


def test_a_charge_without_tokens_keeps_its_money(con: Con, log: Write) -> None:
    row = {**GOOD, "input_tokens": None, "output_tokens": None, "billed_cost_usd": "0.000001"}
    ingest(con, log([row, {**row, "billed_cost_usd": "-2", "charge_kind": "credit"}]))

    assert outcomes(con) == [(1, None), (2, None)]
    total = con.execute("select sum(billed_cost_usd)::varchar from raw_usage").fetchall()
    assert total == [("-1.999999000000",)]


def test_broken_lines_of_a_csv_keep_their_numbers_and_shift_no_other(
    con: Con, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        b"occurred_at,model_name,input_tokens,output_tokens,prompt\r\n"
        b"2026-10-01,m,1,1,\r\n"
        b'2026-10-01,m,2,2,"a ""quoted"",\r\ntext"\r\n'
        b"2026-10-01,m\r\n"
        b"2026-10-01,m,3,3,,3\r\n"
        b"2026-10-01,\xff\xfe,4,4,\r\n"
        b'2026-10-01,"m\r\nm",6,6,\r\n'
        b"2026-10-01,m,-5,5,\r\n"
    )

    ingest(con, path)

    assert outcomes(con) == [
        (2, None),
        (3, None),
        (4, "csv_missing_columns"),
        (5, "csv_too_many_columns"),
        (6, "csv_invalid_encoding"),
        (7, "csv_cell_over_lines"),
        (8, "tokens_negative"),
    ]


@pytest.mark.parametrize("closed_at", [None, 700])
def test_a_quote_left_open_stops_the_file_instead_of_swallowing_rows(
    con: Con, tmp_path: Path, closed_at: int | None
) -> None:
    rows = ["2026-10-05T10:00:00Z,m,9,1"] * 2_000
    rows[500] = '2026-10-05T10:00:00Z,"m,9,1'
    if closed_at:
        rows[closed_at] = '2026-10-05T10:00:00Z,m",9,1'
    path = tmp_path / "a.csv"
    header = "occurred_at,model_name,input_tokens,output_tokens"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")

    with pytest.raises(BadInputError, match="a quote opened at line 502"):
        ingest(con, path)


def test_of_two_rows_alike_but_for_the_team_the_order_decides_nothing(con: Con, log: Write) -> None:
    rows: Rows = [{**GOOD, "request_id": "a", "output_tokens": 1, "team": t} for t in ("x", "y")]

    ingest(con, log(rows, "1.jsonl"), log(rows[::-1], "2.jsonl"))

    kept = "select team from raw_usage where not is_duplicate"
    assert con.execute(kept).fetchall() == [("x",)]


def test_broken_lines_of_json_keep_their_numbers(con: Con, tmp_path: Path) -> None:
    good = json.dumps({**GOOD, "output_tokens": 1})
    path = tmp_path / "a.jsonl"
    path.write_text(f'{good}\n{{"occurred_at": "2026\n\n[1, 2]\n{good}\n', encoding="utf-8")

    ingest(con, path)

    assert outcomes(con) == [(1, None), (2, "not_json"), (4, "no_usage"), (5, None)]


def test_a_json_array_over_many_lines_is_read_record_by_record(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    rows = [{**GOOD, "output_tokens": 1}, {**GOOD, "output_tokens": -1}]
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")

    ingest(con, path)

    assert outcomes(con) == [(1, None), (2, "tokens_negative")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_is_read_under_any_usual_delimiter_and_with_a_byte_order_mark(
    con: Con, tmp_path: Path, delimiter: str
) -> None:
    cells = [["occurred_at", "model_name", "input_tokens", "output_tokens"],
             ["2026-10-05T10:00:00+02:00", "m", "59200.0", "1e3"]]  # fmt: skip
    path = tmp_path / "a.txt"
    path.write_text("\n".join(delimiter.join(row) for row in cells), encoding="utf-8-sig")

    ingest(con, path)

    assert con.execute(
        "select occurred_at::varchar, uncached_input_tokens, output_tokens from raw_usage"
    ).fetchall() == [("2026-10-05 08:00:00", 59_200, 1_000)]


def test_a_log_is_recognised_by_content_whatever_its_name(con: Con, log: Write) -> None:
    plain = log([{**GOOD, "output_tokens": 1}])
    packed = plain.with_name("picture.png")
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    ingest(con, packed)

    assert outcomes(con) == [(1, None)]


def test_parquet_is_read_with_its_own_types(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql(
        "copy (select timestamptz '2026-10-05 10:00:00+00' as occurred_at, 'm' as model_name, "
        "7 as team, 100::uinteger as input_tokens, 40::smallint as cache_read_tokens, "
        "5.0::float as output_tokens, 0.25::decimal(9,2) as billed_cost_usd, true as is_solved) "
        f"to '{path}'"
    )

    ingest(con, path)

    assert rows_of(
        con,
        "select team, uncached_input_tokens, cache_read_tokens, output_tokens, is_solved, "
        "billed_cost_usd::varchar as usd, is_cache_known, reject_reasons from raw_usage",
    ) == [
        {
            "team": "7",
            "uncached_input_tokens": 60,
            "cache_read_tokens": 40,
            "output_tokens": 5,
            "is_solved": True,
            "usd": "0.250000000000",
            "is_cache_known": True,
            "reject_reasons": None,
        }
    ]


def test_of_a_repeated_request_the_most_complete_row_is_kept(con: Con, log: Write) -> None:
    rows: Rows = [
        {**GOOD, "request_id": "a", "output_tokens": 1},
        {**GOOD, "request_id": "a", "output_tokens": 5},
        {**GOOD, "request_id": "a", "output_tokens": 5},
        {**GOOD, "request_id": "b", "output_tokens": 5},
        {**GOOD, "output_tokens": 5},
        {**GOOD, "output_tokens": 5},
    ]
    first = log(rows, "1.jsonl")
    second = log([{**GOOD, "request_id": "b", "output_tokens": 7}], "2.jsonl")

    ingest(con, first, second)

    kept = con.execute(
        "select input_id, source_line from raw_usage where not is_duplicate order by all"
    ).fetchall()
    assert kept == [(1, 2), (1, 5), (1, 6), (2, 1)]


def test_the_same_content_twice_counts_once(con: Con, log: Write) -> None:
    rows: Rows = [{**GOOD, "output_tokens": 1}, {**GOOD, "output_tokens": -1}]

    ingest(con, log(rows, "1.jsonl"), log(rows, "2.jsonl"))

    assert rows_of(
        con,
        "select input_id, is_duplicate, reject_reasons from raw_usage order by all",
    ) == [
        {"input_id": 1, "is_duplicate": False, "reject_reasons": "tokens_negative"},
        {"input_id": 1, "is_duplicate": False, "reject_reasons": None},
        {"input_id": 2, "is_duplicate": False, "reject_reasons": "tokens_negative"},
        {"input_id": 2, "is_duplicate": True, "reject_reasons": None},
    ]


@pytest.mark.parametrize(
    ("zone", "at", "month"),
    [
        ("UTC", "2026-09-30T23:59:59.999999Z", "2026-09"),
        ("UTC", "2026-10-01T00:00:00Z", "2026-10"),
        ("Europe/Madrid", "2026-09-30T22:00:00Z", "2026-10"),
        ("Europe/Madrid", "2026-10-31T22:59:59Z", "2026-10"),
        ("Europe/Madrid", "2026-10-31T23:00:00Z", "2026-11"),
        ("Pacific/Kiritimati", "2026-09-30T10:00:00Z", "2026-10"),
        ("Pacific/Pago_Pago", "2026-10-01T10:59:59Z", "2026-09"),
    ],
)
def test_a_month_is_cut_at_midnight_of_its_zone(
    con: Con, log: Write, zone: str, at: str, month: str
) -> None:
    path = log([{**GOOD, "occurred_at": at, "output_tokens": 1}])

    ingest(con, path, settings=Settings(time_zone=zone))

    assert con.execute("select month from raw_usage").fetchall() == [(month,)]


def test_assumptions_fill_what_a_row_leaves_out_and_nothing_else(con: Con, log: Write) -> None:
    path = log(
        [
            {**GOOD, "output_tokens": 1, "team": " ", "model_name": None},
            {**GOOD, "output_tokens": 1, "team": "t", "query_class": "rag"},
        ]
    )

    ingest(con, path, assume="model=Qwen/Qwen3-8B,team=research,class=chat,provider=vllm")

    assert con.execute(
        "select model_name, team, query_class, provider from raw_usage order by source_line"
    ).fetchall() == [
        ("Qwen/Qwen3-8B", "research", "chat", "vllm"),
        ("m", "t", "rag", "vllm"),
    ]


@pytest.mark.parametrize(("bad", "good"), [(9, 0), (10, 990)])
def test_nine_bad_rows_or_one_percent_are_set_aside(
    con: Con, log: Write, bad: int, good: int
) -> None:
    rows = [{**GOOD, "output_tokens": -1}] * bad + [{**GOOD, "output_tokens": 1}] * good

    ingest(con, log(rows))

    assert con.execute("select count(*) from raw_usage").fetchall() == [(bad + good,)]


def test_more_is_a_bad_file_and_rows_without_usage_thin_nothing_out(con: Con, log: Write) -> None:
    rows = [{**GOOD, "output_tokens": -1}] * 10 + [{**GOOD, "output_tokens": 1}] * 989
    empty = [{"occurred_at": "2026-10-05", "output_tokens": None}] * 50

    with pytest.raises(BadInputError, match=r"10 of 999: 10 × tokens_negative \(first at line 1\)"):
        ingest(con, log(rows + empty))


def test_names_from_a_log_are_kept_as_text(con: Con, log: Write) -> None:
    hostile = ["=cmd|' /C calc'!A0", "<script>alert(1)</script>", "'; drop table raw_usage; --"]
    path = log([{**GOOD, "output_tokens": 1, "team": team} for team in hostile])

    ingest(con, path)

    teams = con.execute("select team from raw_usage order by source_line").fetchall()
    assert [team for (team,) in teams] == hostile


def test_prompts_are_never_stored(con: Con, log: Write) -> None:
    path = log([{**GOOD, "output_tokens": 1, "messages": "SECRET", "prompt": "SECRET"}])

    ingest(con, path)

    for (table,) in con.execute("select table_name from duckdb_tables()").fetchall():
        found = con.execute(
            f"select count(*) from {table} as t where t::varchar like '%SECRET%'"
        ).fetchall()
        assert found == [(0,)], table


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", IncompleteInputError, "empty file"),
        (b"\n \n", IncompleteInputError, "empty file"),
        (b"a,b\n1,2\n", UnknownFormError, "expected a usage log"),
        (b"occurred_at,model\n2026-01-01,m\n", UnknownFormError, "general form with output_tokens"),
        (
            b"timestamp,model,input_tokens,output_tokens\n2026-01-01,m,1,1\n",
            UnknownFormError,
            "general form with occurred_at, found columns timestamp, model, input_tokens, "
            "output_tokens. Name the columns as the general form does (at least occurred_at, "
            "model_name, input_tokens, output_tokens; ",
        ),
        (b'{"x": 1}\n', UnknownFormError, "found JSON keys x"),
        (b"{\n", UnknownFormError, "it is cut off, or no JSON"),
        (b"PAR1 broken", BadInputError, "whole Parquet file"),
        (gzip.compress(b"a" * 100_000)[:-20], BadInputError, "whole gzip file"),
        (b"\x1f\x8bnot gzip at all", BadInputError, "whole gzip file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(
    tmp_path: Path, content: bytes, error: type[Exception], words: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(error) as caught:
        recognise(path)

    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cost_export_is_no_empty_usage_export(tmp_path: Path) -> None:
    times = "start_time,end_time,start_time_iso,end_time_iso"
    (tmp_path / "usage").write_text(f"{times}\n1,2,2025-01-01,2025-01-02\n", encoding="utf-8")
    (tmp_path / "cost").write_text(f"{times},amount_value\n1,2,a,b,0.5\n", encoding="utf-8")

    assert recognise(tmp_path / "usage").source.name == "openai_dashboard_usage"
    with pytest.raises(UnknownFormError):
        recognise(tmp_path / "cost")


def test_in_a_folder_what_is_no_log_is_named_and_passed_over(log: Write) -> None:
    path = log([{**GOOD, "output_tokens": 1}])
    (path.parent / "notes.txt").write_text("remember the milk", encoding="utf-8")
    settings = Settings(inputs=(Input(str(path.parent)),))

    entries = summarise(settings, lambda text: None)

    assert [(Path(entry["path"]).name, entry["format"]) for entry in entries] == [
        ("notes.txt", None),
        ("usage.jsonl", "general"),
    ]
    assert "expected a usage log" in entries[0]["reason"]


def test_a_trace_that_lacks_a_model_or_start_asks_for_it(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"timestamp": 0, "input_length": 1, "output_length": 1}\n', encoding="utf-8")

    with pytest.raises(WrongUseError, match="give --assume start=…"):
        ingest(con, path, assume="model=m")


@pytest.mark.parametrize("path", ["nowhere.jsonl", "no/*.csv"])
def test_a_path_that_leads_nowhere_is_named(path: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match=path.replace("*", r"\*")):
        find_files([Input(path)], tmp_path)


@pytest.mark.parametrize("path", ["usage[1].csv", "logs [a]*", "logs [a]*/what?.csv", "[u]*.csv"])
def test_a_name_with_the_signs_of_a_pattern_is_that_name_where_it_is_there(
    path: str, tmp_path: Path
) -> None:
    (tmp_path / "logs [a]*").mkdir()
    (tmp_path / "usage[1].csv").write_text("x", encoding="utf-8")
    (tmp_path / "logs [a]*" / "what?.csv").write_text("x", encoding="utf-8")
    found = {"logs [a]*": "logs [a]*/what?.csv", "[u]*.csv": "usage[1].csv"}.get(path, path)

    assert [file.shown for file in find_files([Input(path)], tmp_path)] == [found]


@pytest.mark.slow
def test_the_sample_is_read_as_its_generator_knows_it() -> None:
    expected = json.loads(bundled("data/sample/expected.json").read_text(encoding="utf-8"))
    settings = read_settings(bundled("data/sample/joulebook.toml"))

    entries = {entry["path"]: entry for entry in summarise(settings, lambda text: None)}

    assert entries.keys() == expected["files"].keys()
    for name, facts in expected["files"].items():
        found = entries[name]
        for key in (
            "rows_read",
            "rows_accepted",
            "rows_rejected",
            "rows_duplicate",
            "rejected_by_reason",
            "uncached_input_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "output_tokens",
            "reasoning_tokens",
        ):
            assert (name, key, found[key]) == (name, key, facts[key])
