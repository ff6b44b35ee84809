"""The page's own fixed words, and the marks of its numbers, in one place for each language.

What sections say is theirs; here stands what the templates and the scripts add around it. Words in
braces are filled in by the template.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.report.numbers import Marks


@dataclass(frozen=True)
class PageLanguage:
    """How a page speaks: its code for `lang`, the marks of numbers, words by name."""

    code: str
    marks: Marks
    words: Mapping[str, str]  # of the templates
    script_words: Mapping[str, str]  # of the scripts, which find them in a block of the page


ENGLISH = PageLanguage(
    code="en",
    marks=Marks(decimal=".", group=","),
    words={
        "skip": "Skip to the report",
        "contents": "Sections",
        "sample_strong": "Generated sample data.",
        "sample": "No real usage stands behind these figures.",
        "method": "Method {method}",
        "rows": "{rows} rows.",
        "rows_cut": "{rows} rows, of which the first {shown} are shown; all are in",
        "workbook": "the workbook",
        "columns": "What the columns mean",
        "columns_elsewhere": "The others stand under",
        "glossary": "Columns of many tables",
        "glossary_question": "What do the columns mean that stand in several tables?",
        "figure_title": "{title}, in {unit}",
        "figure_numbers": "The numbers behind this figure",
        "finding_more": "The rows behind it",
        "footer": "Electricity and carbon are estimates; their ranges run from 5 % to 95 %. "
        "Unknown is shown as –, never as zero.",
        "footer_run": "Joulebook · {month} · method {method} · run",
        "calculator": "Calculator",
        "calculator_question": "What would one request take, on which model, and where is its "
        "lowest energy per token?",
        "calculator_still": "The calculator needs JavaScript. Without it, this command gives the "
        "same numbers:",
        "calculator_old": "This browser cannot unpack the calculator. This command gives the same "
        "numbers:",
        "calculator_models": "Models",
        "calculator_model": "Model {number}",
        "calculator_request": "Request and site",
        "calculator_gpu": "GPU",
        "calculator_table": "One request, by model",
        "calculator_curve": "Energy per output token against output tokens, one line a model; a "
        "dot marks the lowest",
        "calculator_source": "The functions are generated from the laws of this project; the "
        "numbers equal those of joulebook estimate. The address of this page holds what you chose.",
    },
    script_words={
        "filter": "Filter rows",
        "copy": "Copy as CSV",
        "copied": "Copied.",
        "not_copied": "Your browser does not allow it.",
        "page_of": "Rows {first} to {last} of {rows}",
        "before": "Previous rows",
        "after": "Next rows",
        "line": "Quantity",
        "prefill": "Prefill",
        "cache": "KV cache",
        "next": "Next token",
        "law": "Law",
        "bias": "Bias factor",
        "gpu": "GPU energy",
        "low": "GPU energy, low",
        "high": "GPU energy, high",
        "grade": "Grade",
        "facility": "Electricity",
        "carbon": "Carbon",
        "electricity": "Electricity at tariff",
        "price": "List price",
        "batch": "Effective batch",
        "count": "GPUs",
        "optimum": "Output of least energy per token",
        "none": "none",
        "default_gpu": "H100-SXM (default)",
        "full": "does not fit",
        "full_note": "its cache does not fit beside the weights; take a larger GPU or a shorter "
        "request.",
        "borrowed_note": "this GPU has no coefficients of its own; borrowed from",
        "capped_note": "the cache caps the batch at",
        "context_note": "longer than the model's stated context.",
        "stand_in_note": "its shape is not public; computed as the mean of",
        "x_axis": "output tokens",
        "y_axis": "GPU J per output token",
        "tokens": "tokens",
        "out_of_range": "give a number in range.",
        "too_many_cached": "Cached tokens are part of the input: give at most the input.",
    },
)
