"""Each grade by the least that makes it so."""

from collections.abc import Callable

import pytest
from conftest import Book, Rows, made_from, rows_of

from pipeline.settings import Deployment, Settings

# H200 has a set of six architectures, fitted to 19–218 tokens in, 134–256 out, batches 1–64.
H200 = "meta-llama/Llama-3.1-8B"
H100 = "meta-llama/Meta-Llama-3-8B"  # the same shape on the default GPU: two architectures
UNTOLD = "meta-llama/Llama-3.2-3B"
LOGGED = "meta-llama/Llama-3.2-1B"
IN_BATCH = "Qwen/Qwen3-8B"
OUT_OF_BATCH = "Qwen/Qwen2.5-7B"
TWO_GPUS = "meta-llama/Llama-3.1-70B"
BORROWED = "meta-llama/Llama-2-7b-hf"
MOE = "Qwen/Qwen3-30B-A3B"
LATENT = "deepseek-ai/DeepSeek-V3"
WINDOW = "google/gemma-3-1b-it"
CLOSED = "claude-haiku-4-5"
TOLD = (
    *(Deployment(model, gpu="H200-SXM", batch=8) for model in (H200, TWO_GPUS, MOE, WINDOW)),
    Deployment(IN_BATCH, gpu="H200-SXM", batch=128),
    Deployment(OUT_OF_BATCH, gpu="H200-SXM", batch=129),
    Deployment(H100, batch=8),
    Deployment(UNTOLD, gpu="H200-SXM"),
    Deployment(LOGGED, gpu="H200-SXM"),
    Deployment(BORROWED, gpu="L40S", batch=8),
    Deployment(CLOSED, gpu="H200-SXM", batch=8),
)
BUCKET = {"input_tokens": 1000, "output_tokens": 2000, "request_count": 10}
UNCOUNTED = {"input_tokens": 1000, "output_tokens": 2000, "bucket_end_at": "2031-01-01T00:00:00Z"}


def request(n: int = 100, m: int = 200, model: str = H200) -> Rows:
    return [{"model_name": model, "input_tokens": n, "output_tokens": m}]


def of(model: str) -> Rows:
    return request(model=model)


CASES: dict[str, tuple[str, Rows]] = {
    "told batch, own set of six, inside its domain": ("A", of(H200)),
    "input at half the shortest": ("A", request(n=10)),
    "input below half the shortest": ("B", request(n=9)),
    "input at twice the longest": ("A", request(n=436)),
    "input above twice the longest": ("B", request(n=437)),
    "output at half the shortest": ("A", request(m=67)),
    "output below half the shortest": ("B", request(m=66)),
    "output at twice the longest": ("A", request(m=512)),
    "output above twice the longest": ("B", request(m=513)),
    "batch at twice the largest": ("A", of(IN_BATCH)),
    "batch above twice the largest": ("B", of(OUT_OF_BATCH)),
    "a set of two architectures": ("B", of(H100)),
    "an assumed batch": ("B", of(UNTOLD)),
    "a logged batch": ("A", [{**each, "latency_s": 9} for each in of(LOGGED)]),
    "several GPUs": ("B", of(TWO_GPUS)),
    "experts": ("C", of(MOE)),
    "latent attention": ("C", of(LATENT)),
    "windows": ("C", of(WINDOW)),
    "a GPU without a set of its own": ("C", of(BORROWED)),
    "stand-ins": ("D", of(CLOSED)),
    "buckets": ("B", [BUCKET]),
    "buckets of a model with experts": ("D", [{**BUCKET, "model_name": MOE}]),
    "buckets of a closed model": ("D", [{**BUCKET, "model_name": CLOSED}]),
    "5 % in buckets": ("B", [*request() * 190, BUCKET]),
    "less than 5 % in buckets": ("A", [*request() * 191, BUCKET]),
    "buckets of unknown count": ("D", [UNCOUNTED]),
}
MONTHS = {case: f"20{10 + i // 12}-{i % 12 + 1:02d}" for i, case in enumerate(CASES)}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    rows = [
        {"occurred_at": f"{MONTHS[case]}-05T10:00:00Z", "query_class": "chat", **row}
        for case, (_, cases) in CASES.items()
        for row in cases
    ]
    return book_of(rows, settings=Settings(deployments=TOLD), targets=["int_class_grades"])


@pytest.mark.parametrize("case", CASES)
def test_the_grade_says_what_the_energy_rests_on(book: Book, case: str) -> None:
    grade, _ = CASES[case]

    assert rows_of(
        book, f"select evidence_grade from int_class_grades where month = '{MONTHS[case]}'"
    ) == [{"evidence_grade": grade}]


@pytest.mark.parametrize(("bytes_per_weight", "grade"), [(2, "A"), (1, "C")])
def test_weights_of_8_bits_make_a_dense_model_grade_c(bytes_per_weight: int, grade: str) -> None:
    key = "select 'm' as month, 'p' as provider, 'x' as model_id, 'chat' as query_class"
    [row] = made_from(
        "int_class_grades",
        int_batches=f"{key}, 'told' as batch_source, 8 as batch",
        int_class_moments=f"{key}, 100 as mean_input_tokens, 200 as mean_output_tokens, "
        "1 as request_count, 0 as bucket_request_count, 0 as guessed_request_count",
        int_deployments="select 'p' as provider, 'x' as model_id, null as stand_in_tier, "
        f"'dense' as architecture_class, {bytes_per_weight} as bytes_per_weight, "
        "1 as gpu_count, true as is_own_set, 's' as coefficient_set_id",
        stg_coefficients="select 's' as coefficient_set_id, 4 as architecture_count, "
        "100 as input_tokens_low, 100 as input_tokens_high, 200 as output_tokens_low, "
        "200 as output_tokens_high, 8 as batch_low, 8 as batch_high",
    )

    assert row["evidence_grade"] == grade
