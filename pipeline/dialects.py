"""One law, many dialects: call a law with symbols, print what comes out.

Arguments are cast to DOUBLE (32-bit products overflow) and whole powers are printed as products
(`-k^2` means +k² to DuckDB and to Excel), so a printed law gives the Python function's number.
A formula names its cells by placeholders, `{name}`, which whoever lays out the sheet fills in.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import sympy
from sympy.printing.str import StrPrinter


def sql_macros(laws: Iterable[Callable[..., Any]], number_type: str = "double") -> list[str]:
    """Return one `create macro` statement per law, named as the law and its arguments are.

    Args:
        laws: Pure functions of plain numbers.
        number_type: `double`, or `hugeint` for laws of whole numbers that never divide.
    """
    return [_sql_macro(law, number_type) for law in laws]


def javascript_functions(laws: Iterable[Callable[..., Any]]) -> str:
    """Return one JavaScript function per law, named as the law and its arguments are."""
    return "\n".join(_javascript_function(law) for law in laws)


def _javascript_function(law: Callable[..., Any]) -> str:
    names, symbolic = _called(law)
    body = _JavaScriptPrinter().doprint(symbolic)
    return f"function {law.__name__}({', '.join(names)}) {{ return {body}; }}"


def excel_formula(
    law: Callable[..., Any],
    arguments: Mapping[str, str] | None = None,
    constants: Mapping[int, str] | None = None,
) -> str:
    """Return a law as the text of a spreadsheet formula, without the equals sign.

    Args:
        law: A pure function of plain numbers.
        arguments: What stands for an argument, such as `{batch}` or `in_pue_ratio`; the argument's
            own name in braces where it is not listed.
        constants: Names that stand for whole numbers of the law, such as those of a unit.
    """
    names, symbolic = _called(law)
    told = {name: f"{{{name}}}" for name in names} | dict(arguments or {})
    settings = {"arguments": told, "constants": dict(constants or {})}
    return str(_ExcelPrinter(settings).doprint(symbolic))


def _called(law: Callable[..., Any]) -> tuple[list[str], Any]:
    """Return the names of a law's arguments, and what it gives for symbols of these names."""
    names = list(inspect.signature(law).parameters)
    return names, law(*(sympy.Symbol(name, real=True) for name in names))


def _sql_macro(law: Callable[..., Any], number_type: str) -> str:
    names, symbolic = _called(law)
    body = _SqlPrinter({"number_type": number_type}).doprint(symbolic)
    return f"create or replace macro {law.__name__}({', '.join(names)}) as ({body})"


class _Printer(StrPrinter):  # type: ignore[misc]  # sympy carries no types
    """Print an expression with whole powers as products; the dialects differ in signs and names."""

    times, one, power = " * ", "1", "pow({}, {})"
    root, absolute, floor = "sqrt", "abs", "floor"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802  # sympy's names
        base, power = expr.as_base_exp()
        printed = f"({self._print(base)})"
        if power.is_Integer and abs(power) <= 4:
            product = self.times.join([printed] * abs(int(power)))
            divided = self.times.replace("*", "/")
            return f"({product})" if power > 0 else f"({self.one}{divided}({product}))"
        if power in (sympy.Rational(1, 2), sympy.Float(0.5)):
            return f"{self.root}({self._print(base)})"
        return self.power.format(printed, self._print(power))

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"{self.absolute}({self._print(expr.args[0])})"

    def _print_floor(self, expr: Any) -> str:
        return f"{self.floor}({self._print(expr.args[0])})"


class _SqlPrinter(_Printer):
    """Print an expression in the SQL that DuckDB and Spark share."""

    one = "1.0"
    _default_settings: ClassVar[dict[str, Any]] = {
        **StrPrinter._default_settings,
        "number_type": "double",
    }

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return f"cast({expr.name} as {self._settings['number_type']})"

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        return f"({expr.p}.0 / {expr.q}.0)"

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        digits = f"{expr.p}.0" if self._settings["number_type"] == "double" else f"{expr.p}"
        return digits if expr.p >= 0 else f"({digits})"


class _JavaScriptPrinter(_Printer):
    """Print an expression in JavaScript, whose numbers are all doubles."""

    power = "Math.pow({}, {})"
    root, absolute, floor = "Math.sqrt", "Math.abs", "Math.floor"

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        return f"({expr.p} / {expr.q})"

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        return f"{expr.p}" if expr.p >= 0 else f"({expr.p})"


class _ExcelPrinter(_Printer):
    """Print an expression as a formula of functions that every spreadsheet has."""

    times, power = "*", "(({})^({}))"
    root, absolute, floor = "SQRT", "ABS", "INT"
    _default_settings: ClassVar[dict[str, Any]] = {
        **StrPrinter._default_settings,
        "arguments": {},
        "constants": {},
    }

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return f"{self._settings['arguments'][expr.name]}"

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        return f"({self._whole(expr.p)}/{self._whole(expr.q)})"

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        return self._whole(expr.p) if expr.p >= 0 else f"({expr.p})"

    def _whole(self, number: int) -> str:
        return str(self._settings["constants"].get(int(number), number))
