"""Labelled traces of what a process may do: the class, the right label, and from when on an alarm is right."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from detector_benchmark import behaviour_shapes as shapes
from detector_benchmark.behaviour_frames import Rank, Scene
from detector_benchmark.behaviour_shapes import BOARDS, Second, Seconds, lasting, seeded
from msgspec import Struct
from msgspec.structs import replace

NOTHING: Final = "nothing"
_SERVERS: Final = (
    ("VLLM::Worker_TP0", "vLLM"),
    ("sglang::scheduler_TP0", "SGLang"),
    ("/opt/conda/bin/python -m vllm.entrypoints.openai.api_server --model m", "vLLM"),
    ("text-generation-server serve m", "TGI"),
    ("tritonserver --model-repository=/m", "Triton"),
)
_INTERACTIVE: Final = (
    ("python -m ipykernel_launcher -f kernel.json", "Jupyter kernel", None),
    ("/usr/bin/python3 /usr/bin/ipython", None, "pts/3"),
    ("python", None, "pts/4"),
)


class Trace(Struct):
    """A scene and what is right to say of it. ``alarms``: codes that are right from ``onset_s`` on.

    ``is_hard``: nobody can be asked to see it, but whoever does is right. ``hangs``: which of its processes hang, and
    from when on.
    """

    kind: str
    seed: int
    label: str
    scene: Scene
    alarms: tuple[str, ...] = ()
    onset_s: float | None = None
    is_hard: bool = False
    hangs: tuple[tuple[int, float], ...] = ()


Made: TypeAlias = "tuple[Rank, str, tuple[str, ...], float | None]"
Maker: TypeAlias = "Callable[[Random], Made]"


def _served(rng: Random, seconds: Seconds) -> Rank:
    command, framework = rng.choice(_SERVERS)
    return Rank(seconds, command=command, framework=framework)


def _multi(rng: Random, seconds: Seconds) -> Rank:
    """Return a rank of a job on several nodes. It listens on ports, as ranks do, and is no server."""
    del rng
    return Rank(seconds, framework="torchrun rank 3/8", rank=3, world=8)


def _compute(rng: Random) -> Made:
    return Rank(lasting(shapes.training(rng), 900)), "compute", (), None


def _memory(rng: Random) -> Made:
    return _served(rng, lasting(shapes.decoding(rng), 600)), "memory", (), None


def _launch(rng: Random) -> Made:
    return Rank(lasting(shapes.launching(rng), 600)), "launch", (), None


def _input(rng: Random) -> Made:
    return Rank(lasting(shapes.starving(rng, of_storage=False), 600)), "input", (), None


def _storage(rng: Random) -> Made:
    return Rank(lasting(shapes.starving(rng, of_storage=True), 600)), "input", (), None


def _hang(rng: Random) -> Made:
    before = rng.randint(200, 600)
    held = lasting(shapes.training(rng, is_multi=True), before) + lasting(shapes.hanging(rng), 500)
    return _multi(rng, held), "stuck-collective", ("stuck.collective",), before


def _hang_at_start(rng: Random) -> Made:
    held = lasting(shapes.idle(rng, thread=90), 40) + lasting(shapes.hanging(rng), 800)
    return _multi(rng, held), "stuck-collective", ("stuck.collective",), 40


def _busy_wait(rng: Random) -> Made:
    before = rng.randint(100, 400)
    held = lasting(shapes.training(rng), before) + lasting(shapes.hanging(rng), 500)
    return Rank(held), "stuck-kernel", ("stuck.kernel",), before


def _host_spin(rng: Random) -> Made:
    held = lasting(shapes.spinning(rng), 400)
    return (_served(rng, held) if rng.random() < 0.7 else Rank(held)), "host-spin", (), None


def _idle_holder(rng: Random) -> Made:
    command, framework, terminal = rng.choice(_INTERACTIVE)
    held = lasting(shapes.training(rng), rng.randint(30, 200)) + lasting(shapes.idle(rng), 800)
    return Rank(held, command=command, framework=framework, terminal=terminal), "idle-holder", (), None


def _deadlock(rng: Random) -> Made:
    before, count = rng.randint(300, 900), rng.choice((4, 8, 16))
    held = lasting(shapes.training(rng), before) + lasting(shapes.idle(rng, count=count), 500)
    return Rank(held), "stalled", ("stalled.process",), before


def _bursty(rng: Random) -> Made:
    held: Seconds = []
    work = shapes.decoding(rng)
    while len(held) < 700:
        held += lasting(work, rng.uniform(1, 12)) + lasting(shapes.idle(rng, thread=6), rng.uniform(2, 60))
    return _served(rng, held), NOTHING, (), None


def _pauses(rng: Random) -> Made:
    is_multi = rng.random() < 0.6
    held: Seconds = []
    for _ in range(5):
        held += lasting(shapes.training(rng, is_multi=is_multi), rng.uniform(100, 300))
        pause = rng.uniform(20, 110)
        if is_multi:
            held += lasting(shapes.copying(shapes.hanging(rng), rng), pause / 3)
            held += lasting(shapes.hanging(rng), 2 * pause / 3)
        else:
            held += lasting(shapes.idle(rng, thread=60), pause)
    held += lasting(shapes.training(rng, is_multi=is_multi), 180)
    return (_multi(rng, held) if is_multi else Rank(held)), "compute", (), None


def _communication(rng: Random) -> Made:
    return _multi(rng, lasting(shapes.communicating(rng), 600)), "communication", (), None


def _capped(rng: Random) -> Made:
    return Rank(lasting(shapes.capped(rng), 600)), "compute", (), None


def _thermal(rng: Random) -> Made:
    return Rank(lasting(shapes.training(rng), 200) + lasting(shapes.throttled(rng), 300)), "throttled", (), None


def _stopped(rng: Random) -> Made:
    before = rng.randint(60, 300)
    held = lasting(shapes.training(rng), before) + lasting(lambda: Second(thread=0.0, state="T"), 200)
    return Rank(held), "stopped", ("process.stopped",), before


def _barrier(rng: Random) -> Made:
    held: Seconds = []
    for _ in range(3):
        held += lasting(shapes.training(rng, is_multi=True), rng.uniform(120, 300))
        held += lasting(shapes.hanging(rng), rng.uniform(100, 240))
    return _multi(rng, held + lasting(shapes.training(rng, is_multi=True), 200)), "compute", (), None


def _idle_server(rng: Random) -> Made:
    return _served(rng, lasting(shapes.hanging(rng), 900)), NOTHING, (), None


def _tiny(rng: Random) -> Made:
    return Rank(lasting(shapes.tiny(rng), 900)), "fake", (), None


def _slow_step(rng: Random) -> Made:
    held: Seconds = []
    count = rng.randint(2, 8)
    for _ in range(12):
        work = shapes.training(rng)
        held += [replace(one, workers=shapes.workers(rng, count, 60, 100)) for one in lasting(work, rng.uniform(5, 40))]
        held += lasting(shapes.preparing(rng, count), rng.uniform(40, 110))
    return Rank(held), "input", (), None


CLASSES: Final[dict[str, Maker]] = {
    "compute": _compute,
    "memory-bound decode": _memory,
    "launch-bound": _launch,
    "input-bound, CPU": _input,
    "input-bound, storage": _storage,
    "NCCL hang after work": _hang,
    "NCCL hang at start": _hang_at_start,
    "busy-wait kernel": _busy_wait,
    "host spin": _host_spin,
    "idle holder": _idle_holder,
    "data-loader deadlock": _deadlock,
    "bursty server": _bursty,
    "training with pauses": _pauses,
    "communication-bound": _communication,
    "power-capped": _capped,
    "thermal slowdown": _thermal,
    "SIGSTOP": _stopped,
    "legitimate long barrier": _barrier,
    "idle tensor-parallel server": _idle_server,
    "tiny-kernel job": _tiny,
    "slow-step job": _slow_step,
}


def trace(kind: str, seed: int) -> Trace:
    """Return a trace of a class."""
    rng = seeded(f"{kind}/{seed}")
    board = rng.choice(BOARDS)
    rank, label, alarms, onset_s = CLASSES[kind](rng)
    hangs = ((0, onset_s),) if onset_s is not None and alarms[0].startswith("stuck") else ()
    return Trace(kind, seed, label, Scene([rank], board, seed), alarms, onset_s, hangs=hangs)


def neighbours(seed: int) -> Trace:
    """Return a kernel that is stuck beside a busy neighbour: power and traffic are not its own, so it is no alarm."""
    rng = seeded(f"neighbours/{seed}")
    stuck = lasting(shapes.training(rng), 150) + lasting(shapes.hanging(rng), 500)
    scene = Scene([Rank(stuck), Rank(lasting(shapes.training(rng), 650))], rng.choice(BOARDS), seed)
    return Trace("stuck beside a busy neighbour", seed, "stuck-kernel", scene, hangs=((0, 150.0),))


def mixed(seed: int) -> Trace:
    """Return the sum of two different behaviours on one GPU; an alarm is right if one of them deserves it.

    It is hard if all that is wrong is a hang beside a neighbour that computes: power and traffic are not its own.
    """
    rng = seeded(f"mixed/{seed}")
    board = rng.choice(BOARDS)
    one, other = rng.sample(sorted(CLASSES), 2)
    first, _, alarms, onset_s = CLASSES[one](rng)
    second, _, more, other_onset_s = CLASSES[other](rng)
    wrong = [
        (at, codes[0].startswith("stuck") and beside not in _LEAVES_IT_TO_BE_SEEN)
        for codes, at, beside in ((alarms, onset_s, other), (more, other_onset_s, one))
        if at is not None
    ]
    onset = min((at for at, _ in wrong), default=None)
    is_hard = bool(wrong) and all(is_hidden for _, is_hidden in wrong)
    hangs = tuple(
        (at, since_s)
        for at, (codes, since_s) in enumerate(((alarms, onset_s), (more, other_onset_s)))
        if since_s is not None and codes[0].startswith("stuck")
    )
    scene = Scene([first, second], board, seed)
    return Trace(f"{one} + {other}", seed, NOTHING, scene, alarms + more, onset, is_hard, hangs)


_LEAVES_IT_TO_BE_SEEN: Final = ("host spin", "idle holder", "SIGSTOP", "idle tensor-parallel server")
