"""Marks are small, the same bytes every run, in both colour schemes, and never by colour alone."""

import re
from xml.etree import ElementTree

import pytest
from report_frames import HOSTILE

from pipeline.reference import reference_rows
from pipeline.report.figures import Layout
from pipeline.report.marks import draw
from pipeline.report.section import Dots, Points

_TEXT = "{http://www.w3.org/2000/svg}text"
_LAYOUTS: tuple[Layout, Layout] = ("wide", "narrow")
SEVEN = tuple(f"series {number}" for number in range(7))


def dots(**changes: object) -> Dots:
    values: dict[str, object] = {
        "name": "dots",
        "title": "Errors",
        "unit": "mean error",
        "source": "Source",
        "alt": "What it shows",
        "labels": ("one", "two"),
        "series": (("ours", (0.1, 0.2)), ("theirs", (0.5, None))),
        "kind": "frac",
    }
    return Dots(**(values | changes))  # type: ignore[arg-type]


def points(**changes: object) -> Points:
    values: dict[str, object] = {
        "name": "points",
        "title": "Law against measurement",
        "unit": "J",
        "source": "Source",
        "alt": "What it shows",
        "x_label": "Measured",
        "y_label": "Law",
        "series": (("unseen", (("a", 10.0, 12.0), ("b", 1_000.0, 900.0))), ("fit", ())),
        "band_frac": 0.2,
        "kind": "j",
    }
    return Points(**(values | changes))  # type: ignore[arg-type]


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(_TEXT)]  # noqa: S314 our own


@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("figure", [dots(), points()])
def test_marks_have_the_same_bytes_twice(figure: Dots | Points, layout: Layout) -> None:
    assert draw(figure, layout) == draw(figure, layout)


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_as_many_points_as_are_stored_make_a_small_figure(layout: Layout) -> None:
    stored = [
        ("", float(row["measured_j"]), float(row["predicted_j"]))
        for row in reference_rows("law_points")
    ]
    series = tuple((name, tuple(stored[number::5])) for number, name in enumerate(SEVEN[:5]))

    assert len(draw(points(series=series), layout).encode()) <= 30_000


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_as_many_lines_as_there_are_sets_of_measurements_make_a_small_figure(
    layout: Layout,
) -> None:
    sets = {(row["dataset"], row["gpu"], row["stack"]) for row in reference_rows("law_validation")}
    series = tuple((name, tuple(0.01 * n + 0.1 for n in range(len(sets)))) for name in SEVEN)

    svg = draw(dots(labels=tuple(map(" · ".join, sorted(sets))), series=series), layout)

    assert len(svg.encode()) <= 30_000


@pytest.mark.parametrize("figure", [dots(), points()])
def test_marks_follow_the_colour_scheme_and_load_nothing(figure: Dots | Points) -> None:
    svg = draw(figure)

    assert "@media(prefers-color-scheme:dark)" in svg
    assert ": #0" not in svg.replace("var(--", "")  # no stand-in is left
    assert "href=" not in svg
    assert "<metadata" not in svg


def test_every_series_has_a_form_of_its_own_beside_its_colour() -> None:
    series = tuple((name, (0.1,)) for name in SEVEN)
    svg = draw(dots(labels=("one",), series=series))

    # the mark of each series on its one line, as steps from where its path begins
    forms = re.findall(r"d='M[\d.,-]+([lhv][^zM']+)z", svg)[:7]
    assert len(set(forms)) == 7


def test_dots_show_labels_legend_and_unit_and_leave_out_the_unknown() -> None:
    shown = texts(draw(dots()))

    for text in ("one", "two", "ours", "theirs", "mean error", "10.0%"):
        assert text in shown


def test_points_show_both_axes_and_what_the_line_is() -> None:
    shown = texts(draw(points()))

    for text in ("Measured, J", "Law, J", "1 : 1, band ±20 %", "unseen", "100"):
        assert text in shown


def test_text_from_a_log_stays_text() -> None:
    svg = draw(dots(labels=HOSTILE, series=(("ours", (0.5,) * len(HOSTILE)),)))

    assert "<script" not in svg
    assert "<script>alert(1)</script>" in texts(svg)


def test_a_figure_of_nothing_is_drawn_empty() -> None:
    assert "What it shows" in draw(points(series=()))
    assert "What it shows" in draw(dots(series=(("ours", (None, None)),)))


def test_more_series_than_a_reader_can_part_are_refused() -> None:
    with pytest.raises(ValueError, match="8 series, at most 7"):
        draw(dots(series=tuple((f"{number}", (0.1, 0.1)) for number in range(8))))


def test_the_tables_behind_marks_have_their_numbers() -> None:
    assert dots().as_table().rows == (("one", 0.1, 0.5), ("two", 0.2, None))
    assert points().as_table().rows == (
        ("a", "unseen", 10.0, 12.0),
        ("b", "unseen", 1_000.0, 900.0),
    )
