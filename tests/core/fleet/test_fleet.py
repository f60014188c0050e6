"""Hosts of a fleet: what exporters' pages say of them, and the filters and orders of their table."""

from fleet_exporters import page

from gputop.core.fleet.answer import Answers, Place, Sample, Series
from gputop.core.fleet.build import hosts_of, natural
from gputop.core.fleet.cells import cells
from gputop.core.fleet.columns import HOST_COLUMN_BY_WORD, HOSTS, sorted_by
from gputop.core.fleet.exposition import answers_of
from gputop.core.fleet.model import FleetGpu, FleetHost, totals
from gputop.core.query.filter import Filter
from gputop.core.query.parser import QueryError, read

_MIB = 1024**2
_MIG = """\
DCGM_FI_DEV_GPU_TEMP{gpu="0",modelName="NVIDIA A100",Hostname="m1",GPU_I_PROFILE="3g.20gb",GPU_I_ID="1"} 40
DCGM_FI_DEV_GPU_TEMP{gpu="0",modelName="NVIDIA A100",Hostname="m1",GPU_I_PROFILE="3g.20gb",GPU_I_ID="2"} 40
DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="m1",GPU_I_ID="1"} 200.0
DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="m1",GPU_I_ID="2"} 200.0
DCGM_FI_DEV_FB_USED{gpu="0",Hostname="m1",GPU_I_ID="1"} 5000
DCGM_FI_DEV_FB_USED{gpu="0",Hostname="m1",GPU_I_ID="2"} 3000
DCGM_FI_DEV_FB_FREE{gpu="0",Hostname="m1",GPU_I_ID="1"} 15000
DCGM_FI_DEV_FB_FREE{gpu="0",Hostname="m1",GPU_I_ID="2"} 17000
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",Hostname="m1",GPU_I_ID="1"} 0.9
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",Hostname="m1",GPU_I_ID="2"} 0.1
"""


def _host(name: str) -> FleetHost:
    (found,) = hosts_of("s", answers_of(page(name), f"{name}:9400"))
    return found


def test_a_page_of_dcgm_exporter_gives_a_host_with_its_gpus() -> None:
    host = _host("host0001")
    assert (host.name, len(host.gpus), host.models) == ("host0001", 8, ("NVIDIA H100 80GB HBM3",))
    assert host.count("busy") == 8
    assert host.memory_total_bytes == 8 * 81_000 * _MIB
    assert host.power_w == sum(70 + (gpu.utilization_percent or 0) * 6 for gpu in host.gpus)


def test_a_gpu_is_idle_while_its_memory_is_held_and_free_without() -> None:
    assert _host("host0005").count("idle") == 8
    assert _host("host0003").count("free") == 8


def test_mig_instances_add_up_to_their_gpu_and_never_count_its_power_twice() -> None:
    (host,) = hosts_of("s", answers_of(_MIG, "m1:9400"))
    (gpu,) = host.gpus
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (8000 * _MIB, 40_000 * _MIB)
    assert (host.power_w, gpu.utilization_percent, gpu.use) == (200.0, 90.0, "busy")


def test_a_value_that_no_exporter_has_is_absent_and_the_use_of_the_gpu_unknown() -> None:
    (host,) = hosts_of("s", answers_of('DCGM_FI_DEV_GPU_TEMP{gpu="0"} 40\nDCGM_FI_DEV_FB_USED{gpu="0"} NaN\n', "a:1"))
    assert host.name == "a"
    assert (host.power_w, host.tensor_percent, host.gpus) == (None, None, ())
    (host,) = hosts_of("s", answers_of('DCGM_FI_DEV_GPU_TEMP{gpu="0"} 40\nDCGM_FI_DEV_FB_USED{gpu="0"} 9000\n', "a:1"))
    assert host.gpus == (FleetGpu(index="0", memory_used_bytes=9000 * _MIB, use="unknown"),)


def test_users_jobs_and_findings_are_known_only_where_gputop_export_runs() -> None:
    said = (
        'gputop_build_info{version="1"} 1\ngputop_user_gpus{user="ann"} 2\ngputop_user_gpus{user="bob"} 1\n'
        'gputop_job_gpus{job_kind="slurm",job_id="7",user="ann"} 2\n'
        'gputop_finding{code="leak.memory",stage="alarm"} 1\n'
        'gputop_finding{code="busy.fake",stage="observation"} 1\n'
    )
    (host,) = hosts_of("s", answers_of(page("n1") + said, "n1:9400"))
    assert (host.users, host.jobs, host.findings) == (("ann", "bob"), ("slurm:7",), ("leak.memory",))
    host = _host("n1")
    assert (host.users, host.jobs, host.findings) == (None, None, None)


def test_two_exporters_of_one_host_are_one_host_whose_gpus_count_once() -> None:
    names = [Series({"instance": one, "Hostname": "n1", "job": "gpus"}) for one in ("10.0.0.1:9400", "10.0.0.1:9401")]
    values = {
        "utilization": [
            Sample(Place("10.0.0.1:9400", "0"), (0.0, 70.0)),
            Sample(Place("10.0.0.1:9401", "0"), (0.0, 70.0)),
        ],
        "used": [Sample(Place("10.0.0.1:9401", "0"), (0.0, 1000.0))],
    }
    (host,) = hosts_of("s", Answers(values, {"names": names}))
    assert [(gpu.utilization_percent, gpu.memory_used_bytes) for gpu in host.gpus] == [(70.0, 1000 * _MIB)]


def test_an_exporter_that_does_not_answer_is_a_host_without_values() -> None:
    names = [Series({"instance": "n1:9400", "job": "dcgm"})]
    down = [
        Series({"instance": "n2:9400", "job": "dcgm"}),
        Series({"instance": "web:80", "job": "nginx"}),
    ]
    values = {"utilization": [Sample(Place("n1:9400", "0"), (0.0, 5.0))]}
    hosts = hosts_of("s", Answers(values, {"names": names, "down": down}))
    assert [(host.name, host.problem) for host in hosts] == [("n1", ""), ("n2", "down")]
    assert totals(hosts).down == 1


def test_a_gpu_that_fell_off_the_bus_is_lost() -> None:
    names = [Series({"instance": "n1:1", "job": "d"})]
    values = {
        "xid": [Sample(Place("n1:1", "3"), (0.0, 79.0))],
        "utilization": [Sample(Place("n1:1", "0"), (0.0, 99.0))],
    }
    (host,) = hosts_of("s", Answers(values, {"names": names}))
    assert cells(host) == "█x"


def test_hostile_labels_stay_harmless_and_short() -> None:
    names = [Series({"instance": "n1:1", "Hostname": "\x1b[2Jevil" + "x" * 1000, "modelName": "a\nb"})]
    (host,) = hosts_of("s", Answers({}, {"names": names}))
    assert "\x1b" not in host.name
    assert len(host.name) <= 120
    assert "\n" not in host.models[0]


def test_hosts_are_kept_by_the_filters_of_the_process_table() -> None:
    hosts = hosts_of("s", answers_of(page("dgx01"), "dgx01:9400")) + hosts_of(
        "s", answers_of(page("dgx03"), "dgx03:9400")
    )
    for text, names in {
        "free>=4": ["dgx03"], "busy=8 model:h100": ["dgx01"], "host~dgx": ["dgx01", "dgx03"], "dgx03": ["dgx03"],
        "not util<50": ["dgx01"], "used>100GiB": ["dgx01"], "user:ann": [],
    }.items():  # fmt: skip
        node = read(text, HOSTS.fields)
        assert not isinstance(node, QueryError), text
        assert [host.name for host in hosts if Filter(node, HOSTS).keeps(host)] == names, text


def test_numbers_sort_from_the_largest_names_by_their_numbers_and_absent_values_last() -> None:
    hosts = tuple(
        FleetHost(name=name, server="s", instances=(), power_w=power)
        for name, power in (("n10", 5.0), ("n2", None), ("n1", 9.0))
    )
    assert [host.name for host in sorted_by(hosts, HOST_COLUMN_BY_WORD["power"])] == ["n1", "n10", "n2"]
    assert [host.name for host in sorted_by(hosts, HOST_COLUMN_BY_WORD["host"])] == ["n1", "n2", "n10"]
    assert natural("a2b") < natural("a10b")


def test_a_gpu_without_an_xid_shows_none_and_an_impossible_number_is_absent() -> None:
    values = {
        "utilization": [Sample(Place("n1:1", "0"), (0.0, 90.0))],
        "used": [Sample(Place("n1:1", "0"), (0.0, 1e300))],
    }
    (host,) = hosts_of("s", Answers(values, {"names": [Series({"instance": "n1:1"})]}))
    assert (host.gpus[0].xid, host.gpus[0].memory_used_bytes) == (None, None)
