"""What a company adds to the reference tables, and tables that only a company can fill.

Files stand in a folder of its own: CSV, or workbooks with a sheet a table. A row whose key is in
the bundled table, in any case, takes the place of that row; own prices stand beside the list's.
"""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from pipeline import warehouse
from pipeline.errors import BadInputError, WrongUseError
from pipeline.overlays.checks import check_rows, inferred
from pipeline.overlays.contracts import COMPANY_TABLES, OWN_PRICES, Contract
from pipeline.overlays.sheets import Sheet, overlay_files, read_csv, sheets_in, sheets_of

# The tables of ours that may be added to, by their keys, and the model that reads each.
KEYS: dict[str, tuple[str, ...]] = {
    "architectures": ("architecture_id",),
    "models": ("model_id",),
    "model_aliases": ("alias", "valid_from"),
    "providers": ("provider",),
    "gpus": ("gpu",),
    "law_coefficients": ("coefficient_set_id",),
    "bias_factors": ("architecture_class", "coefficient_set_id"),
    "region_multipliers": ("provider", "model", "region", "valid_from"),
    "prices": OWN_PRICES.keys,
}
_READERS = {"law_coefficients": "stg_coefficients"}
# Not rows of a table: each is read by a module of its own.
MAPPINGS = ("attribution", "budgets", "equal_quality", "model_names", "quality")
_OWN_ROWS = {"prices": "raw_own_prices"}  # kept apart from ours, so that both can be shown
_ALL_TABLES = (*KEYS, *COMPANY_TABLES)


def load_overlays(con: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Lay the tables of an overlay folder over the raw tables; no folder is an empty one.

    Raises:
        WrongUseError: Where a file is named as no table that may be added to.
        BadInputError: Where a table has other columns, the same key twice, or an unreadable value.
    """
    for table, contract in COMPANY_TABLES.items():
        columns = ", ".join(f"{field.name} varchar" for field in contract.fields)
        con.execute(f"create or replace table raw_{table} ({columns})")
    for table, own in _OWN_ROWS.items():
        con.execute(f"create or replace table {own} as from raw_{table} limit 0")
    for table, sheet in _sheets(folder).items():
        contract = COMPANY_TABLES.get(table) or _contract_of_ours(con, table)
        _require_columns(table, contract, sheet)
        check_rows(table, contract, sheet, _currencies(con))
        _stage(con, contract, sheet)
        try:
            _lay_over(con, table)
        except duckdb.Error as error:
            raise BadInputError(
                f"{sheet.where}: expected rows as in {_model_file(table)}, found: "
                f"{str(error).splitlines()[0]}"
            ) from None
        con.execute("drop table laid_over")


def fingerprints(folder: Path) -> list[dict[str, str]]:
    """Return name and hash of every overlay file: what a run rests on beside the bundled tables."""
    return [
        {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in overlay_files(folder)
    ]


def write_rows(folder: Path, table: str, columns: Iterable[str], row: Mapping[str, str]) -> Path:
    """Put one row into an overlay CSV, in place of the row with its key if there is one.

    Raises:
        BadInputError: Where the file that is there has other columns.
    """
    path, wanted = folder / f"{table}.csv", list(columns)
    rows = _rows(table, path, wanted) if path.is_file() else []
    kept = [each for each in rows if _key(table, each) != _key(table, row)]
    folder.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".csv.new")
    with aside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, wanted, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, row])
    aside.replace(path)
    return path


def _sheets(folder: Path) -> dict[str, Sheet]:
    """Return every table of the folder but the mappings, which have readers of their own."""
    known = (*_ALL_TABLES, *MAPPINGS)
    for path in overlay_files(folder):
        if not sheets_in(path, known):
            what = "file" if path.suffix.lower() == ".csv" else "file or sheet"
            raise WrongUseError(
                f"{path}: no table of this name can be added to; expected a {what} named "
                f"{', '.join(sorted(known))}."
            )
    return sheets_of(folder, _ALL_TABLES)


def _contract_of_ours(con: duckdb.DuckDBPyConnection, table: str) -> Contract:
    if table == "prices":
        return OWN_PRICES
    bundled_rows = con.sql(f"from raw_{table}")
    fields = inferred(bundled_rows.columns, bundled_rows.fetchall())
    return Contract(fields, KEYS[table])


def _rows(table: str, path: Path, wanted: list[str]) -> list[dict[str, str]]:
    sheet = read_csv(path)
    _require_names(table, sheet, wanted, wanted)
    return [cells for _, cells in sheet.rows]


def _require_columns(table: str, contract: Contract, sheet: Sheet) -> None:
    known = [field.name for field in contract.fields]
    optional = {
        field.name
        for field in contract.fields
        if field.may_be_empty and (table in COMPANY_TABLES or contract is OWN_PRICES)
    }
    _require_names(table, sheet, [name for name in known if name not in optional], known)


def _require_names(table: str, sheet: Sheet, wanted: list[str], known: list[str]) -> None:
    missing = ", ".join(sorted(set(wanted) - set(sheet.header)))
    unknown = ", ".join(sorted(set(sheet.header) - set(known)))
    if missing or unknown:
        raise BadInputError(
            f"{sheet.where}: expected the columns of {_model_file(table)}; missing: "
            f"{missing or 'none'}, not known: {unknown or 'none'}."
        )


def _model_file(table: str) -> str:
    """Return the file that shows how a table is written."""
    if table in COMPANY_TABLES:
        return f"templates/overlays/{table}.csv"
    return f"data/reference/{table}.csv"


def _key(table: str, row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple((row[name] or "").lower() for name in KEYS[table])


def _currencies(con: duckdb.DuckDBPyConnection) -> list[str]:
    rows = con.execute("select currency from raw_currencies order by 1").fetchall()
    return [row[0] for row in rows]


def _stage(con: duckdb.DuckDBPyConnection, contract: Contract, sheet: Sheet) -> None:
    names = [field.name for field in contract.fields]
    con.execute(
        f"create or replace temp table laid_over ({', '.join(f'{name} varchar' for name in names)})"
    )
    rows = [[_stored(cells.get(field.name, ""), field.kind) for field in contract.fields]
            for _, cells in sheet.rows]  # fmt: skip
    if rows:
        marks = ", ".join("?" for _ in names)
        con.executemany(f"insert into laid_over values ({marks})", rows)


def _stored(text: str, kind: str) -> str | None:
    """Return a cell as the staging models read it: empty is null, a month is YYYY-MM."""
    if kind == "month":
        return text[:7]
    if kind == "currency":
        return text.upper()
    return text or None


def _lay_over(con: duckdb.DuckDBPyConnection, table: str) -> None:
    if table in COMPANY_TABLES or table in _OWN_ROWS:
        con.execute(f"insert into {_OWN_ROWS.get(table, f'raw_{table}')} by name from laid_over")
    else:
        _replace_rows(con, table)
    reader = warehouse.models()[_READERS.get(table, f"stg_{table}")]
    con.execute(f"create or replace temp table read_back as {reader.sql}")
    con.execute("drop table read_back")


def _replace_rows(con: duckdb.DuckDBPyConnection, table: str) -> None:
    key = ", ".join(f"lower(coalesce({name}, ''))" for name in KEYS[table])
    if len(KEYS[table]) == 1:  # as the bundled table spells it, for others refer to it so
        name = KEYS[table][0]
        con.execute(
            f"update laid_over set {name} = own.{name} from raw_{table} as own "
            f"where lower(own.{name}) = lower(laid_over.{name})"
        )
    con.execute(f"delete from raw_{table} where ({key}) in (select ({key}) from laid_over)")
    con.execute(f"insert into raw_{table} by name from laid_over")
