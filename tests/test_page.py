"""The page is one file that loads nothing, reads without a script and believes no text of a log."""

import base64
import dataclasses
import functools
import hashlib
import html
import itertools
import json
import re
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from need import need_program
from report_frames import HOSTILE, hostile_report, report

from pipeline.report import page
from pipeline.report.language import language_of
from pipeline.report.section import Column, Figure, Report, Section, Table
from pipeline.settings import bundled

_VOID = {"meta", "img", "source", "link", "br"}
_LEFT_OPEN = {"td", "th", "tr", "dt", "dd"}  # HTML ends these by itself
_CHROMIUM = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"),
    "--host-resolver-rules=MAP * ~NOTFOUND",  # the browser's own errands go nowhere
)


@functools.cache
def _rendered(made: Report) -> str:
    return page.render(made)


class _Reader(HTMLParser):
    """Every tag with its attributes, and the text of every cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID | _LEFT_OPEN:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _LEFT_OPEN:
            return
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def _inline(text: str, tag: str) -> str:
    (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
    return str(body)


def _long_report(rows: int) -> Report:
    columns = (Column("file", "File", "text"), Column("rows", "Rows", "count"))
    table = Table("long", "Long", columns, tuple((f"file {n}", n) for n in range(rows)))
    section = Section("only", "Only", "Only", "What?", tables=(table,))
    return Report("Title", "2026-06", False, "1", "run", sections=(section,))


@pytest.mark.slow
def test_the_page_has_the_same_bytes_twice() -> None:
    assert page.render(report()) == page.render(report())


@pytest.mark.slow
def test_the_policy_admits_the_one_style_and_the_one_script_alone() -> None:
    text = _rendered(report())
    policy = next(a["content"] for a in _Reader(text).all("meta") if "http-equiv" in a)
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(_inline(text, t).encode()).digest()).decode()
        for t in ("style", "script")
    ]

    assert policy == (
        f"default-src 'none'; style-src {hashes[0]}'; script-src {hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def figures_of(made: Report) -> list[Figure]:
    """Return all figures of a report in their order."""
    return [figure for section in made.sections for figure in section.figures]


def test_the_page_carries_no_style_or_handler_in_an_attribute() -> None:
    attributes = {name for _, values in _Reader(_rendered(report())).tags for name in values}

    assert not {name for name in attributes if name == "style" or name.startswith("on")}


def test_the_page_loads_nothing() -> None:
    reader = _Reader(_rendered(report()))
    sources = [a["src"] or "" for a in reader.all("img")]
    sources += [a["srcset"] or "" for a in reader.all("source")]

    small = sum(
        len(section.figures) for section in report().sections if section.name in page.SMALL_FIGURES
    )
    # wide and narrow, of sections on the method one drawing for both
    assert len(sources) == 2 * len(figures_of(report())) - small
    assert 0 < small < len(figures_of(report()))
    assert all(source.startswith("data:image/svg+xml,%3Csvg") for source in sources)
    links = {a["href"] or "" for a in reader.all("a")}
    assert {link for link in links if not link.startswith("#")} <= {"joulebook-2026-06.xlsx"}
    assert not reader.all("link")
    assert "http:" not in re.sub('image/svg[^"]*', "", _rendered(report()))


def test_every_table_has_a_caption_and_every_head_a_scope() -> None:
    reader = _Reader(_rendered(report()))

    tables = [table for section in report().sections for table in section.tables]
    shown = len(tables) + len(figures_of(report()))
    assert len(reader.all("table")) == len(reader.all("caption")) == shown
    assert {a.get("scope") for a in reader.all("th")} == {"col", "row"}


def test_every_figure_has_a_text_for_those_who_do_not_see_it() -> None:
    images = _Reader(_rendered(report())).all("img")

    assert [a["alt"] for a in images] == [figure.alt for figure in figures_of(report())]
    assert [(a["alt"] or "")[:9] for a in images][:2] == ["Waterfall", "Bar chart"]


def test_headings_come_in_order_under_one_first_heading() -> None:
    levels = [int(tag[1]) for tag, _ in _Reader(_rendered(report())).tags if tag[1:].isdigit()]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_the_page_names_its_language_and_lets_a_reader_skip_to_the_report() -> None:
    reader = _Reader(_rendered(report()))

    assert reader.all("html") == [{"lang": "en"}]
    assert reader.all("a")[0] == {"class": "skip", "href": "#main"}
    assert reader.all("main") == [{"id": "main"}]
    assert not reader.open  # every tag is closed


def test_every_anchor_leads_somewhere_and_no_name_is_used_twice() -> None:
    reader = _Reader(_rendered(report()))
    names = Counter(a["id"] for _, a in reader.tags if "id" in a)
    targets = {(a["href"] or "")[1:] for a in reader.all("a") if (a["href"] or "")[0] == "#"}
    labels = {a["aria-labelledby"] for _, a in reader.tags if "aria-labelledby" in a}

    assert max(names.values()) == 1
    assert (targets | labels) <= set(names)


@pytest.mark.slow
def test_text_from_a_log_is_escaped() -> None:
    text = _rendered(hostile_report())
    reader = _Reader(text)

    assert [a.get("type") for a in reader.all("script")] == ["application/json", None]
    assert len(reader.all("img")) == len(figures_of(hostile_report()))
    assert "{{ 7 * 7 }}" in text
    for hostile in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'):
        assert hostile not in text
        assert html.escape(hostile).replace("&quot;", "&#34;") in text
    assert not set("\x00\x07\x1b\r") & set(text)


def test_the_shown_total_ties_to_the_cent() -> None:
    text = _rendered(report())

    assert '<dd class="value">1.50<span class="unit"> USD</span></dd>' in text  # 1.504999
    assert "<td>1.50<" in text


def test_unknown_is_shown_as_unknown() -> None:
    text = _rendered(report())

    assert "<td class=u>unpriced<" in text
    assert "<td class=u>unmeasured<" in text
    assert "<th scope=row class=u>unattributed<" in text


def test_not_a_number_is_said_in_words() -> None:
    columns = (Column("name", "Name", "text"), Column("energy_j", "Energy", "j", "J"))
    table = Table("t", "T", columns, (("a", float("nan")), ("b", float("inf"))))
    section = Section("s", "S", "S", "What?", tables=(table,))

    text = _rendered(Report("T", "2026-06", False, "1", "run", sections=(section,)))

    assert text.count("<td class=u>not a number") == 2


@pytest.mark.slow
def test_only_a_sample_carries_the_banner() -> None:
    sample = dataclasses.replace(report(), is_generated_sample=True)

    assert "Generated sample data." in _rendered(sample)
    assert "Generated sample data." not in _rendered(report())


def test_a_long_table_scrolls_and_says_how_many_rows_it_has() -> None:
    assert '<p class="source">31 rows.</p>' in _rendered(_long_report(31))
    assert 'class="scroll tall"' in _rendered(_long_report(31))
    assert 'class="scroll tall"' not in _rendered(_long_report(30))


def test_a_very_long_table_is_cut_and_says_where_the_rest_is() -> None:
    text = _rendered(_long_report(1_000))

    assert (
        '1000 rows, of which the first 600 are shown; all are in <a href="joulebook-2026-06.xlsx">'
        "the workbook</a>." in text
    )
    assert text.count("<th scope=row") == 600


def test_a_meaning_of_several_tables_is_told_once() -> None:
    columns = (
        Column("model_id", "Model", "text", meaning="Alike."),
        Column("cost_usd", "Cost", "usd", meaning="As billed."),
    )
    other = (columns[0], Column("cost_usd", "Cost", "usd", meaning="At list price."))
    tables = (Table("a", "A", columns, ()), Table("b", "B", other, ()))
    section = Section("s", "S", "S", "What?", tables=tables)

    text = _rendered(Report("T", "2026-06", False, "1", "run", sections=(section,)))

    for meaning in ("Alike.", "As billed.", "At list price."):
        assert text.count(f"<dd>{meaning}") == 1


def test_a_finding_shows_amount_range_grade_batch_and_the_rows_behind_it() -> None:
    text = _rendered(report())
    shown = text[text.index('<ol class="findings">') : text.index("</ol>")]

    for part in ("9.50<", "0.3000 – 3.400 kWh", "probability 95.0%", "Grade D, batch 5; 816"):
        assert part in shown
    assert shown.count("<li>") == 2  # the third proposal is within noise
    assert '<a href="#agents">Agents and caching</a>' in shown
    assert (
        text.index('id="bridge"') < text.index('id="findings"') < text.index('id="cost_per_task"')
    )


def test_numbers_and_words_follow_the_language_of_the_page() -> None:
    text = page.render(report(), language_of("es"))

    assert '<html lang="es">' in text
    assert "Saltar al informe" in text
    assert '<dd class="value">1,50<span class="unit"> USD</span></dd>' in text  # 1.504999
    assert "Una tarea de llama-3.1-8b consume 1.800.000 J de energía de GPU" in text
    assert '"marks":{"decimal":",","group":"."}' in text
    assert "<td>72.000<" in text  # 72,000 J in the table behind a figure
    for english in ("Copy as CSV", "The numbers behind", "What the columns mean", ">Teams</h2>"):
        assert english not in text
    assert text == page.render(report(), language_of("es"))  # the same bytes


def test_colours_keep_enough_contrast_in_both_schemes() -> None:
    style = (bundled("templates") / "style.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", part))
        for part in re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)[:2]
    )

    for scheme in (light, dark):
        for ink in ("ink", "faint-ink", "accent", "bad"):
            for ground in ("paper", "raised"):
                assert _contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.slow
def test_a_browser_opens_the_page_without_a_complaint_or_a_request(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(_rendered(hostile_report()), encoding="utf-8")

    done = _browse(
        tmp_path, "index.html", "--enable-logging=stderr", f"--log-net-log={tmp_path / 'net.json'}"
    )

    assert "CONSOLE" not in done.stderr
    assert done.stdout.count('<button type="button">') > 100  # the script ran under the policy
    assert _requested(tmp_path / "net.json") == set()


@pytest.mark.slow
def test_a_click_on_a_head_sorts_the_table_with_unknown_last(tmp_path: Path) -> None:
    columns = (Column("file", "File", "text"), Column("rows", "Rows", "count"))
    rows = (("b", 1_000), ("a", None), ("c", 20))
    table = Table("sorted", "Sorted", columns, rows, ("Total", 1_020))
    section = Section("only", "Only", "Only", "What?", tables=(table,))
    text = _rendered(Report("T", "2026-06", False, "1", "run", sections=(section,)))
    text = re.sub("<meta http-equiv[^>]*>", "", text)  # lets the click below run
    click = "<script>document.querySelectorAll('th button')[1].click();</script>"
    (tmp_path / "sort.html").write_text(text.replace("</body>", f"{click}</body>"), "utf-8")

    shown = _browse(tmp_path, "sort.html").stdout

    assert re.findall(r'<th scope="row"[^>]*>(\w+)</th>', shown) == ["b", "c", "a", "Total"]
    assert 'aria-sort="descending"' in shown


def _browse(folder: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    chromium = need_program("chromium")
    profile = f"--user-data-dir={folder / 'profile'}"
    address = (folder / name).as_uri()
    command = [chromium, *_CHROMIUM, profile, "--dump-dom", *options, address]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)


def _requested(net_log: Path) -> set[str]:
    """Return what the page asked for; a page from a file has the origin null, the browser none."""
    events = json.loads(net_log.read_text(encoding="utf-8"))["events"]
    params = [event.get("params", {}) for event in events]
    asked = [p["url"] for p in params if "url" in p and p.get("initiator") == "null"]
    return {url for url in asked if url.startswith(("http:", "https:", "ws:", "wss:"))}


def test_the_corpus_of_hostile_texts_is_in_the_page_in_full() -> None:
    text = html.unescape(_rendered(hostile_report()))

    for hostile in HOSTILE:
        if hostile.isprintable():
            assert hostile in text
