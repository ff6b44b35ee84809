"""What a class is unsure of on its own: the widest of its ranges, less what is the stack's."""

import math
from typing import Any

import pytest
from conftest import made_from

# 21 worlds, whose 5 % and 95 % are their second and their last but one
STACK_LOW, STACK_HIGH = math.exp(-0.3), math.exp(0.2)
STACKS = [math.exp(-0.9), STACK_LOW, *[1.0] * 17, STACK_HIGH, math.exp(0.9)]
GRADES = {"A": (0.87, 1.15), "B": (0.6, 1.6), "C": (0.9, 1.1), "D": (0.33, 3.0)}
CELL = "select 'm' as month, 'p' as provider, 'x' as model_id, 'chat' as query_class"


def doubt(
    grade: str,
    *energies_j: float,
    tier: str | None = None,
    bias: tuple[float, float] = (1.0, 1.0),
) -> dict[str, Any]:
    """Return the doubt of a cell of so many architectures."""
    architectures = " union all ".join(
        f"{CELL}, {'null' if tier is None else repr(tier)}::varchar as stand_in_tier, "
        f"'dense' as architecture_class, {bias[0]}::double as bias_low_ratio, "
        f"{bias[1]}::double as bias_high_ratio, {energy_j}::double as gpu_energy_j"
        for energy_j in energies_j
    )
    [row] = made_from(
        "int_class_doubts",
        int_draws=f"select unnest({STACKS})::double as stack_ratio",
        int_architecture_energy=architectures,
        int_class_grades=f"{CELL}, '{grade}' as evidence_grade",
        stg_grade_ranges=" union all ".join(
            f"select '{each}' as evidence_grade, {low}::double as low_ratio, "
            f"{high}::double as high_ratio"
            for each, (low, high) in GRADES.items()
        ),
    )
    return row


def spanned(row: dict[str, Any]) -> tuple[float, float]:
    """Return the range of a cell's own error and the stack's together."""
    return (
        math.exp(-math.hypot(math.log(row["own_low_ratio"]), math.log(STACK_LOW))),
        math.exp(math.hypot(math.log(row["own_high_ratio"]), math.log(STACK_HIGH))),
    )


def test_stack_and_own_error_together_span_the_range_of_the_grade() -> None:
    row = doubt("B", 100.0)

    assert (row["stack_power"], row["error_of"]) == (1, "dense")
    # √(ln(0.6)² − 0.3²) = 0.41346 and √(ln(1.6)² − 0.2²) = 0.42533
    assert row["own_low_ratio"] == pytest.approx(math.exp(-0.41346), rel=1e-4)
    assert row["own_high_ratio"] == pytest.approx(math.exp(0.42533), rel=1e-4)
    assert spanned(row) == pytest.approx((0.6, 1.6), rel=1e-12)


def test_grade_a_is_of_its_own_stack_and_errs_on_its_own_alone() -> None:
    row = doubt("A", 100.0)

    assert row["stack_power"] == 0
    assert (row["own_low_ratio"], row["own_high_ratio"]) == pytest.approx((0.87, 1.15), rel=1e-12)


def test_a_bias_that_is_wider_than_the_grade_makes_the_range() -> None:
    assert spanned(doubt("B", 100.0, bias=(0.5, 1.5))) == pytest.approx((0.5, 1.6), rel=1e-12)


def test_the_doubt_of_a_closed_model_is_that_of_its_tier() -> None:
    row = doubt("D", 50.0, 200.0, tier="small")

    # geometric mean 100 J: half to twice lies within 0.33 to 3
    assert row["error_of"] == "small"
    assert spanned(row) == pytest.approx((0.33, 3.0), rel=1e-12)


def test_stand_ins_further_apart_than_their_grade_make_the_range() -> None:
    # geometric mean 100 J
    row = doubt("D", 10.0, 1_000.0, tier="small")

    assert spanned(row) == pytest.approx((0.1, 10.0), rel=1e-12)


def test_a_range_narrower_than_the_stacks_leaves_no_error_of_ones_own() -> None:
    row = doubt("C", 100.0)

    assert (row["own_low_ratio"], row["own_high_ratio"]) == (1, 1)
