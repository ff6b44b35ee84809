"""Others' ways to do some of the work on the same rows: single numbers, without ranges or checks.

Per call: genai-prices for the money of a request, and EcoLogits for its energy
(`bench_ecologits.py`, in an environment of its own). In bulk: what one would write in polars, or in
pandas with openpyxl, for the cost and energy of each team, model and day.
"""

import csv
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import polars as pl

# What these list for a million tokens of input, of cached input and of output; and billions of
# parameters that work on a token, guessed, as a plain pipeline has to.
PLAIN_MODELS: dict[str, tuple[float, float, float, float]] = {
    "gpt-5-mini": (0.25, 0.025, 2.0, 20),
    "claude-sonnet-4-5": (3.0, 0.3, 15.0, 150),
    "gemini-2.5-flash": (0.3, 0.03, 2.5, 40),
    "meta-llama/Llama-3.1-8B": (0.0, 0.0, 0.0, 8),
    "Qwen/Qwen3-8B": (0.0, 0.0, 0.0, 8),
}
WH_PER_TOKEN_AND_BILLION = 8.91e-5  # the slope of EcoLogits 0.8
CALLS = 20_000
ECOLOGITS = "ecologits==0.11.3"
ECOLOGITS_NAMES = {"google": "google_genai"}


def priced_calls(log: Path) -> list[tuple[Any, ...]]:
    """Return requests to the models of providers: model, input, cached, output, seconds."""
    with duckdb.connect() as con:
        return con.execute(
            "select model_name, input_tokens, cache_read_tokens, output_tokens, latency_s, "
            f"provider from '{log}' where provider in ('openai', 'anthropic', 'google') "
            f"limit {CALLS}"
        ).fetchall()


def ecologits_us(requests: Path) -> float | str:
    """Return microseconds of a call in an environment of its own, or why there are none."""
    folder = requests.parent / "ecologits"
    python, calls = folder / "bin" / "python", requests.with_name("calls.csv")
    with calls.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            (ECOLOGITS_NAMES.get(provider, provider), model, output, seconds)
            for model, _, _, output, seconds, provider in priced_calls(requests)
        )
    script = str(Path(__file__).with_name("bench_ecologits.py"))
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, ECOLOGITS], check=True, capture_output=True)
        told = subprocess.run(
            [str(python), script, str(calls)], check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        return f"could not be set up: {error}".splitlines()[0]
    return float(told.stdout) * 1e6


def run_genai_prices(log: Path, folder: Path) -> dict[str, float]:
    """Price requests call by call."""
    from genai_prices import Usage, calc_price

    calls = priced_calls(log)
    start = time.perf_counter()
    for model, input_tokens, cached, output_tokens, _, _ in calls:
        calc_price(
            Usage(input_tokens=input_tokens, cache_read_tokens=cached, output_tokens=output_tokens),
            model,
        )
    return {"per_call": (time.perf_counter() - start) / len(calls)}


def run_polars(log: Path, folder: Path) -> None:
    """Sum cost and energy by day, team, model and class with polars, into a Parquet file."""
    models = pl.LazyFrame(
        [(name, *numbers) for name, numbers in PLAIN_MODELS.items()],
        schema=["model_name", "input_usd", "cached_usd", "output_usd", "params"],
        orient="row",
    )
    (
        pl.scan_parquet(log)
        .join(models, on="model_name", how="left")
        .with_columns(
            cost_usd=(
                (pl.col("input_tokens") - pl.col("cache_read_tokens")) * pl.col("input_usd")
                + pl.col("cache_read_tokens") * pl.col("cached_usd")
                + pl.col("output_tokens") * pl.col("output_usd")
            )
            / 1e6,
            energy_kwh=pl.col("output_tokens") * pl.col("params") * WH_PER_TOKEN_AND_BILLION / 1e3,
        )
        .group_by(pl.col("occurred_at").dt.date(), "team", "model_name", "query_class")
        .agg(pl.len(), pl.col("cost_usd", "energy_kwh").sum())
        .sink_parquet(folder / "sums.parquet")
    )


def run_pandas(log: Path, folder: Path) -> None:
    """Sum cost and energy by day, team, model and class with pandas, into a workbook."""
    import pandas as pd  # type: ignore[import-untyped]

    models = pd.DataFrame.from_dict(
        PLAIN_MODELS, orient="index", columns=["input_usd", "cached_usd", "output_usd", "params"]
    )
    rows = pd.read_parquet(log).join(models, on="model_name")
    rows["cost_usd"] = (
        (rows.input_tokens - rows.cache_read_tokens) * rows.input_usd
        + rows.cache_read_tokens * rows.cached_usd
        + rows.output_tokens * rows.output_usd
    ) / 1e6
    rows["energy_kwh"] = rows.output_tokens * rows.params * WH_PER_TOKEN_AND_BILLION / 1e3
    keys = [rows.occurred_at.dt.date, "team", "model_name", rows.query_class.fillna("")]
    sums = rows.groupby(keys)[["cost_usd", "energy_kwh"]].sum().reset_index()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sums")
    sheet.append(list(sums.columns))
    for row in sums.itertuples(index=False):
        sheet.append(list(row))
    book.save(folder / "sums.xlsx")
