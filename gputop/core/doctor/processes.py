"""Checks of processes: memory not owned by any process, blocked processes, other monitors, MPS."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gputop.core.doctor.each import about, judged, numbers, of, unread, why_none
from gputop.core.doctor.facts import Facts, Program
from gputop.core.doctor.kernel_log import hung_tasks
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, unknown, warn
from gputop.core.model.catalogue import MEMORY_TOTAL, MEMORY_USED, MIG_MODE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, HostProcess, Presence
from gputop.core.model.units import bytes_text
from gputop.core.text.fit import fit
from gputop.core.text.ranges import ranges

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
    """Judge whether exited processes or zombies hold GPU memory, or memory is in use without any process."""
    none = why_none(facts)
    if none:
        return none
    exited = [process for process in facts.processes if process.presence is Presence.GONE or process.state == "Z"]
    found = [_exited(facts, exited)] if exited else []
    if not facts.is_initial:
        hidden = unknown("cannot attribute all GPU memory: gputop runs in another PID namespace than some processes")
        return [*found, hidden]
    if facts.runs(_MPS):
        return found or nothing("the MPS server accounts for the memory of its clients")

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        return Missing.UNSUPPORTED if gpu[MIG_MODE] else _unowned_bytes(facts, gpu)

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: memory in use that is not owned by any listed process",
            evidence=[
                *(
                    f"GPU {gpu.index}: {bytes_text(_unowned_bytes(facts, gpu))} not owned by any process"
                    for gpu in gpus
                ),
                *_holders(facts, gpus),
            ],
            fix=(
                f"$ sudo fuser -v {' '.join(f'/dev/nvidia{gpu.index}' for gpu in gpus)}",
                "End what remains of dead jobs: forked data loaders can hold GPU memory.",
                f"If no process has the GPU open: sudo nvidia-smi --gpu-reset -i {numbers(gpus)}",
            ),
        )

    rest = judged(facts, answer, bool, verdict, "processes account for all memory in use")
    return [*found, *(one for one in rest if not found or one.severity.rank < 4)]


def stuck(facts: Facts) -> Verdicts:
    """Judge whether a GPU process is blocked in the kernel (state D) and cannot be ended."""
    none = why_none(facts)
    if none:
        return none
    waiting = [process for process in facts.processes if _is_stuck(facts, process)]
    blocked_s = {task.pid: task.seconds for task in hung_tasks(facts.log or ())}
    if not waiting:
        hidden = [process for process in facts.processes if process.presence is Presence.HIDDEN]
        if hidden:
            return unknown(
                f"cannot read the state of pid {ranges([one.pid for one in hidden], ', ')}: hidden from here"
            )
        return ok("no GPU process is blocked in the kernel")
    is_long = any(process.pid in blocked_s for process in waiting)
    evidence = [
        f"{_described(process)}: state D in {len(facts.samples)} samples"
        + (f"; kernel log: blocked for more than {blocked_s[process.pid]}s" if process.pid in blocked_s else "")
        for process in waiting
    ]
    fix = (
        "SIGKILL has no effect until the driver responds. Look for Xids 79, 119 and 120: sudo dmesg | grep Xid",
        "If this does not change: reset the GPU, or reboot.",
    )
    summary = f"{_count(waiting)} blocked in the kernel and cannot be ended"
    if is_long:
        return fail(summary, evidence=evidence, fix=fix)
    return warn(summary, evidence=evidence, fix=("Check again in half a minute: gputop doctor", *fix))


def idle_mps(facts: Facts) -> Verdicts:
    """Report an MPS daemon without clients."""
    if facts.programs is None:
        return unread(facts, "processes")
    if not facts.runs(_MPS):
        return nothing("no MPS")
    clients = [process for process in facts.processes if any(use.type == "M" for use in process.gpus)]
    if clients:
        return ok(f"MPS has {len(clients)} client{'s' if len(clients) > 1 else ''}")
    daemons = [program for program in facts.programs.found if program.name.startswith(_MPS)]
    return info(
        "the MPS daemon runs without clients",
        evidence=[f"pid {program.pid}: {program.command or program.name}" for program in daemons],
        fix=("If it is not needed:", "$ echo quit | nvidia-cuda-mps-control"),
    )


def monitors(facts: Facts) -> Verdicts:
    """Report other monitors, which keep the GPUs open and block a reset or a MIG change."""
    if facts.programs is None:
        return unread(facts, "processes")
    found = [p for p in facts.programs.found if p.name in _MONITORS and (p.devices is None or p.devices)]
    if not found:
        hidden = facts.programs.hidden
        return ok(
            "no other GPU monitoring program found"
            + (f"; the open files of {hidden} processes are not readable" if hidden else "")
        )
    return info(
        "a GPU reset or a MIG change will fail: other GPU monitoring programs keep the GPUs open",
        evidence=[
            f"{program.name} (pid {program.pid}{'' if program.uid is None else f', uid {program.uid}'})"
            + ("" if program.devices else ": its open files are not readable")
            for program in found
        ],
        fix=(
            "Stop them before a reset or a MIG change:",
            *dict.fromkeys(_stop(program) for program in found),
        ),
    )


def _stop(program: Program) -> str:
    """Return how to stop a monitor. Any process can take the name of a service: it is believed of root alone."""
    service = _MONITORS[program.name]
    if service and program.uid != 0:
        return f"see whether pid {program.pid} is the service {program.name}: systemctl status {program.pid}"
    if service:
        return f"$ {service}" if service.startswith("sudo") else service
    if program.is_first:
        return f"stop the container of {program.name}: pid {program.pid} is its first process"
    return f"$ kill {program.pid}"


def _exited(facts: Facts, exited: Sequence[HostProcess]) -> Verdict:
    indices = sorted({use.gpu_index for process in exited for use in process.gpus})
    gpus = [gpu for gpu in facts.gpus if gpu.index in indices]
    return warn(
        f"GPU memory not freed: the driver still lists {len(exited)} exited process{'es' if len(exited) > 1 else ''}",
        evidence=[
            *(
                f"pid {process.pid} on GPU {_places(process)}: {bytes_text(_memory(process))}"
                + (" (zombie)" if process.state == "Z" else "")
                for process in exited
            ),
            *_holders(facts, gpus),
        ],
        fix=(
            f"$ sudo fuser -v {' '.join(f'/dev/nvidia{index}' for index in indices)}",
            "End the child processes that an exited process left behind: they hold the memory.",
            "A zombie without children ends when its parent ends.",
            "If the memory is still in use, reset the GPU.",
        ),
    )


def _unowned_bytes(facts: Facts, gpu: Gpu) -> Any:  # noqa: ANN401 - bytes, 0 where it is little, or a Missing
    used, total = of(MEMORY_USED)(gpu), gpu[MEMORY_TOTAL]
    if isinstance(used, Missing):
        return used
    if "processes" in gpu.missing:
        return gpu.missing["processes"]
    owned = [use.memory_bytes for process in facts.processes for use in process.gpus if use.gpu == gpu.uuid]
    if None in owned:
        return Missing.UNSUPPORTED
    rest = used - sum(memory or 0 for memory in owned)
    return rest if rest > max(LEAST_BYTES, LEAST_SHARE * (total or 0)) else 0


def _holders(facts: Facts, gpus: Iterable[Gpu]) -> list[str]:
    """Return the processes that have the device files open and are not listed by the driver."""
    if facts.programs is None:
        return []
    paths = {f"/dev/nvidia{gpu.index}" for gpu in gpus}
    listed = {process.pid for process in facts.processes}
    holders = [
        f"pid {program.pid} ({program.name}) has {', '.join(sorted(paths & set(program.devices or ())))} open"
        for program in facts.programs.found
        if paths & set(program.devices or ()) and program.pid not in listed
    ]
    hidden = facts.programs.hidden
    return [*holders, *([f"the open files of {hidden} processes are not readable without root"] if hidden else [])]


def _is_stuck(facts: Facts, process: HostProcess) -> bool:
    states = [each.state for one in facts.samples for each in one.processes if each.id == process.id]
    return len(states) == len(facts.samples) and set(states) == {"D"}


def _described(process: HostProcess) -> str:
    command = fit(process.command, _COMMAND_CELLS).rstrip()
    return f"pid {process.pid} ({process.user or 'unknown user'}) on GPU {_places(process)} ({command})"


def _count(processes: Sequence[HostProcess]) -> str:
    if len(processes) == 1:
        return f"pid {processes[0].pid} on GPU {_places(processes[0])} is"
    return f"{len(processes)} processes on GPUs are"


def _places(process: HostProcess) -> str:
    return ranges({use.gpu_index for use in process.gpus}, ", ")


def _memory(process: HostProcess) -> int:
    return sum(use.memory_bytes or 0 for use in process.gpus)
