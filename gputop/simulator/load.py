"""The work of jobs on a GPU, as curves over time: training, serving, evaluation, drawing.

The curves of a job follow from a single one, the share of time in which it keeps the GPU busy, so that a checkpoint is
visible in all of them.
"""

from msgspec import Struct
from msgspec.structs import astuple, replace

from gputop.simulator.curve import ZERO, Curve, Pulse, Wave, noise, spread, total

GB = 1e9
CHECKPOINT_PERIOD_S = 240.0
_CHECKPOINT_S = 9.0
_CHECKPOINT_AT_S = 32.0


class Activity(Struct, frozen=True, kw_only=True):
    """The work of a job: percents 0-100 of a GPU (or GPU instance), bytes per second.

    ``power``: share 0-1 of the range between the board's idle power and its limit.
    """

    gpu: Curve = ZERO
    memory: Curve = ZERO
    sm: Curve = ZERO
    occupancy: Curve = ZERO
    tensor: Curve = ZERO
    dram: Curve = ZERO
    fp16: Curve = ZERO
    fp32: Curve = ZERO
    fp64: Curve = ZERO
    encoder: Curve = ZERO
    decoder: Curve = ZERO
    jpeg: Curve = ZERO
    ofa: Curve = ZERO
    power: Curve = ZERO
    pcie_tx: Curve = ZERO
    pcie_rx: Curve = ZERO
    nvlink_tx: Curve = ZERO
    nvlink_rx: Curve = ZERO

    def scaled(self, factor: float) -> "Activity":
        """Return a part of this work."""
        return Activity(**{name: getattr(self, name) * factor for name in self.__struct_fields__})

    def until(self, end_s: float) -> "Activity":
        """Return this work up to an instant, and none after it."""
        return Activity(**{name: getattr(self, name).until(end_s) for name in self.__struct_fields__})

    def since(self, start_s: float) -> "Activity":
        """Return no work up to an instant, and this work after it."""
        return Activity(**{name: getattr(self, name).since(start_s) for name in self.__struct_fields__})


def together(*activities: Activity) -> Activity:
    """Return the sum of several jobs' work."""
    columns = zip(*(astuple(activity) for activity in activities), strict=True)
    return Activity(**dict(zip(Activity.__struct_fields__, (total(*column) for column in columns), strict=True)))


IDLE = Activity()


def training(rank: int, level: float = 96.0) -> Activity:
    """Return a rank of a data-parallel training: steady steps, short stalls, a checkpoint every four minutes.

    The periods divide one another, so that a stall never falls into a checkpoint, and all ranks wait together.
    """
    share = level / 100
    busy = Curve(
        level,
        (
            *noise(2.4 * share, rank),
            Pulse(-34 * share, 1.4, CHECKPOINT_PERIOD_S / 4, 11.0),
            Pulse(-87 * share, _CHECKPOINT_S, CHECKPOINT_PERIOD_S, _CHECKPOINT_AT_S),
        ),
    )
    own = 1 - 0.04 * spread(rank + 3)  # no two boards are equal
    saved = Curve(0.06 * GB, (Pulse(5.2 * GB, _CHECKPOINT_S, CHECKPOINT_PERIOD_S, _CHECKPOINT_AT_S),))
    return Activity(
        gpu=busy, memory=busy * 0.56, sm=busy * (0.89 * own), occupancy=busy * 0.33, tensor=busy * (0.55 * own),
        dram=busy * (0.5 * own), fp16=busy * 0.04, fp32=busy * 0.09,
        power=busy * (0.0098 * own) + Curve(0.0, (Wave(0.02 * share, 1.7, rank * 0.3), Wave(0.015 * share, 7.3))),
        pcie_tx=busy * (0.004 * GB) + saved, pcie_rx=busy * (0.013 * GB),
        nvlink_tx=busy * (2.15 * GB * own), nvlink_rx=busy * (2.13 * GB * own),
    )  # fmt: skip


def alone(job: Activity) -> Activity:
    """Return the job on one GPU instance, which cannot reach another GPU."""
    return replace(job, nvlink_tx=ZERO, nvlink_rx=ZERO)


def evaluation(level: float = 17.0, seed: int = 0) -> Activity:
    """Return an evaluation: batches, and a gap for tokenizing every half minute."""
    busy = Curve(level, (*noise(level * 0.22, seed), Pulse(-level * 0.7, 5.5, 29.0, 4.0 + seed)))
    return Activity(
        gpu=busy, memory=busy * 0.6, sm=busy * 0.82, occupancy=busy * 0.22, tensor=busy * 0.34, dram=busy * 0.58,
        fp16=busy * 0.06, fp32=busy * 0.05, power=busy * 0.0078, pcie_tx=busy * (0.002 * GB),
        pcie_rx=busy * (0.021 * GB),
    )  # fmt: skip


def serving(level: float = 40.0, seed: int = 0) -> Activity:
    """Return a language-model server: bursts of requests over a slow wave; decoding is bound by memory bandwidth."""
    bursts = Curve(
        0.0,
        (Pulse(level * 0.62, 4.3, 11.3, seed * 1.1), Pulse(level * 0.45, 2.9, 7.9, 2.0), Pulse(level * 0.2, 9, 41.0)),
    )
    busy = Curve(level, (Wave(level * 0.14, 310.0, 40.0), *noise(level * 0.07, seed))) + bursts
    return Activity(
        gpu=busy, memory=busy * 0.78, sm=busy * 0.74, occupancy=busy * 0.17, tensor=busy * 0.21 + bursts * 0.4,
        dram=busy * 0.76, fp16=busy * 0.05, fp32=busy * 0.06, power=busy * 0.0061 + bursts * 0.0028,
        pcie_tx=busy * (0.006 * GB), pcie_rx=busy * (0.008 * GB),
    )  # fmt: skip


def embedding(level: float = 9.0, seed: int = 0) -> Activity:
    """Return a small server: short requests, idle between them."""
    busy = Curve(0.3, (Pulse(level, 1.3, 6.7, seed), Pulse(level * 0.8, 0.9, 17.3, 5.0)))
    return Activity(
        gpu=busy, memory=busy * 0.4, sm=busy * 0.6, occupancy=busy * 0.2, tensor=busy * 0.3, dram=busy * 0.3,
        fp16=busy * 0.1, power=busy * 0.006, pcie_tx=busy * (0.004 * GB), pcie_rx=busy * (0.009 * GB),
    )  # fmt: skip


def simulation(level: float = 92.0, seed: int = 0) -> Activity:
    """Return a physics code in double precision that writes its state now and then."""
    busy = Curve(level, (*noise(level * 0.03, seed), Pulse(-level * 0.6, 3.0, 45.0, 9.0)))
    return Activity(
        gpu=busy, memory=busy * 0.7, sm=busy * 0.93, occupancy=busy * 0.58, dram=busy * 0.66, fp32=busy * 0.12,
        fp64=busy * 0.51, power=busy * 0.0086, pcie_tx=busy * (0.01 * GB), pcie_rx=busy * (0.003 * GB),
    )  # fmt: skip


def spinning(level: float = 100.0) -> Activity:
    """Return a kernel that spins for ever: full GPU utilization, and hardly any power."""
    busy = Curve(level)
    return Activity(gpu=busy, sm=busy * 0.06, occupancy=busy * 0.01, power=busy * 0.0011)


def drawing(level: float, seed: int = 0) -> Activity:
    """Return a desktop, a game or a viewport: frames at an uneven pace."""
    busy = Curve(level, (*noise(level * 0.28, seed), Wave(level * 0.25, 53.0, seed * 9.0)))
    return Activity(
        gpu=busy, memory=busy * 0.55, sm=busy * 0.8, fp32=busy * 0.3, power=busy * 0.0085,
        pcie_tx=busy * (0.008 * GB), pcie_rx=busy * (0.03 * GB),
    )  # fmt: skip


def recording(level: float = 34.0) -> Activity:
    """Return a screen recorder: the video encoder, and a little of everything else."""
    busy = Curve(level, noise(4.0, 5))
    return Activity(
        gpu=busy * 0.08, memory=busy * 0.07, encoder=busy, decoder=busy * 0.2, power=busy * 0.0006,
        pcie_tx=busy * (0.012 * GB),
    )  # fmt: skip


def diffusion(level: float = 88.0, seed: int = 0) -> Activity:
    """Return an image generator: twenty seconds of denoising, then the next prompt."""
    busy = Curve(2.0, (Pulse(level, 19.0, 26.0, 3.0), *noise(1.9, seed)))
    return Activity(
        gpu=busy, memory=busy * 0.5, sm=busy * 0.9, tensor=busy * 0.5, fp16=busy * 0.2, dram=busy * 0.5,
        power=busy * 0.0105, pcie_tx=busy * (0.005 * GB), pcie_rx=busy * (0.005 * GB),
    )  # fmt: skip
