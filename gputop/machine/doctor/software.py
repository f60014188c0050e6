"""Reader of container runtimes and installed torch packages, from files only; it imports and starts nothing."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import DecodeError
from msgspec.json import decode

from gputop.core.doctor.facts import Cdi, Containers, Torch
from gputop.core.processes.cgroup import parse_cgroup
from gputop.core.text.text import clean
from gputop.machine.proc.root import Files, Root

_CDI_FOLDERS: Final = ("etc/cdi", "run/cdi")
_CDI_VERSION: Final = re.compile(r"lib(?:cuda|nvidia-ml)\.so\.(\d{3,}\.\d+(?:\.\d+)?)")
_CDI_DEVICE: Final = re.compile(r"/dev/(nvidia\d+)\b")
_CONTAINERS: Final = frozenset({"docker", "podman", "containerd", "crio", "lxc", "k8s"})
_DOCKER: Final = ("usr/bin/dockerd", "usr/local/bin/dockerd", "usr/sbin/dockerd")
_CTK: Final = ("usr/bin/nvidia-ctk", "usr/local/bin/nvidia-ctk", "usr/local/nvidia/toolkit/nvidia-ctk")
_GPU_MAJOR: Final = "195:"
_TORCH: Final = re.compile(r"torch-([0-9][^-]*)\.dist-info")
_CUDA: Final = re.compile(r"^cuda\b[^=\n]*=\s*['\"](\d+\.\d+)", re.MULTILINE)
_TAG: Final = re.compile(r"\+cu(\d{2})(\d)$")
_PLACES: Final = (
    "usr/lib/python3/dist-packages",
    "usr/local/lib/python3*/dist-packages",
    "usr/lib/python3*/site-packages",
)


def containers(root: Root, environment: Mapping[str, str]) -> Containers:
    """Return whether gputop runs in a container, and how containers on this host get GPUs."""
    files = Files(root)
    return Containers(
        inside=_inside(files, environment),
        docker=any(files.has(path) for path in _DOCKER),
        knows_nvidia=_knows_nvidia(files.text("etc/docker/daemon.json")),
        has_toolkit=any(files.has(path) for path in _CTK),
        has_links=any(name.startswith(_GPU_MAJOR) for name in files.names("dev/char")),
        cdi=tuple(_cdi(files)),
    )


def services(root: Root) -> tuple[str, ...]:
    """Return the units that start at boot; empty without systemd. Raises OSError."""
    try:
        return tuple(clean(name) for name in root.list("etc/systemd/system/multi-user.target.wants"))
    except FileNotFoundError:
        return ()


def torches(root: Root, environment: Mapping[str, str], paths: Iterable[str]) -> tuple[Torch, ...]:
    """Return every torch in the active environment, in ``paths`` and in the usual places of the system."""
    files = Files(root)
    prefixes = [environment[name].strip("/") for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environment.get(name)]
    home = environment.get("HOME", "").strip("/")
    patterns = [f"{prefix}/lib/python3*/site-packages" for prefix in prefixes]
    patterns += [f"{home}/.local/lib/python3*/site-packages"] if home else []
    patterns += [path.strip("/") for path in paths if path] + list(_PLACES)
    folders = dict.fromkeys(folder for pattern in patterns for folder in _folders(files, pattern))
    return tuple(torch for folder in folders for torch in _torches(files, folder))


def _inside(files: Files, environment: Mapping[str, str]) -> str:
    cgroup = parse_cgroup(files.text("proc/self/cgroup") or "")
    if environment.get("KUBERNETES_SERVICE_HOST") or cgroup.pod:
        return "kubernetes"
    if files.has(".dockerenv"):
        return "docker"
    if files.has("run/.containerenv"):
        return "podman"
    if environment.get("APPTAINER_CONTAINER") or environment.get("SINGULARITY_CONTAINER"):
        return "apptainer"
    return (cgroup.runtime or cgroup.kind) if cgroup.kind in _CONTAINERS else ""


def _knows_nvidia(text: str | None) -> bool:
    """Say whether docker's configuration has an NVIDIA runtime."""
    try:
        held = decode((text or "{}").encode(), type=dict[str, object])
    except (DecodeError, RecursionError):
        return False
    runtimes = held.get("runtimes")
    return isinstance(runtimes, dict) and any("nvidia" in name for name in runtimes)


def _cdi(files: Files) -> Iterable[Cdi]:
    there = set(files.names("dev"))
    for folder in _CDI_FOLDERS:
        for name in files.names(folder):
            text = files.text(f"{folder}/{name}") if name.endswith((".yaml", ".yml", ".json")) else None
            if text is None or "nvidia.com/gpu" not in text:
                continue
            versions = dict.fromkeys(_CDI_VERSION.findall(text))
            absent = [device for device in dict.fromkeys(_CDI_DEVICE.findall(text)) if device not in there]
            yield Cdi(
                path=f"/{folder}/{clean(name)}",
                versions=tuple(versions),
                absent=tuple(f"/dev/{device}" for device in absent),
            )


def _folders(files: Files, pattern: str) -> list[str]:
    """Return the folders that match a path with one star at the end of a name."""
    before, star, after = pattern.partition("*")
    if not star:
        return [pattern]
    folder, _, start = before.rpartition("/")
    return [f"{folder}/{name}{after}" for name in files.names(folder) if name.startswith(start)]


def _torches(files: Files, folder: str) -> Iterable[Torch]:
    for name in files.names(folder):
        found = _TORCH.fullmatch(name)
        if found is None:
            continue
        cuda_version = _CUDA.search(files.text(f"{folder}/torch/version.py") or "")
        tag = _TAG.search(found[1])
        cuda = cuda_version[1] if cuda_version else f"{tag[1]}.{tag[2]}" if tag else None
        yield Torch(path=f"/{clean(folder)}", version=clean(found[1]), cuda=cuda)
