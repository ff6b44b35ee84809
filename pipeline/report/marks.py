"""Draw marks as SVG: values on lines, and pairs beside the line of equality.

Every series has a mark of its own form beside its colour. Marks of a series are one path, which
keeps a figure of hundreds small.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import IdentityTransform

from pipeline.report.figures import LEFT, SHAPES, Layout, Shape, as_svg, short
from pipeline.report.lean_svg import FAINT_INK, GAP, GRID, INK, SERIES
from pipeline.report.numbers import clean_text, show
from pipeline.report.section import Dots, Kind, Points

# Corners of a mark around its middle, in whole points of the drawing: short to write.
_FORMS = (
    ((-3, -3), (3, -3), (3, 3), (-3, 3)),  # square
    ((-4, -3), (4, -3), (0, 4)),  # triangle
    ((0, -4), (4, 0), (0, 4), (-4, 0)),  # diamond
    ((-4, 3), (4, 3), (0, -4)),  # triangle upside down
    ((-5, -1), (5, -1), (5, 2), (-5, 2)),  # flat bar
    ((-1, -5), (2, -5), (2, 5), (-1, 5)),  # upright bar
    ((-4, 0), (3, -4), (3, 4)),  # triangle to the left
)
_HAIR = 4.0  # points between marks that an eye cannot part
_LETTER = 6.6  # points a letter of a legend takes
_LEGEND_ROW = 20.0
_BOTTOM = 46.0
_TALL_FRAC = {"wide": 0.62, "narrow": 1.05}  # height of a square plot over the width

XY = tuple[float, float]


def draw(figure: Dots | Points, layout: Layout = "wide") -> str:
    """Return the figure as an SVG document; the narrow layout is for phones."""
    if len(figure.series) > len(_FORMS):
        raise ValueError(
            f"{figure.name}: {len(figure.series)} series, at most {len(_FORMS)} read well"
        )
    shape = SHAPES[layout]
    if isinstance(figure, Dots):
        return as_svg(figure.title, figure.alt, lambda: _dots(figure, shape))
    return as_svg(figure.title, figure.alt, lambda: _points(figure, layout))


def _dots(dots: Dots, shape: Shape) -> Figure:
    entries = _legend_places([name for name, _ in dots.series], shape.width)
    head = _head(entries)
    height = head + shape.row * len(dots.labels) + _BOTTOM
    gutter = float(shape.gutter) or LEFT + 6
    drawing = _blank(shape.width, height)
    axes = _axes(drawing, (gutter, _BOTTOM, shape.width - gutter - 16, height - head - _BOTTOM))
    values = [value for _, each in dots.series for value in each if value]
    axes.set_xscale("log")
    axes.set_xlim(min(values, default=1) / 1.3, max(values, default=1) * 1.3)
    axes.set_ylim(len(dots.labels) - 0.5, -0.5)
    axes.yaxis.set_major_locator(NullLocator())
    _dress(axes, "x", dots.unit, dots)
    middle, above = (0.0, 0.0) if shape.gutter else (0.18, -0.24)
    for row, label in enumerate(dots.labels):
        axes.axhline(row + middle, color=GRID[0], linewidth=0.6, zorder=1)
        axes.annotate(
            short(label, shape.longest_label),
            xy=(LEFT, row + above),
            xycoords=("figure points", "data"),
            va="center",
            color=INK[0],
        )
    for number, (_, each) in enumerate(dots.series):
        places = [(value, row + middle) for row, value in enumerate(each) if value]
        _draw_marks(axes, number, axes.transData.transform(places) if places else ())
    _draw_legend(drawing, axes, entries, height)
    return drawing


def _points(points: Points, layout: Layout) -> Figure:
    width = SHAPES[layout].width
    band = f"1 : 1, band ±{points.band_frac:.0%}".replace("%", " %")
    entries = _legend_places([*(name for name, _ in points.series), band], width)
    head = _head(entries) + _LEGEND_ROW  # room for the name of the upright axis
    height = head + width * _TALL_FRAC[layout] + _BOTTOM
    drawing = _blank(width, height)
    axes = _axes(drawing, (62, _BOTTOM, width - 62 - 16, height - head - _BOTTOM))
    values = [value for _, each in points.series for _, *pair in each for value in pair]
    low, high = min(values, default=1) / 1.5, max(values, default=1) * 1.5
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    _dress(axes, "x", f"{points.x_label}, {points.unit}", points)
    _dress(axes, "y", "", points)
    drawing.text(
        LEFT / width,
        1 - (head - 10) / height,
        f"{points.y_label}, {points.unit}",
        color=FAINT_INK[0],
    )
    up, down = 1 + points.band_frac, 1 - points.band_frac
    corners = [(low, low * down), (high, high * down), (high, high * up), (low, low * up)]
    axes.add_patch(Polygon(corners, closed=True, facecolor=GRID[0], edgecolor="none", zorder=1))
    axes.plot([low, high], [low, high], color=FAINT_INK[0], linewidth=1.0, zorder=2)
    for number, (_, each) in enumerate(points.series):
        places = [(x, y) for _, x, y in each]
        _draw_marks(axes, number, axes.transData.transform(places) if places else ())
    _draw_legend(drawing, axes, entries, height)
    return drawing


def _blank(width: float, height: float) -> Figure:
    drawing = Figure(figsize=(width / 72, height / 72), dpi=72)
    drawing.patch.set_visible(False)
    return drawing


def _axes(drawing: Figure, box: tuple[float, float, float, float]) -> Axes:
    width, height = drawing.get_size_inches() * 72
    left, bottom, wide, tall = box
    axes = drawing.add_axes((left / width, bottom / height, wide / width, tall / height))
    axes.patch.set_visible(False)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    axes.set_axisbelow(True)
    return axes


def _dress(axes: Axes, which: Literal["x", "y"], label: str, figure: Dots | Points) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(numticks=8))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda x, _: show(float(f"{x:.6g}"), _tick(figure))))
    axes.tick_params(axis=which, length=0, colors=FAINT_INK[0], pad=6)
    axes.grid(axis=which, color=GRID[0], linewidth=0.8)
    if label:
        axes.set_xlabel(label, color=FAINT_INK[0], labelpad=4, loc="right")


def _tick(figure: Dots | Points) -> Kind:
    return "frac" if figure.kind == "frac" else "number"


def _draw_marks(axes: Axes, number: int, places: Iterable[XY]) -> None:
    """Draw a mark at each place, given in points of the drawing, as one path.

    Of marks that cover each other but for a hair only the first is drawn.
    """
    apart: dict[tuple[int, int], tuple[int, int]] = {}
    for x, y in places:
        if math.isfinite(x) and math.isfinite(y):
            apart.setdefault((round(x / _HAIR), round(y / _HAIR)), (round(x), round(y)))
    form = np.array([*_FORMS[number], _FORMS[number][0]])
    codes = [Path.MOVETO, *[Path.LINETO] * (len(form) - 2), Path.CLOSEPOLY]
    marks = [form + np.array(place) for place in apart.values()]
    if marks:
        path = Path(np.concatenate(marks), codes * len(marks))
        axes.add_artist(
            PathPatch(
                path,
                transform=IdentityTransform(),
                facecolor=SERIES[number][0],
                edgecolor=GAP[0],
                linewidth=0.5,
                clip_on=False,
                zorder=3,
            )
        )


def _legend_places(names: Sequence[str], width: float) -> list[tuple[str, float, int]]:
    """Return each name with its place: points from the left, and its row."""
    found: list[tuple[str, float, int]] = []
    left, row = LEFT + 6, 0
    for name in names:
        room = 22 + _LETTER * len(name)
        if found and left + room > width:
            left, row = LEFT + 6, row + 1
        found.append((name, left, row))
        left += room
    return found


def _head(entries: Sequence[tuple[str, float, int]]) -> float:
    return (max((row for _, _, row in entries), default=0) + 1) * _LEGEND_ROW + 12


def _draw_legend(
    drawing: Figure, axes: Axes, entries: Sequence[tuple[str, float, int]], height: float
) -> None:
    series = [entry for entry in entries if not entry[0].startswith("1 : 1")]
    for number, (_, left, row) in enumerate(series):
        _draw_marks(axes, number, [(left, height - 12 - row * _LEGEND_ROW)])
    width = drawing.get_size_inches()[0] * 72
    for name, left, row in entries:
        y = (height - 12 - row * _LEGEND_ROW) / height
        if name.startswith("1 : 1"):
            ends = ((left - 5) / width, (left + 6) / width)
            drawing.add_artist(_line(ends, y))
        drawing.text((left + 10) / width, y, clean_text(name), va="center_baseline", color=INK[0])


def _line(ends: tuple[float, float], y: float) -> PathPatch:
    path = Path([(ends[0], y), (ends[1], y)], [Path.MOVETO, Path.LINETO])
    return PathPatch(path, edgecolor=FAINT_INK[0], facecolor="none", linewidth=1.0)
