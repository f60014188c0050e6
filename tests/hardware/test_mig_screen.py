"""The whole life of a MIG layout from the MIG page, in a real terminal, on a simulated driver (`mig_box`)."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mig_box import MIXED, PATIENCE_S, MigBox
from real_terminal import ENTER, ESCAPE, GPUTOP, Terminal, terminal

pytestmark = pytest.mark.skipif(
    "NVML_MOCK_BOX" not in os.environ, reason="changes MIG: only ever on a simulated driver"
)

HOLDERS = "No process seems to have this GPU open|cannot see (the open files of|which processes)"
MADE = ["2g.20gb@0/1+1", "1g.10gb@2/1", "1g.10gb@3/1", "3g.40gb@4/3"]


@pytest.fixture
def box(tmp_path: Path) -> MigBox:
    return MigBox(tmp_path, "h100")


@pytest.fixture
def screen(box: MigBox) -> Iterator[Terminal]:
    """The screen of the box, on its MIG page."""
    with terminal(*GPUTOP, environment=box.environment) as shown:
        shown.until("H100")
        shown.press("p")
        shown.until("MIG off")
        yield shown


@pytest.fixture
def process() -> Iterator[int]:
    with subprocess.Popen(["sleep", "600"]) as child:
        yield child.pid
        child.kill()


def plan(screen: Terminal, request: str) -> None:
    """Go from the page to the question whether a request is to be carried out."""
    screen.press("e")
    screen.until("nothing changes yet")
    screen.press(request)
    screen.until(request)
    screen.press(ENTER)
    screen.until("y apply the plan")


def back(screen: Terminal) -> None:
    """Go back to the page."""
    screen.press(ESCAPE)
    screen.until_gone("MIG of GPU 0")


def change(screen: Terminal, request: str, *end: str) -> None:
    """Carry a request out from the page, see that it ends so, and go back to the page."""
    plan(screen, request)
    screen.insist("y", "─ MIG of GPU 0 · ")
    screen.until(*(end or ("done and verified",)))
    back(screen)


def test_the_full_cycle(box: MigBox, screen: Terminal, process: int, tmp_path: Path) -> None:
    screen.until("MIG off")
    plan(screen, "on")
    screen.until_so(lambda: bool(re.search(HOLDERS, screen.text)), "never seen: the processes that have the GPU open")
    screen.insist("y", "done and verified")
    back(screen)
    screen.until("This GPU has no instances")
    assert box.status["is_on"] is True

    change(screen, MIXED, "done and verified", "CUDA_VISIBLE_DEVICES=MIG-")
    assert box.layout == MADE
    screen.until("3g.40gb@4 GPU instance")

    busy = box.status["instances"][3]
    box.use(process, busy["id"])
    screen.until(f"● {process} ")
    screen.press("e")
    screen.until("nothing changes yet")
    screen.press("off")
    screen.until("cannot turn MIG off while processes use the GPU", f"● {process} ", "to end it: ")
    screen.press(ESCAPE)
    screen.until("type to filter")  # the first Escape clears the field
    back(screen)
    assert box.layout == MADE

    change(screen, "3g.40gb,2g.20gb/1c+1c,1g.10gb+me,1g.10gb")
    assert box.layout == ["2g.20gb@0/1+1", "1g.10gb+me@2/1", "1g.10gb@3/1", "3g.40gb@4/3"]
    assert box.status["instances"][3]["id"] == busy["id"]
    screen.until("1g.10gb+me@2 GPU instance", f"● {process} ")
    box.write()
    screen.until_gone(f"● {process} ")
    files(box, screen, tmp_path)
    change(screen, "off")
    screen.until("MIG off")
    assert (box.status["is_on"], box.layout) == (False, [])
    screen.press(ESCAPE)
    screen.until("q Quit")
    screen.press("q")
    assert screen.end() == 0


def files(box: MigBox, screen: Terminal, folder: Path) -> None:
    """Save the layout, change it, restore it, and apply an exported one, each in a terminal; the page follows."""
    before, saved, exported = box.layout, folder / "mig.json", folder / "mig.yaml"
    box.mig("checkpoint", "-o", str(saved))
    exported.write_text(box.mig("export").out)
    change(screen, "7g.80gb")
    screen.until("7g.80gb@0 GPU instance")
    asked(box, "restore", str(saved))
    assert box.layout == before
    screen.until("1g.10gb+me@2 GPU instance")
    change(screen, "none")
    screen.until("This GPU has no instances")
    asked(box, "apply", "-f", str(exported))
    assert sorted(one.partition("@")[0] for one in box.layout) == sorted(one.partition("@")[0] for one in before)
    screen.until("1g.10gb+me@", "3g.40gb@4 GPU instance")


def last_kept(box: MigBox) -> str:
    """Return the file with the layout from before the last change."""
    kept = (Path(box.environment["XDG_STATE_HOME"]) / "gputop").glob("mig-before-*.json")
    return str(max(kept, key=lambda file: file.stat().st_mtime_ns))


def asked(box: MigBox, *arguments: str) -> None:
    """Run a command that asks, in a terminal of its own, and agree."""
    with terminal(*GPUTOP, "mig", *arguments, environment=box.environment) as shown:
        shown.until("[y/N]")
        shown.press("y\n")
        assert shown.end() == 0


FAILURES = (  # of each call that changes something: the request, and the step that fails
    ("nvmlComputeInstanceDestroy", "none", "fail 1/4 destroy compute instance 1c@0 in 1g.10gb@0"),
    ("nvmlGpuInstanceDestroy", "none", "fail 2/4 destroy 1g.10gb@0"),
    ("nvmlDeviceCreateGpuInstanceWithPlacement", "3g.40gb,2x1g.10gb", "fail 1/2 create 1g.10gb@1"),
    ("nvmlGpuInstanceCreateComputeInstanceWithPlacement", "3g.40gb,2x1g.10gb", "fail 2/2 create compute instance"),
    ("nvmlDeviceSetMigMode", "off", "fail 5/5 disable MIG mode"),
)


def test_a_failure_of_any_call_leaves_the_layout_as_before_and_names_the_step(box: MigBox, screen: Terminal) -> None:
    box.apply("3g.40gb@4,1g.10gb@0")
    before = box.layout
    screen.until("3g.40gb@4 GPU instance")
    for call, request, step in FAILURES:
        box.write("[gpu 0]", f"fail.{call} = 999")
        change(screen, request, "failed", step, "NVML error 999", "The layout is as before")

        assert (box.status["is_on"], box.layout) == (True, before)


def test_a_rollback_that_fails_too_names_the_present_layout_and_the_way_back(box: MigBox, screen: Terminal) -> None:
    box.apply("7g.80gb")
    screen.until("7g.80gb@0 GPU instance")
    box.write("[gpu 0]", "fail.nvmlDeviceCreateGpuInstanceWithPlacement = 999")
    change(
        screen, "2x3g.40gb", "failed", "The rollback failed too: create 7g.80gb@0: NVML error 999",
        "Now: no instances. Planned: 3g.40gb@0 3g.40gb@4. Before: 7g.80gb@0",
        "To retry the rollback: gputop mig restore ",
    )  # fmt: skip
    box.write()
    asked(box, "restore", last_kept(box))
    screen.until("7g.80gb@0 GPU instance")


@contextmanager
def halted(pid: int) -> Iterator[None]:
    """Halt a process for as long as the context lasts."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_the_second_of_two_changes_is_not_started_and_names_the_first(box: MigBox, screen: Terminal) -> None:
    plan(screen, "on")
    box.write("[gpu 0]", "latency.nvmlDeviceSetMigMode = 5s")
    first = box.start("apply", "on", "--yes")
    assert first.stdout is not None
    next(line for line in first.stdout if "1/1 enable MIG mode" in line)
    with halted(first.pid):
        screen.insist("y", f"process {first.pid} is changing this GPU right now")
    first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0
    back(screen)
    screen.until("This GPU has no instances")

    plan(screen, "off")
    screen.insist("y", "now 1/1 disable MIG mode")
    (sampler,) = screen.children()
    with halted(sampler):
        second = box.apply("off")
    assert second.status == 4
    assert f"process {sampler} is changing this GPU right now" in second.out
    screen.until("done and verified")


def test_a_plan_is_not_carried_out_after_another_program_changed_the_gpu(box: MigBox, screen: Terminal) -> None:
    box.apply("on")
    screen.until("This GPU has no instances")
    plan(screen, "7g.80gb")
    box.apply("2x3g.40gb")
    screen.until("This GPU has changed since the plan")
    screen.press("y")
    back(screen)
    screen.until("3g.40gb@4 GPU instance")

    assert box.layout == ["3g.40gb@0/3", "3g.40gb@4/3"]
