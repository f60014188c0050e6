"""The owner of a process by /proc/PID/cgroup, which every user can read.

Each rule in order applies to all paths, at every component; the first match decides. Users can create directories with
any name below a cgroup that is delegated to them: ``user@UID.service``, some other services, and containers. A name is
therefore trusted only below slices alone, which systemd creates for root.
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
_RUNTIME_SERVICES: Final = (["system.slice", "containerd.service"],)  # with cgroup drivers that differ
_HEXADECIMAL: Final = "0123456789abcdef"
_UPPER: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UID_LENGTH: Final = 36
_SHORTEST_SLUID: Final = 7


class Cgroup(Struct, frozen=True, kw_only=True):
    """The content of a cgroup. ``kind``: the first match; a container inside a Slurm step is included.

    Kinds: slurm, k8s, docker, podman, containerd, crio, lxc, hidden (a container whose ID is not visible), jupyter,
    user, service, scope, none. ``trusted``: those of the facts slurm, pod, container and unit that only root can write.
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
    trusted: tuple[str, ...] = ()


Parts = list[str]
Rule = Callable[[Parts, int], Cgroup | None]  # the components of a path, and the index of one


def parse_cgroup(text: str) -> Cgroup:
    """Return the content of /proc/PID/cgroup; the kind is none without a match. Never raises."""
    paths = _paths(text)
    found = _first(_RULES, paths) or Cgroup()
    if found.kind != "slurm":
        return found
    inner = _first(_CONTAINERS, paths)
    if inner is None:
        return found
    trusted = (*found.trusted, *inner.trusted)
    return replace(found, runtime=inner.runtime, id=inner.id, pod=inner.pod, trusted=trusted)


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
    """Return the first match; of several matches of the same rule a trusted one goes first."""
    for rule in rules:
        found = [match for parts in paths if (match := _match(rule, parts))]
        if found:
            return next((match for match in found if match.trusted), found[0])
    return None


def _match(rule: Rule, parts: Parts) -> Cgroup | None:
    for at in range(len(parts)):
        found = rule(parts, at)
        if found:
            return replace(found, trusted=_facts(found)) if _is_of_root(parts[:at]) else found
    return None


def _is_of_root(above: Parts) -> bool:
    """Return whether only root can create directories below these components."""
    return all(part.endswith(".slice") for part in above) or above in _RUNTIME_SERVICES


def _facts(found: Cgroup) -> tuple[str, ...]:
    unit = None if found.kind == "user" else found.unit
    facts = {"slurm": found.job or found.sluid, "pod": found.pod, "container": found.id or found.name, "unit": unit}
    return tuple(fact for fact, value in facts.items() if value)


# --- Slurm -------------------------------------------------------------------------------------------------------
def _slurm(parts: Parts, at: int) -> Cgroup | None:
    part, uid = parts[at], None
    if part.endswith("slurmstepd.scope"):
        rest = parts[at + 1 :]
    elif (part == "slurm" or part.startswith("slurm_")) and (uid := _number(parts[at + 1 : at + 2], "uid_")):
        rest = parts[at + 2 :]
    else:
        return None
    job = _number(rest, "job_")
    return Cgroup(kind="slurm", job=job, step=_after(rest[1:], "step_"), uid=int(uid) if uid else None) if job else None


def _slurm_sluid(parts: Parts, at: int) -> Cgroup | None:
    name = "".join(parts[at + 1 : at + 2])
    is_sluid = len(name) >= _SHORTEST_SLUID and name[0] == "s" and _is_of(name[1:], _UPPER)
    if not is_sluid or not parts[at].endswith("slurmstepd.scope"):
        return None
    return Cgroup(kind="slurm", sluid=name, step=_after(parts[at + 2 :], "step_"))


# --- containers --------------------------------------------------------------------------------------------------
def _pod_of_systemd(parts: Parts, at: int) -> Cgroup | None:
    name, *inner = parts[at].split(":")
    _, cut, uid = name.removesuffix(".slice").rpartition("-pod")
    pod = _pod_uid(uid) if cut and "kubepods" in name and name.endswith(".slice") else None
    return _in_pod(pod, inner or parts[at + 1 : at + 2]) if pod else None


def _pod_of_cgroupfs(parts: Parts, at: int) -> Cgroup | None:
    if parts[at] != "kubepods":
        return None
    rest = parts[at + 1 :]
    if rest[:1] in (["burstable"], ["besteffort"], ["guaranteed"]):
        rest = rest[1:]
    uid = _pod_uid(rest[0][3:]) if rest and rest[0].startswith("pod") else None
    return _in_pod(uid, rest[1:2]) if uid else None


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


def _container(parts: Parts, at: int) -> Cgroup | None:
    if parts[at] == "docker" and parts[at + 1 :] and _is_id(parts[at + 1].removesuffix(".scope")):
        return Cgroup(kind="docker", runtime="docker", id=parts[at + 1].removesuffix(".scope"))
    name = parts[at].removesuffix(".scope")
    for prefix, runtime in _RUNTIMES.items():
        if name.startswith(prefix) and _is_id(name[len(prefix) :]):
            return Cgroup(kind=runtime, runtime=runtime, id=name[len(prefix) :])
    return None


def _lxc(parts: Parts, at: int) -> Cgroup | None:
    if parts[at].startswith("lxc.payload."):
        return Cgroup(kind="lxc", runtime="lxc", name=parts[at].removeprefix("lxc.payload."))
    if parts[at] == "lxc" and parts[at + 1 :]:
        return Cgroup(kind="lxc", runtime="lxc", name=parts[at + 1])
    return None


def _bare_id(parts: Parts, at: int) -> Cgroup | None:
    return Cgroup(kind="docker", runtime="docker", id=parts[at]) if len(parts) == 1 and _is_id(parts[at]) else None


# --- systemd -----------------------------------------------------------------------------------------------------
def _jupyter(parts: Parts, at: int) -> Cgroup | None:
    part = parts[at]
    if not part.startswith("jupyter-") or not part.endswith(".service"):
        return None
    name = part.removeprefix("jupyter-").removesuffix(".service").removesuffix("-singleuser")
    return Cgroup(kind="jupyter", name=name, unit=part)


def _user(parts: Parts, at: int) -> Cgroup | None:
    uid = _number([parts[at].removesuffix(".slice")], "user-")
    if not uid or not parts[at].endswith(".slice"):
        return None
    rest = parts[at + 1 :]
    if rest and rest[0].startswith("session-") and rest[0].endswith(".scope"):
        return Cgroup(kind="user", uid=int(uid), login=rest[0].removeprefix("session-").removesuffix(".scope"))
    unit = _unit(rest[1:]) if rest[:1] == [f"user@{uid}.service"] else None
    return Cgroup(kind="user", uid=int(uid), unit=unit) if unit and unit.endswith((".scope", ".service")) else None


def _service(parts: Parts, at: int) -> Cgroup | None:
    unit = _unit(parts[at + 1 :]) if parts[at] == "system.slice" else None
    return Cgroup(kind="service", unit=unit) if unit and unit.endswith(".service") else None


def _scope(parts: Parts, at: int) -> Cgroup | None:
    return Cgroup(kind="scope", unit=parts[at]) if parts[at].endswith(".scope") else None


def _hidden(parts: Parts, at: int) -> Cgroup | None:
    """Return the kind hidden for a path above the root of gputop's cgroup namespace."""
    return Cgroup(kind="hidden", runtime="container") if parts[at] == ".." else None


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
