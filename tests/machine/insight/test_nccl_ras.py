"""The source NCCL RAS beside a fake service that speaks its protocol, well or not."""

import os
import socket
from pathlib import Path

import pytest
from fake_proc import FakeProc
from ras import RasServer, Reply, answer, communicator, rank, serving

from gputop.core.insight.explanation import ClaimKind, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.machine.insight.nccl_ras import NcclRas
from gputop.machine.insight.ras_client import ask_ras
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import parse_stat

OWN = os.getpid()
HUNG = answer(communicator([rank(0, OWN, 5), rank(1, 4_000_000, 4, "10.0.0.2")]))


def _member() -> Member:
    stat = parse_stat(RealProc().read(f"{OWN}/stat"))
    assert stat is not None
    return Member(pid=OWN, start_ticks=stat.start_ticks, rank=0)


def _asked(reply: Reply, host: str = "127.0.0.1", timeout_s: float = 30.0) -> SourceReport:
    with serving(reply, host) as port:
        return NcclRas(pause=lambda _: None, port=port, timeout_s=timeout_s).ask((_member(),), False)


def test_a_rank_on_another_host_that_never_entered_the_operation_is_named() -> None:
    server = RasServer([HUNG])
    report = _asked(server)

    assert report.state is SourceState.ANSWERED, report.note
    claims = {claim.kind: claim for claim in report.claims}
    assert (claims[ClaimKind.BEHIND].ranks, claims[ClaimKind.BEHIND].hosts) == ((1,), ("10.0.0.2",))
    assert (claims[ClaimKind.WAITS].pids, claims[ClaimKind.WAITS].operation) == ((OWN,), "all-reduce 5")
    assert server.commands.count("VERBOSE STATUS") == 2


def test_a_job_whose_counts_grow_between_the_two_questions_moves() -> None:
    report = _asked(RasServer([HUNG, answer(communicator([rank(0, OWN, 6), rank(1, 4_000_000, 5, "10.0.0.2")]))]))

    assert [claim.kind for claim in report.claims] == [ClaimKind.MOVES]


def test_a_service_on_an_address_of_version_6_is_found() -> None:
    if not Path("/proc/net/tcp6").exists():
        pytest.skip("this kernel has no IPv6")

    assert _asked(RasServer([HUNG]), "::1").state is SourceState.ANSWERED


def test_an_older_nccl_answers_with_text_that_is_shown_and_not_judged() -> None:
    report = _asked(RasServer([b"NCCL 2.27\n\n  0x1 8 \x1b[2J INCOMPLETE\n"], has_json=False))

    assert report.state is SourceState.ANSWERED
    assert report.lines == ("NCCL 2.27", "  0x1 8 ␛[2J INCOMPLETE")
    assert not report.claims
    assert "2.28.7" in report.remedy


def test_a_service_of_another_job_is_not_believed() -> None:
    report = _asked(RasServer([answer(communicator([rank(0, 4_000_001, 5), rank(1, 4_000_002, 4)]))]))

    assert report.state is SourceState.UNAVAILABLE
    assert "another job" in report.note
    assert not report.claims


def test_a_service_of_another_user_is_not_asked() -> None:
    with serving(RasServer([HUNG])) as port:
        proc = FakeProc()
        proc.add(77, uid=os.geteuid() + 1)
        proc.files["77/net/tcp"] = RealProc().read(f"{OWN}/net/tcp")
        report = NcclRas(proc, port=port).ask((Member(pid=77, start_ticks=5000),), False)

    assert report.state is SourceState.UNAVAILABLE
    assert "no process listens" in report.note
    assert report.remedy == "sudo gputop explain 77"  # its environment may name another port


def test_a_job_in_a_container_is_not_looked_for_on_the_host() -> None:
    proc = FakeProc()
    proc.add(77)
    proc.links |= {"77/ns/net": "net:[1]", "self/ns/net": "net:[2]"}
    report = NcclRas(proc).ask((Member(pid=77, start_ticks=5000, rank=3),), False)

    assert "rank 3 has a network namespace of its own" in report.note
    assert report.remedy == "sudo nsenter -t 77 -n gputop explain 77"


def test_a_service_that_was_switched_off_is_reported_as_such() -> None:
    proc = FakeProc()
    proc.add(77)
    proc.tell(77, environ=b"NCCL_RAS_ENABLE=0\0")

    assert "NCCL_RAS_ENABLE=0" in NcclRas(proc).ask((Member(pid=77, start_ticks=5000),), False).note


def test_the_port_that_a_rank_was_started_with_is_found() -> None:
    with serving(RasServer([HUNG])) as port:
        proc = FakeProc()
        proc.add(OWN, uid=os.geteuid())
        proc.tell(OWN, environ=b"NCCL_RAS_ADDR=localhost:%d\0" % port)
        proc.files[f"{OWN}/net/tcp"] = RealProc().read(f"{OWN}/net/tcp")
        report = NcclRas(proc, pause=lambda _: None).ask((Member(pid=OWN, start_ticks=5000),), False)

    assert report.state is SourceState.ANSWERED, report.note


def test_a_reused_pid_is_not_asked_about() -> None:
    report = NcclRas().ask((Member(pid=OWN, start_ticks=1),), False)

    assert report.note == "all processes have exited"


def _endless(connection: socket.socket) -> None:
    RasServer([b"{"])(connection)
    while True:
        connection.sendall(b" " * 65_536)


def _no_line(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"\x00\xff\x1b" * 20_000)


def _shut(connection: socket.socket) -> None:
    connection.makefile("rb").readline()


def _other(connection: socket.socket) -> None:
    connection.recv(10)
    connection.sendall(b"\x1b[2J HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (_endless, "larger than 16 MiB"), (_no_line, "its answer has no line"), (_shut, "ended the connection"),
        (_other, "it is not NCCL"), (RasServer([b"\x00\xff\x1b[2J" * 100]), "not the JSON"),
        (RasServer([b""]), "not the JSON"),
    ],
)  # fmt: skip
def test_a_hostile_service_is_refused_with_a_word(reply: Reply, word: str) -> None:
    report = _asked(reply)

    assert report.state is SourceState.UNAVAILABLE
    assert word in report.note
    assert report.note.isprintable()


def test_a_service_that_never_ends_its_answer_does_not_hold_gputop_for_ever() -> None:
    def silent(connection: socket.socket) -> None:
        while connection.recv(4096):
            pass

    report = _asked(silent, timeout_s=0.2)

    assert report.note.endswith("its answer did not end in time")


def test_an_answer_that_trickles_ends_at_the_deadline_and_not_after_each_byte() -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0
        return now[0]

    def trickle(connection: socket.socket) -> None:
        RasServer([b"{"])(connection)
        while True:
            connection.sendall(b" ")

    with serving(trickle) as port, pytest.raises(TimeoutError):
        ask_ras(("127.0.0.1", port), 100.0, clock=clock)
