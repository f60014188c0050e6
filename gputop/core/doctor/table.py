"""THE CHECKS: a row each, with a stable code, the question and why it matters."""

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from gputop.core.doctor import (
    configuration,
    containers,
    cuda,
    devices,
    driver,
    errors,
    links,
    memory,
    processes,
    thermal,
)
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Check, Verdicts
from gputop.core.table_rows import joined


def _row(code: str, question: str, judge: Callable[[Facts], Verdicts], meaning: str, fix: str) -> Check:
    return Check(code=code, question=question, meaning=meaning, fix=fix, judge=judge)


_OWN: Final[tuple[Check, ...]] = (
    _row(
        "nvml.absent", "Is the driver there, and does it start?", driver.absent,
        "Without the driver no program can use a GPU. Four things may lack: the GPU, its driver, the module for "
        "the running kernel, the library.",
        "By what lacks: install the driver, `modprobe nvidia`, build its module for this kernel, sign it for "
        "Secure Boot, or pass the GPUs into the container.",
    ),
    _row(
        "nvml.mismatch", "Are library and kernel module of one version?", driver.mismatch,
        "After an unattended upgrade the new library meets the old module: nothing starts any more until the "
        "module is reloaded.",
        "Reload the nvidia modules, or reboot; keep the driver out of unattended upgrades.",
    ),
    _row(
        "nvml.unknown_in_container", "May this container still open its GPUs?", containers.lost_access,
        "systemd rewrites the device rules of containers at a daemon-reload: running containers lose their GPUs, "
        "and NVML says unknown error.",
        "Restart the container; on the host `nvidia-ctk system create-dev-char-symlinks --create-all`, or CDI.",
    ),
    _row(
        "drv.nouveau", "Does another driver hold a GPU?", driver.nouveau,
        "Where nouveau or nova was first, NVIDIA's driver cannot take the GPU.",
        "Blacklist nouveau, make the initramfs anew, reboot.",
    ),
    _row(
        "drv.vfio", "Are GPUs given to virtual machines?", driver.vfio,
        "A GPU that is passed through is not there for this system.",
        "Nothing, if it is meant.",
    ),
    _row(
        "dev.nodes", "Are the device files there, and may we open them?", devices.device_files,
        "CUDA opens /dev/nvidiactl, /dev/nvidia-uvm and a file for each GPU.",
        "`nvidia-modprobe -u -c 0`; group and mode of the files; `docker run --gpus all`.",
    ),
    _row(
        "gpu.count", "Does the driver see every GPU?", devices.count,
        "A GPU that fell off the bus, or did not start, is missing from the driver's list. --expect N, or "
        "expected_gpus in the configuration, finds one that vanished altogether.",
        "Look for Xid 79; power and seating.",
    ),
    _row(
        "gpu.answers", "Does every GPU answer?", errors.answers,
        "A GPU that is lost or hangs takes its jobs with it.",
        "Lost: drain the node, switch it off and on. Hung: reset the GPU, or reboot.",
    ),
    _row(
        "recovery.action", "Does the driver want something done?", errors.recovery,
        "The driver knows when a GPU needs a reset, or the node a reboot, before it can be trusted again.",
        "What the driver names: reset, drain, reboot.",
    ),
    _row(
        "xid.recent", "Are there Xids in the kernel log?", errors.xids,
        "An Xid is how the driver tells of an error. Some are an application's own fault, some want a reset, some "
        "a new board. Xids older than a day count one degree less.",
        "By Xid: the table below.",
    ),
    _row(
        "ecc.errors", "Did memory have errors that ECC could not correct?", memory.ecc_errors,
        "Results that were computed over such an error cannot be trusted.",
        "Reset the GPU; if it comes again, replace the board.",
    ),
    _row(
        "remap.failure", "Did a bad row fail to be replaced?", memory.remap_failure,
        "When the spare rows are used up, the next bad one stays.",
        "Replace the board.",
    ),
    _row(
        "remap.pending", "Does a bad row wait to be replaced?", memory.remap_pending,
        "The spare row is taken at the next reset; until then the bad one is in use.",
        "Reset the GPU when it is idle.",
    ),
    _row(
        "remap.histogram", "Does every bank have spare rows left?", memory.remap_histogram,
        "A bank without spares is an early sign.",
        "Plan to replace the board.",
    ),
    _row(
        "retired", "Are pages retired, or do some wait for it?", memory.retired,
        "How boards before Ampere take bad memory out of use.",
        "Pending: reset or reboot. Many: replace the board.",
    ),
    _row(
        "ecc.off", "Is ECC on where the board has it?", memory.ecc_off,
        "Without ECC a flipped bit is a wrong result that nobody notices.",
        "`nvidia-smi -i N -e 1`, then reset.",
    ),
    _row(
        "ecc.pending", "Is ECC as it will be after a reset?", memory.ecc_pending,
        "A change of ECC waits for a reset.",
        "Reset the GPU, or reboot.",
    ),
    _row(
        "fabric.manager", "Have the GPUs joined the NVLink fabric?", links.fabric,
        "On machines with NVSwitch, CUDA fails with error 802 until the fabric manager has joined the GPUs.",
        "`systemctl enable --now nvidia-fabricmanager`, in the driver's version.",
    ),
    _row(
        "nvlink.down", "Are all NVLinks up that siblings have up?", links.nvlink,
        "One dead link slows every collective of the machine.",
        "`nvidia-smi nvlink --status`; bridge, cables, fabric manager.",
    ),
    _row(
        "pcie.link", "Has every PCIe link its width and generation?", links.pcie,
        "A board that sits badly runs with fewer lanes, and nobody is told. An idle link may be slow, so the "
        "generation is judged at work only.",
        "Reseat board and riser; bifurcation and link speed in the BIOS.",
    ),
    _row(
        "iommu.p2p", "Does an IOMMU stand between GPUs?", links.iommu,
        "Copies from GPU to GPU over PCIe can be slow, or wrong, with an IOMMU or ACS in the way.",
        "If copies are slow or wrong: `iommu=pt`, ACS off.",
    ),
    _row(
        "throttle.hw", "Does the hardware lower the clocks?", thermal.throttle_hw,
        "Thermal slowdown and power brake halve the clocks at once. It counts where every look saw it.",
        "Cooling; power supply and the rack's power cap.",
    ),
    _row(
        "throttle.sw", "Does the driver lower the clocks because of heat?", thermal.throttle_sw,
        "Above its operating temperature a board slows down. A power cap is normal, and is not told here.",
        "Air flow and fans, or a lower power limit.",
    ),
    _row(
        "temp", "Is a board near its limits?", thermal.temperature,
        "Five degrees below the slowdown, or a fan that stands still.",
        "Fans, dust, air flow.",
    ),
    _row(
        "power.limit", "Are limits and clocks as the board has them?", thermal.power_limit,
        "A lower limit may be meant, or forgotten.",
        "`nvidia-smi -i N -pl WATTS`, `-rgc`, `-rac`.",
    ),
    _row(
        "persistence", "Does the driver stay loaded when nobody uses a GPU?", thermal.persistence,
        "Without persistence each first use waits a second or more, and settings are lost.",
        "`systemctl enable --now nvidia-persistenced`.",
    ),
    _row(
        "mem.zombie", "Does all memory in use belong to a process?", processes.leftovers,
        "Forked data loaders keep the memory of a dead rank, and nobody finds it in the list.",
        "`fuser -v /dev/nvidiaN`, end what is left over; in the end a reset.",
    ),
    _row(
        "proc.dstate", "Does a process wait in the kernel?", processes.stuck,
        "A process in state D cannot be ended; it is mostly the GPU that does not answer.",
        "Look for Xids 79, 119 and 120; reset or reboot.",
    ),
    _row(
        "proc.monitors", "Do other monitors keep handles?", processes.monitors,
        "A reset, or a change of MIG, fails while somebody has the GPU open.",
        "Stop them before a reset or a change of MIG.",
    ),
    _row(
        "mps.leak", "Does MPS run for nobody?", processes.idle_mps,
        "The daemon keeps a context on the GPU.",
        "`echo quit | nvidia-cuda-mps-control`.",
    ),
    _row(
        "mig.empty", "Has every GPU in MIG mode an instance?", configuration.mig_empty,
        "In MIG mode a GPU without instances can run nothing.",
        "Create instances, or switch MIG off.",
    ),
    _row(
        "mig.pending", "Does a change of the MIG mode wait?", configuration.mig_pending,
        "On Ampere the mode changes at the next reset, and not before.",
        "Reset the GPU when nothing holds it, or reboot.",
    ),
    _row(
        "mig.service",
        "Do MIG instances outlive a reboot?",
        configuration.mig_service,
        "Instances are lost at a reboot, a reset or a reload of the driver.",
        "`gputop mig service`.",
    ),
    _row(
        "compute.mode", "May several processes use a GPU?", configuration.compute_mode,
        "In an exclusive mode the second process fails.",
        "`nvidia-smi -i N -c 0`.",
    ),
    _row(
        "env.bad", "Do variables stand in the way?", configuration.environment,
        "Of the environment that gputop itself was started in.",
        "Unset the variable.",
    ),
    _row(
        "cuda.version", "Does the installed torch fit the driver?", cuda.torch,
        "Read from the files of the package; torch is not imported. Looked for in the active environment, in that "
        "of gputop, and in the usual places of the system.",
        "Update the driver, or install the torch that fits.",
    ),
    _row(
        "runtime", "Do containers get the GPUs, and keep them?", containers.runtime,
        "Docker's runtime, and CDI specifications that name another driver than the one that is loaded.",
        "`nvidia-ctk runtime configure`, `nvidia-ctk cdi generate`.",
    ),
    _row(
        "gsp", "Is the GPU's firmware that of the driver?", configuration.gsp,
        "The GPU's system processor runs firmware that comes with the driver.",
        "Reinstall the driver with its firmware.",
    ),
    _row(
        "inforom", "Is the InfoROM valid?", configuration.inforom,
        "The board keeps its settings and counters there.",
        "Update the board's firmware; else replace the board.",
    ),
    _row(
        "gputop.plugins", "Did gputop take all of its plugins?", configuration.plugins,
        "A plugin that is broken, or was written for another version of the API, is left out.",
        "`gputop plugins`; update or uninstall it.",
    ),
)  # fmt: skip
CHECKS: Final = joined("checks", _OWN, attrgetter("code"))
