"""A waterfall begins and ends on the axis, and each step begins where the last one ended."""

from pipeline.report.section import Steps
from pipeline.report.waterfall import draw, spans

STEPS = Steps(
    name="bridge",
    title="From May to June",
    unit="USD",
    source="mart_month_bridge",
    alt="Waterfall from 1.20 to 1.50 USD.",
    labels=("May", "Volume", "Model", "June"),
    values=(1.20, 0.70, -0.40, 1.50),
    kind="usd",
)


def test_each_step_begins_where_the_last_one_ended() -> None:
    assert spans((1.25, 0.5, -0.75, 1.0)) == [(0, 1.25), (1.25, 1.75), (1.75, 1.0), (0, 1.0)]


def test_changes_carry_their_sign_and_whole_values_none() -> None:
    svg = draw(STEPS)

    for shown in (">1.20<", ">+0.70<", ">−0.40<", ">1.50<"):
        assert shown in svg


def test_the_same_steps_give_the_same_bytes() -> None:
    assert draw(STEPS) == draw(STEPS)


def test_the_narrow_one_fits_a_phone() -> None:
    assert "width='380pt'" in draw(STEPS, "narrow")


def test_a_title_and_a_text_stand_in_the_drawing() -> None:
    assert "<title>From May to June</title><desc>Waterfall from 1.20" in draw(STEPS)
