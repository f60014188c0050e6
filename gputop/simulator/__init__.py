"""Simulated boxes: a driver with pynvml's function names, and a /proc, both functions of one clock.

Everything above the borders `machine.nvml` and `machine.proc.procfs` is the real code. With a frozen clock a box gives
the same answers for ever, so that tests and screenshots can be repeated.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from msgspec import Struct

from gputop.core.text.text import excerpt
from gputop.machine.control.kernel import KernelCalls
from gputop.machine.proc.procfs import Proc
from gputop.simulator.boxes import dying, h200, split, training, trouble, workstation
from gputop.simulator.clock import BoxClock
from gputop.simulator.costly import SimulatedCostly
from gputop.simulator.driver import Driver
from gputop.simulator.hostdetails import SimulatedHostDetails
from gputop.simulator.kernel import SimulatedKernel
from gputop.simulator.mps import SimulatedMps
from gputop.simulator.plan import BoxPlan
from gputop.simulator.proc import SimulatedProc
from gputop.simulator.progress import SimulatedReports
from gputop.simulator.root import SimulatedRoot
from gputop.simulator.script import Script

DEFAULT_BOX: Final = "training"
BOXES: Final[dict[str, str]] = {
    "training": "8 x H100: a torchrun job on all GPUs, an idle notebook, an evaluation, a small server",
    "h200": "1 x H200: a language-model server with bursts of requests",
    "mig": "2 x A100 and 1 x H100: two GPUs use MIG and have free slots between the instances; an MPS server, an older "
    "driver",
    "workstation": "RTX 4090 and RTX 3090: a desktop, Blender, a screen recorder; many metrics are unsupported",
    "trouble": "8 x H100: one example of each finding, such as hangs, a leak, idle jobs, heat, errors, orphans",
    "dying": "4 x H100: one is lost and comes back, one hangs, one overheats; one exited process is still listed",
}
_PLANS: Final[dict[str, Callable[[], BoxPlan]]] = {
    "training": training.plan,
    "h200": h200.plan,
    "mig": split.plan,
    "workstation": workstation.plan,
    "trouble": trouble.plan,
    "dying": dying.plan,
}


class Box(Struct, frozen=True, kw_only=True):
    """A simulated box. ``driver`` replaces `machine.nvml.binding`; ``users``: the names of the uids in ``proc``.

    ``kernel`` changes its processes, with the rights of the user ``viewer``; None is root.
    """

    name: str
    host: str
    driver: Any
    proc: Proc
    users: dict[int, str]
    kernel: KernelCalls
    viewer: str | None
    root: Any
    """Replaces the file system that the doctor reads: a `machine.proc.root.Root`."""
    reports: SimulatedReports
    costly: SimulatedCostly
    details: SimulatedHostDetails
    mps: SimulatedMps
    script: Script


@cache
def running(name: str) -> Box:
    """Return the one box of this name in this process, so that every caller sees its changes. See `simulate`."""
    return simulate(name)


def viewer(name: str) -> str | None:
    """Return the user whose rights gputop has on a box; None if there is no such box."""
    if name not in BOXES:
        return None
    plan = _PLANS[name]()
    return plan.users[plan.viewer] if plan.viewer else "root"


def simulate(
    name: str = DEFAULT_BOX,
    clock: Callable[[], float] = time.monotonic,
    wall: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
    starts_in_s: float = 0.0,
) -> Box:
    """Start a box. A hanging driver and a wait for events call ``sleep``.

    ``starts_in_s``: to read what happened before its start; see `BoxClock`.

    Raises ValueError with the names of all boxes if there is no box of this name.
    """
    if name not in BOXES:
        raise ValueError(f"no simulated box {excerpt(name)!r}. Available: {', '.join(BOXES)}.")
    plan = _PLANS[name]()
    box_clock = BoxClock(plan.uptime_s, clock, wall, sleep, starts_in_s)
    proc = SimulatedProc(plan, box_clock)
    driver = Driver(name, plan, box_clock)
    script = Script(plan, proc, driver, box_clock)
    script.follow()
    return Box(
        name=name,
        host=plan.host,
        driver=driver,
        proc=proc,
        users=plan.users,
        kernel=SimulatedKernel(plan, proc, driver, box_clock),
        viewer=plan.users[plan.viewer] if plan.viewer else None,
        root=SimulatedRoot(plan, proc, box_clock),
        reports=SimulatedReports(plan, box_clock),
        costly=SimulatedCostly(plan, box_clock),
        details=SimulatedHostDetails(plan, box_clock),
        mps=SimulatedMps(plan, proc),
        script=script,
    )
