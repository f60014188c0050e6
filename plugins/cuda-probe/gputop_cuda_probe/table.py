"""The tests of the worker: a function per test. `plugin.py` describes the same tests to gputop."""

from collections.abc import Callable
from functools import partial
from typing import Final

from gputop_cuda_probe import bandwidth, context, gemm, launch, ops, pairs, patterns, pulse, soak, vote
from gputop_cuda_probe.turn import Turn

RUN: Final[dict[str, Callable[[Turn], None]]] = {
    "context": context.run,
    "launch": launch.run,
    **{f"gemm.{name}": partial(gemm.run, name=name) for name in gemm.KINDS},
    "ops": ops.run,
    **{f"vote.{name}": partial(vote.run, name=name) for name in vote.DTYPES},
    **{f"memory.{name}": partial(patterns.run, name=name) for name in patterns.PATTERNS},
    **{f"bandwidth.{name}": partial(bandwidth.run, name=name) for name in ("copy", "h2d", "d2h", "both")},
    "soak": soak.run,
    "pulse": pulse.run,
    "pairs": pairs.run,
}
