"""How the energies come about: formulas from the code, the values in use, how sure they are."""

import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from pipeline.formulas import formula, meaning
from pipeline.laws import facility, simple, work
from pipeline.report.section import Column, Section, Table, Value
from pipeline.report.sections import reading as r

Law = Any  # a pure function of plain numbers
_NUMBERS_SHEET = "Method_numbers"  # beside the formulas, which need wide columns

# Argument of a law, its symbol, what it is, and its unit.
SYMBOLS = (
    ("input_tokens", "n", "input tokens of a request, cached ones included", "tokens"),
    ("cached_tokens", "k", "part of them read from a prefix cache", "tokens"),
    ("output_tokens", "m", "output tokens, reasoning included", "tokens"),
    ("request_count", "r", "requests whose mean lengths n, k and m are", "requests"),
    ("layers", "L", "layers of the model", ""),
    ("hidden", "d", "hidden size", ""),
    ("heads", "h", "query heads", ""),
    ("kv_heads", "g", "KV heads: as many as query heads (MHA), fewer (GQA), one (MQA)", ""),
    ("head_dim", "dh", "size of a head", ""),
    ("ffn_matrices", "μ", "matrices of a feed-forward layer: 2 plain, 3 gated", ""),
    ("vocab", "V", "vocabulary", ""),
    ("body_params", "P", "weights that a token runs through, head left out", "weights"),
    ("head_params", "Ph", "weights of the output head", "weights"),
    ("attention_flop_per_pair", "Q", "FLOP of attending from one token to one other", "FLOP"),
    ("kv_bytes_per_position", "KV", "cache bytes of one position", "bytes"),
    ("kv_bytes", "KV", "cache bytes of one position", "bytes"),
    ("batch", "B", "requests served together", "requests"),
    ("gpu_count", "G", "GPUs that serve together", ""),
    ("a_j_per_flop", "a", "price of a floating-point operation", "J/FLOP"),
    ("b_j_per_kv_byte", "b", "price of a cache byte read", "J/byte"),
    ("c_j_per_weight_byte", "c", "price of a weight byte read", "J/byte"),
    ("s_j_per_layer_step", "s", "price of a layer's launch and idle power in a pass", "J"),
    ("s_j_per_step", "s1", "the same for a whole pass, where a set has it so", "J"),
)
_NAMES = {name: symbol for name, symbol, _, _ in SYMBOLS}
# What a reader looks for first comes first.
STEPS: tuple[tuple[str, tuple[Law, ...]], ...] = (
    ("Energy", simple.LAWS),
    ("Facility", facility.LAWS),
    ("Work", work.EXACT_LAWS),
    ("Tokens", work.LAWS[:5]),
    ("Model", work.LAWS[5:]),
)
_KNOWLEDGE = (
    ("Counted", "Tokens and bills, as the logs have them; weights, FLOP, bytes and steps, in whole "
     "numbers, from tokens and the model's shape."),
    ("Measured", "Energies of public benchmarks, by others, on their machines. Nothing of this "
     "month was metered."),
    ("Fitted", "The prices a, b, c and s of a GPU and its serving stack, by us, to such energies. "
     "They belong to no model."),
    ("Compared", "The bias factor: what measurements add to the law for a kind of architecture. "
     "GPU energy = law × bias factor."),
    ("Assumed", "Batch where nobody says it, host, idle capacity, cooling, grid; and open models "
     "in place of closed ones. Each stands among the assumptions with its range."),
)  # fmt: skip
_COEFFICIENTS = (
    ("a", "a_j_per_flop", "a_ratio", "J/FLOP"),
    ("b", "b_j_per_kv_byte", "b_ratio", "J/byte"),
    ("c", "c_j_per_weight_byte", "c_ratio", "J/byte"),
    ("s", "s_j_per_layer_step", "s_ratio", "J/layer and pass"),
    ("s1", "s_j_per_step", "s_ratio", "J/pass"),
)
_CHAIN = (
    "host_ratio", "idle_ratio", "pue_ratio", "carbon_gco2e_per_kwh", "electricity_usd_per_kwh",
)  # fmt: skip
_SOURCE = Column("source", "Source", "text", meaning="Where the row comes from.")
_DATE = Column("source_date", "Source date", "text", meaning="Day of the row.")
_LOW = Column("low", "Low", "number", meaning="Low end (5 %).")
_HIGH = Column("high", "High", "number", meaning="High end (95 %).")
_VALUE = Column("value", "Value", "number", meaning="Value in use.")
_UNIT = Column("unit", "Unit", "text", meaning="Unit of the value.")


def section(mart: pl.DataFrame, reference: Mapping[str, pl.DataFrame]) -> Section:
    """Return the method.

    Args:
        mart: mart_energy_per_class of the month, which says what coefficients are in use.
        reference: Reference tables by name, as text, and `assumptions`.
    """
    used = sorted(set(mart.get_column("coefficient_set_id").drop_nulls().to_list()))
    numbers = (
        _price_table(reference["law_coefficients"], reference["joint_draws"], used),
        _set_table(reference["law_coefficients"], used),
        _bias_table(reference["bias_factors"], used),
        _grade_table(reference["grade_ranges"]),
        _dispersion_table(reference["dispersion_factors"]),
        _chain_table(reference["assumptions"]),
    )
    return Section(
        name="method",
        title="Method",
        sheet="Method",
        question="How does a token become a joule, and how sure is each step?",
        statements=_statements(used),
        tables=(
            _words("method_knowledge", "What each figure rests on", "Basis", _KNOWLEDGE),
            _formula_table(),
            _symbol_table(),
            *(replace(table, sheet=_NUMBERS_SHEET) for table in numbers),
        ),
    )


def _statements(used: list[str]) -> tuple[str, ...]:
    sets = ", ".join(used) if used else "none"
    return (
        "First the work of each request is counted: operations, bytes of cache, bytes of weights, "
        "steps through layers. This is arithmetic.",
        "Then each kind of work gets its price in joules. A price belongs to a GPU and its serving "
        f"software, never to a model. In use this month: {sets}.",
        "Weights and steps are shared by the requests served together; prompt, cache and "
        "operations are each request's own. So the batch decides most.",
        "Reading the prompt grows with its length and, slowly, with its square; reading the cache "
        "grows with prompt × answer; each new token passes all weights once.",
        "The law is then corrected by a bias factor, and the chips' energy carried on to host, "
        "idle machines and cooling.",
        "Low and high say how far it may be off; the grade says why.",
    )


def _words(name: str, caption: str, head: str, rows: tuple[tuple[str, str], ...]) -> Table:
    columns = (
        Column("topic", head, "text", meaning="What the line is about."),
        Column("text", "Text", "text", meaning="The line."),
    )
    return Table(name, caption, columns, rows)


def _formula_table() -> Table:
    columns = (
        Column("step", "Step", "text", meaning="Which part of the way it belongs to."),
        Column("formula", "Formula", "text", meaning="As the program computes it."),
        Column("meaning", "What it is", "text", meaning="The first line of its description."),
    )
    rows = tuple(
        (step, "; ".join(formula(law, _NAMES)), meaning(law))
        for step, laws in STEPS
        for law in laws
    )
    return Table(
        "method_formulas",
        "The law, printed from the program",
        columns,
        rows,
        note="· is times, ^ is to the power of; semicolons part the steps of one computation. A "
        "word that is no symbol is the quantity of another line, or a number of the model's.",
    )


def _symbol_table() -> Table:
    columns = (
        Column("symbol", "Symbol", "text", meaning="As in the formulas."),
        Column("meaning", "Meaning", "text", meaning="What it stands for."),
        Column("unit", "Unit", "text", meaning="Its unit, none where it is a count."),
    )
    rows = {symbol: (symbol, text, unit or None) for _, symbol, text, unit in SYMBOLS}
    return Table("method_symbols", "Symbols", columns, tuple(rows.values()))


def _price_table(sets: pl.DataFrame, draws: pl.DataFrame, used: list[str]) -> Table:
    columns = (
        Column("coefficient_set_id", "Coefficients", "text", meaning="Set, by GPU and stack."),
        Column("symbol", "Price", "text", meaning="Symbol in the formulas."),
        *(_VALUE, _LOW, _HIGH, _UNIT),
    )
    rows: list[tuple[Value, ...]] = []
    for row in _of_sets(sets, used):
        for symbol, name, ratio, unit in _COEFFICIENTS:
            value = float(row[name] or 0)
            if value or symbol != "s1":
                low, high = _ends(draws, ratio)
                rows.append(
                    (row["coefficient_set_id"], symbol, value, value * low, value * high, unit)
                )
    return Table(
        "method_prices",
        "Prices of work in use this month",
        columns,
        tuple(rows),
        note="Low and high: 5 % and 95 % of refits to resampled architectures of the H200 set, "
        "the one with most, carried over as ratios. Prices gain and lose together, so a total is "
        "surer than they are.",
    )


def _ends(draws: pl.DataFrame, name: str) -> tuple[float, float]:
    cuts = statistics.quantiles(draws.get_column(name).cast(pl.Float64).to_list(), n=20)
    return cuts[0], cuts[-1]


def _of_sets(sets: pl.DataFrame, used: list[str]) -> list[dict[str, str | None]]:
    kept = sets.filter(pl.col("coefficient_set_id").is_in(used))
    return kept.sort("coefficient_set_id").rows(named=True)


def _set_table(sets: pl.DataFrame, used: list[str]) -> Table:
    columns = (
        Column("coefficient_set_id", "Coefficients", "text", meaning="Set, by GPU and stack."),
        Column("gpu", "GPU", "text", meaning="GPU it was measured on."),
        Column("stack", "Stack", "text", meaning="Serving software."),
        Column("architectures", "Architectures", "count", meaning="Models behind the fit."),
        Column("error", "Error", "frac", meaning="Mean error on the rows of the fit."),
        Column("unseen", "Left out", "frac", meaning="The same on an architecture left out."),
        Column("input_tokens", "Input tokens", "text", meaning="Lengths that were measured."),
        Column("output_tokens", "Output tokens", "text", meaning="Lengths that were measured."),
        Column("batch", "Batch", "text", meaning="Batches that were measured."),
        *(_SOURCE, _DATE),
    )
    rows = tuple(
        (
            *(row[name] for name in ("coefficient_set_id", "gpu", "stack")),
            _number(row["architecture_count"]),
            _number(row["mape_in_sample_frac"]),
            _number(row["mape_leave_one_architecture_out_frac"]),
            *(_span(row, name) for name in ("input_tokens", "output_tokens", "batch")),
            *(row["source"], row["source_date"]),
        )
        for row in _of_sets(sets, used)
    )
    return Table("method_sets", "What these prices were fitted to", columns, rows)


def _span(row: Mapping[str, str | None], name: str) -> str | None:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return low if low == high else f"{low or '…'} – {high or '…'}"


def _number(text: str | None) -> float | None:
    """Return a number of a row, None where a row of one's own has none there."""
    try:
        return float(text or "")
    except ValueError:
        return None


def _bias_table(biases: pl.DataFrame, used: list[str]) -> Table:
    columns = (
        Column("architecture_class", "Architecture", "text", meaning="Kind of model."),
        Column("coefficient_set_id", "Coefficients", "text", meaning="Set; * is any other."),
        Column("bias_factor", "Bias factor", "ratio", meaning="Measured over law."),
        *(Column(f"bias_{end}", end.title(), "ratio", meaning=f"Its {end} end.")
          for end in ("low", "high")),
        *(_SOURCE, _DATE),
    )  # fmt: skip
    numbers = [pl.col(name).cast(pl.Float64) for name in ("bias_factor", "bias_low", "bias_high")]
    kept = biases.filter(pl.col("coefficient_set_id").is_in([*used, "*"])).with_columns(*numbers)
    ordered = kept.sort("architecture_class", "coefficient_set_id", descending=[False, True])
    return Table("method_bias", "Bias factors", columns, r.table_rows(ordered, columns))


def _grade_table(grades: pl.DataFrame) -> Table:
    columns = (
        Column("evidence_grade", "Grade", "grade", meaning="Evidence behind an energy."),
        Column("low_ratio", "Least low", "ratio", meaning="Low end of the method over the value."),
        Column("high_ratio", "Least high", "ratio", meaning="High end of it over the value."),
        Column("meaning", "When", "text", meaning="What earns the grade."),
        *(_SOURCE, _DATE),
    )
    ends = [pl.col(name).cast(pl.Float64) for name in ("low_ratio", "high_ratio")]
    ordered = grades.with_columns(*ends).sort("evidence_grade")
    return Table(
        "method_grades", "Grades and their ranges", columns, r.table_rows(ordered, columns)
    )


def _dispersion_table(factors: pl.DataFrame) -> Table:
    names = {
        "input_squared_ratio": ("n²", "Mean of n² over the square of the mean."),
        "input_output_ratio": ("n·m", "Mean of n·m over the product of the means."),
        "output_squared_ratio": ("m²", "Mean of m² over the square of the mean."),
    }
    columns = (
        Column("query_class", "Class", "text", meaning="Kind of work."),
        *(Column(name, head, "ratio", meaning=text) for name, (head, text) in names.items()),
        *(_SOURCE, _DATE),
    )
    ordered = factors.with_columns(pl.col(name).cast(pl.Float64) for name in names)
    rows = r.table_rows(ordered.sort("query_class"), columns)
    return Table(
        "method_dispersion",
        "Dispersion factors, for logs that sum many requests in one line",
        columns,
        rows,
        note="A line of many requests is so many of mean lengths; these factors put back what "
        "means lose, and the grade is one lower.",
    )


def _chain_table(assumptions: pl.DataFrame) -> Table:
    columns = (
        Column("assumption", "Factor", "text", meaning="Name among the assumptions."),
        *(_VALUE, _LOW, _HIGH, _UNIT),
        Column("meaning", "Meaning", "text", meaning="What it stands for."),
        *(_SOURCE, _DATE),
    )
    kept = assumptions.filter(pl.col("assumption").is_in(_CHAIN)).sort("assumption")
    return Table(
        "method_chain",
        "From the chips to the meter, and on to carbon and money",
        columns,
        r.table_rows(kept, columns),
        note="Electricity = GPU energy × host ratio × idle ratio × PUE; carbon and the memo cost "
        "are electricity times their factor.",
    )
