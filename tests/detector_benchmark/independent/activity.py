"""The activity of a process in one second: the work of its kernels, its copies, and its main threads on the CPU."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import astuple, replace


class Activity(Struct, frozen=True, kw_only=True, gc=False):
    """The work of a second. Percent 0-100; ``rx``, ``tx``, ``nv``: MB/s over PCIe and NVLink.

    ``share``: power of the work, as a share of the range from an idle context to the limit; ``spin``: the part of the
    second in which a kernel only polls. ``cpu``: percent of a core over all threads; ``thread``: of the busiest one.
    ``noise``: relative, from second to second.
    """

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
    cpu: float = 0.0
    thread: float | None = None
    state: str = "S"
    noise: float = 0.03

    def but(self, **changes: Any) -> "Activity":
        """Return the activity with some values changed."""
        return replace(self, **changes)

    def at(self, speed: float) -> "Activity":
        """Return the same work in more or less of the second: at 0.5 the GPU works half of the time."""
        return mix((speed, self), (1 - speed, IDLE.but(cpu=self.cpu, thread=self.thread, state=self.state)))


_NUMBERS: Final = 15  # the fields from util to cpu


def mix(*parts: tuple[float, Activity]) -> Activity:
    """Return the mean of a second that has parts of several activities."""
    rows: Sequence[tuple[Any, ...]] = [astuple(activity) for _, activity in parts]
    means = [sum(weight * row[n] for (weight, _), row in zip(parts, rows, strict=True)) for n in range(_NUMBERS)]
    main = max(parts, key=lambda part: part[0])[1]
    names = Activity.__struct_fields__[:_NUMBERS]
    thread = min(100.0, sum(weight * busiest(activity) for weight, activity in parts))
    state = next((each.state for weight, each in parts if weight > 0 and each.state == "R"), main.state)
    return Activity(**dict(zip(names, means, strict=True)), thread=thread, state=state, noise=main.noise)


def busiest(activity: Activity) -> float:
    """Return the load of the busiest thread."""
    return min(100.0, activity.cpu) if activity.thread is None else activity.thread


# --- nothing and the host ------------------------------------------------------------------------------------------
IDLE: Final = Activity(cpu=0.6)
HOST: Final = Activity(cpu=99.0, state="R")  # one thread works on the CPU
MANY: Final = Activity(cpu=780.0, thread=99.0, state="R")  # several threads do
DISK: Final = Activity(cpu=9.0, state="D")  # it reads or writes a file
COPY: Final = Activity(
    util=3, mc=2, share=0.02, dram=1.5, rx=5200, tx=260, cpu=98, state="R", noise=0.25
)  # weights arrive

# --- waits ---------------------------------------------------------------------------------------------------------
COLLECTIVE: Final = Activity(util=100, spin=1.0, sm=11, occupancy=4, dram=0.1, cpu=101, state="R", noise=0.004)
POLLING: Final = COLLECTIVE.but(rx=410, tx=95)  # the flags of the peers are in host memory: no P2P, no NVLink
SPIN: Final = Activity(
    util=100, spin=0.9, sm=2, occupancy=1, cpu=100, state="R", noise=0.003
)  # a kernel that never ends

# --- training ------------------------------------------------------------------------------------------------------
LLM: Final = Activity(
    util=99.7,
    mc=48,
    share=1.03,
    sm=87,
    occupancy=33,
    tensor=57,
    dram=37,
    rx=28,
    tx=8,
    nv=1450,
    cpu=104,
    state="R",
    noise=0.02,
)
LORA: Final = LLM.but(share=0.83, mc=55, tensor=38, dram=44, nv=0, sm=80)
CNN: Final = Activity(
    util=86,
    mc=42,
    share=0.74,
    sm=63,
    occupancy=38,
    tensor=19,
    dram=32,
    rx=74,
    tx=13,
    nv=8900,
    cpu=108,
    state="R",
    noise=0.04,
)
FP32: Final = Activity(
    util=97,
    mc=58,
    share=0.82,
    sm=84,
    occupancy=48,
    dram=51,
    rx=160,
    tx=9,
    cpu=100,
    state="R",
    noise=0.03,
)
SMALL: Final = Activity(  # thousands of little kernels: the CPU is too slow to launch them
    util=47,
    mc=6,
    share=0.115,
    sm=13,
    occupancy=6,
    tensor=1,
    dram=5,
    rx=6,
    tx=2,
    cpu=100,
    state="R",
    noise=0.06,
)

# --- inference -----------------------------------------------------------------------------------------------------
DECODE: Final = Activity(
    util=95,
    mc=66,
    share=0.52,
    sm=44,
    occupancy=14,
    tensor=7,
    dram=63,
    rx=3,
    tx=2,
    cpu=103,
    state="R",
    noise=0.04,
)
PREFILL: Final = Activity(
    util=99,
    mc=38,
    share=0.94,
    sm=82,
    occupancy=27,
    tensor=47,
    dram=31,
    rx=12,
    tx=3,
    cpu=103,
    state="R",
    noise=0.04,
)
TRICKLE: Final = Activity(  # single small requests, as one recording of H100 has it
    util=6.1,
    mc=3.1,
    share=0.014,
    sm=2.6,
    occupancy=1,
    tensor=0.4,
    dram=2.5,
    rx=20,
    tx=2.6,
    cpu=14,
    noise=0.12,
)
DIFFUSION: Final = Activity(
    util=99,
    mc=52,
    share=0.93,
    sm=86,
    occupancy=30,
    tensor=36,
    dram=38,
    rx=4,
    tx=3,
    cpu=99,
    state="R",
    noise=0.02,
)

# --- other programs ------------------------------------------------------------------------------------------------
FP64: Final = Activity(
    util=99,
    mc=31,
    share=0.68,
    sm=91,
    occupancy=52,
    dram=29,
    fp64=41,
    rx=18,
    tx=15,
    cpu=100,
    state="R",
    noise=0.02,
)
STENCIL: Final = Activity(
    util=98,
    mc=93,
    share=0.62,
    sm=89,
    occupancy=61,
    dram=86,
    fp64=9,
    rx=45,
    tx=45,
    cpu=100,
    state="R",
    noise=0.02,
)
MOLECULES: Final = Activity(
    util=78,
    mc=9,
    share=0.42,
    sm=58,
    occupancy=30,
    dram=8,
    rx=310,
    tx=240,
    cpu=790,
    thread=97,
    state="R",
    noise=0.05,
)
GRAPHS: Final = Activity(  # CUDA graphs of tiny kernels: busy in time, not in work
    util=99,
    mc=2,
    share=0.085,
    sm=7,
    occupancy=3,
    dram=1.2,
    rx=4,
    tx=2,
    cpu=100,
    state="R",
    noise=0.02,
)
RENDER: Final = Activity(
    util=99,
    mc=37,
    share=0.86,
    sm=88,
    occupancy=36,
    dram=30,
    rx=9,
    tx=6,
    cpu=38,
    state="S",
    noise=0.03,
)
DATA: Final = Activity(  # decoding and augmentation on the GPU
    util=38,
    mc=22,
    share=0.24,
    sm=27,
    occupancy=14,
    dram=18,
    rx=920,
    tx=640,
    decoder=71,
    cpu=240,
    thread=88,
    state="R",
    noise=0.08,
)
QUERY: Final = Activity(
    util=61,
    mc=44,
    share=0.38,
    sm=48,
    occupancy=27,
    dram=39,
    rx=4100,
    tx=1900,
    cpu=160,
    thread=84,
    state="R",
    noise=0.2,
)
