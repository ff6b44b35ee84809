"""What holds for the whole project: headers, units, imports, sizes; and order never matters."""

import ast
import functools
import gzip
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Book, Rows, built, rows_of
from need import need_program

from pipeline import dictionary, warehouse
from pipeline.ingest.sources import SOURCES
from pipeline.marts import MARTS
from pipeline.settings import Input, Settings, bundled

ROOT = Path(__file__).resolve().parent.parent
SQL_FILES = sorted(bundled("sql").rglob("*.sql"))
MODEL_FILES = [file for file in SQL_FILES if file.parent.name in warehouse.MODEL_FOLDERS]
CHECK_FILES = [file for file in SQL_FILES if file.parent.name == "checks"]
PYTHON_FILES = sorted((ROOT / "pipeline").rglob("*.py"))

# The last words of a number's name, before `_per_<thing>`; each says its unit.
UNITS = {
    *("j", "kwh", "w", "s", "usd", "gco2e"),
    *("tokens", "params", "bytes", "flop", "steps", "count", "items", "frac", "ratio"),
}
# Numbers whose whole name is their unit: the design names them so.
UNITS_THEMSELVES = {
    "batch": "requests served together",
    "batch_max": "requests that the cache holds",
    "bias_factor": "measured over computed",
    "served_batch": "requests served together, as far as the cache holds them",
    "implied_batch": "requests served together, by the prices",
    "crossing_batch": "batch at which two architectures take as much energy",
    "implied_batch_low": "requests served together, by the prices, low end",
    "implied_batch_high": "requests served together, by the prices, high end",
    "batch_before": "requests served together in the month before",
    "finding_rank": "place among the findings",
    "first_batch_max": "requests that the cache holds at the first context of a task",
    "long_batch_max": "requests that the cache holds at a long context",
}
# Their energies were read from a meter; their interval is that of the multipliers.
MEASURED = ("mart_token_linearity",)
ENERGY_UNITS = ("j", "kwh", "gco2e")
BASIS = {"evidence_grade", "coefficient_set_id", "batch", "method_version"}
MOST_LINES = 350
# Modules that may be longer, each with its reason.
LONGER_MODULES: dict[str, str] = {}
SAMPLE_LINES = 300


def id_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def imports(file: Path) -> set[str]:
    """Return the modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


# SQL files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", SQL_FILES, ids=id_of)
def test_a_sql_file_begins_with_what_it_is(file: Path) -> None:
    assert re.match(r"-- \S", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", MODEL_FILES, ids=id_of)
def test_a_model_says_in_words_what_a_row_is_and_names_its_grain(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    assert not text.startswith(("-- grain:", "-- materialised:"))
    assert len(re.findall(r"^-- grain: [a-z_0-9]+(, [a-z_0-9]+)*$", text, re.MULTILINE)) == 1


@pytest.mark.parametrize("file", CHECK_FILES, ids=id_of)
def test_a_check_says_its_severity_and_its_meaning(file: Path) -> None:
    first, second = file.read_text(encoding="utf-8").splitlines()[:2]

    assert first in ("-- severity: error", "-- severity: warn")
    assert re.fullmatch(r"-- meaning: \S.+", second)


@pytest.mark.parametrize("file", CHECK_FILES, ids=id_of)
def test_a_check_is_named_by_the_sentence_it_claims(file: Path) -> None:
    assert len(file.stem.split("_")) >= 4


def stars(sql: str) -> list[str]:
    """Return where a query takes all columns, its comments and texts left out."""
    code = re.sub(r"--.*$", "", sql, flags=re.MULTILINE)
    return re.findall(r"(?:select|,|\b\w+\.)\s*\*", re.sub(r"'[^']*'", "''", code))


@pytest.mark.parametrize(
    "file", [file for file in SQL_FILES if file.parent.name != "sources"], ids=id_of
)
def test_a_model_names_every_column_it_takes(file: Path) -> None:
    assert stars(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "file", [file for file in SQL_FILES if file.parent.name == "sources"], ids=id_of
)
def test_a_source_names_every_column_it_gives(file: Path) -> None:
    # Of what it reads it may take all: its declaration lists those columns.
    last_select = file.read_text(encoding="utf-8").rpartition("\nselect\n")[2]

    assert stars(last_select) == []


@pytest.mark.parametrize("file", MODEL_FILES, ids=id_of)
def test_a_model_is_named_by_its_folder(file: Path) -> None:
    prefix = {"staging": "stg_", "intermediate": "int_", "marts": "mart_"}[file.parent.name]

    assert file.stem.startswith(prefix)


def test_every_mart_is_reported() -> None:
    assert {file.stem for file in MODEL_FILES if file.parent.name == "marts"} == set(MARTS)


def test_every_source_has_its_select_and_every_select_its_source() -> None:
    selects = {file.stem for file in SQL_FILES if file.parent.name == "sources"}

    assert {source.name for source in SOURCES} == selects


# Tables ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The first lines of the sample's proxy log."""
    path = bundled("data/sample") / "litellm-2026-10.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [next(file) for _ in range(SAMPLE_LINES)]


@pytest.fixture(scope="module")
def book_with(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Book]]:
    """Build the warehouse of some files of log lines."""
    opened: list[Book] = []

    def run(*files: list[str]) -> Book:
        folder = tmp_path_factory.mktemp("logs")
        for number, text in enumerate(files):
            (folder / f"log-{number}.jsonl").write_text("".join(text), encoding="utf-8")
        inputs = [Input(f"log-{number}.jsonl") for number in range(len(files))]
        opened.append(built(inputs, Settings(), folder))
        return opened[-1]

    yield run
    for book in opened:
        book.close()


@pytest.fixture(scope="module")
def book(book_with: Callable[..., Book], lines: list[str]) -> Book:
    return book_with(lines)


def mart_columns(book: Book) -> Rows:
    return rows_of(
        book,
        "select table_name, column_name, data_type from duckdb_columns() "
        "where table_name like 'mart_%' order by all",
    )


@pytest.mark.slow
def test_every_number_of_a_mart_names_its_unit(book: Book) -> None:
    numbers = {
        row["column_name"]
        for row in mart_columns(book)
        if row["data_type"] not in ("VARCHAR", "BOOLEAN", "TIMESTAMP", "DATE")
    }

    assert {
        name for name in numbers if name.split("_per_")[0].rpartition("_")[2] not in UNITS
    } == set(UNITS_THEMSELVES)


def test_every_energy_of_a_mart_has_its_range_and_what_it_rests_on(book: Book) -> None:
    columns: dict[str, set[str]] = {name: set() for name in MARTS}
    for row in mart_columns(book):
        columns[row["table_name"]].add(row["column_name"])
    missing: dict[str, set[str]] = {}
    for mart, names in columns.items():
        energies = [n for n in names if n.split("_per_")[0].rpartition("_")[2] in ENERGY_UNITS]
        if not energies:
            continue
        lacks = BASIS - names
        lacks |= {
            f"a {end} end" for end in ("low", "high") if not any(f"_{end}_" in n for n in energies)
        }
        if lacks:
            missing[mart] = lacks

    assert missing == {name: missing.get(name) for name in MEASURED}


def test_money_of_a_mart_is_decimal(book: Book) -> None:
    money = [row for row in mart_columns(book) if row["column_name"].endswith("_usd")]

    assert [row for row in money if not row["data_type"].startswith("DECIMAL")] == []


def test_counts_of_a_mart_are_whole(book: Book) -> None:
    counts = [row for row in mart_columns(book) if row["column_name"].endswith("_count")]

    assert [row for row in counts if row["data_type"] not in ("BIGINT", "INTEGER")] == []


def test_no_column_is_a_reserved_word(book: Book) -> None:
    assert (
        rows_of(
            book,
            """
            select table_name, column_name
            from duckdb_columns()
            where
                not internal
                and (
                    column_name in ('at', 'end', 'date', 'timestamp', 'user')
                    or column_name in (
                        select keyword_name from duckdb_keywords()
                        where keyword_category <> 'unreserved'
                    )
                )
                and (
                    table_name like 'raw_%' or table_name like 'stg_%'
                    or table_name like 'int_%' or table_name like 'mart_%'
                )
            """,
        )
        == []
    )


def test_the_grain_of_a_view_holds_too(book: Book) -> None:
    repeated = {
        model.name
        for model in warehouse.models().values()
        if model.is_view
        and book.execute(
            f"select 1 from {model.name} group by {', '.join(model.grain)} having count(*) > 1"
        ).fetchall()
    }

    assert repeated == set()


# Order and repetition -------------------------------------------------------------------------


def marts_of(book: Book, but: str = "") -> dict[str, Rows]:
    return {
        name: rows_of(book, f"select * from {name} order by all") for name in MARTS if name != but
    }


@pytest.mark.slow
def test_two_builds_of_the_same_log_give_the_same_marts(
    book: Book, book_with: Callable[..., Book], lines: list[str]
) -> None:
    assert marts_of(book_with(lines)) == marts_of(book)


@pytest.mark.slow
def test_the_order_of_rows_never_changes_a_mart(
    book: Book, book_with: Callable[..., Book], lines: list[str]
) -> None:
    shuffled = list(lines)
    random.Random(7).shuffle(shuffled)  # noqa: S311 no secret

    assert marts_of(book_with(shuffled)) == marts_of(book)


@pytest.mark.slow
def test_how_rows_are_spread_over_files_changes_nothing_but_the_intake(
    book: Book, book_with: Callable[..., Book], lines: list[str]
) -> None:
    middle = SAMPLE_LINES // 2

    spread = book_with(lines[middle:], lines[:middle])

    assert marts_of(spread, but="mart_intake") == marts_of(book, but="mart_intake")


@pytest.mark.slow
def test_a_file_given_twice_changes_nothing_but_the_intake(
    book: Book, book_with: Callable[..., Book], lines: list[str]
) -> None:
    twice = book_with(lines, lines)

    assert marts_of(twice, but="mart_intake") == marts_of(book, but="mart_intake")


@pytest.mark.slow
def test_rows_given_twice_change_nothing_but_the_intake(
    book: Book, book_with: Callable[..., Book], lines: list[str]
) -> None:
    twice = book_with([line for line in lines for _ in range(2)])

    assert marts_of(twice, but="mart_intake") == marts_of(book, but="mart_intake")


# Python files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted((ROOT / "pipeline/laws").glob("*.py")), ids=id_of)
def test_laws_import_nothing_but_each_other(file: Path) -> None:
    assert {
        name
        for name in imports(file)
        if name not in ("math", "typing") and not name.startswith("pipeline.laws")
    } == set()


def test_what_draws_the_report_never_asks_the_database() -> None:
    files = (ROOT / "pipeline/report").rglob("*.py")
    forbidden = {"duckdb", "pipeline.warehouse", "pipeline.ingest"}

    assert [
        file.name
        for file in files
        if any(name.startswith(tuple(forbidden)) for name in imports(file))
    ] == []


def test_sections_know_no_renderer() -> None:
    files = (ROOT / "pipeline/report/sections").glob("*.py")

    assert [
        file.name
        for file in files
        if {name.split(".")[0] for name in imports(file)} & {"openpyxl", "jinja2", "matplotlib"}
    ] == []


def test_a_module_does_one_thing_in_at_most_350_lines() -> None:
    long = {
        file.relative_to(ROOT).as_posix()
        for file in PYTHON_FILES
        if len(file.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    }

    assert long == set(LONGER_MODULES)


def test_every_module_opens_with_a_sentence_on_its_job() -> None:
    assert [
        file.relative_to(ROOT).as_posix()
        for file in PYTHON_FILES
        if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ] == []


def test_no_error_is_swallowed_unnamed() -> None:
    assert [
        file.relative_to(ROOT).as_posix()
        for file in PYTHON_FILES
        if re.search(r"except( Exception| BaseException)?:", file.read_text(encoding="utf-8"))
    ] == []


# Makefile -------------------------------------------------------------------------------------


def test_make_help_lists_every_target_with_help() -> None:
    make = need_program("make")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    documented = re.findall(r"^([^\s:#]+):.*##", makefile, re.MULTILINE)

    shown = subprocess.run(
        [make, "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout

    assert [line.split()[0] for line in shown.splitlines()] == documented


def test_every_target_of_the_makefile_that_is_no_file_is_phony() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    phony = set(re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE))

    assert targets == phony


# Savings --------------------------------------------------------------------------------------

# Marts that say what a change would save under other words: their column, and its probability.
OTHER_SAVINGS = {
    "mart_sweet_spot": ("penalty_frac", "penalty_positive_frac"),
    "mart_waste": ("facility_energy_kwh", "saving_positive_frac"),
    "mart_power_policy": ("electricity_delta_kwh", "saving_positive_frac"),
}
_SAVING = re.compile(r"(^|_)sav(ed|ing)_")
_CHANCE = re.compile(r"_(positive|probability)_frac$")


def is_money(column: str) -> bool:
    return column.startswith("cost_") or "_usd" in column


@functools.cache
def columns_of_marts() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in dictionary.entries():
        found.setdefault(entry.table, []).append(entry.column)
    return found


@pytest.mark.parametrize("mart", MARTS)
def test_every_saving_has_its_probability_in_the_same_mart(mart: str) -> None:
    columns = columns_of_marts()[mart]
    savings = [
        name
        for name in columns
        if _SAVING.search(name)
        and not _CHANCE.search(name)
        and not name.endswith(("_verdict", "_reason"))
    ]
    chances = [name for name in columns if _CHANCE.search(name)]

    for saving in savings:
        of_it = [name for name in chances if is_money(name) == is_money(saving)]
        assert of_it, f"{mart}.{saving} has no share of the joint draws in which it is above 0"
    if savings or mart in OTHER_SAVINGS:
        assert "assumption" in columns, f"{mart} does not say what its savings rest on"
        assert {"request_count", "gpu_time_s", "step_count", "followed_step_count"} & set(columns)
    for name in OTHER_SAVINGS.get(mart, ()):
        assert name in columns
