"""A mapping file says whose usage it is: the most precise row holds, whatever their order."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Book, Rows, built, rows_of, write_log

from pipeline.errors import BadInputError
from pipeline.overlays.attribution import load_attribution
from pipeline.settings import Input, Settings

EXAMPLE = {"input_tokens": 900, "output_tokens": 300}

# Which row holds: (what the log names, the team that the mapping gives, or None).
RULES = """api_key_id,user_id,route,logged_project,logged_team,model_name,provider,team
k1,,,,,,,one cell
k1,u1,,,,,,two cells
,u1,/chat,,,,,two other cells
k2*,,,,,,,beginning
k22*,,,,,,,longer beginning
k222,,,,,,,whole
,u3,,,,,,user
,,/three,,,,,route
,,/t*,p3*,,,,beginnings of two
,u5*,/five,,,,,beginning of the user
,u5,/f*,,,,,whole user
,,,,old,,,renamed
,,,,*,gpt-4o,,any team
,,,,,gpt-4o,openai,model at provider
,,,,,,azure,provider
,,,50%_*,,,,percent
,,,"a,""b""';--*",,,,quotes
,,,Case*,,,,in any case
,,,x*,,,,beginning alone
"""
CASES: list[tuple[dict[str, Any], str | None]] = [
    ({"api_key_id": "k1"}, "one cell"),
    ({"api_key_id": "k1", "user_id": "u1"}, "two cells"),
    ({"user_id": "u1", "route": "/chat"}, "two other cells"),
    # both rows fill two cells and match: the key counts before the route
    ({"api_key_id": "k1", "user_id": "u1", "route": "/chat"}, "two cells"),
    ({"user_id": "u1"}, None),
    ({"api_key_id": "k2"}, "beginning"),
    ({"api_key_id": "k21"}, "beginning"),
    ({"api_key_id": "k22"}, "longer beginning"),
    ({"api_key_id": "k2222"}, "longer beginning"),
    ({"api_key_id": "k222"}, "whole"),
    ({"api_key_id": "ak2"}, None),
    # one cell each: a user counts before a route
    ({"user_id": "u3", "route": "/three"}, "user"),
    ({"route": "/three"}, "route"),
    # more cells win even where each is but a beginning
    ({"route": "/three", "project": "p3x"}, "beginnings of two"),
    # the same cells: the user is compared before the route
    ({"user_id": "u5", "route": "/five"}, "whole user"),
    ({"user_id": "u55", "route": "/five"}, "beginning of the user"),
    ({"team": "old"}, "renamed"),
    ({"team": "older"}, "older"),  # as logged
    # a * alone is anything that is there
    ({"team": "x", "model_name": "gpt-4o"}, "any team"),
    ({"model_name": "gpt-4o"}, None),
    ({"model_name": "GPT-4o", "provider": "OpenAI"}, "model at provider"),
    ({"model_name": "gpt-4o", "provider": "azure"}, "provider"),
    # nothing but a * at the end is a wildcard
    ({"project": "50%_off"}, "percent"),
    ({"project": "50% off"}, None),
    ({"project": "50xx"}, None),
    ({"project": 'a,"b"\';--drop'}, "quotes"),
    ({"project": "cASE 1"}, "in any case"),
    ({"project": "x"}, "beginning alone"),
    ({"project": "ax"}, None),
    ({}, None),
]


def overlay(folder: Path, text: str) -> Settings:
    """Return settings whose overlay folder holds this attribution."""
    folder.mkdir(exist_ok=True)
    (folder / "attribution.csv").write_text(text, encoding="utf-8")
    return Settings(overlay_folder=folder)


@pytest.fixture(scope="module")
def book_by(
    book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Book]:
    """Build the warehouse of rows under an attribution."""

    def run(text: str, rows: Rows, **how: Any) -> Book:  # noqa: ANN401 options of book_of
        settings = overlay(tmp_path_factory.mktemp("overlays"), text)
        return book_of([{**EXAMPLE, **row} for row in rows], settings=settings, **how)

    return run


@pytest.fixture(scope="module")
def book(book_by: Callable[..., Book]) -> Book:
    rows = [{"request_id": f"r{number}", **named} for number, (named, _) in enumerate(CASES)]
    return book_by(RULES, rows, targets=["int_requests"])


def teams_of(book: Book) -> list[str | None]:
    """Return the team of every request, in the order of the log."""
    return [
        row["team"] for row in rows_of(book, "select team from int_requests order by source_line")
    ]


@pytest.mark.parametrize(
    ("number", "team"),
    [pytest.param(n, team, id=f"{named} → {team}") for n, (named, team) in enumerate(CASES)],
)
def test_the_most_precise_row_holds(book: Book, number: int, team: str | None) -> None:
    assert teams_of(book)[number] == team


def test_the_order_of_the_rows_decides_nothing(book: Book, book_by: Callable[..., Book]) -> None:
    head, *rules = RULES.splitlines()
    random.Random(7).shuffle(rules)  # noqa: S311 no secret
    rows = [{"request_id": f"r{number}", **named} for number, (named, _) in enumerate(CASES)]

    shuffled = book_by("\n".join([head, *rules]), rows, targets=["int_requests"])

    assert teams_of(shuffled) == teams_of(book)


# What a row gives ----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_mapped_team_wins_over_the_log_and_an_empty_one_leaves_it(
    book_by: Callable[..., Book],
) -> None:
    text = "api_key_id,logged_team,team,query_class\nk1,,search,\nk1,keep*,,\nk2,,,rag\n"
    rows = [
        {"api_key_id": "k1", "team": "web"},
        {"api_key_id": "k1"},
        {"api_key_id": "k1", "team": "keeper"},
        {"api_key_id": "k2", "team": "web"},
    ]

    assert teams_of(book_by(text, rows)) == ["search", "search", "keeper", "web"]


@pytest.mark.slow
def test_a_mapped_class_wins_over_the_log_and_over_the_shape(book_by: Callable[..., Book]) -> None:
    book = book_by(
        "route,query_class\n/code,Agentic\n/none,\n",
        [
            {"route": "/code"},
            {"route": "/code", "query_class": "chat"},
            {"route": "/code", "is_batch": True},
            {"route": "/none", "query_class": "chat"},
            {"route": "/none"},
        ],
    )

    rows = rows_of(book, "select query_class, class_source from int_requests order by source_line")
    assert [tuple(row.values()) for row in rows] == [
        ("agentic", "mapping"),
        ("agentic", "mapping"),
        ("agentic", "mapping"),
        ("chat", "logged"),
        ("chat", "shape"),
    ]
    [coverage] = rows_of(book, "select explicit_class_request_count as n from mart_coverage")
    assert coverage == {"n": 4}


@pytest.mark.slow
def test_a_row_may_name_the_project(book_by: Callable[..., Book]) -> None:
    book = book_by(
        "logged_project,project\nproj_7f3,Checkout\n",
        [{"project": "proj_7f3"}, {"project": "other"}, {}],
    )

    rows = rows_of(book, "select project from int_requests order by source_line")
    assert [row["project"] for row in rows] == ["Checkout", "other", None]


@pytest.mark.slow
def test_a_row_holds_from_its_first_day_to_the_one_before_its_last(
    book_by: Callable[..., Book],
) -> None:
    text = (
        "api_key_id,team,valid_from,valid_to\nk1,before,,2026-10-05\nk1,after,2026-10-05,2026-10-07\n"
        "k*,any,2026-10-06,\n"
    )
    times = ("04T23:59:59.999Z", "05T00:00:00Z", "06T23:59:59.999Z", "07T00:00:00Z")
    rows = [{"api_key_id": "k1", "occurred_at": f"2026-10-{time}"} for time in times]

    assert teams_of(book_by(text, rows)) == ["before", "after", "after", "any"]


@pytest.mark.slow
def test_a_bill_belongs_to_the_team_of_its_key(book_by: Callable[..., Book]) -> None:
    fee = {
        "charge_kind": "fee",
        "billed_cost_usd": "1",
        "output_tokens": None,
        "input_tokens": None,
    }
    book = book_by("api_key_id,team\nk1,search\n", [{"api_key_id": "k1", **fee}, fee])

    assert rows_of(book, "select team, row_count from mart_other_charges order by team") == [
        {"team": "search", "row_count": 1},
        {"team": None, "row_count": 1},
    ]


@pytest.mark.slow
def test_of_usage_without_a_team_it_is_counted_what_could_attribute_it(
    book_by: Callable[..., Book],
) -> None:
    book = book_by(
        "api_key_id,team\nk1,search\n",
        [
            {"api_key_id": "k1", "project": "p"},
            {"api_key_id": "k2", "project": "p", "request_count": 5},
            {"user_id": "u"},
            {"route": "/r", "user_id": "u"},
            {},
        ],
    )

    [row] = rows_of(
        book,
        "select request_count, api_key_request_count, project_request_count, user_request_count, "
        "route_request_count from mart_team_chargeback where team is null",
    )
    assert tuple(row.values()) == (5 + 1 + 1 + 1, 5, 5, 2, 1)


# Tasks ---------------------------------------------------------------------------------------


def tasks_of(book: Book) -> list[str | None]:
    return [
        row["task_id"]
        for row in rows_of(book, "select task_id from int_requests order by source_line")
    ]


def task_count(book: Book) -> int:
    [row] = rows_of(book, "select sum(task_count) as n from mart_cost_per_task")
    return int(row["n"])


NAMED = {"request_id": "r1", "task_id": "t1", "session_id": "s1", "parent_id": "r0"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "task_id"),
    [("", "t1"), ("trace", "t1"), ("request", None), ("Session", "s1"), ("parent", "r0")],
)
def test_a_rule_says_what_a_task_is(
    book_by: Callable[..., Book], rule: str, task_id: str | None
) -> None:
    book = book_by(f"provider,task_rule\nvllm,{rule}\n", [{**NAMED, "provider": "vllm"}])

    assert tasks_of(book) == [task_id]


@pytest.mark.slow
def test_a_parent_and_its_children_are_one_task(book_by: Callable[..., Book]) -> None:
    rows = [
        {"request_id": "r1"},
        {"request_id": "r2", "parent_id": "r1"},
        {"request_id": "r3", "parent_id": "r1"},
        {"request_id": "r4"},
    ]
    book = book_by(
        "provider,task_rule\nvllm,parent\n", [{**row, "provider": "vllm"} for row in rows]
    )

    assert tasks_of(book) == ["r1", "r1", "r1", "r4"]
    assert task_count(book) == 2


def window_tasks(
    book_by: Callable[..., Book], rows: Rows, rule: str = "window:30m"
) -> list[list[int]]:
    """Return the tasks of requests under a window rule, each as the numbers of its requests."""
    book = book_by(
        f"provider,task_rule\nvllm,{rule}\n", [{**row, "provider": "vllm"} for row in rows]
    )
    tasks: dict[str, list[int]] = {}
    for number, task_id in enumerate(tasks_of(book)):
        tasks.setdefault(task_id or f"alone {number}", []).append(number)
    assert task_count(book) == len(tasks)
    return list(tasks.values())


def at(time: str, **other: Any) -> dict[str, Any]:  # noqa: ANN401 any column of a log
    return {"occurred_at": f"2026-10-05T{time}Z", **other}


@pytest.mark.slow
def test_requests_less_than_the_window_apart_are_one_task(book_by: Callable[..., Book]) -> None:
    # 10:00, 10:29:59.999 and 10:59:59.998 are each less than 30 minutes apart; 11:29:59.998 is 30
    times = ("10:00:00", "10:29:59.999", "10:59:59.998", "11:29:59.998", "11:40:00")
    rows = [at(time, user_id="u1") for time in times]

    assert window_tasks(book_by, rows) == [[0, 1, 2], [3, 4]]


@pytest.mark.slow
def test_exactly_the_window_apart_is_a_new_task(book_by: Callable[..., Book]) -> None:
    assert window_tasks(book_by, [at("10:00:00", user_id="u"), at("10:30:00", user_id="u")]) == [
        [0],
        [1],
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "tasks"),
    [("window:1800s", [[0], [1]]), ("window:31m", [[0, 1]]), ("window:1h", [[0, 1]])],
)
def test_a_window_is_told_in_seconds_minutes_or_hours(
    book_by: Callable[..., Book], rule: str, tasks: list[list[int]]
) -> None:
    rows = [at("10:00:00", user_id="u"), at("10:30:00", user_id="u")]

    assert window_tasks(book_by, rows, rule) == tasks


@pytest.mark.slow
def test_each_user_has_tasks_of_their_own_whatever_the_order(book_by: Callable[..., Book]) -> None:
    rows = [
        at("10:40:00", user_id="u1"),
        at("10:00:00", user_id="u1"),
        at("10:20:00", user_id="u2"),
        at("10:20:00", user_id="u1"),
        at("10:20:00", user_id="u1", model_name="gpt-4o"),
        at("11:30:00", user_id="u1"),
    ]

    book = book_by(
        "provider,task_rule\nvllm,window:30m\n", [{**r, "provider": "vllm"} for r in rows]
    )
    first, second, other, third, fourth, late = tasks_of(book)
    assert first == second == third == fourth
    assert len({first, other, late}) == 3


@pytest.mark.slow
def test_a_session_is_told_from_another_of_the_same_user(book_by: Callable[..., Book]) -> None:
    rows = [
        at("10:00:00", user_id="u", session_id="a"),
        at("10:01:00", user_id="u", session_id="b"),
        at("10:02:00", user_id="u", session_id="a"),
    ]

    assert window_tasks(book_by, rows) == [[0, 2], [1]]


@pytest.mark.slow
def test_a_request_of_nobody_is_a_task_and_a_bucket_is_its_requests(
    book_by: Callable[..., Book],
) -> None:
    book = book_by(
        "provider,task_rule\nvllm,window:30m\n",
        [
            at("10:00:00", provider="vllm"),
            at("10:00:01", provider="vllm"),
            at("10:00:02", provider="vllm", user_id="u", request_count=3),
        ],
    )

    assert tasks_of(book) == [None, None, None]
    assert task_count(book) == 1 + 1 + 3


# Sums, and no attribution ----------------------------------------------------------------------

MONTH: Rows = [
    {"provider": "openai", "model_name": "gpt-4o", "api_key_id": "k1", "user_id": "u1"},
    {"provider": "openai", "model_name": "gpt-4o", "api_key_id": "k2", "team": "web"},
    {"provider": "openai", "model_name": "gpt-4o", "team": "ops", "billed_cost_usd": "0.0123"},
    {"provider": "vllm", "user_id": "u1", "cache_read_tokens": 400, "session_id": "s"},
    {"provider": "vllm", "user_id": "u2", "request_count": 1, "project": "p"},
    {"model_name": "acme-1", "route": "/r"},
]


def sums(book: Book) -> dict[str, Any]:
    [row] = rows_of(
        book,
        "select sum(request_count) as request_count, sum(input_tokens) as input_tokens, "
        "sum(cost_usd) as cost_usd, sum(gpu_energy_j::decimal(38, 12)) as gpu_energy_j, "
        "sum(carbon_gco2e::decimal(38, 12)) as carbon_gco2e from mart_team_chargeback",
    )
    return row


@pytest.mark.slow
def test_teams_and_tasks_of_a_mapping_move_no_sum(
    book_by: Callable[..., Book], book_of: Callable[..., Book]
) -> None:
    rows = [{**EXAMPLE, **row, "query_class": "chat"} for row in MONTH]
    mapped = sums(
        book_by(
            "api_key_id,user_id,logged_team,provider,team,task_rule\n"
            "k1,,,,search,request\n,u*,,,people,session\n,,web,,shop,\n,,,openai,rest,window:5m\n",
            rows,
        )
    )
    plain = sums(book_of(rows))

    assert plain["request_count"] == len(MONTH)
    energies = [(each.pop("gpu_energy_j"), each.pop("carbon_gco2e")) for each in (mapped, plain)]
    assert mapped == plain  # money to the last digit
    assert [float(each) for each in energies[0]] == pytest.approx(
        [float(each) for each in energies[1]], rel=1e-12
    )


def test_without_attribution_no_usage_is_read_for_it(book_of: Callable[..., Book]) -> None:
    book = book_of([{**EXAMPLE, "api_key_id": "k"}], targets=["int_attributions"])

    assert rows_of(book, "select count(*) as n from int_attributions") == [{"n": 0}]


@pytest.mark.slow
def test_attribution_of_two_files_is_one(tmp_path: Path) -> None:
    settings = overlay(tmp_path / "overlays", "api_key_id,team\nk1,search\n")
    write_log(tmp_path / "a.jsonl", [{**EXAMPLE, "api_key_id": "k1", "request_id": "a"}])
    write_log(tmp_path / "b.jsonl", [{**EXAMPLE, "request_id": "b"}])

    book = built([Input("a.jsonl"), Input("b.jsonl")], settings, tmp_path)

    assert rows_of(book, "select team, request_count from mart_team_chargeback order by team") == [
        {"team": "search", "request_count": 1},
        {"team": None, "request_count": 1},
    ]


# Bad files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("api_key,team\nk,t\n", "row 1: expected columns out of .* found not known: 'api_key'"),
        ("api_key_id,team\nk,t,u\n", "row 2: expected 2 cells, found 3"),
        ("api_key_id,team\n,t\n", "row 2: matches all usage; fill one of api_key_id, user_id"),
        ("team\nt\n", "row 2: matches all usage"),
        (
            "api_key_id,team\na*b,t\n",
            r"row 2, column api_key_id: expected no \* but one at the end",
        ),
        ("route,team\n/a,t\n/**,t\n", r"row 3, column route: expected no \* but one at the end"),
        (
            "route,query_class\n/a,poetry\n",
            "row 2, column query_class: expected one of agentic, .*, found 'poetry'",
        ),
        ("route,task_rule\n/a,window\n", "row 2, column task_rule: expected request, session, "),
        ("route,task_rule\n/a,window:0m\n", "column task_rule"),
        ("route,task_rule\n/a,window:30\n", "column task_rule"),
        ("route,task_rule\n/a,window:745h\n", "column task_rule: .*up to 31 days"),
        ("route,team,valid_from\n/a,t,2026-13-01\n", "row 2, column valid_from: expected a day"),
        (
            "route,team,valid_from,valid_to\n/a,t,2026-10-02,2026-10-01\n",
            "row 2, column valid_to: expected a day after valid_from",
        ),
        ("route,team\n/a,t\n/b,t\n/A,u\n", "rows 2 and 4 match the same and share days"),
        (
            "route,team,valid_from\n/a,t,\n/a,u,2026-10-01\n",
            "rows 2 and 3 match the same and share days",
        ),
        ('route,team\n"/a\nb",t\n,t\n', "row 4: matches all usage"),
    ],
)
def test_a_bad_attribution_is_one_line_with_row_and_column(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, text: str, fault: str
) -> None:
    overlay(tmp_path, text)

    with pytest.raises(BadInputError, match=fault) as caught:
        load_attribution(con, tmp_path)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


def test_rows_alike_on_other_days_are_no_tie(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    overlay(
        tmp_path,
        "route,team,valid_from,valid_to\n/a,t,,2026-10-01\n/a,u,2026-10-01,2026-11-01\n"
        "/a,v,2026-11-01,\n",
    )

    load_attribution(con, tmp_path)

    teams = con.execute("select team from raw_attribution order by rule_line").fetchall()
    assert teams == [("t",), ("u",), ("v",)]


def test_a_file_of_no_rows_attributes_nothing(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    overlay(tmp_path, "api_key_id,team\n,\n\n")

    load_attribution(con, tmp_path)

    assert con.execute("from raw_attribution").fetchall() == []
