"""From the GPU boards to the facility: host, idle capacity and cooling ride on every joule."""

from pipeline.laws.work import Number

J_PER_KWH = 3_600_000


def facility_energy_kwh(gpu_energy_j: Number, facility_ratio: Number) -> Number:
    """Return the energy that the facility draws for `gpu_energy_j`, in kilowatt-hours.

    Args:
        gpu_energy_j: Energy of the GPU boards, in joules.
        facility_ratio: Host ratio × idle ratio × PUE.
    """
    return gpu_energy_j * facility_ratio / J_PER_KWH


LAWS = (facility_energy_kwh,)
