"""Dialog for the nice value."""

from collections.abc import Sequence
from typing import Final

from gputop.core.protocol.command import Change, Renice
from gputop.core.protocol.targets import targets
from gputop.ui.screens.dialogs.value import ValueScreen

LEAST_NICE: Final = -20
MOST_NICE: Final = 19


class ReniceScreen(ValueScreen):
    """Asks for a nice value."""

    signs = "-+0123456789"
    asks_for = "Nice value"

    def first_text(self) -> str:
        """Propose the present value, or the next one."""
        nices = {one.nice for one in self.targets if one.nice is not None}
        present = nices.pop() if len(nices) == 1 else 0
        return str(max(LEAST_NICE, min(MOST_NICE, present + self.proposed_step)))

    def change(self, text: str) -> Change:
        """Return the change."""
        return Renice(id=self.change_id, nice=self._number(text), targets=targets(self.targets))

    def step(self, by: int) -> None:
        """Go up or down by one; a higher number is a lower priority."""
        try:
            self.field.propose(str(max(LEAST_NICE, min(MOST_NICE, self._number(self.text) + by))))
        except ValueError:
            self.field.propose("0")

    def hints(self) -> list[tuple[str, str]]:
        """Return the range, and the rights that a lower value needs."""
        present = _range([one.nice for one in self.targets if one.nice is not None])
        lines = [(f"now {present}; allowed {LEAST_NICE} (highest priority) to {MOST_NICE} (lowest)", "muted")]
        value = int(self.text) if _is_number(self.text) else 0
        if self.selection.is_root:
            return lines
        if any(value > (one.nice or 0) for one in self.targets):
            return [*lines, ("You cannot undo this: a lower value needs root, or RLIMIT_NICE", "warm")]
        is_lower = any(value < (one.nice or 0) for one in self.targets)
        return [*lines, ("a lower value needs root, or RLIMIT_NICE", "warm" if is_lower else "muted")]

    def _number(self, text: str) -> int:
        if not _is_number(text) or not LEAST_NICE <= int(text) <= MOST_NICE:
            raise ValueError(f"a number from {LEAST_NICE} to {MOST_NICE}")
        return int(text)


def _is_number(text: str) -> bool:
    return text.lstrip("+-").isdecimal() and len(text) - len(text.lstrip("+-")) <= 1


def _range(values: Sequence[int]) -> str:
    if not values:
        return "unknown"
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"
