"""Containers: GPUs that were lost at run time, and a runtime that does not pass them in."""

import errno

from gputop.core.doctor.each import unread
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, warn

_UNKNOWN = 999
_LINKS = "$ sudo nvidia-ctk system create-dev-char-symlinks --create-all"


def lost_access(facts: Facts) -> Verdicts:
    """Judge whether this container lost the right to its GPUs: systemd rewrites device cgroups at a reload."""
    if facts.containers is None:
        return unread(facts, "containers")
    if not facts.containers.inside:
        return nothing("not in a container")
    blocked = [file.path for file in facts.files or () if file.error == errno.EPERM]
    if not blocked and not facts.is_up and facts.start.code != _UNKNOWN:
        return nothing("no driver that could have been lost: see nvml.absent")
    if not blocked and not facts.files and facts.start.code != _UNKNOWN:
        return nothing("no device file of a GPU is here: see dev.nodes")
    if not blocked and facts.start.code != _UNKNOWN:
        return ok("the GPUs of this container can be opened")
    evidence = [f"{path}: operation not permitted" for path in blocked]
    if facts.start.code == _UNKNOWN:
        evidence.append("NVML: unknown error (999)")
    return fail(
        "this container has lost the right to its GPUs, mostly after systemctl daemon-reload on the host",
        evidence=evidence,
        fix=(
            "Restart the container. So that it does not come again, on the host:",
            _LINKS,
            "Or pass the GPUs in by CDI (docker run --device nvidia.com/gpu=all), or use the cgroupfs driver.",
        ),
    )


def runtime(facts: Facts) -> Verdicts:
    """Judge whether containers of this machine get its GPUs, and keep them."""
    held = facts.containers
    if held is None:
        return unread(facts, "containers")
    if held.inside:
        return nothing("in a container: it is the host's business")
    if not held.docker and not held.cdi and not held.has_toolkit:
        return nothing("no docker, no container toolkit, no CDI specification")
    found: list[Verdict] = []
    if held.docker and not held.knows_nvidia and not held.cdi:
        found.append(_no_runtime(has_toolkit=held.has_toolkit))
    version = facts.driver.version or (facts.module.version if facts.module else None)
    for spec in held.cdi:
        others = [named for named in spec.versions if version and named != version]
        if others or spec.absent:
            evidence = [f"it names driver {', '.join(others)}, and {version} is loaded"] if others else []
            evidence += [f"it names {path}, which is not there" for path in spec.absent]
            found.append(
                warn(
                    f"{spec.path} is not of this driver: containers with it will not start",
                    evidence=evidence,
                    fix=(f"$ sudo nvidia-ctk cdi generate --output={spec.path}",),
                )
            )
    if held.docker and held.knows_nvidia and not held.has_links and facts.is_up:
        found.append(
            info(
                "containers can lose their GPUs at systemctl daemon-reload",
                evidence=("/dev/char has no links to the device files of the GPUs",),
                fix=(_LINKS,),
            )
        )
    return found or ok("containers get the GPUs")


def _no_runtime(*, has_toolkit: bool) -> Verdict:
    configure = "$ sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
    return warn(
        "docker is here, and does not know NVIDIA's runtime: docker run --gpus fails",
        evidence=(
            f"/etc/docker/daemon.json has no nvidia runtime; nvidia-ctk is {'' if has_toolkit else 'not '}installed",
        ),
        fix=(configure,) if has_toolkit else ("Install nvidia-container-toolkit, then:", configure),
    )
