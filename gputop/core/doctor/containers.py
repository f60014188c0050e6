"""Checks of containers: access lost at run time, and a runtime that does not pass GPUs in."""

import errno

from gputop.core.doctor.each import unread
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, warn

_UNKNOWN = 999
_LINKS = "$ sudo nvidia-ctk system create-dev-char-symlinks --create-all"


def lost_access(facts: Facts) -> Verdicts:
    """Judge whether this container lost access to its GPUs: systemd rewrites device cgroups at a reload."""
    if facts.containers is None:
        return unread(facts, "containers")
    if not facts.containers.inside:
        return nothing("not in a container")
    blocked = [file.path for file in facts.files or () if file.error == errno.EPERM]
    if not blocked and not facts.is_up and facts.start.code != _UNKNOWN:
        return nothing("no driver here: see nvml.absent")
    if not blocked and not facts.files and facts.start.code != _UNKNOWN:
        return nothing("no GPU device files here: see dev.nodes")
    if not blocked and facts.start.code != _UNKNOWN:
        return ok("this container can open its GPUs")
    evidence = [f"{path}: operation not permitted" for path in blocked]
    if facts.start.code == _UNKNOWN:
        evidence.append("NVML: unknown error (999)")
    return fail(
        "this container lost access to its GPUs, usually after systemctl daemon-reload on the host",
        evidence=evidence,
        fix=(
            "Restart the container. To prevent this from happening again, run on the host:",
            _LINKS,
            "Or pass the GPUs in with CDI (docker run --device nvidia.com/gpu=all), or use the cgroupfs driver.",
        ),
    )


def runtime(facts: Facts) -> Verdicts:
    """Judge whether containers on this host get its GPUs, and keep them."""
    containers = facts.containers
    if containers is None:
        return unread(facts, "containers")
    if containers.inside:
        return nothing("in a container: check this on the host")
    if not containers.docker and not containers.cdi and not containers.has_toolkit:
        return nothing("no docker, no container toolkit, no CDI specification")
    found: list[Verdict] = []
    if containers.docker and not containers.knows_nvidia and not containers.cdi:
        found.append(_no_runtime(has_toolkit=containers.has_toolkit))
    version = facts.driver.version or (facts.module.version if facts.module else None)
    for spec in containers.cdi:
        others = [named for named in spec.versions if version and named != version]
        if others or spec.absent:
            evidence = [f"it names driver {', '.join(others)}, but {version} is loaded"] if others else []
            evidence += [f"it names {path}, which does not exist" for path in spec.absent]
            found.append(
                warn(
                    f"{spec.path} does not match this driver: containers that use it will not start",
                    evidence=evidence,
                    fix=(f"$ sudo nvidia-ctk cdi generate --output={spec.path}",),
                )
            )
    if containers.docker and containers.knows_nvidia and not containers.has_links and facts.is_up:
        found.append(
            info(
                "containers can lose their GPUs after systemctl daemon-reload",
                evidence=("/dev/char has no links to the GPU device files",),
                fix=(_LINKS,),
            )
        )
    return found or ok("containers get the GPUs")


def _no_runtime(*, has_toolkit: bool) -> Verdict:
    configure = "$ sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
    return warn(
        "docker run --gpus fails: docker is installed, but NVIDIA's runtime is not configured",
        evidence=(
            f"/etc/docker/daemon.json has no nvidia runtime; nvidia-ctk is {'' if has_toolkit else 'not '}installed",
        ),
        fix=(configure,) if has_toolkit else ("Install nvidia-container-toolkit, then:", configure),
    )
