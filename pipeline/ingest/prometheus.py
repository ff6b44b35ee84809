"""Read Prometheus text: what the counters of a server grew by from one scrape to the next.

Of the requests that run, a gauge and no counter, the mean of both scrapes is told.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

_SAMPLE = re.compile(
    r"\s*(?P<name>[a-zA-Z_:][\w:]*)\s*"
    r'(?:\{(?P<labels>(?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(?P<value>[-+]?[\w.+-]+)'
    r"(?:\s+(?P<at>[-+]?[\d.eE+]+))?(?:\s+#.*)?\s*"
)
_LABEL = re.compile(r'([a-zA-Z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\b\d{10}(?:\d{3})?(?:\.\d+)?\b")
_WORDS = ("HELP", "TYPE", "UNIT", "EOF")

# What tells servers and their engines apart; over all other labels a counter is summed.
_GROUP_LABELS = ("instance", "pod", "engine", "model_name")
_START = "process_start_time_seconds"

# Requests that an engine works on at the moment of the scrape; those that wait are not in it.
GAUGES = ("vllm:num_requests_running", "sglang:num_running_reqs", "tgi_batch_current_size")

Series = tuple[str, str]  # name and labels, as they stand


@dataclass
class Scrape:
    """All samples of one look at a server; `at` in seconds since 1970, None where not told."""

    at: float | None = None
    values: dict[Series, float] = field(default_factory=dict)
    lines: dict[Series, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Counters:
    """The counters of one engine and model at one scrape."""

    started_at: float | None  # of the server
    at: float | None
    line: int
    values: Mapping[str, float]  # by series
    gauges: Mapping[str, float]  # by metric, summed over its series

    def follows(self, earlier: "Counters | None") -> bool:
        """Return whether the counters went on from the earlier ones: no restart lies between."""
        return earlier is not None and all(
            value >= earlier.values.get(series, 0) for series, value in self.values.items()
        )

    def grown_since(self, earlier: "Counters | None") -> dict[str, float]:
        """Return what each series grew by; all of it after a restart."""
        if earlier is None or not self.follows(earlier):
            return dict(self.values)
        return {
            series: value - earlier.values.get(series, 0) for series, value in self.values.items()
        }

    def means_since(self, earlier: "Counters | None") -> dict[str, float]:
        """Return the mean of each gauge between two scrapes; unknown since a start."""
        if earlier is None or not self.follows(earlier):
            return {}
        return {
            metric: (value + earlier.gauges[metric]) / 2
            for metric, value in self.gauges.items()
            if metric in earlier.gauges
        }


def metric_names(text: str) -> set[str]:
    """Return the names of a text's metrics; none where it does not begin as Prometheus text."""
    names: set[str] = set()
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        sample = _sample(line)
        if sample is not None:
            names.add(sample["name"])
        elif not names:
            break
    return names


def scrapes_of(text: str) -> tuple[list[Scrape], list[int]]:
    """Return the scrapes of a text, and the numbers of lines that cannot be read.

    A new scrape begins where a series is told again, or after a comment with a time.
    """
    scrapes, bad_lines = [Scrape()], []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#"):
            at = comment_time(line)
            if at is not None:
                scrapes.append(Scrape(at))
        elif line.strip():
            sample = _sample(line)
            if sample is None:
                bad_lines.append(number)
                continue
            series = (sample["name"], sample["labels"] or "")
            if series in scrapes[-1].values:
                scrapes.append(Scrape())
            _add(scrapes[-1], series, sample, number)
    return [scrape for scrape in scrapes if scrape.values], bad_lines


def growths(
    scrapes: Iterable[Scrape], metrics: Iterable[str], latest: dict[str, Counters]
) -> Iterator[dict[str, Any]]:
    """Yield a record for each scrape, engine and model: what the metrics grew by, and when.

    `latest` holds the counters of files read before, and is brought up to date. Files are only
    known to follow each other where their scrapes tell their times; scrapes before those read are
    within them already.
    """
    wanted = set(metrics)
    seen: dict[str, int] = {}
    for scrape in scrapes:
        for name, counters in _grouped(scrape, wanted).items():
            earlier = latest.get(name)
            if name not in seen and None in (counters.at, earlier and earlier.at):
                earlier = None
            if earlier and earlier.at and counters.at and counters.at <= earlier.at:
                continue
            seen[name] = seen.get(name, 0) + 1
            latest[name] = counters
            yield _record(name, counters, earlier, seen[name])


def _record(name: str, counters: Counters, earlier: Counters | None, number: int) -> dict[str, Any]:
    grown: dict[str, float] = {}
    for series, value in counters.grown_since(earlier).items():
        metric = series.partition("{")[0]
        grown[metric] = grown.get(metric, 0) + value
    labels = name.split("\n")
    return {
        **dict(zip(("server_start", *_GROUP_LABELS), labels, strict=True)),
        **grown,
        **counters.means_since(earlier),
        "line": counters.line,
        "name": "/".join((*labels, _iso(counters.at) or f"scrape {number}")),
        "started_at": _iso((earlier and earlier.at) or counters.started_at),
        "ended_at": _iso(counters.at),
        "is_first": earlier is None,
    }


def _grouped(scrape: Scrape, wanted: set[str]) -> dict[str, Counters]:
    """Return the counters of each engine and model, by a name of the server's start and labels."""
    values: dict[str, dict[str, float]] = {}
    gauges: dict[str, dict[str, float]] = {}
    lines: dict[str, int] = {}
    starts = _server_starts(scrape, wanted)
    for (metric, text), value in scrape.values.items():
        if metric in wanted and math.isfinite(value):
            labels = dict(_LABEL.findall(text))
            start = starts.get(labels.get("instance", ""))
            name = "\n".join((_iso(start) or "", *(labels.get(key, "") for key in _GROUP_LABELS)))
            if metric in GAUGES:
                engine = gauges.setdefault(name, {})
                engine[metric] = engine.get(metric, 0) + value
                continue
            values.setdefault(name, {})[f"{metric}{{{text}"] = value
            lines.setdefault(name, scrape.lines[metric, text])
    return {
        name: Counters(
            _time_of(name.partition("\n")[0]), scrape.at, lines[name], series, gauges.get(name, {})
        )
        for name, series in values.items()
    }


def _server_starts(scrape: Scrape, wanted: set[str]) -> dict[str, float]:
    """Return when each instance began to count: as it says, or when its first counter was made."""
    told: dict[str, float] = {}
    made: dict[str, float] = {}
    for (name, text), value in scrape.values.items():
        instance = dict(_LABEL.findall(text)).get("instance", "")
        stem = name.removesuffix("_created")
        if name == _START:
            told[instance] = value
        elif stem != name and {f"{stem}_total", f"{stem}_sum"} & wanted and value > 0:
            made[instance] = min(value, made.get(instance, value))
    return made | told


def _sample(line: str) -> dict[str, Any] | None:
    match = _SAMPLE.fullmatch(line)
    if match is None:
        return None
    try:
        return {**match.groupdict(), "number": float(match["value"])}
    except ValueError:
        return None


def _add(scrape: Scrape, series: Series, sample: Mapping[str, Any], line: int) -> None:
    scrape.values[series] = sample["number"]
    scrape.lines[series] = line
    if sample["at"] is not None:
        scrape.at = _seconds(float(sample["at"]))


def comment_time(line: str) -> float | None:
    """Return the time in a comment of the file's own, such as `# 2026-10-01T12:00:00Z`."""
    text = line.lstrip("# \t")
    found = None if text.startswith(_WORDS) else _TIME.search(text)
    if found is None:
        return None
    return _seconds(float(found[0])) if found[0][:5].isdigit() else _time_of(found[0])


def _time_of(text: str) -> float | None:
    """Read an ISO time; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _seconds(number: float) -> float:
    """Prometheus tells milliseconds, OpenMetrics seconds."""
    return number / 1000 if abs(number) > 1e11 else number


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
