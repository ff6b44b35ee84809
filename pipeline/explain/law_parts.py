"""Coefficients, architecture, work and energy by the law, for each architecture of a group."""

from collections.abc import Mapping

from pipeline.explain.group import Group
from pipeline.explain.group_lines import coefficient_lines, served_lines
from pipeline.explain.lines import Part
from pipeline.explain.work import energies_of


def law_parts(
    group: Group, moments: Mapping[str, int], work_title: str
) -> tuple[list[Part], list[float]]:
    """Return the parts that lead from token moments to joules, and the joules by architecture.

    Args:
        group: Where the tokens are served; a closed model has one architecture a stand-in.
        moments: Token moments of a request, or summed over a class.
        work_title: What the work is called: that of one request, or summed.
    """
    parts: list[Part] = []
    energies: list[float] = []
    told: set[str] = set()
    for index, deployment in enumerate(group.deployments):
        sizes = group.sizes(index)
        found = energies_of(sizes, moments, group.coefficients(index))
        energies.append(found.energy_j)
        which = f", stand-in {deployment['architecture_id']}" if group.is_closed else ""
        if deployment["coefficient_set_id"] not in told:
            told.add(deployment["coefficient_set_id"])
            parts.append(Part("coefficients", "Coefficients", coefficient_lines(group, index)))
        shape = (*served_lines(deployment), *sizes.lines)
        parts += [
            Part("architecture", f"Architecture{which}", shape),
            Part("work", f"{work_title}{which}", found.work_lines),
            Part("law", f"Energy by the law{which}", found.energy_lines),
        ]
    return parts, energies
