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
    "walking": ("Does each bit keep a 1 among zeros, and a 0 among ones?", _for(quick=1.5, standard=13, long=45)),
    "inversions": ("Are words correct after inversion upwards and downwards?", _for(quick=1.5, standard=7, long=45)),
    "random": ("Does memory keep random words?", _for(quick=1.5, standard=6, long=40)),
    "move": ("Are moved blocks correct?", _for(standard=4, long=20)),
    "modulo": ("Does every twentieth word stay correct between other words?", _for(long=35)),
    "retention": ("Does memory keep its content without writes?", _for(standard=6, long=80)),
    "resume": ("Is memory correct right after a pause?", _for(long=45)),
}
_FAST: Final = _for(quick=1, standard=2.5, long=8)
_COPY: Final = {
    "copy": ("Are copies on the device correct, and how fast?", ("copy", "read", "write"), (0.95, 0.90), _FAST),
    "h2d": ("Are copies from the host correct, and how fast?", ("pinned", "pageable"), (0.85, 0.70), _FAST),
    "d2h": ("Are copies to the host correct, and how fast?", ("pinned", "pageable"), (0.85, 0.70), _FAST),
    "both": ("Are copies both ways at once correct, and how fast?", ("both",), (0.85, 0.70), _for(standard=2, long=8)),
}
_SHARED: Final = {
    "allreduce": "Are sums over all GPUs exact, and how fast?",
    "allgather": "Does every GPU get the parts of all GPUs, and how fast?",
    "reducescatter": "Does every GPU get its part of the sums, and how fast?",
    "alltoall": "Does every GPU get its part from each GPU, and how fast?",
    "sendrecv": "Does every GPU reach every other, and is one slower?",
}
_COST: Final = (0.5, 0.0)  # twice the median warns; nothing fails for it

TESTS: Final = (
    ProbeTest(
        key="context", question="How long until the device is ready?", purpose=Purpose.HEALTH,
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
            key=f"vote.{name}", question=f"Are results in {name} the same on repeated runs and similar GPUs?",
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
        key="soak", question="Are results, speed and temperature stable under steady load?",
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=60, long=240, soak=600), stretches=True,
        measures=(
            Measure(name="tflops"), Measure(name="droop", siblings=None, most=(5.0, 15.0), is_cost=True),
            Measure(name="clock", siblings=(0.95, 0.85)),
        ),
    ),
    ProbeTest(
        key="pulse", question="Are results correct while the load starts and stops?", purpose=Purpose.CORRECTNESS,
        seconds=_for(long=40),
    ),
    ProbeTest(
        key="memory.kept", question="Does a block keep its content from the first test to the last?",
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=1, long=3, soak=3),
    ),
    ProbeTest(
        key="pairs", question="Are copies between GPUs correct, and how fast?", purpose=Purpose.CORRECTNESS,
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
