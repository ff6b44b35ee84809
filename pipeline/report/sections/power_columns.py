"""Columns of what power caps and clock locks do: those a reader sees, and those of files alone."""

from pipeline.report.section import Column
from pipeline.report.sections import columns as c

MONTH = (
    Column("gpu", "GPU", "text", meaning="GPU that serves models of the company."),
    Column("policy", "Setting", "text", meaning="Power cap or clock lock."),
    Column("phase", "Phase", "text", meaning="Prefill reads prompts, decode writes answers."),
    Column("bound_verdict", "Cap bound", "text", meaning="Was the cap what held the GPU back: by "
           "draw and clock together.", unknown=""),
    Column("energy_ratio", "Energy", "ratio", meaning="Energy of the phase over that without the "
           "setting.", unknown="unknown"),
    Column("throughput_ratio", "Speed", "ratio", meaning="Tokens a second over those without the "
           "setting.", unknown="unknown"),
    Column("electricity_delta_kwh", "Electricity", "kwh", "kWh", "Change of the month's "
           "electricity: GPU boards and their cooling.", unknown="unknown"),
    Column("electricity_delta_low_kwh", "Low", "kwh", "kWh", "Low end (5 %) of the change."),
    Column("electricity_delta_high_kwh", "High", "kwh", "kWh", "High end (95 %) of the change."),
    Column("carbon_delta_gco2e", "Carbon", "gco2e", "g CO₂e", "Change of the month's carbon."),
    Column("ownership", "Hardware", "text", meaning="Whether the bill holds the electricity."),
    Column("electricity_delta_usd", "Bill", "usd_small", "USD", "Change of what is paid for "
           "electricity: none where the GPU bill holds it.", unknown="unknown"),
    Column("electricity_delta_if_owned_usd", "If owned", "usd_small", "USD", "The same if all "
           "GPUs were the company's own."),
    Column("electricity_delta_if_owned_low_usd", "Low", "usd_small", "USD", "Low end, tariff "
           "included."),
    Column("electricity_delta_if_owned_high_usd", "High", "usd_small", "USD", "High end, tariff "
           "included."),
    Column("capacity_delta_usd", "Hours, if full", "usd_small", "USD", "Price of the GPU hours "
           "that slower work takes more, where capacity binds."),
    Column("break_even_throughput_loss_frac", "Break-even loss", "frac", meaning="Loss of "
           "throughput that the electricity saved would pay for, were the GPUs owned."),
    Column("break_even_tariff_usd_per_kwh", "Break-even tariff", "usd_small", "USD per kWh",
           "Tariff from which the electricity saved pays for the slower work.", unknown="none"),
    Column("batch", "Batch", "number", meaning="Requests served together: mean of the effective "
           "batches of the GPU's models, by energy."),
    c.GRADE,
    Column("factor_source", "Factor from", "text", meaning="Who measured what the setting does."),
    Column("reason", "Why none", "text", meaning="Why there is no figure.", unknown=""),
)  # fmt: skip
CELLS = (
    Column("policy", "Setting", "text", meaning="Power cap or clock lock, or neither."),
    Column("model", "Model", "text", meaning="Model as the runs name it."),
    Column("phase", "Phase", "text", meaning="Prefill reads prompts, decode writes answers."),
    Column("batch", "Batch", "number", meaning="Requests served together."),
    Column("run_count", "Runs", "count", meaning="Runs of the phase."),
    Column("mean_power_w", "Mean power", "number", "W", "Joules over seconds."),
    Column("draw_w", "Draw", "number", "W", "Median of the settled readings."),
    Column("limit_w", "Limit", "number", "W", "Limit that the driver enforces.", unknown="none"),
    Column("asked_clock_mhz", "Asked", "number", "MHz", "SM clock that the setting asks for.",
           unknown="none"),
    Column("clock_mhz", "Held", "number", "MHz", "SM clock, median of the settled readings."),
    Column("energy_j_per_token", "Energy per token", "j", "J", "Of prefill over its input tokens, "
           "of decode over its output tokens."),
    Column("tokens_per_s", "Tokens a second", "number", meaning="Of the phase."),
    Column("firmware_s", "Firmware", "number", "s", "Moments of low clock far from the limit: the "
           "firmware's doing, not the setting's."),
    Column("bound_verdict", "Cap bound", "text", meaning="By draw and clock together."),
    Column("bound_reason", "Because it", "text", meaning="What the log shows."),
    Column("is_on_front", "On the front", "text", meaning="No other setting takes less energy a "
           "token at the same speed or more.", unknown="unknown"),
)  # fmt: skip
EFFECTS = (
    Column("policy", "Setting", "text", meaning="Power cap or clock lock."),
    Column("model", "Model", "text", meaning="Model as the runs name it."),
    Column("phase", "Phase", "text", meaning="Prefill reads prompts, decode writes answers."),
    Column("metric", "Of", "text", meaning="Energy per token, or tokens a second."),
    Column("ratio", "Ratio", "ratio", meaning="Over that without the setting."),
    Column("low_ratio", "Low", "ratio", meaning="Low end of its 95 % interval."),
    Column("high_ratio", "High", "ratio", meaning="High end of its 95 % interval."),
    Column("margin_frac", "Margin", "frac", meaning="A smaller effect counts as none."),
    Column("p_equivalent", "p, no effect", "number", meaning="Chance of such closeness if the "
           "effect were as large as the margin (two one-sided tests)."),
    Column("run_count", "Runs", "count", meaning="Runs under the setting."),
    Column("baseline_run_count", "Without", "count", meaning="Runs without it."),
    Column("verdict", "Verdict", "text", meaning="No effect only where the test shows it."),
    Column("reason", "Why none", "text", meaning="Why nothing is claimed.", unknown=""),
)  # fmt: skip
CLASSES = (
    Column("model", "Model", "text", meaning="Model as the runs name it."),
    Column("phase", "Phase", "text", meaning="Prefill reads prompts, decode writes answers."),
    Column("clock_class", "Follows the clock", "text", meaning="By our rule.", unknown="unknown"),
    Column("elasticity", "Elasticity", "number", meaning="ln of the speed ratio over ln of the "
           "clock ratio, at the lowest clock."),
    Column("policy", "Under", "text", meaning="Setting with the lowest clock.", unknown="none"),
    Column("clock_ratio", "Clock", "ratio", meaning="Over that without the setting."),
    Column("throughput_ratio", "Speed", "ratio", meaning="Over that without the setting."),
)  # fmt: skip
COMMANDS = (
    Column("policy", "Setting", "text", meaning="What is set."),
    Column("apply_command", "To apply", "text", meaning="For an operator; never run by this."),
    Column("undo_command", "To undo", "text", meaning="Takes it back."),
)
FACTS = (
    Column("gpu", "GPU", "text", meaning="GPU of the measurement.", unknown="not told"),
    Column("phase", "Phase", "text", meaning="Prefill, decode or the whole request."),
    Column("setting", "Setting", "text", meaning="Cap in W, clock in MHz."),
    Column("quantity", "What", "text", meaning="What was measured."),
    Column("shown", "Value", "text", meaning="As told; unknown where it could not be read."),
    Column("certainty", "How sure", "text", meaning="How near to the source it was read."),
    Column("note", "Note", "text", meaning="What it is of."),
    Column("source", "Source", "text", meaning="Where it was read."),
)
IN_FILES_ONLY = (
    Column("lever", "Lever", "text", meaning="cap, lock, or both."),
    Column("energy_low_j_per_request", "Low", "j", meaning="Low end (5 %) of a request's energy."),
    Column("energy_high_j_per_request", "High", "j", meaning="High end (95 %) of that."),
    Column("phase_energy_j", "Phase", "j", meaning="GPU energy of the phase: law × bias factor."),
    Column("energy_low_ratio", "Low", "ratio", meaning="Low end of the energy ratio."),
    Column("energy_high_ratio", "High", "ratio", meaning="High end of the energy ratio."),
    Column("carbon_delta_low_gco2e", "Low", "gco2e", meaning="Low end (5 %) of the change."),
    Column("carbon_delta_high_gco2e", "High", "gco2e", meaning="High end (95 %) of the change."),
    Column("gpu_time_s", "GPU time", "number", meaning="GPU time of the phase that its bill holds, "
           "shared by energy."),
    Column("gpu_time_delta_s", "More GPU time", "number", meaning="GPU time that slower work takes "
           "more, where capacity binds."),
    Column("cost_delta_usd", "Net", "usd_small", meaning="Electricity and GPU hours together, "
           "where capacity binds."),
    Column("cost_delta_low_usd", "Low", "usd_small", meaning="Low end of that."),
    Column("cost_delta_high_usd", "High", "usd_small", meaning="High end of that."),
    Column("energy_output_tokens", "Output", "tokens", meaning="Output tokens of the request that "
           "ratios are of."),
)  # fmt: skip
