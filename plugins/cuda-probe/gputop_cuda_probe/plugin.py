"""The manifest: what gputop knows of these tests. Of the package only this imports gputop, and it imports no torch."""

import os
from typing import Final

from gputop.core.plugin import API_VERSION, Level, Measure, Plugin, Probe, ProbeTest, Purpose

_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))


def _for(*, quick: float = 0, standard: float = 0, long: float = 0, soak: float = 0) -> dict[Level, float]:
    """Return seconds by level; a level of none is left out."""
    pairs = ((Level.QUICK, quick), (Level.STANDARD, standard), (Level.LONG, long), (Level.SOAK, soak))
    return {level: seconds for level, seconds in pairs if seconds}


_GEMM: Final = {
    "fp64": _for(standard=4, long=20),
    "fp32": _for(quick=2.5, standard=5, long=30),
    "tf32": _for(standard=4, long=20),
    "bf16": _for(quick=2.5, standard=5, long=30, soak=5),
    "fp16": _for(standard=4, long=20),
    "fp8": _for(standard=4, long=20),
    "int8": _for(standard=4, long=20),
}
_MEMORY: Final = {
    "address": ("Does each word keep its own address?", _for(quick=1.5, standard=6, long=30, soak=5)),
    "constants": ("Does memory keep constants?", _for(standard=5, long=20)),
    "walking": ("Does each bit keep a one among zeros, and a zero among ones?", _for(quick=1.5, standard=15, long=60)),
    "inversions": ("Does memory survive being inverted upwards and downwards?", _for(quick=1.5, standard=8, long=60)),
    "random": ("Does memory keep random words?", _for(quick=1.5, standard=8, long=60)),
    "retention": ("Does memory keep its content while nothing is written?", _for(standard=10, long=75)),
}
_COPY: Final = {
    "copy": ("How fast is memory copied on the device, and rightly?", ("copy", "read", "write"), (0.95, 0.90)),
    "h2d": ("How fast do bytes come from the host, and rightly?", ("pinned", "pageable"), (0.85, 0.70)),
    "d2h": ("How fast do bytes go to the host, and rightly?", ("pinned", "pageable"), (0.85, 0.70)),
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
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=4, long=20),
    ),
    *(
        ProbeTest(
            key=f"vote.{name}", question=f"Does it agree in {name} with itself and its siblings, bit by bit?",
            purpose=Purpose.CORRECTNESS, seconds=_for(standard=3, long=15),
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
            seconds=_for(quick=1, standard=3, long=10),
            measures=tuple(
                Measure(name=one, siblings=shares, expected="copy" if one == "copy" else "pcie" * (one == "pinned"))
                for one in names
            ),
        )
        for name, (question, names, shares) in _COPY.items()
    ),
    ProbeTest(
        key="soak", question="Does it hold its speed, power and temperature under steady load?",
        purpose=Purpose.CORRECTNESS, seconds=_for(standard=60, long=300, soak=600), stretches=True,
        measures=(Measure(name="tflops"), Measure(name="droop", siblings=None, most=(5.0, 15.0), is_cost=True)),
    ),
    ProbeTest(
        key="allreduce", question="Are sums over all GPUs exact, and how fast?", purpose=Purpose.CORRECTNESS,
        seconds=_for(long=20), is_joint=True,
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
