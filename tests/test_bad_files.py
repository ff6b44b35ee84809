"""Files that are not what they should be: named with what they are, and none stops the others."""

import gzip
from pathlib import Path

import duckdb
import pytest
from source_rows import fates, loaded

from pipeline.errors import BadInputError
from pipeline.ingest.containers import UnknownFormError
from pipeline.ingest.detect import recognise
from pipeline.ingest.files import find_files
from pipeline.ingest.load import load
from pipeline.settings import Input, Settings

Con = duckdb.DuckDBPyConnection

HEADER = "occurred_at,model_name,input_tokens,output_tokens\n"
ROW = "2026-10-05T10:00:00Z,gpt-5-mini,100,10\n"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04rest", "found a ZIP archive or a workbook. Unpack it, or save the sheet"),
        (b"\x28\xb5\x2f\xfdrest", "found a file packed by zstd. Unpack it: zstd -d FILE."),
        (b"\xfd7zXZ\x00rest", "found a file packed by xz. Unpack it: unxz FILE."),
        (b"%PDF-1.7", "found a PDF. Ask its sender for the figures as CSV."),
        (b'[{"occurred_at": "2026-10-05", "output_tokens": 1}, {"occ', "it is cut off, or no JSON"),
    ],
)
def test_a_file_that_is_no_text_log_is_named_with_what_to_do(
    tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(UnknownFormError) as refused:
        recognise(written(tmp_path / "log", content))

    assert words in str(refused.value)


@pytest.mark.parametrize(
    "header",
    [
        "OCCURRED_AT,MODEL_NAME,INPUT_TOKENS,OUTPUT_TOKENS",
        "occurred_at, model_name, input_tokens, output_tokens",
        "Occurred_At,Model_Name ,Input_Tokens,Output_Tokens",
    ],
)
def test_a_header_in_other_case_or_with_blanks_is_the_same_header(
    con: Con, tmp_path: Path, header: str
) -> None:
    rows = loaded(con, written(tmp_path / "log.csv", f"{header}\n{ROW.replace(',', ', ')}"))

    assert fates(rows) == ["accepted"]
    named = ("model_name", "uncached_input_tokens", "output_tokens")
    assert tuple(rows[0][name] for name in named) == ("gpt-5-mini", 100, 10)


def test_a_column_told_twice_is_refused_for_which_one_counts_is_not_known(tmp_path: Path) -> None:
    log = HEADER.replace("\n", ",output_tokens\n") + ROW.replace("\n", ",20\n")

    with pytest.raises(BadInputError, match=r"each column .* once, found output_tokens 2 times"):
        recognise(written(tmp_path / "log.csv", log))


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijklmnopqrstuvwxyz",
        "sk_live_abcdefghijklmnop",
        "Bearer abcdefghijklmnop",
        "abcdefghijklmnopqrstuvwxyzabcdef",
        "eyJhbGciOiJub25lIn",
    ],
)
def test_a_file_without_a_header_shows_no_key_of_its_first_row(tmp_path: Path, secret: str) -> None:
    with pytest.raises(UnknownFormError) as refused:
        recognise(written(tmp_path / "log.csv", f"{secret},team\n1,2\n"))

    assert secret[8:16] not in str(refused.value)
    assert "found columns …, team." in str(refused.value)


def test_a_damaged_file_of_a_folder_does_not_stop_the_others(con: Con, tmp_path: Path) -> None:
    packed = gzip.compress((HEADER + ROW * 3_000).encode())
    folder = tmp_path / "logs"
    folder.mkdir()
    written(folder / "cut.csv.gz", packed[:-30])
    written(folder / "good.csv", HEADER + ROW)
    files = list(find_files([Input("logs", {})], tmp_path))

    cut, good = load(con, files, Settings(), lists_bad_files=True)

    assert cut.source_format is None
    assert "expected a whole gzip file, found damage" in cut.reason
    assert good.source_format == "general"
    # a report rests on all of its files: there it stops
    with pytest.raises(BadInputError, match="expected a whole gzip file"):
        load(con, files, Settings())


def test_a_file_that_takes_more_memory_than_allowed_names_the_setting(
    con: Con, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate data")

    path = written(tmp_path / "log.csv", HEADER + ROW)
    monkeypatch.setattr("pipeline.ingest.load._insert_rows", full)

    with pytest.raises(BadInputError, match=r"log\.csv: expected to fit memory_limit_gb = 2\.5, "):
        load(con, find_files([Input(str(path))], tmp_path), Settings())
