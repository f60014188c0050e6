"""Reader of the processes that have GPU device files open, and of GPU services."""

from typing import Final

from gputop.core.doctor.facts import Program, Programs
from gputop.core.secrets.mask import masked_arguments
from gputop.core.text.text import clean, decode
from gputop.machine.proc.root import Files, Root
from gputop.machine.proc.stat import parse_inner_pid, parse_stat, parse_uid
from gputop.machine.timed_calls import TimedCalls

_PREFIX: Final = "/dev/nvidia"
_KTHREADD: Final = 2
_MOST_FILES: Final = 4096
_COMMAND: Final = 200
_LONGEST_BYTES: Final = 16_384
_PATIENCE_S: Final = 0.3  # for a process that blocks its readers
_SERVICES: Final = ("nvidia-", "nv-", "dcgm", "nvsm", "gpud")  # named even where their files cannot be seen
_ALSO: Final = frozenset({"nvitop", "nvtop", "gpustat", "gputop", "btop", "netdata", "telegraf", "nvidia_gpu_expo"})


def programs(root: Root, own: int) -> Programs:
    """Return the programs, without gputop itself. Raises OSError without /proc."""
    found, hidden, calls = [], 0, TimedCalls()
    for pid in [int(name) for name in root.list("proc") if name.isdecimal()]:
        stat = None if pid == own else _stat(root, pid)
        if stat is None or pid == _KTHREADD or stat[2] == _KTHREADD:
            continue  # ourselves, one that has ended, or a thread of the kernel
        name, state, _ = stat
        devices = _devices(root, pid)
        hidden += devices is None
        if devices or name.startswith(_SERVICES) or name in _ALSO:
            held = None if devices is None else tuple(devices)
            status = Files(root).raw(f"proc/{pid}/status")
            found.append(
                Program(
                    pid=pid,
                    name=name,
                    uid=parse_uid(status),
                    is_first=parse_inner_pid(status, pid) == 1,
                    command=_command(root, pid, calls),
                    state=state,
                    devices=held,
                )
            )
    return Programs(found=tuple(found), hidden=hidden)


def _stat(root: Root, pid: int) -> tuple[str, str, int] | None:
    stat = parse_stat(Files(root).raw(f"proc/{pid}/stat"))
    return (decode(stat.name), stat.state, stat.parent_pid) if stat else None


def _devices(root: Root, pid: int) -> list[str] | None:
    """Return the device files that a process has open; None if not readable."""
    try:
        names = root.list(f"proc/{pid}/fd")[:_MOST_FILES]
    except OSError:
        return None
    targets = dict.fromkeys(Files(root).target(f"proc/{pid}/fd/{name}") for name in names)
    return [clean(target) for target in targets if target.startswith(_PREFIX)]


def _command(root: Root, pid: int, calls: TimedCalls) -> str:
    """Return the command line; empty if it is not readable, or the process blocks its readers."""
    try:
        raw = calls.make(pid, lambda: root.read(f"proc/{pid}/cmdline"), _PATIENCE_S)
    except OSError:
        return ""
    arguments = [decode(argument) for argument in raw[:_LONGEST_BYTES].rstrip(b"\0").split(b"\0")]
    return " ".join(masked_arguments(arguments)).strip()[:_COMMAND]
