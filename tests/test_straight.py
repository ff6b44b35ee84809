"""Clean logs are read in one pass; it must give what the careful way gives, line by line."""

import json
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, rows_of
from source_rows import fates, loaded, table

from pipeline.ingest import straight
from pipeline.ingest.detect import HEAD_BYTES, recognise
from pipeline.ingest.files import find_files
from pipeline.ingest.load import load
from pipeline.ingest.tables import create_tables
from pipeline.settings import Input, Settings, bundled

pytestmark = pytest.mark.slow

Con = duckdb.DuckDBPyConnection

METADATA = {"usage_object": {"prompt_tokens_details": {"cached_tokens": 4}}}
CLEAN = "occurred_at,model_name,input_tokens,output_tokens\n"


@pytest.fixture(autouse=True)
def two_threads(con: Con) -> None:
    """Let two threads read, since a log that is long has them: the order of lines must hold."""
    con.execute("set threads = 2")


def is_straight(path: Path) -> bool:
    found = recognise(path)
    select = (bundled("sql/sources") / f"{found.source.name}.sql").read_text(encoding="utf-8")
    return straight.is_possible(found, select)


def log_of(folder: Path, name: str) -> Path:
    """Write a log of each container, with rows that break rules and times of every kind."""
    rows: Rows = [
        {"startTime": "2026-10-05T10:00:00.5Z", "prompt_tokens": 9, "spend": "0.25"},
        {"startTime": "2026-10-05 12:00:00+02:00", "prompt_tokens": "9.0", "spend": None},
        {"startTime": "yesterday", "prompt_tokens": 9, "spend": "0"},
        {"startTime": "2026-10-05", "prompt_tokens": -9, "spend": "1,5"},
        {"startTime": "2026-10-05T10:00:00", "prompt_tokens": "many", "spend": "0"},
    ]
    filled: Rows = [
        {"request_id": f"r{n}", "model": "gpt-5", "completion_tokens": n, "total_tokens": "",
         "api_key": " k ", "metadata": METADATA, "request_tags": "", **row}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    path = folder / name
    if name.endswith("csv"):
        return table(path, [{**row, "metadata": json.dumps(METADATA)} for row in filled])
    path.write_text("".join(json.dumps(row) + "\n" for row in filled), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_one_pass_gives_what_the_careful_way_gives(
    con: Con, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log_of(tmp_path, name)
    assert is_straight(path)
    in_one_pass = loaded(con, path)

    monkeypatch.setattr(straight, "is_possible", lambda found, select: False)
    create_tables(con)
    with_care = loaded(con, path)

    assert in_one_pass == with_care
    # 12:00 two hours ahead of UTC is 10:00; 9 in all, of which 4 cached, leave 5
    assert [row["occurred_at"] for row in in_one_pass[:2]] == [
        "2026-10-05 10:00:00.5",
        "2026-10-05 10:00:00",
    ]
    assert [row["uncached_input_tokens"] for row in in_one_pass[:2]] == [5, 5]
    assert fates(in_one_pass) == [
        "accepted",
        "accepted",
        "occurred_at_unreadable",
        "tokens_negative; billed_cost_unreadable",
        "tokens_unreadable",
    ]


USED = '"occurred_at":"2026-10-05T10:00:00Z","model_name":"m","input_tokens":9'


@pytest.mark.parametrize(
    "odd",
    [
        f'{{{USED},"output_tokens":1,"team":"late"}}',
        f'{{{USED},"output_tokens":1,"billed_cost_usd":"1.5","billed_currency":"EUR"}}',
        f'{{{USED},"output_tokens":1,"output_tokens":2}}',
        f'{{{USED},"output_tokens":true,"model_name":["m", {{"n": 1.0}}]}}',
        f'{{{USED},"output_tokens":1e400,"request_id":12345678901234567890123}}',
        f'{{{USED},"output_tokens":"7 ","request_id":"\\u00e9\\ud83d\\ude00\\n\\u0000"}}',
        f'{{{USED},"OUTPUT_TOKENS":1}}',
        f'{{{USED},"output_tokens":NaN}}',
        f'{{{USED},"output_tokens":1}}\r',
        f'{{{USED},"output_tokens":1}} {{{USED},"output_tokens":1}}',
        f'{{{USED},"output_tokens":',
        f'[{{{USED},"output_tokens":1}}]',
        '{"output_tokens":\n1}',
        "null",
        '"text"',
        "",
    ],
)
def test_one_odd_line_is_told_as_the_careful_way_tells_it(
    con: Con, tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    # The head is a million bytes: what stands behind it is met while rows are read, and behind the
    # 2,048 rows that are read at once. Blanks make it few rows.
    plain = f'{{{USED},"output_tokens":1{" " * 300}}}\n'
    path.write_text(plain * 3_000 + odd + "\n" + plain, encoding="utf-8", newline="")
    assert path.stat().st_size > HEAD_BYTES
    assert is_straight(path)
    in_one_pass = loaded(con, path)

    monkeypatch.setattr(straight, "is_possible", lambda found, select: False)
    create_tables(con)

    assert in_one_pass == loaded(con, path)


@pytest.mark.parametrize("metadata", [json.dumps(METADATA), "no JSON", "", None, [4]])
def test_a_text_in_the_place_of_an_object_is_told_as_the_careful_way_tells_it(
    con: Con, tmp_path: Path, metadata: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log_of(tmp_path, "log.jsonl")
    first, second, *others = path.read_text(encoding="utf-8").splitlines()
    odd = json.dumps({**json.loads(second), "metadata": metadata})
    path.write_text("\n".join([first, odd, *others]), encoding="utf-8")
    assert is_straight(path)
    in_one_pass = loaded(con, path)

    monkeypatch.setattr(straight, "is_possible", lambda found, select: False)
    create_tables(con)

    assert in_one_pass == loaded(con, path)


def test_every_row_of_a_long_file_keeps_its_line(con: Con, tmp_path: Path) -> None:
    """Row groups of 122,880 rows and buffers are filled by two threads; the order must hold."""
    count = 150_000
    path = tmp_path / "a.csv"
    body = "".join(f"2026-10-05T10:00:00Z,m,{n},1\n" for n in range(2, count + 2))
    path.write_text(CLEAN + body, encoding="utf-8")
    short = tmp_path / "b.csv"
    short.write_text(CLEAN + "2026-10-05T10:00:00Z,m,2,1\n", encoding="utf-8")
    assert is_straight(path)

    load(con, find_files([Input(str(each)) for each in (short, path)], Path("/")), Settings())

    assert rows_of(
        con,
        "select count(*)::int as n, bool_and(source_line = uncached_input_tokens) as is_right "
        "from raw_usage",
    ) == [{"n": count + 1, "is_right": True}]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [("2026-10-05T10:00:00Z,m", "csv_missing_columns"), ("a,b,c,d,e", "csv_too_many_columns")],
)
def test_a_fault_undoes_the_pass_and_is_named(
    con: Con, tmp_path: Path, bad: str, reason: str
) -> None:
    path = tmp_path / "a.csv"
    good = "2026-10-05T10:00:00Z,m,9,1"
    path.write_text(f"{CLEAN}{good}\n{bad}\n{good}\n\n", encoding="utf-8")

    rows = loaded(con, path)

    assert fates(rows) == ["accepted", reason, "accepted"]
    assert [row["source_line"] for row in rows] == [2, 3, 4]


def test_a_blank_line_between_records_is_no_row(con: Con, tmp_path: Path) -> None:
    path = log_of(tmp_path, "log.jsonl")
    first, *others = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([first, "", *others]), encoding="utf-8")
    assert is_straight(path)

    assert [row["source_line"] for row in loaded(con, path)] == [1, 3, 4, 5, 6]


def test_a_key_that_few_lines_of_a_large_file_have_is_named(con: Con, tmp_path: Path) -> None:
    record = {"occurred_at": "2026-10-05T10:00:00Z", "model": "m", "prompt_tokens": 9,
              "request_id": "r", "completion_tokens": 1, "spend": 0, "startTime": "2026-10-05",
              "messages": "x" * 2_000}  # fmt: skip
    plain, odd = json.dumps(record), json.dumps({**record, "thinking_tokens": 7})
    path = tmp_path / "a.jsonl"
    lines = [odd if n % 100 == 0 else plain for n in range(10_000)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert path.stat().st_size > 16_000_000
    assert is_straight(path)

    loaded(con, path)

    assert rows_of(
        con,
        "select column_name as name, filled_row_count as n from raw_unknown_columns "
        "where is_token_like",
    ) == [{"name": "thinking_tokens", "n": 100}]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-10-05 10:00:00", "2026-10-05 10:00:00"),
        ("2026-10-05T10:00:00.5Z", "2026-10-05 10:00:00.5"),
        ("2026-10-05T10:00:00+02:00", "2026-10-05 08:00:00"),
        ("2026-10-05 10:00:00-03", "2026-10-05 13:00:00"),
        ("2026-10-05 10:00:00 Europe/Madrid", "2026-10-05 08:00:00"),
        ("2026-10-05", "2026-10-05 00:00:00"),
        ("infinity", "infinity"),
        ("noon", "infinity"),
        ("Z", "infinity"),
    ],
)
def test_a_time_keeps_its_zone_in_one_pass(con: Con, tmp_path: Path, text: str, at: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{CLEAN}{text},gpt-5,1,1\n", encoding="utf-8")
    assert is_straight(path)

    assert [row["occurred_at"] for row in loaded(con, path)] == [at]


def test_a_cell_that_is_no_number_is_told_of_its_row(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    lines = "".join(
        f"2026-10-05,gpt-5,{tokens},1\n" for tokens in ("59200.0", "", "many", "1e3", " 7 ")
    )
    path.write_text(CLEAN + lines, encoding="utf-8")

    rows = loaded(con, path)

    assert [row["uncached_input_tokens"] for row in rows] == [59200, None, None, 1000, 7]
    assert fates(rows) == [
        "accepted", "input_tokens_missing", "tokens_unreadable", "accepted", "accepted",
    ]  # fmt: skip


def test_what_is_assumed_is_stored_where_no_column_is(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("occurred_at,input_tokens,output_tokens\n2026-10-05,1,1\n", encoding="utf-8")
    assumed = {"model": "gpt-5", "provider": "openai", "team": "search", "class": "chat"}

    load(con, find_files([Input(str(path), assumed)], tmp_path), Settings())

    names = "model_name, provider, team, query_class"
    assert con.sql(f"select {names} from raw_usage").fetchall() == [tuple(assumed.values())]
    assert con.sql("select request_id, task_id from raw_usage").fetchall() == [(None, None)]
