"""What the month could have saved: amounts, ranges and ranks from the marts of single questions."""

from decimal import Decimal
from typing import Any

import pytest
from conftest import Rows, made_from

AGENT = """
    select '2026-10' as month, 'anthropic' as provider, model_id, cache_state, 10 as request_count,
        5.0::double as batch, 'D' as evidence_grade,
        'set-1' as coefficient_set_id, unread::decimal(38, 15)
        as unread_cache_write_usd, 100 as unread_cache_write_tokens,
        saved::decimal(38, 15) as saved_list_cost_usd, low::double as saved_facility_energy_low_kwh,
        p50::double as saved_facility_energy_p50_kwh, high::double
        as saved_facility_energy_high_kwh, probability::double as saving_probability_frac,
        case when saved > 0 then 1.0 when saved <= 0 then 0.0 end::double
        as cost_saving_probability_frac,
        cache_state as assumption, reason
    from (values
        ('opus', 'uncached', null, null, null, null, null, null, null),
        ('opus', 'as_cached', '0.75', 217, 14, 44, 142, 1, null),
        ('opus', 'fully_cached', null, '9.5', 0.3, 1.0, 3.4, 1, null),
        ('tight', 'fully_cached', null, '-2', 0.1, 0.2, 0.3, 1, null),
        ('unsure', 'fully_cached', null, null, -0.1, 0.2, 0.9, 0.85, null),
        ('unknown', 'fully_cached', null, null, null, null, null, null, 'no steps in order')
    ) as told (model_id, cache_state, unread, saved, low, p50, high, probability, reason)
"""
WASTE = """
    select '2026-10' as month, 'openai' as provider, 'gpt-5' as model_id, kind as waste_kind,
        7 as request_count, 64.0::double as batch, 'D' as evidence_grade,
        'set-1' as coefficient_set_id,
        0.07::decimal(38, 15) as cost_usd, 0.001::double as facility_energy_low_kwh,
        0.004::double as facility_energy_p50_kwh, 0.013::double as facility_energy_high_kwh,
        1.0::double as saving_positive_frac
    from (values ('failed'), ('truncated')) as told (kind)
"""
ITEMS = """
    select '2026-10' as month, 'openai' as provider, 'gpt-5-mini' as model_id, query_class,
        1000 as request_count, 64.0::double as batch, 'D' as evidence_grade,
        'set-1' as coefficient_set_id, best_items,
        0.001::decimal(38, 15) as saving_low_usd_per_item,
        0.002::decimal(38, 15) as saving_p50_usd_per_item,
        0.003::decimal(38, 15) as saving_high_usd_per_item, 18.0::double as saving_low_j_per_item,
        36.0::double as saving_p50_j_per_item, 72.0::double as saving_high_j_per_item,
        0.5::double as saving_positive_frac, 1.0::double as cost_saving_positive_frac,
        'shared_input_frac_' || query_class as assumption
    from (values ('batch_extraction', 4), ('rag', 1)) as told (query_class, best_items)
"""
CLASS_ENERGY = """
    select '2026-10' as month, 'openai' as provider, 'gpt-5-mini' as model_id, query_class,
        2.0::double as facility_ratio
    from (values ('batch_extraction'), ('rag')) as told (query_class)
"""
MODELS = """
    select '2026-10' as month, 'openai' as provider, model_id, 'chat' as query_class,
        20 as equal_request_count, 64.0::double as batch, 'D' as evidence_grade,
        'set-1' as coefficient_set_id,
        saved::decimal(38, 15) as cost_saving_usd, 1.0::double as cost_saving_positive_frac,
        -1.0::double as facility_energy_saving_low_kwh,
        0.5::double as facility_energy_saving_p50_kwh,
        2.0::double as facility_energy_saving_high_kwh, 0.6::double as energy_saving_positive_frac,
        reason as saving_reason
    from (values
        ('cheap', 3, null), ('cheapest', 4, null), ('other', 50, 'equal quality is not told')
    ) as told (model_id, saved, reason)
"""
# Twice 4 is 8, which the ladder has; the class rag has no step at twice its batch.
LADDER = """
    select '2026-10' as month, provider, 'llama' as model_id, query_class, batch::double as batch,
        is_effective, hosting_kind, 100 as request_count, tokens as output_tokens,
        'B' as evidence_grade,
        'set-1' as coefficient_set_id, kwh::double as facility_energy_kwh,
        100.0::double as gpu_energy_j, 80.0::double as energy_low_j, 130.0::double as energy_high_j
    from (values
        ('vllm', 'chat', 4, true, 'self_hosted', 400, 3.0),
        ('vllm', 'chat', 5, false, 'self_hosted', 400, 2.9),
        ('vllm', 'chat', 8, false, 'self_hosted', 400, 2.0),
        ('vllm', 'chat', 16, false, 'self_hosted', 400, 1.5),
        ('vllm', 'rag', 4, true, 'self_hosted', 400, 3.0),
        ('vllm', 'rag', 7, false, 'self_hosted', 400, 2.0),
        ('vllm', 'code_completion', 1, true, 'self_hosted', 100, 1.0),
        ('vllm', 'code_completion', 2, false, 'self_hosted', 100, 0.6),
        ('openai', 'chat', 64, true, 'api', 400, 3.0),
        ('openai', 'chat', 128, false, 'api', 400, 2.0)
    ) as told (provider, query_class, batch, is_effective, hosting_kind, tokens, kwh)
"""
# Five worlds of a facility that draws what the boards do: half, all, all, 1.5 and twice of 1 kWh
# that chat saves at batch 8 and of 0.4 that code saves at batch 2.
WORLDS = """
    select '2026-10' as month, 'vllm' as provider, 'llama' as model_id, query_class,
        batch::double as batch, draw, 7200000.0::double as in_force_energy_j,
        7200000.0 - 3600000.0 * kwh * share as gpu_energy_j
    from (values ('chat', 8, 1.0), ('chat', 16, 1.5), ('code_completion', 2, 0.4))
        as told (query_class, batch, kwh)
    cross join (values (0, 0.5), (1, 1.0), (2, 1.0), (3, 1.5), (4, 2.0)) as drawn (draw, share)
"""
DRAWS = """
    select draw, 1.0::double as facility_ratio from (values (0), (1), (2), (3), (4)) as d (draw)
"""
ASSUMPTIONS = """
    select * from (values ('within_noise_probability_frac', 0.9::double),
        ('carbon_gco2e_per_kwh', 473.0::double)) as told (assumption, value)
"""


@pytest.fixture(scope="module")
def found() -> Rows:
    return made_from(
        "mart_findings",
        mart_agentic=AGENT,
        mart_waste=WASTE,
        mart_items_per_call=ITEMS,
        int_class_energy=CLASS_ENERGY,
        mart_model_comparison=MODELS,
        mart_concurrency=LADDER,
        int_batch_draws=WORLDS,
        int_draws=DRAWS,
        stg_assumptions=ASSUMPTIONS,
        raw_method="select '1' as method_version",
    )


def line(found: Rows, kind: str, model: str) -> dict[str, Any]:
    [row] = [r for r in found if (r["finding_kind"], r["model_id"]) == (kind, model)]
    return row


def ends(row: dict[str, Any], what: str, unit: str) -> list[Any]:
    return [row[f"{what}_saving_{end}_{unit}"] for end in ("low", "p50", "high")]


def test_money_comes_first_then_electricity(found: Rows) -> None:
    ranked = sorted(
        (row["finding_rank"], row["finding_kind"], row["model_id"])
        for row in found
        if row["finding_rank"]
    )

    assert ranked == [
        (1, "not_fully_cached", "opus"),  # 9.50 USD
        (2, "equal_model", "cheapest"),  # 4.00
        (3, "more_items_per_call", "gpt-5-mini"),  # 1,000 × 0.002 = 2.00
        (4, "unread_cache_writes", "opus"),  # 0.75
        (5, "failed_requests", "gpt-5"),  # 0.07
        (6, "few_served_together", "llama"),  # no price, 1.4 kWh
    ]


def test_what_costs_money_or_is_within_noise_has_no_rank(found: Rows) -> None:
    # the first saves energy and costs 2 USD; of the second 85 % of the worlds save, less than 90 %
    for model, probability in (("tight", 0.0), ("unsure", None)):
        row = line(found, "not_fully_cached", model)
        assert (row["finding_rank"], row["is_within_noise"]) == (None, True)
        assert row["cost_saving_probability_frac"] == probability


def test_a_mart_that_cannot_say_is_no_finding(found: Rows) -> None:
    assert "unknown" not in [row["model_id"] for row in found]
    assert "other" not in [row["model_id"] for row in found]  # equal quality is not told
    assert {row["query_class"] for row in found if row["model_id"] == "gpt-5-mini"} == {
        "batch_extraction"
    }


def test_an_answer_that_was_cut_off_is_not_called_a_saving(found: Rows) -> None:
    row = line(found, "failed_requests", "gpt-5")

    assert row["request_count"] == 7
    assert ends(row, "cost", "usd") == [Decimal("0.07")] * 3
    assert ends(row, "facility_energy", "kwh") == [0.001, 0.004, 0.013]
    assert row["energy_saving_probability_frac"] == 1


def test_items_save_what_an_item_saves_times_their_number(found: Rows) -> None:
    row = line(found, "more_items_per_call", "gpt-5-mini")

    assert ends(row, "cost", "usd") == [Decimal(1), Decimal(2), Decimal(3)]
    # 1,000 × 36 J × 2 / 3.6 MJ = 0.02 kWh, half of it and twice it at the ends
    assert ends(row, "facility_energy", "kwh") == pytest.approx([0.01, 0.02, 0.04])
    # its money is sure, its energy is not
    assert (row["is_within_noise"], row["energy_saving_probability_frac"]) == (False, 0.5)


def test_own_servers_are_judged_at_twice_their_batch(found: Rows) -> None:
    row = line(found, "few_served_together", "llama")

    # chat 3.0 − 2.0 at batch 8, code 1.0 − 0.6 at batch 2; rag has no such step; APIs choose theirs
    # 1.4 kWh times 0.5, 1, 1, 1.5, 2: the 5 % place lies 0.2 of the way from 0.7 to 1.4, the 95 %
    # place 0.8 of the way from 2.1 to 2.8
    assert ends(row, "facility_energy", "kwh") == pytest.approx([0.84, 1.4, 2.66])
    assert row["energy_saving_probability_frac"] == 1
    assert ends(row, "cost", "usd") == [None] * 3
    assert row["carbon_saving_p50_gco2e"] == pytest.approx(1.4 * 473)
    # 500 passes; 400 shared by 4, 100 by 1: 500 / (100 + 100)
    assert (row["batch"], row["request_count"]) == (2.5, 200)


def test_a_class_has_one_other_model_that_saves_most(found: Rows) -> None:
    assert [row["model_id"] for row in found if row["finding_kind"] == "equal_model"] == [
        "cheapest"
    ]
    assert line(found, "equal_model", "cheapest")["energy_saving_probability_frac"] == 0.6
