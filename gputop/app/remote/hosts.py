"""Several hosts: their latest frames, each by a link of its own, as a fleet."""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Event
from typing import Final

from msgspec.structs import replace

from gputop.app.remote.reach import reached
from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.exposition import answers_of
from gputop.core.fleet.history import FleetHistory, Stretch, Subject
from gputop.core.fleet.model import Fleet, FleetHost, FleetServer, totals
from gputop.core.model.sample import Frame
from gputop.core.protocol.link import Down, News
from gputop.core.usage.past import past_of
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.table import of_frame
from gputop.wire.ssh.client import SshClient

SERVER: Final = "ssh"
MOST_HOSTS: Final = 64  # each has a process of ssh and some threads
_AT_A_TIME: Final = 8  # connections that begin: a jump host refuses more
_FIRST_S: Final = 15.0  # for a host to answer, before the next one begins
_MOST_SAID: Final = 50  # users or findings of a host
_SHOWN_S: Final = 3.0  # for all hosts, before the first picture


class SshReader:
    """Reads hosts by ssh, which cannot ask for a password here. ``words``: arguments of the samplers."""

    def __init__(self, names: Sequence[str], words: Sequence[str]) -> None:
        reached(names[0])  # without ssh, say so at once
        self._hosts = [_Host(name) for name in names]
        self._pool = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="ssh")
        self._first = [self._pool.submit(host.connect, words) for host in self._hosts]
        self._is_first = True

    def wait(self) -> None:
        """Wait until each host has answered, or not within some seconds."""
        for one in self._first:
            one.result()

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:  # noqa: ARG002 - frames come
        """Return all hosts as they were last."""
        began = time.monotonic()
        for host in self._hosts if self._is_first else ():
            host.wait(max(0.0, began + _SHOWN_S - time.monotonic()))
        self._is_first = False
        hosts = tuple(host.row() for host in self._hosts)
        server = FleetServer(name=SERVER, took_s=time.monotonic() - began)
        return Fleet(time_s=time.time(), totals=totals(hosts), servers=(server,), hosts=hosts)

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Say that there is none."""
        problems = ("ssh shows present values only: a history needs a server (gputop fleet --prometheus)",)
        return FleetHistory(subject=subject, stretch=stretch, problems=problems)

    def close(self) -> None:
        """Close all links at once."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with ThreadPoolExecutor(len(self._hosts)) as closing:
            list(closing.map(_Host.close, self._hosts))


class _Host:
    """A host, and what it said last."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._link: SshClient | None = None
        self._frame: Frame | None = None
        self._down: Down | None = None
        self._has_answered = Event()

    def connect(self, words: Sequence[str]) -> None:
        """Connect, and wait for an answer."""
        try:
            self._link = SshClient(reached(self._name), words, _ignore, can_ask=False)
        except OSError as error:
            self._take(Down(f"cannot start ssh: {error.strerror}", None))
        else:
            self._link.open(self._take)
            self.wait(_FIRST_S)

    def wait(self, seconds: float) -> None:
        """Wait for the first answer."""
        self._has_answered.wait(seconds)

    def close(self) -> None:
        """Close the link."""
        if self._link is not None:
            self._link.close()

    def row(self) -> FleetHost:
        """Return the host as a row, by its name here; without values while its link is down."""
        frame, down, link = self._frame, self._down, self._link
        if frame is None or down is not None or link is None:
            problem = "connecting" if down is None else down.reason
            return FleetHost(name=self._name, server=SERVER, instances=(self._name,), problem=problem)
        found = hosts_of(SERVER, answers_of(of_frame(frame, Shape(), past_of(frame)), self._name))
        if not found:
            return FleetHost(name=self._name, server=SERVER, instances=(self._name,), problem="it has no GPUs")
        return replace(
            found[0],
            name=self._name,
            instances=(self._name,),
            users=_first(process.user for process in frame.processes if process.user),
            findings=_first(one.code for one in frame.findings),
            age_s=link.age_s,
        )

    def _take(self, news: News) -> None:
        if isinstance(news, Frame):
            self._frame, self._down = news, None
        elif isinstance(news, Down):
            self._down = news
        else:
            return
        self._has_answered.set()


def _first(words: Iterable[str]) -> tuple[str, ...]:
    """Return the first words, each once."""
    return tuple(islice(dict.fromkeys(words), _MOST_SAID))


def _ignore(_: str) -> None:
    """Ignore a line that ssh prints: the reason of a failure has the last one."""
