"""The copy of gputop for a host: what the user reads before it, and a host that stops in the middle."""

import sys
from pathlib import Path
from typing import Final

import pytest

from gputop.app.remote import bring as bringing
from gputop.app.remote.bring import bring
from gputop.app.remote.consent import Consents
from gputop.app.remote.luggage import own_kind
from gputop.app.terminal import Person
from gputop.core.model.units import bytes_text
from gputop.core.protocol.python_kind import PythonKind
from gputop.wire.ssh.command import Remote

SIZE: Final = 300_000  # more than a pipe takes at once
OWN: Final = f"{own_kind().python} {own_kind().machine}"


@pytest.fixture(autouse=True)
def packed(monkeypatch: pytest.MonkeyPatch) -> list[PythonKind]:
    """Return the kinds of the archives that were packed; they have no content."""
    kinds: list[PythonKind] = []

    def pack(kind: PythonKind) -> bytes:
        kinds.append(kind)
        return bytes(SIZE)

    monkeypatch.setattr(bringing, "packed", pack)
    return kinds


@pytest.fixture
def consents(tmp_path: Path) -> Consents:
    (tmp_path / "gputop").mkdir(mode=0o700)
    return Consents({"XDG_STATE_HOME": str(tmp_path), "HOME": "/"})


def host(place: Path, *lines: str) -> Remote:
    """Return a host whose ssh runs lines of Python."""
    ssh = place / "ssh"
    ssh.write_text("\n".join((f"#!{sys.executable} -I", "import os, sys, time", *lines, "")))
    ssh.chmod(0o700)
    return Remote(ssh=str(ssh), host="box")


SAYS_KIND: Final = f"print('gputop-python {OWN}', flush=True)"
TAKES_ALL: Final = "assert len(sys.stdin.buffer.read()) == 300_000"


FORKS: Final = "os.fork() or (time.sleep(20), os._exit(0))"  # a child of ssh keeps the pipes
STOPS: Final = "time.sleep(999)"


class LimitedPerson(Person):
    """A user who agrees, and from then on the host has half a second."""

    def __init__(self, limit: pytest.MonkeyPatch) -> None:
        super().__init__(is_sure=True)
        self._limit = limit

    def agrees(self, question: str) -> bool:
        self._limit.setattr(bringing, "_LIMIT_S", 0.5)
        return super().agrees(question)


@pytest.mark.parametrize("lines", [(STOPS,), ("os.close(1)", STOPS), (FORKS, STOPS)], ids=["all", "closed", "child"])
def test_a_host_that_says_nothing_holds_gputop(
    tmp_path: Path, consents: Consents, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...]
) -> None:
    monkeypatch.setattr(bringing, "_LIMIT_S", 0.5)

    assert bring(host(tmp_path, *lines), Person(is_sure=True), consents) == "it took longer than 0.5 s"


@pytest.mark.parametrize("lines", [(), ("sys.stdin.buffer.read()",), (FORKS,)], ids=["full pipe", "read", "child"])
def test_a_host_that_stops_after_the_question_holds_gputop(
    tmp_path: Path, consents: Consents, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...]
) -> None:
    problem = bring(host(tmp_path, SAYS_KIND, *lines, STOPS), LimitedPerson(monkeypatch), consents)

    assert problem == "the copy could not be made: it took longer than 0.5 s"


def test_a_host_that_prints_much_after_the_mark_stops(tmp_path: Path, consents: Consents) -> None:
    chatty = host(tmp_path, SAYS_KIND, "print('x' * 1_000_000)", TAKES_ALL)

    assert bring(chatty, Person(is_sure=True), consents) == ""


def test_the_archive_is_packed_twice(tmp_path: Path, consents: Consents, packed: list[PythonKind]) -> None:
    assert bring(host(tmp_path, SAYS_KIND, TAKES_ALL), Person(is_sure=True), consents) == ""
    assert packed == [own_kind()]


def test_the_size_for_another_python_seems_exact(
    tmp_path: Path, consents: Consents, capsys: pytest.CaptureFixture[str]
) -> None:
    other = host(tmp_path, "print('gputop-python 3.10 riscv', flush=True)", TAKES_ALL)

    assert bring(other, Person(is_sure=True), consents) == ""
    assert f"It can bring a copy of itself: about {bytes_text(SIZE)} into" in capsys.readouterr().err


def test_a_copy_that_the_user_allowed_before_is_announced_as_a_choice(
    tmp_path: Path, consents: Consents, capsys: pytest.CaptureFixture[str]
) -> None:
    consents.keep(["box"], answer=True)
    problem = bring(host(tmp_path, SAYS_KIND, TAKES_ALL), Person(), consents)

    assert problem == ""
    assert f"gputop is not installed on box. gputop copies itself: {bytes_text(SIZE)} into" in capsys.readouterr().err
