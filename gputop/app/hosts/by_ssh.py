"""A command on a handful of hosts by ssh, some at a time. ssh cannot ask for a password here."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.app.remote.input_end import UNTIL_INPUT_ENDS
from gputop.app.remote.reach import reached
from gputop.core.hosts.result import HostResult, result_of, without_result
from gputop.core.protocol.host_name import host_name
from gputop.machine.bounded_run import run_bounded
from gputop.wire.ssh.command import Remote

_MOST_HOSTS: Final = 64
_AT_A_TIME: Final = 8  # a jump host refuses more connections that begin
_MOST_BYTES: Final = 16 << 20


def by_ssh(hosts: Sequence[str], words: Sequence[str], limit_s: float) -> list[HostResult]:
    """Run gputop with these words on each host, and return the results. It ends there if this process ends."""
    if len(hosts) > _MOST_HOSTS:
        raise BadRequestError(f"ssh takes at most {_MOST_HOSTS} hosts. For more, use Slurm: --over srun, or --batch")
    try:
        remotes = [reached(host_name(host)) for host in hosts]
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    stdin, held = os.pipe()  # the commands there end when their input does
    try:
        with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="ssh") as pool:
            try:
                return list(pool.map(partial(_run, words=words, limit_s=limit_s, stdin=stdin), remotes))
            finally:
                os.close(held)  # before the pool waits for its threads
    finally:
        os.close(stdin)


def _run(remote: Remote, *, words: Sequence[str], limit_s: float, stdin: int) -> HostResult:
    command = remote.command(words, can_ask=False, variables=(f"{UNTIL_INPUT_ENDS}=1",))
    try:
        ran = run_bounded(command, limit_s, _MOST_BYTES, os.environ, stdin=stdin)
    except OSError as error:
        return without_result(remote.host, f"ssh cannot be started: {error.strerror}")
    if ran.excess:
        return without_result(remote.host, f"gputop there {ran.excess}")
    return result_of(remote.host, ran.status, ran.out, ran.err)
