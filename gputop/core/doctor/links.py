"""Links: PCIe, NVLink, the fabric of NVSwitch machines, the IOMMU between GPUs."""

from collections.abc import Sequence
from typing import Any, Final

from gputop.core.doctor.each import about, judged, missing, of, only, plural, said, unread, why_none
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

_AT_WORK: Final = 2  # the slowest P-state in which a link is judged
_NOT_STARTED, _IN_PROGRESS, _COMPLETED = 1, 2, 3
_UNHEALTHY: Final = {2: "unhealthy", 3: "limited capacity"}
_STATES: Final = {0: "not supported", 1: "not started", 2: "in progress", 3: "completed"}


def pcie(facts: Facts) -> Verdicts:
    """Judge the width of each link, and its generation where the GPU is at work: an idle link trains down."""
    idle = [gpu for gpu in facts.gpus if gpu[PSTATE] is None or said(gpu, PSTATE) > _AT_WORK]
    well = "full width" + (f"; {about(idle)} idle, so the generation was not judged" if idle else " and generation")
    return (*_width(facts, well), *only(_generation(facts), Severity.WARN))


def _width(facts: Facts, well: str) -> tuple[Verdict, ...]:
    def narrow(gpu: Gpu) -> Any:  # noqa: ANN401
        now, most = of(PCIE_WIDTH)(gpu), of(PCIE_WIDTH_MAX)(gpu)
        return missing(now, most) or (0 < now < _width_max(facts, gpu))

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        tell = fail if any(said(gpu, PCIE_WIDTH) * 2 < _width_max(facts, gpu) for gpu in gpus) else warn
        return tell(
            f"{about(gpus)}: fewer PCIe lanes than board and slot have",
            evidence=[f"GPU {gpu.index}: x{said(gpu, PCIE_WIDTH)} of x{_width_max(facts, gpu)}" for gpu in gpus],
            fix=(
                "Reseat the board or its riser; look at the slot's bifurcation in the BIOS.",
                "$ sudo dmesg | grep -i 'limited by'",
            ),
        )

    return judged(facts, narrow, bool, verdict, well)


def _generation(facts: Facts) -> tuple[Verdict, ...]:
    def slow(gpu: Gpu) -> Any:  # noqa: ANN401
        now, most, state = of(PCIE_GENERATION)(gpu), of(PCIE_GENERATION_MAX)(gpu), gpu[PSTATE]
        is_at_work = state is not None and state <= _AT_WORK
        return missing(now, most) or (is_at_work and now < _generation_max(facts, gpu))

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: an older PCIe generation than board and slot can do, while at work",
            evidence=[
                f"GPU {gpu.index} in P{said(gpu, PSTATE)}: "
                f"gen {said(gpu, PCIE_GENERATION)} of {_generation_max(facts, gpu)}"
                for gpu in gpus
            ],
            fix=("Reseat the board or its riser; look at the slot's link speed in the BIOS.",),
        )

    return judged(facts, slow, bool, verdict, "")


def nvlink(facts: Facts) -> Verdicts:
    """Judge whether links are down that siblings have up."""

    def fewest(name: str) -> int:
        return min(said(gpu, NVLINK_LINKS_DOWN) or 0 for gpu in facts.gpus if gpu.name == name and _has_links(gpu))

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        down = of(NVLINK_LINKS_DOWN)(gpu)
        return down if isinstance(down, Missing) else down - fewest(gpu.name)

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: NVLinks are down that the other GPUs have up",
            evidence=[
                f"GPU {g.index}: {said(g, NVLINK_LINKS_DOWN)} of {said(g, NVLINK_LINKS) or '?'} links down"
                for g in gpus
            ],
            fix=(
                "$ nvidia-smi nvlink --status",
                "Look at the bridge or the fabric manager, and at Xids 74 and 144 to 150 in the kernel log.",
            ),
        )

    linked = [gpu for gpu in facts.gpus if _has_links(gpu)]
    if linked and all(gpu[NVLINK_LINKS_DOWN] == gpu[NVLINK_LINKS] for gpu in linked):
        return nothing("no GPU is connected by NVLink")
    found = judged(facts, answer, bool, verdict, "every link that siblings have up is up")
    same = [gpu for gpu in linked if said(gpu, NVLINK_LINKS_DOWN)]
    if len(found) == 1 and found[0].severity is Severity.OK and same:
        counts = [
            f"GPU {g.index}: {said(g, NVLINK_LINKS_DOWN)} of {said(g, NVLINK_LINKS) or '?'} links down" for g in same
        ]
        return info(f"{about(same)}: links are down, the same number on all", evidence=counts)
    return found


def fabric(facts: Facts) -> Verdicts:
    """Judge whether the fabric of an NVSwitch machine is up: without it CUDA fails with error 802."""
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
    ill = [gpu for gpu in supported if states[gpu.uuid].fabric_health in _UNHEALTHY]
    found = []
    if waiting or refused:
        late = waiting or refused
        found.append(
            fail(
                f"{about(late)}: {plural(late, 'has', 'have')} not joined the NVLink fabric: CUDA fails with error 802",
                evidence=[*(_state(gpu, states[gpu.uuid]) for gpu in late), _manager(facts)],
                fix=_join(late),
            )
        )
    if ill:
        found.append(
            fail(
                f"{about(ill)}: the NVLink fabric is not healthy",
                evidence=[f"GPU {gpu.index}: {_UNHEALTHY[states[gpu.uuid].fabric_health or 0]}" for gpu in ill],
                fix=("$ nvidia-smi -q | grep -A6 Fabric", "Look at the log of the fabric manager, and reset the GPU."),
            )
        )
    all_answer = all(gpu.state is GpuState.OK for gpu in facts.gpus)
    return found or ok(f"every GPU {'' if all_answer else 'that answers '}has joined the NVLink fabric")


def iommu(facts: Facts) -> Verdicts:
    """Tell of an IOMMU between GPUs that talk over PCIe: copies from GPU to GPU can be slow, or wrong."""
    if len(facts.gpus) < 2:
        return nothing("fewer than two GPUs")
    if facts.iommu is None:
        return unread(facts, "IOMMU")
    if not facts.iommu:
        return ok("no IOMMU is on")
    if all(_has_links(gpu) for gpu in facts.gpus):
        return ok("an IOMMU is on, and the GPUs talk over NVLink")
    return info(
        "an IOMMU is on, and the GPUs talk over PCIe: copies between them may be slow, and on some boards wrong",
        evidence=("/sys/class/iommu is not empty",),
        fix=("If NCCL hangs or data is wrong between GPUs: boot with iommu=pt, and switch ACS off in the BIOS.",),
    )


def _has_links(gpu: Gpu) -> bool:
    return said(gpu, NVLINK_LINKS_DOWN) is not None


def _port(facts: Facts, gpu: Gpu) -> PciDevice | None:
    return next((board for board in facts.boards if same_bus(board.address) == same_bus(gpu.bus_id)), None)


def _width_max(facts: Facts, gpu: Gpu) -> int:
    """Return what board and slot can do together."""
    port, most = _port(facts, gpu), int(said(gpu, PCIE_WIDTH_MAX))
    return min(most, port.port_width_max) if port and port.port_width_max else most


def _generation_max(facts: Facts, gpu: Gpu) -> int:
    port, most = _port(facts, gpu), int(said(gpu, PCIE_GENERATION_MAX))
    return min(most, port.port_generation_max) if port and port.port_generation_max else most


def _no_state(facts: Facts) -> Verdict:
    if _runs(facts):
        return ok("an NVSwitch, and the fabric manager runs; the driver does not tell the state of the fabric")
    return fail(
        "there is an NVSwitch, and the fabric manager does not run: CUDA fails with error 802",
        evidence=("an NVSwitch on the PCI bus", _manager(facts)),
        fix=_join(facts.gpus),
    )


def _runs(facts: Facts) -> bool:
    programs = facts.programs.found if facts.programs else ()
    return any(program.name.startswith("nv-fabricmanage") for program in programs)


def _manager(facts: Facts) -> str:
    if facts.programs is None:
        return "whether nv-fabricmanager runs is not known"
    return f"nv-fabricmanager {'runs' if _runs(facts) else 'does not run'} here"


def _state(gpu: Gpu, details: Details) -> str:
    state = _STATES.get(details.fabric_state or 0, str(details.fabric_state))
    return f"GPU {gpu.index}: fabric {state}" + (f", status {details.fabric_status}" if details.fabric_status else "")


def _join(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    if any(gpu.name.startswith(("NVIDIA GB", "GB")) for gpu in gpus):
        return ("The fabric manager runs on the switch trays: look there. On this node: systemctl status nvidia-imex",)
    return (
        "$ sudo systemctl enable --now nvidia-fabricmanager",
        "Its version must be the driver's. If it does not start: journalctl -u nvidia-fabricmanager",
    )
