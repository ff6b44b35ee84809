"""What holds a clock down, out of the bits that NVIDIA's tools tell it by."""

from collections.abc import Sequence

import polars as pl

# Of clocks_event_reasons, in nvidia-smi and DCGM alike (nvml.h), from the lowest bit on.
EVENT_BITS = (
    "gpu_idle",
    "applications_clocks_setting",
    "sw_power_cap",
    "hw_slowdown",
    "sync_boost",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
    "display_clock_setting",
)
# Of PerfCap in GPU-Z (NV_GPU_PERF_POLICY_ID); HWiNFO64 has the same words.
POLICY_BITS = (
    "power",
    "thermal",
    "reliability_voltage",
    "max_operating_voltage",
    "utilization",
    "sli_gpuboost_sync",
)


def of_bits(mask: pl.Expr, words: Sequence[str]) -> pl.Expr:
    """Return the words whose bit is set in a whole number."""
    whole = mask.cast(pl.Int64, strict=False)
    return named([(word, (whole // 2**bit) % 2 == 1) for bit, word in enumerate(words)])


def named(words: Sequence[tuple[str, pl.Expr]]) -> pl.Expr:
    """Return the words whose condition holds, `;` between them; null where none is known."""
    if not words:
        return pl.lit(None, pl.String)
    known = pl.any_horizontal(condition.is_not_null() for _, condition in words)
    held = [pl.when(condition).then(pl.lit(word)) for word, condition in words]
    return pl.when(known).then(pl.concat_str(held, separator=";", ignore_nulls=True))
