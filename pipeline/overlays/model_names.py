"""The user's own names of models: `[model_names]` of the settings and `model_names.csv`."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError, WrongUseError
from pipeline.overlays.mapping_files import PERIOD, MappingRow, read_mapping, require_one_meaning

TABLE = "model_names"
COLUMNS = ("name", "model", "provider", *PERIOD)


def load_model_names(
    con: duckdb.DuckDBPyConnection, model_names: Mapping[str, str], folder: Path
) -> None:
    """Create raw_model_names from the settings and from the overlay folder's file, if it is there.

    Raises:
        WrongUseError: Where the settings map a name to a model that is not in the catalog.
        BadInputError: Where a row of the file does, or two rows say different things of one name.
    """
    con.execute(
        "create or replace table raw_model_names "
        "(name varchar, provider varchar, model_id varchar, valid_from varchar, valid_to varchar)"
    )
    for name, model in model_names.items():
        _insert(con, {"name": name, "model_id": require_model(con, model)})
    rows = read_mapping(folder, TABLE, COLUMNS, required=("name", "model"))
    _require_new_names(rows, model_names)
    require_one_meaning(rows, _key)
    for row in rows:
        told = {name: row.cells[name] for name in ("name", "provider")}
        _insert(con, {**told, "model_id": _model(con, row), **row.period()})


def require_model(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return the id of a catalog model given by id or alias, in any case.

    An alias that has moved from model to model stands for the last of them.

    Raises:
        WrongUseError: Where the catalog has no such model, with the names that contain its words.
    """
    rows = con.execute(
        "select model_id from raw_models where lower(model_id) = lower($name)", {"name": name}
    ).fetchall()
    found = rows[0][0] if rows else next(iter(meanings(con, name)), None)
    if found is None:
        word = name.rsplit("/", 1)[-1].split("-")[0].lower()
        ids = con.execute("select model_id from raw_models order by 1").fetchall()
        near = [each for (each,) in ids if word and word in each.lower()]
        hint = f" Near it: {', '.join(near[:6])}." if near else ""
        raise WrongUseError(
            f"model {name!r} is not in the catalog; `joulebook models` lists it.{hint}"
        )
    return str(found)


def meanings(con: duckdb.DuckDBPyConnection, alias: str) -> list[str]:
    """Return the ids of the models that an alias has stood for, the last first."""
    rows = con.execute(
        "select model_id from raw_model_aliases where lower(alias) = lower($alias) "
        "order by coalesce(valid_from, '') desc, model_id",
        {"alias": alias},
    ).fetchall()
    return [str(row[0]) for row in rows]


def _require_new_names(rows: Iterable[MappingRow], model_names: Mapping[str, str]) -> None:
    told = {name.lower() for name in model_names}
    for row in rows:
        name = row.cells["name"]
        if name is None:
            raise row.fault("name", "the name in the log")
        if row.cells["model"] is None:
            raise row.fault("model", "an id or alias of the catalog")
        if name.lower() in told and row.cells["provider"] is None:
            raise row.fault("name", "a name that [model_names] of the settings does not map too")


def _key(row: MappingRow) -> tuple[str, str]:
    return (row.cells["name"] or "").lower(), (row.cells["provider"] or "").lower()


def _model(con: duckdb.DuckDBPyConnection, row: MappingRow) -> str:
    try:
        return require_model(con, row.cells["model"] or "")
    except WrongUseError as error:
        raise BadInputError(f"{row.where}: row {row.line}, column model: {error}") from None


def _insert(con: duckdb.DuckDBPyConnection, row: Mapping[str, str | None]) -> None:
    columns = ", ".join(f"${name} as {name}" for name in row)
    con.execute(f"insert into raw_model_names by name select {columns}", dict(row))
