"""What the report answers, how the figures came about, and what it does not cover."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.report.section import Column, Section, Table, Value


@dataclass(frozen=True)
class InputFile:
    """One input of the run, so that a reader can prove which bytes the figures rest on."""

    source_file: str
    sha256: str


@dataclass(frozen=True)
class ReportFacts:
    """What a report says of the run that made it."""

    run_id: str
    method_version: str
    is_generated_sample: bool
    time_zone: str
    inputs: tuple[InputFile, ...] = ()
    calculator: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    issue: str = ""  # preliminary, or R0, R1 … of a closed month; '' outside a workspace
    bridge: tuple[Mapping[str, str], ...] = ()  # what moved it from the issue before
    issued_before: Mapping[str, str] = field(default_factory=dict)  # the month before, if otherwise


_TOPIC = Column("topic", "Topic", "text", meaning="What the line is about.")
_SHEETS = "Section or sheet"
_TEXT = Column("text", "Text", "text", meaning="The line.")

_METHOD = (
    (
        "Work",
        "Counted, not estimated: floating-point operations, KV-cache bytes, weight bytes and layer "
        "steps follow exactly from the model's architecture and the tokens of each request.",
    ),
    ("Prefill", "Joules per operation × operations of the input tokens that no cache held."),
    (
        "KV cache",
        "Joules per byte × bytes of context read again for every output token, plus joules per "
        "operation × operations of attending to it.",
    ),
    (
        "Next token",
        "Joules per operation × operations of every further token, plus the weight bytes and layer "
        "steps of all passes at their joules, shared by the requests of the batch.",
    ),
    (
        "GPU energy",
        "Sum of the three terms × bias factor, the measured gap between the law and open "
        "measurements of that kind of architecture.",
    ),
    ("Electricity", "GPU energy × host ratio × idle ratio × PUE, all three among the assumptions."),
    ("Carbon", "Electricity × grid factor; its zone, year and basis are among the assumptions."),
    (
        "Cost",
        "As billed where the log says so; else tokens × the list price of their day, each kind of "
        "token at its own price. Models on own servers have no list price and count as unpriced.",
    ),
    (
        "Task",
        "A trace, session or ticket where the log names one, else the request. Failed tries stay "
        "in the sums; only solved tasks count where the text says solved.",
    ),
    (
        "Range",
        "Low and high are the 5 % and 95 % of 256 possible worlds, in each of which coefficients, "
        "stack, batch, kind of architecture, host, idle capacity and cooling are drawn once for "
        "all lines. A total is summed in each world, so its ends are not the sums of its lines'.",
    ),
    (
        "Batch",
        "Requests served together. On own servers from the log, where it tells latencies or "
        "running requests; else from the settings or what an input states, else the assumption "
        "of the kind of hosting; never more than the KV cache leaves room for. It stands beside "
        "every energy.",
    ),
    (
        "Rounding",
        "Money to the cent, estimates to four significant figures; sums are of exact values and "
        "are rounded once.",
    ),
)
_GRADES = (
    ("A", "Dense model on one GPU, within the range of batch and tokens that was measured."),
    ("B", "Dense model outside that range, on several GPUs, or with an assumed batch."),
    ("C", "Mixture of experts, latent or window attention, 8 bits or less, or a GPU not measured."),
    ("D", "Closed model, read by open models of its tier standing in for it."),
    ("U", "Unknown: no figure, listed, never counted as zero."),
)
_NOT_COVERED = (
    ("Training", "Only the use of models is covered, not their training."),
    ("Hardware", "Making the hardware, water, networks and the users' devices are left out."),
    (
        "Other charges",
        "Embeddings, images, audio and search keep their money; their energy is unknown.",
    ),
    (
        "Closed models",
        "Their architecture is not public; grade D figures give an order of size, not a reading.",
    ),
    ("Meters", "Electricity and carbon are estimates, not meter readings or supplier statements."),
)
_FILES = (
    ("joulebook-{month}.xlsx", "The workbook: the same sections, one sheet each, live over data."),
    ("index.html", "The page: the same sections, to read and to print."),
    ("data/mart_<name>.parquet", "The rows behind every table, unrounded, all columns."),
    ("data/requests.parquet", "The requests of the month, without users and texts."),
    ("focus.csv", "The costs in the columns of the FOCUS specification."),
    ("manifest.json", "Hashes of the inputs and of every file beside it."),
)


def section(month: str, facts: ReportFacts, others: Sequence[Section] = ()) -> Section:
    """Return what the report is, how it was made, what it leaves out, and what stands where."""
    return Section(
        name="about",
        title="About and method",
        sheet="About",
        question="What does this report answer, how, and what does it leave out?",
        statements=(
            "It tells what each kind of task cost in dollars, joules and carbon, model by model.",
            "Electricity and carbon are estimates from token counts; each has a range and a grade.",
            "Unknown is never zero: what has no price or energy is counted and left out of sums.",
        ),
        tables=tuple(_tables(month, facts, others)),
    )


def _tables(month: str, facts: ReportFacts, others: Sequence[Section]) -> list[Table]:
    tables = [
        _text_table("about_report", "This report", _identity(month, facts)),
        _text_table("about_contents", "What stands where", _contents(others), _SHEETS),
        _text_table("about_method", "How the figures came about", _METHOD),
        _text_table("about_grades", "Grades of evidence", _GRADES, "Grade"),
        _text_table("about_not_covered", "What is not covered", _NOT_COVERED),
        _text_table("about_files", "Files of this report", _files(month), "File"),
    ]
    return [*tables, _input_table(facts)] if facts.inputs else tables


def _identity(month: str, facts: ReportFacts) -> tuple[tuple[str, str], ...]:
    kind = "Generated sample data" if facts.is_generated_sample else "The usage logs listed below"
    return (
        ("Period", f"{month}, cut in the time zone {facts.time_zone}"),
        ("Data", kind),
        ("Method version", facts.method_version),
        ("Run", facts.run_id),
        *([("Issue", facts.issue)] if facts.issue else []),
    )


def _contents(others: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    pairs = [(other.sheet, other.question) for other in others]
    pairs += [(t.sheet, t.caption + ".") for other in others for t in other.tables if t.sheet]
    return tuple(pairs)


def _files(month: str) -> tuple[tuple[str, str], ...]:
    return tuple((name.format(month=month), text) for name, text in _FILES)


def _text_table(
    name: str, caption: str, rows: tuple[tuple[Value, ...], ...], topic: str = "Topic"
) -> Table:
    name_of_first = "sheet" if topic == _SHEETS else _TOPIC.name  # names of sheets stay English
    first = Column(name_of_first, topic, "text", meaning=_TOPIC.meaning)
    return Table(name, caption, (first, _TEXT), rows)


def _input_table(facts: ReportFacts) -> Table:
    columns = (
        Column("source_file", "Input", "text", meaning="File as it was given."),
        Column("sha256", "SHA-256", "id", meaning="Hash of its bytes."),
    )
    rows = tuple(sorted((item.source_file, item.sha256) for item in facts.inputs))
    return Table("about_inputs", "Inputs of the run", columns, rows)
