"""Draw bars as SVG that follows the reader's colour scheme and has the same bytes every run.

Every colour is drawn as a stand-in and replaced by a CSS variable afterwards, because the drawing
library knows one colour scheme only and a browser may ask for either.
"""

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pipeline.report import lean_svg
from pipeline.report.lean_svg import FAINT_INK, GAP, GRID, INK, SERIES
from pipeline.report.numbers import clean_text, show
from pipeline.report.section import Bars

Layout = Literal["wide", "narrow"]

MOST_SERIES = len(SERIES)


@dataclass(frozen=True)
class Shape:
    """Measures of a layout, in points of the drawing."""

    width: float
    gutter: float  # most room for labels on the left, none where they stand above
    row: float  # height of a bar with the space around it
    bar_frac: float  # part of the row that the bar fills
    longest_label: int


SHAPES: dict[Layout, Shape] = {
    "wide": Shape(width=900, gutter=280, row=32, bar_frac=0.5, longest_label=40),
    "narrow": Shape(width=380, gutter=0, row=48, bar_frac=0.32, longest_label=46),
}
LEFT = 2.0  # points between the edge and the labels
_HEAD, _FOOT = 34.0, 46.0  # points above the bars for the legend, below for the axis


def draw(bars: Bars, layout: Layout = "wide") -> str:
    """Return the bars as an SVG document; the narrow layout is for phones."""
    if len(bars.series) > MOST_SERIES:
        raise ValueError(f"{bars.name}: {len(bars.series)} series, at most {MOST_SERIES} read well")
    return as_svg(bars.title, bars.alt, lambda: _figure(bars, SHAPES[layout]))


def as_svg(title: str, alt: str, make: Callable[[], Figure]) -> str:
    """Return a drawing as SVG, with the same bytes every run and colours for both schemes."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        _set_style()
        buffer = io.BytesIO()
        make().savefig(buffer, format="svg", metadata={"Date": None})
    return lean_svg.lean(buffer.getvalue().decode(), title, alt)


def _set_style() -> None:
    mpl.rc("svg", fonttype="none", hashsalt="joulebook")
    mpl.rc("text", parse_math=False)  # a dollar sign in a model's name is a dollar sign
    mpl.rc("font", family="DejaVu Sans", size=12)  # comes with the library, on any machine


def _figure(bars: Bars, shape: Shape) -> Figure:
    has_legend = len(bars.series) > 1
    head = _HEAD if has_legend else 8.0
    height = head + shape.row * len(bars.labels) + _FOOT
    figure = Figure(figsize=(shape.width / 72, height / 72), dpi=72)
    figure.patch.set_visible(False)
    left, right = _label_room(bars, shape) / shape.width, 1 - 8 / shape.width
    axes = figure.add_axes((left, _FOOT / height, right - left, 1 - (head + _FOOT) / height))
    _draw_frame(axes, bars)
    _draw_bars(axes, bars, shape)
    _draw_whiskers(axes, bars, shape)
    _draw_labels(axes, bars, shape)
    _draw_ends(axes, bars, shape)
    if has_legend:
        _draw_legend(figure, bars, height)
    return figure


def _draw_frame(axes: Axes, bars: Bars) -> None:
    axes.patch.set_visible(False)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    if bars.log_scale:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, _longest(bars) * 1.16 or 1)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    axes.set_ylim(len(bars.labels) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: show(float(f"{x:.6g}"), "number")))
    axes.tick_params(axis="x", length=0, colors=FAINT_INK[0], pad=6)
    axes.grid(axis="x", color=GRID[0], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(bars.unit, color=FAINT_INK[0], labelpad=4, loc="right")


def _draw_bars(axes: Axes, bars: Bars, shape: Shape) -> None:
    starts = [0.0] * len(bars.labels)
    rows = _rows(bars, shape)
    for index, (name, values) in enumerate(bars.series):
        widths = [value or 0.0 for value in values]
        axes.barh(
            rows,
            widths,
            left=starts,
            height=shape.bar_frac,
            color=SERIES[index][0],
            edgecolor=GAP[0],
            linewidth=0.6,
            label=name,
        )
        starts = [start + width for start, width in zip(starts, widths, strict=True)]


def _draw_whiskers(axes: Axes, bars: Bars, shape: Shape) -> None:
    """Draw each range just under its bar, where it hides no part of it."""
    cap = 3.5 / shape.row
    for row, low, high in zip(_rows(bars, shape), bars.lows, bars.highs, strict=False):
        if low is None or high is None:
            continue
        line = row + shape.bar_frac / 2 + 5 / shape.row
        x = [low, low, low, high, high, high]
        y = [line - cap, line + cap, line, line, line - cap, line + cap]
        axes.plot(x, y, color=FAINT_INK[0], linewidth=1.1, solid_joinstyle="miter")


def _draw_labels(axes: Axes, bars: Bars, shape: Shape) -> None:
    shift = 0.0 if shape.gutter else -0.27
    for row, label in enumerate(bars.labels):
        axes.annotate(
            short(label, shape.longest_label),
            xy=(LEFT, row + shift),
            xycoords=("figure points", "data"),
            va="center",
            color=INK[0],
        )


def _draw_ends(axes: Axes, bars: Bars, shape: Shape) -> None:
    for index, row in enumerate(_rows(bars, shape)):
        total = _total(bars, index)
        axes.annotate(
            show(total, bars.kind, "unknown"),
            xy=(total or 0.0, row),
            xytext=(7, 0),
            textcoords="offset points",
            va="center_baseline",
            color=INK[0],
        )


def _draw_legend(figure: Figure, bars: Bars, height: float) -> None:
    handles: list[Artist] = [
        Patch(facecolor=SERIES[index][0], label=clean_text(name))
        for index, (name, _) in enumerate(bars.series)
    ]
    if bars.lows:
        handles.append(Line2D([], [], color=FAINT_INK[0], linewidth=1.1, label="5 % to 95 %"))
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.002, 1 - 2 / height),
        ncols=len(handles),
        frameon=False,
        labelcolor=INK[0],
        handlelength=0.9,
        handleheight=0.9,
        handletextpad=0.5,
        columnspacing=1.4,
        borderpad=0,
        borderaxespad=0,
    )


def _rows(bars: Bars, shape: Shape) -> list[float]:
    """Return the middle of every bar: below its label where the label stands above it."""
    shift = 0.0 if shape.gutter else 0.14
    return [index + shift for index in range(len(bars.labels))]


def _total(bars: Bars, index: int) -> float | None:
    known = [values[index] for _, values in bars.series if values[index] is not None]
    return sum(value for value in known if value is not None) if known else None


def _label_room(bars: Bars, shape: Shape) -> float:
    """Return the room the labels need, at about seven points a letter."""
    letters = max((len(short(label, shape.longest_label)) for label in bars.labels), default=0)
    return min(shape.gutter, letters * 7 + 14) if shape.gutter else LEFT


def _longest(bars: Bars) -> float:
    ends = [_total(bars, index) for index in range(len(bars.labels))]
    return max((end for end in (*ends, *bars.highs) if end is not None), default=0.0)


def short(label: str, longest: int) -> str:
    """Return a label on one line, cut where it is longer than there is room for."""
    text = " ".join(clean_text(label).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
