"""Dialog for the CPUs that a process may run on."""

from typing import Final

from gputop.core.protocol.command import Change, SetAffinity, cpus_text
from gputop.core.protocol.targets import targets
from gputop.ui.screens.dialogs.value import ValueScreen

_MOST_CPUS: Final = 8192  # NR_CPUS of the largest kernels
_FORM: Final = "numbers and ranges, such as 0-3,8"


class AffinityScreen(ValueScreen):
    """Asks for CPUs."""

    asks_for = "CPUs"
    signs = "0123456789,-"

    def first_text(self) -> str:
        """Propose the present CPUs; all CPUs if the targets differ or they are not known."""
        return self.common(lambda one: one.cpus) or cpus_text(tuple(range(self._count)))

    @property
    def _count(self) -> int:
        return len(self.selection.frame.host.cores_percent)

    def change(self, text: str) -> Change:
        """Return the change."""
        cpus = parse_cpus(text)
        if self._count and cpus[-1] >= self._count:
            raise ValueError(f"there is no CPU {cpus[-1]}: this host has 0 to {self._count - 1}")
        return SetAffinity(id=self.change_id, cpus=cpus, targets=targets(self.targets))

    def hints(self) -> list[tuple[str, str]]:
        """Return the present CPUs, the format, and the consequence."""
        there = f"; this host has 0-{self._count - 1}" if self._count else ""
        return [
            (f"now {self.present(lambda one: one.cpus)}", "text"),
            (f"{_FORM}{there}", "muted"),
            ("applies to all threads, also to those with CPUs of their own", "muted"),
        ]


def parse_cpus(text: str) -> tuple[int, ...]:
    """Return 0, 1, 2, 3, 8 for ``0-3,8``. Raise ValueError with a message for the user."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and (not last.isdecimal() or int(last) < int(first))):
            raise ValueError(_FORM)
        if int(last or first) >= _MOST_CPUS:
            raise ValueError(f"there is no CPU {last or first}")
        cpus.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cpus))
