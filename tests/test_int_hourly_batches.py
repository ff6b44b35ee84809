"""The batch of an hour is the time of its requests over the time in which they were served."""

import random
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import Book, Rows, built, rows_of, write_log

from pipeline.settings import Deployment, Input, Settings

START = datetime(2026, 10, 5, 10)
LLAMA = "meta-llama/Llama-3.1-8B"
TWICE = "meta-llama/Meta-Llama-3-8B"  # served by two copies
SETTINGS = Settings(deployments=(Deployment(TWICE, replicas=2),))


def request(minute: float, minutes: float | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a chat that begins so many minutes after ten and takes so many."""
    return {
        "occurred_at": (START + timedelta(minutes=minute)).isoformat() + "Z",
        "latency_s": None if minutes is None else minutes * 60,
        "input_tokens": 900,
        "output_tokens": 300,
        "query_class": "chat",
        **more,
    }


def hours(book: Book) -> dict[int, dict[str, Any]]:
    """Return the rows of the only model and class by the hour of the day."""
    rows = rows_of(book, "select * from int_hourly_batches")
    by_hour = {row["hour_start_at"].hour: row for row in rows}
    assert len(by_hour) == len(rows)
    return by_hour


def batches(book: Book) -> dict[int, float | None]:
    return {hour: row["batch"] for hour, row in hours(book).items()}


@pytest.fixture
def hourly(book_of: Callable[..., Book]) -> Callable[..., Book]:
    """Build the hours of requests."""

    def run(*rows: dict[str, Any], settings: Settings = SETTINGS) -> Book:
        return book_of(list(rows), settings=settings, targets=["int_logged_batches"])

    return run


OVERLAPPING = ((0, 20), (10, 20), (15, 30))  # 70 minutes of requests in the 45 from 10:00 to 10:45


def test_three_overlapping_requests_share_the_time_in_which_any_runs(
    hourly: Callable[..., Book],
) -> None:
    book = hourly(*(request(*times) for times in OVERLAPPING))

    assert batches(book) == {10: pytest.approx(70 / 45, rel=1e-12)}


def test_time_without_a_request_counts_for_nothing(hourly: Callable[..., Book]) -> None:
    # three at once for one minute, then nobody for the rest of the hour
    assert batches(hourly(*[request(0, 1)] * 3)) == {10: 3}


def test_one_request_after_another_is_a_batch_of_one(hourly: Callable[..., Book]) -> None:
    assert batches(hourly(request(0, 5), request(5, 5), request(30, 2))) == {10: 1}


def test_a_request_over_the_edge_of_an_hour_is_cut_there(hourly: Callable[..., Book]) -> None:
    book = hourly(request(50, 30), request(55, 10), request(80, 40))

    # 10:50 to 11:00: 10 + 5 minutes in 10; 11:00 to 12:00: 20 + 5 + 40 minutes in 60
    assert batches(book) == {10: 1.5, 11: pytest.approx(65 / 60, rel=1e-12)}
    # 300 tokens are 10 a minute of the first, 30 of the second and 7.5 of the third
    assert {hour: float(row["output_tokens"]) for hour, row in hours(book).items()} == {
        10: 10 * 10 + 5 * 30,
        11: 20 * 10 + 5 * 30 + 40 * 7.5,
    }


def test_a_request_that_ends_with_the_hour_is_not_in_the_next(hourly: Callable[..., Book]) -> None:
    assert batches(hourly(request(50, 10))) == {10: 1}


def test_replicas_share_the_requests(hourly: Callable[..., Book]) -> None:
    # 0–10: 1 request keeps one copy busy; 10–20: 2 keep both; 15–20 and 20–30 as well, with 3 and 2
    book = hourly(*(request(*times, model_name=TWICE) for times in OVERLAPPING))

    # 70 minutes of requests over 10·1 + 20·2 + 15·1 of busy copies
    assert batches(book) == {10: pytest.approx(70 / 65, rel=1e-12)}


def test_with_more_replicas_than_requests_each_is_alone(hourly: Callable[..., Book]) -> None:
    assert batches(hourly(*[request(0, 10, model_name=TWICE)] * 2)) == {10: 1}


def test_classes_and_months_share_the_batch_of_the_hour(book_of: Callable[..., Book]) -> None:
    end_of_month = {"occurred_at": "2026-10-31T23:50:00Z", "latency_s": 1200}
    rows = [
        {**request(0, 0), **end_of_month},
        {**request(0, 0), **end_of_month, "query_class": "rag", "output_tokens": 100},
        {**request(0, 0), "occurred_at": "2026-11-01T00:00:00Z", "latency_s": 600},
    ]

    book = book_of(rows, targets=["int_hourly_batches"])

    found = rows_of(book, "select * from int_hourly_batches")
    assert {
        (row["month"], row["query_class"], row["hour_start_at"].hour): (
            row["batch"],
            float(row["output_tokens"]),
        )
        for row in found
    } == {
        ("2026-10", "chat", 23): (2, 150),
        ("2026-10", "rag", 23): (2, 50),
        # a request of October is still written in November's first ten minutes
        ("2026-10", "chat", 0): (3, 150),
        ("2026-10", "rag", 0): (3, 50),
        ("2026-11", "chat", 0): (3, 300),
    }


@pytest.mark.parametrize("provider", ["together", "openai", "nobody-knows", "ollama"])
def test_models_of_other_hosts_have_no_hours(hourly: Callable[..., Book], provider: str) -> None:
    assert hours(hourly(request(0, 20, provider=provider))) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "untimed",
    [
        pytest.param({"latency_s": None}, id="none"),
        pytest.param({"latency_s": 0}, id="zero"),
        pytest.param({"latency_s": -60}, id="below zero"),
        pytest.param({"latency_s": 86_401}, id="more than a day"),
        pytest.param({"latency_s": "NaN"}, id="no number"),
        pytest.param({"latency_s": 60, "request_count": 2}, id="that of a bucket"),
    ],
)
def test_a_row_without_a_latency_to_be_believed_is_counted_and_has_no_time(
    hourly: Callable[..., Book], untimed: dict[str, Any]
) -> None:
    few = hourly(*[request(0, 10)] * 9, {**request(20, 1), **untimed})
    many = hourly(*[request(0, 10)] * 8, {**request(20, 1), **untimed})

    assert (hours(few)[10]["row_count"], hours(few)[10]["untimed_row_count"]) == (10, 1)
    assert batches(few) == {10: 9}  # 2,700 of 3,000 tokens are timed: nine tenths are enough
    assert batches(many) == {10: None}  # 2,400 of 2,700 are not


def test_a_request_of_a_day_is_believed(hourly: Callable[..., Book]) -> None:
    assert len(batches(hourly(request(0, 24 * 60)))) == 24


def test_latencies_can_be_left_out_by_an_assumption(hourly: Callable[..., Book]) -> None:
    settings = Settings(assumptions={"latency_most_s": 0})

    assert batches(hourly(*[request(0, 10)] * 9, settings=settings)) == {10: None}


def brute_force(rows: Iterable[tuple[int, int]], replicas: int) -> dict[int, float]:
    """Return the batch of every hour, second by second."""
    running: dict[int, int] = {}
    for start, length in rows:
        for second in range(start, start + length):
            running[second] = running.get(second, 0) + 1
    sums: dict[int, list[int]] = {}
    for second, count in running.items():
        served, busy = sums.get(second // 3600, [0, 0])
        sums[second // 3600] = [served + count, busy + min(count, replicas)]
    return {10 + hour: served / busy for hour, (served, busy) in sums.items()}


@pytest.mark.parametrize(("model", "replicas"), [(LLAMA, 1), (TWICE, 2)])
def test_any_log_has_the_batches_of_a_count_second_by_second(
    hourly: Callable[..., Book], model: str, replicas: int
) -> None:
    dice = random.Random(20261005)  # noqa: S311 no secret
    times = [(dice.randrange(5 * 3600), dice.randrange(1, 900)) for _ in range(200)]

    book = hourly(*(request(start / 60, s / 60, model_name=model) for start, s in times))

    assert batches(book) == pytest.approx(brute_force(times, replicas), rel=1e-12)
    assert min(brute_force(times, replicas).values()) >= 1


# The engine's own count -----------------------------------------------------------------------


def scrape(minute: int, tokens: int, running: float, engine: int = 0) -> str:
    """Return a scrape of vLLM, so many minutes after ten."""
    labels = f'engine="{engine}",model_name="{LLAMA}"'
    return (
        f"# {(START + timedelta(minutes=minute)).isoformat()}Z\n"
        f"vllm:prompt_tokens_total{{{labels}}} {3 * tokens}\n"
        f"vllm:generation_tokens_total{{{labels}}} {tokens}\n"
        f"vllm:request_success_total{{{labels}}} {tokens / 100}\n"
        f"vllm:num_requests_running{{{labels}}} {running}\n"
    )


def gauged(tmp_path: Path, *scrapes: str, rows: Rows | None = None) -> Book:
    """Build the hours of scrapes, and of requests beside them."""
    (tmp_path / "metrics").write_text("".join(scrapes), encoding="utf-8")
    inputs = [Input("metrics", {"class": "chat"})]
    if rows:
        write_log(tmp_path / "log", [{"provider": "vllm", **row} for row in rows])
        inputs.append(Input("log"))
    return built(inputs, Settings(), tmp_path, ["int_logged_batches"])


def test_between_two_scrapes_run_as_many_requests_as_at_both_on_average(tmp_path: Path) -> None:
    book = gauged(tmp_path, scrape(0, 0, 4), scrape(10, 600, 8), scrape(40, 1_200, 2))

    # 10 minutes of (4 + 8) / 2, 30 minutes of (8 + 2) / 2
    assert batches(book) == {10: pytest.approx((10 * 6 + 30 * 5) / 40)}
    assert hours(book)[10]["time_source"] == "running requests gauge"


def test_scrapes_between_which_nothing_is_written_count_for_nothing(tmp_path: Path) -> None:
    book = gauged(tmp_path, scrape(0, 0, 4), scrape(10, 600, 4), scrape(50, 600, 0))

    assert batches(book) == {10: 4}


def test_a_mean_over_the_edge_of_an_hour_counts_in_both(tmp_path: Path) -> None:
    book = gauged(tmp_path, scrape(30, 0, 2), scrape(50, 400, 2), scrape(80, 700, 6))

    # 20 minutes of 2 and 10 of 4; 20 of 4, with two thirds of the last 300 tokens
    assert batches(book) == {10: pytest.approx(80 / 30), 11: 4}
    assert {hour: float(row["output_tokens"]) for hour, row in hours(book).items()} == {
        10: 500,
        11: 200,
    }


def test_every_engine_is_a_replica_of_its_own(tmp_path: Path) -> None:
    texts = [scrape(0, 0, 4), scrape(30, 600, 4), scrape(0, 0, 8, 1), scrape(30, 600, 8, 1)]

    assert batches(gauged(tmp_path, *texts)) == {10: 6}


def test_a_count_below_one_is_a_batch_of_one(tmp_path: Path) -> None:
    assert batches(gauged(tmp_path, scrape(0, 0, 0), scrape(10, 100, 1))) == {10: 1}


def test_scrapes_more_than_an_hour_apart_tell_no_batch(tmp_path: Path) -> None:
    book = gauged(tmp_path, scrape(0, 0, 4), scrape(61, 600, 4))

    assert batches(book) == {10: None}
    assert hours(book)[10]["untimed_row_count"] == 1


@pytest.mark.slow
def test_a_restart_and_a_first_scrape_tell_no_batch(tmp_path: Path) -> None:
    started = "process_start_time_seconds 1.7911944e+09\n"  # 2026-10-05T10:00:00Z
    restarted = gauged(tmp_path, scrape(0, 900, 4), scrape(10, 600, 4))
    first = gauged(tmp_path, scrape(10, 600, 4), started)

    assert (batches(restarted), batches(first)) == ({10: None}, {10: None})


def test_the_engines_count_wins_over_latencies(tmp_path: Path) -> None:
    few = [{**request(0, 10), "output_tokens": 30}]

    book = gauged(tmp_path, scrape(0, 0, 7), scrape(30, 600, 7), rows=few)

    assert hours(book)[10]["batch"] == 7  # alone the request has a batch of 1
    assert hours(book)[10]["time_source"] == "running requests gauge"
