"""Boards at 100 % for long that are well: kernels that stay by design, small work, and slow boards."""

from typing import Any

from detector_benchmark.independent.activity import DECODE, FP64, GRAPHS, LORA, PREFILL, SPIN, STENCIL, Activity
from detector_benchmark.independent.actors import docker, service
from detector_benchmark.independent.boards import (
    A100,
    B200,
    GTX_1080_TI,
    H100,
    L4,
    L40S,
    POWER,
    RTX_3090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import bad_process_zeros, late_power
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Part, cycle, phases, sometimes
from detector_benchmark.independent.sketches import mib_of, scene
from detector_benchmark.independent.textures import drifting, rippling
from detector_benchmark.independent.trace import Scene

_BATCH: Any = {"variables": {}, "terminal": 0}


def _full(
    seed: int,
    name: str,
    board: Board,
    does: Part,
    command: str,
    *,
    until_s: float = 1500,
    allows: str = "",
    disturb: Any = (),
    interval_s: float = 1.0,
    beside: Any = (),
    **more: Any,
) -> Scene:
    draw = Draw(seed, name)
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.1, 0.8)), **_BATCH | more)
    return scene(seed, [board], [*beside, actor], until_s, allows=allows, disturb=disturb, interval_s=interval_s)


# --- servers whose kernel stays ------------------------------------------------------------------------------------
def _stays(seed: int, name: str, work: Activity) -> Part:
    """Answer the first requests, then wait for the next ones in a kernel that stays on the board."""
    draw = Draw(seed, name + "+")
    waits = SPIN.but(spin=draw.between(0.3, 1.0), sm=draw.between(1, 6), cpu=draw.one_of((3.0, 100.0)))
    busy = drifting(draw, draw.work(work))
    at_s = draw.between(240, 420)
    return phases(cycle((40, busy), (6, waits)), (at_s, waits), (at_s + draw.between(900, 1000), busy))


def persistent_kernel_in_its_first_quiet_hour(seed: int) -> Scene:
    """A server on an H100 decodes in one kernel that never leaves the board; no request comes for a quarter of an hour."""
    command = "python serve_mega.py --port 8000"
    return _full(seed, "k4busy1", H100, _stays(seed, "k4busy1", DECODE), command, allows="idle tiny~")


def persistent_kernel_of_a_web_server(seed: int) -> Scene:
    """A server with `--http-port` on an L4 polls a queue of requests from a kernel, and the queue is empty."""
    does = _stays(seed, "k4busy2", PREFILL)
    return _full(seed, "k4busy2", L4, does, "./answer --http-port 9000", allows="idle tiny~", cgroup=service("answer"))


def persistent_kernel_of_a_listening_module(seed: int) -> Scene:
    """A module with `--listen` on an A100 keeps a kernel on the board between requests, in a container."""
    does = _stays(seed, "k4busy3", DECODE)
    command = "python -m engine.server --listen 0.0.0.0:7000"
    return _full(seed, "k4busy3", A100, does, command, allows="idle tiny~", cgroup=docker("c"))


# --- small or strange work -----------------------------------------------------------------------------------------
def automaton_in_a_graph(seed: int) -> Scene:
    """A small automaton on a V100 is replayed as a graph at 99 %, little power, for its whole life."""
    draw = Draw(seed, "k4busy4+")
    does = drifting(draw, GRAPHS.but(share=draw.between(0.06, 0.12)), depth=0.01)
    return _full(seed, "k4busy4", V100, does, "./automaton", allows="tiny launch")


def chain_of_samples_on_a_large_board(seed: int) -> Scene:
    """A chain of samples on a B200 is sequential: 99 %, a tenth of the power, memory traffic of some percent."""
    draw = Draw(seed, "k4busy5+")
    work = GRAPHS.but(share=draw.between(0.1, 0.16), mc=draw.between(5, 9), dram=6, sm=draw.between(10, 16), rx=30)
    return _full(seed, "k4busy5", B200, rippling(draw, work), "python mcmc.py", allows="tiny launch")


def prices_by_long_kernels(seed: int) -> Scene:
    """Kernels of a minute each compute prices on an L40S at high power; the host sleeps meanwhile."""
    draw = Draw(seed, "k4busy6+")
    work = draw.work(FP64).but(util=100.0, cpu=1.0, thread=1.0, state="S", rx=0.0, tx=0.0, mc=1.0, dram=0.5)
    return _full(seed, "k4busy6", L40S, cycle((61, work), (1, work.but(util=60.0))), "./price -i book.csv")


def hashes_without_memory_traffic(seed: int) -> Scene:
    """A search for hashes on a 1080 Ti touches no memory and draws full power, with a desktop beside."""
    draw = Draw(seed, "k4busy7+")
    work = Activity(util=100, share=draw.between(0.8, 1.0), mc=1, sm=97, occupancy=50, cpu=3, noise=0.01)
    return _full(seed, "k4busy7", GTX_1080_TI, work, "./hashcat -m 1400 -a 3", beside=desktop())


def board_that_tells_no_power(seed: int) -> Scene:
    """A board without power readings, a 3090, tunes a model at 100 % for half an hour, and PCIe rests."""
    draw = Draw(seed, "k4busy8+")
    work = draw.work(LORA).but(util=100.0, rx=0.5, tx=0.3)
    return _full(seed, "k4busy8", RTX_3090.without(POWER), drifting(draw, work, depth=0.002), "python tune.py")


def solver_with_late_power(seed: int) -> Scene:
    """A solver on a V100 works in turns of ten seconds; its power is late in one look of five, and zeros are read."""
    draw = Draw(seed, "k4busy9+")
    does = cycle((10, draw.work(STENCIL)), (3, draw.work(STENCIL).at(0.3)))
    return _full(
        seed, "k4busy9", V100, does, "./stencil", disturb=[late_power(seed, 0.2), bad_process_zeros(seed, 0.02)]
    )


def polls_of_a_trading_engine(seed: int) -> Scene:
    """An engine with `--port` on a T4 keeps a kernel that polls the network card, day and night; ticks are rare."""
    draw = Draw(seed, "k4busy10+")
    waits = SPIN.but(cpu=100.0, spin=draw.between(0.6, 1.0))
    does = sometimes(waits, each_s=90, part=draw.work(PREFILL), for_s=3, seed=draw.seed())
    return _full(seed, "k4busy10", T4, does, "./engine --port 5001", allows="tiny~ idle", cgroup=service("engine"))
