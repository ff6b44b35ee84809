"""Draw lines as SVG in the style of the bars: a legend above, marked points."""

from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from pipeline.report import figures, lean_svg
from pipeline.report.numbers import clean_text, show
from pipeline.report.section import Lines

_PLOT_HEIGHT, _FOOT, _LEFT, _RIGHT = 260.0, 46.0, 64.0, 16.0  # points of the drawing
_LEGEND_ROW = 19.0
_MOST_TICKS_NARROW = 5


@dataclass(frozen=True)
class _Shape:
    """Measures of a layout, in points of the drawing."""

    width: float
    legend_columns: int
    longest_label: int


_SHAPES: dict[figures.Layout, _Shape] = {
    "wide": _Shape(width=900, legend_columns=2, longest_label=56),
    "narrow": _Shape(width=380, legend_columns=1, longest_label=46),
}


def draw(lines: Lines, layout: figures.Layout = "wide") -> str:
    """Return the lines as an SVG document; the narrow layout is for phones."""
    count = len(lines.series)
    if count > figures.MOST_SERIES:
        raise ValueError(f"{lines.name}: {count} series, at most {figures.MOST_SERIES} read well")
    return figures.as_svg(lines.title, lines.alt, lambda: _figure(lines, _SHAPES[layout]))


def _figure(lines: Lines, shape: _Shape) -> Figure:
    handles = _legend_handles(lines, shape)
    legend_rows = -(-len(handles) // shape.legend_columns)
    head = 14 + _LEGEND_ROW * legend_rows
    height = head + _PLOT_HEIGHT + _FOOT
    figure = Figure(figsize=(shape.width / 72, height / 72), dpi=72)
    figure.patch.set_visible(False)
    axes = figure.add_axes(
        (
            _LEFT / shape.width,
            _FOOT / height,
            1 - (_LEFT + _RIGHT) / shape.width,
            _PLOT_HEIGHT / height,
        )
    )
    _draw_lines(axes, lines)
    _draw_frame(axes, lines, shape)
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.002, 1 - 2 / height),
        ncols=shape.legend_columns,
        frameon=False,
        labelcolor=lean_svg.INK[0],
        handlelength=1.4,
        handletextpad=0.5,
        columnspacing=1.4,
        labelspacing=0.35,
        borderpad=0,
        borderaxespad=0,
    )
    return figure


def _draw_lines(axes: Axes, lines: Lines) -> None:
    for number, (_, points) in enumerate(lines.series):
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=lean_svg.SERIES[number][0],
            linewidth=1.2 if lines.is_linear else 1.8,
        )
    for number, mark in enumerate(lines.marks):
        if mark is not None:
            axes.plot(
                *([part] for part in mark),
                color=lean_svg.SERIES[number][0],
                marker="o",
                markersize=9,
                markerfacecolor="none",
                markeredgewidth=1.8,
                linestyle="none",
            )


def _draw_frame(axes: Axes, lines: Lines, shape: _Shape) -> None:
    axes.patch.set_visible(False)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    if lines.is_linear:
        axes.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS_NARROW))
        axes.yaxis.set_major_locator(MaxNLocator(_MOST_TICKS_NARROW))
        axes.margins(0.08)
    else:
        _set_logarithmic(axes, lines, shape)
    as_number = FuncFormatter(lambda x, _: show(float(f"{x:.6g}"), "number"))
    axes.xaxis.set_major_formatter(as_number)
    axes.yaxis.set_major_formatter(as_number)
    axes.tick_params(axis="both", which="both", length=0, colors=lean_svg.FAINT_INK[0], pad=6)
    axes.grid(axis="both", color=lean_svg.GRID[0], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel(lines.over, color=lean_svg.FAINT_INK[0], labelpad=4, loc="right")


def _set_logarithmic(axes: Axes, lines: Lines, shape: _Shape) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    places = [x for _, points in lines.series for x, _ in points]
    axes.xaxis.set_major_locator(FixedLocator(_powers_of_two(max(places, default=1.0), shape)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _powers_of_two(largest: float, shape: _Shape) -> list[float]:
    powers = [1.0]
    while powers[-1] * 2 <= largest * 1.01:
        powers.append(powers[-1] * 2)
    is_crowded = shape.legend_columns == 1 and len(powers) > _MOST_TICKS_NARROW
    return powers[::2] if is_crowded else powers


def _legend_handles(lines: Lines, shape: _Shape) -> list[Artist]:
    handles: list[Artist] = [
        Line2D(
            [],
            [],
            color=lean_svg.SERIES[number][0],
            linewidth=1.8,
            label=_short(name, shape.longest_label),
        )
        for number, (name, _) in enumerate(lines.series)
    ]
    if lines.mark_label:
        handles.append(
            Line2D(
                [],
                [],
                color=lean_svg.FAINT_INK[0],
                marker="o",
                markersize=8,
                markerfacecolor="none",
                linestyle="none",
                label=lines.mark_label,
            )
        )
    return handles


def _short(label: str, longest: int) -> str:
    text = " ".join(clean_text(label).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
