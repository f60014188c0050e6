"""The physics of one board: power, clocks and temperature follow from the work of its processes, second by second."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeAlias

from detector_benchmark.independent.activity import Activity
from detector_benchmark.independent.boards import Board
from msgspec import Struct

from gputop.core.model.sample import GpuState

_LAG: Final = 0.7  # share of a change that a mean of one second shows at once
_EMPTY_MIB: Final = 4.0


class Condition(Struct, frozen=True, kw_only=True):
    """The condition of a board. ``cooling``: 1 is good, 0.5 halves what the cooler carries away.

    ``clock``: a share to which the clocks are held; ``reasons``: those that the driver gives for it. ``is_listed``:
    whether the driver still counts the board.
    """

    state: GpuState = GpuState.OK
    cooling: float = 1.0
    warmer_c: float = 0.0
    clock: float = 1.0
    reasons: tuple[str, ...] = ()
    xids: tuple[tuple[float, int], ...] = ()  # time in the trace, number
    is_listed: bool = True


Conditions: TypeAlias = Callable[[float], Condition]
GOOD: Final = Condition()


class Total(Struct):
    """The work of all processes of a board in one second."""

    util: float = 0.0
    mc: float = 0.0
    share: float = 0.0
    spin: float = 0.0
    sm: float = 0.0
    occupancy: float = 0.0
    tensor: float = 0.0
    dram: float = 0.0
    fp64: float = 0.0
    rx: float = 0.0
    tx: float = 0.0
    nv: float = 0.0
    decoder: float = 0.0
    encoder: float = 0.0

    @classmethod
    def of(cls, works: Sequence[Activity]) -> "Total":
        """Add the works; those that want more than the whole second share it."""
        total = cls()
        for work in works:
            for name in cls.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(work, name))
        crowd = max(1.0, total.util / 100)
        if crowd > 1:
            for name in cls.__struct_fields__:
                setattr(total, name, getattr(total, name) / crowd)
        return total


class Circuit:
    """A board that runs. Call `advance` once a second, then read the attributes."""

    def __init__(self, board: Board, random: Random) -> None:
        self.board = board
        self._random = random
        self.power_w = board.empty_w
        self.celsius = board.ambient_c + board.kelvin_per_w * board.empty_w
        self.clock = 1.0  # share of the boost
        self.throttle = 1.0
        self.reasons: tuple[str, ...] = ("idle",)
        self.software_thermal_s = 0.0
        self.hardware_thermal_s = 0.0
        self.power_brake_s = 0.0
        self.power_cap_s = 0.0
        self.energy_j = 2.0e8 + random.randrange(10**8)
        self._is_new = True

    def advance(self, total: Total, condition: Condition, *, has_context: bool, step_s: float) -> None:
        """Go on by some seconds of this work."""
        board = self.board
        rest_w = board.context_w if has_context else board.empty_w
        range_w = board.limit_w - board.context_w
        held = min(self.throttle, condition.clock)
        wanted_w = rest_w + total.spin * (board.spin_w - board.context_w) * held + total.share * range_w * held**1.6
        capped = wanted_w > 0.995 * board.limit_w
        target_w = board.limit_w * 0.989 if capped else wanted_w
        noise_w = self._random.gauss(0, 0.003 * board.limit_w if capped else 0.3 + 0.004 * (target_w - rest_w))
        lag = 1.0 if self._is_new else 1 - (1 - _LAG) ** step_s
        self.power_w = max(board.empty_w * 0.95, self.power_w + (target_w - self.power_w) * lag + noise_w)
        self.energy_j += self.power_w * step_s
        boost = (board.limit_w / wanted_w) ** 0.55 if capped else 1.0
        self.clock = held * boost if has_context else board.idle_mhz / board.boost_mhz
        self._heat(condition, step_s)
        self._name(condition, has_context=has_context, capped=capped, step_s=step_s)
        self._is_new = False

    def _heat(self, condition: Condition, step_s: float) -> None:
        board = self.board
        goal = board.ambient_c + condition.warmer_c + board.kelvin_per_w * self.power_w / condition.cooling
        self.celsius += (goal - self.celsius) * (1.0 if self._is_new else min(1.0, step_s / board.tau_s))
        self.celsius = min(self.celsius, board.slowdown_c + 6.0)
        hot = self.celsius >= board.slowdown_c - 0.5
        change = -0.035 * step_s if hot else 0.012 * step_s
        self.throttle = min(1.0, max(0.25, self.throttle + change))

    def _name(self, condition: Condition, *, has_context: bool, capped: bool, step_s: float) -> None:
        reasons = list(condition.reasons)
        if not has_context:
            reasons.append("idle")
        if capped:
            reasons.append("power cap")
        if self.throttle < 0.999 and has_context:
            reasons.append("software thermal")
            if self.celsius >= self.board.slowdown_c + 3:
                reasons += ["hardware slowdown", "hardware thermal"]
        self.reasons = tuple(dict.fromkeys(reasons))
        self.power_cap_s += step_s * ("power cap" in self.reasons)
        self.software_thermal_s += step_s * ("software thermal" in self.reasons)
        self.hardware_thermal_s += step_s * ("hardware thermal" in self.reasons)
        self.power_brake_s += step_s * ("power brake" in self.reasons)
