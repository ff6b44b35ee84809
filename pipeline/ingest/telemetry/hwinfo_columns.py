"""Which columns of an HWiNFO64 log belong to which GPU, in whatever language they are named."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SENSOR = re.compile(r"[d]?GPU \[#(\d+)\]:?\s*(.*?)(?::.*)?")
_NAME_AND_UNIT = re.compile(r"(.*?)\s*\[([^\]]*)\]")
_LIMIT = re.compile(r"(?:GPU )?(?:Performance Limit|性能限制|效能限制) - (.*?) \[.*")
_UNITS = {
    "power_w": ("W",),
    "sm_clock_mhz": ("MHz",),
    "memory_clock_mhz": ("MHz",),
    "power_limit_w": ("W",),
    "temperature_c": ("°C", "℃", "C", "Â°C"),
    "utilisation_frac": ("%",),
}
# The whole board first, then the chip; rails and inputs are parts of the board and never added.
_NAMES = {
    "power_w": ("GPU Power", "GPU Board Power", "Total Board Power", "GPU Total Board Power",
                "Total Graphics Power", "GPU Chip Power", "GPU ASIC Power", "GPU Core Power"),
    "sm_clock_mhz": ("GPU Clock",),
    "memory_clock_mhz": ("GPU Memory Clock",),
    "power_limit_w": ("GPU Power Limit",),
    "temperature_c": ("GPU Temperature", "GPU Thermal Diode"),
    "utilisation_frac": ("GPU Core Load", "GPU Utilization", "GPU D3D Usage"),
}  # fmt: skip
# A name in another language is known by its unit and by being the plainest of the GPU's.
_PLAINEST = ("power_w", "sm_clock_mhz", "temperature_c")
_WORDS = {
    "memory_clock_mhz": ("显存", "記憶體", "Speicher", "mémoire", "memoria"),
    "utilisation_frac": ("核心负载", "核心負載", "Kern", "cœur", "núcleo"),
}
_PARTS = re.compile(
    r"\(|rail|input|output|vrm|8-pin|12vhpwr|nvvdd|fbvdd|limit|max|min|avg|平均|限制|电源轨", re.I
)


@dataclass(frozen=True)
class Gpu:
    """One GPU of a log: its number, its name where told, and where its columns stand."""

    gpu: str
    name: str | None
    columns: Mapping[str, int]
    limits: tuple[tuple[str, int], ...]  # what holds its clock down, and where that is told


def gpus_of(
    names: Sequence[str], sensors: Sequence[str] | None
) -> tuple[tuple[Gpu, ...], list[str]]:
    """Return the GPUs that the columns tell of, and notes on what had to be assumed."""
    if sensors is not None:
        found = _by_sensor(names, sensors)
        if found:
            return found, []
    return _by_place(names)


def _by_sensor(names: Sequence[str], sensors: Sequence[str]) -> tuple[Gpu, ...]:
    places: dict[tuple[str, str], list[int]] = {}
    for at, sensor in enumerate(sensors):
        match = _SENSOR.fullmatch(sensor.strip())
        if match:
            places.setdefault((match[1], match[2].strip()), []).append(at)
    gpus = []
    for (number, name), own in sorted(places.items(), key=lambda item: int(item[0][0])):
        columns = {metric: found[0] for metric in _UNITS if (found := _columns(names, own, metric))}
        if columns:
            gpus.append(Gpu(number, name or None, columns, _limits(names, own)))
    return tuple(gpus)


def _by_place(names: Sequence[str]) -> tuple[tuple[Gpu, ...], list[str]]:
    """Tell GPUs apart by how often a column comes, and give each the columns nearest to it."""
    everywhere = range(len(names))
    found = {metric: _columns(names, everywhere, metric) for metric in _UNITS}
    anchors = found["power_w"] or found["temperature_c"] or found["sm_clock_mhz"]
    limits = _limits(names, everywhere)
    gpus = []
    for number, anchor in enumerate(anchors):
        columns = {}
        for metric, places in found.items():
            if len(places) == len(anchors):
                columns[metric] = places[number]
            elif places and _is_nearest(anchors, anchor, _nearest(places, anchor)):
                columns[metric] = _nearest(places, anchor)
        own_limits = tuple(limit for limit in limits if _is_nearest(anchors, anchor, limit[1]))
        gpus.append(Gpu(str(number), None, columns, own_limits))
    twice = [metric for metric, places in found.items() if len(places) > len(anchors)]
    notes = (
        [f"no sensor row: {', '.join(twice)} stand twice and were taken next to the GPU's power"]
        if twice and anchors
        else []
    )
    return tuple(gpus), notes


def _is_nearest(anchors: Sequence[int], anchor: int, at: int) -> bool:
    return abs(anchor - at) <= min(abs(other - at) for other in anchors)


def _nearest(places: Sequence[int], at: int) -> int:
    distances = [abs(place - at) for place in places]
    return places[distances.index(min(distances))]


def _columns(names: Sequence[str], places: Sequence[int], metric: str) -> list[int]:
    """Return where a metric stands among some places: by English name, else by unit."""
    told = {at: match for at in places if (match := _NAME_AND_UNIT.fullmatch(names[at]))}
    fits = {at: match[1] for at, match in told.items() if match[2] in _UNITS[metric]}
    for name in _NAMES[metric]:
        found = [at for at, text in fits.items() if text == name]
        if found:
            return found
    own = {at: text for at, text in fits.items() if "GPU" in text and not _PARTS.search(text)}
    if metric in _WORDS:
        return [at for at, text in own.items() if any(word in text for word in _WORDS[metric])]
    if metric not in _PLAINEST or not own:
        return []
    plainest = min(own.values(), key=len)
    return [at for at, text in own.items() if text == plainest]


def _limits(names: Sequence[str], places: Sequence[int]) -> tuple[tuple[str, int], ...]:
    matches = [(at, _LIMIT.fullmatch(names[at])) for at in places]
    return tuple(
        (match[1].lower().replace(" ", "_"), at) for at, match in matches if match is not None
    )
