"""The section on caps and locks: readable without knowing GPUs, every assumption named."""

from report_frames import (
    families_mart,
    policy_frames,
    power_mart,
    report,
    section_of,
    table_of,
)


def test_the_section_says_what_a_setting_does_and_why() -> None:
    section = section_of(report(), "power_policy")
    said = " ".join(section.statements)

    for words in (
        "waits for memory",
        "cap not bound (draws 257 W of 400 W at 1830 MHz)",
        "no effect, shown to lie within ±2",
        "lock at 1590 MHz, this month: −1.000 kWh (−1.500 to −0.7000)",
        "net −0.1000 USD (−0.3000 to −0.03500) if the GPUs were owned",
        "would pay for a loss of 0.3% of the throughput",
        "PUE",
        "own power logs",
    ):
        assert words in said
    assert "generated" not in said
    assert section.tables[0].name == "power_policy"
    assert {figure.name for figure in section.figures} == {
        "power_over_time", "power_front_decode", "power_savings",
    }  # fmt: skip
    shown = {row[4] for row in table_of(report(), "policy_facts").rows}
    assert {"137 to 300 W", "unknown", "-32 to -24 %"} <= shown


def test_rented_generated_carried_and_unknown_are_said_to_be_so() -> None:
    rented = power_mart({"ownership": "rented", "factor_source": "generated power logs, carried "
                         "over from H100-SXM"})  # fmt: skip
    said = " ".join(section_of(report(mart_power_policy=rented), "power_policy").statements)
    assert "0 USD, carbon only" in said
    assert "generated, not measured" in said
    assert "grade is C" in said

    unknown = power_mart({"electricity_delta_kwh": None, "reason": "nothing measured"})
    said = " ".join(section_of(report(mart_power_policy=unknown), "power_policy").statements)
    assert "this month: unknown, nothing measured." in said


def test_without_own_servers_and_logs_the_section_says_what_would_fill_it() -> None:
    empty = {name: frame.clear() for name, frame in policy_frames().items()}
    section = section_of(report(mart_power_policy=power_mart({}).clear(), **empty), "power_policy")

    assert "`power_policies`" in section.empty_reason
    assert not (section.tables or section.figures or section.statements)


def test_kinds_of_attention_stand_with_the_levers() -> None:
    dear = {"family": "Mamba2", "input_tokens": 1_024, "energy_ratio": 1.25}
    section = section_of(report(mart_attention_families=families_mart({}, dear)), "levers")

    assert "gated DeltaNet takes 0.5 times the energy of GQA (0.3 – 1.2)" in section.statements[1]
    assert "Mamba2 takes 1.25 times" in section.statements[1]
    assert section.tables[1].name == "attention_families"
