"""Every column of every mart is explained, and DATA.md says what the SQL says."""

from pathlib import Path

from pipeline import dictionary
from pipeline.marts import MARTS

ROOT = Path(__file__).resolve().parent.parent


def test_data_md_is_current() -> None:
    assert (ROOT / "DATA.md").read_text(encoding="utf-8") == dictionary.markdown(), (
        "run `make dictionary`"
    )


def test_every_column_of_every_mart_has_a_meaning_a_type_and_sources() -> None:
    lacking = [
        f"{entry.table}.{entry.column}"
        for entry in dictionary.entries()
        if not (entry.meaning and entry.type and entry.sources)
    ]

    assert lacking == [], "give the column a meaning in its section, or in pipeline/dictionary.py"


def test_every_mart_is_in_the_dictionary() -> None:
    assert {entry.table for entry in dictionary.entries()} == set(MARTS)


def test_every_number_has_a_unit() -> None:
    numbers = ("BIGINT", "INTEGER", "DOUBLE", "DECIMAL(38, 0)", "DECIMAL(38, 15)", "DECIMAL(38, 9)")

    assert [
        f"{entry.table}.{entry.column}"
        for entry in dictionary.entries()
        if entry.type in numbers and not entry.unit
    ] == []


def test_a_column_says_through_which_blocks_it_comes_from_which_table() -> None:
    found = {(entry.table, entry.column): entry.sources for entry in dictionary.entries()}

    # usage.request_count of a block that sums int_usage_groups
    assert found["mart_cost_per_task", "request_count"] == ("int_usage_groups",)
    assert found["mart_intake", "source_file"] == ("raw_inputs",)


def test_a_unit_tells_what_it_is_per() -> None:
    units = {entry.column: entry.unit for entry in dictionary.entries()}

    assert units["cost_usd_per_task"] == "USD per task"
    assert units["carbon_gco2e_per_task"] == "g CO₂e per task"
    assert units["cost_frac"] == "share, 0 to 1"
