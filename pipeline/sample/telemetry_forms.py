"""Generated samples as the files that loggers would have written, each labelled as generated."""

from collections.abc import Mapping

import polars as pl

from pipeline.ingest.telemetry.throttle import EVENT_BITS

RUNS_COLUMNS = (
    "run_id", "started_at", "ended_at", "model", "category", "input_tokens", "output_tokens",
    "cached_tokens", "repeat", "block", "position", "looped",
)  # fmt: skip
_LABEL = "Generated sample: nothing measured"


def hwinfo_file(samples: pl.DataFrame) -> bytes:
    """Return the samples of one GPU as an HWiNFO64 log in Latin-1, its head and sensors at the end.

    The form has no limit and no counter, and of what holds a clock down only whether it is power.
    """
    at = pl.col("sampled_at")
    by_cap = pl.col("throttle_reasons").str.contains("sw_power_cap", literal=True)
    columns = {
        "Date": pl.format("{}.{}.{}", at.dt.day(), at.dt.month(), at.dt.year()),
        "Time": at.dt.strftime("%H:%M:%S%.3f"),
        "GPU Temperature [°C]": _fixed("temperature_c", 1),
        "GPU Power [W]": _fixed("power_w", 3),
        "GPU Clock [MHz]": _fixed("sm_clock_mhz", 1),
        "GPU Memory Clock [MHz]": _fixed("memory_clock_mhz", 1),
        "GPU Core Load [%]": (pl.col("utilisation_frac") * 100).round(1).cast(pl.String),
        "Performance Limit - Power [Yes/No]": pl.when(by_cap)
        .then(pl.lit("Yes"))
        .otherwise(pl.lit("No")),
        f"{_LABEL} [Yes/No]": pl.lit("Yes"),
    }
    head = "Date,Time," + "".join(f'"{name}",' for name in list(columns)[2:])
    card = f"GPU [#0]: {samples['gpu_name'][0]}"
    sensors = ",," + f"{card}," * (len(columns) - 3) + f"{_LABEL},"
    return _text(samples, columns, head, ",", [head, sensors], "\r\n").encode("latin-1")


def nvidia_smi_file(samples: pl.DataFrame) -> bytes:
    """Return the samples as `nvidia-smi --query-gpu … --format=csv` writes them."""
    bits = [
        pl.col("throttle_reasons").str.contains(word, literal=True).cast(pl.Int64) * 2**bit
        for bit, word in enumerate(EVENT_BITS)
    ]
    mask = pl.sum_horizontal(bits).cast(pl.String).str.zfill(16)
    columns = {
        "timestamp": pl.col("sampled_at").dt.strftime("%Y/%m/%d %H:%M:%S%.3f"),
        "index": pl.col("gpu"),
        "name": pl.col("gpu_name"),
        "uuid": pl.lit("GPU-generated-sample"),
        "power.draw [W]": pl.format("{} W", _fixed("power_w", 2)),
        "enforced.power.limit [W]": pl.format("{} W", _fixed("power_limit_w", 2)),
        "clocks.current.sm [MHz]": pl.format("{} MHz", pl.col("sm_clock_mhz").cast(pl.Int64)),
        "clocks.current.memory [MHz]": pl.format(
            "{} MHz", pl.col("memory_clock_mhz").cast(pl.Int64)
        ),
        "temperature.gpu": pl.col("temperature_c").cast(pl.Int64).cast(pl.String),
        "utilization.gpu [%]": pl.format(
            "{} %", (pl.col("utilisation_frac") * 100).round().cast(pl.Int64)
        ),
        # The bits used are below 8, where decimal and hexadecimal digits are the same.
        "clocks_event_reasons.active": pl.format("0x{}", mask),
    }
    return _text(samples, columns, ", ".join(columns), ", ", [], "\n").encode()


def runs_file(runs: pl.DataFrame) -> bytes:
    """Return the runs as a runs file, without the truth."""
    moment = "%Y-%m-%dT%H:%M:%S%.3fZ"
    return (
        runs.select(RUNS_COLUMNS)
        .with_columns(pl.col("started_at", "ended_at").dt.strftime(moment))
        .write_csv()
        .encode()
    )


def _fixed(name: str, decimals: int) -> pl.Expr:
    """Return a number with all its decimals, as loggers write it."""
    whole = (pl.col(name) * 10**decimals).round().cast(pl.Int64)
    part = (whole % 10**decimals).cast(pl.String).str.zfill(decimals)
    return pl.format("{}.{}", whole // 10**decimals, part)


def _text(
    samples: pl.DataFrame,
    columns: Mapping[str, pl.Expr],
    head: str,
    separator: str,
    trailer: list[str],
    line_end: str,
) -> str:
    ends = separator if separator == "," else ""  # a row of HWiNFO64 ends in a comma
    rows = samples.select(pl.concat_str(list(columns.values()), separator=separator) + ends)
    return line_end.join([head, *rows.to_series().to_list(), *trailer]) + line_end
