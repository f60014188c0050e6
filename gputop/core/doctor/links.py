"""Checks of links: PCIe, NVLink, the NVSwitch fabric, the IOMMU between GPUs."""

from collections.abc import Sequence
from typing import Any, Final

from gputop.core.doctor.each import about, judged, missing, of, only, said, unread, why_none
from gputop.core.doctor.facts import Details, Facts, PciDevice
from gputop.core.doctor.kernel_log import same_bus
from gputop.core.doctor.verdict import Severity, Verdict, Verdicts, fail, info, nothing, ok, warn
from gputop.core.model.catalogue import (
    NVLINK_LINKS,
    NVLINK_LINKS_DOWN,
    PCIE_GENERATION,
    PCIE_GENERATION_MAX,
    PCIE_WIDTH,
    PCIE_WIDTH_MAX,
    PSTATE,
)
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, GpuState

_MANAGER: Final = "nv-fabricmanage"
_AT_WORK: Final = 2  # the slowest P-state in which a link is judged
_NOT_STARTED, _IN_PROGRESS, _COMPLETED = 1, 2, 3
_UNHEALTHY: Final = {2: "unhealthy", 3: "limited capacity"}
_GUEST: Final = frozenset({1, 2})  # nvmlGpuVirtualizationMode_t: passed through to a virtual machine, vGPU
_STATES: Final = {0: "not supported", 1: "not started", 2: "in progress", 3: "completed"}


def pcie(facts: Facts) -> Verdicts:
    """Judge each PCIe link's width, and its generation if the GPU is busy; an idle link lowers its generation."""
    idle = [gpu for gpu in facts.gpus if gpu[PSTATE] is None or said(gpu, PSTATE) > _AT_WORK]
    ok_text = "full width" + (f"; generation not checked on idle {about(idle)}" if idle else " and generation")
    return (*_width(facts, ok_text), *only(_generation(facts), Severity.WARN))


def _width(facts: Facts, ok_text: str) -> tuple[Verdict, ...]:
    def narrow(gpu: Gpu) -> Any:  # noqa: ANN401
        now, most = of(PCIE_WIDTH)(gpu), of(PCIE_WIDTH_MAX)(gpu)
        return missing(now, most) or (0 < now < _width_max(facts, gpu))

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        what = f"{about(gpus)}: fewer PCIe lanes than the board and the slot support"
        evidence = [f"GPU {gpu.index}: x{said(gpu, PCIE_WIDTH)} of x{_width_max(facts, gpu)}" for gpu in gpus]
        if all(_cannot_be_reseated(facts, gpu) for gpu in gpus):
            return info(f"{what}: a laptop is often wired so, and so is a virtual machine's host", evidence=evidence)
        build = fail if any(said(gpu, PCIE_WIDTH) * 2 < _width_max(facts, gpu) for gpu in gpus) else warn
        return build(
            what,
            evidence=evidence,
            fix=(
                "Reseat the board or its riser, and check the slot's bifurcation in the BIOS.",
                "$ sudo dmesg | grep -i 'limited by'",
            ),
        )

    return judged(facts, narrow, bool, verdict, ok_text)


def _generation(facts: Facts) -> tuple[Verdict, ...]:
    def slow(gpu: Gpu) -> Any:  # noqa: ANN401
        now, most, state = of(PCIE_GENERATION)(gpu), of(PCIE_GENERATION_MAX)(gpu), gpu[PSTATE]
        is_at_work = state is not None and state <= _AT_WORK
        return missing(now, most) or (is_at_work and now < _generation_max(facts, gpu))

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: a busy PCIe link runs at an older generation than the board and the slot support",
            evidence=[
                f"GPU {gpu.index} in P{said(gpu, PSTATE)}: "
                f"gen {said(gpu, PCIE_GENERATION)} of {_generation_max(facts, gpu)}"
                for gpu in gpus
            ],
            fix=("Reseat the board or its riser, and check the slot's link speed in the BIOS.",),
        )

    return judged(facts, slow, bool, verdict, "")


def nvlink(facts: Facts) -> Verdicts:
    """Judge whether NVLinks are down that are up on sibling GPUs."""

    def fewest(name: str) -> int:
        return min(said(gpu, NVLINK_LINKS_DOWN) or 0 for gpu in facts.gpus if gpu.name == name and _has_links(gpu))

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        down = of(NVLINK_LINKS_DOWN)(gpu)
        return down if isinstance(down, Missing) else down - fewest(gpu.name)

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: some NVLinks are down; on the other GPUs they are up",
            evidence=map(_links_down, gpus),
            fix=(
                "$ nvidia-smi nvlink --status",
                "Check the bridge or the fabric manager, and look for Xids 74 and 144 to 150 in the kernel log.",
            ),
        )

    linked = [gpu for gpu in facts.gpus if _has_links(gpu)]
    if linked and all(gpu[NVLINK_LINKS_DOWN] == gpu[NVLINK_LINKS] for gpu in linked):
        return nothing("no GPU is connected by NVLink")
    found = judged(facts, answer, bool, verdict, "all expected NVLinks are up")
    same = [gpu for gpu in linked if said(gpu, NVLINK_LINKS_DOWN)]
    if len(found) == 1 and found[0].severity is Severity.OK and same:
        return info(
            f"{about(same)}: some NVLinks are down, the same number on all GPUs", evidence=map(_links_down, same)
        )
    return found


def fabric(facts: Facts) -> Verdicts:
    """Judge whether the NVSwitch fabric is up; without it CUDA fails with error 802."""
    none = why_none(facts)
    if none:
        return none
    states = {gpu.uuid: facts.details.get(gpu.uuid, Details()) for gpu in facts.gpus}
    has_switch = any(device.is_switch for device in facts.pci or ())
    supported = [gpu for gpu in facts.gpus if states[gpu.uuid].fabric_state]
    if not supported:
        return nothing("no NVSwitch") if not has_switch else _no_state(facts)
    waiting = [gpu for gpu in supported if states[gpu.uuid].fabric_state != _COMPLETED]
    refused = [gpu for gpu in supported if gpu not in waiting and states[gpu.uuid].fabric_status]
    unhealthy = [gpu for gpu in supported if states[gpu.uuid].fabric_health in _UNHEALTHY]
    found = []
    if waiting or refused:
        outside = waiting or refused
        found.append(
            fail(
                f"{about(outside)}: CUDA fails with error 802, not joined to the NVLink fabric",
                evidence=[*(_state(gpu, states[gpu.uuid]) for gpu in outside), _manager(facts)],
                fix=_join(outside),
            )
        )
    if unhealthy:
        found.append(
            fail(
                f"{about(unhealthy)}: the NVLink fabric is unhealthy",
                evidence=[f"GPU {gpu.index}: {_UNHEALTHY[states[gpu.uuid].fabric_health or 0]}" for gpu in unhealthy],
                fix=("$ nvidia-smi -q | grep -A6 Fabric", "Read the log of the fabric manager, then reset the GPU."),
            )
        )
    all_respond = all(gpu.state is GpuState.OK for gpu in facts.gpus)
    return found or ok(f"every GPU {'' if all_respond else 'that responds '}has joined the NVLink fabric")


def iommu(facts: Facts) -> Verdicts:
    """Report an IOMMU between GPUs that communicate over PCIe: peer copies can be slow, or wrong."""
    if len(facts.gpus) < 2:
        return nothing("fewer than two GPUs")
    if facts.iommu is None:
        return unread(facts, "IOMMU")
    if not facts.iommu:
        return ok("the IOMMU is off")
    if all(_has_links(gpu) for gpu in facts.gpus):
        return ok("an IOMMU is on, but the GPUs communicate over NVLink")
    return info(
        "copies between GPUs may be slow, and on some boards wrong: they use PCIe with an IOMMU on",
        evidence=("/sys/class/iommu is not empty",),
        fix=("If NCCL hangs or copied data is wrong: boot with iommu=pt, and switch ACS off in the BIOS.",),
    )


def _has_links(gpu: Gpu) -> bool:
    return said(gpu, NVLINK_LINKS_DOWN) is not None


def _links_down(gpu: Gpu) -> str:
    return f"GPU {gpu.index}: {said(gpu, NVLINK_LINKS_DOWN)} of {said(gpu, NVLINK_LINKS) or '?'} links down"


def _port(facts: Facts, gpu: Gpu) -> PciDevice | None:
    return next((board for board in facts.boards if same_bus(board.address) == same_bus(gpu.bus_id)), None)


def _width_max(facts: Facts, gpu: Gpu) -> int:
    """Return the width that both the board and the slot support."""
    port, most = _port(facts, gpu), int(said(gpu, PCIE_WIDTH_MAX))
    return min(most, port.port_width_max) if port and port.port_width_max else most


def _cannot_be_reseated(facts: Facts, gpu: Gpu) -> bool:
    details = facts.details.get(gpu.uuid)
    return "Laptop" in gpu.name or (details is not None and details.virtualization in _GUEST)


def _generation_max(facts: Facts, gpu: Gpu) -> int:
    port, most = _port(facts, gpu), int(said(gpu, PCIE_GENERATION_MAX))
    return min(most, port.port_generation_max) if port and port.port_generation_max else most


def _no_state(facts: Facts) -> Verdict:
    if facts.runs(_MANAGER):
        return ok("the fabric manager runs; the driver does not report the state of the NVSwitch fabric")
    return fail(
        "the fabric manager does not run on this NVSwitch host: CUDA fails with error 802",
        evidence=("an NVSwitch on the PCI bus", _manager(facts)),
        fix=_join(facts.gpus),
    )


def _manager(facts: Facts) -> str:
    if facts.programs is None:
        return "cannot see whether nv-fabricmanager runs"
    return f"nv-fabricmanager {'runs' if facts.runs(_MANAGER) else 'does not run'} here"


def _state(gpu: Gpu, details: Details) -> str:
    state = _STATES.get(details.fabric_state or 0, str(details.fabric_state))
    return f"GPU {gpu.index}: fabric {state}" + (f", status {details.fabric_status}" if details.fabric_status else "")


def _join(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    if any(gpu.name.startswith(("NVIDIA GB", "GB")) for gpu in gpus):
        return ("Check the fabric manager on the switch trays. On this node: systemctl status nvidia-imex",)
    return (
        "$ sudo systemctl enable --now nvidia-fabricmanager",
        "Its version must match the driver's. If it does not start: journalctl -u nvidia-fabricmanager",
    )
