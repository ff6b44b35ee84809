"""Multipliers, divergence and verdicts by hand; what the law explains; what is left out."""

import math

import polars as pl
import pytest
from audited import RULES
from scipy.special import stdtr, stdtrit

from pipeline.audit import statistics
from pipeline.audit.linearity import BEYOND, NO_REPEATS, UNDECIDED, WITHIN, by_model, cells
from pipeline.audit.readings import Reading, divergence, reference_category


def rows(*told: tuple[str, int, float], law_j: tuple[float | None, ...] = ()) -> pl.DataFrame:
    """Return runs of one model: category, output tokens, joules; 10 s each."""
    return pl.DataFrame(
        [
            {
                **{"run_set": "set", "run_id": str(number), "source_line": number, "model": "m"},
                **{"category": category, "input_tokens": 10, "output_tokens": tokens},
                **{"energy_j": energy_j, "net_energy_j": energy_j - 10, "is_looped": False},
                **{"mean_power_w": energy_j / 10, "is_baseline": False},
                "law_j": law_j[number] if law_j else None,
            }
            for number, (category, tokens, energy_j) in enumerate(told)
        ],
        schema_overrides={"law_j": pl.Float64},
    )


FOUR = (
    *(("general", 100, 100.0), ("general", 100, 121.0)),
    *(("deep", 400, 400.0), ("deep", 400, 484.0)),
)


def test_multipliers_and_interval_by_hand() -> None:
    [cell] = cells(rows(*FOUR), Reading(), "general", RULES).rows(named=True)

    # Geometric means: 110 J for 100 tokens, 440 J for 400; spread of ln(E/T): ± ln(1.1)/2 … each.
    spread = math.sqrt(2 * 2 * (math.log(1.21) / 2) ** 2 / 2)
    width = stdtrit(2, 0.975) * spread * math.sqrt(1 / 2 + 1 / 2)
    assert cell["token_multiplier_ratio"] == pytest.approx(4)
    assert cell["energy_multiplier_ratio"] == pytest.approx(4)
    assert cell["divergence_frac"] == pytest.approx(0, abs=1e-12)
    assert cell["excess_high_frac"] == pytest.approx(math.exp(width) - 1)
    assert cell["divergence_low_frac"] == 0
    assert cell["divergence_high_frac"] == pytest.approx(math.exp(width) - 1)
    assert cell["mean_power_w"] == pytest.approx(44.2)
    assert cell["verdict"] == UNDECIDED


def test_watts_are_no_joules() -> None:
    # Twice the tokens in twice the time at the same watts: energy doubles, mean power does not.
    told = rows(("general", 100, 100.0), ("deep", 200, 200.0)).with_columns(mean_power_w=10.0)

    by_energy = cells(told, Reading(), "general", RULES).row(0, named=True)
    by_power = cells(told, Reading(quantity="mean_power"), "general", RULES).row(0, named=True)

    assert by_energy["divergence_frac"] == pytest.approx(0, abs=1e-12)
    assert by_power["divergence_frac"] == pytest.approx(0.5)
    assert by_energy["verdict"] == NO_REPEATS
    assert by_energy["divergence_low_frac"] is None


@pytest.mark.parametrize(
    ("formula", "at_double", "at_half"),
    [("of_tokens", 1.0, 0.5), ("of_larger", 0.5, 0.5), ("logarithm", math.log(2), math.log(2))],
)
def test_readings_of_divergence_differ_where_the_gap_is_large(
    formula: str, at_double: float, at_half: float
) -> None:
    ratios = pl.DataFrame({"d": [math.log(2), -math.log(2)]})

    found = ratios.select(divergence(pl.col("d"), formula)).to_series().to_list()

    assert found == pytest.approx([at_double, at_half])


def test_verdicts_are_shown_not_assumed() -> None:
    def cell(name: str, per_token: float) -> list[tuple[str, int, float]]:
        return [(name, 100, 100 * per_token * wobble) for wobble in (0.99, 1.0, 1.01)]

    told = rows(*cell("general", 1), *cell("like", 1.02), *cell("more", 1.3), *cell("less", 0.7),
                *cell("edge", 1.15))  # fmt: skip

    found = cells(told, Reading(), "general", RULES)

    assert dict(found.select("category", "verdict").rows()) == {
        "like": WITHIN,
        "more": BEYOND,
        "less": BEYOND,
        "edge": UNDECIDED,
    }
    assert by_model(found).select("within_count", "beyond_count", "undecided_count").row(0) == (
        *(1, 2, 1),
    )
    narrow = cells(told, Reading(band_frac=0.01), "general", RULES)
    assert dict(narrow.select("category", "verdict").rows())["like"] != WITHIN


def test_looped_runs_and_baselines_are_no_repeats() -> None:
    told = rows(*FOUR, ("deep", 9_000, 1.0), ("blank", 0, 5.0)).with_columns(
        is_looped=pl.col("output_tokens") == 9_000, is_baseline=pl.col("category") == "blank"
    )

    assert cells(told, Reading(), "general", RULES).equals(
        cells(rows(*FOUR), Reading(), "general", RULES)
    )
    assert reference_category(told, None) == "general"
    assert reference_category(told, "DEEP") == "deep"


def test_what_the_law_explains_is_a_share_of_the_logarithm() -> None:
    # Energy 8 times, tokens 4 times: ln 2 apart. The law says 4 × sqrt(2): half of it.
    told = tuple(
        (category, tokens, energy_j * wobble)
        for category, tokens, energy_j in (("general", 100, 100.0), ("deep", 400, 800.0))
        for wobble in (0.999, 1.0, 1.001)
    )
    law = (10.0, 10.0, 10.0, *(40 * math.sqrt(2),) * 3)

    [cell] = cells(rows(*told, law_j=law), Reading(), "general", RULES).rows(named=True)

    assert cell["law_multiplier_ratio"] == pytest.approx(4 * math.sqrt(2))
    assert cell["law_divergence_frac"] == pytest.approx(math.sqrt(2) - 1)
    assert cell["explained_frac"] == pytest.approx(0.5)
    assert cell["remaining_frac"] == pytest.approx(math.sqrt(2) - 1)


def test_holm_by_hand() -> None:
    p = pl.DataFrame({"set": ["a"] * 4 + ["b"], "p": [0.01, 0.04, 0.03, None, 0.04]})

    found = p.with_columns(statistics.holm("p", ["set"])).get_column("p_holm").to_list()

    # 3 · 0.01, then 2 · 0.03, then 1 · 0.04, which may not fall below the one before it.
    assert found[:3] == pytest.approx([0.03, 0.06, 0.06])
    assert found[3:] == [None, 0.04]


def test_t_tests_are_those_of_student() -> None:
    statistic, freedom = pl.Series([2.0, None]), pl.Series([8.0, 8.0])

    assert statistics.p_above(statistic, freedom).to_list() == [
        pytest.approx(1 - stdtr(8, 2.0)),
        None,
    ]
    assert statistics.half_width(statistic, freedom, 0.95)[0] == pytest.approx(
        2 * stdtrit(8, 0.975)
    )
