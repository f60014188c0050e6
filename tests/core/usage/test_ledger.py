"""What users and jobs have used, summed over frames."""

from typing import Any

from examples import frame, gpu, process

from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.sample import Frame, GpuProcess, HostProcess, Job, JobKind
from gputop.core.usage.accounts import OTHER, UNKNOWN, Account
from gputop.core.usage.ledger import Ledger, Totals, Usage


def use(index: int = 0, **fields: Any) -> GpuProcess:
    given: dict[str, Any] = {"gpu": f"GPU-{index:08d}", "gpu_index": index, "type": "C", "memory_bytes": 10} | fields
    return GpuProcess(**given)


def slurm(
    pid: int, job: str, *uses: GpuProcess, user: str = "ann", trusted: tuple[str, ...] = ("slurm",)
) -> HostProcess:
    return process(
        pid, user=user, owner=Owner(slurm=SlurmStep(job=job, step="0"), trusted=trusted), gpus=uses or (use(),)
    )


def seen(*processes: HostProcess, **fields: Any) -> Frame:
    return frame(gpus=(gpu(0), gpu(1)), processes=processes, **fields)


def totals(usage: Usage, account: Account) -> Totals | None:
    return next((each.totals for each in (*usage.users, *usage.jobs) if each.account == account), None)


ANN, JOB = Account("ann"), Account("ann", "slurm", "84213")


def test_held_and_idle_time_and_energy_are_summed_for_user_and_job() -> None:
    ledger = Ledger()
    for second in range(11):
        busy = use(0, sm_percent=50.0, gpu_seconds=second / 2, energy_j=second * 100.0)
        usage = ledger.take(seen(slurm(5, "84213", busy, use(1, sm_percent=0.0))), float(second))

    for account in (ANN, JOB):
        found = totals(usage, account)

        assert found == Totals(gpu_seconds=20.0, busy_seconds=5.0, idle_seconds=10.0, energy_j=1000.0)


def test_idleness_that_is_not_known_is_absent_and_not_zero() -> None:
    ledger = Ledger()
    ledger.take(seen(slurm(5, "84213")), 0)
    found = totals(ledger.take(seen(slurm(5, "84213")), 1), JOB)

    assert found == Totals(gpu_seconds=1.0, busy_seconds=None, idle_seconds=None, energy_j=None)


def test_totals_go_on_after_a_restart() -> None:
    before = Ledger()
    before.take(seen(slurm(5, "84213", use(gpu_seconds=0.0))), 0)
    before.take(seen(slurm(5, "84213", use(gpu_seconds=3.0))), 4)
    after = Ledger(before.kept())
    after.take(seen(slurm(5, "84213", use(gpu_seconds=0.0))), 100)  # the driver's sums began again with gputop
    found = totals(after.take(seen(slurm(5, "84213", use(gpu_seconds=2.0))), 102), JOB)

    assert found is not None
    assert (found.gpu_seconds, found.busy_seconds) == (6.0, 5.0)


def test_a_job_that_ended_has_no_series_and_comes_back_with_its_totals() -> None:
    ledger = Ledger()
    ledger.take(seen(slurm(5, "84213")), 0)
    ledger.take(seen(slurm(5, "84213")), 10)
    without = ledger.take(seen(), 11)
    found = totals(ledger.take(seen(slurm(6, "84213")), 12), JOB)

    assert (without.users, without.jobs) == ([], [])
    assert found is not None
    assert found.gpu_seconds == 11.0


def test_what_was_forgotten_is_not_kept_for_ever() -> None:
    ledger = Ledger()
    ledger.take(seen(slurm(5, "84213"), time_s=1_000.0), 0)
    ledger.take(seen(time_s=1_000.0 + 3601), 1)

    assert [each.account for each in ledger.kept()] == [ANN]


def test_time_in_which_gputop_was_stopped_is_not_charged() -> None:
    ledger = Ledger()
    ledger.take(seen(slurm(5, "84213")), 0)
    found = totals(ledger.take(seen(slurm(5, "84213")), 7200), JOB)

    assert found is not None
    assert found.gpu_seconds == 0.0


def test_a_user_cannot_charge_use_to_the_job_of_another() -> None:
    claimed = slurm(6, "84213", user="eve", trusted=())
    usage = Ledger().take(seen(slurm(5, "84213"), claimed), 0)

    assert {each.account for each in usage.jobs} == {JOB}
    assert {each.account.user for each in usage.users} == {"ann", "eve"}


def test_pods_and_containers_are_jobs_and_a_tree_is_named_by_its_first_process() -> None:
    pod = process(1, user="root", owner=Owner(pod=Pod(uid="u1", name="train-0", namespace="ml"), trusted=("pod",)))
    box = process(
        2, user="bob", owner=Owner(container=Container(runtime="docker", id="c" * 64), trusted=("container",))
    )
    tree = process(3, 0, 1)
    job = Job(key="process:3", kind=JobKind.PROCESS, label="secret --token=x", members=(tree.id,))
    usage = Ledger().take(seen(pod, box, tree, jobs=(job,)), 0)

    assert {each.account for each in usage.jobs} == {
        Account("root", "pod", "ml/train-0"),
        Account("bob", "container", "c" * 12),
        Account("ann", "tree", "3", 30),
    }


def test_a_desktop_holds_no_gpu() -> None:
    ledger = Ledger()
    for second in range(2):
        usage = ledger.take(seen(process(7, gpus=(use(type="G"),))), float(second))

    found = totals(usage, ANN)
    assert found is not None
    assert found.gpu_seconds == 0.0


def test_a_user_with_thousands_of_jobs_gets_few_series_and_takes_none_from_others() -> None:
    many = [slurm(pid, f"{pid}", user="eve") for pid in range(10, 3010)]
    usage = Ledger().take(seen(*many, slurm(5, "84213")), 0)
    of_eve = [each for each in usage.jobs if each.account.user == "eve"]

    assert len(of_eve) == 65
    assert Account("eve", OTHER) in {each.account for each in of_eve}
    assert sum(each.processes for each in of_eve) == 3000  # nothing is lost
    assert JOB in {each.account for each in usage.jobs}
    assert usage.merged_jobs == 3000 - 64


def test_thousands_of_users_get_few_series() -> None:
    usage = Ledger().take(seen(*(process(pid, user=f"u{pid}") for pid in range(10, 1010))), 0)

    assert len(usage.users) == 257
    assert usage.merged_users == 1000 - 256


def test_a_process_of_an_unknown_user_is_counted_as_such() -> None:
    assert Ledger().take(seen(process(5, user=None)), 0).users[0].account == Account(UNKNOWN)


def test_only_the_largest_processes_have_series_of_their_own() -> None:
    processes = [process(pid, gpus=(use(memory_bytes=pid),)) for pid in range(1, 100)]
    usage = Ledger(processes=3).take(seen(*processes), 0)

    assert {each.pid for each in usage.processes} == {97, 98, 99}
