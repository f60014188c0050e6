"""Questions to hosts by ssh: which gputop is there; and the removal of the copies that gputop brought."""

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from msgspec import Struct

from gputop.app.remote.reach import reached
from gputop.core.hosts.search_path import BROUGHT, SEARCH
from gputop.core.text.text import clean, excerpt
from gputop.machine.bounded_run import run_bounded
from gputop.wire.ssh.command import Remote

_AT_A_TIME: Final = 8  # connections: a jump host refuses more
_LIMIT_S: Final = 30.0
_ASKING_LIMIT_S: Final = 300.0  # the user may have to find a second factor
_MOST_BYTES: Final = 65_536
_MOST_LETTERS: Final = 300
_MARK: Final = "gputop-hosts"  # before the answer: a login shell may print lines of its own
_COPY: Final = f'copy="{BROUGHT.replace("~", "${HOME:?}")}"; '
_SHOW: Final = (
    f"{_COPY}{SEARCH}"
    "found=$(command -v gputop 2>/dev/null); version=; "
    '[ -n "$found" ] && version=$("$found" --version </dev/null 2>/dev/null | head -n 1); '
    'kind=installed; case "$found" in "") kind=none;; "$copy"/*) kind=copy;; esac; '
    'size=; [ -d "$copy" ] && size=$(du -sk "$copy" | cut -f 1); '
    f'printf "\\n{_MARK}\\t%s\\t%s\\t%s\\n" "$kind" "$version" "$size"'
)
_CLEAN: Final = (
    f"{_COPY}size=; "
    'if [ -e "$copy" ] || [ -L "$copy" ]; then '
    'if [ -L "$copy" ] || ! [ -f "$copy/pyvenv.cfg" ] || ! [ -f "$copy/bin/gputop" ]; then '
    'echo "$copy is not a copy that gputop made" >&2; exit 1; fi; '
    'size=$(du -sk "$copy" | cut -f 1); rm -rf "$copy" || exit 1; rmdir "${copy%/*}" 2>/dev/null; fi; '
    f'printf "\\n{_MARK}\\tclean\\t\\t%s\\n" "$size"'
)
Answer = TypeVar("Answer")


class HostState(Struct, frozen=True, kw_only=True):
    """A host of the list. ``version``: of its gputop, empty if unknown; ``is_copy``: gputop was brought by ssh.

    ``copy_bytes``: on the disk, of a copy that was brought; None without one. ``may_copy``: the user's answer; None:
    gputop asks. ``problem``: why the host could not be asked.
    """

    host: str
    has_gputop: bool = False
    version: str = ""
    is_copy: bool = False
    copy_bytes: int | None = None
    may_copy: bool | None = None
    problem: str = ""


class Cleaned(Struct, frozen=True, kw_only=True):
    """A host without a copy. ``removed_bytes``: of the one that was removed; None if there was none."""

    host: str
    removed_bytes: int | None = None
    problem: str = ""


def each(hosts: Sequence[str], ask: Callable[[Remote, bool], Answer]) -> list[Answer]:
    """Ask all hosts, some at a time; only a single one may ask the user for a password, on the terminal."""
    remotes = [reached(host) for host in hosts]
    can_ask = len(remotes) == 1 and sys.stdin.isatty()
    pool = ThreadPoolExecutor(_AT_A_TIME)
    try:
        return list(pool.map(lambda remote: ask(remote, can_ask), remotes))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # Ctrl-C does not wait for hosts


def state(remote: Remote, can_ask: bool) -> HostState:  # noqa: FBT001 - as `each` passes it
    """Return which gputop a host has."""
    fields, problem = _ask(remote, _SHOW, can_ask=can_ask)
    kind, version, size = fields or ("", "", "")
    return HostState(
        host=remote.host,
        has_gputop=kind in ("installed", "copy"),
        version=excerpt(version.removeprefix("gputop "), 40),
        is_copy=kind == "copy",
        copy_bytes=_bytes(size),
        problem=problem,
    )


def cleaned(remote: Remote, can_ask: bool) -> Cleaned:  # noqa: FBT001 - as `each` passes it
    """Remove the copy that gputop brought to a host, and nothing else."""
    fields, problem = _ask(remote, _CLEAN, can_ask=can_ask)
    return Cleaned(host=remote.host, removed_bytes=_bytes(fields[2]) if fields else None, problem=problem)


def _ask(remote: Remote, script: str, *, can_ask: bool) -> tuple[tuple[str, str, str] | None, str]:
    """Return the fields of the answer of a host, or why there is none."""
    words = remote.shell(script, ("sh",), can_ask=can_ask)
    limit_s = _ASKING_LIMIT_S if can_ask else _LIMIT_S
    try:
        ran = run_bounded(words, limit_s, _MOST_BYTES, os.environ, can_ask=can_ask)
    except OSError as error:
        return None, f"cannot start ssh: {error.strerror}"
    for line in reversed(ran.out.decode(errors="replace").splitlines()):
        mark, *fields = line.split("\t")
        if ran.status == 0 and mark == _MARK and len(fields) == 3:
            return (fields[0], clean(fields[1]), fields[2]), ""
    last = ran.err.decode(errors="replace").strip().rpartition("\n")[2]
    said = excerpt(clean(last), _MOST_LETTERS)
    return None, f"it {ran.excess}" if ran.excess else said or f"ssh ended with status {ran.status}"


def _bytes(kibibytes: str) -> int | None:
    return int(kibibytes) * 1024 if kibibytes.isascii() and kibibytes.isdigit() and len(kibibytes) < 16 else None
