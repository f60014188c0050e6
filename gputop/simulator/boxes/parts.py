"""Common parts of the boxes: users, system processes, usual threads, cgroup paths."""

from typing import Final

from gputop.simulator.curve import Curve, noise
from gputop.simulator.plan import ProcessPlan, ThreadPlan

GIB: Final = 1024.0**3
MIB: Final = 1024.0**2
HOUR: Final = 3600.0
DAY: Final = 86_400.0

ANN, BOB, CHEN, DORA = 1001, 1002, 1003, 1004
USERS: Final = {0: "root", ANN: "ann", BOB: "bob", CHEN: "chen", DORA: "dora"}


def gib(amount: float) -> Curve:
    """Return a constant amount of memory."""
    return Curve(amount * GIB)


def mib(amount: float) -> Curve:
    """Return a constant amount of memory."""
    return Curve(amount * MIB)


def threads(main: float, *, seed: int = 0, helpers: float = 0.0, idle: int = 0) -> tuple[ThreadPlan, ...]:
    """Return a main thread, a helper thread, and some sleeping ones; CPU in cores."""
    usual = [ThreadPlan(cpu=Curve(main, noise(min(main, 1 - main) * 0.7, seed)))]
    if helpers:
        usual.append(ThreadPlan(cpu=Curve(helpers, noise(helpers * 0.3, seed + 1)), in_kernel=0.2))
    if idle:
        usual.append(ThreadPlan(cpu=Curve(), count=idle))
    return tuple(usual)


def system(uptime_s: float) -> tuple[ProcessPlan, ...]:
    """Return the processes of every box: init, a kernel thread, and the usual services."""
    services = (
        (2, 0, (), "kthreadd"),
        (1184, 1, ("/usr/sbin/sshd", "-D"), "sshd"),
        (1203, 1, ("/usr/bin/containerd",), "containerd"),
        (1260, 1, ("/usr/bin/nvidia-persistenced", "--verbose"), "nvidia-persiste"),
    )
    first = ProcessPlan(pid=1, parent=0, command=("/sbin/init",), name="systemd", uid=0, age_s=uptime_s - 1)
    return (
        first,
        *(
            ProcessPlan(
                pid=pid, parent=parent, command=command, name=name, uid=0, age_s=uptime_s - 1 - pid / 200,
                memory=mib(24 if command else 0), cgroup=f"/system.slice/{name}.service" if command else "/",
            )
            for pid, parent, command, name in services
        ),
    )  # fmt: skip


def docker(seed: str) -> str:
    """Return the cgroup of a container."""
    return f"/system.slice/docker-{container_id(seed)}.scope"


def pod(seed: str) -> str:
    """Return the cgroup of a container in a burstable Kubernetes pod."""
    digits = container_id(seed + "pod")
    uid = f"{digits[:8]}_{digits[8:12]}_{digits[12:16]}_{digits[16:20]}_{digits[20:32]}"
    container = container_id(seed)
    return (
        f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid}.slice/cri-containerd-{container}.scope"
    )


def container_id(seed: str) -> str:
    """Return 64 hexadecimal digits."""
    state, digits = 7, ""
    for character in (seed * 64)[:64]:
        state = (state * 31 + ord(character)) % 65_521
        digits += f"{state % 16:x}"
    return digits
