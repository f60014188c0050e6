"""What gputop is told of the tests is what the worker can run."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from gputop_cuda_probe import plugin


def test_no_torch_is_imported_by_what_gputop_loads() -> None:
    assert plugin.PLUGIN.probes[0].needs == "torch"
    assert "gputop_cuda_probe.gemm" not in sys.modules or find_spec("torch") is not None


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make probe-tests")
@pytest.mark.filterwarnings("ignore")
def test_the_worker_knows_the_tests_of_the_manifest() -> None:
    from gputop_cuda_probe import collective, kept  # noqa: PLC0415 - imports torch
    from gputop_cuda_probe.table import RUN  # noqa: PLC0415

    assert {*RUN, kept.TEST} == {test.key for test in plugin.TESTS if not test.is_joint}
    assert set(collective.RUN) == {test.key for test in plugin.TESTS if test.is_joint}


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make probe-tests")
@pytest.mark.filterwarnings("ignore")
def test_no_partial_sum_can_leave_the_exact_range() -> None:
    from gputop_cuda_probe.gemm import FP16_MOST, KINDS, largest  # noqa: PLC0415 - imports torch

    for kind in KINDS.values():
        for depth in (512, 1024, kind.depth):
            most = largest(kind, depth)
            assert most >= 1
            assert depth * most**2 <= 2**kind.bits
            assert kind.dtype != "float16" or depth * most**2 <= FP16_MOST
            assert most <= kind.cap
    assert {kind.name: largest(kind, kind.depth) for kind in KINDS.values()} == {
        "fp64": 2**20, "fp32": 45, "tf32": 45, "bf16": 45, "fp16": 2, "fp8": 1, "int8": 127,
    }  # fmt: skip


def test_of_gputop_the_plugin_imports_the_public_api_alone() -> None:
    folder = Path(plugin.__file__).parent
    lines = {
        (path.name, line.split()[1])
        for path in folder.glob("*.py")
        for line in path.read_text().splitlines()
        if re.match(r"\s*(from|import) gputop\b(?!_)", line)
    }

    assert lines == {("plugin.py", "gputop.plugin")}
