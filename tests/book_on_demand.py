"""A warehouse that builds a model when a query first names it: most tests read a few of them."""

import functools
import re
from typing import Any

import duckdb

from pipeline import warehouse

_READING = re.compile(
    r"\s*(?:--.*\n\s*)*\(*\s*(select|with|from|describe|explain)\b", re.IGNORECASE
)
_WHOLE_CATALOG = ("duckdb_", "information_schema", "show ")


class BookOnDemand:
    """A connection with all inputs loaded, whose models are there for whoever asks for them.

    A statement that changes something has all models built before it, so that what a test edits is
    what a build has left.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """Take a connection with inputs and reference tables."""
        self._con = con
        self._built: set[str] = set()

    def __enter__(self) -> "BookOnDemand":
        """Open nothing: the connection is."""
        return self

    def __exit__(self, *fault: object) -> None:
        """Close the connection."""
        self._con.close()

    def execute(self, query: str, *parameters: object) -> duckdb.DuckDBPyConnection:
        """Build what the query reads, and run it."""
        self._build_for(query)
        return self._con.execute(query, *parameters)

    def sql(self, query: str, **how: Any) -> duckdb.DuckDBPyRelation:  # noqa: ANN401  # as DuckDB's
        """Build what the query reads, and return it as a relation."""
        self._build_for(query)
        return self._con.sql(query, **how)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a connection has
        """Leave all else to the connection."""
        return getattr(self._con, name)

    def _build_for(self, query: str) -> None:
        if len(self._built) == len(_build_order()):
            return
        for model in _models_for(query):
            if model.name not in self._built:
                warehouse.build_one(self._con, model)
                self._built.add(model.name)


def _models_for(query: str) -> list[warehouse.Model]:
    """Return the models that a query may read, and all they rest on, parents first."""
    order = _build_order()
    if _READING.match(query) and not any(word in query for word in _WHOLE_CATALOG):
        return _with_parents(frozenset(re.findall(r"\w+", query)).intersection(order))
    return [*order.values()]


@functools.cache
def _build_order() -> dict[str, warehouse.Model]:
    return {model.name: model for model in warehouse.ordered_models()}


@functools.cache
def _with_parents(names: frozenset[str]) -> list[warehouse.Model]:
    return warehouse.ordered_models(names) if names else []
