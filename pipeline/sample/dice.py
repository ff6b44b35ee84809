"""Repeatable chance: the same name gives the same draws on every Python and every machine."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeVar

SEED = 20260901

T = TypeVar("T")
_NORMAL = NormalDist()


@dataclass(frozen=True)
class LogNormal:
    """A skewed size: half lie below the median, sigma is the spread of the logarithm."""

    median: float
    sigma: float
    low: int
    high: int


class Dice:
    """One stream of draws; streams of different names do not shift each other."""

    def __init__(self, name: str) -> None:
        """Start the stream called `name`."""
        # Only random() is used: its sequence is promised to stay, that of the other methods is not.
        self._draw = random.Random(f"{SEED}/{name}").random  # noqa: S311

    def happens(self, frac: float) -> bool:
        """Return true in `frac` of all cases."""
        return self._draw() < frac

    def between(self, low: float, high: float) -> float:
        """Return a number from low to high, evenly spread."""
        return low + (high - low) * self._draw()

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + int((high - low + 1) * self._draw())

    def pick(self, weighted: Sequence[tuple[T, float]]) -> T:
        """Return one of the things, each as often as its weight says."""
        mark = self._draw() * sum(weight for _, weight in weighted)
        for thing, weight in weighted:
            mark -= weight
            if mark < 0:
                return thing
        return weighted[-1][0]

    def size(self, shape: LogNormal) -> int:
        """Return a whole size of the shape, cut at its ends."""
        z = _NORMAL.inv_cdf(max(self._draw(), 1e-12))
        drawn = math.exp(math.log(shape.median) + shape.sigma * z)
        return round(min(max(drawn, shape.low), shape.high))
