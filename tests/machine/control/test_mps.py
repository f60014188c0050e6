"""Signals to clients of MPS: MPS ends their GPU work first, and a daemon that fails does not save a process."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import Child, Told, only, signal_to
from fake_mps import FakeMps, fake_mps
from msgspec.structs import replace

from gputop.core.protocol.command import SendSignal
from gputop.core.protocol.outcome import Outcome, Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.control import Control
from gputop.machine.control.handle import TargetOpener
from gputop.machine.control.kernel import Kernel
from gputop.machine.control.mps import MpsWork, ends_at_once
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.reader import resolve_user


@pytest.fixture
def mps(tmp_path: Path) -> Iterator[FakeMps]:
    with fake_mps(tmp_path, "SIGTERM") as fake:
        yield fake


def _sent(fake: FakeMps, change: SendSignal, kernel: Kernel | None = None) -> Outcome:
    proc, kernel = RealProc(), kernel or Kernel()
    opener = TargetOpener(proc, resolve_user, kernel, frozenset())
    audit = Audit(str(fake.place / "state_of_gputop"), "ann")
    return Control(proc, kernel, opener, audit, None, mps=MpsWork(fake.opened)).execute(change)


def _has_ended(client: Child) -> bool:
    client.process.wait(30)
    return client.process.returncode == -9


def test_a_client_is_not_killed_before_mps_has_ended_its_work(mps: FakeMps) -> None:
    client, other = mps.clients

    result = only(_sent(mps, signal_to(client.target, name="SIGKILL")))

    ended = next(line for line in mps.asked() if "terminate_client" in line)
    assert ended.endswith(f"terminate_client {mps.server.pid} {client.pid} alive")
    assert (result.status, result.detail) == (Status.DONE, "MPS ended its GPU work first")
    assert _has_ended(client)
    assert other.process.poll() is None


def test_the_end_of_gpu_work_is_in_the_audit_log_before_it_happens(mps: FakeMps) -> None:
    client = mps.clients[0]
    mps.answers("terminate_client", "cat state_of_gputop/audit.jsonl > audited; : > clients")

    _sent(mps, signal_to(client.target, name="SIGKILL"))

    before = [json.loads(line) for line in (mps.place / "audited").read_text().splitlines()]
    assert [(line["event"], line["what"], line["pid"]) for line in before] == [
        ("intent", "SIGKILL", client.pid),
        ("intent", f"MPS terminate_client {mps.server.pid} {client.pid}", client.pid),
    ]
    after = (mps.place / "state_of_gputop" / "audit.jsonl").read_text().splitlines()[2:]
    assert [json.loads(line)["status"] for line in after] == ["done", "done"]


def test_a_client_that_handles_the_signal_keeps_its_work_to_save_it(mps: FakeMps) -> None:
    client = mps.clients[0]

    result = only(_sent(mps, signal_to(client.target, name="SIGTERM")))

    assert result.status is Status.DONE
    assert mps.asked() == []
    assert client.process.poll() is None


def test_a_process_that_is_no_client_is_not_terminated_by_mps(mps: FakeMps) -> None:
    (mps.place / "clients").write_text("")

    result = only(_sent(mps, signal_to(mps.clients[0].target, name="SIGKILL")))

    assert (result.status, result.detail) == (Status.DONE, "")
    assert not any("terminate_client" in line for line in mps.asked())


def test_the_client_of_a_user_that_must_not_be_signalled_loses_its_work(mps: FakeMps) -> None:
    result = only(_sent(mps, signal_to(mps.clients[0].target, name="SIGKILL"), Told(send=errno.EPERM)))

    assert result.status is Status.NOT_PERMITTED
    assert not any("terminate_client" in line for line in mps.asked())


def test_a_client_whose_pid_was_reused_is_not_terminated(mps: FakeMps) -> None:
    result = only(_sent(mps, signal_to(replace(mps.clients[0].target, start_ticks=7), name="SIGKILL")))

    assert result.status is Status.GONE
    assert mps.asked() == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sleep 60", "it took too long"),
        ("echo 'Cannot find MPS control daemon process' >&2; exit 1", "Cannot find MPS control daemon process"),
        ("yes", "it sent too much"),
    ],
)
def test_a_broken_daemon_does_not_save_a_runaway_client(mps: FakeMps, script: str, reason: str) -> None:
    client = mps.clients[0]
    mps.answers("terminate_client", script)

    result = only(_sent(mps, signal_to(client.target, name="SIGKILL")))

    assert result.status is Status.DONE
    assert result.detail == f"MPS did not end its GPU work first, so other MPS clients may fail: {reason}"
    assert _has_ended(client)


def test_a_daemon_that_lists_nothing_is_not_taken_for_no_client(mps: FakeMps) -> None:
    mps.answers("get_server_list", "printf 'no \\033[2Jrights' >&2; exit 1")

    result = only(_sent(mps, signal_to(mps.clients[0].target, name="SIGKILL")))

    assert result.detail.startswith("unknown whether it is an MPS client: no ")
    assert "\x1b" not in result.detail


def test_the_server_of_a_container_is_not_taken_for_a_process_here(tmp_path: Path) -> None:
    with fake_mps(tmp_path, name="sleep") as mps:
        result = only(_sent(mps, signal_to(mps.clients[0].target, name="SIGKILL")))

    assert "the daemon has other PIDs (container)" in result.detail
    assert not any("terminate_client" in line for line in mps.asked())


def test_only_a_signal_that_is_not_handled_ends_a_process_at_once() -> None:
    status = b"Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000004002\n"

    assert [number for number in (1, 2, 9, 15, 18, 19, 3) if ends_at_once(number, status)] == [9, 3]
