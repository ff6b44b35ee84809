"""The page in a browser: it asks for nothing, complains of nothing, and can be used by anyone."""

import csv
import inspect
import io
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from need import need_program
from playwright.sync_api import Browser, Page, sync_playwright
from report_frames import (
    FACTS,
    MONTH,
    agentic_mart,
    concurrency_mart,
    cost_mart,
    energy_mart,
    findings_mart,
    frames,
    hostile_report,
    implied_mart,
    items_mart,
    model_mart,
    report,
    spot_mart,
    team_mart,
    waste_mart,
)
from test_dialects import Law, draws

from pipeline.dialects import javascript_functions
from pipeline.errors import WrongUseError
from pipeline.estimate import Question, estimate
from pipeline.frames.calculator import calculator_rows
from pipeline.laws import facility, ranges, simple, work
from pipeline.report import page
from pipeline.report.assemble import ReportFacts, build_report
from pipeline.report.language import language_of
from pipeline.report.section import Column, Report, Section, Table
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

# Dense, experts, latent attention, windows, linear layers, few bits; open and closed.
MODELS = (
    *("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-8B", "meta-llama/Llama-3.3-70B-Instruct"),
    *("Qwen/Qwen3-30B-A3B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3"),
    *("google/gemma-3-27b-it", "Qwen/Qwen3-Next-80B-A3B-Instruct", "gpt-4o", "claude-opus-4-8"),
)
SAME = (
    *("prefill_energy_j", "kv_cache_energy_j", "next_token_energy_j", "energy_j", "bias_factor"),
    *("gpu_energy_j", "facility_energy_kwh", "carbon_gco2e", "effective_batch", "gpu_count"),
    *("optimum_output_tokens", "energy_low_j", "energy_high_j"),
)

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = need_program("chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def book() -> Report:
    settings = Settings()
    facts = ReportFacts(
        *(FACTS.run_id, FACTS.method_version, FACTS.is_generated_sample, FACTS.time_zone),
        inputs=FACTS.inputs,
        calculator=calculator_rows(settings),
    )
    return build_report(frames(), MONTH, facts)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a report in a context of its own; every complaint or request fails the test."""
    complaints: list[str] = []
    contexts = []

    def run(
        made: Report,
        fragment: str = "",
        language: str = "en",
        **options: Any,  # noqa: ANN401
    ) -> Page:
        file = tmp_path / "index.html"
        file.write_text(page.render(made, language_of(language)), encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith(("file:", "data:"))
                else complaints.append(f"asked for {asked.url}")
            ),
        )
        tab.goto(file.as_uri() + fragment)
        if made.calculator and options.get("java_script_enabled", True):
            tab.locator("#calculator-form").wait_for()  # its tables are unpacked aside
        return tab

    yield run
    for context in contexts:
        context.close()
    assert complaints == []


def faults(tab: Page) -> list[str]:
    """Return what the checker finds, in sections out of sight too."""
    tab.evaluate(
        "document.querySelectorAll('main > section').forEach("
        "section => { section.style.contentVisibility = 'visible'; })"
    )
    found = Axe().run(tab).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out_in_either_colour_scheme(
    opened: Open, book: Report, scheme: str
) -> None:
    assert faults(opened(book, color_scheme=scheme)) == []


def test_the_spanish_page_counts_sorts_and_copies_as_the_english_one(
    opened: Open, book: Report
) -> None:
    columns = (Column("team", "Team", "text"), Column("cost", "Cost", "usd", "USD"))
    rows = (("b", 1_234.5), ("a", 20.0), ("c", -3.25), ("d", 900.0))
    teams = Table("teams", "Teams", columns, rows)
    section = Section("s", "S", "S", "?", tables=(teams,))
    made = Report("T", MONTH, False, "1", "run", sections=(section,))

    tab = opened(book, language="es")
    assert faults(tab) == []
    assert tab.locator("#calculator-table tbody td").first.inner_text().count(".") == 0

    tab = opened(made, language="es", permissions=["clipboard-read", "clipboard-write"])
    block = tab.locator(".table-block")
    assert block.locator("tbody td").all_inner_texts() == ["1.234,50", "20,00", "−3,25", "900,00"]
    block.get_by_role("button", name="Coste").click()
    assert block.locator("tbody th").all_inner_texts() == ["b", "d", "a", "c"]
    block.get_by_role("button", name="Copiar como CSV").click()
    copied = list(csv.reader(io.StringIO(tab.evaluate("navigator.clipboard.readText()"))))
    assert copied[1:] == [["b", "1234.50"], ["d", "900.00"], ["a", "20.00"], ["c", "-3.25"]]


def test_nobody_is_shut_out_without_the_script(
    browser: Browser, opened: Open, book: Report
) -> None:
    still = opened(book, java_script_enabled=False).content()
    # The checker is a script itself, so what stands there without ours is checked with scripts on.
    context = browser.new_context()
    tab = context.new_page()
    tab.set_content(still.replace("<script>", "<script type='text/plain'>"))

    found = faults(tab)

    context.close()
    assert found == []


def test_a_hostile_log_leaves_a_page_that_works(opened: Open) -> None:
    tab = opened(hostile_report())

    assert tab.locator("th button").count() > 100
    assert tab.locator("main script:not([type])").count() == 0
    assert faults(tab) == []


@pytest.mark.parametrize("name", ["teams", "law_validation", "about"])
def test_a_link_of_the_menu_leads_to_its_section(opened: Open, name: str) -> None:
    # Sections are drawn only in sight, so their heights are guesses until then.
    tab = opened(report(), viewport={"width": 1280, "height": 600})

    tab.locator(f"nav a[href='#{name}']").click()
    tab.wait_for_timeout(500)

    assert abs(tab.locator(f"#{name}").evaluate("e => e.getBoundingClientRect().top")) < 2


def test_rows_are_filtered_by_every_word(opened: Open) -> None:
    tab = opened(hostile_report())
    block = tab.locator(".table-block", has=tab.locator("#table-team_chargeback"))

    block.get_by_role("searchbox").fill("script alert")

    shown = block.locator("tbody tr:visible")
    assert sorted(shown.locator("th").all_inner_texts()) == [
        "</style><script>alert(2)</script>",
        "<script>alert(1)</script>",
    ]


def test_a_table_is_copied_as_csv_that_runs_nothing(opened: Open) -> None:
    tab = opened(hostile_report(), permissions=["clipboard-read", "clipboard-write"])
    block = tab.locator(".table-block", has=tab.locator("#table-team_chargeback"))

    block.get_by_role("button", name="Copy as CSV").click()

    assert block.get_by_role("status").inner_text() == "Copied."
    rows = list(csv.reader(io.StringIO(tab.evaluate("navigator.clipboard.readText()"))))
    assert len({len(row) for row in rows}) == 1
    assert "'=1+1" in [row[0] for row in rows]
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+@")]
    assert not [cell for row in rows for cell in row if cell[:1] == "-" and not float(cell)]


@pytest.mark.usefixtures("estimates_share_reference")
def test_the_calculator_says_what_estimate_says(opened: Open, book: Report) -> None:
    tab, dice, settings = opened(book), random.Random(20261130), Settings()  # noqa: S311
    gpus = [None, "H100-SXM", "H200-SXM", "B200", "A100-80GB-PCIe"]
    known = {row["gpu"] for row in calculator_rows(settings)["gpus"]}
    for number in range(50):
        n, m = dice.randint(1, 30_000), dice.randint(0, 3_000)
        gpu = dice.choice([each for each in gpus if each is None or each in known])
        question = Question(
            model=MODELS[number % len(MODELS)],
            input_tokens=n,
            output_tokens=m,
            cached_tokens=dice.choice([0, n // 2, n]),
            batch=dice.choice([1, 8, 12.5, 64, 256]),
            gpu=gpu,
        )
        try:
            wanted: dict[str, Any] | None = estimate(settings, question)
        except WrongUseError:
            wanted = None
        asked = {
            **{"model": question.model, "gpu": gpu or "", "input": n, "output": m},
            **{"cached": question.cached_tokens, "batch": question.batch, "tariff": 0.1},
            **{"host": 1.43, "idle": 1.12, "pue": 1.2, "grid": 473},
        }
        found = tab.evaluate(
            "asked => document.getElementById('calculator-form').joulebookEstimate(asked)", asked
        )
        assert found["fits"] == (wanted is not None), asked
        if wanted is not None:
            for name in SAME:
                assert found[name] == pytest.approx(wanted[name], rel=1e-9), (name, asked)
            price = wanted["list_cost_usd"]
            assert found["list_cost_usd"] == (
                None if price is None else pytest.approx(float(price), rel=1e-9)
            )
            assert found["is_own_set"] == wanted["is_own_set"]
            assert found["evidence_grade"] == wanted["evidence_grade"]


def test_a_law_has_the_same_number_in_the_page(browser: Browser) -> None:
    dice = random.Random(20261130)  # noqa: S311
    drawn_laws = (*work.LAWS, *simple.LAWS, *facility.LAWS, *ranges.LAWS)
    drawn = {law.__name__: draws(law) for law in drawn_laws}
    for exact in work.EXACT_LAWS:
        width = len(inspect.signature(exact).parameters)
        drawn[exact.__name__] = [[dice.randint(0, 2**39) for _ in range(width)] for _ in range(50)]
    laws: list[Law] = [*drawn_laws, *work.EXACT_LAWS]
    call = f"drawn => {{ {javascript_functions(laws)}; return Object.fromEntries(" + (
        "Object.entries(drawn).map(([name, rows]) => [name, rows.map(row => eval(name)(...row))])"
        "); }"
    )
    context = browser.new_context()

    found = context.new_page().evaluate(call, drawn)

    context.close()
    for law in laws:
        name = law.__name__
        assert found[name] == [pytest.approx(law(*row), rel=1e-12, abs=0) for row in drawn[name]], (
            name
        )


def test_what_was_chosen_stands_in_the_address_and_comes_back(opened: Open, book: Report) -> None:
    tab = opened(book)
    tab.get_by_label("Output", exact=False).first.fill("777")
    tab.get_by_label("Model 2").select_option("gpt-4o")
    energies = tab.locator("#calculator-said").inner_text()

    again = opened(book, fragment="#" + tab.url.partition("#")[2])

    again.wait_for_function("document.getElementById('calculator-said').innerText !== ''")
    assert again.locator("#calculator-output").input_value() == "777"
    assert again.locator("#calculator-model2").input_value() == "gpt-4o"
    assert again.locator("#calculator-said").inner_text() == energies


def test_a_foreign_address_changes_nothing_it_should_not(opened: Open, book: Report) -> None:
    hostile = "#calculator&input=<script>&models=%3Cimg%20src=x%3E,nobody&gpu=__proto__&x=1"

    tab = opened(book, fragment=hostile)

    assert tab.locator("#calculator-input").input_value() == "900"
    assert tab.locator("#calculator-model1").input_value() == ""
    assert tab.locator("main img[src='x']").count() == 0


def test_the_calculator_says_what_is_wrong_with_a_number(opened: Open, book: Report) -> None:
    tab = opened(book)

    tab.locator("#calculator-cached").fill("901")

    assert "at most the input" in tab.locator("#calculator-said").inner_text()


def test_the_calculator_can_be_used_from_the_keyboard(opened: Open, book: Report) -> None:
    tab = opened(book)
    before = tab.locator("#calculator-table tbody").inner_text()

    tab.locator("#calculator-input").focus()
    tab.keyboard.press("ArrowUp")

    assert tab.locator("#calculator-input").input_value() == "901"
    assert tab.locator("#calculator-table tbody").inner_text() != before


def test_the_page_prints_without_cutting_a_table(opened: Open) -> None:
    tab = opened(report())
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 1016, "height": 700})  # A4 across, less its margins

    cut = tab.evaluate(
        "Array.from(document.querySelectorAll('.scroll')).filter(box => "
        "box.offsetParent && box.scrollWidth > box.clientWidth + 1)"
        ".map(box => box.textContent.slice(0, 60))"
    )

    assert cut == []


def test_a_long_table_has_pages_and_all_its_rows_in_print(opened: Open) -> None:
    tab = opened(_long_table(450))
    numbers = tab.locator("#table-long tbody th:visible")

    assert (numbers.first.inner_text(), numbers.last.inner_text()) == ("row 0", "row 199")
    tab.get_by_role("button", name="Next rows").click()
    tab.get_by_role("button", name="Next rows").click()
    assert (numbers.first.inner_text(), numbers.last.inner_text()) == ("row 400", "row 449")
    assert tab.get_by_role("button", name="Next rows").is_disabled()
    assert "Rows 401 to 450 of 450" in tab.locator(".tools").inner_text()

    tab.get_by_role("searchbox").fill("row 44")  # 44, 144, 244, 344 and 440 to 449
    assert numbers.count() == 14
    tab.get_by_role("searchbox").fill("")
    tab.locator("#table-long th button").nth(1).click()  # largest first
    assert numbers.first.inner_text() == "row 449"
    assert faults(tab) == []

    tab.emulate_media(media="print")
    assert numbers.count() == 450


def test_a_long_table_is_whole_without_the_script(opened: Open) -> None:
    tab = opened(_long_table(450), java_script_enabled=False)

    assert tab.locator("#table-long tbody th:visible").count() == 450


def _long_table(rows: int) -> Report:
    columns = (Column("name", "Name", "text"), Column("rows", "Rows", "count"))
    table = Table("long", "Long", columns, tuple((f"row {n}", n) for n in range(rows)))
    section = Section("only", "Only", "Only", "What?", tables=(table,))
    return Report("Title", "2026-06", False, "1", "run", sections=(section,))


def test_a_month_of_500_models_and_200_teams_is_a_page_that_scrolls(opened: Open) -> None:
    classes = ("chat", "rag", "summarization", "code_completion", "reasoning", "agentic")
    lines = [
        {"model_id": f"vendor/model-of-some-name-{model:03}", "query_class": query_class}
        for model in range(500)
        for query_class in (*classes, "batch_extraction", "other")
    ]
    costs = cost_mart(*(line | {"request_count": 1} for line in lines))
    large = report(
        mart_cost_per_task=costs,
        mart_energy_per_class=energy_mart(*lines),
        mart_concurrency=concurrency_mart(*lines),
        mart_implied_batch=implied_mart(*lines),
        mart_model_comparison=model_mart(*lines),
        mart_sweet_spot=spot_mart(*lines),
        mart_items_per_call=items_mart(*lines),
        mart_waste=waste_mart(*lines),
        mart_findings=findings_mart(*lines),
        mart_agentic=agentic_mart(*lines[:500]),
        mart_team_chargeback=team_mart(*({"team": f"team {n:03}"} for n in range(200))),
    )

    before = time.process_time()
    text = page.render(large)
    assert time.process_time() - before < 5  # seconds
    assert len(text.encode()) < 2_000_000
    tab = opened(large)
    reached = tab.evaluate("window.scrollTo({ top: 1e7, behavior: 'instant' }); window.scrollY")
    assert reached > 10_000
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
