"""The pages that `make bench` writes say what was measured, and compute the rest from it."""

import pytest
from bench_page import ROOT, judged, sizing, spelt_s

MEASURED = {100_000: (0.9, 0.2), 1_000_000: (2.0, 0.4), 10_000_000: (20.0, 1.3)}


def test_what_is_not_measured_follows_from_the_last_two_sizes() -> None:
    page = sizing((ROOT / "docs" / "SIZING.md").read_text(encoding="utf-8"), MEASURED)

    # (20 − 2) s ÷ 9 = 2 s and (1.3 − 0.4) GB ÷ 9 = 0.1 GB a million
    assert "a further million costs **2.00 s** and about **0.10 GB**" in page
    assert "| 10,000,000 | 20 s | 500,000 | 1.30 GB |" in page
    assert "| 10⁷ | the same | 20 s | < 0.01 USD | measured on 2 cores: 20 s |" in page
    # 1,000 × 2 s = 33.3 min on two cores, a sixth at best; 2,000 s ÷ 3,600 × 16 × 0.05 USD
    assert "| 5.6 min to 33.3 min | 0.44 USD | 1,000 × 2.00 s = 33.3 min on 2 |" in page
    assert sizing(page, MEASURED) == page


def test_a_page_without_the_place_of_a_table_is_refused() -> None:
    with pytest.raises(SystemExit, match="expected one place for measured, found 0"):
        sizing("# Sizing", MEASURED)


def test_a_target_says_whether_it_is_met() -> None:
    assert judged(4.0, 4.0) == "≤ 4 ×: met"
    assert judged(4.1, 4.0, "GB") == "≤ 4 GB: missed"
    assert [spelt_s(each) for each in (0.421, 15.2, 144, 14_400)] == [
        "0.42 s", "15 s", "2.4 min", "4.0 h",
    ]  # fmt: skip
