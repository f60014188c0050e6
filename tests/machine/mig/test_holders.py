"""Who keeps a GPU, who else configures it, and which right is missing."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from gputop.core.mig.steps import StepKind
from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.machine.mig.holders import HolderReader
from gputop.machine.mig.managers import overseers
from gputop.machine.mig.rights import reading_right, right_for


class Box:
    """A /proc of a few processes with open files."""

    def __init__(self, uid: int = 7, **processes: tuple[str, tuple[str, ...] | None]) -> None:
        self.uid = uid
        self.processes = {name.removeprefix("p"): held for name, held in processes.items()}

    def read(self, path: str) -> bytes:
        pid, _, name = path.partition("/")
        if pid not in self.processes or name not in ("comm", "cmdline", "status"):
            raise FileNotFoundError(path)
        comm = self.processes[pid][0]
        return {
            "comm": comm + "\n",
            "cmdline": f"/usr/bin/{comm}\0--flag\0",
            "status": f"Name:\tx\nUid:\t{self.uid}\n",
        }[name].encode()

    def list(self, path: str) -> list[str]:
        if path == ".":
            return [*self.processes, "meminfo"]
        links = self.processes[path.partition("/")[0]][1]
        if links is None:
            raise PermissionError(path)
        return [str(n) for n in range(len(links))]

    def link(self, path: str) -> str:
        pid, _, number = path.partition("/fd/")
        links = self.processes[pid][1] or ()
        return links[int(number)]


def reader(box: Box, owner: Owner | None = None) -> HolderReader:
    return HolderReader(box, lambda uid: f"user{uid}", lambda _: owner or Owner(), 99)  # type: ignore[arg-type]


def test_whoever_has_the_device_file_open_is_found_with_what_ends_it() -> None:
    box = Box(
        uid=0,
        p10=("python", ("/dev/null", "/dev/nvidia2")),
        p11=("nv-hostengine", ("/dev/nvidia2",)),
        p12=("python", ("/dev/nvidia20", "/dev/nvidiactl")),
        p13=("nvidia-persiste", ("/dev/nvidia2",)),
        p14=("secret", None),
        p99=("gputop", ("/dev/nvidia2",)),
    )
    found = reader(box).of_gpu(2)

    assert [(user.pid, user.user, user.command, user.how) for user in found.users] == [
        (10, "user0", "/usr/bin/python --flag", "gputop signal SIGTERM --pid 10"),
        (11, "user0", "/usr/bin/nv-hostengine --flag", "sudo systemctl stop nvidia-dcgm"),
    ]
    assert found.unseen == 1


@pytest.mark.parametrize(
    ("owner", "how"),
    [
        (Owner(slurm=SlurmStep(job="84213", step="0")), "scancel 84213.0 (the whole Slurm step)"),
        (
            Owner(pod=Pod(uid="u", name="train-0", namespace="ml")),
            "kubectl delete pod -n ml -- train-0 (the whole pod)",
        ),
        (
            Owner(container=Container(runtime="docker", id="ab" * 32, name="web")),
            "docker stop -- web (the whole container)",
        ),
        (Owner(unit="jupyter.service"), "sudo systemctl stop -- jupyter.service (the whole service)"),
        (Owner(unit="user@1000.service"), "gputop signal SIGTERM --pid 10"),
        (Owner(container=Container(runtime="docker", id="0", name="x; rm -rf ~")), "gputop signal SIGTERM --pid 10"),
    ],
)
def test_what_ends_a_process_depends_on_whose_it_is(owner: Owner, how: str) -> None:
    proven = replace(owner, trusted=("slurm", "pod", "container", "unit"))

    assert reader(Box(p10=("python", ())), proven).named(10).how == how


@pytest.mark.parametrize(
    ("uid", "owner"),
    [(7, Owner()), (0, Owner(container=Container(runtime="docker", id="ab" * 32))), (7, Owner(unit="sshd.service"))],
)
def test_a_process_that_names_itself_like_a_service_does_not_bring_it_down(uid: int, owner: Owner) -> None:
    assert reader(Box(uid, p10=("kubelet", ())), owner).named(10).how == "gputop signal SIGTERM --pid 10"


def test_a_process_that_cannot_be_seen_is_its_pid() -> None:
    found = reader(Box()).named(5)

    assert (found.pid, found.user, found.command, found.how) == (5, "", "not visible from here", "")


def test_others_who_configure_mig_are_warned_of_once_and_the_gravest_first() -> None:
    box = Box(p10=("nvidia-mig-mana", ()), p11=("nvidia-device-p", ()), p12=("slurmd", ()))
    found = overseers(box, lambda path: path.endswith("kubelet.sock"))  # type: ignore[arg-type]

    assert len(found) == 3
    assert "nvidia.com/mig.config" in found[0]
    assert overseers(Box(), lambda _: False) == ()  # type: ignore[arg-type]
    assert "Kubernetes node" in overseers(Box(), lambda path: path.endswith("kubelet.sock"))[0]  # type: ignore[arg-type]


def test_the_right_to_configure_is_named_by_its_device_file(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("DeviceFileMinor: 5\nDeviceFileMode: 256\n")

    assert "/dev/nvidia-caps/nvidia-cap5" in reading_right(str(config)).detail
    assert "nvidia-cap5" in right_for(StepKind.CREATE_INSTANCE, euid=1000, config=str(config)).remedy
    assert "sudo" in right_for(StepKind.CREATE_INSTANCE, euid=1000, config="/nowhere").remedy
    assert "--cap-add SYS_ADMIN" in right_for(StepKind.DESTROY_INSTANCE, euid=0, config="/nowhere").remedy


def test_the_right_to_the_mode_is_a_capability(tmp_path: Path) -> None:
    status = tmp_path / "status"
    status.write_text("Name:\tgputop\nCapEff:\t00000000a80425fb\n")

    assert "CAP_SYS_ADMIN" in right_for(StepKind.ENABLE, euid=1000).detail
    assert "--cap-add SYS_ADMIN" in right_for(StepKind.ENABLE, euid=0, status=str(status)).remedy
    status.write_text("CapEff:\t000001ffffffffff\n")
    assert "outside" in right_for(StepKind.DISABLE, euid=0, status=str(status)).remedy
