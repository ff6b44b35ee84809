"""The DuckDB warehouse: connect, register laws, build the models in order, run the checks.

A model is a SQL file whose stem is its table's name. Its parents are the tables it reads, so the
order of the build is read from the files themselves.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb

from pipeline import dialects
from pipeline.errors import BadInputError
from pipeline.laws import agents, decisions, facility, ranges, rivals, simple, work
from pipeline.settings import bundled

MODEL_FOLDERS = ("staging", "intermediate", "marts")
SHOWN_ROWS = 5

# What DuckDB has and Spark spells differently stands here and nowhere else.
ENGINE_MACROS = (
    "create or replace macro square(x) as (x * x)",
    # Times as whole numbers, so that sums and quotients of spans are exact.
    "create or replace macro microseconds_of(x) as (epoch_us(x))",
    "create or replace macro time_of_microseconds(x) as (make_timestamp(x))",
    """create or replace macro time_after(x, seconds) as (
        x + to_microseconds(round(seconds * 1000000)::bigint)
    )""",
    """create or replace macro microseconds_between(first_at, last_at) as (
        date_diff('microsecond', first_at, last_at)
    )""",
    # A UTC time as a day of the zone in which months are cut; weekdays begin with Monday, 1.
    """create or replace macro local_day(x, zone) as (
        case
            when zone = 'UTC' then x
            else (x at time zone 'UTC') at time zone zone
        end::date
    )""",
    "create or replace macro days_between(first, last) as (date_diff('day', first, last))",
    "create or replace macro weekday_of(x) as (isodow(x))",
    "create or replace macro month_start(x) as ((x || '-01')::date)",
    "create or replace macro days_in_month(x) as (day(last_day((x || '-01')::date)))",
    "create or replace macro month_after(x) as "
    "(strftime((last_day((x || '-01')::date) + 1)::date, '%Y-%m'))",
    # The first instant of a month of a zone, as UTC text.
    """create or replace macro month_start_text(x, zone) as (
        strftime(timezone('UTC', timezone(zone, (x || '-01')::timestamp)), '%Y-%m-%dT%H:%M:%SZ')
    )""",
    # A leading sign would make a spreadsheet run the text.
    r"""create or replace macro safe_text(x) as (
        case when regexp_matches(x, '^[=+\-@\t\r\n]') then '''' || x else x end
    )""",
    "create or replace macro asked_name(is_asked, name) as "
    "(case when is_asked then coalesce(name, '') else '' end)",
    # A name, or a beginning of names with * behind it; a name that is not there is '' and fits
    # neither. Nothing else in it is a wildcard.
    """create or replace macro fits_pattern(name, pattern) as (
        case
            when pattern is null then true
            when right(pattern, 1) = '*'
                then name <> '' and starts_with(lower(name), left(pattern, length(pattern) - 1))
            else lower(name) = pattern
        end
    )""",
    """create or replace macro pattern_weight(pattern) as (
        case
            when pattern is null then 0
            when right(pattern, 1) = '*' then length(pattern)
            else 1000000000
        end
    )""",
    # Sums of DOUBLE depend on the order of rows, sums of DECIMAL do not.
    """create or replace macro geometric_mean(x) as (
        case
            when count(x) = 0 then null
            when min(x) = max(x) then max(x)
            when min(x) <= 0 then 0
            else exp(
                sum(cast(ln(greatest(x, 1e-300)) as decimal(38, 20)))::double / count(x)::double
            )
        end
    )""",
    # What an energy of several models and classes rests on, of the rows that it is the sum of: the
    # worst grade that carries enough of the energy, the batch at which their passes would have
    # shared as much, and the sets of coefficients.
    """create or replace macro grade_is_material(asked, grade, energy_j, material_frac) as (
        sum(case when grade = asked then energy_j::decimal(38, 15) end)
        >= max(material_frac) * sum(energy_j::decimal(38, 15))
    )""",
    """create or replace macro worst_material_grade(grade, energy_j, material_frac) as (
        case
            when grade_is_material('D', grade, energy_j, material_frac) then 'D'
            when grade_is_material('C', grade, energy_j, material_frac) then 'C'
            when grade_is_material('B', grade, energy_j, material_frac) then 'B'
            when grade_is_material('A', grade, energy_j, material_frac) then 'A'
            else 'U'
        end
    )""",
    """create or replace macro mean_batch(batch, output_tokens) as (
        case
            when min(batch) = max(batch) then max(batch)
            else
                sum(case when batch > 0 then output_tokens::decimal(38, 0) end)::double
                / nullif(
                    sum((output_tokens::double / nullif(batch, 0))::decimal(38, 15)), 0
                )::double
        end
    )""",
    """create or replace macro listed_sets(coefficient_set_id) as (
        string_agg(distinct coefficient_set_id, ', ' order by coefficient_set_id)
    )""",
    # What tokens cost, exactly: dollars per million of each kind, scaled by an exact 0.000001.
    # Unknown where the uncached input or a price is; the other kinds count as none.
    """create or replace macro tokens_cost_usd(
        uncached_input, cache_read, cache_write_5m, cache_write_1h, output,
        uncached_input_price, cache_read_price, cache_write_5m_price, cache_write_1h_price,
        output_price
    ) as (
        (
            uncached_input::decimal(19, 0) * uncached_input_price
            + coalesce(cache_read, 0)::decimal(19, 0) * cache_read_price
            + coalesce(cache_write_5m, 0)::decimal(19, 0) * cache_write_5m_price
            + coalesce(cache_write_1h, 0)::decimal(19, 0) * cache_write_1h_price
            + coalesce(output, 0)::decimal(19, 0) * output_price
        )::decimal(31, 9) * 0.000001::decimal(7, 6)
    )""",
    # What one row per joint draw says of a total, or of a saving (one alternative minus another).
    "create or replace macro interpolated_quantile(x, share) as (quantile_cont(x::double, share))",
    # Several quantiles of one column keep its values once; then the first of them, and so on.
    "create or replace macro quantiles_50_90(x) as (quantile_cont(x::double, [0.5, 0.9]))",
    "create or replace macro quantiles_10_50_90(x) as (quantile_cont(x::double, [0.1, 0.5, 0.9]))",
    "create or replace macro nth_of(quantiles, n) as (list_extract(quantiles, n))",
    "create or replace macro drawn_p05(x) as (interpolated_quantile(x, 0.05))",
    "create or replace macro drawn_p50(x) as (interpolated_quantile(x, 0.5))",
    "create or replace macro drawn_p95(x) as (interpolated_quantile(x, 0.95))",
    """create or replace macro drawn_positive_frac(x) as (
        count(*) filter (where x > 0)::double / nullif(count(x), 0)::double
    )""",
)


@dataclass(frozen=True)
class Model:
    """A SQL file that makes one table or view."""

    name: str
    sql: str
    grain: tuple[str, ...]
    is_view: bool


@dataclass(frozen=True)
class CheckResult:
    """What became of one claim: how many rows contradict it, and the first few of them."""

    name: str
    severity: str  # error or warn
    meaning: str
    violation_count: int
    rows: tuple[tuple[object, ...], ...]
    columns: tuple[str, ...]

    @property
    def status(self) -> str:
        """Return pass, warn or fail."""
        if self.violation_count == 0:
            return "pass"
        return "fail" if self.severity == "error" else "warn"


def connect(
    path: Path | None, memory_limit_gb: float, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a warehouse, in memory where `path` is None, with every law registered as a macro."""
    con = duckdb.connect(str(path) if path else ":memory:")
    con.execute(f"set memory_limit = '{memory_limit_gb:g}GB'")
    con.execute("set TimeZone = 'UTC'")
    con.execute("set enable_progress_bar = false")
    if threads:
        con.execute(f"set threads = {threads:d}")
    for macro in macros():
        con.execute(macro)
    return con


@functools.cache
def models() -> Mapping[str, Model]:
    """Return every model by name, in no particular order; the files are read once a process."""
    files = [file for folder in MODEL_FOLDERS for file in _sql_files(folder)]
    return {file.stem: _read_model(file) for file in files}


def build(con: duckdb.DuckDBPyConnection, targets: Iterable[str] | None = None) -> None:
    """Build the targets and all they rest on, parents first; everything where none are named."""
    for model in ordered_models(targets):
        build_one(con, model)


def ordered_models(targets: Iterable[str] | None = None) -> list[Model]:
    """Return the targets and all they rest on, parents first; everything where none are named."""
    known = models()
    return [known[name] for name in build_order(targets).static_order()]


def build_order(targets: Iterable[str] | None = None) -> TopologicalSorter[str]:
    """Return which models must stand before which, of the targets and all they rest on."""
    known, parents = models(), _parents_of_each()
    wanted = _with_ancestors(parents, targets if targets is not None else known)
    return TopologicalSorter({name: parents[name] for name in wanted})


def run_checks(con: duckdb.DuckDBPyConnection) -> list[CheckResult]:
    """Run every claim of sql/checks against the built warehouse, by name."""
    return [_run_check(con, file) for file in _sql_files("checks")]


def require(results: Iterable[CheckResult]) -> None:
    """Stop where an error-level claim is contradicted, showing the first rows.

    Raises:
        BadInputError: Naming the claim and up to five rows that contradict it.
    """
    for result in results:
        if result.status == "fail":
            rows = "; ".join(
                ", ".join(
                    f"{column}={value}" for column, value in zip(result.columns, row, strict=True)
                )
                for row in result.rows
            )
            raise BadInputError(
                f"check '{result.name}' failed: {result.violation_count} row(s) contradict it "
                f"({result.meaning}). First rows: {rows}"
            )


@functools.cache
def macros() -> tuple[str, ...]:
    """Return the statements that create every macro: the laws', and those of the engine."""
    exact = dialects.sql_macros(work.EXACT_LAWS, number_type="hugeint")
    plain = dialects.sql_macros(
        (
            *work.LAWS,
            *simple.LAWS,
            *facility.LAWS,
            *ranges.LAWS,
            *decisions.LAWS,
            *agents.LAWS,
            *rivals.LAWS,
            *rivals.PARTS,
        )
    )
    return (*ENGINE_MACROS, *exact, *plain)


def _sql_files(folder: str) -> list[Path]:
    return sorted((bundled("sql") / folder).glob("*.sql"))


def _read_model(file: Path) -> Model:
    sql = file.read_text(encoding="utf-8")
    grain = _header(sql, "grain")
    return Model(
        name=file.stem,
        sql=sql,
        grain=tuple(part.strip() for part in grain.split(",")),
        is_view=_header(sql, "materialised") == "view",
    )


def _header(sql: str, key: str) -> str:
    """Return what a file's `-- key: value` line says, '' where it has none."""
    found = re.search(rf"^-- {key}: (.+)$", sql, flags=re.MULTILINE)
    return found.group(1).strip() if found else ""


@functools.cache
def _parents_of_each() -> Mapping[str, set[str]]:
    return {name: _parents(model.sql, models()) for name, model in models().items()}


def _parents(sql: str, known: Mapping[str, Model]) -> set[str]:
    code = re.sub(r"--.*$", "", sql, flags=re.MULTILINE)
    read = set(re.findall(r"\b(?:from|join)\s+([a-z_0-9]+)", code))
    return {name for name in read if name in known}


def _with_ancestors(parents: Mapping[str, set[str]], targets: Iterable[str]) -> set[str]:
    wanted: set[str] = set()
    waiting = list(targets)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting.extend(parents[name])
    return wanted


def build_one(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    """Build a model whose parents are there."""
    kind = "view" if model.is_view else "table"
    made = con.execute(f"create or replace {kind} {model.name} as\n{model.sql}").fetchall()
    if not model.is_view and made[0][0] > 1:  # rows; one alone repeats no key
        require_grain(con, model)


def require_grain(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    """Refuse a table that holds a key of its grain twice.

    Raises:
        BadInputError: Naming the table, the key and how often it stands there.
    """
    keys = ", ".join(model.grain)
    repeated = con.execute(
        f"select {keys}, count(*) from {model.name} group by {keys} having count(*) > 1 limit 1"
    ).fetchall()
    if repeated:
        *key, times = repeated[0]
        raise BadInputError(
            f"{model.name}: its grain is {keys}, but {key} stands there "
            f"{times} times. An input or reference table holds this key twice."
        )


def _run_check(con: duckdb.DuckDBPyConnection, file: Path) -> CheckResult:
    sql = file.read_text(encoding="utf-8")
    shown = con.execute(
        f"with violations as materialized ({sql}\n) "
        f"select (select count(*) from violations), * from violations limit {SHOWN_ROWS}"
    )
    _, *columns = (column[0] for column in shown.description or ())
    rows = shown.fetchall()
    return CheckResult(
        name=file.stem,
        severity=_header(sql, "severity"),
        meaning=_header(sql, "meaning"),
        violation_count=rows[0][0] if rows else 0,
        rows=tuple(row[1:] for row in rows),
        columns=tuple(columns),
    )
