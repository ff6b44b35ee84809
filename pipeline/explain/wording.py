"""What the words of the tables mean for a reader: sources of batch and cost, grades, ranges.

The rules themselves are SQL; here they are only told, so each has its sentence in one place.
"""

from collections.abc import Sequence

from pipeline.explain.warehouse_rows import Row
from pipeline.ingest.contract import NO_USAGE, RULES

_COST_SOURCES = {
    "billed": "the bill in the log counts; the list price stands beside it",
    "list": "the log has no bill, so the list price counts",
    "effective": "the log has no bill, so the contract or the share of a commitment counts",
    "hosting": "the share of the GPU bill counts",
    "several": "bills where there are any, else contract or list price, else GPU bills",
    None: "no bill and no price: unpriced, and in no sum",
}
_UNWORKED = "a model that is not in the catalog has no architecture, so no energy"


def cost_note(cost_source: str | None) -> str:
    """Return which of the costs counts and why; a line of several sources names two."""
    if cost_source is not None and " and " in cost_source:
        return f"of its groups some count as {cost_source.replace(' and ', ', some as ')}"
    return _COST_SOURCES.get(cost_source, f"the cost that counts is: {cost_source}")


def range_note(draw_count: int) -> str:
    """Return what low and high are."""
    return (
        f"5 % and 95 % of {draw_count} joint draws, in each of which everything that is unsure "
        "has one value"
    )


def facility_range_note(draw_count: int) -> str:
    """Return the same of electricity."""
    return f"5 % and 95 % of {draw_count} joint draws; host, idle capacity and cooling are in them"


def batch_note(batch_source: str | None) -> str:
    """Return where a batch comes from."""
    if batch_source is None:
        return "no batch: no request of the class had work to do"
    if batch_source == "told":
        return "told by the settings or by what the input assumes"
    if batch_source.startswith("assumed for "):
        kind = batch_source.removeprefix("assumed for ")
        return f"nobody says it: the assumption batch_{kind} of data/reference/assumptions.csv"
    return f"told by the log itself, hour by hour: {batch_source}"


def reject_note(reasons: str) -> str:
    """Return what the reasons of a row that was set aside mean."""
    meanings = {rule.name: rule.meaning for rule in RULES} | {NO_USAGE: "a row without any usage"}
    return "; ".join(meanings.get(each, "not readable") for each in reasons.split("; "))


def unmeasured_note(request: Row, host: Row, batch: Row) -> str:
    """Return why a request has no energy, '' where it has one."""
    if not host.get("is_known_model"):
        return _UNWORKED
    if not request["is_measurable"]:
        return "its lengths are not known, so its work is not"
    if request["has_work"] and batch.get("batch") is None:
        return "not even one request of the class's mean length fits beside the weights"
    return ""


def grade_notes(
    grade: str, deployments: Sequence[Row], batch: Row, moments: Row, sets: Sequence[Row]
) -> list[str]:
    """Return what holds a grade down to where it is, weightiest first.

    Args:
        grade: The grade, A to D.
        deployments: Rows of int_deployments of the model.
        batch: Row of int_batches of the class.
        moments: Row of int_class_moments of the class.
        sets: Rows of stg_coefficients of the deployments, in their order.
    """
    guessed, buckets = (
        moments[name] > 0 and moments[name] * 20 >= moments["request_count"]
        for name in ("guessed_request_count", "bucket_request_count")
    )
    notes: tuple[tuple[str, bool, str], ...] = (
        ("D", any(each["stand_in_tier"] for each in deployments), "stand-ins for a closed model"),
        ("D", guessed, "5 % or more of the requests are guessed from the output of their buckets"),
        ("C", _kinds(deployments) != "dense", f"architecture {_kinds(deployments)}, not dense"),
        ("C", any(each["bytes_per_weight"] < 2 for each in deployments), "8 bits a weight or less"),
        ("C", not all(each["is_own_set"] for each in deployments), "coefficients borrowed"),
        (
            "B",
            str(batch.get("batch_source")).startswith("assumed"),
            "the batch is assumed, neither logged nor told",
        ),
        ("B", any(each["gpu_count"] > 1 for each in deployments), "several GPUs"),
        ("B", any(each["architecture_count"] < 4 for each in sets), "a set of few architectures"),
        (
            "B",
            not all(_is_inside(each, batch, moments) for each in sets),
            "lengths or batch outside 0.5 to 2 times what was measured",
        ),
    )
    weightiest = max((at for at, holds, _ in notes if holds), default="A")
    found = [text for at, holds, text in notes if holds and at == weightiest]
    if buckets and grade != weightiest:
        found.append("5 % or more of the requests come in billing buckets: one grade lower")
    return found


def class_note(request: Row, rule: Row, assumed_class: str | None) -> str:
    """Return where the class of a request comes from."""
    if request["class_source"] == "mapping":
        return "by attribution.csv"
    if request["class_source"] == "logged":
        if assumed_class and assumed_class.lower() == request["query_class"]:
            return "stated for the whole file, or by the log itself"
        return "stated by the log"
    return f"by the shape of the request: {rule.get('rule') or 'no rule fits'}"


def _kinds(deployments: Sequence[Row]) -> str:
    return ", ".join(sorted({each["architecture_class"] for each in deployments}))


def _is_inside(each: Row, batch: Row, moments: Row) -> bool:
    """Say whether means and batch lie within 0.5 to 2 times the domain of a coefficient set."""
    pairs = (
        (moments["mean_input_tokens"], "input_tokens"),
        (moments["mean_output_tokens"], "output_tokens"),
        (batch.get("batch"), "batch"),
    )
    return all(
        value is not None and each[f"{name}_low"] / 2 <= value <= each[f"{name}_high"] * 2
        for value, name in pairs
    )
