"""A plan of runs whose order can be told from what is asked: randomised blocks with blank runs.

A block holds every category of one model once, in an order of its own, and blank runs: the model is
loaded and nothing is asked for as long as a run takes. Blocks of the models take turns.
"""

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.audit.rules import rules
from pipeline.audit.runs import BLANK, IDLE
from pipeline.errors import WrongUseError

COLUMNS = (
    *("run_id", "block", "position", "model", "category", "repeat"),
    *("started_at", "ended_at", "input_tokens", "output_tokens", "looped"),
)


@dataclass(frozen=True)
class Plan:
    """What is to be run."""

    models: Sequence[str]
    categories: Sequence[str]
    repeats: int
    blanks: int = 1  # blank runs of a block
    seed: int = 1


def plan_rows(plan: Plan) -> list[dict[str, str | int]]:
    """Return the runs in their order; times and tokens are for the experimenter to fill in.

    Raises:
        WrongUseError: With fewer repeats than the rule, no blank run, or fewer than two categories.
    """
    _require_sense(plan)
    draw = random.Random(plan.seed)  # noqa: S311  # a fixed seed is the point
    rows: list[dict[str, str | int]] = [_row("idle-1", "0", 1, "", IDLE, 1)]
    for repeat in range(1, plan.repeats + 1):
        models = list(plan.models)
        draw.shuffle(models)
        for model in models:
            block = f"{repeat}-{plan.models.index(model) + 1}"
            asked = [*plan.categories, *(BLANK for _ in range(plan.blanks))]
            draw.shuffle(asked)
            rows += [
                _row(f"b{block}-p{position}", block, position, model, category, repeat)
                for position, category in enumerate(asked, start=1)
            ]
    return rows


def as_csv(rows: Sequence[dict[str, str | int]]) -> str:
    """Return a plan as the CSV that becomes the runs file once it is filled in."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _row(
    run_id: str, block: str, position: int, model: str, category: str, repeat: int
) -> dict[str, str | int]:
    told = (run_id, block, position, model, category, repeat)
    return dict(zip(COLUMNS, (*told, *("" for _ in COLUMNS[len(told) :])), strict=True))


def _require_sense(plan: Plan) -> None:
    least = int(rules().plan_repeats_least)
    if plan.repeats < least:
        raise WrongUseError(f"--repeats {plan.repeats}: expected {least} or more.")
    if plan.blanks < 1:
        raise WrongUseError(f"--blanks {plan.blanks}: expected 1 or more in each block.")
    for option, names, fewest in (
        ("--models", plan.models, 1),
        ("--categories", plan.categories, 2),
    ):
        if len(set(names)) != len(names) or len(names) < fewest or not all(names):
            raise WrongUseError(
                f"{option} {','.join(names)}: expected {fewest} or more different names, cut by "
                "commas."
            )
    taken = sorted({name.lower() for name in plan.categories} & {IDLE, BLANK})
    if taken:
        raise WrongUseError(f"--categories: {', '.join(taken)} is taken for runs without request.")
