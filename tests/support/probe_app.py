"""A probe without torch: a plugin whose worker does what a test says, a prober that a test plays, results by hand."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from gputop.core.probing.probe import Level, Measure, Probe, ProbeTest, Purpose
from gputop.core.probing.progress import Course, DeviceCourse, Run, Wish
from gputop.core.probing.result import DeviceResult, Figure, ProbeReport, TestFinding, TestResult, TestStatus

PLUGIN = """
import os
from gputop.plugin import API_VERSION, Level, Measure, Plugin, Probe, ProbeTest, Purpose

def test(key, purpose=Purpose.CORRECTNESS, sees_all=False):
    seconds = dict.fromkeys(Level, 5.0)
    measures = (Measure(name="tflops"),)
    return ProbeTest(
        key=key, question=f"Is {key} right?", purpose=purpose, seconds=seconds, measures=measures, sees_all=sees_all
    )

together = (test("gamma", sees_all=True),) if "FAKE_TOGETHER" in os.environ else ()
PLUGIN = Plugin(name="fake", api=API_VERSION, probes=(Probe(
    key="fake", help="nothing", folder=os.path.join(os.path.dirname(__file__), "fake_probe"),
    worker="fake_probe.worker", tests=(test("alpha"), test("beta"), *together),
),))
"""
WORKER = """
import json, os, sys, threading, time

def say(event, **fields):
    print(json.dumps({"ev": event} | fields), flush=True)

plan = json.loads(sys.stdin.readline())
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
folder = os.environ["FAKE_PROBE"]
say("hello", name="Fake 9000", pid=os.getpid())
turns = 0
for test in plan["tests"]:
    key = test["id"]
    say("start", id=key)
    while not os.path.exists(f"{folder}/{key}") and not stop.is_set():
        turns += 1
        say("progress", id=key, done=0.5, msg="7.0 TFLOP/s")
        say("hb", n=turns)
        time.sleep(0.02)
    if stop.is_set():
        say("end", id=key, status="aborted")
        say("summary", status="aborted")
        sys.exit()
    value = 0.5 if os.path.exists(f"{folder}/slow") else 7.0
    say("metric", id=key, name="tflops", value=value, unit="TFLOP/s")
    if os.path.exists(f"{folder}/fault"):
        say("finding", id=key, sev="fail", code=f"{key}.wrong", text="word 5 differs")
    say("end", id=key, status="pass", dur_s=1.0)
say("summary", status="done")
"""


class FakeBox:
    """Where the worker of the plugin is told to go on, and where it says that it was there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def let(self, *tests: str) -> None:
        """Let these tests end; ``fault``: and find one; ``slow``: and be a fourteenth as fast."""
        for test in tests:
            (self._folder / test).write_text("")


@pytest.fixture
def fake_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBox:
    """Install the plugin for the processes that a test starts."""
    site, package, told = tmp_path / "site", tmp_path / "site" / "fake_probe", tmp_path / "told"
    info = site / "gputop_fake-0.1.dist-info"
    for folder in (package, info, told):
        folder.mkdir(parents=True)
    (site / "gputop_fake.py").write_text(PLUGIN)
    (info / "entry_points.txt").write_text("[gputop.plugins]\nfake = gputop_fake:PLUGIN\n")
    (package / "__init__.py").write_text("")
    (package / "worker.py").write_text(WORKER)
    for name, value in (
        ("PYTHONPATH", str(site)), ("FAKE_PROBE", str(told)), ("GPUTOP_PROBE_PYTHON", sys.executable),
        ("XDG_STATE_HOME", str(tmp_path / "state")), ("XDG_CONFIG_HOME", str(tmp_path / "config")),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    return FakeBox(told)


class FakeProber:
    """Keeps what was asked for; a test says how it goes."""

    def __init__(self, probe: Probe | None = None, run: Run | None = None) -> None:
        self.probe = probe
        self.run = run
        self.wishes: list[Wish] = []
        self.is_closed = False
        self._news: Callable[[], object] = lambda: None

    def start(self, wish: Wish, news: Callable[[], object]) -> None:
        self.wishes.append(wish)
        self._news = news
        self.run = Run(wish=wish, began_s=100.0)

    def stop(self) -> None:
        if self.run is not None:
            self.run = replace(self.run, is_stopping=True)

    def close(self) -> None:
        self.is_closed = True

    def tell(self, **changes: object) -> None:
        assert self.run is not None
        self.run = replace(self.run, **changes)
        self._news()


def a_test(key: str, seconds: float, purpose: Purpose = Purpose.CORRECTNESS) -> ProbeTest:
    measures = (Measure(name="tflops"),)
    return ProbeTest(
        key=key, question=f"Is {key} right?", purpose=purpose, seconds=dict.fromkeys(Level, seconds), measures=measures
    )


PROBE = Probe(
    key="fake", help="nothing", folder="/nowhere", worker="x",
    tests=(a_test("context", 1), a_test("gemm.bf16", 3), a_test("memory.address", 6), a_test("soak", 20)),
)  # fmt: skip
WANTED = tuple(test.key for test in PROBE.tests)
PASSED = TestResult(
    key="gemm.bf16", status=TestStatus.PASS, duration_s=3.1,
    figures=(Figure(name="tflops", value=781.0, unit="TFLOP/s", ratio=0.98, sibling_ratio=1.0),),
)  # fmt: skip
FAULT = TestFinding(code="memory.wrong", status=TestStatus.FAIL, text="chunk 0 word 12345: 1 bits differ")
FAILED = TestResult(key="memory.address", status=TestStatus.FAIL, findings=(FAULT,))
CONTEXT = TestResult(key="context", status=TestStatus.PASS, figures=(Figure(name="context", value=0.4, unit="s"),))
SOAKED = TestResult(
    key="soak", status=TestStatus.PASS,
    figures=(Figure(name="tflops", value=745.0, unit="TFLOP/s"), Figure(name="power", value=689.0, unit="W")),
)  # fmt: skip
IN_USE = "in use; --force tests it anyway\npid 4712, ann, 10.0GiB, python train.py --seed 4712"
RUNNING = Course(
    devices=(
        DeviceCourse(
            label="GPU 0", uuid="GPU-00000000", gpu="GPU-00000000", name="NVIDIA H100 80GB HBM3", wanted=WANTED,
            tests=(CONTEXT, PASSED, TestResult(key="memory.address", status=TestStatus.PASS)),
            current="soak", done=0.62,
            test_done=0.4, left_s=12.0, text="752.3 TFLOP/s",
        ),
        DeviceCourse(
            label="GPU 1", uuid="GPU-00000001", gpu="GPU-00000001", name="NVIDIA H100 80GB HBM3", is_over=True,
            status=TestStatus.REFUSED, reason=IN_USE,
        ),
        DeviceCourse(
            label="GPU 2", uuid="GPU-00000002", gpu="GPU-00000002", name="NVIDIA H100 80GB HBM3", wanted=WANTED,
            tests=(CONTEXT, PASSED), current="memory.address", done=0.35, test_done=0.9, left_s=20.0,
            text="1.214 TB/s, its own address",
        ),
    )
)  # fmt: skip
REPORT = ProbeReport(
    started_s=0.0, duration_s=33.0, host="node7", driver="570.124.06", probe="fake", level="quick",
    status=TestStatus.FAIL, exit_status=2,
    notes=("workers ran without LD_PRELOAD, which would change what is measured",),
    devices=(
        DeviceResult(
            label="GPU 0", uuid="GPU-00000000", name="NVIDIA H100 80GB HBM3", kind="cuda", status=TestStatus.PASS,
            torch="2.9.0", tests=(CONTEXT, PASSED, TestResult(key="memory.address", status=TestStatus.PASS), SOAKED),
        ),
        DeviceResult(
            label="GPU 1", uuid="GPU-00000001", name="NVIDIA H100 80GB HBM3", kind="cuda", status=TestStatus.REFUSED,
            reason=IN_USE,
        ),
        DeviceResult(
            label="GPU 2", uuid="GPU-00000002", name="NVIDIA H100 80GB HBM3", kind="cuda", status=TestStatus.FAIL,
            torch="2.9.0",
            tests=(CONTEXT, PASSED, FAILED, TestResult(key="soak", status=TestStatus.SKIP, reason="the worker died")),
        ),
    ),
)  # fmt: skip
