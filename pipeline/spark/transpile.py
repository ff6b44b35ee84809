"""The project's own SQL in Spark's words: macros written out, every difference told or removed.

DuckDB divides numbers of every kind as DOUBLE, Spark divides DECIMAL as DECIMAL; so both sides of
every quotient are cast. HUGEINT, which Spark lacks, becomes DECIMAL(38, 0). Macros are written out
in place, because Spark's SQL functions take no aggregates, and are parsed before they are put in,
so that no bracket is lost.
"""

import functools

import sqlglot
from sqlglot import exp

from pipeline import warehouse
from pipeline.spark.macros import SPARK_MACROS

Macro = tuple[tuple[str, ...], exp.Expr]


def spark_sql(sql: str) -> str:
    """Return a query of the project, written for DuckDB, as Spark runs it."""
    return _generated(_expanded(sqlglot.parse_one(sql, read="duckdb")))


@functools.cache
def macros() -> dict[str, Macro]:
    """Return the arguments and the body of every macro by name, bodies as Spark takes them."""
    parsed = dict(macro_of(statement) for statement in warehouse.macros())
    for signature, body in SPARK_MACROS.items():
        name, _, names = signature.rstrip(")").partition("(")
        parsed[name] = (
            tuple(part.strip() for part in names.split(",")),
            sqlglot.parse_one(body, read="spark"),
        )
    return parsed


def macro_of(statement: str) -> tuple[str, Macro]:
    """Return the name, arguments and body of a macro from DuckDB's statement that creates it."""
    created = sqlglot.parse_one(statement, read="duckdb")
    head = created.this
    names = tuple(each.name for each in head.expressions)
    return head.this.name.lower(), (names, created.expression)


def _expanded(tree: exp.Expr) -> exp.Expr:
    """Return a query in which no macro is called."""
    return tree.transform(_written_out)


def _written_out(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Anonymous) or node.name.lower() not in macros():
        return node
    names, body = macros()[node.name.lower()]
    given = dict(zip(names, node.expressions, strict=True))

    def filled(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column) and not part.table and part.name in given:
            return exp.paren(_expanded(given[part.name]), copy=True)
        return part

    return exp.paren(_expanded(body.copy()).transform(filled))


def _generated(tree: exp.Expr) -> str:
    for kind in list(tree.find_all(exp.DataType)):
        if kind.this == exp.DataType.Type.INT128:
            kind.replace(exp.DataType.build("decimal(38, 0)", dialect="spark"))
    for quotient in list(tree.find_all(exp.Div)):
        for side in ("this", "expression"):
            operand = quotient.args[side]
            quotient.set(side, exp.cast(operand.copy(), "double"))
    return str(tree.sql(dialect="spark", comments=False))
