"""The kernel's side of a process that hangs."""

import errno
import os

import pytest
from fake_proc import FakeProc, stat_line

from gputop.core.insight.explanation import ClaimKind
from gputop.core.insight.kernel import KernelPlaces
from gputop.core.insight.member import Member
from gputop.machine.insight.kernel import report_of
from gputop.machine.insight.system_calls import system_call

MEMBER = Member(pid=10, start_ticks=100)


def place(state: str, channel: bytes = b"0", call: bytes = b"running\n") -> str:
    proc = FakeProc({"10/stat": stat_line(10, state=state, start=100), "10/wchan": channel, "10/syscall": call})
    return report_of(proc, [MEMBER]).claims[0].place


@pytest.mark.parametrize(
    ("state", "channel", "expected"),
    [
        ("R", b"0", "user space, running"),
        ("S", b"futex_wait_queue", "the kernel, sleeping (futex_wait_queue)"),
        ("D", b"rpc_wait\x1b[31m", "the kernel, blocked (rpc_wait␛[31m)"),
    ],
)
def test_a_place_in_the_kernel_is_a_number_or_steers_the_terminal(state: str, channel: bytes, expected: str) -> None:
    assert place(state, channel) == expected


def test_a_stopped_process_is_called_asleep() -> None:
    proc = FakeProc({"10/stat": stat_line(10, state="T", start=100), "10/wchan": b"0", "10/syscall": b"-1 0 0"})

    assert [(claim.kind, claim.pids) for claim in report_of(proc, [MEMBER]).claims] == [(ClaimKind.STOPPED, (10,))]


def test_what_the_kernel_shows_to_root_alone_counts_as_nothing() -> None:
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    proc = FakeProc({"10/stat": stat_line(10, start=100), "10/wchan": b"futex_wait", "10/syscall": denied})
    details = report_of(proc, [MEMBER]).details

    assert isinstance(details, KernelPlaces)
    assert details.places[0].system_call is None
    assert details.places[0].reason == "the kernel shows the system call to root alone"


@pytest.mark.parametrize(
    ("raw", "machine", "name"),
    [
        (b"202 0x7f 0x80", "x86_64", "futex"),
        (b"98 0x7f 0x80", "aarch64", "futex"),
        (b"9999 0x7f", "x86_64", "number 9999"),
        (b"running\n", "x86_64", ""),
        (b"-1 0x7f 0x80", "x86_64", ""),
        (b"", "x86_64", ""),
        (b"9" * 5000, "x86_64", "number 999999"),
    ],
)
def test_a_system_call_has_the_name_of_another_machine(raw: bytes, machine: str, name: str) -> None:
    assert system_call(raw, machine) == name
