"""What a training job does when it reports: it writes one small file, seldom, and never fails."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import gputop
from gputop.progress_writer import FOLDER_VARIABLE, Reporter, folders


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Tensor:
    """A number that counts how often it is asked for its value, which waits for the GPU."""

    def __init__(self) -> None:
        self.asked = 0

    def __float__(self) -> float:
        self.asked += 1
        return 0.5


def place(path: Path) -> Path:
    path.chmod(0o700)
    return path / "gputop"


def reporter(path: Path, clock: Clock | None = None) -> Reporter:
    return Reporter(clock or Clock(), {FOLDER_VARIABLE: str(place(path))})


def told(path: Path) -> object:
    (file,) = place(path).glob("*.json")
    return json.loads(file.read_text())


def test_a_report_is_a_file_of_the_process_that_others_cannot_read(tmp_path: Path) -> None:
    reporter(tmp_path).report(120, 1000, 2.5)

    (file,) = place(tmp_path).iterdir()
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    assert file.name == f"{os.getpid()}-{start}.json"
    assert told(tmp_path) == {"step": 120, "total": 1000, "loss": 2.5}
    assert [stat.S_IMODE(one.stat().st_mode) for one in (place(tmp_path), file)] == [0o700, 0o600]


def test_it_writes_once_a_second_and_the_last_step_always(tmp_path: Path) -> None:
    clock = Clock()
    one = reporter(tmp_path, clock)

    seen = []
    for second, step in ((0.0, 1), (0.9, 2), (1.1, 3), (1.2, 4), (1.3, 9)):
        clock.now = second
        one.report(step, 9)
        seen.append(told(tmp_path))

    assert [entry["step"] for entry in seen] == [1, 1, 3, 3, 9]  # type: ignore[index] # a dictionary


def test_a_tensor_is_asked_for_its_value_only_when_it_is_written(tmp_path: Path) -> None:
    loss, one = Tensor(), reporter(tmp_path)

    for step in range(100):
        one.report(step, loss=loss)

    assert loss.asked == 1


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_does_not_know_is_left_out(tmp_path: Path, loss: float) -> None:
    reporter(tmp_path).report(1, loss=loss)

    assert told(tmp_path) == {"step": 1}


def test_the_folder_of_somebody_else_or_open_to_others_is_not_written_to(tmp_path: Path) -> None:
    place(tmp_path).mkdir(0o700)
    place(tmp_path).chmod(0o777)

    reporter(tmp_path).report(1)

    assert not list(place(tmp_path).iterdir())


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(0o700)
    place(tmp_path).symlink_to(tmp_path / "target")

    reporter(tmp_path).report(1)

    assert not list((tmp_path / "target").iterdir())


def test_when_the_folder_goes_away_it_is_written_elsewhere(tmp_path: Path) -> None:
    clock = Clock()
    one = reporter(tmp_path, clock)
    one.report(1)
    for file in place(tmp_path).iterdir():
        file.unlink()
    place(tmp_path).rmdir()

    clock.now = 2.0
    one.report(2)

    assert told(tmp_path) == {"step": 2}


def test_what_was_left_behind_a_day_ago_by_the_dead_is_swept_away(tmp_path: Path) -> None:
    place(tmp_path).mkdir(0o700)
    for name in ("4194399-5.json", ".4194399-5.json", f"{os.getppid()}-1.json", "4194398-7.json", "notes.txt"):
        (place(tmp_path) / name).touch()
        if name != "4194398-7.json":
            os.utime(place(tmp_path) / name, (1.0, 1.0))

    reporter(tmp_path).report(1)

    left = {file.name for file in place(tmp_path).iterdir()}
    assert {"4194399-5.json", ".4194399-5.json"}.isdisjoint(left)
    assert {f"{os.getppid()}-1.json", "4194398-7.json", "notes.txt"} <= left


def test_it_takes_its_file_away_at_its_end(tmp_path: Path) -> None:
    script = f"import gputop, os; gputop.report(step=1); print(os.listdir({str(place(tmp_path))!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {FOLDER_VARIABLE: str(place(tmp_path))}, capture_output=True,
        check=True, text=True,
    )  # fmt: skip

    assert ".json" in done.stdout
    assert not list(place(tmp_path).iterdir())


def test_nothing_that_is_reported_ever_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "no" / "such" / "place"))

    gputop.report(step="many", total=object(), loss=[])  # type: ignore[arg-type] # what a mistake may bring
    gputop.report(1, 2, 3)


def test_reporting_loads_nothing_of_gputop_but_itself() -> None:
    script = (
        "import gputop, sys; gputop.report(step=1); print(*[n for n in sys.modules if 'gputop' in n or n == 'msgspec'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)

    assert set(done.stdout.split()) == {"gputop", "gputop.progress_writer"}


def test_the_room_of_the_same_name_can_be_called_as_well() -> None:
    script = "import gputop.report.table; gputop.report(step=1); from gputop import report; report(step=2)"

    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)


def test_a_chosen_folder_is_the_only_one_and_a_relative_one_is_none() -> None:
    assert folders(7, {FOLDER_VARIABLE: "/shared"}) == ["/shared"]
    assert folders(7, {FOLDER_VARIABLE: "shared", "XDG_RUNTIME_DIR": "/run/user/7"}) == [
        "/run/user/7/gputop", "/tmp/gputop-7",  # noqa: S108
    ]  # fmt: skip


class _Cuda:
    """The part of torch.cuda that a report reads, for a machine without a GPU."""

    def __init__(self, *, is_initialized: bool = True, fails: bool = False) -> None:
        self.is_initialized = lambda: is_initialized
        self._fails = fails

    def device_count(self) -> int:
        return 2

    def memory_stats(self, device: int) -> dict[str, int]:
        if self._fails:
            raise RuntimeError("CUDA error")
        names = ("allocated_bytes.all.current", "reserved_bytes.all.current", "allocated_bytes.all.peak")
        stats = dict(zip(names, (5, 9, 7), strict=True))
        return stats | {"reserved_bytes.all.peak": 9, "num_alloc_retries": 2, "num_ooms": 1} if device == 1 else {}


def _torch(monkeypatch: pytest.MonkeyPatch, cuda: _Cuda) -> None:
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))


def test_the_memory_of_pytorch_is_reported_for_the_devices_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _torch(monkeypatch, _Cuda())
    reporter(tmp_path).report(step=1, memory=True)

    assert told(tmp_path) == {
        "step": 1, "cuda": {"1": {"allocated": 5, "reserved": 9, "peak": 7, "retries": 2, "ooms": 1}},
    }  # fmt: skip


@pytest.mark.parametrize("cuda", [_Cuda(is_initialized=False), _Cuda(fails=True), None])
def test_without_a_working_cuda_only_the_memory_is_missing_from_a_report(
    cuda: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _torch(monkeypatch, cuda)
    reporter(tmp_path).report(step=1, memory=True)

    assert told(tmp_path) == {"step": 1}


def test_a_report_with_memory_does_not_import_torch(tmp_path: Path) -> None:
    program = "import gputop, sys; gputop.report(step=1, memory=True); raise SystemExit('torch' in sys.modules)"
    environment = dict(os.environ) | {FOLDER_VARIABLE: str(place(tmp_path))}

    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
