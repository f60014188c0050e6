"""THE CHECKS: one row each, with a stable code, a question, its meaning and a fix."""

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
        "nvml.absent", "Is the driver installed, and does it start?", driver.absent,
        "Without the driver no program can use a GPU. Any of four parts can be missing: the GPU, the driver, the "
        "module for the running kernel, the library.",
        "Depending on the missing part: install the driver, `modprobe nvidia`, build its module for this kernel, "
        "sign it for Secure Boot, or pass the GPUs into the container.",
    ),
    _row(
        "nvml.mismatch", "Do the library and the kernel module have the same version?", driver.mismatch,
        "After an unattended upgrade the new library does not work with the old module: no GPU program starts until "
        "the module is reloaded.",
        "Reload the nvidia modules, or reboot. Exclude the driver from unattended upgrades.",
    ),
    _row(
        "nvml.unknown_in_container", "Can this container still open its GPUs?", containers.lost_access,
        "A daemon-reload makes systemd rewrite the device rules of containers: running containers lose their GPUs, "
        "and NVML reports an unknown error.",
        "Restart the container. On the host, run `nvidia-ctk system create-dev-char-symlinks --create-all` or use CDI.",
    ),
    _row(
        "drv.nouveau", "Has another driver claimed a GPU?", driver.nouveau,
        "If nouveau or nova claims a GPU first, NVIDIA's driver cannot use it.",
        "Blacklist nouveau, rebuild the initramfs, reboot.",
    ),
    _row(
        "drv.vfio", "Are GPUs passed through to virtual machines?", driver.vfio,
        "This system cannot use a GPU that is passed through.",
        "Nothing, if this is intended.",
    ),
    _row(
        "dev.nodes", "Do the device files exist, and can gputop open them?", devices.device_files,
        "CUDA opens /dev/nvidiactl, /dev/nvidia-uvm and one file per GPU.",
        "Run `nvidia-modprobe -u -c 0`, check the files' group and mode, or use `docker run --gpus all`.",
    ),
    _row(
        "gpu.count", "Does the driver see every GPU?", devices.count,
        "A GPU that fell off the bus, or did not start, is missing from the driver's list. Use --expect N, or "
        "expected_gpus in the configuration, to find a GPU that the PCI bus does not show either.",
        "Look for Xid 79; check power and seating.",
    ),
    _row(
        "gpu.answers", "Does every GPU respond?", errors.answers,
        "The jobs on a lost or hung GPU are lost too.",
        "Lost: drain the node, power-cycle it. Hung: reset the GPU, or reboot.",
    ),
    _row(
        "recovery.action", "Does the driver request a recovery action?", errors.recovery,
        "The driver reports when a GPU needs a reset, or the node a reboot, before you can trust it again.",
        "Do what the driver requests: reset, drain or reboot.",
    ),
    _row(
        "xid.recent", "Are there Xids in the kernel log?", errors.xids,
        "The driver reports errors as Xids. Some are an application's own fault, some need a reset, some a new "
        "board. Xids older than a day are one severity lower.",
        "See the table of Xids below.",
    ),
    _row(
        "ecc.errors", "Did uncorrectable memory (ECC) errors occur?", memory.ecc_errors,
        "Results computed after such an error cannot be trusted.",
        "Reset the GPU. If errors return, replace the board.",
    ),
    _row(
        "remap.failure", "Did a memory row remap fail?", memory.remap_failure,
        "When the spare rows are used up, the next bad row stays in use.",
        "Replace the board.",
    ),
    _row(
        "remap.pending", "Is a memory row remap pending?", memory.remap_pending,
        "The bad row stays in use until the next reset replaces it with a spare row.",
        "Reset the GPU when it is idle.",
    ),
    _row(
        "repair.pending", "Is a repair of faulty hardware pending?", memory.repair_pending,
        "The board found a faulty memory channel or TPC. It uses a spare one after the next reset.",
        "Reset the GPU when it is idle.",
    ),
    _row(
        "remap.histogram", "Does every memory bank have spare rows left?", memory.remap_histogram,
        "A bank without spare rows is an early warning.",
        "Plan to replace the board.",
    ),
    _row(
        "retired", "Are memory pages retired, or waiting to be?", memory.retired,
        "Boards before Ampere retire bad memory pages instead of remapping rows.",
        "Pending: reset or reboot. Many: replace the board.",
    ),
    _row(
        "ecc.off", "Is ECC on if the board supports it?", memory.ecc_off,
        "Without ECC a flipped bit makes results wrong, and nothing reports it.",
        "Run `nvidia-smi -i N -e 1`, then reset the GPU.",
    ),
    _row(
        "ecc.pending", "Is an ECC mode change pending?", memory.ecc_pending,
        "An ECC mode change takes effect at the next reset.",
        "Reset the GPU, or reboot.",
    ),
    _row(
        "fabric.manager", "Have the GPUs joined the NVLink fabric?", links.fabric,
        "On machines with NVSwitch, CUDA fails with error 802 until the fabric manager has joined the GPUs.",
        "Run `systemctl enable --now nvidia-fabricmanager`; its version must match the driver's.",
    ),
    _row(
        "nvlink.down", "Are all expected NVLinks up?", links.nvlink,
        "One dead link slows every collective on the host. gputop expects the links that sibling GPUs have up.",
        "Run `nvidia-smi nvlink --status`; check bridge, cables and fabric manager.",
    ),
    _row(
        "pcie.link", "Does every PCIe link run at full width and generation?", links.pcie,
        "A badly seated board runs with fewer lanes without any message. An idle link may be slow, so gputop judges "
        "the generation only of busy GPUs.",
        "Reseat board and riser; check bifurcation and link speed in the BIOS.",
    ),
    _row(
        "iommu.p2p", "Is an IOMMU between the GPUs?", links.iommu,
        "With an IOMMU or ACS, copies from GPU to GPU over PCIe can be slow, or wrong.",
        "If copies are slow or wrong: boot with `iommu=pt`, switch ACS off.",
    ),
    _row(
        "throttle.hw", "Does the hardware reduce the clocks?", thermal.throttle_hw,
        "Thermal slowdown and power brake halve the clocks at once. gputop reports them if every sample has them.",
        "Check cooling, power supply and the rack's power cap.",
    ),
    _row(
        "throttle.sw", "Does the driver reduce the clocks because of heat?", thermal.throttle_sw,
        "Above its operating temperature a GPU slows down. A power cap is normal, so this check ignores it.",
        "Check air flow and fans, or lower the power limit.",
    ),
    _row(
        "temp", "Is a GPU near its temperature limits?", thermal.temperature,
        "gputop warns from 5 °C below the slowdown temperature, and if a fan has stopped on a warm GPU.",
        "Check fans, dust and air flow.",
    ),
    _row(
        "power.limit", "Are power limits and clocks at their defaults?", thermal.power_limit,
        "A lower limit may be intended, or forgotten.",
        "Run `nvidia-smi -i N -pl WATTS`, `-rgc`, `-rac`.",
    ),
    _row(
        "persistence", "Does the driver stay loaded when the GPUs are idle?", thermal.persistence,
        "Without persistence the first use of a GPU waits a second or more, and settings are lost.",
        "Run `systemctl enable --now nvidia-persistenced`.",
    ),
    _row(
        "mem.zombie", "Do running processes account for all memory in use?", processes.leftovers,
        "Exited processes, zombies and unlisted processes can hold memory. For example, forked data loaders hold the "
        "memory of a dead rank.",
        "Run `fuser -v /dev/nvidiaN` and end leftover processes. If that does not help, reset the GPU.",
    ),
    _row(
        "proc.dstate", "Is a GPU process blocked in the kernel?", processes.stuck,
        "A process in state D cannot be ended; usually its GPU does not respond.",
        "Look for Xids 79, 119 and 120; reset or reboot.",
    ),
    _row(
        "proc.monitors", "Do other GPU monitoring programs keep the GPUs open?", processes.monitors,
        "A reset or a MIG change fails while a process has the GPU open.",
        "Stop them before a reset or a MIG change.",
    ),
    _row(
        "mps.leak", "Does MPS run without clients?", processes.idle_mps,
        "The daemon keeps a context on the GPU.",
        "Run `echo quit | nvidia-cuda-mps-control`.",
    ),
    _row(
        "mig.empty", "Does every GPU in MIG mode have an instance?", configuration.mig_empty,
        "In MIG mode no program can use a GPU without instances.",
        "Create instances, or switch MIG off.",
    ),
    _row(
        "mig.pending", "Is a MIG mode change pending?", configuration.mig_pending,
        "On Ampere the mode changes only at the next reset.",
        "Reset the GPU when no process has it open, or reboot.",
    ),
    _row(
        "mig.service",
        "Do MIG instances survive a reboot?",
        configuration.mig_service,
        "A reboot, a reset or a reload of the driver deletes the instances.",
        "Install the unit that `gputop mig service` prints.",
    ),
    _row(
        "compute.mode", "Can several processes use a GPU?", configuration.compute_mode,
        "In an exclusive mode a second process fails.",
        "Run `nvidia-smi -i N -c 0`.",
    ),
    _row(
        "env.bad", "Do environment variables interfere?", configuration.environment,
        "Checks the environment that gputop was started in.",
        "Unset the variable.",
    ),
    _row(
        "cuda.version", "Does the installed torch fit the driver?", cuda.torch,
        "gputop reads the files of the package and does not import torch. It searches the active environment, its "
        "own, and the usual places of the system.",
        "Update the driver, or install a torch that fits.",
    ),
    _row(
        "runtime", "Do containers get the GPUs, and keep them?", containers.runtime,
        "Checks Docker's runtime, and CDI specifications that name another driver than the loaded one.",
        "Run `nvidia-ctk runtime configure` or `nvidia-ctk cdi generate`.",
    ),
    _row(
        "gputop.progress", "Does gputop believe the progress reports of all users?", configuration.progress,
        "gputop ignores a progress folder that belongs to another user, is a link, or can be written by others: "
        "any user can create `/tmp/gputop-UID` for another user.",
        "Remove the folder as root; the user's next report makes it again.",
    ),
    _row(
        "gsp", "Does the GSP firmware match the driver?", configuration.gsp,
        "The GPU System Processor (GSP) runs firmware that comes with the driver.",
        "Reinstall the driver with its firmware.",
    ),
    _row(
        "inforom", "Is the InfoROM valid?", configuration.inforom,
        "The board keeps its settings and counters in the InfoROM.",
        "Update the board's firmware. If that does not help, replace the board.",
    ),
    _row(
        "gputop.plugins", "Did gputop load all of its plugins?", configuration.plugins,
        "gputop does not load a plugin that is broken, or was written for another version of the API. As root it loads "
        "none that another user can change.",
        "Run `gputop plugins` for the reason, then update, uninstall or move the plugin.",
    ),
)  # fmt: skip
CHECKS: Final = joined("checks", _OWN, attrgetter("code"))
