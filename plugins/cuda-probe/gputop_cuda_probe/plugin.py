"""The manifest: what gputop knows of these tests. Of the package only this imports gputop, and it imports no torch."""

import os
from typing import Final

from gputop.plugin import API_VERSION, Level, Measure, Plugin, Probe, ProbeTest, Purpose

_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))


def _for(*, quick: float = 0, standard: float = 0, long: float = 0, soak: float = 0) -> dict[Level, float]:
    """Return seconds by level; a level of none is left out."""
    pairs = ((Level.QUICK, quick), (Level.STANDARD, standard), (Level.LONG, long), (Level.SOAK, soak))
    return {level: seconds for level, seconds in pairs if seconds}


_GEMM: Final = {
    "fp64": _for(standard=3, long=12),
    "fp32": _for(quick=2.5, standard=4, long=20),
    "tf32": _for(standard=3, long=12),
    "bf16": _for(quick=2.5, standard=4, long=20, soak=5),
    "fp16": _for(standard=3, long=12),
    "fp8": _for(standard=3, long=12),
    "int8": _for(standard=3, long=12),
}
_MEMORY: Final = {
    "address": ("Does each word keep its own address?", _for(quick=1.5, standard=5, long=20, soak=5)),
    "constants": ("Does memory keep constants?", _for(standard=4, long=15)),
    "walking": ("Does each bit keep a one among zeros, and a zero among ones?", _for(quick=1.5, standard=13, long=45)),
    "inversions": ("Does memory survive being inverted upwards and downwards?", _for(quick=1.5, standard=7, long=45)),
    "random": ("Does memory keep random words?", _for(quick=1.5, standard=6, long=40)),
    "move": ("Do blocks arrive where they are moved to?", _for(standard=4, long=20)),
    "modulo": ("Does every twentieth word stand among others?", _for(long=35)),
    "retention": ("Does memory keep its content while nothing is written?", _for(standard=6, long=80)),
    "resume": ("Does memory work at once after a pause?", _for(long=45)),
}
_FAST: Final = _for(quick=1, standard=2.5, long=8)
_COPY: Final = {
    "copy": ("How fast is memory copied on the device, and rightly?", ("copy", "read", "write"), (0.95, 0.90), _FAST),
    "h2d": ("How fast do bytes come from the host, and rightly?", ("pinned", "pageable"), (0.85, 0.70), _FAST),
    "d2h": ("How fast do bytes go to the host, and rightly?", ("pinned", "pageable"), (0.85, 0.70), _FAST),
    "both": ("How fast do bytes go both ways at once, and rightly?", ("both",), (0.85, 0.70), _for(standard=2, long=8)),
}
_SHARED: Final = {
    "allreduce": "Are sums over all GPUs exact, and how fast?",
    "allgather": "Does every GPU get the parts of all, and how fast?",
    "reducescatter": "Does every GPU get its part of the sums, and how fast?",
    "alltoall": "Does every GPU get its part of each, and how fast?",
    "sendrecv": "Does every GPU reach every other, and is one slower than the rest?",
}
_COST: Final = (0.5, 0.0)  # twice the median warns; nothing fails for it

TESTS: Final = (
    ProbeTest(
        key="context", question="How long until the device can be used?", purpose=Purpose.HEALTH,
        seconds=_for(quick=1, standard=1, long=1, soak=1),
        measures=(
            Measure(name="context", siblings=(0.33, 0.0), most=(10.0, 60.0), is_cost=True),
            Measure(name="import", siblings=None, is_cost=True),
        ),
    ),
    ProbeTest(
        key="launch", question="How long does a launch take?", purpose=Purpose.SPEED,
        seconds=_for(quick=1, standard=2, long=5),
        measures=tuple(Measure(name=name, siblings=_COST, is_cost=True) for name in ("issue", "round_trip", "gap")),
    ),
    *(
        ProbeTest(
            key=f"gemm.{name}", question=f"Are matrix products in {name} exact?", purpose=Purpose.CORRECTNESS,
            seconds=seconds, measures=(Measure(name="tflops", expected=name),),
        )
        for name, seconds in _GEMM.items()
    ),
    ProbeTest(
        key="ops", question="Are sorting, gathering, atomics and special functions exact?",
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=3, long=12),
    ),
    *(
        ProbeTest(
            key=f"vote.{name}", question=f"Does it agree in {name} with itself and its siblings, bit by bit?",
            purpose=Purpose.CORRECTNESS, seconds=_for(standard=2.5, long=10),
        )
        for name in ("fp32", "bf16")
    ),
    *(
        ProbeTest(key=f"memory.{name}", question=question, purpose=Purpose.CORRECTNESS, seconds=seconds)
        for name, (question, seconds) in _MEMORY.items()
    ),
    *(
        ProbeTest(
            key=f"bandwidth.{name}", question=question, purpose=Purpose.SPEED,
            seconds=seconds,
            measures=tuple(
                Measure(name=one, siblings=shares, expected="copy" if one == "copy" else "pcie" * (one == "pinned"))
                for one in names
            ),
        )
        for name, (question, names, shares, seconds) in _COPY.items()
    ),
    ProbeTest(
        key="soak", question="Does it hold its speed, power and temperature under steady load?",
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=60, long=240, soak=600), stretches=True,
        measures=(
            Measure(name="tflops"), Measure(name="droop", siblings=None, most=(5.0, 15.0), is_cost=True),
            Measure(name="clock", siblings=(0.95, 0.85)),
        ),
    ),
    ProbeTest(
        key="pulse", question="Does it compute rightly when load comes and goes?", purpose=Purpose.CORRECTNESS,
        seconds=_for(long=40),
    ),
    ProbeTest(
        key="memory.kept", question="Does a block keep its content from the first test to the last?",
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=1, long=3, soak=3),
    ),
    ProbeTest(
        key="pairs", question="How fast do GPUs copy to each other, and rightly?", purpose=Purpose.CORRECTNESS,
        seconds=_for(standard=8, long=20), sees_all=True,
        measures=tuple(Measure(name=name, siblings=(0.80, 0.0)) for name in (
            "peer", "peer_both", "staged", "staged_both", "h2d_alone", "d2h_alone",
        )),
    ),
    *(
        ProbeTest(
            key=f"collective.{name}", question=question, purpose=Purpose.CORRECTNESS, seconds=_for(long=6),
            is_joint=True, measures=(
                Measure(name="busbw", expected="busbw" * (name == "allreduce"), siblings=None),
                Measure(name="time", siblings=None, is_cost=True), Measure(name="rank", siblings=(0.85, 0.0)),
            ),
        )
        for name, question in _SHARED.items()
    ),
)  # fmt: skip

PLUGIN: Final = Plugin(
    name="cuda-probe",
    api=API_VERSION,
    probes=(
        Probe(
            key="cuda", help="NVIDIA GPUs, with torch", folder=_FOLDER, worker="gputop_cuda_probe.worker",
            joint="gputop_cuda_probe.collective", needs="torch", tests=TESTS, reference=f"{_FOLDER}/reference.toml",
        ),
    ),
)  # fmt: skip
