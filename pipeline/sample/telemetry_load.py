"""What a generated GPU does in every tenth of a second: power, clock, and what holds it down."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Numbers = npt.NDArray[np.float64]

PIECE_S = 0.1
_THROTTLED_CLOCK_FRAC = 0.7  # as seen on B200: 1597 to 1117 MHz


@dataclass(frozen=True)
class Board:
    """An invented GPU, close to an H200 that serves one 8B model to one user.

    Dynamic power goes with clock^power_exponent; prefill goes as fast as the clock, decode only
    below `decode_clock_mhz`, above which memory alone holds it back.
    """

    name: str = "NVIDIA H200"
    limit_w: float = 700.0
    bare_w: float = 75.0
    loading_w: float = 160.0
    loaded_w: float = 120.0
    prefill_w: float = 500.0
    decode_w: float = 260.0
    load_s: float = 10.0
    prefill_tokens_per_s: float = 20_000.0
    decode_tokens_per_s: float = 100.0
    idle_clock_mhz: float = 345.0
    full_clock_mhz: float = 1_830.0
    decode_clock_mhz: float = 1_590.0
    memory_clock_mhz: float = 3_201.0
    power_exponent: float = 1.3
    ambient_c: float = 28.0
    c_per_w: float = 0.06
    warming_s: float = 60.0


@dataclass(frozen=True)
class Phase:
    """A span of one kind of work: its seconds at full clock, and a factor on its power."""

    kind: str  # bare, load, loaded, prefill or decode
    work_s: float
    power_factor: float = 1.0


@dataclass(frozen=True)
class Load:
    """The truth in pieces of PIECE_S; `edges` holds where each phase begins, and the end."""

    power_w: Numbers
    clock_mhz: Numbers
    is_busy: npt.NDArray[np.bool_]
    reasons: tuple[str, ...]  # idle, cap, firmware or nothing
    edges: tuple[int, ...]


def loads(
    phases: Sequence[Phase],
    board: Board,
    cap_w: float | None,
    lock_mhz: float | None,
    throttle_every_s: float | None,
    throttle_s: float,
) -> Load:
    """Return what the board does through all phases under its limits."""
    power: list[Numbers] = []
    clock: list[Numbers] = []
    busy: list[bool] = []
    reasons: list[str] = []
    edges = [0]
    for phase in phases:
        is_busy = phase.kind in ("prefill", "decode")
        if not is_busy:
            count = max(round(phase.work_s / PIECE_S), 1)
            power.append(np.full(count, _resting_w(phase.kind, board)))
            clock.append(np.full(count, board.idle_clock_mhz))
            reasons += ["" if phase.kind == "load" else "idle"] * count
        else:
            mhz, is_capped = _clock(phase, board, cap_w, lock_mhz)
            dips = _dips(edges[-1], phase.work_s, throttle_every_s, throttle_s)
            clocks = np.where(dips, mhz * _THROTTLED_CLOCK_FRAC, mhz)
            count = _pieces_of_work(phase, board, clocks)
            power.append(_busy_w(phase, board, clocks[:count]))
            clock.append(clocks[:count])
            usual = "cap" if is_capped else ""
            reasons += ["firmware" if dip else usual for dip in dips[:count]]
        busy += [is_busy] * count
        edges.append(edges[-1] + count)
    return Load(
        np.concatenate(power), np.concatenate(clock), np.array(busy), tuple(reasons), tuple(edges)
    )


def temperature_c(power_w: Numbers, board: Board) -> Numbers:
    """Return the temperature that follows the power with a delay."""
    share = PIECE_S / board.warming_s
    start_c = board.ambient_c + board.c_per_w * power_w[0]
    target_c = board.ambient_c + board.c_per_w * power_w
    warmed, _ = lfilter([share], [1, share - 1], target_c, zi=[(1 - share) * start_c])
    return np.asarray(warmed, dtype=np.float64)


def _resting_w(kind: str, board: Board) -> float:
    return {"bare": board.bare_w, "load": board.loading_w, "loaded": board.loaded_w}[kind]


def _busy_w(phase: Phase, board: Board, clock_mhz: Numbers) -> Numbers:
    full_w = board.prefill_w if phase.kind == "prefill" else board.decode_w
    dynamic_w = (full_w - board.loaded_w) * (clock_mhz / board.full_clock_mhz) ** (
        board.power_exponent
    )
    return np.asarray((board.loaded_w + dynamic_w) * phase.power_factor)


def _clock(
    phase: Phase, board: Board, cap_w: float | None, lock_mhz: float | None
) -> tuple[float, bool]:
    """Return the clock, and whether the cap is what holds it down."""
    mhz = min(lock_mhz or board.full_clock_mhz, board.full_clock_mhz)
    demand_w = float(_busy_w(phase, board, np.array([mhz]))[0])
    most_w = min(cap_w or board.limit_w, board.limit_w)
    if demand_w <= most_w:
        return mhz, False
    resting_w = board.loaded_w * phase.power_factor
    share = max((most_w - resting_w) / (demand_w - resting_w), 0.01)
    return float(mhz * share ** (1 / board.power_exponent)), True


def _dips(start: int, work_s: float, every_s: float | None, dip_s: float) -> npt.NDArray[np.bool_]:
    """Return in which pieces the firmware holds the clock down; twice the work is long enough."""
    count = max(int(work_s * 20 / PIECE_S), 20)
    if every_s is None:
        return np.zeros(count, dtype=bool)
    at_s = (start + np.arange(count)) * PIECE_S
    return np.asarray(at_s % every_s + 1e-9 < dip_s)


def _pieces_of_work(phase: Phase, board: Board, clocks: Numbers) -> int:
    """Return in how many pieces the work is done at these clocks."""
    full_mhz = board.full_clock_mhz if phase.kind == "prefill" else board.decode_clock_mhz
    speed = np.minimum(clocks / full_mhz, 1)
    done_s = np.cumsum(speed) * PIECE_S
    return int(np.searchsorted(done_s, phase.work_s - 1e-9)) + 1
