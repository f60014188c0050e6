"""The rights that a MIG change needs, and how to get them."""

import os
from typing import Final

from msgspec import Struct

from gputop.core.mig.steps import StepKind
from gputop.machine.proc.root import Files, RealRoot

_CONFIG: Final = "/proc/driver/nvidia/capabilities/mig/config"
_NODE: Final = "/dev/nvidia-caps/nvidia-cap"
_SYS_ADMIN: Final = 21


class Right(Struct, frozen=True):
    """A missing right, and how to get it."""

    detail: str
    remedy: str


def right_for(
    kind: StepKind, *, euid: int | None = None, config: str = _CONFIG, status: str = "/proc/self/status"
) -> Right:
    """Return the right that a step needs, after the driver has refused it."""
    is_root = (os.geteuid() if euid is None else euid) == 0
    if kind in (StepKind.ENABLE, StepKind.DISABLE):
        return _mode(status, is_root=is_root)
    node = _config_node(config)
    detail = f"creating, destroying and listing instances needs root, or read access to {node}"
    if is_root:
        return Right(
            f"{detail}; root in this container does not have it",
            "Start the container with --cap-add SYS_ADMIN and NVIDIA_MIG_CONFIG_DEVICES=all, or run gputop outside.",
        )
    return Right(
        detail, f"Run the same command with sudo, or have an administrator run: sudo setfacl -m u:$USER:r {node}"
    )


def reading_right(config: str = _CONFIG) -> Right:
    """Return the right that reading placements needs."""
    node = _config_node(config)
    return Right(f"reading placements needs root, or read access to {node}", "Run the same command with sudo.")


def _mode(status: str, *, is_root: bool) -> Right:
    detail = "turning MIG on or off needs CAP_SYS_ADMIN"
    if is_root and _has_sys_admin(status):
        return Right(
            f"the driver refuses although gputop has CAP_SYS_ADMIN: {detail}",
            "Run gputop outside of the container or VM.",
        )
    if is_root:
        return Right(
            f"{detail}; root in this container does not have it", "Start the container with --cap-add SYS_ADMIN."
        )
    return Right(f"{detail}, which root has", "Run the same command with sudo.")


def _config_node(config: str) -> str:
    """Return the device file that grants the right to configure MIG; the driver chooses its number."""
    number = _field(config, "DeviceFileMinor")
    return f"{_NODE}{number if number.isdigit() else 1}"


def _has_sys_admin(status: str) -> bool:
    return bool(int(_field(status, "CapEff") or "0", 16) >> _SYS_ADMIN & 1)


def _field(path: str, name: str) -> str:
    """Return the value of a line like ``CapEff: 0``; empty if there is none."""
    lines = (Files(RealRoot()).text(path) or "").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
