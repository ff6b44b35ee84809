"""Kinds of attention against GQA: energies and crossings by the law, worked apart from the SQL."""

from typing import Any

import duckdb
import pytest
from conftest import rows_of

from pipeline import warehouse

# Coefficients of the H200, and the parts of Llama-3.1-8B: what one layer's attention holds.
A, B, C, S = 1.131e-12, 2.907e-10, 1.079e-10, 0.022
LAYERS, HIDDEN, HEAD_PARAMS = 32, 4096, 128_256 * 4096
FFN = 32 * 3 * 4096 * 14_336
GQA_PARAMS = LAYERS * (2 * HIDDEN * 4096 + 2 * HIDDEN * 1024)
PAIR_FLOP, CACHE_BYTES = 4 * LAYERS * 4096, 2 * 2 * LAYERS * 1024
DELTA_PARAMS, DELTA_STATE = LAYERS * 67_403_968, LAYERS * 2_146_304


def gqa_j(n: int, m: float, batch: float) -> float:
    """Return the energy of a request of n tokens in and m out, none cached."""
    return _request_j(GQA_PARAMS + FFN, PAIR_FLOP, CACHE_BYTES, 0, n, m, batch)


def delta_j(n: int, m: float, batch: float) -> float:
    """Return that of the same model with a gated DeltaNet in every layer."""
    return _request_j(DELTA_PARAMS + FFN, 0, 0, DELTA_STATE, n, m, batch)


def _request_j(
    body: float, pair: float, cache: float, state: float, n: int, m: float, batch: float
) -> float:
    prefill = A * (2 * body * n + pair * n * (n + 1) / 2 + 2 * HEAD_PARAMS)
    pairs = (n + m - 1) * (n + m) / 2 - n * (n + 1) / 2
    reads = B * (cache * (n * m + m * (m - 1) / 2) + 2 * state * m) + A * pair * pairs
    own = A * 2 * (body + HEAD_PARAMS) * (m - 1)
    shared = m * (C * 2 * (body + HEAD_PARAMS) + S * LAYERS) / batch
    return prefill + reads + own + shared


@pytest.fixture
def book(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    warehouse.build(con, ["mart_attention_families"])
    return con


def test_energies_and_crossings_are_those_of_the_law(book: duckdb.DuckDBPyConnection) -> None:
    rows = rows_of(book, "select * from mart_attention_families")
    lines: dict[Any, dict[str, Any]] = {
        (row["family"], row["input_tokens"], row["batch"]): row for row in rows
    }

    assert len(rows) == 3 * 3 * 4  # kinds, lengths, batches
    for (family, n, batch), row in lines.items():
        assert row["energy_low_ratio"] <= row["energy_ratio"] <= row["energy_high_ratio"]
        if family == "gated DeltaNet":
            own = delta_j(n, 1_000, batch)
            assert row["energy_j_per_request"] == pytest.approx(own)
            assert row["energy_ratio"] == pytest.approx(own / gqa_j(n, 1_000, batch))

    short = lines["gated DeltaNet", 1_024, 32]
    crossing = short["crossing_output_tokens"]
    assert short["crossing_meaning"] == "less energy from this length on"
    assert delta_j(1_024, crossing, 32) == pytest.approx(gqa_j(1_024, crossing, 32))
    assert delta_j(1_024, crossing / 2, 32) > gqa_j(1_024, crossing / 2, 32)
    assert delta_j(1_024, crossing * 2, 32) < gqa_j(1_024, crossing * 2, 32)
    even = short["crossing_batch"]
    assert delta_j(1_024, 1_000, even) == pytest.approx(gqa_j(1_024, 1_000, even))

    # 8,192 tokens in: dearer weights, but no square in the prompt and no cache to read.
    assert lines["gated DeltaNet", 8_192, 32]["crossing_meaning"] == "less energy at every length"
    # 64 caches of 33,768 positions of 131,072 bytes are 283 GB: none to compare with.
    crowded = lines["gated DeltaNet", 32_768, 64]
    assert crowded["crossing_output_tokens"] is None
    assert crowded["crossing_meaning"] == "the cache of GQA does not hold this batch"
