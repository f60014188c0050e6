"""Dialog for the CPUs that a process may run on."""

from gputop.core.protocol.command import Change, SetAffinity
from gputop.core.protocol.targets import targets
from gputop.core.text.ranges import ranges
from gputop.ui.input.cpus import FORM, parse_cpus
from gputop.ui.screens.dialogs.value import ValueScreen


class AffinityScreen(ValueScreen):
    """Asks for CPUs."""

    asks_for = "CPUs"
    signs = "0123456789,-"

    def first_text(self) -> str:
        """Propose the present CPUs; all CPUs if the targets differ or they are not known."""
        return self.common(lambda one: one.cpus) or ranges(tuple(range(self._count)))

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
            (f"{FORM}{there}", "muted"),
            ("applies to all threads; undo does not restore CPUs that single threads had for themselves", "muted"),
        ]
