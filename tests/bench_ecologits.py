"""Time EcoLogits' own function on requests: `python bench_ecologits.py CALLS`, in its environment.

CALLS is a CSV file without header: provider, model, output tokens, seconds. Prints the seconds of a
call.
"""

import csv
import sys
import time
from pathlib import Path


def main() -> None:
    """Call the function once for each request."""
    from ecologits.tracers.utils import llm_impacts  # type: ignore[import-not-found]

    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        calls = [(who, model, int(m), float(s)) for who, model, m, s in csv.reader(file)]
    for provider, model in {call[:2] for call in calls}:
        if llm_impacts(provider, model, 300, 2.0).energy is None:
            sys.exit(f"no energy of {model}")
    start = time.perf_counter()
    for provider, model, output_tokens, latency_s in calls:
        llm_impacts(provider, model, output_tokens, latency_s)
    print((time.perf_counter() - start) / len(calls))


if __name__ == "__main__":
    main()
