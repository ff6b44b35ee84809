"""Read measured energies of requests; set aside, under a named rule, what cannot be used.

One row is one measured configuration, repetitions averaged. The file is CSV, plain or gzipped:

    model           name in the catalog, or in the file of --models
    gpu             name of the GPU
    n_in, n_out     input and output tokens of one request (means where lengths vary)
    batch           requests served together
    energy_j_req    GPU board energy of one request, in joules
    dataset         what the rows belong to; the file's name
    stack           serving software (`engine` is read too); empty
    n_gpus          GPUs that serve together; 1
    quant           precision of the weights: bf16, fp8, nf4, q4_K_M …; as published
    phase           which passes the energy is of: total, prefill or decode; total
    time_s          how long a request took; not known
    kv_cache        0 where every pass read the whole prefix again; 1
    task            what was asked; empty

The first six are required; the others take what stands after the semicolon where they are empty.
Other columns are ignored. Shapes of models that the catalog does not have come from the file of
--models, by itself a `model_configs.csv` that lies beside the measurements.
"""

import csv
import gzip
import math
import statistics
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError
from pipeline.laws import work
from pipeline.reference import reference_rows
from pipeline.shapes import Shape
from pipeline.validation.measured_work import Coefficients, Measurement, energy_j
from pipeline.validation.naming import Names, bytes_per_weight

REQUIRED = ("model", "gpu", "n_in", "n_out", "batch", "energy_j_req")
PHASES = ("total", "prefill", "decode")
# A window that the context does not fill works as plain attention; no architecture of class
# `window` in the catalog has a shorter one.
SHORTEST_WINDOW_TOKENS = 512
# Energy over that of an H100: from a frugal board to a processor without a GPU. What lies beyond is
# in another unit.
PLAUSIBLE_RATIOS = (1 / 50, 100)
UNITS = {1e6: "µJ", 1e3: "mJ", 1e-3: "kJ", 1 / 3600: "Wh", 1 / 3.6e6: "kWh"}

NO_NUMBER = "a length, batch, time or energy is no number above 0"
UNKNOWN_MODEL = "model is not known"
UNKNOWN_PRECISION = "precision is not known"
UNKNOWN_PHASE = "phase is not total, prefill or decode"
NO_DECODE = "decode of one token has no pass of its own"
OVERFLOW = "KV cache overflows: batch above what fits beside the weights"
NOT_DENSE = "not dense in 16 bits"


@dataclass(frozen=True)
class Subset:
    """Which rows of a file are meant; None is any."""

    dataset: str | None = None
    gpu: str | None = None
    stack: str | None = None
    is_dense: bool = False  # 16-bit MHA, GQA or MQA only


@dataclass
class Reading:
    """The usable rows of a file, and how many were left out under which rule."""

    rows: list[Measurement] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unknown_models: set[str] = field(default_factory=set)


class _LeftOutError(Exception):
    """A row that a rule leaves out; the message is the rule."""


def read_measurements(
    path: Path,
    subset: Subset,
    models_path: Path | None = None,
    assumed_input_tokens: Mapping[tuple[str, str], float] | None = None,
    overlay_folder: Path | None = None,
) -> Reading:
    """Return the usable rows of a subset.

    Args:
        path: CSV file with the columns above.
        subset: Rows to keep.
        models_path: CSV file of architectures that the catalog does not have; by itself a
            `model_configs.csv` beside the measurements.
        assumed_input_tokens: Dataset and task → prompt length to take where rows say none.
        overlay_folder: Rows of one's own over the catalog; the settings' default if not given.

    Raises:
        WrongUseError: Where there is no such file, subset or model.
        BadInputError: Where a column is missing, or energies are not in joules.
        IncompleteInputError: Where the file has no rows.
    """
    names, reading = Names(models_path or _models_beside(path), overlay_folder), Reading()
    limits = _Limits()
    for line, raw in _matching(path, subset, names):
        try:
            row = _measurement(line, raw, names, assumed_input_tokens or {})
            _require_fit(row, subset, limits)
            reading.rows.append(row)
        except _LeftOutError as rule:
            reading.left_out[str(rule)] += 1
            if str(rule) == UNKNOWN_MODEL:
                reading.unknown_models.add(raw["model"])
    _require_rows(path, reading)
    _require_joules(path, reading.rows)
    return reading


def working_class(shape: Shape, context_tokens: float) -> str:
    """Return the class as a model works at a length: a window that is not filled is dense."""
    is_whole = shape.architecture_class == "window" and context_tokens <= SHORTEST_WINDOW_TOKENS
    return "dense" if is_whole else shape.architecture_class


def is_of(row: Measurement, subset: Subset) -> bool:
    """Return whether a measurement is of a subset."""
    wanted = ((row.dataset, subset.dataset), (row.gpu, subset.gpu), (row.stack, subset.stack))
    return all(_is_like(*pair) for pair in wanted) and (row.is_plain or not subset.is_dense)


def _models_beside(path: Path) -> Path | None:
    beside = path.with_name("model_configs.csv")
    return beside if beside.is_file() else None


def coefficients_of(row: Mapping[str, str]) -> Coefficients:
    """Return the prices in a row of the coefficients table."""
    return Coefficients(*(float(row[name]) for name in Coefficients._fields))


def default_set() -> dict[str, str]:
    """Return the coefficient set that is taken where nobody names a GPU."""
    [row] = [
        each
        for each in reference_rows("law_coefficients")
        if each["gpu"] == "H100-SXM" and each["is_default"] == "true"
    ]
    return row


def _matching(path: Path, subset: Subset, names: Names) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a subset with their lines, with dataset, gpu and stack filled in."""
    found: dict[str, set[str]] = {"dataset": set(), "gpu": set(), "stack": set()}
    wanted = {"dataset": subset.dataset, "gpu": subset.gpu, "stack": subset.stack}
    if subset.gpu is not None:
        wanted["gpu"] = names.gpu(subset.gpu)
    matches = 0
    for line, row in _read(path):
        row["dataset"] = row.get("dataset") or path.name.split(".")[0]
        row["gpu"] = names.gpu(row["gpu"])
        row["stack"] = row.get("stack") or row.get("engine") or ""
        if all(_is_like(row[name], value) for name, value in wanted.items()):
            matches += 1
            yield line, row
        for name, values in found.items():
            values.add(row[name])
    if not matches:
        told = [f"--{name} {value}" for name, value in wanted.items() if value]
        there = [f"{name}: {', '.join(sorted(values))}" for name, values in found.items()]
        raise WrongUseError(f"{path}: no row for {' '.join(told)}; there are {'; '.join(there)}.")


def _is_like(value: str, wanted: str | None) -> bool:
    return wanted is None or value.lower().startswith(wanted.lower())


def _read(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            _require_columns(path, reader.fieldnames or ())
            count = 0
            for row in reader:
                count += 1
                yield reader.line_num, {key: value or "" for key, value in row.items() if key}
    except FileNotFoundError:
        raise WrongUseError(
            f"{path}: no such file. Give --measurements an existing file."
        ) from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise BadInputError(f"{path}: expected CSV, plain or gzipped, found {error}.") from None
    if not count:
        raise IncompleteInputError(f"{path}: no rows under the header.")


def _require_columns(path: Path, found: Sequence[str]) -> None:
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise BadInputError(
            f"{path}: no column {', '.join(missing)}; a file of measurements needs "
            f"{', '.join(REQUIRED)} (J per request), found {', '.join(found) or 'nothing'}. "
            "Without them nothing can be said of the law here; `joulebook law validate` shows the "
            "stored errors."
        )


def _measurement(
    line: int,
    raw: Mapping[str, str],
    names: Names,
    assumed_input_tokens: Mapping[tuple[str, str], float],
) -> Measurement:
    shape = names.shape(raw["model"])
    if shape is None:
        raise _LeftOutError(UNKNOWN_MODEL)
    precision = bytes_per_weight(raw.get("quant", ""), shape)
    if precision is None:
        raise _LeftOutError(UNKNOWN_PRECISION)
    assumed = assumed_input_tokens.get((raw["dataset"], raw.get("task", "")))
    n, m = _positive(raw["n_in"], assumed), _positive(raw["n_out"])
    return Measurement(
        source_line=line,
        dataset=raw["dataset"],
        gpu=raw["gpu"],
        stack=raw["stack"],
        task=raw.get("task", ""),
        shape=shape,
        architecture_class=working_class(shape, n + m),
        bytes_per_weight=precision,
        input_tokens=n,
        output_tokens=m,
        batch=max(_positive(raw["batch"]), 1),
        gpu_count=round(_positive(raw.get("n_gpus", ""), 1)),
        phase=raw.get("phase") or "total",
        has_kv_cache=raw.get("kv_cache") not in ("0", "false"),
        time_s=_positive(raw["time_s"]) if raw.get("time_s") else 0,
        energy_j=_positive(raw["energy_j_req"]),
    )


def _positive(text: str, otherwise: float | None = None) -> float:
    if not text and otherwise is not None:
        return otherwise
    try:
        value = float(text)
    except ValueError:
        raise _LeftOutError(NO_NUMBER) from None
    if not 0 < value < math.inf:
        raise _LeftOutError(NO_NUMBER)
    return value


class _Limits:
    """What fits on a GPU, from the reference tables."""

    def __init__(self) -> None:
        self.memory_gb = {row["gpu"]: float(row["memory_gb"]) for row in reference_rows("gpus")}
        [usable] = [
            row
            for row in reference_rows("assumptions")
            if row["assumption"] == "gpu_memory_usable_frac"
        ]
        self.usable_frac = float(usable["value"])


def _require_fit(row: Measurement, subset: Subset, limits: _Limits) -> None:
    """Leave out a row by rule: passes that cannot be, a cache that overflows, a wrong kind."""
    if row.phase not in PHASES:
        raise _LeftOutError(UNKNOWN_PHASE)
    if row.phase == "decode" and row.output_tokens <= 1:
        raise _LeftOutError(NO_DECODE)
    if subset.is_dense and not row.is_plain:
        raise _LeftOutError(NOT_DENSE)
    if row.has_kv_cache and row.gpu in limits.memory_gb and _batch_max(row, limits) < row.batch:
        raise _LeftOutError(OVERFLOW)


def _batch_max(row: Measurement, limits: _Limits) -> float:
    most: float = work.batch_max(
        limits.usable_frac,
        row.gpu_count,
        limits.memory_gb[row.gpu],
        row.bytes_per_weight * row.shape.held_params,
        row.shape.bytes_per_kv_element * row.shape.kv_elements_per_position,
        row.input_tokens + row.output_tokens,
        row.shape.state_bytes,
    )
    return most


def _require_rows(path: Path, reading: Reading) -> None:
    if reading.rows:
        return
    reasons = "; ".join(f"{count} × {rule}" for rule, count in reading.left_out.most_common())
    if reading.unknown_models:
        raise WrongUseError(
            f"{path}: no row left ({reasons}). Not in the catalog: "
            f"{', '.join(sorted(reading.unknown_models)[:6])}; give their shapes with --models "
            "FILE, or a name that `joulebook models` lists."
        )
    raise BadInputError(f"{path}: no row left to judge the law by ({reasons}).")


def _require_joules(path: Path, rows: Sequence[Measurement]) -> None:
    """Stop where a dataset lies so far from any GPU's energies that it must be in another unit."""
    prices = coefficients_of(default_set())
    ratios: dict[str, list[float]] = {}
    for row in rows:
        ratios.setdefault(row.dataset, []).append(row.energy_j / energy_j(row, prices))
    for dataset, each in ratios.items():
        ratio = statistics.median(each)
        if PLAUSIBLE_RATIOS[0] < ratio < PLAUSIBLE_RATIOS[1]:
            continue
        near = [unit for factor, unit in UNITS.items() if abs(math.log10(ratio / factor)) < 1.2]
        looks = f"; they look like {' or '.join(near)}" if near else ""
        raise BadInputError(
            f"{path}: energy_j_req must be joules per request, but those of {dataset} are "
            f"{ratio:.2g} times what such requests take on an H100{looks}. Convert them to J; "
            "until then nothing can be said of the law here."
        )
