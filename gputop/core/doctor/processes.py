"""Processes: memory that nobody owns, tasks that hang in the driver, monitors that keep handles."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gputop.core.doctor.each import about, judged, numbers, of, ranges, unread, why_none
from gputop.core.doctor.facts import Facts, Program
from gputop.core.doctor.kernel_log import hung_tasks
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, unknown, warn
from gputop.core.model.catalogue import MEMORY_TOTAL, MEMORY_USED, MIG_MODE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, HostProcess, Presence
from gputop.core.model.units import bytes_text
from gputop.core.text.text import fit

LEAST_BYTES: Final = 500 * 1024**2
LEAST_SHARE: Final = 0.02
_COMMAND_CELLS: Final = 60
_MONITORS: Final = {  # by the name that /proc/PID/comm has: at most 15 signs
    "nv-hostengine": "sudo systemctl stop nvidia-dcgm",
    "dcgm-exporter": "sudo systemctl stop dcgm-exporter",
    "dcgmi": "",
    "nvidia-smi": "",
    "nvitop": "",
    "nvtop": "",
    "gpustat": "",
    "gputop": "",
    "btop": "",
    "netdata": "sudo systemctl stop netdata",
    "nvidia_gpu_expo": "sudo systemctl stop nvidia_gpu_exporter",
    "telegraf": "sudo systemctl stop telegraf",
    "gpud": "sudo systemctl stop gpud",
    "nvsm_core": "sudo systemctl stop nvsm",
    "nvidia-device-p": "stop the Kubernetes device plugin of this node",
}
_MPS: Final = "nvidia-cuda-mps"


def leftovers(facts: Facts) -> Verdicts:
    """Judge whether processes that have ended, or nobody at all, still hold memory of a GPU."""
    none = why_none(facts)
    if none:
        return none
    gone = [process for process in facts.processes if process.presence is Presence.GONE]
    found = [_gone(facts, gone)] if gone else []
    if not facts.is_initial:
        hidden = unknown("another PID namespace: memory of processes that we cannot see looks like nobody's")
        return [*found, hidden]
    if _runs(facts, _MPS):
        return found or nothing("MPS is at work: memory of its clients is counted by the server")

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        return Missing.UNSUPPORTED if gpu[MIG_MODE] else _owned_by_nobody(facts, gpu)

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: memory is in use that no process is listed for",
            evidence=[
                *(f"GPU {gpu.index}: {bytes_text(_owned_by_nobody(facts, gpu))} of nobody" for gpu in gpus),
                *_holders(facts, gpus),
            ],
            fix=(
                f"$ sudo fuser -v {' '.join(f'/dev/nvidia{gpu.index}' for gpu in gpus)}",
                "End what is left over of a dead job: forked data loaders keep its memory.",
                f"If nobody holds it: sudo nvidia-smi --gpu-reset -i {numbers(gpus)}",
            ),
        )

    rest = judged(facts, answer, bool, verdict, "all memory in use belongs to a process")
    return [*found, *(one for one in rest if not found or one.severity.rank < 4)]


def stuck(facts: Facts) -> Verdicts:
    """Judge whether a process on a GPU waits in the kernel and cannot be ended."""
    none = why_none(facts)
    if none:
        return none
    waiting = [process for process in facts.processes if _is_stuck(facts, process)]
    named = {task.pid: task.seconds for task in hung_tasks(facts.log or ())}
    if not waiting:
        return ok("no process on a GPU waits in the kernel")
    long = [process for process in waiting if process.pid in named]
    evidence = [
        f"{_words(process)}: state D in {len(facts.samples)} looks"
        + (f"; the kernel log: blocked for more than {named[process.pid]}s" if process.pid in named else "")
        for process in waiting
    ]
    fix = (
        "SIGKILL does not reach it before the driver answers. Look for Xids 79, 119 and 120: sudo dmesg | grep Xid",
        "If it stays so: reset the GPU it is on, or reboot.",
    )
    summary = f"{_count(waiting)} in the kernel and cannot be ended"
    if long:
        return fail(summary, evidence=evidence, fix=fix)
    return warn(summary, evidence=evidence, fix=("Look again in half a minute: gputop doctor", *fix))


def idle_mps(facts: Facts) -> Verdicts:
    """Tell of an MPS daemon that nobody uses."""
    if facts.programs is None:
        return unread(facts, "processes")
    if not _runs(facts, _MPS):
        return nothing("no MPS")
    clients = [process for process in facts.processes if any(use.type == "M" for use in process.gpus)]
    if clients:
        return ok(f"MPS has {len(clients)} client{'s' if len(clients) > 1 else ''}")
    held = [program for program in facts.programs.found if program.name.startswith(_MPS)]
    return info(
        "the MPS daemon runs, and has no client",
        evidence=[f"pid {program.pid}: {program.command or program.name}" for program in held],
        fix=("If nobody needs it:", "$ echo quit | nvidia-cuda-mps-control"),
    )


def monitors(facts: Facts) -> Verdicts:
    """Tell of other monitors: they keep handles, which hinders a reset and changes of MIG."""
    if facts.programs is None:
        return unread(facts, "processes")
    found = [p for p in facts.programs.found if p.name in _MONITORS and (p.devices is None or p.devices)]
    if not found:
        hidden = facts.programs.hidden
        return ok("no other monitor was found" + (f"; the files of {hidden} processes were not seen" if hidden else ""))
    stops = dict.fromkeys(_MONITORS[program.name] for program in found if _MONITORS[program.name])
    pids = " ".join(str(program.pid) for program in found if not _MONITORS[program.name])
    return info(
        "other monitors keep handles of the GPUs: a reset, or a change of MIG, fails while they run",
        evidence=[
            f"{program.name} (pid {program.pid})" + ("" if program.devices else ": its open files were not seen")
            for program in found
        ],
        fix=(
            "Before a reset:",
            *(f"$ {stop}" if stop.startswith("sudo") else stop for stop in stops),
            *([f"$ kill {pids}"] if pids else []),
        ),
    )


def _gone(facts: Facts, gone: Sequence[HostProcess]) -> Verdict:
    indices = sorted({use.gpu_index for process in gone for use in process.gpus})
    gpus = [gpu for gpu in facts.gpus if gpu.index in indices]
    return warn(
        f"the driver lists {len(gone)} process{'es' if len(gone) > 1 else ''} that ended: their memory was not freed",
        evidence=[
            *(f"pid {process.pid} on GPU {_places(process)}: {bytes_text(_memory(process))}" for process in gone),
            *_holders(facts, gpus),
        ],
        fix=(
            f"$ sudo fuser -v {' '.join(f'/dev/nvidia{index}' for index in indices)}",
            "End the children that it left: they keep the memory. If there are none, reset the GPU.",
        ),
    )


def _owned_by_nobody(facts: Facts, gpu: Gpu) -> Any:  # noqa: ANN401 - bytes, 0 where it is little, or a Missing
    used, total = of(MEMORY_USED)(gpu), gpu[MEMORY_TOTAL]
    if isinstance(used, Missing):
        return used
    if "processes" in gpu.missing:
        return gpu.missing["processes"]
    held = [use.memory_bytes for process in facts.processes for use in process.gpus if use.gpu == gpu.uuid]
    if None in held:
        return Missing.UNSUPPORTED
    rest = used - sum(memory or 0 for memory in held)
    return rest if rest > max(LEAST_BYTES, LEAST_SHARE * (total or 0)) else 0


def _holders(facts: Facts, gpus: Iterable[Gpu]) -> list[str]:
    """Return who has the device files open and is not listed by the driver."""
    if facts.programs is None:
        return []
    paths = {f"/dev/nvidia{gpu.index}" for gpu in gpus}
    listed = {process.pid for process in facts.processes}
    held = [
        f"pid {program.pid} ({program.name}) has {', '.join(sorted(paths & set(program.devices or ())))} open"
        for program in facts.programs.found
        if paths & set(program.devices or ()) and program.pid not in listed
    ]
    hidden = facts.programs.hidden
    return [*held, *([f"the open files of {hidden} processes were not seen: needs root"] if hidden else [])]


def _is_stuck(facts: Facts, process: HostProcess) -> bool:
    looks = [each.state for one in facts.samples for each in one.processes if each.id == process.id]
    return len(looks) == len(facts.samples) and set(looks) == {"D"}


def _runs(facts: Facts, name: str) -> bool:
    found: tuple[Program, ...] = facts.programs.found if facts.programs else ()
    return any(program.name.startswith(name) for program in found)


def _words(process: HostProcess) -> str:
    command = fit(process.command, _COMMAND_CELLS).rstrip()
    return f"pid {process.pid} of {process.user or 'unknown'} on GPU {_places(process)} ({command})"


def _count(processes: Sequence[HostProcess]) -> str:
    if len(processes) == 1:
        return f"pid {processes[0].pid} on GPU {_places(processes[0])} waits"
    return f"{len(processes)} processes on GPUs wait"


def _places(process: HostProcess) -> str:
    return ranges({use.gpu_index for use in process.gpus})


def _memory(process: HostProcess) -> int:
    return sum(use.memory_bytes or 0 for use in process.gpus)
