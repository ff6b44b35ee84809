"""The record of a closed month, and what it says of a folder that was changed."""

import json
from pathlib import Path

import pytest

from pipeline.errors import BadInputError
from pipeline.monthly.closed_record import frozen_files, read_record

RECORD = {
    "event": {},
    "settings": {},
    "input_keys": [],
    "bridge": [],
    "totals": {},
    "manifest_sha256": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("reference/raw_prices.parquet", "overlays/taxes.csv", "costs.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    record = {**RECORD, "files": frozen_files(tmp_path)}
    (tmp_path / "record.json").write_text(json.dumps(record))
    return tmp_path


def test_what_was_frozen_is_read_as_it_was(folder: Path) -> None:
    (folder / "report").mkdir()  # what was issued is compared byte by byte elsewhere
    (folder / "report" / "index.html").write_text("changed")

    assert sorted(read_record(folder)["files"]) == [
        "costs.parquet",
        "overlays/taxes.csv",
        "reference/raw_prices.parquet",
    ]


@pytest.mark.parametrize(
    "name", ["reference/raw_prices.parquet", "overlays/taxes.csv", "costs.parquet"]
)
def test_a_frozen_file_that_was_changed_or_lost_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text("edited")
    with pytest.raises(BadInputError, match=rf"{name}: expected .* frozen, found: another one"):
        read_record(folder)

    (folder / name).unlink()
    with pytest.raises(BadInputError, match=rf"{name}: expected .* frozen, found: none"):
        read_record(folder)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "Expecting"),
        ("{}", "one without event, settings"),
        ("[]", "one without"),
        ("5", "int"),
    ],
)
def test_a_damaged_record_is_one_clear_line(folder: Path, text: str, found: str) -> None:
    (folder / "record.json").write_text(text)

    with pytest.raises(BadInputError, match=rf"record\.json: expected .*{found}.*backup"):
        read_record(folder)


def test_a_record_without_a_list_of_files_is_read(folder: Path) -> None:
    (folder / "record.json").write_text(json.dumps(RECORD))

    assert read_record(folder) == RECORD
