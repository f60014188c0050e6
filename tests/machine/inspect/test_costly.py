"""Sockets and memory of a process: the test's own sockets, rights that are missing, and how often they are read."""

import os
import socket
import threading
import time
from types import SimpleNamespace
from typing import Any

import psutil
from simulated import box

from gputop.core.inspection.inspection import MemoryShares, Socket
from gputop.core.model.metric import Missing
from gputop.machine.inspect.costly import CostlyReader
from gputop.simulator.boxes import training


class FakePsutil:
    """Counts readings; each raises an error or takes its time."""

    Error, AccessDenied = psutil.Error, psutil.AccessDenied

    def __init__(self, error: Exception | None = None, takes_s: float = 0.0) -> None:
        self.now_s = 0.0
        self.readings = 0
        self._error = error
        self._takes_s = takes_s

    def Process(self, _: int) -> Any:  # noqa: N802 - psutil's name
        self.readings += 1
        self.now_s += self._takes_s
        raise self._error or psutil.NoSuchProcess(1)

    def reader(self) -> CostlyReader:
        return CostlyReader(clock=lambda: self.now_s, load=lambda: self)


def test_own_sockets_are_listed_by_address_and_memory_is_split() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        port, other = server.getsockname()[1], client.getsockname()[1]
        found = CostlyReader().read(os.getpid(), 0)

    listening = Socket(protocol="tcp", local=f"127.0.0.1:{port}", remote="", state="listen")
    connected = Socket(protocol="tcp", local=f"127.0.0.1:{other}", remote=f"127.0.0.1:{port}", state="established")
    assert {listening, connected} <= set(found.sockets)
    assert found.shares is not None
    assert 0 < found.shares.uss_bytes <= found.shares.pss_bytes
    assert not found.missing


def test_a_process_that_may_not_be_read_has_the_reason() -> None:
    found = FakePsutil(psutil.AccessDenied(1)).reader().read(os.getpid(), 0)

    assert (found.sockets, found.shares) == ((), None)
    assert found.missing == {"sockets": Missing.FORBIDDEN, "shares": Missing.FORBIDDEN}


def test_what_is_slow_to_read_is_read_seldom() -> None:
    fake = FakePsutil(takes_s=1.0)
    reader = fake.reader()
    for _ in range(40):
        reader.read(os.getpid(), 0)
        fake.now_s += 2.0

    assert fake.readings == 2  # sockets and memory, once: they took 2 s, so they are kept for 100 s


def test_memory_that_does_not_arrive_does_not_hold_up_the_inspection_and_is_read_again_soon() -> None:
    gate = threading.Event()

    class Blocking(FakePsutil):
        def memory_full_info(self) -> Any:
            gate.wait(60)
            return SimpleNamespace(uss=1, pss=2, swap=3)

        def net_connections(self, **_: str) -> list[Any]:
            return []

        def Process(self, _: int) -> Any:  # noqa: N802 - psutil's name
            return self

    fake = Blocking()
    reader = CostlyReader(clock=lambda: fake.now_s, load=lambda: fake, patience_s=0.1)
    before = reader.read(os.getpid(), 0)
    gate.set()
    end = time.monotonic() + 30
    while (now := reader.read(os.getpid(), 0)).shares is None and time.monotonic() < end:
        fake.now_s += 11

    assert before.missing["shares"] is Missing.BLOCKED
    assert now.shares == MemoryShares(uss_bytes=1, pss_bytes=2, swap_bytes=3)


def test_another_process_is_read_at_once() -> None:
    fake = FakePsutil()
    reader = fake.reader()
    for start_ticks in (1, 2, 2, 1):
        reader.read(os.getpid(), start_ticks)

    assert fake.readings == 6


def test_a_simulated_box_answers_from_its_plan_and_only_to_the_owner() -> None:
    held = box("training")
    rank = next(process.pid for process in training.plan().processes if "MASTER_PORT" in process.environ)
    own, notebook = held.costly.read(rank, 0), held.costly.read(31_544, 0)

    assert own.sockets[0].remote == "10.0.0.7:29500"
    assert own.shares
    assert notebook.missing == {"sockets": Missing.FORBIDDEN, "shares": Missing.FORBIDDEN}
