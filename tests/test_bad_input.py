"""Damaged, foreign and hostile files: read right, or refused in one clear line."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, rows_of
from source_rows import fates, loaded

from pipeline.errors import BadInputError
from pipeline.ingest import contract
from pipeline.ingest.containers import UnknownFormError
from pipeline.ingest.detect import recognise
from pipeline.ingest.files import find_files
from pipeline.ingest.load import load
from pipeline.ingest.tables import null_out
from pipeline.settings import Input, Settings, bundled

Con = duckdb.DuckDBPyConnection
Write = Callable[..., Path]

HEADER = "occurred_at,model_name,input_tokens,output_tokens"
ROW = "2026-10-05T10:00:00Z,m,9,1"
RECORD: dict[str, object] = {
    "occurred_at": "2026-10-05T10:00:00Z",
    "model_name": "m",
    "input_tokens": 9,
    "output_tokens": 1,
}


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32")],
)
@pytest.mark.parametrize("text", [f"{HEADER}\n{ROW}\n", json.dumps(RECORD) + "\n"])
def test_text_in_wide_letters_is_refused_with_how_to_convert_it(
    tmp_path: Path, text: str, encoding: str, word: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(text.encode(encoding))

    with pytest.raises(BadInputError, match=f"expected text in UTF-8, found {word}") as caught:
        recognise(path)

    assert f"iconv -f {word} -t UTF-8" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_name_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    name = b"log\xff.csv"
    path = Path(str(tmp_path)) / name.decode(errors="surrogateescape")
    path.write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")

    with pytest.raises(BadInputError, match="expected a file name in UTF-8") as caught:
        recognise(path)

    str(caught.value).encode()  # can be printed


@pytest.mark.slow
def test_a_line_longer_than_any_buffer_is_read_like_others(con: Con, tmp_path: Path) -> None:
    long = "x" * 35_000_000
    table = tmp_path / "a.csv"
    table.write_text(f"{HEADER},prompt\n{ROW},{long}\n{ROW},x\n", encoding="utf-8")
    lines = tmp_path / "b.jsonl"
    records = [{**RECORD, "prompt": long}, RECORD]
    lines.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    packed = tmp_path / "c.gz"
    packed.write_bytes(gzip.compress(lines.read_bytes(), 1))

    rows = loaded(con, table, lines, packed)

    assert fates(rows) == ["accepted"] * 4 + ["duplicate"] * 2


@pytest.mark.parametrize("closed_at", [None, 90_000])
def test_a_quote_that_swallows_more_than_a_buffer_stops_the_file(
    con: Con, tmp_path: Path, closed_at: int | None
) -> None:
    rows = [f"{ROW},{'x' * 200}"] * 100_000  # 23 MB
    rows[500] = '2026-10-05T10:00:00Z,"m,9,1,x'
    if closed_at:
        rows[closed_at] = '2026-10-05T10:00:00Z,m",9,1,x'
    path = tmp_path / "a.csv"
    path.write_text("\n".join([f"{HEADER},prompt", *rows]) + "\n", encoding="utf-8")

    with pytest.raises(BadInputError, match="quote"):
        loaded(con, path)


@pytest.mark.parametrize(
    ("closing", "reason"),
    [("2026-10-05T10:00:00Z,m,9,1", "csv_unquoted_value"),
     ('2026-10-05T10:00:00Z,m",9,1', "csv_cell_over_lines")],
)  # fmt: skip
def test_every_line_that_an_open_quote_swallows_counts_as_a_bad_row(
    con: Con, tmp_path: Path, closing: str, reason: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'{HEADER}\n{ROW}\n2026-10-05T10:00:00Z,"m,9,1\n{ROW}\n{closing}\n')

    # 4 lines below the header: 1 good, 3 in the quote
    assert fates(loaded(con, path)) == ["accepted", *[reason] * 3]


def test_prompts_of_many_lines_and_blank_lines_lose_no_row(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        f'{HEADER},prompt\n{ROW},"one\ntwo\n\nfour"\n\n{ROW},plain\n\n\n{ROW},"a\n""b"""\n',
        encoding="utf-8",
    )

    assert fates(loaded(con, path)) == ["accepted"] * 3


def test_line_ends_of_two_kinds_beside_prompts_of_many_lines_lose_no_row(
    con: Con, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    text = f'{HEADER},prompt\r\n{ROW},"one\ntwo"\r\n{ROW},plain\n{ROW},x\r\n'
    path.write_bytes(text.encode())

    assert fates(loaded(con, path)) == ["accepted"] * 3


def test_a_prompt_with_line_ends_of_its_own_leaves_every_row_to_be_read(
    con: Con, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    text = f'{HEADER},prompt\n{ROW},plain\n{ROW},"one\r\ntwo"\n2026-10-05T10:00:00Z,m,9\n{ROW},x\n'
    path.write_bytes(text.encode())

    # 4 records: the third has too few cells
    assert fates(loaded(con, path)) == ["accepted", "accepted", "csv_missing_columns", "accepted"]


def test_an_open_quote_is_found_in_a_log_with_line_ends_of_two_kinds(
    con: Con, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    text = f'{HEADER},prompt\n{ROW},"one\r\ntwo"\n{ROW},"' + f"{ROW},x\n" * 20
    path.write_bytes(text.encode())

    with pytest.raises(BadInputError, match="opened"):
        loaded(con, path)


def test_json_lines_joined_of_two_systems_are_all_read(con: Con, tmp_path: Path) -> None:
    line, path = json.dumps({**RECORD, "mood": 1}), tmp_path / "a.jsonl"
    path.write_bytes(f"{line}\n{line}\n{line}\r\nno json\r\n{line}\r\n".encode())

    assert fates(loaded(con, path)) == [*["accepted"] * 3, "not_json", "accepted"]


def test_a_log_cut_off_in_a_line_keeps_the_rows_before(con: Con, tmp_path: Path) -> None:
    text = (json.dumps(RECORD) + "\n") * 2 + json.dumps({**RECORD, "api_key": "sk-SECRET"})[:-20]
    path = tmp_path / "a.jsonl"
    path.write_text(text, encoding="utf-8")

    assert fates(loaded(con, path)) == ["accepted", "accepted", "not_json"]


def test_counts_and_money_with_decimal_commas_are_unreadable_never_guessed(
    con: Con, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    header = HEADER.replace(",", ";")
    path.write_text(
        f"{header};billed_cost_usd\r\n"
        "2026-10-05T10:00:00Z;m;59200.0;1;0.25\r\n"
        "2026-10-05T10:00:00Z;m;59200,0;1;0.25\r\n"
        "2026-10-05T10:00:00Z;m;9;1;0,25\r\n",
        encoding="utf-8-sig",
    )

    rows = loaded(con, path)

    assert fates(rows) == ["accepted", "tokens_unreadable", "billed_cost_unreadable"]
    assert rows[0]["uncached_input_tokens"] == 59_200


def test_zero_bytes_in_a_log_are_names_or_bad_rows(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    odd = json.dumps({**RECORD, "model_name": "a\x00b"})
    path.write_bytes(f"{json.dumps(RECORD)}\n".encode() + b"\x00\x00\n" + odd.encode() + b"\n")

    rows = loaded(con, path)

    assert fates(rows) == ["accepted", "not_json", "accepted"]
    assert rows[2]["model_name"] == "a\x00b"


def test_one_line_in_another_encoding_is_one_bad_row(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    odd = ROW.replace(",m,", ",modèle,").encode("latin-1")
    path.write_bytes(f"{HEADER}\n".encode() + odd + f"\n{ROW}\n".encode())

    assert fates(loaded(con, path)) == ["csv_invalid_encoding", "accepted"]


@pytest.mark.parametrize(
    "content",
    [
        "sk-SECRET1234567890,foo\n1,2\n",  # a table without a header begins with data
        HEADER + "\n" + "2026-10-05T10:00:00Z,sk-SECRET1234567890,sk-SECRET1234567890,1\n" * 20,
        '{"sk-SECRET1234567890": 1}\n',
        (json.dumps(RECORD) + "\n" + '{"occurred_at": "sk-SECRET1234567890\n' * 20),
    ],
)
def test_no_message_repeats_what_may_be_a_secret(con: Con, tmp_path: Path, content: str) -> None:
    path = tmp_path / "log"
    path.write_text(content, encoding="utf-8")
    said: list[str] = []

    with pytest.raises(BadInputError) as caught:
        load(con, find_files([Input(str(path))], Path("/")), Settings(), said.append)

    assert "SECRET" not in str(caught.value) + "".join(said)


def test_in_a_folder_a_picture_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "logo"
    path.write_bytes(b"\x89PNG\r\n" + bytes(3_000))

    with pytest.raises(UnknownFormError):
        recognise(path)


def test_a_user_is_forgotten_where_stored_and_where_no_file_names_users(
    con: Con, log: Write
) -> None:
    rows: Rows = [{**RECORD, "user_id": "u1"}, {**RECORD, "user_id": "u2"}, {**RECORD}]
    named, unnamed = log(rows, "named.jsonl"), log([RECORD], "unnamed.csv")
    unnamed.write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")

    loaded(con, named)
    assert null_out(con, "user_id", "u1") == 1
    assert rows_of(con, "select user_id from raw_usage order by source_line") == [
        {"user_id": None},
        {"user_id": "u2"},
        {"user_id": None},
    ]

    loaded(con, unnamed)  # stores no user ids at all
    assert null_out(con, "user_id", "u1") == 0


def test_rare_columns_of_the_general_form_come_from_columns_of_their_own_name() -> None:
    """A table without such a column leaves it unstored, so it must not be made from others."""
    sql = (bundled("sql/sources") / "general.sql").read_text(encoding="utf-8")
    select = sql.rpartition("\nselect\n")[2].rpartition("\nfrom source_rows")[0]
    made_from = {}
    for part in re.split(r",\n    (?! )", select):
        name = re.search(r"(?:as (\w+)|source_rows\.(\w+))\s*$", part)
        assert name is not None, part
        made_from[name.group(1) or name.group(2)] = set(re.findall(r"source_rows\.(\w+)", part))

    stored = set(contract.RARE) & set(made_from)
    assert set(contract.RARE) - stored == {"running_requests"}  # which only metrics tell
    assert {name: made_from[name] for name in stored} == {name: {name} for name in stored}
