"""CPU numbers as users type them."""

from typing import Final

FORM: Final = "numbers and ranges, such as 0-3,8"
_MOST_CPUS: Final = 8192  # NR_CPUS of the largest kernels


def parse_cpus(text: str) -> tuple[int, ...]:
    """Return 0, 1, 2, 3, 8 for ``0-3,8``. Raise ValueError with a message for the user."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and (not last.isdecimal() or int(last) < int(first))):
            raise ValueError(FORM)
        if int(last or first) >= _MOST_CPUS:
            raise ValueError(f"there is no CPU {last or first}")
        cpus.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cpus))
