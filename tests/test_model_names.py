"""A name means one model at a time: aliases move, and the user's own names win over the catalog."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import Book, Rows, rows_of
from overlay_files import workbook

from pipeline import warehouse
from pipeline.errors import BadInputError
from pipeline.ingest.summary import summarise
from pipeline.overlays.model_names import load_model_names, require_model
from pipeline.reference import checked_inputs, load_reference
from pipeline.settings import Input, Settings

ARN = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3d4e5f6"
OVERLAYS = {
    "model_aliases.csv": """alias,model_id,valid_from,valid_to,source,source_date
gpt-4o-20310131,gpt-4o-mini,,,ours,2026-11-30
moved,gpt-4o,2026-10-01,,ours,2026-11-30
moved,gpt-4o-mini,2026-10-08,,ours,2026-11-30
""",
    "model_names.csv": f"""name,model,provider,valid_from,valid_to
{ARN},claude-sonnet-4-5,,,
Prod-Chat,gpt-4o,,,2026-10-15
prod-chat,gpt-4o-mini,,2026-10-15,
prod-chat,claude-sonnet-4-5,Bedrock,,
azure/only-full,gpt-4o,,,
only-full,gpt-4o-mini,,,
gpt-4.1,gpt-4o-mini,,2026-10-10,2026-10-20
deepseek-chat,gpt-4o,vllm,,
"we, ""the"" 50% _team_",gpt-4o,,,
from-settings,claude-haiku-4-5,vllm,,
""",
}
# (provider as logged, name as logged, time, model id, or None where the name is not known)
CASES = [
    ("deepseek", "deepseek-chat", "2024-12-25T23:59:59.999999Z", None),
    ("deepseek", "deepseek-chat", "2024-12-26T00:00:00Z", "deepseek-ai/DeepSeek-V3"),
    ("deepseek", "deepseek-chat", "2025-08-20T23:59:59.999999Z", "deepseek-ai/DeepSeek-V3"),
    ("deepseek", "deepseek-chat", "2025-08-21T00:00:00Z", "deepseek-ai/DeepSeek-V3.1"),
    ("deepseek", "deepseek-chat", "2026-07-24T23:59:59.999999Z", "deepseek-ai/DeepSeek-V4-Flash"),
    ("deepseek", "deepseek-chat", "2026-07-25T00:00:00Z", None),
    # the day is one of UTC: 23:30 of the 20th in New York is the 21st
    ("deepseek", "deepseek-chat", "2025-08-20T23:30:00-04:00", "deepseek-ai/DeepSeek-V3.1"),
    # of two open periods the one that began last
    ("openai", "moved", "2026-10-07T23:59:59.999999Z", "gpt-4o"),
    ("openai", "moved", "2026-10-08T00:00:00Z", "gpt-4o-mini"),
    # a date is cut off only where the whole name means nothing
    ("openai", "gpt-4o-20310131", "2026-10-05T10:00:00Z", "gpt-4o-mini"),
    ("openai", "gpt-4o-20310201", "2026-10-05T10:00:00Z", "gpt-4o"),
    # a dated alias behind a date
    ("openai", "moved-20310201", "2026-10-08T00:00:00Z", "gpt-4o-mini"),
    # the user's names: an ARN that hides its model, a deployment that was moved
    ("bedrock", ARN, "2026-10-05T10:00:00Z", "claude-sonnet-4-5"),
    ("azure", "prod-chat", "2026-10-14T23:59:59.999999Z", "gpt-4o"),
    ("azure", "prod-chat", "2026-10-15T00:00:00Z", "gpt-4o-mini"),
    ("azure", "azure/PROD-chat", "2026-10-15T00:00:00Z", "gpt-4o-mini"),
    # for this provider before any provider, however the provider is written
    ("bedrock", "prod-chat", "2026-10-05T10:00:00Z", "claude-sonnet-4-5"),
    ("aws", "prod-chat", "2026-10-05T10:00:00Z", "claude-sonnet-4-5"),
    # the name as logged before the one without its provider
    ("azure", "azure/only-full", "2026-10-05T10:00:00Z", "gpt-4o"),
    ("azure", "only-full", "2026-10-05T10:00:00Z", "gpt-4o-mini"),
    # the user's word wins over the catalog, on its days
    ("openai", "gpt-4.1", "2026-10-09T23:59:59.999999Z", "gpt-4.1"),
    ("openai", "gpt-4.1", "2026-10-10T00:00:00Z", "gpt-4o-mini"),
    ("openai", "gpt-4.1", "2026-10-20T00:00:00Z", "gpt-4.1"),
    ("vllm", "deepseek-chat", "2025-08-21T00:00:00Z", "gpt-4o"),
    ("openai", 'we, "the" 50% _team_', "2026-10-05T10:00:00Z", "gpt-4o"),
    ("openai", 'we, "the" 50x _team_', "2026-10-05T10:00:00Z", None),
    # the file and the settings together, the more precise first
    ("openai", "from-settings", "2026-10-05T10:00:00Z", "gpt-4o"),
    ("vllm", "from-settings", "2026-10-05T10:00:00Z", "claude-haiku-4-5"),
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("overlays")
    for name, text in OVERLAYS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Settings(overlay_folder=folder, model_names={"from-settings": "gpt-4o"})


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], settings: Settings) -> Book:
    rows: Rows = [
        {
            "team": f"case {number}",
            "provider": provider,
            "model_name": name,
            "occurred_at": time,
            "input_tokens": 9,
            "output_tokens": 3,
        }
        for number, (provider, name, time, _) in enumerate(CASES)
    ]
    return book_of(rows, settings=settings)


@pytest.mark.parametrize(
    ("number", "name", "model_id"),
    [
        pytest.param(number, name, model_id, id=f"{provider} {name} at {time}")
        for number, (provider, name, time, model_id) in enumerate(CASES)
    ],
)
def test_a_name_means_what_it_meant_at_the_time_of_the_request(
    book: Book, number: int, name: str, model_id: str | None
) -> None:
    rows = rows_of(book, f"select model_id from int_requests where team = 'case {number}'")

    assert rows == [{"model_id": model_id or name}]


def test_every_request_has_one_meaning(book: Book) -> None:
    assert rows_of(book, "select count(*) as n from int_requests") == [{"n": len(CASES)}]


def test_a_name_that_never_moved_has_one_period(book: Book) -> None:
    rows = rows_of(
        book,
        "select valid_from::date::varchar as valid_from, valid_to::date::varchar as valid_to "
        "from int_models where logged_model_name = 'gpt-4o-20310201'",
    )

    assert rows == [{"valid_from": "1900-01-01", "valid_to": "9999-01-01"}]


def test_a_moved_alias_keeps_the_periods_that_were_used(book: Book) -> None:
    rows = rows_of(
        book,
        "select model_id, valid_from::date::varchar as valid_from from int_models "
        "where logged_provider = 'deepseek' order by valid_from",
    )

    assert rows == [
        {"model_id": "deepseek-chat", "valid_from": "1900-01-01"},
        {"model_id": "deepseek-ai/DeepSeek-V3", "valid_from": "2024-12-26"},
        {"model_id": "deepseek-ai/DeepSeek-V3.1", "valid_from": "2025-08-21"},
        {"model_id": "deepseek-ai/DeepSeek-V3.2", "valid_from": "2025-09-29"},
        {"model_id": "deepseek-ai/DeepSeek-V4-Flash", "valid_from": "2026-04-24"},
        {"model_id": "deepseek-chat", "valid_from": "2026-07-25"},
    ]


def test_what_an_input_is_told_goes_to_the_meaning_of_its_days(
    book_of: Callable[..., Book],
) -> None:
    row = {"provider": "vllm", "model_name": "deepseek-chat", "input_tokens": 9, "output_tokens": 3}
    book = book_of(
        [{**row, "occurred_at": "2025-08-20T10:00:00Z"}],
        [{**row, "occurred_at": "2025-08-21T10:00:00Z"}],
        assumes=[{"batch": "4"}, {"batch": "8"}],
        targets=["int_deployments"],
    )

    told = rows_of(book, "select distinct model_id, told_batch from int_deployments order by all")
    assert told == [
        {"model_id": "deepseek-ai/DeepSeek-V3", "told_batch": 4},
        {"model_id": "deepseek-ai/DeepSeek-V3.1", "told_batch": 8},
    ]


def test_the_summary_of_a_file_splits_a_name_by_its_meanings(log: Callable[..., Path]) -> None:
    row = {"provider": "deepseek", "model_name": "deepseek-chat"}
    times = ("2025-08-20T10:00:00Z", "2025-08-20T11:00:00Z", "2025-08-21T10:00:00Z")
    path = log([{**row, "occurred_at": t, "input_tokens": 9, "output_tokens": 3} for t in times])

    [entry] = summarise(Settings(inputs=(Input(str(path)),)), lambda text: None)

    assert entry["models"] == [
        {"name": "deepseek-chat", "model_id": "deepseek-ai/DeepSeek-V3", "rows": 2},
        {"name": "deepseek-chat", "model_id": "deepseek-ai/DeepSeek-V3.1", "rows": 1},
    ]


def test_an_assumed_alias_that_moved_means_what_it_meant_then(
    con: duckdb.DuckDBPyConnection,
) -> None:
    assumed = [
        dict(each.assume)
        for each in checked_inputs(
            con,
            [
                Input("a", {"model": "deepseek-chat"}),
                Input("b", {"model": "claude-3-opus-latest"}),
            ],
        )
    ]

    assert assumed == [{"model": "deepseek-chat"}, {"model": "claude-3-opus"}]


def test_without_a_day_an_alias_stands_for_its_last_model(con: duckdb.DuckDBPyConnection) -> None:
    assert require_model(con, "DeepSeek-Chat") == "deepseek-ai/DeepSeek-V4-Flash"


def test_no_column_of_a_names_file_but_two_is_needed(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "model_names.csv").write_bytes("\ufeffname;model\r\nours;gpt-4o\r\n;\r\n".encode())

    load_model_names(con, {}, tmp_path)

    assert con.execute("from raw_model_names").fetchall() == [("ours", None, "gpt-4o", None, None)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("name\nours\n", "row 1: .*missing: 'model'"),
        ("name,model,mdel\n", "row 1: .*not known: 'mdel'"),
        ("name,model,name\n", "first row, found 'name' twice"),
        ("", "row 1: .*missing: 'name', 'model'"),
        ("name,model\nours,gpt-4o,more\n", "row 2: expected 2 cells, found 3"),
        ("name,model\n,gpt-4o\n", "row 2, column name: expected the name in the log, found noth"),
        ("name,model\nours,\n", "row 2, column model: expected an id or alias"),
        ("name,model\n\nours,gpt-9z\n", "row 3, column model: model 'gpt-9z' is not in the cat"),
        (
            "name,model,valid_from\nours,gpt-4o,01.10.2026\n",
            "row 2, column valid_from: expected a day such as 2026-10-01, found '01.10.2026'",
        ),
        (
            "name,model,valid_from,valid_to\nours,gpt-4o,2026-10-01,2026-10-01\n",
            "row 2, column valid_to: expected a day after valid_from",
        ),
        (
            "name,model,valid_to\nours,gpt-4o,2026-10-02\nother,gpt-4o,\nOURS,gpt-4o-mini,\n",
            "rows 2 and 4 match the same and share days",
        ),
        ("name,model\nTold,gpt-4o\n", r"row 2, column name: .*\[model_names\] of the settings"),
    ],
)
def test_a_bad_names_file_is_one_line_with_row_and_column(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, text: str, fault: str
) -> None:
    (tmp_path / "model_names.csv").write_text(text, encoding="utf-8")

    with pytest.raises(BadInputError, match=fault) as caught:
        load_model_names(con, {"told": "gpt-4o"}, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_names_file_in_another_encoding_is_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "model_names.csv").write_bytes("name,model\nmüller,gpt-4o\n".encode("latin-1"))

    with pytest.raises(BadInputError, match="expected UTF-8 text"):
        load_model_names(con, {}, tmp_path)


def test_a_names_file_is_no_table_of_the_reference(tmp_path: Path) -> None:
    (tmp_path / "model_names.csv").write_text("name,model\nours,gpt-4o\n", encoding="utf-8")
    with warehouse.connect(None, 1) as connection:
        load_reference(connection, Settings(overlay_folder=tmp_path))

        assert connection.execute("select name from raw_model_names").fetchall() == [("ours",)]


def test_names_may_stand_in_a_workbook_beside_other_tables(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    sheets = {"model_names": [["name", "model"], ["ours", "gpt-4o"]], "notes": [["for us"]]}
    workbook(tmp_path / "company.xlsx", sheets)

    load_reference(con, Settings(overlay_folder=tmp_path))

    assert rows_of(con, "select name, model_id from raw_model_names") == [
        {"name": "ours", "model_id": "gpt-4o"}
    ]


def test_names_that_stand_in_two_files_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    (tmp_path / "model_names.csv").write_text("name,model\nours,gpt-4o\n", encoding="utf-8")
    workbook(tmp_path / "model_names.xlsx", {"names": [["name", "model"], ["ours", "gpt-5"]]})

    with pytest.raises(BadInputError, match=r"model_names is there already, from .*csv"):
        load_reference(con, Settings(overlay_folder=tmp_path))
