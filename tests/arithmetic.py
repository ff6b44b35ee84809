"""Evaluate printed arithmetic lines, exactly, as a reader with a calculator would."""

import ast
import operator
import re
from collections.abc import Callable
from decimal import Decimal, localcontext

from pipeline.explain.written import RESULT_DIGITS

_LINE = re.compile(r"^    = (?P<numbers>.+) = (?P<result>[−0-9][0-9.,e+−-]*)(?: (?P<unit>.+))?$")
_DIGITS = 60
_MEASURED = ("J", "kWh", "g CO₂e", "kg CO₂e")
_OPERATORS: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Decimal]] = {
    "floor": lambda value: value.to_integral_value("ROUND_FLOOR"),
    "round": lambda value: value.to_integral_value("ROUND_HALF_UP"),
    "min": min,
    "max": max,
}


def printed(text: str) -> list[tuple[str, str, str]]:
    """Return the numbers put in, the result and the unit of every arithmetic line of a text."""
    found = []
    for line in text.splitlines():
        if line.startswith("    = "):
            match = _LINE.match(line)
            assert match, f"an arithmetic line that cannot be read: {line}"
            found.append((match["numbers"], match["result"], match["unit"] or ""))
    return found


def plain(text: str) -> str:
    """Return a printed expression in the spelling of Python: 1,000·2^3 − 1 is 1000*2**3 - 1."""
    without_groups = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    return without_groups.replace("·", "*").replace("^", "**").replace("−", "-")


def evaluated(text: str) -> Decimal:
    """Return the value of a printed expression, computed with sixty digits."""
    source = plain(text)
    with localcontext() as context:
        context.prec = _DIGITS
        return _value(ast.parse(source, mode="eval").body, source)


def is_kept(numbers: str, result: str, unit: str = "") -> bool:
    """Say whether an expression comes to its printed result, to the last digit printed.

    Half a unit of the last digit is rounding; a hundredth of it is left to the digits put in.
    Energy and carbon have nine figures, however many noughts stand behind them. Doubles carry
    fifteen, so a whole number beyond them may be off in its last.
    """
    shown = Decimal(plain(result))
    exponent = shown.as_tuple().exponent
    assert isinstance(exponent, int), result
    if unit in _MEASURED:
        exponent = max(exponent, shown.adjusted() - RESULT_DIGITS + 1)
    half = Decimal("0.51") * Decimal(1).scaleb(int(exponent))
    return abs(evaluated(numbers) - shown) <= max(half, abs(shown) * Decimal("1e-15"))


def _value(node: ast.expr, source: str) -> Decimal:
    if isinstance(node, ast.Constant):
        return Decimal(str(ast.get_source_segment(source, node)))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, source)
    if isinstance(node, ast.BinOp):
        act = _OPERATORS[type(node.op)]
        return act(_value(node.left, source), _value(node.right, source))
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name), ast.dump(node)
    return _FUNCTIONS[node.func.id](*(_value(each, source) for each in node.args))
