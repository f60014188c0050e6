"""Which CPUs are next to a GPU: those of its PCIe root, as the kernel says."""

from contextlib import suppress


def near_cpus(bus_id: str, root: str = "/sys") -> tuple[int, ...]:
    """Return the CPUs; none where the kernel does not say. ``bus_id``: as the driver writes it, 00000000:17:00.0."""
    domain, _, rest = bus_id.lower().partition(":")
    with suppress(OSError, ValueError), open(f"{root}/bus/pci/devices/{domain[-4:]}:{rest}/local_cpulist") as opened:
        return cpus_of(opened.read())
    return ()


def cpus_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a list like ``0-3,8``. Raises ValueError for what is none."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
