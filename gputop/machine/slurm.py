"""Slurm's own lists of hosts: the nodes with GPUs, of the cluster, a partition or a job. Its output is foreign text."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from gputop.core.fleet.host_list import hosts_in
from gputop.core.text.text import excerpt
from gputop.machine.files.walk import program

Ask: TypeAlias = Callable[[Sequence[str]], list[str]]

SLURM: Final = "slurm"
_JOB: Final = "job:"
_LIMIT_S: Final = 15.0
_MOST_BYTES: Final = 4 << 20
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}", re.ASCII)
_JOB_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:_[0-9]{1,9})?", re.ASCII)


class SlurmError(Exception):
    """Slurm has no list; the message says why, and what to do."""


def is_slurm(text: str) -> bool:
    """Return whether a list of hosts is one of Slurm: slurm, slurm:PARTITION or slurm:job:NUMBER."""
    return text == SLURM or text.startswith(f"{SLURM}:")


def slurm_hosts(text: str, environment: Mapping[str, str], *, limit_s: float = _LIMIT_S) -> tuple[str, ...]:
    """Return the hosts of such a list. ``limit_s``: for each program of Slurm. Raises SlurmError."""
    part = text.removeprefix(SLURM).removeprefix(":")
    ask = partial(_lines, environment=environment, limit_s=limit_s)
    found = _of_job(part.removeprefix(_JOB), ask) if part.startswith(_JOB) else _of_nodes(part, ask)
    if not found:
        raise SlurmError(f"Slurm knows no host for {excerpt(text)!r}. For its partitions, run: sinfo")
    return found


def _of_nodes(partition: str, ask: Ask) -> tuple[str, ...]:
    """Return the nodes with GPUs; all nodes if Slurm does not know of any GPU."""
    if partition and not _NAME.fullmatch(partition):
        raise SlurmError(f"{excerpt(partition)!r} is not the name of a partition. For the partitions, run: sinfo")
    chosen = [f"--partition={partition}"] if partition else []
    lines = ask(["sinfo", "--noheader", "--Node", "--format=%N|%G", *chosen])
    rows = [line.partition("|") for line in lines]
    with_gpus = [name for name, _, resources in rows if "gpu" in resources.lower()]
    return _hosts(with_gpus or [name for name, _, _ in rows])


def _of_job(number: str, ask: Ask) -> tuple[str, ...]:
    if not _JOB_NUMBER.fullmatch(number):
        raise SlurmError(f"{excerpt(number)!r} is not the number of a job, such as slurm:job:4711")
    lists = [line for line in ask(["squeue", "--noheader", f"--jobs={number}", "--format=%N"]) if line]
    if not lists:
        raise SlurmError(f"job {number} has no hosts: it waits or has ended")
    return _hosts(ask(["scontrol", "show", "hostnames", ",".join(dict.fromkeys(lists))]))


def _hosts(names: Sequence[str]) -> tuple[str, ...]:
    try:
        return hosts_in(",".join(names))
    except ValueError as error:
        raise SlurmError(f"Slurm's list of hosts cannot be read: {error}") from None


def _lines(words: Sequence[str], environment: Mapping[str, str], limit_s: float) -> list[str]:
    """Return the lines that a program of Slurm prints. Raises SlurmError."""
    from gputop.machine.bounded_run import run_bounded  # noqa: PLC0415 - subprocess is heavy, and Slurm is seldom

    name = words[0]
    path = program(name, environment)
    if path is None:
        raise SlurmError(f"Slurm is not here: no program {name} on the PATH. Name the hosts: 'node[01-08]'")
    try:
        ran = run_bounded([path, *words[1:]], limit_s, _MOST_BYTES, environment)
    except OSError as error:
        raise SlurmError(f"{name} cannot be started: {error.strerror}") from None
    if ran.excess:
        raise SlurmError(f"{name} {ran.excess}: Slurm gives no list of hosts")
    if ran.status:
        said = excerpt(ran.err.decode(errors="replace").strip().rpartition("\n")[2])
        raise SlurmError(f"{name} failed: {said or f'status {ran.status}'}")
    return [line.strip() for line in ran.out.decode(errors="replace").splitlines()]
