"""Network, disks, sensors and users of a simulated box, from its plan."""

from typing import Any, Final

from gputop.core.model.sample import Fan, HostDetails, Temperature
from gputop.simulator.clock import BoxClock
from gputop.simulator.curve import Curve, Wave
from gputop.simulator.plan import BoxPlan

_PER_CORE: Final = {
    "network_received_bytes_per_s": 2.4e6, "network_sent_bytes_per_s": 1.1e6,
    "disk_read_bytes_per_s": 1.6e6, "disk_written_bytes_per_s": 0.3e6,
}  # fmt: skip
_HERTZ: Final = 3.1e9
_CELSIUS: Final = 58.0
_HIGH_CELSIUS: Final = 90.0
_RPM: Final = 5400
_LEAST_UID: Final = 1000  # of a logged-in user


class SimulatedHostDetails:
    """Replaces `machine.proc.host_details.HostDetailsReader`."""

    def __init__(self, plan: BoxPlan, clock: BoxClock) -> None:
        self._plan = plan
        self._clock = clock

    def read(self, _: float) -> HostDetails:
        """Return the details at this moment."""
        now, cores = self._clock.now(), self._plan.cores
        rates: dict[str, Any] = {
            key: _swing(level * cores, number).at(now) for number, (key, level) in enumerate(_PER_CORE.items())
        }
        people = {process.uid for process in self._plan.processes if process.uid >= _LEAST_UID}
        return HostDetails(
            **rates,
            cpu_hertz=_swing(_HERTZ, 4).at(now),
            temperatures=(
                Temperature(chip="k10temp", label="Tctl", celsius=round(_swing(_CELSIUS, 5).at(now), 1)),
                Temperature(chip="nvme", label="Composite", celsius=41.0, high_celsius=_HIGH_CELSIUS),
            ),
            fans=(Fan(chip="ipmi", label="FAN1", rpm=_RPM),),
            users=tuple(sorted(self._plan.users[uid] for uid in people if uid in self._plan.users)),
        )


def _swing(level: float, number: int) -> Curve:
    return Curve(level, (Wave(level * 0.12, 37.0 + number, number), Wave(level * 0.05, 7.3, number)))
