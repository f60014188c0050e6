"""Other programs that configure MIG on this host, and may undo or miss a change by gputop."""

import os
from collections.abc import Callable
from typing import Final

from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files

_MANAGER: Final = (
    "NVIDIA's MIG manager runs here and restores the layout in the node's label. Change the label instead: "
    "kubectl label node $(hostname) nvidia.com/mig.config=NAME --overwrite"
)
_PLUGIN: Final = "a Kubernetes device plugin offers these GPUs to pods: drain the node, then restart its pod"
_KUBELET: Final = "this is a Kubernetes node: restart the device plugin so that the scheduler sees new instances"
_SLURM: Final = "slurmd runs here: drain the node first, and restart slurmd afterwards (gres.conf, AutoDetect)"
_PROCESSES: Final = (  # by the beginning of the name of a process, 15 signs at the most
    ("nvidia-mig-mana", _MANAGER),
    ("mig-parted", "mig-parted is running on this host right now"),
    ("nvidia-device-p", _PLUGIN),
    ("gpu-kubelet-plu", _PLUGIN),
    ("slurmd", _SLURM),
)
_FILES: Final = (
    ("/etc/systemd/system/multi-user.target.wants/nvidia-mig-manager.service",
     "nvidia-mig-manager.service is enabled: at the next boot it applies its own configuration"),
    ("/run/nvidia/validations", "the GPU operator manages this node; its MIG manager may undo a change"),
    ("/var/lib/kubelet/device-plugins/kubelet.sock", _KUBELET),
)  # fmt: skip


def overseers(proc: Proc, exists: Callable[[str], bool] = os.path.exists) -> tuple[str, ...]:
    """Return warnings about other MIG managers, most serious first."""
    names = [Files(proc).text(f"{entry}/comm") or "" for entry in proc.list(".") if entry.isdecimal()]
    found = [text for begin, text in _PROCESSES if any(name.startswith(begin) for name in names)]
    found += [text for path, text in _FILES if exists(path)]
    if _PLUGIN in found or _MANAGER in found:
        found = [text for text in found if text != _KUBELET]
    return tuple(dict.fromkeys(found))
