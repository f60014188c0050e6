"""Which processes are one job, who leads it, and what it uses."""

from collections.abc import Sequence
from typing import Any

import pytest
from examples import GIB, process

from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.sample import HostProcess, Job, JobKind, Presence
from gputop.core.processes.jobs import JobFinder
from gputop.core.processes.sums import sums

TORCHRUN = "/v/bin/python /v/bin/torchrun --standalone train.py"


def rank(pid: int, *gpus: int, parent: int = 1, command: str = "python -u train.py", **fields: Any) -> HostProcess:
    return process(pid, *gpus, parent_pid=parent, command=command, **fields)


def other(pid: int, parent: int = 1, command: str = "python -u train.py", **fields: Any) -> HostProcess:
    return process(pid, parent_pid=parent, command=command, gpus=(), **fields)


def find_jobs(processes: Sequence[HostProcess], relatives: Sequence[HostProcess] = ()) -> tuple[Job, ...]:
    return JobFinder().find(processes, relatives)


def pids(job: Job) -> list[int]:
    return [one.pid for one in job.members]


def shape(jobs: tuple[Job, ...]) -> list[tuple[JobKind, list[int]]]:
    return [(job.kind, pids(job)) for job in jobs]


# --- rules -------------------------------------------------------------------------------------------------------
def test_a_process_on_one_gpu_is_no_job() -> None:
    assert find_jobs([rank(10, 0), rank(11, 1)]) == ()


def test_a_process_on_two_gpus_is_a_job_that_nobody_leads() -> None:
    (job,) = find_jobs([rank(10, 0, 1)])

    assert (job.kind, job.key, job.label, job.launcher, pids(job)) == (
        JobKind.PROCESS, "process:10/100", "train.py", None, [10],
    )  # fmt: skip


def test_a_step_of_slurm_is_a_job_and_another_step_is_another() -> None:
    steps = [Owner(slurm=SlurmStep(job="7", step=step), trusted=("slurm",)) for step in "0011"]
    jobs = find_jobs([rank(10 + n, n, owner=owner) for n, owner in enumerate(steps)])

    assert [(job.key, job.label, pids(job)) for job in jobs] == [
        ("slurm:7.0", "7.0", [10, 11]), ("slurm:7.1", "7.1", [12, 13]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        (Owner(run_id="f00d"), JobKind.TORCH),
        (Owner(master="node7:29500"), JobKind.TORCH),
        (Owner(pod=Pod(uid="u1"), container=Container(runtime="crio", id="c1")), JobKind.POD),
        (Owner(container=Container(runtime="docker", id="c1")), JobKind.CONTAINER),
    ],
)
def test_what_processes_share_makes_them_a_job(owner: Owner, kind: JobKind) -> None:
    assert shape(find_jobs([rank(10, 0, owner=owner), rank(11, 1, owner=owner), rank(12, 2)])) == [(kind, [10, 11])]


def test_the_first_rule_that_joins_counts_and_a_rule_that_joins_nobody_is_passed_over() -> None:
    step, run = SlurmStep(job="7", step="0"), "f00d"
    held = [
        rank(10, 0, owner=Owner(slurm=step, run_id=run)),
        rank(11, 1, owner=Owner(slurm=step, run_id=run)),
        rank(12, 2, owner=Owner(slurm=SlurmStep(job="8", step="0"), run_id="beef")),
        rank(13, 3, owner=Owner(run_id="beef")),
    ]

    assert shape(find_jobs(held)) == [(JobKind.SLURM, [10, 11]), (JobKind.TORCH, [12, 13])]


def test_the_same_port_of_two_users_is_not_one_job() -> None:
    owner = Owner(master="127.0.0.1:29500")

    assert find_jobs([rank(10, 0, owner=owner), rank(11, 1, owner=owner, user="bob")]) == ()


@pytest.mark.parametrize("runtime", ["lxc", "container"])
def test_a_container_that_is_a_machine_or_has_no_id_joins_nobody(runtime: str) -> None:
    owner = Owner(container=Container(runtime=runtime, id="c1" if runtime == "lxc" else None))

    assert find_jobs([rank(10, 0, owner=owner), rank(11, 1, owner=owner)]) == ()


def test_what_the_driver_lists_and_proc_does_not_is_in_no_job() -> None:
    assert find_jobs([HostProcess(pid=10, presence=Presence.GONE, gpus=rank(10, 0, 1).gpus)]) == ()


def test_a_display_server_on_two_gpus_is_no_job() -> None:
    assert find_jobs([rank(10, 0, 1, command="/usr/lib/xorg/Xorg vt2", owner=Owner(framework="desktop"))]) == ()


# --- launchers ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("command", "label"),
    [
        (TORCHRUN, "torchrun train.py"),
        ("python -u -m deepspeed.launcher.launch train.py", "DeepSpeed train.py"),
        ("/v/bin/python /v/bin/accelerate launch train.py", "Accelerate train.py"),
        ("/usr/bin/mpirun -np 2 python train.py", "MPI train.py"),
        ("/opt/ray/raylet/raylet --port 1", "Ray train.py"),
        ("python sweep.py", "sweep.py"),
        ("/usr/bin/python3 /usr/local/bin/vllm serve x", "vLLM"),
    ],
)
def test_workers_of_one_launcher_are_a_job_that_it_leads(command: str, label: str) -> None:
    (job,) = find_jobs([rank(10, 0, parent=5), rank(11, 1, parent=5)], [other(5, command=command)])

    assert job.launcher
    assert (job.kind, job.label, job.launcher.pid, pids(job)) == (JobKind.LAUNCHER, label, 5, [5, 10, 11])


@pytest.mark.parametrize(
    "command", ["python -m jupyterhub.singleuser", "/bin/bash run.sh", "/usr/bin/gnome-shell", "nginx: worker"]
)
def test_what_starts_unrelated_programs_is_no_launcher(command: str) -> None:
    assert find_jobs([rank(10, 0, parent=5), rank(11, 1, parent=5)], [other(5, command=command)]) == ()


def test_children_of_a_process_on_a_gpu_are_its_job() -> None:
    (job,) = find_jobs([rank(10, 0), rank(11, 1, parent=10), rank(12, 2, parent=10)])

    assert job.launcher == rank(10).id
    assert pids(job) == [10, 11, 12]


def test_two_torchruns_under_one_sweep_are_two_jobs() -> None:
    relatives = [other(4, command="python sweep.py"), other(5, 4, TORCHRUN), other(6, 4, TORCHRUN)]
    ranks = [rank(10 + n, n, parent=5 + n // 2) for n in range(4)]

    assert shape(find_jobs(ranks, relatives)) == [(JobKind.LAUNCHER, [5, 10, 11]), (JobKind.LAUNCHER, [6, 12, 13])]


def test_a_program_of_another_user_leads_nobody() -> None:
    daemon = other(5, command="python daemon.py", user="root")

    assert find_jobs([rank(10, 0, parent=5), rank(11, 1, parent=5)], [daemon]) == ()


def test_a_job_of_slurm_is_led_by_its_torchrun() -> None:
    owner = Owner(slurm=SlurmStep(job="7", step="0"))
    (job,) = find_jobs(
        [rank(10, 0, parent=5, owner=owner), rank(11, 1, parent=5, owner=owner)], [other(5, command=TORCHRUN)]
    )

    assert job.launcher
    assert (job.kind, job.launcher.pid) == (JobKind.SLURM, 5)


def test_tasks_that_slurm_started_itself_are_led_by_nobody() -> None:
    owner = Owner(slurm=SlurmStep(job="7", step="0"))
    (job,) = find_jobs([rank(10, 0, owner=owner), rank(11, 1, owner=owner)])

    assert job.launcher is None


# --- processes without a GPU -------------------------------------------------------------------------------------
def test_wrappers_and_data_loaders_are_members_parents_first() -> None:
    relatives = [
        other(5, command="/usr/bin/mpirun ./wrap.sh"), other(30, 5, "/bin/bash ./wrap.sh"), other(31, 5, "/bin/bash w"),
        other(2, 10), other(3, 2),
    ]  # fmt: skip
    (job,) = find_jobs([rank(10, 0, parent=30), rank(11, 1, parent=31)], relatives)

    assert pids(job) == [5, 30, 31, 10, 11, 2, 3]


def test_data_loaders_belong_to_the_job_of_their_parent_and_strangers_to_none() -> None:
    relatives = [other(20, 10), other(21, 11), other(22, 12), other(23, 1)]
    jobs = find_jobs([rank(10, 0, 1), rank(11, 2, 3), rank(12, 4)], relatives)

    assert [pids(job) for job in jobs] == [[10, 20], [11, 21]]


def test_a_script_of_the_same_slurm_step_is_a_member() -> None:
    owner = Owner(slurm=SlurmStep(job="7", step="batch"))
    batch = other(5, command="/bin/bash /var/spool/slurmd/job7/slurm_script", owner=owner)
    (job,) = find_jobs([rank(10, 0, 1, parent=5, owner=owner)], [batch])

    assert (job.launcher, pids(job)) == (None, [5, 10])


def test_parents_in_a_circle_end() -> None:
    assert find_jobs([rank(10, 0, parent=5)], [other(5, 6), other(6, 5)]) == ()


def test_nobody_is_in_two_jobs() -> None:
    container = Owner(container=Container(runtime="docker", id="c1"))
    ranks = [rank(10, 0, parent=5, owner=container), rank(11, 1, parent=5, owner=container), rank(12, 2, parent=5),
             rank(13, 3, parent=5)]  # fmt: skip
    jobs = find_jobs(ranks, [other(5, command=TORCHRUN)])
    held = [pid for job in jobs for pid in pids(job)]

    assert len(held) == len(set(held)) == 5


# --- from frame to frame -----------------------------------------------------------------------------------------
def test_as_long_as_nobody_comes_or_goes_the_jobs_are_the_same_objects() -> None:
    finder = JobFinder()
    first = finder.find([rank(10, 0, 1, cpu_percent=1.0)], [])

    assert finder.find([rank(10, 0, 1, cpu_percent=2.0)], []) is first
    assert finder.find([rank(10, 0, 1), rank(11, 2, 3)], []) is not first
    assert finder.find([rank(10, 0)], []) == ()


def test_another_process_under_the_same_pid_is_another_job() -> None:
    finder = JobFinder()
    first, second = (finder.find([rank(10, 0, 1, start_ticks=start)], [])[0].key for start in (1, 2))

    assert first != second


# --- sums --------------------------------------------------------------------------------------------------------
def test_sums_run_over_gpus_and_count_each_process_once() -> None:
    held = (rank(10, 0, 1, cpu_percent=100.0), rank(11, 2, cpu_percent=None), other(20, 10, cpu_percent=50.0))
    found = sums((process, use) for process in held for use in process.gpus or (None,))

    assert (found.processes, found.gpus, found.gpu_memory_bytes, found.memory_bytes) == (3, 3, 30 * GIB, 9 * GIB)
    assert (found.sm_percent, found.cpu_percent, found.gpu_seconds) == (240.0, 150.0, None)
