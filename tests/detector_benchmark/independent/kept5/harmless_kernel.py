"""Boards at 100 % for long that are well."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    DECODE,
    FP64,
    GRAPHS,
    LORA,
    PREFILL,
    RENDER,
    SPIN,
    STENCIL,
    Activity,
)
from detector_benchmark.independent.actors import Actor, docker, service
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    GH200,
    H100,
    L4,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    RTX_5090,
    T4,
    TITAN_X,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, faults, late_power
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop
from detector_benchmark.independent.scripts import Part, cycle, phases, sometimes
from detector_benchmark.independent.sketches import alone, jammed, mib_of
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene


def _full(
    seed: int,
    name: str,
    board: Board,
    does: Callable[[Draw], Part],
    command: str,
    *,
    until_s: float = 1500,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    beside: Sequence[Actor] = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    memory = mib_of(board, draw.between(0.1, 0.8))
    given: Any = {"actors": beside, "disturb": disturb(draw), "command": command} | more
    return alone(seed, board, does(draw), memory, until_s, **given)


# --- servers whose kernel stays on the board ------------------------------------------------------------------------
def _resident(work: Activity) -> Callable[[Draw], Part]:
    """Answer requests for minutes, then wait for the next in a kernel that polls a queue, then answer again."""

    def does(draw: Draw) -> Part:
        cpu = draw.one_of((2.0, 100.0))
        polls = SPIN.but(spin=draw.between(0.2, 1.0), sm=draw.between(1, 8), cpu=cpu, thread=cpu)
        busy, at_s = drifting(draw, draw.work(work)), draw.between(220, 440)
        bursts = cycle((draw.between(20, 45), busy), (draw.between(3, 9), polls))
        return phases(bursts, (at_s, polls), (at_s + draw.between(800, 950), bursts))

    return does


def engine_with_a_resident_decoder(seed: int) -> Scene:
    """An engine on a GH200 decodes in a resident kernel; its users sleep for a quarter of an hour."""
    more: Any = {"allows": "idle tiny~", "cgroup": docker("d")}
    return _full(seed, "k5busy1", GH200, _resident(DECODE), "python -m mirage.serve --port 9000", **more)


def ranking_that_polls_a_network_card(seed: int) -> Scene:
    """A ranking service on a T4 takes requests from the network card in a resident kernel; at night there are none."""
    more: Any = {"allows": "idle tiny~", "cgroup": service("rank")}
    return _full(seed, "k5busy2", T4, _resident(PREFILL), "./ranker --listen 0.0.0.0:7700", **more)


def modem_of_a_radio_cell(seed: int) -> Scene:
    """A modem in software on an A100 polls for samples in a resident kernel; short bursts come about once a minute."""

    def does(draw: Draw) -> Part:
        polls = SPIN.but(cpu=200.0, thread=100.0, spin=draw.between(0.5, 1.0), sm=draw.between(2, 9))
        return sometimes(polls, each_s=60, part=draw.work(PREFILL), for_s=4, seed=draw.seed())

    more: Any = {"allows": "tiny~ idle launch~", "cgroup": service("cell")}
    return _full(seed, "k5busy3", A100, does, "./cuphycontroller --port 4043", **more)


# --- work that looks odd --------------------------------------------------------------------------------------------
def double_precision_on_a_gaming_board(seed: int) -> Scene:
    """A solver in double precision on an RTX 4090: at 100 % with a fifth of the power, as the board has few such units."""

    def does(draw: Draw) -> Part:
        work = FP64.but(util=100.0, share=draw.between(0.15, 0.24), mc=draw.between(2, 6), dram=3, sm=92, fp64=95)
        return rippling(draw, drifting(draw, work, depth=0.01))

    return _full(seed, "k5busy4", RTX_4090, does, "./quantum -i h2o.inp", beside=desktop(), allows="tiny~")


def triangular_systems_one_after_the_other(seed: int) -> Scene:
    """A solver of triangular systems on an H100 is sequential by nature: 99 %, a tenth of the power, some memory traffic."""

    def does(draw: Draw) -> Part:
        share, mc = draw.between(0.1, 0.16), draw.between(6, 12)
        return drifting(draw, GRAPHS.but(share=share, mc=mc, dram=mc * 0.8, sm=draw.between(9, 18), rx=12), depth=0.02)

    return _full(seed, "k5busy5", H100, does, "./circuit -b chip.sp", allows="tiny launch")


def folding_for_science(seed: int) -> Scene:
    """A volunteer's program folds proteins on a 3090 day and night, at high power and without much memory traffic."""

    def does(draw: Draw) -> Part:
        work = Activity(util=98, share=draw.between(0.6, 0.8), mc=6, sm=80, occupancy=40, dram=5, rx=18, tx=9, cpu=100)
        return drifting(draw, work.but(state="R"), depth=0.02)

    return _full(seed, "k5busy6", RTX_3090, does, "./FahCore_24 -dir 01", beside=desktop(), user="fah")


def keys_tried_by_a_long_kernel(seed: int) -> Scene:
    """An audit of passwords on a TITAN X runs kernels of half a minute that touch no memory, at full power."""

    def does(draw: Draw) -> Part:
        work = Activity(util=100, share=draw.between(0.75, 0.98), mc=0.5, sm=98, occupancy=50, cpu=2, noise=0.01)
        return cycle((draw.between(25, 35), work), (1, work.at(0.5)))

    return _full(seed, "k5busy7", TITAN_X, does, "hashcat -m 22000 -a 3 wifi.hc")


def paths_drawn_by_long_kernels(seed: int) -> Scene:
    """A renderer on an RTX PRO 6000 draws tiles of twenty seconds while its host sleeps, with dips between frames."""

    def does(draw: Draw) -> Part:
        work = draw.work(RENDER).but(cpu=1.0, thread=1.0, rx=0.2, tx=0.1)
        return cycle((draw.between(55, 80), drifting(draw, work)), (draw.between(3, 6), jammed(90, "R")))

    return _full(seed, "k5busy8", PRO_6000, does, "./redshiftCmdLine shot.rs")


def chains_of_samples_on_a_small_board(seed: int) -> Scene:
    """A sampler on an L4 replays a small graph for every step of its chains, at 99 % and little power."""

    def does(draw: Draw) -> Part:
        work = GRAPHS.but(share=draw.between(0.08, 0.15), mc=draw.between(3, 8), dram=4, sm=draw.between(8, 14))
        return rippling(draw, drifting(draw, work, depth=0.01))

    return _full(seed, "k5busy9", L4, does, "python hmc_jax.py", allows="tiny launch")


def test_of_memory_that_runs_for_hours(seed: int) -> Scene:
    """An acceptance test on a V100 writes and reads patterns for hours: full memory traffic, little compute."""

    def does(draw: Draw) -> Part:
        work = STENCIL.but(sm=12.0, fp64=0.0, share=draw.between(0.25, 0.4), rx=0.1, tx=0.1, cpu=1.0, thread=1.0)
        return drifting(draw, work, depth=0.01)

    return _full(seed, "k5busy10", V100, does, "./memtest --hours 12")


# --- readings -------------------------------------------------------------------------------------------------------
def tuning_without_power_and_traffic(seed: int) -> Scene:
    """A driver of an RTX 5090 reports neither power nor PCIe; a tuning is at 100 % for half an hour."""
    board = RTX_5090.without("power", "pcie")
    does = lambda draw: drifting(draw, draw.work(LORA).but(util=100.0), depth=0.003)
    return _full(seed, "k5busy11", board, does, "python tune.py", until_s=1800)


def generation_with_failing_readings(seed: int) -> Scene:
    """A generation on an A10G is at 99 %; power is late or fails in one sample of six, and zeros are read."""
    bad = lambda draw: [
        late_power(draw.seed(), 0.15),
        faults(draw.seed(), 0.06, "power_average_w", "power_instant_w"),
        bad_process_zeros(draw.seed(), 0.03),
    ]
    does = lambda draw: rippling(draw, drifting(draw, draw.work(DECODE)))
    return _full(seed, "k5busy12", A10G, does, "python gen_all.py", disturb=bad)
