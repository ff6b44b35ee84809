"""The forms of power logs, in the order in which they are tried; all are known by content."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.ingest.telemetry import (
    afterburner,
    codecarbon,
    dcgm,
    dmon,
    energibridge,
    gpu_z,
    hwinfo,
    nvidia_smi,
    power_gadget,
    powermetrics,
    zeus,
)
from pipeline.ingest.telemetry.table import Reading
from pipeline.ingest.telemetry.text import Log, head_of


@dataclass(frozen=True)
class Form:
    """One form: what a reader calls it, how its first lines are known, how it is read."""

    title: str
    recognises: Callable[[list[str], tuple[str, ...] | None], bool]
    read: Callable[[Log], Reading]


FORMS = (
    Form("HWiNFO64", hwinfo.recognises, hwinfo.read),
    Form("GPU-Z", gpu_z.recognises, gpu_z.read),
    Form("MSI Afterburner", afterburner.recognises, afterburner.read),
    Form("nvidia-smi dmon", dmon.recognises, dmon.read),
    Form("DCGM exporter", dcgm.recognises, dcgm.read),
    Form("powermetrics", powermetrics.recognises, powermetrics.read),
    Form("Intel Power Gadget", power_gadget.recognises, power_gadget.read),
    Form("EnergiBridge", energibridge.recognises, energibridge.read),
    Form("CodeCarbon", codecarbon.recognises, codecarbon.read),
    Form("Zeus", zeus.recognises, zeus.read),
    Form("nvidia-smi --query-gpu", nvidia_smi.recognises, nvidia_smi.read),
)


def form_of(log: Log) -> Form:
    """Return the form of a log.

    Raises:
        BadInputError: Where it is none that we know.
    """
    form = _form(log.head, log.columns)
    if form is None:
        titles = ", ".join(each.title for each in FORMS)
        raise log.refusal(
            f"a power log ({titles})",
            _found(log.head[0]),
            "Log again with one of these, or leave the file out.",
        )
    return form


def title_of(data: bytes) -> str | None:
    """Return the title of the power log that begins with these bytes; None where it is none."""
    head = head_of(data)
    form = _form(head, None) if head else None
    return form.title if form else None


def _found(first: str) -> str:
    """Say what a file of no known form begins with."""
    cells = first.split(",")
    number_count = sum(cell.strip().replace(".", "", 1).isdigit() for cell in cells)
    begins = f"{first[:60]!r}"
    if number_count * 2 > len(cells):
        return f"rows without names and without a time ({begins})"
    if len(cells) > 2:
        return f"a table without a time of sampling that we know ({begins})"
    return f"a text that begins with {begins}"


def _form(head: list[str], columns: tuple[str, ...] | None) -> Form | None:
    return next((form for form in FORMS if form.recognises(head, columns)), None)
