"""Commands that set a policy and take it back, for an operator to read and run; never run here."""

from pipeline.power.policies import Policy


def commands(policy: Policy) -> tuple[tuple[str, str], ...]:
    """Return pairs of a command of nvidia-smi and the one that undoes it."""
    pairs = []
    if policy.asked_limit_w is not None:
        pairs.append((f"nvidia-smi -pl {policy.asked_limit_w:g}", "nvidia-smi -pl <default limit>"))
    if policy.asked_clock_mhz is not None:
        clock = f"{policy.asked_clock_mhz:g}"
        pairs.append((f"nvidia-smi -lgc {clock},{clock}", "nvidia-smi -rgc"))
    return tuple(pairs)


NOTE = (
    "They need the rights of an administrator on your own machine; `-i <GPU>` names one GPU. The "
    "default limit stands in `nvidia-smi -q -d POWER`. A restart of the driver takes all back."
)
