"""A copy of gputop for a host that lacks it, after a question."""

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from queue import Empty, SimpleQueue
from typing import IO, Final

from gputop.app.remote.consent import Consents
from gputop.app.remote.luggage import own_kind, packed
from gputop.app.remote.wheels import FetchError
from gputop.app.terminal import Person
from gputop.core.hosts.search_path import BROUGHT
from gputop.core.model.units import bytes_text
from gputop.core.protocol.python_kind import PythonKind, kind_of
from gputop.core.text.text import clean, excerpt
from gputop.wire.ssh import unpack
from gputop.wire.ssh.command import Remote

_MARK: Final = "gputop-python"  # before the answer: a login shell may print lines of its own
_NAMES: Final = ("python3", *(f"python3.{minor}" for minor in range(14, 9, -1)))
# Free-threaded Pythons need compiled parts of their own, which gputop does not bring.
_FITS: Final = (
    "import sys, platform, sysconfig; free = 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''; "
    "print('%d.%d%s' % (*sys.version_info[:2], free), platform.machine()); "
    "sys.exit(bool(free) or sys.version_info < (3, 10))"
)
# $1: the program that prints what a Python is; $2: the program to run; then names of Pythons, the best first
_SCRIPT: Final = (
    'fits="$1"; program="$2"; shift 2; old=; '
    'for p in "$@"; do '
    'if found=$("$p" -I -c "$fits" 2>/dev/null); '
    f'then printf "\\n{_MARK} %s\\n" "$found"; exec "$p" -I -c "$program"; fi; '
    '[ -z "$found" ] || old="$found"; '
    "done; "
    'echo "gputop needs Python 3.10 or newer there, and it has ${old:+only Python }${old:-none}" >&2; exit 2'
)
_LIMIT_S: Final = 300.0  # before the question, with a second factor, and again after it
_DRAIN_S: Final = 2.0
_MOST_LETTERS: Final = 300
_MOST_LINES: Final = 1000
_LINE_BYTES: Final = 4096


def bring(remote: Remote, person: Person, consents: Consents) -> str:
    """Copy gputop to a host if the user agrees; return why it was not copied, or an empty text. Ask once per host."""
    answer = consents.of(remote.host)
    if answer is False:
        return f"you did not agree to copy it there. To be asked again: gputop hosts add {remote.host}"
    if answer is None and not person.can_answer():
        return "no terminal to ask whether to copy it there"
    with closing(_Unpacker(remote)) as unpacker:
        kind = unpacker.kind()
        if kind is None:
            return unpacker.problem()
        own = packed(own_kind())
        if not _agrees(remote.host, kind, len(own), person, consents):
            return f"you did not agree to copy it there. To be asked again: gputop hosts add {remote.host}"
        try:
            archive = own if kind == own_kind() else packed(kind)
        except FetchError as error:
            return f"the compiled parts for {kind} could not be fetched: {error}"
        return unpacker.send(archive)


def _agrees(host: str, kind: PythonKind, size: int, person: Person, consents: Consents) -> bool:
    """Say what is copied, and ask unless the user has answered before. ``size``: of an archive for the own kind."""
    answer = consents.of(host)
    what = "It can bring a copy of itself" if answer is None else "gputop copies itself"
    about = "" if kind == own_kind() else "about "
    person.warn(f"gputop is not installed on {host}. {what}: {about}{bytes_text(size)} into")
    person.warn(f"{BROUGHT} there. Nothing else changes. To remove it: gputop hosts clean {host}")
    if kind != own_kind():
        person.warn(f"{host} has {kind}, and you have {own_kind()}. So gputop first fetches the compiled")
        person.warn("libraries for it from your package index, into a temporary folder here.")
    if answer is None:
        answer = person.agrees("Copy gputop there?")
        problem = consents.keep((host,), answer)
        if problem:
            person.warn(problem)
    return answer


class _Unpacker:
    """The program on the host that waits for the archive. ssh may ask for a password on the terminal.

    Threads read and write its pipes, so a host that stops can hold none of them longer than the limits.
    """

    def __init__(self, remote: Remote) -> None:
        with open(unpack.__file__, encoding="utf-8") as opened:
            program = f"{opened.read()}\nunpack({BROUGHT!r})\n"
        names = dict.fromkeys((f"python{own_kind().python}", *_NAMES))
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            remote.shell(_SCRIPT, ("sh", _FITS, program, *names), can_ask=True), stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._until = time.monotonic() + _LIMIT_S
        self._last = self._archive = b""
        self._kinds: SimpleQueue[PythonKind | None] = SimpleQueue()
        self._writer: threading.Thread | None = None
        _started(self._read_out, self._child.stdout)
        self._reader = _started(self._keep_last, self._child.stderr)

    def close(self) -> None:
        """End it."""
        self._child.terminate()  # ssh restores the terminal if it waits for a password
        try:
            self._child.wait(_DRAIN_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._end_input()

    def kind(self) -> PythonKind | None:
        """Return the Python that waits; None if none does."""
        try:
            return self._kinds.get(timeout=self._left_s)
        except Empty:
            return None

    def send(self, archive: bytes) -> str:
        """Send the archive; return why it cannot be used there."""
        self._archive = archive
        self._until = time.monotonic() + _LIMIT_S
        problem = self.problem()
        return "" if self._child.returncode == 0 else f"the copy could not be made: {problem}"

    def problem(self) -> str:
        """Wait for its end, and return the last line of stderr."""
        self._end_input()
        try:
            status = self._child.wait(self._left_s)
        except subprocess.TimeoutExpired:
            return f"it took longer than {_LIMIT_S:g} s"
        self._reader.join(_DRAIN_S)
        said = self._last.decode(errors="replace").strip()
        return excerpt(clean(said), _MOST_LETTERS) or f"ssh ended with status {status}"

    @property
    def _left_s(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def _end_input(self) -> None:
        if self._writer is None:
            self._writer = _started(self._write, self._child.stdin)

    def _read_out(self, pipe: IO[bytes]) -> None:
        """Report the kind, and drop the rest: a full pipe would stop the host."""
        with pipe:
            self._kinds.put(self._kind_in(pipe))
            while pipe.read(_LINE_BYTES):
                pass

    def _kind_in(self, pipe: IO[bytes]) -> PythonKind | None:
        for _ in range(_MOST_LINES):
            line = pipe.readline(_LINE_BYTES)
            if not line:
                return None
            mark, _, text = line.decode(errors="replace").strip().partition(" ")
            if mark == _MARK:
                return kind_of(text)
        self._child.kill()
        return None

    def _keep_last(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(_LINE_BYTES):
                self._last = line if line.strip() else self._last

    def _write(self, pipe: IO[bytes]) -> None:
        with suppress(BrokenPipeError), pipe:
            pipe.write(self._archive)


def _started(work: Callable[[IO[bytes]], None], pipe: IO[bytes] | None) -> threading.Thread:
    assert pipe is not None  # noqa: S101 - as the program was started
    thread = threading.Thread(target=work, args=(pipe,), daemon=True)
    thread.start()
    return thread
