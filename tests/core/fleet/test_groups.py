"""Groups of a fleet: what users and jobs hold on many hosts, hosts by label, and the host that stands out of a job."""

from fleet_exporters import page

from gputop.core.fleet.answer import Answers, Place, Sample, Series
from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.exposition import answers_of
from gputop.core.fleet.groups import grouped
from gputop.core.fleet.model import FleetGpu, FleetHost, Holding
from gputop.core.fleet.outlier import outliers

_GIB = 1024**3


def _host(name: str, load: float, *, user: str = "ann", job: str = "slurm:7", rack: str = "r1") -> FleetHost:
    gpus = tuple(
        FleetGpu(
            index=str(index), use="busy" if load > 10 else "idle", utilization_percent=load,
            memory_used_bytes=40 * _GIB, memory_total_bytes=80 * _GIB,
        )
        for index in range(4)
    )  # fmt: skip
    held = ("0", "1")
    holdings = (Holding(user=user, count=2, gpus=held), Holding(user=user, job=job, count=2, gpus=held))
    return FleetHost(
        name=name, server="s", instances=(name,), gpus=gpus, holdings=holdings, power_w=100.0, labels={"rack": rack}
    )


def _said(*lines: str) -> Answers:
    return answers_of(page("n1") + 'gputop_build_info{version="1"} 1\n' + "\n".join(lines) + "\n", "n1:9400")


def test_a_user_holds_the_gpus_of_all_hosts_and_idle_ones_count_apart_from_busy_ones() -> None:
    hosts = (_host("n1", 90), _host("n2", 0), _host("n3", 90, user="bob"))
    ann, bob = grouped(hosts, "user")
    assert (ann.name, len(ann.members), ann.totals.gpus, ann.totals.busy, ann.totals.idle) == ("ann", 2, 4, 2, 2)
    assert (bob.name, bob.totals.gpus, bob.totals.busy, bob.jobs) == ("bob", 2, 2, ("slurm:7",))
    assert ann.totals.power_w is None  # of a host of which a user holds a part, the share is unknown


def test_a_job_of_many_hosts_is_one_group_but_a_tree_of_processes_is_of_its_host() -> None:
    hosts = (_host("n1", 90), _host("n2", 90), _host("n3", 90, job="tree:100"), _host("n4", 90, job="tree:100"))
    assert {group.name: group.totals.gpus for group in grouped(hosts, "job")} == {
        "slurm:7": 4, "tree:100@n3": 2, "tree:100@n4": 2,
    }  # fmt: skip


def test_hosts_group_by_a_label_and_those_without_it_are_named_so() -> None:
    hosts = (_host("n1", 90), _host("n2", 0), FleetHost(name="n3", server="s", instances=()))
    racks = {
        group.name: (len(group.members), group.totals.gpus, group.totals.power_w) for group in grouped(hosts, "rack")
    }
    assert racks == {"r1": (2, 8, 200.0), "(none)": (1, 0, None)}


def test_the_host_of_a_job_that_works_less_than_the_others_stands_out_with_numbers() -> None:
    hosts = tuple(_host(f"n{number}", 20 if number == 3 else 95) for number in range(1, 9))
    (job,) = grouped(hosts, "job")
    assert job.odd == "n3: utilization 20%, others 95%"
    assert grouped(tuple(_host(f"n{number}", 95) for number in range(8)), "job")[0].odd == ""


def test_members_that_differ_by_design_do_not_stand_out() -> None:
    halves = {str(number): 20.0 if number % 2 else 95.0 for number in range(8)}
    assert outliers(halves, 15.0) == {}
    assert outliers({"a": 0.0, "b": 90.0}, 15.0) == {}


def test_the_gpus_of_jobs_and_users_come_from_gputop_export() -> None:
    (host,) = hosts_of("s", _said(
        'gputop_user_gpus{user="ann"} 2', 'gputop_user_gpus{user="bob"} 1',
        'gputop_job_gpu_memory_used_bytes{gpu="3",uuid="x",job_kind="slurm",job_id="7",user="ann"} 5',
    ))  # fmt: skip
    assert host.holdings == (
        Holding(user="ann", count=2, gpus=("3",)),
        Holding(user="ann", job="slurm:7", count=1, gpus=("3",)),
        Holding(user="bob", count=1),
    )
    ann = grouped((host,), "user")[0]
    assert (ann.totals.gpus, ann.totals.busy, ann.totals.unknown) == (2, 1, 1)


def test_the_only_user_of_a_host_holds_all_gpus_in_use() -> None:
    (host,) = hosts_of("s", _said('gputop_user_gpus{user="ann"} 8'))
    assert [(one.user, len(one.gpus)) for one in host.holdings] == [("ann", 8)]


def test_jobs_and_pods_of_dcgm_exporter_are_known_without_gputop() -> None:
    names = [Series({"instance": "n1:1", "job": "dcgm"})]
    values = {"utilization": [Sample(Place("n1:1", str(gpu)), (0.0, 90.0)) for gpu in range(3)]}
    pods = [
        Series({"instance": "n1:1", "gpu": "0", "hpc_job": "42"}),
        Series({"instance": "n1:1", "gpu": "2", "exported_namespace": "ml", "exported_pod": "train-0"}),
    ]
    (host,) = hosts_of("s", Answers(values, {"names": names, "pods": pods}))
    assert (host.jobs, host.users) == (("hpc:42", "pod:ml/train-0"), None)
    assert {group.name: group.members[0].gpus for group in grouped((host,), "job")} == {
        "hpc:42": ("0",), "pod:ml/train-0": ("2",),
    }  # fmt: skip


def test_hostile_names_of_users_and_jobs_stay_harmless() -> None:
    names = [Series({"instance": "n1:1", "job": "dcgm"})]
    users = [Series({"instance": "n1:1", "user": "\x1b[2Jx" + "y" * 1000}, (0.0, 1.0))]
    users += [Series({"instance": "n1:1", "user": "many"}, (0.0, 1e300))]
    (host,) = hosts_of("s", Answers({}, {"names": names, "users": users}))
    (held,) = host.holdings
    assert "\x1b" not in held.user
    assert len(held.user) <= 120
