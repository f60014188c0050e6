"""gputop probe --control: how a program, the screen above all, looks on."""

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from msgspec.json import decode
from probe_app import REPORT, FakeBox, fake_box

from gputop.app.probing.devices import cpu_devices
from gputop.app.probing.json_observer import JsonObserver
from gputop.core.probing.progress import Course, Ended
from gputop.core.probing.result import TestStatus

__all__ = ["fake_box"]


def begun(*more: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "gputop", "probe", "--control", "--level", "quick", *more],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def closed(child: "subprocess.Popen[bytes]") -> tuple[list[bytes], bytes]:
    """Return all lines that are still to come, and what was said on stderr; stdin stays open until then."""
    assert child.stdout is not None
    lines = child.stdout.read().splitlines()
    _, errors = child.communicate(timeout=60)
    return lines, errors


def read(line: bytes) -> Course | Ended:
    return decode(line, type=Course | Ended)


def test_how_it_goes_is_told_in_lines_and_the_last_one_is_the_report(fake_box: FakeBox) -> None:
    fake_box.let("alpha", "beta")
    lines, errors = closed(begun("--device", "cpu:2"))
    *courses, last = map(read, lines)
    assert isinstance(courses[0], Course)
    assert isinstance(last, Ended)
    device = last.report.devices[0]

    assert errors == b""
    assert [one.label for one in courses[0].devices] == ["CPU 0", "CPU 1"]
    assert (device.label, device.name) == ("CPU 0", "Fake 9000")
    assert [(test.key, test.status) for test in device.tests] == [("alpha", TestStatus.PASS), ("beta", TestStatus.PASS)]
    assert last.report.status is TestStatus.PASS


@pytest.mark.usefixtures("fake_box")
def test_the_end_of_stdin_stops_it_with_a_report() -> None:
    child = begun("--device", "cpu:1")
    assert child.stdout is not None
    for line in child.stdout:
        course = read(line)
        if isinstance(course, Course) and course.devices[0].current == "alpha":
            break
    assert child.stdin is not None
    child.stdin.close()
    child.stdin = None
    lines, _ = closed(child)
    last = read(lines[-1])

    assert child.returncode == 130
    assert isinstance(last, Ended)
    assert last.report.status is TestStatus.ABORTED


@pytest.mark.usefixtures("fake_box")
def test_gpus_that_are_refused_are_told_with_who_uses_them() -> None:
    child = begun("--demo", "training", "--gpu", "2")
    lines, _ = closed(child)
    last = read(lines[-1])

    assert child.returncode == 4
    assert isinstance(last, Ended)
    assert last.report.devices[0].status is TestStatus.REFUSED
    assert "pid 31877, bob" in last.report.devices[0].reason


def test_a_reader_that_is_stopped_for_a_while_does_not_hold_up_the_probe() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source, open(writing, "wb") as out:
        observer = JsonObserver(out)
        for _ in range(200):
            observer.begin(cpu_devices(16).all, ())  # far more than a pipe holds
        found: list[bytes] = []
        reader = threading.Thread(target=lambda: found.extend(source.read().splitlines()))
        reader.start()
        observer.end(REPORT)
        out.close()
        reader.join(60)

    assert len(found) < 200
    assert all(isinstance(read(line), Course) for line in found[:-1])
    assert isinstance(read(found[-1]), Ended)


def test_a_reader_that_is_gone_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), open(writing, "wb") as out:
        observer = JsonObserver(out)
        observer.begin(cpu_devices(1).all, ())
        observer.end(REPORT)


@pytest.mark.usefixtures("fake_box")
@pytest.mark.parametrize(("words", "variables"), [(["--read-only"], {}), ([], {"GPUTOP_READ_ONLY": "1"})])
def test_where_nothing_may_be_changed_nothing_is_tested(words: list[str], variables: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gputop", *words, "probe", "--device", "cpu"], check=False, capture_output=True,
        env=os.environ | variables, stdin=subprocess.DEVNULL, text=True, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (3, "")
    assert "no test runs" in done.stderr


def test_one_after_another_the_second_waits_for_the_first(fake_box: FakeBox) -> None:
    child = begun("--device", "cpu:2", "--serial")
    assert child.stdout is not None
    told = map(read, child.stdout)
    course = next(one for one in told if isinstance(one, Course) and one.devices[0].current == "alpha")
    waits, left = course.devices[1].is_waiting, [one.left_s or 0.0 for one in course.devices]
    fake_box.let("alpha", "beta")
    lines, _ = closed(child)
    last = read(lines[-1])

    assert waits
    assert left[1] == pytest.approx(left[0] + 10)  # its own two tests of five seconds
    assert isinstance(last, Ended)
    assert [device.status for device in last.report.devices] == [TestStatus.PASS, TestStatus.PASS]


def run_together(*more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", "probe", "--device", "cpu:2", "gamma", *more], check=False, text=True,
        capture_output=True, env=os.environ | {"FAKE_TOGETHER": "1"}, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def test_a_test_over_all_devices_is_compared_with_its_own_past(fake_box: FakeBox) -> None:
    fake_box.let("gamma")
    saved = run_together("--baseline", "save")
    same = run_together("--baseline", "compare")
    fake_box.let("slow")
    slow = run_together("--baseline", "compare")

    assert "all together: the baseline now holds 1 run" in saved.stdout
    assert "tflops 7 TFLOP/s (100% of baseline)" in same.stdout
    assert "baseline." not in same.stdout
    assert "baseline.tflops  tflops: 7% of its own baseline" in slow.stdout
    assert slow.returncode == 2


@pytest.mark.usefixtures("fake_box")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--max-temp", "hot"], "'hot' is not a number of °C up to 120"), (["--max-temp", "0"], "not a number of °C"),
        (["--max-power", "-5"], "not a number of W"), (["--max-power", "nan"], "not a number of W"),
        (["--device", "cpu", "--max-temp", "80"], "gputop reads neither from a CPU"),
    ],
)  # fmt: skip
def test_a_ceiling_that_makes_no_sense_is_64_and_tests_nothing(words: list[str], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gputop", "probe", *words], check=False, capture_output=True, stdin=subprocess.DEVNULL,
        text=True, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (64, "")
    assert told in done.stderr
