"""How the doctor reads a box: what is there, what is not, and what may not be read."""

import errno
import os
from pathlib import Path

import pytest
from broken_hosts import ADDRESSES, BOOT_S, VERSION, Clinic
from other_users import OTHER

from gputop.core.doctor.facts import Program
from gputop.core.doctor.kernel_log import hung_tasks, xid_lines
from gputop.machine.doctor.hardware import device_files, library, module, pci_devices
from gputop.machine.doctor.log import LogUnreadError, kernel_log, real_journal
from gputop.machine.doctor.programs import programs
from gputop.machine.doctor.software import containers, torches
from gputop.machine.proc.root import RealRoot

XID = "NVRM: Xid (PCI:0000:02:00): 13, pid=900, name=python"


@pytest.fixture
def box(tmp_path: Path) -> Clinic:
    return Clinic(tmp_path)


def no_journal() -> str:
    return ""


# --- the kernel log ----------------------------------------------------------------------------------------------
def test_lines_of_the_log_have_the_time_of_the_day(box: Clinic) -> None:
    box.write("dev/kmsg", f"4,1,5500000,-;{XID}\n SUBSYSTEM=pci\n6,2,6000000,-;usb 1-1: new device\n")
    (line,) = kernel_log(box.root, no_journal)

    assert (line.time_s, line.text) == (BOOT_S + 5.5, XID)


def test_the_journal_tells_where_the_log_is_closed(box: Clinic) -> None:
    box.root.forbidden["dev/kmsg"] = PermissionError(errno.EPERM, "Operation not permitted")
    (line,) = kernel_log(box.root, lambda: f"1700000009.25 node7 kernel: {XID}\nnonsense\n-- Boot --\n")

    assert (line.time_s, line.text) == (1_700_000_009.25, XID)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(errno.EPERM, "Operation not permitted"), "kernel.dmesg_restrict is 1"),
        (FileNotFoundError(errno.ENOENT, "No such file"), "no /dev/kmsg"),
        (OSError(errno.EIO, "Input/output error"), "/dev/kmsg: Input/output error"),
    ],
)
def test_why_the_log_cannot_be_read_is_said(box: Clinic, error: OSError, words: str) -> None:
    box.root.forbidden["dev/kmsg"] = error

    with pytest.raises(LogUnreadError, match=words):
        kernel_log(box.root, no_journal)


def test_a_log_without_an_end_is_read_up_to_the_last_record(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kmsg")
    writer = os.open(tmp_path / "kmsg", os.O_RDWR)  # as long as somebody writes, reading would wait
    os.write(writer, b"4,1,5,-;one\n")

    assert RealRoot(str(tmp_path)).read("kmsg") == b"4,1,5,-;one\n"
    os.close(writer)


# --- programs ----------------------------------------------------------------------------------------------------
def test_programs_with_a_gpu_open_are_found_and_others_are_not(box: Clinic) -> None:
    box.process(700, "train", gpus=[1], command="train --fast")
    box.process(701, "bash")
    found = {program.pid: program for program in programs(box.root, own=4242).found}

    assert found.keys() == {700, 1260}
    assert found[700] == Program(
        pid=700, name="train", uid=1000, command="train --fast", state="S", devices=("/dev/nvidia1",)
    )


def test_processes_whose_files_cannot_be_seen_are_counted_and_services_named_all_the_same(box: Clinic) -> None:
    box.process(700, "train", gpus=[1])
    for pid in (700, 1260):
        box.root.forbidden[f"proc/{pid}/fd"] = PermissionError(errno.EACCES, "Permission denied")
    held = programs(box.root, own=4242)

    assert held.hidden == 2
    assert [(program.pid, program.devices) for program in held.found] == [(1260, None)]


def test_gputop_itself_and_threads_of_the_kernel_are_left_out(box: Clinic) -> None:
    box.process(700, "gputop", gpus=[1])
    box.process(701, "nvidia-modeset/", parent=2)
    box.process(2, "kthreadd", parent=0)

    assert [program.pid for program in programs(box.root, own=700).found] == [1260]


# --- hardware ----------------------------------------------------------------------------------------------------
def test_a_gpu_on_the_bus_has_the_limits_of_its_slot(box: Clinic) -> None:
    box.write("sys/bus/pci/devices/0000:05:00.0/vendor", "0x8086")
    box.write("sys/bus/pci/devices/0000:05:00.0/class", "0x020000")
    first, second = pci_devices(box.root)

    assert (first.address, second.address) == ADDRESSES
    assert (first.kind, first.driver, first.port_width_max, first.port_generation_max) == (0x0302, "nvidia", 16, 5)


def test_a_device_file_is_opened_only_where_that_loads_nothing(box: Clinic) -> None:
    box.root.closed["dev/nvidia0"] = errno.EACCES
    held = {file.path: file.error for file in device_files(box.root, may_open=True, seconds=30)}
    unopened = {file.path: file.error for file in device_files(box.root, may_open=False, seconds=30)}

    assert held == {"/dev/nvidia0": errno.EACCES, "/dev/nvidia1": 0, "/dev/nvidiactl": 0, "/dev/nvidia-uvm": 0}
    assert set(unopened.values()) == {0}


def test_opening_what_is_not_there_is_an_errno(tmp_path: Path) -> None:
    assert RealRoot(str(tmp_path)).open("dev/nvidia0") == errno.ENOENT


def test_the_library_is_the_one_that_is_loaded_else_the_one_that_would_be(box: Clinic) -> None:
    box.link("opt/nv/libnvidia-ml.so.1", "libnvidia-ml.so.535.1")
    box.link("usr/lib64/libnvidia-ml.so.1", "libnvidia-ml.so.575.2.3")
    loaded = library(box.root, {})
    box.remove("proc/self/maps")
    usual = library(box.root, {})
    preferred = library(box.root, {"LD_LIBRARY_PATH": "/nowhere:/opt/nv"})

    assert loaded is not None
    assert usual is not None
    assert preferred is not None
    assert [one.version for one in (loaded, usual, preferred)] == [VERSION, "575.2.3", "535.1"]
    assert preferred.path == "/opt/nv/libnvidia-ml.so.1"


def test_a_box_without_the_driver_has_a_module_without_a_version(tmp_path: Path) -> None:
    held = module(RealRoot(str(tmp_path)))

    assert (held.version, held.loaded, held.is_installed, held.secure_boot) == (None, (), None, None)


# --- software ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "environment", "inside"),
    [
        ("etc/hostname", {}, ""),
        (".dockerenv", {}, "docker"),
        ("run/.containerenv", {}, "podman"),
        ("etc/hostname", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ("etc/hostname", {"APPTAINER_CONTAINER": "/x.sif"}, "apptainer"),
    ],
)
def test_a_container_is_known_from_inside(box: Clinic, path: str, environment: dict[str, str], inside: str) -> None:
    box.write(path)

    assert containers(box.root, environment).inside == inside


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runtimes": []}', '{"runtimes": {"runc": {}}}'])
def test_a_configuration_of_docker_without_nvidia_is_no_error(box: Clinic, text: str) -> None:
    box.write("etc/docker/daemon.json", text)

    assert not containers(box.root, {}).knows_nvidia


def test_torch_is_found_in_every_usual_place_once(box: Clinic) -> None:
    places = (
        "venv/lib/python3.12/site-packages", "home/ann/.local/lib/python3.10/site-packages",
        "usr/local/lib/python3.10/dist-packages", "opt/own",
    )  # fmt: skip
    for place in places:
        box.write(f"{place}/torch-2.6.0+cu126.dist-info/METADATA")
    environment = {"VIRTUAL_ENV": "/venv", "HOME": "/home/ann"}
    found = torches(box.root, environment, ("/opt/own", "/venv/lib/python3.12/site-packages"))

    assert sorted(one.path for one in found) == sorted(f"/{place}" for place in places)
    assert {(one.version, one.cuda) for one in found} == {("2.6.0+cu126", "12.6")}


def test_other_packages_are_not_taken_for_torch(box: Clinic) -> None:
    for name in (
        "torch_geometric-2.6.dist-info",
        "torchvision-0.21.dist-info",
        "torch-tb-profiler-1.dist-info",
        "torch",
    ):
        box.write(f"opt/own/{name}/METADATA")

    assert torches(box.root, {}, ("/opt/own",)) == ()


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_kernel_log_of_huge_lines_is_read_in_part_and_its_patterns_do_not_take_for_ever(
    box: Clinic, *, is_closed: bool
) -> None:
    evil = "NVRM: " + "GPU at 0000:01:00.0 " * 50_000 + "Xid fallen off the bu"
    box.write("dev/kmsg", f"6,1,{'9' * 5000},-;{evil}\n6,1,2000000,-;{evil}\n")
    if is_closed:
        box.root.forbidden["dev/kmsg"] = PermissionError(errno.EPERM, "Operation not permitted")
    journal = f"nan host kernel: {evil}\n1e300 host kernel: {evil}\n1.5 host kernel: {evil}\n"
    lines = kernel_log(box.root, lambda: journal)

    assert [len(line.text) for line in lines] == [1000]
    assert list(xid_lines(lines)) == []


FORGED = (
    "NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.",
    "INFO: task python:1 blocked for more than 900 seconds.",
    "NVRM: GPU 0000:01:00.0: RmInitAdapter failed!",
)


@pytest.mark.parametrize(
    "line",
    [
        *(f"cgroup: fork rejected by pids controller in /user.slice/user-1001.slice/{name}" for name in FORGED),
        *(f"process '{name}' started with executable stack" for name in FORGED),
        "NVRM: GPU 0:1:0[4711]: segfault at 0 ip 0 sp 0 error 4 in fallen off the bus[400000+1000]",
    ],
)
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_name_that_a_user_chose_is_taken_for_a_message_of_the_driver(
    box: Clinic, line: str, *, is_closed: bool
) -> None:
    box.write("dev/kmsg", f"6,1,2000000,-;{line}\n")
    if is_closed:
        box.root.forbidden["dev/kmsg"] = PermissionError(errno.EPERM, "Operation not permitted")
    lines = kernel_log(box.root, lambda: f"1.5 host kernel: {line}\n2.5 host kernel: NVRM: loading\n")

    assert not [*xid_lines(lines), *hung_tasks(lines)]
    assert not any("RmInitAdapter" in each.text for each in lines)


@pytest.mark.parametrize("path", ["planted", ".", ""])
def test_the_doctor_runs_a_program_that_another_user_or_the_working_directory_offers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    folder = tmp_path / "planted"
    folder.mkdir()
    journal = folder / "journalctl"
    journal.write_text("#!/bin/sh\necho 1.5 host kernel: planted\n")
    journal.chmod(0o755)
    monkeypatch.chdir(folder)
    if path and path != ".":
        if os.geteuid():
            pytest.skip("only root must not trust the programs of others")
        os.chown(folder, OTHER, OTHER)
        path = str(folder)

    assert real_journal({"PATH": path}) == ""
