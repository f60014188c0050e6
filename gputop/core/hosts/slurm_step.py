"""A command on many hosts as a step of Slurm: its command line, its batch script, and what its lines say.

srun mixes the lines of all hosts, and may break long ones: each host sends its report compressed, as short lines with
its name.
"""

import shlex
import zlib
from base64 import b64decode
from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final

from msgspec import Struct

from gputop.core.hosts.result import HostResult, result_of, without_result
from gputop.core.hosts.search_path import SEARCH

_MARK: Final = b"gputop-result"
_MOST_REPORT: Final = 16 << 20
_SCRIPT: Final = f"""\
{SEARCH}
host=${{SLURMD_NODENAME:-$(uname -n)}}
err=$(mktemp) || exit 1
trap 'rm -f "$err"' EXIT
out=$(gputop "$@" </dev/null 2>"$err")
status=$?
printf %s "$out" | gzip -c | base64 -w 600 | sed "s/^/{_MARK.decode()} $host out /"
tail -c 600 "$err" | base64 -w 600 | sed "s/^/{_MARK.decode()} $host err /"
echo "{_MARK.decode()} $host end $status"
"""


class SlurmStep(Struct, frozen=True, kw_only=True):
    """A command of gputop on some hosts. ``words``: its arguments; ``options``: further ones of srun or sbatch."""

    command: str
    hosts: tuple[str, ...]
    words: tuple[str, ...]
    limit_s: float
    options: tuple[str, ...] = ()

    def srun(self, wait_s: int) -> list[str]:
        """Return the command line that runs it now. ``wait_s``: for the hosts to be free."""
        return ["srun", f"--immediate={wait_s}", *self._shape(), *self.options, *self._task()]

    def script(self) -> str:
        """Return the batch script that runs it later."""
        shape = [*self._shape(), f"--output=gputop-{self.command}-%j.out", *self.options]
        then = (
            f"gputop {self.command} --hosts {shlex.quote(','.join(self.hosts))} --results gputop-{self.command}-JOB.out"
        )
        return "\n".join((
            "#!/bin/sh", *(f"#SBATCH {option}" for option in shape), f"# Then, with the number of the job: {then}",
            f"exec srun {shlex.join(self._task())}", "",
        ))  # fmt: skip

    def _shape(self) -> list[str]:
        count = len(self.hosts)
        return [
            f"--job-name=gputop-{self.command}", f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1",
            f"--nodelist={','.join(self.hosts)}", f"--time={ceil(self.limit_s / 60)}",
        ]  # fmt: skip

    def _task(self) -> list[str]:
        return ["--kill-on-bad-exit=0", "--wait=0", "--input=none", "sh", "-c", _SCRIPT, "gputop", *self.words]


class _Said(Struct):
    out: bytearray
    err: bytearray
    status: int | None = None


def gathered(hosts: Sequence[str], lines: Iterable[bytes], why: str) -> list[HostResult]:
    """Return the result of each host from the lines of all. ``why``: the reason of those that lack a result."""
    said: dict[bytes, _Said] = {host.encode(): _Said(bytearray(), bytearray()) for host in hosts}
    for line in lines:
        words = line.split()
        known = said.get(words[1]) if len(words) == 4 and words[0] == _MARK else None
        if known is None:
            continue
        if words[2] == b"end":
            known.status = int(words[3]) if words[3].isdigit() and len(words[3]) < 4 else None
        elif words[2] in {b"out", b"err"}:
            (known.out if words[2] == b"out" else known.err).extend(words[3])
    return [_result(host.decode(), one, why) for host, one in said.items()]


def _result(host: str, said: _Said, why: str) -> HostResult:
    if said.status is None:
        return without_result(host, why)
    try:
        out = zlib.decompressobj(31).decompress(b64decode(said.out), _MOST_REPORT)
        err = b64decode(said.err)
    except (ValueError, zlib.error):
        return without_result(host, "its lines are damaged")
    return result_of(host, said.status, out, err)
