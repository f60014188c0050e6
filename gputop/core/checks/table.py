"""THE CHECKS: a row each, with a stable code, the question and why it matters."""

from collections.abc import Callable, Sequence
from typing import Final

from gputop.core.checks import configuration, containers, driver, errors, links, memory, processes, thermal
from gputop.core.checks.facts import Facts
from gputop.core.checks.verdict import Check, Checked, Diagnosis, Severity, Verdict, Verdicts, unknown

WELL: Final = 0
WARNINGS: Final = 1
ACT_NOW: Final = 2
NOTHING: Final = 3  # no GPU, and no sign that there should be one


def _row(code: str, question: str, judge: Callable[[Facts], Verdicts], meaning: str) -> Check:
    return Check(code=code, question=question, meaning=meaning, judge=judge)


CHECKS: Final[tuple[Check, ...]] = (
    _row(
        "nvml.absent", "Is the driver there, and does it start?", driver.absent,
        "Without the driver no program can use a GPU. Four things may lack: the GPU, its driver, the module for "
        "the running kernel, the library.",
    ),
    _row(
        "nvml.mismatch", "Are library and kernel module of one version?", driver.mismatch,
        "After an unattended upgrade the new library meets the old module: nothing starts any more until the "
        "module is reloaded.",
    ),
    _row(
        "nvml.unknown_in_container", "May this container still open its GPUs?", containers.lost_access,
        "systemd rewrites the device rules of containers at a daemon-reload: running containers lose their GPUs, "
        "and NVML says unknown error.",
    ),
    _row(
        "drv.nouveau", "Does another driver hold a GPU?", driver.nouveau,
        "Where nouveau or nova was first, NVIDIA's driver cannot take the GPU.",
    ),
    _row(
        "drv.vfio", "Are GPUs given to virtual machines?", driver.vfio,
        "A GPU that is passed through is not there for this system.",
    ),
    _row(
        "dev.nodes", "Are the device files there, and may we open them?", driver.device_files,
        "CUDA opens /dev/nvidiactl, /dev/nvidia-uvm and a file for each GPU.",
    ),
    _row(
        "gpu.count", "Does the driver see every GPU?", driver.count,
        "A GPU that fell off the bus, or did not start, is missing from the driver's list. --expect N finds one "
        "that vanished altogether.",
    ),
    _row(
        "gpu.answers", "Does every GPU answer?", errors.answers,
        "A GPU that is lost or hangs takes its jobs with it.",
    ),
    _row(
        "recovery.action", "Does the driver want something done?", errors.recovery,
        "The driver knows when a GPU needs a reset, or the node a reboot, before it can be trusted again.",
    ),
    _row(
        "xid.recent", "Are there Xids in the kernel log?", errors.xids,
        "An Xid is how the driver tells of an error. Some are an application's own fault, some want a reset, some "
        "a new board. Xids older than a day count one degree less.",
    ),
    _row(
        "ecc.errors", "Did memory have errors that ECC could not correct?", memory.ecc_errors,
        "Results that were computed over such an error cannot be trusted.",
    ),
    _row(
        "remap.failure", "Did a bad row fail to be replaced?", memory.remap_failure,
        "When the spare rows are used up, the next bad one stays.",
    ),
    _row(
        "remap.pending", "Does a bad row wait to be replaced?", memory.remap_pending,
        "The spare row is taken at the next reset; until then the bad one is in use.",
    ),
    _row(
        "remap.histogram", "Does every bank have spare rows left?", memory.remap_histogram,
        "A bank without spares is an early sign.",
    ),
    _row(
        "retired", "Are pages retired, or do some wait for it?", memory.retired,
        "How boards before Ampere take bad memory out of use.",
    ),
    _row(
        "ecc.off", "Is ECC on where the board has it?", memory.ecc_off,
        "Without ECC a flipped bit is a wrong result that nobody notices.",
    ),
    _row(
        "ecc.pending", "Is ECC as it will be after a reset?", memory.ecc_pending,
        "A change of ECC waits for a reset.",
    ),
    _row(
        "fabric.manager", "Have the GPUs joined the NVLink fabric?", links.fabric,
        "On machines with NVSwitch, CUDA fails with error 802 until the fabric manager has joined the GPUs.",
    ),
    _row(
        "nvlink.down", "Are all NVLinks up that siblings have up?", links.nvlink,
        "One dead link slows every collective of the machine.",
    ),
    _row(
        "pcie.link", "Has every PCIe link its width and generation?", links.pcie,
        "A board that sits badly runs with fewer lanes, and nobody is told. An idle link may be slow, so the "
        "generation is judged at work only.",
    ),
    _row(
        "iommu.p2p", "Does an IOMMU stand between GPUs?", links.iommu,
        "Copies from GPU to GPU over PCIe can be slow, or wrong, with an IOMMU or ACS in the way.",
    ),
    _row(
        "throttle.hw", "Does the hardware lower the clocks?", thermal.throttle_hw,
        "Thermal slowdown and power brake halve the clocks at once. It counts where every look saw it.",
    ),
    _row(
        "throttle.sw", "Does the driver lower the clocks because of heat?", thermal.throttle_sw,
        "Above its operating temperature a board slows down. A power cap is normal, and is not told here.",
    ),
    _row(
        "temp", "Is a board near its limits?", thermal.temperature,
        "Five degrees below the slowdown, or a fan that stands still.",
    ),
    _row(
        "power.limit", "Are limits and clocks as the board has them?", thermal.power_limit,
        "A lower limit may be meant, or forgotten.",
    ),
    _row(
        "persistence", "Does the driver stay loaded when nobody uses a GPU?", thermal.persistence,
        "Without persistence each first use waits a second or more, and settings are lost.",
    ),
    _row(
        "mem.zombie", "Does all memory in use belong to a process?", processes.leftovers,
        "Forked data loaders keep the memory of a dead rank, and nobody finds it in the list.",
    ),
    _row(
        "proc.dstate", "Does a process wait in the kernel?", processes.stuck,
        "A process in state D cannot be ended; it is mostly the GPU that does not answer.",
    ),
    _row(
        "proc.monitors", "Do other monitors keep handles?", processes.monitors,
        "A reset, or a change of MIG, fails while somebody has the GPU open.",
    ),
    _row(
        "mps.leak", "Does MPS run for nobody?", processes.idle_mps,
        "The daemon keeps a context on the GPU.",
    ),
    _row(
        "mig.empty", "Has every GPU in MIG mode an instance?", configuration.mig_empty,
        "In MIG mode a GPU without instances can run nothing.",
    ),
    _row(
        "mig.pending", "Does a change of the MIG mode wait?", configuration.mig_pending,
        "On Ampere the mode changes at the next reset, and not before.",
    ),
    _row(
        "compute.mode", "May several processes use a GPU?", configuration.compute_mode,
        "In an exclusive mode the second process fails.",
    ),
    _row(
        "env.bad", "Do variables stand in the way?", configuration.environment,
        "Of the environment that gputop itself was started in.",
    ),
    _row(
        "cuda.version", "Does the installed torch fit the driver?", driver.cuda,
        "Read from the files of the package; torch is not imported. Looked for in the active environment, in that "
        "of gputop, and in the usual places of the system.",
    ),
    _row(
        "runtime", "Do containers get the GPUs, and keep them?", containers.runtime,
        "Docker's runtime, and CDI specifications that name another driver than the one that is loaded.",
    ),
    _row(
        "gsp", "Is the GPU's firmware that of the driver?", configuration.gsp,
        "The GPU's system processor runs firmware that comes with the driver.",
    ),
    _row(
        "inforom", "Is the InfoROM valid?", configuration.inforom,
        "The board keeps its settings and counters there.",
    ),
)  # fmt: skip


def diagnose(facts: Facts, checks: Sequence[Check] = CHECKS) -> Diagnosis:
    """Return what all checks say, the gravest first, and in the order of the table among equals. Never raises."""
    checked = sorted((_checked(check, facts) for check in checks), key=lambda one: one.severity.rank)
    counts = {severity: sum(one.severity is severity for one in checked) for severity in Severity}
    return Diagnosis(
        time_s=facts.time_s,
        host=facts.host,
        is_root=facts.is_root,
        driver_version=facts.driver.version or (facts.module.version if facts.module else None),
        cuda_version=facts.driver.cuda_version,
        simulated=facts.driver.simulated,
        gpus=len(facts.gpus),
        status=_status(facts, counts),
        counts=counts,
        checks=tuple(checked),
    )


def _checked(check: Check, facts: Facts) -> Checked:
    verdicts = sorted(_asked(check, facts), key=lambda one: one.severity.rank)
    gravest = verdicts[0].severity
    kept = [one for one in verdicts if one.severity.rank < Severity.OK.rank] or verdicts[:1]
    return Checked(code=check.code, question=check.question, severity=gravest, verdicts=tuple(kept))


def _asked(check: Check, facts: Facts) -> Sequence[Verdict]:
    try:
        found = check.judge(facts)
    except Exception as error:  # noqa: BLE001 - this is the border: one check must not take the others with it
        return (unknown(f"the check failed: {type(error).__name__}: {error}"),)
    return (found,) if isinstance(found, Verdict) else found


def _status(facts: Facts, counts: dict[Severity, int]) -> int:
    if counts[Severity.FAIL]:
        return ACT_NOW
    if counts[Severity.WARN]:
        return WARNINGS
    return WELL if facts.gpus else NOTHING
