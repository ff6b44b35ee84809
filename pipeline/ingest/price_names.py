"""The exact names under which a provider's log may call a model of genai-prices."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from genai_prices import types
from genai_prices.data import providers as published

BEDROCK_REGIONS = ("", "us.", "eu.", "apac.", "au.", "jp.")
BEDROCK_UNLISTED = (  # real ids of models that the package lists under an id without date
    "anthropic.claude-opus-4-5-20251101-v1:0",
    "anthropic.claude-opus-4-6-v1",
    "anthropic.claude-sonnet-4-6",
    "anthropic.claude-opus-4-7",
    "anthropic.claude-opus-4-8",
)
BEDROCK_IDS = [
    model.id for provider in published if provider.id == "aws" for model in provider.models
]
CLAUDE_DATED = set(re.findall(r"claude-[\w-]+-\d{8}", " ".join((*BEDROCK_IDS, *BEDROCK_UNLISTED))))


@dataclass(frozen=True, order=True)
class PriceName:
    """One exact name, in lower case, under which a provider's log may call a price model."""

    provider: str
    name: str
    price_model: str
    source: str


def exact_names(provider: types.Provider, model: types.ModelInfo) -> set[str]:
    """Return the exact names of a model; a prefix is never expanded, it fits the next model too.

    Known spellings that the package lists only by their beginning are kept where it finds the
    model under them: replies and bills carry the dated Claude names, Bedrock the region.
    """
    spellings = {*_listed_names(model.match), *_known_spellings(provider.id, model.id)}
    found = {name for name in spellings if provider.find_model(name) is model}
    return {name.lower() for name in found | {model.id}}


def _listed_names(clause: types.MatchLogic) -> Iterator[str]:
    if isinstance(clause, types.ClauseEquals):
        yield clause.equals
    elif isinstance(clause, types.ClauseOr | types.ClauseAnd):
        for part in clause.or_ if isinstance(clause, types.ClauseOr) else clause.and_:
            yield from _listed_names(part)


def _known_spellings(provider: str, model_id: str) -> set[str]:
    """Return dated Claude names as Anthropic and Vertex write them, and Bedrock's profiles."""
    bases = {model_id.removeprefix("global.").removeprefix("regional."), *BEDROCK_UNLISTED}
    regions = ("global.",) if model_id.startswith("global.") else BEDROCK_REGIONS
    spellings = {
        "anthropic": CLAUDE_DATED,
        "google": {f"{name[:-9]}@{name[-8:]}" for name in CLAUDE_DATED},
        "aws": {region + base for region in regions for base in bases},
    }
    return spellings.get(provider, set())
