"""Real logs, where a folder of them is at hand: rows, tokens, energy and money by hand."""

import csv
import gzip
import io
import json
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import Rows, built

from pipeline.ingest.summary import summarise
from pipeline.job import mart_rows
from pipeline.settings import Input, Settings, parse_assume

pytestmark = pytest.mark.slow

ASSUME = "model=meta-llama/Llama-3.1-8B,class=chat,team=research,batch=1"
START = ",start=2023-11-01T00:00:00Z"
BIAS_FACTOR = Fraction("1.15")  # dense, h100-sxm-vllm-1


def mart(path: Path, assume: str, month: str, *names: str) -> list[Rows]:
    """Return the rows that marts of one real file have of a month."""
    with built([Input(str(path), parse_assume(assume))], Settings()) as book:
        return [mart_rows(book, name, month) for name in names]


def law_energy_j(lengths: Iterable[tuple[int, int]]) -> Fraction:
    """Return the energy of requests on Llama-3.1-8B at batch 1, token by token on paper.

    A prompt of n tokens: 2·P·n + Q·(1 + … + n) + 2·Ph FLOP. An answer of m tokens: m passes over
    the weights, the cache read at n, n + 1, …, n + m − 1 positions.
    """
    a, b, c, s = (Fraction(each) for each in ("1.199e-12", "255.1e-12", "139.4e-12", "0.0227"))
    body, head, pair, kv = 6_979_321_856, 525_336_576, 524_288, 131_072
    flop = kv_bytes = passes = 0
    for n, m in lengths:
        context_sum = n * m + m * (m - 1) // 2
        flop += 2 * body * n + pair * n * (n + 1) // 2 + 2 * head
        flop += 2 * (body + head) * (m - 1) + pair * (context_sum - n)
        kv_bytes += kv * context_sum
        passes += m
    return a * flop + b * kv_bytes + c * 2 * (body + head) * passes + s * 32 * passes


def azure_lengths(path: Path) -> list[tuple[int, int]]:
    """Read a trace with nothing of the project."""
    rows = csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    return [(int(row["ContextTokens"]), int(row["GeneratedTokens"])) for row in rows]


def mooncake_lengths(path: Path) -> list[tuple[int, int]]:
    """Read a trace with nothing of the project."""
    rows = map(json.loads, gzip.decompress(path.read_bytes()).decode().splitlines())
    return [(row["input_length"], row["output_length"]) for row in rows]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("AzureLLMInferenceTrace_code_2023.csv.gz", 8_819),
        ("AzureLLMInferenceTrace_conv_2023.csv.gz", 19_366),
        ("mooncake_fast25_conversation.jsonl.gz", 12_031),
    ],
)
def test_a_real_trace_is_read_whole_and_its_energy_is_that_of_paper(
    samples: Path, name: str, count: int
) -> None:
    path = samples / "usage" / name
    is_azure = name.startswith("Azure")
    lengths = azure_lengths(path) if is_azure else mooncake_lengths(path)

    told = ASSUME + ("" if is_azure else START)
    intake, (row,) = mart(path, told, "2023-11", "mart_intake", "mart_energy_per_class")

    assert len(lengths) == count
    assert [(row["outcome"], row["row_count"]) for row in intake] == [("accepted", count)]
    by_hand = law_energy_j(lengths)
    assert row["energy_j"] == pytest.approx(float(by_hand), rel=1e-12)
    assert row["gpu_energy_j"] == pytest.approx(float(by_hand * BIAS_FACTOR), rel=1e-12)
    assert row["request_count"] == count
    assert row["batch"] == 1


def test_no_trace_knows_its_cached_share(samples: Path) -> None:
    path = samples / "usage" / "mooncake_fast25_conversation.jsonl.gz"

    [(row,)] = mart(path, ASSUME + START, "2023-11", "mart_coverage")

    assert row["cache_known_request_frac"] == 0
    assert row["input_tokens"] == 144_793_823


def test_a_real_coding_session_is_10_messages_not_25_lines(samples: Path) -> None:
    path = samples / "logs" / "tracelab_claude_session.jsonl.gz"

    (entry,) = summarise(Settings(inputs=(Input(str(path)),), folder=Path("/")), lambda text: None)

    assert (entry["rows_read"], entry["rows_accepted"], entry["rows_duplicate"]) == (25, 10, 15)
    assert entry["uncached_input_tokens"] == 3_039
    assert entry["cache_read_tokens"] == 394_068
    assert entry["cache_write_tokens"] == 21_086
    assert entry["output_tokens"] == 9_423


def test_a_real_week_at_openai_costs_2_04584_by_its_tokens(samples: Path) -> None:
    path = samples / "logs" / "openai_completions_usage_2025-10-05_2025-10-12.csv"

    [rows] = mart(path, "team=all", "2025-10", "mart_cost_per_task")

    costs = {row["model_id"]: row["cost_usd"] for row in rows}
    # gpt-4o: 53,440·2.50 + 5,760·1.25 + 10,646·10 = 247,260 millionths; and so on.
    gpt_5 = (38_072 + 5_783) * 1_250_000 + 8_192 * 125_000 + 76_000 * 10_000_000
    gpt_5_mini = (80_992 + 124_784 + 22_688) * 250_000 + (274_770 + 154_852 + 33_191) * 2_000_000
    assert costs == {
        "gpt-4o": Decimal("0.247260"),
        "gpt-5": Decimal(gpt_5).scaleb(-12),
        "gpt-5-mini": Decimal(gpt_5_mini).scaleb(-12),
    }
    assert round(sum(costs.values()), 5) == Decimal("2.04584")


def test_litellm_input_includes_the_cache_for_anthropic_too(samples: Path) -> None:
    path = samples / "logs" / "litellm_spendlogs_shape.jsonl"

    (entry,) = summarise(Settings(inputs=(Input(str(path)),), folder=Path("/")), lambda text: None)

    # 1,200 − 1,024 = 176; 734,311 − 426,653 − 184,457 = 123,201
    assert entry["uncached_input_tokens"] == 176 + 123_201
    assert entry["cache_read_tokens"] == 1_024 + 426_653
    assert entry["cache_write_tokens"] == 184_457
