"""Model cards: what a config.json says of a model, in the catalog's terms."""

from pipeline.ingest.cards.counts import Weights, weights
from pipeline.ingest.cards.shape import Record, architecture_from_config, notes_on

__all__ = ["Record", "Weights", "architecture_from_config", "notes_on", "weights"]
