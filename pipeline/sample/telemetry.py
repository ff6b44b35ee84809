"""A measuring session made by rule, with planted truth: what the meter says of runs we know.

Nothing here was measured. The truth is a power for every tenth of a second; the log is what a
meter with its own clock, averaging and gaps would have written of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.ingest.telemetry.table import AT, SCHEMA
from pipeline.sample.telemetry_load import PIECE_S, Board, Load, Phase, loads, temperature_c
from pipeline.sample.telemetry_runs import Category, Draws, Run, ordered_runs

Numbers = npt.NDArray[np.float64]

_US = 1_000_000
_REASONS = {"idle": "gpu_idle", "cap": "sw_power_cap", "firmware": "sw_power_cap", "": ""}


@dataclass(frozen=True)
class Plan:
    """What is run, on what, and what is wrong with it on purpose; all effects are off by default.

    Times in seconds since `started_at`. Effects: `heat_frac_per_c` more power for every °C above
    the start; `order_frac` more in each run than in the one before; `dropped_frac` of the samples
    are lost; at `counter_reset_at_s` the energy counter starts from 0; the log's clock shows
    `clock_offset_s` more than the runs' clock and gains `clock_skew_frac`; each reading is the
    mean of the `averaging_s` before it. A category's own effect stands in the category.
    """

    models: tuple[str, ...] = ("meta-llama/Llama-3.1-8B",)
    categories: tuple[Category, ...] = (
        Category("general", 400, 1_200),
        Category("unanswerable", 400, 1_500),
        Category("philosophical", 500, 2_000),
        Category("high-computation", 900, 3_000),
    )
    repeats: int = 5
    is_randomised: bool = True  # in blocks; else all repeats of a category, one after another
    looped_frac: float = 0.0  # of the runs that never end by themselves
    board: Board = field(default_factory=Board)
    started_at: datetime = datetime(2026, 10, 5, 9, 0, 0, tzinfo=UTC)
    baseline_s: float = 60.0  # bare, then with the model loaded, then after the last run
    rest_s: float = 20.0  # between runs
    step_s: float = 1.0
    averaging_s: float = 0.0
    run_spread_frac: float = 0.01  # standard deviation of power from run to run
    length_spread_frac: float = 0.05  # of the output length
    noise_w: float = 1.0  # standard deviation of a reading
    heat_frac_per_c: float = 0.0
    order_frac: float = 0.0
    dropped_frac: float = 0.0
    counter_reset_at_s: float | None = None
    clock_offset_s: float = 0.0
    clock_skew_frac: float = 0.0
    power_cap_w: float | None = None
    clock_lock_mhz: float | None = None
    firmware_throttle_every_s: float | None = None
    firmware_throttle_s: float = 0.5
    tells_phases: bool = False  # a row of the runs for prefill and one for decode, as category


def planted_telemetry(plan: Plan, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the samples that a meter wrote, and the runs with their true energy.

    The samples have the columns of the telemetry table, with readings as coarse as those of
    nvidia-smi (10 mW, 1 MHz, 1 °C, 1 %). The runs have those of a runs file and `true_energy_j`:
    all that the board drew between start and end. The same plan and seed give the same frames.
    """
    draws = Draws(seed)
    runs = ordered_runs(plan.models, plan.categories, plan.repeats, plan.is_randomised,
                        plan.length_spread_frac, plan.looped_frac, draws)  # fmt: skip
    phases, spans = _schedule(plan, runs, draws)
    load = loads(phases, plan.board, plan.power_cap_w, plan.clock_lock_mhz,
                 plan.firmware_throttle_every_s, plan.firmware_throttle_s)  # fmt: skip
    heated = _heated(plan, load)
    energy_j = np.concatenate(([0.0], np.cumsum(heated) * PIECE_S))
    samples = _samples(plan, load, heated, energy_j, draws)
    return samples, _runs_frame(plan, runs, spans, load, energy_j)


def _schedule(
    plan: Plan, runs: Sequence[Run], draws: Draws
) -> tuple[list[Phase], list[tuple[int, int]]]:
    """Return what the board does one after another, and which of it is each run's."""
    board = plan.board
    phases = [
        Phase("bare", plan.baseline_s),
        Phase("load", board.load_s),
        Phase("loaded", plan.baseline_s),
    ]
    spans = []
    for number, run in enumerate(runs):
        spread = 1 + plan.run_spread_frac * draws.normal()
        factor = (1 + run.category.effect_frac) * (1 + plan.order_frac * number) * spread
        spans.append((len(phases), len(phases) + 1))
        phases += [
            Phase("prefill", run.input_tokens / board.prefill_tokens_per_s, factor),
            Phase("decode", run.output_tokens / board.decode_tokens_per_s, factor),
            Phase("loaded", plan.rest_s if number + 1 < len(runs) else plan.baseline_s),
        ]
    return phases, spans


def _heated(plan: Plan, load: Load) -> Numbers:
    """Return the true power with what heat adds to it."""
    warmth = temperature_c(load.power_w, plan.board)
    return np.asarray(load.power_w * (1 + plan.heat_frac_per_c * (warmth - warmth[0])))


def _samples(
    plan: Plan, load: Load, power_w: Numbers, energy_j: Numbers, draws: Draws
) -> pl.DataFrame:
    end_s = (len(energy_j) - 1) * PIECE_S
    count = int(end_s / plan.step_s) + 1
    at_s = np.minimum(np.arange(count) * plan.step_s, end_s)
    edges_s = np.arange(len(energy_j)) * PIECE_S
    counter_j = np.interp(at_s, edges_s, energy_j)
    piece = np.minimum((at_s / PIECE_S + 1e-9).astype(int), len(power_w) - 1)
    shown_w = power_w[piece]
    if plan.averaging_s:
        since_s = np.maximum(at_s - plan.averaging_s, 0)
        span_s = np.maximum(at_s - since_s, PIECE_S)
        mean_w = (counter_j - np.interp(since_s, edges_s, energy_j)) / span_s
        shown_w = np.where(at_s > 0, mean_w, shown_w)
    read_w = np.maximum(shown_w + plan.noise_w * draws.normals(count), 0)
    if plan.counter_reset_at_s is not None:
        before_j = np.interp(plan.counter_reset_at_s, edges_s, energy_j)
        counter_j = np.where(at_s >= plan.counter_reset_at_s, counter_j - before_j, counter_j)
    log_s = plan.clock_offset_s + at_s * (1 + plan.clock_skew_frac)
    reasons = np.array([_REASONS[word] for word in load.reasons])[piece]
    is_busy = load.is_busy[piece]
    frame = pl.DataFrame(
        {
            "gpu": pl.repeat("0", count, eager=True),
            "gpu_name": pl.repeat(plan.board.name, count, eager=True),
            "sampled_at": _moments(plan, np.round(log_s, 3)),
            "power_w": np.round(read_w, 2),
            "energy_counter_j": np.round(counter_j, 3),
            "sm_clock_mhz": np.round(load.clock_mhz[piece]),
            "memory_clock_mhz": pl.repeat(plan.board.memory_clock_mhz, count, eager=True),
            "power_limit_w": pl.repeat(plan.power_cap_w or plan.board.limit_w, count, eager=True),
            "temperature_c": np.round(temperature_c(load.power_w, plan.board)[piece]),
            "utilisation_frac": np.where(is_busy, 0.98, 0.0),
            "throttle_reasons": reasons,
            "source_file": pl.repeat("generated", count, eager=True),
            "source_line": np.arange(count) + 2,
        },
        schema=dict(SCHEMA),
    )
    return frame.filter(draws.uniforms(count) >= plan.dropped_frac)


def _runs_frame(
    plan: Plan,
    runs: Sequence[Run],
    spans: Sequence[tuple[int, int]],
    load: Load,
    energy_j: Numbers,
) -> pl.DataFrame:
    rows = []
    for number, (run, (prefill, decode)) in enumerate(zip(runs, spans, strict=True), start=1):
        parts = [("", prefill, decode, 0, run.output_tokens)]
        if plan.tells_phases:
            # Decode finds its whole prompt in the cache; prefill writes no token.
            parts = [
                ("prefill", prefill, prefill, 0, 0),
                ("decode", decode, decode, run.input_tokens, run.output_tokens),
            ]
        for part, first, last, cached_tokens, output_tokens in parts:
            start, end = load.edges[first], load.edges[last + 1]
            rows.append(
                {
                    "run_id": f"run-{number:03}" + (f"-{part}" if part else ""),
                    "started_at": start * PIECE_S,
                    "ended_at": end * PIECE_S,
                    "model": run.model,
                    "category": part or run.category.name,
                    "input_tokens": run.input_tokens,
                    "output_tokens": output_tokens,
                    "cached_tokens": cached_tokens,
                    "repeat": run.repeat,
                    "block": run.block,
                    "position": run.position,
                    "looped": run.is_looped,
                    "true_energy_j": energy_j[end] - energy_j[start],
                }
            )
    frame = pl.DataFrame(rows)
    return frame.with_columns(
        _moments(plan, frame[name].to_numpy()).alias(name) for name in ("started_at", "ended_at")
    )


def _moments(plan: Plan, since_s: Numbers) -> pl.Series:
    start_us = int(plan.started_at.timestamp() * _US)
    return pl.Series(start_us + np.round(since_s * _US).astype(np.int64)).cast(AT)
