"""What a log form is: how it is recognised and what its numbers mean."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One log form.

    Attributes:
        name: Short name, also the stem of its SQL file.
        title: What a reader calls it.
        containers: `table` (CSV, Parquet), `json` (one JSON object a line), or both.
        signature: Columns, or dotted JSON keys, that a file of this form always has.
        columns: Columns, or dotted JSON keys, that its SQL may read; absent ones are null. Its SQL
            finds a dotted key under underscores.
        duplicate_key: Columns of the usage record that name a request; empty where the form has
            no ids, so that equal lines are separate requests.
        needs: Keys of `assume` without which the form cannot be read.
        input_includes_cache: Whether its word for input counts cached tokens too.
        output_includes_reasoning: Whether its word for output counts reasoning too.
        empty_columns: All the columns of an export without any usage, where that has fewer.
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
