"""A small fixed log gives exactly these marts and this sheet: `make golden` rewrites them.

The difference that rewriting makes is what readers of the reports will see: read it.
"""

import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from conftest import Book, rows_of

from pipeline import warehouse
from pipeline.frames.sections import frames
from pipeline.report import workbook
from pipeline.report.assemble import ReportFacts, build_report
from pipeline.settings import Deployment, Settings

GOLDEN = Path(__file__).resolve().parent / "golden"
MONTH = "2026-10"
DIGITS = 12  # of a DOUBLE; the last ones may differ between processors

GPT = {"provider": "openai", "model_name": "gpt-5-mini"}
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
LLAMA = {"provider": "vllm", "model_name": "meta-llama/Llama-3.1-8B"}
MIXTRAL = {"provider": "together", "model_name": "mistralai/Mixtral-8x7B-v0.1"}
DEEPSEEK = {"provider": "internal", "model_name": "deepseek-ai/DeepSeek-V3"}
AGENT = {
    **SONNET,
    "team": "engineering",
    "task_id": "ticket-1",
    "uncached_input_tokens": 1_200,
    "cache_read_tokens": 41_000,
    "cache_write_5m_tokens": 900,
    "output_tokens": 350,
}
CHAT = {"team": "support", "query_class": "chat", "input_tokens": 1_100, "output_tokens": 240}
ROWS: list[dict[str, Any]] = [
    # an agent's ticket in four steps: two failed, one over the price tier, one solved
    {**AGENT, "is_solved": False, "status": "failure"},
    {**AGENT, "is_solved": False, "finish_reason": "max_tokens"},
    {**AGENT, "cache_read_tokens": 210_000, "output_tokens": 2_400},
    {**AGENT, "cache_write_1h_tokens": 5_000, "is_solved": True},
    {**AGENT, "task_id": "ticket-2", "is_solved": False},
    # chats of a closed model, one of them billed, one refused
    *({**GPT, **CHAT, "output_tokens": m} for m in (120, 240, 360)),
    {**GPT, **CHAT, "billed_cost_usd": "0.000801"},
    {**GPT, **CHAT, "input_tokens": 0, "output_tokens": 0, "status": "failure"},
    # a day of reasoning in a bucket, and one whose number of requests is unknown
    {
        **GPT,
        "team": "research",
        "query_class": "reasoning",
        "input_tokens": 40_000,
        "output_tokens": 90_000,
        "reasoning_tokens": 70_000,
        "request_count": 50,
        "bucket_end_at": "2026-10-06T10:00:00Z",
    },
    {
        **SONNET,
        "team": "research",
        "query_class": "summarization",
        "input_tokens": 88_000,
        "output_tokens": 9_700,
        "bucket_end_at": "2026-10-06T10:00:00Z",
    },
    # a batch job before and after there were batch prices
    {**GPT, "is_batch": True, "input_tokens": 2_000, "output_tokens": 90},
    {
        **GPT,
        "is_batch": True,
        "input_tokens": 2_000,
        "output_tokens": 90,
        "occurred_at": "2026-10-20T00:00:00Z",
    },
    # own models: dense at a told batch, experts, latent attention
    *({**LLAMA, "team": "search", "input_tokens": n, "output_tokens": 380} for n in (4_000, 9_000)),
    *({**LLAMA, "team": "engineering", "input_tokens": 1_400, "output_tokens": m} for m in (9, 21)),
    {**MIXTRAL, "team": "search", "input_tokens": 1_600, "output_tokens": 310},
    {**DEEPSEEK, "team": "research", "input_tokens": 700, "output_tokens": 2_900},
    # what cannot be known: a model of no catalog, lengths of no bill, a prompt beyond the cache
    {"model_name": "acme-1", "team": "support", "input_tokens": 900, "output_tokens": 200},
    {"model_name": "acme-1", "team": "support", "input_tokens": 800, "output_tokens": 100},
    {**GPT, "output_tokens": None, "billed_cost_usd": "2.5", "query_class": "other"},
    {**LLAMA, "query_class": "other", "input_tokens": 900_000, "output_tokens": 10},
    # rows that are set aside, and the month before
    {**GPT, **CHAT, "output_tokens": -1},
    {},
    {**GPT, **CHAT, "occurred_at": "2026-09-30T23:59:59.999Z"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    told = (Deployment("meta-llama/Llama-3.1-8B", gpu="H200-SXM", batch=16),)
    return book_of(ROWS, settings=Settings(deployments=told))


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Callable[[str, str], None]:
    """Compare a text with a golden file, or rewrite the file where that is asked for."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if pytestconfig.getoption("--golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return check


def shown(value: object) -> str:
    """Return money with all its digits, a DOUBLE with twelve, anything else as it is."""
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return "" if value is None else str(value)


def columns_of(book: Book, mart: str) -> str:
    """Return a mart on its side: a line for every column, so that a change is one line."""
    rows = rows_of(book, f"select * from {mart} order by all")
    return "".join(
        ", ".join([name, *(shown(row[name]) for row in rows)]) + "\n" for name in rows[0]
    )


@pytest.mark.parametrize("mart", ["mart_cost_per_task", "mart_energy_per_class"])
def test_a_mart_is_the_golden_one(
    book: Book, golden: Callable[[str, str], None], mart: str
) -> None:
    golden(f"{mart}.csv", columns_of(book, mart))


def test_the_sheet_of_costs_is_the_golden_one(
    book: Book, golden: Callable[[str, str], None]
) -> None:
    facts = ReportFacts("run", "method", is_generated_sample=False, time_zone="UTC")
    report = build_report(frames(book, warehouse.run_checks(book)), MONTH, facts)

    sheet = openpyxl.load_workbook(io.BytesIO(workbook.render(report)))["Cost_per_task"]

    lines = [" | ".join(shown(cell) for cell in row).rstrip(" |") for row in sheet.values]
    golden("Cost_per_task.cells.txt", "".join(f"{line}\n" for line in lines))
