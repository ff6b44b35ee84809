"""What a log form is: how it is recognised and what its numbers mean."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Source:
    """One log form.

    Attributes:
        name: Short name, also the stem of its SQL file.
        title: What a reader calls it.
        containers: `table` (CSV, Parquet), `json` (objects, one a line or in one value), or both.
        signature: Columns, or dotted JSON keys, that a file of this form always has.
        columns: Columns, or dotted JSON keys, that its SQL may read; absent ones are null. Its SQL
            finds a dotted key under underscores; in a table it is read out of JSON in a cell.
        duplicate_key: Columns of the usage record that name a request; empty where the form has
            no ids, so that equal lines are separate requests.
        needs: Keys of `assume` without which the form cannot be read.
        input_includes_cache: Whether its word for input counts cached tokens too.
        output_includes_reasoning: Whether its word for output counts reasoning too.
        empty_columns: All the columns of an export without any usage, where that has fewer.
        is_flat: Whether every value that its SQL reads is a declared column, so that nothing else
            of a JSON record need be held.
        times: Declared keys of JSON that its SQL reads by time_of and in no other way: they are
            kept as times, not as text.
        counts: The same of those that it reads by count_of.
        spares: Pairs of declared keys: the first is kept only where the second, declared before it
            and an object, says nothing.
        passed_over: Columns, or dotted JSON keys, that its makers are known to write and that no
            figure needs. All others that its SQL does not read are told as unknown.
        lacks: What the form cannot say and where it is to be had, told where rows are set aside.
    """

    name: str
    title: str
    containers: tuple[str, ...]
    signature: tuple[str, ...]
    columns: tuple[str, ...]
    duplicate_key: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    input_includes_cache: bool = True
    output_includes_reasoning: bool = True
    empty_columns: tuple[str, ...] = ()
    is_flat: bool = False
    times: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    spares: tuple[tuple[str, str], ...] = ()
    passed_over: tuple[str, ...] = ()
    lacks: str = ""


def known_by(source: Source, *signatures: tuple[str, ...]) -> tuple[Source, ...]:
    """Return one form that other signatures than its own tell too."""
    return (source, *(replace(source, signature=signature) for signature in signatures))
