"""Names of containers and pods, from files of their runtimes, without calling a daemon. Most need root."""

from typing import Final, Protocol

from msgspec import DecodeError, Struct, field
from msgspec.json import decode as decode_json

from gputop.core.text.text import clean
from gputop.machine.proc.root import Files, RealRoot

_MOST_REMEMBERED: Final = 2048
_DOCKER: Final = "var/lib/docker/containers/{}/config.v2.json"
_PODMAN: Final = "var/lib/containers/storage/overlay-containers/containers.json"
_CONTAINER_LOGS: Final = "var/log/containers"  # <pod>_<namespace>_<container>-<id>.log, written by the kubelet
_POD_LOGS: Final = "var/log/pods"  # <namespace>_<pod>_<uid>


class PodName(Struct, frozen=True):
    """Name and namespace of a pod."""

    name: str
    namespace: str


class Names(Protocol):
    """A source of names."""

    def container(self, runtime: str, container_id: str) -> str | None:
        """Return the name of a container."""
        ...

    def pod(self, uid: str, container_id: str) -> PodName | None:
        """Return the name of a pod, by its uid or by one of its containers."""
        ...


class _DockerConfig(Struct):
    name: str = field(default="", name="Name")


class _PodmanContainer(Struct):
    id: str = ""
    names: list[str] = []


class ContainerFiles:
    """Reads each name once; a container without a name keeps none. Never raises."""

    def __init__(self, root: str = "/") -> None:
        self._root = RealRoot(root)
        self._containers: dict[str, str | None] = {}
        self._pods: dict[str, PodName | None] = {}

    def container(self, runtime: str, container_id: str) -> str | None:
        """Return the name of a container; None if it has none, or the name is not readable."""
        if container_id not in self._containers:
            if len(self._containers) >= _MOST_REMEMBERED:
                self._containers.clear()
            name = self._read_name(runtime, container_id)
            self._containers[container_id] = clean(name) if name else None
        return self._containers[container_id]

    def pod(self, uid: str, container_id: str) -> PodName | None:
        """Return the name of a pod from the kubelet's logs."""
        if uid not in self._pods:
            if len(self._pods) >= _MOST_REMEMBERED:
                self._pods.clear()
            self._pods[uid] = self._pod_of_logs(uid) or self._pod_of_container(container_id)
        return self._pods[uid]

    def _read_name(self, runtime: str, container_id: str) -> str | None:
        try:
            if runtime == "docker":
                config = decode_json(self._root.read(_DOCKER.format(container_id)), type=_DockerConfig)
                return config.name.lstrip("/")
            if runtime == "podman":
                held = decode_json(self._root.read(_PODMAN), type=list[_PodmanContainer])
                return next((one.names[0] for one in held if one.id == container_id and one.names), None)
        except (OSError, DecodeError, UnicodeDecodeError, RecursionError):
            return None
        parts = self._log_of(container_id)
        return parts[2] if parts else None

    def _pod_of_logs(self, uid: str) -> PodName | None:
        for entry in Files(self._root).names(_POD_LOGS):
            namespace, _, rest = entry.partition("_")
            if rest.endswith("_" + uid):
                return PodName(clean(rest.removesuffix("_" + uid)), clean(namespace))
        return None

    def _pod_of_container(self, container_id: str) -> PodName | None:
        parts = self._log_of(container_id)
        return PodName(clean(parts[0]), clean(parts[1])) if parts else None

    def _log_of(self, container_id: str) -> list[str] | None:
        """Return pod, namespace and container of a log."""
        end = f"-{container_id}.log"
        for entry in Files(self._root).names(_CONTAINER_LOGS):
            parts = entry.removesuffix(end).split("_", 2) if entry.endswith(end) else []
            if len(parts) == 3:
                return parts
        return None
