"""A figure is a small SVG with the same bytes every run, readable in both colour schemes."""

from xml.etree import ElementTree

import pytest
from report_frames import HOSTILE, report, section_of

from pipeline.report import line_figures
from pipeline.report.figures import Layout, draw
from pipeline.report.section import Bars, Lines

_TEXT = "{http://www.w3.org/2000/svg}text"
_LAYOUTS: tuple[Layout, Layout] = ("wide", "narrow")


def _bars(**changes: object) -> Bars:
    values: dict[str, object] = {
        "name": "bars",
        "title": "Title",
        "unit": "kWh",
        "source": "Source",
        "alt": "What it shows",
        "labels": ("one", "two"),
        "series": (("Prefill", (1.0, 2.0)), ("Next token", (3.0, None))),
        "lows": (2.0, 1.0),
        "highs": (8.0, 4.0),
        "kind": "kwh",
    }
    return Bars(**(values | changes))  # type: ignore[arg-type]


def _texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(_TEXT)]  # noqa: S314 our own


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_a_figure_has_the_same_bytes_twice(layout: Layout) -> None:
    assert draw(_bars(), layout) == draw(_bars(), layout)


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_a_figure_of_twelve_lines_is_small(layout: Layout) -> None:
    labels = tuple(f"model-{number} · batch_extraction" for number in range(12))
    series = tuple((name, tuple(1.5 + n / 7 for n in range(12))) for name in ("a", "b", "c"))
    ends = tuple(0.5 + n for n in range(12))

    svg = draw(_bars(labels=labels, series=series, lows=ends, highs=ends), layout)

    assert len(svg.encode()) <= 30_000


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_a_figure_shows_its_labels_values_legend_and_unit(layout: Layout) -> None:
    texts = _texts(draw(_bars(), layout))

    for text in ("one", "two", "4.000", "2.000", "Prefill", "Next token", "5 % to 95 %", "kWh"):
        assert text in texts


def test_a_bar_without_a_value_is_unknown() -> None:
    svg = draw(_bars(series=(("Cost", (1.0, None)),), lows=(), highs=()))

    assert "unknown" in _texts(svg)


def test_a_figure_follows_the_colour_scheme_of_the_reader() -> None:
    svg = draw(_bars())

    assert "@media(prefers-color-scheme:dark)" in svg
    assert "var(--c0)" in svg
    assert ": #0" not in svg.replace("var(--", "")  # no stand-in is left


def test_a_figure_holds_no_date_and_nothing_to_load() -> None:
    svg = draw(_bars())

    assert "<metadata" not in svg
    assert "DOCTYPE" not in svg
    assert "href=" not in svg


def test_a_figure_says_what_it_shows() -> None:
    root = ElementTree.fromstring(draw(_bars()))  # noqa: S314 our own

    assert [root[0].text, root[1].text] == ["Title", "What it shows"]


def test_text_from_a_log_stays_text() -> None:
    svg = draw(_bars(labels=HOSTILE, series=(("Cost", (1.0,) * len(HOSTILE)),), lows=(), highs=()))

    texts = _texts(svg)

    assert "<script" not in svg
    assert "<script>alert(1)</script>" in texts
    assert "$x^2$" in texts
    assert "模型 😀" in texts
    assert "nul bell escape" in texts


def test_numbers_in_a_label_are_not_touched() -> None:
    assert "v3.14159 #050500" in _texts(draw(_bars(labels=("v3.14159 #050500", "two"))))


def test_a_long_label_is_cut() -> None:
    texts = _texts(draw(_bars(labels=("x" * 100, "two"))))

    assert "x" * 39 + "…" in texts


def test_more_series_than_a_reader_can_part_are_refused() -> None:
    series = tuple((f"series {number}", (1.0, 1.0)) for number in range(8))

    with pytest.raises(ValueError, match="8 series, at most 7"):
        draw(_bars(series=series))


def test_a_logarithmic_scale_is_drawn() -> None:
    svg = draw(_bars(series=(("Cost", (0.001, 1_000.0)),), lows=(), highs=(), log_scale=True))

    assert "0.01" in _texts(svg)


def test_the_table_behind_a_figure_has_its_numbers() -> None:
    (bars,) = section_of(report(), "energy").figures
    assert isinstance(bars, Bars)

    table = bars.as_table()

    assert [column.header for column in table.columns] == [
        *("Line", "Prefill", "KV cache", "Next token", "Low (5 %)", "High (95 %)"),
    ]
    assert table.rows[0] == ("gpt-5 · chat", *(values[0] for _, values in bars.series), 0.5, 2.0)


# Lines ----------------------------------------------------------------------------------------


def _lines(**changes: object) -> Lines:
    values: dict[str, object] = {
        "name": "lines",
        "title": "Title",
        "unit": "J",
        "over": "Batch",
        "source": "Source",
        "alt": "What it shows",
        "series": (
            ("one", ((1.0, 2_000.0), (2.0, 1_000.0), (4.0, 600.0))),
            ("two", ((1.0, 50.0), (3.0, 20.0))),
        ),
        "marks": ((2.0, 1_000.0), None),
        "mark_label": "in force",
    }
    return Lines(**(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_lines_have_the_same_bytes_twice(layout: Layout) -> None:
    assert line_figures.draw(_lines(), layout) == line_figures.draw(_lines(), layout)


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_lines_show_their_names_their_places_and_what_is_marked(layout: Layout) -> None:
    texts = _texts(line_figures.draw(_lines(), layout))

    for text in ("one", "two", "in force", "Batch", "1", "2", "4", "1,000", "100"):
        assert text in texts


def test_lines_follow_the_colour_scheme_of_the_reader_and_load_nothing() -> None:
    svg = line_figures.draw(_lines())

    assert "@media(prefers-color-scheme:dark)" in svg
    assert ": #0" not in svg.replace("var(--", "")  # no stand-in is left
    assert "<metadata" not in svg
    assert 'href="http' not in svg


def test_a_figure_of_seven_lines_is_small() -> None:
    points = tuple((2.0**n, 1_000 / (n + 1.5)) for n in range(9))
    series = tuple((f"model-{n} · batch_extraction", points) for n in range(7))

    svg = line_figures.draw(_lines(series=series, marks=(points[3],) * 7))

    assert len(svg.encode()) <= 40_000


def test_more_lines_than_a_reader_can_part_are_refused() -> None:
    series = tuple((f"line {number}", ((1.0, 1.0),)) for number in range(8))

    with pytest.raises(ValueError, match="8 series, at most 7"):
        line_figures.draw(_lines(series=series))


def test_names_of_lines_from_a_log_stay_text() -> None:
    series = tuple((name, ((1.0, 1.0), (2.0, 0.5))) for name in HOSTILE[8:15])

    svg = line_figures.draw(_lines(series=series, marks=()))

    assert "<script" not in svg
    assert "<script>alert(1)</script>" in _texts(svg)


def test_the_table_behind_lines_has_a_row_for_every_place() -> None:
    table = _lines().as_table()

    assert [column.header for column in table.columns] == ["Batch", "1. one", "2. two"]
    assert table.rows == ((1, 2_000, 50), (2, 1_000, None), (3, None, 20), (4, 600, None))
