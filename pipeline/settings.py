"""What a user may set, from `joulebook.toml` to one frozen dataclass, and where files lie."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.errors import WrongUseError

_PACKAGE = Path(__file__).parent

WAREHOUSE = "warehouse.duckdb"  # beside the settings file of a workspace

ASSUME_KEYS = ("model", "provider", "class", "team", "start", "batch", "gpu", "stack")

LANGUAGES = ("en", "es")

_LEAST_MEMORY_GB = 0.25
_MOST_MEMORY_GB = 1_000_000
_MOST_WHOLE = 2**31 - 1  # what a column of whole numbers holds
_TYPE_WORDS = {
    str: "a text",
    bool: "true or false",
    int: f"a whole number from 0 to {_MOST_WHOLE}",
    float: "a number of 0 or more",
    list: "one or more [[tables]] of that name",
    dict: "a [table] of that name",
}
_TYPES: dict[str, type] = {
    "inputs": list,
    "deployments": list,
    "model_names": dict,
    "assumptions": dict,
    "time_zone": str,
    "grid_zone": str,
    "grid_year": int,
    "max_bad_frac": float,
    "max_bad_rows": int,
    "max_unmapped_frac": float,
    "max_unpriced_frac": float,
    "memory_limit_gb": float,
    "is_generated_sample": bool,
    "overlay_folder": str,
    "telemetry": str,
    "runs": str,
    "fleet_telemetry": str,
    "power_policies": str,
    "hash_user_ids": bool,
    "on_success": str,
    "on_failure": str,
    "lang": str,
}
# Where a run finds its things, and what it was told by them: never written into a settings file.
PLACES = ("folder", "warehouse", "frozen", "issued_before")
_DEPLOYMENT_TYPES: dict[str, type] = {
    "model": str,
    "gpu": str,
    "stack": str,
    "gpu_count": int,
    "batch": float,
    "replicas": int,
}


@dataclass(frozen=True)
class Input:
    """One file, folder or glob of usage logs, and what to assume where it is silent."""

    path: str
    assume: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Deployment:
    """Where a model runs: what the settings say of it."""

    model: str
    gpu: str | None = None
    stack: str | None = None
    gpu_count: int | None = None
    batch: float | None = None
    replicas: int | None = None  # copies that share the requests


@dataclass(frozen=True)
class Frozen:
    """What a closed month rests on, in place of what the workspace holds today."""

    folder: Path  # with the reference tables and corrections, as Parquet
    issue: str  # R0, R1 …
    input_keys: tuple[str, ...]  # of the files that count
    bridge: tuple[Mapping[str, str], ...] = ()  # what moved it from the issue before, by cause


@dataclass(frozen=True)
class Settings:
    """Everything a run may be told; the defaults are those of the bundled sample."""

    folder: Path = Path()  # where relative input paths start
    warehouse: Path | None = None  # a workspace's rows, which count in place of the inputs
    frozen: Frozen | None = None
    # What the report of the month before stated, where that is closed and of another method.
    issued_before: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    model_names: Mapping[str, str] = field(default_factory=dict)  # name in the log → model id
    assumptions: Mapping[str, float] = field(default_factory=dict)  # replaces reference values
    time_zone: str = "UTC"  # where a month begins and ends
    grid_zone: str = "World"
    grid_year: int = 2024
    max_bad_frac: float = 0.01  # a file with more bad rows than this …
    max_bad_rows: int = 10  # … and at least this many is a bad file
    max_unmapped_frac: float | None = None  # of a month's tokens that may be of unknown models …
    max_unpriced_frac: float | None = None  # … and that may have no price; None: any share
    memory_limit_gb: float = 2.5
    is_generated_sample: bool = False
    overlay_folder: Path = Path("overlays")  # rows that go over those of the reference tables
    telemetry: str | None = None  # power log of measured runs: a file, folder or glob …
    runs: str | None = None  # … and what ran when
    fleet_telemetry: str | None = None  # power logs of the GPUs that served the logged requests
    power_policies: str | None = None  # power logs, one a policy: caps, clock locks, none
    hash_user_ids: bool = False  # a workspace then keeps hashes of user ids, never the ids
    on_success: str = ""  # command after a report or close of a workspace …
    on_failure: str = ""  # … and after one that failed
    lang: str = "en"  # of workbook and page: en or es


def bundled(relative: str) -> Path:
    """Return the path of a file that ships with the project (sql, templates, reference, sample).

    In a checkout these folders stand beside the package; in a wheel they travel inside it.
    """
    inside = _PACKAGE / "bundled"
    return (inside if inside.exists() else _PACKAGE.parent) / relative


def read_settings(path: Path, *, makes_overlays: bool = False) -> Settings:
    """Read `joulebook.toml`.

    Args:
        path: The file.
        makes_overlays: Whether the overlay folder is about to be made where it is not there.

    Raises:
        WrongUseError: If the file is not there, is not TOML, or holds a key that nobody reads, or
            the overlay folder that it names is not there.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WrongUseError(
            f"{path}: no such settings file. Give --config an existing file."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUseError(f"{path}: expected TOML, found {error}.") from None
    known = {each.name for each in fields(Settings)} - set(PLACES)
    _refuse_unknown(path, raw, known)
    _require_types(str(path), raw, _TYPES)
    if not _LEAST_MEMORY_GB <= raw.get("memory_limit_gb", 1) <= _MOST_MEMORY_GB:
        raise WrongUseError(
            f"{path}: memory_limit_gb = {raw['memory_limit_gb']}; expected {_LEAST_MEMORY_GB} or "
            f"more, up to {_MOST_MEMORY_GB}."
        )
    for name in ("max_bad_frac", "max_unmapped_frac", "max_unpriced_frac"):
        if raw.get(name, 0) > 1:
            raise WrongUseError(f"{path}: {name} = {raw[name]}; expected a share from 0 to 1.")
    texts = dict.fromkeys(raw.get("model_names", {}), str)
    _require_types(f"{path}: model_names", raw.get("model_names", {}), texts)
    require_language(f"{path}: lang =", raw.get("lang", "en"))
    values: dict[str, Any] = {**raw, "folder": path.parent}
    values["overlay_folder"] = path.parent / raw.get("overlay_folder", "overlays")
    if not makes_overlays:
        _require_overlay_folder(path, raw, values["overlay_folder"])
    values["inputs"] = tuple(_input(path, each) for each in raw.get("inputs", []))
    values["deployments"] = tuple(_deployment(path, each) for each in raw.get("deployments", []))
    warehouse = path.parent / WAREHOUSE
    is_there = warehouse.exists() or _was_there(path.parent)
    values["warehouse"] = warehouse if is_there else None
    settings = Settings(**values)
    _require_zone(path, settings)
    return settings


def _was_there(folder: Path) -> bool:
    """Say whether a folder is a workspace that has lost its warehouse: months or runs are left."""
    runs = folder.glob("runs/*.jsonl")  # of which one that failed may have found no warehouse
    return any(folder.glob("closed/*/R*/record.json")) or any(
        '"exit_code": 0' in path.read_text(encoding="utf-8") for path in runs
    )


def _require_overlay_folder(path: Path, raw: Mapping[str, Any], folder: Path) -> None:
    """Refuse a folder that is named and not there: its tables would silently not count."""
    if "overlay_folder" in raw and not folder.is_dir():
        raise WrongUseError(
            f"{path}: overlay_folder = {raw['overlay_folder']!r}; expected a folder, found "
            f"{'a file' if folder.exists() else 'nothing'} at {folder}. Make it, mend the path, or "
            "take the line out."
        )


def require_language(where: str, lang: str) -> None:
    """Refuse a language that the reports do not have.

    Raises:
        WrongUseError: Saying which there are.
    """
    if lang not in LANGUAGES:
        raise WrongUseError(
            f"{where} {lang}: expected {' or '.join(LANGUAGES)}; this version has no other."
        )


def parse_assume(text: str) -> dict[str, str]:
    """Read `key=value,key=value` as the command line gives it.

    Raises:
        WrongUseError: For an unknown key, a missing value or a batch that is no number ≥ 1.
    """
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    assume = {key.strip(): value.strip() for key, _, value in pairs}
    _require_assume("--assume", assume)
    return assume


def _require_assume(where: str, assume: Mapping[str, str]) -> None:
    for key, value in assume.items():
        if key not in ASSUME_KEYS:
            raise WrongUseError(
                f"{where}: unknown key '{key}'; expected {', '.join(ASSUME_KEYS)} as key=value."
            )
        if not value:
            raise WrongUseError(f"{where}: '{key}' has no value; write {key}=value.")
    if "batch" in assume and not _is_number_from_one(assume["batch"]):
        raise WrongUseError(
            f"{where}: batch={assume['batch']} is no number; expected a batch of 1 or more."
        )


def _is_number_from_one(text: str) -> bool:
    try:
        return 1 <= float(text) < float("inf")
    except ValueError:
        return False


def _input(path: Path, raw: Mapping[str, Any]) -> Input:
    _refuse_unknown(path, raw, {"path", "assume"}, "[[inputs]]")
    _require_types(f"{path}: inputs", raw, {"path": str, "assume": dict})
    if "path" not in raw:
        raise WrongUseError(f"{path}: an [[inputs]] table has no path.")
    assume = {key: str(value) for key, value in raw.get("assume", {}).items()}
    _require_assume(f"{path}: inputs.assume", assume)
    return Input(str(raw["path"]), assume)


def _deployment(path: Path, raw: Mapping[str, Any]) -> Deployment:
    _refuse_unknown(path, raw, {each.name for each in fields(Deployment)}, "[[deployments]]")
    _require_types(f"{path}: deployments", raw, _DEPLOYMENT_TYPES)
    if "model" not in raw:
        raise WrongUseError(f"{path}: a [[deployments]] table names no model.")
    for name in ("gpu_count", "batch", "replicas"):
        if raw.get(name, 1) < 1:
            raise WrongUseError(f"{path}: deployments.{name} = {raw[name]}; expected 1 or more.")
    return Deployment(**raw)


def _refuse_unknown(path: Path, raw: Mapping[str, Any], known: set[str], where: str = "") -> None:
    unknown = sorted(set(raw) - known)
    if unknown:
        place = f" in {where}" if where else ""
        raise WrongUseError(
            f"{path}: unknown key(s){place} {', '.join(unknown)}; expected some of "
            f"{', '.join(sorted(known))}."
        )


def _require_types(where: str, raw: Mapping[str, Any], types: Mapping[str, type]) -> None:
    for name, wanted in types.items():
        value = raw.get(name)
        if value is None:
            continue
        is_number = (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 <= value < float("inf")
        )
        fits = is_number if wanted is float else isinstance(value, wanted)
        if wanted is int:
            fits = is_number and isinstance(value, int) and value <= _MOST_WHOLE
        if not fits:
            raise WrongUseError(f"{where}: {name} = {value!r}; expected {_TYPE_WORDS[wanted]}.")


def _require_zone(path: Path, settings: Settings) -> None:
    try:
        ZoneInfo(settings.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise WrongUseError(
            f"{path}: time_zone = {settings.time_zone!r} is not known; expected a name such as "
            "'UTC' or 'Europe/Madrid'."
        ) from None
