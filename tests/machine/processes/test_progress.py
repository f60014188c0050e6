"""Reports are files that anybody may have written: they count only for the process that they can be of."""

import os
import threading
import time
from pathlib import Path

import pytest
from fake_proc import BOOT_S, FakeProc

from gputop.core.model.progress import Progress, TorchMemory
from gputop.core.model.sample import GpuProcess
from gputop.machine.processes.progress import ProgressReader, Reporter
from gputop.machine.processes.reader import ProcessReader

NOW = 1_800_000_000.0
OURS = os.geteuid()
USE = GpuProcess(gpu="GPU-0", gpu_index=0, type="C")


class Folder:
    """A folder of reports, and a reader that looks into it a second after the look before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 100.0
        self.wall = NOW
        self.reader = ProgressReader(lambda: self.wall, {}, lambda _: [str(path)], patience_s=30.0)

    def write(self, name: str = "7-500.json", text: str = '{"step": 1}', at_s: float = NOW) -> Path:
        file = self.path / name
        file.write_text(text)
        os.utime(file, (at_s, at_s))
        return file

    def look(self, pid: int = 7, start: int = 500, **fields: object) -> Progress | None:
        self.now += 1
        self.reader.read_new({OURS}, self.now)
        told = Reporter(pid=pid, uid=OURS, start_ticks=start, started_s=NOW - 60)
        given = {name: getattr(told, name) for name in Reporter.__struct_fields__} | fields
        return self.reader.of(Reporter(**given))


def test_a_report_is_read_with_its_time(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(text='{"step": 120, "total": 1000, "loss": 2.5, "note": "more"}')

    assert folder.look() == Progress(time_s=NOW, step=120, total=1000, loss=2.5)


def test_a_folder_on_a_hung_file_system_hides_the_reports_of_other_users_or_the_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, folder, usual = threading.Event(), Folder(tmp_path), os.open
    folder.write()

    def hangs(path: str, *rest: int, **more: int) -> int:
        if path == "/hung/mount":
            gate.wait(60.0)
        return usual(path, *rest, **more)

    monkeypatch.setattr("gputop.machine.processes.progress.os.open", hangs)
    folder.reader = ProgressReader(lambda: NOW, {}, lambda _: ["/hung/mount", str(tmp_path)], patience_s=0.1)
    end = time.monotonic() + 30.0
    while folder.look() is None:  # a slow host may be late for the second folder too
        assert time.monotonic() < end
    is_waiting = folder.reader._calls.is_late("/hung/mount")
    gate.set()

    assert is_waiting


def test_the_start_time_in_the_name_tells_who_had_the_pid_before(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("7-499.json")

    assert folder.look() is None


@pytest.mark.parametrize(("age_s", "is_told"), [(30.0, True), (90.0, False)])
def test_a_file_with_a_pid_alone_must_be_younger_than_the_process(tmp_path: Path, age_s: float, is_told: bool) -> None:  # noqa: FBT001
    folder = Folder(tmp_path)
    folder.write("7.json", at_s=NOW - age_s)

    assert (folder.look() is not None) is is_told


def test_the_file_of_another_user_says_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write()

    assert folder.look(uid=OURS + 1) is None


def test_inside_a_container_the_pid_is_another_number(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("1-500.json")

    assert folder.look(7, inner_pid=1) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"step": "9"}',
        '{"step": true}',
        '{"step": -1}',
        '{"step": 1e999}',
        '{"step": 1' + "0" * 400 + "}",
        '{"total": 1e30}',
        '{"step": NaN}',
        "\udcff",
        '{"step": 1}' + " " * 5000,
        "[" * 4000,
    ],
)
def test_what_makes_no_sense_says_nothing(tmp_path: Path, text: str) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "7-500.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    os.utime(tmp_path / "7-500.json", (NOW, NOW))

    assert folder.look() is None


def test_a_file_that_is_being_written_keeps_what_it_said_before(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write()
    before = folder.look()
    folder.write(text="", at_s=NOW + 1)

    assert folder.look() is before


def test_a_report_from_the_future_says_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(at_s=NOW + 3600)

    assert folder.look() is None


def test_links_pipes_and_folders_are_not_read(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    real = folder.write("real")
    (tmp_path / "7-500.json").symlink_to(real)
    os.link(real, tmp_path / "8-500.json")
    os.mkfifo(tmp_path / "9-500.json")
    (tmp_path / "10-500.json").mkdir()

    assert [folder.look(pid) for pid in (7, 8, 9, 10)] == [None] * 4


def test_a_folder_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    folder = Folder(tmp_path / "link")
    folder.write()

    assert folder.look() is None


def test_a_file_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write()

    assert folder.look() is folder.look()


def test_the_rate_is_that_of_the_last_minutes_and_starts_again_when_steps_do(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    rates = []
    for second, step in ((0, 10), (10, 30), (20, 50), (30, 5), (40, 15)):
        folder.wall = NOW + second
        folder.write(text=f'{{"step": {step}}}', at_s=NOW + second)
        found = folder.look()
        rates.append(found and found.rate_per_s)

    assert rates == [None, 2.0, 2.0, None, 1.0]


def test_a_folder_that_is_not_there_is_looked_for_now_and_then(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "later")
    assert folder.look() is None
    folder.path.mkdir()
    folder.write()

    assert folder.look() is None
    folder.now += 10
    assert folder.look() is not None


def test_what_is_taken_away_is_forgotten(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    file = folder.write()
    assert folder.look()
    file.unlink()

    assert folder.look() is None


def test_the_row_of_a_process_has_its_progress_and_loses_it(tmp_path: Path) -> None:
    folder, proc = Folder(tmp_path), FakeProc()
    proc.add(7, uid=OURS, start=500)
    reader = ProcessReader(proc, lambda _: "ann", reports=folder.reader, clock_ticks=100, page_bytes=4096)
    file = folder.write()

    assert BOOT_S < NOW
    assert reader.read({7: (USE,)}, 1.0)[0].progress == Progress(time_s=NOW, step=1)
    file.unlink()
    assert reader.read({7: (USE,)}, 2.0)[0].progress is None


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702])
def test_a_folder_that_others_may_write_says_nothing(mode: int, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write()
    tmp_path.chmod(mode)

    assert folder.look() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder away")
def test_a_folder_that_a_stranger_made_in_the_name_of_a_user_is_not_even_listed(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "gputop-1001")
    folder.path.mkdir()
    folder.write()
    os.chown(folder.path, 1002, 1002)
    folder.reader.read_new({1001}, 100.0)

    assert not folder.reader.pids


def test_of_a_folder_with_thousands_of_names_only_the_first_are_looked_at(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number}.json").touch()
    folder = Folder(tmp_path)
    folder.reader.read_new({OURS}, 100.0)

    assert len(folder.reader.pids) == 1024


def test_many_folders_share_the_files_that_a_sample_reads(tmp_path: Path) -> None:
    for place in range(16):
        (tmp_path / str(place)).mkdir(mode=0o700)
        for number in range(400):
            (tmp_path / str(place) / f"{place * 1000 + number}.json").touch()
    places = [str(tmp_path / str(place)) for place in range(16)]
    reader = ProgressReader(lambda: NOW, {}, lambda _: places, patience_s=30.0)
    reader.read_new({OURS}, 100.0)

    assert len(reader.pids) == 4096


def test_the_memory_of_pytorch_is_read_per_device(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(text='{"step": 1, "cuda": {"1": {"allocated": 5, "reserved": 9, "peak": 7, "retries": 2, "ooms": 1}}}')
    progress = folder.look()

    assert progress is not None
    assert progress.torch == (TorchMemory(device=1, allocated=5, reserved=9, peak=7, retries=2, ooms=1),)


@pytest.mark.parametrize(
    "cuda",
    [
        '"yes"', "[]", '{"0": {}}', '{"0": {"allocated": -1, "reserved": 1}}',
        '{"x": {"allocated": 1, "reserved": 1}}', "1e999",
    ],
)  # fmt: skip
def test_malformed_memory_costs_only_itself(tmp_path: Path, cuda: str) -> None:
    folder = Folder(tmp_path)
    folder.write(text=f'{{"step": 1, "cuda": {cuda}}}')

    assert folder.look() == Progress(time_s=NOW, step=1)
