"""Draw a waterfall as SVG in the style of the bars: from one value to the next, step by step."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pipeline.report.figures import Layout, as_svg, short
from pipeline.report.lean_svg import FAINT_INK, GAP, GRID, INK, SERIES
from pipeline.report.numbers import show
from pipeline.report.section import Steps

_WIDTHS: dict[Layout, float] = {"wide": 900, "narrow": 380}
_ROW, _FOOT, _LEFT = 32.0, 46.0, 2.0  # points of the drawing
_GUTTER: dict[Layout, float] = {"wide": 230, "narrow": 0}


def draw(steps: Steps, layout: Layout = "wide") -> str:
    """Return the waterfall as an SVG document; the narrow layout is for phones."""
    return as_svg(steps.title, steps.alt, lambda: _figure(steps, layout))


def _figure(steps: Steps, layout: Layout) -> Figure:
    width, row = _WIDTHS[layout], _ROW if _GUTTER[layout] else 46.0
    height = row * len(steps.labels) + _FOOT + 8
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    figure.patch.set_visible(False)
    left = max(_GUTTER[layout], _LEFT) / width
    axes = figure.add_axes((left, _FOOT / height, 1 - 8 / width - left, 1 - (8 + _FOOT) / height))
    _draw_frame(axes, steps)
    _draw_steps(axes, steps, is_narrow=not _GUTTER[layout])
    return figure


def _draw_frame(axes: Axes, steps: Steps) -> None:
    axes.patch.set_visible(False)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    ends = [end for pair in spans(steps.values) for end in pair]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = 0.16 * (high - low) or 1.0
    axes.set_xlim(low - (room if low < 0 else 0), high + room)
    axes.set_ylim(len(steps.labels) - 0.5, -0.5)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: show(float(f"{x:.6g}"), "number")))
    axes.tick_params(axis="x", length=0, colors=FAINT_INK[0], pad=6)
    axes.grid(axis="x", color=GRID[0], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(steps.unit, color=FAINT_INK[0], labelpad=4, loc="right")


def _draw_steps(axes: Axes, steps: Steps, *, is_narrow: bool) -> None:
    last = len(steps.values) - 1
    for row, (start, end) in enumerate(spans(steps.values)):
        is_whole = row in (0, last)
        colour = SERIES[0 if is_whole else 1 if end >= start else 2][0]
        middle = row + (0.14 if is_narrow else 0.0)
        axes.barh(
            middle,
            end - start,
            left=start,
            height=0.5 if not is_narrow else 0.36,
            color=colour,
            edgecolor=GAP[0],
            linewidth=0.6,
        )
        axes.annotate(
            f"{'' if is_whole else '+' if end > start else '−' if end < start else ''}"
            f"{show(abs(end - start), steps.kind)}",
            xy=(max(start, end), middle),
            xytext=(7, 0),
            textcoords="offset points",
            va="center_baseline",
            color=INK[0],
        )
        axes.annotate(
            short(steps.labels[row], 34),
            xy=(_LEFT, row - (0.27 if is_narrow else 0.0)),
            xycoords=("figure points", "data"),
            va="center",
            color=INK[0],
        )


def spans(values: tuple[float, ...]) -> list[tuple[float, float]]:
    """Return where each bar begins and ends: the first and last from zero, others from the last."""
    found, reached = [], 0.0
    for number, value in enumerate(values):
        if number in (0, len(values) - 1):
            found.append((0.0, value))
            reached = value
        else:
            found.append((reached, reached + value))
            reached += value
    return found
