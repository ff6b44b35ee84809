"""Measurements made up from known coefficients, to see whether they are found again."""

import csv
import gzip
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pipeline.validation.measured_work import Coefficients, Measurement, energy_j
from pipeline.validation.naming import Names

PRICES = Coefficients(1.2e-12, 2.5e-10, 1.4e-10, 0.023, 0)
STEP_PRICES = Coefficients(1.2e-12, 2.5e-10, 1.4e-10, 0, 0.7)
MODELS = (
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen2.5-3B",
    "Qwen/Qwen2.5-7B",
    "Qwen/Qwen2.5-14B",
    "meta-llama/Llama-2-7b-hf",
    "meta-llama/Llama-2-13b-hf",
    "meta-llama/Llama-3.1-8B",
    "google/gemma-7b",
)
LENGTHS = ((32, 256), (512, 128), (2048, 64), (1024, 1024))
COLUMNS = [
    "dataset",
    "gpu",
    "engine",
    "model",
    "quant",
    "n_in",
    "n_out",
    "batch",
    "n_gpus",
    "energy_j_req",
]
NAMES = Names()


def measurement(model: str, n: float, m: float, batch: float) -> Measurement:
    """Return a configuration whose energy is not known yet."""
    shape = NAMES.shape(model)
    assert shape is not None
    return Measurement(
        source_line=2,
        dataset="planted",
        gpu="H200-SXM",
        stack="vllm",
        task="",
        shape=shape,
        architecture_class=shape.architecture_class,
        bytes_per_weight=2,
        input_tokens=n,
        output_tokens=m,
        batch=batch,
        gpu_count=1,
        phase="total",
        has_kv_cache=True,
        time_s=0,
        energy_j=1,
    )


def planted(
    prices: Coefficients = PRICES,
    models: Sequence[str] = MODELS,
    batches: Iterable[float] = (1, 8),
    noise: float = 0,
    seed: int = 1,
) -> list[Measurement]:
    """Return measurements that cost what the law says, give or take a share of noise."""
    draw = random.Random(seed)  # noqa: S311  # a fixed seed is the point
    rows = [
        measurement(model, n, m, batch) for model in models for n, m in LENGTHS for batch in batches
    ]
    return [
        replace(row, energy_j=energy_j(row, prices) * (1 + noise * draw.uniform(-1, 1)))
        for row in rows
    ]


def write(path: Path, rows: Iterable[Measurement], scale: float = 1) -> Path:
    """Write measurements as a file, gzipped where its name says so; energies times `scale`."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for row in rows:
            lengths = (row.input_tokens, row.output_tokens, row.batch, row.gpu_count)
            names = (row.dataset, row.gpu, row.stack, row.shape.architecture_id, "bf16")
            table.writerow((*names, *lengths, row.energy_j * scale))
    return path
