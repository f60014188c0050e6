"""The owner of a process by /proc/PID/cgroup, which every user can read and the process cannot write.

A path is read component by component. Each rule in order applies to all paths; the first match decides.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

_RUNTIMES: Final = {
    "docker-": "docker",
    "libpod-": "podman",  # libpod-conmon-<id> is podman's monitor, not a container
    "nerdctl-": "containerd",
    "cri-containerd-": "containerd",
    "crio-": "crio",
}
_POD_RUNTIMES: Final = ("cri-containerd", "crio", "docker", "libpod")
_HEXADECIMAL: Final = "0123456789abcdef"
_UPPER: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UID_LENGTH: Final = 36
_SHORTEST_SLUID: Final = 7


class Cgroup(Struct, frozen=True, kw_only=True):
    """The content of a cgroup. ``kind``: the first match; a container inside a Slurm step is included.

    Kinds: slurm, k8s, docker, podman, containerd, crio, lxc, hidden (a container whose ID is not visible), jupyter,
    user, service, scope, none.
    """

    kind: str = "none"
    runtime: str | None = None
    id: str | None = None
    pod: str | None = None
    job: str | None = None
    step: str | None = None
    sluid: str | None = None
    uid: int | None = None
    login: str | None = None
    unit: str | None = None
    name: str | None = None


Parts = list[str]
Rule = Callable[[Parts], Cgroup | None]


def parse_cgroup(text: str) -> Cgroup:
    """Return the content of /proc/PID/cgroup; the kind is none without a match. Never raises."""
    paths = _paths(text)
    found = _first(_RULES, paths) or Cgroup()
    if found.kind != "slurm":
        return found
    inner = _first(_CONTAINERS, paths)
    return replace(found, runtime=inner.runtime, id=inner.id, pod=inner.pod) if inner else found


def _paths(text: str) -> list[Parts]:
    """Return the paths without duplicates: those of v2 and systemd first, then the longest."""
    is_first: dict[str, bool] = {}
    for line in text.splitlines():
        _, colon, rest = line.partition(":")
        controllers, second, path = rest.partition(":")
        if colon and second and path.startswith("/"):
            is_first[path] = is_first.get(path, False) or controllers in {"", "name=systemd"}
    ordered = sorted(is_first, key=lambda path: (not is_first[path], -len(path)))
    return [[part for part in path.split("/") if part] for path in ordered]


def _first(rules: tuple[Rule, ...], paths: list[Parts]) -> Cgroup | None:
    return next((found for rule in rules for parts in paths if (found := rule(parts))), None)


# --- Slurm -------------------------------------------------------------------------------------------------------
def _slurm(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts):
        if part.endswith("slurmstepd.scope"):
            uid, rest = None, parts[at + 1 :]
        elif (part == "slurm" or part.startswith("slurm_")) and (uid := _number(parts[at + 1 : at + 2], "uid_")):
            rest = parts[at + 2 :]
        else:
            continue
        job = _number(rest, "job_")
        if job:
            return Cgroup(kind="slurm", job=job, step=_after(rest[1:], "step_"), uid=int(uid) if uid else None)
    return None


def _slurm_sluid(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts[:-1]):
        name = parts[at + 1]
        is_sluid = len(name) >= _SHORTEST_SLUID and name[0] == "s" and _is_of(name[1:], _UPPER)
        if is_sluid and part.endswith("slurmstepd.scope"):
            return Cgroup(kind="slurm", sluid=name, step=_after(parts[at + 2 :], "step_"))
    return None


# --- containers --------------------------------------------------------------------------------------------------
def _pod_of_systemd(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts):
        name, *inner = part.split(":")
        _, cut, uid = name.removesuffix(".slice").rpartition("-pod")
        pod = _pod_uid(uid) if cut and "kubepods" in name and name.endswith(".slice") else None
        found = _in_pod(pod, inner or parts[at + 1 : at + 2]) if pod else None
        if found:
            return found
    return None


def _pod_of_cgroupfs(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts):
        if part == "kubepods":
            rest = parts[at + 1 :]
            if rest[:1] in (["burstable"], ["besteffort"], ["guaranteed"]):
                rest = rest[1:]
            if rest and rest[0].startswith("pod") and (uid := _pod_uid(rest[0][3:])):
                return _in_pod(uid, rest[1:2])
    return None


def _in_pod(uid: str, names: Parts) -> Cgroup | None:
    """Return the container of a pod. ``names``: runtime and ID, or both in one."""
    if not names:
        return None
    runtime = names[0] if len(names) == 2 and names[0] in _POD_RUNTIMES else None
    name = names[-1].removesuffix(".scope")
    for prefix in _POD_RUNTIMES:
        if name.startswith(prefix + "-"):
            runtime, name = prefix, name[len(prefix) + 1 :]
    return Cgroup(kind="k8s", runtime=runtime, id=name, pod=uid) if _is_id(name) else None


def _container(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts):
        if part == "docker" and parts[at + 1 :] and _is_id(parts[at + 1].removesuffix(".scope")):
            return Cgroup(kind="docker", runtime="docker", id=parts[at + 1].removesuffix(".scope"))
        name = part.removesuffix(".scope")
        for prefix, runtime in _RUNTIMES.items():
            if name.startswith(prefix) and _is_id(name[len(prefix) :]):
                return Cgroup(kind=runtime, runtime=runtime, id=name[len(prefix) :])
    return None


def _lxc(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts):
        if part.startswith("lxc.payload."):
            return Cgroup(kind="lxc", runtime="lxc", name=part.removeprefix("lxc.payload."))
        if part == "lxc" and parts[at + 1 :]:
            return Cgroup(kind="lxc", runtime="lxc", name=parts[at + 1])
    return None


def _bare_id(parts: Parts) -> Cgroup | None:
    return Cgroup(kind="docker", runtime="docker", id=parts[0]) if len(parts) == 1 and _is_id(parts[0]) else None


# --- systemd -----------------------------------------------------------------------------------------------------
def _jupyter(parts: Parts) -> Cgroup | None:
    for part in parts:
        if part.startswith("jupyter-") and part.endswith(".service"):
            name = part.removeprefix("jupyter-").removesuffix(".service").removesuffix("-singleuser")
            return Cgroup(kind="jupyter", name=name, unit=part)
    return None


def _user(parts: Parts) -> Cgroup | None:
    for at, part in enumerate(parts):
        uid = _number([part.removesuffix(".slice")], "user-")
        if not uid or not part.endswith(".slice"):
            continue
        rest = parts[at + 1 :]
        if rest and rest[0].startswith("session-") and rest[0].endswith(".scope"):
            return Cgroup(kind="user", uid=int(uid), login=rest[0].removeprefix("session-").removesuffix(".scope"))
        unit = _unit(rest[1:]) if rest[:1] == [f"user@{uid}.service"] else None
        if unit and unit.endswith((".scope", ".service")):
            return Cgroup(kind="user", uid=int(uid), unit=unit)
    return None


def _service(parts: Parts) -> Cgroup | None:
    unit = _unit(parts[parts.index("system.slice") + 1 :]) if "system.slice" in parts else None
    return Cgroup(kind="service", unit=unit) if unit and unit.endswith(".service") else None


def _scope(parts: Parts) -> Cgroup | None:
    unit = next((part for part in parts if part.endswith(".scope")), None)
    return Cgroup(kind="scope", unit=unit) if unit else None


def _hidden(parts: Parts) -> Cgroup | None:
    """Return the kind hidden for a path above the root of gputop's cgroup namespace."""
    return Cgroup(kind="hidden", runtime="container") if ".." in parts else None


def _unit(parts: Parts) -> str | None:
    """Return the first component that is not a slice."""
    return next((part for part in parts if not part.endswith(".slice")), None)


# --- words -------------------------------------------------------------------------------------------------------
def _after(parts: Parts, prefix: str) -> str | None:
    """Return the rest of the first component after the prefix."""
    return parts[0][len(prefix) :] or None if parts and parts[0].startswith(prefix) else None


def _number(parts: Parts, prefix: str) -> str | None:
    text = _after(parts, prefix)
    return text if text and text.isascii() and text.isdecimal() else None


def _is_id(text: str) -> bool:
    return len(text) in {64, 32} and _is_of(text, _HEXADECIMAL)


def _is_of(text: str, characters: str) -> bool:
    return not text.strip(characters)


def _pod_uid(text: str) -> str | None:
    """Return the UID of a pod as Kubernetes writes it; that of a static pod has no dashes."""
    uid = text.replace("_", "-")
    if len(uid) == 32 and _is_of(uid, _HEXADECIMAL):
        return uid
    return uid if len(uid) == _UID_LENGTH and uid[8] == "-" and _is_of(uid, _HEXADECIMAL + "-") else None


_CONTAINERS: Final[tuple[Rule, ...]] = (_pod_of_systemd, _pod_of_cgroupfs, _container, _lxc, _bare_id)
_RULES: Final[tuple[Rule, ...]] = (_slurm, _slurm_sluid, *_CONTAINERS, _jupyter, _user, _service, _scope, _hidden)
