"""What names in a measurement file mean: models, GPUs, words for precision."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from pipeline.errors import BadInputError, WrongUseError
from pipeline.reference import reference_rows
from pipeline.settings import Settings
from pipeline.shapes import Shape, shape_of

MODEL_COLUMNS = (
    "model",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn",
    "ffn_matrices",
    "vocab",
    "tied",
    "experts",
    "experts_active",
)
_PRECISION_SUFFIX = re.compile(r"[-._](fp8|fp16|bf16|f16|int8|nf4|awq|gptq|q\d[a-z0-9_]*)$")

# Bytes per weight. llama.cpp: bits per weight of Llama-3.1-8B in its table of quantisations.
PRECISIONS = {
    **dict.fromkeys(("fp16", "bf16", "f16", "float16", "bfloat16", "bf16/fp16"), 2.0),
    **dict.fromkeys(("fp8", "int8"), 1.0),
    **dict.fromkeys(("nf4", "int4", "awq", "gptq"), 0.5),
    "q8_0": 8.50 / 8,
    "q6_k": 6.56 / 8,
    "q5_k_m": 5.70 / 8,
    "q4_k_m": 4.89 / 8,
    "q3_k_m": 4.00 / 8,
    "q2_k": 3.16 / 8,
}
AS_PUBLISHED = ("", "mxfp4")


class Names:
    """Models and GPUs by the names that files use, without regard to case."""

    def __init__(self, models_path: Path | None = None, overlay_folder: Path | None = None) -> None:
        """Read the catalog, and the architectures of `models_path` that it does not have.

        Args:
            models_path: CSV file of architectures with the columns `MODEL_COLUMNS`.
            overlay_folder: Rows that go over the catalog's; that of the settings' default if not
                given.
        """
        folder = overlay_folder or Settings().overlay_folder
        self._shapes = _catalog_shapes(folder)
        if models_path is not None:
            self._shapes = _file_shapes(models_path) | self._shapes
        self._gpus = {row["gpu"].lower(): row["gpu"] for row in _rows("gpus", folder)}
        self._gpus |= {row["alias"]: row["gpu"] for row in reference_rows("gpu_aliases")}

    def shape(self, model: str) -> Shape | None:
        """Return the shape of a model; a precision that its name ends in is no part of it."""
        name = model.lower().removesuffix(".gguf")
        return self._shapes.get(name) or self._shapes.get(_PRECISION_SUFFIX.sub("", name))

    def gpu(self, name: str) -> str:
        """Return the name that the reference gives a GPU; its own where it has none."""
        return self._gpus.get(name.lower(), name)

    def gpus(self) -> list[str]:
        """Return every GPU that the reference names, sorted."""
        return sorted(set(self._gpus.values()))


def bytes_per_weight(word: str, shape: Shape) -> float | None:
    """Return the bytes of one weight at a precision; None for a word that is not known."""
    if word.lower() in AS_PUBLISHED:
        return shape.bytes_per_weight
    return PRECISIONS.get(word.lower())


def _catalog_shapes(folder: Path) -> dict[str, Shape]:
    own = {row["architecture_id"]: shape_of(row) for row in _rows("architectures", folder)}
    models = {
        row["model_id"]: own[row["architecture_id"]]
        for row in _rows("models", folder)
        if row["architecture_id"]
    }
    aliases = {
        row["alias"]: models[row["model_id"]]
        for row in _rows("model_aliases", folder)
        if row["model_id"] in models
    }
    return aliases | {name.lower(): shape for name, shape in models.items()}


def _rows(table: str, folder: Path) -> list[dict[str, str]]:
    """Return the rows of a reference table, those of the overlay folder last."""
    path = folder / f"{table}.csv"
    if not path.is_file():
        return reference_rows(table)
    with path.open(encoding="utf-8", newline="") as file:
        return [*reference_rows(table), *csv.DictReader(file)]


def _file_shapes(path: Path) -> dict[str, Shape]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in MODEL_COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise BadInputError(
                    f"{path}: no column {', '.join(missing)}; a file of models needs "
                    f"{', '.join(MODEL_COLUMNS)}."
                )
            return {row["model"].lower(): shape_of(_as_architecture(row)) for row in reader}
    except FileNotFoundError:
        raise WrongUseError(f"{path}: no such file. Give --models an existing file.") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise BadInputError(f"{path}: expected CSV with whole numbers, found {error}.") from None


def _as_architecture(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row of the architectures table for a model without latents and shared experts."""
    has_experts = int(row["experts"]) > 1
    absent = ("shared_ffn", "q_lora_rank", "kv_lora_rank", "nope_head_dim", "rope_head_dim")
    return {
        **row,
        **dict.fromkeys((*absent, "v_head_dim"), "0"),
        "architecture_id": row["model"],
        "architecture_class": "moe" if has_experts else "dense",
        "attention_layers": row["layers"],
        "dense_layers": "0" if has_experts else row["layers"],
        "dense_ffn": row["ffn"],
        "experts": row["experts"] if has_experts else "0",
        "active_experts": row["experts_active"] if has_experts else "0",
        "has_tied_embeddings": row["tied"].lower(),
        "bytes_per_weight": "2",
        "bytes_per_kv_element": "2",
    }
