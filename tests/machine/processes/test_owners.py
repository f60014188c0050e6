"""Whose processes are, and who their relatives are, as /proc tells it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_proc import EACCES, ENOENT, FakeProc

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, SlurmStep
from gputop.core.model.sample import GpuProcess, HostProcess, Presence
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.containers import ContainerFiles, PodName
from gputop.machine.processes.reader import ProcessReader, resolve_user

PID = 4711
USE = GpuProcess(gpu="GPU-0", gpu_index=0, type="C")
ID = "a" * 64
POD = "2c4b2241-5c01-11e9-8e4e-42010a800002"


class FakeNames:
    def container(self, runtime: str, container_id: str) -> str | None:
        return f"{runtime}'s {container_id[:2]}"

    def pod(self, uid: str, container_id: str) -> PodName | None:  # noqa: ARG002
        return PodName(f"pod-{uid[:2]}", "default")


class Machine:
    """A reader over a fake /proc; each reading comes a second after the one before."""

    def __init__(self) -> None:
        self.proc = FakeProc()
        self.now = 1000.0
        self.reader = ProcessReader(
            self.proc, {1000: "ann"}.get, clock_ticks=100, page_bytes=4096, clock=lambda: self.now
        )

    def read(self, *pids: int, seconds: float = 1.0) -> tuple[HostProcess, ...]:
        self.now += seconds
        self.proc.reads.clear()
        return self.reader.read(dict.fromkeys(pids, (USE,)), self.now)

    def relatives(self, *pids: int, seconds: float = 1.0) -> list[int]:
        return [row.pid for row in self.reader.relatives(self.read(*pids, seconds=seconds), self.now)]

    def owner(self) -> Owner:
        return self.read(PID)[0].owner


@pytest.fixture
def machine() -> Machine:
    made = Machine()
    made.proc.add(PID)
    return made


# --- owners ------------------------------------------------------------------------------------------------------
def test_an_owner_is_read_from_cgroup_environment_command_and_terminal(machine: Machine) -> None:
    machine.proc.tell(
        PID,
        cgroup="0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0",
        environ=b"RANK=1\0WORLD_SIZE=2\0TORCHELASTIC_RUN_ID=f00d\0HF_TOKEN=hush\0CONDA_DEFAULT_ENV=llm\0",
    )

    assert machine.owner() == Owner(
        slurm=SlurmStep(job="7", step="0"), environment="llm", framework="torchrun rank 1/2", rank=1, world_size=2,
        run_id="f00d", trusted=("slurm",),
    )  # fmt: skip


def test_the_environment_of_somebody_else_is_forbidden_and_the_cgroup_still_tells(machine: Machine) -> None:
    machine.proc.tell(PID, cgroup=f"0::/system.slice/docker-{ID}.scope", environ=EACCES)
    owner = machine.owner()

    assert owner.container == Container(runtime="docker", id=ID)
    assert owner.missing["rank"] is Missing.FORBIDDEN
    assert "container" not in owner.missing


@pytest.mark.parametrize("error", [EACCES, ENOENT])
def test_nothing_readable_is_no_error(machine: Machine, error: OSError) -> None:
    machine.proc.tell(PID, cgroup=error, environ=error)

    assert machine.owner().missing.keys() >= {"container", "slurm", "environment"}


def test_the_terminal_is_that_of_stat(machine: Machine) -> None:
    machine.proc.tell(PID)
    line = machine.proc.files[f"{PID}/stat"]
    assert isinstance(line, bytes)
    machine.proc.files[f"{PID}/stat"] = line.replace(b" 0 -1 4194304", b" 34819 -1 4194304")

    assert machine.owner().terminal == "pts/3"


def test_hostile_cgroups_are_harmless(machine: Machine) -> None:
    machine.proc.tell(PID, cgroup="0::/system.slice/\x1b[2J\u202e.service")

    assert machine.owner().unit == "␛[2J\ufffd.service"


def test_owners_are_read_once_and_again_within_a_minute(machine: Machine) -> None:
    machine.proc.tell(PID)
    machine.read(PID)
    machine.proc.tell(PID, cgroup="0::/system.slice/ollama.service")

    machine.read(PID)
    assert machine.proc.reads == [f"{PID}/stat"]
    assert [machine.owner().unit for _ in range(61)][-1] == "ollama.service"


def test_names_are_asked_of_who_knows_them() -> None:
    proc = FakeProc()
    proc.add(PID)
    proc.tell(PID, cgroup=f"0::/kubepods.slice/kubepods-pod{POD.replace('-', '_')}.slice/crio-{ID}.scope")
    owner = ProcessReader(proc, lambda _: "ann", names=FakeNames()).read({PID: (USE,)}, 1.0)[0].owner

    assert owner.container
    assert owner.pod
    assert (owner.container.name, owner.pod.name, owner.pod.namespace) == ("crio's aa", "pod-2c", "default")


def test_our_own_environment_is_read_from_the_real_proc() -> None:
    reader = ProcessReader(RealProc(), resolve_user)
    owner = reader.read({os.getpid(): (USE,)}, 1.0)[0].owner

    assert "rank" not in owner.missing


# --- names from files --------------------------------------------------------------------------------------------
def write(root: Path, path: str, text: str = "") -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def test_docker_podman_and_the_kubelet_keep_names_in_files(tmp_path: Path) -> None:
    write(tmp_path, f"var/lib/docker/containers/{ID}/config.v2.json", '{"State": {"Pid": 1}, "Name": "/web\\u001b[2J"}')
    write(
        tmp_path, "var/lib/containers/storage/overlay-containers/containers.json",
        f'[{{"id": "{"c" * 64}", "names": ["other"]}}, {{"id": "{"b" * 64}", "names": ["eval"]}}]',
    )  # fmt: skip
    write(tmp_path, f"var/log/containers/bert-0_ml_server-{'d' * 64}.log")
    names = ContainerFiles(f"{tmp_path}/")

    assert names.container("docker", ID) == "web␛[2J"
    assert names.container("podman", "b" * 64) == "eval"
    assert names.container("containerd", "d" * 64) == "server"
    assert names.pod(POD, "d" * 64) == PodName("bert-0", "ml")


def test_a_pod_is_found_by_its_uid(tmp_path: Path) -> None:
    write(tmp_path, f"var/log/pods/ml_bert-0_{POD}/server/0.log")

    assert ContainerFiles(f"{tmp_path}/").pod(POD, ID) == PodName("bert-0", "ml")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"Name": 3}', "\xff"])
def test_a_file_that_makes_no_sense_gives_no_name(tmp_path: Path, text: str) -> None:
    write(tmp_path, f"var/lib/docker/containers/{ID}/config.v2.json", text)

    assert ContainerFiles(f"{tmp_path}/").container("docker", ID) is None
    assert ContainerFiles(f"{tmp_path}/").container("podman", ID) is None
    assert ContainerFiles(f"{tmp_path}/").pod(POD, ID) is None


# --- relatives ---------------------------------------------------------------------------------------------------
def torchrun(machine: Machine) -> None:
    """sshd → a shell → torchrun → two ranks, the first with two data loaders."""
    machine.proc.add(50, parent=1, command=b"sshd: ann@pts/0\0", name=b"sshd")
    machine.proc.add(60, parent=50, command=b"-bash\0", name=b"bash")
    machine.proc.add(70, parent=60, command=b"/v/bin/python\0/v/bin/torchrun\0train.py\0")
    for pid in (80, 81):
        machine.proc.add(pid, parent=70)
    for pid in (90, 91):
        machine.proc.add(pid, parent=80, name=b"pt_data_worker")
    machine.proc.add_children(70, 80, 81)
    machine.proc.add_children(80, 90, 91)


def test_launchers_above_and_data_loaders_below_are_relatives_and_the_shell_is_not(machine: Machine) -> None:
    torchrun(machine)

    assert machine.relatives(80, 81) == [70, 90, 91]


def test_a_relative_is_read_like_any_process_and_uses_no_gpu(machine: Machine) -> None:
    torchrun(machine)
    machine.relatives(80)
    machine.proc.add(90, parent=80, name=b"pt_data_worker", user=40)

    rows = machine.reader.relatives(machine.read(80), machine.now)
    loader = next(row for row in rows if row.pid == 90)

    assert (loader.cpu_percent, loader.user, loader.gpus, loader.parent_pid) == (40.0, "ann", (), 80)


def test_a_rank_that_does_not_use_a_gpu_yet_is_found_under_its_launcher(machine: Machine) -> None:
    torchrun(machine)

    assert machine.relatives(80) == [70, 81, 90, 91]


def test_a_script_of_a_shell_is_climbed_through(machine: Machine) -> None:
    machine.proc.add(70, command=b"/usr/bin/mpirun\0-np\0002\0./wrap.sh\0", name=b"mpirun")
    machine.proc.add(75, parent=70, command=b"/bin/bash\0./wrap.sh\0", name=b"bash")
    machine.proc.add(80, parent=75)

    assert machine.relatives(80) == [70, 75]


@pytest.mark.parametrize(
    "command", [b"-bash", b"/bin/zsh\0-i", b"/usr/bin/containerd-shim-runc-v2\0-id\0x", b"slurmstepd: [7.0]",
                b"python\0-m\0jupyterhub.singleuser", b"/usr/bin/gnome-shell", b"tmux\0new",
                b"/usr/bin/python3\0/usr/bin/supervisord"],
)  # fmt: skip
def test_what_starts_everything_is_no_relative(machine: Machine, command: bytes) -> None:
    machine.proc.add(50, command=command)
    machine.proc.add(80, parent=50)

    assert machine.relatives(80) == []


@pytest.mark.parametrize("command", [b"/usr/bin/gnome-shell", b"/usr/bin/kitty"])
def test_what_a_desktop_or_a_terminal_on_a_gpu_started_is_no_relative(machine: Machine, command: bytes) -> None:
    machine.proc.add(80, command=command)
    machine.proc.add(90, parent=80)
    machine.proc.add_children(80, 90)

    assert machine.relatives(80) == []


def test_a_shell_that_a_program_opened_is_no_relative_nor_what_runs_in_it(machine: Machine) -> None:
    machine.proc.add(80, command=b"ghostty\0")
    machine.proc.add(90, parent=80, command=b"-zsh\0")
    machine.proc.add(91, parent=90)
    machine.proc.add_children(80, 90)
    machine.proc.add_children(90, 91)

    assert [machine.relatives(80) for _ in range(3)] == [[], [], []]
    assert "90/stat" not in machine.proc.reads


def test_in_between_a_reading_costs_one_read_per_process(machine: Machine) -> None:
    torchrun(machine)
    for pid in (70, 80, 81, 90, 91):
        machine.proc.tell(pid)
    machine.relatives(80, 81)
    counts = []
    for _ in range(20):
        machine.relatives(80, 81)
        counts.append(len(machine.proc.reads))

    assert min(counts) == 5
    assert max(counts) <= 8


def test_a_child_whose_pid_went_to_another_process_is_no_relative(machine: Machine) -> None:
    torchrun(machine)
    machine.relatives(80, 81)
    machine.proc.add(90, parent=1, start=9000, command=b"editor\0")

    assert machine.relatives(80, 81) == [70, 91]
    assert 90 not in machine.relatives(80, 81)


def test_a_child_that_ends_is_gone_at_once_and_a_new_one_is_seen_within_five_seconds(machine: Machine) -> None:
    torchrun(machine)
    machine.relatives(80, 81)
    machine.proc.remove(91)
    machine.proc.add(92, parent=80)
    machine.proc.add_children(80, 90, 92)

    assert 91 not in machine.relatives(80, 81)
    assert [machine.relatives(80, 81) for _ in range(5)][-1] == [70, 90, 92]


def test_in_a_crowd_a_relative_that_exits_stays_or_one_whose_pid_is_reused_or_a_new_one_is_missing(
    machine: Machine,
) -> None:
    torchrun(machine)
    crowd = (80, 81, *range(1000, 1200))
    for pid in crowd[2:]:
        machine.proc.add(pid)
    for _ in range(12):  # until the children of all were read
        machine.relatives(*crowd)
    assert machine.relatives(*crowd) == [70, 90, 91]

    machine.proc.remove(91)
    assert machine.relatives(*crowd) == [70, 90]

    machine.proc.add(90, parent=1, start=9000, command=b"editor\0")
    assert machine.relatives(*crowd) == [70]

    machine.proc.add(92, parent=80)
    machine.proc.add_children(80, 92)
    assert [machine.relatives(*crowd) for _ in range(10)][-1] == [70, 92]


def test_in_a_crowd_each_second_all_processes_are_searched_for_relatives(machine: Machine) -> None:
    crowd = range(1000, 1200)
    for pid in crowd:
        machine.proc.add(pid)
    machine.relatives(*crowd)
    searched = 0
    for _ in range(20):
        machine.relatives(*crowd)
        searched += any(path.endswith("/children") for path in machine.proc.reads)

    assert 4 <= searched <= 5


def test_a_relative_that_begins_to_use_a_gpu_keeps_its_cpu_time(machine: Machine) -> None:
    torchrun(machine)
    machine.relatives(80)
    machine.proc.add(81, parent=70, user=50)

    rows = {row.pid: row for row in machine.read(80, 81)}

    assert rows[81].cpu_percent == 50.0
    assert 81 not in {row.pid for row in machine.reader.relatives(tuple(rows.values()), machine.now)}


@pytest.mark.parametrize("command", [b"python\0worker.py", b"bash"], ids=["workers", "shells"])
def test_a_user_with_thousands_of_children_does_not_hide_the_processes_of_others_or_hold_up_the_reading(
    machine: Machine, command: bytes
) -> None:
    machine.proc.add(30, uid=1001)
    for pid in range(100_000, 103_000):
        machine.proc.add(pid, uid=1001, parent=30, command=command)
    machine.proc.add_children(30, *range(100_000, 103_000))
    torchrun(machine)
    found = set(machine.relatives(30, 80, 81))

    assert {70, 90, 91} <= found
    assert len({path for path in machine.proc.reads if path.endswith("/stat")}) < 1100


def test_relatives_beyond_the_bound_are_left_out_without_a_word(machine: Machine) -> None:
    machine.proc.add(60)
    for pid in range(100_000, 101_100):
        machine.proc.add(pid, parent=60, command=b"python\0worker.py")
    machine.proc.add_children(60, *range(100_000, 101_100))
    count, said = len(machine.relatives(60)), machine.reader.left_out
    torchrun(machine)
    machine.relatives(80, 81)

    assert count == 1024
    assert said == ("many processes without a GPU belong to those on GPUs, and some of them are not shown",)
    assert machine.reader.left_out == ()


def test_children_that_are_no_relatives_are_not_read_again_and_again(machine: Machine) -> None:
    machine.proc.add(60)
    for pid in range(100_000, 103_000):
        machine.proc.add(pid, parent=60, command=b"bash")
    machine.proc.add_children(60, *range(100_000, 103_000))
    for _ in range(25):
        machine.relatives(60)

    assert not [path for path in machine.proc.reads if path.startswith("10")]


def test_of_a_pid_that_is_not_ours_no_relatives_are_sought(machine: Machine) -> None:
    torchrun(machine)
    rows = tuple(HostProcess(pid=80, presence=presence) for presence in Presence if presence is not Presence.ALIVE)

    assert machine.reader.relatives(rows, 1.0) == ()


def test_parents_in_a_circle_end_the_search(machine: Machine) -> None:
    machine.proc.add(70, parent=71, command=b"a\0")
    machine.proc.add(71, parent=70, command=b"b\0")
    machine.proc.add(80, parent=70)

    assert machine.relatives(80) == [70, 71]


def test_a_kernel_without_lists_of_children_gives_the_launchers_all_the_same(machine: Machine) -> None:
    torchrun(machine)
    del machine.proc.files["70/task/70/children"]
    machine.proc.files["80/task/80/children"] = b"what\n"

    assert machine.relatives(80, 81) == [70]


# --- the real /proc ------------------------------------------------------------------------------------------------
LAUNCHER = """
import subprocess, sys
worker = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
worker.stdin.write(b"are you there?\\n")
worker.stdin.flush()
worker.stdout.readline()  # it is: before, its command line may be empty
print(worker.pid, flush=True)
sys.stdin.readline()
worker.kill()
worker.wait()
"""


@pytest.mark.skipif(
    not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"), reason="a kernel without lists of children"
)
def test_a_real_parent_and_its_real_child_find_each_other() -> None:
    command = [sys.executable, "-c", LAUNCHER]
    reader = ProcessReader(RealProc(), resolve_user)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout
        worker = int(launcher.stdout.readline())
        above = {row.pid: row for row in reader.relatives(reader.read({worker: (USE,)}, 1.0), 1.0)}
        below = {row.pid: row for row in reader.relatives(reader.read({launcher.pid: (USE,)}, 2.0), 2.0)}
        launcher.communicate("\n")

    assert above[launcher.pid].command.startswith(sys.executable)
    assert below[worker].command == "cat"
    assert below[worker].parent_pid == launcher.pid
