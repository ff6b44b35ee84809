"""A law as lines for a reader, printed from the source of its function, so they cannot differ.

Names become short symbols where there are some, products a raised dot, powers a caret; what a
helper spells for symbols (`_never_negative(x)`) is written as what it means (`max(0, x)`).
"""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

_HELPERS = {"_never_negative": 0, "_at_least_one": 1}
_SIGNS = ((" ** ", "^"), (" * ", " · "), (" - ", " − "))


def formula(law: Callable[..., Any], symbols: Mapping[str, str]) -> tuple[str, ...]:
    """Return one `name = expression` line for each statement of a law, the result last.

    Args:
        law: A pure function of plain numbers.
        symbols: Argument → short symbol; others keep their names.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(law)))
    [function] = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    names, lines = dict(symbols), []
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=short)], value=ast.Tuple(elts=long)):
                names |= {
                    ast.unparse(one): names.get(ast.unparse(other), ast.unparse(other))
                    for one, other in zip(short, long, strict=True)
                }
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                lines.append(f"{name} = {_text(value, names, vars(sys.modules[law.__module__]))}")
            case ast.Return(value=ast.expr() as value):
                lines.append(
                    f"{law.__name__} = {_text(value, names, vars(sys.modules[law.__module__]))}"
                )
            case _:
                pass
    return tuple(lines)


def meaning(law: Callable[..., Any]) -> str:
    """Return what a law gives, the first sentence of its text without `Return`."""
    first = (inspect.getdoc(law) or "").split("\n\n")[0]
    text = " ".join(first.split()).removeprefix("Return ")
    return text[:1].upper() + text[1:]


def _text(value: ast.expr, names: Mapping[str, str], constants: Mapping[str, Any]) -> str:
    text = ast.unparse(_Reader(names, constants).visit(value))
    for code, sign in _SIGNS:
        text = text.replace(code, sign)
    return text


class _Reader(ast.NodeTransformer):
    """Put symbols for names, and meanings for what is spelt around."""

    def __init__(self, names: Mapping[str, str], constants: Mapping[str, Any]) -> None:
        self._names, self._constants = names, constants

    def visit_Name(self, node: ast.Name) -> ast.expr:  # ast looks these names up
        constant = self._constants.get(node.id)
        if isinstance(constant, int | float):
            return ast.Constant(constant)
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        called = ast.unparse(node.func)
        arguments = [self.visit(each) for each in node.args]
        if called in _HELPERS:
            return ast.Call(ast.Name("max"), [ast.Constant(_HELPERS[called]), *arguments], [])
        return ast.Call(node.func, arguments, [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return ast.Call(ast.Name("floor"), [ast.BinOp(left, ast.Div(), right)], [])
        if isinstance(node.op, ast.Pow) and ast.unparse(right) == "0.5":
            return ast.Call(ast.Name("sqrt"), [left], [])
        return ast.BinOp(left, node.op, right)
