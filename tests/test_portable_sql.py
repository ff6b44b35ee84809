"""The models keep to what DuckDB and Spark both have and both mean alike.

What differs silently is not used: approximate or ordered-set percentiles, boundaries counted by
date_diff, casts that round in one engine and cut in the other, row filters and lists of one engine.
Quotients, HUGEINT and the macros of the engine are told by `pipeline/spark`, not here.
"""

import re

import pytest
from sqlglot import exp, parse_one

from pipeline import warehouse
from pipeline.spark import transpile

MODELS = warehouse.models()

# Functions that both engines have under the same meaning; whatever else is called is a macro.
ALIKE = {
    exp.Abs, exp.And, exp.ArgMax, exp.ArgMin, exp.Array, exp.Case, exp.Cast, exp.Ceil, exp.Coalesce,
    exp.Count, exp.DenseRank, exp.Exists, exp.Exp, exp.Explode, exp.Extract, exp.Floor,
    exp.GenerateSeries, exp.Greatest, exp.If, exp.Lag, exp.Lead, exp.Least, exp.Length,
    exp.Levenshtein, exp.Ln, exp.Log, exp.LogicalAnd, exp.LogicalOr, exp.Lower, exp.Max, exp.Min,
    exp.Ntile, exp.Nullif, exp.Or, exp.Pad, exp.Pow, exp.RegexpReplace, exp.Round, exp.RowNumber,
    exp.SplitPart, exp.Sqrt, exp.StartsWith, exp.Substring, exp.Sum, exp.TimestampTrunc, exp.Trim,
    exp.Upper,
}  # fmt: skip
ONE_ENGINE = (
    exp.Qualify, exp.Distinct, exp.Pivot, exp.Lateral, exp.Struct, exp.Lambda, exp.IgnoreNulls,
    exp.WithinGroup, exp.Bracket, exp.IntDiv, exp.TryCast, exp.Collate, exp.AtTimeZone,
)  # fmt: skip
WHOLE_TYPES = {exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.SMALLINT}
# Whole whatever they are made of, and whole where all their operands are.
WHOLE = (
    exp.Round, exp.Floor, exp.Ceil, exp.Count, exp.RowNumber, exp.DenseRank, exp.Extract,
    exp.Length, exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Null, exp.Levenshtein,
    exp.Subquery, exp.SplitPart,
)  # fmt: skip


def faults(sql: str) -> list[str]:
    """Return what of a model would mean another thing on Spark, or nothing there."""
    tree = parse_one(sql, read="duckdb")
    return sorted({fault for node in tree.walk() for fault in _faults_of(node)})


def _faults_of(node: exp.Expr) -> list[str]:
    if isinstance(node, exp.Anonymous):
        return [] if node.name.lower() in transpile.macros() else [f"function {node.name}"]
    if fault := _fault_of_clause(node) or _fault_of_value(node):
        return [fault]
    if isinstance(node, exp.Func) and type(node) not in ALIKE:
        return [f"function {node.sql_name().lower()}"]
    return []


def _fault_of_clause(node: exp.Expr) -> str:
    if isinstance(node, exp.Distinct) and isinstance(node.parent, exp.Select | exp.Count):
        return "distinct on" if node.args.get("on") else ""
    if isinstance(node, ONE_ENGINE):
        return type(node).__name__.lower()
    if isinstance(node, exp.WindowSpec) and str(node.args.get("kind")).upper() == "RANGE":
        return "range frame"
    if isinstance(node, exp.Limit) and not (node.parent and node.parent.args.get("order")):
        return "limit without order"
    return ""


def _fault_of_value(node: exp.Expr) -> str:
    if isinstance(node, exp.Cast) and node.to.this in WHOLE_TYPES and not is_whole(node.this):
        return f"rounding cast of {node.this.sql(dialect='duckdb')}"
    if isinstance(node, exp.RegexpReplace) and not _is_anchored(node.expression.name):
        return "regexp_replace of one match here, of all there"
    return ""


def _is_anchored(pattern: str) -> bool:
    return pattern.startswith("^") or pattern.endswith("$")


def is_whole(node: exp.Expr) -> bool:
    """Say whether a value has no fraction that a cast would round; a column is taken for whole."""
    if isinstance(node, exp.Cast):
        return node.to.this in WHOLE_TYPES or node.to.this in (
            exp.DataType.Type.BOOLEAN,
            exp.DataType.Type.INT128,
        )
    if isinstance(node, exp.Literal):
        return bool(node.is_string or node.is_int)
    if isinstance(node, exp.Div | exp.Sqrt | exp.Exp | exp.Ln | exp.Pow | exp.Log):
        return False
    if isinstance(node, exp.Case | exp.If):
        return all(is_whole(value) for value in _values_of(node))
    if isinstance(node, exp.Window):
        return is_whole(node.this)
    if isinstance(node, WHOLE):
        return True
    return all(is_whole(part) for part in node.iter_expressions())


def _values_of(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Case):
        values = [branch.args["true"] for branch in node.args["ifs"]]
        return values + ([node.args["default"]] if node.args.get("default") else [])
    return [each for each in (node.args.get("true"), node.args.get("false")) if each is not None]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_model_means_the_same_on_both_engines(name: str) -> None:
    assert faults(MODELS[name].sql) == []


@pytest.mark.slow
def test_every_model_can_be_said_to_spark_without_a_macro() -> None:
    for name, model in MODELS.items():
        called = set(re.findall(r"\b(\w+)\(", transpile.spark_sql(model.sql).lower()))
        assert called.isdisjoint(transpile.macros()), name


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("select quantile_cont(x, 0.5) from t", "function percentile_cont"),
        ("select median(x) from t", "function median"),
        ("select date_diff('month', a, b) from t", "function datediff"),
        ("select (a / b)::bigint from t", "rounding cast of (a / b)"),
        ("select coalesce(sum(1.5), 0)::integer from t", "rounding cast of COALESCE(SUM(1.5), 0)"),
        ("select 7 // 2", "intdiv"),
        ("select a from t qualify row_number() over (order by a) = 1", "qualify"),
        ("select distinct on (a) a, b from t", "distinct on"),
        ("select list(x) from t", "function array_agg"),
        ("select {'a': 1}", "struct"),
        ("select try_cast(x as integer) from t", "trycast"),
        ("select strftime(x, '%Y') from t", "function time_to_str"),
        ("select sum(x) over (order by t range between 1 preceding and current row) from t",
         "range frame"),
        ("select a from t limit 5", "limit without order"),
        ("select regexp_replace(a, 'b', '') from t",
         "regexp_replace of one match here, of all there"),
        ("select made_up(x) from t", "function made_up"),
    ],
)  # fmt: skip
def test_what_differs_is_found(sql: str, fault: str) -> None:
    assert fault in faults(sql)


def test_each_macro_of_spark_has_its_twin_with_the_same_arguments() -> None:
    of_duckdb = dict(transpile.macro_of(statement) for statement in warehouse.macros())
    for name, (arguments, _) in transpile.macros().items():
        assert arguments == of_duckdb[name][0], name


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        # 2 · a · (b · c + d): the brackets of an argument stay where a macro multiplies it.
        ("select square(a + b) from t", "SELECT (((a + b) * (a + b))) FROM t"),
        ("select a / b", "SELECT CAST(a AS DOUBLE) / CAST(b AS DOUBLE)"),
        ("select sum(x)::hugeint from t", "SELECT CAST(SUM(x) AS DECIMAL(38, 0)) FROM t"),
        ("select 1 from t order by a", "SELECT 1 FROM t ORDER BY a NULLS LAST"),
        ("select days_between(a, square(b)) from t",
         "SELECT (DATEDIFF(((((b) * (b)))), (a))) FROM t"),
    ],
)  # fmt: skip
def test_what_spark_is_told(sql: str, said: str) -> None:
    assert transpile.spark_sql(sql) == said
