"""Faults of a warehouse file: lost, overwritten, cut short, or with blocks that have gone bad."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError, WrongUseError

_ANEW = (
    "load the logs again (`joulebook ingest PATH … --load`): files are known by their hashes, "
    "closed months by the folder closed/."
)
# What DuckDB says of a file whose bytes are not those that it wrote.
_SIGNS = (
    "Corrupt database file",
    "Could not read enough bytes from file",
    "not a valid DuckDB database file",
)


class DamagedWarehouseError(BadInputError):
    """A warehouse that cannot be read."""


class LostWarehouseError(WrongUseError):
    """A workspace whose warehouse is not there any more."""


def lost(path: Path) -> LostWarehouseError:
    """Return the fault of a warehouse that is not there, though a workspace is."""
    return LostWarehouseError(
        f"{path}: expected the warehouse of this workspace, found none. Restore it from a backup, "
        f"or {_ANEW}"
    )


def damaged(path: Path, error: Exception) -> DamagedWarehouseError:
    """Return the fault of a warehouse that cannot be read."""
    return DamagedWarehouseError(
        f"{path}: expected a warehouse of joulebook, found: {str(error).splitlines()[0]} Restore "
        f"it from a backup, or move it away and {_ANEW}"
    )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the errors of a query that met bad blocks of a warehouse into its fault.

    Raises:
        DamagedWarehouseError: Where the file is not as it was written.
    """
    try:
        yield
    except duckdb.Error as error:
        if any(sign in str(error) for sign in _SIGNS):
            raise damaged(path, error) from None
        raise
