"""The lines of a group: its batch, coefficients and bias, and what the facility draws."""

from decimal import Decimal

from pipeline.explain import wording
from pipeline.explain.group import Group
from pipeline.explain.group_range import facility_range_lines
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.warehouse_rows import Row
from pipeline.explain.written import Term, least, number, shown, unless
from pipeline.laws import facility, work
from pipeline.laws.work import Number


def batch_part(group: Group) -> Part:
    """Return the batch, where it comes from and what caps it."""
    batch = group.batch
    lines: list[Line] = []
    usable = group.assumptions["gpu_memory_usable_frac"]["value"]
    tokens = number("n̄", group.moments["mean_input_tokens"])
    context = tokens + number("m̄", group.moments["mean_output_tokens"])
    for deployment in group.deployments:
        cap = work.batch_max(
            number("share", usable),
            unless(1, "G", deployment["gpu_count"]),
            number("memory", deployment["gpu_memory_gb"]),
            number("held", deployment["held_weight_bytes"]),
            number("KV", deployment["kv_bytes_per_position"]),
            context,
            unless(0, "Z", deployment["state_bytes"]),
        )
        label = "cap"
        if group.is_closed:
            label = f"cap, {deployment['architecture_id']}"
        note = f"room on {_gpus(deployment)} beside the weights, for the class's mean request"
        lines.append(step("batch_max", label, cap, "requests", note=note))
    wanted = _wanted(group)
    term: Term = number("B", batch["batch"])
    if wanted is not None and min(wanted, batch["batch_max"]) == batch["batch"]:
        term = least(number("wanted", wanted), number("cap", batch["batch_max"]))
    note = wording.batch_note(batch["batch_source"])
    lines.append(step("batch", "B, batch of the class", term, "requests", batch["batch"], note))
    return Part("batch", "Batch: requests served together", tuple(lines))


def coefficient_lines(group: Group, number_of: int) -> tuple[Line, ...]:
    """Return the coefficient set behind one architecture, with its source."""
    found, source = group.sets[number_of], group.sources[number_of]
    deployment = group.deployments[number_of]
    named = (
        ("a_j_per_flop", "a", "J per FLOP"),
        ("b_j_per_kv_byte", "b", "J per cache byte"),
        ("c_j_per_weight_byte", "c", "J per weight byte"),
        ("s_j_per_layer_step", "s", "J per layer step"),
        ("s_j_per_step", "u", "J per step"),
    )
    own = "" if deployment["is_own_set"] else f"; borrowed for {deployment['gpu']}"
    head = Fact(
        "coefficient_set_id",
        "set",
        found["coefficient_set_id"],
        note=f"{found['gpu']}, {found['stack']}{own}; {source['source']}, {source['source_date']}",
    )
    return (
        head,
        *(Fact(name, label, found[name], unit) for name, label, unit in named if found[name]),
    )


def served_lines(deployment: Row) -> tuple[Line, ...]:
    """Return on what an architecture is taken to be served."""
    held = shown(int(deployment["held_weight_bytes"]))
    note = f"{_gpus(deployment)}: told, or the least power of two that holds {held} bytes and 20 %"
    lines: list[Line] = [
        Fact("gpu_count", "G, GPUs", deployment["gpu_count"], note=note),
        Fact("bytes_per_weight", "w, bytes a weight", deployment["bytes_per_weight"]),
    ]
    if deployment["architecture_class"] == "window":
        note = "layers with a window are counted as if they attended to the whole context"
        lines.append(Fact("architecture_class", "window", "counted as full", note=note))
    return tuple(lines)


def bias_lines(group: Group) -> tuple[Line, ...]:
    """Return the measured gap of each architecture over the law, and their geometric mean."""
    lines: list[Line] = []
    product: Number = 1
    for index, (deployment, found) in enumerate(
        zip(group.deployments, group.biases, strict=True), start=1
    ):
        value = float(found.get("bias_factor", 1))
        source = f"{found['source']}, {found['source_date']}" if found else "none measured"
        label = f"bias of {deployment['architecture_class']} architectures"
        lines.append(Fact("bias_factor", label, value, note=source))
        product = product * number(f"b{index}", value)
    if group.is_closed:
        count = len(group.deployments)
        root = product ** (number("1", 1) / number(str(count), count))
        value = group.energy["bias_factor"]
        lines.append(step("bias_factor", "bias, geometric mean", root, "", value))
    return tuple(lines)


def facility_part(group: Group, gpu_energy_j: float) -> Part:
    """Return electricity, carbon and its cost at tariff, from the energy of the GPU boards."""
    host, idle, pue, grid, tariff = (
        group.assumptions[name]
        for name in (
            *("host_ratio", "idle_ratio", "pue_ratio"),
            *("carbon_gco2e_per_kwh", "electricity_usd_per_kwh"),
        )
    )
    ratio = group.energy["facility_ratio"]
    chain = number("host", host["value"]) * number("idle", idle["value"])
    chain = chain * number("PUE", pue["value"])
    boards = number("E", gpu_energy_j)
    whole = number("f", ratio)
    drawn = facility.facility_energy_kwh(boards, whole)
    kwh = float(drawn.value)
    lines: list[Line] = [
        step("facility_ratio", "f, facility over GPU boards", chain, "", ratio),
        step("facility_energy_kwh", "electricity", drawn, "kWh", kwh),
    ]
    lines += facility_range_lines(group, gpu_energy_j, kwh)
    drawn_again = number("electricity", kwh)
    carbon = drawn_again * number("grid", group.energy["carbon_gco2e_per_kwh"])
    power = drawn_again * number("tariff", group.energy["electricity_usd_per_kwh"])
    lines += [
        step("carbon_gco2e", "carbon", carbon, "g CO₂e", note=_source(grid)),
        step(
            "energy_cost_usd",
            "electricity at tariff",
            power,
            "USD",
            Decimal(f"{float(power.value):.9f}"),
            note=f"a memo line, in no cost; {_source(tariff)}",
        ),
    ]
    return Part("facility", "Electricity, carbon", tuple(lines))


def _source(assumption: Row) -> str:
    return f"{assumption['source']}, {assumption['source_date']}"


def _gpus(deployment: Row) -> str:
    return f"{deployment['gpu_count']} × {deployment['gpu']} ({deployment['stack']})"


def _wanted(group: Group) -> float | None:
    """Return the batch before the cap: the logged one, else as told, else as assumed."""
    if group.logged_batch:
        return float(group.logged_batch["batch"])
    told = group.deployments[0]["told_batch"]
    if told is not None:
        return float(told)
    assumed = group.assumptions.get(f"batch_{group.deployments[0]['hosting_kind']}")
    return float(assumed["value"]) if assumed else None
