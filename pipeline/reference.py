"""Load the reference tables, and put what the settings say beside them."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb

from pipeline.errors import WrongUseError
from pipeline.law_words import all_words
from pipeline.laws.simple import METHOD_VERSION
from pipeline.measured_tables import create_measured_tables
from pipeline.monthly.frozen import create_corrections, thaw
from pipeline.overlays.attribution import load_attribution
from pipeline.overlays.budgets import load_budgets
from pipeline.overlays.equal_quality import load_equal_quality
from pipeline.overlays.model_names import load_model_names, meanings, require_model
from pipeline.overlays.overlay import load_overlays
from pipeline.overlays.quality import load_quality
from pipeline.settings import Input, Settings, bundled

TABLES = (
    "architectures",
    "models",
    "model_aliases",
    "stand_ins",
    "providers",
    "provider_aliases",
    "gpus",
    "law_coefficients",
    "bias_factors",
    "grade_ranges",
    "joint_draws",
    "assumptions",
    "grid_factors",
    "query_classes",
    "dispersion_factors",
    "prices",
    "price_names",
    "law_validation",
    "rival_coefficients",
    "anchors",
    "region_multipliers",
    "currencies",
    "architecture_variants",
    "audit_rules",
    "power_factors",
    "attention_families",
)


def load_reference(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Create raw_<table> for every reference table, and the tables that the settings fill.

    Rows of the overlay folder go over the bundled ones.

    Raises:
        WrongUseError: Where the settings name an assumption, grid zone, GPU or model that is not
            there.
        BadInputError: Where a file of the overlay folder does not fit its table.
    """
    create_corrections(con)
    if settings.frozen is not None:
        # What today's program reads and the issue did not know is as nobody had set anything.
        load_reference(con, Settings(overlay_folder=settings.frozen.folder / "no-overlays"))
        thaw(con, settings.frozen.folder)
        return
    for table in TABLES:
        path = bundled("data/reference") / f"{table}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            cells = ", ".join(f"'{name}': 'varchar'" for name in next(csv.reader(file)))
        con.execute(
            f"create or replace table raw_{table} as from read_csv($path, auto_detect = false, "
            f"columns = {{{cells}}}, header = true, delim = ',', quote = '\"', escape = '\"')",
            {"path": str(path)},
        )
    con.execute(
        "create or replace table raw_method as select $version as method_version",
        {"version": METHOD_VERSION},
    )
    con.execute(
        "create or replace table raw_calendar as select $zone as time_zone",
        {"zone": settings.time_zone},
    )
    con.execute("create or replace table raw_reported as select '' as first_month")
    _set_laws(con)
    load_overlays(con, settings.overlay_folder)
    _set_assumptions(con, settings)
    _set_grid_factor(con, settings)
    load_model_names(con, settings.model_names, settings.overlay_folder)
    load_attribution(con, settings.overlay_folder)
    load_equal_quality(con, settings.overlay_folder, known(con, "query_classes", "query_class"))
    load_quality(con, settings.overlay_folder)
    load_budgets(con, settings.overlay_folder)
    _set_deployments(con, settings)
    create_measured_tables(con)


def known(con: duckdb.DuckDBPyConnection, table: str, column: str) -> list[str]:
    """Return the values of a reference column, sorted."""
    rows = con.execute(f"select distinct {column} from raw_{table} order by 1").fetchall()
    return [str(row[0]) for row in rows]


def reference_rows(table: str) -> list[dict[str, str]]:
    """Return the rows of a reference table as they stand in its file."""
    path: Path = bundled("data/reference") / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reference_line(table: str, of: Mapping[str, object]) -> str | None:
    """Return file and line of the first row of a reference table with these values, or None.

    Args:
        table: Such as `law_points`.
        of: Values by column, as the file spells them.
    """
    for line, each in enumerate(reference_rows(table), start=2):  # the head is line 1
        if all(each[name] == str(value) for name, value in of.items()):
            return f"data/reference/{table}.csv line {line}"
    return None


def _set_laws(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "create or replace table raw_laws "
        "(law varchar, title varchar, source varchar, domain varchar, ignores varchar)"
    )
    con.executemany(
        "insert into raw_laws values ($law, $title, $source, $domain, $ignores)", all_words()
    )


def _set_assumptions(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    names = known(con, "assumptions", "assumption")
    for name, value in settings.assumptions.items():
        if name not in names:
            raise WrongUseError(
                f"settings: no assumption '{name}'; expected one of {', '.join(names)}."
            )
        least = 1 if name.endswith("_ratio") or name.startswith("batch_") else 0
        # Products of the largest still fit the decimals of money and energy.
        most = 1 if "_frac" in name else 100 if name.endswith("_ratio") else 1_000_000_000
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not least <= value <= most or (value == 0 and "usable" in name):
            raise WrongUseError(
                f"settings: assumption {name} = {value!r}; expected a number of {least} or more, "
                f"up to {most}."
            )
        con.execute(
            "update raw_assumptions set value = $value, low = $value, high = $value, "
            "source = 'settings' where assumption = $name",
            {"name": name, "value": str(value)},
        )


def _set_grid_factor(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    rows = con.execute(
        "select carbon_gco2e_per_kwh, basis, method, source, source_date from raw_grid_factors "
        "where zone = $zone and year = $year order by basis desc limit 1",
        {"zone": settings.grid_zone, "year": str(settings.grid_year)},
    ).fetchall()
    if not rows:
        raise WrongUseError(
            f"settings: no grid factor for zone {settings.grid_zone!r} in {settings.grid_year}; "
            f"years are {', '.join(known(con, 'grid_factors', 'year'))}, zones "
            f"{', '.join(known(con, 'grid_factors', 'zone'))}."
        )
    value, basis, method, source, source_date = rows[0]
    meaning = f"Grid carbon of {settings.grid_zone} {settings.grid_year}, {basis}, {method}-based"
    con.execute("delete from raw_assumptions where assumption = 'carbon_gco2e_per_kwh'")
    con.execute(
        "insert into raw_assumptions by name select 'carbon_gco2e_per_kwh' as assumption, "
        "$value as value, $value as low, $value as high, 'g/kWh' as unit, $meaning as meaning, "
        "$source as source, $source_date as source_date",
        {"value": value, "meaning": meaning, "source": source, "source_date": source_date},
    )


def require_gpu(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return a GPU's name as the reference spells it.

    Raises:
        WrongUseError: Where there is no such GPU.
    """
    gpus = known(con, "gpus", "gpu")
    for gpu in gpus:
        if gpu.lower() == name.lower():
            return gpu
    raise WrongUseError(f"GPU {name!r} is not known; expected one of {', '.join(gpus)}.")


def require_stack(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return a serving stack's name as the coefficient sets spell it, given by its beginning.

    Raises:
        WrongUseError: Where no coefficient set is of that stack.
    """
    stacks = known(con, "law_coefficients", "stack")
    for stack in stacks:
        if stack.lower().startswith(name.lower()):
            return stack
    raise WrongUseError(f"stack {name!r} is not known; expected one of {', '.join(stacks)}.")


def _set_deployments(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    con.execute(
        "create or replace table raw_deployments "
        "(model_id varchar, gpu varchar, stack varchar, gpu_count integer, batch double, "
        "replicas integer)"
    )
    for each in settings.deployments:
        model_id = require_model(con, each.model)
        if con.execute(
            "select 1 from raw_deployments where model_id = $model", {"model": model_id}
        ).fetchall():
            raise WrongUseError(
                f"settings: two [[deployments]] tables for {model_id}; expected one a model."
            )
        con.execute(
            "insert into raw_deployments values "
            "($model_id, $gpu, $stack, $gpu_count, $batch, $replicas)",
            {
                "model_id": model_id,
                "gpu": require_gpu(con, each.gpu) if each.gpu else None,
                "stack": require_stack(con, each.stack) if each.stack else None,
                "gpu_count": each.gpu_count,
                "batch": each.batch,
                "replicas": each.replicas,
            },
        )


def checked_inputs(con: duckdb.DuckDBPyConnection, inputs: Iterable[Input]) -> tuple[Input, ...]:
    """Return the inputs with what they assume spelt as the reference spells it.

    Raises:
        WrongUseError: Where an input assumes a model, class or GPU that is not known, or a start
            that is no time.
    """
    return tuple(Input(each.path, _checked_assume(con, each.assume)) for each in inputs)


def _checked_model(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return a model's id, or the alias itself where the day of a request decides what it means."""
    model_id = require_model(con, name)
    return name if len(meanings(con, name)) > 1 else model_id


def _checked_assume(con: duckdb.DuckDBPyConnection, assume: Mapping[str, str]) -> dict[str, str]:
    checked = dict(assume)
    if "model" in checked:
        checked["model"] = _checked_model(con, checked["model"])
    if "gpu" in checked:
        checked["gpu"] = require_gpu(con, checked["gpu"])
    if "stack" in checked:
        checked["stack"] = require_stack(con, checked["stack"])
    if "class" in checked:
        classes = known(con, "query_classes", "query_class")
        checked["class"] = checked["class"].lower()
        if checked["class"] not in classes:
            raise WrongUseError(
                f"class={assume['class']} is not known; expected one of {', '.join(classes)}."
            )
    if "start" in checked:
        start = con.execute(
            "select try_cast($start as timestamptz)", {"start": checked["start"]}
        ).fetchall()[0][0]
        if start is None:
            raise WrongUseError(
                f"start={checked['start']} is no time; expected one such as 2023-11-01T00:00:00Z."
            )
    return checked
