"""A model of one's own: read its config.json, prove the count, write it where the catalog looks."""

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import duckdb

from pipeline import __version__, warehouse
from pipeline.errors import BadInputError, WrongUseError
from pipeline.ingest.cards import Record, Weights, architecture_from_config, notes_on, weights
from pipeline.overlays.overlay import write_rows
from pipeline.reference import load_reference
from pipeline.settings import Settings

SURE_FRAC = 0.03  # a count this near the published one confirms the shape
_QUANTISATION_FILE = "hf_quant_config.json"


def add_model(
    settings: Settings, file: Path, name: str, stated_params_b: float | None
) -> dict[str, Any]:
    """Add the model of a config.json to the overlay of these settings.

    Args:
        settings: Say where the overlay folder is.
        file: The model's config.json; a hf_quant_config.json beside it is read too.
        name: The id that the model gets. One that the catalog has is replaced.
        stated_params_b: All its parameters as published, in billions, or None.

    Raises:
        WrongUseError: For a file that is not there, or a name that means another model.
        BadInputError: For a file that cannot be read, or a count more than 3 % off the stated one.
    """
    config = read_config(file)
    con = warehouse.connect(None, settings.memory_limit_gb, threads=1)
    load_reference(con, settings)
    model_id, is_known = _identify(con, name)
    try:
        record = architecture_from_config(config, model_id)
    except BadInputError as error:
        raise BadInputError(f"{file}: {error}") from None
    count = weights(record)
    off_frac = _require_count(file, count, stated_params_b)
    files = _write(con, settings.overlay_folder, _source(file), record, stated_params_b)
    return {
        "model_id": model_id,
        "is_replacement": is_known,
        "total_params_b": count.total / 10**9,
        "active_params_b": count.active / 10**9,
        "stated_params_b": stated_params_b,
        "off_frac": off_frac,
        "architecture": record,
        "notes": notes_on(config, model_id),
        "files": [path.as_posix() for path in files],
    }


def read_config(file: Path) -> dict[str, Any]:
    """Return the configuration of a file, with the quantisation that a file beside it states.

    Raises:
        WrongUseError: Where there is no such file.
        BadInputError: Where it is no JSON object.
    """
    config = _read_object(file)
    beside = file.with_name(_QUANTISATION_FILE)
    if not config.get("quantization_config") and beside.is_file():
        told = _read_object(beside)
        config["quantization_config"] = told.get("quantization") or told
    return config


def _read_object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise WrongUseError(
            f"{file}: no such file. Give --add the config.json of a model."
        ) from None
    except OSError as error:
        raise WrongUseError(f"{file}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{file}: expected JSON, found {error}.") from None
    if not isinstance(value, dict):
        raise BadInputError(f"{file}: expected one JSON object, found a {type(value).__name__}.")
    return value


def _identify(con: duckdb.DuckDBPyConnection, name: str) -> tuple[str, bool]:
    """Return the id as the catalog spells it, and whether the catalog has it."""
    wanted = name.strip()
    if not wanted or any(character in wanted for character in '\r\n,"'):
        raise WrongUseError(f"--id {name!r}: expected a name such as acme/chat-8b.")
    same = con.execute(
        "select model_id from raw_models where lower(model_id) = lower($name)", {"name": wanted}
    ).fetchone()
    if same:
        return str(same[0]), True
    other = con.execute(
        "select model_id from raw_model_aliases where lower(alias) = lower($name)",
        {"name": wanted},
    ).fetchone()
    if other:
        raise WrongUseError(
            f"--id {wanted}: this is another name of {other[0]}; give an id of its own, or "
            f"--id {other[0]} to replace that model."
        )
    return wanted, False


def _require_count(file: Path, count: Weights, stated_params_b: float | None) -> float | None:
    """Return how far the count lies from the stated one, as a share of it."""
    if stated_params_b is None:
        return None
    if not 0 < stated_params_b < float("inf"):
        raise WrongUseError(f"--params-b {stated_params_b:g}: expected billions above 0.")
    off_frac = count.total / 10**9 / stated_params_b - 1
    if abs(off_frac) > SURE_FRAC:
        raise BadInputError(
            f"{file}: its shape gives {count.total / 10**9:.4g} billion parameters, "
            f"{off_frac:+.1%} off the stated {stated_params_b:g}; expected within "
            f"{SURE_FRAC:.0%}. Is it the file of this model, and does --params-b count all "
            "weights? Nothing was written."
        )
    return off_frac


def _source(file: Path) -> str:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return f"configuration {file.name} (sha256 {digest[:16]}), read by joulebook {__version__}"


def _write(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    source: str,
    record: Record,
    stated_params_b: float | None,
) -> list[Path]:
    """Write the architecture and the model into the overlay folder."""
    model_id = record["architecture_id"]
    said = {"source": source, "source_date": dt.datetime.now(tz=dt.UTC).date().isoformat()}
    architecture = {
        **record,
        **said,
        "stated_total_params_b": stated_params_b,
        "stated_active_params_b": None,
        "params_note": None,
        "licence": "not stated",
    }
    model = {
        **said,
        "model_id": model_id,
        "developer": model_id.partition("/")[0].lower() if "/" in model_id else "own",
        "is_open": True,
        "architecture_id": model_id,
        "stand_in_tier": None,
        "context_tokens": record["context_tokens"],
    }
    written = []
    for table, row in (("architectures", architecture), ("models", model)):
        columns = con.sql(f"from raw_{table} limit 0").columns
        written.append(
            write_rows(folder, table, columns, {name: _text(row[name]) for name in columns})
        )
    return written


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def summary(answer: dict[str, Any]) -> str:
    """Return what was added, in a few lines."""
    shape, stated = answer["architecture"], answer["stated_params_b"]
    proof = (
        "no published count given (--params-b), so nothing confirms this reading"
        if stated is None
        else f"{answer['off_frac']:+.2%} off the stated {stated:g} billion"
    )
    return (
        f"{answer['model_id']}: {answer['total_params_b']:.4g} billion parameters, "
        f"{answer['active_params_b']:.4g} active per token, {proof}\n"
        f"  {shape['architecture_class']}, {shape['layers']} layers, {shape['attention_layers']} "
        f"with a cache ({shape['attention_kind']}), {shape['bytes_per_weight']:g} bytes per "
        f"weight\n  written to {' and '.join(answer['files'])}\n"
    )
