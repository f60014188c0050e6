"""This host's place in a Slurm job, so that torchrun finds the other hosts."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

_PORTS: Final = range(20_000, 30_000)


class Station(Struct, frozen=True):
    """One host of several. ``head``: the host where they meet; ``port``: unique to the Slurm step."""

    boxes: int
    number: int
    head: str
    port: int


def station(environment: Mapping[str, str]) -> Station | None:
    """Return this host's place if srun started one gputop on each of several hosts, or None."""
    boxes, tasks, number = (_count(environment, f"SLURM_{name}") for name in ("NNODES", "NTASKS", "NODEID"))
    head = first_host(environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST", ""))
    if boxes is None or number is None or boxes < 2 or tasks != boxes or not head:
        return None
    step = (_count(environment, "SLURM_JOB_ID") or 0) * 31 + (_count(environment, "SLURM_STEP_ID") or 0)
    return Station(boxes, number, head, _PORTS[step % len(_PORTS)])


def first_host(names: str) -> str:
    """Return the first host of a Slurm host list: ``gpu[07-12,19]-x,login`` begins with ``gpu07-x``."""
    found, depth = "", 0
    for sign in names:
        if sign == "," and not depth:
            break
        depth += {"[": 1, "]": -1}.get(sign, 0)
        found += sign
    return re.sub(r"\[([^\],-]*)[^\]]*\]", r"\1", found)


def _count(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else None
