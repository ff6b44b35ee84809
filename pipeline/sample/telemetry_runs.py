"""Which runs a generated measuring session makes, in which order, with repeatable chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

_LOOPED_TIMES = 3  # as long as a run that ends by itself


@dataclass(frozen=True)
class Category:
    """A kind of prompt: its lengths, and how much more power it draws than its tokens ask for."""

    name: str
    input_tokens: int
    output_tokens: int
    effect_frac: float = 0.0


@dataclass(frozen=True)
class Run:
    """One run, its lengths drawn, and its place: the block and its position within it, from 1."""

    model: str
    category: Category
    repeat: int
    block: int
    position: int
    input_tokens: int
    output_tokens: int
    is_looped: bool


class Draws:
    """One stream of chance; numbers of the same seed are the same on every machine."""

    def __init__(self, seed: int) -> None:
        """Start the stream."""
        # Only uniform numbers are drawn: what NumPy makes of them may change, their bits do not.
        self._uniform = np.random.Generator(np.random.PCG64(seed)).random

    def uniforms(self, count: int) -> npt.NDArray[np.float64]:
        """Return numbers from 0 to 1."""
        return self._uniform(count)

    def normals(self, count: int) -> npt.NDArray[np.float64]:
        """Return numbers of mean 0 and standard deviation 1."""
        return np.asarray(ndtri(np.clip(self._uniform(count), 1e-12, 1 - 1e-12)))

    def normal(self) -> float:
        """Return one such number."""
        return float(self.normals(1)[0])


def ordered_runs(
    models: Sequence[str],
    categories: Sequence[Category],
    repeats: int,
    is_randomised: bool,
    length_spread_frac: float,
    looped_frac: float,
    draws: Draws,
) -> list[Run]:
    """Return the runs in order: blocks of all cells shuffled, or all repeats of cell after cell."""
    cells = [(model, category) for model in models for category in categories]
    order = [
        (repeat, position, cells[index])
        for repeat in range(1, repeats + 1)
        for position, index in enumerate(np.argsort(draws.uniforms(len(cells))), start=1)
    ]
    if not is_randomised:
        order = [(repeat, repeat, cell) for cell in cells for repeat in range(1, repeats + 1)]
    runs = []
    for repeat, position, (model, category) in order:
        is_looped = float(draws.uniforms(1)[0]) < looped_frac
        spread = max(1 + length_spread_frac * draws.normal(), 0.5)
        output_tokens = round(category.output_tokens * spread * (_LOOPED_TIMES if is_looped else 1))
        block = repeat if is_randomised else cells.index((model, category)) + 1
        runs.append(
            Run(model, category, repeat, block, position, category.input_tokens,
                max(output_tokens, 1), is_looped)
        )  # fmt: skip
    return runs
