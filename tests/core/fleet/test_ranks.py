"""The ranks of a job: the straggler and the host that stand out, and silence where nothing does."""

import pytest
from fleet_exporters import page
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.exposition import answers_of
from gputop.core.fleet.groups import grouped
from gputop.core.fleet.model import FleetGpu, FleetHost
from gputop.core.fleet.ranks import Rank, odd_host, ranks_of, straggler

_GIB = 1024**3


def _gpu(index: int, load: float | None, power_w: float | None = None, tensor: float | None = None) -> FleetGpu:
    return FleetGpu(
        index=str(index), utilization_percent=load, power_w=power_w, tensor_percent=tensor,
        memory_used_bytes=40 * _GIB, memory_total_bytes=80 * _GIB,
    )  # fmt: skip


def _ranks(*hosts: tuple[FleetGpu, ...]) -> tuple[Rank, ...]:
    """Return the ranks of a job that holds these GPUs of n1, n2 and so on."""
    return ranks_of([
        (FleetHost(name=f"n{number}", server="s", instances=(), gpus=gpus), gpus)
        for number, gpus in enumerate(hosts, 1)
    ])  # fmt: skip


def test_a_rank_that_works_less_than_the_others_is_the_straggler_and_its_host_is_not_blamed() -> None:
    ranks = _ranks(*(tuple(_gpu(n, 20 if (host, n) == (2, 3) else 94 + n % 2) for n in range(4)) for host in range(4)))
    assert straggler(ranks) == "n3 GPU 3: utilization 20%, others 94%"
    assert odd_host(ranks) == "n3: utilization 76%, others 94%"
    assert [(rank.name, rank.odd) for rank in ranks if rank.odd] == [("n3 GPU 3", "utilization 20%, others 94%")]


def test_ranks_that_wait_at_full_utilization_are_told_apart_by_power_and_tensor_activity() -> None:
    ranks = _ranks(*((_gpu(0, 100, 640.0 if n == 4 else 250.0 + n, 48.0 if n == 4 else 12.0),) for n in range(8)))
    assert straggler(ranks) == "n5 GPU 0: tensor activity 48%, others 12%"
    assert ranks[4].odd == "tensor activity 48%, others 12%; power 640 W, others 253 W"


@pytest.mark.parametrize(
    "loads",
    [
        (20.0, 95.0),  # of two, either may be the odd one
        (95.0, 96.0, 84.0, 95.0),  # a small difference
        (20.0, 95.0, 20.0, 95.0, 20.0, 95.0),  # different by design
        (10.0, 40.0, 70.0, 95.0),  # all different
        (None, None, None, 50.0),
    ],
)
def test_nothing_is_said_if_ranks_are_few_or_alike_or_different_by_design(loads: tuple[float | None, ...]) -> None:
    ranks = _ranks(*((_gpu(0, load),) for load in loads))
    assert (straggler(ranks), odd_host(ranks), [rank.odd for rank in ranks]) == ("", "", [""] * len(loads))


def test_a_rank_with_more_memory_stands_out_but_is_no_straggler() -> None:
    more = FleetGpu(index="0", utilization_percent=95, memory_used_bytes=75 * _GIB, memory_total_bytes=80 * _GIB)
    ranks = _ranks((more,), *((_gpu(0, 95),) for _ in range(7)))
    assert straggler(ranks) == ""
    assert odd_host(ranks) == "n1: memory 94%, others 50%"


def test_ranks_are_in_the_order_of_hosts_and_gpus_and_each_is_there_once() -> None:
    hosts = [
        (FleetHost(name=name, server="s", instances=()), [_gpu(n, 90) for n in (10, 2)]) for name in ("n10", "n2", "n2")
    ]
    assert [rank.name for rank in ranks_of(hosts)] == ["n2 GPU 2", "n2 GPU 10", "n10 GPU 2", "n10 GPU 10"]


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=40))
def test_at_most_a_quarter_of_the_ranks_are_odd(loads: list[float | None]) -> None:
    odd = [rank for rank in _ranks(*((_gpu(0, load),) for load in loads)) if rank.odd]
    assert len(odd) <= max(1, len(loads) // 4)


def test_the_labels_of_dcgm_exporter_alone_give_ranks_with_power_and_tensor_activity() -> None:
    text = page("n1").replace('gpu="3",UUID', 'hpc_job="42",gpu="3",UUID')
    (job,) = grouped(hosts_of("s", answers_of(text, "n1:9400")), "job")
    (rank,) = job.ranks
    assert (job.name, rank.name, job.users) == ("hpc:42", "n1 GPU 3", None)
    assert rank.gpu.power_w == 70 + (rank.gpu.utilization_percent or 0) * 6
    assert rank.gpu.tensor_percent == pytest.approx(rank.gpu.utilization_percent)


def test_the_power_of_gpus_of_different_models_is_compared() -> None:
    hosts = [
        (FleetHost(name=f"n{n}", server="s", instances=(), models=("H100" if n == 1 else "L40S",)), [gpu])
        for n, gpu in enumerate([_gpu(0, 90, 640.0), *(_gpu(0, 90, 300.0) for _ in range(6))], 1)
    ]
    ranks = ranks_of(hosts)

    assert (straggler(ranks), odd_host(ranks), {rank.odd for rank in ranks}) == ("", "", {""})
