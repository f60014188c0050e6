"""The CPUs next to a GPU: those of its PCIe root, from sysfs."""

from contextlib import suppress


def near_cpus(bus_id: str, root: str = "/sys") -> tuple[int, ...]:
    """Return the CPUs; none if the kernel does not list them. ``bus_id``: in the driver's form, 00000000:17:00.0."""
    domain, _, rest = bus_id.lower().partition(":")
    with suppress(OSError, ValueError), open(f"{root}/bus/pci/devices/{domain[-4:]}:{rest}/local_cpulist") as opened:
        return cpus_of(opened.read())
    return ()


def cpus_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a list like ``0-3,8``. Raises ValueError for a malformed list."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)
