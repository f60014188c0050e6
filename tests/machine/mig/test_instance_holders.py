"""Who has the device files of MIG instances open."""

from fake_proc import FakeProc
from simulated import box

from gputop.core.mig.model import User
from gputop.machine.mig.instance_holders import Place, instance_holders
from gputop.machine.mig.layout import LayoutReader
from gputop.machine.nvml.driver import Driver

MINORS = b"config 1\nmonitor 2\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\ngpu1/gi11/access 40\ngpu1/gi11/odd 41\n"


class Box:
    """A /proc with open files; no pid 3, and the files of 4 are others'."""

    def __init__(self, minors: bytes | None = MINORS) -> None:
        self.minors = minors

    def read(self, path: str) -> bytes:
        if path != "driver/nvidia-caps/mig-minors" or self.minors is None:
            raise FileNotFoundError(path)
        return self.minors

    def list(self, path: str) -> list[str]:
        if path == ".":
            return ["1", "2", "3", "4", "self", "meminfo"]
        if path.startswith("4/"):
            raise PermissionError(path)
        if path.startswith("3/"):
            raise FileNotFoundError(path)
        return ["0", "1", "2", "3"]

    def link(self, path: str) -> str:
        files = {
            "1/fd/0": "/dev/nvidia-caps/nvidia-cap12", "1/fd/1": "/dev/nvidia-caps/nvidia-cap13",
            "1/fd/2": "/dev/nvidia-caps/nvidia-cap13", "2/fd/0": "/dev/nvidia-caps/nvidia-cap2",
            "2/fd/1": "/dev/nvidia-caps/nvidia-cap40", "2/fd/2": "socket:[5]",
        }  # fmt: skip
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]


def test_processes_are_found_by_what_their_files_stand_for() -> None:
    assert instance_holders(Box()) == {(0, 1, None): (1,), (0, 1, 0): (1,), (1, 11, None): (2,)}  # type: ignore[arg-type]


def test_without_the_files_of_the_driver_nobody_is_found() -> None:
    assert instance_holders(Box(None)) == {}  # type: ignore[arg-type]
    assert instance_holders(FakeProc()) == {}


def test_an_instance_is_in_use_where_the_driver_lists_nobody() -> None:
    held: dict[Place, tuple[int, ...]] = {(0, 11, None): (77,), (0, 1, 0): (78,), (5, 11, None): (79,)}
    reader = LayoutReader(Driver(box("mig").driver), lambda pid: User(pid=pid), lambda: held)
    gpu = reader.all()[0]

    assert {one.text: [user.pid for user in one.everyone] for one in gpu.instances} == {
        "2g.10gb@0": [30562], "1g.5gb@2": [30788], "1g.5gb@3": [77], "3g.20gb@4": [30411, 78],
    }  # fmt: skip
