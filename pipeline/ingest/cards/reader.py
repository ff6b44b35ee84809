"""One model card read by meaning: whatever a maker calls a number, it has one name here.

Spellings stand in `data/reference/config_spellings.csv`, in the order in which they are tried;
what a maker's program assumes where the file is silent, in `data/reference/config_defaults.csv`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pipeline.errors import BadInputError
from pipeline.reference import reference_rows

# Where a model of several parts keeps its language model; of speech models, inside the thinker.
_NESTS = ("text_config", "llm_config", "language_config", "thinker_config")
_MOST = 2**31  # what an integer column holds
_PARTS = ("attn_config", "ffn_config")
# A file that describes the whole model states its sizes; a nested part may leave them to its class.
_SIZES = {"layers", "hidden", "heads", "ffn", "vocab"}
_WORDS = {
    "layers": "number of layers",
    "hidden": "hidden size",
    "heads": "number of attention heads",
    "ffn": "width of the feed-forward network",
    "vocab": "size of the vocabulary",
    "active_experts": "number of experts active per token",
}


class Card:
    """The language model of a configuration, with its numbers under our names."""

    def __init__(self, config: Mapping[str, Any], model_id: str) -> None:
        """Find the language model in `config`; `model_id` names it in messages."""
        self.model_id = model_id
        self.outer = config
        self.values = _text_part(config)
        self.is_nested = self.values is not config
        parts = [part for key in _PARTS if isinstance(part := self.values.get(key), Mapping)]
        self.values = {**{key: value for part in parts for key, value in part.items()}} | {
            **self.values
        }
        self.model_type = str(self.values.get("model_type") or config.get("model_type") or "")
        self._types = (self.model_type, str(config.get("model_type") or ""))

    def get(self, key: str) -> Any:  # noqa: ANN401  # JSON may be anything
        """Return what the language model, or else the whole file, says under `key`."""
        value = self.values.get(key)
        return self.outer.get(key) if value is None else value

    def default(self, name: str) -> str | None:
        """Return what the maker's program assumes of a silent file."""
        if name in _SIZES and not self.is_nested:
            return None
        return next((_defaults()[t, name] for t in self._types if (t, name) in _defaults()), None)

    def number(self, name: str) -> int:
        """Return a whole number by our name for it, 0 where the file has none."""
        for spelling in _spellings()[name]:
            value = self.values.get(spelling)
            if value is not None:
                return self._whole(spelling, value)
        return int(self.default(name) or 0)

    def need(self, name: str) -> int:
        """Return a whole number above 0.

        Raises:
            BadInputError: Where the file does not say it, with the spellings that were tried.
        """
        value = self.number(name)
        if value == 0:
            tried = ", ".join(_spellings()[name])
            raise self.refusal(f"no {_WORDS.get(name, name)} found; tried {tried}")
        return value

    def flag(self, key: str, name: str) -> bool:
        """Return what the file says under `key`, else what its program assumes of `name`."""
        value = self.get(key)
        return bool(value) if value is not None else self.default(name) == "true"

    def refusal(self, reason: str) -> BadInputError:
        """Return the error that says why this model cannot be read."""
        return BadInputError(f"{self.model_id}: {reason}.")

    def _whole(self, key: str, value: Any) -> int:  # noqa: ANN401  # JSON may be anything
        if isinstance(value, list) and value:
            if any(each != value[0] for each in value):
                raise self.refusal(f"{key} differs from layer to layer, and a row has one number")
            value = value[0]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < _MOST or value % 1:
            raise self.refusal(f"{key} = {value!r}; expected a whole number")
        return int(value)


def _text_part(config: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in _NESTS:
        part = config.get(key)
        if isinstance(part, Mapping):
            return _text_part(part)
    return config


@cache
def _spellings() -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for row in reference_rows("config_spellings"):
        names[row["canonical"]] = (*names.get(row["canonical"], ()), row["spelling"])
    return names


@cache
def _defaults() -> dict[tuple[str, str], str]:
    rows = reference_rows("config_defaults")
    return {(row["model_type"], row["canonical"]): row["value"] for row in rows}
