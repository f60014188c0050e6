"""gputop probe --control: how a program, the screen above all, looks on."""

import subprocess
import sys

import pytest
from msgspec.json import decode
from probe_stage import FakeBox, fake_box

from gputop.core.probing.course import Course, Ended
from gputop.core.probing.result import Status

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
    assert isinstance(courses[-1], Course)
    first = courses[-1].devices[0]

    assert errors == b""
    assert (first.label, first.name, first.is_over, first.done) == ("CPU 0", "Fake 9000", True, 1.0)
    assert [(test.key, test.status) for test in first.tests] == [("alpha", Status.PASS), ("beta", Status.PASS)]
    assert isinstance(last, Ended)
    assert last.report.status is Status.PASS


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
    assert last.report.status is Status.ABORTED


@pytest.mark.usefixtures("fake_box")
def test_gpus_that_are_refused_are_told_with_who_uses_them() -> None:
    child = begun("--demo", "training", "--gpu", "2")
    lines, _ = closed(child)
    first, last = read(lines[0]), read(lines[-1])

    assert child.returncode == 4
    assert isinstance(first, Course)
    assert first.devices[0].status is Status.REFUSED
    assert "pid 31877, bob" in first.devices[0].reason
    assert isinstance(last, Ended)
