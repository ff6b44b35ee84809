"""The rates of a world price the month's own requests as its energies of classes say."""

import math
from collections.abc import Callable

import pytest
from conftest import Book, rows_of

from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
ROWS = [
    {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"},
    {"input_tokens": 4_000, "cache_read_tokens": 1_000, "output_tokens": 10, "query_class": "rag"},
    {"input_tokens": 4_000, "output_tokens": 10, "query_class": "rag"},
    {
        "model_name": "Qwen/Qwen3-30B-A3B",
        "input_tokens": 500,
        "output_tokens": 700,
        "query_class": "chat",
    },
    {
        "model_name": "gpt-5",
        "provider": "openai",
        "input_tokens": 1_200,
        "output_tokens": 400,
        "query_class": "chat",
    },
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["int_rate_draws", "int_class_draws"])


def test_rates_times_moments_are_the_energy_of_the_class_in_every_world(book: Book) -> None:
    pairs = rows_of(
        book,
        """
        select drawn.gpu_energy_j as expected, geometric_mean(
            (1 - rates.cached_frac) * (
                rates.energy_j_per_prefilled_token * moments.prefilled_tokens::double
                + rates.energy_j_per_pair * moments.prefill_pairs::double
                + rates.energy_j_per_prompt * moments.prompts::double
            )
            + rates.energy_j_per_pair * moments.decode_pairs::double
            + rates.energy_j_per_cache_position * moments.cache_positions::double
            + rates.energy_j_per_decode_step * moments.decode_steps::double
            + rates.energy_j_per_pass * moments.passes::double
        ) as found
        from int_rate_draws as rates
        inner join int_class_moments as moments using (month, provider, model_id, query_class)
        inner join int_class_draws as drawn using (month, provider, model_id, query_class, draw)
        group by drawn.gpu_energy_j, month, provider, model_id, query_class, draw
        """,
    )

    assert len(pairs) == 4 * 256  # four models and classes
    assert [row["found"] for row in pairs] == [
        pytest.approx(row["expected"], rel=1e-9) for row in pairs
    ]


def test_a_pass_served_alone_moves_with_the_prices_of_weights_and_launches(book: Book) -> None:
    # of weights and launches: 1.394e-10 · 15,009,316,864 + 0.0227 · 32 = 2.8187 J
    own = rows_of(
        book,
        f"""
        select
            rates.energy_j_per_pass / rates.energy_j_per_prompt as ratio,
            draws.a_ratio, draws.c_ratio, draws.s_ratio
        from int_rate_draws as rates inner join int_draws as draws using (draw)
        where rates.model_id = '{LLAMA}' and rates.query_class = 'chat'
        """,
    )
    head_j = 1.199e-12 * 2 * 525_336_576
    for row in own:
        shared_j = 1.394e-10 * 15_009_316_864 * row["c_ratio"] + 0.0227 * 32 * row["s_ratio"]
        assert math.isclose(row["ratio"], shared_j / (head_j * row["a_ratio"]), rel_tol=1e-9)
