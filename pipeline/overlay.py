"""What a company adds to the reference tables: CSV files of the same columns in its own folder.

A row whose key is in the bundled table, in any case, takes the place of that row.
"""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from pipeline import warehouse
from pipeline.errors import BadInputError, WrongUseError

# The tables that may be added to, by their keys, and the model that reads each as typed columns.
KEYS: dict[str, tuple[str, ...]] = {
    "architectures": ("architecture_id",),
    "models": ("model_id",),
    "model_aliases": ("alias", "valid_from"),
    "providers": ("provider",),
    "gpus": ("gpu",),
    "law_coefficients": ("coefficient_set_id",),
    "bias_factors": ("architecture_class", "coefficient_set_id"),
}
_READERS = {"law_coefficients": "stg_coefficients"}
# Not rows of a table; read by modules of these names.
MAPPINGS = ("attribution", "model_names", "quality", "budgets")


def load_overlays(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Lay the files of an overlay folder over the raw tables; no folder is an empty one.

    Raises:
        WrongUseError: Where a file is named as no table that may be added to.
        BadInputError: Where a file has other columns, the same key twice, or an unreadable value.
    """
    for path in overlay_files(folder):
        if path.stem in MAPPINGS:
            continue
        if path.stem not in KEYS:
            raise WrongUseError(
                f"{path}: no table of this name can be added to; expected one of "
                f"{', '.join(f'{table}.csv' for table in (*KEYS, *MAPPINGS))}."
            )
        try:
            _lay_over(con, path.stem, path)
        except duckdb.Error as error:
            found = str(error).splitlines()[0]
            raise BadInputError(
                f"{path}: expected rows as in data/reference/{path.name}, found: {found}"
            ) from None


def overlay_files(folder: Path) -> list[Path]:
    """Return the CSV files of an overlay folder, by name."""
    return sorted(folder.glob("*.csv"))


def fingerprints(folder: Path) -> list[dict[str, str]]:
    """Return name and hash of every overlay file: what a run rests on beside the bundled tables."""
    return [
        {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in overlay_files(folder)
    ]


def write_rows(folder: Path, table: str, columns: Iterable[str], row: Mapping[str, str]) -> Path:
    """Put one row into an overlay file, in place of the row with its key if there is one.

    Raises:
        BadInputError: Where the file that is there has other columns.
    """
    path, wanted = folder / f"{table}.csv", list(columns)
    rows = _rows(path, wanted) if path.is_file() else []
    kept = [each for each in rows if _key(table, each) != _key(table, row)]
    folder.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".csv.new")
    with aside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, wanted, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, row])
    aside.replace(path)
    return path


def _rows(path: Path, wanted: list[str]) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    _require_columns(path, list(reader.fieldnames or ()), wanted)
    return rows


def _require_columns(path: Path, found: list[str], wanted: list[str]) -> None:
    missing, unknown = (
        ", ".join(sorted(set(a) - set(b))) for a, b in ((wanted, found), (found, wanted))
    )
    if missing or unknown:
        raise BadInputError(
            f"{path}: expected the columns of data/reference/{path.name}; missing: "
            f"{missing or 'none'}, not known: {unknown or 'none'}."
        )


def _key(table: str, row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple((row[name] or "").lower() for name in KEYS[table])


def _lay_over(con: duckdb.DuckDBPyConnection, table: str, path: Path) -> None:
    con.execute(
        "create or replace temp table laid_over as from read_csv($path, all_varchar = true, "
        "header = true, delim = ',', quote = '\"')",
        {"path": str(path)},
    )
    wanted = con.sql(f"from raw_{table} limit 0").columns
    _require_columns(path, con.sql("from laid_over limit 0").columns, wanted)
    key = ", ".join(f"lower(coalesce({name}, ''))" for name in KEYS[table])
    repeated = con.execute(
        f"select {key} from laid_over group by all having count(*) > 1"
    ).fetchone()
    if repeated:
        raise BadInputError(f"{path}: {', '.join(repeated)} stands there twice.")
    if len(KEYS[table]) == 1:  # as the bundled table spells it, for others refer to it so
        name = KEYS[table][0]
        con.execute(
            f"update laid_over set {name} = own.{name} from raw_{table} as own "
            f"where lower(own.{name}) = lower(laid_over.{name})"
        )
    con.execute(f"delete from raw_{table} where ({key}) in (select ({key}) from laid_over)")
    con.execute(f"insert into raw_{table} by name from laid_over")
    reader = warehouse.models()[_READERS.get(table, f"stg_{table}")]
    con.execute(f"create or replace temp table laid_over as {reader.sql}")
    con.execute("drop table laid_over")
