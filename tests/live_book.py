"""A small log with one of everything, and the live workbook of it.

Closed and open models, experts, latent attention, a told batch, bills, a bucket, a refused request,
a model nobody knows, two months, and names that try to be something else.
"""

from collections.abc import Callable
from typing import Any

from conftest import Book
from report_frames import HOSTILE

from pipeline import warehouse
from pipeline.frames.book import book_data
from pipeline.frames.sections import frames
from pipeline.report import workbook
from pipeline.report.assemble import ReportFacts, build_report
from pipeline.report.language import language_of
from pipeline.report.section import Report
from pipeline.report.workbook.data import BookData
from pipeline.settings import Deployment, Settings

MONTH = "2026-10"
FACTS = ReportFacts("run", "method", is_generated_sample=False, time_zone="UTC")
TOLD = (Deployment("meta-llama/Llama-3.1-8B", gpu="H200-SXM", batch=16),)

GPT = {"provider": "openai", "model_name": "gpt-5-mini"}
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
LLAMA = {"provider": "vllm", "model_name": "meta-llama/Llama-3.1-8B"}
MIXTRAL = {"provider": "vllm", "model_name": "mistralai/Mixtral-8x7B-v0.1"}
DEEPSEEK = {"provider": "together", "model_name": "deepseek-ai/DeepSeek-V3"}
CHAT = {"query_class": "chat", "input_tokens": 1_100, "output_tokens": 240}
TEAMS = (*HOSTILE, "007", "7", "a*b", ">5", "Search", "search", "x" * 300)
ROWS: list[dict[str, Any]] = [
    *({**GPT, **CHAT, "team": team, "occurred_at": "2026-10-07T10:00:00Z"} for team in TEAMS),
    *({**GPT, **CHAT, "output_tokens": m, "team": "support"} for m in (120, 240, 360)),
    {**GPT, **CHAT, "team": "support", "billed_cost_usd": "0.000801"},
    {**GPT, **CHAT, "input_tokens": 0, "output_tokens": 0, "status": "failure"},
    {
        **GPT,
        "team": "research",
        "query_class": "reasoning",
        "input_tokens": 40_000,
        "output_tokens": 90_000,
        "request_count": 50,
        "bucket_end_at": "2026-10-06T10:00:00Z",
    },
    {
        **SONNET,
        "team": "engineering",
        "query_class": "agentic",
        "task_id": "ticket-1",
        "is_solved": True,
        "uncached_input_tokens": 1_200,
        "cache_read_tokens": 210_000,
        "cache_write_5m_tokens": 900,
        "output_tokens": 2_400,
    },
    *({**LLAMA, "team": "search", "input_tokens": n, "output_tokens": 380} for n in (4_000, 9_000)),
    {**MIXTRAL, "team": "search", "input_tokens": 1_600, "output_tokens": 310},
    {**MIXTRAL, "input_tokens": 700, "output_tokens": 1},
    {**DEEPSEEK, "team": "research", "input_tokens": 700, "output_tokens": 2_900},
    *({"model_name": text, "input_tokens": 900, "output_tokens": 200} for text in HOSTILE[:6]),
    {**GPT, "output_tokens": None, "billed_cost_usd": "2.5", "query_class": "other"},
    {**LLAMA, "query_class": "other", "input_tokens": 900_000, "output_tokens": 10},
    {**GPT, **CHAT, "team": "support", "occurred_at": "2026-09-15T10:00:00Z"},
    {
        **GPT,
        **CHAT,
        "team": "support",
        "request_count": 4,
        "occurred_at": "2026-09-16T00:00:00Z",
        "bucket_end_at": "2026-09-17T00:00:00Z",
    },
    {**SONNET, **CHAT, "team": "support", "occurred_at": "2026-09-15T10:00:00Z"},
    {**MIXTRAL, "input_tokens": 500, "output_tokens": 90, "occurred_at": "2026-09-16T10:00:00Z"},
]


# Several files of tests read the same ones.
_MADE: dict[str, tuple[Report, BookData]] = {}
_RENDERED: dict[tuple[str, str], bytes] = {}


def made(
    book_of: Callable[..., Book], assumptions: dict[str, float] | None = None
) -> tuple[Report, BookData]:
    """Return the report of the log and what its workbook computes from, to be read only."""
    settings = Settings(deployments=TOLD, assumptions=assumptions or {})
    if repr(settings) not in _MADE:
        book = book_of(ROWS, settings=settings)
        report = build_report(frames(book, warehouse.run_checks(book)), MONTH, FACTS)
        _MADE[repr(settings)] = (report, book_data(book, MONTH))
    return _MADE[repr(settings)]


def rendered(
    book_of: Callable[..., Book],
    assumptions: dict[str, float] | None = None,
    language: str = "en",
) -> bytes:
    """Return the live workbook of the log under some assumptions, in a language."""
    asked = (repr(assumptions or {}), language)
    if asked not in _RENDERED:
        _RENDERED[asked] = workbook.render(*made(book_of, assumptions), language_of(language))
    return _RENDERED[asked]
