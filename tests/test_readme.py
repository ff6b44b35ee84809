"""README and its pages are true: commands run, tables are those of the code, files are there."""

import re
import shlex
import tomllib
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from pipeline import errors, warehouse
from pipeline.cli import app
from pipeline.ingest.contract import NO_USAGE, RULES
from pipeline.ingest.sources import GENERAL_COLUMNS, SOURCE_BY_NAME, SOURCES
from pipeline.laws import simple, work
from pipeline.monthly.workspace_load import FUTURE_RULE
from pipeline.overlays import attribution, model_names
from pipeline.overlays.mapping_files import PERIOD
from pipeline.reference import load_reference, reference_rows
from pipeline.settings import ASSUME_KEYS, PLACES, Deployment, Settings, read_settings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)  # with what it links to

MOST_PICTURE_BYTES = 150_000
CONTAINER_WORDS = {"table": "CSV", "json": "JSON", "metrics": "text"}


def section(title: str) -> str:
    """Return what stands under a heading, up to the next one of its rank or above."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,2}} |\Z)", README, re.M | re.S)
    assert found, f"README has no section '{title}'"
    return found.group(2)


def table(first_header: str) -> list[list[str]]:
    """Return the cells of the table whose first column has this header."""
    found = re.search(
        rf"^\| {re.escape(first_header)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", README, re.M
    )
    assert found, f"README has no table of '{first_header}'"
    lines = found.group(1).splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines]


def spans(text: str) -> list[str]:
    """Return what stands between backticks, code blocks left out."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def commands() -> list[str]:
    """Return every whole `joulebook` command line, without what only a shell understands."""
    lines = [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines()]
    whole = [span for span in spans(README) if " " in span and "…" not in span]
    return [line for line in (*lines, *whole) if line.startswith("joulebook ")]


def run(command: str) -> str:
    """Run a command line in this process; return its standard output."""
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    return result.stdout


# Commands and outputs ------------------------------------------------------------------------


@pytest.mark.parametrize("command", commands())
def test_every_command_is_understood(command: str) -> None:
    assert "Usage: " in run(f"{command} --help")


def test_every_command_of_the_program_is_shown() -> None:
    shown = {command.split()[1] for command in commands()}

    known = {command.callback.__name__ for command in app.registered_commands}  # type: ignore[union-attr]
    assert shown == known | {str(group.name) for group in app.registered_groups}


@pytest.mark.slow
def test_a_printed_output_is_what_the_command_prints() -> None:
    pairs = re.findall(
        r"^```sh\n(joulebook [^\n]*)\n```\n\n```text\n(.*?)^```", README, re.M | re.S
    )

    assert pairs
    for command, output in pairs:
        assert run(command) == output


@pytest.mark.slow
def test_the_part_of_an_explanation_that_is_shown_is_what_the_command_prints() -> None:
    shown = section("Explain one number").split("```text\n")[2].split("```")[0].splitlines()
    printed = iter(run("joulebook explain gw-2610000011").splitlines())

    assert len(shown) > 10
    for line in shown:
        assert line == "…" or line in printed  # in this order: each look goes on from the last


@pytest.mark.slow
def test_the_tiers_beside_the_published_figures_are_estimates_of_today() -> None:
    command = next(line for line in commands() if "--model gpt-4o" in line)
    rows = [row for row in table("request") if row[0].startswith("`")]

    assert len(rows) == len({row["stand_in_tier"] for row in reference_rows("stand_ins")})
    for name, electricity, energy in rows:
        model = spans(name)[0]
        printed = run(command.replace("gpt-4o", model))
        assert f" {electricity}," in printed
        assert f"({energy.removesuffix(' J')})" in printed


def test_the_worked_example_is_the_arithmetic_of_the_law() -> None:
    body = work.attention_params(32, 4096, 32, 8, 128)
    body += work.ffn_params(32, 32, 4096, 3, 14336, 14336, 0, 0)
    head = work.head_params(128256, 4096)
    pair = work.attention_flop_per_pair(32, 32, 128)
    position = work.kv_bytes_per_position(2, 32, 8, 128)
    prefill = work.prefill_flop(body, head, pair, 900, work.prefill_pairs(900, 0, 1, 1), 1)
    decode = work.decode_flop(body, head, work.decode_steps(300, 1))
    attention = work.decode_attention_flop(pair, work.decode_pairs(900, 300, 1, 1, 1))
    cache = work.kv_read_bytes(position, work.cache_positions(900, 300, 1, 1, 1))
    weights = work.weight_read_bytes(work.weight_bytes(2, body + head), 300)
    steps = work.layer_steps(32, 300, 1)
    a, b, c, s = 1.199e-12, 2.551e-10, 1.394e-10, 0.0227
    terms = (
        simple.prefill_energy_j(a, prefill),
        simple.kv_cache_energy_j(a, b, cache, attention),
        simple.next_token_energy_j(a, c, s, 0, decode, weights, steps, 300, 1),
    )
    text = section("Check one number by hand")

    for count in (body, head, pair, position, prefill, decode, attention, cache, weights, steps):
        assert f"= {int(count):,}" in text
    for term in (*terms, sum(terms)):
        assert f"{term:.6f} J" in text
    assert f"{1.15 * sum(terms):,.3f} J" in text
    assert f"{1.15 * sum(terms) * 1.43 * 1.12 * 1.20 / 3600:.4f} Wh" in text
    (default,) = (
        row
        for row in reference_rows("law_coefficients")
        if row["coefficient_set_id"] == "h100-sxm-vllm-1"
    )
    columns = ("a_j_per_flop", "b_j_per_kv_byte", "c_j_per_weight_byte", "s_j_per_layer_step")
    assert [float(default[column]) for column in columns] == [a, b, c, s]


# Your own logs -------------------------------------------------------------------------------


def test_the_log_forms_are_those_that_are_read() -> None:
    shown = {form: files for form, files, _ in table("form")}

    assert set(shown) == {source.title for source in SOURCES}
    for source in SOURCES:
        words = {word for kind, word in CONTAINER_WORDS.items() if kind in source.containers}
        words |= {"Parquet"} if "table" in source.containers else set()
        assert set(shown[source.title].split(", ")) == words


def test_a_form_that_needs_to_be_told_something_says_so() -> None:
    shown = {form: needs for form, _, needs in table("form")}

    for source in SOURCES:
        told = "".join(re.findall(r"--assume (\S+?)`", shown[source.title]))
        assert tuple(re.findall(r"(\w+)=", told)) == source.needs


def test_the_general_form_has_the_columns_that_its_source_declares() -> None:
    shown = [name for row in table("column of the general form") for name in spans(row[0])]
    (unused,) = re.findall(r"^Read too, .*?\n\n", README, re.M | re.S)

    shown += spans(unused)
    assert sorted(shown) == sorted(GENERAL_COLUMNS)


def test_the_columns_that_a_general_file_must_have_are_marked() -> None:
    rows = table("column of the general form")

    required = [spans(row[0])[0] for row in rows if row[2].strip(" |") == "**yes**"]
    assert sorted(required) == sorted(SOURCE_BY_NAME["general"].signature)


def test_the_query_classes_are_the_listed_ones() -> None:
    (row,) = (row for row in table("column of the general form") if row[0] == "`query_class`")

    shown = row[1].split(";")[0].split(", ")
    assert sorted(shown) == sorted(each["query_class"] for each in reference_rows("query_classes"))


def test_the_keys_of_assume_are_all_named() -> None:
    paragraph = section("What a log does not say").strip().split("\n\n")[0]

    assert sorted(spans(paragraph)[1:]) == sorted(ASSUME_KEYS)


def test_the_settings_shown_are_all_there_are_and_can_be_read(tmp_path: Path) -> None:
    text = max(blocks("toml"), key=len)  # the whole list, beside a first example
    path = tmp_path / "joulebook.toml"
    path.write_text(text, encoding="utf-8")

    (tmp_path / "overlays").mkdir()
    settings = read_settings(path)

    load_reference(warehouse.connect(None, 1), settings)  # models, GPUs and zones are known
    assert set(tomllib.loads(text)) == {each.name for each in fields(Settings)} - set(PLACES)
    (deployment,) = tomllib.loads(text)["deployments"]
    assert set(deployment) == {each.name for each in fields(Deployment)}


def test_the_defaults_shown_are_those_of_the_code() -> None:
    text = max(blocks("toml"), key=len)  # the whole list, beside a first example
    shown = dict(re.findall(r"^(\w+) = .*# default (.+?);", text, re.M))
    plain = {each.name for each in fields(Settings) if isinstance(each.default, str | int | float)}

    assert set(shown) == plain
    for name, default in shown.items():
        assert tomllib.loads(f"value = {default}")["value"] == getattr(Settings(), name)


def test_the_columns_and_words_of_the_mapping_files_are_all_named() -> None:
    shown = set(spans(section("What a name means, and whose usage it is")))
    shown |= set(table_head("api_key_id"))

    assert {*attribution.MATCHED, *attribution.GIVEN, *PERIOD, *model_names.COLUMNS} <= shown
    assert {*attribution.TASK_RULES[:-1], "window:30m"} <= shown
    assert {f"{attribution.TABLE}.csv", f"{model_names.TABLE}.csv"} <= shown


def table_head(first_header: str) -> list[str]:
    (line,) = re.findall(rf"^\| {re.escape(first_header)} \|.*$", README, re.M)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_reasons_are_those_of_the_contract() -> None:
    (paragraph,) = re.findall(r"^The reasons are .*?\n\n", README, re.M | re.S)
    shown = spans(paragraph)
    of_csv = {reason for reason in shown if reason.startswith("csv_")}

    assert len(set(shown)) == len(shown)
    assert set(shown) - of_csv == {rule.name for rule in RULES} | {
        FUTURE_RULE,
        NO_USAGE,
        "not_json",
        "not_metrics",
    }
    assert of_csv == csv_reasons()


def csv_reasons() -> set[str]:
    """Return what DuckDB may say of a line of text, as ingest spells it."""
    con = duckdb.connect()
    source = f"read_csv('{ROOT / 'LICENSE'}', columns = {{'line': 'varchar'}}, auto_detect = false"
    con.execute(f"select count(*) from {source}, store_rejects = true, delim = '\x01')").fetchall()
    (kind,) = (
        row[1] for row in con.execute("describe reject_errors").fetchall() if "ENUM" in row[1]
    )
    never = {"CAST", "INVALID STATE"}  # cells are text; the state is that of the sniffer
    return {"csv_cell_over_lines"} | {
        f"csv_{each.lower().replace(' ', '_')}"
        for each in set(re.findall(r"'(.+?)'", kind)) - never
    }


def test_the_exit_codes_are_those_of_the_errors() -> None:
    (paragraph,) = re.findall(r"^Exit codes: .*?\n\n", README, re.M | re.S)
    classes: list[type[errors.JoulebookError]] = [errors.JoulebookError]
    classes += errors.JoulebookError.__subclasses__()

    assert {int(code) for code in spans(paragraph)} == {0} | {each.exit_code for each in classes}


# Numbers, files, picture ---------------------------------------------------------------------


def test_the_ranges_of_the_grades_are_those_of_the_reference() -> None:
    shown = {row[0]: row[2].strip(" |") for row in table("grade")}

    for row in reference_rows("grade_ranges"):
        ends = [f"{float(row[end]):g}" for end in ("low_ratio", "high_ratio") if row[end]]
        assert shown.pop(row["evidence_grade"]) == " – ".join(ends)
    assert not shown


def test_the_assumed_values_are_those_of_the_reference() -> None:
    value = {row["assumption"]: float(row["value"]) for row in reference_rows("assumptions")}
    text = " ".join(section("How sure the numbers are").split())

    assert (
        f"public API {value['batch_api']:g}, own servers {value['batch_self_hosted']:g}, "
        f"one user {value['batch_one_user']:g}"
    ) in text
    ratios = [f"{value[name]:.2f}" for name in ("host_ratio", "idle_ratio", "pue_ratio")]
    assert f"({' × '.join(ratios)})" in text
    (grid,) = (
        row
        for row in reference_rows("grid_factors")
        if (row["zone"], row["year"]) == (Settings().grid_zone, str(Settings().grid_year))
    )
    assert f"({float(grid['carbon_gco2e_per_kwh']):g} g/kWh)" in text


def test_the_sets_of_measurements_are_those_of_the_stored_errors() -> None:
    sets = {(row["dataset"], row["gpu"], row["stack"]) for row in reference_rows("law_validation")}

    text = " ".join(section("How sure the numbers are").split())
    assert f"on {len(sets)} public sets of measurements" in text


def test_every_file_named_is_there() -> None:
    folders = "data|docs|pipeline|sql|templates|tests"
    named = spans(README) + re.findall(r"\]\(([^)]+)\)", README)
    paths = {name for name in named if re.fullmatch(rf"(?:{folders})/\S+|[A-Z]+(?:\.md)?", name)}

    assert {"docs/answer.png", "LICENSE", "pipeline/ingest/contract.py"} <= paths
    for path in paths - {"LAWS"}:
        fixed = path.split("<")[0].rpartition("/")[0] if "<" in path else path
        assert (ROOT / fixed).exists(), path


def test_messages_that_point_to_the_readme_point_to_a_section() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "pipeline").rglob("*.py")]

    titles = {title for text in texts for title in re.findall(r"README, '([^']+)'", text)}
    assert titles
    for title in titles:
        assert section(title)


def test_the_make_targets_named_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in set(re.findall(r"make ([a-z]+)[`\s]", " ".join(spans(README)) + " ")):
        assert re.search(rf"^{target}:", makefile, re.M), target


def test_the_picture_is_a_small_png() -> None:
    picture = (ROOT / "docs" / "answer.png").read_bytes()

    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) <= MOST_PICTURE_BYTES
